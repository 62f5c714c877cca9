//! Names and ids out of programs: what is said of them in prose.
//!
//! Responsibilities: words inside camelCase, ids that nobody wants to hear, ISO times. Not here:
//! the signs between such names (`token`).

use super::spoken::Spoken;
use super::words::{Words, fill};

/// The shortest run of hexadecimal digits that is taken for an id: git's short hashes.
const SHORT_HEX: usize = 7;

/// The shortest run of mixed letters and digits that is taken for an id: no word or version of
/// everyday use changes between them so often in so many characters.
const SHORT_ID: usize = 16;

/// How often such an id changes between letters and digits, at least.
const CHANGES: usize = 3;

/// How much of an id is said.
const SAID: usize = 4;

/// Says a run of ASCII letters and digits.
pub(super) fn say_name(run: &str, words: &Words, spoken: &mut Spoken) {
    if is_id(run) {
        say_id(run, words, spoken);
        return;
    }
    let bytes = run.as_bytes();
    let mut start = 0;
    for at in 1..bytes.len() {
        let (before, here) = (bytes[at - 1], bytes[at]);
        let after = bytes.get(at + 1).copied().unwrap_or(b'0');
        let new_word = here.is_ascii_uppercase() && before.is_ascii_lowercase();
        // The last capital of several begins the next word, except in a plural such as "APIs".
        let plural = after == b's' && at + 2 == bytes.len();
        let last_capital = before.is_ascii_uppercase()
            && here.is_ascii_uppercase()
            && after.is_ascii_lowercase()
            && !plural;
        if new_word || last_capital {
            spoken.text(&run[start..at]);
            spoken.gap();
            start = at;
        }
    }
    spoken.text(&run[start..]);
}

/// Says the start of an id.
pub(super) fn say_id(id: &str, words: &Words, spoken: &mut Spoken) {
    let start = id.get(..SAID).unwrap_or(id);
    spoken.word(&fill(&words.id, &[("start", start)]));
}

/// Tells whether a run of letters and digits is an id rather than a word or a number.
fn is_id(run: &str) -> bool {
    let bytes = run.as_bytes();
    if bytes.len() < SHORT_HEX || !bytes.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let hex = run.strip_prefix("0x").unwrap_or(run);
    let digits = hex.bytes().filter(u8::is_ascii_digit).count();
    if hex.len() >= SHORT_HEX && hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        let exponent = hex.len() - digits == 1 && hex.contains(['e', 'E']);
        return digits < hex.len() && !exponent || run.len() > hex.len();
    }
    let changes = bytes
        .windows(2)
        .filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit())
        .count();
    bytes.len() >= SHORT_ID && changes >= CHANGES
}

/// Tells whether a text is a UUID.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Says an ISO 8601 day or moment in words; nothing when a text is none.
pub(super) fn time(text: &str, words: &Words) -> Option<String> {
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
