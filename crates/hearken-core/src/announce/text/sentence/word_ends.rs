//! Whether a single full stop after a word ends a sentence.
//!
//! Responsibilities: abbreviations, initials, numbers, times of day. Not here: the marks themselves
//! (`mark_rules`), the lists of words (`languages`).

use super::chars::{is_east_asian, is_number};
use super::following_text::{EndContext, NextText};
use super::languages::Abbreviation;
use super::mark_rules::SentenceView;

/// How many bytes of a sentence that begins with a preposition may still be a mere phrase.
const PHRASE: usize = 64;

impl SentenceView<'_> {
    /// Decides at a single full stop with a space after it.
    pub(super) fn stop_ends(&self, at: usize, after: &EndContext) -> Option<bool> {
        let (word, begins) = self.token(at);
        let first = self.is_first(begins);
        let next = after.next;
        if matches!(next, NextText::Stop | NextText::Dot | NextText::End) {
            return Some(false);
        }
        if word.is_empty() {
            // A separate stop, as in text that was split word by word.
            return Some(begins > self.lead && next == NextText::Upper);
        }
        if is_number(word) || is_version(word) && first {
            return self.number_ends(word, first, after);
        }
        let mut letters = word.chars();
        if let (Some(letter), None) = (letters.next(), letters.next())
            && letter.is_alphabetic()
            && !is_east_asian(letter)
        {
            return self.letter_ends(letter, begins, first, after);
        }
        if is_dotted(word) {
            return self.dotted_ends(word, begins, after);
        }
        let abbreviation = if word.contains('@') || word.contains('/') {
            None
        } else {
            // "l'Avv." is an article and a title.
            let bare = word.rsplit(['\'', '’']).next().unwrap_or(word);
            self.language.abbreviation(bare)
        };
        match abbreviation {
            Some(Abbreviation::Never) => Some(false),
            Some(Abbreviation::Numbered) if next == NextText::Digit || after.bracketed => {
                Some(false)
            }
            Some(Abbreviation::Numbered) if next == NextText::Upper => {
                Some(!is_roman(self.ahead().word(after.word)?))
            }
            Some(Abbreviation::Inner) => self.before_starter(after),
            Some(Abbreviation::Numbered | Abbreviation::Outer) | None => self.word_ends(after),
        }
    }

    /// Decides after an ordinary word.
    fn word_ends(&self, after: &EndContext) -> Option<bool> {
        Some(match after.next {
            NextText::Lower => {
                if after.bracketed || after.quoted {
                    false
                } else if self.language.small_starts {
                    !after.closers
                } else {
                    // "Done. iPhone works." starts with a name, "Done. a. First" with an item.
                    let word = self.ahead().word(after.word)?;
                    word.chars().skip(1).any(char::is_uppercase)
                        || self.is_first_item(word, after.word)?
                }
            }
            NextText::Upper
            | NextText::Digit
            | NextText::Letter
            | NextText::Code
            | NextText::Symbol
            | NextText::Gap
            | NextText::Block => true,
            NextText::Stop | NextText::Dot | NextText::End => false,
        })
    }

    /// Returns whether a lower-case letter begins a list of lettered items.
    fn is_first_item(&self, word: &str, at: usize) -> Option<bool> {
        if word != "a" {
            return Some(false);
        }
        let ahead = self.ahead();
        Some(
            matches!(ahead.peek(at + 1)?, Some('.' | ')'))
                && ahead.peek(at + 2)? == Some(' ')
                && ahead.peek(at + 3)?.is_some_and(char::is_uppercase),
        )
    }

    /// Decides after an abbreviation that ends a sentence only before a word that starts one.
    fn before_starter(&self, after: &EndContext) -> Option<bool> {
        if after.next == NextText::Symbol {
            return Some(true);
        }
        if after.next != NextText::Upper || after.bracketed {
            return Some(false);
        }
        let ahead = self.ahead();
        let word = ahead.word(after.word)?;
        // "U.S. A. Smith": a single letter with a stop is an initial, whatever word it resembles.
        let initial =
            word.chars().count() == 1 && ahead.peek(after.word + word.len())? == Some('.');
        Some(!initial && self.language.starts(word))
    }

    fn number_ends(&self, word: &str, first: bool, after: &EndContext) -> Option<bool> {
        if first {
            return Some(false);
        }
        let digits = word.trim_start_matches('-');
        if self.language.ordinals && digits.len() <= 2 {
            return match after.next {
                NextText::Upper => Some(self.language.starts(self.ahead().word(after.word)?)),
                NextText::Symbol => Some(true),
                NextText::Lower
                | NextText::Digit
                | NextText::Letter
                | NextText::Code
                | NextText::Stop
                | NextText::Dot
                | NextText::End
                | NextText::Gap
                | NextText::Block => Some(false),
            };
        }
        self.word_ends(after)
    }

    fn letter_ends(
        &self,
        letter: char,
        begins: usize,
        first: bool,
        after: &EndContext,
    ) -> Option<bool> {
        if first
            && matches!(
                after.next,
                NextText::Upper | NextText::Lower | NextText::Letter
            )
        {
            return Some(false);
        }
        let mut text = [0; 4];
        let word: &str = letter.encode_utf8(&mut text);
        match self.language.abbreviation(word) {
            Some(Abbreviation::Never) => return Some(false),
            Some(Abbreviation::Numbered) if after.next == NextText::Digit => return Some(false),
            Some(_) | None => {}
        }
        if letter.is_lowercase() {
            // "z. B." is a chain of initials.
            if after.next == NextText::Upper {
                let word = self.ahead().word(after.word)?;
                if word.chars().count() == 1
                    && self.ahead().peek(after.word + word.len())? == Some('.')
                {
                    return Some(false);
                }
            }
            return self.word_ends(after);
        }
        if !letter.is_uppercase() {
            // A single letter of a script without capitals is an initial or a number.
            return Some(false);
        }
        if letter == 'I' && after.next == NextText::Upper {
            let before = self.word_before(begins);
            if before.chars().next().is_some_and(char::is_lowercase) {
                return Some(true);
            }
        }
        self.before_starter(after)
    }

    fn dotted_ends(&self, word: &str, begins: usize, after: &EndContext) -> Option<bool> {
        if let Some(Abbreviation::Never) = self.language.abbreviation(word) {
            return Some(false);
        }
        let hour = word.eq_ignore_ascii_case("a.m") || word.eq_ignore_ascii_case("p.m");
        let era =
            matches!(word, "A.D" | "B.C" | "C.E" | "B.C.E") && is_number(self.word_before(begins));
        if !(hour || era) {
            return self.before_starter(after);
        }
        match after.next {
            NextText::Upper if self.before_starter(after)? => Some(true),
            NextText::Upper => {
                let next = self.ahead().word(after.word)?;
                Some(!is_calendar(next) && !self.is_phrase(after.closed))
            }
            NextText::Digit | NextText::Symbol => Some(!self.is_phrase(after.closed)),
            NextText::Lower
            | NextText::Letter
            | NextText::Code
            | NextText::Stop
            | NextText::Dot
            | NextText::End
            | NextText::Gap
            | NextText::Block => Some(false),
        }
    }

    /// Returns whether the sentence up to a place only names a time and has no verb yet, as in
    /// "At 5 a.m. Mr. Smith went".
    fn is_phrase(&self, end: usize) -> bool {
        let so_far = &self.text[self.lead.min(end)..end];
        so_far.len() <= PHRASE
            && so_far.split_whitespace().all(|word| {
                let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
                bare.starts_with(|c: char| c.is_ascii_digit())
                    || word.ends_with("m.")
                    || word.ends_with("M.")
                    || self.language.opens(bare)
                    || is_calendar(bare)
                    || bare.is_empty()
            })
            && so_far
                .split_whitespace()
                .next()
                .is_some_and(|word| self.language.opens(word))
    }
}

fn is_version(word: &str) -> bool {
    word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Returns whether a word is a Roman numeral; "I" alone counts as the pronoun.
fn is_roman(word: &str) -> bool {
    word != "I" && !word.is_empty() && word.bytes().all(|b| b"IVXLCDM".contains(&b))
}

/// Returns whether a word consists of short parts separated by full stops: "U.S", "a.m", "LL.AA".
pub(super) fn is_dotted(word: &str) -> bool {
    word.contains('.')
        && word.split('.').all(|part| {
            (1..=2).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic)
        })
        || word == "Ph.D"
}

/// Returns whether a word after a time belongs to it.
fn is_calendar(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "est",
        "edt",
        "cst",
        "cdt",
        "mst",
        "mdt",
        "pst",
        "pdt",
        "et",
        "ct",
        "pt",
        "utc",
        "gmt",
        "cet",
        "cest",
        "bst",
        "eastern",
        "central",
        "pacific",
        "mountain",
    ];
    WORDS.iter().any(|w| w.eq_ignore_ascii_case(word))
}
