//! The person's own rules decide the questions that they match, and nothing else.

use super::*;
use crate::session::Question;

fn rules(text: &str) -> Config {
    Config::from_toml(text).unwrap()
}

fn mailer(decision: &str, more: &str) -> Config {
    rules(&format!(
        "[[policy]]\nname = \"mine\"\ndecision = \"{decision}\"\n{more}\n"
    ))
}

fn replied(stage: &mut Stage, outcome: Result<Receipt, DeliveryFailure>) {
    let request = stage.sent.last().unwrap().0;
    stage.link(0, LinkEvent::Replied { request, outcome });
}

#[test]
fn a_rule_is_told_at_the_start() {
    let stage = Stage::with(
        KEYS,
        rules(
            "[[policy]]\nname = \"a\"\ndecision = \"accept\"\n[[policy]]\nname = \"b\"\ndecision = \"leave\"\n",
        ),
    );
    stage.assert_heard(phrase!("policy.start", n = 2));
    stage.assert_heard("a accepts what is said to be of low risk and can be undone; b leaves");
}

#[test]
fn a_rejecting_rule_rejects_at_once_says_so_and_marks_it() {
    let mut stage = Stage::with(KEYS, mailer("reject", "tools = [\"send_email\"]"));
    stage.ask_with("rpl_1", json!({"tool": "send_email", "risk_level": "high"}));
    let (_, body) = stage.sent.last().unwrap();
    assert_eq!(body["decision"], "reject");
    assert_eq!(body["decided_by"], "auto:mine");
    stage.assert_heard(phrase!(
        "policy.rejects",
        rule = "mine",
        n = 1,
        action = "Send rpl_1",
        consequence = "It is gone"
    ));
    assert!(
        !stage.heard(phrase!("question.keys.accept")),
        "nobody is asked"
    );
    assert_eq!(stage.bells, 0);
    replied(&mut stage, Ok(Receipt::Taken));
    stage.assert_heard("Sent.");
}

#[test]
fn what_a_rule_is_not_about_is_asked() {
    for (more, question) in [
        ("tools = [\"send_email\"]", json!({})),
        ("tools = [\"send_email\"]", json!({"tool": "send_emails"})),
        ("agents = [\"b\", \"Mail\"]", json!({})),
        ("risks = [\"high\", \"unknown\"]", json!({})),
    ] {
        let mut stage = Stage::with(KEYS, mailer("reject", more));
        stage.ask_with("rpl_1", question.clone());
        assert!(stage.sent.is_empty(), "{more} {question}");
        assert!(
            stage.heard(phrase!("question.keys.accept")),
            "{more} {question}"
        );
    }
    for (more, question) in [
        (
            "tools = [\"send_email\"]",
            json!({"action": "Call send_email for bob"}),
        ),
        ("agents = [\"a\"]", json!({})),
        ("agents = [\"Mailer\"]", json!({})),
        ("risks = [\"unknown\"]", json!({"risk_level": "terrible"})),
        ("risks = [\"low\"]", json!({})),
    ] {
        let mut stage = Stage::with(KEYS, mailer("reject", more));
        stage.ask_with("rpl_1", question.clone());
        assert_eq!(stage.decision(), Some("reject"), "{more} {question}");
    }
}

#[test]
fn only_low_risk_and_reversible_by_the_events_own_word_is_accepted() {
    for harmless in [
        json!({}),
        json!({"reversibility": "reversible"}),
        json!({"irreversible": null, "reversibility": "reversible"}),
    ] {
        let mut stage = Stage::with(KEYS, mailer("accept", ""));
        stage.ask_with("rpl_1", harmless.clone());
        assert_eq!(stage.decision(), Some("accept"), "{harmless}");
        assert_eq!(stage.sent[0].1["decided_by"], "auto:mine");
        stage.assert_heard(
            "Your rule mine accepts question 1: Send rpl_1. What follows: It is gone. Low risk",
        );
    }
    for doubtful in [
        json!({"risk_level": "medium"}),
        json!({"risk_level": "high"}),
        json!({"risk_level": null}),
        json!({"risk_level": "tiny"}),
        json!({"irreversible": true}),
        json!({"irreversible": null}),
        json!({"irreversible": true, "reversibility": "reversible"}),
        json!({"irreversible": false, "reversibility": "irreversible"}),
        json!({"irreversible": false, "reversibility": "reversible_with_effort"}),
        json!({"irreversible": false, "reversibility": "who knows"}),
        json!({"action": "  "}),
        json!({"action": "Save\u{202e} the file"}),
        json!({"action": "x".repeat(Question::LONGEST_PART + 1)}),
        json!({"allowed_replies": ["reject", "later"]}),
    ] {
        let mut stage = Stage::with(KEYS, mailer("accept", ""));
        stage.ask_with("rpl_1", doubtful.clone());
        assert!(stage.sent.is_empty(), "{doubtful}");
        assert_eq!(stage.bells, 1, "the person is asked: {doubtful}");
    }
}

#[test]
fn a_tool_that_says_otherwise_is_believed() {
    let mut stage = Stage::with(KEYS, mailer("accept", ""));
    stage.event(
        "tool.invoked",
        json!({"tool": "wipe", "tool_call_id": "call_1", "irreversible": true, "risk_level": "high"}),
    );
    stage.ask_with("rpl_1", json!({"tool_call_id": "call_1"}));
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("question.keys.accept_twice"));
}

#[test]
fn a_name_in_the_action_is_not_enough_to_accept() {
    let mut stage = Stage::with(KEYS, mailer("accept", "tools = [\"save\"]"));
    stage.ask_with("rpl_1", json!({"action": "save the file"}));
    assert!(stage.sent.is_empty());
    stage.ask_with("rpl_2", json!({"action": "Keep it", "tool": "save"}));
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn the_first_rule_that_is_about_a_question_decides_it() {
    let mut stage = Stage::with(
        KEYS,
        rules(
            "[[policy]]\nname = \"first\"\ndecision = \"accept\"\n[[policy]]\nname = \"second\"\ndecision = \"reject\"\n",
        ),
    );
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    assert_eq!(stage.sent[0].1["decided_by"], "auto:second");
    stage.ask("rpl_2");
    assert_eq!(stage.sent[1].1["decided_by"], "auto:first");
}

#[test]
fn what_is_left_alone_stays_open_and_can_be_answered() {
    let mut stage = Stage::with(PIPE, mailer("leave", "risks = [\"low\"]"));
    stage.ask("rpl_1");
    assert!(stage.sent.is_empty());
    assert_eq!(stage.bells, 0);
    stage.assert_heard(phrase!("policy.leaves", rule = "mine", n = 1));
    stage.assert_heard("rejects in 5 minutes. y 1 accepts");
    // An answer without a number is meant for a question that was asked.
    stage.ask_with("rpl_2", json!({"risk_level": "medium"}));
    assert_eq!(stage.bells, 1);
    stage.wait(3000);
    stage.type_line("y");
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_2");
    stage.wait(3000);
    stage.type_line("y");
    assert_eq!(stage.sent.len(), 1, "a bare answer never takes it");
    stage.type_line("n 1");
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_1");
    assert_eq!(stage.sent.last().unwrap().1["decided_by"], "user:local");
}

#[test]
fn the_time_of_what_is_left_alone_is_not_counted_aloud() {
    let mut stage = Stage::with(KEYS, mailer("leave", ""));
    stage.ask("rpl_1");
    stage.wait(290_000);
    stage.assert_not_heard(phrase!("question.warning"));
    assert_eq!(stage.bells, 0);
    stage.wait(20_000);
    stage.assert_heard(phrase!("question.timed_out", n = 1));
}

#[test]
fn a_rules_answer_that_cannot_be_sent_leads_to_a_question() {
    let mut stage = Stage::with(KEYS, mailer("reject", ""));
    stage.ask("rpl_1");
    replied(
        &mut stage,
        Err(DeliveryFailure::Refused(Fault::Status {
            status: 403,
            retry_after: None,
        })),
    );
    stage.assert_heard(phrase!("reply.given_up"));
    assert!(
        stage.heard(phrase!("question.keys.accept")),
        "the person is asked after all"
    );
    assert_eq!(stage.bells, 1);
    stage.wait(500);
    stage.press('y');
    assert_eq!(stage.sent[1].1["decided_by"], "user:local");
    assert_eq!(stage.sent.len(), 2);
}

#[test]
fn no_rule_answers_a_clarification() {
    for decision in ["reject", "leave", "accept"] {
        let mut stage = Stage::with(KEYS, mailer(decision, ""));
        stage.event(
            "awaiting.clarification",
            json!({"question": "Which?", "reply_token": "rpl_1", "timeout_seconds": 60,
                   "accepted_response_kinds": ["yes_no"], "urgency": "critical"}),
        );
        assert!(stage.sent.is_empty());
        assert_eq!(stage.bells, 1);
    }
}

#[test]
fn a_question_that_was_answered_before_we_came_is_not_decided() {
    let mut stage = Stage::of(KEYS, vec![]);
    stage = {
        let config = mailer("reject", "");
        let source = SourceSetup {
            name: "tape".into(),
            answerable: false,
            recording: None,
            ..SourceSetup::default()
        };
        let _ = stage;
        Stage::under(config, KEYS, vec![source])
    };
    stage.link(0, LinkEvent::Connected);
    stage.ask("rpl_1");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("question.one_way"));
}

#[test]
fn a_rule_by_agent_is_not_about_whoever_takes_its_name() {
    let pem = include_str!("../../../../../tests/fixtures/keys/rsa.pub.pem");
    for (agents, id, name, decides) in [
        ("[\"planner\"]", "planner", "Planner", false),
        ("[\"Planner\"]", "planner", "Planner", false),
        ("[\"planner\"]", "evil", "planner", false),
        ("[\"mailer\"]", "mailer", "Mailer", true),
        ("[]", "planner", "Planner", true),
    ] {
        let config = mailer("reject", &format!("agents = {agents}"));
        let mut keys = KeyRing::default();
        keys.add("planner", None, pem).unwrap();
        let mut stage = Stage::knowing(keys, KEYS, config);
        stage.ask_with(
            "rpl_1",
            json!({"producer": {"agent_id": id, "agent_name": name}}),
        );
        assert_eq!(!stage.sent.is_empty(), decides, "{agents} {id} {name}");
        let unproven = stage.heard(&format!("from unproven {name}"));
        assert_eq!(unproven && !decides, !decides, "{:?}", stage.lines);
    }
}

#[test]
fn what_a_rule_leaves_alone_is_counted_nowhere_among_what_waits() {
    let mut stage = Stage::with(PIPE, mailer("leave", "tools = [\"send_email\"]"));
    stage.ask_with("rpl_1", json!({"tool": "send_email"}));
    assert_eq!(stage.app.waiting(), 0);
    stage.type_line("b");
    assert!(
        !stage.lines.last().unwrap().contains("waits for you"),
        "{:?}",
        stage.lines.last()
    );
    stage.ask("rpl_2");
    stage.type_line("b");
    assert!(
        stage
            .lines
            .last()
            .unwrap()
            .contains("1 question waits for you"),
        "{:?}",
        stage.lines.last()
    );
    assert_eq!(stage.app.waiting(), 1);
    assert_eq!(stage.app.questions().len(), 2, "it is still there");
}
