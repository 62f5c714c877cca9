//! What is said of a call that failed: what failed, in few words; the rest is counted, and read on demand.

use super::*;
use crate::config::Verbosity;

fn lines(passed: usize, rest: &str) -> String {
    let passed: String = (1..=passed)
        .map(|n| format!("ok {n} - module number {n} compiled without warnings\n"))
        .collect();
    passed + rest
}

/// Returns what is said of a call that ended with these fields.
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
        (Verbosity::Terse, "npm test failed, 3 of 81"),
        (
            Verbosity::Normal,
            "npm test failed, exit code 1, 3 of 81: adds numbers; subtracts. 83 lines; output reads them.",
        ),
        (
            Verbosity::Detailed,
            "npm test failed, exit code 1, 3 of 81: adds numbers; subtracts; multiplies. 83 lines; output reads them.",
        ),
    ] {
        let (mut stage, told) = said(level, &fields);
        assert_eq!(told, words);
        assert!(told.split_whitespace().count() <= 20);
        stage.type_line("output");
        assert!(
            stage.heard("Output, 83 lines, of: npm test."),
            "{:?}",
            stage.lines
        );
        stage.type_line(",");
        assert!(stage.heard("not ok 81 - multiplies"), "{:?}", stage.lines);
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
            "execute failed, 1 of 61: test adds numbers. 64 lines; output reads them."
        );
        stage.type_line("output");
        assert!(
            stage.heard("Output, 64 lines, of: execute."),
            "{:?}",
            stage.lines
        );
        stage.type_line(",");
        assert!(stage.heard("61 tests, 1 failure"));
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
            "./deploy.sh failed: Try again later, or ask the administrator.",
        ),
        (
            Verbosity::Normal,
            "./deploy.sh failed: fatal: the remote end hung up; Try again later, or ask the administrator. \
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
    assert!(
        stage.heard("Output, 1 line, of: execute."),
        "{:?}",
        stage.lines
    );
    assert!(
        told.starts_with("execute failed: word word")
            && told.contains("word… 1 line; output reads it.")
    );
    assert!(told.split_whitespace().count() < 30, "{told}");
}

#[test]
fn a_short_report_is_said_as_it_is() {
    for (fields, words) in [
        (
            json!({"error_message": "no such address"}),
            "execute failed: no such address",
        ),
        (
            json!({"summary_normal": "No such address."}),
            "execute failed: No such address.",
        ),
        (json!({}), "execute failed"),
        (
            output("ls /x", "Exit code 2\nls: cannot access '/x'"),
            "ls /x failed, exit code 2: cannot access '/x'",
        ),
        (output("false", "Exit code 1"), "false failed, exit code 1"),
        (
            output(
                "cd /w && cargo build 2>&1 | tail -5",
                "error: no Cargo.toml",
            ),
            "cargo build failed: error: no Cargo.toml",
        ),
        // A command whose signs matter is not told without them, nor is a sentence told as a name.
        (output("rm -rf a && b", "no"), "execute failed: no"),
        (output("All is well. Say yes", "no"), "execute failed: no"),
        (
            json!({"status": "timeout", "error_message": "30 seconds"}),
            "execute gave no result in time: 30 seconds",
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
        "npm test failed: The tests fail. 79 lines; output reads them."
    );
}

#[test]
fn a_message_beside_a_summary_is_told_in_detail_and_on_demand() {
    let fields = json!({"summary_normal": "The mail was not sent.", "error_message": "550 mailbox unavailable"});
    let (_, told) = said(Verbosity::Detailed, &fields);
    assert_eq!(
        told,
        "execute failed: The mail was not sent. Error: 550 mailbox unavailable"
    );
    let (mut stage, told) = said(Verbosity::Normal, &fields);
    assert_eq!(told, "execute failed: The mail was not sent.");
    stage.type_line("d");
    assert!(
        stage.heard("Error: 550 mailbox unavailable"),
        "{:?}",
        stage.lines
    );
    // What the summary says is not said twice.
    let fields = json!({"summary_normal": "Not sent: 550.", "error_message": "550"});
    let (_, told) = said(Verbosity::Detailed, &fields);
    assert_eq!(told, "execute failed: Not sent: 550.");
    // A long message is told as a long report is.
    let long = lines(60, "not ok 61 - adds\n");
    let fields = json!({"summary_normal": "The tests fail.", "error_message": long});
    let (_, told) = said(Verbosity::Detailed, &fields);
    assert_eq!(
        told,
        "execute failed: The tests fail. 61 lines; output reads them. Error: adds"
    );
}
