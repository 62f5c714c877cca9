//! A text that is assembled word by word.
//!
//! Responsibilities: exactly one space between words, none before a stop. Not here: choosing the words.

use jiff::Timestamp;

use super::words::WordOrTemplate;

/// Collects spoken words.
#[derive(Debug, Default)]
pub(super) struct SpokenText {
    out: String,
    /// The time at which it is spoken, if known.
    now: Option<Timestamp>,
    gap: bool,
    /// Whether the last text was an opening quote or bracket, which no gap follows.
    opened: bool,
    /// The stop that was requested before whatever comes next.
    paused: Option<char>,
    /// How many symbols without a name were left out.
    left_out: usize,
}

impl SpokenText {
    /// Creates an empty text with room for about `bytes` bytes, spoken at `now`.
    pub(super) fn with_room(bytes: usize, now: Option<Timestamp>) -> Self {
        Self {
            out: String::with_capacity(bytes),
            now,
            gap: false,
            opened: false,
            paused: None,
            left_out: 0,
        }
    }

    /// Returns when it is spoken.
    pub(super) fn now(&self) -> Option<Timestamp> {
        self.now
    }

    /// Appends letters directly to the previous text, unless a gap was requested.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(stop) = self.paused.take() {
            self.stop(stop);
        }
        if self.gap && !self.opened && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.gap = false;
        self.opened = false;
        self.out.push_str(text);
    }

    /// Appends an opening quote or bracket, which the next word follows directly.
    pub(super) fn open(&mut self, text: &str) {
        self.text(text);
        self.opened = !text.is_empty();
    }

    /// Appends one character as [`SpokenText::text`] does.
    pub(super) fn letter(&mut self, c: char) {
        let mut bytes = [0; 4];
        self.text(c.encode_utf8(&mut bytes));
    }

    /// Requests a space before whatever comes next.
    pub(super) fn gap(&mut self) {
        self.gap = true;
    }

    /// Requests a stop before whatever comes next.
    pub(super) fn pause(&mut self, stop: char) {
        self.paused = Some(stop);
    }

    /// Counts symbols that have no name.
    pub(super) fn leave_out(&mut self, symbols: usize) {
        self.left_out = self.left_out.saturating_add(symbols);
    }

    /// Returns how many symbols were left out.
    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    /// Appends a separate word.
    pub(super) fn word(&mut self, word: &str) {
        self.gap = true;
        self.text(word);
        self.gap = true;
    }

    /// Appends a stop or comma to the last word, unless there is no word or it already has a stop.
    pub(super) fn stop(&mut self, stop: char) {
        if self
            .out
            .chars()
            .next_back()
            .is_some_and(|last| !is_stop(last))
        {
            self.out.push(stop);
        }
        self.paused = None;
        self.gap = true;
    }

    /// Appends a closing quote or bracket directly to the last word.
    pub(super) fn close(&mut self, c: char) {
        if !self.out.is_empty() {
            self.out.push(c);
        }
    }

    /// Returns whether the last word is one of the given words.
    pub(super) fn ends_with(&self, words: &[WordOrTemplate]) -> bool {
        let last = self.out.split_whitespace().next_back();
        last.is_some_and(|last| {
            words
                .iter()
                .any(|word| word.to_lowercase() == last.to_lowercase())
        })
    }

    /// Returns whether the last word is this text.
    pub(super) fn ends_with_text(&self, text: &str) -> bool {
        self.out.ends_with(text)
    }

    /// Returns the last character.
    pub(super) fn last(&self) -> Option<char> {
        self.out.chars().next_back()
    }

    /// Returns the whole text.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Returns whether a character makes a voice pause.
pub(super) fn is_stop(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '…'
            | '。'
            | '！'
            | '？'
            | '：'
            | '、'
            | '，'
            | '।'
            | '؟'
    )
}
