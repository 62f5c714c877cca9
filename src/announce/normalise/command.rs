//! A command with every sign in words.
//!
//! Responsibilities: flags, quotes, pipes, redirects; nothing is shortened or left out. Not here:
//! which words of a question are a command (`exact`).

use unicode_segmentation::UnicodeSegmentation;

use super::inline::space;
use super::symbols::{self, REPEATED};
use super::token;
use super::words::{Words, fill};

/// Says a command.
pub(super) fn said(words: &Words, text: &str, out: &mut String) {
    let text = text.trim();
    let mut at = 0;
    let mut start = true;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == '\n' {
            say(out, &words.new_line);
            space(out);
            (at, start) = (at + 1, true);
            continue;
        }
        if c.is_whitespace() {
            if c == ' ' {
                space(out);
            } else {
                say(out, &words.odd_space);
                space(out);
            }
            (at, start) = (at + c.len_utf8(), true);
            continue;
        }
        if start
            && c == '-'
            && let Some((length, flag)) = flag(words, rest)
        {
            say(out, &flag);
            (at, start) = (at + length, false);
            continue;
        }
        if let Some((length, word)) = operator(words, text, at) {
            say(out, word);
            space(out);
            (at, start) = (at + length, true);
            continue;
        }
        let repeated = rest.chars().take_while(|&other| other == c).count();
        if repeated >= REPEATED && !c.is_alphanumeric() {
            say(out, &symbols::repeated(words, c, repeated));
            space(out);
            at += repeated * c.len_utf8();
            continue;
        }
        if c.is_alphanumeric() {
            let length = run(rest);
            word(out, &rest[..length]);
            at += length;
        } else {
            let cluster = rest.graphemes(true).next().unwrap_or(rest);
            sign(words, c, cluster, out);
            space(out);
            at += cluster.len();
        }
        // A flag may follow a quotation mark, a bracket or an equals sign.
        start = matches!(c, '"' | '\'' | '(' | '`' | '{');
    }
    let end = out.trim_end().len();
    out.truncate(end);
}

fn say(out: &mut String, word: &str) {
    space(out);
    out.push_str(word);
}

/// Pushes a run of letters and digits.
fn word(out: &mut String, text: &str) {
    out.push_str(text);
}

/// Gives the length of a run of letters and digits; a decimal point between digits belongs to it.
fn run(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let point = c == '.'
            && at > 0
            && bytes[at - 1].is_ascii_digit()
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !(c.is_alphanumeric() || point || is_joined(c)) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// Says whether a mark belongs to the letter before it.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{900}'..='\u{DFF}' | '\u{200C}' | '\u{200D}')
}

/// Says an option up to its value; gives its length.
fn flag(words: &Words, text: &str) -> Option<(usize, String)> {
    let length = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .unwrap_or(text.len());
    let flag = token::flag(words, &text[..length])?;
    Some((length, flag))
}

/// Finds the longest sign of several characters at a place.
fn operator<'w>(words: &'w Words, text: &str, at: usize) -> Option<(usize, &'w str)> {
    let rest = &text[at..];
    if !rest.starts_with(['&', '|', '<', '>', ';']) {
        return None;
    }
    let found = words
        .shell
        .iter()
        .filter(|(sign, _)| rest.starts_with(sign.as_str()))
        .max_by_key(|(sign, _)| sign.len());
    if let Some((sign, word)) = found {
        return Some((sign.len(), word));
    }
    (rest == "&").then_some((1, words.background.as_str()))
}

/// Names one sign.
fn sign(words: &Words, c: char, cluster: &str, out: &mut String) {
    if let Some(name) = words.signs.get(&c) {
        say(out, &name.one);
    } else if let Some(name) = symbols::emoji_name(words, cluster) {
        say(out, name);
    } else if c.is_alphabetic() || !c.is_ascii() && cluster.chars().any(char::is_alphanumeric) {
        out.push_str(cluster);
    } else {
        let code = format!("{:X}", u32::from(c));
        say(out, &fill(&words.symbol, &[("code", &code)]));
    }
}
