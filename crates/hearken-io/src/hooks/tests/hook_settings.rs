//! Hooks added to settings of all kinds, and removed again.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;

use super::*;

const PROGRAM: &str = "/opt/a b/hearken";

fn change(path: &Path, wanted: HooksGoal) -> Result<bool, UnchangedReason> {
    let command = HookCommand {
        agent: HookedAgent::Claude,
        program: Path::new(PROGRAM),
    };
    match PlannedChange::of(path, wanted, command)? {
        Some(change) => change.make().map(|()| true),
        None => Ok(false),
    }
}

/// Settings of a person with hooks of their own.
const OWN: &str = r#"{
  "model": "x",
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "echo hearken hooks relay is fine"}]}],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/bin/own"}], "note": [1.50, 18446744073709551615]}]
  },
  "z": {"b": 1, "a": 2}
}"#;

#[test]
fn hooks_come_beside_what_stands_there_and_go_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".claude/settings.json");
    assert!(!change(&path, HooksGoal::Out).unwrap(), "there is no file");
    assert!(!path.exists());
    assert!(change(&path, HooksGoal::In).unwrap());
    assert!(!change(&path, HooksGoal::In).unwrap(), "they stand there");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let permission = &written["hooks"]["PermissionRequest"][0];
    assert_eq!(permission["matcher"], "*");
    assert_eq!(
        permission["hooks"][0]["command"],
        "'/opt/a b/hearken' hooks relay || true"
    );
    assert_eq!(permission["hooks"][0]["timeout"], 3600);
    assert!(change(&path, HooksGoal::Out).unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");

    std::fs::write(&path, OWN).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(change(&path, HooksGoal::In).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    let at = |what: &str| {
        text.find(what)
            .unwrap_or_else(|| panic!("{what} in {text}"))
    };
    let places = [
        "model",
        "Stop",
        "PreToolUse",
        "/bin/own",
        "18446744073709551615",
        "\"z\"",
        "\"b\"",
        "\"a\"",
    ]
    .map(at);
    assert!(places.is_sorted(), "the order is the person's: {text}");
    assert!(!change(&path, HooksGoal::In).unwrap());
    assert!(change(&path, HooksGoal::Out).unwrap());
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        OWN,
        "byte for byte"
    );
    #[cfg(unix)]
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let names: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing lies beside it");
}

#[test]
fn a_hearken_that_was_elsewhere_is_replaced_and_a_group_of_others_keeps_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let old = r#"{"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "/old/hearken hooks relay"}, {"type": "command", "command": "own"}]}]}}"#;
    std::fs::write(&path, old).unwrap();
    assert!(change(&path, HooksGoal::In).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        !text.contains("/old/") && text.contains("\"own\""),
        "{text}"
    );
    assert!(change(&path, HooksGoal::Out).unwrap());
    let left: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        left,
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "own"}]}]}})
    );
}

#[test]
fn what_can_not_be_read_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    for (text, wanted) in [
        ("{\n\"a\": 1,\n}", "line 3"),
        ("[]", "{ }"),
        (r#"{"hooks": []}"#, "hooks"),
        (r#"{"hooks": {"Stop": {}}}"#, "hooks.Stop"),
    ] {
        std::fs::write(&path, text).unwrap();
        for way in [HooksGoal::In, HooksGoal::Out] {
            assert_eq!(change(&path, way).unwrap_err().to_string(), wanted);
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    // A version that another program writes in between stays.
    std::fs::write(&path, "{}").unwrap();
    let late = PlannedChange::of(
        &path,
        HooksGoal::In,
        HookCommand {
            agent: HookedAgent::Claude,
            program: Path::new(PROGRAM),
        },
    )
    .unwrap()
    .unwrap();
    std::fs::write(&path, "{\"new\": 1}").unwrap();
    assert!(matches!(late.make(), Err(UnchangedReason::Meanwhile)));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"new\": 1}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (
        folder.path().join("real.json"),
        folder.path().join("settings.json"),
    );
    std::fs::write(&real, "{}").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert!(change(&link, HooksGoal::In).unwrap());
    assert!(link.is_symlink());
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .contains("hooks relay")
    );
    std::fs::remove_file(&real).unwrap();
    assert!(change(&link, HooksGoal::In).is_err(), "it leads nowhere");
}

#[test]
fn only_what_runs_the_relay_and_nothing_else_is_ours() {
    let program = Path::new("/opt/renamed");
    for (command, ours) in [
        ("/a/hearken hooks relay", true),
        ("/a/hearken hooks relay || true", true),
        ("'/a b/hearken' hooks relay || true", true),
        ("hearken hooks relay", true),
        ("/opt/renamed hooks relay || true", true),
        ("/opt/other hooks relay || true", false),
        ("cd / && hearken hooks relay", false),
        ("echo hearken hooks relay", false),
        ("hearken hooks relay; rm x", false),
        ("hearken hooks install", false),
    ] {
        assert_eq!(
            is_ours(&json!({"type": "command", "command": command}), program),
            ours,
            "{command}"
        );
    }
}

/// All other content of a file stays unchanged, however it is written.
#[test]
fn everything_else_stays_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    for text in [
        "{}",
        "{ }\n\n",
        "{\"a\":1.0e2,\"a\":2}",
        "\r\n{\r\n\t\"\\u0061\" : [ 1,\t2 ] ,\r\n\t\"hooks\":{ }\r\n}\r\n",
        "{\"hooks\":{\"Stop\":[]},\"z\":{\"y\":1,\"y\":2}}",
        "{\n    \"hooks\": {\n        \"Other\": [ { \"hooks\": [ ] } ]\n    }\n}",
        OWN,
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(change(&path, HooksGoal::In).unwrap(), "{text}");
        let with = std::fs::read_to_string(&path).unwrap();
        let read: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(
            read["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 10,
            "{with}"
        );
        assert!(!change(&path, HooksGoal::In).unwrap(), "{with}");
        assert!(change(&path, HooksGoal::Out).unwrap(), "{with}");
        let left = std::fs::read_to_string(&path).unwrap();
        let blank = |text: &str| {
            text.chars()
                .filter(|c| !c.is_whitespace())
                .collect::<String>()
        };
        // An empty list of hooks that was there before may be removed with ours.
        let wanted = blank(text)
            .replace(",\"hooks\":{}", "")
            .replace("\"Stop\":[]", "")
            .replace("\"hooks\":{},", "");
        assert_eq!(blank(&left), wanted, "{text}");
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    for text in [
        "{\"hooks\":{},\"hooks\":{}}",
        "{\"hooks\":{\"Stop\":[],\"Stop\":[]}}",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[],\"hooks\":[]}]}}",
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(
            matches!(change(&path, HooksGoal::In), Err(UnchangedReason::Twice(_))),
            "{text}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[cfg(unix)]
#[test]
fn what_nobody_is_to_write_and_what_has_other_names_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, OWN).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(
        change(&path, HooksGoal::In),
        Err(UnchangedReason::ReadOnly)
    ));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let other = folder.path().join("other.json");
    std::fs::hard_link(&path, &other).unwrap();
    assert!(matches!(
        change(&path, HooksGoal::In),
        Err(UnchangedReason::OtherNames)
    ));
    for path in [&path, &other] {
        assert_eq!(std::fs::read_to_string(path).unwrap(), OWN);
    }
}

/// Another program writes to the same file at the same moment, in place or by replacing it: its version is there in the
/// end, or beside ours, and is never lost.
#[cfg(target_os = "linux")]
#[test]
fn no_write_at_the_same_moment_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    for round in 0..60_u64 {
        std::fs::write(&path, OWN).unwrap();
        let theirs = format!("{{\"theirs\": {round}}}");
        std::thread::scope(|scope| {
            let (path, theirs) = (&path, &theirs);
            let folder = folder.path();
            scope.spawn(move || {
                let rest = std::time::Duration::from_micros(round * 37 % 2500);
                std::thread::sleep(rest);
                if round % 2 == 0 {
                    std::fs::write(path, theirs).unwrap();
                } else {
                    let new = folder.join("new");
                    std::fs::write(&new, theirs).unwrap();
                    std::fs::rename(&new, path).unwrap();
                }
            });
            // Whether ours was added or reported as changed meanwhile is chance.
            let _ = change(path, HooksGoal::In);
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.contains(theirs.trim_matches(['{', '}'])),
            "round {round}: {text}"
        );
    }
}
