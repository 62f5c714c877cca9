//! Looking back: what happened while the person was away, and searching.
//!
//! Responsibilities: counting and collecting history entries, and the words for the counts.
//! Not here: how long the person was away (`app`), the history itself (`history`), a whole turn (`turn`).

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::Now;
use crate::session::{SessionKey, Sessions};

use super::Announcer;
use crate::announce::announcement::{
    About, Aloud, Announcement, AnnouncementId, Class, Kind, Weight,
};
use crate::announce::words::phrase::Arg;

/// Counts of what happened in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
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

impl Counts {
    fn take(&mut self, told: &Announcement) {
        let one = match told.kind {
            Kind::SessionStarted => &mut self.started,
            Kind::SessionCompleted => &mut self.completed,
            Kind::SessionCancelled => &mut self.cancelled,
            Kind::SessionErrored => &mut self.errored,
            Kind::ToolCompleted => match told.weight {
                Weight::Failure => &mut self.failed,
                Weight::Stopped => &mut self.stopped,
                Weight::Plain => &mut self.tools,
            },
            Kind::Output if told.is_agents_text() => &mut self.sentences,
            Kind::Danger => &mut self.dangers,
            Kind::Confirmation | Kind::Clarification
                if matches!(told.about, Some(About::Asks(_))) =>
            {
                &mut self.asked
            }
            Kind::Output
            | Kind::Confirmation
            | Kind::Clarification
            | Kind::Connection
            | Kind::State
            | Kind::Progress
            | Kind::ToolInvoked
            | Kind::Handoff
            | Kind::Unknown
            | Kind::Reply
            | Kind::Anomaly
            | Kind::Hint
            | Kind::Heartbeat => return,
        };
        *one += 1;
    }
}

impl Announcer {
    /// Returns three sentences on what happened since a moment: what ended and what was done, what was
    /// written and asked, and how many questions (`open`) now wait for the person.
    pub fn away(&self, (since, now): (Duration, Now), open: usize, sessions: &Sessions) -> String {
        let time = self.time(now.monotonic.saturating_sub(since));
        let recent = self.history().iter().rev();
        let recent = recent.take_while(|told| told.at.monotonic >= since);
        let mut args = self.counted(recent, open, sessions, |_| true);
        args.push(("time", Arg::Own(time)));
        self.phrases.text("away", &args)
    }

    /// Returns the words for what was missed of some sessions: what was announced from an announcement on.
    pub fn missed(
        &self,
        from: AnnouncementId,
        open: usize,
        sessions: &Sessions,
        is_of: impl Fn(&SessionKey) -> bool,
    ) -> Vec<(&'static str, Arg)> {
        let recent = self.history().iter().rev();
        let recent = recent
            .take_while(|told| told.id >= from)
            .filter(|told| told.key.as_ref().is_some_and(&is_of));
        self.counted(recent, open, sessions, &is_of)
    }

    /// Returns the words for announcements that are counted, and for the sessions that run now.
    fn counted<'a>(
        &self,
        recent: impl Iterator<Item = &'a Arc<Announcement>>,
        open: usize,
        sessions: &Sessions,
        is_of: impl Fn(&SessionKey) -> bool,
    ) -> Vec<(&'static str, Arg)> {
        let mut counts = Counts::default();
        for told in recent.filter(|told| told.class != Class::Response) {
            counts.take(told);
        }
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
        let running = sessions
            .iter()
            .filter(|session| !session.is_ended() && !session.is_aside && is_of(&session.key))
            .count();
        vec![
            ("all", Arg::Own(list(&[&ended, &done]))),
            ("ended", Arg::Own(list(&[&ended]))),
            ("done", Arg::Own(list(&[&done]))),
            ("open", Arg::own(open)),
            ("running", Arg::own(running)),
        ]
    }

    /// Returns the nearest entry before a given one, or before the end, whose words contain a text, ignoring
    /// case.
    pub fn find(&self, text: &str, before: Option<AnnouncementId>) -> Option<Arc<Announcement>> {
        self.hits(text)
            .find(|told| before.is_none_or(|before| told.id < before))
            .cloned()
    }

    /// Returns the place of an entry among those that contain a text, newest first, and how many there are.
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
            .filter(|told| told.class != Class::Response && told.aloud != Aloud::Heard)
            .filter(move |told| {
                told.text().to_lowercase().contains(&wanted)
                    || told.shown().to_lowercase().contains(&wanted)
            })
    }
}
