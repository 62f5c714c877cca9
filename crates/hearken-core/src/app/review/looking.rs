//! Going through the history, and repeating announcements.

use std::sync::Arc;

use crate::announce::{Aloud, Announcement, Class, Kind, Manner};
use crate::keys;
use crate::protocol::Now;

use crate::announce::Arg;
use crate::app::App;
use crate::app::activity::Doing;

/// How many announcements the line `h` repeats.
const HISTORY_LINES: usize = 10;

/// How many announcements a leap passes over.
const LEAP: usize = 10;

/// The direction of a leap in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Leap {
    /// Towards the beginning.
    Back,
    /// Towards the end.
    Forward,
    /// To the beginning.
    First,
}

/// The direction of a step in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Direction {
    /// Towards the beginning.
    Back,
    /// Towards the end.
    Forward,
    /// To the end, which also leaves the review.
    End,
}

impl App {
    /// Passes over several announcements of the history; in the help, over as many rows.
    pub(in crate::app) fn leap(&mut self, leap: Leap, now: Now) {
        if let Doing::Helping { scroll } = &mut self.cx.doing {
            *scroll = match leap {
                Leap::Back => scroll.saturating_sub(LEAP),
                Leap::Forward => (*scroll + LEAP).min(keys::BINDINGS.len() * 2),
                Leap::First => 0,
            };
            return;
        }
        let in_turn = match leap {
            Leap::Back => self.leap_part(false, now),
            Leap::Forward => self.leap_part(true, now),
            Leap::First => false,
        };
        if in_turn {
            return;
        }
        self.reading.close();
        let worth = |told: &&Arc<Announcement>| told.class != Class::Response;
        let history = self.cx.announcer.history();
        let review = self.review.at();
        let found = match leap {
            Leap::Back => history
                .iter()
                .rev()
                .filter(worth)
                .filter(|told| review.is_none_or(|review| told.id < review))
                .take(LEAP)
                .last()
                .cloned(),
            Leap::Forward => history
                .iter()
                .filter(worth)
                .filter(|told| review.is_some_and(|review| told.id > review))
                .take(LEAP)
                .last()
                .cloned(),
            Leap::First => history.iter().find(worth).cloned(),
        };
        match (found, leap) {
            (Some(told), _) => {
                self.review.look_at(told.id);
                self.say_again(&told, now);
            }
            (None, Leap::Forward) => {
                self.review.leave();
                self.cx.respond("history.end", &[], now);
            }
            (None, Leap::Back | Leap::First) if history.is_empty() => {
                self.cx.respond("history.empty", &[], now);
            }
            (None, Leap::Back | Leap::First) => self.cx.respond("history.start", &[], now),
        }
    }

    /// Shows another part of the long announcement under review; without one, reviews the last announcement.
    pub(in crate::app) fn turn_page(&mut self, by: isize, now: Now) {
        if self.read_part(by > 0, now) {
            return;
        }
        if self.cx.face.manner() != Manner::Keys {
            self.cx.respond("reading.none", &[], now);
            return;
        }
        match self.review.at() {
            Some(_) => self.review.turn_page(by),
            None => match self.last_told().cloned() {
                Some(told) => {
                    self.review.look_at(told.id);
                    self.say_again(&told, now);
                }
                None => self.cx.respond("history.empty", &[], now),
            },
        }
    }

    /// Repeats the announcement under review, or else the last one.
    pub(in crate::app) fn repeat(&mut self, now: Now) {
        let at = self
            .review
            .at()
            .and_then(|id| self.cx.announcer.history().get(id))
            .or_else(|| self.last_told())
            .cloned();
        // The whole announcement is under review again, no single word.
        self.review.spelling_mut().choose(None);
        match at {
            Some(told) => self.say_again(&told, now),
            None => self.cx.respond("history.empty", &[], now),
        }
    }

    /// Returns the last announcement; answers to keys do not count, because they are not news.
    pub(in crate::app) fn last_told(&self) -> Option<&Arc<Announcement>> {
        self.cx
            .announcer
            .history()
            .iter()
            .rev()
            .find(|told| told.class != Class::Response && told.aloud != Aloud::Kept)
    }

    /// Moves one step in the history; in the help, one row.
    pub(in crate::app) fn step(&mut self, step: Direction, now: Now) {
        if let Doing::Helping { scroll } = &mut self.cx.doing {
            *scroll = match step {
                Direction::Back => scroll.saturating_sub(1),
                Direction::Forward => (*scroll + 1).min(keys::BINDINGS.len() * 2),
                Direction::End => keys::BINDINGS.len() * 2,
            };
            return;
        }
        let worth = |told: &&Arc<Announcement>| told.class != Class::Response;
        let history = self.cx.announcer.history();
        let found = match (step, self.review.at()) {
            (Direction::Back, None) => self.last_told().cloned(),
            (Direction::Back, Some(id)) => history
                .iter()
                .rev()
                .filter(worth)
                .find(|told| told.id < id)
                .cloned(),
            (Direction::Forward, Some(id)) => history
                .iter()
                .filter(worth)
                .find(|told| told.id > id)
                .cloned(),
            (Direction::Forward | Direction::End, None) => None,
            (Direction::End, Some(_)) => {
                self.review.leave();
                self.review.leave_search();
                self.last_told().cloned()
            }
        };
        match found {
            Some(told) => {
                if step != Direction::End {
                    self.review.look_at(told.id);
                }
                self.say_again(&told, now);
            }
            None => {
                let key = match step {
                    Direction::Back if self.cx.announcer.history().is_empty() => "history.empty",
                    Direction::Back if self.cx.announcer.history().left() > 0 => {
                        "history.start.bounded"
                    }
                    Direction::Back => "history.start",
                    Direction::Forward | Direction::End => {
                        self.review.leave();
                        "history.end"
                    }
                };
                let left = self.cx.announcer.history().left();
                self.cx.respond(key, &[("n", Arg::own(left))], now);
            }
        }
    }

    /// Repeats an earlier announcement: aloud, and in line faces as a line, but not in the history.
    pub(in crate::app) fn say_again(&mut self, told: &Announcement, now: Now) {
        if self.cx.face.manner() != Manner::Keys {
            // Without words of ours an old line would look like a new one.
            self.cx.respond("history.again", &[], now);
        }
        let again = self.cx.announcer.repeat(told);
        self.cx.emit(again, now);
    }

    /// Writes the last announcements again.
    pub(in crate::app) fn history_lines(&mut self, now: Now) {
        let last: Vec<Arc<Announcement>> = self
            .cx
            .announcer
            .history()
            .iter()
            .rev()
            .filter(|told| told.class != Class::Response && told.aloud != Aloud::Kept)
            .take(HISTORY_LINES)
            .cloned()
            .collect();
        if last.is_empty() {
            self.cx.respond("history.empty", &[], now);
        }
        if !last.is_empty() {
            self.cx
                .respond("history.from", &[("n", Arg::own(last.len()))], now);
        }
        for told in last.iter().rev() {
            let again = self.cx.announcer.repeat(told);
            self.cx.put(again);
        }
        self.cx.respond("history.end", &[], now);
    }

    /// Reads everything that the agent wrote in the turn under review, or in the last one, and opens it for reading in
    /// parts.
    pub(in crate::app) fn whole_turn(&mut self, now: Now) {
        match self.cx.announcer.turn(self.review.at()) {
            Some(mut turn) => {
                let words = std::mem::take(&mut turn.words);
                self.reading.open_turn(turn);
                let told = self
                    .cx
                    .announcer
                    .aside(Class::Response, Kind::Output, words, now);
                self.cx.emit(told, now);
            }
            None => self.cx.respond("turn.none", &[], now),
        }
    }

    /// Announces in three sentences what happened while the person was away.
    pub(in crate::app) fn away(&mut self, now: Now) {
        let since = self.review.away_since();
        let words = self
            .cx
            .announcer
            .away((since, now), self.waiting(), &self.cx.sessions);
        self.cx
            .respond("fault.other", &[("reason", Arg::Own(words))], now);
    }

    /// Returns the announcement under review, or the last one.
    pub(in crate::app) fn looked_at(&self) -> Option<Arc<Announcement>> {
        self.review
            .at()
            .and_then(|id| self.cx.announcer.history().get(id))
            .or_else(|| self.last_told())
            .filter(|told| told.aloud != Aloud::Heard)
            .cloned()
    }
}
