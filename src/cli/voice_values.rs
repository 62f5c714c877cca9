//! The values of `--voice`, taken from the list of voices.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::config::{NoVoice, VOICES, VoiceChoice, voices_written};

/// The reader of a voice, which also lists the voices for help.
#[derive(Debug, Clone, Copy)]
pub(super) struct VoiceValues;

impl TypedValueParser for VoiceValues {
    type Value = VoiceChoice;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<VoiceChoice, Error> {
        let choice = value.to_string_lossy().parse::<VoiceChoice>();
        if choice == Err(NoVoice::Unknown) {
            // This refuses it with the list and the closest name.
            PossibleValuesParser::new(voices_written()).parse_ref(command, arg, value)?;
        }
        let reader = |text: &str| text.parse::<VoiceChoice>();
        reader.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = VOICES.iter();
        Some(Box::new(
            values.map(|row| PossibleValue::new(row.written).help(row.help)),
        ))
    }
}
