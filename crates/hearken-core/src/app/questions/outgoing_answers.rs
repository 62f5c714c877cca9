//! The answers that were sent and have no outcome yet, by request number.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::Reply;
use crate::session::{QuestionId, QuestionRun};

/// The wait before the first new attempt to send an answer; it doubles up to [`RETRY_CAP`].
const RETRY_FIRST: Duration = Duration::from_millis(500);
/// The longest wait between attempts.
const RETRY_CAP: Duration = Duration::from_secs(8);

/// An answer that is under way.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Outgoing {
    question: QuestionId,
    link: LinkId,
    reply: Reply,
    attempt: u32,
    /// The last announced state, so that each change is announced once.
    announced_state: Option<QuestionRun>,
    /// Whether the loss of its connection was announced with it.
    loss_told: bool,
    stage: AnswerProgress,
}

/// How far an answer has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerProgress {
    /// An attempt is under way, and its transport still has to report on it.
    Leaving,
    /// The transport has reported what it knows; whether the answer was accepted is for its dialect to report.
    Left,
    /// It is tried again at this time.
    Waiting(Duration),
}

impl Outgoing {
    /// Starts the attempt with this number.
    pub(super) fn new(question: QuestionId, link: LinkId, reply: Reply, attempt: u32) -> Self {
        Self {
            question,
            link,
            reply,
            attempt,
            announced_state: None,
            loss_told: false,
            stage: AnswerProgress::Leaving,
        }
    }

    /// Returns the question.
    pub(super) fn question(&self) -> QuestionId {
        self.question
    }

    /// Returns the link that it goes to.
    pub(super) fn link(&self) -> LinkId {
        self.link
    }

    /// Returns the reply that is sent.
    pub(super) fn reply(&self) -> &Reply {
        &self.reply
    }

    /// Notes a change of state; returns whether that is to be announced.
    pub(super) fn tell(&mut self, state: QuestionRun) -> bool {
        self.announced_state.replace(state) != Some(state)
    }

    /// Returns whether nothing was announced about it yet.
    pub(super) fn is_untold(&self) -> bool {
        self.announced_state.is_none()
    }

    /// Returns whether the loss of its connection was announced with it, so that only its final state remains
    /// to be said.
    pub(super) fn is_loss_told(&self) -> bool {
        self.loss_told
    }

    /// Waits for the next attempt: the more attempts there were, the longer.
    pub(super) fn wait(&mut self, now: Duration) {
        let doubled = 1 << self.attempt.min(6).saturating_sub(1);
        let wait = RETRY_FIRST.saturating_mul(doubled).min(RETRY_CAP);
        self.stage = AnswerProgress::Waiting(now + wait);
    }

    /// Begins another attempt.
    pub(super) fn try_again(&mut self, attempt: u32) {
        self.attempt = attempt;
        self.stage = AnswerProgress::Leaving;
        self.loss_told = false;
    }

    /// Returns when it is tried again; `None` while an attempt is under way.
    fn retry_at(&self) -> Option<Duration> {
        match self.stage {
            AnswerProgress::Waiting(at) => Some(at),
            AnswerProgress::Leaving | AnswerProgress::Left => None,
        }
    }
}

/// The answers that are under way.
#[derive(Debug, Clone, Default)]
pub(super) struct OutgoingAnswers(BTreeMap<u64, Outgoing>);

impl OutgoingAnswers {
    /// Returns whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an answer under the number of its request.
    pub(super) fn add(&mut self, request: u64, sent: Outgoing) {
        self.0.insert(request, sent);
    }

    /// Removes and returns an answer by the number of its request.
    pub(super) fn take(&mut self, request: u64) -> Option<Outgoing> {
        self.0.remove(&request)
    }

    /// Notes that the transport has reported what it knows of a request.
    pub(super) fn note_left(&mut self, request: u64) {
        if let Some(sent) = self.0.get_mut(&request) {
            sent.stage = AnswerProgress::Left;
        }
    }

    /// Notes that the loss of the connection was announced with the answer to a question.
    pub(super) fn note_loss_told(&mut self, question: QuestionId) {
        let of_prompt = self.0.values_mut().filter(|sent| sent.question == question);
        of_prompt.for_each(|sent| sent.loss_told = true);
    }

    /// Returns the requests on a link that only its dialect could report more about.
    pub(super) fn left_on(&self, link: LinkId) -> Vec<u64> {
        let left = |sent: &Outgoing| sent.link == link && sent.stage == AnswerProgress::Left;
        let of_link = self.0.iter().filter(|(_, sent)| left(sent));
        of_link.map(|(request, _)| *request).collect()
    }

    /// Returns all of them, in the order of their requests.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Outgoing> {
        self.0.values()
    }

    /// Returns when the next answer is tried again.
    pub(super) fn due(&self) -> Option<Duration> {
        self.iter().filter_map(Outgoing::retry_at).min()
    }

    /// Removes and returns the answers that are due to be tried again.
    pub(super) fn take_due(&mut self, now: Duration) -> Vec<Outgoing> {
        let due = |_: &u64, sent: &mut Outgoing| sent.retry_at().is_some_and(|at| now >= at);
        self.0.extract_if(.., due).map(|(_, sent)| sent).collect()
    }

    /// Returns the only answer that waits to be tried again, for a question or overall.
    pub(super) fn only_waiting(&self, of: Option<QuestionId>) -> Option<(u64, &Outgoing)> {
        let mut waiting = self
            .0
            .iter()
            .filter(|(_, sent)| sent.retry_at().is_some())
            .filter(|(_, sent)| of.is_none_or(|wanted| wanted == sent.question));
        match (waiting.next(), waiting.next()) {
            (Some((request, sent)), None) => Some((*request, sent)),
            (Some(_), Some(_)) | (None, _) => None,
        }
    }
}
