//! The linear face: one announcement, one line; the JSON face is in `json`.
//!
//! Responsibilities: turning an announcement into labelled, append-only lines of plain text. Not here: where the lines go (`runtime`), what is announced (`app`).
//!
//! A question has a line for each of its parts, hearken's and the agent's apart.
//! A line is `LABEL: MESSAGE (TIME)`: the message comes first after a label in words and the time
//! last. An agent's text can't begin a line without its label: line breaks in it are spaces, and a
//! line that is wrapped begins with its label again.

mod json;

use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use crate::announce::{Announcement, Arg, Mark, wrap};
use crate::app::App;

pub use json::json;

/// The least room for words beside a label, in columns, whatever width is asked for.
const NARROWEST: usize = 12;

/// Writes one announcement as plain text, each line ended by a line feed. `width` 0 leaves wrapping
/// to whoever shows it.
pub fn lines(app: &App, told: &Announcement, zone: &TimeZone, width: u16) -> String {
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
                put_line(&mut out, label, &format!("{}{end}", segment.text), width);
            }
        }
        None => {
            let shown = told.shown();
            // What is structure only, such as the line under a table's headers, has nothing to read.
            if !shown.is_empty() {
                let last = format!("{shown} ({time})");
                // No line of an agent's begins without its label.
                for line in last.lines() {
                    put_line(&mut out, &label, line, width);
                }
            }
        }
    }
    out
}

/// Writes one message under a label; a line that is wrapped begins with its label again.
fn put_line(out: &mut String, label: &str, message: &str, width: u16) {
    let room = match usize::from(width) {
        0 => 0,
        width => width.saturating_sub(label.width() + 2).max(NARROWEST),
    };
    for line in wrap(message, room) {
        out.push_str(label);
        out.push_str(": ");
        out.push_str(&line);
        out.push('\n');
    }
}
