//! Characters that are neither letters nor plain signs.
//!
//! Responsibilities: emoji names, box lines, braille glyphs, repeated signs. Not here: addresses and
//! identifiers (`token`), the signs of commands (`command`).

use unicode_segmentation::UnicodeSegmentation;

use super::clean::is_emoji;
use super::words::{Words, fill};

/// The fewest equal signs that are counted instead of said.
pub(super) const REPEATED: usize = 5;

/// Says whether a character only draws: box lines, blocks, braille dots, private glyphs.
pub(super) fn only_draws(c: char) -> bool {
    matches!(
        c,
        '\u{2500}'..='\u{259F}' | '\u{2800}'..='\u{28FF}' | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..
    )
}

/// Says whether a text holds anything that this module changes.
pub(super) fn has_symbols(text: &str) -> bool {
    !text.is_ascii()
        && text
            .chars()
            .any(|c| only_draws(c) || is_emoji(c) || is_arrow(c))
        || run_in(text).is_some()
}

fn is_arrow(c: char) -> bool {
    matches!(c, '→' | '⇒' | '←' | '↑' | '↓')
}

/// Finds a run of one sign that is worth counting; gives where it begins, its length in bytes, its
/// count and the sign.
pub(super) fn run_in(text: &str) -> Option<(usize, usize, usize, char)> {
    let mut run: Option<(usize, usize, char)> = None;
    for (at, c) in text.char_indices() {
        match &mut run {
            Some((_, count, sign)) if *sign == c => *count += 1,
            _ => {
                if let Some((start, count, sign)) = run
                    && count >= REPEATED
                {
                    return Some((start, at - start, count, sign));
                }
                run = counts(c).then_some((at, 1, c));
            }
        }
    }
    let (start, count, sign) = run?;
    (count >= REPEATED).then_some((start, text.len() - start, count, sign))
}

fn counts(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && !matches!(c, '\u{300}'..='\u{36F}')
}

/// Names a sign that comes `count` times.
pub(super) fn repeated(words: &Words, sign: char, count: usize) -> String {
    let name = words
        .signs
        .get(&sign)
        .map_or_else(|| sign.to_string(), |name| name.many.clone());
    fill(
        &words.repeat,
        &[("count", &count.to_string()), ("sign", &name)],
    )
}

/// Gives the name of an emoji without its variation selectors and skin tones.
pub(super) fn emoji_name<'w>(words: &'w Words, cluster: &str) -> Option<&'w str> {
    if let Some(name) = words.emojis.get(cluster) {
        return Some(name);
    }
    let bare: String = cluster
        .chars()
        .filter(|c| !matches!(c, '\u{FE0E}' | '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}'))
        .collect();
    words.emojis.get(&bare).map(String::as_str).or_else(|| {
        // "man shrugging" is a shrug.
        let first = bare.split('\u{200D}').next()?;
        words.emojis.get(first).map(String::as_str)
    })
}

/// Says what a text with symbols says; words are set off by spaces.
pub(super) fn said(words: &Words, text: &str, out: &mut String) {
    let start = out.len();
    let mut rest = text;
    while let Some((at, length, count, sign)) = run_in(rest) {
        clusters(words, &rest[..at], start, out);
        if !only_draws(sign) {
            set_off(out, &repeated(words, sign, count));
        } else if !out.ends_with(' ') && !out.is_empty() {
            out.push(' ');
        }
        rest = &rest[at + length..];
    }
    clusters(words, rest, start, out);
}

fn clusters(words: &Words, text: &str, start: usize, out: &mut String) {
    if text.is_ascii() {
        push_after_word(out, start, text);
        return;
    }
    let mut last = "";
    for cluster in text.graphemes(true) {
        let Some(first) = cluster.chars().next() else {
            continue;
        };
        if only_draws(first) {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if let Some(name) =
            emoji_name(words, cluster).filter(|_| first as u32 > 0xFF || cluster.len() > 1)
        {
            // Three rockets are one rocket to the ear.
            if cluster != last {
                set_off(out, name);
            }
        } else if let Some(word) = words.operators.get(cluster).filter(|_| is_arrow(first)) {
            set_off(out, word);
        } else if is_emoji(first) || is_flag(first) {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if let Some(sign) = words.signs.get(&first).filter(|_| is_arrow(first)) {
            set_off(out, &sign.one);
        } else {
            push_after_word(out, start, cluster);
        }
        last = cluster;
    }
}

fn is_flag(c: char) -> bool {
    matches!(c, '\u{1F1E6}'..='\u{1F1FF}')
}

/// Pushes a word with a space before it, and a mark that the next text needs one too.
pub(super) fn set_off(out: &mut String, word: &str) {
    if !out.is_empty() && !out.ends_with([' ', '\n', '(', '"']) {
        out.push(' ');
    }
    out.push_str(word);
    out.push(' ');
}

/// Pushes text; punctuation closes up to a name that was set off since `start`.
fn push_after_word(out: &mut String, start: usize, text: &str) {
    if out.len() > start
        && out.ends_with(' ')
        && text.starts_with(['.', ',', ';', ':', '!', '?', ')', '"', '\''])
    {
        out.pop();
    }
    out.push_str(text);
}
