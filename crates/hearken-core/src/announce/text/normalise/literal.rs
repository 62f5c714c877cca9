//! A text exactly as written, for the eye: two different texts never look the same.
//!
//! Responsibilities: naming in brackets what can't be seen: line endings, tabs, runs of spaces, look-alikes,
//! hidden characters. Not here: how it is spoken (`command`, `signs`), how wide a row is (`wrap`).

use std::borrow::Cow;

use super::clean::clean_lines;
use super::command::trimmed;
use super::odd_characters::{Oddity, masked_letter, odd_at, run_around};
use super::words::{Words, fill};

/// Returns a text exactly as written, each line on a separate row.
///
/// What can't be seen is named in brackets: `[new line]`, `[tab]`, `[3 spaces]`. A bracket that could begin such a
/// name is doubled.
pub fn literal(text: &str, words: &Words) -> String {
    shown(text, words, true, odd_at)
}

/// Returns the same on one row.
pub fn inline(text: &str, words: &Words) -> String {
    shown(text, words, false, odd_at)
}

/// Returns the text of a question exactly as written: like [`literal`], except that signs and blanks usual in
/// running text are left unchanged.
pub fn question_text(text: &str, words: &Words) -> String {
    let clean: Vec<Cow<'_, str>> = text.split('\t').map(clean_lines).collect();
    shown(&clean.join("\t"), words, true, masked_letter)
}

/// A function that returns what is odd about a character, given the word around it.
type OddityFinder = fn(char, &str) -> Option<Oddity>;

fn shown(text: &str, words: &Words, rows: bool, find: OddityFinder) -> String {
    let text = trimmed(text);
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'[';
    if text.bytes().all(plain) && !text.contains("  ") && !text.ends_with(' ') {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 32);
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        at += match rest.chars().next() {
            Some(' ' | '\t' | '\n') => white_space(&mut shown, rest, words, rows),
            Some('[') if is_name(rest, words) => {
                shown.push_str("[[");
                1
            }
            Some(c) => {
                match find(c, run_around(text, at)) {
                    Some(odd) => {
                        let known = words.sign_at(rest).filter(|sign| sign.sign.chars().eq([c]));
                        match known {
                            Some(_) if odd == Oddity::Other => shown.push(c),
                            _ => push_name(&mut shown, &odd.name(c, words)),
                        }
                    }
                    None => shown.push(c),
                }
                c.len_utf8()
            }
            None => 1,
        };
    }
    shown
}

/// Adds a run of white space; returns its length in bytes.
fn white_space(shown: &mut String, rest: &str, words: &Words, rows: bool) -> usize {
    let after = rest.trim_start_matches([' ', '\t', '\n']);
    let run = rest.get(..rest.len() - after.len()).unwrap_or_default();
    if run == " " && !after.is_empty() {
        shown.push(' ');
        return 1;
    }
    let mut left = run;
    while let Some(c) = left.chars().next() {
        let next = left.trim_start_matches(c);
        let count = left.len() - next.len();
        let number = count.to_string();
        match (c, count) {
            ('\n', _) => {
                for _ in 0..count {
                    push_name(shown, &words.new_line);
                    shown.push(if rows { '\n' } else { ' ' });
                }
            }
            ('\t', 1) => push_name(shown, &words.tab.one),
            ('\t', _) => push_name(shown, &fill(&words.tab.many, &[("n", &number)])),
            (_, 1) => push_name(shown, &words.space),
            (_, _) => push_name(shown, &fill(&words.spaces, &[("n", &number)])),
        }
        left = next;
    }
    run.len()
}

fn push_name(shown: &mut String, name: &str) {
    shown.push('[');
    shown.push_str(name);
    shown.push(']');
}

/// Returns whether a bracket and what follows could be mistaken for one of the bracketed names.
fn is_name(rest: &str, words: &Words) -> bool {
    let inner = rest.trim_start_matches('[');
    let Some((inner, _)) = inner.split_once(']') else {
        return false;
    };
    let without_number = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    let counted = [&words.spaces, &words.tab.many].map(|name| name.replace("{n}", ""));
    let plain = [&words.new_line, &words.space, &words.tab.one];
    plain.into_iter().any(|name| name == inner)
        || counted.iter().any(|name| name == without_number)
        || inner.contains("U+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_seen_is_named() {
        let words = Words::default();
        for (text, wanted) in [
            ("ls -la", "ls -la"),
            ("# list\nrm x", "# list[new line]\nrm x"),
            ("a\n\nb", "a[new line]\n[new line]\nb"),
            ("a  b", "a[2 spaces]b"),
            ("if x:\n    y", "if x:[new line]\n[4 spaces]y"),
            ("a\n b", "a[new line]\n[space]b"),
            ("a\tb", "a[tab]b"),
            ("rm a\\ ", "rm a\\[space]"),
            (" rm a ", "rm a"),
            ("[ -f a ]", "[ -f a ]"),
            ("echo '[tab]'", "echo '[[tab]'"),
            ("echo '[[tab]'", "echo '[[[[tab]'"),
            ("sud\u{43e}", "sud[lookalike of o U+043E]"),
            ("a\u{a0}b", "a[blank U+00A0]b"),
            ("a\u{200b}b", "a[hidden U+200B]b"),
            ("e\u{301}", "e[mark U+0301]"),
            ("caf\u{e9}", "caf\u{e9}"),
        ] {
            assert_eq!(literal(text, &words), wanted, "{text:?}");
        }
        assert_eq!(inline("a\nb", &words), "a[new line] b");
    }
}
