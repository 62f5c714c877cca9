//! ISO 8601 days and moments in words.
//!
//! Responsibilities: expressing a moment with a zone by its distance from now, everything else by its
//! date. Not here: finding them in a text (`token`).

use jiff::Timestamp;

use super::words::{SignWords, Words, fill};

/// Up to this many days, a moment is expressed by its distance; beyond that, a date says more.
const NEAR_DAYS: i64 = 14;

/// Up to this many hours, a distance is given in hours: "26 hours ago" is clearer than "1 day ago".
const NEAR_HOURS: i64 = 48;

/// Returns an ISO 8601 day or moment in words; `None` if the text is neither. A moment is expressed by its
/// distance from `now`, which is called only if the text has a time of day.
pub(super) fn time(
    text: &str,
    words: &Words,
    now: impl FnOnce() -> Option<Timestamp>,
) -> Option<String> {
    let (day, rest) = (text.get(..10)?, &text[10..]);
    let pattern = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(b, p)| match p {
                b'd' => b.is_ascii_digit(),
                p => b == p,
            })
    };
    if !pattern(day, "dddd-dd-dd") {
        return None;
    }
    let number = |at: usize| day[at..at + 2].parse::<usize>().ok();
    let month = words.months.get(number(5)?.checked_sub(1)?)?;
    let date = number(8).filter(|day| (1..=31).contains(day))?.to_string();
    let date = fill(
        &words.date,
        &[("day", &date), ("month", month), ("year", &day[..4])],
    );
    if rest.is_empty() {
        return Some(date);
    }
    if let Some(now) = now()
        && let Some(told) = relative(text, words, now)
    {
        return Some(told);
    }
    let clock = rest.strip_prefix('T')?;
    let hours = clock.get(..5).filter(|hours| pattern(hours, "dd:dd"))?;
    let mut zone = &clock[5..];
    if let Some(seconds) = zone.get(..3).filter(|seconds| pattern(seconds, ":dd")) {
        zone = &zone[seconds.len()..];
        if let Some(fraction) = zone.strip_prefix(['.', ',']) {
            zone = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    let time = match zone {
        "" => hours.to_owned(),
        "Z" | "+00:00" => format!("{hours} {}", words.utc),
        _ if zone
            .strip_prefix(['+', '-'])
            .is_some_and(|offset| pattern(offset, "dd:dd")) =>
        {
            format!("{hours} {} {zone}", words.utc)
        }
        _ => return None,
    };
    Some(fill(&words.moment, &[("date", &date), ("time", &time)]))
}

/// Returns a moment by its distance; `None` if it has no zone, is far off, or is not a moment at all.
fn relative(text: &str, words: &Words, now: Timestamp) -> Option<String> {
    let moment: Timestamp = text.parse().ok()?;
    let seconds = moment.as_second().saturating_sub(now.as_second());
    let away = seconds.saturating_abs();
    let rounded = |unit: i64| away.saturating_add(unit / 2) / unit;
    let told = |sign: &SignWords, n: i64| match n {
        1 => sign.one.clone().into_owned(),
        n => fill(&sign.many, &[("n", &n.to_string())]),
    };
    let time = if away < 60 {
        let words = if seconds > 0 {
            &words.soon
        } else {
            &words.just_now
        };
        return Some(words.clone().into_owned());
    } else if rounded(60) < 60 {
        told(&words.minutes, rounded(60))
    } else if rounded(3600) < NEAR_HOURS {
        told(&words.hours, rounded(3600))
    } else if rounded(86_400) <= NEAR_DAYS {
        told(&words.days, rounded(86_400))
    } else {
        return None;
    };
    let template = if seconds > 0 {
        &words.future
    } else {
        &words.past
    };
    Some(fill(template, &[("time", &time)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_near_now_is_told_by_its_distance() {
        let words = Words::default();
        let Ok(now) = "2026-04-21T12:00:00Z".parse::<Timestamp>() else {
            unreachable!("a valid moment")
        };
        for (text, said) in [
            ("2026-04-21T11:59:30Z", "just now"),
            ("2026-04-21T12:00:00Z", "just now"),
            ("2026-04-21T12:00:59Z", "in less than a minute"),
            ("2026-04-21T11:59:00Z", "1 minute ago"),
            ("2026-04-21T12:20:00.123Z", "in 20 minutes"),
            ("2026-04-21T10:00:00Z", "2 hours ago"),
            ("2026-04-21T12:00:00+02:00", "2 hours ago"),
            ("2026-04-21T11:00:30Z", "1 hour ago"),
            ("2026-04-20T10:00:00Z", "26 hours ago"),
            ("2026-04-18T12:00:00Z", "3 days ago"),
            ("2026-04-30T12:00:00Z", "in 9 days"),
            ("2026-01-02T10:22:00Z", "2 January 2026 at 10:22 UTC"),
            ("2026-04-21T10:22", "21 April 2026 at 10:22"),
            ("2026-04-21", "21 April 2026"),
        ] {
            assert_eq!(
                time(text, &words, || Some(now)).as_deref(),
                Some(said),
                "{text}"
            );
        }
        assert_eq!(time("2026-13-21", &words, || Some(now)), None);
        assert_eq!(
            time("2026-04-21T10:22:00Z", &words, || None).as_deref(),
            Some("21 April 2026 at 10:22 UTC"),
            "without a clock it is told by its date"
        );
    }
}
