//! From a draft to an announcement: its number, its speaker's name, whether it is spoken.
//!
//! Responsibilities: load, quiet mode, muting, repeated words, old news. Not here: the words (`change_wording`), an
//! agent's display name (`agent_names`), the order of speech (`queue`).

use std::borrow::Cow;
use std::sync::Arc;

use crate::config::{AnswersChoice, Load, Verbosity};
use crate::protocol::{Now, Urgency, direction_of};
use crate::session::{Change, ChangeKind, LinkId, Session, SessionKey, Sessions};

use super::redundancy::names;
use super::{Announcer, Draft, NewAnnouncements};
use crate::announce::announcement::{
    Announcement, AnnouncementId, AnnouncementKind, Class, Cue, EventFacts, Opening, Presentation,
    QuestionRelation, Quote, Tool, Weight,
};
use crate::announce::words::phrase::{Arg, Phrases};
use crate::announce::words::segment::Segment;

impl Announcer {
    /// Returns the number of the next announcement.
    pub fn next_id(&self) -> AnnouncementId {
        AnnouncementId(self.next + 1)
    }

    /// Numbers an agent's announcement, decides whether it is spoken, and keeps it.
    pub(super) fn publish(
        &mut self,
        change: &Change,
        sessions: &Sessions,
        draft: Draft,
    ) -> Arc<Announcement> {
        // A defect of an urgent event is not itself urgent.
        let inherits = draft.class != Class::Response && draft.kind != AnnouncementKind::Anomaly;
        let class = if change.urgency == Urgency::Critical && inherits {
            Class::Alert
        } else {
            draft.class
        };
        let mut announcement = self.number(Draft { class, ..draft }, change.at);
        announcement.key = Some(change.key.clone());
        // A text chosen in another language runs in that language's direction.
        announcement.direction = match announcement.language() {
            Some(tag) if change.language.as_deref() != Some(tag) => Some(direction_of(tag)),
            Some(_) | None => change.direction,
        };
        announcement.agent = Some(self.agent_name(&change.key, &change.agent, sessions));
        announcement.tool = self.tool_of(change, announcement.kind);
        let is_for_lines = match announcement.aloud {
            Presentation::Spoken => true,
            Presentation::Shown => announcement.kind != AnnouncementKind::Anomaly,
            Presentation::Seen | Presentation::Echo | Presentation::Kept | Presentation::Heard => {
                false
            }
        };
        let may_be_silent = is_for_lines && class != Class::Alert;
        if may_be_silent {
            let unwanted = self.is_muted(&change.key, &change.agent)
                || self.is_below_load(&change.key, announcement.kind, class);
            if unwanted {
                self.left_out += 1;
            }
            let repeated = self.is_repeated(&announcement);
            // Whoever heard a question hears what became of it.
            if self.muting.is_in_background(&change.key) && announcement.about.is_none() {
                announcement.aloud = Presentation::Kept;
            } else if unwanted {
                announcement.aloud = Presentation::Seen;
            } else if repeated {
                // A person who browses still sees what would not have been spoken anyway.
                announcement.aloud = match announcement.aloud {
                    Presentation::Shown => Presentation::Seen,
                    _ => Presentation::Echo,
                };
            } else if change.replayed {
                announcement.aloud = Presentation::Shown;
            } else if self.waits_for_end(&announcement) {
                announcement.aloud = Presentation::Seen;
            }
        }
        if announcement.aloud == Presentation::Spoken
            && self.is_named(&change.key, &change.agent, sessions)
        {
            self.name_speaker(&mut announcement);
        }
        let told = self.keep(announcement);
        if let Some(session) = sessions.get(&change.key) {
            self.last.get_mut().record_announcement(session, &told);
        }
        told
    }

    pub(super) fn own(&mut self, draft: Draft, now: Now) -> Arc<Announcement> {
        let announcement = self.number(draft, now);
        self.keep(announcement)
    }

    /// Keeps in the history what an agent wrote before the person followed it.
    pub fn keep_earlier(&mut self, session: &Session, text: String, sessions: &Sessions, now: Now) {
        let args = [("text", Arg::Agent(text, None))];
        let words = self.fill("fleet.earlier", self.settings.verbosity, &args);
        let draft =
            Draft::new(Class::Stream, AnnouncementKind::Output, words).aloud(Presentation::Kept);
        let mut earlier = self.number(draft, now);
        earlier.key = Some(session.key.clone());
        earlier.agent = Some(self.agent_name(&session.key, &session.agent, sessions));
        self.keep(earlier);
    }

    /// Keeps in the history what the person told an agent, which is named if there are several; they know what they
    /// wrote.
    pub fn keep_prompt(&mut self, text: &str, agent: Option<&str>, now: Now) -> Arc<Announcement> {
        let args = [("text", Arg::Agent(text.to_owned(), None))];
        let words = self.fill("prompt.words", self.settings.verbosity, &args);
        let draft =
            Draft::new(Class::Outcome, AnnouncementKind::Prompt, words).aloud(Presentation::Seen);
        let mut prompt = self.number(draft, now);
        prompt.agent = agent.map(Arc::from);
        self.keep(prompt)
    }

    /// Creates an announcement that is not news and does not enter the history.
    pub fn aside(
        &mut self,
        class: Class,
        kind: AnnouncementKind,
        segments: Vec<Segment>,
        now: Now,
    ) -> Arc<Announcement> {
        Arc::new(self.number(Draft::new(class, kind, segments), now))
    }

    /// Creates an answer to the person that quotes agents; it is not news and does not enter the history.
    pub fn quoting(
        &mut self,
        segments: Vec<Segment>,
        quotes: Vec<Quote>,
        now: Now,
    ) -> Arc<Announcement> {
        let mut told = self.number(
            Draft::new(Class::Response, AnnouncementKind::Reply, segments),
            now,
        );
        told.quotes = quotes;
        Arc::new(told)
    }

    /// Repeats an earlier announcement as the response to a key.
    pub fn repeat(&self, announcement: &Announcement) -> Arc<Announcement> {
        let mut again = announcement.clone();
        again.class = Class::Response;
        // A cue would make old news sound new.
        again.cue = None;
        again.aloud = Presentation::Spoken;
        again.topic = None;
        if again.kind == AnnouncementKind::Prompt {
            let agent = again.agent.as_deref().unwrap_or_default();
            let args = [("agent", Arg::Name(agent.to_owned()))];
            let you = self.phrases.text("label.prompt", &args);
            again.segments.insert(0, before_words(&you, &self.phrases));
        } else if let (Some(agent), true) = (&again.agent, again.is_agents_text()) {
            again.segments.insert(0, speaker(agent, &self.phrases));
        }
        Arc::new(again)
    }

    /// Repeats an earlier announcement after words of the program's own.
    pub fn repeat_after(&self, mut words: Vec<Segment>, told: &Announcement) -> Arc<Announcement> {
        let mut again = Arc::unwrap_or_clone(self.repeat(told));
        words.append(&mut again.segments);
        again.segments = words;
        Arc::new(again)
    }

    /// Creates the beat of a silently working agent: heard, but neither shown nor kept.
    pub fn heartbeat(&mut self, now: Now) -> Arc<Announcement> {
        let segments = self.phrases.say("heartbeat", Verbosity::Terse, &[]);
        let draft = Draft::new(Class::Stream, AnnouncementKind::Heartbeat, segments)
            .aloud(Presentation::Heard);
        Arc::new(self.number(draft, now))
    }

    /// Creates a hint that is heard, but neither shown nor kept: the screen has its own place for it.
    pub fn hint_by_ear(&mut self, key: &str, now: Now) -> Arc<Announcement> {
        let segments = self.phrases.say(key, self.verbosity(), &[]);
        let draft =
            Draft::new(Class::Outcome, AnnouncementKind::Hint, segments).aloud(Presentation::Heard);
        Arc::new(self.number(draft, now))
    }

    fn number(&mut self, draft: Draft, at: Now) -> Announcement {
        self.next += 1;
        let cue = draft.cue.or_else(|| cue_of(&draft));
        Announcement {
            id: AnnouncementId(self.next),
            at,
            class: draft.class,
            kind: draft.kind,
            aloud: draft.aloud,
            key: None,
            agent: None,
            source: draft.source.map(Arc::from),
            tool: None,
            about: draft.about,
            topic: draft.topic,
            weight: draft.weight,
            cue,
            tongue: Arc::clone(self.phrases.tongue()),
            direction: None,
            segments: draft.segments,
            facts: self.facts_of(draft.facts),
            quotes: Vec::new(),
            opens: draft.opens,
        }
    }

    /// Returns the tool whose call or return a change's announcement reports.
    fn tool_of(&mut self, change: &Change, kind: AnnouncementKind) -> Option<Arc<Tool>> {
        // A warning about a violation at a call has another kind, and is not news of the tool.
        let (name, status) = if let ChangeKind::ToolInvoked(event) = &change.kind
            && kind == AnnouncementKind::ToolInvoked
        {
            (&event.tool, None)
        } else if let ChangeKind::ToolCompleted { event, .. } = &change.kind
            && kind == AnnouncementKind::ToolCompleted
        {
            let status = event.status.as_str();
            (&event.tool, (!status.is_empty()).then_some(status))
        } else {
            return None;
        };
        let same = |tool: &Tool| tool.name == *name && tool.status.as_deref() == status;
        let tool = || Tool {
            name: name.clone(),
            status: status.map(str::to_owned),
        };
        Some(self.tools.find_or(same, tool))
    }

    /// Returns the facts of a draft in the form in which they are kept.
    fn facts_of(&mut self, facts: EventFacts) -> Option<Arc<EventFacts>> {
        let same = |known: &EventFacts| *known == facts;
        match facts.are_usual() {
            true if facts.are_none() => None,
            true => Some(self.facts.find_or(same, || facts.clone())),
            false => Some(Arc::new(facts)),
        }
    }

    fn keep(&mut self, mut announcement: Announcement) -> Arc<Announcement> {
        let wanted = matches!(announcement.class, Class::Alert | Class::Response);
        let is_for_lines = match announcement.aloud {
            Presentation::Spoken => true,
            Presentation::Shown => matches!(
                announcement.kind,
                AnnouncementKind::State | AnnouncementKind::ToolInvoked
            ),
            Presentation::Seen | Presentation::Echo | Presentation::Kept | Presentation::Heard => {
                false
            }
        };
        if self.settings.quiet && !wanted && is_for_lines {
            announcement.aloud = Presentation::Seen;
            self.left_out += 1;
        }
        // An announcement is kept for hours.
        announcement.segments.shrink_to_fit();
        let announcement = Arc::new(announcement);
        self.history.push(Arc::clone(&announcement));
        announcement
    }

    /// Returns whether an announcement is part of an agent's text that the person hears only at the end of the turn.
    fn waits_for_end(&self, told: &Announcement) -> bool {
        let at_end = self.settings.answers == AnswersChoice::AtTheEnd;
        at_end && is_of_text(told)
    }

    /// Returns what an agent wrote in a finished turn, for a person who hears it only then.
    pub(super) fn at_the_end(&mut self, change: &Change, sessions: &Sessions) -> NewAnnouncements {
        let quiet = self.settings.quiet || self.is_muted(&change.key, &change.agent);
        if self.settings.answers != AnswersChoice::AtTheEnd || quiet || change.replayed {
            return NewAnnouncements::new();
        }
        let key = Some(&change.key);
        let begins = |told: &Announcement| {
            told.key.as_ref() == key && told.kind == AnnouncementKind::SessionStarted
        };
        let turn = self.history.iter().rev().take_while(|told| !begins(told));
        let waited = turn.filter(|told| {
            told.key.as_ref() == key && told.aloud == Presentation::Seen && is_of_text(told)
        });
        let mut waited: Vec<Announcement> = waited
            .map(|told| Announcement {
                aloud: Presentation::Spoken,
                at: change.at,
                ..Announcement::clone(told)
            })
            .collect();
        waited.reverse();
        if self.is_named(&change.key, &change.agent, sessions) {
            waited.iter_mut().for_each(|told| self.name_speaker(told));
        }
        waited.into_iter().map(Arc::new).collect()
    }

    /// Names the speaker, if it is not the previous one, and always before anything but
    /// streamed text.
    fn name_speaker(&mut self, announcement: &mut Announcement) {
        let (Some(agent), Some(key)) = (&announcement.agent, &announcement.key) else {
            return;
        };
        let speaks = |(link, last): &(LinkId, Arc<str>)| *link == key.link && last == agent;
        let same = self.last_speaker.as_ref().is_some_and(speaks);
        let begins = announcement.segments.first();
        let named_already = || {
            matches!(announcement.about, Some(QuestionRelation::Asks(_)))
                || begins.is_some_and(|segment| names(segment.text(), agent))
        };
        let goes_on = same && announcement.kind == AnnouncementKind::Output;
        if !same {
            self.last_speaker = Some((key.link, agent.clone()));
        }
        if !goes_on && !named_already() {
            let segment = speaker(agent, &self.phrases);
            announcement.segments.insert(0, segment);
        }
    }

    /// Returns whether low load leaves something unspoken: all but alerts, responses, endings, outputs and other news
    /// that needs the person; the rest is shown and kept.
    fn is_below_load(&self, key: &SessionKey, kind: AnnouncementKind, class: Class) -> bool {
        if self.load_of(key.link) != Load::Low || class == Class::Alert || class == Class::Response
        {
            return false;
        }
        match kind {
            AnnouncementKind::SessionCompleted
            | AnnouncementKind::SessionErrored
            | AnnouncementKind::SessionCancelled
            | AnnouncementKind::Output
            | AnnouncementKind::Confirmation
            | AnnouncementKind::Clarification
            | AnnouncementKind::Handoff
            | AnnouncementKind::Connection
            | AnnouncementKind::Reply
            | AnnouncementKind::Danger
            | AnnouncementKind::Prompt
            | AnnouncementKind::Hint => false,
            AnnouncementKind::SessionStarted
            | AnnouncementKind::State
            | AnnouncementKind::Progress
            | AnnouncementKind::ToolInvoked
            | AnnouncementKind::ToolCompleted
            | AnnouncementKind::Unknown
            | AnnouncementKind::Anomaly
            | AnnouncementKind::Heartbeat => true,
        }
    }

    /// Returns how many announcements were left out of speech and lines because the person wanted less, and
    /// resets the count.
    pub fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    fn is_repeated(&mut self, announcement: &Announcement) -> bool {
        let repeatable = announcement.class == Class::Activity
            || announcement.kind == AnnouncementKind::Progress;
        if !repeatable {
            return false;
        }
        self.recent.has(announcement)
    }

    /// Returns the verbosity at which something of a source is worded: endings are terse under low load.
    pub(super) fn level(&self, link: LinkId, kind: AnnouncementKind) -> Verbosity {
        let ending = matches!(
            kind,
            AnnouncementKind::SessionCompleted | AnnouncementKind::SessionCancelled
        );
        if self.load_of(link) == Load::Low && ending {
            Verbosity::Terse
        } else {
            self.verbosity_of(link)
        }
    }
}

/// Returns whether an announcement is part of an agent's text: its words, their introduction, or a note in their place.
fn is_of_text(told: &Announcement) -> bool {
    match told.kind {
        AnnouncementKind::Output => matches!(told.class, Class::Stream | Class::Outcome),
        AnnouncementKind::Anomaly => told.class == Class::Stream,
        AnnouncementKind::SessionStarted
        | AnnouncementKind::SessionCompleted
        | AnnouncementKind::SessionErrored
        | AnnouncementKind::SessionCancelled
        | AnnouncementKind::State
        | AnnouncementKind::Progress
        | AnnouncementKind::ToolInvoked
        | AnnouncementKind::ToolCompleted
        | AnnouncementKind::Confirmation
        | AnnouncementKind::Clarification
        | AnnouncementKind::Handoff
        | AnnouncementKind::Unknown
        | AnnouncementKind::Connection
        | AnnouncementKind::Reply
        | AnnouncementKind::Danger
        | AnnouncementKind::Prompt
        | AnnouncementKind::Hint
        | AnnouncementKind::Heartbeat => false,
    }
}

/// Returns the cue that goes with what an announcement is about, if any.
fn cue_of(draft: &Draft) -> Option<Cue> {
    match draft.kind {
        AnnouncementKind::Confirmation | AnnouncementKind::Clarification => {
            let asks = matches!(draft.about, Some(QuestionRelation::Asks(_)));
            (asks && draft.class == Class::Alert).then_some(Cue::Question)
        }
        AnnouncementKind::SessionErrored | AnnouncementKind::Danger => Some(Cue::Error),
        AnnouncementKind::SessionCompleted => Some(Cue::Done),
        AnnouncementKind::Heartbeat => Some(Cue::Tick),
        AnnouncementKind::ToolInvoked => Some(Cue::Call),
        AnnouncementKind::Output => (draft.opens == Opening::Output).then_some(Cue::Answer),
        AnnouncementKind::ToolCompleted => match draft.weight {
            Weight::Failure => Some(Cue::Error),
            Weight::Plain | Weight::Stopped => None,
        },
        AnnouncementKind::SessionStarted
        | AnnouncementKind::SessionCancelled
        | AnnouncementKind::State
        | AnnouncementKind::Progress
        | AnnouncementKind::Handoff
        | AnnouncementKind::Unknown
        | AnnouncementKind::Connection
        | AnnouncementKind::Reply
        | AnnouncementKind::Anomaly
        | AnnouncementKind::Prompt
        | AnnouncementKind::Hint => None,
    }
}

/// Returns the words that name a speaker; they are only heard, as every face shows the name itself.
fn speaker(agent: &str, phrases: &Phrases) -> Segment {
    before_words(&phrases.name_of(agent), phrases)
}

/// Returns the words that introduce a speaker, with a colon.
fn before_words(name: &str, phrases: &Phrases) -> Segment {
    let mut spoken = String::with_capacity(name.len() + 1);
    spoken.push_str(name);
    spoken.push(':');
    match phrases.lexicon().pronounce(&spoken) {
        Cow::Borrowed(_) => Segment::heard(spoken),
        Cow::Owned(other) => Segment::heard(other),
    }
}
