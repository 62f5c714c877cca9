//! Settings with a few values: how the pane is coloured, and how a terminal is asked to notify.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How the pane is coloured; nothing is ever told by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ThemeChoice {
    /// The terminal's own colours.
    #[default]
    Terminal,
    /// Bold text, and what matters most as black or white on a full colour of the terminal.
    HighContrast,
    /// No colour at all: bold, underlined and reversed text.
    Plain,
}

/// What is said of what is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EchoChoice {
    /// Each word, when it is finished.
    #[default]
    Words,
    /// Each character.
    Characters,
    /// Each character, and each word when it is finished.
    Both,
    /// Nothing.
    None,
}

/// When an agent's text is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswersChoice {
    /// Sentence by sentence, as it comes.
    #[default]
    AsTheyCome,
    /// All of it once the turn is over.
    AtTheEnd,
}

/// Says by which sequence a terminal is asked for a desktop notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationChoice {
    /// The one that the terminal is known to take, by the signs that it leaves in the environment.
    #[default]
    Auto,
    /// OSC 9, as iTerm2 takes it.
    Osc9,
    /// OSC 777, as rxvt-unicode, the terminals of VTE and WezTerm take it.
    Osc777,
    /// OSC 99, as kitty and foot take it: it can be withdrawn.
    Osc99,
    /// None.
    None,
}

/// When plain lines and the transcript of the full face carry the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum TimesChoice {
    /// With every announcement, to the second.
    Always,
    /// Where the minute is another than that of the one before.
    #[default]
    Minute,
    /// Never; the JSON face and recordings have it.
    Never,
}
