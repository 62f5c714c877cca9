//! One message as rows: wrapped to the page's width, each beginning so that its speaker is clear.
//!
//! Responsibilities: labels, indentation, wrapping, isolates. Not here: which message needs a label (`linear`).

use std::borrow::Cow;
use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use crate::announce::direction::{
    ISOLATE_LEFT, POP, balanced, can_reorder, has_right_to_left, isolate,
};
use crate::announce::normalise::balance;
use crate::announce::{Mark, Segment, wrap, wrap_exact};
use crate::protocol::{TextDirection, is_direction_sign};

use super::{Page, VisualOrder};

/// The smallest width in columns at which a time may have a line to itself: anything narrower is a braille display or
/// large print, where each line costs another move.
const TIMED_FROM: u16 = 60;

/// The share of a line that a label may take up before its name is omitted: a third.
const LABEL_SHARE: usize = 3;

/// A one-column placeholder in a line while it is wrapped; lines never break at it.
const FILL: &str = "_";

/// The least room for words next to a label, in columns, whatever width is requested: beside a label of two words and
/// less, on the narrowest line that can be set.
const NARROWEST: usize = 8;

/// The indentation of a continuation row.
const SET_IN: &str = "  ";

/// The label of a message's first line, and a function for a shorter label when further lines have no room for it.
#[derive(Clone)]
pub(super) struct Label<'a> {
    pub(super) first: Arc<str>,
    pub(super) further: &'a dyn Fn() -> String,
}

/// How a continuation row begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// With its label.
    Labelled,
    /// With its label, and wrapped verbatim.
    Exact,
    /// Indented.
    SetIn,
}

/// How the first row of a message begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOpening {
    /// With its label.
    Labelled,
    /// With its label, in which the name is left out where lines are narrow: the row before has it.
    Known,
    /// As a continuation of the message before.
    GoesOn,
    /// At the edge, without a label: it is the greeting, which begins with hearken's name.
    Greeting,
}

/// Where a time stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimePlace<'t> {
    /// Nowhere.
    None,
    /// After the words, which are hearken's.
    End(&'t str),
    /// In the label: the words are an agent's, and no time of ours is among them.
    Label(&'t str),
}

/// Wraps an agent's right-to-left parts of a text in isolates.
pub(super) fn isolated<'t>(
    text: &'t str,
    segments: &[Segment],
    direction: Option<TextDirection>,
    order: VisualOrder,
) -> Cow<'t, str> {
    match order {
        VisualOrder::Isolated if can_reorder(text) => {}
        VisualOrder::Isolated => return text.into(),
        // A letter-by-letter reader would spell out the agent's direction marks, too.
        VisualOrder::AsWritten if text.is_ascii() => return text.into(),
        VisualOrder::AsWritten => return text.replace(is_direction_sign, "").into(),
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    for segment in segments {
        let begin = match segment.mark {
            Mark::Agent => isolate(segment.shown(), direction),
            Mark::Own => None,
        };
        // The displayed text may differ from the original.
        let words = [segment.shown(), segment.text()];
        let found = words.into_iter().map(str::trim).find_map(|words| {
            let (before, after) = rest.split_once(words)?;
            let begin = begin.filter(|_| !words.is_empty())?;
            Some((begin, before, words, after))
        });
        if let Some((begin, before, words, after)) = found {
            out.push_str(before);
            out.push(begin);
            // The displayed text may lack a part of the original, including the end of an isolate.
            out.push_str(&balance(words));
            out.push(POP);
            rest = after;
        }
    }
    out.push_str(rest);
    out.into()
}

/// Returns where a time stands beside the words of a speaker: nowhere, if a narrow line has no room for it in the
/// label.
pub(super) fn place_of<'t>(
    time: Option<&'t str>,
    mark: Mark,
    label: &Label<'_>,
    page: Page,
) -> TimePlace<'t> {
    let Some(time) = time else {
        return TimePlace::None;
    };
    let taken = (label.first.width() + " : ".len() + time.width()) * LABEL_SHARE;
    match mark {
        Mark::Own => TimePlace::End(time),
        Mark::Agent if is_narrow(page) && taken > usize::from(page.width) => TimePlace::None,
        Mark::Agent => TimePlace::Label(time),
    }
}

fn is_narrow(page: Page) -> bool {
    (1..TIMED_FROM).contains(&page.width)
}

/// Writes one message under a label, or without one if it continues; returns whether the time is included. Every row
/// begins as [`RowOpening`] and [`Continuation`] say, so that no row of an agent's begins like one of hearken's.
/// An isolate ends with its line, as in every terminal, and begins again on the next.
pub(super) fn put(
    out: &mut String,
    (label, beginning): (&Label<'_>, RowOpening),
    onward: Continuation,
    message: &str,
    time: TimePlace<'_>,
    page: Page,
) -> bool {
    let width = usize::from(page.width);
    let is_narrow = is_narrow(page);
    let short = width > 0 && (label.first.width() + 2) * LABEL_SHARE > width;
    let (at_end, in_label) = match time {
        TimePlace::None => (None, None),
        TimePlace::End(time) => (Some(time), None),
        TimePlace::Label(time) => (None, Some(time)),
    };
    let first = match beginning {
        RowOpening::Known if short => (label.further)(),
        RowOpening::Labelled | RowOpening::Known | RowOpening::GoesOn | RowOpening::Greeting => {
            label.first.to_string()
        }
    };
    let whole: Cow<'_, str> = match at_end {
        Some(time) => [message, " ", time].concat().into(),
        None => message.into(),
    };
    let begin = |label: &str, time: Option<&str>| {
        let mut label = ordered(label, page.order).into_owned();
        if let Some(time) = time {
            label.push(' ');
            label.push_str(time);
        }
        label.push_str(": ");
        let taken = label.width();
        (label, taken)
    };
    let (further, taken) = match onward {
        Continuation::Labelled | Continuation::Exact if short => begin(&(label.further)(), None),
        Continuation::Labelled | Continuation::Exact => begin(&label.first, None),
        Continuation::SetIn => (SET_IN.to_owned(), SET_IN.len()),
    };
    let (first, taken_first) = match beginning {
        RowOpening::Labelled | RowOpening::Known => begin(&first, in_label),
        RowOpening::GoesOn => (further.clone(), taken),
        RowOpening::Greeting => (String::new(), 0),
    };
    let room = width.saturating_sub(taken).max(NARROWEST);
    let (first, taken_first) = match width.saturating_sub(taken_first) {
        left if width > 0 && taken < taken_first && has_no_room(left, room, &whole) => {
            for (at, row) in wrap(first.trim_end(), width).into_iter().enumerate() {
                let before = if at == 0 { "" } else { SET_IN };
                out.extend([before, &row, "\n"]);
            }
            (further.clone(), taken)
        }
        _ => (first, taken_first),
    };
    let mut write = |at: usize, line: &str| {
        out.push_str(if at == 0 { &first } else { &further });
        out.push_str(line);
        out.push('\n');
    };
    if width == 0 && whole.is_ascii() {
        // Nothing to wrap, and nothing to reorder.
        let lines = whole.lines().enumerate();
        lines.for_each(|(at, line)| write(at, line));
        return in_label.or(at_end).is_some();
    }
    let mut lines = rows_of(&whole, onward, width, (taken_first, taken));
    let is_alone = lines.len() > 1 && lines.last().map(String::as_str) == at_end;
    if is_alone && is_narrow {
        lines.pop();
    }
    let lines = balanced(lines);
    let lines = lines.iter().enumerate();
    lines.for_each(|(at, line)| write(at, line));
    in_label.or(at_end).is_some() && !(is_alone && is_narrow)
}

/// Returns whether a message has no room beside its label: next to none, or not for its first word, which is broken
/// nowhere if it has a row to itself.
fn has_no_room(left: usize, room: usize, message: &str) -> bool {
    let word = message.split_whitespace().next().map_or(0, str::width);
    left < NARROWEST || (left < word && word <= room)
}

/// Cuts a message into rows; the first and the others have their first columns taken.
fn rows_of(
    message: &str,
    onward: Continuation,
    width: usize,
    (taken_first, taken): (usize, usize),
) -> Vec<String> {
    if width == 0 {
        return message.lines().map(str::to_owned).collect();
    }
    let room = width.saturating_sub(taken).max(NARROWEST);
    let mut rows: Vec<String> = Vec::new();
    for line in message.lines() {
        // Code keeps its indentation, as far as there is room for it.
        let bare = line.trim_start_matches(' ');
        let indent = match onward {
            Continuation::Exact => 0,
            Continuation::Labelled | Continuation::SetIn => {
                (line.len() - bare.len()).min(room - NARROWEST)
            }
        };
        let (line, room) = match onward {
            Continuation::Exact => (line, room),
            Continuation::Labelled | Continuation::SetIn => (bare, room - indent),
        };
        let cut = |line: &str| match onward {
            Continuation::Exact => wrap_exact(line, room),
            Continuation::Labelled | Continuation::SetIn => wrap(line, room),
        };
        let mut of_line = if rows.is_empty() && taken_first < taken {
            // Without a label, the first row has more room than the others.
            let mut of_line = wrap(line, width.max(NARROWEST));
            let further = of_line.split_off(1).join(" ");
            of_line.extend(
                Some(cut(&further))
                    .filter(|_| !further.is_empty())
                    .into_iter()
                    .flatten(),
            );
            of_line
        } else if rows.is_empty() {
            // The first row may have less room than the others: a filler takes its label's place while wrapping.
            let left = width.saturating_sub(taken_first + indent);
            let filled = room - left.max(NARROWEST).min(room);
            let mut of_line = cut(&format!("{}{line}", FILL.repeat(filled)));
            if let Some(first) = of_line.first_mut() {
                *first = first.split_off(filled);
            }
            of_line
        } else {
            cut(line)
        };
        if indent > 0 {
            let before = " ".repeat(indent);
            of_line
                .iter_mut()
                .for_each(|row| row.insert_str(0, &before));
        }
        rows.append(&mut of_line);
    }
    rows
}

/// Keeps a label in hearken's word order if it contains an agent's name.
fn ordered(label: &str, order: VisualOrder) -> Cow<'_, str> {
    match order {
        VisualOrder::Isolated if has_right_to_left(label) => {
            Cow::Owned(format!("{ISOLATE_LEFT}{label}{POP}"))
        }
        VisualOrder::Isolated | VisualOrder::AsWritten => Cow::Borrowed(label),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EYES: Page = Page {
        width: 0,
        order: VisualOrder::Isolated,
    };

    fn segment(mark: Mark, text: &str, shown: Option<&str>) -> Segment {
        Segment::new(mark, text, "").shown_as(shown.unwrap_or(text))
    }

    fn written(label: &str, message: &str, time: Option<&str>, page: Page) -> String {
        let mut out = String::new();
        let label = Label {
            first: label.into(),
            further: &|| label.rsplit(' ').next().unwrap_or_default().to_owned(),
        };
        super::put(
            &mut out,
            (&label, RowOpening::Labelled),
            Continuation::Labelled,
            message,
            time.map_or(TimePlace::None, TimePlace::End),
            page,
        );
        out
    }

    #[test]
    fn a_narrow_line_says_a_name_once_and_no_time_alone() {
        let narrow = Page::plain(40);
        let time = Some("(10:00:00)");
        assert_eq!(
            written(
                "Mail Assistant asks",
                "Send the email “Minutes of Monday’s meeting” to Bob Martin, bob.martin@example.com.",
                None,
                narrow
            ),
            "Mail Assistant asks: Send the email\n\
             asks: “Minutes of Monday’s meeting” to\n\
             asks: Bob Martin,\n\
             asks: bob.martin@example.com.\n"
        );
        assert_eq!(
            written("State", "Looking for the minutes of it.", time, narrow),
            "State: Looking for the minutes of it.\n"
        );
        assert_eq!(
            written("State", "Looking.", time, narrow),
            "State: Looking. (10:00:00)\n"
        );
        let wide = Page::plain(61);
        let long = "Looking for the minutes of the last meeting on Monday.";
        assert_eq!(
            written("State", long, time, wide),
            format!("State: {long}\nState: (10:00:00)\n")
        );
        // A word that does not fit next to the name is broken, never lost.
        let word = "x".repeat(50);
        let cut = written("Mail Assistant says", &word, None, narrow);
        assert_eq!(cut.matches('x').count(), 50, "{cut}");
        assert!(cut.lines().all(|line| line.width() <= 40), "{cut}");
        let tiny = written(
            "Mail Assistant says",
            "A few words here.",
            None,
            Page::plain(10),
        );
        assert_eq!(
            tiny,
            "Mail\n  Assistant\n  says:\nsays: A few\nsays: words\nsays: here.\n"
        );
        // A long name has a row of its own, and a first word that would be broken beside it, another.
        for (label, words, rows) in [
            (
                "Release Engineering Assistant asks",
                "May I go on?",
                "Release Engineering Assistant asks:\nasks: May I go on?\n",
            ),
            (
                "Mail Assistant asks",
                "minutes-of-monday-2026.md is ready.",
                "Mail Assistant asks:\nasks: minutes-of-monday-2026.md is\nasks: ready.\n",
            ),
        ] {
            let told = written(label, words, None, narrow);
            assert_eq!(told, rows);
            assert!(told.lines().all(|row| row.width() <= 40), "{told}");
        }
    }

    #[test]
    fn code_keeps_its_indentation_and_the_greeting_its_room() {
        let narrow = Page::plain(26);
        let code = "if a:\n        return the_sum_of(a, b)";
        assert_eq!(
            written("Ann", code, None, narrow),
            "Ann: if a:\nAnn:         return\nAnn:         the_sum_of(a,\nAnn:         b)\n"
        );
        let label = Label {
            first: "Note".into(),
            further: &String::new,
        };
        let mut out = String::new();
        let greeting = "hearken, plain lines, no voice. ? help, q quit.";
        let (label, onward) = ((&label, RowOpening::Greeting), Continuation::SetIn);
        super::put(&mut out, label, onward, greeting, TimePlace::None, narrow);
        assert_eq!(out, "hearken, plain lines, no\n  voice. ? help, q quit.\n");
    }

    #[test]
    fn an_agents_words_from_right_to_left_are_isolated_and_ours_are_not() {
        let segments = [
            segment(Mark::Own, "The tool ended.", None),
            segment(Mark::Agent, "**שלום** עולם", Some("שלום עולם")),
            segment(Mark::Agent, "Done.", None),
        ];
        let text = "The tool ended. שלום עולם. Done.";
        let told = |direction, order| isolated(text, &segments, direction, order);
        assert_eq!(
            told(None, VisualOrder::Isolated),
            "The tool ended. \u{2067}שלום עולם\u{2069}. Done."
        );
        assert_eq!(told(None, VisualOrder::AsWritten), text);
        assert_eq!(
            told(Some(TextDirection::Ltr), VisualOrder::Isolated),
            "The tool ended. \u{2066}שלום עולם\u{2069}. Done."
        );
        let plain = isolated(
            "Done.",
            &segments,
            Some(TextDirection::Rtl),
            VisualOrder::Isolated,
        );
        assert_eq!(
            plain, "Done.",
            "nothing is put where nothing runs to the left"
        );
    }

    #[test]
    fn an_agents_own_signs_of_direction_reach_nothing_of_ours() {
        let told = |text: &str| {
            let segments = [segment(Mark::Agent, text, None)];
            let text = format!("Note: {text} End");
            isolated(&text, &segments, None, VisualOrder::Isolated).into_owned()
        };
        for (text, shown) in [
            (
                "read this\u{200f}",
                "Note: \u{2066}read this\u{200f}\u{2069} End",
            ),
            ("to דנה", "Note: \u{2066}to דנה\u{2069} End"),
            (
                "a \u{2067}b\u{2069}",
                "Note: \u{2066}a \u{2067}b\u{2069}\u{2069} End",
            ),
            // Half of a pair is all that was left of a link.
            ("a\u{2069} b\u{2067}", "Note: \u{2066}a b\u{2069} End"),
            ("plain", "Note: plain End"),
        ] {
            assert_eq!(told(text), shown, "{text:?}");
        }
        let letters = isolated(
            "a\u{200f} \u{2067}b\u{2069}",
            &[],
            None,
            VisualOrder::AsWritten,
        );
        assert_eq!(letters, "a b");
        // Each row is balanced on its own, however the words are wrapped.
        let text = "one \u{2067}two three \u{2068}four five\u{2069} six seven\u{2069} eight";
        for width in 5..40 {
            let page = Page { width, ..EYES };
            for row in written("Bot", &told(text), Some("(10:00)"), page).lines() {
                assert_eq!(balance(row), row, "{width}");
                assert_eq!(balanced(vec![row.to_owned()]), [row], "{width}");
            }
        }
    }

    #[test]
    fn an_isolate_ends_with_its_line_and_begins_again_on_the_next() {
        let message = "\u{2067}אחד שתיים שלוש\u{2069}";
        let narrow = Page { width: 17, ..EYES };
        assert_eq!(
            written("Bot", message, Some("(10:00)"), narrow),
            "Bot: \u{2067}אחד שתיים\u{2069}\nBot: \u{2067}שלוש\u{2069} (10:00)\n"
        );
        assert_eq!(
            written("בוט", "Done.", None, EYES),
            "\u{2066}בוט\u{2069}: Done.\n"
        );
        let pipe = Page::plain(0);
        assert_eq!(
            written("בוט", "Done.\nMore.", None, pipe),
            "בוט: Done.\nבוט: More.\n"
        );
    }
}
