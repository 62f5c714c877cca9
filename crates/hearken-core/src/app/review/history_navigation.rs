//! Going through the history, and repeating announcements.

use std::sync::Arc;

use crate::announce::{
    Announcement, AnnouncementId, AnswerMethod, Arg, Class, History, Presentation, Quote, QuoteKind,
};
use crate::keys;
use crate::session::QuestionId;

use super::Review;
use crate::app::change_visibility::ChangeVisibility;
use crate::app::{Activity, AppCx};

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

impl Review {
    /// Passes over several announcements of the history; in the help, over as many rows.
    pub(in crate::app) fn leap(&mut self, leap: Leap, cx: &mut AppCx) {
        if let Activity::Helping { scroll, .. } = &mut cx.doing {
            *scroll = match leap {
                Leap::Back => scroll.saturating_sub(LEAP),
                Leap::Forward => (*scroll + LEAP).min(keys::BINDINGS.len() * 2),
                Leap::First => 0,
            };
            return;
        }
        let in_turn = match leap {
            Leap::Back => self.leap_part(false, cx),
            Leap::Forward => self.leap_part(true, cx),
            Leap::First => false,
        };
        if in_turn {
            return;
        }
        self.reading.close();
        let worth = |told: &&Arc<Announcement>| told.class != Class::Response;
        let history = cx.announcer.history();
        let review = self.at();
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
                self.look_at(told.id);
                say_again(&told, cx);
            }
            (None, Leap::Forward) => {
                self.leave();
                cx.respond("history.end", &[]);
            }
            (None, Leap::Back | Leap::First) if history.is_empty() => {
                cx.respond("history.empty", &[]);
            }
            (None, Leap::Back | Leap::First) => cx.respond("history.start", &[]),
        }
    }

    /// Shows another part of the long announcement under review; without one, reviews the last announcement.
    pub(in crate::app) fn turn_page(
        &mut self,
        by: isize,
        shown: Option<QuestionId>,
        sight: ChangeVisibility,
        cx: &mut AppCx,
    ) {
        if self.read_part(by > 0, shown, sight, cx) {
            return;
        }
        if cx.face.manner() != AnswerMethod::Keys {
            cx.respond("reading.none", &[]);
            return;
        }
        match self.at() {
            Some(_) => {
                self.show_page(by);
                // A screen shows the part; by ear, all of it was said.
                if cx.has_voice() {
                    cx.answer_heard("review.all", &[]);
                }
            }
            None => match last_told(cx.announcer.history()).cloned() {
                Some(told) => {
                    self.look_at(told.id);
                    say_again(&told, cx);
                }
                None => cx.respond("history.empty", &[]),
            },
        }
    }

    /// Repeats the announcement under review, or else the last one.
    pub(in crate::app) fn repeat(&mut self, cx: &mut AppCx) {
        let at = self
            .at()
            .and_then(|id| cx.announcer.history().get(id))
            .or_else(|| last_told(cx.announcer.history()))
            .cloned();
        // The whole announcement is under review again, not a single word.
        self.spelling_mut().choose(None);
        match at {
            Some(told) => say_again(&told, cx),
            None => cx.respond("history.empty", &[]),
        }
    }

    /// Reviews one announcement.
    pub(in crate::app) fn go_to(&mut self, id: AnnouncementId, cx: &mut AppCx) {
        let Some(told) = cx.announcer.history().get(id).cloned() else {
            return;
        };
        self.reading.close();
        self.look_at(id);
        say_again(&told, cx);
    }

    /// Moves one step in the history; in the help, one row.
    pub(in crate::app) fn step(&mut self, step: Direction, cx: &mut AppCx) {
        if let Activity::Helping { scroll, .. } = &mut cx.doing {
            *scroll = match step {
                Direction::Back => scroll.saturating_sub(1),
                Direction::Forward => (*scroll + 1).min(keys::BINDINGS.len() * 2),
                Direction::End => keys::BINDINGS.len() * 2,
            };
            return;
        }
        let worth = |told: &&Arc<Announcement>| told.class != Class::Response;
        let history = cx.announcer.history();
        let found = match (step, self.at()) {
            (Direction::Back, None) => last_told(cx.announcer.history()).cloned(),
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
                self.leave();
                self.leave_search();
                last_told(cx.announcer.history()).cloned()
            }
        };
        match found {
            Some(told) => {
                if step != Direction::End {
                    self.look_at(told.id);
                }
                say_again(&told, cx);
            }
            None => {
                let key = match step {
                    Direction::Back if cx.announcer.history().is_empty() => "history.empty",
                    Direction::Back if cx.announcer.history().left() > 0 => "history.start.bounded",
                    Direction::Back => "history.start",
                    Direction::Forward | Direction::End => {
                        self.leave();
                        "history.end"
                    }
                };
                let left = cx.announcer.history().left();
                cx.respond(key, &[("n", Arg::own(left))]);
            }
        }
    }

    /// Writes the last announcements again.
    pub(in crate::app) fn history_lines(&self, cx: &mut AppCx) {
        let last: Vec<Arc<Announcement>> = cx
            .announcer
            .history()
            .iter()
            .rev()
            .filter(|told| told.class != Class::Response && told.aloud != Presentation::Kept)
            .take(HISTORY_LINES)
            .cloned()
            .collect();
        if last.is_empty() {
            cx.respond("history.empty", &[]);
        }
        if !last.is_empty() {
            cx.respond("history.from", &[("n", Arg::own(last.len()))]);
        }
        for told in last.iter().rev() {
            let again = cx.announcer.repeat(told);
            cx.put(again);
        }
        cx.respond("history.end", &[]);
    }

    /// Reads everything that the agent wrote in the turn under review, or in the last one, and opens it for reading in
    /// parts.
    pub(in crate::app) fn whole_turn(&mut self, cx: &mut AppCx) {
        match cx.announcer.turn(self.at()) {
            Some(mut turn) => {
                let words = std::mem::take(&mut turn.words);
                let quote = Quote {
                    agent: Arc::clone(&turn.agent),
                    kind: QuoteKind::Text,
                };
                let whole = turn.copied.first().map(|whole| Arc::clone(&whole.text));
                self.reading.open_turn(turn);
                let told = cx.announcer.quoting(words, vec![quote], cx.now);
                let told = Arc::unwrap_or_clone(told).repeating(&whole.unwrap_or_default());
                cx.emit(Arc::new(told));
            }
            None => cx.respond("turn.none", &[]),
        }
    }

    /// Announces in three sentences what happened while the person was away.
    pub(in crate::app) fn away(&self, waiting: usize, cx: &mut AppCx) {
        let since = self.away_since();
        let words = cx.announcer.away((since, cx.now), waiting, &cx.sessions);
        cx.respond("fault.other", &[("reason", Arg::Own(words))]);
    }

    /// Returns the announcement under review, or the last one.
    pub(in crate::app) fn reviewed_announcement(&self, cx: &AppCx) -> Option<Arc<Announcement>> {
        self.at()
            .and_then(|id| cx.announcer.history().get(id))
            .or_else(|| last_told(cx.announcer.history()))
            .filter(|told| told.aloud != Presentation::Heard)
            .cloned()
    }
}

/// Returns the last announcement; answers to keys do not count, because they are not news.
fn last_told(history: &History) -> Option<&Arc<Announcement>> {
    let mut told = history.iter().rev();
    told.find(|told| told.class != Class::Response && told.aloud != Presentation::Kept)
}

/// Repeats an earlier announcement: aloud, and in line faces as a line, but not in the history.
fn say_again(told: &Announcement, cx: &mut AppCx) {
    if cx.face.manner() != AnswerMethod::Keys {
        // Without this, an old line would look like a new one.
        cx.respond("history.again", &[]);
    }
    let again = cx.announcer.repeat(told);
    cx.emit(again);
}
