//! Which parts of a text were announced, so that nothing is repeated and nothing is left out.
//!
//! Responsibilities: which pieces of each part to announce now. Not here: announcing them (`kit::turn`).
//!
//! Mental model: a part is introduced, grows piece by piece, and arrives whole at its end. A piece shows neither the
//! kind of its part nor its position. So if a part was not introduced, or some of its pieces may have been missed, its
//! pieces are not announced: the text, or the rest of it, is announced when the part arrives whole.

use std::collections::VecDeque;

/// How many parts are remembered; only a few grow at the same time.
const MOST: usize = 256;

/// The parts of one conversation.
#[derive(Debug, Clone, Default)]
pub struct ConversationParts {
    parts: VecDeque<AnnouncedPart>,
}

/// How much of one part was announced.
#[derive(Debug, Clone)]
struct AnnouncedPart {
    id: String,
    grows: PartGrowth,
    /// The length of the announced text in bytes, and its hash.
    said: (usize, u64),
    /// The same without trailing space, which is removed when the part is complete.
    bare: (usize, u64),
}

/// What to do with more of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartGrowth {
    /// Announce it.
    Aloud,
    /// Wait until the part arrives whole.
    Unheard,
    /// Never announce it: it is a thought of the agent.
    Silently,
}

/// The initial value of a hash (FNV-1a) that distinguishes texts of one program; it is not for security.
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn sum(start: u64, text: &str) -> u64 {
    text.bytes().fold(start, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl ConversationParts {
    /// Returns a part, and creates it if it is new.
    fn part(&mut self, id: &str, grows: PartGrowth) -> Option<&mut AnnouncedPart> {
        if let Some(at) = self.parts.iter().position(|part| part.id == id) {
            return self.parts.get_mut(at);
        }
        if self.parts.len() == MOST {
            self.parts.pop_front();
        }
        self.parts.push_back(AnnouncedPart {
            id: id.to_owned(),
            grows,
            said: (0, START),
            bare: (0, START),
        });
        self.parts.back_mut()
    }

    /// Returns whether anything of a part was ever announced, or passed over.
    pub fn knows(&self, id: &str) -> bool {
        let mut known = self.parts.iter();
        known.any(|part| part.id == id && part.said.0 > 0)
    }

    /// Marks a part as not meant for the person.
    pub fn thinks(&mut self, id: &str) {
        if let Some(part) = self.part(id, PartGrowth::Silently) {
            part.grows = PartGrowth::Silently;
        }
    }

    /// Adds more of a part; returns whether to announce it now.
    pub fn more(&mut self, id: &str, text: &str) -> bool {
        let Some(part) = self.part(id, PartGrowth::Unheard) else {
            return false;
        };
        if part.grows != PartGrowth::Aloud {
            return false;
        }
        part.says(text);
        true
    }

    /// Sets the whole text of a part so far; returns what was not announced yet.
    pub fn unannounced_text<'a>(&mut self, id: &str, text: &'a str) -> &'a str {
        let Some(part) = self.part(id, PartGrowth::Aloud) else {
            return "";
        };
        part.grows = PartGrowth::Aloud;
        let (bytes, said) = part.said;
        let begins = text
            .get(..bytes)
            .is_some_and(|start| sum(START, start) == said);
        if begins {
            let rest = text.get(bytes..).unwrap_or_default();
            part.says(rest);
            return rest;
        }
        if part.bare == (text.len(), sum(START, text)) {
            return "";
        }
        // The part was rewritten: it is a different text.
        (part.said, part.bare) = ((0, START), (0, START));
        part.says(text);
        text
    }

    /// Sets the whole text of a part as if it had been announced.
    pub fn pass_over(&mut self, id: &str, text: &str) {
        let _ = self.unannounced_text(id, text);
        if let Some(part) = self.part(id, PartGrowth::Unheard) {
            part.grows = PartGrowth::Unheard;
        }
    }

    /// Records that pieces may be missed from now on.
    pub fn interrupt(&mut self) {
        for part in &mut self.parts {
            if part.grows == PartGrowth::Aloud {
                part.grows = PartGrowth::Unheard;
            }
        }
    }
}

impl AnnouncedPart {
    fn says(&mut self, text: &str) {
        let bare = text.trim_end();
        if !bare.is_empty() {
            self.bare = (self.said.0 + bare.len(), sum(self.said.1, bare));
        }
        self.said = (self.said.0 + text.len(), sum(self.said.1, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_not_said_again_and_the_rest_is() {
        let mut parts = ConversationParts::default();
        assert_eq!(parts.unannounced_text("p", ""), "");
        assert!(parts.more("p", "One. ") && parts.more("p", "Two. "));
        assert_eq!(parts.unannounced_text("p", "One. Two. Three. "), "Three. ");
        assert_eq!(
            parts.unannounced_text("p", "One. Two. Three."),
            "",
            "only its end was taken off"
        );
        assert_eq!(
            parts.unannounced_text("p", "Four."),
            "Four.",
            "another text"
        );
    }

    #[test]
    fn what_may_have_gaps_waits_until_it_is_whole() {
        let mut parts = ConversationParts::default();
        assert!(!parts.more("p", "middle "), "nobody said what it is");
        assert_eq!(
            parts.unannounced_text("p", "start middle end"),
            "start middle end"
        );
        assert_eq!(parts.unannounced_text("q", "a "), "a ");
        parts.interrupt();
        assert!(!parts.more("q", "c "));
        assert_eq!(parts.unannounced_text("q", "a b c "), "b c ");
        assert!(parts.more("q", "d"), "now nothing is missing");
        parts.pass_over("r", "old ");
        assert!(!parts.more("r", "and "));
        assert_eq!(parts.unannounced_text("r", "old and new"), "and new");
    }

    #[test]
    fn thoughts_are_never_said_and_what_is_remembered_is_bounded() {
        let mut parts = ConversationParts::default();
        parts.thinks("t");
        assert!(!parts.more("t", "secret"));
        parts.more("u", "x");
        parts.thinks("u");
        assert!(!parts.more("u", "y"));
        for n in 0..3 * MOST {
            parts.unannounced_text(&n.to_string(), "x");
        }
        assert_eq!(parts.parts.len(), MOST);
    }
}
