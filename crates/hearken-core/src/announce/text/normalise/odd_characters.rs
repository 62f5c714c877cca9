//! Characters that are not what they look like: look-alikes, unusual blanks, hidden characters and loose marks.
//!
//! Responsibilities: finding them in a command, a path, an address or a name, and naming each. Not here: how the
//! rest of such a text is spoken (`command`) or shown (`literal`).

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::hidden::is_hidden;
use super::words::{Words, fill};
use crate::announce::text::skeleton::skeleton;

/// What is odd about a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Oddity {
    /// It looks like these ASCII characters.
    LookAlike(String),
    /// A blank other than a space.
    Blank,
    /// A character that can be neither seen nor heard.
    Hidden,
    /// A mark that changes the character before it.
    Mark,
    /// A sign without a name.
    Other,
}

impl Oddity {
    /// Returns the character's name, which includes the code point: two characters never have the same name.
    pub(super) fn name(&self, c: char, words: &Words) -> String {
        let code = format!("U+{:04X}", u32::from(c));
        let template = match self {
            Self::LookAlike(_) => &words.lookalike,
            Self::Blank => &words.blank,
            Self::Hidden => &words.hidden,
            Self::Mark => &words.mark,
            Self::Other => &words.other_sign,
        };
        let letter = match self {
            Self::LookAlike(letter) => letter.as_str(),
            Self::Blank | Self::Hidden | Self::Mark | Self::Other => "",
        };
        fill(template, &[("letter", letter), ("code", &code)])
    }
}

/// Returns the look-alike if a character is a letter that resembles ASCII inside a word with real ASCII letters or
/// digits. In running text, nothing else is odd. `run` is the letters and digits around it.
pub(super) fn masked_letter(c: char, run: &str) -> Option<Oddity> {
    let is_letter = c.is_alphabetic() && c.nfkc().eq([c]);
    let has_ascii = run.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let letter = looks_like(c).filter(|_| is_letter && has_ascii)?;
    Some(Oddity::LookAlike(letter))
}

/// Returns what is odd about a character, if anything. `run` is the letters and digits around it.
pub(super) fn odd_at(c: char, run: &str) -> Option<Oddity> {
    if (' '..='~').contains(&c) || matches!(c, '\n' | '\t') {
        return None;
    }
    if c.is_whitespace() {
        return Some(Oddity::Blank);
    }
    if c.is_control() || is_hidden(c) || is_joiner(c) {
        return Some(Oddity::Hidden);
    }
    if is_combining_mark(c) {
        return Some(Oddity::Mark);
    }
    match looks_like(c) {
        Some(letter) if !is_of_one_script(run) => Some(Oddity::LookAlike(letter)),
        Some(_) => None,
        None => (!c.is_alphanumeric()).then_some(Oddity::Other),
    }
}

/// Returns whether a character joins or selects its neighbours, and is itself invisible.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns the ASCII characters for which a character can be mistaken, if any.
pub(super) fn looks_like(c: char) -> Option<String> {
    if c.is_ascii() {
        return None;
    }
    let folded: String = c.nfkc().collect();
    if folded.is_ascii() {
        return Some(folded);
    }
    let mut bytes = [0; 4];
    let seen: String = skeleton(c.encode_utf8(&mut bytes)).collect();
    (seen.is_ascii() && !seen.is_empty()).then_some(seen)
}

/// Returns whether a run of letters is a word of another script: none is ASCII, and not all look like ASCII.
fn is_of_one_script(run: &str) -> bool {
    let has_ascii = run.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let has_own = run
        .chars()
        .any(|c| !c.is_ascii() && looks_like(c).is_none());
    !has_ascii && has_own
}

/// Returns a text with look-alikes replaced by the ASCII characters that they resemble; `None` if it has none.
pub fn unmasked(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut differs = false;
    for c in text.chars() {
        let seen = match c {
            c if c.is_ascii() => None,
            c if c.is_whitespace() => Some(" ".to_owned()),
            c if is_hidden(c) || is_joiner(c) => Some(String::new()),
            c => looks_like(c),
        };
        match seen {
            Some(seen) => {
                differs = true;
                plain.push_str(&seen);
            }
            None => plain.push(c),
        }
    }
    differs.then_some(plain)
}

/// Returns the letters, digits and marks around a place.
pub(super) fn run_around(text: &str, at: usize) -> &str {
    // Far more than any word has: a text of only letters must not be searched once for each letter.
    const MOST: usize = 64;
    let belongs =
        |c: &char| c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(*c);
    let before = text.get(..at).unwrap_or_default();
    let behind = text.get(at..).unwrap_or_default();
    let left: usize = before
        .chars()
        .rev()
        .take(MOST)
        .take_while(belongs)
        .map(char::len_utf8)
        .sum();
    let right: usize = behind
        .chars()
        .take(MOST)
        .take_while(belongs)
        .map(char::len_utf8)
        .sum();
    text.get(at - left..at + right).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_what_it_looks_like_is_found() {
        for (c, run, odd) in [
            ('a', "rm", None),
            ('é', "café", None),
            ('中', "中文", None),
            ('о', "sudо", Some(Oddity::LookAlike("o".to_owned()))),
            ('о', "о", Some(Oddity::LookAlike("o".to_owned()))),
            ('о', "тест", None),
            ('ｒ', "ｒｍ", Some(Oddity::LookAlike("r".to_owned()))),
            ('ﬁ', "ﬁle", Some(Oddity::LookAlike("fi".to_owned()))),
            ('‐', "", Some(Oddity::LookAlike("-".to_owned()))),
            ('\u{a0}', "", Some(Oddity::Blank)),
            ('\u{3000}', "", Some(Oddity::Blank)),
            ('\u{200b}', "", Some(Oddity::Hidden)),
            ('\u{1b}', "", Some(Oddity::Hidden)),
            ('\u{202e}', "", Some(Oddity::Hidden)),
            ('\u{301}', "e\u{301}", Some(Oddity::Mark)),
            ('🚀', "", Some(Oddity::Other)),
            ('\t', "", None),
        ] {
            assert_eq!(odd_at(c, run), odd, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn a_masked_text_is_read_as_it_looks() {
        assert_eq!(
            unmasked("ѕudo rm\u{a0}-rf /"),
            Some("sudo rm -rf /".to_owned())
        );
        assert_eq!(unmasked("r\u{200b}m x"), Some("rm x".to_owned()));
        assert_eq!(unmasked("rm x"), None);
        assert_eq!(unmasked("echo é"), None);
    }

    #[test]
    fn no_two_characters_have_one_name() {
        let words = Words::default();
        let mut names = std::collections::HashSet::new();
        for c in char::MIN..=char::MAX {
            if let Some(odd) = odd_at(c, "a") {
                assert!(names.insert(odd.name(c, &words)), "U+{:04X}", u32::from(c));
            }
        }
    }
}
