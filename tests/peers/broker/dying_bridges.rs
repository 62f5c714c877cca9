//! Bridges and servers that die.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use futures_util::StreamExt as _;
use hearken_wording::phrase;
use serde_json::Value;

use super::nats_server::{Space, bridge, with};

/// How many events may wait when the server dies again.
const WAITING: usize = 2000;
/// The time by which everything that will arrive has arrived.
const SETTLED: Duration = Duration::from_secs(60);

#[test]
fn an_answer_to_a_bridge_that_was_killed_reports_that_its_machine_is_away() {
    with(|space| {
        let mut anna = space.watch("anna");
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        space.bridge.kill();
        anna.say("n 1");
        anna.announced("reply", phrase!("bridge.why.away"));
        assert_eq!(space.producer.replies().len(), 0);
        space.bridge = bridge(&space.server, &space.agent, &[]);
        anna.announced("confirmation", phrase!("question.closed.forgotten"));
        assert_eq!(space.producer.replies().len(), 0);
    });
}

/// Returns the ids of the events in a recording, each as often as it was received. A session's start and its state
/// count once: a snapshot shows them again to whoever connects again, and they are recognised by their ids.
pub(super) fn recorded(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let events = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut shown = BTreeSet::new();
    let ids = events.filter_map(|event| {
        let id = event.get("event_id")?.as_str()?.to_owned();
        let kind = event["type"].as_str()?;
        let in_snapshots = kind.ends_with("session.started") || kind.ends_with("state.changed");
        (!in_snapshots || shown.insert(id.clone())).then_some(id)
    });
    ids.collect()
}

/// Returns the ids of the events that the server has stored, each as often as it has it.
pub(super) fn stored(space: &Space) -> Vec<String> {
    space.runtime.block_on(async {
        let client = async_nats::connect(space.server.url()).await.unwrap();
        let context = jetstream::new(client);
        let stream = context.get_stream("AAEP_main").await.unwrap();
        let last = stream.cached_info().state.last_sequence;
        let consumer = stream
            .create_consumer(jetstream::consumer::pull::OrderedConfig::default())
            .await
            .unwrap();
        let mut messages = consumer.messages().await.unwrap();
        let mut ids = Vec::new();
        while (ids.len() as u64) < last {
            let message = messages.next().await.unwrap().unwrap();
            let event: Value = serde_json::from_slice(&message.payload).unwrap();
            ids.push(event["event_id"].as_str().unwrap().to_owned());
        }
        ids
    })
}

/// Waits until at least this many ids are there, and returns them; if they don't come, returns those that have.
pub(super) fn settled(wanted: usize, mut ids: impl FnMut() -> Vec<String>) -> Vec<String> {
    let until = Instant::now() + SETTLED;
    loop {
        let ids = ids();
        if ids.len() >= wanted || Instant::now() >= until {
            return ids;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asserts that everything that the agents did is stored once, and has been received once by whoever made a recording.
pub(super) fn assert_each_arrived_once(space: &Space, recording: &Path) {
    let emitted = usize::try_from(space.producer.emitted()).unwrap();
    // The bridge adds what it reports in its own name.
    let stored = settled(emitted, || stored(space));
    let received = settled(emitted, || recorded(recording));
    let unique: BTreeSet<&String> = received.iter().collect();
    assert_eq!(unique.len(), received.len(), "each event received once");
    let unique_stored: BTreeSet<&String> = stored.iter().collect();
    assert_eq!(unique_stored.len(), stored.len(), "each event stored once");
    let missing: Vec<&&String> = unique_stored.difference(&unique).collect();
    assert!(
        received.len() >= emitted,
        "{} of {emitted} received, {} stored; missing: {missing:?}",
        received.len(),
        stored.len()
    );
}

/// The server dies again and again while agents work.
#[test]
fn every_event_arrives_once_however_often_the_server_dies() {
    let deaths = match std::env::var_os("HEARKEN_ALL_RUNS") {
        Some(_) => 50,
        None => 5,
    };
    with(|space| {
        let recording = space.server.folder().join("anna.jsonl");
        let mut anna = space.watch_with("anna", &["--record", recording.to_str().unwrap()]);
        for _ in 0..deaths {
            let before = space.start("tool");
            space.server.kill();
            let meanwhile = space.start("answer");
            space.server.start_again();
            // A bridge that is away for longer than its bound lasts would leave events out, and say so.
            space
                .bridge
                .wait("server", |line| phrase!("bridge.broker.up").is_in(line));
            for run in [before, meanwhile] {
                space.finish(run);
            }
            // What waits stays below the bridge's bound, and is never empty.
            let emitted = usize::try_from(space.producer.emitted()).unwrap();
            settled(emitted.saturating_sub(WAITING), || recorded(&recording));
        }
        assert_each_arrived_once(space, &recording);
        anna.leave();
    });
}
