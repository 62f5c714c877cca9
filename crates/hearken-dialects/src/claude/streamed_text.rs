//! The text of a message that is shown while the agent writes it.
//!
//! Responsibilities: how much of a part is new, and whether a whole text was heard already. Not here: announcing it
//! (`conversation`).

use super::messages::ShownText;

/// How much of the text is kept for comparison, in bytes; beyond that its length alone counts.
const MOST_KEPT: usize = 256 * 1024;

/// The text that was heard last in a turn.
#[derive(Debug, Default)]
pub(super) struct LastText {
    /// The message that it belongs to; `None` if it came from the transcript.
    message: Option<String>,
    /// Its beginning.
    kept: String,
    /// Its whole length, in bytes.
    length: usize,
}

impl LastText {
    /// Returns whether messages are shown as they are written.
    pub(super) fn is_shown(&self) -> bool {
        self.message.is_some()
    }

    /// Takes a whole text of the transcript.
    pub(super) fn set(&mut self, text: &str) {
        self.clear();
        self.add(text);
    }

    /// Forgets the text, not that messages are shown.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.length = 0;
    }

    /// Takes a part of a message; returns the new text in it, or `None` if it is an older state that arrives late.
    pub(super) fn shows(&mut self, part: ShownText) -> Option<String> {
        let ShownText {
            message,
            text,
            is_all,
        } = part;
        let goes_on = self.message.as_ref() == Some(&message);
        if !goes_on {
            self.clear();
            self.message = Some(message);
        }
        let fresh = match is_all {
            true if !text.starts_with(&self.kept) => return None,
            true => text.get(self.length..)?.to_owned(),
            false => text,
        };
        self.add(&fresh);
        Some(fresh)
    }

    /// Returns whether a whole text is the one that was heard.
    pub(super) fn is(&self, text: &str) -> bool {
        match self.length == self.kept.len() {
            true => text.trim() == self.kept.trim(),
            false => text.trim_start().starts_with(self.kept.trim_start()),
        }
    }

    fn add(&mut self, text: &str) {
        let is_whole = self.length == self.kept.len();
        self.length += text.len();
        if is_whole {
            let room = MOST_KEPT.saturating_sub(self.kept.len());
            let fits = text.floor_char_boundary(room);
            self.kept.push_str(text.get(..fits).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, is_all: bool) -> ShownText {
        ShownText {
            message: "m".to_owned(),
            text: text.to_owned(),
            is_all,
        }
    }

    #[test]
    fn a_message_without_an_end_is_heard_whole_and_kept_in_part() {
        let mut last = LastText::default();
        let piece = "é".repeat(100_000);
        for _ in 0..5 {
            assert_eq!(last.shows(part(&piece, false)).unwrap(), piece);
        }
        assert!(last.kept.len() <= MOST_KEPT);
        assert!(last.is(&piece.repeat(5)));
        assert!(!last.is("something else"));
        // All of it at once brings only what is new.
        let whole = format!("{}and more", piece.repeat(5));
        assert_eq!(last.shows(part(&whole, true)).unwrap(), "and more");
        assert_eq!(last.shows(part(&piece, true)), None, "it comes late");
    }
}
