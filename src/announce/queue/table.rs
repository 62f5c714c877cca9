//! The lanes of the queue, how long what waits in them lives, and what an arrival does.

use std::time::Duration;

use super::super::announcement::{Announcement, Kind};
use super::super::utterance::Class;

/// After this long the answer to a key is of no use any more.
const RESPONSE_LIFE: Duration = Duration::from_secs(10);
/// After this long a result is old news; it is counted.
const OUTCOME_LIFE: Duration = Duration::from_secs(30);
/// After this long a tool's start or a state is old news.
const ACTIVITY_LIFE: Duration = Duration::from_secs(5);
/// After this long progress is old news.
const PROGRESS_LIFE: Duration = Duration::from_secs(2);

/// Names a lane of the queue, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Lane {
    Alert,
    Response,
    Outcome,
    Activity,
    Text,
    Progress,
}

pub(super) const LANES: usize = 6;

impl Lane {
    pub(super) fn of(announcement: &Announcement) -> Self {
        match announcement.class {
            Class::Alert => Self::Alert,
            Class::Response => Self::Response,
            Class::Outcome => Self::Outcome,
            Class::Activity => Self::Activity,
            // A heartbeat gives way to everything, as progress does.
            Class::Stream if matches!(announcement.kind, Kind::Progress | Kind::Heartbeat) => {
                Self::Progress
            }
            Class::Stream => Self::Text,
        }
    }

    pub(super) fn life(self) -> Option<Duration> {
        match self {
            Self::Alert | Self::Text => None,
            Self::Response => Some(RESPONSE_LIFE),
            Self::Outcome => Some(OUTCOME_LIFE),
            Self::Activity => Some(ACTIVITY_LIFE),
            Self::Progress => Some(PROGRESS_LIFE),
        }
    }
}

/// Says what becomes of what plays when something arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The arrival waits.
    Waits,
    /// The arrival waits, but not longer than [`PATIENCE`].
    WaitsABit,
    /// What plays is cut and forgotten.
    Drops,
    /// What plays is cut and said again later, from its beginning.
    SaysAgain,
    /// What plays is cut and resumed at the start of its sentence.
    Resumes,
}

pub(super) fn arrival(playing: Lane, arriving: Lane) -> Arrival {
    use Lane::{Activity, Alert, Outcome, Progress, Response, Text};
    match (playing, arriving) {
        (Alert, Response) => Arrival::SaysAgain,
        (Alert, Alert | Outcome | Activity | Text | Progress) => Arrival::Waits,
        (Response, Alert) => Arrival::WaitsABit,
        (Response, Response) => Arrival::Drops,
        (Response, Outcome | Activity | Text | Progress) => Arrival::Waits,
        (Outcome, Alert | Response) => Arrival::SaysAgain,
        (Outcome, Outcome | Activity | Text | Progress) => Arrival::Waits,
        (Activity, Alert | Response | Outcome) => Arrival::Drops,
        (Activity, Activity | Text | Progress) => Arrival::Waits,
        (Text, Alert | Response) => Arrival::Resumes,
        (Text, Outcome | Activity | Text | Progress) => Arrival::Waits,
        (Progress, Alert | Response | Outcome | Activity | Text) => Arrival::Drops,
        (Progress, Progress) => Arrival::Waits,
    }
}
