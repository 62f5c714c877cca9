//! Names and ids from programs, as they are spoken in prose.
//!
//! Responsibilities: words inside camelCase, ids that nobody wants to hear in full. Not here: the signs
//! between such names (`token`), times (`moment`).

use super::spoken::SpokenText;
use super::words::{Words, fill};

/// The shortest run of hexadecimal digits that counts as an id: git's short hashes.
const SHORT_HEX: usize = 7;

/// The shortest run of mixed letters and digits that counts as an id: no common word or version
/// switches between them so often in so many characters.
const SHORT_ID: usize = 16;

/// The fewest switches between letters and digits in such an id.
const CHANGES: usize = 3;

/// How many characters of an id are spoken.
const SAID: usize = 4;

/// Names whose capitals do not begin words, and how they are said: the letters of SQL stay together.
const NAMES: [(&str, &str); 2] = [("SQLite", "SQL Lite"), ("PostgreSQL", "Postgres QL")];

/// Speaks a run of ASCII letters and digits.
pub(super) fn say_name(run: &str, words: &Words, spoken: &mut SpokenText) {
    let named = NAMES.iter().find_map(|(written, said)| {
        let behind = run.strip_prefix(written)?;
        let ends = !behind.starts_with(|c: char| c.is_ascii_lowercase());
        ends.then_some((said, behind))
    });
    if let Some((said, behind)) = named {
        spoken.text(said);
        if !behind.is_empty() {
            spoken.gap();
            say_name(behind, words, spoken);
        }
        return;
    }
    if is_id(run) {
        say_id(run, words, spoken);
        return;
    }
    if is_one_word(run) {
        spoken.text(run);
        return;
    }
    let bytes = run.as_bytes();
    let mut start = 0;
    for at in 1..bytes.len() {
        let (before, here) = (bytes[at - 1], bytes[at]);
        let after = bytes.get(at + 1).copied().unwrap_or(b'0');
        let new_word = here.is_ascii_uppercase() && before.is_ascii_lowercase();
        // The last of several capitals begins the next word, except in a plural such as "APIs".
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

/// Returns whether capitals and small letters are mixed within one word, as in "IPv6", "PhD", "kHz" or "mRNA".
fn is_one_word(run: &str) -> bool {
    const WORDS: [&str; 12] = [
        "OAuth", "LaTeX", "BibTeX", "WiFi", "McAfee", "macOS", "siRNA", "miRNA", "eSIM", "MiB",
        "VoIP", "DevOps",
    ];
    let bare = run.trim_end_matches(|c: char| c.is_ascii_digit());
    let bytes = bare.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    let capitals = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    let small = bytes.len() - capitals;
    // As in "PhD", "YoY", "SaaS", "IPv" and "DDoS".
    let is_short = first.is_ascii_uppercase()
        && bytes.len() <= 4
        && (last.is_ascii_uppercase() || bytes.len() == 3 && capitals == 2 && bare != run);
    // As in "kHz", "mRNA" and "eBPF".
    let is_led = first.is_ascii_lowercase()
        && bytes.get(1).is_some_and(u8::is_ascii_uppercase)
        && (small == 1 || bytes.len() <= 3);
    capitals > 0
        && small > 0
        && (is_short || is_led || bare.ends_with("IPv") || WORDS.contains(&bare))
}

/// Speaks the start of an id.
pub(super) fn say_id(id: &str, words: &Words, spoken: &mut SpokenText) {
    let start = id.get(..SAID).unwrap_or(id);
    spoken.word(&fill(&words.id, &[("start", start)]));
}

/// Returns whether a run of letters and digits is an id rather than a word or a number.
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

/// Returns whether a text is a UUID.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}
