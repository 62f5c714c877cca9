//! What a person plainly means is done, and what waits for the person says so.

use super::holding::EDITOR;
use super::*;

#[test]
fn a_no_with_words_rejects_with_a_reason_or_says_how() {
    let mut stage = Stage::new(EDITOR);
    stage.ask("rpl_1");
    stage.wait(5_000);
    stage.type_line("n because no");
    assert!(stage.sent.is_empty());
    assert!(
        stage.heard("type r, a space and the reason"),
        "{:?}",
        stage.lines
    );
    stage.type_line("n 1 because no");
    assert_eq!(stage.decision(), Some("reject"));
    assert!(stage.heard("Your reason: because no"), "{:?}", stage.lines);
}

#[test]
fn an_agent_is_muted_by_its_name() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.type_line("m mailer");
    assert!(stage.heard("Mailer is muted."), "{:?}", stage.lines);
    stage.type_line("m Mailer");
    assert!(stage.heard("Mailer is heard again."), "{:?}", stage.lines);
    stage.type_line("m Nobody");
    assert!(
        stage.heard("No agent here is called Nobody."),
        "{:?}",
        stage.lines
    );
    // One of two is meant by all of what it is called.
    stage.event_on(1, "session.started", json!({"summary_normal": "Off we go"}));
    stage.type_line("m Mailer");
    assert!(
        stage.heard("Several agents are called Mailer."),
        "{:?}",
        stage.lines
    );
    stage.type_line("m Mailer of source 2");
    assert!(
        stage.heard("Mailer of source 2 is muted."),
        "{:?}",
        stage.lines
    );
}

#[test]
fn a_call_that_waits_for_the_person_is_not_said_to_run() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.event(
        "tool.invoked",
        json!({"tool": "send_email", "tool_call_id": "call_1", "irreversible": true}),
    );
    stage.type_line("t");
    assert!(stage.heard("running send email for"), "{:?}", stage.lines);
    stage.ask_with("rpl_1", json!({"tool_call_id": "call_1"}));
    stage.wait(5_000);
    stage.lines.clear();
    stage.type_line("t");
    assert!(stage.heard("send email waits for you"), "{:?}", stage.lines);
    assert!(!stage.heard("running send email"), "{:?}", stage.lines);
    stage.type_line("y");
    stage.type_line("c");
    assert_eq!(stage.decision(), Some("accept"));
    stage.lines.clear();
    stage.type_line("t");
    assert!(stage.heard("running send email for"), "{:?}", stage.lines);
}

#[test]
fn one_of_two_that_share_a_name_is_told_once() {
    let mut stage = Stage::new(EDITOR);
    stage.event_on(1, "session.started", json!({"summary_normal": "Off we go"}));
    stage.event(
        "session.started",
        json!({"summary_normal": "Mailer is writing to Ann."}),
    );
    assert!(
        stage.heard("Mailer of source 1: is writing to Ann."),
        "{:?}",
        stage.lines
    );
    assert!(!stage.heard("source 1 started"), "{:?}", stage.lines);
}

#[test]
fn a_silent_agent_that_works_is_told_to_who_reads_lines() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    let told = |stage: &Stage| {
        stage
            .lines
            .iter()
            .filter(|line| line.contains("Working."))
            .count()
    };
    stage.wait(2_999);
    assert_eq!(told(&stage), 0);
    stage.wait(1);
    assert_eq!(told(&stage), 1);
    stage.wait(60_000);
    assert!(told(&stage) <= 4, "as rarely as by ear: {:?}", stage.lines);
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.wait(60_000);
    assert_eq!(told(&stage), 0, "a pipe has no need of it");
}
