//! The person's settings: read from a TOML file, with a default for each.
//!
//! Responsibilities: the shape, the defaults and the errors of the settings. Not here: command-line flags (`cli`
//! applies them to a [`Config`]), and reading the file (`runtime`). `assets/config.toml` is the annotated default; a
//! test checks that it equals [`Config::default`].

use std::collections::BTreeMap;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

mod answer_rules;
mod delivery_settings;
mod handshake_settings;
mod hooked_agents;
mod key_settings;
mod line_fault;
mod link_settings;
mod named_sources;
mod policy_rules;
mod run_settings;
mod settings_fault;
mod sign_settings;
mod voice_choice;

pub use answer_rules::{AnswerKind, AnswerRule, RuleEffect, answers};
pub use delivery_settings::{Delivery, Knob, LONGEST_VOICE, Punctuation, SCALE, is_voice_name};
pub use handshake_settings::{HandshakeConfig, SourceHandshake};
pub use hooked_agents::HookedAgent;
pub use key_settings::{KeysConfig, ScanConfig};
pub use line_fault::{Misfit, closest};
pub use link_settings::{Dialect, LinkConfig};
pub use named_sources::{SourceAnnounce, SourceConfig};
pub use policy_rules::{PolicyDecision, PolicyRisk, PolicyRule};
pub use run_settings::{AskMode, RunConfig};
pub use settings_fault::{AcceptedValues, AnswerFault, AnswersFault, PolicyFault, SourceFault};
pub use sign_settings::{
    AnswersChoice, EchoChoice, MouseChoice, NotificationChoice, ThemeChoice, TimesChoice,
};
pub use voice_choice::{
    NoVoice, OnlyOn, VOICES, VoiceArgument, VoiceChoice, VoiceDescriptor, voices_listed,
    voices_written,
};

/// How much of an event is put into words; it selects a summary and never filters (AAEP 2.2.8).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Verbosity {
    /// The shortest form.
    Terse,
    /// The usual form.
    #[default]
    Normal,
    /// The longest form.
    Detailed,
}

/// How much reaches the person at all (AAEP's `cognitive_load`, guide 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Load {
    /// Only critical events, endings and final output.
    Low,
    /// Everything, sentence by sentence.
    #[default]
    Medium,
    /// Every boundary, states in detail.
    High,
}

/// The face that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum FaceChoice {
    /// Full on a terminal that can show it, else linear.
    #[default]
    Auto,
    /// The pane in the alternate screen.
    Full,
    /// Append-only labelled lines.
    Linear,
    /// One JSON object per line.
    Json,
}

/// Whether a screen reader is running, which decides the default face and voice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ReaderChoice {
    /// It is detected on this machine.
    #[default]
    Auto,
    /// One is running, whatever is detected, for example on the machine that you connect from.
    Yes,
    /// None is running, or it is to be ignored.
    No,
}

/// The part of a command line that made a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingSource {
    /// A flag, as written.
    Flag(String),
    /// An environment variable.
    Variable(String),
    /// Another part of the command line.
    Call,
}

/// Every setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is announced.
    pub announce: AnnounceConfig,
    /// How speech sounds.
    pub voice: VoiceConfig,
    /// How the screen looks.
    pub screen: ScreenConfig,
    /// How questions are asked and answered.
    pub questions: QuestionConfig,
    /// How sources are reached.
    pub links: LinkConfig,
    /// How agents started from here are handled.
    pub run: RunConfig,
    /// The keys that differ from the defaults.
    pub keys: KeysConfig,
    /// How one or two switches can reach everything.
    pub scanning: ScanConfig,
    /// What is asked of producers before they send anything.
    pub handshake: HandshakeConfig,
    /// How words are pronounced: each word as written, and what is spoken instead.
    pub pronunciation: BTreeMap<String, String>,
    /// The rules by which confirmations are decided without asking; usually none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<PolicyRule>,
    /// Answers by rule, from a file named on the command line; they are not settings.
    #[serde(skip)]
    pub answers: Vec<AnswerRule>,
    /// The sources that can be followed by name, or all together if none is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<SourceConfig>,
}

/// Settings for what is announced and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnnounceConfig {
    /// The summary that is selected.
    pub verbosity: Verbosity,
    /// How much reaches the person.
    pub load: Load,
    /// The person's languages, best first (BCP 47).
    pub languages: Vec<String>,
    /// When an agent's text is announced.
    pub answers: AnswersChoice,
    /// Whether long backlogs of streamed text are folded into a spoken count.
    pub fold: bool,
    /// How many seconds of estimated speech may queue up before the middle of an output is folded.
    pub fold_after_seconds: u64,
    /// How long a stream may pause in mid-sentence before a clause is spoken, in milliseconds.
    pub pause_ms: u64,
    /// Whether text that an agent marks as not to be announced on its own (`coalesce_hint: none`) is
    /// nevertheless cut at sentence ends, instead of waiting for a hint or the end.
    pub relax_none: bool,
    /// Whether only urgent news and responses to keys are spoken; the rest is shown.
    pub quiet: bool,
    /// Whether speech in progress always finishes; an urgent announcement waits for it for at most two seconds.
    pub do_not_interrupt: bool,
    /// Whether a heartbeat is heard while a silent agent works, after 3 seconds and then every 5.
    pub heartbeat: bool,
    /// The agents, by id or name, whose announcements are spoken only if urgent.
    pub muted: Vec<String>,
}

impl Default for AnnounceConfig {
    fn default() -> Self {
        Self {
            verbosity: Verbosity::Normal,
            load: Load::Medium,
            languages: vec!["en-US".to_owned()],
            answers: AnswersChoice::AsTheyCome,
            fold: true,
            fold_after_seconds: 6,
            pause_ms: 900,
            relax_none: false,
            quiet: false,
            do_not_interrupt: false,
            heartbeat: true,
            muted: Vec::new(),
        }
    }
}

/// Settings of the voice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VoiceConfig {
    /// The speech engine.
    pub engine: VoiceChoice,
    /// Speech rate from -100 to 100; absent leaves the engine's own setting alone.
    pub rate: Option<i32>,
    /// Pitch from -100 to 100; absent leaves the engine's own setting alone.
    pub pitch: Option<i32>,
    /// Volume from -100 to 100; absent leaves the engine's own setting alone.
    pub volume: Option<i32>,
    /// The name of one of the engine's voices; absent leaves the engine's own.
    pub voice: Option<String>,
    /// The punctuation marks that are named; absent leaves the engine's own setting alone.
    pub punctuation: Option<Punctuation>,
    /// How far above the usual pitch the program's own words are, from -100 to 100; 0 means no difference.
    pub own_pitch: i32,
    /// How long speech in progress may continue when the program quits, in milliseconds.
    pub linger_ms: u64,
    /// The sound of single agents' words, by the agent's id or name.
    pub agents: BTreeMap<String, Delivery>,
    /// The short sounds that precede words.
    pub cues: CueConfig,
    /// The sound of words in single languages, by the language's tag.
    pub languages: BTreeMap<String, Delivery>,
}

/// Settings of the short sounds before the program's own words; a word replaces each that is off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CueConfig {
    /// Before a question.
    pub question: bool,
    /// Before an errored session, a failed tool, a danger.
    pub error: bool,
    /// Before the end of a session that went well.
    pub done: bool,
    /// Before the first words of an agent's text.
    pub answer: bool,
    /// Before the start of a tool's call.
    pub call: bool,
    /// In place of the spoken sign that a silent agent works.
    pub tick: bool,
    /// Before the news that a source is lost.
    pub lost: bool,
    /// Before the news that it is back.
    pub back: bool,
}

impl Default for CueConfig {
    fn default() -> Self {
        Self {
            question: true,
            error: true,
            done: true,
            answer: false,
            call: false,
            tick: true,
            lost: true,
            back: true,
        }
    }
}

impl VoiceConfig {
    /// Applies the values that a delivery sets, and keeps the rest.
    pub fn take(&mut self, delivery: &Delivery) {
        let laid = self.delivery().under(delivery);
        self.rate = laid.rate;
        self.pitch = laid.pitch;
        self.volume = laid.volume;
        self.voice = laid.voice;
        self.punctuation = laid.punctuation;
    }

    /// Returns the default delivery, for everything without one of its own.
    pub fn delivery(&self) -> Delivery {
        Delivery {
            rate: self.rate,
            pitch: self.pitch,
            volume: self.volume,
            voice: self.voice.clone(),
            punctuation: self.punctuation,
        }
    }
}

impl Default for VoiceConfig {
    fn default() -> Self {
        Self {
            engine: VoiceChoice::Auto,
            rate: None,
            pitch: None,
            volume: None,
            voice: None,
            punctuation: None,
            own_pitch: 20,
            linger_ms: 1500,
            agents: BTreeMap::new(),
            cues: CueConfig::default(),
            languages: BTreeMap::new(),
        }
    }
}

/// Settings of the screen and of signals other than speech.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScreenConfig {
    /// The face.
    pub face: FaceChoice,
    /// Whether a screen reader is running: the default face is then the linear one, without a voice.
    pub reader: ReaderChoice,
    /// The width of linear lines in columns, 0 for lines of any length; absent means that of the terminal.
    pub width: Option<u16>,
    /// Whether an unanswered question rings the bell.
    pub bell: bool,
    /// The colours of the pane; `NO_COLOR` overrides them with the plain theme.
    pub theme: ThemeChoice,
    /// When plain lines and the transcript show the time.
    pub times: TimesChoice,
    /// How an unanswered question asks the terminal for a desktop notification.
    pub notifications: NotificationChoice,
    /// Whether the terminal's title reports unanswered questions.
    pub title: bool,
    /// Whether the linear face marks turns for the terminal (OSC 133), which can then jump to them.
    pub marks: bool,
    /// What a mouse does in the full face; beside a screen reader, nothing.
    pub mouse: MouseChoice,
}

impl Default for ScreenConfig {
    fn default() -> Self {
        Self {
            face: FaceChoice::Auto,
            reader: ReaderChoice::Auto,
            width: None,
            bell: true,
            theme: ThemeChoice::Terminal,
            times: TimesChoice::Minute,
            notifications: NotificationChoice::Auto,
            title: true,
            marks: true,
            mouse: MouseChoice::Wheel,
        }
    }
}

/// Settings of questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuestionConfig {
    /// How long the keyboard must have been silent before a shown question can be answered, in milliseconds.
    pub arm_ms: u64,
    /// How long a question may wait to be spoken before it can be answered without that, in seconds.
    pub say_first_seconds: u64,
    /// How long accepting waits for its second step, in seconds (5 to 3600).
    pub confirm_seconds: u64,
    /// How long the same key is ignored after a press, in milliseconds (0 to 1000).
    pub bounce_ms: u64,
    /// What is spoken while an answer is being typed.
    pub echo: EchoChoice,
    /// How long a key must be held before it counts, in milliseconds; 0 turns this off (0 to 5000).
    pub slow_ms: u64,
    /// The name in `decided_by`; empty means `user:local`.
    pub user: String,
}

impl Default for QuestionConfig {
    fn default() -> Self {
        Self {
            arm_ms: 400,
            say_first_seconds: 20,
            confirm_seconds: 60,
            bounce_ms: 0,
            echo: EchoChoice::Words,
            slow_ms: 0,
            user: String::new(),
        }
    }
}

/// Why a settings file can't be used; a person reads it in their language (`Phrases::settings_fault`).
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text is not valid TOML or contains an unknown or ill-typed setting.
    #[error("line {line}: {misfit:?}")]
    Toml {
        /// The line of the fault, from 1.
        line: usize,
        /// What is wrong there.
        misfit: Misfit,
    },
    /// A value is outside its range.
    #[error("the setting {name} is out of range: {takes:?}")]
    Range {
        /// The setting's dotted name.
        name: &'static str,
        /// The values that would be valid.
        takes: AcceptedValues,
    },
    /// A source of the settings can't be used.
    #[error("the setting source can't be used: {0:?}")]
    Source(SourceFault),
    /// A file of answers can't be used.
    #[error("the answers can't be used: {0:?}")]
    Answers(AnswersFault),
    /// A rule that decides questions can't be used.
    #[error("the setting policy can't be used: {0:?}")]
    Policy(PolicyFault),
}

/// Reads a person's TOML text as any type.
///
/// # Errors
/// [`ConfigError::Toml`], with the line and its fault.
pub fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text
            .get(..at)
            .map_or(1, |before| before.matches('\n').count() + 1);
        let there = text.lines().nth(line - 1).unwrap_or_default();
        ConfigError::Toml {
            line,
            misfit: Misfit::of(error.message(), there),
        }
    })
}

impl Config {
    /// Reads settings from TOML text; an absent setting has its default.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let config: Config = read(text)?;
        config.check()?;
        if let Some(fault) = policy_rules::fault(&config.policy) {
            return Err(ConfigError::Policy(fault));
        }
        if let Some(fault) = named_sources::fault(&config.source) {
            return Err(ConfigError::Source(fault));
        }
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let between = |least, most| AcceptedValues::Between { least, most };
        if let Some((name, takes)) = self.handshake.fault() {
            return Err(ConfigError::Range { name, takes });
        }
        let range = |ok: bool, name, takes| {
            if ok {
                Ok(())
            } else {
                Err(ConfigError::Range { name, takes })
            }
        };
        range(
            self.questions.bounce_ms <= 1000,
            "questions.bounce_ms",
            between(0, 1000),
        )?;
        range(
            self.questions.slow_ms <= 5000,
            "questions.slow_ms",
            between(0, 5000),
        )?;
        range(
            self.scanning.auto_ms == 0 || (500..=60_000).contains(&self.scanning.auto_ms),
            "scanning.auto_ms",
            AcceptedValues::ZeroOrBetween {
                least: 500,
                most: 60_000,
            },
        )?;
        range(
            self.scanning.fits(),
            "scanning.prompts",
            AcceptedValues::Prompts,
        )?;
        range(
            self.questions.arm_ms <= 10_000,
            "questions.arm_ms",
            between(0, 10_000),
        )?;
        range(
            (5..=3600).contains(&self.questions.confirm_seconds),
            "questions.confirm_seconds",
            between(5, 3600),
        )?;
        range(
            !self.announce.languages.is_empty(),
            "announce.languages",
            AcceptedValues::Languages,
        )?;
        range(
            !self
                .pronunciation
                .iter()
                .any(|(from, to)| from.trim().is_empty() || to.trim().is_empty()),
            "pronunciation",
            AcceptedValues::Pronunciations,
        )?;
        let deliveries = self.voice.agents.values();
        range(
            deliveries
                .chain(self.voice.languages.values())
                .chain([&self.voice.delivery()])
                .all(Delivery::is_sound),
            "voice",
            AcceptedValues::Deliveries,
        )?;
        range(
            SCALE.contains(&self.voice.own_pitch),
            "voice.own_pitch",
            between(i64::from(*SCALE.start()), i64::from(*SCALE.end())),
        )?;
        match self.links.fault() {
            Some((name, takes)) => Err(ConfigError::Range { name, takes }),
            None => Ok(()),
        }
    }
}
