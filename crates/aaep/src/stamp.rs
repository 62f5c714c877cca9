//! The form of a timestamp (3.2.5).

use jiff::Timestamp;

/// How well a text conforms to 3.2.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StampVerdict {
    /// It conforms.
    Good,
    /// It is not a time in that form.
    NoTime,
    /// Its fraction does not have 0, 3 or 6 digits.
    Fraction,
    /// It is a time that no producer can mean.
    Placeholder,
}

/// Reads a time leniently, in more forms than 3.2.5 allows.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// A reader of times that conform to 3.2.5. It remembers the minute of the last one, which the next one nearly always
/// shares.
#[derive(Debug, Clone, Default)]
pub(super) struct Minute {
    /// The minute as written, up to its last colon, and its start in milliseconds since 1970.
    known: Option<([u8; MINUTE], i64)>,
}

/// The number of bytes of `YYYY-MM-DDTHH:MM:`.
const MINUTE: usize = 17;

impl Minute {
    /// Reads a time if it conforms to 3.2.5.
    pub(super) fn read(&mut self, text: &str) -> Option<Timestamp> {
        let parts = text.as_bytes().split_first_chunk::<MINUTE>();
        // Only the usual form: UTC, with milliseconds.
        let parts = parts.and_then(|(minute, rest)| Some((minute, within(rest)?)));
        if let (Some((minute, within)), Some((known, begin))) = (parts, &self.known)
            && minute == known
        {
            return Timestamp::from_millisecond(begin + within).ok();
        }
        let time = examine(text).ok()?;
        let begins = parts.map(|(minute, within)| (*minute, time.as_millisecond() - within));
        // The very first minute contains a moment that no producer can mean.
        self.known = begins.filter(|(_, begin)| *begin != 0);
        Some(time)
    }
}

/// Returns the milliseconds since the start of the minute, from the rest of a time in the usual form, `SS.sssZ`.
fn within(rest: &[u8]) -> Option<i64> {
    let [ten @ b'0'..=b'5', one, b'.', a, b, c, b'Z'] = rest else {
        return None;
    };
    [ten, one, a, b, c].iter().try_fold(0, |sum, digit| {
        let is_one = digit.is_ascii_digit();
        is_one.then(|| sum * 10 + i64::from(**digit - b'0'))
    })
}

/// Judges whether a text conforms to 3.2.5.
pub(super) fn judge(text: &str) -> StampVerdict {
    match examine(text) {
        Ok(_) => StampVerdict::Good,
        Err(verdict) => verdict,
    }
}

/// Returns the time of a text that conforms to 3.2.5, or else the verdict on the text.
fn examine(text: &str) -> Result<Timestamp, StampVerdict> {
    let digits = fraction(text).ok_or(StampVerdict::NoTime)?;
    let time = (plain(text, digits).or_else(|| read(text))).ok_or(StampVerdict::NoTime)?;
    if !matches!(digits, 0 | 3 | 6) {
        return Err(StampVerdict::Fraction);
    }
    // No producer means the Unix epoch, the first years or the last one.
    let year = &text[..4];
    if time == Timestamp::UNIX_EPOCH || year == "0001" || year == "0000" || year == "9999" {
        return Err(StampVerdict::Placeholder);
    }
    Ok(time)
}

/// Returns the number of fraction digits of a text in the form `YYYY-MM-DDTHH:MM:SS.sssZ` or with an offset
/// `±HH:MM`; `None` for any other form.
fn fraction(text: &str) -> Option<usize> {
    let (date, rest) = text.split_at_checked(19)?;
    let fits = date.bytes().zip(*b"0000-00-00T00:00:00").all(|(b, form)| {
        if form == b'0' {
            b.is_ascii_digit()
        } else {
            b == form
        }
    });
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("", rest),
    };
    let zone_fits = zone == "Z"
        || (zone.len() == 6
            && zone.bytes().zip(*b"+00:00").all(|(b, form)| match form {
                b'0' => b.is_ascii_digit(),
                b'+' => b == b'+' || b == b'-',
                _ => b == form,
            }));
    let empty_fraction = rest.starts_with('.') && fraction.is_empty();
    (fits && zone_fits && !empty_fraction).then_some(fraction.len())
}

/// Reads the usual form, in UTC, whose punctuation has been checked. It needs no table or grammar, because
/// every event has a timestamp.
fn plain(text: &str, digits: usize) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| {
        let digits = bytes.get(from..to)?;
        Some((digits.iter()).fold(0_i64, |sum, b| sum * 10 + i64::from(b - b'0')))
    };
    if !text.ends_with('Z') || !matches!(digits, 0 | 3 | 6) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leaps = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leaps => 29,
        2 => 28,
        _ => return None,
    };
    let is_day = (1..=longest).contains(&day);
    if !is_day || hour > 23 || minute > 59 || second > 59 || year < 1 {
        return None;
    }
    // Here, the year begins in March, so that a leap day is its last day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let second = (days - DAYS_TO_1970) * 86_400 + hour * 3600 + minute * 60 + second;
    let micros = match digits {
        0 => 0,
        3 => number(20, 23)? * 1000,
        _ => number(20, 26)?,
    };
    Timestamp::from_microsecond(second * 1_000_000 + micros).ok()
}

/// The number of days from the first of March of the year 0 to the first of January 1970.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_forms_of_the_chapter_are_good() {
        for text in [
            "2026-05-24T14:22:11Z",
            "2026-05-24T14:22:11.342Z",
            "2026-05-24T14:22:11.342567Z",
            "2026-05-24T15:22:11.342+01:00",
            "2026-05-24T15:22:11-05:30",
        ] {
            assert_eq!(judge(text), StampVerdict::Good, "{text}");
        }
        for text in [
            "",
            "now",
            "May 24, 2026 14:22:11",
            "2026-05-24",
            "2026-05-24T14:22:11",
            "2026-05-24 14:22:11Z",
            "2026-05-24t14:22:11z",
            "2026-05-24T14:22:11+0100",
            "2026-05-24T14:22:11+01",
            "2026-05-24T14:22:11,342Z",
            "2026-05-24T14:22:11.Z",
            "2026-13-24T14:22:11Z",
            "2026-05-24T14:22:11Z[UTC]",
            "2026-05-24T14:22:1é",
            "1779632531",
        ] {
            assert_eq!(judge(text), StampVerdict::NoTime, "{text}");
        }
        for text in [
            "2026-05-24T14:22:11.3Z",
            "2026-05-24T14:22:11.34Z",
            "2026-05-24T14:22:11.123456789Z",
        ] {
            assert_eq!(judge(text), StampVerdict::Fraction, "{text}");
        }
        for text in ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"] {
            assert_eq!(judge(text), StampVerdict::Placeholder, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_minute_was_before_changes_no_time(
            texts in proptest::collection::vec(
                "(1970-01-01T00:00|1969-12-31T23:59|2026-05-24T14:2[12]|2026-02-30T14:2[12]|9999-05-24T14:21):[0-6][0-9](\\.[0-9]{3})?(Z|\\+01:00|z)",
                1..40,
            ),
        ) {
            let mut minute = Minute::default();
            for text in texts {
                assert_eq!(minute.read(&text), examine(&text).ok(), "{text}");
            }
        }
    }

    #[test]
    fn the_usual_form_is_the_same_time_to_both() {
        let mut told = 0;
        for year in [
            1, 4, 100, 1899, 1900, 1969, 1970, 2000, 2023, 2024, 2026, 2100, 9998,
        ] {
            for month in 0..=13 {
                for day in 0..=32 {
                    for (time, digits) in [
                        ("00:00:00Z", 0),
                        ("23:59:59.999Z", 3),
                        ("12:34:56.000001Z", 6),
                        ("24:00:00Z", 0),
                        ("23:60:00Z", 0),
                        ("23:59:60Z", 0),
                        ("12:00:00+01:00", 0),
                    ] {
                        let text = format!("{year:04}-{month:02}-{day:02}T{time}");
                        assert_eq!(fraction(&text), Some(digits), "{text}");
                        if let Some(time) = plain(&text, digits) {
                            assert_eq!(Some(time), read(&text), "{text}");
                            told += 1;
                        } else {
                            let odd = ["24:", ":60", "+01:00"].iter().any(|it| time.contains(it));
                            assert!(odd || read(&text).is_none(), "{text}");
                        }
                    }
                }
            }
        }
        assert!(told > 10_000);
    }
}
