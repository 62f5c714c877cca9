//! Where each agent keeps its hooks, and in which form.
//!
//! Responsibilities: the file, the hooked events, the unit of time limits, whether the file is ours alone. Not here:
//! changing a file (`hook_settings`), what an event means (`dialect`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::config::HookedAgent;

/// How long a permission waits for a person, in seconds: an hour where the agent's own terminal asks meanwhile; else
/// somewhat more than the longest time after which hearken hands a question back.
const LONG: u64 = 60 * 60;
/// The time limit for a hook that waits for no person, in seconds.
const SHORT: u64 = 10;

/// A hooked event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HookedEvent {
    /// Its name.
    pub name: &'static str,
    /// Whether it is about tools, which then means all tools.
    of_tools: bool,
    /// Whether its hook waits for a person.
    asks: bool,
}

const fn event(name: &'static str) -> HookedEvent {
    HookedEvent {
        name,
        of_tools: false,
        asks: false,
    }
}

const fn tool(name: &'static str) -> HookedEvent {
    HookedEvent {
        of_tools: true,
        ..event(name)
    }
}

const fn asks(name: &'static str) -> HookedEvent {
    HookedEvent {
        asks: true,
        ..tool(name)
    }
}

const CLAUDE: &[HookedEvent] = &[
    event("SessionStart"),
    event("UserPromptSubmit"),
    tool("PreToolUse"),
    asks("PermissionRequest"),
    tool("PermissionDenied"),
    tool("PostToolUse"),
    tool("PostToolUseFailure"),
    event("PostToolBatch"),
    asks("Elicitation"),
    event("MessageDisplay"),
    event("Notification"),
    event("SubagentStart"),
    event("SubagentStop"),
    event("TaskCreated"),
    event("TaskCompleted"),
    event("TeammateIdle"),
    event("Stop"),
    event("StopFailure"),
    event("SessionEnd"),
];
const CODEX: &[HookedEvent] = &[
    event("SessionStart"),
    event("UserPromptSubmit"),
    tool("PreToolUse"),
    asks("PermissionRequest"),
    tool("PostToolUse"),
    event("SubagentStart"),
    event("SubagentStop"),
    event("Stop"),
    event("Interrupt"),
    event("SessionEnd"),
];
const COPILOT: &[HookedEvent] = &[
    event("sessionStart"),
    event("userPromptSubmitted"),
    event("preToolUse"),
    asks("permissionRequest"),
    event("postToolUse"),
    event("postToolUseFailure"),
    event("notification"),
    event("subagentStart"),
    event("subagentStop"),
    event("errorOccurred"),
    event("agentStop"),
    event("sessionEnd"),
];
const QWEN: &[HookedEvent] = &[
    event("SessionStart"),
    event("UserPromptSubmit"),
    tool("PreToolUse"),
    asks("PermissionRequest"),
    tool("PermissionDenied"),
    tool("PostToolUse"),
    tool("PostToolUseFailure"),
    event("PostToolBatch"),
    event("MessageDisplay"),
    event("Notification"),
    event("SubagentStart"),
    event("SubagentStop"),
    event("Stop"),
    event("StopFailure"),
    event("SessionEnd"),
];
const GEMINI: &[HookedEvent] = &[
    event("SessionStart"),
    event("BeforeAgent"),
    asks("BeforeTool"),
    tool("AfterTool"),
    event("Notification"),
    event("AfterAgent"),
    event("SessionEnd"),
];

/// Returns the events of an agent that are hooked.
pub(super) fn events(agent: HookedAgent) -> &'static [HookedEvent] {
    match agent {
        HookedAgent::Claude => CLAUDE,
        HookedAgent::Codex => CODEX,
        HookedAgent::Copilot => COPILOT,
        HookedAgent::Qwen => QWEN,
        HookedAgent::Gemini => GEMINI,
    }
}

/// Returns whether the file is ours alone: such an agent reads every file of a folder.
pub(super) fn has_own_file(agent: HookedAgent) -> bool {
    agent == HookedAgent::Copilot
}

/// Returns our entry for an event, which runs a command.
pub(super) fn entry(agent: HookedAgent, event: &HookedEvent, command: &str) -> Value {
    let seconds = match (event.asks, agent) {
        (false, _) => SHORT,
        // A limit from 1000 upwards would be read as milliseconds.
        (true, HookedAgent::Qwen) => LONG * 1000,
        (true, _) => LONG,
    };
    if has_own_file(agent) {
        return json!({"type": "command", "bash": command, "timeoutSec": seconds});
    }
    let limit = match agent {
        HookedAgent::Gemini => seconds * 1000,
        HookedAgent::Claude | HookedAgent::Codex | HookedAgent::Copilot | HookedAgent::Qwen => {
            seconds
        }
    };
    let hook = json!({"type": "command", "command": command, "timeout": limit});
    let mut group = Map::new();
    if event.of_tools && agent == HookedAgent::Claude {
        group.insert("matcher".to_owned(), "*".into());
    }
    group.insert("hooks".to_owned(), json!([hook]));
    Value::Object(group)
}

/// Returns the path of an agent's hooks within a person's home; `variable` reads an environment variable.
pub fn own_file(
    agent: HookedAgent,
    home: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    // The places where the agents themselves look.
    let (moved, folder, file) = match agent {
        HookedAgent::Claude => ("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        HookedAgent::Codex => ("CODEX_HOME", ".codex", "hooks.json"),
        HookedAgent::Copilot => ("COPILOT_HOME", ".copilot", "hooks/hearken.json"),
        HookedAgent::Qwen => ("QWEN_HOME", ".qwen", "settings.json"),
        HookedAgent::Gemini => ("", ".gemini", "settings.json"),
    };
    let moved = (!moved.is_empty()).then(|| variable(moved)).flatten();
    let folder = match moved.filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => home
            .filter(|home| !home.as_os_str().is_empty())?
            .join(folder),
    };
    Some(folder.join(file))
}

/// Returns the path of an agent's hooks within a project's folder; `None` if it reads none there.
pub fn project_file(agent: HookedAgent, folder: &Path) -> Option<PathBuf> {
    let file = match agent {
        HookedAgent::Claude => ".claude/settings.json",
        HookedAgent::Copilot => ".github/hooks/hearken.json",
        HookedAgent::Qwen => ".qwen/settings.json",
        HookedAgent::Gemini => ".gemini/settings.json",
        HookedAgent::Codex => return None,
    };
    Some(folder.join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(agent: HookedAgent) -> Vec<u64> {
        let entries = events(agent).iter().map(|event| entry(agent, event, "x"));
        let limit = |entry: Value| {
            let found = ["/timeoutSec", "/hooks/0/timeout"];
            let mut found = found.iter().filter_map(|at| entry.pointer(at));
            found.next().unwrap().as_u64().unwrap()
        };
        let mut all: Vec<u64> = entries.map(limit).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn limits_are_in_the_unit_that_the_agent_reads() {
        assert_eq!(limits(HookedAgent::Claude), [10, 3600]);
        assert_eq!(limits(HookedAgent::Codex), [10, 3600]);
        assert_eq!(limits(HookedAgent::Copilot), [10, 3600]);
        assert_eq!(limits(HookedAgent::Qwen), [10, 3_600_000]);
        assert_eq!(limits(HookedAgent::Gemini), [10_000, 3_600_000]);
    }

    #[test]
    fn the_file_is_where_the_agent_looks() {
        let none = |_: &str| None;
        let home = Some(Path::new("/home/me"));
        let at = |agent| own_file(agent, home, none).unwrap();
        assert_eq!(
            at(HookedAgent::Codex),
            Path::new("/home/me/.codex/hooks.json")
        );
        assert_eq!(
            at(HookedAgent::Copilot),
            Path::new("/home/me/.copilot/hooks/hearken.json")
        );
        let moved = |name: &str| (name == "CODEX_HOME").then(|| "/x".into());
        assert_eq!(
            own_file(HookedAgent::Codex, home, moved).unwrap(),
            Path::new("/x/hooks.json")
        );
        assert_eq!(own_file(HookedAgent::Qwen, None, none), None);
        assert_eq!(project_file(HookedAgent::Codex, Path::new("/p")), None);
    }
}
