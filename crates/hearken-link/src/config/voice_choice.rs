//! The list of voices: which there are, and how a person names them.
//!
//! Responsibilities: one row per voice ([`VOICES`]), from which the command line, the settings, help, completions, doctor
//! and the documents take what they list. Not here: opening a voice (`voice`).

use std::path::Path;
use std::sync::LazyLock;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

/// The voice that is used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(into = "String")]
pub enum VoiceChoice {
    /// The first one available.
    #[default]
    Auto,
    /// speech-dispatcher over its socket.
    SpeechDispatcher,
    /// The platform's own speech.
    System,
    /// NVDA, through its controller client: the path of that library.
    Nvda(String),
    /// A program that speaks its argument or its standard input.
    Command(String),
    /// A program that stays, and receives JSON messages.
    Lasting(String),
    /// No voice.
    None,
}

/// What is known of a voice before it is opened.
#[derive(Debug, Clone, Copy)]
pub struct VoiceDescriptor {
    /// How a person writes it. Capitals after a colon stand for the argument.
    pub written: &'static str,
    /// What must follow the colon.
    pub argument: VoiceArgument,
    /// What it is, in a line of help; the phrase files translate it.
    pub help: &'static str,
    /// What it needs, for the documents; empty if nothing.
    pub needs: &'static str,
    /// The only systems that have it, if not all have.
    pub only_on: Option<OnlyOn>,
    choose: fn(String) -> VoiceChoice,
}

/// What must follow the name of a voice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoiceArgument {
    /// Nothing.
    Nothing,
    /// A program with its arguments.
    Program {
        /// A voice as a person may write it.
        example: &'static str,
    },
    /// The whole path of a library: the system would otherwise search folders where anyone may have put such a file.
    Library {
        /// A voice as a person may write it.
        example: &'static str,
    },
}

/// A family of systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnlyOn {
    /// Linux, macOS and their relatives.
    Unix,
    /// Windows.
    Windows,
}

impl OnlyOn {
    /// Returns its name for people; in lower case it is the one in `std::env::consts::FAMILY`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unix => "Unix",
            Self::Windows => "Windows",
        }
    }
}

/// A voice that every system has, and that needs no argument.
const PLAIN: VoiceDescriptor = VoiceDescriptor {
    written: "",
    argument: VoiceArgument::Nothing,
    help: "",
    needs: "",
    only_on: None,
    choose: |_| VoiceChoice::Auto,
};

/// All voices, in the order in which they are listed.
pub const VOICES: &[VoiceDescriptor] = &[
    VoiceDescriptor {
        written: "auto",
        help: "The first one that works",
        ..PLAIN
    },
    VoiceDescriptor {
        written: "speech-dispatcher",
        help: "speech-dispatcher, over its socket",
        needs: "the package speech-dispatcher",
        only_on: Some(OnlyOn::Unix),
        choose: |_| VoiceChoice::SpeechDispatcher,
        ..PLAIN
    },
    VoiceDescriptor {
        written: "espeak-ng",
        help: "The program espeak-ng",
        choose: |_| VoiceChoice::Command("espeak-ng".to_owned()),
        ..PLAIN
    },
    VoiceDescriptor {
        written: "espeak",
        help: "The program espeak",
        choose: |_| VoiceChoice::Command("espeak".to_owned()),
        ..PLAIN
    },
    VoiceDescriptor {
        written: "system",
        help: "The system's own speech",
        needs: "a build with `--features system-voice` on Linux",
        choose: |_| VoiceChoice::System,
        ..PLAIN
    },
    VoiceDescriptor {
        written: "nvda:LIBRARY",
        argument: VoiceArgument::Library {
            example: r"nvda:C:\NVDA\nvdaControllerClient.dll",
        },
        help: "NVDA, through its controller client",
        needs: "NVDA and that library",
        only_on: Some(OnlyOn::Windows),
        choose: VoiceChoice::Nvda,
    },
    VoiceDescriptor {
        written: "command:PROGRAM",
        argument: VoiceArgument::Program {
            example: "command:espeak-ng",
        },
        help: "Any program that speaks, started for each utterance",
        choose: VoiceChoice::Command,
        ..PLAIN
    },
    VoiceDescriptor {
        written: "json:PROGRAM",
        argument: VoiceArgument::Program {
            example: "json:piper-voice",
        },
        help: "A program that speaks and stays between utterances",
        choose: VoiceChoice::Lasting,
        ..PLAIN
    },
    VoiceDescriptor {
        written: "none",
        help: "No voice",
        choose: |_| VoiceChoice::None,
        ..PLAIN
    },
];

/// Returns the list for the documentation.
pub fn voices_listed() -> String {
    let mut list = String::new();
    for row in VOICES {
        let systems = row
            .only_on
            .map_or(String::new(), |only| format!(" ({})", only.name()));
        let needs = match row.needs {
            "" => String::new(),
            needs => format!("; needs {needs}"),
        };
        list += &format!("- `{}`{systems}: {}{needs}\n", row.written, row.help);
    }
    list
}

/// Returns how each voice is written.
pub fn voices_written() -> &'static [&'static str] {
    static WRITTEN: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| VOICES.iter().map(|row| row.written).collect());
    &WRITTEN
}

impl VoiceDescriptor {
    /// Returns its name: what stands before the colon.
    pub fn name(&self) -> &'static str {
        match self.written.split_once(':') {
            Some((name, _)) => name,
            None => self.written,
        }
    }

    /// Returns the part of it that can be completed: the name, with the colon if something must follow.
    pub fn completion(&self) -> &'static str {
        match self
            .written
            .find(':')
            .map(|at| self.written.split_at(at + 1))
        {
            Some((name, _)) => name,
            None => self.written,
        }
    }

    /// Returns the engine that its name alone chooses; `None` for one that needs an argument, and for `auto` and `none`.
    pub fn engine(&self) -> Option<VoiceChoice> {
        let choice = match self.argument {
            VoiceArgument::Nothing => (self.choose)(String::new()),
            VoiceArgument::Program { .. } | VoiceArgument::Library { .. } => return None,
        };
        choice.is_engine().then_some(choice)
    }

    /// Returns the choice with an argument, if it can be one.
    fn with(&self, argument: Option<&str>) -> Result<VoiceChoice, NoVoice> {
        let incomplete = NoVoice::Incomplete(self.argument);
        let argument = match self.argument {
            VoiceArgument::Nothing if argument.is_some() => return Err(NoVoice::Unknown),
            VoiceArgument::Nothing => "",
            VoiceArgument::Program { .. } => argument
                .filter(|program| !program.trim().is_empty())
                .ok_or(incomplete)?,
            VoiceArgument::Library { .. } => argument
                .filter(|library| Path::new(library).is_absolute())
                .ok_or(incomplete)?,
        };
        Ok((self.choose)(argument.to_owned()))
    }
}

impl VoiceChoice {
    /// Returns whether a person named an engine, rather than none or any.
    pub fn is_engine(&self) -> bool {
        !matches!(self, Self::Auto | Self::None)
    }

    /// Returns the row of this voice.
    pub fn descriptor(&self) -> Option<&'static VoiceDescriptor> {
        let (name, _) = self.parts();
        VOICES.iter().find(|row| row.name() == name)
    }

    /// Returns its name and its argument.
    fn parts(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Auto => ("auto", None),
            Self::SpeechDispatcher => ("speech-dispatcher", None),
            Self::System => ("system", None),
            Self::Nvda(library) => ("nvda", Some(library)),
            Self::Command(program) => ("command", Some(program)),
            Self::Lasting(program) => ("json", Some(program)),
            Self::None => ("none", None),
        }
    }
}

/// Why a word does not name a voice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoVoice {
    /// What must follow the name is missing.
    #[error("what must follow its name is missing")]
    Incomplete(VoiceArgument),
    /// No voice has this name.
    #[error("no voice has this name")]
    Unknown,
}

impl std::str::FromStr for VoiceChoice {
    type Err = NoVoice;
    fn from_str(text: &str) -> Result<Self, NoVoice> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let row = VOICES.iter().find(|row| row.name() == name);
        row.ok_or(NoVoice::Unknown)?.with(argument)
    }
}

impl From<VoiceChoice> for String {
    fn from(choice: VoiceChoice) -> String {
        match choice.parts() {
            (name, Some(argument)) => format!("{name}:{argument}"),
            (name, None) => name.to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for VoiceChoice {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let text = String::deserialize(reader)?;
        text.parse().map_err(|fault| match fault {
            NoVoice::Unknown => D::Error::unknown_variant(&text, voices_written()),
            NoVoice::Incomplete(_) => {
                D::Error::invalid_value(Unexpected::Str(&text), &"a voice with what follows it")
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Returns a voice as a person may write it.
    fn example(row: &VoiceDescriptor) -> &'static str {
        match row.argument {
            VoiceArgument::Nothing => row.written,
            VoiceArgument::Program { example } => example,
            VoiceArgument::Library { example } if example.parse::<VoiceChoice>().is_ok() => example,
            VoiceArgument::Library { .. } => "nvda:/a.dll",
        }
    }

    #[test]
    fn each_voice_is_written_as_its_row_says() {
        for row in VOICES {
            let name = row.name();
            assert_eq!(VOICES.iter().filter(|it| it.name() == name).count(), 1);
            let choice: VoiceChoice = example(row).parse().unwrap();
            let written = String::from(choice.clone());
            assert_eq!(written.parse(), Ok(choice.clone()));
            assert!(choice.descriptor().is_some(), "{name} has no row");
            let incomplete = NoVoice::Incomplete(row.argument);
            match row.argument {
                VoiceArgument::Nothing => {
                    assert_eq!(
                        format!("{name}:x").parse::<VoiceChoice>(),
                        Err(NoVoice::Unknown)
                    );
                }
                VoiceArgument::Program { example } | VoiceArgument::Library { example } => {
                    assert!(example.starts_with(row.completion()));
                    assert_eq!(written, self::example(row));
                    for text in [name, row.completion(), &format!("{name}: ")] {
                        assert_eq!(text.parse::<VoiceChoice>(), Err(incomplete), "{text}");
                    }
                }
            }
        }
        assert_eq!("loud".parse::<VoiceChoice>(), Err(NoVoice::Unknown));
    }

    /// The system would otherwise search folders where anyone may have put such a file.
    #[test]
    fn a_library_is_named_by_its_whole_path() {
        assert!("nvda:a.dll".parse::<VoiceChoice>().is_err());
    }
}
