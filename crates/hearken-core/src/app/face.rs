//! The face chosen at the start.

use crate::announce::AnswerMethod;

use super::app_setup::LineSource;

/// The chosen face and its abilities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face {
    manner: AnswerMethod,
    /// Whether sentences name keys or scanned items, not lines.
    names_keys: bool,
    lines: Option<LineSource>,
    /// The name of the face, as a phrase key; `why` is the reason for the choice, also a phrase key.
    name: &'static str,
    why: &'static str,
    /// Whether the terminal accepts text for its clipboard.
    copies: bool,
}

impl Face {
    /// Creates the face from the choices made at the start.
    pub(super) fn new(
        manner: AnswerMethod,
        lines: Option<LineSource>,
        (name, why): (&'static str, &'static str),
        copies: bool,
    ) -> Self {
        Self {
            manner,
            names_keys: manner == AnswerMethod::Keys,
            lines,
            name,
            why,
            copies,
        }
    }

    /// Notes whether the person scans, and therefore types no lines.
    pub(super) fn scanned(self, is_scanned: bool) -> Self {
        Self {
            names_keys: self.names_keys || is_scanned,
            ..self
        }
    }

    /// Returns how the person gives answers.
    pub(super) fn manner(&self) -> AnswerMethod {
        self.manner
    }

    /// Returns where lines come from.
    pub(super) fn lines(&self) -> Option<LineSource> {
        self.lines
    }

    /// Returns whether input that was typed ahead can be discarded.
    pub(super) fn can_flush(&self) -> bool {
        match self.lines {
            Some(LineSource::Terminal | LineSource::Editor) => true,
            Some(LineSource::Pipe) | None => false,
        }
    }

    /// Returns whether a person reads its lines as they appear, and types some.
    pub(super) fn is_read_live(&self) -> bool {
        self.manner == AnswerMethod::Lines && self.can_flush()
    }

    /// Returns the name of the face, as a phrase key.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns why it was chosen, as a phrase key.
    pub(super) fn why(&self) -> &'static str {
        self.why
    }

    /// Returns whether it writes JSON, for programs.
    pub(super) fn is_json(&self) -> bool {
        self.manner == AnswerMethod::Program
    }

    /// Returns whether the terminal accepts text for its clipboard.
    pub(super) fn copies(&self) -> bool {
        self.copies
    }

    /// Returns the wording for keys or the one for lines.
    pub(super) fn pick(&self, keys: &'static str, lines: &'static str) -> &'static str {
        match self.names_keys {
            true => keys,
            false => lines,
        }
    }
}
