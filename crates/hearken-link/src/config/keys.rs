//! Settings of keys, their filters and scanning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Which keys stand for which command: by the command's name, as docs/keys.md lists them. A command
/// that is not named keeps its keys; an empty list turns it off.
pub type KeysConfig = BTreeMap<String, Vec<String>>;

/// Settings of scanning: one key steps through what can be done, another selects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanConfig {
    /// The key that steps on; empty where only time steps.
    pub step: String,
    /// The key that selects; empty turns scanning off.
    pub select: String,
    /// After how many milliseconds it steps by itself, 0 for never (500 to 60000).
    pub auto_ms: u64,
}
