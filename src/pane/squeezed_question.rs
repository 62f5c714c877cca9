//! A question on a screen with too few rows for it and for what is said about it.
//!
//! Responsibilities: which of its rows stay beside the second step, or beside a response that needs its rows. Not here:
//! all of a question, in pages (`question_block`).
//!
//! # Mental model
//! Whatever is said, what hearken found and what the agent asks are both in view, in this order and each at least with
//! its first row. What is cut ends with a sign.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::announce::{Announcement, Mark};
use crate::app::{QuestionVisibility, ShownQuestion, VisiblePage};
use crate::session::Question;

use super::asked_rows::{Block, asked};
use super::question_head::head;
use super::text_rows::{self, PaneRow};
use super::{View, edit_rows, reply_region};

/// Adds the second step below the question if there is room for both, or else below as much of it as fits.
pub(super) fn second_step(
    view: View<'_>,
    shown: &ShownQuestion,
    question: &Question,
    mut head: Vec<PaneRow>,
    place: Rect,
) -> Block {
    let width = place.width.min(text_rows::WIDEST);
    let step = reply_region::rows(view, width, view.look.heading());
    let whole = asked(view, question, width).all(view, place.height);
    let room = usize::from(place.height);
    let count = head.len();
    if count + whole.len() + step.len() <= room {
        head.extend(whole);
        let left = room - head.len() - step.len();
        let mut drawn = None;
        if left >= edit_rows::FEWEST {
            let change = edit_rows::rows(view, question, width, left);
            head.extend(change.rows);
            drawn = change.drawn;
        }
        let focus = head.len();
        head.extend(step);
        return Block {
            rows: head,
            focus,
            showing: QuestionVisibility::Page(VisiblePage {
                change: drawn,
                ..VisiblePage::single_page(shown.question)
            }),
        };
    }
    let is_named = |told: &Arc<Announcement>| told.segments.iter().any(|it| it.mark == Mark::Agent);
    let rows = match view.app.answers().iter().any(is_named) {
        // The step has the action, and what hearken found is in view above it.
        true => {
            let found = asked(view, question, width).found.concat();
            divided(found, step.clone(), room.saturating_sub(count), width).0
        }
        false => squeezed(
            view,
            question,
            room.saturating_sub(count + step.len()),
            width,
        ),
    };
    head.extend(rows);
    let focus = head.len();
    head.extend(text_rows::fitting(step, room.saturating_sub(focus), width));
    Block {
        rows: head,
        focus,
        showing: QuestionVisibility::SideQuestion,
    }
}

/// Builds what stays of a question beside a response, for which it leaves as many rows as it can.
pub(super) fn beside(
    view: View<'_>,
    question: &Question,
    place: Rect,
    response: usize,
) -> Vec<PaneRow> {
    let width = place.width.min(text_rows::WIDEST);
    let room = usize::from(place.height);
    let mut rows = head(view, question, place.width, None);
    let least = rows.len() + room.saturating_sub(rows.len()).div_ceil(2);
    let kept = room.saturating_sub(response).max(least);
    rows.truncate(kept);
    let left = kept - rows.len();
    rows.extend(squeezed(view, question, left, width));
    rows
}

/// Returns what hearken found and what the agent asks, as far as they fit; with more room, also what follows.
fn squeezed(view: View<'_>, question: &Question, room: usize, width: u16) -> Vec<PaneRow> {
    let asked = asked(view, question, width);
    let mut rows = subject(view, (asked.found.concat(), asked.subject), room, width);
    let left = room.saturating_sub(rows.len());
    rows.extend(text_rows::fitting(asked.rest, left, width));
    rows
}

/// Returns what hearken found and what the agent asks, as far as they fit.
pub(super) fn subject(
    view: View<'_>,
    (mut found, mut subject): (Vec<PaneRow>, Vec<PaneRow>),
    room: usize,
    width: u16,
) -> Vec<PaneRow> {
    // The head says who asks, and of no high risk everybody is told before: the action itself needs the rows.
    let led = subject.iter().take_while(|row| !row.text.starts_with(' '));
    let led = led.count();
    let mut lead: Vec<PaneRow> = subject.drain(..led).collect();
    let spare = room.saturating_sub(found.len() + subject.len());
    let is_grave = lead
        .first()
        .is_some_and(|row| row.style == view.look.danger());
    if lead.len() > spare.max(1) && lead.last().is_some_and(|row| row.text.ends_with(':')) {
        lead.pop();
    }
    match lead.len() <= spare || is_grave {
        true => found.extend(lead),
        false => found.extend(lead.into_iter().take(spare)),
    }
    let (mut rows, action) = divided(found, subject, room, width);
    rows.extend(action);
    rows
}

/// Returns as much of two texts as fits: if not all of both, the second has half of the room, or what the first leaves.
fn divided(
    first: Vec<PaneRow>,
    second: Vec<PaneRow>,
    room: usize,
    width: u16,
) -> (Vec<PaneRow>, Vec<PaneRow>) {
    let most = room.div_ceil(2).max(room.saturating_sub(first.len()));
    let below = second.len().min(most);
    let first = text_rows::fitting(first, room - below, width);
    (first, text_rows::fitting(second, below, width))
}
