//! The question that keys apply to, as a block of its own, complete if there is room.
//!
//! # Mental model
//! Hearken's words about a question begin at the edge: its head, how bad it is, what silence does, the keys. The agent's
//! words are indented under a row that says whose they are, so none can pass for a risk or a key of hearken's. What does
//! not fit is shown in pages, each under the head. Pages depend on the available space alone.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::layout::Rect;

use crate::announce::takes_two_steps;
use crate::app::{QuestionVisibility, ShownQuestion, VisiblePage};
use crate::keys::Mode;
use crate::session::Question;

use super::asked_rows::{Block, asked, words_of};
use super::question_head::{Page, head};
use super::text_rows::{self, PaneRow};
use super::{View, choices, edit_rows, key_hints, squeezed_question};

/// The fewest rows below the words of a question that can page through its changes; with fewer, the changes take the
/// place of the words.
const TURNED_BELOW: usize = 8;

/// A page ends at the end of a sentence or a part if there is one in this share of its last rows.
const TAIL: usize = 3;

/// Builds the block for the available space.
pub(super) fn block(
    view: View<'_>,
    shown: &ShownQuestion,
    question: &Question,
    place: Rect,
) -> Block {
    let room = usize::from(place.height);
    let mut head = head(view, question, place.width, None);
    head.truncate(room.saturating_sub(1).max(1));
    let width = place.width.min(text_rows::WIDEST);
    match view.app.mode() {
        Mode::Choosing(..) => {
            let (rows, focus) = choices::rows(view, question, head, width, room);
            Block {
                rows,
                focus,
                showing: QuestionVisibility::Choices(shown.question),
            }
        }
        Mode::Confirming(_) => squeezed_question::second_step(view, shown, question, head, place),
        Mode::Watching
        | Mode::Editing(_)
        | Mode::Searching
        | Mode::Prompting(_)
        | Mode::Quitting
        | Mode::Leaving(_)
        | Mode::Help => page(view, shown, question, place),
    }
}

/// Builds the current page. After the last page of the question come the pages of its details, and then the first
/// again.
fn page(view: View<'_>, shown: &ShownQuestion, question: &Question, place: Rect) -> Block {
    let width = place.width.min(text_rows::WIDEST);
    // The keys are on every page; if they currently do something else, their space is kept.
    let most = keys_row(view, key_hints::most_of_question(view.app), width).len();
    let room = usize::from(place.height).saturating_sub(most);
    let drawn = |page, pages, cut| VisiblePage {
        question: shown.question,
        page,
        pages,
        cut,
        change: None,
    };
    let whole = asked(view, question, width).all(view, place.height);
    let plain = head(view, question, place.width, None);
    let starts_of_asked = if plain.len() + whole.len() <= room {
        vec![0]
    } else {
        starts_below_head(view, question, place.width, (room, false), &whole)
    };
    let left = room.saturating_sub(plain.len() + whole.len());
    let is_read = view.app.change_read().is_some();
    if is_read && left < TURNED_BELOW && room > plain.len() {
        return turned(view, (shown, question), place, room);
    }
    if starts_of_asked.is_empty() {
        // There is room for the head only, whatever the page.
        let mut rows = plain;
        rows.truncate(room);
        return Block {
            rows,
            focus: 0,
            showing: QuestionVisibility::Page(drawn(0, usize::MAX, 0)),
        };
    }
    let pages = starts_of_asked.len();
    let (words, starts, page, in_full) = if shown.page < pages || is_read {
        let at = shown.page % pages;
        (whole, starts_of_asked, at, false)
    } else {
        let details = details(view, question, width);
        let starts = starts_below_head(view, question, place.width, (room, true), &details);
        let at = shown.page % (pages + starts.len());
        match at.checked_sub(pages) {
            Some(at) => (details, starts, at, true),
            None => (whole, starts_of_asked, at, false),
        }
    };
    // The details contain the whole question: a person who sees them first has it in view.
    let mut part = drawn(
        page,
        starts.len(),
        cut(question, in_full, width, &words, &starts),
    );
    let which = match (in_full, starts.len()) {
        (false, 1) => None,
        (details, count) => Some(Page {
            at: page + 1,
            count,
            details,
        }),
    };
    let start = starts.get(page).copied().unwrap_or(0);
    let end = starts.get(page + 1).copied().unwrap_or(words.len());
    let mut rows = head(view, question, place.width, which);
    let is_end = end == words.len() && !in_full;
    rows.extend(words.into_iter().take(end).skip(start));
    rows.truncate(room);
    if is_end {
        let change = edit_rows::rows(view, question, width, room - rows.len());
        rows.extend(change.rows);
        part.change = change.drawn;
    }
    let showing = QuestionVisibility::Page(part);
    rows.extend(keys_now(view, showing, width));
    Block {
        rows,
        focus: 0,
        showing,
    }
}

/// Builds what the question changes in place of its words, on a screen without room for both. This is not a page of the
/// question.
fn turned(
    view: View<'_>,
    (shown, question): (&ShownQuestion, &Question),
    place: Rect,
    room: usize,
) -> Block {
    let width = place.width.min(text_rows::WIDEST);
    let mut rows = head(view, question, place.width, None);
    // The change needs the rows, and who asks was on the page before.
    if room < TURNED_BELOW {
        rows.truncate(1);
    }
    let count = rows.len();
    let change = edit_rows::rows(view, question, width, room - count);
    rows.extend(change.rows);
    let showing = match change.drawn {
        Some(drawn) => QuestionVisibility::Change(shown.question, drawn),
        None => QuestionVisibility::SideQuestion,
    };
    rows.extend(keys_now(view, showing, width));
    Block {
        rows,
        focus: 0,
        showing,
    }
}

/// Returns where each page begins below its head, which includes the page number, and may have one more row for that;
/// none if there is room for the head only.
fn starts_below_head(
    view: View<'_>,
    question: &Question,
    width: u16,
    (room, details): (usize, bool),
    words: &[PaneRow],
) -> Vec<usize> {
    let mut found = Vec::new();
    for at in [8, 88, usize::MAX] {
        let count = at;
        let page = Page { at, count, details };
        let head = head(view, question, width, Some(page)).len();
        let body = room.saturating_sub(head);
        if body == 0 {
            return Vec::new();
        }
        found = starts(words, body);
        // The page numbers have no more digits than that.
        if found.len() <= at {
            break;
        }
    }
    found
}

/// Returns where each page begins: a page ends with a sentence if that costs few rows, and always with a word,
/// because rows do.
fn starts(rows: &[PaneRow], body: usize) -> Vec<usize> {
    let mut starts = vec![0];
    if body == 0 {
        return starts;
    }
    let mut start = 0;
    while rows.len() > start + body {
        let last = start + body;
        let earliest = last - (body / TAIL).min(body - 1);
        let cut = (earliest..=last)
            .rev()
            .find(|end| ends_a_sentence(&rows[end - 1].text))
            .unwrap_or(last);
        starts.push(cut);
        start = cut;
    }
    starts
}

/// Returns a number for a text and its division into pages, so that pages of the question, of its details and of
/// other sizes are not confused. The remaining time changes constantly, and counts only when it moves a row.
fn cut(question: &Question, in_full: bool, width: u16, rows: &[PaneRow], starts: &[usize]) -> u64 {
    let mut cut = DefaultHasher::new();
    (in_full, width, rows.len(), starts).hash(&mut cut);
    (
        question.reach,
        &question.token_use,
        takes_two_steps(question),
    )
        .hash(&mut cut);
    cut.finish()
}

fn ends_a_sentence(row: &str) -> bool {
    row.trim_end_matches(['"', '\'', ')', '”', '’', '»'])
        .ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '।'])
}

/// Returns keys in rows; none on a small screen, where they are below everything.
fn keys_row(view: View<'_>, units: Vec<String>, width: u16) -> Vec<PaneRow> {
    if !view.regions {
        return Vec::new();
    }
    let lead = format!("{} ", view.app.phrases().text("pane.keys", &[]));
    key_hints::lines(&lead, &units, width)
        .into_iter()
        .map(|row| PaneRow::own(row, view.look.own()))
        .collect()
}

/// Returns the keys that answer beside what is drawn, unless something else has the keys.
fn keys_now(view: View<'_>, showing: QuestionVisibility, width: u16) -> Vec<PaneRow> {
    match view.app.mode() {
        Mode::Watching => keys_row(view, key_hints::of_question(view.app, showing), width),
        Mode::Editing(_)
        | Mode::Searching
        | Mode::Prompting(_)
        | Mode::Choosing(..)
        | Mode::Confirming(_)
        | Mode::Quitting
        | Mode::Leaving(_)
        | Mode::Help => Vec::new(),
    }
}

fn details(view: View<'_>, question: &Question, width: u16) -> Vec<PaneRow> {
    let announcer = view.app.announcer();
    let words = announcer.details_in_sight(question, view.app.sessions());
    let words = words.get(1..).unwrap_or_default();
    words_of(view, question, words, width, true)
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn pages_end_with_a_sentence_where_one_ends_near_and_hold_every_row_once() {
        let rows = |texts: &[&str]| -> Vec<PaneRow> {
            let row = |text: &&str| PaneRow::own((*text).to_owned(), Style::new());
            texts.iter().map(row).collect()
        };
        let text = rows(&["a", "b", "c", "d.", "e", "f", "g", "h", "i.", "j"]);
        // Six rows of body: the sentence that ends two rows before the sixth is close enough.
        assert_eq!(starts(&text, 6), [0, 4]);
        // Four rows of body, and a sentence that ends with them.
        assert_eq!(starts(&text, 4), [0, 4, 8]);
        assert_eq!(starts(&text, 10), [0]);
        for body in 1..12 {
            let starts = starts(&text, body);
            assert!(starts.windows(2).all(|two| two[0] < two[1]), "{starts:?}");
            let ends = starts.iter().skip(1).copied().chain([text.len()]);
            for (start, end) in starts.iter().zip(ends) {
                assert!(end - start <= body, "{body}: {starts:?}");
            }
        }
    }
}
