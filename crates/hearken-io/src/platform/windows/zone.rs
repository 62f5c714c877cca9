//! The local time zone.

use jiff::tz::TimeZone;

/// Returns the zone for displaying times: that of `TZ`, or of the system; UTC if neither is set.
pub fn here() -> TimeZone {
    TimeZone::system()
}
