//! `hearken mcp` as a whole program: a scripted agent calls its tools and uses its channel, beside a `hearken watch
//! hooks` whose person answers by lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::child::{Hearken, command};
use crate::support::hook_relays::{HooksFolder, STATE, ended};

/// An agent and the tool server that it started.
struct ScriptedAgent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
}

impl ScriptedAgent {
    /// Starts the tool server in a folder, and meets it.
    fn start(place: &HooksFolder, flags: &[&str]) -> Self {
        let mut child = command(&["mcp"])
            .args(flags)
            .env(STATE, place.path())
            .current_dir(place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut agent = Self {
            stdin: child.stdin.take(),
            child,
            lines,
            next: 0,
        };
        let about = json!({"name": "claude-code", "title": "Claude Code", "version": "2.1.332"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        let met = agent.asks("initialize", hello);
        assert_eq!(met["serverInfo"]["name"], "hearken");
        agent.says(json!({"method": "notifications/initialized"}));
        agent
    }

    fn says(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn hears(&self) -> Value {
        let heard = self.lines.recv_timeout(PATIENCE);
        heard.expect("the tool server says nothing")
    }

    /// Makes a request, and returns its id.
    fn begins(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.says(json!({"id": self.next, "method": method, "params": params}));
        self.next
    }

    fn asks(&mut self, method: &str, params: Value) -> Value {
        let id = self.begins(method, params);
        let heard = self.hears();
        assert_eq!(heard["id"], id, "{heard}");
        heard["result"].clone()
    }

    fn calls(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begins("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Returns the result of a call, and whether it is an error.
    fn result(&self, id: u64) -> (String, bool) {
        let heard = self.hears();
        assert_eq!(heard["id"], id, "{heard}");
        let result = &heard["result"];
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"] == true)
    }

    /// Closes the agent's end; the tool server must then end by itself.
    fn leaves(mut self) {
        self.stdin = None;
        let output = ended(self.child);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

fn watch(place: &HooksFolder) -> Hearken {
    let mut command = command(&["watch", "hooks", "--face", "json", "--voice", "none"]);
    let mut hearken = Hearken::spawn(command.env(STATE, place.path()));
    hearken.announced("connection", phrase!("link.connected.*"));
    hearken
}

#[test]
fn an_agent_speaks_and_asks_by_its_tools_and_each_answer_is_the_result() {
    let place = HooksFolder::new();
    let mut agent = ScriptedAgent::start(&place, &[]);
    let tools = agent.asks("tools/list", json!({}));
    let names = tools["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["announce", "ask"]);
    let id = agent.calls("announce", json!({"text": "hello"}));
    let (words, is_error) = agent.result(id);
    assert!(is_error, "{words}");
    assert!(
        words.starts_with("hearken is not running here; nobody listens"),
        "{words}"
    );

    // The same process finds a hearken that was started later.
    let mut hearken = watch(&place);
    let id = agent.calls("announce", json!({"text": "The build is **green**."}));
    assert_eq!(agent.result(id), ("Announced.".to_owned(), false));
    let said = hearken.announced("output", "The build is **green**.");
    assert_eq!(said["agent"], "Claude Code");

    let id = agent.calls("ask", json!({"question": "Which port?"}));
    let asked = hearken.announced("clarification", "Which port?");
    assert_eq!(asked["agent"], "Claude Code");
    hearken.say("a 8080");
    hearken.announced("reply", "8080");
    assert_eq!(agent.result(id), ("8080".to_owned(), false));

    let choices = json!({"question": "Which way?", "choices": ["left", "right"]});
    let id = agent.calls("ask", choices);
    hearken.announced("clarification", "Which way?");
    hearken.say("o 2 2");
    hearken.announced("reply", "right");
    assert_eq!(agent.result(id), ("right".to_owned(), false));

    let id = agent.calls("ask", json!({"question": "Whether?"}));
    hearken.announced("clarification", "Whether?");
    hearken.say("o 3 2");
    assert_eq!(
        agent.result(id),
        ("The person gives no answer.".to_owned(), false)
    );

    // It takes no prompts without a channel.
    hearken.say("> run the tests");
    hearken.announced("reply", "can't be told what to do");
    agent.leaves();
    hearken.announced("session_completed", phrase!("mcp.leaves"));
    hearken.say("q");
    let (code, errors, seen) = hearken.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let kinds = ["\"confirmation\"", "\"danger\"", "\"anomaly\"", "\"tool_"];
    let permits = |line: &&String| kinds.iter().any(|kind| line.contains(kind));
    assert_eq!(
        seen.iter().find(permits),
        None,
        "no answer permits anything"
    );
}

#[test]
fn a_cancelled_question_is_taken_back_and_one_that_is_left_open_ends_with_hearken() {
    let place = HooksFolder::new();
    let mut hearken = watch(&place);
    let mut agent = ScriptedAgent::start(&place, &[]);
    let id = agent.calls("ask", json!({"question": "Still?"}));
    hearken.announced("clarification", "Still?");
    agent.says(json!({"method": "notifications/cancelled", "params": {"requestId": id}}));
    hearken.wait("that it is over", |line| {
        phrase!("question.closed.taken_back", n = 1).is_in(line)
    });
    let id = agent.calls("ask", json!({"question": "And now?"}));
    hearken.announced("clarification", "And now?");
    hearken.say("q");
    hearken.announced("reply", "by its own default");
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
    let (words, is_error) = agent.result(id);
    assert_eq!(words, "hearken ended before anybody answered.");
    assert!(is_error);
    agent.leaves();
}

#[test]
fn a_prompt_goes_over_the_channel_and_a_relayed_permission_is_decided() {
    let place = HooksFolder::new();
    let mut hearken = watch(&place);
    let mut agent = ScriptedAgent::start(&place, &["--channel"]);
    hearken.announced("connection", phrase!("mcp.channel"));
    for prompt in ["run the tests", "then stop"] {
        hearken.say(&format!("> {prompt}"));
        hearken.announced("reply", phrase!("mcp.prompted"));
        let heard = agent.hears();
        assert_eq!(heard["method"], "notifications/claude/channel");
        assert_eq!(heard["params"], json!({"content": prompt}));
    }
    for (n, answer, behavior) in [(1, "y 1", "allow"), (2, "n 2", "deny")] {
        let call = json!({"command": format!("touch {n}.txt")}).to_string();
        let asks = json!({"request_id": format!("abcd{n}"), "tool_name": "Bash",
            "description": "Makes a file", "input_preview": call});
        agent.says(
            json!({"method": "notifications/claude/channel/permission_request", "params": asks}),
        );
        hearken.announced("confirmation", &format!("touch {n}.txt"));
        hearken.say(answer);
        if behavior == "allow" {
            hearken.announced("reply", phrase!("reply.second_step.*"));
            hearken.say("c 1");
        }
        let heard = agent.hears();
        assert_eq!(heard["method"], "notifications/claude/channel/permission");
        let wanted = json!({"request_id": format!("abcd{n}"), "behavior": behavior});
        assert_eq!(heard["params"], wanted);
    }
    agent.leaves();
    hearken.announced("connection", phrase!("mcp.channel.over"));
    hearken.say("q");
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0);
    assert!(
        !seen.iter().any(|line| phrase!("anomaly").is_in(line)),
        "{seen:?}"
    );
}

#[test]
fn a_call_that_a_hook_asks_about_is_one_question_and_the_hook_is_answered() {
    let place = HooksFolder::new();
    let mut hearken = watch(&place);
    let mut agent = ScriptedAgent::start(&place, &["--channel"]);
    let input = json!({"command": "touch a.txt", "description": "Makes a file"});
    let asks = json!({"request_id": "abcde", "tool_name": "Bash", "description": "Makes a file",
        "input_preview": input.to_string()});
    agent
        .says(json!({"method": "notifications/claude/channel/permission_request", "params": asks}));
    let hook = place.relay(
        &[],
        &json!({"session_id": "s", "cwd": place.path(), "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": input}),
    );
    hearken.announced("confirmation", "touch a.txt");
    hearken.say("n 1");
    let output = ended(hook);
    let decided = String::from_utf8(output.stdout).unwrap();
    assert!(decided.contains(r#""behavior":"deny""#), "{decided}");
    let pong = agent.asks("ping", json!({}));
    assert_eq!(pong, json!({}), "nothing came over the channel before");
    hearken.say("q");
    let (_, _, seen) = hearken.exit();
    assert!(
        !seen.iter().any(|line| line.contains("Question 2")),
        "{seen:?}"
    );
    agent.leaves();
}
