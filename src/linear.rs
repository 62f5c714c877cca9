//! The linear face: one announcement, one line; the JSON face is in `json`.
//!
//! Responsibilities: turning an announcement into labelled, append-only lines of plain text. Not here: where the lines go (`runtime`), what is announced (`app`).
//!
//! A question has a line for each of its parts, hearken's and the agent's apart.
//! A line is `LABEL: MESSAGE (TIME)`: the message comes first after a label in words and the time
//! last. An agent's text can't begin a line without its label: line breaks in it are spaces, and a
//! line that is wrapped begins with its label again.
//!
//! A terminal that orders words from right to left itself would drag hearken's label, the time and the
//! punctuation along with an agent's Arabic or Hebrew. Where eyes read such a line, the agent's words are
//! isolated; where a screen reader, a braille display or a program reads it, nothing is put in: they read
//! in the order of the letters, and some would spell the sign.

mod json;

use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use crate::announce::direction::{ISOLATE, ISOLATE_LEFT, POP, has_right_to_left, is_right_to_left};
use crate::announce::{Announcement, Arg, Mark, Segment, wrap};
use crate::app::App;
use crate::protocol::TextDirection;

pub use json::json;

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

/// The least room for words beside a label, in columns, whatever width is asked for.
const NARROWEST: usize = 12;

/// Writes one announcement as plain text, each line ended by a line feed.
pub fn lines(app: &App, told: &Announcement, zone: &TimeZone, page: Page) -> String {
    let label = app.label(told);
    let time = told.at.wall.to_zoned(zone.clone()).strftime("%H:%M:%S");
    let mut out = String::new();
    let asks = told.about.and_then(|about| app.prompt(about.prompt()));
    match asks {
        // Around a question each speaker has lines of their own, so that no action can claim a risk or a
        // key in hearken's name.
        Some(prompt) => {
            let asker = app
                .phrases()
                .text("label.asks", &[("agent", Arg::Name(app.agent_of(prompt)))]);
            let shown: Vec<_> = told
                .segments
                .iter()
                .filter(|segment| !segment.text.is_empty())
                .collect();
            let last = shown.len().saturating_sub(1);
            for (at, segment) in shown.into_iter().enumerate() {
                let label = match segment.mark {
                    Mark::Own => &label,
                    Mark::Agent => &asker,
                };
                let end = if at == last {
                    format!(" ({time})")
                } else {
                    String::new()
                };
                let text = isolated(
                    &segment.text,
                    std::slice::from_ref(segment),
                    told.direction,
                    page.order,
                );
                put_lines(&mut out, label, &format!("{text}{end}"), page);
            }
        }
        None => {
            let shown = told.shown();
            // What is structure only, such as the line under a table's headers, has nothing to read.
            if !shown.is_empty() {
                let shown = isolated(&shown, &told.segments, told.direction, page.order);
                put_lines(&mut out, &label, &format!("{shown} ({time})"), page);
            }
        }
    }
    out
}

/// Puts isolates around the agent's parts of a text that run from right to left.
fn isolated(
    text: &str,
    segments: &[Segment],
    direction: Option<TextDirection>,
    order: Order,
) -> String {
    match order {
        Order::Isolated if has_right_to_left(text) => {}
        Order::Isolated | Order::AsWritten => return text.to_owned(),
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    for segment in segments {
        let of_agent = match segment.mark {
            Mark::Agent => is_right_to_left(&segment.text, direction),
            Mark::Own => false,
        };
        // A text may be shown otherwise than it came.
        let words = [segment.shown.as_deref(), Some(segment.text.as_str())];
        let found = words
            .into_iter()
            .flatten()
            .map(str::trim)
            .find_map(|words| {
                let (before, after) = rest.split_once(words)?;
                (of_agent && !words.is_empty()).then_some((before, words, after))
            });
        if let Some((before, words, after)) = found {
            out.push_str(before);
            out.push(ISOLATE);
            out.push_str(words);
            out.push(POP);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Writes one message under a label; every line of it, and a line that is wrapped, begins with its label
/// again, so that none of an agent's begins without one. An isolate ends with its line, as every
/// terminal lets it, and begins again on the next.
fn put_lines(out: &mut String, label: &str, message: &str, page: Page) {
    let room = match usize::from(page.width) {
        0 => 0,
        width => width.saturating_sub(label.width() + 2).max(NARROWEST),
    };
    let apart = page.order == Order::Isolated && has_right_to_left(label);
    let mut open = false;
    for line in message.lines().flat_map(|line| wrap(line, room)) {
        if apart {
            // The label is hearken's order of words, with an agent's name in it.
            out.extend([ISOLATE_LEFT]);
            out.push_str(label);
            out.extend([POP]);
        } else {
            out.push_str(label);
        }
        out.push_str(": ");
        if open {
            out.push(ISOLATE);
        }
        out.push_str(&line);
        open = match line.rfind([ISOLATE, POP]) {
            Some(at) => line[at..].starts_with(ISOLATE),
            None => open,
        };
        if open {
            out.push(POP);
        }
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
        }
    }

    fn put(label: &str, message: &str, page: Page) -> String {
        let mut out = String::new();
        put_lines(&mut out, label, message, page);
        out
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
        assert_eq!(told(Some(TextDirection::Ltr), Order::Isolated), text);
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
    fn an_isolate_ends_with_its_line_and_begins_again_on_the_next() {
        let message = "\u{2067}אחד שתיים שלוש\u{2069} (10:00)";
        let narrow = Page { width: 17, ..EYES };
        assert_eq!(
            put("Bot", message, narrow),
            "Bot: \u{2067}אחד שתיים\u{2069}\nBot: \u{2067}שלוש\u{2069} (10:00)\n"
        );
        assert_eq!(put("בוט", "Done.", EYES), "\u{2066}בוט\u{2069}: Done.\n");
        let pipe = Page::plain(0);
        assert_eq!(put("בוט", "Done.\nMore.", pipe), "בוט: Done.\nבוט: More.\n");
    }
}
