//! Servers that are lost, slow, or forget, and events that they don't take. Whatever goes wrong is reported in words at
//! both ends, and nothing is lost silently.

use std::time::{Duration, Instant};

use async_nats::jetstream;
use hearken::producer::Retention;
use hearken_wording::phrase;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::child::Hearken;

use super::dying_bridges::{settled, stored};
use super::nats_server::{NatsServer, Space, bridge_as, with, with_bridge};
use super::network_relay::{Line, relay};

/// An event of an agent that is not the demo's.
pub(super) fn event(kind: &str, id: &str, session: &str, more: &Value) -> String {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
        "aaep_version": "1.0.0", "event_id": format!("evt_{id}"), "session_id": format!("sess_{session}"),
        "timestamp": format!("{:.3}", jiff::Timestamp::now()), "producer": {"agent_id": "tester"},
        "summary_normal": format!("Event {id}."),
    });
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    event.to_string()
}

/// A question of an agent that is not the demo's.
pub(super) fn question(id: &str, session: &str, more: &Value) -> String {
    let mut fields = json!({
        "action": format!("Do {id}"), "consequence": "It is done.", "reply_token": format!("rpl_{id}"),
        "timeout_seconds": 60, "default_decision": "reject", "risk_level": "high",
    });
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    event("awaiting.confirmation", id, session, &fields)
}

impl Space {
    /// Reports an event on the machine.
    pub(super) fn report(&self, text: &str) {
        self.producer.publish(text, &Retention::AsItsType);
    }
}

/// Waits until a program has nothing to do.
fn until_idle(program: &Hearken) {
    let file = format!("/proc/{}/stat", program.id());
    let ticks = || {
        let stat = std::fs::read_to_string(&file).unwrap();
        let (_, numbers) = stat.rsplit_once(')').unwrap();
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        numbers[11].parse::<u64>().unwrap() + numbers[12].parse::<u64>().unwrap()
    };
    let until = Instant::now() + crate::PATIENCE;
    // On a busy machine, a program that has something to do may have to wait for its turn.
    let (mut before, mut idle) = (ticks(), 0);
    while idle < 4 {
        assert!(Instant::now() < until, "it is never idle");
        std::thread::sleep(Duration::from_millis(40));
        let now = ticks();
        idle = if now == before { idle + 1 } else { 0 };
        before = now;
    }
}

/// Settings of a bridge that waits for the server no longer than a second.
pub(super) fn impatient(folder: &std::path::Path) -> [String; 2] {
    let file = folder.join("impatient.toml");
    let settings = "[links]\nconnect_timeout_ms = 1000\nbackoff_cap_ms = 1000\n";
    std::fs::write(&file, settings).unwrap();
    ["--config".to_owned(), file.to_str().unwrap().to_owned()]
}

/// Waits for one of a bridge's lines.
pub(super) fn line(bridge: &mut Hearken, words: &str) -> String {
    bridge.wait(words, |line| line.contains(words))
}

/// Rejects question 1 as a person, and asserts that its agent was told so once.
fn assert_rejected(space: &Space, person: &mut Hearken) {
    person.announced("confirmation", phrase!("question.head", n = 1));
    person.say("n 1");
    person.announced("output", phrase!("output.after_rejection"));
    assert_eq!(space.producer.replies().len(), 1);
}

#[test]
fn a_lost_server_is_reported_at_both_ends_and_what_waited_is_asked() {
    with(|space| {
        let mut anna = space.watch("anna");
        space.server.kill();
        line(&mut space.bridge, "The NATS server can't be reached: ");
        anna.announced("connection", "is lost");
        space.start("email");
        space.server.start_again();
        line(&mut space.bridge, "can be reached");
        anna.announced("connection", "is back");
        assert_rejected(space, &mut anna);
    });
}

#[test]
fn what_waits_for_a_lost_server_is_bounded_and_what_gives_way_is_counted() {
    with(|space| {
        space.server.kill();
        line(&mut space.bridge, "can't be reached");
        space.report(&event("session.started", "first", "s", &json!({})));
        space.report(&question("asked", "s", &json!({})));
        let text = json!({"chunk": "x".repeat(32_000), "output_id": "o", "complete": false});
        for n in 0..1300 {
            space.report(&event("output.streaming", &format!("text{n}"), "s", &text));
            if n % 50 == 0 {
                until_idle(&space.bridge);
            }
        }
        until_idle(&space.bridge);
        space.server.start_again();
        let told = line(&mut space.bridge, "left out: the NATS server was away");
        let count: usize = told.split(' ').next().unwrap().parse().unwrap();
        assert!((100..=500).contains(&count), "{told}");
        // What was not left out is there, and the question before all.
        let texts = || {
            let all = stored(space).into_iter();
            all.filter(|id| id.starts_with("evt_text")).collect()
        };
        assert_eq!(settled(1300 - count, texts).len(), 1300 - count);
        let mut anna = space.watch("anna");
        anna.announced("confirmation", "Do asked");
        let peak = space.bridge.peak().unwrap();
        assert!(peak < 160 << 20, "{peak} bytes");
    });
}

#[test]
fn a_server_that_hangs_is_reported_and_nothing_is_lost() {
    let server = NatsServer::start();
    let more = impatient(server.folder());
    with_bridge(server, &[&more[0], &more[1]], |space| {
        let mut anna = space.watch_with("anna", &[]);
        space.server.signal(Signal::STOP);
        space.start("email");
        line(
            &mut space.bridge,
            "The NATS server stores nothing: it confirms nothing",
        );
        anna.announced("connection", "there was no answer in time");
        space.server.signal(Signal::CONT);
        line(&mut space.bridge, "stores events again");
        anna.announced("connection", "is back");
        assert_rejected(space, &mut anna);
    });
}

#[test]
fn over_a_slow_line_everything_arrives_once_and_in_order() {
    with(|space| {
        let slow = relay(
            space.server.port(),
            Line::Slow(1024, Duration::from_millis(10)),
        );
        let url = format!("nats://127.0.0.1:{slow}");
        let _slow = bridge_as("slow-1", &url, &space.agent, &[]);
        space.runtime.block_on(space.producer.until_subscribed(2));
        space.bridge.kill();
        let mut anna = space.watch("anna");
        space.report(&event("session.started", "first", "s", &json!({})));
        for n in 0..200 {
            let words = json!({"from_state": "thinking", "to_state": "executing", "summary_normal": format!("Step {n}.")});
            space.report(&event("state.changed", &format!("step{n}"), "s", &words));
        }
        space.report(&question("asked", "s", &json!({})));
        anna.announced("confirmation", "Do asked");
        let seen = anna.seen().join("\n");
        let steps: Vec<usize> = seen
            .match_indices("\"text\":\"Step ")
            .map(|(at, mark)| {
                let digits = seen[at + mark.len()..]
                    .chars()
                    .take_while(char::is_ascii_digit);
                digits.collect::<String>().parse().unwrap()
            })
            .collect();
        assert_eq!(steps, (0..200).collect::<Vec<_>>());
    });
}

#[test]
fn what_a_server_does_not_take_is_named_and_the_rest_is_asked_of_who_joins() {
    let server = NatsServer::with_settings("max_payload: 65536\n");
    with_bridge(server, &[], |space| {
        let mut anna = space.watch("anna");
        space.report(&event("session.started", "first", "s", &json!({})));
        let long = json!({"consequence": "x".repeat(100_000)});
        space.report(&question("large", "s", &long));
        let words = "tester asks something that can't be passed on";
        line(&mut space.bridge, words);
        anna.announced("connection", words);
        // Together they exceed what one message holds.
        for n in 0..3 {
            let agent = format!("s{n}");
            let words =
                json!({"summary_normal": "y".repeat(30_000), "producer": {"agent_id": agent}});
            space.report(&event(
                "session.started",
                &format!("start{n}"),
                &agent,
                &words,
            ));
            let asks = json!({"producer": {"agent_id": agent}, "consequence": "z".repeat(30_000)});
            space.report(&question(&format!("small{n}"), &agent, &asks));
        }
        for n in 0..3 {
            anna.announced("confirmation", &format!("Do small{n}"));
        }
        let mut ben = space.watch("ben");
        for n in 0..3 {
            ben.announced("confirmation", &format!("Do small{n}"));
        }
        let seen = ben.seen().join("\n");
        assert!(!seen.contains("Do large"), "{seen}");
    });
}

#[test]
fn a_deleted_stream_is_reported_at_both_ends_and_made_again() {
    let server = NatsServer::start();
    let more = impatient(server.folder());
    with_bridge(server, &[&more[0], &more[1]], |space| {
        let settings = space.server.folder().join("hasty.toml");
        let text = "[questions]\nuser = \"hasty\"\n[links]\nbackoff_cap_ms = 500\n";
        std::fs::write(&settings, text).unwrap();
        let more = ["--config", settings.to_str().unwrap()];
        let mut anna = super::nats_server::watch_by(&space.server, &more);
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        let url = space.server.url();
        space.runtime.block_on(async {
            let context = jetstream::new(async_nats::connect(&url).await.unwrap());
            context.delete_stream("AAEP_main").await.unwrap();
        });
        anna.announced("connection", phrase!("cause.broker.stream_gone"));
        space.start("question");
        let words = "The NATS server stores nothing: what it stored for this space was deleted";
        line(&mut space.bridge, words);
        line(&mut space.bridge, "can be reached");
        anna.announced("connection", "is back");
        // The snapshots have both, whatever was stored.
        anna.announced("confirmation", "Question 2");
        anna.say("n 1");
        anna.announced("output", phrase!("output.after_rejection"));
        assert_eq!(space.producer.replies().len(), 1);
    });
}
