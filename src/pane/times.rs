//! Displayed times, in steps, so that a screen stays still while it is read.
//!
//! Responsibilities: rounding, and computing when a displayed time next changes. Not here: the words of a
//! time (`announce`), redrawing (`runtime`).
//!
//! # Worked example
//! With 95 seconds left the pane says "1 minute and 40 seconds", and is redrawn 5 seconds later, when it
//! says "1 minute and 30 seconds". Remaining time is rounded up and elapsed time down, to a step that
//! shrinks with the time.

use std::time::Duration;

use crate::app::App;
use crate::protocol::Now;

use super::highlight;

/// Returns the step of a displayed time: 5 seconds up to 20, 10 seconds up to 2 minutes, then minutes.
fn step(time: Duration) -> Duration {
    Duration::from_secs(match time.as_secs() {
        0..20 => 5,
        20..120 => 10,
        _ => 60,
    })
}

/// Rounds an elapsed time down to its step.
pub(super) fn passed(time: Duration) -> Duration {
    let step = step(time).as_millis();
    Duration::from_millis(u64::try_from(time.as_millis() / step * step).unwrap_or(u64::MAX))
}

/// Rounds a remaining time up to its step.
pub(super) fn left(time: Duration) -> Duration {
    let step = step(time).as_millis();
    Duration::from_millis(u64::try_from(time.as_millis().div_ceil(step) * step).unwrap_or(u64::MAX))
}

/// How soon the next frame goes on with the colours of code.
const NEXT_COLOURS: Duration = Duration::from_millis(40);

/// Returns the monotonic time at which the last frame becomes out of date: when a displayed time changes, or at once if
/// it left code without its colours.
pub fn stale_at(app: &App, now: Now) -> Option<Duration> {
    let colours = highlight::is_unfinished().then_some(now.monotonic + NEXT_COLOURS);
    colours.into_iter().chain(time_changes_at(app, now)).min()
}

/// Returns when a displayed time changes: that of the shown question, else those of the running tools and sessions.
/// While a question is shown, no other time changes.
fn time_changes_at(app: &App, now: Now) -> Option<Duration> {
    let now = now.monotonic;
    if let Some((_, question)) = app.shown() {
        let rest = app
            .time_left(question, now)
            .filter(|rest| !rest.is_zero())?;
        // A time exactly at the edge of its step continues in the smaller step.
        let within = step(rest.saturating_sub(Duration::from_millis(1)));
        let change = rest.saturating_sub(left(rest).saturating_sub(within));
        return Some(now + change.max(Duration::from_millis(1)));
    }
    let running = || app.sessions().iter().filter(|session| !session.is_ended());
    let next = |since: Duration| {
        let shown = passed(now.saturating_sub(since));
        since + shown + step(shown)
    };
    let tools = running().flat_map(|session| &session.tools);
    let tools = tools.map(|call| next(call.since));
    let tools = tools.chain(running().map(|session| next(session.since)));
    tools.min().map(|at| at.max(now + Duration::from_millis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_in_steps() {
        let seconds = Duration::from_secs;
        for (time, down, up) in [
            (0, 0, 0),
            (4, 0, 5),
            (5, 5, 5),
            (19, 15, 20),
            (20, 20, 20),
            (95, 90, 100),
            (119, 110, 120),
            (121, 120, 180),
            (600, 600, 600),
        ] {
            assert_eq!(passed(seconds(time)), seconds(down), "{time}");
            assert_eq!(left(seconds(time)), seconds(up), "{time}");
        }
        assert_eq!(left(Duration::from_millis(14_001)), seconds(15));
    }
}
