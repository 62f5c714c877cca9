//! Announcing what hearken forgot because of the limits in `session`, each time the number has grown tenfold.

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::session::DroppedCounts;

use super::Run;
use crate::app::AppCx;

/// The counts of forgotten things that are due to be announced.
struct ForgottenCounts {
    sessions: Option<u64>,
    unasked: Option<u64>,
    tools: Option<u64>,
}

impl Run {
    /// Returns those of the current counts that have grown tenfold since they were last announced, and records them as
    /// announced.
    fn forget(&mut self, dropped: DroppedCounts) -> ForgottenCounts {
        let due = |count: u64, told: &mut u64| {
            let due = count > 0 && count >= told.saturating_mul(10).max(1);
            due.then(|| {
                *told = count;
                count
            })
        };
        let told = &mut self.forgotten;
        ForgottenCounts {
            sessions: due(dropped.running_sessions, &mut told.running_sessions),
            unasked: due(dropped.unasked, &mut told.unasked),
            tools: due(dropped.tools, &mut told.tools),
        }
    }
}

impl Run {
    /// Announces running sessions, questions and tools that were forgotten: the person no longer sees or hears
    /// them. Ended sessions, outputs and closed questions are dropped silently; the status counts them.
    pub(in crate::app) fn tell_forgotten(&mut self, cx: &mut AppCx) {
        let ForgottenCounts {
            sessions,
            unasked,
            tools,
        } = self.forget(cx.sessions.dropped());
        if let Some(count) = sessions {
            let args = [("count", Arg::own(count))];
            cx.say(
                Class::Outcome,
                AnnouncementKind::Hint,
                "forgotten.sessions",
                &args,
            );
        }
        if let Some(count) = unasked {
            let args = [("count", Arg::own(count))];
            cx.say(
                Class::Alert,
                AnnouncementKind::Hint,
                "forgotten.questions",
                &args,
            );
        }
        if let Some(count) = tools {
            let args = [("count", Arg::own(count))];
            cx.say(
                Class::Outcome,
                AnnouncementKind::Hint,
                "forgotten.tools",
                &args,
            );
        }
    }
}
