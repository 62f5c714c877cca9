//! Telling the letters of words that somebody types, who has not begun a prompt, from keys that are meant.
//!
//! # Mental model
//! Every letter is a key. Whoever types a word at hearken presses keys that were for nothing: these are strays. Behind a
//! stray an answering key may be a letter of the same word, so it does not answer until the keyboard was quiet: for
//! [`AFTER_ONE`] behind a key that only looks, which people press before they answer, and for [`AFTER_SEVERAL`] behind
//! two of these or one that nobody presses before an answer. Three different letters that follow each other faster than anybody
//! reads what they do are a word: none of them does anything from the third on.
//!
//! # Worked example
//! "cycle" with 2.5 seconds a letter, under a question: nothing waits for `c`, so it is a stray, and 5 seconds must pass
//! before `y` answers. Alone, `y` answers at once.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// How long the keyboard must be quiet behind a single key that looks.
const AFTER_ONE: Duration = Duration::from_secs(2);
/// How long it must be quiet behind what is probably a word: slow hands take up to three seconds for a letter.
const AFTER_SEVERAL: Duration = Duration::from_secs(5);
/// Letters of a word that is typed fluently follow each other within this time.
const FLUENT: Duration = Duration::from_millis(500);
/// So many different letters typed fluently are a word.
const WORD: usize = 3;

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// The question: an answer, its details, stopping its speech.
    Question,
    /// Looking at something, as people do before they answer.
    Look,
    /// A setting or another thing that stays changed.
    Change,
    /// Nothing.
    Nothing,
}

/// What a key is, judged by the letters before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letter {
    /// A key that is meant.
    Meant,
    /// Perhaps a letter of a word: it does not answer.
    Perhaps,
    /// A letter of a word: it does nothing. `true` if that is still to be said.
    OfWord(bool),
}

/// The letters without a use for the question that were pressed a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Strays {
    #[default]
    None,
    /// One key that looks, perhaps several times, and when it was pressed last.
    One(KeyCode, Duration),
    /// Several, or one that does not look.
    Several,
}

/// The letters pressed a moment ago.
#[derive(Debug, Clone, Default)]
pub(super) struct TypedWords {
    /// The last letter and its time.
    last: Option<(KeyCode, Duration)>,
    strays: Strays,
    /// The different letters that followed each other fluently, up to a word.
    fluent: Vec<KeyCode>,
    /// Whether the last letter followed another one fluently.
    is_next: bool,
    /// Whether it changed something.
    changed: bool,
}

impl TypedWords {
    /// Takes a key that was read at a time, with its purpose.
    pub(super) fn take(&mut self, key: KeyEvent, purpose: KeyUse, read: Duration) -> Letter {
        let last = self.last.filter(|(_, at)| read < *at + AFTER_SEVERAL);
        if last.is_none() {
            *self = Self::default();
        }
        let gap = last.map(|(_, at)| read.saturating_sub(at));
        let types = self.fluent.len() >= WORD && gap.is_some_and(|gap| gap < AFTER_ONE);
        let Some(code) = letter(key) else {
            return match key.code {
                // The end of what was typed.
                KeyCode::Enter if types => Letter::OfWord(true),
                KeyCode::Backspace | KeyCode::Enter if last.is_some() => match types {
                    true => Letter::OfWord(false),
                    false => Letter::Meant,
                },
                _ => {
                    *self = Self::default();
                    Letter::Meant
                }
            };
        };
        let follows = match self.strays {
            Strays::None => false,
            Strays::One(stray, at) => stray != code && read < at + AFTER_ONE,
            Strays::Several => true,
        };
        self.is_next = gap.is_some_and(|gap| gap < FLUENT);
        if purpose == KeyUse::Question && !follows && !types {
            self.forget();
            return Letter::Meant;
        }
        self.last = Some((code, read));
        self.changed = purpose == KeyUse::Change;
        if types {
            return Letter::OfWord(false);
        }
        if !self.is_next {
            self.fluent.clear();
        }
        if !self.fluent.contains(&code) {
            self.fluent.push(code);
        }
        if self.fluent.len() >= WORD {
            self.strays = Strays::Several;
            return Letter::OfWord(true);
        }
        self.strays = match (purpose, self.strays) {
            (KeyUse::Question, strays) => strays,
            (KeyUse::Look, Strays::None) => Strays::One(code, read),
            (KeyUse::Look, Strays::One(stray, _)) if stray == code => Strays::One(code, read),
            (KeyUse::Look | KeyUse::Change | KeyUse::Nothing, _) => Strays::Several,
        };
        match follows {
            true => Letter::Perhaps,
            false => Letter::Meant,
        }
    }

    /// Returns whether the last letter changed something.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    /// Returns whether the last letter followed another one fluently.
    pub(super) fn is_fluent(&self) -> bool {
        self.is_next
    }

    /// Forgets what was pressed.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Returns a letter or a blank in lower case, as part of a text; `None` for any other key.
fn letter(key: KeyEvent) -> Option<KeyCode> {
    let is_plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Char(c) if is_plain && (c.is_alphabetic() || c == ' ') => {
            Some(KeyCode::Char(c.to_lowercase().next().unwrap_or(c)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(keys: &[(char, KeyUse, u64)]) -> Letter {
        let mut words = TypedWords::default();
        let mut verdict = Letter::Meant;
        for (c, purpose, at) in keys {
            let key = KeyCode::Char(*c).into();
            verdict = words.take(key, *purpose, Duration::from_millis(*at));
        }
        verdict
    }

    #[test]
    fn how_long_it_must_be_quiet_depends_on_what_was_pressed() {
        use KeyUse::{Look, Nothing, Question};
        let judged = [
            (vec![('y', Question, 0)], Letter::Meant),
            (vec![('t', Look, 0), ('y', Question, 1999)], Letter::Perhaps),
            (vec![('t', Look, 0), ('y', Question, 2000)], Letter::Meant),
            (
                vec![('c', Nothing, 0), ('y', Question, 4999)],
                Letter::Perhaps,
            ),
            (
                vec![('c', Nothing, 0), ('y', Question, 5000)],
                Letter::Meant,
            ),
            (
                vec![('t', Look, 0), ('r', Look, 3000), ('y', Question, 6000)],
                Letter::Perhaps,
            ),
            (
                vec![('t', Look, 0), ('t', Look, 900), ('y', Question, 2900)],
                Letter::Meant,
            ),
            (
                vec![('t', Look, 0), ('y', Question, 1000), ('y', Question, 2000)],
                Letter::Meant,
            ),
            (
                vec![('s', Question, 0), ('y', Question, 700)],
                Letter::Meant,
            ),
            (
                vec![
                    ('c', Nothing, 0),
                    ('y', Question, 900),
                    ('y', Question, 1800),
                ],
                Letter::Perhaps,
            ),
            (
                vec![('t', Look, 0), ('.', Nothing, 300), ('y', Question, 900)],
                Letter::Meant,
            ),
        ];
        for (keys, wanted) in judged {
            assert_eq!(last(&keys), wanted, "{keys:?}");
        }
    }

    #[test]
    fn three_letters_typed_fluently_are_a_word_until_a_pause() {
        use KeyUse::Change;
        let word = vec![('m', Change, 0), ('o', Change, 200), ('v', Change, 400)];
        assert_eq!(last(&word), Letter::OfWord(true));
        let longer = [word.clone(), vec![('e', Change, 2300)]].concat();
        assert_eq!(last(&longer), Letter::OfWord(false));
        let later = [word, vec![('e', Change, 2400)]].concat();
        assert_eq!(last(&later), Letter::Perhaps);
        let same = [('v', Change, 0), ('v', Change, 200), ('v', Change, 400)];
        assert_ne!(last(&same), Letter::OfWord(true));
    }
}
