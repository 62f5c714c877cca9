//! The name of a programming language, from the words after a fence.

use super::words::Words;

/// How many characters of a fence's language are spoken.
const LANGUAGE: usize = 20;

/// Returns the name of a programming language, given the words after a fence.
pub fn language_name(info: &str, words: &Words) -> Option<String> {
    let tag: String = info
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.'))
        .take(LANGUAGE)
        .collect();
    let mut letters = tag.chars();
    let first = letters.next()?;
    Some(match words.language(&tag) {
        Some(name) => name.to_owned(),
        None => first.to_uppercase().collect::<String>() + letters.as_str(),
    })
}
