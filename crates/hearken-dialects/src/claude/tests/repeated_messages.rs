//! Hooks in two settings files, or that run two programs: each message arrives twice, and counts once.

use super::*;

fn told(run: &ClaudeRig) -> usize {
    run.phrase_keys
        .iter()
        .filter(|key| **key == "claude.twice")
        .count()
}

/// A turn with one allowed call, in which each message is sent this many times.
fn turn(times: usize) -> ClaudeRig {
    let mut run = ClaudeRig::new();
    let mut held = Vec::new();
    for _ in 0..times {
        run.prompted("do it");
    }
    for _ in 0..times {
        run.shell("PreToolUse", "c", "rm -rf build");
    }
    for _ in 0..times {
        held.push(run.asks("rm -rf build"));
    }
    run.decide(1, "accept", None);
    run.written(1, true);
    assert_eq!(run.decision(held[0]), &json!({"behavior": "allow"}));
    assert!(
        held[1..].iter().all(|id| run.let_go(*id)),
        "one answer decides"
    );
    for _ in 0..times {
        run.shell("PostToolUse", "c", "rm -rf build");
    }
    for _ in 0..times {
        run.stops("Done.");
    }
    assert_eq!(run.faults, Vec::<String>::new());
    run
}

#[test]
fn what_comes_twice_or_thrice_is_heard_once() {
    let once = turn(1);
    assert_eq!(told(&once), 0);
    for times in [2, 3] {
        let again = turn(times);
        assert_eq!(again.kinds(), once.kinds(), "{times} times");
        assert_eq!(told(&again), 1, "said once");
    }
}

#[test]
fn two_calls_of_the_same_command_are_two_questions() {
    let mut run = ClaudeRig::busy();
    run.shell("PreToolUse", "a", "npm test");
    run.shell("PreToolUse", "b", "npm test");
    let held = [run.asks("npm test"), run.asks("npm test")];
    assert!(held.iter().all(|id| run.is_held(*id)));
    let repeated = run.asks("npm test");
    assert!(run.let_go(repeated), "nothing else waits");
    for (number, id) in (1..).zip(held) {
        run.decide(number, "accept", None);
        run.written(number, true);
        assert_eq!(run.decision(id), &json!({"behavior": "allow"}));
    }
}

#[test]
fn a_person_may_say_the_same_again() {
    let mut run = ClaudeRig::new();
    for _ in 0..3 {
        run.hook("UserPromptSubmit", json!({"prompt": "yes"}));
        run.stops("Done.");
    }
    assert_eq!(run.count("session.started"), 3);
    assert_eq!(run.count("session.completed"), 3);
    run.hook("UserPromptSubmit", json!({"prompt": "yes"}));
    run.after(Duration::from_secs(3));
    run.hook("UserPromptSubmit", json!({"prompt": "yes"}));
    assert_eq!(
        run.count("session.started"),
        5,
        "the turn before was interrupted"
    );
    assert_eq!(told(&run), 0);
}

#[test]
fn a_permission_of_an_unknown_call_is_never_taken_for_a_repetition() {
    let mut run = ClaudeRig::busy();
    let held = [run.asks("npm test"), run.asks("npm test")];
    assert!(held.iter().all(|id| run.is_held(*id)));
}

#[test]
fn what_the_relay_adds_makes_no_other_message() {
    let mut run = ClaudeRig::busy();
    let texts = |id: &str| json!([{"id": id, "text": "Looking."}]);
    let call = |texts: Value| json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c", "hearken_texts": texts});
    run.hook("PreToolUse", call(texts("1")));
    run.hook("PostToolUse", call(json!([])));
    let before = run.events.len();
    run.hook("PostToolUse", call(texts("2")));
    assert_eq!(run.events.len(), before);
}
