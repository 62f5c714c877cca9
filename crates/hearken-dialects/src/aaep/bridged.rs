//! A producer that is a bridge: what it reports, and what is requested of it.
//!
//! Responsibilities: reading its reports ([`Report`]); answers with the digest of the question they are for; prompts and
//! stops; each outcome, reported once. Not here: the form of these messages (`fleet`), the bridge itself (the core).
//!
//! A producer is a bridge as soon as it reports its [`Standing`]; until then, and for any other producer, answers go out
//! as AAEP alone defines them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::Value;

use crate::fleet::{
    AnsweredBy, Closed, Content, Obstacle, Report, Request, RequestOutcome, Standing,
};
use crate::fleet::{BRIDGE, VIEW_ONLY, digest};
use crate::link::{Fault, HttpAnswer, Phrase, PhraseArg, Receipt, Undelivered};
use crate::protocol::{AgentId, Answer, Decision, Reply, object};
use crate::{Cx, Out, Over};

use super::{Aaep, Handshakes};

/// How long a bridge may take to report what became of a request: its agent's own time to answer comes on top of the
/// way there and back.
const RESULT_TIME: Duration = Duration::from_secs(30);
/// How many questions are remembered with their digests: more than the person can have open.
const MOST_ASKED: usize = 4096;
/// How many requests may wait for their outcome: a person who makes more has a bridge that doesn't answer.
const MOST_PENDING: usize = 256;

/// What is known of a bridge.
#[derive(Debug, Default)]
pub(super) struct Bridged {
    standing: Option<Standing>,
    /// The questions, by the id of the event that asked each.
    asked: BTreeMap<String, AskedQuestion>,
    /// The same ids, oldest first.
    order: VecDeque<String>,
    /// The requests without an outcome, by the id that the bridge reads.
    pending: BTreeMap<String, PendingRequest>,
    /// The number of requests so far.
    requests: u64,
}

#[derive(Debug, Clone)]
struct AskedQuestion {
    token: String,
    digest: String,
    /// Whether an answer to it was sent from here.
    is_answered: bool,
}

#[derive(Debug)]
struct PendingRequest {
    purpose: Purpose,
    /// When its outcome is no longer waited for.
    due: Duration,
    /// The number of the frame or call that carries it.
    carried_by: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Purpose {
    /// The person's answer, under this number, to the question with this token.
    Reply {
        number: u64,
        token: String,
    },
    Prompt,
    Stop,
    Set,
}

impl Bridged {
    /// Returns what can be done with the agents behind the bridge; `None` if the producer is none.
    pub(super) fn standing(&self) -> Option<&Standing> {
        self.standing.as_ref()
    }

    /// Notes who agreed to the subscription: a bridge reports its standing first, and until then it may take prompts.
    pub(super) fn meet(&mut self, agent: Option<&str>) {
        if agent == Some(BRIDGE) {
            self.standing.get_or_insert_with(|| Standing {
                prompts: true,
                stops: true,
                starting: true,
                ..Standing::default()
            });
        }
    }

    /// Returns when the next outcome is no longer waited for.
    pub(super) fn due(&self) -> Option<Duration> {
        self.pending.values().map(|pending| pending.due).min()
    }

    fn note_asked(&mut self, event: String, question: AskedQuestion) {
        if self.asked.insert(event.clone(), question).is_none() {
            self.order.push_back(event);
        }
        if self.order.len() > MOST_ASKED
            && let Some(oldest) = self.order.pop_front()
        {
            self.asked.remove(&oldest);
        }
    }

    /// Returns the newest question with this token.
    fn under(&mut self, token: &str) -> Option<&mut AskedQuestion> {
        let newest = self.order.iter().rev();
        let mut newest = newest.filter(|event| {
            let asked = self.asked.get(*event);
            asked.is_some_and(|asked| asked.token == token)
        });
        let event = newest.next()?.clone();
        self.asked.get_mut(&event)
    }
}

impl Aaep {
    /// Handles a message that only a bridge sends; returns `false` for anything else.
    pub(super) fn bridge_message(&mut self, text: &str, cx: &mut Cx<'_>) -> bool {
        if let Some((request, outcome)) = RequestOutcome::read(text) {
            if let Some(pending) = self.bridged.pending.remove(&request) {
                self.conclude(pending.purpose, outcome, cx.out);
            }
            return true;
        }
        match Report::read(text) {
            Some(Report::Standing(standing)) => self.bridged.standing = Some(standing),
            Some(Report::Closed { question, how }) => {
                self.closed_there(question.as_str(), how, cx.out);
            }
            Some(notice @ Report::Notice { .. }) => {
                if let Some((text, _)) = notice.sentence(&self.wanted.languages) {
                    let told = Phrase::new("bridge.notice");
                    cx.out
                        .push(Out::Tell(told.with("text", PhraseArg::Agent(text))));
                }
            }
            None => return self.bridged_question(text, cx.out),
        }
        true
    }

    /// Remembers a question of a bridge; returns whether it is one that can only be seen here, and was passed on.
    fn bridged_question(&mut self, text: &str, out: &mut Vec<Out>) -> bool {
        if self.bridged.standing.is_none() || !text.contains("\"reply_token\"") {
            return false;
        }
        let Some(event) = object(text) else {
            return false;
        };
        let words = |field: &str| event.get(field).and_then(Value::as_str).map(str::to_owned);
        if let (Some(id), Some(token)) = (words("event_id"), words("reply_token")) {
            let question = AskedQuestion {
                token,
                digest: digest(&event),
                is_answered: false,
            };
            self.bridged.note_asked(id, question);
        }
        let own = event.get("extensions").and_then(|all| all.get("hearken"));
        let only_seen = own.and_then(|own| own.get(VIEW_ONLY)) == Some(&Value::Bool(true));
        if only_seen {
            out.push(Out::ViewOnly(text.to_owned()));
        }
        only_seen
    }

    /// Handles the end of a question that its session's events alone don't show.
    fn closed_there(&mut self, event: &str, how: Closed, out: &mut Vec<Out>) {
        let Some(asked) = self.bridged.asked.get(event) else {
            return;
        };
        let token = asked.token.clone();
        match how {
            // The outcome of the own answer says so.
            Closed::Answered(_) if asked.is_answered => {}
            Closed::Answered(AnsweredBy { person, answer, .. }) => out.push(Out::AnsweredBy {
                token,
                person,
                answer,
            }),
            Closed::Decided { to } => out.push(Out::Decided { token, to }),
            Closed::Stopped => out.push(Out::Over {
                token,
                how: Over::Stopped,
            }),
            Closed::TakenBack => out.push(Out::Over {
                token,
                how: Over::TakenBack,
            }),
            Closed::Default => out.push(Out::Over {
                token,
                how: Over::Default,
            }),
        }
    }

    /// Answers a question of a bridge; returns `false` if the producer is none or never asked this question.
    pub(super) fn reply_to_bridge(&mut self, number: u64, reply: &Reply, cx: &mut Cx<'_>) -> bool {
        if self.bridged.standing.is_none() {
            return false;
        }
        let Some(asked) = self.bridged.under(reply.token.reveal()) else {
            return false;
        };
        asked.is_answered = true;
        let (digest, token) = (asked.digest.clone(), asked.token.clone());
        let Ok(reply) = serde_json::from_str(&reply.to_json(&self.subscription)) else {
            return false;
        };
        self.request_of_bridge(
            Content::Reply { reply, digest },
            Purpose::Reply { number, token },
            cx,
        );
        true
    }

    /// Prompts an agent behind a bridge.
    pub(super) fn prompt_through_bridge(
        &mut self,
        agent: Option<AgentId>,
        text: &str,
        cx: &mut Cx<'_>,
    ) {
        let text = text.to_owned();
        self.request_of_bridge(Content::Prompt { agent, text }, Purpose::Prompt, cx);
    }

    /// Stops an agent behind a bridge.
    pub(super) fn stop_through_bridge(&mut self, agent: Option<AgentId>, cx: &mut Cx<'_>) {
        self.request_of_bridge(Content::Stop { agent }, Purpose::Stop, cx);
    }

    /// Changes a setting of an agent behind a bridge.
    pub(super) fn set_through_bridge(
        &mut self,
        agent: Option<AgentId>,
        what: Option<String>,
        cx: &mut Cx<'_>,
    ) {
        self.request_of_bridge(Content::Set { agent, what }, Purpose::Set, cx);
    }

    fn request_of_bridge(&mut self, content: Content, purpose: Purpose, cx: &mut Cx<'_>) {
        if self.bridged.pending.len() >= MOST_PENDING {
            let reason = PhraseArg::Fault(Fault::TimedOut);
            let outcome = Err(Undelivered::Kept(declined("bridge.silent", reason)));
            return self.report(purpose, outcome, cx.out);
        }
        self.bridged.requests += 1;
        let id = format!("req_{}", self.bridged.requests);
        let request = Request {
            id: id.clone(),
            content,
        };
        let message = request.to_json(&self.subscription);
        let carried_by = match self.at {
            Handshakes::Beside => {
                let request = self.numbers.fresh();
                let call = self.addresses.tell(message);
                cx.out.push(Out::Call { request, call });
                request
            }
            Handshakes::Inside | Handshakes::Nowhere => self.send(&message, cx.out),
        };
        let pending = PendingRequest {
            purpose,
            due: cx.now.monotonic + RESULT_TIME,
            carried_by,
        };
        self.bridged.pending.insert(id, pending);
    }

    /// Handles what became of a frame that may carry a request; returns `false` if it carries none.
    pub(super) fn request_left(
        &mut self,
        number: u64,
        outcome: &Result<Receipt, Undelivered>,
        out: &mut Vec<Out>,
    ) -> bool {
        let Some(id) = self.carried(number) else {
            return false;
        };
        // Once it has left, the bridge reports the outcome.
        if let Err(undelivered) = outcome
            && let Some(pending) = self.bridged.pending.remove(&id)
        {
            self.report(pending.purpose, Err(undelivered.clone()), out);
        }
        true
    }

    /// Handles the answer to a call that may carry a request; returns `false` if it carries none.
    pub(super) fn request_answered(
        &mut self,
        number: u64,
        answer: &Result<HttpAnswer, Fault>,
        out: &mut Vec<Out>,
    ) -> bool {
        let Some(id) = self.carried(number) else {
            return false;
        };
        let Some(pending) = self.bridged.pending.remove(&id) else {
            return false;
        };
        match answer {
            Ok(answer) => match RequestOutcome::read(&answer.body) {
                Some((_, outcome)) => self.conclude(pending.purpose, outcome, out),
                None => {
                    let fault = Fault::Status {
                        status: answer.status,
                        retry_after: answer.retry_after,
                    };
                    let outcome = Err(Undelivered::by_status(answer.status, fault));
                    self.report(pending.purpose, outcome, out);
                }
            },
            Err(fault) => {
                // No answer shows how far the request came.
                let outcome = match fault {
                    Fault::Refused | Fault::UnknownHost => Undelivered::Kept(fault.clone()),
                    _ => Undelivered::Unknown(fault.clone()),
                };
                self.report(pending.purpose, Err(outcome), out);
            }
        }
        true
    }

    fn carried(&self, number: u64) -> Option<String> {
        let mut pending = self.bridged.pending.iter();
        let found = pending.find(|(_, pending)| pending.carried_by == number);
        found.map(|(id, _)| id.clone())
    }

    /// Gives up the outcomes that are overdue.
    pub(super) fn tick_requests(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.monotonic;
        self.give_up_requests(&Fault::TimedOut, cx.out, |pending| pending.due <= now);
    }

    /// Gives up all outcomes, because the connection is gone.
    pub(super) fn bridge_gone(&mut self, out: &mut Vec<Out>) {
        self.bridged.standing = None;
        self.give_up_requests(&Fault::Closed, out, |_| true);
    }

    fn give_up_requests(
        &mut self,
        fault: &Fault,
        out: &mut Vec<Out>,
        is_over: impl Fn(&PendingRequest) -> bool,
    ) {
        let over: Vec<PendingRequest> = self
            .bridged
            .pending
            .extract_if(.., |_, pending| is_over(pending))
            .map(|(_, pending)| pending)
            .collect();
        for pending in over {
            let outcome = Err(Undelivered::Unknown(fault.clone()));
            self.report(pending.purpose, outcome, out);
        }
    }

    /// Reports what the bridge says became of a request. Where the agent was not given the answer and its question is
    /// open all the same, the answer is kept; where the question may be decided, it is refused.
    fn conclude(&mut self, purpose: Purpose, outcome: RequestOutcome, out: &mut Vec<Out>) {
        let plain = |key| Fault::Declined(Phrase::new(key));
        let outcome = match outcome {
            RequestOutcome::Taken(receipt) => Ok(receipt),
            RequestOutcome::Changed => Err(Undelivered::Kept(plain("bridge.changed"))),
            RequestOutcome::Closed => Err(Undelivered::Refused(plain("bridge.closed"))),
            RequestOutcome::Unknown => Err(Undelivered::Refused(plain("bridge.unknown"))),
            RequestOutcome::Decided(answered) => {
                let (key, person) = first(&answered);
                if let Purpose::Reply { token, .. } = &purpose {
                    out.push(Out::AnsweredBy {
                        token: token.clone(),
                        person: answered.person,
                        answer: answered.answer,
                    });
                }
                Err(Undelivered::Refused(declined(key, person)))
            }
            RequestOutcome::NotTaken(
                obstacle @ (Obstacle::Lost | Obstacle::PerhapsAnother | Obstacle::Ending),
            ) => Err(Undelivered::Refused(because(obstacle))),
            RequestOutcome::NotTaken(obstacle) => Err(Undelivered::Kept(because(obstacle))),
            RequestOutcome::Perhaps(reason) => Err(Undelivered::Unknown(because(reason))),
        };
        self.report(purpose, outcome, out);
    }

    fn report(
        &mut self,
        purpose: Purpose,
        outcome: Result<Receipt, Undelivered>,
        out: &mut Vec<Out>,
    ) {
        let (not_taken, perhaps) = match purpose {
            Purpose::Reply {
                number: request, ..
            } => return out.push(Out::Settled { request, outcome }),
            Purpose::Prompt | Purpose::Set => ("prompt.not_taken", "prompt.perhaps_taken"),
            Purpose::Stop => ("bridge.not_stopped", "bridge.perhaps_stopped"),
        };
        let (key, fault) = match outcome {
            // What the agent then does says so.
            Ok(_) => return,
            Err(Undelivered::Kept(fault) | Undelivered::Refused(fault)) => (not_taken, fault),
            Err(Undelivered::Unknown(fault)) => (perhaps, fault),
        };
        let told = Phrase::new(key).with("reason", PhraseArg::Fault(fault));
        out.push(Out::Tell(told));
    }
}

/// Returns the sentence about somebody else's answer, and who gave it.
fn first(answered: &AnsweredBy) -> (&'static str, PhraseArg) {
    let key = match &answered.answer {
        Answer::Decision {
            decision: Decision::Accept,
            ..
        } => "bridge.first.accepted",
        Answer::Decision {
            decision: Decision::Reject,
            ..
        } => "bridge.first.rejected",
        Answer::Decision {
            decision: Decision::Other(_),
            ..
        }
        | Answer::Response(_) => "bridge.first.answered",
    };
    let person = answered.person.clone();
    let person = person.map_or_else(
        || PhraseArg::Phrase(Phrase::new("person.other")),
        PhraseArg::Name,
    );
    (key, person)
}

/// Returns the fault for a reason that the bridge gives.
fn because(reason: Obstacle) -> Fault {
    let key = match reason {
        Obstacle::Lost => "bridge.why.lost",
        Obstacle::OnlySeen => "bridge.why.only_seen",
        Obstacle::NoPrompts => "bridge.why.no_prompts",
        Obstacle::WhichAgent => "bridge.why.which_agent",
        Obstacle::NothingUnderWay => "bridge.why.nothing_under_way",
        Obstacle::NeverStops => "bridge.why.never_stops",
        Obstacle::PerhapsAnother => "bridge.why.perhaps_another",
        Obstacle::Busy => "bridge.why.busy",
        Obstacle::Ending => "bridge.why.ending",
        Obstacle::Other(words) => return declined("bridge.reason", PhraseArg::Agent(words)),
    };
    Fault::Declined(Phrase::new(key))
}

/// Returns the fault for a request that is not made again.
fn declined(key: &'static str, word: PhraseArg) -> Fault {
    Fault::Declined(Phrase::new(key).with("reason", word))
}

#[cfg(test)]
#[path = "tests/bridged.rs"]
mod tests;
