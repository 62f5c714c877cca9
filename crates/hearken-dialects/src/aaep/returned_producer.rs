//! Whether a producer that is back after a loss is the one that asked.
//!
//! Responsibilities: with what doubt open questions can be answered again. Not here: subscriptions that are followed
//! again, which leave no doubt (`subscription`), questions that are shown again (`session`).
//!
//! Mental model: a producer without a replay and without a lasting subscription shows nothing of what is open, and one
//! that waits for an answer sends nothing more. If it is at the same address and gives the same name as before, it is
//! probably the one that asked. A wrong answer does no harm: a token is unknown to every other producer, and the one
//! that asked takes the first valid answer only (6.3.5). So its questions can be answered with a doubt. A program that
//! was started again never asked, and neither did a server that has forgotten its subscription.

use super::{Aaep, DialectOutput, Handshake, OpenQuestionsChange};

/// Who is at the other end of a connection, as far as known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PeerNames {
    /// The name that the producer gave.
    pub(super) named: Option<String>,
    /// The name that the producer proved.
    pub(super) proven: Option<String>,
}

/// What is known of the producer over the connections so far.
#[derive(Debug, Default)]
pub(super) struct ReturnedProducer {
    /// Who was at the other end of the last connection.
    last: Option<PeerNames>,
    /// Whether that connection was lost.
    was_lost: bool,
}

impl Aaep {
    /// Notes that the connection was lost.
    pub(super) fn note_lost(&mut self) {
        self.returning.was_lost = true;
    }

    /// Handles a connection that is up without a subscription of an earlier one.
    pub(super) fn reached(&mut self, whom: PeerNames, out: &mut Vec<DialectOutput>) {
        let is_same = self
            .returning
            .last
            .as_ref()
            .is_none_or(|last| *last == whom);
        self.returning.last = Some(whom);
        let was_lost = std::mem::take(&mut self.returning.was_lost);
        // A program's lines come from a process, which is another one after each start.
        if was_lost && is_same && self.lines.is_none() && !self.is_capture {
            out.push(DialectOutput::Standing(OpenQuestionsChange::PerhapsBack));
        }
    }

    /// Notes that a server agreed to a new subscription beside its stream: it has none of an earlier one.
    pub(super) fn subscribed_anew(&mut self, whom: PeerNames) {
        self.returning = ReturnedProducer {
            last: Some(whom),
            was_lost: false,
        };
    }

    /// Handles a connection that is up and has no handshake to wait for.
    pub(super) fn reached_plain(&mut self, out: &mut Vec<DialectOutput>) {
        if matches!(self.handshake, Handshake::Idle | Handshake::Plain) {
            self.reached(PeerNames::default(), out);
        }
    }
}
