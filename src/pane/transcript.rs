//! What agents did and said, newest at the bottom.
//!
//! While a question is shown, the transcript stands still: new entries wait, and one line says so. Only urgent ones are
//! still added. Hearken's responses to keys are elsewhere (`reply_region`).
//!
//! # Mental model
//! Consecutive pieces of one agent's text are laid out together, as the Markdown that they are, at most
//! [`text_rows::WIDEST`] columns wide. Each entry begins with its label at the edge, and further rows are indented: so
//! no row of an agent's words begins at the edge. The time follows an entry if its minute differs from that of the
//! previous one, unless set otherwise.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use crate::announce::normalise::{BlockKind, blocks};
use crate::announce::{
    Announcement, AnnouncementKind, Class, Mark, Presentation, QuestionRelation, Segment,
    join_shown, source_of,
};
use crate::app::PointerTarget;
use crate::config::TimesChoice;
use crate::session::QuestionId;

use super::ended_calls::EndedCalls;
use super::guide;
use super::kept_edits::{self, Extent};
use super::markdown::{self, Layout};
use super::text_rows::{self, PaneRow};
use super::{Look, View, reply_region, reviewed_entry};

/// How many rows an entry may have without an empty row around it, on a screen with regions.
const SHORT: usize = 3;

/// Draws it, and returns the position of the last entry, or of the one under review.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) -> Position {
    if area.height == 0 {
        return Position::new(area.x, area.y);
    }
    match view.app.review() {
        Some(_) => reviewed_entry::draw(frame, view, area),
        None => draw_newest(frame, view, area),
    }
}

/// Draws the newest entries, or the newest before the shown question.
fn draw_newest(frame: &mut Frame<'_>, view: View<'_>, area: Rect) -> Position {
    let app = view.app;
    let room = usize::from(area.height);
    let width = area.width.min(text_rows::WIDEST);
    let shown = app.shown().map(|(shown, _)| (shown.question, shown.since));
    let mut held = false;
    let newest = app.history().iter().rev().find(|told| is_shown(view, told));
    let newest = newest.map(|told| told.id);
    let mut ended = EndedCalls::default();
    let told = app.history().iter().rev().filter(|told| {
        // The newest state is the live row; earlier ones are out of date.
        if is_passing(told) && Some(told.id) != newest {
            return false;
        }
        if !is_shown(view, told)
            || shown.is_some_and(|(question, _)| asks(told, question))
            || ended.is_said_by_end(told)
        {
            return false;
        }
        let waits =
            shown.is_some_and(|(_, since)| told.at.monotonic > since && !goes_through(told));
        held |= waits;
        !waits
    });
    let entries = paragraphs(view, told, room, width);
    let focus = entries.last().map_or(1, Vec::len);
    let mut all: Vec<PaneRow> = entries.into_iter().flatten().collect();
    if held {
        let words = app.phrases().text("pane.held", &[]);
        all.extend(text_rows::own(&words, width, view.look.quiet()));
    }
    let told = all.len();
    let guide = guide::rows(view, width);
    if !guide.is_empty() && all.len() + guide.len() < room {
        if view.regions {
            all.push(PaneRow::own(String::new(), view.look.text()));
        }
        all.extend(guide);
        let nearby = guide::nearby_rows(view, width);
        if all.len() + nearby.len() < room {
            all.extend(nearby);
        }
    }
    let over = all.len().saturating_sub(room);
    let first = told.saturating_sub(focus).saturating_sub(over);
    view.places.note(&all[over..], area);
    text_rows::draw(frame, &all[over..], area);
    at(area, first)
}

/// Arranges announcements, given newest first, in paragraphs, oldest first: no more than there are rows, so that a long
/// history costs nothing.
pub(super) fn paragraphs<'a>(
    view: View<'_>,
    announcement: impl Iterator<Item = &'a std::sync::Arc<Announcement>>,
    room: usize,
    width: u16,
) -> Vec<Vec<PaneRow>> {
    let mut entries: Vec<Vec<PaneRow>> = Vec::new();
    let mut count = 0;
    // Whether the entry that was laid out last stands apart from the one before it.
    let mut stands_apart = false;
    let mut paragraph: Vec<&Announcement> = Vec::new();
    let mut length = 0;
    let full = room * usize::from(width);
    for told in announcement {
        if let Some(later) = paragraph.last() {
            if runs_on(told, later) && length < full {
                length += told.shown().len();
                paragraph.push(told);
                continue;
            }
            let begins_turn = later.kind == AnnouncementKind::Prompt;
            let mut rows = lay_out(view, &mut paragraph, Some(told), (width, room));
            let is_long = rows.len() > SHORT;
            if view.regions && (stands_apart || is_long && !entries.is_empty()) {
                rows.push(PaneRow::own(String::new(), view.look.text()));
            }
            stands_apart = begins_turn || is_long;
            count += rows.len();
            entries.push(rows);
            if count >= room {
                break;
            }
        }
        length = told.shown().len();
        paragraph.push(told);
    }
    if !paragraph.is_empty() {
        let mut rows = lay_out(view, &mut paragraph, None, (width, room));
        if view.regions && stands_apart {
            rows.push(PaneRow::own(String::new(), view.look.text()));
        }
        entries.push(rows);
    }
    entries.reverse();
    entries
}

/// Lays out a paragraph, whose parts are given newest first, and empties it.
fn lay_out(
    view: View<'_>,
    paragraph: &mut Vec<&Announcement>,
    before: Option<&Announcement>,
    (width, room): (u16, usize),
) -> Vec<PaneRow> {
    paragraph.reverse();
    let parts = std::mem::take(paragraph);
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    let minute = |told: &Announcement| time(view, told, "%H:%M");
    let after = match view.app.config().screen.times {
        TimesChoice::Always => time(view, first, "%H:%M:%S"),
        TimesChoice::Minute if before.is_some_and(|before| minute(before) == minute(first)) => {
            String::new()
        }
        TimesChoice::Minute => minute(first),
        TimesChoice::Never => String::new(),
    };
    let mut rows = lay_out_parts(view, &parts, &after, (width, room));
    mark_label(view, first, &mut rows);
    for row in &mut rows {
        row.at = Some(PointerTarget::Entry(first.id));
    }
    rows
}

/// Makes the label that an entry begins with easier to find.
pub(super) fn mark_label(view: View<'_>, told: &Announcement, rows: &mut [PaneRow]) {
    let label = view.app.label(told);
    if let Some(row) = rows.first_mut().filter(|row| row.text.starts_with(&label)) {
        row.mark(0, label.width() + 1, view.look.heading());
    }
}

fn lay_out_parts(
    view: View<'_>,
    parts: &[&Announcement],
    after: &str,
    (width, room): (u16, usize),
) -> Vec<PaneRow> {
    let Some(first) = parts.first() else {
        return Vec::new();
    };
    let style = style(first, view.look);
    if let [asked] = parts
        && matches!(asked.about, Some(QuestionRelation::Asks(_)))
    {
        let label = format!("{}: ", view.app.label(asked));
        let mut rows = by_speaker(asked, what_is_asked(asked), &label, after, width, style);
        rows.extend(kept_edits::rows(view, asked, width, Extent::Folded));
        return rows;
    }
    if is_text(first) {
        let label = format!("{}: ", view.app.label(first));
        return text(view, parts, &label, after, (width, room), style);
    }
    let mut rows = entry(view, first, after, width, style);
    rows.extend(kept_edits::rows(view, first, width, Extent::Folded));
    rows
}

/// Returns the time of an announcement, as written after it.
pub(super) fn time(view: View<'_>, told: &Announcement, format: &str) -> String {
    let time = told.at.wall.to_zoned(view.zone.clone());
    format!(" ({})", time.strftime(format))
}

/// Returns the subject of a past question, without the time and the keys, which no longer apply.
fn what_is_asked(told: &Announcement) -> &[Segment] {
    let last = told
        .segments
        .iter()
        .rposition(|part| part.mark == Mark::Agent);
    &told.segments[..last.map_or(told.segments.len(), |last| last + 1)]
}

pub(super) fn at(area: Rect, row: usize) -> Position {
    let row = u16::try_from(row).unwrap_or(u16::MAX);
    Position::new(area.x, area.y + row.min(area.height - 1))
}

/// Returns whether an entry belongs in the transcript at all: what agents did, and of the responses to keys only those that
/// the end of a turn has overtaken.
pub(super) fn is_shown(view: View<'_>, told: &Announcement) -> bool {
    // The outcome of an answer is shown with the response as long as that has its place.
    let is_response = view.app.answers().iter().any(|answer| answer.id == told.id);
    let is_elsewhere = is_response && !reply_region::is_overtaken(view, told);
    let has_no_place = match told.class {
        Class::Response => !is_response || is_elsewhere,
        Class::Outcome => is_elsewhere,
        Class::Alert | Class::Activity | Class::Stream => false,
    };
    if has_no_place {
        return false;
    }
    match told.aloud {
        // The line below a table's headers has no words, and belongs to the table.
        Presentation::Spoken | Presentation::Shown | Presentation::Seen => {
            is_text(told) || !told.shown().is_empty()
        }
        Presentation::Echo | Presentation::Heard | Presentation::Kept => false,
    }
}

/// Returns whether an entry only says in hearken's words in which state an agent is, which the next state replaces.
fn is_passing(told: &Announcement) -> bool {
    told.kind == AnnouncementKind::State && told.segments.iter().all(|part| part.mark == Mark::Own)
}

/// Returns whether an entry asks the question that is shown above.
fn asks(told: &Announcement, question: QuestionId) -> bool {
    told.about == Some(QuestionRelation::Asks(question))
}

/// Returns whether an entry is shown even while a question wants the person's attention.
fn goes_through(told: &Announcement) -> bool {
    match told.class {
        Class::Alert => true,
        Class::Response | Class::Outcome | Class::Activity | Class::Stream => false,
    }
}

/// Returns whether the next announcement goes on with the same text of an agent.
fn runs_on(told: &Announcement, next: &Announcement) -> bool {
    told.key == next.key
        && told.topic == next.topic
        && told.direction == next.direction
        && is_text(told)
        && is_text(next)
}

/// Returns whether an entry is a piece of what an agent writes.
fn is_text(told: &Announcement) -> bool {
    told.kind == AnnouncementKind::Output && told.class != Class::Response && told.is_agents_text()
}

/// Lays out one entry with its label.
pub(super) fn entry(
    view: View<'_>,
    announcement: &Announcement,
    after: &str,
    width: u16,
    style: Style,
) -> Vec<PaneRow> {
    let label = format!("{}: ", view.app.label(announcement));
    if is_text(announcement) {
        return text(
            view,
            &[announcement],
            &label,
            after,
            (width, usize::MAX),
            style,
        );
    }
    if announcement.class == Class::Response
        && let Some(written) = &announcement.facts().written
    {
        return repeated(view, announcement, written, &label, (width, style));
    }
    // When hearken responds, each speaker has separate rows, as around a question.
    if announcement.about.is_some() || announcement.class == Class::Response {
        return by_speaker(
            announcement,
            &announcement.segments,
            &label,
            after,
            width,
            style,
        );
    }
    // If our words are mixed with the agent's, the row is ours, and so is its direction.
    let direction = announcement
        .direction
        .filter(|_| announcement.is_agents_text());
    let ours = announcement
        .segments
        .iter()
        .all(|part| part.mark == Mark::Own);
    let shown = announcement.shown();
    let last = shown.lines().count().saturating_sub(1);
    let mut all = Vec::new();
    for (at, line) in shown.lines().enumerate() {
        let after = if at == last { after } else { "" };
        all.extend(match (at, ours) {
            (0, true) => text_rows::mixed(&label, line, after, direction, width, style),
            (0, false) => text_rows::hanging(&label, line, after, direction, width, style),
            (_, _) => {
                let narrow = width.saturating_sub(text_rows::HANG).max(1);
                let rows = text_rows::mixed("", line, after, direction, narrow, style);
                text_rows::set_in(rows, text_rows::HANG)
            }
        });
    }
    all
}

/// Lays out a repeated text of an agent between hearken's words about it.
fn repeated(
    view: View<'_>,
    announcement: &Announcement,
    written: &str,
    label: &str,
    (width, style): (u16, Style),
) -> Vec<PaneRow> {
    let is_agents = |part: &Segment| part.mark == Mark::Agent;
    let all = announcement.segments.as_slice();
    let first = all.iter().position(is_agents).unwrap_or(all.len());
    let behind = all
        .iter()
        .rposition(is_agents)
        .map_or(all.len(), |at| at + 1);
    let (before, after) = (all.get(..first), all.get(behind..));
    let words = |part: Option<&[Segment]>| join_shown(part.unwrap_or_default());
    let layout = Layout {
        direction: announcement.direction,
        width: width.saturating_sub(text_rows::HANG).max(1),
        tail: usize::MAX,
    };
    let before = format!("{label}{}", words(before));
    let mut rows = text_rows::own(before.trim_end(), width, style);
    let laid_out = markdown::rows(view, &blocks(written), layout);
    rows.extend(text_rows::set_in(laid_out, text_rows::HANG));
    let after = words(after);
    if !after.is_empty() {
        rows.extend(text_rows::own(&after, width, style));
    }
    rows
}

/// Lays out what an agent wrote: a paragraph at its beginning follows the label, everything else is indented below it.
/// `tail` is how many rows at the end are wanted.
fn text(
    view: View<'_>,
    parts: &[&Announcement],
    label: &str,
    after: &str,
    (width, tail): (u16, usize),
    style: Style,
) -> Vec<PaneRow> {
    let Some(told) = parts.first() else {
        return Vec::new();
    };
    let blocks = blocks(&source_of(parts.iter().copied()));
    let layout = Layout {
        direction: told.direction,
        width: width.saturating_sub(text_rows::HANG).max(1),
        tail,
    };
    let (mut all, rest) = match blocks.split_first() {
        None => return Vec::new(),
        Some((first, rest)) => match &first.is {
            BlockKind::Paragraph(words) => {
                let last = if rest.is_empty() { after } else { "" };
                let direction = layout.direction;
                let mut rows =
                    text_rows::hanging(label, &words.text, last, direction, width, style);
                markdown::paint(view, &mut rows, label, words);
                (rows, rest)
            }
            _ => (
                text_rows::own(label.trim_end(), width, style),
                blocks.as_slice(),
            ),
        },
    };
    let gap = rest.first().is_some_and(|next| next.apart) && view.regions;
    if gap {
        all.push(PaneRow::own(String::new(), style));
    }
    let laid_out = markdown::rows(view, rest, layout);
    all.extend(text_rows::set_in(laid_out, text_rows::HANG));
    if !rest.is_empty() && !after.is_empty() {
        let time = text_rows::own(after.trim_start(), layout.width, view.look.quiet());
        match all.last_mut() {
            // After words the time has room on their row.
            Some(row) if row.has_room(after, width) => row.text.push_str(after),
            Some(_) | None => all.extend(text_rows::set_in(time, text_rows::HANG)),
        }
    }
    all
}

/// Lays out an announcement about a question: hearken's words from the edge, the agent's indented.
fn by_speaker(
    told: &Announcement,
    segments: &[Segment],
    label: &str,
    after: &str,
    width: u16,
    style: Style,
) -> Vec<PaneRow> {
    let mut all = Vec::new();
    let segments: Vec<&Segment> = segments
        .iter()
        .filter(|part| !part.text().trim().is_empty())
        .collect();
    // Consecutive words of hearken's stay together; each part of the agent's has its own rows.
    let parts: Vec<&[&Segment]> = segments
        .chunk_by(|one, next| one.mark == Mark::Own && next.mark == Mark::Own)
        .collect();
    let inside = width.saturating_sub(text_rows::HANG).max(1);
    for (at, part) in parts.iter().enumerate() {
        let before = if at == 0 { label } else { "" };
        let after = if at + 1 == parts.len() { after } else { "" };
        let to_the_letter = told.about.is_some();
        let words: Vec<&str> = part
            .iter()
            .map(|part| match part.mark {
                // An agent's question is shown verbatim.
                Mark::Agent if to_the_letter => part.text().trim(),
                Mark::Own | Mark::Agent => part.shown().trim(),
            })
            .collect();
        let words = words.join(" ");
        let agents = part.iter().any(|part| part.mark == Mark::Agent);
        let last = words.lines().count().saturating_sub(1);
        for (line, text) in words.lines().enumerate() {
            let before = if line == 0 { before } else { "" };
            let after = if line == last { after } else { "" };
            all.extend(match (agents, before.is_empty()) {
                (false, _) => text_rows::mixed(before, text, after, None, width, style),
                (true, false) => {
                    text_rows::hanging(before, text, after, told.direction, width, style)
                }
                (true, true) => {
                    let rows = text_rows::mixed("", text, after, told.direction, inside, style);
                    text_rows::set_in(rows, text_rows::HANG)
                }
            });
        }
    }
    all
}

fn style(told: &Announcement, look: Look) -> Style {
    match told.kind {
        AnnouncementKind::Danger => look.danger(),
        AnnouncementKind::SessionErrored => look.failure(),
        AnnouncementKind::Confirmation
        | AnnouncementKind::Clarification
        | AnnouncementKind::Handoff => look.heading(),
        AnnouncementKind::Prompt => look.own(),
        AnnouncementKind::State
        | AnnouncementKind::Progress
        | AnnouncementKind::Anomaly
        | AnnouncementKind::Hint
        | AnnouncementKind::Heartbeat
        | AnnouncementKind::Connection
        | AnnouncementKind::Reply => look.quiet(),
        AnnouncementKind::SessionStarted
        | AnnouncementKind::SessionCompleted
        | AnnouncementKind::SessionCancelled
        | AnnouncementKind::ToolInvoked
        | AnnouncementKind::ToolCompleted
        | AnnouncementKind::Output
        | AnnouncementKind::Unknown => look.text(),
    }
}
