//! What agents report within a turn: text, calls, a plan.
//!
//! Responsibilities: the types into which dialects read it. Not here: reading it (each dialect, [`super::acp_shape`]
//! for what has ACP's shape), what becomes of it ([`super::turn`]).

use serde_json::{Map, Value};

use crate::OfferedCommand;
use crate::protocol::{CallExit, CallOutput, FileChange, PlanStep};

use super::call_inputs::CallInputs;

/// One update of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// Text for the person.
    Says {
        /// The message that it belongs to, if the agent says so.
        message: Option<String>,
        /// The text.
        text: String,
    },
    /// Something for the person other than text: an image, a sound.
    Shows(String),
    /// The agent's thinking; never presented as addressed to the person.
    Thinks,
    /// The person's own words, repeated while an earlier conversation is loaded.
    Echoes(Option<String>),
    /// A tool call, or an update of one.
    Calls(Box<CallNews>),
    /// Its plan.
    Plans(Vec<PlanStep>),
    /// A change to another mode.
    Mode(String),
    /// The settings and their present values.
    Options(Map<String, Value>),
    /// The commands that it accepts instead of a prompt.
    Commands {
        /// The commands.
        offers: Vec<OfferedCommand>,
        /// How many more there are.
        left_out: usize,
    },
    /// A count or an offer, of no interest by itself.
    Quiet,
    /// An unknown kind of update.
    Unknown(String),
}

/// How far a call has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// It waits, for its input or for a permission.
    Pending,
    /// It runs, as the agent says; a request for permission may still follow.
    InProgress,
    /// It is done.
    Completed,
    /// It did not work.
    Failed,
    /// It is over, and whether it worked is unknown.
    Ended,
}

/// What a message says about a call: only what changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallNews {
    /// The agent's id of the call.
    pub id: String,
    /// What it does, in the agent's words.
    pub title: Option<String>,
    /// What kind of tool it is.
    pub kind: Option<String>,
    /// How far it has got.
    pub status: Option<CallStatus>,
    /// The edits that it makes.
    pub edits: Option<Vec<FileChange>>,
    /// Its output, as far as that is text.
    pub output: Option<CallOutput>,
    /// More output, which follows that of earlier messages.
    pub wrote: Option<String>,
    /// How its program exited.
    pub exit: Option<CallExit>,
    /// Whether the file that it writes is new, if the agent says so.
    pub makes_file: Option<bool>,
    /// The paths that it touches.
    pub places: Option<Vec<String>>,
    /// All its inputs, with the command in them.
    pub inputs: Option<CallInputs>,
    /// Whether it has more inputs, parts or paths than are read; `None` if the message has none of them.
    pub is_too_much: Option<bool>,
    /// What else it does to files, in our words: whatever its changed lines do not show.
    pub also: Option<Vec<String>>,
    /// The files that it deletes, as part of what else it does.
    pub deletes: Vec<String>,
    /// Whether `also` describes all of it, because the edits alone would mislead.
    pub instead: bool,
    /// The plan that it is to write down.
    pub plan: Option<Vec<PlanStep>>,
}

impl CallNews {
    /// Returns the command that its call runs.
    pub fn command(&self) -> Option<&str> {
        self.inputs.as_ref()?.command.as_deref()
    }

    /// Returns whether its call is not over.
    pub fn is_under_way(&self) -> bool {
        match self.status {
            Some(CallStatus::Pending | CallStatus::InProgress) => true,
            Some(CallStatus::Completed | CallStatus::Failed | CallStatus::Ended) | None => false,
        }
    }
}
