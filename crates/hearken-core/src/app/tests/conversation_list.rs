//! Several agents that take prompts: the list, going to one, and addressing it.

mod space_agents;

use super::*;

#[test]
fn each_conversation_has_a_number_a_state_and_what_is_meant_for_it() {
    let mut stage = Stage::agents(2, PIPE, Config::default());
    stage.type_line("sessions");
    stage.assert_heard("1: agent 0: nothing is asked of it. 2: agent 1: nothing is asked of it.");
    stage.type_line("go 2");
    stage.assert_heard("2: agent 1: nothing is asked of it. You are here.");
    stage.type_line("> do it");
    stage.assert_heard("To agent 1.");
    stage.type_line("> #1 other work");
    assert_eq!(stage.prompts(0)[0].1, "other work");
    assert_eq!(stage.prompts(1)[0].1, "do it");
    // The last agent to speak is not the one that the person chose.
    stage.says_on(0, "Here I am.");
    stage.type_line("> and then");
    stage.assert_heard("To Fox 1.");
    assert_eq!(stage.prompts(0).len(), 1);
    stage.type_line("m");
    assert!(
        stage.lines.last().unwrap().contains("Fox 1"),
        "{:?}",
        stage.lines
    );
    stage.type_line("sessions");
    stage.assert_heard("Muted. You are here.");
    stage.type_line("go 7");
    stage.assert_heard(phrase!("conversation.no_such", n = 7));
}

#[test]
fn a_stop_by_number_takes_two_steps_of_the_same_number() {
    let mut stage = Stage::agents(2, PIPE, Config::default());
    stage.type_line("sessions");
    stage.type_line("> #1 a");
    stage.type_line("> #2 b");
    let stopped = |stage: &Stage, link: usize| {
        let cancels = |body: &Value| body["method"] == "session/cancel";
        let mut sent = stage.frames.iter();
        sent.any(|(to, body)| *to == LinkId(link) && cancels(body))
    };
    stage.type_line("stop 1");
    stage.assert_heard(phrase!("stop_turn.first.lines", n = 1, agent = "Fox 0"));
    stage.type_line("stop 2");
    assert!(
        !stopped(&stage, 0) && !stopped(&stage, 1),
        "another agent's step"
    );
    stage.type_line("stop 2");
    assert!(!stopped(&stage, 0) && stopped(&stage, 1));
    stage.type_line("stop 9");
    stage.assert_heard(phrase!("conversation.no_such", n = 9));
}

#[test]
fn going_to_a_conversation_shows_its_question_and_answers_nothing() {
    let mut stage = Stage::agents(2, KEYS, Config::default());
    stage.type_prompt("#1 a");
    stage.type_prompt("#2 b");
    let call = |command: &str| json!({"toolCallId": "c", "title": "x", "kind": "execute", "rawInput": {"command": command}});
    stage.asks_on(0, 9, call("touch one"));
    stage.asks_on(1, 9, call("touch two"));
    stage.wait(800);
    stage.code(KeyCode::F(6));
    stage.wait(800);
    stage.code(KeyCode::F(6));
    let (_, question) = stage.app.shown().unwrap();
    assert_eq!(question.body.subject(), "touch two");
    // The question is armed again, and an earlier key does not count for it.
    stage.press('y');
    assert!(stage.answers_to(9).is_empty());
    stage.wait(800);
    stage.code(KeyCode::F(6));
    let (_, question) = stage.app.shown().unwrap();
    assert_eq!(question.body.subject(), "touch one");
    assert!(stage.answers_to(9).is_empty());
}

#[test]
fn agents_that_are_only_listened_to_are_conversations_that_can_be_left_and_muted() {
    let mut stage = Stage::new(PIPE);
    stage.type_line("sessions");
    stage.assert_heard(phrase!("conversation.none"));
    stage.event("session.started", json!({"summary_normal": "Working"}));
    stage.type_line("go 1");
    stage.assert_heard("1: Mailer");
    stage.type_line("> x");
    stage.assert_heard(phrase!("prompt.not_this"));
    stage.type_line("go");
    stage.type_line("> x");
    stage.assert_heard(phrase!("prompt.nobody"));
}

/// A face shows the number before the person has asked for it, and it stays the same.
#[test]
fn an_agent_has_the_number_that_goes_to_it_as_soon_as_it_is_heard() {
    let mut stage = Stage::agents(2, PIPE, Config::default());
    stage.says_on(1, "Here I am.");
    stage.says_on(0, "I too.");
    let numbers = |stage: &Stage| -> Vec<(LinkId, Option<usize>)> {
        let sessions = stage.app.sessions().iter();
        sessions
            .map(|it| (it.key.link, stage.app.conversation_number(it)))
            .collect()
    };
    let there = [(LinkId(0), Some(2)), (LinkId(1), Some(1))];
    assert_eq!(numbers(&stage), there);
    stage.type_line("sessions");
    assert!(
        stage.heard("1: Fox 1: ") && stage.heard("2: Fox 0: "),
        "{:?}",
        stage.lines
    );
    stage.type_line("go 2");
    assert_eq!(numbers(&stage), there);
    stage.type_line("> do it");
    assert_eq!(stage.prompts(0).len(), 1);
}
