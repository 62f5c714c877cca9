//! The keys and lines that change the voice.

use crate::config::Knob;

use super::Command;

/// A change to one of the voice's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceChange {
    /// No change: the setting is only announced.
    Say,
    /// One step up, or to the next value.
    Up,
    /// One step down, or to the previous value.
    Down,
    /// Back to its value at the start of the run.
    Usual,
    /// To this value, as the person wrote it.
    To(String),
}

/// Reads a line about the voice: a setting's name and the change.
pub(super) fn line(word: &str, rest: &str) -> Option<Command> {
    let knob = match word {
        "rate" => Knob::Rate,
        "pitch" => Knob::Pitch,
        "volume" => Knob::Volume,
        "voice" => Knob::Voice,
        "punctuation" => Knob::Punctuation,
        "remember" => return rest.is_empty().then_some(Command::Remember),
        _ => return None,
    };
    let turn = match rest {
        "" => VoiceChange::Say,
        "+" => VoiceChange::Up,
        "-" => VoiceChange::Down,
        "usual" => VoiceChange::Usual,
        other => VoiceChange::To(other.to_owned()),
    };
    Some(Command::Tune(Some(knob), turn))
}

#[cfg(test)]
mod tests {
    use super::super::line;
    use super::*;

    #[test]
    fn lines_about_the_voice_are_read() {
        let tune = |knob, turn| Some(Command::Tune(Some(knob), turn));
        for (text, wanted) in [
            ("rate", tune(Knob::Rate, VoiceChange::Say)),
            ("Rate +", tune(Knob::Rate, VoiceChange::Up)),
            ("volume -", tune(Knob::Volume, VoiceChange::Down)),
            (
                "pitch -20",
                tune(Knob::Pitch, VoiceChange::To("-20".into())),
            ),
            (
                "voice English (America)",
                tune(Knob::Voice, VoiceChange::To("English (America)".into())),
            ),
            (
                "punctuation usual",
                tune(Knob::Punctuation, VoiceChange::Usual),
            ),
            ("remember", Some(Command::Remember)),
            (
                "remember me",
                Some(Command::NotUnderstood("remember me".into())),
            ),
        ] {
            assert_eq!(line(text), wanted, "{text}");
        }
    }
}
