//! Subagents: what they do is announced in the conversation's turn, and never mistaken for its own work.

use super::*;

/// A turn in which the conversation itself runs `touch a.txt` as the call `c`, and has a subagent.
fn helped() -> OpencodeRig {
    let mut run = OpencodeRig::busy();
    run.says(
        "session.created",
        json!({"info": {"id": "ses_c", "parentID": "ses_a", "directory": "/w"}}),
    );
    run.shell("c", "running");
    run.after(Duration::from_secs(1));
    run
}

#[test]
fn a_call_of_a_helper_is_never_shown_as_one_of_the_same_name() {
    let mut run = helped();
    run.part(json!({"id": "p", "messageID": "m", "sessionID": "ses_c", "type": "tool", "tool": "bash", "callID": "c",
        "state": {"status": "running", "input": {"command": "rm -r b"}}}));
    let mut asks = touch("per_1", "c");
    (asks["sessionID"], asks["metadata"]) = ("ses_c".into(), json!({}));
    run.says("permission.asked", asks);
    let question = run.last("awaiting.confirmation").clone();
    assert_eq!(question["action"], "rm -r b");
    let invoked = run.last("tool.invoked").clone();
    assert_ne!(question["tool_call_id"], invoked["tool_call_id"]);
    // The answer affects only the call that it is for.
    run.decide(1, "reject", None);
    run.answers("/permission/per_1/reply", 200, &json!(true));
    run.shell("c", "completed");
    let completed = run.last("tool.completed");
    assert_eq!(completed["tool_call_id"], invoked["tool_call_id"]);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn what_a_helper_asks_without_words_for_it_is_not_the_parents_command() {
    let mut run = helped();
    let mut asks = touch("per_1", "c");
    (asks["sessionID"], asks["metadata"]) = ("ses_c".into(), json!({}));
    asks["patterns"] = json!(["rm -r b"]);
    run.says("permission.asked", asks);
    let question = run.last("awaiting.confirmation");
    assert_eq!(question["action"], "bash: rm -r b");
    assert_eq!(run.faults, Vec::<String>::new());
}
