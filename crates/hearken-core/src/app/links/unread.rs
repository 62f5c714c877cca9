//! A frame of which not every text was read yet.

use crate::dialect::Texts;
use crate::link::LinkId;

/// A frame of which not every text was read yet.
#[derive(Debug)]
pub(super) struct Unread {
    link: LinkId,
    text: String,
    texts: Texts,
}

impl Unread {
    /// Begins at the first of the texts.
    pub(super) fn new(link: LinkId, text: String) -> Self {
        Self {
            link,
            text,
            texts: Texts::default(),
        }
    }

    /// Returns the link that it came over.
    pub(super) fn link(&self) -> LinkId {
        self.link
    }

    /// Counts the bytes that were gone through.
    pub(super) fn passed(&self) -> usize {
        self.texts.passed()
    }

    /// Returns the next text.
    pub(super) fn next_text(&mut self) -> Option<&str> {
        self.texts.next(&self.text)
    }
}
