//! Looking back: what of the history is looked at, searched for and spelled, and since when the person was away.
//!
//! The folder: this struct and `spelled` hold the place; `looking`, `searching`, `spelling` and `facts` go
//! there and say it. Not here: the history itself and the words (`announce`).

mod facts;
pub(super) mod looking;
mod parts;
mod searching;
mod spelled;
pub(super) mod spelling;

use std::time::Duration;

use crate::announce::AnnouncementId;

use spelled::Spelling;

/// Nobody was there when no key or line came for this long.
const ABSENCE: Duration = Duration::from_secs(60);

/// The place in the history that is looked at, and what belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Review {
    /// What is looked back at; absent where the newest is.
    at: Option<AnnouncementId>,
    /// Which part of a long announcement is shown, and of which one.
    page: Option<(AnnouncementId, isize)>,
    /// Which word is chosen, and what was spelled last.
    spelling: Spelling,
    /// What was searched for last, and where it was found.
    searched: Option<Searched>,
    /// When the last key or line came.
    last: Option<Duration>,
    /// When the person was last seen before the present visit; absent means never.
    away_since: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Searched {
    text: String,
    found: AnnouncementId,
    hit: Hit,
}

/// Which of the places that hold what was searched for is looked at, counted when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// From the newest on, from 1.
    pub place: usize,
    /// How many there are.
    pub count: usize,
}

impl Review {
    /// Returns what is looked back at.
    pub(super) fn at(&self) -> Option<AnnouncementId> {
        self.at
    }

    /// Looks back at something.
    pub(super) fn look_at(&mut self, id: AnnouncementId) {
        self.at = Some(id);
    }

    /// Looks at the newest again; tells whether something else was looked at.
    pub(super) fn leave(&mut self) -> bool {
        self.at.take().is_some()
    }

    /// Returns which part of what is looked at is shown; one that is negative counts from the end.
    pub(super) fn page(&self) -> isize {
        let of_this = self.page.filter(|(id, _)| Some(*id) == self.at);
        of_this.map_or(0, |(_, page)| page)
    }

    /// Shows another part of what is looked at.
    pub(super) fn turn_page(&mut self, by: isize) {
        let page = self.page() + by;
        self.page = self.at.map(|id| (id, page));
    }

    /// Returns which word is chosen.
    fn spelling(&self) -> &Spelling {
        &self.spelling
    }

    /// Returns which word is chosen, to choose another.
    fn spelling_mut(&mut self) -> &mut Spelling {
        &mut self.spelling
    }

    /// Takes note of where a text was found, which is looked at from now on.
    fn find(&mut self, text: &str, found: AnnouncementId, hit: Hit) {
        self.look_at(found);
        let text = text.to_owned();
        self.searched = Some(Searched { text, found, hit });
    }

    /// Returns what was searched for last.
    fn searched(&self) -> Option<String> {
        self.searched.as_ref().map(|last| last.text.clone())
    }

    /// Returns where the same text was found last: the same search goes on from there.
    fn found(&self, text: &str) -> Option<AnnouncementId> {
        let last = self.searched.as_ref().filter(|last| last.text == text);
        last.map(|last| last.found)
    }

    /// Returns which hit of a search is looked at.
    fn hit(&self) -> Option<Hit> {
        let searched = self.searched.as_ref()?;
        (Some(searched.found) == self.at).then_some(searched.hit)
    }

    /// Ends the search, so that the next one begins anew.
    pub(super) fn leave_search(&mut self) {
        self.searched = None;
    }

    /// Takes the time of a key or a line.
    pub(super) fn note_hand(&mut self, now: Duration) {
        let last = self.last.replace(now).unwrap_or_default();
        if now >= last + ABSENCE {
            self.away_since = Some(last);
        }
    }

    /// Returns since when the person was away before the present visit; from the start where they never were there.
    fn away_since(&self) -> Duration {
        self.away_since.unwrap_or_default()
    }
}
