//! Meeting the agent, and leaving it.
//!
//! Responsibilities: the greeting, the conversation, and what a refusal of either means. Not here: turns (`client`).

use serde_json::{Map, Value};

use crate::agent_table;
use crate::event_writer::{self};
use crate::link::{Fault, Phrase, PhraseArg};
use crate::rpc;
use crate::{Cx, DialectOutput};

use super::agent::{self, Greeting};
use super::client::{Acp, AcpRequest, AgentPhase};
use crate::kit::members::text;
use crate::kit::turn_end::TurnEnd;

/// The protocol's error code of an agent that requires signing in.
const SIGN_IN: i64 = -32000;

impl Acp {
    pub(super) fn greeted(&mut self, result: &Map<String, Value>, out: &mut Vec<DialectOutput>) {
        let greeting = Greeting::read(result);
        self.mode
            .meet(agent_table::calling_itself(&greeting.agent.id));
        self.teller.writer.call(greeting.agent.clone());
        self.ways_in = greeting.ways_in;
        self.keeps = greeting.keeps;
        if greeting.version != agent::VERSION {
            let version = PhraseArg::Own(greeting.version.to_string());
            return self.give_up(Phrase::new("acp.version").with("version", version), out);
        }
        if !self.listens
            && let Err(reason) = self.want_conversation(out)
        {
            self.give_up(reason, out);
        }
    }

    pub(super) fn opened(&mut self, result: &Map<String, Value>, cx: &mut Cx<'_>) {
        let Some(conversation) = text(result, "sessionId") else {
            return self.give_up(Phrase::new("acp.no_session"), cx.out);
        };
        let conversation = conversation.to_owned();
        self.open(conversation, result, cx);
    }

    /// Starts work in an open conversation.
    pub(super) fn open(
        &mut self,
        conversation: String,
        result: &Map<String, Value>,
        cx: &mut Cx<'_>,
    ) {
        self.phase = AgentPhase::Open(conversation);
        self.has_options(result, cx.out);
        self.begin_mode(cx);
        if self.held_prompts.is_empty() && !self.mode.holds_prompts() {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("acp.ready")));
        }
        self.go_on(cx);
    }

    /// Handles the refusal of a request of ours.
    pub(super) fn refused(&mut self, what: AcpRequest, code: i64, message: &str, cx: &mut Cx<'_>) {
        let words = PhraseArg::Agent(event_writer::short(message));
        match what {
            AcpRequest::Greeting
            | AcpRequest::Opening
            | AcpRequest::Listing
            | AcpRequest::Going
                if code == SIGN_IN =>
            {
                self.wants_sign_in(cx);
            }
            // A program that does not know the greeting speaks another protocol; a plain echo gives this answer, too.
            AcpRequest::Greeting if code == rpc::NO_SUCH_METHOD => {
                let protocol = PhraseArg::Phrase(Phrase::new("acp.protocol"));
                let unspoken = Phrase::new("fault.not_spoken").with("protocol", protocol);
                self.give_up(unspoken, cx.out);
            }
            AcpRequest::Greeting | AcpRequest::Opening => {
                self.give_up(Phrase::new("acp.no_start").with("words", words), cx.out);
            }
            AcpRequest::Listing | AcpRequest::Going => {
                self.give_up(
                    Phrase::new("acp.earlier.refused").with("words", words),
                    cx.out,
                );
            }
            AcpRequest::SigningIn => self.not_signed_in(words, cx),
            AcpRequest::Setting { id, .. } => self.is_not_set(&id, words, cx.out),
            AcpRequest::Abandoned => {}
            AcpRequest::Prompt => {
                if code == SIGN_IN && !self.ways_in.is_empty() {
                    // If nothing of the prompt was carried out, it is kept; otherwise, repeating it would do something
                    // twice.
                    if self.turn.as_ref().is_none_or(|turn| turn.has_no_calls()) {
                        self.held_prompts
                            .push_front(std::mem::take(&mut self.prompted));
                    }
                    self.wants_sign_in(cx);
                }
                if let Some(turn) = &mut self.turn {
                    let cancelled = code == rpc::CANCELLED && turn.stopping;
                    turn.end(match cancelled {
                        true => TurnEnd::Stopped { wanted: true },
                        false => TurnEnd::Failed(message.to_owned()),
                    });
                }
                self.prompting = None;
                self.go_on(cx);
            }
        }
    }

    /// Reports an error that answers no request of ours.
    pub(super) fn complained(&mut self, code: i64, message: &str, out: &mut Vec<DialectOutput>) {
        let phrase = Phrase::new("acp.complaint")
            .with("code", PhraseArg::Own(code.to_string()))
            .with("words", PhraseArg::Agent(event_writer::short(message)));
        out.push(DialectOutput::Announce(phrase));
    }

    pub(super) fn give_up(&mut self, reason: Phrase, out: &mut Vec<DialectOutput>) {
        self.phase = AgentPhase::Over;
        self.tell_unsent(out);
        out.push(DialectOutput::Close(Fault::Rejected {
            reason,
            retry_after: None,
            again: false,
        }));
    }

    pub(super) fn tell_unsent(&mut self, out: &mut Vec<DialectOutput>) {
        let unsent = std::mem::take(&mut self.held_prompts).len();
        if unsent > 0 {
            let n = PhraseArg::Own(unsent.to_string());
            out.push(DialectOutput::Announce(
                Phrase::new("prompt.unsent").with("n", n),
            ));
        }
    }
}
