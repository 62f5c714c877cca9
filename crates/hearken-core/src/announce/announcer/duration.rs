//! Lengths of time in words.

use std::time::Duration;

use super::Announcer;
use crate::announce::words::phrase::{Arg, Phrases};

/// What took less is told without its time: it would be "0 seconds".
const WORTH_TELLING: Duration = Duration::from_millis(500);

/// Names the phrases of the units, and the one that puts two of them together.
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
    /// Words a length of time: the two largest units at most.
    pub fn time(&self, time: Duration) -> String {
        words_of_time(&self.phrases, time, &WORDS)
    }

    /// Writes a length of time with the signs of its units, for a row that has no room for their names.
    pub fn short_time(&self, time: Duration) -> String {
        words_of_time(&self.phrases, time, &SIGNS)
    }

    /// Words how long something took; what took no time to speak of is not worth a word.
    pub(super) fn took(&self, time: Option<Duration>) -> Arg {
        let told = time.filter(|time| *time >= WORTH_TELLING);
        Arg::Own(told.map(|time| self.time(time)).unwrap_or_default())
    }
}

/// Words a length of time with the two largest units at most; seconds are left out above an hour.
fn words_of_time(phrases: &Phrases, time: Duration, units: &Units) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    let unit = |key: &str, n: u64| phrases.text(key, &[("n", Arg::own(n))]);
    let (first, second) = match seconds {
        // "0 seconds" would say that there is none.
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
