//! What keys and lines can want of the voice's sound.

use crate::config::Knob;

use super::Command;

/// How one of the voice's settings is to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Not at all: it is only to be said.
    Say,
    /// One step up, or to the next.
    Up,
    /// One step down, or to the one before.
    Down,
    /// Back to what it was when the run began.
    Usual,
    /// To this, as the person wrote it.
    To(String),
}

/// Reads a line about the voice: a setting's name, and what is to become of it.
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
        "" => Turn::Say,
        "+" => Turn::Up,
        "-" => Turn::Down,
        "usual" => Turn::Usual,
        other => Turn::To(other.to_owned()),
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
            ("rate", tune(Knob::Rate, Turn::Say)),
            ("Rate +", tune(Knob::Rate, Turn::Up)),
            ("volume -", tune(Knob::Volume, Turn::Down)),
            ("pitch -20", tune(Knob::Pitch, Turn::To("-20".into()))),
            (
                "voice English (America)",
                tune(Knob::Voice, Turn::To("English (America)".into())),
            ),
            ("punctuation usual", tune(Knob::Punctuation, Turn::Usual)),
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
