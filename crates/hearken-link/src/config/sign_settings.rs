//! Settings with few values, such as the colours of the pane and the way to ask a terminal for a
//! notification.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The colours of the pane; nothing is ever conveyed by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ThemeChoice {
    /// The terminal's own colours.
    #[default]
    Terminal,
    /// Bold text, and the most important parts in black or white on a full colour of the terminal.
    HighContrast,
    /// No colour at all: bold, underlined and reversed text.
    Plain,
}

/// What a mouse does in the full face, where it can only look; with a screen reader, nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MouseChoice {
    /// Its wheel looks back, which the terminal sends as arrow keys.
    #[default]
    Wheel,
    /// A click also goes to an agent or looks at an entry; the terminal then selects text only while a key is
    /// held.
    Click,
    /// Nothing.
    Off,
}

/// What is spoken while text is being typed.
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

/// When an agent's text is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswersChoice {
    /// Sentence by sentence, as it arrives.
    #[default]
    AsTheyCome,
    /// All of it once the turn is over.
    AtTheEnd,
}

/// The sequence that asks a terminal for a desktop notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationChoice {
    /// The one that the terminal understands, judging by the environment.
    #[default]
    Auto,
    /// OSC 9, as iTerm2 understands it.
    Osc9,
    /// OSC 777, as rxvt-unicode, VTE terminals and WezTerm understand it.
    Osc777,
    /// OSC 99, as kitty and foot understand it: it can be withdrawn.
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
    /// When the minute differs from that of the previous announcement.
    #[default]
    Minute,
    /// Never; the JSON face and recordings have it.
    Never,
}
