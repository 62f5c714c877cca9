//! Writing a whole message, and knowing afterwards whether any of it has been sent.
//!
//! Responsibilities: that one distinction, which decides what the person hears. Not here: what it means for a reply
//! (`link::DeliveryFailure`).

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::link::{DeliveryFailure, Fault};

/// Writes a message completely; on failure, the error distinguishes whether any of it has been sent.
pub(super) async fn write_whole<W: AsyncWrite + Unpin>(
    to: &mut W,
    bytes: &[u8],
) -> Result<(), DeliveryFailure> {
    let mut gone = 0;
    while let Some(rest) = bytes.get(gone..).filter(|rest| !rest.is_empty()) {
        match to.write(rest).await {
            Ok(0) | Err(_) if gone == 0 => return Err(DeliveryFailure::Kept(Fault::Closed)),
            Ok(0) | Err(_) => return Err(DeliveryFailure::Unknown(Fault::Closed)),
            Ok(more) => gone += more,
        }
    }
    // Buffered bytes may have been sent in part.
    to.flush()
        .await
        .map_err(|_| DeliveryFailure::Unknown(Fault::Closed))
}

#[cfg(test)]
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
        // The second piece may have been buffered before the end was noticed.
        assert!(
            matches!(
                outcome,
                Ok(()) | Err(DeliveryFailure::Unknown(Fault::Closed))
            ),
            "{outcome:?}"
        );

        let (mut here, there) = tokio::io::duplex(4);
        drop(there);
        let outcome = write_whole(&mut here, b"123456").await;
        assert_eq!(outcome, Err(DeliveryFailure::Kept(Fault::Closed)));
    }
}
