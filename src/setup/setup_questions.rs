//! The five questions: their choices, which one is chosen at first, and what each changes.
//!
//! Responsibilities: these as data and as changes of settings. Not here: going from one to the next (`dialog`).

use clap::ValueEnum;

use crate::config::{Config, FaceChoice, ReaderChoice, ThemeChoice, Verbosity, VoiceChoice};

use super::changes::{Change, Value};

/// The speeds on offer, on the scale of the settings; the usual one is the voice's own.
pub(super) const RATES: [Option<i32>; 4] = [Some(-40), None, Some(40), Some(80)];

/// How long one switch waits before it steps on by itself, in milliseconds.
const STEP_MS: u64 = 2000;

/// How long the same key again is ignored for hands that tremble, in milliseconds.
const BOUNCE_MS: u64 = 300;

/// One of the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetupQuestion {
    /// Who reads to the person.
    Speech,
    /// How fast hearken speaks.
    Rate,
    /// What the person answers with.
    Hands,
    /// How long an announcement is.
    Verbosity,
    /// The colours of the full face.
    Colours,
}

impl SetupQuestion {
    /// Returns the question after this one. Only hearken's own voice has a speed here, and the plain lines of a screen
    /// reader have no colours.
    pub(super) fn next(self, config: &Config, reader: bool) -> Option<Self> {
        match self {
            Self::Speech if speech_of(config, reader) == SPEAKS => Some(Self::Rate),
            Self::Speech | Self::Rate => Some(Self::Hands),
            Self::Hands => Some(Self::Verbosity),
            Self::Verbosity
                if speech_of(config, reader) == READER
                    && config.screen.face != FaceChoice::Full =>
            {
                None
            }
            Self::Verbosity => Some(Self::Colours),
            Self::Colours => None,
        }
    }

    /// Returns the phrases of the question and of its choices, in order.
    pub(super) fn phrases(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Speech => (
                "setup.speech",
                &[
                    "setup.speech.reader",
                    "setup.speech.voice",
                    "setup.speech.none",
                ],
            ),
            Self::Rate => (
                "setup.rate",
                &[
                    "setup.rate.slow",
                    "setup.rate.usual",
                    "setup.rate.fast",
                    "setup.rate.faster",
                ],
            ),
            Self::Hands => (
                "setup.hands",
                &[
                    "setup.hands.keys",
                    "setup.hands.one",
                    "setup.hands.two",
                    "setup.hands.unsteady",
                ],
            ),
            Self::Verbosity => (
                "setup.verbosity",
                &[
                    "setup.verbosity.terse",
                    "setup.verbosity.normal",
                    "setup.verbosity.detailed",
                ],
            ),
            Self::Colours => (
                "setup.colours",
                &[
                    "setup.colours.terminal",
                    "setup.colours.contrast",
                    "setup.colours.plain",
                ],
            ),
        }
    }

    /// Returns which choice the settings stand for, from 0; `None` if none of them.
    pub(super) fn chosen(self, config: &Config, reader: bool) -> Option<usize> {
        match self {
            Self::Speech => Some(speech_of(config, reader)),
            Self::Rate => RATES.iter().position(|rate| *rate == config.voice.rate),
            Self::Hands => {
                let scan = &config.scanning;
                Some(match (scan.select.is_empty(), scan.step.is_empty()) {
                    (true, _) if config.questions.bounce_ms > 0 => UNSTEADY,
                    (true, _) => KEYS,
                    (false, true) => ONE_SWITCH,
                    (false, false) => TWO_SWITCHES,
                })
            }
            Self::Verbosity => VERBOSITIES
                .iter()
                .position(|it| *it == config.announce.verbosity),
            Self::Colours => THEMES.iter().position(|it| *it == config.screen.theme),
        }
    }

    /// Makes a choice in the settings. The keys of switches are not part of it.
    pub(super) fn choose(self, at: usize, config: &mut Config, reader: bool) {
        match self {
            Self::Speech => choose_speech(at, config, reader),
            Self::Rate => config.voice.rate = RATES.get(at).copied().flatten(),
            Self::Hands => choose_hands(at, config),
            Self::Verbosity => {
                config.announce.verbosity = VERBOSITIES.get(at).copied().unwrap_or_default();
            }
            Self::Colours => config.screen.theme = THEMES.get(at).copied().unwrap_or_default(),
        }
    }
}

/// The choices about speech.
pub(super) const READER: usize = 0;
pub(super) const SPEAKS: usize = 1;

/// The choices about hands.
const KEYS: usize = 0;
pub(super) const ONE_SWITCH: usize = 1;
pub(super) const TWO_SWITCHES: usize = 2;
const UNSTEADY: usize = 3;

const VERBOSITIES: [Verbosity; 3] = [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed];

const THEMES: [ThemeChoice; 3] = [
    ThemeChoice::Terminal,
    ThemeChoice::HighContrast,
    ThemeChoice::Plain,
];

/// Returns who reads to the person by these settings, given whether a screen reader was found.
pub(super) fn speech_of(config: &Config, reader: bool) -> usize {
    let reads = match config.screen.reader {
        ReaderChoice::Yes => true,
        ReaderChoice::Auto => reader,
        ReaderChoice::No => false,
    };
    if reads {
        READER
    } else if config.voice.engine == VoiceChoice::None {
        SPEAKS + 1
    } else {
        SPEAKS
    }
}

fn choose_speech(at: usize, config: &mut Config, reader: bool) {
    if at == READER {
        config.screen.reader = ReaderChoice::Yes;
        // A voice that is named speaks over the reader, which reads plain lines.
        config.voice.engine = VoiceChoice::Auto;
        if config.screen.face == FaceChoice::Full {
            config.screen.face = FaceChoice::Auto;
        }
        return;
    }
    config.screen.reader = match config.screen.reader {
        _ if reader => ReaderChoice::No,
        ReaderChoice::Yes => ReaderChoice::Auto,
        ReaderChoice::Auto | ReaderChoice::No => config.screen.reader,
    };
    match (at, &config.voice.engine) {
        (SPEAKS, VoiceChoice::None) => config.voice.engine = VoiceChoice::Auto,
        (SPEAKS, _) => {}
        _ => config.voice.engine = VoiceChoice::None,
    }
}

fn choose_hands(at: usize, config: &mut Config) {
    let scan = &mut config.scanning;
    match at {
        ONE_SWITCH => {
            scan.step.clear();
            if scan.auto_ms == 0 {
                scan.auto_ms = STEP_MS;
            }
        }
        TWO_SWITCHES => scan.auto_ms = 0,
        _ => *scan = Default::default(),
    }
    config.questions.bounce_ms = match at {
        UNSTEADY if config.questions.bounce_ms > 0 => config.questions.bounce_ms,
        UNSTEADY => BOUNCE_MS,
        _ => 0,
    };
}

/// Returns the differences between two settings that the questions are about.
pub(super) fn changes(before: &Config, after: &Config) -> Vec<Change> {
    let pairs = rows(before).into_iter().zip(rows(after));
    let differs = pairs.filter(|((.., old), (.., new))| old != new);
    differs
        .map(|(_, (table, name, value))| Change { table, name, value })
        .collect()
}

/// Returns the settings that the questions are about.
fn rows(config: &Config) -> [(&'static str, &'static str, Option<Value>); 10] {
    let text = |text: String| Some(Value::Text(text));
    let number = |number: u64| i64::try_from(number).ok().map(Value::Number);
    let Config {
        screen,
        voice,
        scanning,
        questions,
        announce,
        ..
    } = config;
    [
        ("screen", "reader", text(name_of(&screen.reader))),
        ("voice", "engine", text(voice.engine.clone().into())),
        ("screen", "face", text(name_of(&screen.face))),
        (
            "voice",
            "rate",
            voice.rate.map(|rate| Value::Number(rate.into())),
        ),
        ("scanning", "step", text(scanning.step.clone())),
        ("scanning", "select", text(scanning.select.clone())),
        ("scanning", "auto_ms", number(scanning.auto_ms)),
        ("questions", "bounce_ms", number(questions.bounce_ms)),
        ("announce", "verbosity", text(name_of(&announce.verbosity))),
        ("screen", "theme", text(name_of(&screen.theme))),
    ]
}

/// Returns the name of a choice, which is the same in the settings as on the command line.
fn name_of(choice: &impl ValueEnum) -> String {
    let value = choice.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
