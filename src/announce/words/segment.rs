//! The pieces of an announcement, each with one speaker and one language, and how they make a line.

use std::sync::Arc;

use serde::Serialize;

/// Says whose words an utterance carries, so that an agent can never speak in the program's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The program's own words; an engine gives them a pitch that agents' text never has.
    Own,
    /// Text that an agent wrote.
    Agent,
}

/// Holds a piece of an announcement that has one speaker and one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Whose words.
    pub mark: Mark,
    /// The words of the source, cleaned of hostile characters.
    pub text: String,
    /// The words as they are shown, where that is not how the source wrote them: without Markdown's
    /// marks.
    pub shown: Option<String>,
    /// The words as they are spoken; empty when there is nothing to say.
    pub spoken: String,
    /// The language, when it is known and not the program's own.
    pub language: Option<Arc<str>>,
    /// Whether they only say how a question is answered: it is heard once all before them was said.
    pub ways: bool,
}

impl Segment {
    /// Estimates the memory that its words take, in bytes.
    pub(in crate::announce) fn size(&self) -> usize {
        let shown = self.shown.as_ref().map_or(0, String::len);
        self.text.len() + self.spoken.len() + shown
    }
}

/// Joins segments into one line of text; a segment that does not end in a stop gets one.
pub fn join(segments: &[Segment]) -> String {
    join_by(segments, |segment| &segment.text)
}

/// Joins what is shown of segments in the same way.
pub fn join_shown(segments: &[Segment]) -> String {
    join_by(segments, |segment| {
        segment.shown.as_deref().unwrap_or(&segment.text)
    })
}

/// Joins the spoken words of segments in the same way.
pub fn join_spoken(segments: &[Segment]) -> String {
    join_by(segments, |segment| &segment.spoken)
}

fn join_by(segments: &[Segment], words: impl Fn(&Segment) -> &str) -> String {
    let mut line = String::new();
    for segment in segments {
        let text = words(segment).trim();
        if text.is_empty() {
            continue;
        }
        if !line.is_empty() {
            if line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '\'' | '”'))
            {
                line.push('.');
            }
            line.push(' ');
        }
        line.push_str(text);
    }
    line
}
