//! The user's own dictionary: how words are pronounced.
//!
//! Responsibilities: whole-word replacements, applied last to spoken words. Not here: the
//! configuration from which they are read.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt};

use super::clean::clean;

/// The replacements of a user's dictionary.
///
/// A word written without capitals matches in any case; one with capitals only as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pronunciation {
    /// The entries by their first character in lower case, the longest first.
    entries: HashMap<char, Vec<Entry>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    from: String,
    to: String,
    any_case: bool,
}

impl Pronunciation {
    /// Creates a dictionary from pairs: a word as it would be spoken, and its replacement.
    ///
    /// An empty word is left out; of two equal words, the later counts.
    pub fn new<I, F, T>(pairs: I) -> Self
    where
        I: IntoIterator<Item = (F, T)>,
        F: AsRef<str>,
        T: AsRef<str>,
    {
        let mut entries: HashMap<char, Vec<Entry>> = HashMap::new();
        for (from, to) in pairs {
            let from = clean(from.as_ref().trim()).into_owned();
            let Some(first) = from.chars().next() else {
                continue;
            };
            let list = entries.entry(lower(first)).or_default();
            list.retain(|entry| entry.from != from);
            list.push(Entry {
                any_case: !from.chars().any(char::is_uppercase),
                to: clean(to.as_ref().trim()).into_owned(),
                from,
            });
            list.sort_by_key(|entry| std::cmp::Reverse(entry.from.len()));
        }
        Self { entries }
    }

    /// Returns whether there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Replaces every whole word that is in the dictionary; replacements are not searched again.
    pub fn apply<'a>(&self, spoken: &'a str) -> Cow<'a, str> {
        if self.entries.is_empty() {
            return Cow::Borrowed(spoken);
        }
        let mut out = String::new();
        let mut kept = 0;
        let mut at = 0;
        let mut before: Option<char> = None;
        while let Some(c) = spoken[at..].chars().next() {
            let found = self.find(&spoken[at..], before, c);
            if let Some((to, length)) = found {
                out.push_str(&spoken[kept..at]);
                out.push_str(to);
                at += length;
                kept = at;
                before = spoken[..at].chars().next_back();
            } else {
                before = Some(c);
                at += c.len_utf8();
            }
        }
        if kept == 0 {
            return Cow::Borrowed(spoken);
        }
        out.push_str(&spoken[kept..]);
        Cow::Owned(out)
    }

    fn find(&self, rest: &str, before: Option<char>, c: char) -> Option<(&str, usize)> {
        let list = self.entries.get(&lower(c))?;
        if c.is_alphanumeric() && before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        list.iter().find_map(|entry| {
            let length = if entry.any_case {
                prefix(rest, &entry.from)
            } else {
                rest.starts_with(&entry.from).then_some(entry.from.len())
            }?;
            let ends_in_word = entry
                .from
                .chars()
                .next_back()
                .is_some_and(char::is_alphanumeric);
            let goes_on = rest[length..]
                .chars()
                .next()
                .is_some_and(char::is_alphanumeric);
            (!(ends_in_word && goes_on)).then_some((entry.to.as_str(), length))
        })
    }
}

/// Returns how many bytes at the start of a text equal a word in any case.
fn prefix(text: &str, word: &str) -> Option<usize> {
    let mut chars = text.chars();
    let mut length = 0;
    for wanted in word.chars() {
        let c = chars.next()?;
        if lower(c) != lower(wanted) {
            return None;
        }
        length += c.len_utf8();
    }
    Some(length)
}

fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_replaced_once() {
        let dictionary = Pronunciation::new([
            ("SQL", "sequel"),
            ("nginx", "engine x"),
            ("engine x", "never"),
            ("C++", "see plus plus"),
            ("git hub", "GitHub"),
            ("naïve", "nah eve"),
            ("", "nothing"),
        ]);
        for (spoken, said) in [
            ("SQL and MySQL, sql", "sequel and MySQL, sql"),
            ("Nginx, nginx.", "engine x, engine x."),
            ("C++ is C+++", "see plus plus is see plus plus+"),
            ("Git Hub actions", "GitHub actions"),
            ("NAÏVE", "nah eve"),
            ("untouched", "untouched"),
        ] {
            assert_eq!(dictionary.apply(spoken), said);
        }
    }

    #[test]
    fn an_empty_dictionary_takes_no_copy() {
        assert!(matches!(
            Pronunciation::default().apply("words"),
            Cow::Borrowed(_)
        ));
    }
}
