//! Prompting an AAEP agent. The protocol has no message for it, but some servers accept prompts.
//!
//! Responsibilities: the request that public producers accept (a POST of `{"user_message": …}`, for example at
//! `/sessions`), and announcing its outcome. Not here: which path that is (the settings), which agent is meant (`app`).

use std::collections::BTreeSet;

use crate::link::{Body, Fault, HttpAnswer, HttpCall, Phrase, PhraseArg};
use crate::protocol::user_message;
use crate::{DialectOutput, RequestNumbers};

/// How many prompts may be pending: a person who sends more has a server that does not answer.
const MOST: usize = 8;

/// The largest answer that is read, in bytes: only its status is announced.
const ANSWER_BYTES: usize = 64 * 1024;

/// The pending prompts, and where to send them.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    path: Option<String>,
    under_way: BTreeSet<u64>,
}

impl Prompts {
    /// Sets the server's path for prompts; without one, no prompt is accepted.
    pub(super) fn at(path: Option<String>) -> Self {
        Self {
            path,
            under_way: BTreeSet::new(),
        }
    }

    /// Returns whether prompts are accepted.
    pub(super) fn are_taken(&self) -> bool {
        self.path.is_some()
    }

    /// Sends a prompt.
    pub(super) fn send(
        &mut self,
        text: &str,
        numbers: &mut RequestNumbers,
        out: &mut Vec<DialectOutput>,
    ) {
        let Some(path) = &self.path else {
            return;
        };
        if self.under_way.len() == MOST {
            out.push(DialectOutput::Announce(Phrase::new("prompt.too_many")));
            return;
        }
        let request = numbers.fresh();
        self.under_way.insert(request);
        let call = HttpCall {
            most: ANSWER_BYTES,
            ..HttpCall::post(path.as_str(), Body::json(user_message(text)))
        };
        out.push(DialectOutput::Call { request, call });
    }

    /// Handles the answer to a prompt; returns `false` for the answer to anything else.
    pub(super) fn answered(
        &mut self,
        request: u64,
        outcome: &Result<HttpAnswer, Fault>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        if !self.under_way.remove(&request) {
            return false;
        }
        let fault = match outcome {
            Ok(answer) if (200..300).contains(&answer.status) => {
                out.push(DialectOutput::Announce(Phrase::new("prompt.taken")));
                return true;
            }
            Ok(answer) => Fault::Status {
                status: answer.status,
                retry_after: answer.retry_after,
            },
            Err(fault) => fault.clone(),
        };
        let key = match surely_not_taken(&fault) {
            true => "prompt.not_taken",
            false => "prompt.perhaps_taken",
        };
        out.push(DialectOutput::Announce(
            Phrase::new(key).with("reason", PhraseArg::Fault(fault)),
        ));
        true
    }
}

/// Returns whether a request that failed this way was surely not accepted: a server with an error, or one that fell
/// silent, may have begun.
fn surely_not_taken(fault: &Fault) -> bool {
    match fault {
        Fault::Status { status, .. } => *status < 500 || matches!(status, 501 | 503 | 505),
        Fault::Refused
        | Fault::UnknownHost
        | Fault::NotEventStream { .. }
        | Fault::NotWebSocket(_)
        | Fault::Tls(_)
        | Fault::Unusable(_)
        | Fault::Rejected { .. }
        | Fault::Declined(_)
        | Fault::OneWay => true,
        Fault::TimedOut
        | Fault::Closed
        | Fault::TooLarge { .. }
        | Fault::TooManyValues { .. }
        | Fault::ClosedWith { .. }
        | Fault::Exited { .. }
        | Fault::Killed { .. }
        | Fault::Other(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(out: &[DialectOutput]) -> Vec<&str> {
        out.iter()
            .filter_map(|wish| match wish {
                DialectOutput::Announce(phrase) => Some(phrase.key),
                _ => None,
            })
            .collect()
    }

    fn answer(status: u16) -> Result<HttpAnswer, Fault> {
        Ok(HttpAnswer {
            status,
            location: None,
            retry_after: None,
            body: "secret".into(),
        })
    }

    #[test]
    fn what_the_server_answers_is_told_by_what_it_means() {
        for (outcome, told) in [
            (answer(200), "prompt.taken"),
            (answer(202), "prompt.taken"),
            (answer(302), "prompt.not_taken"),
            (answer(404), "prompt.not_taken"),
            (answer(429), "prompt.not_taken"),
            (answer(500), "prompt.perhaps_taken"),
            (answer(503), "prompt.not_taken"),
            (Err(Fault::Refused), "prompt.not_taken"),
            (Err(Fault::TimedOut), "prompt.perhaps_taken"),
        ] {
            let mut prompts = Prompts::at(Some("/sessions".to_owned()));
            let mut out = Vec::new();
            prompts.send("say \"hi\"\nnow", &mut RequestNumbers::default(), &mut out);
            let (request, call) = match out.pop() {
                Some(DialectOutput::Call { request, call }) => (request, call),
                other => panic!("{other:?}"),
            };
            assert_eq!(call.path, "/sessions");
            let body = format!("{:?}", call.body);
            assert!(body.contains("user_message"), "{body}");
            assert!(!prompts.answered(request + 1, &outcome, &mut out));
            assert!(prompts.answered(request, &outcome, &mut out));
            assert_eq!(keys(&out), [told], "{outcome:?}");
            assert!(!prompts.answered(request, &outcome, &mut out), "once");
        }
    }

    #[test]
    fn without_a_path_nothing_is_sent_and_too_many_are_told() {
        let mut out = Vec::new();
        let mut numbers = RequestNumbers::default();
        let mut nowhere = Prompts::at(None);
        nowhere.send("x", &mut numbers, &mut out);
        assert!(out.is_empty() && !nowhere.are_taken());
        let mut prompts = Prompts::at(Some("/x".to_owned()));
        for _ in 0..MOST + 2 {
            prompts.send("x", &mut numbers, &mut out);
        }
        assert_eq!(keys(&out), ["prompt.too_many"; 2]);
        assert_eq!(out.len(), MOST + 2);
    }
}
