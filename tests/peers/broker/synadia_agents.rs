//! Agents of the protocol's own package, without any bridge. `synadia.py` is the agent.

use std::time::{Duration, Instant};

use hearken_wording::phrase;

use crate::child::{Hearken, command};
use crate::program;

use super::nats_server::{NatsServer, settings, watch};

/// Starts an agent, and waits until it is registered.
fn agent(server: &NatsServer, name: &str, session: &str, more: &[&str]) -> Hearken {
    agent_at(&server.url(), name, session, more)
}

/// Starts an agent at an address, and waits until it is registered.
pub(super) fn agent_at(url: &str, name: &str, session: &str, more: &[&str]) -> Hearken {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/broker/synadia.py");
    let mut call = program("python");
    call.args([script, url, "--agent", name, "--session", session]);
    let mut agent = Hearken::spawn(call.args(more));
    agent.wait("agent", |line| line.starts_with("ready "));
    agent
}

/// Follows everything on a server as a person.
fn follow(server: &NatsServer, person: &str) -> Hearken {
    watch(server, person, &[])
}

fn no_failure(watcher: &Hearken) {
    let words = ["can't be reached", "can't be used", "is lost"];
    let fails = |line: &&String| words.iter().any(|words| line.contains(words));
    let failed: Vec<&String> = watcher.seen().iter().filter(fails).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn agents_are_found_prompted_heard_and_answered_on_a_server_that_stores_nothing() {
    let server = NatsServer::without_streams();
    let mut pi = agent(&server, "pi", "build", &[]);
    let _codex = agent(&server, "codex", "default", &[]);
    let mut anna = follow(&server, "anna");
    let there =
        "2 agents on NATS: codex, pi build. You hear only their answers to your own prompts.";
    anna.announced("connection", there);
    anna.say("> hello");
    anna.announced("reply", "Choose one first");
    anna.say("> #2 say Hello there my friend.");
    anna.announced("session_started", "pi build");
    anna.announced("output", "Hello there my friend.");
    anna.announced("session_completed", "Finished");
    anna.say("> #2 ask");
    anna.announced("clarification", "Deploy to production, or to staging?");
    anna.say("a staging, please");
    anna.announced("reply", "Sent.");
    pi.wait("answer", |line| line == "answer staging, please");
    anna.announced("output", "Then staging, please.");
    anna.announced("session_completed", "Finished");
    anna.say("> #2 wrapped");
    anna.announced(
        "connection",
        phrase!("synadia.files", n = 1, names = "plan.png"),
    );
    anna.announced("output", "Here it is.");
    no_failure(&anna);
}

#[test]
fn errors_of_an_agent_are_heard_in_its_words() {
    let server = NatsServer::without_streams();
    let _pi = agent(&server, "pi", "build", &[]);
    let mut anna = follow(&server, "anna");
    anna.announced("connection", phrase!("synadia.there", n = 1));
    anna.say("> fail");
    let failed = anna.announced("session_errored", "handler error (500)");
    assert!(!failed.to_string().contains("secret"), "{failed}");
    anna.say("> refuse");
    anna.announced("session_errored", "this prompt is not for me (400)");
}

#[test]
fn an_answer_that_comes_too_late_is_known_to_reach_nobody() {
    let server = NatsServer::without_streams();
    let mut pi = agent(&server, "pi", "build", &[]);
    let mut anna = follow(&server, "anna");
    anna.announced("connection", phrase!("synadia.there", n = 1));
    anna.say("> ask-shortly 0.2");
    anna.announced("clarification", "Still there?");
    pi.wait("end of the question", |line| line == "timeout");
    anna.say("a yes");
    anna.announced("reply", phrase!("synadia.why.nobody_waits"));
    anna.announced(
        "clarification",
        phrase!("question.closed.taken_back", n = 1),
    );
}

/// The limit is a minute, and passes in real time.
#[test]
fn an_agent_that_gives_no_sign_of_life_is_reported_and_left() {
    let server = NatsServer::without_streams();
    let _pi = agent(&server, "pi", "build", &["--quiet"]);
    let mut anna = follow(&server, "anna");
    anna.announced("connection", phrase!("synadia.there", n = 1));
    anna.say("> silent");
    anna.announced("session_started", "pi build");
    let began = Instant::now();
    // Half of the minute passes with something else, because no wait may last longer than a minute.
    let mut other = agent(&server, "codex", "docs", &["--interval", "30"]);
    anna.announced("connection", phrase!("synadia.new", names = "codex docs"));
    anna.say("> #2 ask-shortly 20");
    other.wait("end of the question", |line| line == "timeout");
    anna.announced("connection", phrase!("synadia.silent", agent = "pi build"));
    let took = began.elapsed();
    assert!(took > Duration::from_secs(59), "after {took:?}");
    anna.say("stop 1");
    anna.announced("reply", "can't be stopped from here");
    anna.say("stop 1");
    anna.announced("session_cancelled", phrase!("stop_turn.left"));
}

#[test]
fn a_person_leaves_an_agent_and_one_that_is_killed_goes_away() {
    let server = NatsServer::without_streams();
    let mut pi = agent(&server, "pi", "build", &["--interval", "1"]);
    let mut anna = follow(&server, "anna");
    anna.announced("connection", phrase!("synadia.there", n = 1));
    anna.say("> silent");
    anna.announced("session_started", "pi build");
    anna.say("stop");
    anna.announced("reply", "can't be stopped from here");
    anna.say("stop");
    anna.announced("session_cancelled", phrase!("stop_turn.left"));
    let killed = Instant::now();
    pi.kill();
    anna.announced("connection", phrase!("synadia.away", names = "pi build"));
    let took = killed.elapsed();
    assert!(took > Duration::from_millis(1500), "after {took:?}");
    anna.say("> hello");
    anna.announced("connection", phrase!("synadia.why.nobody"));
    let _again = agent(&server, "pi", "build", &["--interval", "1"]);
    anna.announced("connection", "pi build is back.");
}

/// One server, two protocols: neither hides the other, and each appears as soon as anybody is
/// there.
#[test]
fn a_server_with_bridges_and_agents_is_followed_as_both() {
    super::nats_server::with(|space| {
        let mut anna = space.watch("anna");
        let _pi = agent(&space.server, "pi", "build", &[]);
        anna.announced(
            "connection",
            phrase!("synadia.there", n = 1, names = "pi build"),
        );
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        no_failure(&anna);
    });
}

#[test]
fn a_space_that_comes_later_is_followed_without_a_word_about_its_absence() {
    let server = NatsServer::start();
    let mut anna = follow(&server, "anna");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let demo = hearken::demo::DemoSettings::stepped(3);
    let demo = runtime
        .block_on(hearken::demo::serve("127.0.0.1:0", demo))
        .unwrap();
    let _bridge = super::nats_server::bridge(&server, &demo, &[]);
    runtime.block_on(demo.producer().until_subscribed(1));
    let _entered = runtime.enter();
    let _run = demo.agents().start("email").unwrap();
    anna.announced("confirmation", phrase!("question.head", n = 1));
    no_failure(&anna);
}

#[test]
fn agents_alone_are_followed_at_their_own_address() {
    let server = NatsServer::start();
    let mut call = command(&["watch", &format!("agents+{}", server.url())]);
    call.args(["--face", "json", "--voice", "none", "--config"]);
    let mut anna = Hearken::spawn(call.arg(settings(&server, "anna")));
    anna.announced("connection", "Connected");
    let _pi = agent(&server, "pi", "build", &["--interval", "1"]);
    anna.announced(
        "connection",
        phrase!("synadia.there", n = 1, names = "pi build"),
    );
    anna.say("> say Hello.");
    anna.announced("output", "Hello.");
}
