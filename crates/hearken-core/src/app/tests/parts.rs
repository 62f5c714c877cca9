//! The material of a question, a call or a plan is read part by part, and only on request.

use super::*;

fn changes() -> Value {
    json!({"hearken": {"changes": [{
        "path": "src/main.rs", "added": 3, "removed": 2, "places": 3,
        "hunks": [
            {"line": 3, "lines": [" {", "-    let port = 80;", "+    let port = 8080;"]},
            {"line": 20, "lines": ["-old", "+rm -rf x && y", "+"], "left_out": 4},
        ],
    }]}})
}

#[test]
fn changes_are_read_place_by_place_beside_the_question_and_answer_nothing() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("a", json!({"extensions": changes()}));
    stage.lines.clear();
    stage.press('d');
    stage.assert_heard(phrase!("reading.changes.keys"));
    let mut next = |c: char| {
        stage.lines.clear();
        stage.wait(800);
        stage.press(c);
        stage.lines.concat()
    };
    assert_eq!(
        next('.'),
        "Place 1 of 3, from line 3. Unchanged: { Changed: 80. To: 8080. The line: Indent 4. let port = 8080;"
    );
    assert_eq!(
        next('.'),
        "Place 2 of 3, from line 20. Removed: old. Added, 2 lines: rm -rf x && y. empty line. 4 lines are left \
         out here, because there was too much."
    );
    assert_eq!(
        next('.'),
        "1 more place is left out, because there was too much: src/main.rs"
    );
    assert_eq!(next('.'), "That was the last part.");
    assert!(next(',').starts_with("Place 2 of 3"));
    assert!(next(',').starts_with("Place 1 of 3"));
    assert_eq!(next(','), "That was the first part.");
    assert!(stage.sent.is_empty());
    stage.wait(800);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1, "the question is as ready as it was");
}

#[test]
fn lines_of_one_kind_are_counted_and_their_indentation_is_told_as_it_changes() {
    let mut stage = Stage::new(KEYS);
    let hunk = |lines: Value| json!({"line": 1, "lines": lines});
    let hunks = [
        hunk(json!([
            " def f(x):",
            "-    return x",
            "+    if x:",
            "+        return x",
            "+",
            "+    return 0"
        ])),
        hunk(json!([
            " for x in y:",
            "-    a()",
            "-    b()",
            "+        a()",
            "+        b()"
        ])),
        hunk(json!(["+Removed:", "+\tb"])),
    ];
    stage.ask_with(
        "a",
        json!({"extensions": {"hearken": {"changes": [{
        "path": "f.py", "added": 7, "removed": 3, "places": 3, "hunks": hunks}]}}}),
    );
    let mut read = || {
        stage.lines.clear();
        stage.wait(800);
        stage.press('.');
        stage.lines.concat()
    };
    assert_eq!(
        read(),
        "Place 1 of 3, from line 1. Unchanged: def f(x): Removed: Indent 4. return x. Added, 4 lines: if x: Indent 8. \
         return x. empty line. Indent 4. return 0"
    );
    assert_eq!(
        read(),
        "Place 2 of 3, from line 1. Unchanged: for x in y: Only the indent changes, 2 lines: Indent 8. a(). b()"
    );
    assert_eq!(
        read(),
        "Place 3 of 3, from line 1. Added, 2 lines: Removed: Indent 1 tab. b"
    );
}

#[test]
fn the_changes_of_a_question_are_not_read_on_in_another_one() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("a", json!({"extensions": changes()}));
    stage.press('.');
    assert!(
        stage.heard(phrase!("reading.place", n = 1, count = 3)),
        "without a key first"
    );
    stage.ask("b");
    stage.wait(800);
    stage.code(KeyCode::Tab);
    stage.lines.clear();
    stage.wait(800);
    stage.press('.');
    stage.assert_not_heard("Place");
}

#[test]
fn an_output_is_read_from_either_end_and_only_on_demand() {
    let mut stage = Stage::new(PIPE);
    stage.type_line("output");
    stage.assert_heard(phrase!("reading.no_output"));
    let lines: Vec<String> = (1..=40).map(|n| format!("test {n} ... ok")).collect();
    stage.event("session.started", json!({"summary_normal": "Testing"}));
    stage.event("tool.invoked", json!({"tool": "sh", "tool_call_id": "c1"}));
    stage.event(
        "tool.completed",
        json!({"tool": "sh", "tool_call_id": "c1", "status": "success", "summary_normal": "Tests run",
            "extensions": {"hearken": {"output": {"of": "cargo test", "lines": lines, "count": 90, "gap": 10}}}}),
    );
    assert!(!stage.heard("test 1 ... ok"), "unasked");
    stage.type_line("output");
    stage.assert_heard(phrase!(
        "reading.output",
        n = 90,
        left = 50,
        of = "cargo test."
    ));
    stage.type_line(",");
    stage.assert_heard("Line 85. test 35 ... ok");
    stage.assert_heard("test 40 ... ok");
    stage.type_line("output");
    for _ in 0..3 {
        stage.type_line(".");
    }
    stage.assert_heard("Line 7. test 7 ... ok. test 8 ... ok. test 9 ... ok. test 10 ... ok");
    stage.assert_heard("50 lines are left out here, because there was too much. Line 61. test 11");
}

#[test]
fn a_plan_is_told_on_demand_and_never_unasked() {
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Working"}));
    stage.lines.clear();
    stage.event(
        "progress.updated",
        json!({"progress": {"step": 2, "total_steps": 3, "description": "run the tests"},
            "extensions": {"hearken": {"plan": [{"step": "look", "stage": "done"},
                {"step": "run the tests", "stage": "now"}, {"step": "rest", "stage": "open"}]}}}),
    );
    stage.wait(3000);
    // Programs, but not people, get an announcement of the move.
    let told = stage.app.history().iter().last().unwrap();
    assert_eq!(told.aloud, crate::announce::Presentation::Echo);
    stage.type_line("plan");
    stage.assert_heard("1 of 3 done; now: run the tests. Step 1, done: look. Step 2, now: run the tests. Step 3, not begun: rest");
    stage.type_line(".");
    stage.assert_heard(phrase!("reading.none"));
}

#[test]
fn what_changed_by_a_call_that_is_done_is_read_where_no_question_is_open() {
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Working"}));
    stage.event(
        "tool.invoked",
        json!({"tool": "edit", "tool_call_id": "c1"}),
    );
    stage.event(
        "tool.completed",
        json!({"tool": "edit", "tool_call_id": "c1", "status": "success", "extensions": changes()}),
    );
    stage.type_line("d");
    stage.assert_heard("3 places in: src/main.rs.");
    stage.type_line(".");
    stage.assert_heard(phrase!("reading.place", n = 1, count = 3, line = 3));
}
