//! Real agents behind `hearken bridge`, followed and answered by a hearken in front of it, and heard by subscribers
//! that nobody here wrote.

use std::path::Path;
use std::process::{Child, Stdio};

use hearken_wording::phrase;
use serde_json::Value;

use super::agent_home::{AgentHome, OPENCODE, asked, wants};
use super::child::{Hearken, command};
use super::{kinds, program};

/// An agent behind a bridge, by the person's hearken: a program that ssh would start on the other machine.
fn watched_through_pipes(scene: &AgentHome, recording: &Path) -> Hearken {
    let work = scene.work();
    let mut call = scene.command(&["watch", "--face", "json", "--voice", "none", "--record"]);
    call.arg(recording)
        .arg("--")
        .arg(env!("CARGO_BIN_EXE_hearken"))
        .args(["bridge", "--serve", "-", "--name", "build-3", "--cwd"])
        .arg(work)
        .args(["--", "opencode", "acp"]);
    Hearken::spawn(&mut call)
}

/// Prompts, allows, rejects and stops a real agent on another machine.
pub(super) fn story(hearken: &mut Hearken, scene: &AgentHome) {
    hearken.say("> say hello");
    hearken.announced("session_started", "started");
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");

    hearken.say("> touch a.txt");
    let n = asked(hearken, &wants("touch a.txt"));
    assert!(!scene.has("a.txt"));
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    assert!(!scene.has("a.txt"));
    hearken.say(&format!("c {n}"));
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("a.txt"));

    hearken.say("> touch b.txt");
    let n = asked(hearken, &wants("touch b.txt"));
    hearken.say(&format!("r {n} too risky"));
    hearken.announced("reply", "Rejecting");
    hearken.wait("the end of the turn", |line| {
        line.contains(r#""kind":"session_completed""#)
            || line.contains(r#""kind":"session_cancelled""#)
    });
    assert!(!scene.has("b.txt"));

    hearken.say("> wait now");
    hearken.announced("output", "Sentence 2 stands here.");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced("session_cancelled", "Cancelled");
    let seen = kinds(hearken);
    for never in ["danger", "anomaly", "session_errored"] {
        assert!(!seen.iter().any(|kind| kind == never), "{never}: {seen:?}");
    }
}

#[test]
fn opencode_is_prompted_answered_and_stopped_through_pipes() {
    let scene = AgentHome::new(&OPENCODE);
    let recording = scene.work().join("recording.jsonl");
    let mut hearken = watched_through_pipes(&scene, &recording);
    hearken.announced("connection", phrase!("oversight.settings"));
    story(&mut hearken, &scene);
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
    let text = std::fs::read_to_string(&recording).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let events: Vec<Value> = lines
        .filter(|line: &Value| line["event_id"].is_string())
        .collect();
    assert_each_once(&events);
}

/// A subscriber from PyPI.
struct Listener {
    child: Child,
    file: std::path::PathBuf,
}

impl Listener {
    /// Starts one that saves what it hears in the file that its last option names.
    fn start(scene: &AgentHome, name: &str, options: &[&str]) -> Self {
        let file = scene.work().join(format!("{name}.jsonl"));
        let child = program(name)
            .args(options)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, file }
    }

    /// Ends it, and returns the events that it wrote.
    fn events(mut self) -> Vec<Value> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap();
        let text = std::fs::read_to_string(&self.file).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }
}

#[test]
fn subscribers_of_others_hear_every_event_of_opencode_once() {
    let scene = AgentHome::new(&OPENCODE);
    let mut call = scene.command(&[
        "bridge",
        "--serve",
        "127.0.0.1:0",
        "--name",
        "build-3",
        "--cwd",
    ]);
    call.arg(scene.work()).args(["--", "opencode", "acp"]);
    let mut bridge = Hearken::spawn(&mut call);
    let line = bridge.wait("place", |line| line.starts_with("Bridging"));
    let address = line.split("http://").last().unwrap().trim_end_matches('.');
    let url = format!("http://{address}");
    let capture = Listener::start(&scene, "aaep-capture", &["--endpoint", &url, "--output"]);
    let options = ["--quiet", "--endpoint", &url, "--save"];
    let listen = Listener::start(&scene, "aaep-listen", &options);
    let mut hearken = Hearken::spawn(&mut command(&[
        "watch", &url, "--face", "json", "--voice", "none",
    ]));
    hearken.announced("connection", phrase!("oversight.settings"));
    story(&mut hearken, &scene);
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
    for listener in [capture, listen] {
        assert_each_once(&listener.events());
    }
}

/// Asserts that the events of the story are all there, each once.
fn assert_each_once(events: &[Value]) {
    let of = |kind: &str| {
        let named = |event: &&Value| event["type"] == format!("aaep:agent.{kind}");
        events.iter().filter(named).count()
    };
    assert_eq!(
        of("session.started"),
        5,
        "for each prompt, and the reason is one"
    );
    assert_eq!(of("awaiting.confirmation"), 2);
    assert_eq!(of("session.completed") + of("session.cancelled"), 5);
    let mut ids: Vec<&str> = events
        .iter()
        .filter_map(|event| event["event_id"].as_str())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "each event once");
}
