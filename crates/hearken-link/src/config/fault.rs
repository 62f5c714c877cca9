//! Why settings that can be read can't be used, as data.
//!
//! Responsibilities: telling each kind apart, with what it names. Not here: finding it (each part of the settings), the
//! words (`announce`).

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A number between these two.
    Between {
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// 0, or a number between these two.
    ZeroOrBetween {
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// A number that is not less than this.
    AtLeast(u64),
    /// A number that is not less than another setting's.
    AtLeastThatOf(&'static str),
    /// One or more of these.
    SomeOf(&'static [&'static str]),
    /// One or more languages.
    Languages,
    /// Words, and what is said for each.
    Pronunciations,
    /// How a voice sounds.
    Deliveries,
}

/// Why the rules that decide questions can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyFault {
    /// There are more than these.
    TooMany(usize),
    /// A rule has no proper name.
    Name {
        /// Which rule, from 1.
        number: usize,
        /// How long a name may be.
        most: usize,
    },
    /// Two rules have this name.
    Twice(String),
    /// A rule of this name would accept what is not of low risk.
    Accepts(String),
    /// A rule of this name names an agent or a tool with an empty text.
    Empty(String),
}

/// Why a file of answers can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswersFault {
    /// There is no rule in it.
    Nothing,
    /// What goes for every list of rules goes wrong: how many they are, or how one is called.
    Rules(PolicyFault),
    /// One rule can't be used.
    Rule {
        /// Its name.
        name: String,
        /// Why.
        fault: AnswerFault,
    },
}

/// Why one rule of a file of answers can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFault {
    /// It names an agent, a tool or a text with an empty text.
    Empty,
    /// It answers a clarification with an empty text.
    NoWords,
    /// It gives a clarification a tool or a risk.
    Clarification,
    /// It answers a confirmation with something that is no decision.
    Decision,
    /// It takes a risk and does not accept.
    RiskRejected,
    /// It takes a risk, and names neither a tool nor a text: whatever an agent may think of would be accepted.
    RiskAtLarge,
}

/// Why the sources of the settings can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFault {
    /// There are more than these.
    TooMany(usize),
    /// A source has no proper name.
    Name,
    /// Two sources have this name.
    Twice(String),
    /// A source of this name has neither an address nor a command, or both.
    Address(String),
    /// Of two settings a source may have one only.
    OneOf {
        /// Its name.
        name: String,
        /// The settings.
        settings: [&'static str; 2],
    },
    /// Of two settings a source has only one, and wants both.
    Both {
        /// Its name.
        name: String,
        /// The settings.
        settings: [&'static str; 2],
    },
    /// A source of this name names no path, or is no server, where it says who takes prompts.
    Prompt(String),
    /// A source of this name has a list of languages that is empty.
    Languages(String),
    /// A setting of a source is outside its range.
    Range {
        /// Its name.
        name: String,
        /// The setting.
        setting: &'static str,
        /// What would be right.
        takes: Takes,
    },
}
