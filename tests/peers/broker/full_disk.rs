//! Servers whose disk is full: the bridge stays, says so, and is answered; what waited arrives when there is room.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use async_nats::jetstream;
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use hearken_wording::phrase;
use serde_json::json;

use crate::program;

use super::dying_bridges::{recorded, settled};
use super::failing_servers::{event, impatient, line};
use super::nats_server::{NatsServer, Space, spawn, with_bridge};

/// Creates the space's stream before any bridge does.
fn stream(server: &NatsServer, config: Config) {
    with_context(server, async |context| {
        let config = Config {
            name: "AAEP_main".to_owned(),
            subjects: vec!["aaep.v1.main.>".to_owned()],
            ..config
        };
        context.create_stream(config).await.unwrap();
    });
}

fn with_context(server: &NatsServer, act: impl AsyncFnOnce(jetstream::Context)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(server.url()).await.unwrap();
        act(jetstream::new(client)).await;
    });
}

/// Deletes what the server has stored.
fn purge(server: &NatsServer) {
    with_context(server, async |context| {
        let stream = context.get_stream("AAEP_main").await.unwrap();
        stream.purge().await.unwrap();
    });
}

/// Reports text until the server has no room, then asks: the person hears both, and answers.
fn story(space: &mut Space, why: &str, make_room: impl FnOnce(&NatsServer)) {
    let recording = space.server.folder().join("anna.jsonl");
    let mut anna = space.watch_with("anna", &["--record", recording.to_str().unwrap()]);
    space.report(&event("session.started", "first", "s", &json!({})));
    for n in 0..200 {
        let words = json!({"from_state": "thinking", "to_state": "executing",
            "summary_normal": format!("Step {n}."), "summary_detailed": "x".repeat(30_000)});
        space.report(&event("state.changed", &format!("step{n}"), "s", &words));
    }
    let words = format!("The NATS server stores nothing: {why}");
    line(&mut space.bridge, &words);
    anna.announced("connection", phrase!("fleet.unstored", host = "build-3"));
    // Nothing is stored, and the question is asked and answered all the same.
    space.start("email");
    anna.announced("confirmation", phrase!("question.head", n = 1));
    anna.say("n 1");
    anna.announced("reply", "Rejecting");
    let until = std::time::Instant::now() + crate::PATIENCE;
    while space.producer.replies().is_empty() {
        assert!(std::time::Instant::now() < until, "no answer arrives");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    make_room(&space.server);
    anna.announced("connection", phrase!("fleet.stored", host = "build-3"));
    // Of what was missed while the server was away, the person hears the counts.
    let steps = || {
        let all = recorded(&recording).into_iter();
        all.filter(|id| id.starts_with("evt_step")).collect()
    };
    let steps = settled(200, steps);
    let unique: BTreeSet<&String> = steps.iter().collect();
    assert_eq!((steps.len(), unique.len()), (200, 200), "each arrives once");
    assert_eq!(space.producer.replies().len(), 1);
}

#[test]
fn without_room_that_the_server_may_use_questions_are_asked_and_answered() {
    let server = NatsServer::with_settings("jetstream { max_file_store: 4MB }\n");
    stream(&server, Config::default());
    with_bridge(server, &[], |space| {
        story(space, "it has no room left", purge)
    });
}

#[test]
fn a_stream_that_discards_nothing_and_is_full_is_reported() {
    let server = NatsServer::start();
    let full = Config {
        max_bytes: 4 << 20,
        discard: DiscardPolicy::New,
        ..Config::default()
    };
    stream(&server, full);
    with_bridge(server, &[], |space| {
        story(space, "it has no room left", purge)
    });
}

#[test]
fn on_a_full_disk_questions_are_asked_and_answered() {
    if !may_mount() {
        // A folder that may not grow is the next best.
        return without_room_that_the_server_may_use_questions_are_asked_and_answered();
    }
    let settings = "jetstream { max_file_store: 1GB }\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nats-server.conf");
    std::fs::write(&file, settings).unwrap();
    let server = NatsServer::in_folder(folder, &["-c", file.to_str().unwrap()], on_small_disk);
    stream(&server, Config::default());
    let more = impatient(server.folder());
    with_bridge(server, &[&more[0], &more[1]], |space| {
        let words = "it confirms nothing; perhaps its disk is full";
        story(space, words, free);
    });
}

/// Starts the server with a file system of its own of 6 MiB, a third of which is taken, again and again.
fn on_small_disk(port: u16, folder: &Path, more: &[String]) -> Child {
    let stored = folder.join("small");
    std::fs::create_dir(&stored).unwrap();
    let mut call = Command::new("unshare");
    call.args([
        "--user",
        "--map-root-user",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
    ]);
    call.args(["sh", "-c", MOUNTED]).arg(&stored);
    call.arg(program("nats-server").get_program());
    spawn(&mut call, port, &stored.join("stored"), more)
}

/// What starts the server on the file system.
const MOUNTED: &str = "mount -t tmpfs -o size=6m tmpfs \"$0\" && head -c 2M /dev/zero >\"$0/other\" \
    && while :; do \"$@\"; sleep 0.1; done";

/// Frees the third that is taken, and has the server start again: one that could not write once stores nothing until
/// then.
fn free(server: &NatsServer) {
    let shell = crate::agent_home::children(server.id())[0];
    // The file system can be reached only through a process.
    let other = server.folder().join("small/other");
    std::fs::remove_file(format!("/proc/{shell}/root{}", other.display())).unwrap();
    let itself = crate::agent_home::children(shell)[0];
    crate::agent_home::kill(itself);
}

/// Returns whether this user may mount file systems, in a namespace of their own.
fn may_mount() -> bool {
    let mut probe = Command::new("unshare");
    probe.args(["--user", "--map-root-user", "--mount", "true"]);
    let probe = probe.stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

/// A space keeps up to 1 GiB, and a server that can't promise that creates no stream.
#[test]
fn a_server_that_is_too_small_for_a_space_says_how_much_it_needs() {
    let server = NatsServer::with_settings("jetstream { max_file_store: 4MB }\n");
    let url = server.url();
    let mut call = crate::child::command(&["bridge", "-", "--name", "build-3", "--to", &url]);
    let mut bridge = crate::child::Hearken::spawn(&mut call);
    line(
        &mut bridge,
        "it has no room for what a space keeps, which is 1 GiB",
    );
    stream(&server, Config::default());
    line(&mut bridge, "can be reached");
}
