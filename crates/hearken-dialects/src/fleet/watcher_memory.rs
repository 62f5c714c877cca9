//! A watcher's memory of bridges: the questions it was shown, and the requests whose outcome is still to come.
//!
//! Responsibilities: which digest and which address an answer needs; each outcome, reported once, in the same words for
//! every way to a bridge. Not here: how a request is carried (the dialects that have bridges), what it says
//! (`watcher_request`).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::{AnsweredBy, Closed, EventSubject, RequestFault, RequestOutcome};
use crate::link::{DeliveryFailure, Fault, HttpAnswer, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Decision};
use crate::{DialectOutput, QuestionEnd};

/// How long a bridge may take to report what became of a request: its agent's own time to answer comes on top of the
/// way there and back.
pub(crate) const RESULT_TIME: Duration = Duration::from_secs(30);
/// How many questions are remembered with their digests: more than the person can have open.
const MOST_ASKED: usize = 4096;
/// How many requests may wait for their outcome: a person who makes more has a bridge that doesn't answer.
const MOST_PENDING: usize = 256;

/// What a watcher remembers of bridges.
#[derive(Debug, Default)]
pub(crate) struct WatcherMemory {
    /// The questions, by the id of the event that asked each.
    questions: BTreeMap<String, AskedQuestion>,
    /// The ids of these events, oldest first.
    order: VecDeque<String>,
    /// The requests without an outcome, by their ids.
    pending: BTreeMap<String, PendingRequest>,
    /// The number of requests so far.
    requests: u64,
}

/// A question that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedQuestion {
    /// Its token, as the app knows it.
    pub(crate) token: String,
    /// The token at its bridge.
    pub(crate) outside: String,
    pub(crate) digest: String,
    /// Where it was published, if that is on a broker.
    pub(crate) subject: Option<EventSubject>,
    /// Its position in the stream that stores it.
    pub(crate) position: Option<u64>,
    /// Whether an answer to it was sent from here.
    pub(crate) is_answered: bool,
}

#[derive(Debug)]
struct PendingRequest {
    purpose: Purpose,
    /// When to stop waiting for its outcome.
    due: Duration,
    /// The number of the frame or call that carries it.
    carried_by: u64,
}

/// What a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The person's answer, under this number, to the question with this token.
    Reply {
        number: u64,
        token: String,
    },
    Prompt,
    Stop,
    Set,
}

impl WatcherMemory {
    /// Returns when to stop waiting for the next outcome.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.pending.values().map(|pending| pending.due).min()
    }

    /// Notes a question that is shown, under the id of its event; one from elsewhere under the same id stays.
    pub(crate) fn note_asked(&mut self, event: String, question: AskedQuestion) {
        let elsewhere = self.questions.get(&event).is_some_and(|known| {
            known.subject.as_ref().map(|it| &it.machine)
                != question.subject.as_ref().map(|it| &it.machine)
        });
        if elsewhere {
            return;
        }
        if self.questions.insert(event.clone(), question).is_none() {
            self.order.push_back(event);
        }
        if self.order.len() > MOST_ASKED
            && let Some(oldest) = self.order.pop_front()
        {
            self.questions.remove(&oldest);
        }
    }

    /// Returns the question that an event asked.
    pub(crate) fn asked_by(&self, event: &str) -> Option<&AskedQuestion> {
        self.questions.get(event)
    }

    /// Returns all questions that are remembered, by the ids of their events.
    pub(crate) fn all_asked(&self) -> impl Iterator<Item = (&String, &AskedQuestion)> {
        self.questions.iter()
    }

    /// Returns the newest question with this token.
    pub(crate) fn under(&mut self, token: &str) -> Option<&mut AskedQuestion> {
        let newest = self.order.iter().rev();
        let mut newest = newest.filter(|event| {
            let asked = self.questions.get(*event);
            asked.is_some_and(|asked| asked.token == token)
        });
        let event = newest.next()?.clone();
        self.questions.get_mut(&event)
    }

    /// Begins a request and returns its id; `None` if too many wait, which is reported.
    pub(crate) fn begin(
        &mut self,
        purpose: &Purpose,
        out: &mut Vec<DialectOutput>,
    ) -> Option<String> {
        if self.pending.len() >= MOST_PENDING {
            let reason = PhraseArg::Fault(Fault::TimedOut);
            let outcome = Err(DeliveryFailure::Kept(declined("bridge.silent", reason)));
            report(purpose.clone(), outcome, out);
            return None;
        }
        self.requests += 1;
        Some(format!("req_{}", self.requests))
    }

    /// Notes what carries a request, and by when its outcome is expected.
    pub(crate) fn sent(&mut self, id: String, purpose: Purpose, carried_by: u64, now: Duration) {
        let pending = PendingRequest {
            purpose,
            due: now + RESULT_TIME,
            carried_by,
        };
        self.pending.insert(id, pending);
    }

    /// Handles a result that names its request.
    pub(crate) fn result(
        &mut self,
        request: &str,
        outcome: RequestOutcome,
        out: &mut Vec<DialectOutput>,
    ) {
        if let Some(pending) = self.pending.remove(request) {
            conclude(pending.purpose, outcome, out);
        }
    }

    /// Handles the end of a question that its session's events alone don't show.
    pub(crate) fn closed_there(&mut self, event: &str, how: Closed, out: &mut Vec<DialectOutput>) {
        let Some(asked) = self.questions.get(event) else {
            return;
        };
        let token = asked.token.clone();
        match how {
            // The outcome of the watcher's own answer says so.
            Closed::Answered(_) if asked.is_answered => {}
            Closed::Answered(AnsweredBy { person, answer, .. }) => {
                out.push(DialectOutput::AnsweredBy {
                    token,
                    person,
                    answer,
                })
            }
            Closed::Decided { to } => out.push(DialectOutput::Decided { token, to }),
            Closed::Stopped => out.push(DialectOutput::Over {
                token,
                reason: QuestionEnd::Stopped,
            }),
            Closed::TakenBack => out.push(DialectOutput::Over {
                token,
                reason: QuestionEnd::TakenBack,
            }),
            Closed::Default => out.push(DialectOutput::Over {
                token,
                reason: QuestionEnd::Default,
            }),
        }
    }

    /// Handles the outcome of sending a frame; returns `false` if it carries no request.
    pub(crate) fn request_left(
        &mut self,
        number: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let Some(id) = self.carried(number) else {
            return false;
        };
        // Once it has left, the bridge reports the outcome.
        if let Err(undelivered) = outcome
            && let Some(pending) = self.pending.remove(&id)
        {
            report(pending.purpose, Err(undelivered.clone()), out);
        }
        true
    }

    /// Handles the answer to a call; returns `false` if the call carries no request.
    pub(crate) fn request_answered(
        &mut self,
        number: u64,
        answer: &Result<HttpAnswer, Fault>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let Some(id) = self.carried(number) else {
            return false;
        };
        let Some(pending) = self.pending.remove(&id) else {
            return false;
        };
        match answer {
            Ok(answer) => match RequestOutcome::of_result(&answer.body) {
                Some(outcome) => conclude(pending.purpose, outcome, out),
                None => {
                    let fault = Fault::Status {
                        status: answer.status,
                        retry_after: answer.retry_after,
                    };
                    let outcome = Err(DeliveryFailure::by_status(answer.status, fault));
                    report(pending.purpose, outcome, out);
                }
            },
            Err(fault) => {
                // Without an answer, it is unknown how far the request got.
                let outcome = match fault {
                    Fault::Refused | Fault::UnknownHost | Fault::Declined(_) => {
                        DeliveryFailure::Kept(fault.clone())
                    }
                    _ => DeliveryFailure::Unknown(fault.clone()),
                };
                report(pending.purpose, Err(outcome), out);
            }
        }
        true
    }

    fn carried(&self, number: u64) -> Option<String> {
        let mut pending = self.pending.iter();
        let found = pending.find(|(_, pending)| pending.carried_by == number);
        found.map(|(id, _)| id.clone())
    }

    /// Reports every request whose outcome is overdue as perhaps taken.
    pub(crate) fn tick(&mut self, now: Duration, out: &mut Vec<DialectOutput>) {
        self.give_up_requests(&Fault::TimedOut, out, |pending| pending.due <= now);
    }

    /// Reports every open request as perhaps taken, because the connection is lost.
    pub(crate) fn gone(&mut self, out: &mut Vec<DialectOutput>) {
        self.give_up_requests(&Fault::Closed, out, |_| true);
    }

    fn give_up_requests(
        &mut self,
        fault: &Fault,
        out: &mut Vec<DialectOutput>,
        is_over: impl Fn(&PendingRequest) -> bool,
    ) {
        let over: Vec<PendingRequest> = self
            .pending
            .extract_if(.., |_, pending| is_over(pending))
            .map(|(_, pending)| pending)
            .collect();
        for pending in over {
            let outcome = Err(DeliveryFailure::Unknown(fault.clone()));
            report(pending.purpose, outcome, out);
        }
    }
}

/// Reports what the bridge says became of a request. If the agent did not get the answer and its question is still
/// open, the answer is kept; if the question may be decided, the answer is refused.
fn conclude(purpose: Purpose, outcome: RequestOutcome, out: &mut Vec<DialectOutput>) {
    let plain = |key| Fault::Declined(Phrase::new(key));
    let outcome = match outcome {
        RequestOutcome::Taken(receipt) => Ok(receipt),
        RequestOutcome::Changed => Err(DeliveryFailure::Kept(plain("bridge.changed"))),
        RequestOutcome::Closed => Err(DeliveryFailure::Refused(plain("bridge.closed"))),
        RequestOutcome::Unknown => Err(DeliveryFailure::Refused(plain("bridge.unknown"))),
        RequestOutcome::Decided(answered) => {
            let (key, person) = first(&answered);
            if let Purpose::Reply { token, .. } = &purpose {
                out.push(DialectOutput::AnsweredBy {
                    token: token.clone(),
                    person: answered.person,
                    answer: answered.answer,
                });
            }
            Err(DeliveryFailure::Refused(declined(key, person)))
        }
        RequestOutcome::NotTaken(
            obstacle @ (RequestFault::Lost | RequestFault::PerhapsAnother | RequestFault::Ending),
        ) => Err(DeliveryFailure::Refused(because(obstacle))),
        RequestOutcome::NotTaken(obstacle) => Err(DeliveryFailure::Kept(because(obstacle))),
        RequestOutcome::Perhaps(reason) => Err(DeliveryFailure::Unknown(because(reason))),
    };
    report(purpose, outcome, out);
}

fn report(
    purpose: Purpose,
    outcome: Result<Receipt, DeliveryFailure>,
    out: &mut Vec<DialectOutput>,
) {
    let (not_taken, perhaps) = match purpose {
        Purpose::Reply {
            number: request, ..
        } => return out.push(DialectOutput::Settled { request, outcome }),
        Purpose::Prompt | Purpose::Set => ("prompt.not_taken", "prompt.perhaps_taken"),
        Purpose::Stop => ("bridge.not_stopped", "bridge.perhaps_stopped"),
    };
    let (key, fault) = match outcome {
        // The agent's next events say so.
        Ok(_) => return,
        Err(DeliveryFailure::Kept(fault) | DeliveryFailure::Refused(fault)) => (not_taken, fault),
        Err(DeliveryFailure::Unknown(fault)) => (perhaps, fault),
    };
    let told = Phrase::new(key).with("reason", PhraseArg::Fault(fault));
    out.push(DialectOutput::Announce(told));
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
fn because(reason: RequestFault) -> Fault {
    let key = match reason {
        RequestFault::Lost => "bridge.why.lost",
        RequestFault::OnlySeen => "bridge.why.only_seen",
        RequestFault::NoPrompts => "bridge.why.no_prompts",
        RequestFault::WhichAgent => "bridge.why.which_agent",
        RequestFault::NothingUnderWay => "bridge.why.nothing_under_way",
        RequestFault::NeverStops => "bridge.why.never_stops",
        RequestFault::PerhapsAnother => "bridge.why.perhaps_another",
        RequestFault::Busy => "bridge.why.busy",
        RequestFault::Ending => "bridge.why.ending",
        RequestFault::Other(words) => return declined("bridge.reason", PhraseArg::Agent(words)),
    };
    Fault::Declined(Phrase::new(key))
}

/// Returns the fault for a request that is not made again.
fn declined(key: &'static str, word: PhraseArg) -> Fault {
    Fault::Declined(Phrase::new(key).with("reason", word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(number: usize) -> AskedQuestion {
        AskedQuestion {
            token: format!("rpl_{number}"),
            outside: format!("rpl_{number}"),
            digest: "digest".to_owned(),
            subject: None,
            position: None,
            is_answered: false,
        }
    }

    #[test]
    fn questions_are_bounded_and_the_oldest_goes_first() {
        let mut watching = WatcherMemory::default();
        for number in 0..MOST_ASKED + 10 {
            watching.note_asked(format!("evt_{number}"), question(number));
        }
        assert_eq!(watching.questions.len(), MOST_ASKED);
        assert_eq!(watching.order.len(), MOST_ASKED);
        assert!(watching.under("rpl_9").is_none());
        assert!(watching.under("rpl_10").is_some());
    }

    #[test]
    fn requests_are_bounded_and_the_person_hears_of_the_one_too_many() {
        let mut watching = WatcherMemory::default();
        let mut out = Vec::new();
        for number in 0..MOST_PENDING {
            let id = watching.begin(&Purpose::Stop, &mut out).unwrap();
            watching.sent(id, Purpose::Stop, number as u64, Duration::ZERO);
        }
        assert!(out.is_empty());
        assert!(watching.begin(&Purpose::Stop, &mut out).is_none());
        assert!(
            matches!(&out[..], [DialectOutput::Announce(phrase)] if phrase.key == "bridge.not_stopped")
        );
    }
}
