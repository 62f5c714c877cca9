//! The outcome of one attempt to send a reply, as known to this side.
//!
//! Responsibilities: distinguishing replies that were accepted, written, never sent, or refused from those with
//! an unknown fate. Not here: whether it is retried, and what the person hears (`app`).
//!
//! Mental model: once a byte of a reply may have left, only the other side can report what became of it. The one sure
//! sign that nothing arrived is a connection that was never made or accepted no byte.

use super::Fault;

/// How certain it is that a reply arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// The other side confirmed that it accepted the reply.
    Taken,
    /// It was written to its last byte, over a connection without acknowledgements.
    Written,
    /// It is complete on this side: it only leads to the next step, so there is nothing to send.
    Here,
}

/// Why a reply has no receipt, and what that means for the reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryFailure {
    /// No byte of it has left.
    #[error("{0}")]
    Kept(Fault),
    /// The other side refused this attempt; that says nothing about earlier ones.
    #[error("{0}")]
    Refused(Fault),
    /// A byte of it may have left, and the outcome was not reported.
    #[error("{0}")]
    Unknown(Fault),
}

impl DeliveryFailure {
    /// Returns what went wrong.
    pub fn fault(&self) -> &Fault {
        match self {
            Self::Kept(fault) | Self::Refused(fault) | Self::Unknown(fault) => fault,
        }
    }

    /// Interprets a complete error response of a server.
    ///
    /// A reply that a server refuses (3xx, 4xx), can't handle (501, 505) or has no time for (503) was not accepted.
    /// With any other error the server may have failed after accepting it, and a gateway in between (502, 504) knows no
    /// better.
    pub fn by_status(status: u16, fault: Fault) -> Self {
        match status {
            300..=499 | 501 | 503 | 505 => Self::Refused(fault),
            _ => Self::Unknown(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_word_about_one_attempt_and_an_error_of_the_server_is_none() {
        let read = |status| DeliveryFailure::by_status(status, Fault::Closed);
        for refused in [302, 400, 401, 404, 409, 410, 413, 429, 501, 503] {
            assert!(
                matches!(read(refused), DeliveryFailure::Refused(_)),
                "{refused}"
            );
        }
        for unknown in [500, 502, 504, 507, 599, 600] {
            assert!(
                matches!(read(unknown), DeliveryFailure::Unknown(_)),
                "{unknown}"
            );
        }
    }
}
