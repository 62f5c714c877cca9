//! A program that speaks: its command line for an utterance.
//!
//! Responsibilities: putting the text into an argument or the standard input, and what is known of
//! espeak-ng. Not here: running it (`command`).

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::ssip;
use crate::announce::utterance::Mark;

/// Stands for the text in an argument.
const PLACE: &str = "{}";

/// Describes a program that speaks.
#[derive(Debug, Clone)]
pub(super) struct Program {
    path: PathBuf,
    arguments: Vec<String>,
    name: String,
    style: Style,
}

/// What is known of a program beside its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Nothing; only its exit status counts.
    Unknown,
    /// It is espeak-ng, which ends with success when it finds no sound device and says so in a line
    /// that starts with "error:" (measured with 1.51).
    Espeak,
    /// It is an espeak-ng that was picked here and not by the person: pitch and rate are ours to set.
    OwnEspeak { rate: Option<i32>, own_pitch: i32 },
}

impl Program {
    /// Takes a program as the person gave it: its path and the words after it.
    pub(super) fn given(path: PathBuf, name: &str, arguments: Vec<String>) -> Self {
        let style = match Path::new(name).file_name().and_then(|name| name.to_str()) {
            Some("espeak-ng" | "espeak") => Style::Espeak,
            Some(_) | None => Style::Unknown,
        };
        Self {
            path,
            arguments,
            name: name.to_owned(),
            style,
        }
    }

    /// Takes the espeak-ng that was found on the machine.
    pub(super) fn espeak(path: PathBuf, name: &str, rate: Option<i32>, own_pitch: i32) -> Self {
        Self {
            path,
            arguments: vec!["--stdin".to_owned()],
            name: name.to_owned(),
            style: Style::OwnEspeak { rate, own_pitch },
        }
    }

    /// Gives the name that a person knows it by.
    pub(super) fn engine(&self) -> String {
        format!("command {}", self.name)
    }

    /// Gives the name as it was given.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Says whether a line of complaint that starts with "error:" means failure in spite of success.
    pub(super) fn confesses(&self) -> bool {
        match self.style {
            Style::Unknown => false,
            Style::Espeak | Style::OwnEspeak { .. } => true,
        }
    }

    /// Makes the command for an utterance, and what goes to its standard input.
    pub(super) fn command(&self, text: &str, mark: Mark) -> (Command, Option<Vec<u8>>) {
        let text = ssip::clean(text).replace('\n', " ");
        let mut command = Command::new(&self.path);
        let mut placed = false;
        for argument in &self.arguments {
            if argument.contains(PLACE) {
                placed = true;
                command.arg(place(argument, &text));
            } else {
                command.arg(argument);
            }
        }
        match self.style {
            Style::OwnEspeak { rate, own_pitch } => {
                if mark == Mark::Own && own_pitch != 0 {
                    command.arg("-p").arg(espeak_pitch(own_pitch).to_string());
                }
                if let Some(rate) = rate {
                    command.arg("-s").arg(espeak_words(rate).to_string());
                }
            }
            Style::Unknown | Style::Espeak => {}
        }
        let input = (!placed).then(|| {
            let mut input = text.into_bytes();
            input.push(b'\n');
            input
        });
        let stdin = if placed {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        command
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        (command, input)
    }
}

/// Puts the text into an argument; at its start a text can't become an option.
fn place(argument: &str, text: &str) -> String {
    let placed = argument.replace(PLACE, text);
    if argument.starts_with(PLACE) && placed.starts_with('-') {
        format!(" {placed}")
    } else {
        placed
    }
}

/// Gives espeak-ng's pitch, 0 to 99 with 50 as the usual one.
fn espeak_pitch(distance: i32) -> i32 {
    50 + distance.clamp(-100, 100) * 49 / 100
}

/// Gives espeak-ng's rate in words a minute: 80 to 450 with 175 as the usual one.
fn espeak_words(rate: i32) -> i32 {
    let rate = rate.clamp(-100, 100);
    175 + if rate < 0 { rate * 95 } else { rate * 275 } / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_at_the_start_of_an_argument_is_never_an_option() {
        assert_eq!(place("{}", "-w /etc/passwd"), " -w /etc/passwd");
        assert_eq!(place("--text={}", "-x"), "--text=-x");
        assert_eq!(place("{}: {}", "a"), "a: a");
        assert_eq!(place("-{}", "x"), "-x", "the person's own dash");
    }

    #[test]
    fn espeak_takes_the_whole_scale() {
        assert_eq!([-100, 0, 20, 100].map(espeak_pitch), [1, 50, 59, 99]);
        assert_eq!([-100, 0, 50, 100].map(espeak_words), [80, 175, 312, 450]);
    }
}
