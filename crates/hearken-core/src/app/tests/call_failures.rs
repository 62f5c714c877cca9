//! The words for a failed call: what failed, in few words; the rest is counted, and read on demand.

use super::*;
use crate::config::Verbosity;

fn lines(passed: usize, rest: &str) -> String {
    let passed: String = (1..=passed)
        .map(|n| format!("ok {n} - module number {n} compiled without warnings\n"))
        .collect();
    passed + rest
}

/// Returns what is said about a call that ended with these fields.
fn said(level: Verbosity, fields: &Value) -> (Stage, String) {
    let mut config = Config::default();
    config.announce.verbosity = level;
    let mut stage = Stage::with(PIPE, config);
    stage.event("session.started", json!({"summary_normal": "Testing"}));
    stage.event(
        "tool.invoked",
        json!({"tool": "execute", "tool_call_id": "c1"}),
    );
    stage.lines.clear();
    let mut event = json!({"tool": "execute", "tool_call_id": "c1", "status": "error"});
    for (name, value) in fields.as_object().unwrap() {
        event[name] = value.clone();
    }
    stage.event("tool.completed", event);
    let told = stage.app.history().iter().last().unwrap().shown();
    (stage, told)
}

fn output(of: &str, text: &str) -> Value {
    let lines: Vec<&str> = text.lines().collect();
    json!({"extensions": {"hearken": {"output": {"of": of, "lines": lines, "count": lines.len()}}}})
}

#[test]
fn of_a_run_of_tests_what_failed_is_said_and_its_lines_are_counted() {
    let fields = output(
        "npm test",
        &lines(
            78,
            "not ok 79 - adds numbers\n# 3 != 4\nnot ok 80 - subtracts\nnot ok 81 - multiplies\nExit code 1",
        ),
    );
    for (level, words) in [
        (Verbosity::Terse, "Failed, exit 1: npm test. 3 of 81."),
        (
            Verbosity::Normal,
            "Failed, exit 1: npm test. 3 of 81: adds numbers; subtracts. 83 lines; output reads them.",
        ),
        (
            Verbosity::Detailed,
            "Failed, exit 1: npm test. 3 of 81: adds numbers; subtracts; multiplies. 83 lines; output reads them.",
        ),
    ] {
        let (mut stage, told) = said(level, &fields);
        assert_eq!(told, words);
        assert!(told.split_whitespace().count() <= 20);
        stage.type_line("output");
        stage.assert_heard(phrase!("reading.output", n = 83, of = "npm test."));
        stage.type_line(",");
        stage.assert_heard("not ok 81 - multiplies");
    }
}

#[test]
fn the_same_holds_for_a_long_summary_or_message_without_an_output_beside_it() {
    let long = lines(
        60,
        "\n  1) test adds numbers (MathTest)\n\n61 tests, 1 failure\n",
    );
    for fields in [
        json!({"summary_normal": long}),
        json!({"error_message": long}),
        json!({"summary_normal": "", "error_message": long}),
        json!({"summary_terse": "No.", "summary_normal": long, "error_message": "x"}),
    ] {
        let (mut stage, told) = said(Verbosity::Normal, &fields);
        assert_eq!(
            told,
            "Failed: execute. 1 of 61: test adds numbers. 64 lines; output reads them."
        );
        stage.type_line("output");
        stage.assert_heard(phrase!("reading.output", n = 64, of = "execute."));
        stage.type_line(",");
        stage.assert_heard("61 tests, 1 failure");
    }
}

#[test]
fn of_an_output_of_no_known_format_the_last_telling_lines_are_said() {
    let text = lines(
        40,
        "fatal: the remote end hung up\nTry again later, or ask the administrator.\n",
    );
    for (level, words) in [
        (
            Verbosity::Terse,
            "Failed: ./deploy.sh: Try again later, or ask the administrator.",
        ),
        (
            Verbosity::Normal,
            "Failed: ./deploy.sh: fatal: the remote end hung up; Try again later, or ask the administrator. \
             42 lines; output reads them.",
        ),
    ] {
        let (_, told) = said(level, &output("./deploy.sh", &text));
        assert_eq!(told, words);
    }
    // A line without an end is cut between words.
    let (mut stage, told) = said(
        Verbosity::Normal,
        &json!({"error_message": "word ".repeat(1000)}),
    );
    stage.type_line("output");
    stage.assert_heard(phrase!("reading.output", n = 1, of = "execute."));
    assert!(
        told.starts_with("Failed: execute: word word")
            && told.contains("word… 1 line; output reads it.")
    );
    assert!(told.split_whitespace().count() < 30, "{told}");
}

#[test]
fn a_short_report_is_said_as_it_is() {
    for (fields, words) in [
        (
            json!({"error_message": "no such address"}),
            "Failed: execute: no such address",
        ),
        (
            json!({"summary_normal": "No such address."}),
            "Failed: execute: No such address.",
        ),
        (json!({}), "Failed: execute."),
        (
            output("ls /x", "Exit code 2\nls: cannot access '/x'"),
            "Failed, exit 2: ls /x. Last line: ls: cannot access '/x'",
        ),
        (output("false", "Exit code 1"), "Failed, exit 1: false."),
        (
            output(
                "cd /w && cargo build 2>&1 | tail -5",
                "error: no Cargo.toml",
            ),
            "Failed: cargo build: error: no Cargo.toml",
        ),
        // A command whose signs matter keeps them, and a sentence is not used as a name.
        (output("rm -rf a && b", "no"), "Failed: execute: no"),
        (output("All is well. Say yes", "no"), "Failed: execute: no"),
        (
            json!({"status": "timeout", "error_message": "30 seconds"}),
            "Timed out: execute: 30 seconds",
        ),
    ] {
        let (_, told) = said(Verbosity::Normal, &fields);
        assert_eq!(told, words);
    }
}

#[test]
fn a_summary_keeps_its_words_and_the_lines_beside_it_are_counted() {
    let mut fields = output("npm test", &lines(78, "not ok 79 - adds numbers\n"));
    fields["summary_normal"] = "The tests fail.".into();
    let (_, told) = said(Verbosity::Normal, &fields);
    assert_eq!(
        told,
        "Failed: npm test: The tests fail. 79 lines; output reads them."
    );
}

#[test]
fn a_message_beside_a_summary_is_told_in_detail_and_on_demand() {
    let fields = json!({"summary_normal": "The mail was not sent.", "error_message": "550 mailbox unavailable"});
    let (_, told) = said(Verbosity::Detailed, &fields);
    assert_eq!(
        told,
        "Failed: execute: The mail was not sent. Error: 550 mailbox unavailable"
    );
    let (mut stage, told) = said(Verbosity::Normal, &fields);
    assert_eq!(told, "Failed: execute: The mail was not sent.");
    stage.type_line("d");
    stage.assert_heard(phrase!("fact.error", message = "550 mailbox unavailable"));
    // The summary's content is not said twice.
    let fields = json!({"summary_normal": "Not sent: 550.", "error_message": "550"});
    let (_, told) = said(Verbosity::Detailed, &fields);
    assert_eq!(told, "Failed: execute: Not sent: 550.");
    // A long message is treated like a long report.
    let long = lines(60, "not ok 61 - adds\n");
    let fields = json!({"summary_normal": "The tests fail.", "error_message": long});
    let (_, told) = said(Verbosity::Detailed, &fields);
    assert_eq!(
        told,
        "Failed: execute: The tests fail. 61 lines; output reads them. Error: adds"
    );
}

/// A translated call, with what its translator knows of it.
fn call(title: &str, exit: &Value, lines: &[&str]) -> Value {
    json!({"extensions": {"hearken": {"call": {"title": title, "exit": exit}, "deed": {"commands": [title]},
        "output": {"of": title, "lines": lines, "count": lines.len()}}}})
}

#[test]
fn of_a_command_its_exit_and_its_last_line_are_said() {
    let long = "word ".repeat(60);
    let code = json!({"code": 3});
    for (title, exit, lines, words) in [
        (
            "npm test",
            &code,
            vec!["one", "two", ""],
            "Failed, exit 3: npm test. Last line: two. 3 lines; output reads them.",
        ),
        (
            "npm test",
            &code,
            vec!["two"],
            "Failed, exit 3: npm test. Last line: two",
        ),
        ("npm test", &code, vec![], "Failed, exit 3: npm test"),
        // Text that wraps an output for a screen or a model is not its last line.
        (
            "make",
            &code,
            vec![
                "```",
                "Exit code 3",
                "\u{1b}[31mno rule\u{1b}[0m",
                "</x_y>",
                "```",
            ],
            "Failed, exit 3: make. Last line: no rule. 5 lines; output reads them.",
        ),
        (
            "grep x a.txt",
            &json!({"signal": "SIGKILL"}),
            vec![],
            "Failed, by signal SIGKILL: grep x a.txt",
        ),
        (
            "sleep 9",
            &json!({"code": null}),
            vec![],
            "Failed, no exit code: sleep 9",
        ),
        (
            "cd /w && rm -r 'a b' | tail -5",
            &code,
            vec![],
            "Failed, exit 3: rm -r 'a b'",
        ),
        (
            "x",
            &code,
            vec![&long],
            &format!(
                "Failed, exit 3: x. Last line, cut: {}word… 1 line; output reads it.",
                "word ".repeat(29)
            ),
        ),
    ] {
        let (_, told) = said(Verbosity::Normal, &call(title, exit, &lines));
        assert_eq!(told, words);
    }
    let (_, told) = said(Verbosity::Terse, &call("npm test", &code, &["one", "two"]));
    assert_eq!(told, "Failed, exit 3: npm test. Last line: two");
}

#[test]
fn what_was_stopped_or_took_too_long_is_no_failure_of_its_own() {
    let mut fields = call("sleep 20", &Value::Null, &[]);
    for (status, words) in [
        ("stopped", "Stopped: sleep 20"),
        ("timeout", "Timed out: sleep 20"),
        (
            "no_end_reported",
            "No end reported, it may still run: sleep 20",
        ),
    ] {
        fields["status"] = status.into();
        let (mut stage, told) = said(Verbosity::Normal, &fields);
        assert_eq!(told, words);
        stage.type_line("b");
        let counted = stage.lines.last().unwrap();
        let counts = match status {
            "stopped" => "1 tool stopped",
            _ => "1 tool failed",
        };
        assert!(counted.contains(counts), "{counted}");
    }
}

#[test]
fn the_output_of_a_call_is_read_from_any_place_in_the_history() {
    let fields = call("npm test", &json!({"code": 3}), &["one", "two"]);
    let (mut stage, _) = said(Verbosity::Normal, &fields);
    stage.chunk("The tests fail, so I look. ");
    stage.type_line("find I look");
    stage.type_line("output");
    stage.assert_heard(phrase!("reading.output", n = 2, of = "npm test."));
    // From before the first call, the last call is read.
    stage.lines.clear();
    stage.type_line("find Testing");
    stage.type_line("output");
    stage.assert_heard(phrase!("reading.output", n = 2));
    // Then back to the present.
    stage.lines.clear();
    stage.type_line("now");
    stage.assert_heard("so I look.");
    stage.type_line("now");
    stage.assert_heard(phrase!("history.end"));
}

#[test]
fn the_status_says_what_a_running_call_is_called() {
    let mut stage = Stage::with(PIPE, Config::default());
    stage.event("session.started", json!({"summary_normal": "Testing"}));
    for (n, title, words) in [
        (1, "npm test", "For less than a second: npm test"),
        (
            2,
            "sh -c 'echo a; exit 3'",
            "For less than a second: sh -c 'echo a; exit 3'",
        ),
        (3, &"word ".repeat(40), "word word …"),
    ] {
        stage.event(
            "tool.invoked",
            json!({"tool": "execute", "tool_call_id": format!("c{n}"),
                "extensions": {"hearken": {"call": {"title": title}}}}),
        );
        stage.lines.clear();
        stage.type_line("t");
        stage.assert_heard(words);
    }
}

#[test]
fn a_dialog_of_ones_own_is_no_working_agent() {
    let mut stage = Stage::with(PIPE, Config::default());
    let own = json!({"translated": "test", "aside": true});
    stage.event(
        "session.started",
        json!({"summary_normal": "Changing a setting", "extensions": {"hearken": own}}),
    );
    stage.event(
        "state.changed",
        json!({"from_state": "idle", "to_state": "awaiting_input"}),
    );
    stage.type_line("t");
    stage.assert_heard(phrase!(
        "status.session.aside",
        agent = "Mailer",
        phase = "waiting for an answer"
    ));
    stage.type_line("b");
    stage.assert_heard(phrase!("away", running = 0));
}
