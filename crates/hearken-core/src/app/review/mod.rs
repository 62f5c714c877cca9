//! Looking back: the place in the history under review, searching and spelling, and since when the person has
//! been away.
//!
//! The folder: this struct, `spelling_state` and `reading_place` hold the place; `history_navigation`, `part_reading`,
//! `history_search`, `spelling` and `announcement_facts` go there and read it out. Not here: the history itself and the
//! words (`announce`).

mod announcement_facts;
pub(super) mod history_navigation;
mod history_search;
pub(super) mod part_reading;
mod reading_place;
pub(super) mod spelling;
mod spelling_state;

use std::time::Duration;

use crate::announce::AnnouncementId;

use reading_place::{LastRead, Reading};
use spelling_state::Spelling;

/// The person counts as absent if no key or line came for this long.
const ABSENCE: Duration = Duration::from_secs(60);

/// The place in the history under review, and the state that belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Review {
    /// The announcement under review; `None` at the newest.
    at: Option<AnnouncementId>,
    /// The announcement whose part is shown, and the part.
    page: Option<(AnnouncementId, isize)>,
    /// The chosen word, and what was spelled last.
    spelling: Spelling,
    /// The last search, and where it hit.
    searched: Option<SearchState>,
    /// When the last key or line came.
    last: Option<Duration>,
    /// The last sign of the person before the present visit; `None` if there was none.
    away_since: Option<Duration>,
    /// What is read part by part.
    reading: Reading,
    /// What last read some of a question's changes.
    last_read: Option<LastRead>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SearchState {
    text: String,
    found: AnnouncementId,
    hit: Hit,
}

/// The position of the hit under review among all hits, counted when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its position, from the newest, from 1.
    pub place: usize,
    /// The number of hits.
    pub count: usize,
}

impl Review {
    /// Returns the announcement under review.
    pub(super) fn at(&self) -> Option<AnnouncementId> {
        self.at
    }

    /// Reviews an announcement.
    pub(super) fn look_at(&mut self, id: AnnouncementId) {
        self.at = Some(id);
    }

    /// Returns to the newest announcement; returns whether another one was under review.
    pub(super) fn leave(&mut self) -> bool {
        self.at.take().is_some()
    }

    /// Returns the part on display of the announcement under review; a negative one counts from the end.
    pub(super) fn page(&self) -> isize {
        let of_this = self.page.filter(|(id, _)| Some(*id) == self.at);
        of_this.map_or(0, |(_, page)| page)
    }

    /// Shows another part of the announcement under review.
    fn show_page(&mut self, by: isize) {
        let page = self.page() + by;
        self.page = self.at.map(|id| (id, page));
    }

    /// Returns the chosen word.
    fn spelling(&self) -> &Spelling {
        &self.spelling
    }

    /// Returns the chosen word, for changes.
    fn spelling_mut(&mut self) -> &mut Spelling {
        &mut self.spelling
    }

    /// Notes where a text was found, and reviews that announcement.
    fn note_found(&mut self, text: &str, found: AnnouncementId, hit: Hit) {
        self.look_at(found);
        let text = text.to_owned();
        self.searched = Some(SearchState { text, found, hit });
    }

    /// Returns the text of the last search.
    pub(super) fn searched(&self) -> Option<String> {
        self.searched.as_ref().map(|last| last.text.clone())
    }

    /// Returns the last hit for the same text, from which the search continues.
    fn found(&self, text: &str) -> Option<AnnouncementId> {
        let last = self.searched.as_ref().filter(|last| last.text == text);
        last.map(|last| last.found)
    }

    /// Returns the hit under review.
    pub(super) fn hit(&self) -> Option<Hit> {
        let searched = self.searched.as_ref()?;
        (Some(searched.found) == self.at).then_some(searched.hit)
    }

    /// Ends the search, so that the next one starts again.
    pub(super) fn leave_search(&mut self) {
        self.searched = None;
    }

    /// Ends reading in parts.
    pub(super) fn close_reading(&mut self) {
        self.reading.close();
    }

    /// Notes the time of a key or a line.
    pub(super) fn note_hand(&mut self, now: Duration) {
        let last = self.last.replace(now).unwrap_or_default();
        if now >= last + ABSENCE {
            self.away_since = Some(last);
        }
    }

    /// Returns since when the person was away before the present visit; the start of the run if they were never
    /// there.
    fn away_since(&self) -> Duration {
        self.away_since.unwrap_or_default()
    }
}
