//! Spelling a text, sign by sign.
//!
//! Responsibilities: the name of each letter, digit and sign, in order. Not here: which text is
//! spelled (`app`).

use unicode_segmentation::UnicodeSegmentation;

use super::clean::clean;
use super::picture::{Picture, picture_at};
use super::words::{Words, fill};
use crate::announce::text::sentence::is_spaceless;

/// How many signs are spelled in one go, about a minute of speech; the rest is counted.
const MOST: usize = 120;

/// Returns the words of a text that a person can have spelled: the text between white space or, in scripts
/// written without spaces, each word that Unicode's rules find.
pub fn spellable(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|token| {
        let parted = token.chars().any(is_spaceless);
        let words = parted.then(|| token.unicode_words());
        words
            .into_iter()
            .flatten()
            .chain((!parted).then_some(token))
    })
}

/// Returns a text spelled out: capitals are announced, signs and spaces are named; `phonetic` replaces
/// each letter that has a code word.
pub fn spell(text: &str, words: &Words, phonetic: bool) -> String {
    let clean = clean(text);
    let mut signs = clean.trim().graphemes(true);
    let mut out: Vec<String> = signs
        .by_ref()
        .take(MOST)
        .map(|sign| name(sign, words, phonetic))
        .collect();
    match signs.count() {
        0 => {}
        1 => out.push(words.unspelled.one.clone().into_owned()),
        n => out.push(fill(&words.unspelled.many, &[("n", &n.to_string())])),
    }
    out.join(", ")
}

fn name(sign: &str, words: &Words, phonetic: bool) -> String {
    let mut chars = sign.chars();
    let (Some(first), rest) = (chars.next(), chars.as_str()) else {
        return String::new();
    };
    if first.is_whitespace() {
        return words.space.clone().into_owned();
    }
    if first.is_alphabetic() && words.picture(first).is_none() {
        let lower = sign.to_lowercase();
        let letter = match words.phonetic.iter().find(|entry| entry.sign == lower) {
            Some(entry) if phonetic => entry.one.clone().into_owned(),
            Some(_) | None => sign.to_owned(),
        };
        return if first.is_uppercase() {
            fill(&words.capital, &[("letter", &letter)])
        } else {
            letter
        };
    }
    if let Some(known) = words.sign(first).filter(|_| rest.is_empty()) {
        return known.one.clone().into_owned();
    }
    match picture_at(sign, words) {
        Some((Picture::Named(name), _)) => name,
        Some((Picture::Drawing(_), _)) => words.drawing.one.clone().into_owned(),
        Some((Picture::Nameless | Picture::Mark, _)) => words.symbol.clone().into_owned(),
        None => sign.to_owned(),
    }
}

/// Returns the spoken name of a key: a letter alone would be mistaken for another one, or for a word, and a sign
/// alone is not spoken at all.
pub fn key(key: &str, words: &Words) -> String {
    let mut signs = key.graphemes(true);
    match (signs.next(), signs.next()) {
        (Some(sign), None) if sign.chars().all(char::is_alphabetic) => {
            fill(&words.letter, &[("letter", &name(sign, words, false))])
        }
        (Some(">"), None) => words.greater.to_string(),
        (Some("<"), None) => words.less.to_string(),
        (Some(sign), None) => name(sign, words, false),
        (Some(_), Some(_)) | (None, _) => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_has_its_name() {
        let words = Words::default();
        assert_eq!(
            spell("Rm -é5", &words, false),
            "capital R, m, space, dash, é, 5"
        );
        assert_eq!(
            spell("Ab 🚀\u{202e}", &words, true),
            "capital alfa, bravo, space, rocket"
        );
        assert_eq!(
            spell("e\u{301}│中", &words, true),
            "e\u{301}, drawing sign, 中"
        );
        assert_eq!(spell("", &words, true), "");
    }

    #[test]
    fn a_key_can_not_be_misheard() {
        let words = Words::default();
        for (written, heard) in [
            ("y", "letter y"),
            ("G", "letter capital G"),
            ("?", "question mark"),
            (">", "greater than"),
            ("<", "less than"),
            ("5", "5"),
            ("Tab", "Tab"),
            ("", ""),
        ] {
            assert_eq!(key(written, &words), heard);
        }
    }

    #[test]
    fn words_are_what_stands_between_spaces_and_parts_of_text_without_them() {
        for (text, wanted) in [
            (
                " git push --force, then ",
                &["git", "push", "--force,", "then"] as &[_],
            ),
            ("测试 ok。", &["测", "试", "ok。"]),
            ("测试。", &["测", "试"]),
            ("", &[]),
        ] {
            assert_eq!(spellable(text).collect::<Vec<_>>(), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_and_the_rest_counted() {
        let words = Words::default();
        let spelled = spell(&"x".repeat(MOST + 7), &words, false);
        assert!(spelled.ends_with("x, and 7 more signs"), "{spelled}");
        let spelled = spell(&"x".repeat(MOST + 1), &words, false);
        assert!(spelled.ends_with("x, and 1 more sign"), "{spelled}");
    }
}
