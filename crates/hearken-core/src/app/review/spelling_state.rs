//! The chosen word, and what was spelled last.

use crate::announce::{Announcement, AnnouncementId};

/// The chosen word, and what was spelled last.
#[derive(Debug, Clone, Default)]
pub(super) struct Spelling {
    /// The announcement and its chosen word, counted from 0.
    word: Option<(AnnouncementId, usize)>,
    /// What was spelled last: the announcement, its word, and the alphabet.
    last: Option<(AnnouncementId, Option<usize>, Alphabet)>,
}

/// The names used for letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// By themselves.
    Plain,
    /// By words that begin with them.
    Phonetic,
}

impl Spelling {
    /// Chooses a word, or none: then the whole text is meant.
    pub(super) fn choose(&mut self, word: Option<(AnnouncementId, usize)>) {
        self.word = word;
    }

    /// Returns the chosen word of an announcement.
    pub(super) fn word_of(&self, told: &Announcement) -> Option<usize> {
        self.word
            .filter(|(id, _)| *id == told.id)
            .map(|(_, word)| word)
    }

    /// Returns how to spell something now: the second time in a row, with the spelling alphabet.
    pub(super) fn turn(&mut self, id: AnnouncementId, word: Option<usize>) -> Alphabet {
        let alphabet = match self.last {
            Some(last) if last == (id, word, Alphabet::Plain) => Alphabet::Phonetic,
            Some(_) | None => Alphabet::Plain,
        };
        self.last = Some((id, word, alphabet));
        alphabet
    }
}
