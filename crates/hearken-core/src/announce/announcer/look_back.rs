//! Looking back: what happened while the person was away, and searching.
//!
//! Responsibilities: counting and collecting history entries, and the words for the counts.
//! Not here: how long the person was away (`app`), the history itself (`history`), a whole turn (`turn_text`).

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::Now;
use crate::session::{SessionKey, Sessions};

use super::Announcer;
use crate::announce::announcement::{
    Announcement, AnnouncementId, AnnouncementKind, Class, Presentation, QuestionRelation, Weight,
};
use crate::announce::words::phrase::Arg;

/// Counts of what happened in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct EventCounts {
    started: usize,
    completed: usize,
    cancelled: usize,
    errored: usize,
    tools: usize,
    failed: usize,
    stopped: usize,
    sentences: usize,
    asked: usize,
    dangers: usize,
}

impl EventCounts {
    /// Counts announcements; the responses to keys and lines are no news.
    fn of<'a>(announcements: impl Iterator<Item = &'a Arc<Announcement>>) -> Self {
        let mut counts = Self::default();
        for told in announcements.filter(|told| told.class != Class::Response) {
            counts.take(told);
        }
        counts
    }

    fn take(&mut self, told: &Announcement) {
        let one = match told.kind {
            AnnouncementKind::SessionStarted => &mut self.started,
            AnnouncementKind::SessionCompleted => &mut self.completed,
            AnnouncementKind::SessionCancelled => &mut self.cancelled,
            AnnouncementKind::SessionErrored => &mut self.errored,
            AnnouncementKind::ToolCompleted => match told.weight {
                Weight::Failure => &mut self.failed,
                Weight::Stopped => &mut self.stopped,
                Weight::Plain => &mut self.tools,
            },
            AnnouncementKind::Output if told.is_agents_text() => &mut self.sentences,
            AnnouncementKind::Danger => &mut self.dangers,
            AnnouncementKind::Confirmation | AnnouncementKind::Clarification
                if matches!(told.about, Some(QuestionRelation::Asks(_))) =>
            {
                &mut self.asked
            }
            AnnouncementKind::Output
            | AnnouncementKind::Confirmation
            | AnnouncementKind::Clarification
            | AnnouncementKind::Connection
            | AnnouncementKind::State
            | AnnouncementKind::Progress
            | AnnouncementKind::ToolInvoked
            | AnnouncementKind::Handoff
            | AnnouncementKind::Unknown
            | AnnouncementKind::Reply
            | AnnouncementKind::Anomaly
            | AnnouncementKind::Prompt
            | AnnouncementKind::Hint
            | AnnouncementKind::Heartbeat => return,
        };
        *one += 1;
    }
}

impl Announcer {
    /// Returns three sentences on what happened since a given moment: what ended and what was done, what was
    /// written and asked, and how many questions (`open`) now wait for the person.
    pub fn away(&self, (since, now): (Duration, Now), open: usize, sessions: &Sessions) -> String {
        let time = self.time(now.monotonic.saturating_sub(since));
        let recent = self.history().iter().rev();
        let recent = recent.take_while(|told| told.at.monotonic >= since);
        let running = running(sessions, |_| true);
        let mut args = self.counted(EventCounts::of(recent), open, running);
        args.push(("time", Arg::Own(time)));
        self.phrases.text("away", &args)
    }

    /// Returns the words for what the person missed of some sessions, from a given announcement on; `None` if
    /// there was nothing, and nothing waits or works.
    pub fn missed(
        &self,
        from: AnnouncementId,
        open: usize,
        sessions: &Sessions,
        is_of: impl Fn(&SessionKey) -> bool,
    ) -> Option<Vec<(&'static str, Arg)>> {
        let recent = self.history().iter().rev();
        let recent = recent
            .take_while(|told| told.id >= from)
            .filter(|told| told.key.as_ref().is_some_and(&is_of));
        let counts = EventCounts::of(recent);
        let running = running(sessions, is_of);
        let is_nothing = counts == EventCounts::default() && open == 0 && running == 0;
        (!is_nothing).then(|| self.counted(counts, open, running))
    }

    /// Returns the words for counts, open questions and running sessions.
    fn counted(
        &self,
        counts: EventCounts,
        open: usize,
        running: usize,
    ) -> Vec<(&'static str, Arg)> {
        let list = |counted: &[&[(&str, usize)]]| {
            let words: Vec<String> = counted
                .iter()
                .copied()
                .flatten()
                .filter(|(_, n)| *n > 0)
                .map(|(key, n)| self.phrases.text(key, &[("n", Arg::own(n))]))
                .collect();
            if words.is_empty() {
                self.phrases.text("away.nothing", &[])
            } else {
                words.join(", ")
            }
        };
        let sentence = |key: &str, n: usize| match n {
            0 => String::new(),
            n => self.phrases.text(key, &[("n", Arg::own(n))]),
        };
        let ended = [
            ("away.errored", counts.errored),
            ("away.completed", counts.completed),
            ("away.cancelled", counts.cancelled),
            ("away.started", counts.started),
        ];
        let done = [
            ("away.dangers", counts.dangers),
            ("away.asked", counts.asked),
            ("away.failed", counts.failed),
            ("away.stopped", counts.stopped),
            ("away.tools", counts.tools),
            ("away.sentences", counts.sentences),
        ];
        vec![
            ("all", Arg::Own(list(&[&ended, &done]))),
            ("ended", Arg::Own(list(&[&ended]))),
            ("done", Arg::Own(list(&[&done]))),
            ("open", Arg::own(open)),
            ("running", Arg::own(running)),
            ("waiting", Arg::Own(sentence("away.waiting", open))),
            ("working", Arg::Own(sentence("away.working", running))),
        ]
    }

    /// Returns the nearest entry before a given one, or before the end, whose words contain a text, ignoring
    /// case.
    pub fn find(&self, text: &str, before: Option<AnnouncementId>) -> Option<Arc<Announcement>> {
        self.hits(text)
            .find(|told| before.is_none_or(|before| told.id < before))
            .cloned()
    }

    /// Returns the position of an entry among those that contain a text, newest first, and how many there are.
    pub fn place_among(&self, text: &str, found: AnnouncementId) -> (usize, usize) {
        self.hits(text).fold((0, 0), |(place, count), told| {
            (place + usize::from(told.id >= found), count + 1)
        })
    }

    fn hits(&self, text: &str) -> impl Iterator<Item = &Arc<Announcement>> {
        let wanted = text.to_lowercase();
        self.history()
            .iter()
            .rev()
            .filter(|told| told.class != Class::Response && told.aloud != Presentation::Heard)
            .filter(move |told| {
                told.text().to_lowercase().contains(&wanted)
                    || told.shown().to_lowercase().contains(&wanted)
            })
    }
}

/// Returns how many of some sessions run now.
fn running(sessions: &Sessions, is_of: impl Fn(&SessionKey) -> bool) -> usize {
    sessions
        .iter()
        .filter(|session| !session.is_ended() && !session.is_aside && is_of(&session.key))
        .count()
}
