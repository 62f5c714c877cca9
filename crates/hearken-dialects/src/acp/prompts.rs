//! Prompts and stops: what is sent when, and the end of a turn.
//!
//! Responsibilities: holding prompts until they can be sent, ending turns, the outcome of what was sent. Not here: what
//! becomes of a turn (`turn`), other messages (`client`).

use serde_json::{Map, Value, json};

use crate::link::{DeliveryFailure, LastWords, Phrase, Receipt};
use crate::rpc;
use crate::{Cx, DialectOutput, QuestionEnd, RequestNumbers};

use super::client::{Acp, AcpRequest, AgentPhase};
use super::sign_in::SignInState;
use crate::kit::members::text;
use crate::kit::turn::Turn;
use crate::kit::turn_end::{self, TurnEnd, asked_to_stop};

/// How many prompts are held; a person who writes ahead writes a few.
const MOST_HELD: usize = 16;

impl Acp {
    pub(super) fn turn_ends(&mut self, result: &Map<String, Value>, cx: &mut Cx<'_>) {
        if let Some(turn) = &mut self.turn {
            let reason = text(result, "stopReason").unwrap_or_default();
            turn.end_after_calls(TurnEnd::by_reason(reason, turn.stopping), cx.now.monotonic);
        }
        self.prompting = None;
        self.go_on(cx);
    }

    /// Finishes a turn that is over, and sends the next held prompt.
    pub(super) fn go_on(&mut self, cx: &mut Cx<'_>) {
        if let Some(turn) = self.turn.as_mut().filter(|_| !self.held_prompts.is_empty()) {
            turn.leave_late();
        }
        if let Some(turn) = self.turn.take_if(|turn| turn.is_over()) {
            turn.finish(&mut self.teller, cx);
            cx.out.push(DialectOutput::LastWords(self.last_words()));
        }
        if self.turn.is_some() {
            return;
        }
        let AgentPhase::Open(conversation) = self.phase.clone() else {
            return;
        };
        // Without signing in, the prompt would be refused again; and in a mode that asks less than the person wants, it
        // would be carried out unasked.
        if !matches!(self.signing, SignInState::Idle) || self.mode.holds_prompts() {
            return;
        }
        let Some(prompt) = self.held_prompts.pop_front() else {
            return;
        };
        let blocks = json!([{"type": "text", "text": prompt}]);
        let params = json!({"sessionId": conversation, "prompt": blocks}).to_string();
        self.prompting = Some(self.ask(AcpRequest::Prompt, "session/prompt", &params, cx.out));
        let teller = &mut self.teller;
        self.turn = Some(Turn::begin(&conversation, Some(&prompt), teller, cx));
        cx.out.push(DialectOutput::LastWords(self.last_words()));
        self.prompted = prompt;
    }

    /// Returns what is sent when the person leaves: the end of the turn, and the message that undoes what their
    /// settings chose.
    pub(super) fn last_words(&self) -> Option<LastWords> {
        let cancels = match &self.phase {
            AgentPhase::Open(conversation) if self.turn.is_some() => Some(cancel(conversation)),
            AgentPhase::Open(_) | AgentPhase::Unmet | AgentPhase::Meeting | AgentPhase::Over => {
                None
            }
        };
        let undoing = self.mode.undoing().map(str::to_owned);
        let undoes = undoing.is_some();
        let words: Vec<String> = cancels.into_iter().chain(undoing).collect();
        // Elsewhere a message has a frame of its own, and the first one counts.
        let count = if self.in_lines { words.len() } else { 1 };
        let words = words.get(..count.min(words.len())).unwrap_or_default();
        let message = Some(words.join("\n")).filter(|message| !message.is_empty())?;
        Some(match undoes {
            true => LastWords::Request(message),
            false => LastWords::Message(message),
        })
    }

    pub(super) fn prompt(&mut self, prompt: &str, cx: &mut Cx<'_>) {
        let key = match (&self.phase, &self.turn) {
            (AgentPhase::Over, _) => {
                return cx
                    .out
                    .push(DialectOutput::Announce(Phrase::new("prompt.nobody")));
            }
            (_, _) if self.held_prompts.len() >= MOST_HELD => {
                return cx
                    .out
                    .push(DialectOutput::Announce(Phrase::new("prompt.too_many")));
            }
            (AgentPhase::Open(_), None)
                if !matches!(self.signing, SignInState::Idle) || self.mode.holds_prompts() =>
            {
                Some("prompt.early")
            }
            (AgentPhase::Open(_), None) => None,
            (AgentPhase::Open(_), Some(turn)) if self.prompting.is_none() && turn.is_idle() => None,
            (AgentPhase::Open(_), Some(turn)) if turn.stopping => Some("prompt.after_stop"),
            (AgentPhase::Open(_), Some(_)) => Some("prompt.held"),
            (AgentPhase::Unmet | AgentPhase::Meeting, _) => Some("prompt.early"),
        };
        self.held_prompts.push_back(prompt.to_owned());
        let unprompted = self.prompting.is_none();
        if let Some(turn) = self.turn.as_mut().filter(|it| unprompted && it.is_idle()) {
            // Nothing would ever end an unprompted turn, so the new prompt does.
            turn.end(TurnEnd::Done);
        }
        cx.out
            .extend(key.map(|key| DialectOutput::Announce(Phrase::new(key))));
        self.go_on(cx);
    }

    pub(super) fn stop(&mut self, cx: &mut Cx<'_>) {
        if self.stop_signing_in(cx.out) {
            return;
        }
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.is_ending()) {
            turn.leave_late();
            self.go_on(cx);
        }
        let (AgentPhase::Open(conversation), Some(turn)) = (&self.phase, &mut self.turn) else {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        };
        if turn.stopping {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.stopping")));
        }
        let cancel = cancel(conversation);
        // Announced first, because the rest follows from it.
        cx.out.push(DialectOutput::Announce(asked_to_stop(
            self.held_prompts.is_empty(),
        )));
        let open = turn.stop(&mut self.teller, cx);
        self.send(cancel, cx.out);
        for permission in open {
            self.send(permission.cancelled(), cx.out);
        }
        self.cancel_elicited(cx);
        if self.prompting.is_none()
            && let Some(turn) = &mut self.turn
        {
            // It was not prompted, so no answer to a prompt will report its stop.
            turn.end(TurnEnd::Stopped { wanted: true });
        }
        self.go_on(cx);
    }

    /// Goes on without a turn that does not stop.
    pub(super) fn abandon(&mut self, cx: &mut Cx<'_>) {
        let Some(mut turn) = self.turn.take_if(|turn| turn.stopping) else {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        };
        // The answer to its prompt must not end the next turn.
        self.pending_requests
            .replace(|asked| *asked == AcpRequest::Prompt, &AcpRequest::Abandoned);
        self.prompting = None;
        turn.close(QuestionEnd::Stopped, &mut self.teller, cx);
        turn.end(turn_end::ABANDONED);
        turn.finish(&mut self.teller, cx);
        cx.out.push(DialectOutput::LastWords(None));
        turn_end::sends_what_waits(self.held_prompts.is_empty(), cx.out);
        self.go_on(cx);
    }

    pub(super) fn replied(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        if RequestNumbers::is_own(request) {
            if let (Err(undelivered), true) = (outcome, self.prompting == Some(request)) {
                self.prompting = None;
                if let Some(turn) = &mut self.turn {
                    turn.end(TurnEnd::Failed(undelivered.to_string()));
                }
                self.go_on(cx);
            }
            return;
        }
        cx.out.push(DialectOutput::Settled {
            request,
            outcome: outcome.clone(),
        });
        let went = outcome.is_ok();
        self.choice_went(request, went, cx);
        self.sign_in_went(request, went, cx);
        self.change_went(request, went, cx);
        self.filled_in_went(request, went, cx);
        let Some(turn) = &mut self.turn else {
            return;
        };
        match outcome {
            Ok(_) => {
                if let Some(reason) = turn.answered(request, &mut self.teller, cx) {
                    // The protocol has no place for a reason: it goes into the next prompt.
                    self.held_prompts.push_front(reason);
                    cx.out
                        .push(DialectOutput::Announce(Phrase::new("acp.reason_follows")));
                }
            }
            Err(undelivered) => {
                let open = turn.unanswered(request, &mut self.teller, cx);
                // If a byte of the answer may have been sent, another answer could contradict it.
                let left = matches!(undelivered, DeliveryFailure::Unknown(_));
                if let Some(permission) = open.filter(|_| !left) {
                    self.send(permission.cancelled(), cx.out);
                }
            }
        }
        self.go_on(cx);
    }

    /// Returns whether a prompt waits to be sent.
    pub(super) fn has_held_prompts(&self) -> bool {
        !self.held_prompts.is_empty()
    }

    /// Ends everything that can't go on without the agent.
    pub(super) fn gone(&mut self, cx: &mut Cx<'_>) {
        self.phase = AgentPhase::Over;
        self.prompting = None;
        self.leave_earlier(cx);
        self.leave_signing(cx);
        self.lose_changing(cx);
        self.lose_elicited(cx);
        if let Some(turn) = self.turn.take() {
            turn.finish(&mut self.teller, cx);
        }
        self.tell_unsent(cx.out);
    }
}

fn cancel(conversation: &str) -> String {
    let params = json!({"sessionId": conversation}).to_string();
    rpc::notification("session/cancel", &params)
}
