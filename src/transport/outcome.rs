//! What became of one attempt to send a reply, as far as that can be known on this side.
//!
//! Responsibilities: telling apart what was taken, what was written, what never left, what was refused
//! and what nobody knows. Not here: whether it is tried again, and what the person is told (`app`).
//!
//! Mental model: once a byte of a reply may have left, only the other side's own word tells what became
//! of it. A connection that was never made, or took no byte, is the one sure sign that nothing arrived.

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::Fault;

/// Says how surely a reply is where it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// The other side said that it took it.
    Taken,
    /// It was written to its last byte, over a connection on which nobody acknowledges anything.
    Written,
}

/// Says why a reply has no receipt, and what that means for where it is.
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
    /// Gives what went wrong.
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
    pub(super) fn by_status(status: u16, fault: Fault) -> Self {
        match status {
            300..=499 | 501 | 503 | 505 => Self::Refused(fault),
            _ => Self::Unknown(fault),
        }
    }
}

/// Writes a message to its last byte, and says, where that fails, whether any of it has left.
pub(super) async fn write_whole<W: AsyncWrite + Unpin>(
    to: &mut W,
    bytes: &[u8],
) -> Result<(), Undelivered> {
    let mut gone = 0;
    while let Some(rest) = bytes.get(gone..).filter(|rest| !rest.is_empty()) {
        match to.write(rest).await {
            Ok(0) | Err(_) if gone == 0 => return Err(Undelivered::Kept(Fault::Closed)),
            Ok(0) | Err(_) => return Err(Undelivered::Unknown(Fault::Closed)),
            Ok(more) => gone += more,
        }
    }
    // What was buffered on the way may have left in part.
    to.flush()
        .await
        .map_err(|_| Undelivered::Unknown(Fault::Closed))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn half_a_message_perhaps_arrived_and_none_of_it_did_not() {
        let (mut here, there) = tokio::io::duplex(4);
        let writing = tokio::spawn(async move { write_whole(&mut here, b"123456").await });
        let mut there = there;
        let mut four = [0; 4];
        tokio::io::AsyncReadExt::read_exact(&mut there, &mut four)
            .await
            .unwrap();
        drop(there);
        let outcome = writing.await.unwrap();
        // The second piece may have been taken into the buffer before the end was seen.
        assert!(
            matches!(outcome, Ok(()) | Err(Undelivered::Unknown(Fault::Closed))),
            "{outcome:?}"
        );

        let (mut here, there) = tokio::io::duplex(4);
        drop(there);
        let outcome = write_whole(&mut here, b"123456").await;
        assert_eq!(outcome, Err(Undelivered::Kept(Fault::Closed)));
    }

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
