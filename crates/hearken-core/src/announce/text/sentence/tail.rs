//! How the text ends so far.
//!
//! Responsibilities: determining, for text that may continue, whether its last word or sentence is complete.
//! Not here: final answers (`mark_rules`), what follows at a pause or a hint (`coalesce`).

use super::chars::{is_call, is_stop, is_strong};
use super::languages::Abbreviation;
use super::segmenter::Segmenter;
use super::word_ends;

/// How the pending text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// There is nothing but white space.
    Nothing,
    /// With a mark that ends sentences.
    Sentence,
    /// Between two words or after a comma.
    Gap,
    /// In what may be the middle of a word, a number or a character.
    Word,
    /// With a full stop that probably marks an abbreviation.
    Abbreviation,
}

/// How many bytes before the end are examined.
const LOOK: usize = 48;

impl Segmenter {
    /// Returns how the pending text ends.
    pub fn tail(&self) -> Tail {
        let pending = self.pending();
        let mut floor = pending.len().saturating_sub(LOOK);
        while !pending.is_char_boundary(floor) {
            floor += 1;
        }
        let window = &pending[floor..];
        let Some(last) = window.chars().next_back() else {
            return Tail::Nothing;
        };
        if last == '\r' {
            return Tail::Word;
        }
        let trimmed = window.trim_end();
        if trimmed.is_empty() {
            return if pending.trim().is_empty() {
                Tail::Nothing
            } else {
                Tail::Gap
            };
        }
        let bare = trimmed.trim_end_matches(is_closing);
        let spaced = trimmed.len() < window.len();
        let closed = bare.len() < trimmed.len();
        match bare.chars().next_back() {
            Some('.') => self.stop_tail(bare, spaced || closed),
            Some(c) if is_strong(c) || is_stop(c) || matches!(c, '!' | '?') => Tail::Sentence,
            Some(_) | None if spaced => Tail::Gap,
            Some(c) if closed => {
                // "don'" may become "don't".
                if c.is_alphanumeric() && trimmed.ends_with(['\'', '’']) {
                    Tail::Word
                } else {
                    Tail::Gap
                }
            }
            Some(',' | ';' | ':') => {
                let before = bare[..bare.len() - 1].chars().next_back();
                if before.is_some_and(|c| c.is_ascii_digit()) {
                    Tail::Word
                } else {
                    Tail::Gap
                }
            }
            Some('%' | '、' | '，' | '：' | '；' | '،' | '؛' | '—' | '–' | '·' | '|') => {
                Tail::Gap
            }
            Some(_) if is_call(last) => Tail::Word,
            Some(_) | None => Tail::Word,
        }
    }

    fn stop_tail(&self, bare: &str, over: bool) -> Tail {
        let text = bare.trim_end_matches('.');
        if bare.len() - text.len() > 1 {
            return Tail::Sentence;
        }
        let word = text
            .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '“' | '\''))
            .next()
            .unwrap_or(text);
        let number = word.chars().next_back().is_some_and(|c| c.is_ascii_digit());
        if number && !over {
            return Tail::Word;
        }
        let single = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
        if single || word.is_empty() || word_ends::is_dotted(word) {
            return Tail::Abbreviation;
        }
        match self.language().abbreviation(word) {
            Some(Abbreviation::Never) => Tail::Abbreviation,
            Some(Abbreviation::Numbered | Abbreviation::Inner | Abbreviation::Outer) | None => {
                Tail::Sentence
            }
        }
    }
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '"'
            | '\''
            | '”'
            | '’'
            | '»'
            | '«'
            | '›'
            | '“'
            | '*'
            | '_'
            | '~'
            | '`'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_tells_what_may_go_on() {
        for (text, wanted) in [
            ("", Tail::Nothing),
            ("  \n", Tail::Nothing),
            ("Done.", Tail::Sentence),
            ("Done. ", Tail::Sentence),
            ("\"Done.\"", Tail::Sentence),
            ("Really?!", Tail::Sentence),
            ("好。", Tail::Sentence),
            ("wait...", Tail::Sentence),
            ("Don", Tail::Word),
            ("don'", Tail::Word),
            ("e\u{301}", Tail::Word),
            ("👨\u{200D}", Tail::Word),
            ("line\r", Tail::Word),
            ("version 3.", Tail::Word),
            ("version 3. ", Tail::Sentence),
            ("1,", Tail::Word),
            ("Don ", Tail::Gap),
            ("so,", Tail::Gap),
            ("(so)", Tail::Gap),
            ("run `x`", Tail::Gap),
            ("Dr.", Tail::Abbreviation),
            ("the U.S.", Tail::Abbreviation),
            ("path/", Tail::Word),
            ("**Don**", Tail::Gap),
        ] {
            let mut segmenter = Segmenter::new(None);
            assert!(segmenter.push(text).is_empty(), "{text:?}");
            assert_eq!(segmenter.tail(), wanted, "{text:?}");
        }
    }
}
