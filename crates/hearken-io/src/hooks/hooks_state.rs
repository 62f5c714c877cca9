//! The state of our hooks in an agent's settings: whether all of them are there, and whether the program that they run
//! exists.
//!
//! Responsibilities: reading settings for that. Not here: changing them (`hook_settings`), words (`doctor`, `runtime`).

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::hook_settings::{
    HookCommand, UnchangedReason, called, hooks_in, is_whole, ours, settings, text,
};
use crate::config::HookedAgent;
use crate::platform::files::is_program;

/// The state of our hooks in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HooksState {
    /// None of ours is there.
    Absent,
    /// All are there, and so is the program that they run.
    Whole,
    /// Some are missing, or differ from the current form.
    Partly,
    /// Each event runs several of ours.
    Twice,
    /// They run a program that no longer exists.
    Lost {
        /// The program's former path.
        program: PathBuf,
    },
    /// The settings switch all hooks off.
    Off,
}

/// Returns the state of our hooks in a settings file; `own` is this program, which counts as ours under any name.
///
/// # Errors
/// If the file can't be read, or is not the JSON of an agent's settings.
pub fn state(path: &Path, agent: HookedAgent, own: &Path) -> Result<HooksState, UnchangedReason> {
    let settings = settings(text(path)?.as_deref())?;
    let Some(hooks) = settings.get("hooks").and_then(Value::as_object) else {
        return Ok(HooksState::Absent);
    };
    let programs = programs(hooks, own);
    let Some(program) = programs.first() else {
        return Ok(HooksState::Absent);
    };
    if settings.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
        return Ok(HooksState::Off);
    }
    // The shell finds a program given without a folder.
    let is_lost = |program: &&PathBuf| program.components().count() > 1 && !is_program(program);
    if let Some(lost) = programs.iter().find(is_lost) {
        return Ok(HooksState::Lost {
            program: lost.clone(),
        });
    }
    let runs_several = |groups: &Value| ours(groups, own) > 1;
    let command = HookCommand { agent, program };
    Ok(match is_whole(hooks, command) {
        true => HooksState::Whole,
        false if hooks.values().any(runs_several) => HooksState::Twice,
        false => HooksState::Partly,
    })
}

/// Returns the programs that our hooks run, one per hook.
fn programs(hooks: &Map<String, Value>, own: &Path) -> Vec<PathBuf> {
    let groups = hooks.values().filter_map(Value::as_array).flatten();
    let all = groups
        .flat_map(hooks_in)
        .filter_map(|hook| called(hook, own));
    all.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::hook_settings::{HooksGoal, PlannedChange};
    use super::*;

    #[test]
    fn hooks_are_absent_whole_in_part_lost_or_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let own = std::env::current_exe().unwrap();
        let stand = || state(&path, HookedAgent::Claude, &own).unwrap();
        assert_eq!(stand(), HooksState::Absent, "there is no file");
        std::fs::write(
            &path,
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}"#,
        )
        .unwrap();
        assert_eq!(stand(), HooksState::Absent, "that is somebody else's");
        let install = |program: &Path| {
            let command = HookCommand {
                agent: HookedAgent::Claude,
                program,
            };
            let change = PlannedChange::of(&path, HooksGoal::In, command).unwrap();
            change.unwrap().make().unwrap();
        };
        install(&own);
        assert_eq!(stand(), HooksState::Whole);
        let whole = std::fs::read_to_string(&path).unwrap();
        let also = json!({"hooks": [{"type": "command", "command": "/usr/bin/hearken hooks relay || true"}]});
        let mut twice: Value = serde_json::from_str(&whole).unwrap();
        twice["hooks"]["Stop"].as_array_mut().unwrap().push(also);
        std::fs::write(&path, twice.to_string()).unwrap();
        assert_eq!(
            stand(),
            HooksState::Lost {
                program: "/usr/bin/hearken".into()
            }
        );
        let second = twice.to_string().replace("/usr/bin/hearken", "hearken");
        std::fs::write(&path, second).unwrap();
        assert_eq!(stand(), HooksState::Twice, "two programs");
        std::fs::write(&path, whole.replace("\"Notification\"", "\"Other\"")).unwrap();
        assert_eq!(stand(), HooksState::Partly);
        let off = whole.replacen('{', "{\"disableAllHooks\": true,", 1);
        std::fs::write(&path, off).unwrap();
        assert_eq!(stand(), HooksState::Off);
        std::fs::write(&path, "{}").unwrap();
        let program = folder.path().join("it's gone/hearken");
        install(&program);
        assert_eq!(stand(), HooksState::Lost { program });
        std::fs::write(&path, "[]").unwrap();
        assert!(state(&path, HookedAgent::Claude, &own).is_err());
    }
}
