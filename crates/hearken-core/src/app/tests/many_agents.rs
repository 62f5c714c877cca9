//! Many agents at once, behind a broker.

use super::*;
use crate::link::{Address, Frame};

/// A space on a broker, with all the app's requests to it.
struct Many {
    stage: Stage,
    count: u64,
}

impl Many {
    fn new() -> Self {
        let mut stage = super::missed::space(0);
        stage.wait(3000);
        Self { stage, count: 0 }
    }

    fn event(&mut self, number: usize, lane: &str, kind: &str, more: Value) {
        self.count += 1;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
            "aaep_version": "1.0.0", "event_id": format!("evt_{}", self.count),
            "session_id": format!("sess_{number}"), "timestamp": format!("{:.3}", self.stage.now.wall),
            "producer": {"agent_id": format!("fox{number}"), "agent_name": format!("Fox {number}")},
        });
        let more = more.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(more);
        let host = number % 3;
        let subject = format!("aaep.v1.main.build-{host}.fox{number}.sess_{number}.{lane}");
        let frame = Frame {
            event: Some(subject),
            position: Some(self.count),
            ..Frame::of(event.to_string())
        };
        self.stage.link(0, LinkEvent::Frame(frame));
    }

    fn start(&mut self, number: usize) {
        let begun = json!({"summary_normal": format!("Job {number} begun.")});
        self.event(number, "life", "session.started", begun);
    }

    fn ask(&mut self, number: usize) {
        let waits = json!({"from_state": "thinking", "to_state": "awaiting_input"});
        self.event(number, "ask", "state.changed", waits);
        let asks = json!({
            "action": "rm -rf build", "reply_token": format!("rpl_{number}"),
            "default_decision": "reject", "summary_normal": "Remove it?",
        });
        self.event(number, "ask", "awaiting.confirmation", asks);
    }

    fn end(&mut self, number: usize) {
        let done = json!({"summary_normal": format!("Job {number} is done.")});
        self.event(number, "life", "session.completed", done);
    }

    /// Returns the subjects that were asked for last.
    fn subjects(&self) -> Vec<String> {
        let followed = self.stage.followed.last();
        match followed.map(|stream| &stream.at) {
            Some(Address::Stored(consumer)) => consumer.subjects.clone(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn above_twenty_agents_the_person_hears_questions_and_failures_of_all_and_the_rest_of_a_few() {
    let mut many = Many::new();
    for number in 0..20 {
        many.start(number);
    }
    assert_eq!(many.subjects(), ["aaep.v1.main.>"]);
    many.stage.assert_heard("Job 19 begun.");
    many.start(20);
    let questions = ["aaep.v1.main.*.*.*.ask", "aaep.v1.main.*.*.*.life"];
    assert_eq!(many.subjects(), questions);
    many.stage.assert_heard(phrase!("fleet.many.lines", n = 21));
    many.stage.lines.clear();
    many.start(21);
    many.end(3);
    many.stage.assert_not_heard("Job");
    let failed = json!({"summary_normal": "The disk is full.", "error_category": "internal", "recoverable": false});
    many.event(4, "life", "session.errored", failed);
    many.stage.assert_heard("The disk is full.");
    many.ask(5);
    many.stage.wait(1000);
    many.stage.assert_heard(phrase!("question.head", n = 1));
    // What was left unsaid is in the history.
    many.stage.type_line("find Job 3 is done");
    many.stage.assert_heard("Job 3 is done.");
}

#[test]
fn an_agent_that_is_done_can_be_gone_to_and_read_back() {
    let mut many = Many::new();
    for number in 0..25 {
        many.start(number);
    }
    many.end(3);
    many.stage.lines.clear();
    many.stage.type_line("go 4");
    many.stage.assert_heard("4: Fox 3");
    let of_fox = "aaep.v1.main.build-0.fox3.*.text".to_owned();
    assert!(many.subjects().contains(&of_fox), "{:?}", many.subjects());
}

#[test]
fn what_became_of_a_question_is_heard_also_of_many_agents() {
    let mut many = Many::new();
    for number in 0..25 {
        many.start(number);
    }
    many.ask(2);
    many.stage.wait(1000);
    many.stage.assert_heard(phrase!("question.head", n = 1));
    many.stage.lines.clear();
    let back = json!({"from_state": "awaiting_input", "to_state": "thinking"});
    many.event(2, "ask", "state.changed", back);
    many.stage.wait(1000);
    many.stage
        .assert_heard(phrase!("question.closed.elsewhere", n = 1));
}

#[test]
fn whoever_the_person_goes_to_is_heard_in_full_again() {
    let mut many = Many::new();
    for number in 0..25 {
        many.start(number);
    }
    many.stage.type_line("sessions");
    many.stage.type_line("go 3");
    let followed = many.subjects();
    assert_eq!(followed.len(), 4, "{followed:?}");
    assert!(followed[3].ends_with(".text"), "{followed:?}");
    many.stage.lines.clear();
    let agent = followed[3].split('.').nth(4).unwrap().to_owned();
    let number: usize = agent.trim_start_matches("fox").parse().unwrap();
    let text = json!({"chunk": "All is well.", "complete": true, "output_id": "o"});
    many.event(number, "text", "output.streaming", text);
    many.stage.wait(1000);
    many.stage.assert_heard("All is well.");
}

#[test]
fn once_few_agents_work_everything_is_heard_again() {
    let mut many = Many::new();
    for number in 0..25 {
        many.start(number);
    }
    for number in 0..9 {
        many.end(number);
    }
    assert_eq!(many.subjects().len(), 2, "sixteen still work");
    many.end(9);
    assert_eq!(many.subjects(), ["aaep.v1.main.>"]);
    many.stage.assert_heard(phrase!("fleet.few", n = 15));
    many.stage.lines.clear();
    many.end(10);
    many.stage.assert_heard("Job 10 is done.");
}

#[test]
fn fleet_counts_by_machine_questions_first() {
    let mut many = Many::new();
    many.stage.type_line("fleet");
    many.stage.assert_heard(phrase!("fleet.nobody"));
    for number in 0..25 {
        many.start(number);
    }
    many.ask(1);
    many.ask(4);
    many.ask(2);
    many.stage.lines.clear();
    many.stage.type_line("fleet");
    let words =
        "3 questions wait: build-1 2, build-2 1. 22 agents work: build-0 9, build-2 7, build-1 6.";
    many.stage.assert_heard(words);
    // The bridges' counts are better, because bridges hear everything.
    let sign = Frame {
        event: Some("aaep-alive.v1.main.build-1".to_owned()),
        ..Frame::of(r#"{"working":4,"waiting":2,"silent":2}"#)
    };
    many.stage.link(0, LinkEvent::Frame(sign));
    many.stage.lines.clear();
    many.stage.type_line("fleet");
    let words =
        "20 agents work: build-0 9, build-2 7, build-1 4. 2 silent for a minute: build-1 2.";
    many.stage.assert_heard(words);
    many.stage.wait(61_000);
    many.stage.lines.clear();
    many.stage.type_line("fleet");
    many.stage.assert_heard("Away: build-1.");
}

#[test]
fn of_many_conversations_those_are_read_that_the_person_may_want() {
    let mut many = Many::new();
    for number in 0..40 {
        many.start(number);
    }
    many.ask(2);
    many.stage.lines.clear();
    many.stage.type_line("sessions");
    let read = many.stage.lines.concat();
    assert!(read.contains("Fox 2"), "it asks: {read}");
    assert!(phrase!("conversation.rest", n = 20).is_in(&read), "{read}");
    // Each agent still has a number.
    many.stage.lines.clear();
    many.stage.type_line("go 40");
    many.stage.assert_heard("Fox");
}
