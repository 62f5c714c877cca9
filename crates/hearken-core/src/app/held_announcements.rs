//! Announcements that wait: for a line that is being typed, for the person to release the lines, or for a second step.
//!
//! # Mental model
//! New lines scroll a braille display or a magnifier away from its place. So nothing is written while a line is open;
//! and `p` holds back everything but the answers to the person's own lines. What waits is written in order, as soon as
//! possible. A question that is not written yet can't be answered by a line: the person could not have read it.
//!
//! Urgent news is not spoken into a line either, in any face: the person would miss the news or lose the word
//! that they are typing. If the line stays open for two more seconds, one notice says that something waits. The
//! fate of a question that was already asked is announced immediately: the line may be its answer.
//!
//! Likewise, the question that is being decided is finished before another one is asked: while its second step
//! is open, another question rings, is announced in a word, and is asked afterwards.
//!
//! # Worked example
//! The person types `n`; a question comes and rings; they type `2` and Enter. The question is written, then the
//! response to `n 2`, which was begun earlier and so is not for the new question.
//!
//! # Tuning by symptom
//! Lines seem to be missing: they were held for very long; beyond [`MOST`] the oldest are in the history only, which is
//! announced.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::announce::{Announcement, Class, Presentation, QuestionRelation};
use crate::session::QuestionId;

/// How many announcements can wait: more than a person reads in one go; the history has all of them.
const MOST: usize = 1000;

/// How long urgent news waits for the end of a line before a notice says that it waits.
const UNTOLD: Duration = Duration::from_secs(2);

/// How long another question waits for the second step of the one that is being decided: enough time to hear it and
/// press a key.
const FINISHED_WITHIN: Duration = Duration::from_secs(15);

/// The announcements that wait, and the reasons why.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldAnnouncements {
    /// Whether a line is being typed.
    typing: bool,
    /// Whether the person holds back new lines.
    are_lines_held: bool,
    waiting: VecDeque<Arc<Announcement>>,
    /// Urgent announcements whose speech waits for the end of the line.
    unsaid: VecDeque<Arc<Announcement>>,
    /// The notice that something urgent waits, given once per line.
    notice: UrgentNotice,
    /// How many announcements are in the history only.
    left_out: u64,
    /// The questions that were announced but are not written yet.
    unwritten: BTreeSet<QuestionId>,
    /// The question whose second step is open, and until when others wait for it.
    deciding: Option<(QuestionId, Duration)>,
    /// The questions that waited for it and were then asked, and when.
    asked_questions: Vec<QuestionId>,
    asked_at: Duration,
}

/// The state of the notice that something urgent waits for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum UrgentNotice {
    /// Nothing urgent waits.
    #[default]
    None,
    /// It is due at this time.
    Due(Duration),
    /// It was announced for this line.
    Told,
}

impl HeldAnnouncements {
    /// Returns whether an announcement must not be written yet.
    pub(super) fn waits(&self, told: &Announcement) -> bool {
        // An announcement that is not written as a line need not wait for one.
        !matches!(told.aloud, Presentation::Seen | Presentation::Echo)
            && (self.typing || (self.are_lines_held && told.class != Class::Response))
    }

    /// Notes the question whose second step is open, and since when; returns whether announcements that waited
    /// for an earlier question can proceed.
    pub(super) fn decide(&mut self, step: Option<(QuestionId, Duration)>, now: Duration) -> bool {
        let deciding = step
            .map(|(id, since)| (id, since + FINISHED_WITHIN))
            .filter(|(_, until)| now < *until);
        let over = self.deciding.is_some() && deciding.is_none();
        self.deciding = deciding;
        if over {
            let waiting = self.waiting.iter().chain(&self.unsaid);
            self.asked_questions = waiting
                .filter_map(|told| match told.about {
                    Some(QuestionRelation::Asks(id)) => Some(id),
                    Some(QuestionRelation::Concerns(_)) | None => None,
                })
                .collect();
            self.asked_at = now;
        }
        over
    }

    /// Returns the question that is being decided, as long as others wait for it.
    pub(super) fn deciding(&self) -> Option<QuestionId> {
        self.deciding.map(|(id, _)| id)
    }

    /// Returns until when others wait for the question that is being decided.
    pub(super) fn decided_by(&self) -> Option<Duration> {
        self.deciding.map(|(_, until)| until)
    }

    /// Returns whether a question that waited for another one is being asked at this very moment.
    pub(super) fn is_asked_now(&self, id: QuestionId, now: Duration) -> bool {
        self.asked_at == now && self.asked_questions.contains(&id)
    }

    /// Delays the speech about a question until another question is decided.
    pub(super) fn postpone(&mut self, told: Arc<Announcement>) {
        self.unsaid.push_back(told);
        if self.unsaid.len() > MOST {
            let asks =
                |told: &Arc<Announcement>| matches!(told.about, Some(QuestionRelation::Asks(_)));
            let least = self.unsaid.iter().position(|told| !asks(told)).unwrap_or(0);
            self.unsaid.remove(least);
            self.left_out += 1;
        }
    }

    /// Delays the speech of an urgent announcement until the line is complete.
    pub(super) fn hush(&mut self, told: Arc<Announcement>, now: Duration) {
        if self.notice == UrgentNotice::None {
            self.notice = UrgentNotice::Due(now + UNTOLD);
        }
        self.postpone(told);
    }

    /// Returns when the notice that something urgent waits is due.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.notice {
            UrgentNotice::Due(at) => Some(at),
            UrgentNotice::None | UrgentNotice::Told => None,
        }
    }

    /// Delays writing an announcement.
    pub(super) fn keep(&mut self, told: Arc<Announcement>) {
        if let Some(QuestionRelation::Asks(id)) = told.about {
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

    /// Notes that the words of a question are written.
    pub(super) fn wrote(&mut self, id: QuestionId) {
        self.unwritten.remove(&id);
    }

    /// Returns whether a question is announced but not written yet.
    pub(super) fn is_unwritten(&self, id: QuestionId) -> bool {
        self.unwritten.contains(&id)
    }

    /// Returns whether a line is being typed.
    pub(super) fn is_typing(&self) -> bool {
        self.typing
    }

    /// Notes that a line was begun.
    pub(super) fn begin_line(&mut self) {
        self.typing = true;
    }

    /// Notes that the line is done or abandoned; returns whether lines may be written again.
    pub(super) fn end_line(&mut self) -> bool {
        self.typing = false;
        !self.are_lines_held
    }

    /// Returns whether lines may be written: none is being typed, and they are not held.
    pub(super) fn may_write(&self) -> bool {
        !self.typing && !self.are_lines_held
    }

    /// Returns whether the person holds back new lines.
    pub(super) fn is_held(&self) -> bool {
        self.are_lines_held
    }

    /// Delays new lines from now on.
    pub(super) fn hold(&mut self) {
        self.are_lines_held = true;
    }

    /// Releases the lines, and returns how many announcements waited.
    pub(super) fn let_go(&mut self) -> usize {
        self.are_lines_held = false;
        self.waiting.len()
    }

    /// Returns the announcements that waited, and the number of those that are in the history only.
    pub(super) fn take_waiting(&mut self) -> (VecDeque<Arc<Announcement>>, u64) {
        let left_out = std::mem::take(&mut self.left_out);
        (std::mem::take(&mut self.waiting), left_out)
    }

    /// Drops closed questions from the unwritten ones.
    pub(super) fn keep_open(&mut self, is_open: impl Fn(QuestionId) -> bool) {
        self.unwritten.retain(|id| is_open(*id));
    }

    /// Takes the urgent announcements that waited for the end of the line.
    pub(super) fn take_unsaid(&mut self) -> VecDeque<Arc<Announcement>> {
        self.notice = UrgentNotice::None;
        std::mem::take(&mut self.unsaid)
    }

    /// Returns whether a question waits to be spoken.
    pub(super) fn is_unsaid(&self, id: QuestionId) -> bool {
        let asks = Some(QuestionRelation::Asks(id));
        self.unsaid.iter().any(|told| told.about == asks)
    }

    /// Returns whether any question waits to be spoken.
    pub(super) fn has_unsaid_question(&self) -> bool {
        let asks = |told: &Arc<Announcement>| matches!(told.about, Some(QuestionRelation::Asks(_)));
        self.unsaid.iter().any(asks)
    }

    /// Notes that the notice was announced.
    pub(super) fn note_told(&mut self) {
        self.notice = UrgentNotice::Told;
    }
}
