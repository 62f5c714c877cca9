//! What can go unsaid because other words already say it: each fact is said once.
//!
//! Responsibilities: how a session's start is worded, which states go unspoken, when the agent's own sentence
//! is enough for a tool's result, and when a call was just agreed to. Not here: the phrases themselves
//! (`change_wording`), whether an announcement is spoken at all (`publish`).
//!
//! # Mental model
//! A careful person who reports what an agent does leaves out what the next sentence says anyway: that it
//! calls a tool, when the tool comes next; that it writes, when its text comes next; that it waits, when its
//! question comes next. Such a state is shown next to the agent and recorded, but not spoken. What nothing
//! else reports (that it thinks, that it decides, how it reacts to a rejection) is spoken.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Load, Verbosity};
use crate::protocol::{
    Answer, Decision, Now, SessionCompleted, SessionStarted, StateChanged, ToolCompleted,
    ToolInvoked, Urgency,
};
use crate::session::{
    AgentState, Change, CloseReason, Consent, Question, QuestionId, ReplyState, Sessions, ToolCall,
};

use super::change_wording::agents;
use super::{Announcer, Draft};
use crate::announce::announcement::{Announcement, AnnouncementKind, Class, Presentation};
use crate::announce::text::speakable::same_letters;
use crate::announce::words::naming::{begin_otherwise, looks_like};
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::{Mark, Segment, join, join_spoken};

/// A state that follows other words of its session within this time is not spoken; it equals the wait for a beat.
const JUST_NOW: Duration = Duration::from_secs(3);
/// A session that took at least this long is announced with its duration.
const LONG: Duration = Duration::from_secs(20);
/// How long the last announcement stays in the listener's mind.
const IN_MIND: Duration = Duration::from_secs(30);
/// How many announcements are searched backwards for the last one that was spoken.
const MOST_LOOKED_AT: usize = 64;

impl Announcer {
    /// Returns the short one of two phrases, or the long one in detailed mode. If the short one is empty,
    /// the long one is kept but not spoken.
    pub fn in_short(
        &self,
        key: &str,
        short: &str,
        args: &Args<'_>,
    ) -> (Vec<Segment>, Presentation) {
        let level = self.settings.verbosity;
        let whole = || self.phrases.say(key, level, args);
        match level {
            Verbosity::Detailed => (whole(), Presentation::Spoken),
            Verbosity::Terse | Verbosity::Normal => match self.phrases.say(short, level, args) {
                nothing if nothing.is_empty() => (whole(), Presentation::Echo),
                words => (words, Presentation::Spoken),
            },
        }
    }

    /// Announces something in the program's own name, without any agent's words: in short form for people and in full
    /// for programs. In detailed mode everyone gets the full form.
    pub fn say_in_short(
        &mut self,
        (class, kind): (Class, AnnouncementKind),
        (key, short): (&str, &str),
        args: &Args<'_>,
        now: Now,
    ) -> Arc<Announcement> {
        let level = self.settings.verbosity;
        let whole = self.phrases.say(key, level, args);
        let segments = match level {
            Verbosity::Detailed => whole,
            Verbosity::Terse | Verbosity::Normal => {
                shortened(&whole, &self.phrases.say(short, level, args))
            }
        };
        // At low verbosity a phrase may be empty.
        let aloud = match segments.iter().all(|segment| segment.spoken().is_empty()) {
            true => Presentation::Echo,
            false => Presentation::Spoken,
        };
        let draft = Draft::new(class, kind, segments).aloud(aloud).naming(args);
        self.own(draft, now)
    }

    /// Announces something in the program's own name that is heard, and read as a line, in detailed mode only.
    pub fn say_in_detail(
        &mut self,
        class: Class,
        kind: AnnouncementKind,
        key: &str,
        args: &Args<'_>,
        now: Now,
    ) -> Arc<Announcement> {
        let segments = self.phrases.say(key, self.settings.verbosity, args);
        let aloud = match self.settings.verbosity {
            Verbosity::Detailed => Presentation::Spoken,
            Verbosity::Terse | Verbosity::Normal => Presentation::Seen,
        };
        let draft = Draft::new(class, kind, segments).aloud(aloud).naming(args);
        self.own(draft, now)
    }

    /// Words the end of a question. That an answer was sent is said once, either with its receipt or instead of it;
    /// what the agent then does is announced separately.
    pub(super) fn settled(
        &self,
        question: &Question,
        how: &CloseReason,
    ) -> (Vec<Segment>, Presentation) {
        let whole = self.closed(question, how);
        let expected = match how {
            // If two answers went out, the announcement says which one counted.
            CloseReason::StateLeft { .. } | CloseReason::ToolWentOn { .. } => {
                let given = question.reply.given();
                given.is_some_and(|given| given.earlier.is_none())
            }
            CloseReason::SessionEnded
            | CloseReason::AskedAgain
            | CloseReason::Changed
            | CloseReason::LinkGone
            | CloseReason::DecidedBefore
            | CloseReason::Unsubscribed
            | CloseReason::Stopped
            | CloseReason::TakenBack
            | CloseReason::AnsweredBy { .. }
            | CloseReason::Forgotten
            | CloseReason::Unheard => false,
        };
        if *how == CloseReason::Changed {
            // The question that replaces it says so.
            return (whole, Presentation::Kept);
        }
        match (&question.reply, self.settings.verbosity) {
            (_, Verbosity::Detailed) => (whole, Presentation::Spoken),
            (ReplyState::Resolved(..), Verbosity::Terse | Verbosity::Normal) if expected => {
                (whole, Presentation::Seen)
            }
            (ReplyState::Settling(..), Verbosity::Terse | Verbosity::Normal) if expected => {
                let key = "question.closed.answered.short";
                let short = self.phrases.say(key, Verbosity::Normal, &[]);
                (shortened(&whole, &short), Presentation::Spoken)
            }
            (_, Verbosity::Terse | Verbosity::Normal) => (whole, Presentation::Spoken),
        }
    }

    /// Words a session's start: which agent, and what it is about.
    pub(super) fn started(
        &self,
        change: &Change,
        event: &SessionStarted,
        sessions: &Sessions,
    ) -> Draft {
        let mut summary = self.summary(change, &event.summary, AnnouncementKind::SessionStarted);
        // "Started." alone adds nothing to the start itself; the next longer text does.
        let mut is_bare = self.tells_only_the_start(&summary);
        if is_bare {
            summary = self.summary_at(change, &event.summary, Verbosity::Normal);
            is_bare = self.tells_only_the_start(&summary);
        }
        let agent = self.agent_name(&change.key, &change.agent, sessions);
        let key = match &summary {
            Arg::Agent(text, _) if names(text, &agent) => "session.started.named",
            // An agent with a namesake carries a mark after its name, which its own words lack.
            Arg::Agent(text, language) if names(text, &change.agent) => {
                let words = change.agent.split_whitespace().count();
                let mut rest = text.split_whitespace().skip(words - 1);
                // A name set off like a speaker's, not used within a sentence, stays set off.
                let is_said = rest
                    .next()
                    .is_some_and(|last| last.ends_with([':', ',', '.']));
                let between = if is_said { ": " } else { " " };
                let rest = rest.collect::<Vec<_>>().join(" ");
                let marked = format!("{}{between}{rest}", self.phrases.name_of(&agent));
                summary = Arg::Agent(marked, language.clone());
                "session.started.named"
            }
            Arg::Agent(..) if !is_bare => "session.started",
            Arg::Agent(..)
            | Arg::Own(_)
            | Arg::Sounding { .. }
            | Arg::Name(_)
            | Arg::Tool(_)
            | Arg::Exact(..)
            | Arg::Command(_)
            | Arg::Inline(_) => {
                summary = Arg::own("");
                "session.started.bare"
            }
        };
        self.phrase(
            change,
            Class::Outcome,
            AnnouncementKind::SessionStarted,
            key,
            &[
                ("agent", Arg::Name(agent.to_string())),
                ("parent", self.parent(change, sessions)),
                ("summary", summary),
                ("request", agents(change, event.request_text.as_deref())),
            ],
        )
    }

    /// Returns whether a state is spoken: not if what follows says the same, unless the person wants detail or
    /// it is marked as critical. Verbosity chooses the words and what is spoken, never which events exist (2.2.8), so a
    /// state that is not spoken is still shown in every face, the lines included. Only a state that the event after it
    /// says in other words is left to that event (4.2.1 allows that), terse or not.
    ///
    /// Right after other words of its session a state adds little: only after a pause would it be worth saying,
    /// and then the beat already signals that the agent is still working. A state under the producer's own name
    /// is news: nothing else reports it.
    pub(super) fn aloud_of_state(
        &self,
        change: &Change,
        event: &StateChanged,
        sessions: &Sessions,
    ) -> Presentation {
        let level = self.verbosity_of(change.key.link);
        let detailed = level == Verbosity::Detailed || self.load_of(change.key.link) == Load::High;
        if detailed || change.urgency == Urgency::Critical {
            return Presentation::Spoken;
        }
        match (&*event.to_state, level) {
            ("calling_tool" | "writing_output" | "awaiting_input" | "handing_off", _) => {
                Presentation::Echo
            }
            ("idle" | "thinking" | "deciding", Verbosity::Terse) => Presentation::Shown,
            // Nothing else reports what became of a question.
            _ if event.from_state == "awaiting_input" => Presentation::Spoken,
            _ if is_news(event) => Presentation::Spoken,
            _ if self.was_just_told(change, sessions) => Presentation::Shown,
            (_, Verbosity::Terse | Verbosity::Normal | Verbosity::Detailed) => Presentation::Spoken,
        }
    }

    /// Returns the class of a state change. A sentence under the producer's own name for a state reports what
    /// happened, and the next one does not replace it.
    pub(super) fn class_of_state(event: &StateChanged, has_sentence: bool) -> Class {
        if has_sentence && is_news(event) {
            Class::Outcome
        } else {
            Class::Activity
        }
    }

    /// Returns whether something of a session was spoken a moment ago.
    fn was_just_told(&self, change: &Change, sessions: &Sessions) -> bool {
        let session = sessions.get(&change.key);
        let said = session.and_then(|session| self.last.borrow().said(session));
        said.is_some_and(|said| change.at.monotonic < said + JUST_NOW)
    }

    /// Returns whether a question is the last thing that was spoken, and recently, so that words about it need not
    /// name it again.
    pub fn is_in_mind(&self, question: QuestionId, now: Now) -> bool {
        let mut told = self.history.iter().rev().take(MOST_LOOKED_AT);
        told.find(|told| told.aloud == Presentation::Spoken)
            .is_some_and(|last| {
                last.about.is_some_and(|about| about.question() == question)
                    && now.monotonic < last.at.monotonic + IN_MIND
            })
    }

    /// Words a session's success. "Done." alone adds nothing to the end itself.
    pub(super) fn ended_well(&self, change: &Change, event: &SessionCompleted) -> Draft {
        let level = self.level(change.key.link, AnnouncementKind::SessionCompleted);
        let summary = self.summary(change, &event.summary, AnnouncementKind::SessionCompleted);
        let own = self.phrases.text("session.completed.word", &[]);
        let words = [own.as_str(), "done", "finished", "completed"];
        let bare = summary
            .agents_text()
            .is_none_or(|(text, _)| words.iter().any(|word| same_letters(text, word)));
        // After a long session, the person may have stopped paying attention.
        let took = event.duration_ms.map(Duration::from_millis);
        let long = level != Verbosity::Terse && took.is_some_and(|took| took >= LONG);
        let key = match level {
            Verbosity::Terse | Verbosity::Normal if bare && long => "session.completed.after",
            Verbosity::Terse | Verbosity::Normal if bare => "session.completed.bare",
            Verbosity::Terse | Verbosity::Normal | Verbosity::Detailed => "session.completed",
        };
        let took = took.filter(|_| long || level == Verbosity::Detailed);
        self.phrase(
            change,
            Class::Outcome,
            AnnouncementKind::SessionCompleted,
            key,
            &[
                ("summary", summary),
                ("elapsed", self.took(took)),
                ("output", agents(change, event.output_summary.as_deref())),
            ],
        )
    }

    /// Returns the phrase for a tool's success. The agent's sentence about it is enough, unless other tools of its
    /// session are running and the words must name the tool.
    pub(super) fn succeeded(
        &self,
        change: &Change,
        event: &ToolCompleted,
        sessions: &Sessions,
    ) -> &'static str {
        let others = sessions
            .get(&change.key)
            .is_some_and(|session| !session.tools.is_empty());
        let summary = self.summary(change, &event.summary, AnnouncementKind::ToolCompleted);
        let says = matches!(&summary, Arg::Agent(text, _) if !text.trim().is_empty());
        let level = self.verbosity_of(change.key.link);
        if says && !others && level != Verbosity::Detailed {
            "tool.success.alone"
        } else {
            "tool.success"
        }
    }

    /// Returns whether the person has just agreed to a call, so that the warning that it can't be undone need not be
    /// repeated.
    pub(super) fn was_agreed_to(
        &self,
        change: &Change,
        event: &ToolInvoked,
        sessions: &Sessions,
    ) -> bool {
        let same = |call: &&ToolCall| match (&call.call_id, &event.tool_call_id) {
            (Some(known), Some(id)) => known == id,
            (None, None) => call.tool == event.tool,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let asked = sessions
            .get(&change.key)
            .and_then(|session| session.tools.iter().rfind(same))
            .map(|call| call.consent);
        match asked {
            Some(Consent::Asked(question)) => sessions.question(question).is_some_and(was_accepted),
            Some(Consent::NotNeeded) => self.follows_consent(change, sessions),
            Some(Consent::Missing(_) | Consent::MissingTold(_)) | None => false,
        }
    }

    /// Returns whether a call is the first since the person accepted something in its session; if the call
    /// needed no consent itself, nothing else links the two.
    fn follows_consent(&self, change: &Change, sessions: &Sessions) -> bool {
        let session = sessions.get(&change.key);
        let asked = session.and_then(|session| self.last.borrow().recent_question(session));
        asked.is_some_and(|asked| sessions.question(asked).is_some_and(was_accepted))
    }

    /// Returns whether an agent's words about its start say no more than "Started.", in the person's language or in
    /// the protocol's own.
    fn tells_only_the_start(&self, words: &Arg) -> bool {
        words.agents_text().is_some_and(|(text, _)| {
            let own = || self.phrases.text("session.started.word", &[]);
            same_letters(text, "started") || same_letters(text, &own())
        })
    }
}

/// Returns whether the person accepted what a question asked.
fn was_accepted(question: &Question) -> bool {
    matches!(
        question.answer(),
        Some(Answer::Decision {
            decision: Decision::Accept,
            ..
        })
    )
}

/// Returns a segment in which people hear and read the short words, while programs get the whole text. All
/// words are the program's own.
fn shortened(whole: &[Segment], short: &[Segment]) -> Vec<Segment> {
    let spoken = join_spoken(short);
    vec![Segment::new(Mark::Own, join(whole), &spoken).shown_as(&join(short))]
}

/// Returns whether a text, as displayed, begins with the agent's name.
pub(super) fn names(text: &str, agent: &str) -> bool {
    // Most of those that do begin with the same letters.
    if let Some(behind) = text.strip_prefix(agent)
        && behind.starts_with(' ')
        && agent.ends_with(|last: char| last.is_ascii_alphanumeric())
    {
        return true;
    }
    if begin_otherwise(text, agent) {
        return false;
    }
    let words = agent.split_whitespace().count();
    let Some(last) = text.split_whitespace().take(words).last() else {
        return false;
    };
    // The amount of white space between two words is invisible.
    let end = last.as_ptr().addr() - text.as_ptr().addr() + last.len();
    let begin = text.get(..end).unwrap_or_default();
    looks_like(begin.trim().trim_end_matches([':', ',', '.']), agent)
}

/// Returns whether a state change reports something that no other event does: it enters a state under the producer's
/// own name, or says something in such a state.
fn is_news(event: &StateChanged) -> bool {
    let own = AgentState::named(&event.to_state) == AgentState::Other;
    let says = event.summary.normal.is_some() || event.summary.terse.is_some();
    own && (says || event.from_state != event.to_state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_an_agent_where_it_begins_with_its_name_as_it_is_seen() {
        for (text, agent, wanted) in [
            ("Mailer run 2 began", "Mailer run 2", true),
            ("Mailer run 2", "Mailer run 2", true),
            ("Mailer run 2: began", "Mailer run 2", true),
            ("mailer  RUN 2, began", "Mailer run 2", true),
            ("M\u{430}iler run 2 began", "Mailer run 2", true),
            ("Mailer run 21 began", "Mailer run 2", false),
            ("Mailer runs", "Mailer run 2", false),
            ("Mailman began", "Mailer", false),
            ("Mailer? Yes", "Mailer?", true),
            ("Began.", "", false),
            (" began", "", false),
            ("", "Mailer", false),
        ] {
            assert_eq!(names(text, agent), wanted, "{text:?} {agent:?}");
        }
    }
}
