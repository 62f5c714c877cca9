//! The local time zone.

use std::ffi::OsStr;

use jiff::tz::TimeZone;

/// Where the system keeps its time-zone setting.
const SET: &str = "/etc/localtime";

/// Returns the zone for displaying times: that of `TZ`, or of the system; UTC if neither is set.
pub fn here() -> TimeZone {
    let told = std::env::var_os("TZ");
    set(told.as_deref(), || std::fs::read(SET).ok()).unwrap_or_else(TimeZone::system)
}

/// Returns the zone that the system is set to, unless `TZ` names another. It comes without its name, which is never
/// displayed: to find the name, the library would walk through all six hundred zones and keep their names, two fifths
/// of the startup time.
fn set(told: Option<&OsStr>, file: impl FnOnce() -> Option<Vec<u8>>) -> Option<TimeZone> {
    if told.is_some() {
        return None;
    }
    TimeZone::tzif("", &file()?).ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use jiff::tz::TimeZone;
    use jiff::{Timestamp, ToSpan as _};

    use super::{here, set};

    #[test]
    fn it_has_the_hours_of_the_zone_that_the_library_finds() {
        let first: Timestamp = "2026-01-01T00:30:00Z".parse().unwrap();
        for days in 0..366 {
            let time = first + (days * 24).hours();
            let found = TimeZone::system().to_offset(time);
            assert_eq!(here().to_offset(time), found, "{time}");
        }
    }

    /// A zone file (RFC 9636) for one hour before UTC, with summer time.
    fn file() -> Vec<u8> {
        let mut part = b"TZif2".to_vec();
        part.extend([0; 15]);
        for count in [0u32, 0, 0, 0, 1, 4] {
            part.extend(count.to_be_bytes());
        }
        part.extend(3600i32.to_be_bytes());
        part.extend(*b"\0\0CET\0");
        [&part, &part, &b"\nCET-1CEST,M3.5.0,M10.5.0/3\n"[..]].concat()
    }

    #[test]
    fn the_systems_file_tells_where_the_variable_does_not() {
        let zone = set(None, || Some(file())).unwrap();
        let at = |time: &str| {
            let time: Timestamp = time.parse().unwrap();
            time.to_zoned(zone.clone()).strftime("%H:%M").to_string()
        };
        assert_eq!(at("2026-11-26T12:00:00Z"), "13:00");
        assert_eq!(at("2026-07-01T12:00:00Z"), "14:00");
        assert!(set(None, || None).is_none(), "there may be no file");
        assert!(set(None, || Some(b"TZif2 and no more".to_vec())).is_none());
        for told in ["", "UTC", "America/New_York"] {
            let no_file = || unreachable!("the variable tells");
            assert!(set(Some(OsStr::new(told)), no_file).is_none());
        }
    }
}
