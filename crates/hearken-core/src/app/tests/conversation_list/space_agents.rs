//! The agents on a server whose address also means its space, and agents that can be prompted before they are
//! heard.

use super::*;
use crate::dialect::{BrokerPlace, TransportKind};
use crate::link::HttpAnswer;

/// The number of the first request of a dialect.
const DISCOVERY: u64 = 1 << 32;

fn source(name: &str, dialect: crate::config::Dialect, beside: bool) -> SourceSetup {
    SourceSetup {
        name: name.to_owned(),
        answerable: true,
        carrier: TransportKind::Broker,
        dialect,
        broker: Some(BrokerPlace {
            beside,
            ..BrokerPlace::default()
        }),
        ..SourceSetup::default()
    }
}

/// A server, followed both as a space and through its agents.
fn server() -> Stage {
    use crate::config::Dialect::{Nats, Synadia};
    Stage::of(
        PIPE,
        vec![
            source("nats://h", Nats, false),
            source("agents+nats://h", Synadia, true),
        ],
    )
}

fn answered(stage: &mut Stage, request: u64) {
    let outcome = Ok(HttpAnswer {
        status: 200,
        location: None,
        retry_after: None,
        body: String::new(),
    });
    stage.link(1, LinkEvent::Answered { request, outcome });
}

fn part(stage: &mut Stage, request: u64, text: &Value) {
    let text = text.to_string();
    stage.link(1, LinkEvent::Piece { request, text });
}

/// Makes the agents of these sessions discoverable.
fn finds(stage: &mut Stage, sessions: &[&str]) {
    for session in sessions {
        let subject = format!("agents.prompt.pi.anna.{session}");
        let info = json!({
            "name": "agents", "id": session,
            "metadata": {"agent": "pi", "owner": "anna"},
            "endpoints": [{"name": "prompt", "subject": subject}],
        });
        part(stage, DISCOVERY, &info);
    }
    answered(stage, DISCOVERY);
}

fn connected(stage: &mut Stage) {
    for link in [0, 1] {
        stage.link(link, LinkEvent::Connecting { attempt: 1 });
        stage.link(link, LinkEvent::Connected);
    }
}

#[test]
fn one_connection_is_announced_and_what_becomes_of_it() {
    let mut stage = server();
    connected(&mut stage);
    let lost = || LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    };
    for link in [0, 1] {
        stage.link(link, lost());
    }
    connected(&mut stage);
    stage.wait(2000);
    for link in [0, 1] {
        let fault = Fault::OneWay;
        stage.link(link, LinkEvent::Failed { fault });
    }
    let about = |line: &&String| line.contains("nats://h");
    let lines: Vec<&String> = stage.lines.iter().filter(about).collect();
    assert!(
        lines.iter().all(|line| !line.contains("agents+")),
        "{lines:?}"
    );
    for words in ["is lost", "is back", "can't be used"] {
        let of = lines.iter().filter(|line| line.contains(words));
        assert_eq!(of.count(), 1, "{words}: {lines:?}");
    }
    assert!(stage.quit.is_some(), "nobody could still speak");
}

#[test]
fn nothing_is_missed_in_a_space_whose_server_has_agents() {
    let nothing = "no agent there has sent anything yet";
    for (sessions, is_told) in [(&["build"][..], false), (&[], true)] {
        let mut stage = server();
        connected(&mut stage);
        finds(&mut stage, sessions);
        stage.wait(20_000);
        assert_eq!(stage.heard(nothing), is_told, "{:?}", stage.lines);
        stage.type_line("sessions");
        let nobody = "There is nobody to talk with.";
        assert_eq!(stage.heard(nobody), is_told, "{:?}", stage.lines);
    }
}

#[test]
fn agents_are_conversations_before_they_are_heard_and_are_left_where_they_cannot_be_stopped() {
    let mut stage = server();
    connected(&mut stage);
    finds(&mut stage, &["build", "docs"]);
    stage.type_line("sessions");
    let both = "1: pi build: nothing is asked of it. 2: pi docs: nothing is asked of it.";
    stage.assert_heard(both);
    stage.type_line("> #2 write");
    stage.assert_heard("To pi docs.");
    part(
        &mut stage,
        DISCOVERY + 1,
        &json!({"type": "status", "data": "ack"}),
    );
    stage.assert_heard(phrase!("session.started.bare", agent = "pi docs"));
    stage.type_line("stop 2");
    let first = "The agent, pi docs, can't be stopped from here. Type stop 2 once more to go on without it.";
    stage.assert_heard(first);
    stage.type_line("stop 2");
    stage.assert_heard(phrase!("stop_turn.left"));
    // An agent that was heard is listed only once.
    stage.type_line("sessions");
    let list = stage.lines.last().unwrap();
    assert_eq!(list.matches("pi docs").count(), 1, "{list}");
    assert!(
        list.contains("1: pi build: nothing is asked of it."),
        "{list}"
    );
}

#[test]
fn of_many_agents_that_were_never_heard_some_are_read_and_the_rest_is_counted() {
    let mut stage = server();
    connected(&mut stage);
    let sessions: Vec<String> = (10..35).map(|at| format!("s{at}")).collect();
    let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
    finds(&mut stage, &sessions);
    stage.type_line("sessions");
    let list = stage.lines.last().unwrap();
    assert!(
        list.contains("1: pi s10: nothing is asked of it."),
        "{list}"
    );
    assert!(
        list.contains("20: pi s29: nothing is asked of it. And 5 more"),
        "{list}"
    );
}
