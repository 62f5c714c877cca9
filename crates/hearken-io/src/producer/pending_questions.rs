//! Questions that wait for an answer.
//!
//! Responsibilities: which reply tokens are outstanding, used or late (chapter 6.3.4), settling each token once, by the
//! first valid reply or by the timeout (chapters 6.3.5, 6.4). Not here: the form of a reply (`posted_reply`), whether
//! it fits its question (`reply_judgement`), the clock of a timeout (the asker).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::mpsc;

use super::event_kinds::EventKind;
use super::posted_reply::PostedReply;
use super::queue::Frame;
use super::reply_judgement::{QuestionOutcome, QuestionTerms, ReplyRefusal};
use super::verdict::PostVerdict;

/// How many used tokens are remembered, only to distinguish "used" from "unknown" in a test's report.
const REMEMBERED_TOKENS: usize = 1_024;

/// The open questions.
#[derive(Debug, Default)]
pub(super) struct PendingQuestions {
    open: BTreeMap<String, OpenQuestion>,
    used: VecDeque<String>,
}

/// An open question, and those whom its outcome concerns.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) session: String,
    pub(super) asked: QuestionTerms,
    /// When its time is up; `None` if only the producer ends it.
    pub(super) expires: Option<Timestamp>,
    /// The event that asked it, for subscribers that lost it.
    pub(super) frame: Arc<Frame>,
    /// The number under which the outcome is reported.
    pub(super) number: usize,
    pub(super) outcomes: mpsc::Sender<(usize, QuestionOutcome)>,
}

impl PendingQuestions {
    pub(super) fn open(&mut self, token: String, question: OpenQuestion) {
        self.open.insert(token, question);
    }

    /// Returns the number of open questions.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Judges a reply; a valid one settles its question.
    pub(super) fn settle(&mut self, reply: &PostedReply) -> PostVerdict {
        let Some(question) = self.open.get(&reply.token) else {
            return if self.used.contains(&reply.token) {
                PostVerdict::UsedToken
            } else {
                PostVerdict::UnknownToken
            };
        };
        if question.expires.is_some_and(|expires| reply.at >= expires) {
            return PostVerdict::TooLate;
        }
        match question.asked.judge(&reply.said) {
            Ok(outcome) => {
                self.close(&reply.token, |_| outcome);
                PostVerdict::Taken
            }
            Err(ReplyRefusal::WrongKind) => PostVerdict::WrongKind,
            Err(ReplyRefusal::NotAllowed) => PostVerdict::NotAllowed,
        }
    }

    /// Ends a question by its timeout; nothing happens if an answer came first.
    pub(super) fn expire(&mut self, token: &str) {
        self.close(token, QuestionTerms::timed_out);
    }

    /// Ends all open questions as if their time were up; returns how many.
    pub(super) fn expire_all(&mut self) -> usize {
        self.expire_where(|_| true)
    }

    /// Ends the open questions of a kind as if their time were up; returns how many.
    pub(super) fn expire_all_of(&mut self, kind: EventKind) -> usize {
        self.expire_where(|asked| asked.kind() == kind)
    }

    fn expire_where(&mut self, ends: impl Fn(&QuestionTerms) -> bool) -> usize {
        let concerned = self.open.iter().filter(|(_, open)| ends(&open.asked));
        let tokens: Vec<String> = concerned.map(|(token, _)| token.clone()).collect();
        for token in &tokens {
            self.expire(token);
        }
        tokens.len()
    }

    /// Withdraws the questions of a session; their tokens are spent (chapter 6.8).
    pub(super) fn withdraw(&mut self, session: &str) {
        let tokens: Vec<String> = self
            .open
            .iter()
            .filter(|(_, question)| question.session == session)
            .map(|(token, _)| token.clone())
            .collect();
        for token in tokens {
            self.open.remove(&token);
            self.remember(token);
        }
    }

    /// Returns the events of the open questions.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Arc<Frame>> {
        self.open.values().map(|question| &question.frame)
    }

    fn close(&mut self, token: &str, outcome: impl FnOnce(&QuestionTerms) -> QuestionOutcome) {
        let Some((token, question)) = self.open.remove_entry(token) else {
            return;
        };
        let outcome = outcome(&question.asked);
        // The channel has room for every open question, so this fails only if nobody waits any more.
        let _ = question.outcomes.try_send((question.number, outcome));
        self.remember(token);
    }

    fn remember(&mut self, token: String) {
        if self.used.len() >= REMEMBERED_TOKENS {
            self.used.pop_front();
        }
        self.used.push_back(token);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open(expires: Option<&str>) -> (PendingQuestions, mpsc::Receiver<(usize, QuestionOutcome)>) {
        let (sender, outcomes) = mpsc::channel(1);
        let mut questions = PendingQuestions::default();
        let question = OpenQuestion {
            session: "sess_1".to_owned(),
            asked: QuestionTerms::Confirmation {
                allowed: vec!["accept".to_owned(), "reject".to_owned()],
            },
            expires: expires.map(|text| text.parse().unwrap()),
            frame: Arc::new(Frame {
                event_id: None,
                critical: true,
                text: String::new(),
            }),
            number: 0,
            outcomes: sender,
        };
        questions.open("rpl_1".to_owned(), question);
        (questions, outcomes)
    }

    fn reply(token: &str, decision: &str, at: &str) -> PostedReply {
        PostedReply::read(
            &json!({"type": "confirmation.reply", "reply_token": token, "decision": decision,
                            "subscription_id": "sub_1", "timestamp": at}),
        )
        .unwrap()
    }

    #[test]
    fn a_token_is_settled_once() {
        let (mut questions, mut outcomes) = open(None);
        let at = "2026-01-01T00:00:00Z";
        assert_eq!(
            questions.settle(&reply("rpl_2", "accept", at)),
            PostVerdict::UnknownToken
        );
        assert_eq!(
            questions.settle(&reply("rpl_1", "maybe", at)),
            PostVerdict::NotAllowed
        );
        assert_eq!(
            questions.settle(&reply("rpl_1", "reject", at)),
            PostVerdict::Taken
        );
        assert_eq!(
            questions.settle(&reply("rpl_1", "accept", at)),
            PostVerdict::UsedToken
        );
        questions.expire("rpl_1");
        assert_eq!(
            outcomes.try_recv().unwrap(),
            (0, QuestionOutcome::Decided("reject".to_owned()))
        );
        assert!(outcomes.try_recv().is_err());
    }

    #[test]
    fn a_decision_made_after_the_time_was_up_is_late() {
        let (mut questions, _outcomes) = open(Some("2026-01-01T00:01:00Z"));
        let late = reply("rpl_1", "accept", "2026-01-01T00:01:00Z");
        assert_eq!(questions.settle(&late), PostVerdict::TooLate);
        let timely = reply("rpl_1", "accept", "2026-01-01T01:00:59.999+01:00");
        assert_eq!(questions.settle(&timely), PostVerdict::Taken);
    }

    #[test]
    fn a_withdrawn_question_takes_no_answer() {
        let (mut questions, mut outcomes) = open(None);
        questions.withdraw("sess_2");
        assert_eq!(questions.len(), 1);
        questions.withdraw("sess_1");
        assert_eq!(questions.len(), 0);
        let reply = reply("rpl_1", "accept", "2026-01-01T00:00:00Z");
        assert_eq!(questions.settle(&reply), PostVerdict::UsedToken);
        assert!(outcomes.try_recv().is_err());
    }
}
