//! The path of an answer (on its way, delivered, failed, settled), and the end of a question.
//!
//! Every step goes through the table of [`QuestionRun`]: a step without a row does not happen, so that no
//! answer is delivered twice or to a question that is over. Once a byte of an answer has left, the answer may
//! have arrived until something shows whether it did, and no row forgets that.

use jiff::Timestamp;

use crate::link::LinkId;
use crate::protocol::{Answer, Machine, NoObserver, Now, ReplyToken};

use super::action_fate::DenialReason;
use super::anomaly::Danger;
use super::change::{Change, ChangeKind};
use super::key::QuestionId;
use super::machine_observer::{Observer, Relay, Subject};
use super::machines::{QuestionEvent, QuestionRun};
use super::question::{CloseReason, GivenAnswer, Question, ReplyState};
use super::sessions::Sessions;
use super::transition_data::TransitionData;

/// The most closed questions that are kept for looking back.
const MOST_CLOSED: usize = 128;
/// The most memory that the texts of closed questions may take, in bytes: a hundred long ones, or two as large as a
/// frame can be.
const MOST_CLOSED_BYTES: usize = 4 * 1024 * 1024;

impl Sessions {
    /// Advances a question's machine by its table. A step that the table does not allow changes nothing and returns
    /// `false`.
    pub(super) fn answer_step(
        &mut self,
        id: QuestionId,
        event: QuestionEvent,
        brings: TransitionData,
        now: Now,
        observer: &mut dyn Observer,
    ) -> bool {
        let stepped = self.questions.change(id, |question| {
            let mut relay = Relay {
                key: &question.key,
                at: now,
                // An answer is not an event and has no number.
                number: None,
                subject: Subject::Question(id),
                observer,
            };
            let Ok(to) = question.reply.run().observed(event, &mut relay) else {
                return false;
            };
            let given = brings.given.or_else(|| question.reply.given().cloned());
            let how = brings
                .how
                .or_else(|| question.reply.close_reason().cloned());
            let Some(next) = ReplyState::enter(to, given, how) else {
                return false;
            };
            question.reply = next;
            true
        });
        stepped.unwrap_or_default()
    }

    fn plain_step(&mut self, id: QuestionId, event: QuestionEvent, now: Now) -> bool {
        self.answer_step(id, event, TransitionData::default(), now, &mut NoObserver)
    }

    /// Notes that an answer is being sent, and returns the number of the attempt; 0 if it can't be sent.
    ///
    /// `decided` is when the person decided, the same over all attempts.
    pub fn reply_sending(
        &mut self,
        id: QuestionId,
        answer: Answer,
        decided: Timestamp,
        now: Now,
    ) -> u32 {
        self.decide(id, answer, decided, now, &mut NoObserver)
    }

    fn decide(
        &mut self,
        id: QuestionId,
        answer: Answer,
        decided: Timestamp,
        now: Now,
        observer: &mut dyn Observer,
    ) -> u32 {
        let before = self
            .questions
            .get(id)
            .and_then(|question| question.reply.given());
        let attempt = before.map_or(1, |before| before.attempt.saturating_add(1));
        let earlier = before.and_then(|before| {
            if before.answer == answer {
                before.earlier.clone()
            } else {
                Some(before.answer.clone())
            }
        });
        let given = GivenAnswer {
            answer,
            decided,
            attempt,
            earlier,
        };
        let brings = TransitionData {
            given: Some(given),
            how: None,
        };
        if !self.answer_step(id, QuestionEvent::Decided, brings, now, observer) {
            return 0;
        }
        self.use_token(id);
        self.note_decided(id);
        let sessions = &self.sessions;
        self.questions.change(id, |question| {
            let session = sessions.get(&question.key);
            question.events_at_answer = session
                .map(|session| session.events)
                .or(question.events_at_answer);
        });
        // The agent's next words must not be mistaken for the deed; they may arrive before the server's
        // receipt.
        if self.questions.get(id).is_some_and(Question::was_rejected) {
            self.follow(id, DenialReason::Rejected);
        } else {
            self.follow_no_more(id);
        }
        attempt
    }

    /// Notes that the server accepted an answer, and reports the danger if it came after the session's end.
    pub fn reply_sent(&mut self, id: QuestionId, now: Now) -> Vec<Change> {
        self.deliver(id, QuestionEvent::Delivered, now, &mut NoObserver)
    }

    /// Notes that an answer was written to a channel without acknowledgements.
    pub fn reply_written(&mut self, id: QuestionId, now: Now) -> Vec<Change> {
        self.deliver(id, QuestionEvent::Written, now, &mut NoObserver)
    }

    /// Returns the open question of a link under a token.
    pub fn open_under(&self, link: LinkId, token: &ReplyToken) -> Option<QuestionId> {
        let mut open = self.open_questions();
        let found =
            open.find(|question| question.key.link == link && question.body.token() == Some(token));
        found.map(|question| question.id)
    }

    /// Returns the last question of a link under a token, open or closed, raised or not, while it is remembered.
    pub fn asked_under(&self, link: LinkId, token: &ReplyToken) -> Option<&Question> {
        let asked = self
            .questions
            .values()
            .filter(|question| question.key.link == link && question.body.token() == Some(token));
        asked.max_by_key(|question| question.id)
    }

    /// Applies an answer that was sent while a recording was made, and notifies an observer.
    pub fn answered_before(
        &mut self,
        id: QuestionId,
        answer: Answer,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Vec<Change> {
        self.decide(id, answer, now.wall, now, observer);
        self.deliver(id, QuestionEvent::Delivered, now, observer)
    }

    fn deliver(
        &mut self,
        id: QuestionId,
        event: QuestionEvent,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Vec<Change> {
        self.answer_step(id, event, TransitionData::default(), now, observer);
        let Some(question) = self.questions.get(id) else {
            return Vec::new();
        };
        if question.reply.close_reason() == Some(&CloseReason::SessionEnded) {
            let danger = Danger::AnsweredAfterEnd { question: id };
            return vec![self.bare_change(question, now, ChangeKind::Danger(danger))];
        }
        Vec::new()
    }

    /// Notes that an attempt to send failed and nothing arrived.
    pub fn reply_not_delivered(&mut self, id: QuestionId, now: Now) {
        self.plain_step(id, QuestionEvent::NotDelivered, now);
    }

    /// Notes that an attempt to send failed and it is unknown whether it arrived.
    pub fn reply_unknown(&mut self, id: QuestionId, now: Now) {
        self.plain_step(id, QuestionEvent::FateUnknown, now);
    }

    /// Notes that an answer is not retried after a failed attempt: the question is open as before or, if nobody
    /// knows whether the answer arrived, can be answered again.
    pub fn reply_given_up(&mut self, id: QuestionId, now: Now) {
        self.plain_step(id, QuestionEvent::GivenUp, now);
        if let Some(question) = self.questions.get(id)
            && question.reply.run() == QuestionRun::Unanswered
        {
            self.follow_no_more(id);
        }
    }

    /// Notes a doubt whether an answer that counted as delivered did arrive.
    pub(super) fn doubt(&mut self, id: QuestionId, now: Now) -> bool {
        self.plain_step(id, QuestionEvent::Doubted, now)
    }

    /// Closes a question for good and updates the session's phase.
    pub(super) fn close(
        &mut self,
        id: QuestionId,
        how: CloseReason,
        now: Now,
        observer: &mut dyn Observer,
    ) {
        self.questions
            .change(id, |question| question.unraised_reason = None);
        let brings = TransitionData {
            given: None,
            how: Some(how),
        };
        let closed = self.answer_step(id, QuestionEvent::Closed, brings, now, observer);
        let Some(question) = self.questions.get(id).filter(|_| closed) else {
            return;
        };
        let key = question.key.clone();
        self.pass_token_on(id);
        let Some(question) = self.questions.get(id) else {
            return;
        };
        self.closed_bytes += question.weight();
        self.closed.push_back(id);
        while self.closed.len() > MOST_CLOSED
            || (self.closed_bytes > MOST_CLOSED_BYTES && self.closed.len() > 1)
        {
            let Some(oldest) = self.closed.pop_front() else {
                break;
            };
            if let Some(question) = self.questions.remove(oldest) {
                self.closed_bytes = self.closed_bytes.saturating_sub(question.weight());
                self.dropped.questions += 1;
            }
        }
        self.refresh_phase(&key);
    }
}
