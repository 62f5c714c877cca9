//! Dates and times in the ISO form, in plain words.
//!
//! Responsibilities: "2026-05-24T14:22:11Z" as a day and a time, or as how long ago. Not here: which
//! time it is now (an argument).

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::words::{Words, fill};

/// Beyond so many days a time is said as a day and not as a distance.
const NEAR_DAYS: i64 = 7;

/// Says a date or a time, if the token is one.
pub(super) fn said(words: &Words, token: &str, now: Option<Timestamp>) -> Option<String> {
    let bytes = token.as_bytes();
    let shaped = bytes.len() >= 10
        && bytes.len() <= 40
        && bytes[..10].iter().enumerate().all(|(at, b)| match at {
            4 | 7 => *b == b'-',
            _ => b.is_ascii_digit(),
        });
    if !shaped {
        return None;
    }
    if bytes.len() == 10 {
        let date: Date = token.parse().ok()?;
        return Some(near_day(words, date, now).unwrap_or_else(|| day(words, date)));
    }
    if bytes[10] != b'T' && bytes[10] != b't' {
        return None;
    }
    if let Ok(moment) = token.parse::<Timestamp>() {
        if let Some(text) = now.and_then(|now| distance(words, moment, now)) {
            return Some(text);
        }
        // The local time of the producer is what the reader of the raw text would see.
        let wall: DateTime = local_part(token)?.parse().ok()?;
        let zulu = token.ends_with(['Z', 'z']);
        return Some(at(words, wall, zulu));
    }
    let wall: DateTime = token.parse().ok()?;
    Some(at(words, wall, false))
}

/// Gives the token without its offset.
fn local_part(token: &str) -> Option<&str> {
    let time = token.get(11..)?;
    let end = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    token.get(..11 + end)
}

fn day(words: &Words, date: Date) -> String {
    let index = usize::try_from(date.month() - 1).unwrap_or(0);
    let number = date.month().to_string();
    let month = words
        .months
        .get(index)
        .map_or(number.as_str(), String::as_str);
    fill(
        &words.date,
        &[
            ("day", &date.day().to_string()),
            ("month", month),
            ("year", &date.year().to_string()),
        ],
    )
}

fn near_day(words: &Words, date: Date, now: Option<Timestamp>) -> Option<String> {
    let today = now?.to_zoned(jiff::tz::TimeZone::UTC).date();
    if date == today {
        Some(words.today.clone())
    } else if Some(date) == today.yesterday().ok() {
        Some(words.yesterday.clone())
    } else if Some(date) == today.tomorrow().ok() {
        Some(words.tomorrow.clone())
    } else {
        None
    }
}

fn at(words: &Words, wall: DateTime, universal: bool) -> String {
    let time = format!("{}:{:02}", wall.hour(), wall.minute());
    let time = if universal {
        fill(&words.universal, &[("time", &time)])
    } else {
        time
    };
    fill(
        &words.moment,
        &[("date", &day(words, wall.date())), ("time", &time)],
    )
}

fn distance(words: &Words, moment: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = moment.as_second().saturating_sub(now.as_second());
    let away = seconds.unsigned_abs();
    let minutes = (away + 30) / 60;
    let hours = (away + 1800) / 3600;
    let days = (away + 43_200) / 86_400;
    let span = if minutes == 0 {
        return Some(words.just_now.clone());
    } else if minutes < 60 {
        words.minutes.of(minutes)
    } else if hours < 24 {
        words.hours.of(hours)
    } else if days <= NEAR_DAYS.unsigned_abs() {
        words.days.of(days)
    } else {
        return None;
    };
    let template = if seconds < 0 {
        &words.ago
    } else {
        &words.ahead
    };
    Some(fill(template, &[("span", &span)]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn times_are_said_plainly_or_by_distance() {
        let words = Words::default();
        let now = "2026-05-24T15:00:00Z".parse().ok();
        for (token, plain, near) in [
            (
                "2026-05-24T14:22:11Z",
                "24 May 2026, 14:22 UTC",
                "38 minutes ago",
            ),
            (
                "2026-05-24T14:22:11.123456Z",
                "24 May 2026, 14:22 UTC",
                "38 minutes ago",
            ),
            (
                "2026-05-24T16:22:11+02:00",
                "24 May 2026, 16:22",
                "38 minutes ago",
            ),
            ("2026-05-24T15:00:10Z", "24 May 2026, 15:00 UTC", "just now"),
            (
                "2026-05-24T18:00:00Z",
                "24 May 2026, 18:00 UTC",
                "in 3 hours",
            ),
            (
                "2026-05-23T15:00:00Z",
                "23 May 2026, 15:00 UTC",
                "1 day ago",
            ),
            (
                "2025-01-01T00:00:00Z",
                "1 January 2025, 0:00 UTC",
                "1 January 2025, 0:00 UTC",
            ),
            (
                "2026-05-24T14:22:11",
                "24 May 2026, 14:22",
                "24 May 2026, 14:22",
            ),
            ("2026-05-24", "24 May 2026", "today"),
            ("2026-05-23", "23 May 2026", "yesterday"),
            ("2026-05-25", "25 May 2026", "tomorrow"),
            ("2026-12-25", "25 December 2026", "25 December 2026"),
        ] {
            assert_eq!(said(&words, token, None).as_deref(), Some(plain), "{token}");
            assert_eq!(said(&words, token, now).as_deref(), Some(near), "{token}");
        }
        for token in [
            "2026-13-40",
            "2026-05-24X",
            "20260524",
            "2026-05",
            "1234-56-789012",
            "2026-05-24T99:00:00Z",
        ] {
            assert_eq!(said(&words, token, now), None, "{token}");
        }
    }
}
