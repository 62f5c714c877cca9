//! Settings for agents started from here.

use serde::{Deserialize, Serialize};

/// Settings for agents started by `hearken run`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Whether one step suffices to allow an action that hearken read in full without finding a problem.
    pub one_step: bool,
    /// Whether that one step may also allow running the project's own code: tests, builds, its
    /// scripts.
    pub one_step_project: bool,
    /// In which mode an agent works that has several.
    pub ask: AskMode,
}

/// In which mode an agent works that has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskMode {
    /// The one in which it begins.
    #[default]
    Agent,
    /// The one in which it asks the person most.
    Always,
}
