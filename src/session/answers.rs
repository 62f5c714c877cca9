//! The way of an answer: on its way, delivered, failed, settled; and the end of a question.
//!
//! Every step goes through the table of [`QuestionRun`](super::QuestionRun): what is in no row does
//! not happen, so that an answer can't be delivered to a question that is over, or twice.

use jiff::Timestamp;

use crate::protocol::{Answer, Machine, Now, Unobserved};

use super::anomaly::Danger;
use super::change::{Change, What};
use super::machines::QuestionEvent;
use super::observe::{Observer, Relay, Subject};
use super::prompt::{Closing, PromptId, ReplyState};
use super::sessions::Sessions;

/// How many closed questions are kept for looking back.
const MOST_CLOSED: usize = 128;
/// How much memory the texts of closed questions may take, in bytes: a hundred long ones, or two as
/// large as a frame can be.
const MOST_CLOSED_BYTES: usize = 4 * 1024 * 1024;

impl Sessions {
    /// Steps a question's machine; `next` gives the state with its data out of the one before. What
    /// the table does not allow changes nothing and gives `false`.
    pub(super) fn answer_step(
        &mut self,
        id: PromptId,
        event: QuestionEvent,
        now: Now,
        observer: &mut dyn Observer,
        next: impl FnOnce(ReplyState) -> ReplyState,
    ) -> bool {
        let Some(prompt) = self.prompts.get_mut(&id) else {
            return false;
        };
        let mut relay = Relay {
            key: &prompt.key,
            at: now,
            subject: Subject::Question(id),
            observer,
        };
        let Ok(to) = prompt.reply.run().observed(event, &mut relay) else {
            return false;
        };
        let before = std::mem::replace(&mut prompt.reply, ReplyState::Unanswered);
        prompt.reply = next(before);
        debug_assert_eq!(prompt.reply.run(), to, "the data follow the table");
        true
    }

    /// Notes that an answer goes out, and gives its number of attempt; 0 when it can't.
    ///
    /// `decided` is when the person decided, the same over all attempts.
    pub fn reply_sending(
        &mut self,
        id: PromptId,
        answer: Answer,
        decided: Timestamp,
        now: Now,
    ) -> u32 {
        self.decide(id, answer, decided, now, &mut Unobserved)
    }

    fn decide(
        &mut self,
        id: PromptId,
        answer: Answer,
        decided: Timestamp,
        now: Now,
        observer: &mut dyn Observer,
    ) -> u32 {
        let mut number = 0;
        self.answer_step(id, QuestionEvent::Decided, now, observer, |before| {
            let attempt = match before {
                ReplyState::Retrying { attempt, .. } => attempt + 1,
                ReplyState::Unanswered
                | ReplyState::Sending { .. }
                | ReplyState::Sent { .. }
                | ReplyState::TimedOut
                | ReplyState::Resolved { .. }
                | ReplyState::Withdrawn { .. } => 1,
            };
            number = attempt;
            ReplyState::Sending {
                answer,
                decided,
                attempt,
            }
        });
        if let Some(prompt) = self.prompts.get_mut(&id)
            && let Some(session) = self.sessions.get_mut(&prompt.key)
        {
            prompt.events_at_answer = Some(session.events);
            // What the agent says next must not be heard as the deed; its words may come before the
            // server's receipt.
            if prompt.was_rejected() {
                session.rejected = Some(prompt.question.subject().to_owned());
            }
        }
        number
    }

    /// Notes that the server took an answer, and tells of the danger that it came after the end.
    pub fn reply_sent(&mut self, id: PromptId, now: Now) -> Vec<Change> {
        self.deliver(id, now, &mut Unobserved)
    }

    /// Takes an answer that went out while a recording was made, under an observer's eyes.
    pub fn answered_before(
        &mut self,
        id: PromptId,
        answer: Answer,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Vec<Change> {
        self.decide(id, answer, now.wall, now, observer);
        self.deliver(id, now, observer)
    }

    fn deliver(&mut self, id: PromptId, now: Now, observer: &mut dyn Observer) -> Vec<Change> {
        let delivered =
            self.answer_step(
                id,
                QuestionEvent::Delivered,
                now,
                observer,
                |before| match before {
                    ReplyState::Sending {
                        answer, decided, ..
                    }
                    | ReplyState::Retrying {
                        answer, decided, ..
                    } => ReplyState::Sent { answer, decided },
                    other @ (ReplyState::Unanswered
                    | ReplyState::Sent { .. }
                    | ReplyState::TimedOut
                    | ReplyState::Resolved { .. }
                    | ReplyState::Withdrawn { .. }) => other,
                },
            );
        let Some(prompt) = self.prompts.get(&id) else {
            return Vec::new();
        };
        let over = |how: &Closing| *how == Closing::SessionEnded;
        match &prompt.reply {
            ReplyState::Withdrawn { how } | ReplyState::Resolved { how, .. }
                if !delivered && over(how) =>
            {
                vec![self.bare_change(
                    prompt,
                    now,
                    What::Danger(Danger::AnsweredAfterEnd { prompt: id }),
                )]
            }
            ReplyState::Unanswered
            | ReplyState::Sending { .. }
            | ReplyState::Retrying { .. }
            | ReplyState::Sent { .. }
            | ReplyState::TimedOut
            | ReplyState::Resolved { .. }
            | ReplyState::Withdrawn { .. } => Vec::new(),
        }
    }

    /// Notes that an attempt to send failed and another one comes.
    pub fn reply_retrying(&mut self, id: PromptId, now: Now) {
        self.answer_step(
            id,
            QuestionEvent::AttemptFailed,
            now,
            &mut Unobserved,
            |before| match before {
                ReplyState::Sending {
                    answer,
                    decided,
                    attempt,
                } => ReplyState::Retrying {
                    answer,
                    decided,
                    attempt,
                },
                other @ (ReplyState::Unanswered
                | ReplyState::Retrying { .. }
                | ReplyState::Sent { .. }
                | ReplyState::TimedOut
                | ReplyState::Resolved { .. }
                | ReplyState::Withdrawn { .. }) => other,
            },
        );
    }

    /// Notes that an answer could not be sent and won't be tried again: the question is open as before.
    pub fn reply_failed(&mut self, id: PromptId, now: Now) {
        let open = self.answer_step(id, QuestionEvent::GivenUp, now, &mut Unobserved, |_| {
            ReplyState::Unanswered
        });
        if open
            && let Some(prompt) = self.prompts.get(&id)
            && let Some(session) = self.sessions.get_mut(&prompt.key)
        {
            session.rejected = None;
        }
    }

    /// Closes a question for good and keeps the session's phase true.
    pub(super) fn close(
        &mut self,
        id: PromptId,
        how: Closing,
        now: Now,
        observer: &mut dyn Observer,
    ) {
        self.held.retain(|held| *held != id);
        let closed = self.answer_step(id, QuestionEvent::Closed, now, observer, |before| {
            match before {
                ReplyState::Sending { answer, .. } | ReplyState::Sent { answer, .. } => {
                    ReplyState::Resolved { answer, how }
                }
                // An answer whose attempt failed never arrived.
                ReplyState::Unanswered | ReplyState::Retrying { .. } | ReplyState::TimedOut => {
                    ReplyState::Withdrawn { how }
                }
                other @ (ReplyState::Resolved { .. } | ReplyState::Withdrawn { .. }) => other,
            }
        });
        let Some(prompt) = self.prompts.get(&id).filter(|_| closed) else {
            return;
        };
        let key = prompt.key.clone();
        self.closed_bytes += prompt.question.weight();
        self.closed.push_back(id);
        while self.closed.len() > MOST_CLOSED
            || (self.closed_bytes > MOST_CLOSED_BYTES && self.closed.len() > 1)
        {
            let Some(oldest) = self.closed.pop_front() else {
                break;
            };
            if let Some(prompt) = self.prompts.remove(&oldest) {
                self.closed_bytes = self.closed_bytes.saturating_sub(prompt.question.weight());
                self.dropped.questions += 1;
            }
        }
        self.refresh_phase(&key);
    }
}
