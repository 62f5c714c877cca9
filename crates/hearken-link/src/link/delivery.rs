//! What became of one attempt to send a reply, as far as that can be known on this side.
//!
//! Responsibilities: telling apart what was taken, what was written, what never left, what was refused
//! and what nobody knows. Not here: whether it is tried again, and what the person is told (`app`).
//!
//! Mental model: once a byte of a reply may have left, only the other side's own word tells what became
//! of it. A connection that was never made, or took no byte, is the one sure sign that nothing arrived.

use super::Fault;

/// How surely a reply is where it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// The other side said that it took it.
    Taken,
    /// It was written to its last byte, over a connection on which nobody acknowledges anything.
    Written,
    /// It is done with on this side: it only leads to the next step, so there is nothing to send.
    Here,
}

/// Why a reply has no receipt, and what that means for where it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// Not a byte of it has left.
    #[error("{0}")]
    Kept(Fault),
    /// The other side answered that it does not take this attempt; it says nothing of earlier ones.
    #[error("{0}")]
    Refused(Fault),
    /// A byte of it may have left, and nobody said what became of it.
    #[error("{0}")]
    Unknown(Fault),
}

impl Undelivered {
    /// Returns what went wrong.
    pub fn fault(&self) -> &Fault {
        match self {
            Self::Kept(fault) | Self::Refused(fault) | Self::Unknown(fault) => fault,
        }
    }

    /// Reads a whole answer of a server that is no success.
    ///
    /// What a server refuses (3xx, 4xx), can't do (501, 505) or has no time for (503), it did not take.
    /// Of every other error it may have fallen over after taking it, and a gateway in between (502, 504)
    /// knows no better.
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
        let read = |status| Undelivered::by_status(status, Fault::Closed);
        for refused in [302, 400, 401, 404, 409, 410, 413, 429, 501, 503] {
            assert!(
                matches!(read(refused), Undelivered::Refused(_)),
                "{refused}"
            );
        }
        for unknown in [500, 502, 504, 507, 599, 600] {
            assert!(
                matches!(read(unknown), Undelivered::Unknown(_)),
                "{unknown}"
            );
        }
    }
}
