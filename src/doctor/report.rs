//! What was found, as lines for a person and for a program.
//!
//! Responsibilities: the shape of a finding, its line, its JSON, the last line and the verdict. Not
//! here: looking (the other files of this room).

use std::fmt::Write as _;

use crate::announce::normalise::clean;

/// Names the part of the program's surroundings that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Input, output, size, colours, signs.
    Terminal,
    /// Files, and where each value came from.
    Settings,
    /// Whether one is at work.
    ScreenReader,
    /// Which face a run would have.
    Face,
    /// The engines.
    Voice,
    /// What is followed.
    Source,
}

impl Part {
    /// Gives the label that begins a line.
    pub fn label(self) -> &'static str {
        match self {
            Self::Terminal => "Terminal",
            Self::Settings => "Settings",
            Self::ScreenReader => "Screen reader",
            Self::Face => "Face",
            Self::Voice => "Voice",
            Self::Source => "Source",
        }
    }

    /// Gives the name that JSON has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Settings => "settings",
            Self::ScreenReader => "screen_reader",
            Self::Face => "face",
            Self::Voice => "voice",
            Self::Source => "source",
        }
    }
}

/// Says how much a finding matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grade {
    /// It is as it should be, or only a fact.
    Fine,
    /// hearken works, and could work better.
    Weak {
        /// What would help, as a plain sentence without a full stop.
        remedy: String,
    },
    /// It keeps hearken from doing what was asked.
    Broken {
        /// What would help, as a plain sentence without a full stop.
        remedy: String,
    },
}

/// Holds one thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub part: Part,
    /// What was found, as a plain sentence without a full stop.
    pub text: String,
    /// How much it matters.
    pub grade: Grade,
}

impl Finding {
    /// Makes a finding that needs nothing.
    pub fn fine(part: Part, text: impl Into<String>) -> Self {
        Self {
            part,
            text: text.into(),
            grade: Grade::Fine,
        }
    }

    /// Makes a finding that could be better.
    pub fn weak(part: Part, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            part,
            text: text.into(),
            grade: Grade::Weak {
                remedy: remedy.into(),
            },
        }
    }

    /// Makes a finding that prevents work.
    pub fn broken(part: Part, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            part,
            text: text.into(),
            grade: Grade::Broken {
                remedy: remedy.into(),
            },
        }
    }

    /// Gives the finding as one line, whatever is in it: the label, the message, the remedy.
    pub fn line(&self) -> String {
        let (label, text) = (self.part.label(), sentence(&self.text));
        match &self.grade {
            Grade::Fine => format!("{label}: {text}\n"),
            Grade::Weak { remedy } => {
                format!(
                    "{label}, could be better: {text} Remedy: {}\n",
                    sentence(remedy)
                )
            }
            Grade::Broken { remedy } => {
                format!("{label}, problem: {text} Remedy: {}\n", sentence(remedy))
            }
        }
    }

    /// Gives the finding as one JSON object.
    pub fn json(&self) -> String {
        let (grade, remedy) = match &self.grade {
            Grade::Fine => ("fine", None),
            Grade::Weak { remedy } => ("weak", Some(remedy)),
            Grade::Broken { remedy } => ("broken", Some(remedy)),
        };
        let object = serde_json::json!({
            "part": self.part.name(),
            "grade": grade,
            "text": clean(&self.text),
            "remedy": remedy.map(|remedy| clean(remedy)),
        });
        format!("{object}\n")
    }
}

/// Makes a safe sentence: no control character, a capital, one full stop.
fn sentence(text: &str) -> String {
    let text = clean(text);
    let text = text.trim().trim_end_matches('.');
    let mut signs = text.chars();
    let first: String = signs
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    // A name, an address and a setting are written as they are.
    let word = text.split_whitespace().next().unwrap_or_default();
    let name = word.contains(['.', '/', '=', '_', ':', '-']) || word == "hearken";
    let end = if text.ends_with(['!', '?']) { "" } else { "." };
    if name {
        format!("{text}{end}")
    } else {
        format!("{first}{}{end}", signs.as_str())
    }
}

/// Counts what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many findings could be better.
    pub weak: usize,
    /// How many findings prevent work.
    pub broken: usize,
}

impl Tally {
    /// Counts one more finding.
    pub fn count(&mut self, finding: &Finding) {
        match finding.grade {
            Grade::Fine => {}
            Grade::Weak { .. } => self.weak += 1,
            Grade::Broken { .. } => self.broken += 1,
        }
    }

    /// Tells whether nothing prevents work.
    pub fn is_well(self) -> bool {
        self.broken == 0
    }

    /// Gives the last line.
    pub fn line(self) -> String {
        let mut line = match self.broken {
            0 => "Result: hearken can work here".to_owned(),
            1 => "Result: 1 problem keeps hearken from working as you asked".to_owned(),
            many => format!("Result: {many} problems keep hearken from working as you asked"),
        };
        match self.weak {
            0 => {}
            1 => line.push_str("; 1 thing could be better"),
            many => {
                // Writing to a string can't fail.
                let _ = write!(line, "; {many} things could be better");
            }
        }
        line.push_str(".\n");
        line
    }

    /// Gives the last line as JSON.
    pub fn json(self) -> String {
        let object = serde_json::json!({
            "part": "result",
            "well": self.is_well(),
            "weak": self.weak,
            "broken": self.broken,
        });
        format!("{object}\n")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_line_has_the_label_first_and_the_remedy_last() {
        let fine = Finding::fine(Part::Terminal, "the size is 80 columns by 24 rows");
        assert_eq!(
            fine.line(),
            "Terminal: The size is 80 columns by 24 rows.\n"
        );
        let weak = Finding::weak(Part::Voice, "there is no voice", "install one.");
        assert_eq!(
            weak.line(),
            "Voice, could be better: There is no voice. Remedy: Install one.\n"
        );
        let broken = Finding::broken(Part::Source, "http://a/ is closed", "open it");
        assert_eq!(
            broken.line(),
            "Source, problem: http://a/ is closed. Remedy: Open it.\n"
        );
    }

    #[test]
    fn nothing_hostile_leaves_a_line() {
        let text = "a\nSource: all is well\u{1b}[2J\u{202e}";
        let hostile = Finding::broken(Part::Source, text, text);
        let line = hostile.line();
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with('\n'), "one line");
        for text in [line, hostile.json()] {
            assert!(
                !text.contains('\u{1b}') && !text.contains('\u{202e}'),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_tally_decides_by_what_prevents_work() {
        let mut tally = Tally::default();
        tally.count(&Finding::fine(Part::Face, "x"));
        assert_eq!(tally.line(), "Result: hearken can work here.\n");
        tally.count(&Finding::weak(Part::Face, "x", "y"));
        assert!(tally.is_well());
        assert!(tally.line().ends_with("; 1 thing could be better.\n"));
        tally.count(&Finding::broken(Part::Face, "x", "y"));
        assert!(!tally.is_well());
        assert!(tally.line().starts_with("Result: 1 problem keeps"));
        let json: serde_json::Value = serde_json::from_str(&tally.json()).unwrap();
        assert_eq!(json["broken"], 1);
    }
}
