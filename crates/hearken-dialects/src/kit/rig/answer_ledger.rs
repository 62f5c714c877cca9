//! The pairs of what a dialect is asked and what it answers.
//!
//! Responsibilities: finding an answer to what nobody asked, a second answer, and what is still unanswered. Not here:
//! what an answer says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What asks for an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// The person answered a question, under this number: `Settled` must follow.
    Reply(u64),
    /// A program made an HTTP request, under this number: `Respond` must follow.
    Request(u64),
    /// The other side sent a JSON-RPC request with this id in a frame: a frame with its result or error must follow.
    Rpc(String),
}

/// What was asked, and how often it was answered.
#[derive(Debug, Default)]
pub struct AnswerLedger {
    open: BTreeMap<Asked, usize>,
    answered: BTreeSet<Asked>,
    /// What may be answered, how often, and need not be.
    excused: BTreeMap<Asked, usize>,
    /// What each number of a sent answer answers.
    sent: BTreeMap<u64, Vec<Asked>>,
}

impl AnswerLedger {
    /// Notes that something was asked. The same number may be used again.
    pub fn ask(&mut self, what: Asked) {
        *self.open.entry(what).or_default() += 1;
    }

    /// Notes an answer; returns what is wrong with it.
    pub fn answer(&mut self, what: Asked) -> Option<String> {
        match self.open.get(&what) {
            Some(count) => {
                if *count == 1 {
                    self.answered.insert(what.clone());
                }
                take_one(&mut self.open, &what);
                None
            }
            None if self.excused.contains_key(&what) => {
                take_one(&mut self.excused, &what);
                self.answered.insert(what);
                None
            }
            None if self.answered.contains(&what) => Some(format!("{what:?} is answered twice")),
            None => Some(format!("{what:?} is answered, and nobody asked")),
        }
    }

    /// Notes that nobody waits for this answer any more: it may still come.
    pub fn lapse(&mut self, what: Asked) {
        if let Some(count) = self.open.remove(&what) {
            *self.excused.entry(what).or_default() += count;
        }
    }

    /// Notes the JSON-RPC requests in a frame of the other side.
    pub fn ask_in(&mut self, frame: &str) {
        for message in messages(frame) {
            if let (Some(id), Some(method)) = (id(&message), message.get("method")) {
                // Another version of JSON-RPC need not be understood, nor what is no request.
                let version = message.get("jsonrpc");
                if method.is_string() && version.is_none_or(|version| version == "2.0") {
                    self.ask(Asked::Rpc(id));
                } else {
                    *self.excused.entry(Asked::Rpc(id)).or_default() += 1;
                }
            }
        }
    }

    /// Notes answers that are sent under a number; returns what is wrong with the first wrong one.
    pub fn send(
        &mut self,
        request: Option<u64>,
        answers: impl IntoIterator<Item = Asked>,
    ) -> Option<String> {
        let answers: Vec<Asked> = answers.into_iter().collect();
        let wrong = answers.iter().find_map(|it| self.answer(it.clone()));
        if let Some(request) = request {
            self.sent.insert(request, answers);
        }
        wrong
    }

    /// Notes that nothing of what was sent under a number has left, so that it may be sent again.
    pub fn take_back(&mut self, request: u64) {
        for what in self.sent.remove(&request).into_iter().flatten() {
            *self.excused.entry(what).or_default() += 1;
        }
    }

    /// Forgets the requests in frames: a new connection counts anew.
    pub fn reconnect(&mut self) {
        for counts in [&mut self.open, &mut self.excused] {
            counts.retain(|what, _| !matches!(what, Asked::Rpc(_)));
        }
        self.answered.retain(|what| !matches!(what, Asked::Rpc(_)));
        self.sent.clear();
    }

    /// Returns what is unanswered.
    pub fn unanswered(&self) -> impl Iterator<Item = &Asked> {
        self.open.keys()
    }
}

/// Counts one less of something.
fn take_one(counts: &mut BTreeMap<Asked, usize>, what: &Asked) {
    if let Some(count) = counts.get_mut(what) {
        *count -= 1;
        if *count == 0 {
            counts.remove(what);
        }
    }
}

/// Returns what the JSON-RPC answers in a frame answer.
pub fn answers(frame: &str) -> Vec<Asked> {
    let is_answer = |message: &Value| {
        message.get("method").is_none()
            && (message.get("result").is_some() || message.get("error").is_some())
    };
    let answers = messages(frame).into_iter().filter(is_answer);
    answers
        .filter_map(|message| Some(Asked::Rpc(id(&message)?)))
        .collect()
}

/// Returns the messages of a frame: one, or the list of a batch.
fn messages(frame: &str) -> Vec<Value> {
    match serde_json::from_str(frame) {
        Ok(Value::Array(all)) => all,
        Ok(one) => vec![one],
        Err(_) => Vec::new(),
    }
}

/// Returns the id of a message as it is written, if it can be one.
fn id(message: &Value) -> Option<String> {
    let id = message.get("id")?;
    (id.is_number() || id.is_string()).then(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_paired_with_what_was_asked() {
        let mut ledger = AnswerLedger::default();
        ledger.ask(Asked::Reply(1));
        ledger.ask_in(r#"[{"id":1,"method":"a"},{"id":"1","method":"a"},{"method":"b"}]"#);
        let mut send = |number, frame| ledger.send(Some(number), answers(frame));
        assert_eq!(send(1, r#"{"id":1,"result":{}}"#), None);
        assert_eq!(send(2, r#"{"id":2,"method":"ours"}"#), None);
        let wrong = [
            send(3, r#"{"id":1,"error":{}}"#),
            send(4, r#"{"id":7,"result":{}}"#),
            ledger.send(None, [Asked::Request(1)]),
        ]
        .map(Option::unwrap_or_default);
        for (wrong, why) in wrong.iter().zip(["twice", "nobody", "nobody"]) {
            assert!(wrong.contains(why), "{wrong}");
        }
        let open: Vec<_> = ledger.unanswered().cloned().collect();
        assert_eq!(open, [Asked::Reply(1), Asked::Rpc("\"1\"".to_owned())]);
        // An answer that never left may be sent again, and a request that is none may be refused.
        ledger.take_back(1);
        ledger.ask_in(r#"{"jsonrpc":true,"id":1,"method":"a"}"#);
        for number in [5, 6] {
            assert_eq!(
                ledger.send(Some(number), [Asked::Rpc("1".to_owned())]),
                None
            );
        }
        let third = ledger.send(Some(7), [Asked::Rpc("1".to_owned())]);
        assert!(third.is_some_and(|wrong| wrong.contains("twice")));
        ledger.reconnect();
        assert_eq!(ledger.unanswered().count(), 1);
    }
}
