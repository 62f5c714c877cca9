//! The linear face: one announcement, one line; the JSON face is in `json`.
//!
//! Responsibilities: turning an announcement into labelled, append-only lines of plain text. Not here: where the lines go (`runtime`), what is announced (`app`).
//!
//! A question has a line for each of its parts, hearken's and the agent's apart.
//! A line is `LABEL: MESSAGE (TIME)`: the message comes first after a label in words and the time
//! last. An agent's text can't begin a line without its label: line breaks in it are spaces, and a
//! line that is wrapped begins with its label again. Where a label with a name in it would take much
//! of a narrow line, it goes on without the name: a braille display of 40 cells has 34 for the words
//! then instead of 19. A time that would have a narrow line to itself is left out.
//!
//! A terminal that orders words from right to left itself would drag hearken's label, the time and the
//! punctuation along with an agent's Arabic or Hebrew. Where eyes read such a line, the agent's words are
//! isolated; where a screen reader, a braille display or a program reads it, nothing is put in: they read
//! in the order of the letters, and some would spell the sign.

mod json;

use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use crate::announce::direction::{
    ISOLATE_LEFT, POP, balanced, can_reorder, has_right_to_left, isolate,
};
use crate::announce::normalise::balance;
use crate::announce::{Aloud, Announcement, Arg, Mark, Segment, wrap};
use crate::app::App;
use crate::protocol::{TextDirection, is_direction_sign};

pub use json::json;

/// From how many columns on a time may have a line to itself: what is narrower is a braille display or a
/// large print, where each line is one more move.
const TIMED_FROM: u16 = 60;

/// Which part of a line a label may take before it goes on without its name: a third.
const LABEL_SHARE: usize = 3;

/// Says what lines are written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The width in columns; 0 leaves wrapping to whoever shows it.
    pub width: u16,
    /// Whose order of words it is.
    pub order: Order,
}

impl Page {
    /// Gives a page on which nothing is put in, such as a pipe.
    pub fn plain(width: u16) -> Self {
        Self {
            width,
            order: Order::AsWritten,
        }
    }
}

/// Says who brings words from right to left into their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nobody, or somebody who reads letter by letter: nothing is put in.
    AsWritten,
    /// A terminal whose rows are read by eye: such words are isolated from hearken's own.
    Isolated,
}

/// Holds a place of one column in a line while it is cut; no line is cut at it.
const FILL: &str = "_";

/// The least room for words beside a label, in columns, whatever width is asked for.
const NARROWEST: usize = 12;

/// Writes one announcement as plain text, each line ended by a line feed.
///
/// Nothing is written of what is left out of what is read in the order of time ([`Aloud::Seen`]), nor of what
/// other lines say ([`Aloud::Echo`]).
pub fn lines(app: &App, told: &Announcement, zone: &TimeZone, page: Page) -> String {
    if matches!(told.aloud, Aloud::Seen | Aloud::Echo) {
        return String::new();
    }
    let time = told.at.wall.to_zoned(zone.clone()).strftime("%H:%M:%S");
    let time = format!("({time})");
    let label = Label {
        first: app.label(told),
        further: app.label_without_name(told),
    };
    let mut out = String::new();
    let asks = told.about.and_then(|about| app.prompt(about.prompt()));
    match asks {
        // Around a question each speaker has lines of their own, so that no action can claim a risk or a
        // key in hearken's name.
        Some(prompt) => {
            let asks = |name: Arg| app.phrases().text("label.asks", &[("agent", name)]);
            let asker = Label {
                first: asks(Arg::Name(app.agent_of(prompt))),
                further: asks(Arg::own("")),
            };
            let shown: Vec<&Segment> = told
                .segments
                .iter()
                .filter(|segment| !segment.text.is_empty())
                .collect();
            // What hearken says in one go needs one line; each part of the agent's has its own.
            let parts: Vec<&[&Segment]> = shown
                .chunk_by(|one, next| one.mark == Mark::Own && next.mark == Mark::Own)
                .collect();
            let last = parts.len().saturating_sub(1);
            for (at, part) in parts.into_iter().enumerate() {
                let of_agent = part.iter().any(|segment| segment.mark == Mark::Agent);
                let label = if of_agent { &asker } else { &label };
                let words: Vec<&str> = part
                    .iter()
                    .map(|segment| match segment.mark {
                        Mark::Own => segment.shown.as_deref().unwrap_or(&segment.text),
                        // What an agent asks is shown to the letter.
                        Mark::Agent => &segment.text,
                    })
                    .collect();
                let of_it: Vec<Segment> = part.iter().map(|segment| (*segment).clone()).collect();
                let text = isolated(&words.join(" "), &of_it, told.direction, page.order);
                let end = (at == last).then_some(time.as_str());
                put_lines(&mut out, label, &text, end, page);
            }
        }
        None => {
            let shown = told.shown();
            // What is structure only, such as the line under a table's headers, has nothing to read.
            if !shown.is_empty() {
                let shown = isolated(&shown, &told.segments, told.direction, page.order);
                put_lines(&mut out, &label, &shown, Some(&time), page);
            }
        }
    }
    out
}

/// Holds what stands before the first line of a message, and before its further ones.
struct Label {
    first: String,
    further: String,
}

/// Puts isolates around the agent's parts of a text that run from right to left.
fn isolated(
    text: &str,
    segments: &[Segment],
    direction: Option<TextDirection>,
    order: Order,
) -> String {
    match order {
        Order::Isolated if can_reorder(text) => {}
        Order::Isolated => return text.to_owned(),
        // Whoever reads letter by letter would have the agent's own signs spelled, too.
        Order::AsWritten => return text.replace(is_direction_sign, ""),
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    for segment in segments {
        let begin = match segment.mark {
            Mark::Agent => isolate(segment.shown.as_deref().unwrap_or(&segment.text), direction),
            Mark::Own => None,
        };
        // A text may be shown otherwise than it came.
        let words = [segment.shown.as_deref(), Some(segment.text.as_str())];
        let found = words
            .into_iter()
            .flatten()
            .map(str::trim)
            .find_map(|words| {
                let (before, after) = rest.split_once(words)?;
                let begin = begin.filter(|_| !words.is_empty())?;
                Some((begin, before, words, after))
            });
        if let Some((begin, before, words, after)) = found {
            out.push_str(before);
            out.push(begin);
            // What is shown may lack a part of what came, and with it the end of an isolate.
            out.push_str(&balance(words));
            out.push(POP);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Writes one message under a label, with the time at its end; every line of it, and a line that is
/// wrapped, begins with a label, so that none of an agent's begins without one. An isolate ends with its
/// line, as every terminal lets it, and begins again on the next.
fn put_lines(out: &mut String, label: &Label, message: &str, time: Option<&str>, page: Page) {
    let mut lines: Vec<String> = Vec::new();
    let whole = match time {
        Some(time) => format!("{message} {time}"),
        None => message.to_owned(),
    };
    let width = usize::from(page.width);
    let beside = |label: &str| width.saturating_sub(label.width() + 2).max(NARROWEST);
    let short = width > 0 && (label.first.width() + 2) * LABEL_SHARE > width;
    for line in whole.lines() {
        if width == 0 {
            lines.push(line.to_owned());
        } else if short && lines.is_empty() {
            // The first line has less room than the others: what the name takes is filled for the cut.
            let room = beside(&label.further);
            let filled = room - beside(&label.first).min(room);
            let mut cut = wrap(&format!("{}{line}", FILL.repeat(filled)), room);
            if let Some(first) = cut.first_mut() {
                *first = first.split_off(filled);
            }
            lines.append(&mut cut);
        } else {
            let label = if short { &label.further } else { &label.first };
            lines.extend(wrap(line, beside(label)));
        }
    }
    let alone = lines.len() > 1 && lines.last().map(String::as_str) == time;
    if alone && (1..TIMED_FROM).contains(&page.width) {
        lines.pop();
    }
    for (at, line) in balanced(lines).iter().enumerate() {
        let label = match short && at > 0 {
            true => &label.further,
            false => &label.first,
        };
        if page.order == Order::Isolated && has_right_to_left(label) {
            // The label is hearken's order of words, with an agent's name in it.
            out.push(ISOLATE_LEFT);
            out.push_str(label);
            out.push(POP);
        } else {
            out.push_str(label);
        }
        out.push_str(": ");
        out.push_str(line);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EYES: Page = Page {
        width: 0,
        order: Order::Isolated,
    };

    fn segment(mark: Mark, text: &str, shown: Option<&str>) -> Segment {
        Segment {
            mark,
            text: text.to_owned(),
            shown: shown.map(str::to_owned),
            spoken: String::new(),
            language: None,
            ways: false,
        }
    }

    fn put(label: &str, message: &str, time: Option<&str>, page: Page) -> String {
        let mut out = String::new();
        let label = Label {
            first: label.to_owned(),
            further: label.rsplit(' ').next().unwrap_or_default().to_owned(),
        };
        put_lines(&mut out, &label, message, time, page);
        out
    }

    #[test]
    fn a_narrow_line_says_a_name_once_and_no_time_alone() {
        let narrow = Page::plain(40);
        let time = Some("(10:00:00)");
        assert_eq!(
            put(
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
            put("State", "Looking for the minutes of it.", time, narrow),
            "State: Looking for the minutes of it.\n"
        );
        assert_eq!(
            put("State", "Looking.", time, narrow),
            "State: Looking. (10:00:00)\n"
        );
        let wide = Page::plain(61);
        let long = "Looking for the minutes of the last meeting on Monday.";
        assert_eq!(
            put("State", long, time, wide),
            format!("State: {long}\nState: (10:00:00)\n")
        );
        // A word that does not fit beside the name is cut, never lost.
        let word = "x".repeat(50);
        let cut = put("Mail Assistant says", &word, None, narrow);
        assert_eq!(cut.matches('x').count(), 50, "{cut}");
        assert!(cut.lines().all(|line| line.width() <= 40), "{cut}");
        let tiny = put(
            "Mail Assistant says",
            "A few words here.",
            None,
            Page::plain(10),
        );
        assert!(tiny.starts_with("Mail Assistant says: A few"), "{tiny}");
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
            told(None, Order::Isolated),
            "The tool ended. \u{2067}שלום עולם\u{2069}. Done."
        );
        assert_eq!(told(None, Order::AsWritten), text);
        assert_eq!(
            told(Some(TextDirection::Ltr), Order::Isolated),
            "The tool ended. \u{2066}שלום עולם\u{2069}. Done."
        );
        let plain = isolated(
            "Done.",
            &segments,
            Some(TextDirection::Rtl),
            Order::Isolated,
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
            isolated(
                &format!("Note: {text} End"),
                &segments,
                None,
                Order::Isolated,
            )
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
        let letters = isolated("a\u{200f} \u{2067}b\u{2069}", &[], None, Order::AsWritten);
        assert_eq!(letters, "a b");
        // Each row by itself is balanced, however the words are cut.
        let text = "one \u{2067}two three \u{2068}four five\u{2069} six seven\u{2069} eight";
        for width in 5..40 {
            let page = Page { width, ..EYES };
            for row in put("Bot", &told(text), Some("(10:00)"), page).lines() {
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
            put("Bot", message, Some("(10:00)"), narrow),
            "Bot: \u{2067}אחד שתיים\u{2069}\nBot: \u{2067}שלוש\u{2069} (10:00)\n"
        );
        assert_eq!(
            put("בוט", "Done.", None, EYES),
            "\u{2066}בוט\u{2069}: Done.\n"
        );
        let pipe = Page::plain(0);
        assert_eq!(
            put("בוט", "Done.\nMore.", None, pipe),
            "בוט: Done.\nבוט: More.\n"
        );
    }
}
