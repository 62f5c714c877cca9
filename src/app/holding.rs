//! What is not written yet, because a line is being typed or the person holds the lines.
//!
//! # Mental model
//! Lines scroll a braille display and a magnifier away from where the person is. So nothing is
//! written while a line is open; and `p` holds everything but the answers to the person's own lines.
//! What waits comes in its order, as soon as it may. A question that is not written can't be answered
//! by a line: nobody answers what they could not read.
//!
//! # Worked example
//! `n` is typed, a question comes and rings, `2` and Enter are typed: the question is written, then
//! the answer to `n 2`, which was begun before and so is not for the new question.
//!
//! # Tuning by symptom
//! Lines seem to be missing: somebody held them for very long; beyond [`MOST`] the oldest stay in the
//! history only, and that is told.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::announce::{About, Announcement, Arg, Class, Kind};
use crate::protocol::Now;
use crate::session::{Prompt, PromptId};

use super::{App, Effect};

/// How many announcements wait: more than anybody reads at once; the history has all of them.
const MOST: usize = 1000;

/// Holds what waits to be written.
#[derive(Debug, Clone, Default)]
pub(super) struct Holding {
    /// Whether a line is being typed.
    typing: bool,
    /// Whether the person holds the lines.
    held: bool,
    waiting: VecDeque<Arc<Announcement>>,
    /// How many of them stay in the history only.
    left_out: u64,
    /// The questions that were announced and are not written.
    unwritten: BTreeSet<PromptId>,
    /// When questions that had to wait were written.
    written: BTreeMap<PromptId, Duration>,
}

impl Holding {
    fn waits(&self, told: &Announcement) -> bool {
        self.typing || (self.held && told.class != Class::Response)
    }

    fn keep(&mut self, told: Arc<Announcement>) {
        if let Some(About::Asks(id)) = told.about {
            self.unwritten.insert(id);
        }
        self.waiting.push_back(told);
        if self.waiting.len() > MOST {
            let least = self
                .waiting
                .iter()
                .position(|told| told.class != Class::Alert)
                .unwrap_or(0);
            self.waiting.remove(least);
            self.left_out += 1;
        }
    }
}

impl App {
    /// Shows an announcement, now or when the lines go on.
    pub(super) fn put(&mut self, told: Arc<Announcement>, now: Now) {
        if self.holding.waits(&told) {
            self.holding.keep(told);
            return;
        }
        if let Some(About::Asks(id)) = told.about
            && self.holding.unwritten.remove(&id)
        {
            self.holding.written.insert(id, now.monotonic);
        }
        self.effects.push(Effect::Show(told));
    }

    /// A line was begun: nothing is written until it is done or let go.
    pub(super) fn line_begun(&mut self, now: Now) {
        self.reviewing.note(now.monotonic);
        self.holding.typing = true;
    }

    /// The line is done or let go.
    pub(super) fn line_over(&mut self, now: Now) {
        self.holding.typing = false;
        if !self.holding.held {
            self.write_waiting(now);
        }
    }

    /// Holds the lines, or lets them go on.
    pub(super) fn hold(&mut self, now: Now) {
        if self.face.0 == "start.face.json" {
            self.respond("hold.never", &[], now);
        } else if self.holding.held {
            self.holding.held = false;
            let n = self.holding.waiting.len();
            self.respond("hold.off", &[("n", Arg::own(n))], now);
            self.write_waiting(now);
        } else {
            self.holding.held = true;
            self.respond("hold.on", &[], now);
        }
    }

    /// Writes what waits.
    fn write_waiting(&mut self, now: Now) {
        let left_out = std::mem::take(&mut self.holding.left_out);
        if left_out > 0 {
            let args = [("n", Arg::own(left_out))];
            self.say(Class::Outcome, Kind::Hint, "hold.left_out", &args, now);
        }
        for told in std::mem::take(&mut self.holding.waiting) {
            self.put(told, now);
        }
        let sessions = &self.sessions;
        let open = |id: &PromptId| sessions.prompt(*id).is_some_and(Prompt::is_open);
        self.holding.unwritten.retain(open);
        self.holding.written.retain(|id, _| open(id));
    }

    /// Writes everything that waits, because the program ends.
    pub(super) fn release_all(&mut self, now: Now) {
        self.holding.typing = false;
        self.holding.held = false;
        self.write_waiting(now);
    }

    /// Tells whether a question is announced and not written yet.
    pub(super) fn is_unwritten(&self, prompt: &Prompt) -> bool {
        self.holding.unwritten.contains(&prompt.id)
    }

    /// Gives when a question was written that had to wait for it.
    pub(super) fn released_at(&self, prompt: &Prompt) -> Option<Duration> {
        self.holding.written.get(&prompt.id).copied()
    }
}
