//! Permissions: the questions, the answers sent, and races.

use super::*;

#[test]
fn a_permission_is_the_command_to_the_letter_and_waits_for_the_person() {
    let mut run = ClaudeRig::busy();
    run.shell("PreToolUse", "c", "touch a.txt && rm -rf x");
    let id = run.asks("touch a.txt && rm -rf x");
    let asked = run.last("awaiting.confirmation").clone();
    assert_eq!(asked["action"], "touch a.txt && rm -rf x");
    assert_eq!(
        asked["extra_context"]["description"], "Makes a file",
        "the agent's word stands among the details"
    );
    let rules = "allow, and from now on for you in this folder without asking: Bash(touch *)";
    let mode = "allow, and for this conversation work in the mode acceptEdits, which may act without asking";
    assert_eq!(
        asked["allowed_replies"],
        json!(["accept", "reject", rules, mode])
    );
    assert_eq!(
        run.count("tool.invoked"),
        0,
        "it does not run while it is asked about"
    );
    assert!(run.is_held(id));
    run.decide(1, "accept", None);
    assert_eq!(run.decision(id), &json!({"behavior": "allow"}));
    assert!(
        run.settled.is_empty(),
        "it is not known yet that it went out"
    );
    run.written(1, true);
    assert_eq!(run.settled, [(1, true)]);
    run.shell("PostToolUse", "c", "touch a.txt && rm -rf x");
    assert_eq!(
        run.last("tool.completed")["tool_call_id"],
        asked["tool_call_id"],
        "it is the call that was asked about"
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_rejection_takes_the_reason_along_and_a_suggestion_widens_only_by_itself() {
    let mut run = ClaudeRig::busy();
    let id = run.asks("touch a.txt");
    run.decide(1, "reject", Some("not that file"));
    assert_eq!(
        run.decision(id),
        &json!({"behavior": "deny", "message": "not that file"})
    );
    run.written(1, true);
    let id = run.asks("touch b.txt");
    run.decide(
        2,
        "allow, and for this conversation work in the mode acceptEdits, which may act without asking",
        Some("why not"),
    );
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    assert_eq!(
        run.decision(id),
        &json!({"behavior": "allow", "updatedPermissions": [mode]})
    );
    let id = run.asks("touch c.txt");
    run.decide(3, "anything", None);
    assert!(run.is_held(id) && run.settled.last() == Some(&(3, false)));
}

#[test]
fn what_a_suggestion_widens_is_said_whole_or_it_is_not_offered() {
    let long = "x".repeat(300);
    for (suggestion, offered) in [
        (
            json!({"type": "addRules", "rules": [{"toolName": "Read"}], "behavior": "allow", "destination": "session"}),
            true,
        ),
        (
            json!({"type": "addDirectories", "directories": ["/work/b"], "destination": "userSettings"}),
            true,
        ),
        (
            json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": long}], "behavior": "allow", "destination": "session"}),
            false,
        ),
        (
            json!({"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "deny", "destination": "session"}),
            false,
        ),
        (
            json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": 7}], "behavior": "allow", "destination": "session"}),
            false,
        ),
        (
            json!({"type": "addRules", "rules": [], "behavior": "allow", "destination": "session"}),
            false,
        ),
        (
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "elsewhere"}),
            false,
        ),
        (
            json!({"type": "removeRules", "rules": [{"toolName": "Bash"}], "behavior": "deny", "destination": "session"}),
            false,
        ),
        (json!("anything"), false),
    ] {
        let mut run = ClaudeRig::busy();
        run.hook("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_suggestions": [suggestion]}));
        let replies = run.last("awaiting.confirmation")["allowed_replies"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(replies, if offered { 3 } else { 2 }, "{suggestion}");
        assert_eq!(
            run.phrase_keys.contains(&"claude.left_out"),
            !offered,
            "{suggestion}"
        );
    }
}

#[test]
fn what_is_too_long_to_be_asked_whole_can_not_be_allowed() {
    for (tool, input, whole) in [
        ("Bash", json!({"command": "x".repeat(8000)}), true),
        ("Bash", json!({"command": "x".repeat(9000)}), false),
        (
            "Bash",
            json!({"command": "ls", "description": "x".repeat(5000)}),
            false,
        ),
        (
            "Write",
            json!({"file_path": "/work/a/x", "content": "line\n".repeat(4000)}),
            true,
        ),
        (
            "Write",
            json!({"file_path": "/work/a/x", "content": "line\n".repeat(9000)}),
            false,
        ),
        (
            "Edit",
            json!({"file_path": "/work/a/x", "old_string": "x".repeat(5000), "new_string": "y", "replace_all": true}),
            false,
        ),
        ("mcp__x__y", json!({"text": "x".repeat(4000)}), true),
        ("mcp__x__y", json!({"text": ["x".repeat(4000)]}), false),
        ("mcp__x__y", json!({"x".repeat(600): 1}), false),
    ] {
        let mut run = ClaudeRig::busy();
        let suggestions =
            json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
        let id = run.hook(
            "PermissionRequest",
            json!({"tool_name": tool, "tool_input": input, "permission_suggestions": suggestions}),
        );
        let replies = &run.last("awaiting.confirmation")["allowed_replies"];
        assert_eq!(
            replies.as_array().unwrap().len(),
            if whole { 3 } else { 1 },
            "{tool} {replies}"
        );
        assert_eq!(run.phrase_keys.contains(&"claude.too_long"), !whole);
        if !whole {
            assert_eq!(replies, &json!(["reject"]));
            run.decide(1, "accept", None);
            assert!(run.is_held(id));
            run.decide(2, "reject", None);
            assert_eq!(run.decision(id), &json!({"behavior": "deny"}));
        }
    }
}

#[test]
fn a_file_that_is_written_may_replace_one_and_that_is_said() {
    let mut run = ClaudeRig::busy();
    run.hook("PermissionRequest", json!({"tool_name": "Write", "tool_input": {"file_path": "/work/a/x.txt", "content": "one\ntwo\n"}}));
    let asked = run.last("awaiting.confirmation");
    assert_eq!(
        asked["action"],
        "Writes /work/a/x.txt, 2 lines, replacing what may be there"
    );
    assert_eq!(
        asked["extensions"]["hearken"]["changes"][0]["added"], 2,
        "its lines can be read"
    );
    run.hook("PermissionRequest", json!({"tool_name": "WebFetch", "tool_input": {"url": "https://x.example", "prompt": "Read it"}}));
    run.decide(1, "reject", None);
    run.written(1, true);
    let action = run.last("awaiting.confirmation")["action"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        action.contains("https://x.example") && action.contains("Read it"),
        "{action}"
    );
}

#[test]
fn a_question_in_words_is_seen_and_never_answered_with_nothing() {
    let mut run = ClaudeRig::busy();
    let id = run.hook(
        "PermissionRequest",
        json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": [
        {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}}),
    );
    let asked = run.last("awaiting.clarification");
    assert!(
        asked["question"]
            .as_str()
            .unwrap()
            .starts_with("Which colour?")
    );
    assert_eq!(run.view_only, 1);
    run.decide(1, "accept", None);
    assert!(run.is_held(id) && run.settled == [(1, false)]);
    run.hook("PostToolUse", json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": []}, "tool_use_id": "q"}));
    run.stops("Red it is.");
    assert!(run.let_go(id));
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn what_was_answered_in_its_own_terminal_is_told_when_it_shows() {
    for (event, stage) in [("PostToolUse", "success"), ("PostToolUseFailure", "error")] {
        let mut run = ClaudeRig::busy();
        run.shell("PreToolUse", "c", "touch a.txt");
        let id = run.asks("touch a.txt");
        run.shell(event, "c", "touch a.txt");
        assert!(run.let_go(id));
        assert_eq!(run.phrase_keys, ["claude.elsewhere"]);
        assert_eq!(run.last("tool.completed")["status"], stage);
        run.decide(1, "accept", None);
        assert_eq!(run.settled, [(1, false)], "it is decided");
    }
    let mut run = ClaudeRig::busy();
    let id = run.asks("touch a.txt");
    run.stops("I did not.");
    assert!(run.let_go(id));
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    let mut run = ClaudeRig::busy();
    run.shell("PreToolUse", "c", "touch a.txt");
    let id = run.asks("touch a.txt");
    run.shell("PermissionDenied", "c", "touch a.txt");
    assert!(run.let_go(id));
    assert_eq!(run.count("tool.completed"), 0, "it never ran");
}

#[test]
fn a_request_that_nobody_waits_for_any_more_is_told_as_given_up_or_lapsed() {
    for (after, told) in [(10, "claude.given_up"), (3600, "claude.lapsed")] {
        let mut run = ClaudeRig::busy();
        let id = run.asks("touch a.txt");
        run.after(Duration::from_secs(after));
        run.news(&LinkEvent::Lapsed { id });
        assert_eq!(
            (run.phrase_keys.as_slice(), run.over.as_slice()),
            (&[told][..], &[QuestionEnd::TakenBack][..])
        );
        run.decide(1, "accept", None);
        assert_eq!(run.settled, [(1, false)]);
        assert!(run.is_held(id), "nothing goes out to nobody");
    }
}

#[test]
fn an_answer_that_finds_nobody_is_not_told_as_taken() {
    let mut run = ClaudeRig::busy();
    let id = run.asks("touch a.txt");
    run.decide(1, "accept", None);
    run.news(&LinkEvent::Lapsed { id });
    run.written(1, false);
    assert_eq!(run.settled, [(1, false)]);
    assert_eq!(
        run.kinds().last().unwrap(),
        "thinking",
        "the question is over"
    );
    // The hook went away after the answer was sent: it perhaps came too late.
    let id = run.asks("touch b.txt");
    run.decide(2, "accept", None);
    run.written(2, true);
    run.news(&LinkEvent::Lapsed { id });
    assert_eq!(run.settled.last(), Some(&(2, true)));
    assert_eq!(run.phrase_keys, ["claude.perhaps_late"]);
}

#[test]
fn several_are_asked_one_after_the_other_and_each_answer_goes_to_its_own() {
    let mut run = ClaudeRig::busy();
    let (first, second) = (run.asks("touch a.txt"), run.asks("touch b.txt"));
    assert_eq!(run.count("awaiting.confirmation"), 1);
    run.decide(1, "accept", None);
    run.written(1, true);
    assert_eq!(run.last("awaiting.confirmation")["action"], "touch b.txt");
    run.decide(2, "reject", None);
    assert_eq!(
        (run.decision(first), run.decision(second)),
        (&json!({"behavior": "allow"}), &json!({"behavior": "deny"}))
    );
    // The same command twice at the same time is two calls.
    let mut run = ClaudeRig::busy();
    run.shell("PreToolUse", "c", "touch a.txt");
    run.shell("PreToolUse", "d", "touch a.txt");
    run.asks("touch a.txt");
    let one = run.last("awaiting.confirmation")["tool_call_id"].clone();
    run.asks("touch a.txt");
    run.decide(1, "accept", None);
    run.written(1, true);
    assert_ne!(run.last("awaiting.confirmation")["tool_call_id"], one);
}

#[test]
fn more_than_can_wait_is_told_and_asked_in_its_own_terminal() {
    let mut run = ClaudeRig::busy();
    let all: Vec<u64> = (0..66).map(|n| run.asks(&format!("touch {n}"))).collect();
    assert!(run.let_go(*all.last().unwrap()));
    assert!(run.phrase_keys.contains(&"claude.too_many"));
    assert!(all[..65].iter().all(|id| run.is_held(*id)));
}

#[test]
fn a_suggestion_for_every_call_says_so_and_only_a_mode_that_may_act_freely_is_called_that() {
    for (suggestion, said) in [
        (
            json!({"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}),
            "allow, and for this conversation without asking: every call of Bash",
        ),
        (
            json!({"type": "setMode", "mode": "plan", "destination": "session"}),
            "allow, and for this conversation work in the mode plan",
        ),
        (
            json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"}),
            "allow, and for this conversation work in the mode bypassPermissions, which may act without asking",
        ),
    ] {
        let mut run = ClaudeRig::busy();
        run.hook("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_suggestions": [suggestion]}));
        assert_eq!(
            run.last("awaiting.confirmation")["allowed_replies"][2],
            said
        );
    }
}

/// Only Bash runs a command: of another tool, an argument of that name is one of its details.
#[test]
fn an_argument_named_command_is_said_for_every_tool() {
    let mut run = ClaudeRig::busy();
    let call =
        json!({"tool_name": "mcp__box__run", "tool_input": {"command": "rm -rf x", "box": "1"}});
    run.hook("PermissionRequest", call);
    let asked = run.last("awaiting.confirmation");
    assert_eq!(asked["action"], "mcp__box__run (command: rm -rf x, box: 1)");
    assert_eq!(
        asked["extra_context"],
        json!({"command": "rm -rf x", "box": "1"})
    );
}
