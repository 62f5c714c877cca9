//! The lanes of the queue, how long their entries live, and what an arrival does to the playing utterance.

use std::time::Duration;

use crate::announce::announcement::{Announcement, AnnouncementKind, Class};

/// After this long, the response to a key is no longer of use.
const RESPONSE_LIFE: Duration = Duration::from_secs(10);
/// After this long, a result is old news and is only counted.
const OUTCOME_LIFE: Duration = Duration::from_secs(30);
/// How long a sentence that reports a producer-defined state may wait among the outcomes: long enough for a
/// brisk exchange, and short enough that a flood does not hold up everything else.
pub(super) const NEWS_LIFE: Duration = Duration::from_secs(120);
/// After this long, a tool's start or a state is old news.
const ACTIVITY_LIFE: Duration = Duration::from_secs(5);
/// After this long, progress is old news.
const PROGRESS_LIFE: Duration = Duration::from_secs(2);

/// A lane of the queue; most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// P0.
    Alert,
    /// P1.
    Response,
    /// P2.
    Outcome,
    /// P3.
    Activity,
    /// P4: streamed text.
    Text,
    /// P4: progress, and the heartbeat.
    Progress,
}

pub(super) const LANES: usize = 6;

impl Lane {
    /// All lanes, most urgent first.
    pub const ALL: [Lane; LANES] = [
        Lane::Alert,
        Lane::Response,
        Lane::Outcome,
        Lane::Activity,
        Lane::Text,
        Lane::Progress,
    ];

    pub(super) fn of(announcement: &Announcement) -> Self {
        match announcement.class {
            Class::Alert => Self::Alert,
            Class::Response => Self::Response,
            Class::Outcome => Self::Outcome,
            Class::Activity => Self::Activity,
            // A heartbeat yields to everything, as progress does.
            Class::Stream
                if matches!(
                    announcement.kind,
                    AnnouncementKind::Progress | AnnouncementKind::Heartbeat
                ) =>
            {
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

/// What happens to the playing utterance when something arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preemption {
    /// The arrival waits.
    Waits,
    /// The arrival waits, but at most two seconds.
    WaitsABit,
    /// The utterance is cut and forgotten.
    Drops,
    /// The utterance is cut and repeated later, from its beginning.
    SaysAgain,
    /// The utterance is cut and resumed at the start of its sentence.
    Resumes,
}

/// Returns what happens to the playing utterance when something arrives: the table of `docs/speech.md`.
pub fn arrival(playing: Lane, arriving: Lane) -> Preemption {
    use Lane::{Activity, Alert, Outcome, Progress, Response, Text};
    match (playing, arriving) {
        (Alert, Response) => Preemption::SaysAgain,
        (Alert, Alert | Outcome | Activity | Text | Progress) => Preemption::Waits,
        (Response, Alert) => Preemption::WaitsABit,
        (Response, Response) => Preemption::Drops,
        (Response, Outcome | Activity | Text | Progress) => Preemption::Waits,
        (Outcome, Alert | Response) => Preemption::SaysAgain,
        (Outcome, Outcome | Activity | Text | Progress) => Preemption::Waits,
        (Activity, Alert | Response | Outcome) => Preemption::Drops,
        (Activity, Activity | Text | Progress) => Preemption::Waits,
        (Text, Alert | Response) => Preemption::Resumes,
        (Text, Outcome | Activity | Text | Progress) => Preemption::Waits,
        (Progress, Alert | Response | Outcome | Activity | Text) => Preemption::Drops,
        (Progress, Progress) => Preemption::Waits,
    }
}
