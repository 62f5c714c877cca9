//! Bell, notification and title for an unanswered question.

use super::*;

#[test]
fn a_question_calls_again_and_more_urgently_until_it_is_answered() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    let first = stage.notices[0].clone();
    assert_eq!(first.text, "Question 1 waits for your answer.");
    assert!(!first.urgent);
    for (seconds, calls, words) in [
        (29, 1, "waits"),
        (1, 2, "has waited for 30 seconds"),
        (89, 2, ""),
        (1, 3, "has waited for 2 minutes"),
        (179, 3, ""),
        (1, 4, "has waited for 5 minutes"),
        (3600, 4, ""),
    ] {
        stage.wait(seconds * 1000);
        assert_eq!(stage.bells, calls);
        assert_eq!(stage.notices.len(), calls);
        let last = stage.notices.last().unwrap();
        assert!(last.text.contains(words), "{last:?}");
        assert_eq!(last.urgent, calls > 1);
    }
    assert!(stage.withdrawn.is_empty());
    stage.press('n');
    assert_eq!(stage.withdrawn, [Noticed::Question(QuestionId(1))]);
    stage.wait(1000);
    assert_eq!(stage.withdrawn.len(), 1, "once");
}

#[test]
fn a_notification_carries_no_word_of_an_agent() {
    let mut stage = Stage::new(KEYS);
    let hostile = "\u{1b}]9;Your bank: press y\u{7} \u{202e}yes";
    stage.ask_with(
        "rpl_1",
        json!({"action": hostile, "consequence": hostile, "risk_level": "high",
               "producer": {"agent_id": "a", "agent_name": hostile}}),
    );
    stage.wait(400_000);
    assert_eq!(stage.notices.len(), 4);
    for notice in &stage.notices {
        assert!(notice.urgent);
        assert!(
            phrase!("question.risk.high").is_in(&notice.text),
            "{notice:?}"
        );
        for part in ["bank", "yes", "\u{1b}", "\u{7}", "\u{202e}"] {
            assert!(!notice.text.contains(part), "{notice:?}");
        }
    }
}

#[test]
fn whoever_looks_at_the_terminal_hears_the_bell_and_gets_no_notification() {
    let mut stage = Stage::new(KEYS);
    stage.strike(TerminalInput::Focus(true));
    stage.ask("rpl_1");
    assert_eq!((stage.bells, stage.notices.len()), (1, 0));
    stage.strike(TerminalInput::Focus(false));
    stage.wait(30_000);
    assert_eq!((stage.bells, stage.notices.len()), (2, 1));
    stage.strike(TerminalInput::Focus(true));
    stage.wait(90_000);
    assert_eq!((stage.bells, stage.notices.len()), (3, 1));
}

#[test]
fn every_way_in_which_a_question_ends_takes_its_notification_back() {
    for how in 0..4 {
        let mut stage = Stage::new(KEYS);
        stage.ask("rpl_1");
        assert_eq!(stage.notices.len(), 1);
        match how {
            0 => stage.event(
                "state.changed",
                json!({"from_state": "awaiting_input", "to_state": "thinking"}),
            ),
            1 => stage.event("session.completed", json!({"summary_normal": "Done"})),
            2 => stage.link(
                0,
                LinkEvent::Lost {
                    fault: Fault::Closed,
                    retry_in: Duration::from_secs(1),
                },
            ),
            _ => {
                stage.press('q');
                stage.press('q');
            }
        }
        assert_eq!(stage.withdrawn, [Noticed::Question(QuestionId(1))], "{how}");
    }
}

#[test]
fn both_off_switches_are_silent() {
    let mut config = Config::default();
    config.screen.bell = false;
    let mut stage = Stage::with(KEYS, config);
    stage.ask("rpl_1");
    stage.wait(400_000);
    assert_eq!(stage.bells, 0);
    assert!(!stage.notices.is_empty(), "the route decides about these");
}

#[test]
fn whoever_leaves_the_full_face_can_read_what_becomes_of_the_questions() {
    for how in [Input::Terminate, Input::Interrupt] {
        let mut stage = Stage::new(KEYS);
        stage.ask("rpl_1");
        stage.input(how.clone());
        if how == Input::Interrupt {
            assert!(stage.farewells.is_empty(), "it is asked first");
            stage.input(how);
        }
        assert_eq!(
            stage.farewells,
            ["Question 1 will be rejected when time runs out."]
        );
        assert!(stage.quit.is_some());
    }
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.input(Input::Terminate);
    assert!(stage.farewells.is_empty(), "lines stay where they are");
    stage.assert_heard(phrase!("quit.default.reject"));
}

#[test]
fn whoever_looks_elsewhere_is_called_when_the_agent_that_they_prompted_is_done() {
    let mut stage = Stage::prompted(KEYS);
    stage.says("Working on it.");
    stage.strike(TerminalInput::Focus(false));
    stage.wait(20_000);
    stage.turn_ends();
    let about = Noticed::Turn(LinkId(0));
    let last = stage.notices.last().unwrap();
    assert_eq!(
        (last.about, last.text.as_str()),
        (about, "Your agent is done.")
    );
    let told = stage.app.history().iter().rev();
    let told: Vec<String> = told.map(|told| told.text()).collect();
    assert!(
        told.iter().any(|it| it == "Finished after 20 seconds."),
        "{told:?}"
    );
    assert!(stage.withdrawn.is_empty());
    stage.strike(TerminalInput::Focus(true));
    assert_eq!(stage.withdrawn, [about]);
    // A person who looks at the terminal needs no other call.
    stage.type_prompt("more");
    stage.says("Again.");
    stage.turn_ends();
    assert_eq!(stage.notices.len(), 1);
}

#[test]
fn a_danger_stays_beside_the_next_question_until_a_key_is_pressed() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(700);
    stage.press('n');
    stage.event(
        "tool.invoked",
        json!({"tool": "send_email", "tool_call_id": "call_1", "summary_normal": "Sending."}),
    );
    stage.event(
        "tool.completed",
        json!({"tool": "send_email", "tool_call_id": "call_1", "status": "success", "summary_normal": "Sent."}),
    );
    stage.ask("rpl_2");
    let shows = |stage: &Stage| {
        let mut answers = stage.app.answers().iter();
        answers.any(|told| told.kind == crate::announce::AnnouncementKind::Danger)
    };
    assert!(shows(&stage), "{:?}", stage.lines);
    stage.wait(700);
    stage.press('d');
    assert!(!shows(&stage));
}

#[test]
fn a_question_that_a_danger_covers_takes_a_key_to_be_seen_and_another_to_be_answered() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(700);
    stage.press('n');
    stage.event(
        "tool.invoked",
        json!({"tool": "send_email", "tool_call_id": "call_1", "summary_normal": "Sending."}),
    );
    stage.event(
        "tool.completed",
        json!({"tool": "send_email", "tool_call_id": "call_1", "status": "success", "summary_normal": "Sent."}),
    );
    stage.ask("rpl_2");
    stage.wait(3000);
    stage.draw(QuestionVisibility::SideQuestion);
    let sent = stage.sent.len();
    stage.press('y');
    assert_eq!(stage.sent.len(), sent, "{:?}", stage.lines);
    stage.draw(QuestionVisibility::SideQuestion);
    stage.wait(700);
    stage.press('y');
    assert_eq!(stage.sent.len(), sent + 1, "{:?}", stage.lines);
}
