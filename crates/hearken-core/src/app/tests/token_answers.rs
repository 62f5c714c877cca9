//! Reused tokens and tools that contradict their question, as the person encounters them.

use super::sequences::Dice;
use super::*;

#[test]
fn a_reused_token_is_told_and_its_question_can_be_answered_only_after_the_other() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.ask_with(
        "rpl_1",
        json!({"action": "Wipe the disk", "session_id": "sess_2"}),
    );
    stage.assert_heard(phrase!("question.reused"));
    stage.assert_heard(phrase!("question.shared", with = 1));
    stage.wait(3000);
    stage.type_line("y 2");
    assert!(stage.sent.is_empty());
    stage.type_line("n 1");
    assert_eq!(stage.decision(), Some("reject"));
    stage.type_line("y 2");
    assert_eq!(stage.sent.len(), 1, "the earlier one is still open");
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.assert_heard(phrase!("question.freed", n = 2, subject = "Wipe the disk"));
    stage.wait(3000);
    stage.type_line("n 2");
    assert_eq!(stage.sent.len(), 1, "a rejection takes two steps here, too");
    stage.wait(500);
    stage.type_line("c 2");
    assert_eq!(stage.sent.len(), 2);
}

#[test]
fn no_rule_answers_under_a_used_token() {
    let rule = "[[policy]]\nname = \"mine\"\ndecision = \"reject\"\n";
    let mut stage = Stage::with(KEYS, Config::from_toml(rule).unwrap());
    stage.ask("rpl_1");
    assert_eq!(stage.sent.len(), 1);
    stage.event("session.completed", json!({"summary_normal": "Done."}));
    stage.ask_with(
        "rpl_1",
        json!({"session_id": "sess_2", "action": "Wipe the disk"}),
    );
    assert_eq!(stage.sent.len(), 1);
    stage.assert_heard(phrase!("question.reused"));
}

#[test]
fn a_clarification_under_a_used_token_takes_two_steps() {
    let mut stage = Stage::new(PIPE);
    let ask = |stage: &mut Stage, question: &str| {
        stage.event(
            "awaiting.clarification",
            json!({"question": question, "reply_token": "rpl_1", "timeout_seconds": 300,
                   "accepted_response_kinds": ["yes_no"], "urgency": "critical"}),
        );
        stage.wait(3000);
    };
    ask(&mut stage, "Tea?");
    stage.type_line("y 1");
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    ask(&mut stage, "All my money?");
    stage.type_line("y 2");
    assert_eq!(stage.sent.len(), 1);
    stage.assert_heard(phrase!(
        "reply.second_step.other.lines",
        n = 2,
        answer = "yes",
        subject = "All my money?"
    ));
    stage.wait(500);
    stage.type_line("c 2");
    assert_eq!(stage.sent.len(), 2);
}

#[test]
fn a_tool_that_contradicts_its_question_is_told_and_takes_two_steps() {
    let mut stage = Stage::new(PIPE);
    stage.event(
        "tool.invoked",
        json!({"tool": "wipe", "tool_call_id": "call_1", "irreversible": true, "risk_level": "high"}),
    );
    stage.ask_with("rpl_1", json!({"tool_call_id": "call_1"}));
    stage
        .assert_heard("Low risk. Can be undone. The tool itself says: High risk. Can't be undone.");
    stage.wait(3000);
    stage.type_line("y 1");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.second_step.lines.short", n = 1));
}

#[test]
fn an_action_that_is_empty_or_hides_something_takes_two_steps() {
    for action in ["", "  ", "Save\u{202e} the file", "Save\u{200b}it"] {
        let mut stage = Stage::new(PIPE);
        stage.ask_with("rpl_1", json!({"action": action}));
        stage.wait(3000);
        stage.type_line("y 1");
        assert!(stage.sent.is_empty(), "{action:?}");
        assert!(
            stage.heard(phrase!("reply.second_step.lines.short", n = 1)),
            "{action:?}: {:?}",
            stage.lines
        );
    }
}

/// Two agents in two sessions ask under four tokens, links break, answers fail in every way, and every
/// answerable question is answered: no answer under a token contradicts an earlier one, unless that was
/// announced and confirmed.
#[test]
fn random_sequences_answer_a_token_once_unless_told() {
    let mut second_answers = 0;
    let count = u64::from(runs(400));
    for run in 0..count {
        let mut dice = Dice(run);
        let mut stage = Stage::new(PIPE);
        // The answer sent under each token, and the question that it was for.
        let mut given: BTreeMap<String, (u64, Value)> = BTreeMap::new();
        for _ in 0..60 {
            let session = format!("sess_{}", dice.roll(2));
            let by = json!({"agent_id": format!("a{}", dice.roll(2)), "agent_name": "Mailer"});
            match dice.roll(10) {
                0..=2 => {
                    let token = format!("rpl_{}", dice.roll(4));
                    let action = format!("Send {}", dice.roll(2));
                    let fields = json!({"action": action, "session_id": session, "producer": by});
                    stage.ask_with(&token, fields);
                }
                3 => stage.event(
                    "state.changed",
                    json!({"from_state": "awaiting_input", "to_state": "thinking",
                           "session_id": session, "producer": by}),
                ),
                4 => {
                    let outcome = match dice.roll(5) {
                        0 => Ok(Receipt::Taken),
                        1 => Ok(Receipt::Written),
                        2 => Err(DeliveryFailure::Kept(Fault::Refused)),
                        3 => Err(DeliveryFailure::Unknown(Fault::Closed)),
                        _ => Err(DeliveryFailure::Refused(Fault::Status {
                            status: 409,
                            retry_after: None,
                        })),
                    };
                    if let Some((request, _)) = stage.sent.last().cloned() {
                        stage.link(0, LinkEvent::Replied { request, outcome });
                    }
                }
                5 => stage.wait(dice.roll(4000)),
                _ => {
                    stage.wait(2500);
                    let open: Vec<u64> = stage.app.questions().iter().map(|it| it.id.0).collect();
                    if open.is_empty() {
                        continue;
                    }
                    let n = open[usize::try_from(dice.roll(open.len() as u64)).unwrap()];
                    let before = stage.sent.len();
                    let key = if dice.roll(2) == 0 { "y" } else { "n" };
                    stage.lines.clear();
                    stage.type_line(&format!("{key} {n}"));
                    let mut confirmed = false;
                    if stage.sent.len() == before && dice.roll(2) == 0 {
                        stage.wait(300);
                        confirmed = stage.heard("Type c");
                        stage.type_line(&format!("c {n}"));
                    }
                    let Some((_, body)) = stage.sent.get(before).cloned() else {
                        continue;
                    };
                    let token = body["reply_token"].as_str().unwrap().to_owned();
                    let others = stage.app.sessions().open_questions().filter(|it| {
                        it.id.0 < n && it.body.token().is_some_and(|it| it.reveal() == token)
                    });
                    assert_eq!(others.count(), 0, "run {run}: {:?}", stage.lines);
                    if let Some((question, answer)) = given.get(&token) {
                        let same = (*question, &answer["decision"]) == (n, &body["decision"]);
                        let undone = stage
                            .app
                            .sessions()
                            .question(QuestionId(*question))
                            .is_some_and(|it| {
                                it.reply
                                    .given()
                                    .is_some_and(|given| given.earlier.is_none())
                            });
                        assert!(
                            same || confirmed || (*question == n && undone),
                            "run {run}: {:?}",
                            stage.lines
                        );
                        second_answers += u32::from(!same && confirmed);
                    }
                    given.insert(token, (n, body));
                }
            }
        }
    }
    assert!(u64::from(second_answers) > count / 8, "{second_answers}");
}
