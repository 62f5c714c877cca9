//! What helps against a fault of a link.

use crate::link::Fault;

/// Returns the phrase key of what helps.
pub(super) fn remedy(fault: &Fault) -> &'static str {
    match fault {
        Fault::Refused => "doctor.remedy.refused",
        Fault::UnknownHost => "doctor.remedy.host",
        Fault::TimedOut => "doctor.remedy.timed_out",
        Fault::Closed => "doctor.remedy.closed",
        Fault::Status {
            status: 401 | 403, ..
        } => "doctor.remedy.token",
        Fault::Status { status: 404, .. } => "doctor.remedy.path",
        Fault::Status { status: 204, .. } => "doctor.remedy.session",
        Fault::Status { status: 429, .. } => "doctor.remedy.wait",
        Fault::Status { status: 500.., .. } => "doctor.remedy.server",
        Fault::Status { .. } => "doctor.remedy.address",
        Fault::NotEventStream { .. } => "doctor.remedy.stream",
        Fault::NotWebSocket(_) => "doctor.remedy.websocket",
        Fault::Tls(_) => "doctor.remedy.certificate",
        Fault::TooLarge { .. } | Fault::TooManyValues { .. } => "doctor.remedy.large",
        Fault::Unusable(_) => "doctor.remedy.name",
        Fault::ClosedWith { .. } => "doctor.remedy.code",
        Fault::Exited { .. } | Fault::Killed { .. } => "doctor.remedy.program",
        Fault::Rejected { .. } | Fault::Declined(_) => "doctor.remedy.terms",
        Fault::OneWay | Fault::Other(_) => "doctor.remedy.source",
    }
}
