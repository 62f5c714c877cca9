//! Leaving while answers are under way: none is left behind without an announcement.

use super::*;

/// Returns a stage with two questions, the first of them rejected.
fn answered() -> Stage {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.ask("rpl_2");
    stage.wait(3000);
    stage.type_line("n 1");
    assert_eq!(stage.sent.len(), 1);
    stage
}

fn comes_back(stage: &mut Stage, outcome: Result<Receipt, DeliveryFailure>) {
    let request = stage.sent.last().unwrap().0;
    stage.link(0, LinkEvent::Replied { request, outcome });
}

const UNCONFIRMED: &str = "Nobody confirmed the answer to question 1: reject. It may have arrived.";

#[test]
fn leaving_open_questions_waits_for_the_answers_to_others() {
    let mut stage = answered();
    comes_back(&mut stage, Err(DeliveryFailure::Kept(Fault::Refused)));
    stage.type_line("q");
    stage.assert_heard("Question 2");
    assert_eq!(stage.quit, None);
    stage.type_line("q");
    assert_eq!(stage.quit, None, "an answer is still sent again");
    stage.assert_heard(phrase!("quit.sending"));
    stage.wait(500);
    assert_eq!(stage.sent.len(), 2);
    comes_back(&mut stage, Ok(Receipt::Taken));
    assert_eq!(stage.quit, Some(Exit::Clean));

    // The wait for the answer ends, and its fate is announced.
    let mut stage = answered();
    comes_back(&mut stage, Err(DeliveryFailure::Kept(Fault::Refused)));
    stage.type_line("q");
    stage.type_line("q");
    stage.wait(9000);
    assert_eq!(stage.quit, None);
    stage.wait(1000);
    assert_eq!(stage.quit, Some(Exit::Clean));
    assert!(
        stage.heard(phrase!("reply.failed.rejected.lines", n = 1)) || stage.heard(UNCONFIRMED),
        "{:?}",
        stage.lines
    );
}

#[test]
fn who_leaves_at_once_is_told_which_answers_are_left_behind() {
    for again in [None, Some(Input::Terminate)] {
        let mut stage = answered();
        comes_back(&mut stage, Err(DeliveryFailure::Kept(Fault::Refused)));
        stage.wait(400);
        stage.type_line("n 2");
        stage.type_line("q");
        stage.assert_heard(phrase!("quit.sending"));
        assert_eq!(stage.quit, None);
        stage.lines.clear();
        match again {
            None => stage.type_line("q"),
            Some(input) => stage.input(input),
        }
        assert!(stage.quit.is_some());
        stage.assert_heard(phrase!("quit.not_delivered", n = 1, answer = "reject"));
        stage.assert_heard(phrase!("quit.unconfirmed", n = 2, answer = "reject"));
    }
    let mut stage = answered();
    stage.input(Input::Terminate);
    assert_eq!(stage.quit, None);
    stage.input(Input::Terminate);
    assert_eq!(stage.quit, Some(Exit::Terminated));
    stage.assert_heard(UNCONFIRMED);
}

#[test]
fn the_full_face_leaves_each_of_its_last_words_once() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.ask("rpl_2");
    stage.wait(700);
    stage.press('n');
    assert_eq!(stage.sent.len(), 1);
    stage.wait(700);
    for _ in 0..3 {
        stage.press('q');
    }
    assert_eq!(stage.quit, Some(Exit::Clean));
    let about = |n: &str| {
        let words = stage.farewells.iter().filter(|words| words.contains(n));
        words.count()
    };
    assert_eq!(
        (about("uestion 1"), about("uestion 2")),
        (1, 1),
        "{:?}",
        stage.farewells
    );
}

#[test]
fn an_answer_that_was_meant_for_a_source_that_is_left_is_given_to_no_other() {
    let mut stage = Stage::new(PIPE);
    stage.link(1, LinkEvent::Connected);
    stage.ask("rpl_1");
    stage.event_on(
        1,
        "awaiting.confirmation",
        json!({"action": "Send two", "consequence": "It is gone", "reply_token": "rpl_2", "session_id": "sess_2",
            "timeout_seconds": 300, "default_decision": "reject", "risk_level": "low", "irreversible": false,
            "urgency": "critical"}),
    );
    stage.wait(5000);
    stage.type_line("x");
    stage.type_line("x");
    assert_eq!(stage.app.waiting(), 1, "{:?}", stage.lines);
    // With one left, an answer without a number could be meant for it; but a moment ago there were two.
    stage.wait(500);
    stage.type_line("y");
    assert!(stage.sent.is_empty(), "{:?}", stage.lines.last());
    stage.wait(3000);
    stage.type_line("y");
    assert_eq!(stage.sent.len(), 1, "{:?}", stage.lines.last());
}

/// Makes an agent that hearken started ready; `keeps` says whether it can reopen conversations.
fn started(keeps: bool) -> Stage {
    let source = SourceSetup {
        name: "fox".into(),
        answerable: true,
        carrier: crate::dialect::TransportKind::Lines,
        dialect: crate::config::Dialect::Acp,
        folder: "/work/a".to_owned(),
        program: true,
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(PIPE, vec![source]);
    let able = match keeps {
        true => json!({"loadSession": true, "sessionCapabilities": {"list": {}}}),
        false => json!({}),
    };
    stage.link(0, LinkEvent::Connected);
    for (id, result) in [
        (1, json!({"protocolVersion": 1, "agentCapabilities": able})),
        (2, json!({"sessionId": "s"})),
    ] {
        let frame = json!({"jsonrpc": "2.0", "id": id, "result": result});
        stage.link(0, LinkEvent::Frame(Frame::of(frame.to_string())));
    }
    stage.wait(2000);
    stage
}

#[test]
fn leaving_asks_once_where_work_or_a_conversation_would_end_with_it() {
    // The agent was never prompted, so nothing is lost.
    let mut stage = started(false);
    stage.type_line("q");
    assert_eq!(stage.quit, Some(Exit::Clean));
    for keeps in [true, false] {
        let mut stage = started(keeps);
        stage.type_prompt("do it");
        stage.lines.clear();
        stage.type_line("q");
        assert_eq!(
            stage.lines,
            ["fox is at work, and ends with hearken. Type q again to leave."]
        );
        stage.type_line("q");
        assert_eq!(stage.quit, Some(Exit::Clean));
        let mut idle = started(keeps);
        idle.type_prompt("do it");
        idle.turn_ends();
        idle.wait(1000);
        idle.lines.clear();
        idle.type_line("q");
        match keeps {
            true => assert_eq!(idle.quit, Some(Exit::Clean), "it can be taken up again"),
            false => {
                assert_eq!(
                    idle.lines,
                    [
                        "fox ends with hearken, and this conversation can't be resumed. Type q again to leave."
                    ]
                );
                idle.type_line("q");
                assert_eq!(idle.quit, Some(Exit::Clean));
            }
        }
    }
}
