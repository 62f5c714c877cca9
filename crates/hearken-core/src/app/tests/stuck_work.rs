//! A prompted agent that is not heard any more, and one that does not stop.

use super::*;

/// Returns how many lines contain these words.
fn count(stage: &Stage, words: &str) -> usize {
    let lines = stage.lines.iter();
    lines.filter(|line| line.contains(words)).count()
}

fn wait(stage: &mut Stage, seconds: u64) {
    for _ in 0..seconds {
        stage.wait(1000);
    }
}

#[test]
fn a_prompt_that_nothing_answers_is_told_ever_more_rarely() {
    let mut stage = Stage::prompted(PIPE);
    stage.says("I look.\n\n");
    wait(&mut stage, 55);
    assert_eq!(count(&stage, "Nothing new"), 0, "{:?}", stage.lines);
    wait(&mut stage, 10);
    stage.assert_heard(phrase!("stuck.nothing", time = "1 minute"));
    wait(&mut stage, 60);
    assert_eq!(count(&stage, "Nothing new"), 1);
    wait(&mut stage, 60);
    stage.assert_heard(phrase!("stuck.nothing", time = "3 minutes"));
    // Anything new starts the count again.
    stage.says("Still here.\n\n");
    wait(&mut stage, 65);
    assert_eq!(count(&stage, "Nothing new for 1 minute."), 2);
    // Finished work is not waited for.
    stage.turn_ends();
    let before = count(&stage, "Nothing new");
    wait(&mut stage, 600);
    assert_eq!(count(&stage, "Nothing new"), before);
}

#[test]
fn the_word_of_the_heartbeat_rests_when_nobody_knows_whether_it_is_true() {
    let mut stage = Stage::agent(VOICE, Config::default());
    stage.voiced();
    stage.type_prompt("do it");
    for _ in 0..70 {
        stage.wait(1000);
        stage.speak_all();
    }
    assert!(
        stage
            .said()
            .iter()
            .any(|line| *line == phrase!("heartbeat")),
        "{:?}",
        stage.said()
    );
    assert!(
        stage
            .said()
            .iter()
            .any(|line| *line == phrase!("stuck.nothing", time = "1 minute")),
        "{:?}",
        stage.said()
    );
    stage.spoken.clear();
    for _ in 0..80 {
        stage.wait(1000);
        stage.speak_all();
    }
    assert_eq!(stage.said(), [""; 0]);
}

#[test]
fn a_question_that_waits_for_the_person_is_no_silence_of_the_agent() {
    let mut stage = Stage::prompted(PIPE);
    stage.asks(9, json!({"toolCallId": "c", "title": "x", "kind": "other"}));
    wait(&mut stage, 200);
    assert_eq!(count(&stage, "Nothing new"), 0, "{:?}", stage.lines);
}

#[test]
fn work_that_does_not_stop_is_told_and_can_be_left_and_the_next_prompt_is_sent() {
    let mut stage = Stage::prompted(PIPE);
    stage.type_line("> next");
    stage.type_line("stop");
    stage.type_line("stop");
    stage.assert_heard(phrase!("stop_turn.asked_to_stop"));
    // At first, one more stop only repeats what is known.
    stage.type_line("stop");
    stage.assert_heard(phrase!("stop_turn.stopping"));
    wait(&mut stage, 6);
    stage.assert_heard(phrase!("stop_turn.no_effect.lines"));
    stage.type_line("fleet");
    stage.assert_heard(phrase!("fleet.stuck"));
    assert_eq!(stage.prompts(0).len(), 1);
    let first = stage.prompts(0)[0].0;
    stage.type_line("stop");
    stage.assert_heard(phrase!("stop_turn.left"));
    stage.assert_heard(phrase!("prompt.next"));
    assert_eq!(stage.prompts(0)[1].1, "next");
    // A late answer to the prompt that was left does not end the next turn.
    let late = json!({"jsonrpc": "2.0", "id": first, "result": {"stopReason": "cancelled"}});
    stage.link(0, LinkEvent::Frame(Frame::of(late.to_string())));
    stage.type_line("> third");
    assert_eq!(stage.prompts(0).len(), 2, "the next turn goes on");
    stage.turn_ends();
    assert_eq!(stage.prompts(0)[2].1, "third");
}

#[test]
fn work_that_stops_in_time_is_not_told_to_go_on() {
    let mut stage = Stage::prompted(PIPE);
    stage.type_line("stop");
    stage.type_line("stop");
    let id = stage.prompts(0)[0].0;
    let done = json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "cancelled"}});
    stage.link(0, LinkEvent::Frame(Frame::of(done.to_string())));
    wait(&mut stage, 10);
    assert_eq!(count(&stage, "has not stopped"), 0);
    stage.type_line("stop");
    stage.assert_heard(phrase!("stop_turn.none"));
}

/// The server took the request and then said nothing: there is not even a session.
#[test]
fn a_prompt_without_a_turn_is_told_and_can_be_given_up() {
    let source = SourceSetup {
        name: "server".to_owned(),
        answerable: true,
        carrier: crate::dialect::TransportKind::EventStream,
        dialect: crate::config::Dialect::A2a,
        path: "/".to_owned(),
        origin: "http://localhost:1".to_owned(),
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(PIPE, vec![source]);
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.link(0, LinkEvent::Connected);
    let card = json!({"name": "Fox", "capabilities": {"streaming": true},
        "supportedInterfaces": [{"url": "http://localhost:1/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]});
    stage.link(0, LinkEvent::Frame(Frame::of(card.to_string())));
    stage.type_prompt("first");
    stage.type_prompt("second");
    stage.assert_heard(phrase!("prompt.held"));
    wait(&mut stage, 65);
    stage.assert_heard(phrase!("stuck.nothing", time = "1 minute"));
    stage.type_line("stop");
    stage.type_line("stop");
    stage.assert_heard(phrase!("prompt.given_up"));
    stage.assert_heard(phrase!("prompt.next"));
}

#[test]
fn the_silence_of_one_agent_is_told_while_another_one_speaks() {
    let source = SourceSetup {
        name: "server".into(),
        answerable: true,
        prompts_at: Some("/sessions".to_owned()),
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(PIPE, vec![source]);
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    for (agent, name) in [("a", "Mailer"), ("b", "Painter")] {
        let producer = json!({"agent_id": agent, "agent_name": name});
        let session = format!("sess_{agent}");
        stage.event(
            "session.started",
            json!({"producer": producer, "session_id": session, "summary_normal": "At work"}),
        );
    }
    for _ in 0..65 {
        stage.wait(1000);
        stage.event(
            "progress.updated",
            json!({"session_id": "sess_a", "progress": {"percent": 1}}),
        );
    }
    assert_eq!(
        count(&stage, "Nothing new for 1 minute"),
        1,
        "{:?}",
        stage.lines
    );
    stage.assert_heard(phrase!(
        "stuck.nothing",
        time = "1 minute",
        agent = "Painter"
    ));
}
