//! From the question to the disk: an agent that executes exactly the call as it is when the answer arrives, and a
//! person who accepts what was announced. No file changes that was not announced before.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::support::child::Hearken;
use crate::support::stand_in::{ProgramPipes, StandIn};

/// What an agent asks, and how it changes while the question is open.
#[derive(Clone)]
struct ShiftingScene {
    /// The call's input when the question is sent, and its later changes, each after a number of milliseconds.
    inputs: Vec<(u64, Value)>,
    /// What it runs once accepted, if that is something else again.
    instead: Option<Value>,
}

/// Files that exist beforehand.
const FILES: [&str; 4] = ["src/main.rs", "src/lib.rs", "notes.txt", "old notes.txt"];

/// Runs all input of a call, like an agent that treats every input as a command.
fn execute(input: &Value, folder: &Path) {
    let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
    let args: Vec<&str> = input["args"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let command = [text("command"), args.join(" ")].join(" ");
    for command in [command, text("cmd"), text("script")] {
        let ran = Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder)
            .output();
        assert!(ran.is_ok());
    }
}

/// Plays a scene at each prompt.
fn play(mut talk: ProgramPipes, scene: &ShiftingScene, folder: &Path) {
    let rpc = |id: &Value, result: Value| {
        json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
    };
    let update = |update: Value| {
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}).to_string()
    };
    while let Some(line) = talk.hear() {
        let message: Value = serde_json::from_str(&line).unwrap();
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") => talk.say(&rpc(
                id,
                json!({"protocolVersion": 1, "agentCapabilities": {}}),
            )),
            Some("session/new") => talk.say(&rpc(id, json!({"sessionId": "s"}))),
            Some("session/prompt") => {
                let mut inputs = scene.inputs.iter();
                let (_, mut input) = inputs.next().unwrap().clone();
                let call = json!({"toolCallId": "c1", "kind": "execute", "title": "bash", "rawInput": input});
                let option =
                    |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
                let options = [option("once", "allow_once"), option("no", "reject_once")];
                talk.say(
                    &json!({"jsonrpc": "2.0", "id": "p", "method": "session/request_permission",
                    "params": {"sessionId": "s", "toolCall": call, "options": options}})
                    .to_string(),
                );
                let answer = loop {
                    let Some((after, next)) = inputs.next() else {
                        break talk.hear();
                    };
                    if let Some(answer) = talk.hear_for(Duration::from_millis(*after)) {
                        break Some(answer);
                    }
                    input = next.clone();
                    talk.say(&update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "rawInput": input})));
                };
                let Some(answer) = answer else { break };
                let answer: Value = serde_json::from_str(&answer).unwrap();
                let accepted = answer["result"]["outcome"]["optionId"] == "once";
                if accepted {
                    input = scene.instead.clone().unwrap_or(input);
                    talk.say(&update(
                        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1",
                        "status": "in_progress", "rawInput": input}),
                    ));
                    execute(&input, folder);
                }
                let status = if accepted { "completed" } else { "failed" };
                talk.say(&update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": status})));
                talk.say(&rpc(id, json!({"stopReason": "end_turn"})));
            }
            _ => {}
        }
    }
    talk.end();
}

/// Returns the contents of a folder, by path.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = contents(&path).into_iter();
            found.extend(inner.map(|(path, text)| (format!("{name}/{path}"), text)));
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

/// Plays a scene to a person who follows `keys`: each pair waits for words, and types a line. Returns the files that
/// changed, what was announced before the answer was sent, and everything after it.
fn answer(scene: ShiftingScene, keys: &[(&str, &str)]) -> (Vec<String>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file).unwrap();
    }
    let before = contents(folder.path());
    let stand_in = StandIn::new("ready", 0);
    let place = folder.path().to_owned();
    stand_in.plays(move |talk| play(talk, &scene, &place));
    let path = folder.path().to_str().unwrap();
    let mut arguments = vec![
        "run", "--face", "linear", "--voice", "none", "--cwd", path, "--prompt", "go", "--",
    ];
    let call = stand_in.call();
    arguments.extend(call.iter().map(String::as_str));
    let mut hearken = Hearken::start(&arguments);
    for (words, line) in keys {
        hearken.wait(words, |it| it.contains(words));
        hearken.say(line);
    }
    hearken.wait("the end", |line| line.starts_with("Session: Finished"));
    // It keeps no conversations, so leaving is asked about.
    hearken.say("q");
    hearken.say("q");
    let (_, _, seen) = hearken.exit();
    let after = contents(folder.path());
    let names = before.keys().chain(after.keys());
    let changed: std::collections::BTreeSet<&String> = names
        .filter(|name| before.get(*name) != after.get(*name))
        .collect();
    let changed = changed.into_iter().cloned().collect();
    let sent = seen
        .iter()
        .position(|line| line.contains("Accepting") || line.contains("Rejecting"));
    let (announced, rest) = seen.split_at(sent.unwrap());
    (changed, announced.join("\n"), rest.join("\n"))
}

fn still(input: Value) -> ShiftingScene {
    ShiftingScene {
        inputs: vec![(0, input)],
        instead: None,
    }
}

/// Returns whether a changed file, or the folder that it is in, was announced by name.
fn was_announced(file: &str, announced: &str) -> bool {
    let folder = file.split('/').next().unwrap_or_default();
    announced.contains(file) || (folder != file && announced.contains(folder))
}

#[test]
fn what_is_accepted_runs_and_no_file_changes_that_was_not_announced() {
    let accept = [
        ("y 1 then c 1 accepts", "y 1"),
        ("Type c 1 to confirm", "c 1"),
    ];
    for (input, wanted) in [
        (json!({"command": "touch new.txt"}), vec!["new.txt"]),
        (
            json!({"command": "# list what is there\nrm -rf src"}),
            vec!["src/lib.rs", "src/main.rs"],
        ),
        (
            json!({"command": "rm 'old notes.txt'"}),
            vec!["old notes.txt"],
        ),
        (
            json!({"command": "find", "args": ["src", "-delete"]}),
            vec!["src/lib.rs", "src/main.rs"],
        ),
        (
            json!({"command": "cat > notes.txt <<'END'\nrm -rf src\nEND"}),
            vec!["notes.txt"],
        ),
    ] {
        let (changed, announced, _) = answer(still(input.clone()), &accept);
        assert_eq!(changed, wanted, "{input}");
        for file in &changed {
            assert!(
                was_announced(file, &announced),
                "{input}: {file} in\n{announced}"
            );
        }
    }
}

#[test]
fn an_input_that_no_question_says_is_counted_and_stands_in_its_details() {
    let keys = [("1 more detail: cmd", "d 1"), ("cmd: rm -rf src", "n 1")];
    let (changed, announced, _) =
        answer(still(json!({"command": "ls", "cmd": "rm -rf src"})), &keys);
    assert_eq!(changed, [""; 0]);
    assert!(
        phrase!("found.tree", what = "src").is_in(&announced),
        "{announced}"
    );
}

#[test]
fn a_call_that_changes_while_its_question_is_open_is_asked_again_and_the_old_answer_runs_nothing() {
    // The command arrives after the question, before the first step and between the two.
    for (first, after) in [
        (json!({}), 300),
        (json!({"command": "ls -la"}), 300),
        (json!({"command": "ls -la"}), 1500),
    ] {
        let scene = ShiftingScene {
            inputs: vec![
                (0, first.clone()),
                (after, json!({"command": "rm -rf src"})),
            ],
            instead: None,
        };
        let first_keys = match (first["command"].as_str(), after) {
            // A call without content can only be rejected.
            (None, _) => vec![(
                "It does not say what it would do, so it can only be rejected",
                "y 1",
            )],
            (Some(_), 300) => vec![("accepts, n 1", "y 1")],
            (Some(_), _) => vec![("accepts, n 1", "y 1"), ("Type c 1 to confirm", "")],
        };
        let then = [("It has changed", "c 1"), ("d 2", "n 2")];
        let keys: Vec<(&str, &str)> = first_keys.into_iter().chain(then).collect();
        let (changed, announced, rest) = answer(scene, &keys);
        assert_eq!(changed, [""; 0], "{first} after {after}");
        assert!(announced.contains("rm -rf src"), "{announced}");
        assert!(!rest.contains("Accepting"), "{rest}");
    }
}

#[test]
fn a_call_that_runs_with_something_else_than_was_accepted_is_a_danger() {
    let scene = ShiftingScene {
        inputs: vec![(0, json!({"command": "touch new.txt"}))],
        instead: Some(json!({"command": "touch other.txt"})),
    };
    let keys = [
        ("y 1 then c 1 accepts", "y 1"),
        ("Type c 1 to confirm", "c 1"),
        ("Danger: Type x to leave this agent", ""),
    ];
    let (changed, _, rest) = answer(scene, &keys);
    assert_eq!(changed, ["other.txt"]);
    let danger = "Danger: execute does something other than what you accepted in question 1:\nagent asks: touch other.txt\n";
    assert!(rest.contains(danger), "{rest}");
}
