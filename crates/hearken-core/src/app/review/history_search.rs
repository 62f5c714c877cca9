//! Searching the history.

use crate::announce::{Announcement, AnswerMethod, Arg};

use super::{Hit, Review};
use crate::app::{Activity, AppCx};

impl Review {
    /// Searches the history backwards from the place under review; without a text, opens the editor.
    pub(in crate::app) fn search(&mut self, text: Option<String>, cx: &mut AppCx) {
        match text {
            Some(text) => self.find(&text, cx),
            None => {
                cx.doing = Activity::searching();
                cx.respond("search.editing", &[]);
            }
        }
    }

    /// Searches for the typed text; without any, repeats the last search.
    pub(in crate::app) fn submit_search(&mut self, typed: String, cx: &mut AppCx) {
        cx.doing = Activity::Watching;
        let last = self.searched();
        match Some(typed).filter(|text| !text.is_empty()).or(last) {
            Some(text) => self.find(&text, cx),
            None => cx.respond("search.left", &[]),
        }
    }

    fn find(&mut self, text: &str, cx: &mut AppCx) {
        // The same search continues from its last hit; a new one starts at the end.
        let from = self.found(text);
        match cx.announcer.find(text, from) {
            Some(told) => {
                let (place, count) = cx.announcer.place_among(text, told.id);
                let hit = Hit { place, count };
                self.note_found(text, told.id, hit);
                say_found(&told, hit, cx);
            }
            None => {
                let key = if from.is_some() {
                    "search.no_more"
                } else {
                    "search.none"
                };
                self.leave_search();
                cx.respond(key, &[("text", Arg::Name(text.to_owned()))]);
            }
        }
    }
}

/// Announces what a search found, and which of its hits it is.
fn say_found(told: &Announcement, hit: Hit, cx: &mut AppCx) {
    let args = [
        ("place", Arg::own(hit.place)),
        ("count", Arg::own(hit.count)),
    ];
    let again = match cx.face.manner() {
        AnswerMethod::Lines | AnswerMethod::Program => {
            cx.respond("search.hit", &args);
            cx.announcer.repeat(told)
        }
        AnswerMethod::Keys => {
            let words = cx.words("search.hit", &args);
            cx.announcer.repeat_after(words, told)
        }
    };
    cx.emit(again);
}
