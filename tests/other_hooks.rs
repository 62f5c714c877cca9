//! The hooks of the other programs as whole programs: a scripted caller runs `hearken hooks relay AGENT` with bodies of
//! the forms that Codex and Copilot send, beside a listening hearken.

use std::process::Child;
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::support::child::{Hearken, command};
use crate::support::hook_relays::{HooksFolder, STATE, ended_within, printed};

/// How long a hook may take to end where it should end at once.
const SOON: Duration = Duration::from_secs(8);

impl HooksFolder {
    /// Starts a listening hearken that hands questions back after 10 seconds, the shortest time.
    fn watch_briefly(&self, word: &str) -> Hearken {
        let config = self.path().join("config.toml");
        let settings = "[links]\nhand_back_seconds = 10\ngemini_waits = true\n";
        std::fs::write(&config, settings).unwrap();
        let config = config.to_str().unwrap();
        let watch = [
            "watch", word, "--face", "linear", "--voice", "none", "--config", config,
        ];
        let mut hearken = Hearken::spawn(command(&watch).env(STATE, self.path()));
        hearken.wait("Connected", |line| line.contains("Connected"));
        hearken
    }

    /// Runs a hook to its end, and checks that it prints nothing.
    fn relays(&self, sender: &[&str], body: &Value) {
        assert_eq!(decided(self.relay(sender, body), SOON), "");
    }
}

/// Returns what a hook printed, which must end within a time.
fn decided(child: Child, within: Duration) -> String {
    printed(&ended_within(child, within))
}

fn codex(event: &str, mut more: Value) -> Value {
    let own = json!({"session_id": "01a21d0c", "turn_id": "t", "cwd": "/work/a", "hook_event_name": event, "model": "m",
        "permission_mode": "default"});
    more.as_object_mut()
        .unwrap()
        .extend(own.as_object().unwrap().clone());
    more
}

fn codex_asks(file: &str) -> Value {
    let input = json!({"command": format!("touch {file}"), "description": "Needed"});
    codex(
        "PermissionRequest",
        json!({"tool_name": "Bash", "tool_input": input}),
    )
}

#[test]
fn codex_and_copilot_are_asked_and_answered_by_one_listener() {
    let place = HooksFolder::new();
    let mut hearken = place.watch_briefly("hooks");
    place.relays(
        &["codex"],
        &codex("UserPromptSubmit", json!({"prompt": "make it"})),
    );
    let hook = place.relay(&["codex"], &codex_asks("a.txt"));
    hearken.wait("that it is open only here", |line| {
        phrase!("hooks.only_here", agent = "Codex").is_in(line)
    });
    hearken.wait("the question", |line| line.contains("y 1"));
    hearken.say("r not there");
    let said: Value = serde_json::from_str(&decided(hook, SOON)).unwrap();
    let decision = json!({"behavior": "deny", "message": "not there"});
    assert_eq!(
        said,
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
    );
    let copilot = |mut more: Value| {
        more["sessionId"] = "3e719f66".into();
        more["cwd"] = "/work/b".into();
        more
    };
    let sender = ["copilot", "userPromptSubmitted"];
    place.relays(&sender, &copilot(json!({"prompt": "make it"})));
    let asks = json!({"hookName": "permissionRequest", "toolName": "bash", "toolInput": {"command": "touch b.txt"},
        "permissionSuggestions": []});
    let hook = place.relay(&["copilot", "permissionRequest"], &copilot(asks));
    hearken.wait("the other question", |line| line.contains("y 2"));
    hearken.say("y 2");
    hearken.wait("the second step", |line| {
        phrase!("reply.second_step.*", n = 2).is_in(line)
    });
    hearken.say("c 2");
    assert_eq!(decided(hook, SOON), r#"{"behavior":"allow"}"#);
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn a_question_goes_back_to_its_terminal_by_a_key_in_time_and_when_hearken_is_killed() {
    let place = HooksFolder::new();
    let mut hearken = place.watch_briefly("hooks");
    place.relays(
        &["codex"],
        &codex("UserPromptSubmit", json!({"prompt": "make it"})),
    );
    let hook = place.relay(&["codex"], &codex_asks("a.txt"));
    hearken.wait("the question", |line| line.contains("y 1"));
    hearken.say("o 1 1");
    hearken.wait("the second step", |line| {
        phrase!("reply.second_step.*", n = 1).is_in(line)
    });
    hearken.say("c 1");
    assert_eq!(decided(hook, SOON), "");
    hearken.wait("where it is asked", |line| {
        phrase!("hooks.given_back", agent = "Codex").is_in(line)
    });
    let began = Instant::now();
    let hook = place.relay(&["codex"], &codex_asks("b.txt"));
    assert_eq!(decided(hook, Duration::from_secs(20)), "");
    assert!(
        began.elapsed() >= Duration::from_secs(9),
        "{:?}",
        began.elapsed()
    );
    hearken.wait("why", |line| {
        phrase!("hooks.handed_back", agent = "Codex").is_in(line)
    });
    let hook = place.relay(&["codex"], &codex_asks("c.txt"));
    hearken.wait("the last question", |line| line.contains("y 3"));
    hearken.kill();
    assert_eq!(decided(hook, SOON), "");
}

#[test]
fn gemini_waits_before_a_call_that_can_be_rejected_or_left_to_it() {
    let place = HooksFolder::new();
    let mut hearken = place.watch_briefly("gemini");
    let body = |event: &str, mut more: Value| {
        more["session_id"] = "5".into();
        more["cwd"] = "/work/a".into();
        more["hook_event_name"] = event.into();
        more
    };
    let sender = ["gemini"];
    place.relays(&sender, &body("BeforeAgent", json!({"prompt": "make it"})));
    let call = |tool: &str, input: Value| {
        body(
            "BeforeTool",
            json!({"tool_name": tool, "tool_input": input}),
        )
    };
    place.relays(&sender, &call("read_file", json!({"file_path": "/a"})));
    let touch = json!({"command": "touch a.txt"});
    let hook = place.relay(&sender, &call("run_shell_command", touch));
    hearken.wait("what it means", |line| phrase!("hooks.waits").is_in(line));
    hearken.wait("the question", |line| line.contains("n 1"));
    hearken.say("r not there");
    let said = decided(hook, SOON);
    assert_eq!(said, r#"{"decision":"deny","reason":"not there"}"#);
    let touch = json!({"command": "touch b.txt"});
    let hook = place.relay(&sender, &call("run_shell_command", touch));
    hearken.wait("the next question", |line| line.contains("n 2"));
    hearken.say("y 2");
    hearken.say("o 2 1");
    hearken.wait("the second step", |line| {
        phrase!("reply.second_step.*", n = 2).is_in(line)
    });
    hearken.say("c 2");
    assert_eq!(decided(hook, SOON), "");
    hearken.wait("that it goes on", |line| {
        line.contains("Gemini CLI goes on")
    });
    hearken.say("q");
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

/// A hearken that hangs can't hand a question back, so the relay does.
#[test]
#[cfg(unix)]
fn a_question_goes_back_to_its_terminal_though_hearken_hangs() {
    let place = HooksFolder::new();
    let mut hearken = place.watch_briefly("hooks");
    place.relays(
        &["codex"],
        &codex("UserPromptSubmit", json!({"prompt": "make it"})),
    );
    let hook = place.relay(&["codex"], &codex_asks("a.txt"));
    hearken.wait("the question", |line| line.contains("y 1"));
    hearken.signal(rustix::process::Signal::STOP);
    assert_eq!(decided(hook, Duration::from_secs(25)), "");
    hearken.signal(rustix::process::Signal::CONT);
    hearken.say("q");
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn hooks_are_written_where_each_program_looks_and_removed_again() {
    let home = tempfile::tempdir().unwrap();
    let hooks = |words: &[&str]| {
        let mut all = vec!["hooks"];
        all.extend(words);
        all.push("--yes");
        let mut command = command(&all);
        command
            .env("HOME", home.path())
            .env("USERPROFILE", home.path());
        for moved in ["CODEX_HOME", "COPILOT_HOME", "QWEN_HOME"] {
            command.env_remove(moved);
        }
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for (agent, file, remark) in [
        (
            "codex",
            ".codex/hooks.json",
            "Codex asks once whether to trust them",
        ),
        (
            "copilot",
            ".copilot/hooks/hearken.json",
            "Copilot CLI shows no question of its own",
        ),
        (
            "qwen",
            ".qwen/settings.json",
            "Qwen Code shows no question of its own",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "Gemini's hooks can't allow anything",
        ),
    ] {
        let path = home.path().join(file);
        let (code, said, errors) = hooks(&["install", agent]);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{agent}");
        assert!(
            said.contains(remark) && phrase!("hooks.in.done").is_in(&said),
            "{said}"
        );
        let text = std::fs::read_to_string(&path).unwrap();
        let command = format!("hooks relay {agent}");
        assert!(text.contains(&command), "{text}");
        assert!(hooks(&["install", agent]).1.contains("already"), "{agent}");
        assert_eq!(hooks(&["uninstall", agent]).0, Some(0));
        let left = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(!left.contains("hearken hooks"), "{left}");
        assert_eq!(
            path.exists(),
            agent != "copilot",
            "a file of ours alone goes"
        );
    }
    let (code, _, errors) = hooks(&["install", "codex", "--project"]);
    assert_eq!(code, Some(2));
    assert!(
        phrase!("call.hooks.no_project", agent = "Codex").is_in(&errors),
        "{errors}"
    );
}
