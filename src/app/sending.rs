//! How an answer goes out, and what becomes of it.

use std::time::Duration;

use jiff::Timestamp;

use crate::announce::{Arg, Class};
use crate::protocol::{Answer, Decision, Now, Reply};
use crate::session::{LinkId, Prompt, PromptId, Standing};
use crate::transport::Fault;

use super::policy::Decider;
use super::{App, Effect};

/// The wait before the first new attempt to send an answer; it doubles up to [`RETRY_CAP`].
const RETRY_FIRST: Duration = Duration::from_millis(500);
/// The longest wait between attempts.
const RETRY_CAP: Duration = Duration::from_secs(8);

/// Holds an answer that is under way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outgoing {
    pub(super) prompt: PromptId,
    link: LinkId,
    reply: Reply,
    attempt: u32,
    failure_told: bool,
    /// When it is tried again; `None` while an attempt is under way.
    pub(super) retry_at: Option<Duration>,
}

impl App {
    /// Reads the answer back and sends it.
    pub(super) fn send(&mut self, prompt: &Prompt, answer: Answer, now: Now) {
        if prompt.question.token().is_none() {
            return;
        }
        let wishes = self.queue.withdraw(prompt.id, now.monotonic);
        self.wish(wishes);
        let n = ("n", Arg::own(prompt.id.0));
        let subject = ("subject", self.announcer.subject(prompt));
        if prompt.standing == Standing::Resumed {
            let args = std::slice::from_ref(&n);
            self.tell_about(Class::Response, prompt, "reply.perhaps", args, now);
        }
        match &answer {
            Answer::Decision {
                decision: Decision::Accept,
                ..
            } => {
                self.tell_about(
                    Class::Response,
                    prompt,
                    "reply.accepting",
                    &[n, subject],
                    now,
                );
            }
            Answer::Decision {
                decision: Decision::Reject,
                rationale,
            } => {
                // The person's own words are read back: they go out to the agent.
                let reason = rationale.clone().unwrap_or_default();
                let reason = ("reason", Arg::Exact(reason, None));
                self.tell_about(
                    Class::Response,
                    prompt,
                    "reply.rejecting",
                    &[n, subject, reason],
                    now,
                );
            }
            Answer::Decision {
                decision: Decision::Other(_),
                ..
            }
            | Answer::Response(_) => {
                let words = self.announcer.answer_words(prompt, &answer);
                self.tell_about(
                    Class::Response,
                    prompt,
                    "reply.answering",
                    &[n, ("answer", Arg::Own(words))],
                    now,
                );
            }
        }
        self.dispatch(prompt, answer, Decider::Person, now);
    }

    /// Sends an answer that has been told.
    pub(super) fn dispatch(&mut self, prompt: &Prompt, answer: Answer, by: Decider, now: Now) {
        let (Some(token), Some(link)) =
            (prompt.question.token(), self.links.get(prompt.key.link.0))
        else {
            return;
        };
        let user = self.config.questions.user.trim();
        let reply = Reply {
            token: token.clone(),
            answer: answer.clone(),
            subscription_id: link.subscription.clone(),
            timestamp: now.wall,
            decided_by: match by {
                Decider::Rule(rule) => format!("auto:{rule}"),
                Decider::Person if user.is_empty() => "user:local".to_owned(),
                Decider::Person => format!("user:{user}"),
            },
        };
        self.next_request += 1;
        let request = self.next_request;
        let attempt = self
            .sessions
            .reply_sending(prompt.id, answer, now.wall, now);
        self.effects.push(Effect::Send {
            link: prompt.key.link,
            request,
            body: reply.to_json(),
        });
        self.outgoing.insert(
            request,
            Outgoing {
                prompt: prompt.id,
                link: prompt.key.link,
                reply,
                attempt,
                failure_told: false,
                retry_at: None,
            },
        );
        self.questions_changed = Some(now.monotonic);
        self.bound_questions(prompt.key.link, now);
    }

    /// Takes the outcome of an attempt to send.
    pub(super) fn replied(&mut self, request: u64, outcome: Result<(), Fault>, now: Now) {
        let Some(mut sent) = self.outgoing.remove(&request) else {
            return;
        };
        let Some(prompt) = self.sessions.prompt(sent.prompt).cloned() else {
            return;
        };
        let n = ("n", Arg::own(prompt.id.0));
        match outcome {
            Ok(()) => {
                // Where the agent's events came first, the outcome is already told.
                if prompt.is_open() {
                    self.tell_about(Class::Outcome, &prompt, "reply.sent", &[n], now);
                }
                let changes = self.sessions.reply_sent(sent.prompt, now);
                self.tell(changes, now);
                self.bound_questions(sent.link, now);
            }
            Err(fault) => {
                let reason = ("reason", Arg::Own(self.fault_words(&fault)));
                let lives =
                    prompt.is_open() && prompt.standing.reaches() && !self.is_over(&prompt, now);
                if fault.is_final() || !lives {
                    self.sessions.reply_failed(sent.prompt, now);
                    if !prompt.is_open() {
                        self.tell_about(Class::Alert, &prompt, "reply.too_late", &[n], now);
                        return;
                    }
                    self.tell_about(Class::Alert, &prompt, "reply.given_up", &[n, reason], now);
                    self.ask_instead_of_rule(sent.prompt, now);
                    return;
                }
                if !sent.failure_told {
                    sent.failure_told = true;
                    self.tell_about(Class::Alert, &prompt, "reply.failed", &[n, reason], now);
                }
                self.sessions.reply_retrying(sent.prompt, now);
                let wait = RETRY_FIRST
                    .saturating_mul(1 << sent.attempt.min(6).saturating_sub(1))
                    .min(RETRY_CAP);
                sent.retry_at = Some(now.monotonic + wait);
                self.outgoing.insert(request, sent);
            }
        }
    }

    fn is_over(&self, prompt: &Prompt, now: Now) -> bool {
        self.sessions
            .expires(prompt)
            .is_some_and(|at| now.monotonic >= at)
    }

    /// Sends again what could not be sent, with the timestamp of the decision.
    pub(super) fn retry(&mut self, now: Now) {
        let due: Vec<u64> = self
            .outgoing
            .iter()
            .filter(|(_, sent)| sent.retry_at.is_some_and(|at| now.monotonic >= at))
            .map(|(request, _)| *request)
            .collect();
        for request in due {
            let Some(mut sent) = self.outgoing.remove(&request) else {
                continue;
            };
            let Some(prompt) = self.sessions.prompt(sent.prompt).cloned() else {
                continue;
            };
            if !prompt.is_open() || !prompt.standing.reaches() {
                self.sessions.reply_failed(sent.prompt, now);
                let key = if prompt.is_open() {
                    "reply.lost"
                } else {
                    "reply.too_late"
                };
                self.tell_about(
                    Class::Alert,
                    &prompt,
                    key,
                    &[("n", Arg::own(prompt.id.0))],
                    now,
                );
                continue;
            }
            let decided: Timestamp = sent.reply.timestamp;
            sent.attempt =
                self.sessions
                    .reply_sending(sent.prompt, sent.reply.answer.clone(), decided, now);
            sent.retry_at = None;
            self.next_request += 1;
            self.effects.push(Effect::Send {
                link: sent.link,
                request: self.next_request,
                body: sent.reply.to_json(),
            });
            self.outgoing.insert(self.next_request, sent);
        }
    }
}
