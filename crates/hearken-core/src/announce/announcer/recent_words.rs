//! What was announced recently, so that it is not repeated.
//!
//! Responsibilities: finding out whether the same words of the same session were announced. Not here: for which
//! announcements that matters (`publish`).

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::time::Duration;

use foldhash::quality::FixedState;

use crate::announce::announcement::{Announcement, Presentation};
use crate::session::SessionKey;

/// How long the same words of the same session stay unspoken, if they are activity or progress.
const REPEAT: Duration = Duration::from_secs(10);
/// How many recent announcements are compared.
const MOST_RECENT: usize = 64;

/// The most recent announcements.
#[derive(Debug, Default)]
pub(super) struct RecentAnnouncements(VecDeque<RecentWords>);

impl RecentAnnouncements {
    /// Returns whether the same was announced recently; if not, records it. An announcement that was only shown
    /// does not keep a later one from being spoken.
    pub(super) fn has(&mut self, announcement: &Announcement) -> bool {
        let said = RecentWords::by(announcement);
        // The entries are in the order in which they came.
        while (self.0.front()).is_some_and(|before| before.at + REPEAT <= said.at) {
            self.0.pop_front();
        }
        let repeated = self.0.iter().any(|before| before.covers(&said));
        if !repeated {
            self.0.push_back(said);
            if self.0.len() > MOST_RECENT {
                self.0.pop_front();
            }
        }
        repeated
    }
}

/// The words of a session and their time, for finding out whether they are repeated.
#[derive(Debug)]
struct RecentWords {
    at: Duration,
    /// A hash of the fields below: thousands of concurrent agents say nearly the same, each in its own session.
    mark: u64,
    key: Option<SessionKey>,
    words: String,
    /// Whether it is spoken, not only shown.
    is_spoken: bool,
}

impl RecentWords {
    fn by(announcement: &Announcement) -> Self {
        let (key, words) = (announcement.key.clone(), announcement.text());
        Self {
            at: announcement.at.monotonic,
            mark: FixedState::default().hash_one((&key, &words)),
            key,
            words,
            is_spoken: announcement.aloud == Presentation::Spoken,
        }
    }

    fn covers(&self, other: &Self) -> bool {
        (self.is_spoken || !other.is_spoken)
            && self.mark == other.mark
            && self.key == other.key
            && self.words == other.words
    }
}
