//! Signals outside the face: the bell, notifications, the title, and marks where a turn begins.
//!
//! Responsibilities: the bytes of each sign, and which of them a terminal accepts, judging by its
//! environment variables. Not here: when a sign is wanted and with which words (`app`), writing it
//! (`face_output`).
//!
//! | sign | bytes | undone by |
//! |---|---|---|
//! | bell | BEL | |
//! | notification | OSC 9, OSC 777 or OSC 99 | OSC 99 with `p=close`; the others can't be |
//! | title | OSC 2, the old one kept by CSI 22;2t | CSI 23;2t |
//! | copy | OSC 52, with base64 | |
//! | turn | OSC 133;A before it, OSC 133;D after a session's end | |

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::announce::AnnouncementKind;
use crate::app::{Notice, Noticed};
use crate::config::{NotificationChoice, ScreenConfig};

/// The maximum length of a notification, in characters; terminals and desktops cut them anyway.
const LONGEST_NOTE: usize = 200;

/// The escape sequence that carries a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotificationSequence {
    Osc9,
    Osc777,
    Osc99,
    None,
}

/// How far the terminal understands escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    /// Not at all, or it is not a terminal: not even the bell is written.
    None,
    /// The bell only: the Linux console prints parts of longer sequences.
    Bell,
    /// All of them; unknown ones are swallowed.
    Full,
    /// All of them, but those that tmux itself does not know only in a wrapper.
    Tmux,
}

/// Returns whether a terminal with this `TERM` swallows sequences that it does not know.
pub(super) fn takes_long_ones(term: &str) -> bool {
    !matches!(term, "" | "dumb" | "linux")
}

/// Builds the signs for one terminal.
#[derive(Debug)]
pub(super) struct TerminalSigns {
    grade: Grade,
    route: NotificationSequence,
    marks: bool,
    titled: bool,
}

impl TerminalSigns {
    /// Detects what the terminal accepts from its environment variables.
    pub(super) fn new(
        is_terminal: bool,
        settings: &ScreenConfig,
        env: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let term = env("TERM").unwrap_or_default();
        let has = |name: &str| env(name).is_some_and(|value| !value.is_empty());
        let grade = match term.as_str() {
            _ if !is_terminal => Grade::None,
            "linux" => Grade::Bell,
            other if !takes_long_ones(other) => Grade::None,
            _ if has("TMUX") => Grade::Tmux,
            _ => Grade::Full,
        };
        let route = match settings.notifications {
            NotificationChoice::None => NotificationSequence::None,
            NotificationChoice::Osc9 => NotificationSequence::Osc9,
            NotificationChoice::Osc777 => NotificationSequence::Osc777,
            NotificationChoice::Osc99 => NotificationSequence::Osc99,
            NotificationChoice::Auto => {
                let program = env("TERM_PROGRAM").unwrap_or_default();
                match program.as_str() {
                    // tmux and screen let none through by default, and turn the bell into an alert of their
                    // own.
                    _ if has("TMUX") || has("STY") => NotificationSequence::None,
                    _ if has("KITTY_WINDOW_ID") || term == "xterm-kitty" => {
                        NotificationSequence::Osc99
                    }
                    _ if term.starts_with("foot") => NotificationSequence::Osc99,
                    "WezTerm" | "ghostty" => NotificationSequence::Osc777,
                    _ if term.starts_with("rxvt") || has("VTE_VERSION") => {
                        NotificationSequence::Osc777
                    }
                    _ => NotificationSequence::Osc9,
                }
            }
        };
        Self {
            grade,
            route,
            marks: settings.marks,
            titled: false,
        }
    }

    /// Returns the bell.
    pub(super) fn bell(&self) -> String {
        match self.grade {
            Grade::None => String::new(),
            Grade::Bell | Grade::Full | Grade::Tmux => "\x07".to_owned(),
        }
    }

    /// Returns the sequence of a notification. Its words are the program's own; anything that could end a
    /// sequence is removed all the same.
    pub(super) fn notify(&self, notice: &Notice) -> String {
        let text = plain(&notice.text);
        let id = id_of(notice.about);
        match self.route {
            NotificationSequence::None => String::new(),
            NotificationSequence::Osc9 => self.foreign(&[format!("\x1b]9;hearken: {text}\x1b\\")]),
            NotificationSequence::Osc777 => {
                self.foreign(&[format!("\x1b]777;notify;hearken;{text}\x1b\\")])
            }
            NotificationSequence::Osc99 => {
                let urgency = if notice.urgent { 2 } else { 1 };
                // The terminal itself suppresses it while it has the focus.
                let about = format!("i=hearken-{id}:u={urgency}:o=unfocused");
                self.foreign(&[
                    format!("\x1b]99;{about}:d=0:p=title;hearken\x1b\\"),
                    format!("\x1b]99;{about}:d=1:p=body;{text}\x1b\\"),
                ])
            }
        }
    }

    /// Returns the sequence that withdraws a notification, if the terminal can.
    pub(super) fn withdraw(&self, about: Noticed) -> String {
        match self.route {
            NotificationSequence::Osc99 => {
                self.foreign(&[format!("\x1b]99;i=hearken-{}:p=close;\x1b\\", id_of(about))])
            }
            NotificationSequence::Osc9
            | NotificationSequence::Osc777
            | NotificationSequence::None => String::new(),
        }
    }

    /// Returns the sequence that copies an address to the terminal's clipboard. It is base64-encoded, so
    /// that nothing in it can end the sequence or act as a command. tmux has its own clipboard, and passes
    /// it on if configured to.
    pub(super) fn copy(&self, address: &str) -> String {
        match self.grade {
            Grade::None | Grade::Bell => String::new(),
            Grade::Full | Grade::Tmux => {
                format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(plain(address)))
            }
        }
    }

    /// Returns the sequence that sets the title, or restores the original one.
    pub(super) fn title(&mut self, title: Option<&str>) -> String {
        match (self.grade, title) {
            (Grade::None | Grade::Bell, _) => String::new(),
            (Grade::Full | Grade::Tmux, Some(title)) => {
                let keep = if self.titled { "" } else { "\x1b[22;2t" };
                self.titled = true;
                format!("{keep}\x1b]2;{}\x1b\\", plain(title))
            }
            (Grade::Full | Grade::Tmux, None) if self.titled => {
                self.titled = false;
                "\x1b[23;2t".to_owned()
            }
            (Grade::Full | Grade::Tmux, None) => String::new(),
        }
    }

    /// Adds the turn mark to a line of the linear face.
    pub(super) fn marked(&self, kind: AnnouncementKind, line: String) -> String {
        if !self.marks {
            return line;
        }
        match (self.grade, kind) {
            (Grade::None | Grade::Bell, _) => line,
            (Grade::Full | Grade::Tmux, kind) => match kind {
                AnnouncementKind::SessionStarted
                | AnnouncementKind::Confirmation
                | AnnouncementKind::Clarification => {
                    format!("\x1b]133;A\x1b\\{line}")
                }
                AnnouncementKind::SessionCompleted => format!("{line}\x1b]133;D;0\x1b\\"),
                AnnouncementKind::SessionErrored | AnnouncementKind::SessionCancelled => {
                    format!("{line}\x1b]133;D;1\x1b\\")
                }
                AnnouncementKind::State
                | AnnouncementKind::Progress
                | AnnouncementKind::ToolInvoked
                | AnnouncementKind::ToolCompleted
                | AnnouncementKind::Output
                | AnnouncementKind::Handoff
                | AnnouncementKind::Unknown
                | AnnouncementKind::Connection
                | AnnouncementKind::Reply
                | AnnouncementKind::Danger
                | AnnouncementKind::Anomaly
                | AnnouncementKind::Prompt
                | AnnouncementKind::Hint
                | AnnouncementKind::Heartbeat => line,
            },
        }
    }

    /// Wraps sequences that only the terminal outside a multiplexer understands.
    fn foreign(&self, sequences: &[String]) -> String {
        match self.grade {
            Grade::None | Grade::Bell => String::new(),
            Grade::Full => sequences.concat(),
            Grade::Tmux => sequences
                .iter()
                .map(|sequence| format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")))
                .collect(),
        }
    }
}

/// Returns the identifier of a notification's subject for the terminal.
fn id_of(about: Noticed) -> String {
    match about {
        Noticed::Question(question) => question.0.to_string(),
        Noticed::Turn(link) => format!("turn-{}", link.0),
    }
}

/// Removes everything that could end or begin a sequence.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_NOTE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::QuestionId;

    fn signs(env: &[(&str, &str)], choice: NotificationChoice) -> TerminalSigns {
        let settings = ScreenConfig {
            notifications: choice,
            ..ScreenConfig::default()
        };
        TerminalSigns::new(true, &settings, |name| {
            let found = env.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn notice(text: &str) -> Notice {
        Notice {
            about: Noticed::Question(QuestionId(2)),
            text: text.to_owned(),
            urgent: true,
        }
    }

    #[test]
    fn the_terminals_signs_choose_the_sequence() {
        let auto = NotificationChoice::Auto;
        let xterm = ("TERM", "xterm-256color");
        for (env, starts) in [
            (vec![xterm], "\x1b]9;hearken: Wait"),
            (vec![("TERM", "xterm-kitty")], "\x1b]99;i=hearken-2:u=2"),
            (vec![xterm, ("KITTY_WINDOW_ID", "1")], "\x1b]99;"),
            (vec![("TERM", "foot")], "\x1b]99;"),
            (
                vec![xterm, ("VTE_VERSION", "7600")],
                "\x1b]777;notify;hearken;Wait",
            ),
            (vec![xterm, ("TERM_PROGRAM", "WezTerm")], "\x1b]777;"),
            (vec![xterm, ("TERM_PROGRAM", "iTerm.app")], "\x1b]9;"),
        ] {
            let text = signs(&env, auto).notify(&notice("Wait"));
            assert!(text.starts_with(starts), "{env:?}: {text:?}");
        }
        for env in [
            vec![xterm, ("TMUX", "/tmp/x")],
            vec![("TERM", "screen"), ("STY", "1")],
            vec![("TERM", "linux")],
            vec![("TERM", "dumb")],
            vec![],
        ] {
            assert_eq!(signs(&env, auto).notify(&notice("Wait")), "", "{env:?}");
        }
    }

    #[test]
    fn inside_tmux_a_named_sequence_goes_in_an_envelope() {
        let env = [("TERM", "tmux-256color"), ("TMUX", "/tmp/x")];
        let text = signs(&env, NotificationChoice::Osc9).notify(&notice("Wait"));
        assert_eq!(text, "\x1bPtmux;\x1b\x1b]9;hearken: Wait\x1b\x1b\\\x1b\\");
    }

    #[test]
    fn nothing_in_a_text_ends_its_sequence() {
        let env = [("TERM", "xterm-kitty")];
        for choice in [
            NotificationChoice::Osc9,
            NotificationChoice::Osc777,
            NotificationChoice::Osc99,
        ] {
            let mut signs = signs(&env, choice);
            let bad = "a\x1b\\b\x07c\u{9c}d\ne";
            for text in [signs.notify(&notice(bad)), signs.title(Some(bad))] {
                let starts = text.matches("\x1b]").count() + text.matches("\x1b[").count();
                assert_eq!(
                    text.matches('\x1b').count(),
                    starts + text.matches("\x1b\\").count()
                );
                assert!(!text.contains(['\x07', '\u{9c}', '\n']), "{text:?}");
                assert!(text.contains("a\\bcde"), "{text:?}");
            }
        }
    }

    #[test]
    fn what_was_notified_is_withdrawn_where_that_can_be() {
        let signs = |choice| signs(&[("TERM", "xterm-kitty")], choice);
        let close = signs(NotificationChoice::Osc99).withdraw(Noticed::Question(QuestionId(2)));
        assert_eq!(close, "\x1b]99;i=hearken-2:p=close;\x1b\\");
        assert_eq!(
            signs(NotificationChoice::Osc9).withdraw(Noticed::Question(QuestionId(2))),
            ""
        );
    }

    #[test]
    fn the_title_is_kept_once_and_given_back_once() {
        let mut signs = signs(&[("TERM", "xterm")], NotificationChoice::None);
        assert_eq!(signs.title(None), "");
        assert!(signs.title(Some("a")).starts_with("\x1b[22;2t\x1b]2;a"));
        assert!(signs.title(Some("b")).starts_with("\x1b]2;b"));
        assert_eq!(signs.title(None), "\x1b[23;2t");
        assert_eq!(signs.title(None), "");
    }

    #[test]
    fn a_console_gets_the_bell_and_no_longer_sequence() {
        let mut console = signs(&[("TERM", "linux")], NotificationChoice::Osc9);
        assert_eq!(console.bell(), "\x07");
        assert_eq!(console.title(Some("a")), "");
        assert_eq!(
            console.marked(AnnouncementKind::Confirmation, "x".into()),
            "x"
        );
        let dumb = signs(&[("TERM", "dumb")], NotificationChoice::Osc9);
        assert_eq!(dumb.bell(), "");
    }

    #[test]
    fn an_address_is_copied_as_base64_and_never_into_a_pipe() {
        let settings = ScreenConfig::default();
        let on = |is_terminal, term: &str| {
            TerminalSigns::new(is_terminal, &settings, |name| {
                (name == "TERM").then(|| term.to_owned())
            })
            .copy("https://r.example/1\x07")
        };
        assert_eq!(
            on(true, "xterm-256color"),
            "\x1b]52;c;aHR0cHM6Ly9yLmV4YW1wbGUvMQ==\x1b\\"
        );
        for (is_terminal, term) in [
            (false, "xterm"),
            (true, "dumb"),
            (true, "linux"),
            (true, ""),
        ] {
            assert_eq!(on(is_terminal, term), "", "{term}");
        }
    }

    #[test]
    fn turns_are_marked() {
        let signs = signs(&[("TERM", "xterm")], NotificationChoice::None);
        assert_eq!(
            signs.marked(AnnouncementKind::Clarification, "Q\n".into()),
            "\x1b]133;A\x1b\\Q\n"
        );
        assert_eq!(
            signs.marked(AnnouncementKind::SessionErrored, "E\n".into()),
            "E\n\x1b]133;D;1\x1b\\"
        );
        assert_eq!(signs.marked(AnnouncementKind::Output, "o\n".into()), "o\n");
    }
}
