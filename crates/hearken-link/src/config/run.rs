//! Settings of agents that are started from here.

use serde::{Deserialize, Serialize};

/// Settings of agents that are started by `hearken run`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Whether one step allows what hearken read whole and found nothing in.
    pub one_step: bool,
    /// Whether that one step may also run the project's own code: tests, builds, its scripts.
    pub one_step_project: bool,
}
