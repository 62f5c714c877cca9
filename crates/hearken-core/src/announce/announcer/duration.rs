//! Durations in words.

use std::time::Duration;

use super::Announcer;
use crate::announce::words::phrase::{Arg, Phrases};

/// Anything shorter is announced without its duration, which would read "0 seconds".
const WORTH_TELLING: Duration = Duration::from_millis(500);

/// The phrase keys of the units, and of the phrase that joins two of them.
struct Units {
    seconds: &'static str,
    minutes: &'static str,
    hours: &'static str,
    both: &'static str,
}

const WORDS: Units = Units {
    seconds: "time.seconds",
    minutes: "time.minutes",
    hours: "time.hours",
    both: "time.both",
};

const SIGNS: Units = Units {
    seconds: "time.short.seconds",
    minutes: "time.short.minutes",
    hours: "time.short.hours",
    both: "time.short.both",
};

impl Announcer {
    /// Returns a duration in words: at most its two largest units.
    pub fn time(&self, time: Duration) -> String {
        words_of_time(&self.phrases, time, &WORDS)
    }

    /// Returns a duration with abbreviated units, for a row that is too narrow for their names.
    pub fn short_time(&self, time: Duration) -> String {
        words_of_time(&self.phrases, time, &SIGNS)
    }

    /// Returns words for how long something took; empty if that is negligible.
    pub(super) fn took(&self, time: Option<Duration>) -> Arg {
        let told = time.filter(|time| *time >= WORTH_TELLING);
        Arg::Own(told.map(|time| self.time(time)).unwrap_or_default())
    }
}

/// Returns a duration in words, with at most its two largest units; seconds are left out above an hour.
fn words_of_time(phrases: &Phrases, time: Duration, units: &Units) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    let unit = |key: &str, n: u64| phrases.text(key, &[("n", Arg::own(n))]);
    let (first, second) = match seconds {
        // "0 seconds" would sound like no time at all.
        0 => (phrases.text("time.instant", &[]), None),
        1..60 => (unit(units.seconds, seconds), None),
        60..3600 => {
            let rest = seconds % 60;
            (
                unit(units.minutes, seconds / 60),
                (rest > 0).then(|| unit(units.seconds, rest)),
            )
        }
        _ => {
            let rest = seconds % 3600 / 60;
            (
                unit(units.hours, seconds / 3600),
                (rest > 0).then(|| unit(units.minutes, rest)),
            )
        }
    };
    match second {
        Some(second) => phrases.text(
            units.both,
            &[("first", Arg::Own(first)), ("second", Arg::Own(second))],
        ),
        None => first,
    }
}
