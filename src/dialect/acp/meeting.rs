//! Meeting the agent, and leaving it.
//!
//! Responsibilities: the greeting, the conversation, what it means where either is refused. Not here: turns (`client`).

use serde_json::{Map, Value};

use crate::dialect::Out;
use crate::dialect::rpc;
use crate::dialect::written::{self, Writer};
use crate::link::{Fault, Phrase, Word};
use crate::protocol::Now;

use super::agent::{self, Greeting};
use super::client::{Acp, NAME, Ours, Phase};
use super::ending::End;
use super::read::text;

/// The code of the protocol for an agent into which nobody has signed in.
const SIGN_IN: i64 = -32000;

impl Acp {
    pub(super) fn greeted(&mut self, result: &Map<String, Value>, out: &mut Vec<Out>) {
        let greeting = Greeting::read(result);
        self.teller.writer = Writer::new(NAME, greeting.agent.clone(), !self.seed);
        self.ways_in = greeting.ways_in;
        if greeting.version != agent::VERSION {
            let version = Word::Own(greeting.version.to_string());
            return self.give_up(Phrase::new("acp.version").with("version", version), out);
        }
        if !self.listens
            && let Err(reason) = self.want_conversation(greeting.keeps, out)
        {
            self.give_up(reason, out);
        }
    }

    pub(super) fn opened(&mut self, result: &Map<String, Value>, now: Now, out: &mut Vec<Out>) {
        let Some(conversation) = text(result, "sessionId") else {
            return self.give_up(Phrase::new("acp.no_session"), out);
        };
        let conversation = conversation.to_owned();
        self.open(conversation, result, now, out);
    }

    /// Begins with a conversation that is open.
    pub(super) fn open(
        &mut self,
        conversation: String,
        result: &Map<String, Value>,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        self.phase = Phase::Open(conversation);
        self.has_options(result, out);
        if self.held.is_empty() {
            out.push(Out::Tell(Phrase::new("acp.ready")));
        }
        self.go_on(now, out);
    }

    /// Takes what can be set, and tells the mode where it is another one.
    pub(super) fn has_options(&mut self, map: &Map<String, Value>, out: &mut Vec<Out>) {
        let (modes, mode) = agent::modes(map);
        if !modes.is_empty() {
            self.modes = modes;
        }
        if let Some(mode) = mode {
            self.in_mode(&mode, out);
        }
    }

    pub(super) fn in_mode(&mut self, mode: &str, out: &mut Vec<Out>) {
        if self.mode == mode {
            return;
        }
        mode.clone_into(&mut self.mode);
        let name = self.modes.get(mode).map_or(mode, String::as_str);
        let name = Word::Name(name.to_owned());
        out.push(Out::Tell(Phrase::new("acp.mode").with("mode", name)));
    }

    /// Takes the refusal of a request of ours.
    pub(super) fn refused(
        &mut self,
        what: Ours,
        code: i64,
        message: &str,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let words = Word::Agent(written::short(message));
        match what {
            Ours::Greeting | Ours::Opening | Ours::Listing { .. } | Ours::Going
                if code == SIGN_IN =>
            {
                let ways = Word::Names(self.ways_in.clone());
                self.give_up(Phrase::new("acp.sign_in").with("ways", ways), out);
            }
            Ours::Greeting | Ours::Opening => {
                self.give_up(Phrase::new("acp.no_start").with("words", words), out);
            }
            Ours::Listing { .. } | Ours::Going => {
                self.give_up(Phrase::new("acp.earlier.refused").with("words", words), out);
            }
            Ours::Prompt => {
                if let Some(turn) = &mut self.turn {
                    let cancelled = code == rpc::CANCELLED && turn.stopping;
                    turn.end(match cancelled {
                        true => End::Stopped { wanted: true },
                        false => End::Failed(message.to_owned()),
                    });
                }
                self.prompting = None;
                self.go_on(now, out);
            }
        }
    }

    /// Takes an error that answers nothing of ours.
    pub(super) fn complained(&mut self, code: i64, message: &str, out: &mut Vec<Out>) {
        let phrase = Phrase::new("acp.complaint")
            .with("code", Word::Own(code.to_string()))
            .with("words", Word::Agent(written::short(message)));
        out.push(Out::Tell(phrase));
    }

    pub(super) fn give_up(&mut self, reason: Phrase, out: &mut Vec<Out>) {
        self.phase = Phase::Over;
        self.tell_unsent(out);
        out.push(Out::Close(Fault::Rejected {
            reason,
            retry_after: None,
            again: false,
        }));
    }

    pub(super) fn tell_unsent(&mut self, out: &mut Vec<Out>) {
        let unsent = std::mem::take(&mut self.held).len();
        if unsent > 0 {
            let n = Word::Own(unsent.to_string());
            out.push(Out::Tell(Phrase::new("prompt.unsent").with("n", n)));
        }
    }
}
