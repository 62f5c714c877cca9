//! Lengths of time in words.

use std::time::Duration;

use super::announcer::Announcer;
use super::phrase::{Arg, Phrases};

impl Announcer {
    /// Words a length of time: the two largest units at most.
    pub fn time(&self, time: Duration) -> String {
        words_of_time(&self.phrases, time)
    }
}

/// Words a length of time with the two largest units at most; seconds are left out above an hour.
pub(super) fn words_of_time(phrases: &Phrases, time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    let unit = |key: &str, n: u64| phrases.text(key, &[("n", Arg::own(n))]);
    let (first, second) = match seconds {
        0..60 => (unit("time.seconds", seconds), None),
        60..3600 => {
            let rest = seconds % 60;
            (
                unit("time.minutes", seconds / 60),
                (rest > 0).then(|| unit("time.seconds", rest)),
            )
        }
        _ => {
            let rest = seconds % 3600 / 60;
            (
                unit("time.hours", seconds / 3600),
                (rest > 0).then(|| unit("time.minutes", rest)),
            )
        }
    };
    match second {
        Some(second) => phrases.text(
            "time.both",
            &[("first", Arg::Own(first)), ("second", Arg::Own(second))],
        ),
        None => first,
    }
}
