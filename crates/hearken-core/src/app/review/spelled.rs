//! Which word is chosen, and what was spelled last.

use crate::announce::{Announcement, AnnouncementId};

/// Remembers the chosen word and what was spelled last.
#[derive(Debug, Clone, Default)]
pub(super) struct Spelling {
    /// The word that is chosen, counted from 0, and of which announcement.
    word: Option<(AnnouncementId, usize)>,
    /// What was spelled last: the announcement, its word, and in which way.
    last: Option<(AnnouncementId, Option<usize>, Alphabet)>,
}

/// How letters are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// By themselves.
    Plain,
    /// By words that begin with them.
    Phonetic,
}

impl Spelling {
    /// Chooses a word, or none: then all of the text is meant.
    pub(super) fn choose(&mut self, word: Option<(AnnouncementId, usize)>) {
        self.word = word;
    }

    /// Returns which word of an announcement is chosen.
    pub(super) fn word_of(&self, told: &Announcement) -> Option<usize> {
        self.word
            .filter(|(id, _)| *id == told.id)
            .map(|(_, word)| word)
    }

    /// Returns the way in which something is spelled now: the second time in a row, by the alphabet.
    pub(super) fn turn(&mut self, id: AnnouncementId, word: Option<usize>) -> Alphabet {
        let alphabet = match self.last {
            Some(last) if last == (id, word, Alphabet::Plain) => Alphabet::Phonetic,
            Some(_) | None => Alphabet::Plain,
        };
        self.last = Some((id, word, alphabet));
        alphabet
    }
}
