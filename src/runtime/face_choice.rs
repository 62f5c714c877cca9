//! Which face a run has, and whether it speaks.
//!
//! Responsibilities: choosing by the person's wish, the terminal's abilities and whether a screen reader is running.
//! Not here: detecting a screen reader (`terminal_signs`), what a run consists of (`run_plan`).

use crate::app::SpeechMode;
use crate::config::{FaceChoice, ReaderChoice, VoiceChoice};

use crate::voice::screen_reader::ReaderSigns;

/// The face that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// The pane.
    Full,
    /// Plain lines.
    Linear,
    /// JSON lines.
    Json,
}

/// The properties of the terminal that decide the face.
#[derive(Clone, Copy)]
pub(crate) struct Terminals {
    /// Whether standard output is a terminal.
    pub(crate) output: bool,
    /// Whether keys can be read.
    pub(crate) input: bool,
    /// Whether it understands no control sequences.
    pub(crate) dumb: bool,
}

/// Chooses the face, and returns the reason as a phrase key.
///
/// The screen reader comes first: its user should hear that it was detected, whatever else applies.
pub(crate) fn choose_face(
    wanted: FaceChoice,
    terminals: Terminals,
    reader: bool,
) -> (Face, &'static str) {
    match wanted {
        FaceChoice::Full => (Face::Full, "start.why.asked"),
        FaceChoice::Linear => (Face::Linear, "start.why.asked"),
        FaceChoice::Json => (Face::Json, "start.why.asked"),
        FaceChoice::Auto if reader => (Face::Linear, "start.why.reader"),
        FaceChoice::Auto if !terminals.output => (Face::Linear, "start.why.not_terminal"),
        FaceChoice::Auto if !terminals.input => (Face::Linear, "start.why.input"),
        FaceChoice::Auto if terminals.dumb => (Face::Linear, "start.why.dumb"),
        FaceChoice::Auto => (Face::Full, "start.why.terminal"),
    }
}

/// Returns whether a screen reader is running: as the person says, else as detected on this machine.
pub(super) fn reader_present(choice: ReaderChoice) -> bool {
    match choice {
        ReaderChoice::Auto => ReaderSigns::from_env().look().present().is_some(),
        ReaderChoice::Yes => true,
        ReaderChoice::No => false,
    }
}

/// Returns whether hearken itself speaks: with a screen reader, only if a voice is named.
pub(super) fn speech_mode(engine: &VoiceChoice, reader: bool) -> SpeechMode {
    if *engine == VoiceChoice::None {
        SpeechMode::Silent
    } else if reader && *engine == VoiceChoice::Auto {
        SpeechMode::LeaveToReader
    } else {
        SpeechMode::Speak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Terminals = Terminals {
        output: true,
        input: true,
        dumb: false,
    };

    #[test]
    fn a_reader_gets_lines_and_no_second_voice_unless_asked_for() {
        let auto = choose_face(FaceChoice::Auto, TERMINAL, true);
        assert_eq!(auto, (Face::Linear, "start.why.reader"));
        let forced = choose_face(FaceChoice::Full, TERMINAL, true);
        assert_eq!(forced, (Face::Full, "start.why.asked"));
        assert_eq!(
            speech_mode(&VoiceChoice::Auto, true),
            SpeechMode::LeaveToReader
        );
        assert_eq!(speech_mode(&VoiceChoice::None, true), SpeechMode::Silent);
        for named in [
            VoiceChoice::SpeechDispatcher,
            VoiceChoice::System,
            VoiceChoice::Command("espeak-ng".into()),
        ] {
            assert_eq!(speech_mode(&named, true), SpeechMode::Speak, "{named:?}");
        }
    }

    #[test]
    fn without_a_reader_the_terminal_decides() {
        for (terminals, chosen) in [
            (TERMINAL, (Face::Full, "start.why.terminal")),
            (
                Terminals {
                    output: false,
                    ..TERMINAL
                },
                (Face::Linear, "start.why.not_terminal"),
            ),
            (
                Terminals {
                    input: false,
                    ..TERMINAL
                },
                (Face::Linear, "start.why.input"),
            ),
            (
                Terminals {
                    dumb: true,
                    ..TERMINAL
                },
                (Face::Linear, "start.why.dumb"),
            ),
        ] {
            assert_eq!(choose_face(FaceChoice::Auto, terminals, false), chosen);
        }
        assert_eq!(speech_mode(&VoiceChoice::Auto, false), SpeechMode::Speak);
        assert!(reader_present(ReaderChoice::Yes) && !reader_present(ReaderChoice::No));
    }
}
