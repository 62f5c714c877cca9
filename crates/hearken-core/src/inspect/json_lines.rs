//! From lines to whole JSON texts: one per line, or pretty-printed over several (3.8 allows both).
//!
//! Responsibilities: gathering the lines of one text, within a bound. Not here: reading it (`dialect`).
//!
//! A complete line is a text on its own. A line that opens more than it closes is gathered with the lines after
//! it until everything is closed. A line cut off in the middle looks the same; so a line that is a whole event
//! on its own ends the wait, and the gathered lines are judged as they are. Several texts on a line, or in a
//! list, are split up.

use crate::dialect::{self, JsonTexts};

/// The most bytes that are gathered for one text: four times the largest event that 3.7 recommends.
const MOST_BYTES: usize = 256 * 1024;

/// One JSON text and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText {
    /// The number of its first line, from 1.
    pub line: u64,
    /// The text.
    pub text: String,
}

/// One of several texts that came together.
pub(super) struct GatheredText {
    pub(super) gathered: JsonText,
    /// Whether it is an element of a list.
    pub(super) in_list: bool,
}

impl JsonText {
    /// Returns the texts in this one: itself, if it can be read or contains no other.
    pub(super) fn parts(&self) -> Vec<GatheredText> {
        let whole = dialect::bare(&self.text);
        let part = |text: &str| GatheredText {
            gathered: JsonText {
                line: self.line,
                text: text.to_owned(),
            },
            in_list: whole.starts_with('['),
        };
        if dialect::read(whole).is_err() {
            let mut walk = JsonTexts::default();
            let mut parts = Vec::new();
            while let Some(text) = walk.next(whole) {
                let before = walk.passed() - text.len();
                let mut part = part(text);
                part.gathered.line += whole[..before].matches('\n').count() as u64;
                parts.push(part);
            }
            let is_another =
                parts.len() > 1 || parts.iter().any(|part| part.gathered.text != whole);
            // If nothing in it can be read, it is judged as a single text.
            let readable = |part: &GatheredText| dialect::read(&part.gathered.text).is_ok();
            if is_another && parts.iter().any(readable) {
                return parts;
            }
        }
        vec![GatheredText {
            in_list: false,
            ..part(whole)
        }]
    }
}

/// Gathers lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Gatherer {
    open: Option<(JsonText, Depth)>,
}

impl Gatherer {
    /// Adds a line and returns the texts that are now complete or given up.
    pub(super) fn take(&mut self, line: u64, text: &str) -> Vec<JsonText> {
        let mut whole = Vec::new();
        if text.trim().is_empty() {
            return whole;
        }
        if let Some((mut open, mut depth)) = self.open.take() {
            // In a list, an event ends nothing: the list's elements are found anyway.
            let an_event = || {
                let in_list = open.text.starts_with('[');
                !in_list && text.trim_start().starts_with('{') && dialect::read(text).is_ok()
            };
            if open.text.len() + 1 + text.len() > MOST_BYTES || an_event() {
                whole.push(open);
            } else {
                open.text.push('\n');
                open.text.push_str(text);
                depth.feed(text);
                if depth.is_closed() {
                    whole.push(open);
                } else {
                    self.open = Some((open, depth));
                }
                return whole;
            }
        }
        let gathered = JsonText {
            line,
            text: text.to_owned(),
        };
        let mut depth = Depth::default();
        depth.feed(text);
        if dialect::bare(text).starts_with(['{', '[']) && !depth.is_closed() {
            self.open = Some((gathered, depth));
        } else {
            whole.push(gathered);
        }
        whole
    }

    /// Returns whether the next line begins a text.
    pub(super) fn begins(&self) -> bool {
        self.open.is_none()
    }

    /// Returns whether a line can't be part of a JSON text: it begins none, and none is open.
    pub(super) fn passes(&self, text: &str) -> bool {
        self.open.is_none() && !dialect::bare(text).starts_with(['{', '['])
    }

    /// Returns the text that was not closed when the stream ended.
    pub(super) fn end(&mut self) -> Option<JsonText> {
        self.open.take().map(|(open, _)| open)
    }
}

/// The open objects and lists of a JSON text.
#[derive(Debug, Clone, Copy, Default)]
struct Depth {
    open: u64,
    in_text: bool,
    escaped: bool,
}

impl Depth {
    fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_text {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_text = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.in_text = true,
                    b'{' | b'[' => self.open += 1,
                    b'}' | b']' => self.open = self.open.saturating_sub(1),
                    _ => {}
                }
            }
        }
        // A string can't continue past the end of a line: the line was cut.
        self.escaped = false;
    }

    fn is_closed(self) -> bool {
        self.open == 0 && !self.in_text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(text: &str) -> Vec<(u64, String)> {
        let mut gatherer = Gatherer::default();
        let mut all = Vec::new();
        for (at, line) in text.lines().enumerate() {
            all.extend(gatherer.take(at as u64 + 1, line));
        }
        all.extend(gatherer.end());
        all.into_iter().map(|one| (one.line, one.text)).collect()
    }

    #[test]
    fn lines_and_pretty_texts_are_told_apart() {
        let event = r#"{"type":"aaep:b"}"#;
        assert_eq!(
            gather(&format!("{event}\n\n{event}")),
            [(1, event.into()), (3, event.into())]
        );
        let pretty = "{\n  \"type\": \"a:b\",\n  \"x\": [\n    1\n  ]\n}";
        assert_eq!(
            gather(&format!("{pretty}\n{event}")),
            [(1, pretty.into()), (7, event.into())]
        );
        let tricky = "{\n  \"type\": \"}\\\"{\"\n}";
        assert_eq!(gather(tricky), [(1, tricky.into())]);
    }

    #[test]
    fn a_cut_line_swallows_no_event() {
        let event = r#"{"type":"aaep:b"}"#;
        let cut = r#"{"type":"aaep:b","x":"hal"#;
        assert_eq!(
            gather(&format!("{cut}\n{event}\n{event}")),
            [(1, cut.into()), (2, event.into()), (3, event.into())]
        );
        assert_eq!(
            gather(&format!("{event}\n{cut}")),
            [(1, event.into()), (2, cut.into())]
        );
    }

    #[test]
    fn what_is_never_closed_is_given_up() {
        let lines = vec!["{\"a\":"; MOST_BYTES / 4].join("\n");
        let all = gather(&lines);
        assert!(all.len() > 1 && all.iter().all(|(_, text)| text.len() <= MOST_BYTES));
    }
}
