//! A frame with texts that are not read yet.

use crate::dialect::JsonTexts;
use crate::link::LinkId;

/// A frame with texts that are not read yet.
#[derive(Debug)]
pub(super) struct UnreadFrame {
    link: LinkId,
    text: String,
    texts: JsonTexts,
}

impl UnreadFrame {
    /// Begins at the first text.
    pub(super) fn new(link: LinkId, text: String) -> Self {
        Self {
            link,
            text,
            texts: JsonTexts::default(),
        }
    }

    /// Returns the link that it came over.
    pub(super) fn link(&self) -> LinkId {
        self.link
    }

    /// Returns the number of bytes read so far.
    pub(super) fn passed(&self) -> usize {
        self.texts.passed()
    }

    /// Returns the next text.
    pub(super) fn next_text(&mut self) -> Option<&str> {
        self.texts.next(&self.text)
    }
}
