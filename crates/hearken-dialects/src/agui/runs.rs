//! Runs: when one is posted, what becomes of it, how it ends, and how the person leaves it.
//!
//! Responsibilities: the connection of each run, its body, held prompts, stopping. Not here: the events of a run
//! (`run_events`), its questions (`decisions`).
//!
//! # Mental model
//! The transport asks what to follow next (`Connecting`), and waits until the person wants something, which is posted
//! as the next run. If the transport is waiting before another attempt, or an endpoint keeps a run's stream open after
//! the run's end, a new connection is requested. A posted run is never posted again: if it was not sent, the person can
//! ask again, and if it may have been sent, that is announced.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::kit::turn::Turn;
use crate::kit::turn_end::TurnEnd;
use crate::link::{Address, Body, DeliveryFailure, Fault, Phrase, PhraseArg, ServerRoute, Stream};
use crate::{Cx, DialectOutput, QuestionEnd};

use super::client::{Agui, ConnectionPhase, RunPost};

/// How many prompts may wait; a person writing ahead writes a few.
const MOST_HELD: usize = 16;
/// How long an endpoint may keep a run's stream open after its end while the next run waits.
const CLOSES: Duration = Duration::from_secs(1);

impl Agui {
    /// Begins a turn.
    pub(super) fn begin(&mut self, words: Option<&str>, cx: &mut Cx<'_>) {
        self.calls.clear();
        (self.message, self.call) = (None, None);
        let mut turn = Turn::begin(&self.thread, words, &mut self.teller, cx);
        turn.will_end();
        self.turn = Some(turn);
    }

    /// Ends the turn, and goes on with the held prompts.
    pub(super) fn end(&mut self, end: TurnEnd, cx: &mut Cx<'_>) {
        (self.interruption, self.expires) = (None, None);
        if let Some(mut turn) = self.turn.take() {
            let how = match turn.stopping {
                true => QuestionEnd::Stopped,
                false => QuestionEnd::TakenBack,
            };
            turn.close(how, &mut self.teller, cx);
            // Calls that came in the last moment are announced all the same.
            let untold = turn.calls.iter().filter(|(_, call)| call.is_waiting());
            let untold: Vec<String> = untold.map(|(key, _)| key.clone()).collect();
            for key in untold {
                turn.tell_call(&key, &mut self.teller, cx);
            }
            turn.end(end);
            turn.finish(&mut self.teller, cx);
        }
        if self.history.was_cut() {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("agui.history_cut")));
        }
        self.send_held(cx);
    }

    /// Handles the end of a run, which its stream's end should follow.
    pub(super) fn run_is_over(&mut self) {
        if self.line == ConnectionPhase::Open {
            self.line = ConnectionPhase::Spent;
        }
    }

    /// Handles a prompt.
    pub(super) fn prompt(&mut self, words: &str, cx: &mut Cx<'_>) {
        if self.listens || self.is_over {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("prompt.nobody")));
        }
        let is_busy = self.turn.is_some() || self.going.is_some() || self.sent.is_some();
        if is_busy {
            let before = self.held_prompts.len();
            self.hold(words.to_owned(), cx.out);
            if self.held_prompts.len() > before {
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("prompt.held")));
            }
            return;
        }
        self.going = Some(RunPost::Prompt(words.to_owned()));
        self.go(cx);
    }

    /// Holds a prompt until the turn is over.
    pub(super) fn hold(&mut self, words: String, out: &mut Vec<DialectOutput>) {
        if self.held_prompts.len() >= MOST_HELD {
            return out.push(DialectOutput::Announce(Phrase::new("prompt.too_many")));
        }
        self.held_prompts.push_back(words);
    }

    /// Sends the next held prompt when the turn is over.
    fn send_held(&mut self, cx: &mut Cx<'_>) {
        let is_free = self.turn.is_none() && self.going.is_none() && self.sent.is_none();
        if !is_free || self.listens || self.is_over {
            return;
        }
        if let Some(words) = self.held_prompts.pop_front() {
            self.going = Some(RunPost::Prompt(words));
            self.go(cx);
        }
    }

    /// Posts the next run as soon as the transport is ready for it.
    pub(super) fn go(&mut self, cx: &mut Cx<'_>) {
        if self.going.is_none() || self.listens || self.is_over {
            return;
        }
        match self.line {
            ConnectionPhase::Waits => self.post(cx.out),
            // The next attempt is under way.
            ConnectionPhase::Soon => {}
            // There is no need to sit out the delay before the next attempt.
            ConnectionPhase::Lost => self.anew(cx.out),
            ConnectionPhase::Spent => self.closes = Some(cx.now.monotonic + CLOSES),
            ConnectionPhase::Posted | ConnectionPhase::Open => {}
        }
    }

    /// Abandons the current connection, and requests a new one.
    fn anew(&mut self, out: &mut Vec<DialectOutput>) {
        self.line = ConnectionPhase::Soon;
        self.closes = None;
        out.push(DialectOutput::ChangeWay(ServerRoute::AsGiven));
    }

    /// Handles an endpoint that has kept the stream of a finished run open for too long.
    pub(super) fn is_kept_open(&mut self, out: &mut Vec<DialectOutput>) {
        self.closes = None;
        if self.line == ConnectionPhase::Spent {
            self.anew(out);
        }
    }

    fn post(&mut self, out: &mut Vec<DialectOutput>) {
        let Some(going) = self.going.take() else {
            return;
        };
        let mut more = Map::new();
        match &going {
            RunPost::Prompt(words) => {
                let name = self.fresh();
                self.history.asks(&name, words);
                self.asked_as = name;
            }
            RunPost::Answers(_) => {
                let answers = self.interruption.as_ref().and_then(|asked| asked.resume());
                // Nothing is sent unless all of them are there.
                let Some(answers) = answers else {
                    return;
                };
                more = answers;
            }
        }
        let fallen = self.history.bound();
        if fallen > 0 {
            let n = PhraseArg::Own(fallen.to_string());
            out.push(DialectOutput::Announce(
                Phrase::new("agui.forgotten").with("n", n),
            ));
        }
        let run = self.fresh();
        let mut body = json!({"threadId": self.thread, "runId": run, "state": self.shared.value(),
            "messages": self.history.messages(), "tools": [], "context": [], "forwardedProps": {}});
        if let Some(body) = body.as_object_mut() {
            body.extend(more);
        }
        self.sent = Some(going);
        self.line = ConnectionPhase::Posted;
        out.push(DialectOutput::Follow(Stream {
            opened_by: Some(Body::json(Value::to_string(&body))),
            // An endpoint that was there once and refuses one run may accept the next.
            may_be_forgotten: self.was_met,
            ..Stream::at(Address::Given)
        }));
    }

    /// Handles the transport's question what to follow.
    pub(super) fn is_asked(&mut self, cx: &mut Cx<'_>) {
        self.line = ConnectionPhase::Waits;
        self.closes = None;
        if !std::mem::replace(&mut self.was_ready, true) && self.going.is_none() && !self.listens {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("agui.ready")));
        }
        self.go(cx);
    }

    /// Handles the start of a response: the run was accepted.
    pub(super) fn is_taken(&mut self, cx: &mut Cx<'_>) {
        if self.line != ConnectionPhase::Posted {
            return;
        }
        self.line = ConnectionPhase::Open;
        self.was_met = true;
        match self.sent.take() {
            Some(RunPost::Prompt(words)) => self.begin(Some(&words), cx),
            Some(RunPost::Answers(answer)) => {
                self.answers_went(answer.map(|(request, _)| request), cx);
            }
            None => {}
        }
    }

    /// Handles the end of a response.
    pub(super) fn is_whole(&mut self, cx: &mut Cx<'_>) {
        let was_open = self.line == ConnectionPhase::Open;
        self.line = ConnectionPhase::Soon;
        self.closes = None;
        if was_open {
            self.history.breaks_off();
            self.end(TurnEnd::Lost("agui.end.unsaid"), cx);
        }
    }

    /// Handles a connection that was lost or could not be established; with `is_over` set, it is final.
    pub(super) fn is_lost(&mut self, fault: &Fault, cx: &mut Cx<'_>) {
        let line = std::mem::replace(&mut self.line, ConnectionPhase::Lost);
        self.closes = None;
        match self.sent.take() {
            Some(RunPost::Prompt(_)) => {
                let undelivered = undelivered(fault);
                let key = match undelivered {
                    DeliveryFailure::Kept(_) | DeliveryFailure::Refused(_) => {
                        let name = std::mem::take(&mut self.asked_as);
                        self.history.takes_back(&name);
                        "prompt.not_taken"
                    }
                    DeliveryFailure::Unknown(_) => "prompt.perhaps_taken",
                };
                if !self.is_over {
                    let reason = PhraseArg::Fault(fault.clone());
                    cx.out.push(DialectOutput::Announce(
                        Phrase::new(key).with("reason", reason),
                    ));
                }
                self.send_held(cx);
            }
            Some(RunPost::Answers(answer)) => self.answers_stayed(answer, undelivered(fault), cx),
            None if line == ConnectionPhase::Open => {
                let reason = PhraseArg::Fault(fault.clone());
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("agui.lost").with("reason", reason),
                ));
                self.history.breaks_off();
                self.end(TurnEnd::Lost("agui.end.lost"), cx);
            }
            None => self.go(cx),
        }
    }

    /// Stops the current work: open questions are closed without an answer, and a run is abandoned.
    pub(super) fn stop(&mut self, cx: &mut Cx<'_>) {
        if self.listens || self.is_over {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        }
        let is_open = self.interruption.is_some() && self.sent.is_none() && self.going.is_none();
        if is_open {
            return self.cancel(cx);
        }
        if matches!(self.line, ConnectionPhase::Posted | ConnectionPhase::Open) {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("agui.left")));
            if let Some(RunPost::Answers(Some((request, _)))) = self.sent.take() {
                cx.out.push(DialectOutput::Settled {
                    request,
                    outcome: Err(DeliveryFailure::Unknown(Fault::Closed)),
                });
            }
            self.history.breaks_off();
            self.anew(cx.out);
            return self.end(TurnEnd::Left("agui.end.left"), cx);
        }
        match self.going.take() {
            Some(RunPost::Prompt(_)) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("agui.unsent"))),
            Some(RunPost::Answers(answer)) => {
                if let Some((request, _)) = answer {
                    cx.out.push(DialectOutput::Settled {
                        request,
                        outcome: Err(DeliveryFailure::Kept(Fault::Closed)),
                    });
                }
                self.cancel(cx);
            }
            None => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none"))),
        }
    }

    /// Closes the open questions without an answer, and notifies the agent.
    fn cancel(&mut self, cx: &mut Cx<'_>) {
        if let Some(turn) = &mut self.turn {
            turn.stopping = true;
        }
        self.close(QuestionEnd::Stopped, cx);
        match &mut self.interruption {
            Some(asked) if asked.can_cancel_all() => {
                asked.cancel_all();
                self.expires = None;
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("agui.cancelled")));
                self.going = Some(RunPost::Answers(None));
                self.go(cx);
            }
            Some(_) | None => {
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("agui.left_open")));
                self.history.breaks_off();
                self.end(TurnEnd::Left("agui.end.left"), cx);
            }
        }
    }
}

/// Returns what a run without a response means for its content: if the endpoint was unreachable, nothing was sent;
/// otherwise it is unknown.
fn undelivered(fault: &Fault) -> DeliveryFailure {
    match fault {
        Fault::Status { status, .. } => DeliveryFailure::by_status(*status, fault.clone()),
        Fault::Refused
        | Fault::UnknownHost
        | Fault::Tls(_)
        | Fault::Unusable(_)
        | Fault::OneWay
        | Fault::TooLarge { .. }
        | Fault::TooManyValues { .. } => DeliveryFailure::Kept(fault.clone()),
        Fault::TimedOut
        | Fault::Closed
        | Fault::NotEventStream { .. }
        | Fault::NotWebSocket(_)
        | Fault::ClosedWith { .. }
        | Fault::Exited { .. }
        | Fault::Killed { .. }
        | Fault::Rejected { .. }
        | Fault::Declined(_)
        | Fault::Other(_) => DeliveryFailure::Unknown(fault.clone()),
    }
}
