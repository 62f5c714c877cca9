//! The help: the keys that do something now, then the groups that apply, then the others, in columns on a wide screen.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::{App, QuestionVisibility};

use super::text_rows::{self, PaneRow};
use super::{View, key_hints};

/// The narrowest column of keys.
const COLUMN: u16 = 44;
/// The columns between two of them.
const BETWEEN: u16 = 2;

/// The rows in sight, counted from 0, and how many rows there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HelpRows {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) count: usize,
}

/// Draws it, scrolled so that every key can be reached on the smallest screen; returns which rows are in sight, if some
/// are not.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) -> Option<HelpRows> {
    let all = all_rows(view, area.width);
    let first = view
        .app
        .help_scroll()
        .min(all.len().saturating_sub(usize::from(area.height)));
    text_rows::draw(frame, &all[first..], area);
    let rows = HelpRows {
        from: first,
        to: all.len().min(first + usize::from(area.height)),
        count: all.len(),
    };
    (rows.to - rows.from < rows.count).then_some(rows)
}

fn all_rows(view: View<'_>, width: u16) -> Vec<PaneRow> {
    let (app, look) = (view.app, view.look);
    let head = |words: String| PaneRow::head(words, look.region());
    let mut all: Vec<PaneRow> = Vec::new();
    let mut now = key_hints::of_question(app, QuestionVisibility::SideQuestion);
    now.extend(key_hints::when_watching(app));
    if !now.is_empty() {
        all.push(head(app.phrases().text("help.now", &[])));
        let lines = key_hints::lines("", &now, width.min(text_rows::WIDEST));
        all.extend(
            lines
                .into_iter()
                .map(|line| PaneRow::own(line, look.text())),
        );
    }
    let (apply, other): (Vec<_>, Vec<_>) = app
        .keymap()
        .help_in_groups()
        .into_iter()
        .partition(|(group, _)| applies(app, group));
    all.extend(in_columns(view, apply, width));
    if !other.is_empty() {
        all.push(head(app.phrases().text("help.other", &[])));
        all.extend(in_columns(view, other, width));
    }
    all
}

/// Returns whether the keys of a group are of use at present.
fn applies(app: &App, group: &str) -> bool {
    match group {
        "Questions" => !app.questions().is_empty(),
        "What the agent does" => app.takes_prompts() || app.conversation().is_some(),
        "The voice" => app.speaks(),
        _ => true,
    }
}

/// A group of keys: its head, and each key with what it does.
type HelpGroup = (&'static str, Vec<(String, &'static str)>);

/// Arranges groups in as many columns as have room.
fn in_columns(view: View<'_>, groups: Vec<HelpGroup>, width: u16) -> Vec<PaneRow> {
    let (app, look) = (view.app, view.look);
    let count = usize::from(((width + BETWEEN) / (COLUMN + BETWEEN)).clamp(1, 3));
    let gaps = BETWEEN * u16::try_from(count - 1).unwrap_or(0);
    let inside =
        (width.saturating_sub(gaps) / u16::try_from(count).unwrap_or(1)).min(text_rows::WIDEST);
    let groups = groups.into_iter().map(|(group, entries)| {
        let words = app.phrases().help(group).to_owned();
        let mut rows = vec![PaneRow::head(words, look.region())];
        for (keys, does) in entries {
            let words = format!("{keys}: {}", app.phrases().help(does));
            rows.extend(text_rows::hanging(
                "",
                &words,
                "",
                None,
                inside,
                look.text(),
            ));
        }
        rows
    });
    let groups: Vec<Vec<PaneRow>> = groups.collect();
    let total: usize = groups.iter().map(Vec::len).sum();
    // Each group stays in one column; a column takes groups until it has its share.
    let share = total.div_ceil(count);
    let mut columns: Vec<Vec<PaneRow>> = vec![Vec::new()];
    for group in groups {
        let is_full = columns.last().is_some_and(|last| {
            !last.is_empty() && last.len() + group.len() / 2 > share && columns.len() < count
        });
        if is_full {
            columns.push(Vec::new());
        }
        if let Some(last) = columns.last_mut() {
            last.extend(group);
        }
    }
    if columns.len() == 1 {
        return columns.into_iter().flatten().collect();
    }
    let cells: Vec<text_rows::TableCell> = columns
        .into_iter()
        .map(|rows| text_rows::TableCell {
            rows,
            width: usize::from(inside),
            right: false,
        })
        .collect();
    text_rows::beside(&cells, &" ".repeat(usize::from(BETWEEN)), look.text())
}
