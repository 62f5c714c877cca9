//! The words of each change: its phrase, arguments and class.

use std::sync::Arc;
use std::time::Duration;

use crate::config::Verbosity;
use crate::protocol::{
    ErrorCategory, Progress, SessionErrored, StateChanged, Summary, SummaryLevel, ToolCompleted,
    ToolInvoked, ToolStatus, Urgency,
};
use crate::session::{Change, ChangeKind, QuestionId, Session, SessionEndEvent, Sessions};

use super::{Announcer, Draft};
use crate::announce::announcement::{
    AnnouncementKind, Class, Presentation, QuestionRelation, Topic,
};
use crate::announce::text::speakable::{Profile, same_letters};
use crate::announce::words::language;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;

/// The most characters of a state without letters that are named.
const MOST_PICTURE: usize = 16;

impl Announcer {
    /// Words one change other than streamed text.
    pub(super) fn word(&self, change: &Change, sessions: &Sessions) -> Option<Draft> {
        Some(match &change.kind {
            ChangeKind::SessionStarted(event) => self.started(change, event, sessions),
            ChangeKind::SessionJoined => self.phrase(
                change,
                Class::Outcome,
                AnnouncementKind::SessionStarted,
                "session.joined",
                &[("parent", self.parent(change, sessions))],
            ),
            ChangeKind::HelperJoined => self.phrase(
                change,
                Class::Outcome,
                AnnouncementKind::SessionStarted,
                "session.helper",
                &[("parent", self.parent(change, sessions))],
            ),
            ChangeKind::HelperEnded(_) => return None,
            ChangeKind::SessionEnded(ended) => self.ended(change, ended, sessions),
            ChangeKind::StateChanged(event) => self.state(change, event, sessions),
            ChangeKind::Progress(event) => self.progress(change, event),
            ChangeKind::ToolInvoked(event) => self.invoked(change, event, sessions),
            ChangeKind::ToolCompleted { event, elapsed } => {
                self.completed(change, event, *elapsed, sessions)
            }
            ChangeKind::Handoff(event) => self.handoff(change, event),
            ChangeKind::Unknown { type_name, event } => {
                self.unknown(change, type_name, &event.summary, event.asks)?
            }
            ChangeKind::Anomaly(anomaly) => self.anomaly(change, anomaly),
            ChangeKind::Danger(danger) => self.danger(change, danger, sessions),
            ChangeKind::QuestionOpened(id) | ChangeKind::QuestionAnswerable(id) => self
                .question_draft(*id, sessions, |question| {
                    let again = matches!(change.kind, ChangeKind::QuestionAnswerable(_));
                    let draft = Draft::new(
                        Class::Alert,
                        self.kind_of(question),
                        self.ask(question, sessions, change.at, again),
                    );
                    let draft = draft.about(QuestionRelation::Asks(*id));
                    match sessions.call_of(question) {
                        Some(call) => draft.topic(Topic::call(&call.tool, call.call_id.as_ref())),
                        None => draft,
                    }
                })?,
            ChangeKind::QuestionFreed(id) | ChangeKind::QuestionUnheard(id) => self
                .question_draft(*id, sessions, |question| {
                    Draft::new(
                        Class::Alert,
                        self.kind_of(question),
                        self.asked_anew(question),
                    )
                    .about(QuestionRelation::Asks(*id))
                })?,
            ChangeKind::QuestionDoubted(id) => self.question_draft(*id, sessions, |question| {
                let args = [("n", Arg::own(id.0)), ("subject", self.subject(question))];
                let words = self
                    .phrases
                    .say("question.doubted", Verbosity::Normal, &args);
                Draft::new(Class::Alert, self.kind_of(question), words)
                    .about(QuestionRelation::Concerns(*id))
            })?,
            ChangeKind::QuestionsWaiting { waiting } => {
                self.questions_waiting(change, *waiting, sessions)?
            }
            ChangeKind::QuestionWarning {
                question: id,
                remaining,
            } => self.question_draft(*id, sessions, |question| {
                Draft::new(
                    Class::Alert,
                    self.kind_of(question),
                    self.warn(question, *remaining, sessions, change.at),
                )
                .about(QuestionRelation::Concerns(*id))
            })?,
            ChangeKind::QuestionTimedOut(id) => self.question_draft(*id, sessions, |question| {
                Draft::new(
                    Class::Alert,
                    self.kind_of(question),
                    self.timed_out(question),
                )
                .about(QuestionRelation::Concerns(*id))
            })?,
            ChangeKind::QuestionPerhapsResolved(id) => {
                self.question_draft(*id, sessions, |question| {
                    let key = if question.is_answerable() {
                        "question.perhaps"
                    } else {
                        "question.perhaps.closed"
                    };
                    let segments = self.fill(
                        key,
                        self.verbosity_of(change.key.link),
                        &[("n", Arg::own(id.0))],
                    );
                    Draft::new(Class::Outcome, self.kind_of(question), segments)
                        .about(QuestionRelation::Concerns(*id))
                })?
            }
            ChangeKind::QuestionClosed {
                question: id,
                reason: how,
            } => self.question_draft(*id, sessions, |question| {
                let (segments, aloud) = self.settled(question, how);
                Draft::new(Class::Outcome, self.kind_of(question), segments)
                    .about(QuestionRelation::Concerns(*id))
                    .aloud(aloud)
            })?,
            // Text is cut into sentences elsewhere.
            ChangeKind::Output { .. } => return None,
        })
    }

    fn question_draft(
        &self,
        id: QuestionId,
        sessions: &Sessions,
        draft: impl FnOnce(&crate::session::Question) -> Draft,
    ) -> Option<Draft> {
        sessions.question(id).map(draft)
    }

    pub(super) fn phrase(
        &self,
        change: &Change,
        class: Class,
        kind: AnnouncementKind,
        key: &str,
        args: &[(&str, Arg)],
    ) -> Draft {
        let segments = self.fill(key, self.level(change.key.link, kind), args);
        let mut segments = self.reading_command(change, segments);
        // The repetition in "Started: Started." says nothing.
        if let [own, said] = segments.as_mut_slice()
            && same_letters(own.text(), said.text())
        {
            *own = Segment::new(own.mark, said.text(), said.spoken());
            segments.truncate(1);
        }
        Draft::new(class, kind, segments)
    }

    /// Picks a summary by verbosity and language.
    pub(super) fn summary(
        &self,
        change: &Change,
        summary: &Summary,
        kind: AnnouncementKind,
    ) -> Arg {
        match self.summary_at(change, summary, self.level(change.key.link, kind)) {
            Arg::Agent(text, language) => {
                let bare = self.unlabelled(&text, kind).map(str::to_owned);
                Arg::Agent(bare.unwrap_or(text), language)
            }
            other => other,
        }
    }

    /// Returns a text without a leading word that labels its kind, or `None` if it has none: a face puts the
    /// label before it.
    fn unlabelled<'t>(&self, text: &'t str, kind: AnnouncementKind) -> Option<&'t str> {
        let key = match kind {
            AnnouncementKind::State => "label.state",
            AnnouncementKind::ToolInvoked | AnnouncementKind::ToolCompleted => "label.tool",
            AnnouncementKind::Progress => "label.progress",
            _ => return None,
        };
        let label = self.phrases.text(key, &[]);
        let (begin, rest) = text.split_once(':')?;
        let rest = rest.trim_start();
        (same_letters(begin, &label) && !rest.is_empty()).then_some(rest)
    }

    /// Returns the name of a state that the protocol does not define; a picture has its own name.
    fn state_name(&self, state: &str) -> Arg {
        if state.trim().is_empty() || state.chars().any(char::is_alphanumeric) {
            return name(Some(state));
        }
        let picture: String = state.chars().take(MOST_PICTURE).collect();
        let spoken = (self.phrases.lexicon()).speak(&picture, Profile::Prose, None);
        name(Some(&spoken))
    }

    /// Picks a summary of a given verbosity by language.
    pub(super) fn summary_at(&self, change: &Change, summary: &Summary, level: Verbosity) -> Arg {
        let level = match level {
            Verbosity::Terse => SummaryLevel::Terse,
            Verbosity::Normal => SummaryLevel::Normal,
            Verbosity::Detailed => SummaryLevel::Detailed,
        };
        match language::pick(
            summary,
            level,
            change.language.as_deref(),
            self.languages_of(change.key.link),
            &change.fallbacks,
        ) {
            Some((text, language)) => {
                let language = language.map(|tag| match &change.language {
                    Some(own) if **own == *tag => Arc::clone(own),
                    Some(_) | None => tag.into(),
                });
                Arg::Agent(text.to_owned(), language)
            }
            None => Arg::own(""),
        }
    }

    fn ended(&self, change: &Change, ended: &SessionEndEvent, sessions: &Sessions) -> Draft {
        let rejections = sessions.rejections(&change.key);
        match ended {
            // "Finished: Done." must not sound as if the rejected action had been done: the agent's own words
            // are included, at least in their normal form.
            SessionEndEvent::Completed(event) if rejections > 0 => {
                let level = self
                    .level(change.key.link, AnnouncementKind::SessionCompleted)
                    .max(Verbosity::Normal);
                let said = self.summary_at(change, &event.summary, level);
                self.phrase(
                    change,
                    Class::Outcome,
                    AnnouncementKind::SessionCompleted,
                    "session.completed.rejected",
                    &[("n", Arg::own(rejections)), ("summary", said)],
                )
            }
            SessionEndEvent::Completed(event) => self.ended_well(change, event),
            SessionEndEvent::Errored(event) => self.errored(change, event),
            SessionEndEvent::Cancelled(event) => {
                let summary =
                    self.summary(change, &event.summary, AnnouncementKind::SessionCancelled);
                let partial = agents(change, event.partial_result.as_deref());
                let key = match summary.is_empty() && partial.is_empty() {
                    true => "session.cancelled.bare",
                    false => "session.cancelled",
                };
                let by = name(event.cancelled_by.as_deref());
                let args = [("summary", summary), ("by", by), ("partial", partial)];
                self.phrase(
                    change,
                    Class::Outcome,
                    AnnouncementKind::SessionCancelled,
                    key,
                    &args,
                )
            }
        }
    }

    fn errored(&self, change: &Change, event: &SessionErrored) -> Draft {
        let category = match &event.category {
            // A self-contradicting error promises nothing; the facts give its own statement.
            category if contradicts(category, event.recoverable) => Arg::own(""),
            ErrorCategory::Transient => Arg::own(self.phrases.text("error.transient", &[])),
            ErrorCategory::Permanent => Arg::own(self.phrases.text("error.permanent", &[])),
            ErrorCategory::RequiresUser => Arg::own(self.phrases.text("error.requires_user", &[])),
            ErrorCategory::Unknown => Arg::own(""),
            ErrorCategory::Other(text) => Arg::Name(text.replace('_', " ")),
        };
        let mut summary = self.summary(change, &event.summary, AnnouncementKind::SessionErrored);
        // The `error_message` that real producers send says more than "Error: ValueError".
        if let (Arg::Agent(text, _), Some(message)) = (&mut summary, &event.message)
            && self.verbosity_of(change.key.link) != Verbosity::Terse
            && !text.contains(message.as_str())
        {
            let ends = text.trim_end().ends_with(['.', '!', '?', '…', '。']);
            text.push_str(if ends { " " } else { ". " });
            text.push_str(message);
        }
        let hint = agents(change, event.remediation_hint.as_deref());
        // An errored session is an alert, whatever urgency it claims.
        self.phrase(
            change,
            Class::Alert,
            AnnouncementKind::SessionErrored,
            "session.errored",
            &[("category", category), ("summary", summary), ("hint", hint)],
        )
    }

    fn state(&self, change: &Change, event: &StateChanged, sessions: &Sessions) -> Draft {
        let mut summary = self.summary(change, &event.summary, AnnouncementKind::State);
        let is_terse = self.verbosity_of(change.key.link) == Verbosity::Terse;
        if is_terse && event.summary.terse.is_none() && change.urgency != Urgency::Critical {
            // A state's own name is shorter than any sentence about it; what is critical keeps its words.
            summary = Arg::own("");
        }
        let key = match &*event.to_state {
            "idle" => "state.idle",
            "thinking" => "state.thinking",
            "calling_tool" => "state.calling_tool",
            "writing_output" => "state.writing_output",
            "awaiting_input" => "state.awaiting_input",
            "deciding" => "state.deciding",
            "handing_off" => "state.handing_off",
            _ => "state.other",
        };
        let has_sentence = matches!(&summary, Arg::Agent(..));
        let class = Self::class_of_state(event, has_sentence);
        let segments = if has_sentence {
            self.fill(
                "state",
                self.verbosity_of(change.key.link),
                &[("summary", summary)],
            )
        } else {
            let args = [("state", self.state_name(&event.to_state))];
            let mut segments = self.fill(key, self.verbosity_of(change.key.link), &args);
            // A listener needs the word by which every face labels a state.
            if let [own] = segments.as_mut_slice()
                && let Some(bare) = self
                    .unlabelled(own.text(), AnnouncementKind::State)
                    .map(str::to_owned)
            {
                *own = own.clone().shown_as(&bare);
            }
            segments
        };
        let draft = Draft::new(class, AnnouncementKind::State, segments)
            .aloud(self.aloud_of_state(change, event, sessions));
        match class {
            Class::Outcome => draft,
            Class::Alert | Class::Response | Class::Activity | Class::Stream => {
                draft.topic(Topic::State)
            }
        }
    }

    fn progress(&self, change: &Change, event: &Progress) -> Draft {
        let summary = self.summary(change, &event.summary, AnnouncementKind::Progress);
        let description = match &event.description {
            Some(text) => Arg::Agent(text.clone(), change.language.clone()),
            None => Arg::own(""),
        };
        let (key, args) = if matches!(&summary, Arg::Agent(..)) {
            ("progress", vec![("summary", summary)])
        } else if let Some(percent) = event.percent {
            (
                "progress.percent",
                vec![
                    ("percent", Arg::own(percent.round())),
                    ("description", description),
                ],
            )
        } else if let Some(step) = event.step {
            let total = event
                .total_steps
                .map(|total| total.to_string())
                .unwrap_or_default();
            (
                "progress.step",
                vec![
                    ("step", Arg::own(step)),
                    ("total", Arg::own(total)),
                    ("description", description),
                ],
            )
        } else {
            ("progress.described", vec![("description", description)])
        };
        Draft::new(
            Class::Stream,
            AnnouncementKind::Progress,
            self.fill(key, self.verbosity_of(change.key.link), &args),
        )
        .topic(Topic::Progress)
    }

    fn invoked(&self, change: &Change, event: &ToolInvoked, sessions: &Sessions) -> Draft {
        // In terse mode, a tool's name is shorter than a sentence about it; what is critical keeps its words.
        let critical = change.urgency == Urgency::Critical;
        let is_terse =
            self.level(change.key.link, AnnouncementKind::ToolInvoked) == Verbosity::Terse;
        let by_name = is_terse && event.summary.terse.is_none() && !critical;
        let summary = match self.summary(change, &event.summary, AnnouncementKind::ToolInvoked) {
            Arg::Agent(..) if by_name => Arg::own(""),
            summary => summary,
        };
        let bare = !matches!(&summary, Arg::Agent(..));
        let agreed = self.was_agreed_to(change, event, sessions);
        let grave = event.irreversible == Some(true) && !agreed;
        // A person who just accepted the call will hear its result; in terse mode, hearing the result is enough for
        // every call. The start is still shown (9.3.2.3): verbosity never leaves out events (2.2.8).
        let aloud = match self.level(change.key.link, AnnouncementKind::ToolInvoked) {
            _ if critical => Presentation::Spoken,
            Verbosity::Terse if !grave => Presentation::Shown,
            Verbosity::Normal if agreed => Presentation::Shown,
            Verbosity::Terse | Verbosity::Normal | Verbosity::Detailed => Presentation::Spoken,
        };
        let key = match (grave, bare) {
            (true, true) => "tool.invoked.irreversible.bare",
            (true, false) => "tool.invoked.irreversible",
            (false, true) => "tool.invoked.bare",
            (false, false) => "tool.invoked",
        };
        self.phrase(
            change,
            Class::Activity,
            AnnouncementKind::ToolInvoked,
            key,
            &[
                ("tool", tool(&event.tool)),
                ("summary", summary),
                ("args", agents(change, event.args_summary.as_deref())),
            ],
        )
        .aloud(aloud)
        .topic(Topic::call(&event.tool, event.tool_call_id.as_ref()))
    }

    fn completed(
        &self,
        change: &Change,
        event: &ToolCompleted,
        elapsed: Option<Duration>,
        sessions: &Sessions,
    ) -> Draft {
        if event.status != ToolStatus::Success {
            return self.failed_call(change, event);
        }
        let summary = match self.summary(change, &event.summary, AnnouncementKind::ToolCompleted) {
            Arg::Own(_) => agents(change, event.error_message.as_deref()),
            summary @ (Arg::Agent(..)
            | Arg::Sounding { .. }
            | Arg::Name(_)
            | Arg::Tool(_)
            | Arg::Exact(..)
            | Arg::Command(_)
            | Arg::Inline(_)) => summary,
        };
        let elapsed = event.duration_ms.map(Duration::from_millis).or(elapsed);
        self.phrase(
            change,
            Class::Outcome,
            AnnouncementKind::ToolCompleted,
            self.succeeded(change, event, sessions),
            &[
                ("tool", tool(&event.tool)),
                ("summary", summary),
                ("elapsed", self.took(elapsed)),
            ],
        )
        .topic(Topic::call(&event.tool, event.tool_call_id.as_ref()))
    }

    fn unknown(
        &self,
        change: &Change,
        type_name: &str,
        summary: &Summary,
        asks: bool,
    ) -> Option<Draft> {
        let summary = self.summary(change, summary, AnnouncementKind::Unknown);
        let has_words = matches!(&summary, Arg::Agent(..));
        let critical = change.urgency == Urgency::Critical;
        let kind = type_name.rsplit(['/', ':']).next().unwrap_or(type_name);
        let args = [("kind", name(Some(kind))), ("summary", summary)];
        let (class, key) = if asks {
            (Class::Alert, "unknown.asks")
        } else if critical {
            (Class::Alert, "unknown.critical")
        } else if has_words {
            (Class::Activity, "unknown")
        } else {
            return None;
        };
        Some(self.phrase(change, class, AnnouncementKind::Unknown, key, &args))
    }

    /// Names the agent whose sub-agent a change comes from; empty if it has no parent.
    pub(super) fn parent(&self, change: &Change, sessions: &Sessions) -> Arg {
        sessions
            .get(&change.key)
            .map_or_else(|| Arg::own(""), |session| self.parent_of(session, sessions))
    }

    /// Names the agent of a session's parent; empty if it has none.
    pub fn parent_of(&self, session: &Session, sessions: &Sessions) -> Arg {
        match (&session.parent, sessions.parent(session)) {
            (None, None) => Arg::own(""),
            (_, Some(parent)) => Arg::Name(
                self.agent_name(&parent.key, &parent.agent, sessions)
                    .to_string(),
            ),
            (Some(_), None) => Arg::Own(self.phrases.text("session.parent.unknown", &[])),
        }
    }
}

/// Returns whether an error's category and its own statement disagree about whether trying again helps.
pub(super) fn contradicts(category: &ErrorCategory, recoverable: Option<bool>) -> bool {
    matches!(
        (category, recoverable),
        (ErrorCategory::Transient, Some(false)) | (ErrorCategory::Permanent, Some(true))
    )
}

pub(super) fn name(text: Option<&str>) -> Arg {
    text.filter(|text| !text.is_empty())
        .map_or_else(|| Arg::own(""), |text| Arg::Name(text.to_owned()))
}

pub(super) fn tool(name: &str) -> Arg {
    if name.trim().is_empty() {
        Arg::own("")
    } else {
        Arg::Tool(name.to_owned())
    }
}

pub(super) fn agents(change: &Change, text: Option<&str>) -> Arg {
    text.map_or_else(
        || Arg::own(""),
        |text| Arg::Agent(text.to_owned(), change.language.clone()),
    )
}
