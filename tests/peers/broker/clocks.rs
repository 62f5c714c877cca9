//! Machines whose clocks are wrong by hours.

use serde_json::{Value, json};

use super::failing_servers::{event, line, question};
use super::nats_server::{bridge_as, with};
use super::network_relay::{Line, relay};

/// Returns the fields of an event of a machine whose clock is this many hours ahead.
fn at(hours: i64, agent: &str) -> Value {
    let now = jiff::Timestamp::now();
    let there = now + jiff::SignedDuration::from_hours(hours);
    json!({"timestamp": format!("{there:.3}"), "producer": {"agent_id": agent}})
}

#[test]
fn a_wrong_clock_takes_no_time_from_any_machines_question() {
    with(|space| {
        let other = super::nats_server::agent(&space.runtime);
        let _other = bridge_as("build-4", &space.server.url(), &other, &[]);
        space.runtime.block_on(other.producer().until_subscribed(1));
        let mut anna = space.watch("anna");
        // What comes right after the connection might be old.
        std::thread::sleep(std::time::Duration::from_millis(2500));
        for hours in [-5, 5] {
            let (wrong, right) = (format!("w{}", hours + 9), format!("r{}", hours + 9));
            for (session, hours) in [(&wrong, hours), (&right, 0)] {
                let report = |text: &str| match hours {
                    0 => other
                        .producer()
                        .publish(text, &hearken::producer::Retention::AsItsType),
                    _ => space.report(text),
                };
                report(&event(
                    "session.started",
                    &format!("start{session}"),
                    session,
                    &at(hours, session),
                ));
                for n in 0..5 {
                    let id = format!("step{n}{session}");
                    report(&event(
                        "progress.updated",
                        &id,
                        session,
                        &at(hours, session),
                    ));
                }
                report(&question(session, session, &at(hours, session)));
                let asked = anna.announced("confirmation", &format!("Do {session}"));
                let text = asked["text"].as_str().unwrap();
                assert!(
                    text.contains("Silence rejects in 1 minute"),
                    "{session}: {text}"
                );
            }
        }
        let seen = anna.seen().join("\n");
        assert!(!seen.contains("timed out"), "{seen}");
    });
}

#[test]
fn a_machine_whose_clock_is_not_the_servers_says_by_how_much() {
    with(|space| {
        let other = relay(space.server.port(), Line::OtherHours);
        let url = format!("nats://127.0.0.1:{other}");
        let mut anna = space.watch("anna");
        let mut late = super::nats_server::bridge_of("late-1", &url, &space.agent, &[]);
        let told = line(&mut late, "This machine's clock is ");
        let seconds: u32 = told.split(' ').find_map(|word| word.parse().ok()).unwrap();
        assert!(seconds >= 3 * 3600 - 60, "{told}");
        anna.announced("connection", "late-1: This machine's clock is ");
    });
}
