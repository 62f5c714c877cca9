//! What is not told yet, because a line is being typed, the person holds the lines, or an answer waits for its second step.
//!
//! # Mental model
//! Lines scroll a braille display and a magnifier away from where the person is. So nothing is
//! written while a line is open; and `p` holds everything but the answers to the person's own lines.
//! What waits comes in its order, as soon as it may. A question that is not written can't be answered
//! by a line: nobody answers what they could not read.
//!
//! What is urgent is not said into a line either, in whichever face: the word that is typed would be lost, or
//! the question. Where the line goes on for two seconds more, one notice says that something waits.
//! What becomes of a question that was asked before is said at once: the line may be its answer.
//!
//! Likewise the question that is being decided is finished before another is asked: while the second step of one is
//! waited for, another one rings, is told in a word, and is asked after it.
//!
//! # Worked example
//! `n` is typed, a question comes and rings, `2` and Enter are typed: the question is written, then
//! the answer to `n 2`, which was begun before and so is not for the new question.
//!
//! # Tuning by symptom
//! Lines seem to be missing: somebody held them for very long; beyond [`MOST`] the oldest stay in the
//! history only, and that is told.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::announce::{About, Aloud, Announcement, Class};
use crate::session::PromptId;

/// How many announcements wait: more than anybody reads at once; the history has all of them.
const MOST: usize = 1000;

/// How long something urgent waits for the end of a line before it is told that it does.
const UNTOLD: Duration = Duration::from_secs(2);

/// How long another question waits for the second step of the one that is being decided: time enough to hear it
/// and press a key.
const FINISHED_WITHIN: Duration = Duration::from_secs(15);

/// What waits to be written.
#[derive(Debug, Clone, Default)]
pub(super) struct Holding {
    /// Whether a line is being typed.
    typing: bool,
    /// Whether the person holds the lines.
    held: bool,
    waiting: VecDeque<Arc<Announcement>>,
    /// What is urgent and not said before the line is done.
    unsaid: VecDeque<Arc<Announcement>>,
    /// When it is told that something urgent waits; once a line.
    notice: Notice,
    /// How many of them stay in the history only.
    left_out: u64,
    /// The questions that were announced and are not written.
    unwritten: BTreeSet<PromptId>,
    /// The question whose second step is waited for, and until when others wait for that.
    deciding: Option<(PromptId, Duration)>,
    /// The questions that waited for it and were asked then, and when.
    asked: Vec<PromptId>,
    asked_at: Duration,
}

/// How far the notice is that something urgent waits for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Notice {
    /// Nothing urgent waits.
    #[default]
    None,
    /// It is told then.
    Due(Duration),
    /// It was told for this line.
    Told,
}

impl Holding {
    /// Returns whether an announcement is not to be written yet.
    pub(super) fn waits(&self, told: &Announcement) -> bool {
        // What no line is written of need not wait for one.
        !matches!(told.aloud, Aloud::Seen | Aloud::Echo)
            && (self.typing || (self.held && told.class != Class::Response))
    }

    /// Takes note of the question whose second step is waited for, and since when; tells whether what waited for
    /// another one goes on.
    pub(super) fn decide(&mut self, step: Option<(PromptId, Duration)>, now: Duration) -> bool {
        let deciding = step
            .map(|(id, since)| (id, since + FINISHED_WITHIN))
            .filter(|(_, until)| now < *until);
        let over = self.deciding.is_some() && deciding.is_none();
        self.deciding = deciding;
        if over {
            let waiting = self.waiting.iter().chain(&self.unsaid);
            self.asked = waiting
                .filter_map(|told| match told.about {
                    Some(About::Asks(id)) => Some(id),
                    Some(About::Tells(_)) | None => None,
                })
                .collect();
            self.asked_at = now;
        }
        over
    }

    /// Returns the question that is being decided, as far as others wait for that.
    pub(super) fn deciding(&self) -> Option<PromptId> {
        self.deciding.map(|(id, _)| id)
    }

    /// Returns until when others wait for it.
    pub(super) fn decided_by(&self) -> Option<Duration> {
        self.deciding.map(|(_, until)| until)
    }

    /// Returns whether a question that waited for another one is asked at this very moment.
    pub(super) fn is_asked_now(&self, id: PromptId, now: Duration) -> bool {
        self.asked_at == now && self.asked.contains(&id)
    }

    /// Keeps a question unsaid that waits for another one, or what is told of it.
    pub(super) fn postpone(&mut self, told: Arc<Announcement>) {
        self.unsaid.push_back(told);
        if self.unsaid.len() > MOST {
            let asks = |told: &Arc<Announcement>| matches!(told.about, Some(About::Asks(_)));
            let least = self.unsaid.iter().position(|told| !asks(told)).unwrap_or(0);
            self.unsaid.remove(least);
            self.left_out += 1;
        }
    }

    /// Keeps something urgent unsaid.
    pub(super) fn hush(&mut self, told: Arc<Announcement>, now: Duration) {
        if self.notice == Notice::None {
            self.notice = Notice::Due(now + UNTOLD);
        }
        self.postpone(told);
    }

    /// Returns when it is told that something urgent waits.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.notice {
            Notice::Due(at) => Some(at),
            Notice::None | Notice::Told => None,
        }
    }

    /// Keeps an announcement unwritten.
    pub(super) fn keep(&mut self, told: Arc<Announcement>) {
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

    /// Takes note that the words of a question are written.
    pub(super) fn wrote(&mut self, id: PromptId) {
        self.unwritten.remove(&id);
    }

    /// Returns whether a question is announced and not written yet.
    pub(super) fn is_unwritten(&self, id: PromptId) -> bool {
        self.unwritten.contains(&id)
    }

    /// Returns whether a line is being typed.
    pub(super) fn is_typing(&self) -> bool {
        self.typing
    }

    /// A line is begun.
    pub(super) fn begin_line(&mut self) {
        self.typing = true;
    }

    /// The line is done or let go; tells whether the lines go on.
    pub(super) fn end_line(&mut self) -> bool {
        self.typing = false;
        !self.held
    }

    /// Returns whether lines are written: no one is being typed, and they are not held.
    pub(super) fn goes_on(&self) -> bool {
        !self.typing && !self.held
    }

    /// Returns whether the person holds the lines.
    pub(super) fn is_held(&self) -> bool {
        self.held
    }

    /// Holds the lines.
    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    /// Lets the lines go on, and counts what waited.
    pub(super) fn let_go(&mut self) -> usize {
        self.held = false;
        self.waiting.len()
    }

    /// Returns what waited to be written, and how much stays in the history only.
    pub(super) fn take_waiting(&mut self) -> (VecDeque<Arc<Announcement>>, u64) {
        let left_out = std::mem::take(&mut self.left_out);
        (std::mem::take(&mut self.waiting), left_out)
    }

    /// Forgets that questions are unwritten that are open no more.
    pub(super) fn keep_open(&mut self, is_open: impl Fn(PromptId) -> bool) {
        self.unwritten.retain(|id| is_open(*id));
    }

    /// Returns what is urgent and was not said, because the line is done.
    pub(super) fn take_unsaid(&mut self) -> VecDeque<Arc<Announcement>> {
        self.notice = Notice::None;
        std::mem::take(&mut self.unsaid)
    }

    /// Returns whether a question waits to be said.
    pub(super) fn is_unsaid(&self, id: PromptId) -> bool {
        let asks = Some(About::Asks(id));
        self.unsaid.iter().any(|told| told.about == asks)
    }

    /// Returns whether any question waits to be said.
    pub(super) fn has_unsaid_question(&self) -> bool {
        let asks = |told: &Arc<Announcement>| matches!(told.about, Some(About::Asks(_)));
        self.unsaid.iter().any(asks)
    }

    /// Takes note that it is told that something urgent waits.
    pub(super) fn note_told(&mut self) {
        self.notice = Notice::Told;
    }
}
