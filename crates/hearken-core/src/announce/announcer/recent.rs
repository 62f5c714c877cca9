//! What was said shortly before, so that it is not said again.
//!
//! Responsibilities: finding out whether the same words of the same session were said. Not here: of what that is asked
//! (`publish`).

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::time::Duration;

use foldhash::quality::FixedState;

use crate::announce::announcement::Announcement;
use crate::session::SessionKey;

/// The same words of the same source are silent for this long, if they are activity or progress.
const REPEAT: Duration = Duration::from_secs(10);
/// How many recent words are compared with.
const MOST_RECENT: usize = 64;

/// What was said last.
#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<Said>);

impl Recent {
    /// Returns whether the same was said shortly before; what was not is said now.
    pub(super) fn has(&mut self, announcement: &Announcement) -> bool {
        let said = Said::by(announcement);
        // They stand in the order in which they came.
        while (self.0.front()).is_some_and(|before| before.at + REPEAT <= said.at) {
            self.0.pop_front();
        }
        let repeated = self.0.iter().any(|before| before.is(&said));
        if !repeated {
            self.0.push_back(said);
            if self.0.len() > MOST_RECENT {
                self.0.pop_front();
            }
        }
        repeated
    }
}

/// What was said of a session, and when, to find out whether it is said once more.
#[derive(Debug)]
struct Said {
    at: Duration,
    /// A hash of the rest: with thousands of agents at once, all say nearly the same, and each in the name of its own session.
    mark: u64,
    key: Option<SessionKey>,
    words: String,
}

impl Said {
    fn by(announcement: &Announcement) -> Self {
        let (key, words) = (announcement.key.clone(), announcement.text());
        Self {
            at: announcement.at.monotonic,
            mark: FixedState::default().hash_one((&key, &words)),
            key,
            words,
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.mark == other.mark && self.key == other.key && self.words == other.words
    }
}
