//! The terminal: what it is, what it can show, and what can't be known about it.
//!
//! Responsibilities: reading the terminal's signs from the environment, and interpreting them. Not
//! here: the face that results from it (`runtime`).
//!
//! A terminal does not report what it can do. Its name does, as far as its makers documented it:
//! which terminals show a notification (OSC 9) is taken from their documentation, and otherwise
//! reported as "not known".

use std::io::IsTerminal as _;
use std::time::Duration;

use super::finding_lines::{DoctorFinding, DoctorTopic, own};
use crate::link::{Phrase, PhraseArg};
use crate::platform::terminal;

/// The smallest pane that shows a question in full, in columns and rows.
const SMALLEST: (u16, u16) = (40, 10);

/// How long to wait for its reply.
const PATIENCE: Duration = Duration::from_millis(500);

/// What can be seen of a terminal and its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Whether standard input is a terminal.
    pub input: bool,
    /// Whether standard output is a terminal.
    pub output: bool,
    /// Columns and rows, if known.
    pub size: Option<(u16, u16)>,
    /// `TERM`.
    pub term: String,
    /// `COLORTERM`.
    pub color_term: String,
    /// Whether `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set, with its value.
    pub locale: Option<(&'static str, String)>,
    /// `TERM_PROGRAM`.
    pub program: String,
    /// Whether `TMUX` is set.
    pub tmux: bool,
    /// Whether `STY` is set, which GNU screen does.
    pub screen: bool,
    /// Whether the session runs over SSH (`SSH_CONNECTION`).
    pub ssh: bool,
    /// Whether it replies to a cursor query (`CSI 6n`), if it could be asked.
    pub replies: Option<bool>,
}

impl Terminal {
    /// Examines this process's terminal.
    pub fn look() -> Self {
        let get = |name: &str| std::env::var(name).unwrap_or_default();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .map(|name| (name, get(name)))
            .find(|(_, value)| !value.is_empty());
        let output = std::io::stdout().is_terminal();
        Self {
            input: std::io::stdin().is_terminal(),
            output,
            // If the output is not a terminal, the size of some other one would mislead.
            size: output
                .then(|| crossterm::terminal::size().ok())
                .flatten()
                .filter(|(columns, rows)| *columns > 0 && *rows > 0),
            term: get("TERM"),
            color_term: get("COLORTERM"),
            no_color: set("NO_COLOR"),
            locale,
            program: get("TERM_PROGRAM"),
            tmux: set("TMUX"),
            screen: set("STY"),
            ssh: set("SSH_CONNECTION"),
            replies: None,
        }
    }

    /// Asks the terminal for its cursor position, if both input and output are this terminal.
    pub fn ask(self) -> Self {
        let can_ask = self.input && self.output && !self.is_dumb();
        Self {
            replies: can_ask.then(|| terminal::replies(PATIENCE)).flatten(),
            ..self
        }
    }

    /// Returns whether it understands no control sequences.
    pub fn is_dumb(&self) -> bool {
        self.term.is_empty() || self.term == "dumb"
    }

    /// Returns the findings about it.
    pub fn findings(&self) -> Vec<DoctorFinding> {
        let mut found = vec![self.ends()];
        found.extend(self.size());
        found.push(self.name());
        found.push(self.colours());
        found.push(self.unicode());
        found.push(self.signals());
        found.extend(self.shows());
        found
    }

    /// Returns whether it confirms that a question is shown.
    fn shows(&self) -> Option<DoctorFinding> {
        Some(match self.replies? {
            true => DoctorFinding::fine(DoctorTopic::Terminal, "doctor.replies.yes"),
            false => DoctorFinding::weak(
                DoctorTopic::Terminal,
                "doctor.replies.no",
                "doctor.replies.no.remedy",
            ),
        })
    }

    fn ends(&self) -> DoctorFinding {
        let text = match (self.input, self.output) {
            (true, true) => "doctor.ends.both",
            (true, false) => "doctor.ends.input",
            (false, true) => "doctor.ends.output",
            (false, false) => "doctor.ends.none",
        };
        DoctorFinding::fine(DoctorTopic::Terminal, text)
    }

    fn size(&self) -> Option<DoctorFinding> {
        let (columns, rows) = match self.size {
            Some(size) => size,
            None if self.output => {
                return Some(DoctorFinding::weak(
                    DoctorTopic::Terminal,
                    "doctor.size.unknown",
                    "doctor.size.unknown.remedy",
                ));
            }
            None => return None,
        };
        let text = Phrase::new("doctor.size")
            .with("columns", own(columns))
            .with("rows", own(rows));
        Some(if columns < SMALLEST.0 || rows < SMALLEST.1 {
            let (least_columns, least_rows) = SMALLEST;
            DoctorFinding::weak(
                DoctorTopic::Terminal,
                text,
                Phrase::new("doctor.size.remedy")
                    .with("columns", own(least_columns))
                    .with("rows", own(least_rows)),
            )
        } else {
            DoctorFinding::fine(DoctorTopic::Terminal, text)
        })
    }

    fn name(&self) -> DoctorFinding {
        let inside = match (self.tmux, self.screen) {
            (true, _) => "tmux",
            (false, true) => "GNU screen",
            (false, false) => "",
        };
        let name = |key| {
            Phrase::new(key)
                .with("name", self.shown())
                .with("inside", own(inside))
        };
        if !self.output {
            return DoctorFinding::fine(DoctorTopic::Terminal, name("doctor.term"));
        }
        if self.is_dumb() {
            return DoctorFinding::weak(
                DoctorTopic::Terminal,
                name("doctor.term.dumb"),
                "doctor.term.dumb.remedy",
            );
        }
        let program = own(&self.program);
        DoctorFinding::fine(
            DoctorTopic::Terminal,
            name("doctor.term").with("program", program),
        )
    }

    fn colours(&self) -> DoctorFinding {
        let depth = if self.is_dumb() || self.term.starts_with("vt") || self.term.ends_with("-m") {
            "doctor.colours.none"
        } else if matches!(self.color_term.as_str(), "truecolor" | "24bit") {
            "doctor.colours.all"
        } else if self.term.contains("256color") {
            "doctor.colours.256"
        } else {
            "doctor.colours.16"
        };
        let key = if self.no_color {
            "doctor.colours.off"
        } else {
            "doctor.colours"
        };
        let depth = PhraseArg::Phrase(Phrase::new(depth));
        DoctorFinding::fine(DoctorTopic::Terminal, Phrase::new(key).with("depth", depth))
    }

    fn unicode(&self) -> DoctorFinding {
        let remedy = "doctor.unicode.remedy";
        let locale = |key, name: &str, value: &str| {
            Phrase::new(key)
                .with("name", own(name))
                .with("value", own(value))
        };
        match &self.locale {
            Some((name, value)) if is_utf8(value) => DoctorFinding::fine(
                DoctorTopic::Terminal,
                locale("doctor.unicode.on", name, value),
            ),
            Some((name, value)) => DoctorFinding::weak(
                DoctorTopic::Terminal,
                locale("doctor.unicode.off", name, value),
                remedy,
            ),
            None => DoctorFinding::weak(DoctorTopic::Terminal, "doctor.unicode.unknown", remedy),
        }
    }

    /// Returns `TERM` as named in a sentence.
    fn shown(&self) -> PhraseArg {
        if self.term.is_empty() {
            PhraseArg::Phrase(Phrase::new("doctor.term.unset"))
        } else {
            own(&self.term)
        }
    }

    /// Returns what is known about bell, title and notifications.
    fn signals(&self) -> DoctorFinding {
        if !self.output || self.is_dumb() {
            return DoctorFinding::fine(DoctorTopic::Terminal, "doctor.signals.none");
        }
        if self.tmux || self.screen {
            let by = if self.tmux { "tmux" } else { "GNU screen" };
            let text = Phrase::new("doctor.signals.inside").with("by", own(by));
            return DoctorFinding::fine(DoctorTopic::Terminal, text);
        }
        let text = match shows_notifications(&self.term, &self.program) {
            DocumentedSupport::Yes => "doctor.signals.yes",
            DocumentedSupport::No => "doctor.signals.no",
            DocumentedSupport::Unsaid => "doctor.signals.unsaid",
        };
        DoctorFinding::fine(DoctorTopic::Terminal, text)
    }
}

/// Returns whether a locale's name ends in UTF-8, in one of its spellings.
fn is_utf8(locale: &str) -> bool {
    let code = locale.rsplit('.').next().unwrap_or_default();
    let code = code.split('@').next().unwrap_or_default();
    locale.contains('.') && matches!(code.to_ascii_lowercase().as_str(), "utf-8" | "utf8")
}

/// What a terminal's documentation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentedSupport {
    Yes,
    No,
    Unsaid,
}

/// Returns whether a terminal shows OSC 9, according to its makers' documentation, untested.
fn shows_notifications(term: &str, program: &str) -> DocumentedSupport {
    match program {
        "iTerm.app" | "WezTerm" | "ghostty" => return DocumentedSupport::Yes,
        "Apple_Terminal" => return DocumentedSupport::No,
        _ => {}
    }
    match term {
        "xterm-kitty" | "xterm-ghostty" | "foot" | "foot-extra" | "wezterm" => {
            DocumentedSupport::Yes
        }
        "linux" | "alacritty" => DocumentedSupport::No,
        _ => DocumentedSupport::Unsaid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding_lines::Grade;

    fn good() -> Terminal {
        Terminal {
            input: true,
            output: true,
            size: Some((100, 30)),
            term: "xterm-256color".to_owned(),
            locale: Some(("LANG", "en_US.UTF-8".to_owned())),
            ..Terminal::default()
        }
    }

    fn line(finding: &DoctorFinding) -> String {
        finding.line(&crate::announce::Phrases::english().unwrap())
    }

    fn lines(terminal: &Terminal) -> String {
        terminal.findings().iter().map(line).collect()
    }

    fn weak(terminal: &Terminal) -> Vec<String> {
        terminal
            .findings()
            .iter()
            .filter(|finding| finding.grade != Grade::Fine)
            .map(line)
            .collect()
    }

    #[test]
    fn a_good_terminal_is_described_without_complaint() {
        assert_eq!(weak(&good()), Vec::<String>::new());
        let lines = lines(&good());
        for words in [
            "100 columns by 30 rows",
            "TERM is xterm-256color",
            "256 colours",
            "Unicode is on, LANG is en_US.UTF-8",
            "is not known for this terminal",
        ] {
            assert!(lines.contains(words), "{words}: {lines}");
        }
    }

    #[test]
    fn what_is_missing_has_a_remedy() {
        for (terminal, words) in [
            (
                Terminal {
                    size: Some((39, 30)),
                    ..good()
                },
                "needs 40 by 10",
            ),
            (
                Terminal {
                    size: None,
                    ..good()
                },
                "stty",
            ),
            (
                Terminal {
                    term: String::new(),
                    ..good()
                },
                "set TERM",
            ),
            (
                Terminal {
                    locale: Some(("LC_ALL", "C".to_owned())),
                    ..good()
                },
                "UTF-8 locale",
            ),
            (
                Terminal {
                    locale: None,
                    ..good()
                },
                "UTF-8 locale",
            ),
        ] {
            let weak = weak(&terminal);
            assert_eq!(weak.len(), 1, "{weak:?}");
            assert!(weak[0].contains(words), "{words}: {weak:?}");
        }
    }

    #[test]
    fn a_pipe_is_no_fault() {
        let piped = Terminal {
            input: false,
            output: false,
            size: None,
            ..good()
        };
        assert_eq!(weak(&piped), Vec::<String>::new());
        assert!(lines(&piped).contains("lines are read and written"));
        assert!(lines(&piped).contains("are not sent here"));
    }

    #[test]
    fn what_documents_say_is_said_and_nothing_more() {
        let kitty = Terminal {
            term: "xterm-kitty".to_owned(),
            ..good()
        };
        assert!(lines(&kitty).contains("notifications (OSC 9) are shown"));
        let inside = Terminal {
            tmux: true,
            ..kitty
        };
        assert!(lines(&inside).contains("tmux keeps notifications"));
        let console = Terminal {
            term: "linux".to_owned(),
            ..good()
        };
        assert!(lines(&console).contains("notifications (OSC 9) are not"));
        let plain = Terminal {
            no_color: true,
            ..good()
        };
        assert!(lines(&plain).contains("NO_COLOR is set"));
    }

    #[test]
    fn spellings_of_utf_8_are_known() {
        for (locale, is) in [
            ("C.UTF-8", true),
            ("de_DE.utf8", true),
            ("de_DE.UTF-8@euro", true),
            ("de_DE.ISO-8859-1", false),
            ("POSIX", false),
            ("UTF-8", false),
        ] {
            assert_eq!(is_utf8(locale), is, "{locale}");
        }
    }
}
