//! Settings of keys, their filters and scanning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The keys of each command, by the command's name as in docs/keys.md. A command that is not named
/// keeps its keys; an empty list turns it off.
pub type KeysConfig = BTreeMap<String, Vec<String>>;

/// The most prompts that scanning offers: each costs one more step.
const MOST_PROMPTS: usize = 20;
/// The longest of these prompts, in characters: it is read out at its step.
const LONGEST_PROMPT: usize = 200;

/// Settings of scanning: one key steps through the possible actions, another selects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanConfig {
    /// The key that steps on; empty if only time steps.
    pub step: String,
    /// The key that selects; empty turns scanning off.
    pub select: String,
    /// The delay after which it steps on its own, in milliseconds, 0 for never (500 to 60000).
    pub auto_ms: u64,
    /// The prompts that can be sent to an agent without typing; if empty, hearken's own.
    pub prompts: Vec<String>,
}

impl ScanConfig {
    /// Returns whether its prompts can all be stepped through and sent.
    pub(super) fn fits(&self) -> bool {
        let is_fit = |prompt: &String| {
            let length = prompt.chars().count();
            !prompt.trim().is_empty() && length <= LONGEST_PROMPT
        };
        self.prompts.len() <= MOST_PROMPTS && self.prompts.iter().all(is_fit)
    }
}
