//! What needs no words, because other words say it: one fact is said once.
//!
//! Responsibilities: which words a session's start takes, which states go without a word, when a tool's
//! result needs no more than the agent's sentence about it, when a call was just agreed to. Not here: the
//! phrases themselves (`wording`), whether an announcement is spoken at all (`publish`).
//!
//! # Mental model
//! A careful person who tells what an agent does leaves out what the next sentence says anyway: that it
//! calls a tool, when the tool comes next; that it writes, when its text comes next; that it waits, when its
//! question comes next. Such a state is shown beside the agent and written down, and not said. What nothing
//! else tells (that it thinks, decides, or what it thinks of a rejection) is said.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Load, Verbosity};
use crate::protocol::{
    Answer, Decision, Now, SessionCompleted, SessionStarted, StateChanged, ToolCompleted,
    ToolInvoked, Urgency,
};
use crate::session::{Change, Closing, Consent, Prompt, PromptId, ReplyState, Sessions, ToolCall};

use super::wording::agents;
use super::{Announcer, Draft};
use crate::announce::announcement::{Aloud, Announcement, Class, Kind};
use crate::announce::text::speakable::same_letters;
use crate::announce::words::naming::{begin_otherwise, looks_like};
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::{Mark, Segment, join, join_spoken};

/// A state that comes this soon after other words of its session is not said: as long as a beat waits.
const JUST_NOW: Duration = Duration::from_secs(3);
/// A session that took as long is told with its time.
const LONG: Duration = Duration::from_secs(20);
/// As long as what was told last is still in the ear.
const IN_MIND: Duration = Duration::from_secs(30);
/// How many announcements are looked back over for the last that was said.
const MOST_LOOKED_AT: usize = 64;

impl Announcer {
    /// Fills in the short one of two phrases, or the long one in detail. Where the short one has no words,
    /// the long one is kept and not said.
    pub fn in_short(&self, key: &str, short: &str, args: &Args<'_>) -> (Vec<Segment>, Aloud) {
        let level = self.settings.verbosity;
        let whole = || self.phrases.say(key, level, args);
        match level {
            Verbosity::Detailed => (whole(), Aloud::Yes),
            Verbosity::Terse | Verbosity::Normal => match self.phrases.say(short, level, args) {
                nothing if nothing.is_empty() => (whole(), Aloud::Echo),
                words => (words, Aloud::Yes),
            },
        }
    }

    /// Tells something in the program's own name, with no agent's words in it, that people hear and read in
    /// short and programs in full; in detail everybody has it in full.
    pub fn say_in_short(
        &mut self,
        (class, kind): (Class, Kind),
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
        // A phrase may have nothing for whoever wants few words.
        let aloud = match segments.iter().all(|segment| segment.spoken().is_empty()) {
            true => Aloud::Echo,
            false => Aloud::Yes,
        };
        let draft = Draft::new(class, kind, segments).aloud(aloud).naming(args);
        self.own(draft, now)
    }

    /// Tells something in the program's own name that is heard and read as a line in detail only.
    pub fn say_in_detail(
        &mut self,
        class: Class,
        kind: Kind,
        key: &str,
        args: &Args<'_>,
        now: Now,
    ) -> Arc<Announcement> {
        let segments = self.phrases.say(key, self.settings.verbosity, args);
        let aloud = match self.settings.verbosity {
            Verbosity::Detailed => Aloud::Yes,
            Verbosity::Terse | Verbosity::Normal => Aloud::Seen,
        };
        let draft = Draft::new(class, kind, segments).aloud(aloud).naming(args);
        self.own(draft, now)
    }

    /// Words the end of a question. That an answer was sent is said once, with its receipt or in its place;
    /// what the agent then does is told as that.
    pub(super) fn settled(&self, prompt: &Prompt, how: &Closing) -> (Vec<Segment>, Aloud) {
        let whole = self.closed(prompt, how);
        let expected = match how {
            // Where two answers went out, it is said which one counted.
            Closing::StateLeft { .. } | Closing::ToolWentOn { .. } => {
                let given = prompt.reply.given();
                given.is_some_and(|given| given.earlier.is_none())
            }
            Closing::SessionEnded
            | Closing::AskedAgain
            | Closing::Changed
            | Closing::LinkGone
            | Closing::DecidedBefore
            | Closing::Unsubscribed
            | Closing::Stopped
            | Closing::TakenBack
            | Closing::Unheard => false,
        };
        if *how == Closing::Changed {
            // The question that takes its place says so.
            return (whole, Aloud::Kept);
        }
        match (&prompt.reply, self.settings.verbosity) {
            (_, Verbosity::Detailed) => (whole, Aloud::Yes),
            (ReplyState::Resolved(..), Verbosity::Terse | Verbosity::Normal) if expected => {
                (whole, Aloud::Seen)
            }
            (ReplyState::Settling(..), Verbosity::Terse | Verbosity::Normal) if expected => {
                let key = "question.closed.answered.short";
                let short = self.phrases.say(key, Verbosity::Normal, &[]);
                (shortened(&whole, &short), Aloud::Yes)
            }
            (_, Verbosity::Terse | Verbosity::Normal) => (whole, Aloud::Yes),
        }
    }

    /// Words a session's start: who, and what it is about.
    pub(super) fn started(
        &self,
        change: &Change,
        event: &SessionStarted,
        sessions: &Sessions,
    ) -> Draft {
        let mut summary = self.summary(change, &event.summary, Kind::SessionStarted);
        // "Started." by itself tells nothing that the start does not; the next longer words do.
        let mut is_bare = self.tells_only_the_start(&summary);
        if is_bare {
            summary = self.summary_at(change, &event.summary, Verbosity::Normal);
            is_bare = self.tells_only_the_start(&summary);
        }
        let agent = self.agent_name(&change.key, &change.agent, sessions);
        let key = match &summary {
            Arg::Agent(text, _) if names(text, &agent) => "session.started.named",
            // One that shares its name has a mark behind it, which its own words have not.
            Arg::Agent(text, language) if names(text, &change.agent) => {
                let words = change.agent.split_whitespace().count();
                let mut rest = text.split_whitespace().skip(words - 1);
                // What stands behind the name as a speaker's, not in a sentence, stays so.
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
            Kind::SessionStarted,
            key,
            &[
                ("agent", Arg::Name(agent.to_string())),
                ("parent", self.parent(change, sessions)),
                ("summary", summary),
                ("request", agents(change, event.request_text.as_deref())),
            ],
        )
    }

    /// Returns whether a state is said: not where what follows it says the same, unless it is wanted in
    /// detail or marked as critical.
    ///
    /// Right after other words of its session a state adds little to them, and the pause that would make it
    /// worth saying has not come: that the agent works on is heard by its beat.
    pub(super) fn aloud_of_state(
        &self,
        change: &Change,
        event: &StateChanged,
        sessions: &Sessions,
    ) -> Aloud {
        let level = self.verbosity_of(change.key.link);
        let detailed = level == Verbosity::Detailed || self.load_of(change.key.link) == Load::High;
        if detailed || change.urgency == Urgency::Critical {
            return Aloud::Yes;
        }
        match (&*event.to_state, level) {
            ("calling_tool" | "writing_output" | "awaiting_input" | "handing_off", _) => {
                Aloud::Echo
            }
            ("idle" | "thinking" | "deciding", Verbosity::Terse) => Aloud::Seen,
            // What becomes of a question is said nowhere else.
            _ if event.from_state == "awaiting_input" => Aloud::Yes,
            (_, Verbosity::Normal) if self.was_just_told(change, sessions) => Aloud::Seen,
            (_, Verbosity::Terse | Verbosity::Normal | Verbosity::Detailed) => Aloud::Yes,
        }
    }

    /// Returns whether something of a session was said a moment ago.
    fn was_just_told(&self, change: &Change, sessions: &Sessions) -> bool {
        let session = sessions.get(&change.key);
        let said = session.and_then(|session| self.last.borrow().said(session));
        said.is_some_and(|said| change.at.monotonic < said + JUST_NOW)
    }

    /// Returns whether a question is the last thing that was told, and not long ago: what is said of it need not
    /// name it again.
    pub fn is_in_mind(&self, prompt: PromptId, now: Now) -> bool {
        let mut told = self.history.iter().rev().take(MOST_LOOKED_AT);
        told.find(|told| told.aloud == Aloud::Yes)
            .is_some_and(|last| {
                last.about.is_some_and(|about| about.prompt() == prompt)
                    && now.monotonic < last.at.monotonic + IN_MIND
            })
    }

    /// Words a session's good end: "Done." by itself tells nothing that the end does not.
    pub(super) fn ended_well(&self, change: &Change, event: &SessionCompleted) -> Draft {
        let level = self.level(change.key.link, Kind::SessionCompleted);
        let summary = self.summary(change, &event.summary, Kind::SessionCompleted);
        let own = self.phrases.text("session.completed.word", &[]);
        let words = [own.as_str(), "done", "finished", "completed"];
        let bare = match &summary {
            Arg::Agent(text, _) => words.iter().any(|word| same_letters(text, word)),
            Arg::Own(_)
            | Arg::Sounding { .. }
            | Arg::Name(_)
            | Arg::Tool(_)
            | Arg::Exact(..)
            | Arg::Command(_)
            | Arg::Inline(_) => true,
        };
        // Whoever waited that long was perhaps not there any more.
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
            Kind::SessionCompleted,
            key,
            &[
                ("summary", summary),
                ("elapsed", self.took(took)),
                ("output", agents(change, event.output_summary.as_deref())),
            ],
        )
    }

    /// Words the success of a tool. The agent's sentence about it says enough, unless several tools of its
    /// session are at work and it must be told which one.
    pub(super) fn succeeded(
        &self,
        change: &Change,
        event: &ToolCompleted,
        sessions: &Sessions,
    ) -> &'static str {
        let others = sessions
            .get(&change.key)
            .is_some_and(|session| !session.tools.is_empty());
        let summary = self.summary(change, &event.summary, Kind::ToolCompleted);
        let says = matches!(&summary, Arg::Agent(text, _) if !text.trim().is_empty());
        let level = self.verbosity_of(change.key.link);
        if says && !others && level != Verbosity::Detailed {
            "tool.success.alone"
        } else {
            "tool.success"
        }
    }

    /// Returns whether the person has just agreed to a call, so that nobody need say once more that it can't
    /// be undone.
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
            Some(Consent::Asked(prompt)) => sessions.prompt(prompt).is_some_and(was_accepted),
            Some(Consent::NotNeeded) => self.follows_consent(change, sessions),
            Some(Consent::Missing(_) | Consent::MissingTold(_)) | None => false,
        }
    }

    /// Returns whether a call is the first since the person accepted something in its session: where none was
    /// needed for it, nothing else links the two.
    fn follows_consent(&self, change: &Change, sessions: &Sessions) -> bool {
        let session = sessions.get(&change.key);
        let asked = session.and_then(|session| self.last.borrow().asked(session));
        asked.is_some_and(|asked| sessions.prompt(asked).is_some_and(was_accepted))
    }

    /// Returns whether an agent's words about its start are no more than "Started.", in the person's language
    /// or in the protocol's own.
    fn tells_only_the_start(&self, words: &Arg) -> bool {
        match words {
            Arg::Agent(text, _) => {
                let own = || self.phrases.text("session.started.word", &[]);
                same_letters(text, "started") || same_letters(text, &own())
            }
            Arg::Own(_)
            | Arg::Sounding { .. }
            | Arg::Name(_)
            | Arg::Tool(_)
            | Arg::Exact(..)
            | Arg::Command(_)
            | Arg::Inline(_) => false,
        }
    }
}

/// Returns whether the person accepted what a question asked.
fn was_accepted(prompt: &Prompt) -> bool {
    matches!(
        prompt.answer(),
        Some(Answer::Decision {
            decision: Decision::Accept,
            ..
        })
    )
}

/// Puts short words in the place of what is heard and read, and keeps the whole for programs. All of them
/// are the program's own.
fn shortened(whole: &[Segment], short: &[Segment]) -> Vec<Segment> {
    let spoken = join_spoken(short);
    vec![Segment::new(Mark::Own, join(whole), &spoken).shown_as(&join(short))]
}

/// Returns whether a text begins with the agent's name, as it is seen.
pub(super) fn names(text: &str, agent: &str) -> bool {
    // Most that do have it to the letter.
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
    // How much white space is between two words is not seen.
    let end = last.as_ptr().addr() - text.as_ptr().addr() + last.len();
    let begin = text.get(..end).unwrap_or_default();
    looks_like(begin.trim().trim_end_matches([':', ',', '.']), agent)
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
