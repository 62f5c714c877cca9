//! What a call changed, below its entry: some lines in the transcript, all of them where a person looks back.
//!
//! Responsibilities: which entries have such rows, and how many. Not here: the change of an open question
//! (`edit_rows`), reading it out (`app`).

use unicode_width::UnicodeWidthStr;

use crate::announce::{
    Announcement, AnnouncementKind, Arg, KeptChange, KeptLine, QuestionRelation, Weight,
};

use super::View;
use super::text_rows::{self, PaneRow};

/// How many rows of a change the transcript has, on a screen with regions and on a smaller one.
const FOLDED: (usize, usize) = (6, 2);

/// How much of a change is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// A few changed lines, and how many more there are.
    Folded,
    /// Everything, with the unchanged lines around it.
    Whole,
}

/// Returns the rows of what an entry's call changed; none if it changed nothing that is known.
pub(super) fn rows(
    view: View<'_>,
    announcement: &Announcement,
    width: u16,
    extent: Extent,
) -> Vec<PaneRow> {
    if !has_rows(view, announcement) {
        return Vec::new();
    }
    let changes = view
        .app
        .announcer()
        .kept_changes(announcement.facts().attached());
    let lines = changes.iter().flat_map(|change| &change.lines);
    let digits = lines.filter_map(|line| line.number).max().unwrap_or(0);
    let digits = digits.to_string().len();
    let mut all = match extent {
        Extent::Folded => folded(view, announcement, &changes, width, digits),
        Extent::Whole => {
            let mut all = Vec::new();
            for change in &changes {
                all.extend(path(view, change, &changes, width));
                let lines = change.lines.iter();
                all.extend(
                    lines.flat_map(|line| line_rows(view, announcement, line, digits, width)),
                );
            }
            all
        }
    };
    if changes.iter().all(|change| change.lines.is_empty()) {
        all.clear();
    }
    all
}

/// Returns whether an entry shows a change: that of a call, or of a question that was not accepted, so that no call
/// follows.
fn has_rows(view: View<'_>, told: &Announcement) -> bool {
    if told.facts().attached().changes.is_empty() {
        return false;
    }
    match (told.kind, told.about) {
        // What a rejected call would have changed is below its question.
        (AnnouncementKind::ToolInvoked | AnnouncementKind::ToolCompleted, _) => {
            told.weight != Weight::Stopped
        }
        (AnnouncementKind::Confirmation, Some(QuestionRelation::Asks(id))) => {
            let question = view.app.question(id);
            question.is_some_and(|question| {
                let decided = question.answer().is_some() || question.lapsed;
                !question.is_open() && decided && !question.was_accepted()
            })
        }
        (_, _) => false,
    }
}

fn folded(
    view: View<'_>,
    announcement: &Announcement,
    changes: &[KeptChange],
    width: u16,
    digits: usize,
) -> Vec<PaneRow> {
    let most = if view.regions { FOLDED.0 } else { FOLDED.1 };
    let all: u64 = changes.iter().map(|change| change.changed).sum();
    let mut rows = Vec::new();
    let mut shown: u64 = 0;
    for change in changes {
        if rows.len() >= most {
            break;
        }
        rows.extend(text_rows::fitting(
            path(view, change, changes, width),
            1,
            width,
        ));
        for line in change.lines.iter().filter(|line| line.sign != ' ') {
            if rows.len() >= most {
                break;
            }
            let line = line_rows(view, announcement, line, digits, width);
            rows.extend(text_rows::fitting(line, 1, width));
            shown += 1;
        }
    }
    let more = all.saturating_sub(shown);
    if more > 0 {
        let args = [("n", Arg::own(more))];
        let words = view.app.phrases().text("pane.kept.more", &args);
        rows.extend(text_rows::set_in(
            text_rows::own(
                &words,
                width.saturating_sub(text_rows::HANG),
                view.look.quiet(),
            ),
            text_rows::HANG,
        ));
    }
    rows
}

/// Returns the path of a change, if there are several.
fn path(view: View<'_>, change: &KeptChange, changes: &[KeptChange], width: u16) -> Vec<PaneRow> {
    if changes.len() < 2 {
        return Vec::new();
    }
    let inside = width.saturating_sub(text_rows::HANG).max(1);
    let rows = text_rows::mixed("", &change.path, "", None, inside, view.look.text());
    text_rows::set_in(rows, text_rows::HANG)
}

/// Returns a line with its number and its sign in the margin.
fn line_rows(
    view: View<'_>,
    announcement: &Announcement,
    line: &KeptLine,
    digits: usize,
    width: u16,
) -> Vec<PaneRow> {
    let number = line
        .number
        .map_or(String::new(), |number| number.to_string());
    let margin = format!("  {number:>digits$} {} ", line.sign);
    let inside = usize::from(width).saturating_sub(margin.width()).max(1);
    let inside = u16::try_from(inside).unwrap_or(width);
    let style = view.look.changed_line(line.sign);
    let rows = text_rows::verbatim(&line.text, announcement.direction, inside, style);
    text_rows::led_by(rows, &margin, &" ".repeat(margin.width()))
}
