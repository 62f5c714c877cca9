//! The question that keys are meant for, with nothing left out as long as there is room.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use crate::announce::{Arg, Mark, Segment};
use crate::app::{App, Drawn, Shown};
use crate::keys::Mode;
use crate::protocol::Now;
use crate::session::Prompt;

use super::rows::{self, Row};
use super::{Look, choices, times};

/// Up to this height the question has all rows to itself: it is what matters.
pub(super) const SMALL: u16 = 12;

/// A page ends at the end of a sentence or a part where one is in this share of its last rows.
const TAIL: usize = 3;

/// Draws it from the top of an area that it may fill up to a row or two. Gives what is left of the area,
/// the place of the row that is attended to, and which part of the question is in sight.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    app: &App,
    now: Now,
    area: Rect,
    look: Look,
) -> (Rect, Position, Option<Drawn>) {
    let Some((shown, prompt)) = app.shown() else {
        return (area, Position::new(area.x, area.y), None);
    };
    let head = head(app, prompt, now, area.width, look);
    if let Mode::Choosing(..) = app.mode() {
        let (rest, at) = choices::draw(frame, app, prompt, head, area, look);
        return (rest, at, None);
    }
    let mut asked = head;
    asked.extend(words(
        prompt,
        &app.announcer()
            .in_full(prompt, app.sessions(), steady(app, prompt, now)),
        area.width,
        look,
    ));
    let most = if area.height <= SMALL {
        area.height
    } else {
        area.height.saturating_sub(2).max(area.height / 2)
    };
    let height = u16::try_from(asked.len()).unwrap_or(u16::MAX).min(most);
    let place = Rect { height, ..area };
    let (page, drawn) = page(app, shown, prompt, now, asked, place, look);
    rows::draw(frame, &page, place);
    let rest = Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    };
    (rest, Position::new(place.x, place.y), drawn)
}

/// Picks the page that is looked at. After the last page of the question come the pages of its details,
/// where there is no transcript to show them, and then the first again.
fn page(
    app: &App,
    shown: &Shown,
    prompt: &Prompt,
    now: Now,
    asked: Vec<Row>,
    place: Rect,
    look: Look,
) -> (Vec<Row>, Option<Drawn>) {
    let room = usize::from(place.height);
    let drawn = |page, pages| {
        Some(Drawn {
            prompt: shown.prompt,
            page,
            pages,
        })
    };
    if room == 0 {
        return (Vec::new(), None);
    }
    if room < 2 && asked.len() > room {
        // One row shows a beginning and no more, however often it is turned.
        return (asked, drawn(0, usize::MAX));
    }
    let starts = starts(&asked, room);
    let small = place.height <= SMALL && asked.len() > room;
    let details = if small && shown.page >= starts.len() {
        let details = app
            .announcer()
            .details(prompt, app.sessions(), steady(app, prompt, now));
        words(prompt, &details, place.width, look)
    } else {
        Vec::new()
    };
    let more_starts = if details.is_empty() {
        Vec::new()
    } else {
        self::starts(&details, room)
    };
    let all = if small && shown.page >= starts.len() {
        starts.len() + more_starts.len()
    } else {
        starts.len()
    };
    let page = shown.page % all.max(1);
    let (from, starts, page, part) = if page < starts.len() {
        let part = drawn(page, starts.len());
        (&asked, &starts, page, part)
    } else {
        (&details, &more_starts, page - starts.len(), None)
    };
    let start = starts.get(page).copied().unwrap_or(0);
    let end = starts.get(page + 1).copied().unwrap_or(from.len());
    let mut rows: Vec<Row> = from[start..end].to_vec();
    if all > 1 && (end < from.len() || part.is_none()) {
        rows.push(Row::own(app.phrases().text("pane.more", &[]), look.quiet()));
    }
    (rows, part)
}

/// Gives where each page begins: a page ends with a sentence where that costs it few rows, and always
/// with a word, because rows do. The last row of each page but the last says that there is more.
fn starts(rows: &[Row], room: usize) -> Vec<usize> {
    if rows.len() <= room || room < 2 {
        return vec![0];
    }
    let body = room - 1;
    let mut starts = vec![0];
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

fn ends_a_sentence(row: &str) -> bool {
    row.trim_end_matches(['"', '\'', ')', '”', '’', '»'])
        .ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '।'])
}

fn head(app: &App, prompt: &Prompt, now: Now, width: u16, look: Look) -> Vec<Row> {
    let answerable: Vec<_> = app
        .questions()
        .into_iter()
        .filter(|prompt| prompt.is_answerable())
        .collect();
    let place = answerable
        .iter()
        .position(|other| other.id == prompt.id)
        .map_or(1, |at| at + 1);
    let left = app
        .time_left(prompt, now.monotonic)
        .map(|left| app.announcer().time(times::left(left)))
        .unwrap_or_default();
    let head = app.phrases().text(
        "pane.question",
        &[
            ("place", Arg::own(place)),
            ("count", Arg::own(answerable.len())),
            ("n", Arg::own(prompt.id.0)),
            ("agent", Arg::Name(app.agent_of(prompt))),
            ("left", Arg::Own(left)),
        ],
    );
    let mut rows = rows::own(&head, width, look.text());
    if let Some(first) = rows.first_mut() {
        first.style = look.alert();
    }
    rows
}

/// Moves a moment so that the time that is left at it is the one that the head shows.
fn steady(app: &App, prompt: &Prompt, now: Now) -> Now {
    match app.time_left(prompt, now.monotonic) {
        Some(left) => {
            let later = times::left(left).saturating_sub(left);
            Now {
                monotonic: now.monotonic.saturating_sub(later),
                wall: now.wall,
            }
        }
        None => now,
    }
}

/// Cuts the words of a question: the program's and the agent's are never on one row, so that none can
/// pass for the other.
fn words(prompt: &Prompt, segments: &[Segment], width: u16, look: Look) -> Vec<Row> {
    segments
        .iter()
        .skip(1)
        .filter(|segment| !segment.text.is_empty())
        .flat_map(|segment| match segment.mark {
            Mark::Own => rows::own(&segment.text, width, look.text()),
            Mark::Agent => rows::mixed("", &segment.text, "", prompt.direction, width, look.text()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn pages_end_with_a_sentence_where_one_ends_near_and_hold_every_row_once() {
        let rows = |texts: &[&str]| -> Vec<Row> {
            let row = |text: &&str| Row::own((*text).to_owned(), Style::new());
            texts.iter().map(row).collect()
        };
        let text = rows(&["a", "b", "c", "d.", "e", "f", "g", "h", "i.", "j"]);
        // Six rows of body: the sentence that ends two rows before the sixth is near enough.
        assert_eq!(starts(&text, 7), [0, 4]);
        // Four rows of body, and a sentence that ends with them.
        assert_eq!(starts(&text, 5), [0, 4, 8]);
        assert_eq!(starts(&text, 10), [0]);
        for room in 2..12 {
            let starts = starts(&text, room);
            assert!(starts.windows(2).all(|two| two[0] < two[1]), "{starts:?}");
            let ends = starts.iter().skip(1).copied().chain([text.len()]);
            for (start, end) in starts.iter().zip(ends) {
                assert!(end - start <= room, "{room}: {starts:?}");
            }
        }
    }
}
