//! Many agents at once: what the server still delivers, and what it holds about an agent that the person selects.

use std::time::{Duration, Instant};

use async_nats::jetstream;
use async_nats::jetstream::consumer::pull::Config;

use hearken::demo::{DemoSettings, ServedDemo, serve};
use hearken_wording::phrase;

use super::dying_bridges::{recorded, settled};
use super::nats_server::{Space, bridge, with};
use crate::PATIENCE;
use crate::child::Hearken;

/// Returns the subjects that the server delivers to a person.
fn delivered(space: &Space, person: &str) -> Vec<String> {
    let subjects = async {
        let client = async_nats::connect(space.server.url()).await.unwrap();
        let stream = jetstream::new(client)
            .get_stream("AAEP_main")
            .await
            .unwrap();
        let name = format!("hearken-{person}");
        let consumer = stream.get_consumer::<Config>(&name).await.unwrap();
        consumer.cached_info().config.filter_subjects.clone()
    };
    let mut subjects = space.runtime.block_on(subjects);
    subjects.sort();
    subjects
}

/// Waits until the server delivers these subjects to a person: it learns of a change a moment after they hear of it.
fn until_delivered(space: &Space, person: &str, wanted: &[&str]) {
    let until = std::time::Instant::now() + crate::PATIENCE;
    loop {
        let subjects = delivered(space, person);
        if subjects == wanted {
            return;
        }
        assert!(std::time::Instant::now() < until, "{subjects:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// How many runs on each of two machines ask, and wait.
const ASKING: usize = 11;

/// A second machine.
struct SecondMachine {
    agent: ServedDemo,
    _bridge: Hearken,
}

/// Starts a second machine, and runs that ask on both.
fn many(space: &Space) -> SecondMachine {
    let settings = DemoSettings::stepped(4);
    let agent = space
        .runtime
        .block_on(serve("127.0.0.1:0", settings))
        .unwrap();
    let bridge = bridge(&space.server, &agent, &["--name", "build-4"]);
    space.runtime.block_on(agent.producer().until_subscribed(1));
    for _ in 0..ASKING {
        space.start("email");
        let _entered = space.runtime.enter();
        agent.agents().start("email").unwrap();
    }
    SecondMachine {
        agent,
        _bridge: bridge,
    }
}

/// Returns the number of an agent's conversation, once it is heard.
fn number_of(person: &mut Hearken, agent: &str) -> u32 {
    let until = Instant::now() + PATIENCE;
    loop {
        person.say("sessions");
        let line = person.announced("reply", ": ");
        let text = line["text"].as_str().unwrap();
        if let Some((before, _)) = text.split_once(agent) {
            let digits = before.trim_end_matches(": ").rsplit(' ').next().unwrap();
            return digits.parse().unwrap_or_else(|_| panic!("{text}"));
        }
        assert!(Instant::now() < until, "{agent} is not in {text}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn above_twenty_sessions_the_server_delivers_questions_of_all_and_the_rest_of_a_few() {
    with(|space| {
        let recording = space.server.folder().join("anna.jsonl");
        let mut anna = space.watch_with("anna", &["--record", recording.to_str().unwrap()]);
        until_delivered(space, "anna", &["aaep.v1.main.>"]);
        // Something that the stream holds from before.
        let run = space.start("answer");
        space.finish(run);
        let second = many(space);
        anna.announced("hint", phrase!("fleet.many.*"));
        let asked = ["aaep.v1.main.*.*.*.ask", "aaep.v1.main.*.*.*.life"];
        until_delivered(space, "anna", &asked);
        anna.announced("confirmation", &format!("Question {}", 2 * ASKING));
        anna.say("fleet");
        let words = format!(
            "{} questions wait: build-3 {ASKING}, build-4 {ASKING}.",
            2 * ASKING
        );
        anna.announced("reply", &words);

        // Of another agent, nothing but its start and its end arrives.
        let texts = || {
            let events = std::fs::read_to_string(&recording).unwrap();
            events.matches("agent.output.streaming").count()
        };
        let before = (recorded(&recording).len(), texts());
        let run = space.start("answer");
        space.finish(run);
        let after = settled(before.0 + 2, || recorded(&recording));
        assert_eq!((after.len(), texts()), (before.0 + 2, before.1));

        // The agent that the person selects is delivered in full, and what the stream holds about it is read back.
        let number = number_of(&mut anna, "Garden Guide");
        anna.say(&format!("go {number}"));
        anna.announced("connection", "are in the history");
        let garden = "aaep.v1.main.build-3.garden-guide.*";
        let [act, text] = ["act", "text"].map(|lane| format!("{garden}.{lane}"));
        until_delivered(space, "anna", &[asked[0], asked[1], &act, &text]);
        let run = space.start("answer");
        space.finish(run);
        settled(after.len() + 10, || recorded(&recording));
        assert!(texts() > before.1, "its text arrives again");

        // Once few work, everything is delivered.
        space.runtime.block_on(second.agent.stop());
        anna.announced("hint", phrase!("fleet.few"));
        until_delivered(space, "anna", &["aaep.v1.main.>"]);
        anna.leave();
    });
}

#[test]
fn what_was_missed_while_many_worked_is_delivered_as_it_was_followed() {
    with(|space| {
        let mut anna = space.watch("anna");
        let _second = many(space);
        anna.announced("hint", phrase!("fleet.many.*"));
        anna.kill();
        let run = space.start("answer");
        space.finish(run);
        let mut anna = space.watch("anna");
        anna.announced("hint", phrase!("fleet.many.*"));
        anna.announced("connection", phrase!("away.missed"));
        let asked = ["aaep.v1.main.*.*.*.ask", "aaep.v1.main.*.*.*.life"];
        until_delivered(space, "anna", &asked);
        anna.leave();
    });
}
