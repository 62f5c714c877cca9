//! The other producers on PyPI, from their first event to their last. Without an API key, each of them uses a
//! model of its own; what they send, and how they handle an answer, is still theirs.

use serde_json::{Value, json};

use super::{ProducerProcess, free_port, kinds, watch};
use crate::child::Hearken;

/// Returns the texts of a kind, in order.
fn texts(hearken: &Hearken, kind: &str) -> Vec<String> {
    hearken
        .seen()
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["kind"] == kind)
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Waits until each of these has been announced, in any order: a kind and words of its text.
///
/// The answer to our POST and the agent's next event travel on separate connections.
fn all_announced(hearken: &mut Hearken, wanted: &[(&str, &str)]) {
    let mut open = wanted.to_vec();
    while !open.is_empty() {
        let line = hearken.wait(&format!("{open:?}"), |_| true);
        let line: Value = serde_json::from_str(&line).unwrap();
        let text = line["text"].as_str().unwrap();
        let fits = |(kind, words): &(&str, &str)| line["kind"] == *kind && text.contains(words);
        if let Some(at) = open.iter().position(fits) {
            open.remove(at);
        }
    }
}

#[test]
fn the_anthropic_producers_mock_is_heard_from_its_start_to_its_end() {
    let peer = ProducerProcess::start("aaep-anthropic-server", free_port(), &[]);
    let mut hearken = watch(&peer);
    peer.ask("Please send an email to bob");
    hearken.announced("session_started", "Please send an email to bob");
    hearken.announced("output", "I can help with that.");
    hearken.announced("session_completed", "");
    // Its model calls no tool, so nothing is asked and nothing is done unasked.
    let kinds = kinds(&hearken);
    for never in ["danger", "confirmation", "tool_invoked", "session_errored"] {
        assert!(!kinds.iter().any(|kind| kind == never), "{kinds:?}");
    }
    let said = texts(&hearken, "output");
    assert_eq!(
        said.iter()
            .filter(|text| text.contains("I can help with that."))
            .count(),
        1,
        "{said:?}"
    );
}

/// Starts the agent framework's run that asks, and answers its question.
fn framework(answers: &[&str], tool: &str) -> Hearken {
    let peer = ProducerProcess::start("aaep-maf-server", free_port(), &[]);
    let mut hearken = watch(&peer);
    peer.ask("Send an email to bob");
    hearken.announced("tool_invoked", "send_email");
    hearken.announced("confirmation", "send_email");
    for answer in answers {
        hearken.say(answer);
    }
    // It depends on the machine whether our POST is answered before the event that settles the question, so
    // "sent" may never be said; "Your answer was" states what was sent and that it counted.
    let wanted = [
        ("tool_completed", tool),
        ("confirmation", "settled. Your answer was"),
        ("session_completed", ""),
    ];
    all_announced(&mut hearken, &wanted);
    hearken
}

#[test]
fn the_agent_frameworks_producer_does_what_is_accepted() {
    let hearken = framework(&["y 1", "c 1"], "Email sent");
    assert!(!kinds(&hearken).iter().any(|kind| kind == "danger"));
}

#[test]
fn the_agent_frameworks_producer_leaves_what_is_rejected() {
    let hearken = framework(&["n 1"], "declined");
    assert!(!kinds(&hearken).iter().any(|kind| kind == "danger"));
}

/// Calls a tool through the bridge, in parallel with the test, and returns the agent's result.
fn call(port: u16, tool: &str) -> std::thread::JoinHandle<String> {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": {"path": "/tmp/letter"}},
    });
    std::thread::spawn(move || super::exchange(port, "/mcp", &body.to_string()))
}

fn bridge() -> ProducerProcess {
    // It acts as the tool server itself if the package mcp is missing.
    let more = ["--mcp-server", "true"];
    ProducerProcess::start_by("aaep-mcp-bridge", "--aaep-port", free_port(), &more)
}

#[test]
fn the_bridges_tool_waits_for_the_answer_and_runs_after_it() {
    let peer = bridge();
    let mut hearken = watch(&peer);
    let call = call(peer.port, "write_file");
    hearken.announced("session_started", "write_file");
    hearken.announced("tool_invoked", "write_file");
    hearken.announced("confirmation", "Call write_file via MCP");
    assert!(!call.is_finished(), "the tool must wait");
    hearken.say("y 1");
    hearken.say("c 1");
    let wanted = [
        ("tool_completed", "write_file"),
        ("confirmation", "settled. Your answer was: accept"),
    ];
    all_announced(&mut hearken, &wanted);
    let result = call.join().unwrap();
    assert!(result.contains("Mock result for write_file"), "{result}");
}

#[test]
fn the_bridges_tool_never_runs_when_it_is_rejected() {
    let peer = bridge();
    let mut hearken = watch(&peer);
    let call = call(peer.port, "delete_file");
    hearken.announced("confirmation", "Call delete_file via MCP");
    hearken.say("n 1");
    let wanted = [
        ("tool_completed", "declined"),
        ("confirmation", "settled. Your answer was: reject"),
    ];
    all_announced(&mut hearken, &wanted);
    let result = call.join().unwrap();
    assert!(result.contains("User declined the action"), "{result}");
}

#[test]
fn a_harmless_tool_of_the_bridge_runs_without_a_question() {
    let peer = bridge();
    let mut hearken = watch(&peer);
    let call = call(peer.port, "list_files");
    hearken.announced("tool_completed", "list_files");
    assert!(call.join().unwrap().contains("Mock result for list_files"));
    assert!(!kinds(&hearken).iter().any(|kind| kind == "confirmation"));
}

/// Follows a producer as a source in the settings whose server accepts prompts at a path.
fn prompted(peer: &ProducerProcess, path: &str) -> (tempfile::TempDir, Hearken) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let settings = format!(
        "[[source]]\nname = \"mine\"\nurl = \"{}\"\nprompt = \"{path}\"\n",
        peer.url()
    );
    std::fs::write(&file, settings).unwrap();
    let file = file.to_str().unwrap();
    let mut hearken = Hearken::start(&[
        "watch", "mine", "--config", file, "--face", "json", "--voice", "none",
    ]);
    hearken.announced("connection", "Connected");
    (folder, hearken)
}

#[test]
fn producers_are_prompted_by_a_line_where_a_source_says_who_takes_prompts() {
    for (name, request, kind, words) in [
        (
            "aaep-minimal-producer",
            "What is my balance",
            "output",
            "Your account is in good standing",
        ),
        (
            "aaep-anthropic-server",
            "Please send an email to bob",
            "output",
            "I can help with that.",
        ),
        (
            "aaep-maf-server",
            "Send an email to bob",
            "confirmation",
            "send_email",
        ),
    ] {
        let peer = ProducerProcess::start(name, free_port(), &[]);
        let (_folder, mut hearken) = prompted(&peer, "/sessions");
        hearken.say(&format!("> {request}"));
        all_announced(
            &mut hearken,
            &[
                ("connection", "Your prompt was taken."),
                ("session_started", request),
                (kind, words),
            ],
        );
        hearken.say("stop");
        hearken.announced("reply", "This agent can't be stopped from here");
    }
}

#[test]
fn what_a_producer_answers_to_a_prompt_that_it_does_not_take_is_told() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let (_folder, mut hearken) = prompted(&peer, "/nowhere");
    hearken.say("> What is my balance");
    hearken.announced(
        "connection",
        "Your prompt was not taken: nothing is at that address (status 404).",
    );
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}
