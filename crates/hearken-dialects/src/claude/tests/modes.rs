//! Who decides in the mode that Claude Code works in.

use super::*;

fn works_in(run: &mut ClaudeRig, call: &str, mode: &str) {
    run.hook(
        "PreToolUse",
        json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": call,
        "permission_mode": mode}),
    );
}

#[test]
fn who_decides_is_said_at_the_start_and_when_it_changes() {
    let mut run = ClaudeRig::new();
    run.hook("SessionStart", json!({"permission_mode": "auto"}));
    run.hook(
        "UserPromptSubmit",
        json!({"prompt": "do it", "permission_mode": "auto"}),
    );
    assert_eq!(run.phrase_keys, ["claude.begins", "oversight.starts"]);
    assert_eq!(
        run.announced()[1],
        "Mode Auto: Claude Code decides most things itself."
    );
    for (mode, words) in [
        (
            "default",
            "You are asked more now. Mode Manual: Claude Code asks before it changes anything.",
        ),
        (
            "acceptEdits",
            "Careful: you are asked less now. Mode Accept edits: Claude Code edits files itself, and asks before commands.",
        ),
        ("brand_new", "Mode brand_new: what it asks is not known."),
    ] {
        works_in(&mut run, mode, mode);
        works_in(&mut run, &format!("{mode} again"), mode);
        assert_eq!(run.announced().last().unwrap(), words);
    }
    assert_eq!(run.phrase_keys.len(), 5);
}

#[test]
fn the_mode_of_a_subagent_is_not_that_of_the_conversation() {
    let mut run = ClaudeRig::busy();
    run.hook(
        "PreToolUse",
        json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": "1",
        "permission_mode": "acceptEdits", "agent_id": "helper"}),
    );
    assert_eq!(run.phrase_keys, [""; 0]);
}

#[test]
fn what_the_reviewer_refuses_did_not_fail() {
    for waits in [0, 2] {
        let mut run = ClaudeRig::busy();
        run.shell("PreToolUse", "c", "touch a.txt");
        run.after(Duration::from_secs(waits));
        run.shell("PermissionDenied", "c", "touch a.txt");
        run.hook("Stop", json!({"last_assistant_message": "Then not."}));
        assert_eq!(
            run.announced(),
            ["Claude Code's reviewer refused: touch a.txt. Its reason: not here"]
        );
        // If it was announced as running by then, it is stopped.
        let ends = run
            .events
            .iter()
            .filter(|it| it["type"] == "aaep:agent.tool.completed");
        let ends: Vec<&Value> = ends.map(|it| &it["status"]).collect();
        assert_eq!(ends, vec!["stopped"; usize::from(waits > 0)]);
        assert_eq!(run.faults, [""; 0]);
    }
}
