//! A question in rows: what hearken found, what the agent asks, and what follows.
//!
//! Responsibilities: whose each row is, and in which order they come. Not here: pages, and the second step
//! (`question_block`, `squeezed_question`).

use ratatui::style::Style;

use crate::announce::{Arg, Mark, QuestionInSight, Segment};
use crate::app::QuestionVisibility;
use crate::protocol::{AwaitingConfirmation, RiskLevel};
use crate::session::{Question, QuestionBody};

use super::View;
use super::text_rows::{self, PaneRow};

/// What precedes each row of what hearken found.
const MARK: &str = "! ";

/// The rows of the head of a page on a narrow screen.
const PAGED_HEAD: usize = 2;

/// The indentation of an agent's words, on a narrow and on a wide screen.
const SET_IN: (u16, u16) = (2, 4);

/// A drawn question.
pub(super) struct Block {
    pub(super) rows: Vec<PaneRow>,
    /// The row that has the attention.
    pub(super) focus: usize,
    /// How much of the question it shows.
    pub(super) showing: QuestionVisibility,
}

/// A question in rows.
pub(super) struct AskedRows {
    /// What hearken found, each with a mark in front of every row.
    pub(super) found: Vec<Vec<PaneRow>>,
    /// The risk, and what the agent asks.
    pub(super) subject: Vec<PaneRow>,
    /// What follows: the consequence, the choices.
    pub(super) rest: Vec<PaneRow>,
}

/// Returns a question in rows; the remaining time is in the head alone.
pub(super) fn asked(view: View<'_>, question: &Question, width: u16) -> AskedRows {
    let announcer = view.app.announcer();
    let whole = announcer.in_full(question, view.app.sessions());
    let (subject, rest) = whole.words.split_at(subject_of(&whole.words));
    AskedRows {
        found: findings(view, &whole, width),
        subject: words_of(view, question, subject, width, true),
        rest: words_of(view, question, rest, width, false),
    }
}

impl AskedRows {
    /// Returns all rows, what hearken found first. If they need several pages, the action comes before findings that
    /// would leave it no room on the first.
    pub(super) fn all(mut self, view: View<'_>, height: u16) -> Vec<PaneRow> {
        let mut room = usize::from(height).saturating_sub(PAGED_HEAD + self.subject.len());
        let all = self.found.iter().map(Vec::len).sum::<usize>() + self.rest.len();
        let later = match view.regions || all <= room {
            true => Vec::new(),
            false => {
                let fits = |rows: &&Vec<PaneRow>| {
                    let is_room = rows.len() <= room;
                    room = room.saturating_sub(rows.len());
                    is_room
                };
                let first = self.found.iter().take_while(fits).count();
                self.found.split_off(first.max(1).min(self.found.len()))
            }
        };
        let mut rows = self.found.concat();
        rows.extend(self.subject);
        rows.extend(later.concat());
        rows.extend(self.rest);
        rows
    }
}

/// Returns how many of the words of a question lead up to what the agent wants.
fn subject_of(words: &[Segment]) -> usize {
    let first = words.iter().position(|part| part.mark == Mark::Agent);
    first.map_or(words.len(), |first| first + 1)
}

/// Returns what hearken found about an action, each with a mark in front of every row.
fn findings(view: View<'_>, whole: &QuestionInSight, width: u16) -> Vec<Vec<PaneRow>> {
    let found = whole.findings.iter().map(|(words, grave)| {
        let style = if *grave {
            view.look.danger()
        } else {
            view.look.own()
        };
        let inside = width.saturating_sub(text_rows::HANG).max(1);
        text_rows::led_by(text_rows::own(words, inside, style), MARK, MARK)
    });
    found.collect()
}

/// Breaks the words of a question into rows: hearken's from the edge, the agent's indented below a row that says
/// whose they are. `first` is whether the question begins with them.
pub(super) fn words_of(
    view: View<'_>,
    question: &Question,
    segments: &[Segment],
    width: u16,
    mut first: bool,
) -> Vec<PaneRow> {
    let look = view.look;
    let by = if width < text_rows::NARROW {
        SET_IN.0
    } else {
        SET_IN.1
    };
    let mut rows = Vec::new();
    let mut labelled = false;
    let written = |segment: &&Segment| !segment.text().trim().is_empty();
    for segment in segments.iter().filter(written) {
        match segment.mark {
            Mark::Own => {
                rows.extend(text_rows::own(
                    segment.text(),
                    width,
                    risk(view, question, first),
                ));
                labelled = segment.text().trim_end().ends_with([':', '：']);
            }
            Mark::Agent => {
                if !labelled {
                    let name = [("agent", Arg::Name(view.app.agent_of(question)))];
                    let label = format!("{}:", view.app.phrases().text("label.asks", &name));
                    let beside = format!(" {label}");
                    let last = rows.last_mut().filter(|last: &&mut PaneRow| {
                        // On a small screen, every row counts.
                        let is_ours = !view.regions && !last.text.starts_with(' ');
                        is_ours && last.style == look.own() && last.has_room(&beside, width)
                    });
                    match last {
                        Some(last) => last.text.push_str(&beside),
                        None => rows.extend(text_rows::own(&label, width, look.own())),
                    }
                }
                let inside = width.saturating_sub(by).max(1);
                let text = segment.text();
                let words = match segment.is_on_rows() {
                    true => text_rows::exact(text, question.direction, inside, look.text()),
                    false => {
                        text_rows::mixed("", text, "", question.direction, inside, look.text())
                    }
                };
                rows.extend(text_rows::set_in(words, by));
                labelled = false;
            }
        }
        first = false;
    }
    rows
}

/// Returns the style of hearken's words: that of danger for the first, if they report a high risk. An unknown risk is
/// neither high nor low.
fn risk(view: View<'_>, question: &Question, first: bool) -> Style {
    let is_high = |asked: &AwaitingConfirmation| {
        let stated = [asked.risk_level.as_ref(), question.tool_risk()];
        stated.contains(&Some(&RiskLevel::High))
    };
    match &question.body {
        QuestionBody::Confirmation(asked) if first && is_high(asked) => view.look.danger(),
        QuestionBody::Confirmation(_) | QuestionBody::Clarification(_) => view.look.own(),
    }
}
