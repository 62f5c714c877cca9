//! The outcome of an HTTP request that delivers an answer or a prompt.

use crate::link::{DeliveryFailure, Fault, HttpAnswer, Receipt};

/// Returns the outcome of a request that delivers something.
pub fn delivered(outcome: &Result<HttpAnswer, Fault>) -> Result<Receipt, DeliveryFailure> {
    match outcome {
        Ok(answer) if (200..300).contains(&answer.status) => Ok(Receipt::Taken),
        Ok(answer) => {
            let fault = Fault::Status {
                status: answer.status,
                retry_after: answer.retry_after,
            };
            Err(DeliveryFailure::by_status(answer.status, fault))
        }
        // The server was unreachable, so nothing was sent.
        Err(
            fault @ (Fault::Refused
            | Fault::UnknownHost
            | Fault::Tls(_)
            | Fault::Unusable(_)
            | Fault::OneWay),
        ) => Err(DeliveryFailure::Kept(fault.clone())),
        Err(fault) => Err(DeliveryFailure::Unknown(fault.clone())),
    }
}
