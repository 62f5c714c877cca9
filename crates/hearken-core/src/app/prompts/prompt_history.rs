//! Earlier prompts, which the editor offers again.
//!
//! Responsibilities: keeping them, and which one is in the editor. Not here: the editor (`activity`), sending
//! (`prompt_delivery`).

use std::collections::VecDeque;

/// How many are kept; each is at most as long as the editor allows, so together they stay below a megabyte.
const MOST: usize = 50;

/// The earlier prompts.
#[derive(Debug, Clone, Default)]
pub(super) struct PromptHistory {
    earlier: VecDeque<String>,
    /// Which of them is in the editor; `None` for a new one.
    at: Option<usize>,
    /// The text that was typed before the first earlier prompt was fetched.
    draft: String,
}

impl PromptHistory {
    /// Stores a prompt; the same one twice in a row is stored once.
    pub(super) fn keep(&mut self, text: &str) {
        self.begin();
        if text.trim().is_empty() || self.earlier.back().is_some_and(|last| last == text) {
            return;
        }
        if self.earlier.len() == MOST {
            self.earlier.pop_front();
        }
        self.earlier.push_back(text.to_owned());
    }

    /// Notes that a new prompt is begun.
    pub(super) fn begin(&mut self) {
        self.at = None;
        self.draft.clear();
    }

    /// Returns the previous prompt, to replace the text in the editor; `None` if there is no earlier one.
    pub(super) fn older(&mut self, now: &str) -> Option<String> {
        let at = match self.at {
            None => self.earlier.len().checked_sub(1)?,
            Some(at) => at.checked_sub(1)?,
        };
        if self.at.is_none() {
            now.clone_into(&mut self.draft);
        }
        self.at = Some(at);
        self.earlier.get(at).cloned()
    }

    /// Returns the next prompt; after the last one, the draft.
    pub(super) fn newer(&mut self) -> Option<String> {
        let at = self.at? + 1;
        match self.earlier.get(at) {
            Some(text) => {
                self.at = Some(at);
                Some(text.clone())
            }
            None => {
                self.at = None;
                Some(std::mem::take(&mut self.draft))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_prompts_are_gone_through_and_what_was_typed_comes_back() {
        let mut prompts = PromptHistory::default();
        assert_eq!(prompts.older("x"), None);
        for text in ["one", "two", "two", " "] {
            prompts.keep(text);
        }
        assert_eq!(prompts.newer(), None);
        assert_eq!(prompts.older("dra").as_deref(), Some("two"));
        assert_eq!(prompts.older("two").as_deref(), Some("one"));
        assert_eq!(prompts.older("one"), None);
        assert_eq!(prompts.newer().as_deref(), Some("two"));
        assert_eq!(prompts.newer().as_deref(), Some("dra"));
        assert_eq!(prompts.newer(), None);
        for n in 0..2 * MOST {
            prompts.keep(&n.to_string());
        }
        assert_eq!(prompts.earlier.len(), MOST);
    }
}
