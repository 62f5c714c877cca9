//! Searching the history.

use crate::announce::{Announcement, Arg, Manner};
use crate::protocol::Now;

use super::Hit;
use crate::app::App;
use crate::app::activity::Doing;

impl App {
    /// Returns the hit under review; `None` if something else is.
    pub fn hit(&self) -> Option<Hit> {
        self.review.hit()
    }

    /// Searches the history backwards from the place under review; without a text, opens the editor.
    pub(in crate::app) fn search(&mut self, text: Option<String>, now: Now) {
        match text {
            Some(text) => self.find(&text, now),
            None => {
                self.cx.doing = Doing::searching();
                self.cx.respond("search.editing", &[], now);
            }
        }
    }

    /// Searches for the typed text; without any, repeats the last search.
    pub(in crate::app) fn submit_search(&mut self, typed: String, now: Now) {
        self.cx.doing = Doing::Watching;
        let last = self.review.searched();
        match Some(typed).filter(|text| !text.is_empty()).or(last) {
            Some(text) => self.find(&text, now),
            None => self.cx.respond("search.left", &[], now),
        }
    }

    fn find(&mut self, text: &str, now: Now) {
        // The same search goes on from its last hit; a new one starts at the end.
        let from = self.review.found(text);
        match self.cx.announcer.find(text, from) {
            Some(told) => {
                let (place, count) = self.cx.announcer.place_among(text, told.id);
                let hit = Hit { place, count };
                self.review.find(text, told.id, hit);
                self.say_found(&told, hit, now);
            }
            None => {
                let key = if from.is_some() {
                    "search.no_more"
                } else {
                    "search.none"
                };
                self.review.leave_search();
                self.cx
                    .respond(key, &[("text", Arg::Name(text.to_owned()))], now);
            }
        }
    }

    /// Announces what a search found, and which of its hits it is.
    pub(in crate::app) fn say_found(&mut self, told: &Announcement, hit: Hit, now: Now) {
        let args = [
            ("place", Arg::own(hit.place)),
            ("count", Arg::own(hit.count)),
        ];
        let again = match self.cx.face.manner() {
            Manner::Lines | Manner::Program => {
                self.cx.respond("search.hit", &args, now);
                self.cx.announcer.repeat(told)
            }
            Manner::Keys => {
                let level = self.cx.announcer.verbosity();
                let words = self.cx.announcer.phrases().say("search.hit", level, &args);
                self.cx.announcer.repeat_after(words, told)
            }
        };
        self.cx.emit(again, now);
    }
}
