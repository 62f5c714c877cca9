//! The time zone of this machine.

use jiff::tz::TimeZone;

/// Returns the zone in which times are told here: the one of `TZ`, or of the system; UTC where neither tells.
pub fn here() -> TimeZone {
    TimeZone::system()
}
