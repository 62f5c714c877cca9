//! Findings, as lines for a person and for a program.
//!
//! Responsibilities: the structure of a finding, its line, its JSON, the last line and the verdict.
//! Not here: examining (the other files of this module); the words of a finding, which are phrases.

use crate::announce::normalise::clean;
use crate::announce::{Arg, Detail, Phrases, Reason};
use crate::link::{Phrase, PhraseArg};
use crate::runtime::phrase_text;

/// The part of the program's surroundings that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoctorTopic {
    /// Input, output, size, colours, signals.
    Terminal,
    /// The files, and where each value came from.
    Settings,
    /// Whether one is running.
    ScreenReader,
    /// Which face a run would have.
    Face,
    /// The voice engines.
    Voice,
    /// Which agents are on this machine, and how each is followed.
    Agent,
    /// The sources to follow.
    Source,
}

impl DoctorTopic {
    /// Returns the phrase key of the label that begins a line.
    pub fn label(self) -> &'static str {
        match self {
            Self::Terminal => "doctor.part.terminal",
            Self::Settings => "doctor.part.settings",
            Self::ScreenReader => "doctor.part.screen_reader",
            Self::Face => "doctor.part.face",
            Self::Voice => "doctor.part.voice",
            Self::Agent => "doctor.part.agent",
            Self::Source => "doctor.part.source",
        }
    }

    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Settings => "settings",
            Self::ScreenReader => "screen_reader",
            Self::Face => "face",
            Self::Voice => "voice",
            Self::Agent => "agent",
            Self::Source => "source",
        }
    }
}

/// How much a finding matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grade {
    /// It is as it should be, or merely a fact.
    Fine,
    /// hearken works, but could work better.
    Weak {
        /// What would help, as a plain sentence without a full stop.
        remedy: Phrase,
    },
    /// It prevents hearken from doing what was asked.
    Broken {
        /// What would help, as a plain sentence without a full stop.
        remedy: Phrase,
    },
}

/// A single finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorFinding {
    /// Its subject.
    pub part: DoctorTopic,
    /// What was found, as a plain sentence without a full stop.
    pub text: Phrase,
    /// How much it matters.
    pub grade: Grade,
}

impl DoctorFinding {
    /// Creates a finding that needs no remedy.
    pub fn fine(part: DoctorTopic, text: impl Into<Phrase>) -> Self {
        Self {
            part,
            text: text.into(),
            grade: Grade::Fine,
        }
    }

    /// Creates a finding about something that could be better.
    pub fn weak(part: DoctorTopic, text: impl Into<Phrase>, remedy: impl Into<Phrase>) -> Self {
        Self {
            part,
            text: text.into(),
            grade: Grade::Weak {
                remedy: remedy.into(),
            },
        }
    }

    /// Creates a finding about something that prevents work.
    pub fn broken(part: DoctorTopic, text: impl Into<Phrase>, remedy: impl Into<Phrase>) -> Self {
        Self {
            part,
            text: text.into(),
            grade: Grade::Broken {
                remedy: remedy.into(),
            },
        }
    }

    /// Returns the finding as one line: the label, the message, the remedy.
    pub fn line(&self, words: &Phrases) -> String {
        let text = sentence(&phrase_text(words, &self.text));
        let (key, remedy) = match &self.grade {
            Grade::Fine => ("doctor.line", None),
            Grade::Weak { remedy } => ("doctor.line.weak", Some(remedy)),
            Grade::Broken { remedy } => ("doctor.line.broken", Some(remedy)),
        };
        let label = words.text(self.part.label(), &[]);
        let head = words.text(key, &[("label", Arg::Own(label))]);
        let Some(remedy) = remedy else {
            return format!("{head}: {text}\n");
        };
        let remedy = sentence(&phrase_text(words, remedy));
        let before = words.text("doctor.remedy", &[]);
        format!("{head}: {text} {before}: {remedy}\n")
    }

    /// Returns the finding as one JSON object.
    pub fn json(&self, words: &Phrases) -> String {
        let (grade, remedy) = match &self.grade {
            Grade::Fine => ("fine", None),
            Grade::Weak { remedy } => ("weak", Some(remedy)),
            Grade::Broken { remedy } => ("broken", Some(remedy)),
        };
        let object = serde_json::json!({
            "part": self.part.name(),
            "grade": grade,
            "text": clean(&phrase_text(words, &self.text)),
            "remedy": remedy.map(|remedy| clean(&phrase_text(words, remedy)).into_owned()),
        });
        format!("{object}\n")
    }
}

/// Wraps a name, a number or a path for use in a phrase.
pub(super) fn own(text: impl ToString) -> PhraseArg {
    PhraseArg::Own(text.to_string())
}

/// Wraps a reason for use in a phrase.
pub(super) fn because(reason: &Reason) -> PhraseArg {
    let mut phrase = Phrase::new(reason.key());
    for (name, detail) in reason.details() {
        let word = match detail {
            Detail::Own(text) => PhraseArg::Own(text.clone()),
            Detail::Reason(cause) => because(cause),
        };
        phrase = phrase.with(name, word);
    }
    PhraseArg::Phrase(phrase)
}

/// Returns a safe sentence: no control characters, an initial capital, one full stop.
fn sentence(text: &str) -> String {
    let text = clean(text);
    let text = text.trim().trim_end_matches('.');
    let mut signs = text.chars();
    let first: String = signs
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    // A name, an address or a setting keeps its spelling.
    let word = text.split_whitespace().next().unwrap_or_default();
    let name = word.contains(['.', '/', '=', '_', ':', '-']) || word == "hearken";
    let end = if text.ends_with(['!', '?']) { "" } else { "." };
    if name {
        format!("{text}{end}")
    } else {
        format!("{first}{}{end}", signs.as_str())
    }
}

/// The counts of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The number of findings that could be better.
    pub weak: usize,
    /// The number of findings that prevent work.
    pub broken: usize,
}

impl Tally {
    /// Adds a finding to the counts.
    pub fn count(&mut self, finding: &DoctorFinding) {
        match finding.grade {
            Grade::Fine => {}
            Grade::Weak { .. } => self.weak += 1,
            Grade::Broken { .. } => self.broken += 1,
        }
    }

    /// Returns whether nothing prevents work.
    pub fn is_well(self) -> bool {
        self.broken == 0
    }

    /// Returns the last line.
    pub fn line(self, words: &Phrases) -> String {
        let n = |n: usize| Arg::own(n);
        let mut line = match self.broken {
            0 => words.text("doctor.result.well", &[]),
            many => words.text("doctor.result.broken", &[("n", n(many))]),
        };
        if self.weak > 0 {
            line.push_str("; ");
            line.push_str(&words.text("doctor.result.weak", &[("n", n(self.weak))]));
        }
        line.push_str(".\n");
        line
    }

    /// Returns the last line as JSON.
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
    use super::*;

    fn english() -> Phrases {
        Phrases::english().unwrap()
    }

    /// Returns a finding's text as quoted words of another program.
    fn words(text: &str) -> Phrase {
        Phrase::new("fault.other").with("reason", own(text))
    }

    #[test]
    fn a_line_has_the_label_first_and_the_remedy_last() {
        let fine = DoctorFinding::fine(
            DoctorTopic::Terminal,
            words("the size is 80 columns by 24 rows"),
        );
        assert_eq!(
            fine.line(&english()),
            "Terminal: The size is 80 columns by 24 rows.\n"
        );
        let weak = DoctorFinding::weak(
            DoctorTopic::Voice,
            words("there is no voice"),
            words("install one."),
        );
        assert_eq!(
            weak.line(&english()),
            "Voice, could be better: There is no voice. Remedy: Install one.\n"
        );
        let broken = DoctorFinding::broken(
            DoctorTopic::Source,
            words("http://a/ is closed"),
            words("open it"),
        );
        assert_eq!(
            broken.line(&english()),
            "Source, problem: http://a/ is closed. Remedy: Open it.\n"
        );
        let german = Phrases::for_languages(&["de".to_owned()]).unwrap();
        assert_eq!(
            broken.line(&german),
            "Quelle, Problem: http://a/ is closed. Abhilfe: Open it.\n"
        );
    }

    #[test]
    fn nothing_hostile_leaves_a_line() {
        let text = "a\nSource: all is well\u{1b}[2J\u{202e}";
        let hostile = DoctorFinding::broken(DoctorTopic::Source, words(text), words(text));
        let line = hostile.line(&english());
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with('\n'), "one line");
        for text in [line, hostile.json(&english())] {
            assert!(
                !text.contains('\u{1b}') && !text.contains('\u{202e}'),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_tally_decides_by_what_prevents_work() {
        let mut tally = Tally::default();
        tally.count(&DoctorFinding::fine(DoctorTopic::Face, words("x")));
        assert_eq!(tally.line(&english()), "Result: hearken can work here.\n");
        tally.count(&DoctorFinding::weak(
            DoctorTopic::Face,
            words("x"),
            words("y"),
        ));
        assert!(tally.is_well());
        assert!(
            tally
                .line(&english())
                .ends_with("; 1 thing could be better.\n")
        );
        tally.count(&DoctorFinding::broken(
            DoctorTopic::Face,
            words("x"),
            words("y"),
        ));
        assert!(!tally.is_well());
        assert!(
            tally
                .line(&english())
                .starts_with("Result: 1 problem keeps")
        );
        let json: serde_json::Value = serde_json::from_str(&tally.json()).unwrap();
        assert_eq!(json["broken"], 1);
    }
}
