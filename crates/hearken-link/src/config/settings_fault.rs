//! Why readable settings can't be used, as data.
//!
//! Responsibilities: distinguishing the kinds of fault, each with its data. Not here: detecting them (each part of the
//! settings), the words (`announce`).

/// The values that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedValues {
    /// A number between these two.
    Between {
        /// The smallest.
        least: i64,
        /// The largest.
        most: i64,
    },
    /// 0, or a number between these two.
    ZeroOrBetween {
        /// The smallest.
        least: i64,
        /// The largest.
        most: i64,
    },
    /// A number of at least this.
    AtLeast(u64),
    /// A number of at least another setting's value.
    AtLeastThatOf(&'static str),
    /// One or more of these.
    SomeOf(&'static [&'static str]),
    /// One or more languages.
    Languages,
    /// Words, and what is spoken for each.
    Pronunciations,
    /// A few prompts, none of them empty.
    Prompts,
    /// Descriptions of how a voice sounds.
    Deliveries,
}

/// Why the rules that decide questions can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyFault {
    /// There are more than this many.
    TooMany(usize),
    /// A rule has no valid name.
    Name {
        /// The number of the rule, from 1.
        number: usize,
        /// The longest valid name.
        most: usize,
    },
    /// Two rules have this name.
    Twice(String),
    /// The rule with this name would accept more than low risk.
    Accepts(String),
    /// The rule with this name lists an empty text as an agent or a tool.
    Empty(String),
}

/// Why a file of answers can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswersFault {
    /// It contains no rule.
    Nothing,
    /// A limit that applies to every list of rules is broken: their number or a name.
    Rules(PolicyFault),
    /// One rule can't be used.
    Rule {
        /// The rule's name.
        name: String,
        /// What is wrong with it.
        fault: AnswerFault,
    },
}

/// Why one rule of a file of answers can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFault {
    /// It lists an empty text as an agent, a tool or a text.
    Empty,
    /// It answers a clarification with an empty text.
    NoWords,
    /// It names a tool or a risk for a clarification.
    Clarification,
    /// It answers a confirmation with something other than a decision.
    Decision,
    /// It allows a risk but does not accept.
    RiskRejected,
    /// It allows a risk without naming a tool or a text: anything that an agent asks would be accepted.
    RiskAtLarge,
}

/// Why the sources of the settings can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceFault {
    /// There are more than this many.
    TooMany(usize),
    /// A source has no valid name.
    Name,
    /// Two sources have this name.
    Twice(String),
    /// The source with this name has neither an address nor a command, or both.
    Address(String),
    /// A source has two settings that exclude each other.
    OneOf {
        /// The source's name.
        name: String,
        /// The settings.
        settings: [&'static str; 2],
    },
    /// A source has only one of two settings that belong together.
    Both {
        /// The source's name.
        name: String,
        /// The settings.
        settings: [&'static str; 2],
    },
    /// The prompt setting of the source with this name is not a path, or the source is not a server.
    Prompt(String),
    /// The source with this name has an empty list of languages.
    Languages(String),
    /// A setting of a source is outside its range.
    Range {
        /// The source's name.
        name: String,
        /// The setting.
        setting: &'static str,
        /// The values that would be valid.
        takes: AcceptedValues,
    },
}
