//! Looking back: what happened while the person was away, a whole turn, a search.
//!
//! Responsibilities: counting and collecting entries of the history, and the words for the counts.
//! Not here: how long the person was away (`app`), the history itself (`history`).

use std::sync::Arc;
use std::time::Duration;

use crate::protocol::Now;
use crate::session::Sessions;

use super::Announcer;
use crate::announce::announcement::{
    About, Aloud, Announcement, AnnouncementId, Class, Kind, Weight,
};
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::{Mark, Segment};

/// How many characters of a whole turn are said; the rest is counted, and stays in the history.
const LONGEST_TURN: usize = 20_000;

/// Counts what happened in a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    started: usize,
    completed: usize,
    cancelled: usize,
    errored: usize,
    tools: usize,
    failed: usize,
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
            Kind::ToolCompleted if told.weight == Weight::Failure => &mut self.failed,
            Kind::ToolCompleted => &mut self.tools,
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
    /// Tells in three sentences what happened since a moment: what ended and what was done, what was
    /// written and asked, and what waits for the person now.
    pub fn away(&self, since: Duration, now: Now, sessions: &Sessions) -> String {
        let mut counts = Counts::default();
        let recent = self.history().iter().rev();
        for told in recent.take_while(|told| told.at.monotonic >= since) {
            if told.class != Class::Response {
                counts.take(told);
            }
        }
        let list = |counted: &[(&str, usize)]| {
            let words: Vec<String> = counted
                .iter()
                .filter(|(_, n)| *n > 0)
                .map(|(key, n)| self.phrases.text(key, &[("n", Arg::own(n))]))
                .collect();
            if words.is_empty() {
                self.phrases.text("away.nothing", &[])
            } else {
                words.join(", ")
            }
        };
        let ended = list(&[
            ("away.errored", counts.errored),
            ("away.completed", counts.completed),
            ("away.cancelled", counts.cancelled),
            ("away.started", counts.started),
        ]);
        let done = list(&[
            ("away.dangers", counts.dangers),
            ("away.asked", counts.asked),
            ("away.failed", counts.failed),
            ("away.tools", counts.tools),
            ("away.sentences", counts.sentences),
        ]);
        let open = sessions
            .open_prompts()
            .filter(|prompt| prompt.is_answerable())
            .count();
        let running = sessions
            .iter()
            .filter(|session| !session.is_ended())
            .count();
        let time = self.time(now.monotonic.saturating_sub(since));
        self.phrases.text(
            "away",
            &[
                ("time", Arg::Own(time)),
                ("ended", Arg::Own(ended)),
                ("done", Arg::Own(done)),
                ("open", Arg::own(open)),
                ("running", Arg::own(running)),
            ],
        )
    }

    /// Gives all that an agent wrote in the turn that an entry belongs to, or in the last one: back to
    /// the session's start, or to the person's last answer, whichever is nearer.
    pub fn whole_turn(&self, at: Option<AnnouncementId>) -> Option<Vec<Segment>> {
        let is_text = |told: &Announcement| {
            told.kind == Kind::Output && told.is_agents_text() && told.class != Class::Response
        };
        let entries: Vec<&Arc<Announcement>> = self.history().iter().collect();
        let upto = at.map_or(entries.len(), |at| {
            entries.partition_point(|told| told.id <= at)
        });
        // The turn goes on behind the entry that is looked at.
        let anchor = entries[..upto]
            .iter()
            .rposition(|told| is_text(told))
            .or_else(|| entries.iter().position(|told| is_text(told)))?;
        let key = entries[anchor].key.clone();
        let ends_turn = |told: &Announcement| {
            (told.kind == Kind::SessionStarted && told.key == key)
                || (told.kind == Kind::Reply && told.about.is_some())
        };
        let first = entries[..anchor]
            .iter()
            .rposition(|told| ends_turn(told))
            .map_or(0, |at| at + 1);
        let last = entries[anchor..]
            .iter()
            .position(|told| ends_turn(told))
            .map_or(entries.len(), |at| anchor + at);
        let agent = entries[anchor].agent.clone().unwrap_or_default();
        let mut segments = self.fill("turn", self.verbosity(), &[("agent", Arg::Name(agent))]);
        let (mut said, mut left) = (0, 0_u64);
        for told in &entries[first..last] {
            if told.key != key || !is_text(told) {
                continue;
            }
            said += told.size();
            if said > LONGEST_TURN {
                left += 1;
                continue;
            }
            let own = |segment: &&Segment| segment.mark == Mark::Agent;
            segments.extend(told.segments.iter().filter(own).cloned());
        }
        if left > 0 {
            let args = [("n", Arg::own(left))];
            segments.extend(self.fill("output.folded", self.verbosity(), &args));
        }
        Some(segments)
    }

    /// Finds the nearest entry before a place, or before the end, whose shown words hold a text in any
    /// case.
    pub fn find(&self, text: &str, before: Option<AnnouncementId>) -> Option<Arc<Announcement>> {
        self.hits(text)
            .find(|told| before.is_none_or(|before| told.id < before))
            .cloned()
    }

    /// Counts the entries that hold a text, and which one of them this is, from the newest on.
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
