//! The face by which the person meets the program, as it was chosen at the start.

use crate::announce::Manner;

use super::setup::LineSource;

/// How the person is met.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    manner: Manner,
    lines: Option<LineSource>,
    /// Its name and why it was chosen, as phrase keys.
    name: &'static str,
    why: &'static str,
    /// Whether the terminal takes what is to be copied.
    copies: bool,
}

impl Face {
    /// Takes what was chosen.
    pub(super) fn new(
        manner: Manner,
        lines: Option<LineSource>,
        (name, why): (&'static str, &'static str),
        copies: bool,
    ) -> Self {
        Self {
            manner,
            lines,
            name,
            why,
            copies,
        }
    }

    /// Returns how the person answers.
    pub(super) fn manner(&self) -> Manner {
        self.manner
    }

    /// Returns where lines come from.
    pub(super) fn lines(&self) -> Option<LineSource> {
        self.lines
    }

    /// Returns whether what is typed ahead can be thrown away.
    pub(super) fn can_flush(&self) -> bool {
        match self.lines {
            Some(LineSource::Terminal | LineSource::Editor) => true,
            Some(LineSource::Pipe) | None => false,
        }
    }

    /// Returns whether somebody reads its lines as they come, and writes some.
    pub(super) fn is_read_live(&self) -> bool {
        self.manner == Manner::Lines && self.can_flush()
    }

    /// Returns its name, as a phrase key.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns why it was chosen, as a phrase key.
    pub(super) fn why(&self) -> &'static str {
        self.why
    }

    /// Returns whether programs read it, as JSON.
    pub(super) fn is_json(&self) -> bool {
        self.manner == Manner::Program
    }

    /// Returns whether the terminal takes what is to be copied.
    pub(super) fn copies(&self) -> bool {
        self.copies
    }

    /// Picks between the wording for keys and the one for lines.
    pub(super) fn pick(&self, keys: &'static str, lines: &'static str) -> &'static str {
        match self.manner {
            Manner::Keys => keys,
            Manner::Lines | Manner::Program => lines,
        }
    }
}
