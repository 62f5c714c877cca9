//! One judgement: `check`, `trace`, `replay` and `watch` say the same about a capture.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::child::command;

/// A capture while it is written; a second passes with each event.
#[derive(Default)]
struct Capture {
    lines: Vec<String>,
    seconds: u32,
}

impl Capture {
    fn on(&mut self, session: &str, name: &str, fields: Value) -> &mut Self {
        self.seconds += 1;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": format!("aaep:agent.{name}"),
            "event_id": format!("evt_{}", self.seconds),
            "session_id": session,
            "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", self.seconds / 60, self.seconds % 60),
            "producer": {"agent_id": "bank", "agent_name": "Bank"},
            "urgency": "normal",
            "summary_normal": "Working.",
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.lines.push(event.to_string());
        self
    }

    fn goes(&mut self, from: &str, to: &str) -> &mut Self {
        let fields = json!({"from_state": from, "to_state": to});
        self.on("sess_1", "state.changed", fields)
    }

    /// A session in which silence rejected an action.
    fn rejected(tool: Option<&str>) -> Self {
        let mut capture = Self::default();
        capture.on("sess_1", "session.started", json!({}));
        capture.goes("idle", "awaiting_input");
        capture.asks("rpl_1", "Transfer $500 from checking to savings.", tool);
        capture.seconds += 75;
        capture.goes("awaiting_input", "thinking");
        capture
    }

    fn asks(&mut self, token: &str, action: &str, tool: Option<&str>) -> &mut Self {
        let fields = json!({"urgency": "critical", "action": action, "consequence": "It is done at once.",
            "reply_token": token, "timeout_seconds": 60, "default_decision": "reject", "risk_level": "high",
            "irreversible": true, "tool": tool});
        self.on("sess_1", "awaiting.confirmation", fields)
    }

    fn calls(&mut self, session: &str, tool: &str, words: &str) -> &mut Self {
        let fields = json!({"tool": tool, "tool_call_id": "call_1", "summary_normal": words});
        self.on(session, "tool.invoked", fields)
    }

    fn returns(&mut self, session: &str, tool: &str, status: &str) -> &mut Self {
        let fields = json!({"tool": tool, "tool_call_id": "call_1", "status": status});
        self.on(session, "tool.completed", fields)
    }
}

/// Returns what a command writes for a capture.
fn output(arguments: &[&str], text: &str) -> String {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

struct CaptureCase {
    name: &'static str,
    capture: Vec<String>,
    /// A rule that `check` finds, or, with a `!` before it, doesn't.
    rule: &'static str,
    /// What is said, live and in a replay.
    said: &'static str,
    traced: &'static str,
}

const WORDS: &str = "Transferring $500 from checking to savings.";

fn cases() -> Vec<CaptureCase> {
    let end = |mut capture: Capture| {
        capture.on("sess_1", "session.completed", json!({}));
        capture.lines
    };
    let timed_out = "question 1: unanswered to timed out, by time ended";
    let mut cases = Vec::new();
    let mut add = |name, capture, rule, said, traced| {
        cases.push(CaptureCase {
            name,
            capture,
            rule,
            said,
            traced,
        });
    };

    let mut other = Capture::rejected(None);
    other.on("sess_2", "session.started", json!({}));
    other.calls("sess_2", "transfer_funds", WORDS);
    other.returns("sess_2", "transfer_funds", "success");
    add(
        "in another session",
        end(other),
        "perhaps_done_after_rejection",
        "may be",
        timed_out,
    );

    let mut failed = Capture::rejected(None);
    failed
        .goes("thinking", "calling_tool")
        .calls("sess_1", "transfer_funds", WORDS);
    failed.returns("sess_1", "transfer_funds", "error");
    failed.returns("sess_1", "transfer_funds", "success");
    add(
        "after an error",
        end(failed),
        "done_after_rejection",
        "transfer funds was done, though nobody here accepted question 1",
        timed_out,
    );

    let mut decoy = Capture::rejected(None);
    decoy
        .goes("thinking", "awaiting_input")
        .asks("rpl_2", "Read the balance.", None);
    decoy.calls("sess_1", "transfer_funds", WORDS);
    decoy.returns("sess_1", "transfer_funds", "success");
    add(
        "beside another question",
        end(decoy),
        "done_after_rejection",
        "transfer funds was done, though nobody here accepted question 1",
        timed_out,
    );

    let mut named = Capture::rejected(Some("nothing"));
    named
        .goes("thinking", "calling_tool")
        .calls("sess_1", "nothing", "Working.");
    named.returns("sess_1", "nothing", "success");
    add(
        "a tool called nothing",
        end(named),
        "perhaps_done_after_rejection",
        "nothing was done",
        timed_out,
    );

    let mut counted = Capture::default();
    counted.on("sess_1", "session.started", json!({}));
    let child = json!({"extensions": {"parent_session_id": "sess_1"}});
    counted.on("sess_2", "session.started", child);
    counted
        .calls("sess_2", "look", "Looking.")
        .returns("sess_2", "look", "success");
    counted.on("sess_2", "session.completed", json!({}));
    let stated = json!({"tool_invocations_count": 1, "summary_normal": "All done."});
    counted.on("sess_1", "session.completed", stated);
    add(
        "calls of a helper",
        counted.lines,
        "!count_differs",
        "All done.",
        "tool look call_1",
    );

    let (asks, runs) = (sage(true), sage(false));
    add(
        "a Sage turn with a question",
        asks,
        "!awaiting_input_not_left",
        "Question 1 is closed, because the session ended.",
        "question 1: unanswered to withdrawn",
    );
    add(
        "a Sage turn with a call",
        runs,
        "!tool_left_open",
        "No end reported, it may still run: bash.",
        "tool bash",
    );
    cases
}

/// Returns a turn of Sage that ends while a question is open or a call runs.
fn sage(asks: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |name: &str, second: u32, payload: Value, more: Value| {
        let mut message = json!({"protocol_version": "sage.runtime.v0", "kind": "notification", "type": name,
            "id": format!("evt_{}", lines.len() + 1), "thread_id": "thread_1", "turn_id": "turn_1",
            "timestamp": format!("2026-01-01T00:00:{second:02}.000Z"), "sequence": lines.len() + 1,
            "source": "runtime", "payload": payload});
        for (key, value) in more.as_object().unwrap() {
            message[key] = value.clone();
        }
        lines.push(message.to_string());
    };
    say("turn.started", 1, json!({"input_item_id": "u"}), json!({}));
    let prompt = json!({"item_type": "message", "role": "user", "content": "clean up"});
    say("item.created", 2, prompt, json!({"item_id": "u"}));
    let call = json!({"item_type": "tool_call", "tool_name": "bash", "status": "started",
        "arguments": {"cmd": "rm -rf build"}, "redacted": false});
    say("item.created", 3, call, json!({"item_id": "t1"}));
    if asks {
        let asked = json!({"tool_name": "bash", "risk": "high", "reason": "needs shell", "input_redacted": false,
            "input": {"cmd": "rm -rf build"}});
        say(
            "permission.requested",
            4,
            asked,
            json!({"item_id": "t1", "request_id": "p1"}),
        );
    }
    let runs = json!({"item_type": "tool_call", "tool_name": "bash", "status": "running"});
    if !asks {
        say("item.updated", 5, runs, json!({"item_id": "t1"}));
    }
    say(
        "turn.completed",
        30,
        json!({"status": "completed", "result": "Cleaned."}),
        json!({}),
    );
    lines
}

#[test]
fn check_trace_replay_and_watch_judge_a_capture_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.jsonl");
    let file = path.to_str().unwrap();
    let face = ["--voice", "none", "--face", "linear"];
    for case in cases() {
        let text = case.capture.join("\n") + "\n";
        std::fs::write(&path, &text).unwrap();
        let checked = output(&["check", file, "--json"], "");
        let (rule, is_wanted) = match case.rule.strip_prefix('!') {
            Some(rule) => (rule, false),
            None => (case.rule, true),
        };
        let found = checked.contains(&format!("\"{rule}\""));
        assert_eq!(found, is_wanted, "{}: {checked}", case.name);
        let traced = output(&["trace", file], "");
        assert!(traced.contains(case.traced), "{}: {traced}", case.name);
        let replayed = output(&[&["replay", file, "--no-delay"][..], &face].concat(), "");
        assert!(replayed.contains(case.said), "{}: {replayed}", case.name);
        let live = output(&[&["watch", "-"][..], &face].concat(), &text);
        assert!(live.contains(case.said), "{}: {live}", case.name);
    }
}
