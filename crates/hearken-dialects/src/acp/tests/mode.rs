//! Who decides: what is announced about modes, and the wish to be asked always.

use std::time::Duration;

use super::*;
use crate::link::LastWords;

/// The modes of Claude Code's adapter, in their order.
const CLAUDE: &str = "@agentclientprotocol/claude-agent-acp";

fn modes(now: &str) -> Value {
    json!({"currentModeId": now, "availableModes": [
        {"id": "default", "name": "Manual"}, {"id": "acceptEdits", "name": "Accept edits"},
        {"id": "plan", "name": "Plan"}, {"id": "auto", "name": "Auto"},
        {"id": "bypassPermissions", "name": "Bypass permissions"}, {"id": "new", "name": "Brand new"}]})
}

/// Creates a run of an agent with this name, which begins in a mode.
fn run_of(name: &str, mut offers: Value, ask_always: bool, prompt: Option<&str>) -> AcpRig {
    let start = DialectSetup {
        carrier: TransportKind::Lines,
        folder: "/work/a".to_owned(),
        prompt: prompt.map(str::to_owned),
        ask_always,
        ..rig::start()
    };
    let mut run = AcpRig::of(Acp::new(start));
    run.news(&LinkEvent::Connected);
    run.frame(
        json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1,
        "agentInfo": {"name": name, "title": "Claude Agent"}}}),
    );
    offers["sessionId"] = json!("s");
    run.sent.clear();
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": offers}));
    run
}

fn claude(mode: &str, ask_always: bool, prompt: Option<&str>) -> AcpRig {
    run_of(CLAUDE, json!({"modes": modes(mode)}), ask_always, prompt)
}

#[test]
fn who_decides_is_said_once_at_the_start() {
    let run = claude("auto", false, None);
    assert_eq!(
        run.announced()[0],
        "Mode Auto: Claude Agent decides most things itself. Press F9 to be asked."
    );
    let run = claude("default", false, None);
    assert_eq!(
        run.announced()[0],
        "Mode Manual: Claude Agent asks before it changes anything."
    );
    let run = claude("new", false, None);
    assert!(
        run.announced()[0].starts_with("Mode Brand new: what it asks is not known."),
        "{:?}",
        run.announced()
    );
    let run = run_of("pi-acp", json!({}), false, None);
    assert_eq!(run.announced()[0], "Claude Agent never asks.");
    let run = run_of("somebody", json!({}), false, None);
    assert_eq!(
        run.announced()[0],
        "Whether Claude Agent asks before it acts is not known."
    );
    // The same mode of an agent that is not in the table reassures nobody.
    let run = run_of("somebody", json!({"modes": modes("default")}), false, None);
    assert_eq!(
        run.announced()[0],
        "Mode Manual: what it asks is not known."
    );
}

#[test]
fn only_a_change_after_which_less_is_asked_is_a_warning() {
    let mut run = claude("auto", false, None);
    for (mode, words) in [
        (
            "default",
            "You are asked more now. Mode Manual: Claude Agent asks before it changes anything.",
        ),
        ("plan", "Mode Plan: Claude Agent changes nothing."),
        (
            "acceptEdits",
            "Careful: you are asked less now. Mode Accept edits: Claude Agent edits files itself, and asks before commands.",
        ),
        ("new", "Mode Brand new: what it asks is not known."),
        (
            "bypassPermissions",
            "Mode Bypass permissions: Claude Agent never asks.",
        ),
    ] {
        run.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}));
        assert_eq!(run.announced().last().unwrap(), words);
    }
}

#[test]
fn who_chooses_a_mode_hears_first_who_decides_in_it() {
    for (from, choice, asked) in [
        (
            "auto",
            "1",
            "You will then be asked more. Mode Manual: Claude Agent asks before it changes anything. Change it?",
        ),
        (
            "default",
            "4",
            "Careful: you will then be asked less. Mode Auto: Claude Agent decides most things itself. Change it?",
        ),
        (
            "default",
            "3",
            "Mode Plan: Claude Agent changes nothing. Change it?",
        ),
        (
            "default",
            "6",
            "Mode Brand new: what it asks is not known. Change it?",
        ),
    ] {
        let mut run = claude(from, false, None);
        run.person_request(&PersonRequest::Set(Some("mode".to_owned())));
        run.respond(5, choice);
        let question = run.last("awaiting.clarification")["question"].clone();
        assert_eq!(question, asked);
        run.yes(6, true);
        run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
        // They heard who decides a moment ago.
        assert_eq!(run.phrase_keys.last(), Some(&"acp.mode"));
    }
}

#[test]
fn to_be_asked_always_chooses_the_mode_that_asks_most_before_any_prompt_is_sent() {
    let mut run = claude("auto", true, Some("tidy up"));
    assert_eq!(
        run.frames(),
        [
            r#"{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"s","modeId":"default"}}"#
        ]
    );
    assert!(run.phrase_keys.is_empty(), "{:?}", run.phrase_keys);
    run.prompt("and then that");
    assert_eq!(
        (run.sent.len(), run.phrase_keys.last()),
        (1, Some(&"prompt.early"))
    );
    run.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "default"}));
    assert_eq!(run.sent.len(), 1, "the answer is what counts");
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert!(run.frames()[1].contains("session/prompt"));
    assert_eq!(
        run.announced().last().unwrap(),
        "Your settings chose mode Manual: Claude Agent asks before it changes anything. This conversation keeps it."
    );
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn no_prompt_is_sent_to_an_agent_that_does_not_take_the_mode() {
    let refused = "Careful: Claude Agent did not take mode Manual";
    let now = "Its mode is Auto: Claude Agent decides most things itself.";
    for (refuses, words) in [
        (true, format!("{refused}: no. {now}")),
        (false, format!("{refused}. {now}")),
    ] {
        let mut run = claude("auto", true, Some("tidy up"));
        match refuses {
            true => run.frame(
                json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "no"}}),
            ),
            // It never answers.
            false => run.after(Duration::from_secs(20)),
        }
        assert_eq!(run.sent.len(), 1, "{:?}", run.frames());
        assert!(run.announced().contains(&words), "{:?}", run.announced());
        assert_eq!(run.phrase_keys.last(), Some(&"prompt.unsent"));
        // The person knows now, and may go on.
        run.prompt("tidy up");
        assert!(run.frames()[1].contains("session/prompt"));
        assert_eq!(run.faults, [""; 0]);
    }
}

#[test]
fn a_mode_that_a_conversation_would_keep_is_set_back_when_the_person_leaves() {
    let vibe = || {
        let modes = json!({"currentModeId": "accept-edits", "availableModes": [{"id": "ask", "name": "Ask"},
            {"id": "accept-edits", "name": "Accept Edits"}]});
        let mut run = run_of(
            "@mistralai/mistral-vibe",
            json!({"modes": modes}),
            true,
            None,
        );
        run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
        run
    };
    let last = |run: &AcpRig| match run.last_words.clone() {
        Some(LastWords::Message(words) | LastWords::Request(words)) => {
            words.lines().map(str::to_owned).collect()
        }
        other => vec![format!("{other:?}")],
    };
    let undone =
        r#""method":"session/set_mode","params":{"sessionId":"s","modeId":"accept-edits"}}"#;
    let mut run = vibe();
    assert!(
        run.announced()[0].ends_with("It is set back when you leave."),
        "{:?}",
        run.announced()
    );
    assert!(matches!(&last(&run)[..], [only] if only.ends_with(undone)));
    // Within a turn, that is cancelled first.
    run.prompt("tidy up");
    let words = last(&run);
    assert!(
        words[0].contains("session/cancel") && words[1].ends_with(undone),
        "{words:?}"
    );
    // What the person chooses stays.
    run.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "accept-edits"}));
    assert!(matches!(&last(&run)[..], [only] if only.contains("session/cancel")));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn where_no_mode_asks_everything_that_is_said() {
    let build = json!({"modes": {"currentModeId": "build", "availableModes": [{"id": "build"}, {"id": "plan"}]}});
    for (name, offers) in [("OpenCode", build), ("pi-acp", json!({})), ("x", json!({}))] {
        let run = run_of(name, offers, true, Some("tidy up"));
        assert_eq!(run.phrase_keys[1], "oversight.none", "{name}");
        assert!(run.frames()[0].contains("session/prompt"), "{name}");
    }
    let run = claude("default", true, None);
    assert_eq!(run.phrase_keys, ["oversight.starts", "acp.ready"]);
}

#[test]
fn the_reviewer_of_the_agent_is_no_tool_that_fails() {
    let mut run = AcpRig::prompted();
    let review = |status: &str, said: &str| {
        json!({"sessionUpdate": "tool_call", "toolCallId": "guardian_assessment:1", "kind": "think",
            "title": "Guardian Review", "status": status,
            "content": [{"type": "content", "content": {"type": "text", "text": said}}]})
    };
    run.update(review(
        "in_progress",
        "Status: In progress\nAction: shell touch hello",
    ));
    run.update(review(
        "completed",
        "Status: Approved\nAction: shell touch hello",
    ));
    assert_eq!(run.phrase_keys, [""; 0]);
    let denied = "Status: Denied\nAction: shell touch hello\nRationale: It was not asked for.";
    run.update(review("failed", denied));
    run.update(review("failed", "Status: Timed out\nAction: shell touch x"));
    assert_eq!(
        run.announced()[2..],
        [
            "Fox's reviewer refused: touch hello. Its reason: It was not asked for.",
            "Fox's reviewer did not decide, so this does not run: touch x"
        ]
    );
    assert_eq!(run.count("tool.invoked") + run.count("tool.completed"), 0);
    assert_eq!(run.faults, [""; 0]);
}
