//! Answers that come too late, and lines that address a question that is not open.

use super::*;

impl Stage {
    /// Types a line and returns what is announced then.
    fn answers(&mut self, line: &str) -> String {
        self.wait(3000);
        self.lines.clear();
        self.type_line(line);
        self.lines.join("\n")
    }
}

/// Returns a stage whose only question has run out of time, and whose agent has entered a state.
fn ran_out(decision: &str, to: &str) -> Stage {
    let mut stage = Stage::new(PIPE);
    let more = json!({"timeout_seconds": 8, "default_decision": decision});
    stage.ask_with("rpl_1", more);
    stage.wait(9000);
    let left = json!({"from_state": "awaiting_input", "to_state": to});
    stage.event("state.changed", left);
    stage.wait(20_000);
    stage
}

/// Returns a stage with question 1 settled elsewhere before its time, and question 2 open.
fn one_over_one_open() -> Stage {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.ask("rpl_2");
    stage.wait(20_000);
    stage
}

#[test]
fn an_answer_after_the_time_is_told_what_happened_instead() {
    for line in [
        "y",
        "y 1",
        "c",
        "c 1",
        "n",
        "n 1",
        "r too risky",
        "r 1",
        "a 5",
        "o 1 1",
    ] {
        let told = ran_out("reject", "thinking").answers(line);
        let words = "Question 1 is over: its time ran out. Without an answer the agent takes it as rejected. Nothing was sent.";
        assert_eq!(told, words, "{line}");
    }
    let mut stage = ran_out("accept", "calling_tool");
    let words = "Question 1 is over: its time ran out, and it seems the agent took it as accepted. Nothing was sent.";
    assert_eq!(stage.answers("n 1"), words);
    assert!(stage.sent.is_empty());
}

/// Minutes later an answer without a number is a stray key; for one that names the question, its fate is still
/// announced.
#[test]
fn a_stray_answer_long_after_the_last_question_is_told_only_that_none_is_open() {
    let mut stage = ran_out("reject", "thinking");
    stage.wait(60_000);
    assert!(stage.answers("y").starts_with("Question 1 is over"));
    stage.wait(60_000);
    assert_eq!(stage.answers("y"), "No question is open.");
    assert!(stage.answers("y 1").starts_with("Question 1 is over"));
}

#[test]
fn an_answer_to_a_settled_question_is_told_how_it_was_settled() {
    let mut stage = one_over_one_open();
    let words = "Question 1 was settled without you. Nothing was sent.";
    for line in ["y 1", "n 1", "c 1", "o 1 1", "r #1 too risky", "a #1 yes"] {
        assert_eq!(stage.answers(line), words, "{line}");
    }
    assert_eq!(stage.answers("y 7"), "There is no open question 7.");
    assert!(stage.sent.is_empty());
}

#[test]
fn an_answer_to_an_answered_question_is_told_the_answer() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    let request = stage.sent[0].0;
    let outcome = Ok(Receipt::Taken);
    stage.link(0, LinkEvent::Replied { request, outcome });
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    let words = "Question 1 is settled. Your answer was: reject. Nothing more was sent.";
    assert_eq!(stage.answers("y"), words);
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn a_reason_behind_the_open_questions_number_is_the_reason_alone() {
    let mut stage = one_over_one_open();
    stage.answers("r 2 too risky");
    assert_eq!(stage.decision(), Some("reject"));
    assert_eq!(stage.sent[0].1["decision_rationale"], "too risky");
}

#[test]
fn a_reason_behind_another_questions_number_never_rejects_the_open_one() {
    let mut stage = one_over_one_open();
    let words =
        "Question 1 was settled without you. Nothing was sent.\nFor question 2, type r #2 TEXT.";
    assert_eq!(stage.answers("r 1 too risky"), words);
    let words = "9 may be the number of the question, or belong to the answer. Nothing was sent. Type r #2 TEXT, with all of the answer as the text.";
    assert_eq!(stage.answers("r 9 too risky"), words);
    assert_eq!(
        stage.answers("r #9 too risky"),
        "There is no open question 9."
    );
    assert!(stage.sent.is_empty());
    stage.answers("r #2 9 files are too many");
    assert_eq!(stage.decision(), Some("reject"));
    assert_eq!(
        stage.sent[0].1["decision_rationale"],
        "9 files are too many"
    );
}
