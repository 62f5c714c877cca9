//! Claude Code's hooks as whole programs: a scripted caller runs `hearken hooks relay` with the bodies that Claude Code
//! 2.1.197 was observed to send, against a real `hearken watch claude`.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::support::child::{Hearken, command};
use crate::support::hook_relays::{HooksFolder, STATE, ended, printed};

/// The variable for the person's folder.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

impl HooksFolder {
    /// Starts a listening hearken, and waits until it is ready.
    fn watch(&self) -> Hearken {
        let mut command = command(&["watch", "claude", "--face", "linear", "--voice", "none"]);
        let mut hearken = Hearken::spawn(command.env(STATE, self.path()));
        hearken.wait("Connected", |line| line.contains("Connected"));
        hearken
    }

    /// Starts a hook with a message.
    fn hook(&self, message: &Value) -> Child {
        self.relay(&[], message)
    }

    /// Runs a hook to its end, and checks that it prints nothing.
    fn says(&self, message: &Value) {
        let output = ended(self.hook(message));
        assert_eq!(printed(&output), "", "{message}");
    }
}

fn decision(child: Child) -> Value {
    let printed = printed(&ended(child));
    let said: Value =
        serde_json::from_str(&printed).unwrap_or_else(|_| panic!("no decision: {printed:?}"));
    assert_eq!(
        said["hookSpecificOutput"]["hookEventName"],
        "PermissionRequest"
    );
    said["hookSpecificOutput"]["decision"].clone()
}

fn message(session: &str, event: &str, mut more: Value) -> Value {
    more["session_id"] = session.into();
    more["transcript_path"] = "/tmp/x.jsonl".into();
    more["cwd"] = format!("/work/{session}").into();
    more["prompt_id"] = "b2b7ac7f-2fa9-4503-8f7a-c089458539ab".into();
    more["permission_mode"] = "default".into();
    more["hook_event_name"] = event.into();
    more
}

fn prompted(session: &str) -> Value {
    message(
        session,
        "UserPromptSubmit",
        json!({"prompt": format!("make a file for {session}")}),
    )
}

fn calls(session: &str, event: &str, file: &str) -> Value {
    let mut more = json!({"tool_name": "Bash", "effort": {"level": "high"},
        "tool_input": {"command": format!("touch {file}"), "description": "Makes a file"}});
    match event {
        "PermissionRequest" => {
            more["permission_suggestions"] = json!([
                {"type": "addDirectories", "directories": ["/tmp/h/work"], "destination": "session"},
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
        }
        "PostToolUse" => {
            more["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": true});
            more["tool_use_id"] = format!("toolu_{file}").into();
        }
        _ => more["tool_use_id"] = format!("toolu_{file}").into(),
    }
    message(session, event, more)
}

fn stops(session: &str, words: &str) -> Value {
    message(
        session,
        "Stop",
        json!({"stop_hook_active": false, "last_assistant_message": words, "background_tasks": [], "session_crons": []}),
    )
}

#[test]
fn a_permission_is_asked_accepted_in_two_steps_and_rejected_with_a_reason() {
    let place = HooksFolder::new();
    let mut hearken = place.watch();
    place.says(&message(
        "a",
        "SessionStart",
        json!({"source": "startup", "model": "m"}),
    ));
    hearken.wait("the beginning", |line| {
        phrase!("claude.begins", agent = "Claude Code", folder = "a").is_in(line)
    });
    place.says(&prompted("a"));
    place.says(&calls("a", "PreToolUse", "x.txt"));
    let hook = place.hook(&calls("a", "PermissionRequest", "x.txt"));
    hearken.wait("the command", |line| line.contains("touch x.txt"));
    let keys = hearken.wait("the keys", |line| line.contains("y 1"));
    assert!(
        phrase!(
            "claude.option.free_mode",
            place = "for this conversation",
            what = "acceptEdits"
        )
        .is_in(&keys),
        "{keys}"
    );
    hearken.say("y 1");
    hearken.wait("the second step", |line| {
        phrase!("reply.second_step.*", n = 1).is_in(line)
    });
    hearken.say("c 1");
    hearken.wait("what became of it", |line| line.contains("Sent."));
    assert_eq!(decision(hook), json!({"behavior": "allow"}));
    place.says(&calls("a", "PostToolUse", "x.txt"));
    hearken.wait("the result", |line| line.contains("Done: touch x.txt"));
    let hook = place.hook(&calls("a", "PermissionRequest", "y.txt"));
    hearken.wait("the keys", |line| line.contains("y 2"));
    hearken.say("r #2 not that file");
    assert_eq!(
        decision(hook),
        json!({"behavior": "deny", "message": "not that file"})
    );
    place.says(&stops("a", "Then not."));
    hearken.wait("the answer", |line| line.contains("Then not."));
    hearken.wait("the end", |line| line.contains("Finished"));
    // A third: the wider permission is chosen by its number, and needs a second step.
    let hook = place.hook(&calls("a", "PermissionRequest", "z.txt"));
    hearken.wait("the keys", |line| line.contains("y 3"));
    hearken.say("o 3 2");
    hearken.wait("the second step", |line| line.contains("c 3"));
    hearken.say("c 3");
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    assert_eq!(
        decision(hook),
        json!({"behavior": "allow", "updatedPermissions": [mode]})
    );
    // It can't be told anything, and says so.
    hearken.say("> more");
    hearken.wait("that", |line| line.contains("can't be told what to do"));
    hearken.say("stop");
    hearken.wait("that", |line| line.contains("can't be stopped from here"));
    hearken.say("q");
    let (code, errors, _) = hearken.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn what_a_tool_server_asks_is_filled_in_or_handed_back() {
    let place = HooksFolder::new();
    let mut hearken = place.watch();
    place.says(&prompted("a"));
    let schema = json!({"type": "object", "required": ["port"], "properties": {
        "port": {"type": "integer", "title": "Port"}}});
    let form = |message: &str| {
        message_of_server(
            "a",
            json!({"message": message, "mode": "form", "requested_schema": schema}),
        )
    };
    let hook = place.hook(&form("Where to?"));
    hearken.wait("the question", |line| {
        line.contains("deploy asks: Where to? Port.")
    });
    hearken.say("a #1 8080");
    hearken.wait("the whole form", |line| {
        line.contains("Is this right? Port: 8080")
    });
    hearken.say("o 2 1");
    let said = printed(&ended(hook));
    let said: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said:?}"));
    assert_eq!(
        said["hookSpecificOutput"],
        json!({"hookEventName": "Elicitation", "action": "accept", "content": {"port": 8080}})
    );
    hearken.wait("that it has it", |line| {
        phrase!("acp.form.sent").is_in(line)
    });

    let hook = place.hook(&form("And then?"));
    hearken.wait("the question", |line| line.contains("And then?"));
    hearken.kill();
    assert_eq!(printed(&ended(hook)), "", "its own terminal asks now");
}

fn message_of_server(session: &str, mut more: Value) -> Value {
    more["mcp_server_name"] = "deploy".into();
    message(session, "Elicitation", more)
}

#[test]
fn two_at_once_are_asked_apart_and_each_hook_gets_its_own_answer() {
    let place = HooksFolder::new();
    let mut hearken = place.watch();
    for session in ["a", "b"] {
        place.says(&prompted(session));
    }
    let first = place.hook(&calls("a", "PermissionRequest", "x.txt"));
    hearken.wait("the first", |line| line.contains("touch x.txt"));
    let second = place.hook(&calls("b", "PermissionRequest", "y.txt"));
    hearken.wait("the second", |line| line.contains("n 2"));
    hearken.say("n 2");
    assert_eq!(decision(second), json!({"behavior": "deny"}));
    hearken.say("n 1");
    assert_eq!(decision(first), json!({"behavior": "deny"}));
}

#[test]
fn what_was_decided_in_its_own_terminal_or_given_up_there_is_told() {
    let place = HooksFolder::new();
    let mut hearken = place.watch();
    place.says(&prompted("a"));
    place.says(&calls("a", "PreToolUse", "x.txt"));
    let hook = place.hook(&calls("a", "PermissionRequest", "x.txt"));
    hearken.wait("the question", |line| line.contains("y 1"));
    place.says(&calls("a", "PostToolUse", "x.txt"));
    hearken.wait("that", |line| {
        phrase!("question.closed.accepted", n = 1).is_in(line)
    });
    assert_eq!(printed(&ended(hook)), "", "nobody decided here");
    let mut hook = place.hook(&calls("a", "PermissionRequest", "y.txt"));
    hearken.wait("the question", |line| line.contains("y 2"));
    hook.kill().unwrap();
    hook.wait().unwrap();
    hearken.wait("that", |line| phrase!("claude.given_up").is_in(line));
    hearken.say("y 2");
    hearken.wait("that nothing is open", |line| line.contains("hearken:"));
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn a_hearken_that_is_left_or_killed_while_a_hook_waits_decides_nothing() {
    for kills in [true, false] {
        let place = HooksFolder::new();
        let mut hearken = place.watch();
        place.says(&prompted("a"));
        let hook = place.hook(&calls("a", "PermissionRequest", "x.txt"));
        hearken.wait("the question", |line| line.contains("y 1"));
        match kills {
            true => hearken.kill(),
            false => {
                // A person who asks to leave learns what happens to the question.
                hearken.say("q");
                hearken.wait("what becomes of it", |line| {
                    phrase!("quit.default.open", n = 1).is_in(line)
                });
                #[cfg(unix)]
                hearken.signal(rustix::process::Signal::TERM);
                // That system has no request to end a program.
                #[cfg(windows)]
                hearken.say("q");
            }
        }
        let began = Instant::now();
        assert_eq!(printed(&ended(hook)), "");
        assert!(began.elapsed() < Duration::from_secs(8));
        drop(hearken);
        // There is no listener any more, whatever was left behind.
        let began = Instant::now();
        place.says(&calls("a", "PermissionRequest", "y.txt"));
        assert!(began.elapsed() < Duration::from_secs(2));
        assert_eq!(place.path().join("hearken/claude.json").exists(), kills);
        // The next one takes over.
        drop(place.watch());
    }
}

/// A hearken that hangs holds the agent up for a fifth of a second, and no longer.
#[test]
#[cfg(unix)]
fn a_hearken_that_hangs_costs_a_hook_200_ms() {
    let place = HooksFolder::new();
    let mut hearken = place.watch();
    place.says(&prompted("a"));
    hearken.signal(rustix::process::Signal::STOP);
    // A machine that is busy once is not busy three times in a row.
    let best = (0..3).map(|_| {
        let began = Instant::now();
        place.says(&stops("a", "done"));
        began.elapsed()
    });
    let best = best.min().unwrap();
    hearken.signal(rustix::process::Signal::CONT);
    assert!(best < Duration::from_millis(600), "{best:?}");
    hearken.wait("what came meanwhile", |line| line.contains("done"));
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn where_nobody_ever_listened_a_hook_ends_at_once_whatever_it_is_given() {
    let place = HooksFolder::new();
    let began = Instant::now();
    place.says(&calls("a", "PermissionRequest", "x.txt"));
    place.says(&json!("no message"));
    // Whatever the other arguments: an exit code of 2 would mean a refusal.
    let output = command(&["hooks", "relay", "--no-such-flag", "claude"])
        .output()
        .unwrap();
    assert_eq!(printed(&output), "");
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[test]
fn the_door_is_the_persons_alone_and_a_second_hearken_says_that_it_is_taken() {
    let place = HooksFolder::new();
    let mut hearken = place.watch();
    let door = place.path().join("hearken/claude.json");
    // Windows permissions are tested separately.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(door.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let said: Value = serde_json::from_str(&std::fs::read_to_string(&door).unwrap()).unwrap();
    assert_eq!(said["secret"].as_str().unwrap().len(), 32);
    let second = command(&["watch", "claude", "--face", "linear", "--voice", "none"])
        .env(STATE, place.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    let errors = String::from_utf8(second.stderr).unwrap();
    assert!(phrase!("call.hooks.taken").is_in(&errors), "{errors}");
    hearken.say("q");
    let (_, _, seen) = hearken.exit();
    assert!(!door.exists(), "it is taken away");
    let secret = said["secret"].as_str().unwrap();
    assert!(!seen.iter().any(|line| line.contains(secret)));
}

#[test]
fn hooks_are_shown_and_agreed_to_before_they_are_written() {
    let place = HooksFolder::new();
    let run = |arguments: &[&str]| {
        let output = command(arguments)
            .env(HOME, place.path())
            .env_remove("CLAUDE_CONFIG_DIR")
            .current_dir(place.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let both = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), both)
    };
    let file = place.path().join(".claude/settings.json");
    let (code, told) = run(&["hooks", "install", "claude"]);
    assert_eq!(code, Some(2));
    assert!(
        phrase!("hooks.in.plan").is_in(&told) && phrase!("call.hooks.yes").is_in(&told),
        "{told}"
    );
    assert!(!file.exists());
    for (arguments, words, stands) in [
        (
            &["hooks", "install", "claude", "--yes"][..],
            "Written.",
            true,
        ),
        (&["hooks", "install", "--project"], "already", true),
        (
            &["hooks", "uninstall", "claude", "--yes"],
            "Taken out.",
            false,
        ),
        (&["hooks", "uninstall"], "has no hearken hooks", false),
        (
            &["hooks", "install", "--project", "--yes"],
            "Written.",
            true,
        ),
    ] {
        let (code, told) = run(arguments);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains(words), "{told}");
        assert_eq!(
            std::fs::read_to_string(&file)
                .unwrap()
                .contains("hooks relay"),
            stands
        );
    }
    std::fs::write(&file, "{ broken").unwrap();
    let (code, told) = run(&["hooks", "install", "--yes"]);
    assert_eq!(code, Some(2));
    assert!(
        phrase!("call.hooks.no_json").is_in(&told) && told.contains("line 1"),
        "{told}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{ broken");
}

/// The other events that Claude Code 2.1.332 has, each with what its message adds.
fn other_events() -> Vec<(&'static str, Value)> {
    vec![
        ("SessionStart", json!({"source": "startup", "model": "m"})),
        ("Setup", json!({"trigger": "init"})),
        ("InstructionsLoaded", json!({"file_path": "/w/CLAUDE.md"})),
        ("UserPromptExpansion", json!({"prompt": "make it"})),
        (
            "MessageDisplay",
            json!({"turn_id": "t", "message_id": "m", "index": 0, "final": true, "delta": "I look."}),
        ),
        (
            "Notification",
            json!({"message": "Look here", "notification_type": "agent_needs_input"}),
        ),
        (
            "SubagentStart",
            json!({"agent_id": "h", "agent_type": "Explore"}),
        ),
        (
            "SubagentStop",
            json!({"agent_id": "h", "agent_type": "Explore"}),
        ),
        (
            "TaskCreated",
            json!({"task_id": "1", "task_subject": "Tidy up", "task_description": "x"}),
        ),
        (
            "TaskCompleted",
            json!({"task_id": "1", "task_subject": "Tidy up"}),
        ),
        (
            "TeammateIdle",
            json!({"teammate_name": "Ann", "team_name": "x"}),
        ),
        (
            "PreModelSwitch",
            json!({"from_model": "a", "to_model": "b"}),
        ),
        (
            "PostModelSwitch",
            json!({"from_model": "a", "to_model": "b", "source": "command"}),
        ),
        ("PostToolBatch", json!({"tool_calls": [{}, {}]})),
        ("PreCompact", json!({"trigger": "auto"})),
        ("PostCompact", json!({"trigger": "auto"})),
        ("ConfigChange", json!({"source": "user_settings"})),
        ("CwdChanged", json!({"old_cwd": "/w", "new_cwd": "/x"})),
        ("DirectoryAdded", json!({"path": "/y"})),
        ("FileChanged", json!({"file_path": "/w/a"})),
        ("WorktreeCreate", json!({"name": "x"})),
        ("WorktreeRemove", json!({"worktree_path": "/x"})),
        ("PreSkillShellCommand", json!({"command": "ls"})),
        (
            "ElicitationResult",
            json!({"mcp_server_name": "deploy", "action": "accept"}),
        ),
        ("StopFailure", json!({"error": "It broke."})),
        ("SessionEnd", json!({"reason": "other"})),
    ]
}

#[test]
fn each_event_of_claude_code_is_known_and_another_is_skipped_and_counted() {
    let place = HooksFolder::new();
    let arguments = [
        "watch",
        "claude",
        "--face",
        "json",
        "--voice",
        "none",
        "--verbosity",
        "detailed",
    ];
    let mut command = command(&arguments);
    let mut hearken = Hearken::spawn(command.env(STATE, place.path()));
    hearken.announced("connection", phrase!("link.connected.*"));
    for (event, more) in other_events() {
        place.says(&message("a", event, more));
    }
    for words in [
        "Claude Code begins in a.",
        "Claude Code in a says: Look here",
        "A helper of Claude Code begins: Explore",
        "A helper of Claude Code is done: Explore",
        "New task of Claude Code in a: Tidy up",
        "Task of Claude Code done in a: Tidy up",
        "A teammate of Claude Code in a is idle: Ann",
        "Claude Code in a works with b now.",
    ] {
        hearken.announced("connection", words);
    }
    // On a slow machine it is said before the last of those.
    if !hearken.seen().iter().any(|line| line.contains("I look.")) {
        hearken.announced("output", "I look.");
    }
    hearken.announced("session_errored", "It broke.");
    // The rest of its 34 are heard in the other tests.
    let unknown = "it sent something that hearken does not know: ";
    let known = hearken.seen().iter().all(|line| !line.contains(unknown));
    assert!(known, "{:?}", hearken.seen());
    place.says(&message("a", "Brand new", json!({})));
    hearken.announced("connection", &format!("{unknown}Brand new."));
    place.says(&prompted("a"));
    hearken.announced("session_started", "started");
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}
