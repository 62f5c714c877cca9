//! Splitting a command line into words, without a shell.
//!
//! Responsibilities: blanks, quotes and backslashes. Not here: variables, globs, pipes and
//! everything else that a shell does: no shell ever sees the command.

use crate::announce::Reason;

/// Why a command line can't be split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitError {
    /// A quote is not closed.
    Quote,
    /// A backslash is at the end.
    Backslash,
    /// There are no words.
    Empty,
}

impl SplitError {
    /// Describes it for a person.
    pub fn reason(self) -> Reason {
        Reason::new(match self {
            Self::Quote => "voice.cause.command.quote",
            Self::Backslash => "voice.cause.command.backslash",
            Self::Empty => "voice.cause.command.empty",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuotePart {
    Nothing,
    Word,
    Single,
    Double,
}

/// Splits a command line into words: blanks separate them, quotes and backslashes keep them
/// together.
///
/// Between single quotes everything is literal; between double quotes a backslash protects a quote
/// or a backslash; elsewhere it protects any character.
pub fn split(line: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut inside = QuotePart::Nothing;
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        match (inside, sign) {
            (QuotePart::Single, '\'') | (QuotePart::Double, '"') => inside = QuotePart::Word,
            (QuotePart::Double, '\\') if matches!(signs.peek(), Some('"' | '\\')) => {
                word.extend(signs.next());
            }
            (QuotePart::Single | QuotePart::Double, other) => word.push(other),
            (QuotePart::Nothing | QuotePart::Word, '\'') => inside = QuotePart::Single,
            (QuotePart::Nothing | QuotePart::Word, '"') => inside = QuotePart::Double,
            (QuotePart::Nothing | QuotePart::Word, '\\') => {
                word.push(signs.next().ok_or(SplitError::Backslash)?);
                inside = QuotePart::Word;
            }
            (QuotePart::Word, blank) if blank.is_whitespace() => {
                words.push(std::mem::take(&mut word));
                inside = QuotePart::Nothing;
            }
            (QuotePart::Nothing, blank) if blank.is_whitespace() => {}
            (QuotePart::Nothing | QuotePart::Word, other) => {
                word.push(other);
                inside = QuotePart::Word;
            }
        }
    }
    match inside {
        QuotePart::Single | QuotePart::Double => return Err(SplitError::Quote),
        QuotePart::Word => words.push(word),
        QuotePart::Nothing => {}
    }
    if words.is_empty() {
        return Err(SplitError::Empty);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_keep_words_together() {
        for (line, words) in [
            ("espeak-ng", vec!["espeak-ng"]),
            ("  say  -v\tAlex {} ", vec!["say", "-v", "Alex", "{}"]),
            ("say 'a b' \"c d\"", vec!["say", "a b", "c d"]),
            (
                r#"say "a \"b\" \c" 'x\'"#,
                vec!["say", r#"a "b" \c"#, r"x\"],
            ),
            (r"a\ b \'c", vec!["a b", "'c"]),
            ("a'b'\"c\"d", vec!["abcd"]),
            ("say ''", vec!["say", ""]),
            (
                "say $(id) ; ls | cat",
                vec!["say", "$(id)", ";", "ls", "|", "cat"],
            ),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
    }

    #[test]
    fn what_is_unfinished_is_named() {
        assert_eq!(split("say 'a"), Err(SplitError::Quote));
        assert_eq!(split("say \"a"), Err(SplitError::Quote));
        assert_eq!(split("say \\"), Err(SplitError::Backslash));
        assert_eq!(split("  "), Err(SplitError::Empty));
    }
}
