//! How a command that shows nothing itself speaks, and the matching flags for the speaking process.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::voice_values::VoiceValues;
use crate::config::{Load, Verbosity, VoiceChoice};

/// How to speak what an editor's agent does.
#[derive(Debug, Clone, Default, Args)]
pub struct SpeechFlags {
    /// How to say it
    #[arg(long, value_name = "VOICE", value_parser = VoiceValues)]
    pub voice: Option<VoiceChoice>,
    /// How long each announcement is
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub verbosity: Option<Verbosity>,
    /// How much is announced
    #[arg(long, value_enum, value_name = "LOAD")]
    pub load: Option<Load>,
    /// Your languages, best first
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub language: Vec<String>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl SpeechFlags {
    /// Returns the same choices as flags for another command.
    pub fn arguments(&self) -> Vec<OsString> {
        let named = |value: Option<PossibleValue>| value.map(|it| it.get_name().into());
        let voice = self.voice.clone().map(|voice| String::from(voice).into());
        let verbosity = self.verbosity.as_ref().map(ValueEnum::to_possible_value);
        let load = self.load.as_ref().map(ValueEnum::to_possible_value);
        let flags: [(&str, Option<OsString>); 5] = [
            ("--voice", voice),
            ("--verbosity", verbosity.and_then(named)),
            ("--load", load.and_then(named)),
            ("--language", Some(self.language.join(",").into())),
            ("--config", self.config.clone().map(OsString::from)),
        ];
        let given = flags
            .into_iter()
            .filter_map(|(flag, value)| Some((flag, value.filter(|it| !it.is_empty())?)));
        given
            .flat_map(|(flag, value)| [flag.into(), value])
            .collect()
    }

    /// Returns whether nothing is spoken.
    pub fn is_silent(&self) -> bool {
        self.voice == Some(VoiceChoice::None)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};

    #[test]
    fn the_flags_say_the_same_to_another_command() {
        let flags =
            "--voice command:say --verbosity terse --load low --language de,en --config a.toml";
        let line = format!("hearken acp-proxy {flags} -- agent --voice none");
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Command::AcpProxy {
            speaking, program, ..
        } = cli.command
        else {
            panic!("it is that command");
        };
        let again: Vec<String> = speaking
            .arguments()
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        assert_eq!(again.join(" "), flags);
        assert_eq!(program, ["agent", "--voice", "none"]);
        assert!(!speaking.is_silent());
    }
}
