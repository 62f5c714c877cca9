//! The texts of a task that were heard, so that a text that returns under another name is not repeated.
//!
//! Responsibilities: how much of a text was heard already. Not here: texts that keep their names
//! (`kit::announced_parts`).
//!
//! Mental model: everything heard is one text, with a mark where each output began. A text between two marks was heard
//! in full. If everything after a mark is the beginning of a text, only the rest of that text is new. In doubt a text
//! is repeated: hearing it twice is better than never.

/// How many bytes are kept; what is longer may be said again.
const MOST_BYTES: usize = 256 * 1024;
/// How many outputs are kept apart.
const MOST: usize = 256;
/// How many bytes must agree before a beginning in the middle of a word counts.
const SURE: usize = 24;

/// What was heard of a task.
#[derive(Debug, Clone, Default)]
pub(super) struct HeardTexts {
    text: String,
    /// Where each output begins, in order.
    marks: Vec<usize>,
    /// The output that was heard last.
    last: String,
}

impl HeardTexts {
    /// Records that more of an output was heard.
    pub(super) fn note(&mut self, output: &str, text: &str) {
        if text.is_empty() || self.text.len() + text.len() > MOST_BYTES {
            return;
        }
        if (self.last != output || self.marks.is_empty()) && self.marks.len() < MOST {
            self.marks.push(self.text.len());
            output.clone_into(&mut self.last);
        }
        self.text.push_str(text);
    }

    /// Returns the part of a text that was not heard.
    pub(super) fn rest<'a>(&self, text: &'a str) -> &'a str {
        let bare = text.trim();
        if bare.is_empty() {
            return "";
        }
        let mut rest = text;
        for (at, from) in self.marks.iter().enumerate() {
            let Some(heard) = self.text.get(*from..) else {
                continue;
            };
            let heard = heard.trim_start();
            let started = self.text.len() - heard.len();
            if let Some(more) = heard.strip_prefix(bare) {
                // It was heard if an output ends there.
                let end = self.text.len() - more.trim_start().len();
                let is_mark = |mark: &usize| *mark == end || *mark == self.text.len() - more.len();
                if more.trim().is_empty() || self.marks.iter().skip(at + 1).any(is_mark) {
                    return "";
                }
            }
            let ends = self.marks.iter().skip(at + 1).copied();
            for end in ends.chain([self.text.len()]) {
                let beginning = self.text.get(started..end).unwrap_or_default().trim_end();
                if beginning.is_empty() {
                    continue;
                }
                let Some(new) = text.trim_start().strip_prefix(beginning) else {
                    // What follows a mark can't agree either.
                    break;
                };
                let is_sure = beginning.len() >= SURE || new.starts_with(char::is_whitespace);
                if is_sure && new.len() < rest.len() {
                    rest = new;
                }
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(outputs: &[(&str, &str)]) -> HeardTexts {
        let mut heard = HeardTexts::default();
        for (output, text) in outputs {
            heard.note(output, text);
        }
        heard
    }

    #[test]
    fn what_was_heard_under_another_name_is_not_new() {
        let said = heard(&[("m", "Looking."), ("a", "One. "), ("b", "Two. "), ("c", "")]);
        for known in ["Looking.", "One.", "Two.", "One. Two.", " One. Two. ", ""] {
            assert_eq!(said.rest(known), "", "{known}");
        }
        assert_eq!(said.rest("One. Two. Three.").trim(), "Three.");
        assert_eq!(said.rest("Two. Three.").trim(), "Three.");
    }

    #[test]
    fn in_doubt_a_text_is_said_again() {
        let said = heard(&[("m", "Yesterday it rained."), ("a", "Y")]);
        assert_eq!(said.rest("Yes"), "Yes", "only a piece of another word");
        assert_eq!(said.rest("Yesterday"), "Yesterday");
        let long = "x".repeat(MOST_BYTES + 1);
        let said = heard(&[("a", &long)]);
        assert_eq!(said.rest(&long), long);
        assert_eq!(HeardTexts::default().rest("One."), "One.");
    }

    #[test]
    fn a_word_that_was_cut_goes_on_where_much_agrees() {
        let said = heard(&[("a", "A long enough sentence to be su")]);
        assert_eq!(said.rest("A long enough sentence to be sure."), "re.");
    }
}
