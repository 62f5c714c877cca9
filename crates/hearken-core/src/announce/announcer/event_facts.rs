//! What an event reports in addition to its words: where to find more, how long it may take, how much is at stake.
//!
//! Responsibilities: those facts in words, and the address among them. In detailed mode they are part of the
//! announcement; at other verbosities they wait until the person asks. Not here: the words of the event
//! itself (`change_wording`), the key that asks for the facts (`app`).

use std::time::Duration;

use crate::protocol::{
    ErrorCategory, HandoffRequested, Progress, RiskLevel, SessionCancelled, SessionCompleted,
    SessionErrored, Summary,
};
use crate::session::{Change, ChangeKind, Session, SessionEndEvent, Sessions, ToolCall};

use super::agent_version::AgentVersion;
use super::change_wording::{agents, name};
use super::{Announcer, Draft};
use crate::announce::announcement::{AnnouncementKind, EventFacts, Presentation};
use crate::announce::text::speakable;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;
use crate::config::Verbosity;

impl Announcer {
    /// Words one change together with its facts.
    pub(super) fn worded(&self, change: &Change, sessions: &Sessions) -> Option<Draft> {
        let mut draft = self.word(change, sessions)?;
        // A plan is read out on demand; progress within it is only for programs.
        if !change.attached.plan.is_empty() && draft.kind == AnnouncementKind::Progress {
            draft.aloud = Presentation::Echo;
        }
        draft.facts = self.facts(change, sessions);
        if self.level(change.key.link, draft.kind) == Verbosity::Detailed {
            draft.segments.extend(draft.facts.words.iter().cloned());
        }
        Some(draft)
    }

    fn facts(&self, change: &Change, sessions: &Sessions) -> EventFacts {
        let mut facts = EventFacts {
            attached: change.attached.any(),
            ..EventFacts::default()
        };
        match &change.kind {
            ChangeKind::SessionStarted(event) => {
                self.lasts(&mut facts, "fact.expected", event.expected_duration_ms);
                if let Some(session) = sessions.get(&change.key) {
                    facts.words.extend(self.made_by(session));
                }
                let mut more = EventFacts::default();
                let by = name(event.requested_by.as_deref());
                self.fact(&mut more, "fact.requested_by", ("who", by));
                facts.more.extend(more.words);
                facts.more.extend(self.tools(&event.tools_available));
            }
            ChangeKind::SessionJoined | ChangeKind::HelperJoined => {
                if let Some(session) = sessions.get(&change.key) {
                    facts.words.extend(self.made_by(session));
                }
            }
            ChangeKind::SessionEnded(SessionEndEvent::Completed(SessionCompleted {
                result_uri,
                ..
            })) => {
                self.address(&mut facts, change, "fact.result", result_uri.as_deref());
            }
            ChangeKind::SessionEnded(SessionEndEvent::Errored(event)) => {
                self.error_facts(&mut facts, change, event)
            }
            ChangeKind::SessionEnded(SessionEndEvent::Cancelled(SessionCancelled {
                reason,
                ..
            })) => {
                let reason = reason.as_deref().map(|reason| reason.replace('_', " "));
                self.fact(
                    &mut facts,
                    "fact.reason",
                    ("reason", name(reason.as_deref())),
                );
            }
            ChangeKind::StateChanged(event) => {
                self.lasts(&mut facts, "fact.lasts", event.expected_duration_ms);
            }
            ChangeKind::Progress(event) => self.progress_facts(&mut facts, change, event),
            ChangeKind::ToolInvoked(event) => {
                facts.words.extend(self.risk(event.risk_level.as_ref()));
                self.lasts(&mut facts, "fact.expected", event.expected_duration_ms);
                let mut more = EventFacts::default();
                self.described(&mut more, change, &event.description, &event.summary);
                facts.more.extend(more.words);
            }
            ChangeKind::Handoff(event) => self.handoff_facts(&mut facts, change, event),
            ChangeKind::ToolCompleted { event, .. } => {
                self.completed_facts(&mut facts, change, event);
            }
            ChangeKind::Output { .. }
            | ChangeKind::QuestionOpened(_)
            | ChangeKind::QuestionAnswerable(_)
            | ChangeKind::QuestionFreed(_)
            | ChangeKind::QuestionDoubted(_)
            | ChangeKind::QuestionUnheard(_)
            | ChangeKind::QuestionsWaiting { .. }
            | ChangeKind::QuestionWarning { .. }
            | ChangeKind::QuestionTimedOut(_)
            | ChangeKind::QuestionPerhapsResolved(_)
            | ChangeKind::QuestionClosed { .. }
            | ChangeKind::Unknown { .. }
            | ChangeKind::Anomaly(_)
            | ChangeKind::HelperEnded(_)
            | ChangeKind::Danger(_) => {}
        }
        self.correlates(&mut facts, change);
        facts
    }

    /// Adds the id that relates an event to other programs' records, where a person would look for it: at the
    /// start and end of a session, at a handoff and at a call.
    fn correlates(&self, facts: &mut EventFacts, change: &Change) {
        let is_looked_for = matches!(
            change.kind,
            ChangeKind::SessionStarted(_)
                | ChangeKind::SessionEnded(_)
                | ChangeKind::Handoff(_)
                | ChangeKind::ToolInvoked(_)
                | ChangeKind::ToolCompleted { .. }
        );
        if let Some(id) = change.correlation.as_ref().filter(|_| is_looked_for) {
            let args = [("id", agents(change, Some(&speakable::one_line(id))))];
            let words = self.fill("fact.correlation", Verbosity::Detailed, &args);
            facts.more.extend(words);
        }
    }

    /// Lists the tools that a session can use.
    fn tools(&self, tools: &[String]) -> Vec<Segment> {
        if tools.is_empty() {
            return Vec::new();
        }
        let named = |tool: &String| {
            let tool = [("tool", Arg::Tool(tool.clone()))];
            self.phrases.text("fact.tool", &tool)
        };
        let named: Vec<String> = tools.iter().map(named).collect();
        let args = [
            ("n", Arg::own(tools.len())),
            ("tools", Arg::Own(named.join(", "))),
        ];
        self.fill("fact.tools", Verbosity::Detailed, &args)
    }

    /// Adds what the words for progress leave out.
    fn progress_facts(&self, facts: &mut EventFacts, change: &Change, event: &Progress) {
        let summary = self.summary(change, &event.summary, AnnouncementKind::Progress);
        let has_summary = matches!(summary, Arg::Agent(..));
        let says = |percent: &f64| match &summary {
            Arg::Agent(text, _) => text.contains(&percent.round().to_string()),
            _ => true,
        };
        if let Some(percent) = event.percent.filter(|percent| !says(percent)) {
            let args = [
                ("percent", Arg::own(percent.round())),
                ("description", Arg::own("")),
            ];
            let words = self.fill("progress.percent", Verbosity::Detailed, &args);
            facts.words.extend(words);
        }
        if let Some(step) = event.step
            && (has_summary || event.percent.is_some())
        {
            let total = event.total_steps.map(|total| total.to_string());
            let args = [
                ("step", Arg::own(step)),
                ("total", Arg::own(total.unwrap_or_default())),
                ("description", Arg::own("")),
            ];
            let words = self.fill("progress.step", Verbosity::Detailed, &args);
            facts.words.extend(words);
        }
        if has_summary {
            self.described(facts, change, &event.description, &event.summary);
        }
        self.lasts(facts, "fact.left", event.eta_ms);
    }

    /// Adds an agent's description, unless the words of the event contain it.
    fn described(
        &self,
        facts: &mut EventFacts,
        change: &Change,
        description: &Option<String>,
        summary: &Summary,
    ) {
        let Some(description) = description else {
            return;
        };
        let said = match self.summary(change, summary, AnnouncementKind::ToolInvoked) {
            Arg::Agent(text, _) => text.contains(description.trim_end_matches('.')),
            _ => false,
        };
        if !said {
            let text = ("text", agents(change, Some(description)));
            self.fact(facts, "fact.description", text);
        }
    }

    fn error_facts(&self, facts: &mut EventFacts, change: &Change, event: &SessionErrored) {
        // At other verbosities the message is among the words.
        if self.verbosity_of(change.key.link) == Verbosity::Terse
            && let Arg::Agent(summary, _) =
                self.summary_at(change, &event.summary, Verbosity::Terse)
            && let Some(message) = &event.message
            && !summary.contains(message.as_str())
        {
            self.fact(
                facts,
                "fact.error",
                ("message", agents(change, Some(message))),
            );
        }
        self.fact(facts, "fact.code", ("code", name(event.code.as_deref())));
        // The error's category may already say whether it is recoverable.
        let again = match (&event.category, event.recoverable) {
            (ErrorCategory::Transient, Some(true))
            | (ErrorCategory::Permanent, Some(false))
            | (_, None) => None,
            (_, Some(true)) => Some("fact.again"),
            (_, Some(false)) => Some("fact.not_again"),
        };
        if let Some(key) = again {
            facts.words.extend(self.fill(key, Verbosity::Detailed, &[]));
        }
        self.address(facts, change, "fact.help", event.uri.as_deref());
    }

    fn handoff_facts(&self, facts: &mut EventFacts, change: &Change, event: &HandoffRequested) {
        let urgency = match event.urgency.as_deref() {
            Some("low") => Some("fact.urgency.low"),
            Some("medium") => Some("fact.urgency.medium"),
            Some("high") => Some("fact.urgency.high"),
            Some(_) | None => None,
        };
        match urgency {
            Some(key) => facts.words.extend(self.fill(key, Verbosity::Detailed, &[])),
            None => {
                let other = ("urgency", name(event.urgency.as_deref()));
                self.fact(facts, "fact.urgency.other", other);
            }
        }
        self.address(facts, change, "fact.target", event.target_uri.as_deref());
    }

    /// Describes what is at stake and how much time is left in a running session, for the status.
    pub fn session_facts(&self, session: &Session) -> String {
        let mut facts = EventFacts::default();
        let left = session
            .progress
            .as_ref()
            .and_then(|progress| progress.eta_ms);
        self.lasts(&mut facts, "fact.left", left);
        for call in &session.tools {
            facts.words.extend(self.call(call));
        }
        if self.verbosity_of(session.key.link) == Verbosity::Detailed {
            facts.words.extend(self.made_by(session));
        }
        crate::announce::words::segment::join(&facts.words)
    }

    fn call(&self, call: &ToolCall) -> Vec<Segment> {
        let mut facts = EventFacts::default();
        facts.words.extend(self.risk(call.risk.as_ref()));
        self.lasts(&mut facts, "fact.expected", call.expected_duration_ms);
        if facts.words.is_empty() {
            return Vec::new();
        }
        let tool = ("tool", Arg::Tool(call.tool.clone()));
        let mut words = self.fill("fact.of_tool", Verbosity::Detailed, &[tool]);
        words.extend(facts.words);
        words
    }

    fn risk(&self, risk: Option<&RiskLevel>) -> Vec<Segment> {
        let key = match risk {
            Some(RiskLevel::Low) => "question.risk.low",
            Some(RiskLevel::Medium) => "question.risk.medium",
            Some(RiskLevel::High) => "question.risk.high",
            Some(RiskLevel::Other(_)) | None => return Vec::new(),
        };
        self.fill(key, Verbosity::Detailed, &[])
    }

    /// Returns words for the model and version that an agent declares.
    fn made_by(&self, session: &Session) -> Vec<Segment> {
        let Session { model, version, .. } = session;
        let is_it = |known: &AgentVersion| (&known.model, &known.version) == (model, version);
        let found = || {
            let mut facts = EventFacts::default();
            let named = name(model.as_deref());
            self.fact(&mut facts, "fact.model", ("model", named));
            let named = name(version.as_deref());
            self.fact(&mut facts, "fact.version", ("version", named));
            AgentVersion {
                model: model.clone(),
                version: version.clone(),
                words: facts.words,
            }
        };
        let made = self.agent_versions.borrow_mut().find_or(is_it, found);
        made.words.clone()
    }

    fn lasts(&self, facts: &mut EventFacts, key: &str, ms: Option<u64>) {
        if let Some(ms) = ms.filter(|ms| *ms > 0) {
            let time = Arg::Own(self.time(Duration::from_millis(ms)));
            self.fact(facts, key, ("time", time));
        }
    }

    fn fact(&self, facts: &mut EventFacts, key: &str, arg: (&str, Arg)) {
        if !arg.1.is_empty() {
            facts
                .words
                .extend(self.fill(key, Verbosity::Detailed, &[arg]));
        }
    }

    fn address(&self, facts: &mut EventFacts, change: &Change, key: &str, address: Option<&str>) {
        let address = speakable::one_line(address.unwrap_or_default());
        if !address.is_empty() {
            self.fact(facts, key, ("address", agents(change, Some(&address))));
            facts.address = Some(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::announce::announcer::AnswerMethod;
    use crate::announce::words::phrase::Phrases;
    use crate::config::AnnounceConfig;
    use crate::protocol::{Now, decode};
    use crate::session::LinkId;

    #[test]
    fn by_what_an_agent_is_made_is_said_of_each_and_in_the_language_of_now() {
        let english = Arc::new(Phrases::english().unwrap());
        let german = Arc::new(Phrases::for_languages(&["de".to_owned()]).unwrap());
        let mut announcer = Announcer::new(AnnounceConfig::default(), english, AnswerMethod::Lines);
        announcer.set_verbosity(Verbosity::Detailed);
        let now = Now {
            monotonic: Duration::ZERO,
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut sessions = Sessions::default();
        for (session, version) in [(1, "1.0.0"), (2, "1.0.0"), (3, "2.1")] {
            let event = json!({
                "type": "aaep:agent.session.started",
                "session_id": format!("sess_{session}"),
                "producer": {"agent_id": "a", "agent_version": version, "model": "small"},
                "summary_normal": "n",
            });
            sessions.apply(LinkId(0), decode(&event.to_string()).unwrap(), now);
        }
        let said = |announcer: &Announcer| -> Vec<String> {
            let all = sessions.iter();
            all.map(|session| announcer.session_facts(session))
                .collect()
        };
        let english = said(&announcer);
        assert_eq!(english[0], english[1]);
        assert!(english[0].contains("1.0.0") && english[2].contains("2.1"));
        assert!(english[0].contains("small"), "{english:?}");
        announcer.set_languages(vec!["de".to_owned()], german);
        for (german, english) in said(&announcer).iter().zip(&english) {
            assert!(german.contains("Modell") && german != english, "{german}");
        }
    }
}
