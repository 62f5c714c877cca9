//! Real AG-UI endpoints: pydantic-ai, with the protocol's own interrupts, and LangGraph's, with its older ones.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use hearken_wording::phrase;
use serde_json::Value;

use super::agent_home::{asked, number};
use super::child::{Hearken, command};
use super::{PATIENCE, free_port};

/// A running endpoint, and its working folder.
struct Endpoint {
    folder: tempfile::TempDir,
    script: &'static str,
    server: Child,
    port: u16,
}

impl Endpoint {
    fn new(script: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let server = serve(script, folder.path(), port);
        Self {
            folder,
            script,
            server,
            port,
        }
    }

    fn has(&self, file: &str) -> bool {
        self.folder.path().join(file).exists()
    }

    fn address(&self, path: &str) -> String {
        format!("agui:http://127.0.0.1:{}{path}", self.port)
    }

    fn hearken(&self, path: &str) -> Hearken {
        let address = self.address(path);
        let mut hearken = Hearken::spawn(&mut command(&[
            "run", &address, "--voice", "none", "--face", "json",
        ]));
        hearken.announced("connection", phrase!("agui.ready"));
        hearken
    }

    fn kill(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    fn start(&mut self) {
        self.server = serve(self.script, self.folder.path(), self.port);
    }

    /// Returns the number of posted runs.
    fn runs(&self) -> usize {
        let all = std::fs::read_to_string(self.folder.path().join("runs")).unwrap();
        all.lines().count()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.kill();
    }
}

fn serve(script: &str, folder: &Path, port: u16) -> Child {
    let peers = std::env::var("HEARKEN_PEERS").expect(".ci/run names the folder of the peers");
    let script = format!("{}/tests/peers/{script}", env!("CARGO_MANIFEST_DIR"));
    let server = Command::new(format!("{peers}/bin/python"))
        .args([script.as_str(), "--port", &port.to_string()])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "{script} does not listen");
        std::thread::yield_now();
    }
    server
}

fn accept(hearken: &mut Hearken, words: &str) {
    let n = asked(hearken, words);
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
}

fn leave(mut hearken: Hearken) {
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn a_pydantic_agent_is_prompted_answered_left_and_cancelled() {
    let endpoint = Endpoint::new("agui_pydantic.py");
    let mut hearken = endpoint.hearken("/");
    hearken.say("> say hello");
    hearken.announced("output", "Here is the second.");
    hearken.announced("session_completed", "Finished");

    hearken.say("> touch a.txt");
    accept(&mut hearken, "touch (path: a.txt)");
    hearken.announced("output", "a.txt is there");
    hearken.announced("session_completed", "Finished");
    assert!(endpoint.has("a.txt"));

    // Two at the same time: one is rejected with its reason, and nothing is sent before the last answer.
    hearken.say("> touch b.txt c.txt");
    let n = asked(&mut hearken, "touch (path: b.txt)");
    let runs = endpoint.runs();
    hearken.say(&format!("r #{n} not that name"));
    let n = asked(&mut hearken, "touch (path: c.txt)");
    assert_eq!(endpoint.runs(), runs);
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    hearken.announced("output", "not that name; c.txt is there");
    hearken.announced("session_completed", "Finished");
    assert!(!endpoint.has("b.txt") && endpoint.has("c.txt"));

    // Closed without an answer.
    hearken.say("> touch d.txt");
    asked(&mut hearken, "touch (path: d.txt)");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );
    assert!(!endpoint.has("d.txt"));

    hearken.say("> fail");
    hearken.announced("session_errored", "the model is tired");
    hearken.say("> count");
    hearken.announced("output", "You wrote 6 times.");
    hearken.announced("session_completed", "Finished");

    hearken.say("> wait");
    hearken.announced("output", "Sentence 2 stands here.");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced("session_cancelled", phrase!("agui.end.left"));
    leave(hearken);
}

#[test]
fn an_endpoint_that_was_killed_is_asked_again_only_by_the_person() {
    let mut endpoint = Endpoint::new("agui_pydantic.py");
    let mut hearken = endpoint.hearken("/");
    hearken.say("> wait");
    hearken.announced("output", "Sentence 2 stands here.");
    endpoint.kill();
    hearken.announced("connection", "is lost");
    hearken.announced("session_errored", phrase!("agui.end.lost"));
    hearken.say("> count");
    hearken.announced("connection", phrase!("prompt.not_taken"));
    endpoint.start();
    assert_eq!(endpoint.runs(), 1, "nothing was posted by itself");
    hearken.say("> count");
    hearken.announced("output", "You wrote 2 times.");
    hearken.announced("session_completed", "Finished");

    // Killed while it asks: the answer waits for it, and what it needs is part of the run.
    hearken.say("> touch a.txt");
    let n = asked(&mut hearken, "touch (path: a.txt)");
    endpoint.kill();
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    hearken.announced("reply", "not delivered");
    endpoint.start();
    hearken.announced("output", "a.txt is there");
    hearken.announced("session_completed", "Finished");
    assert!(endpoint.has("a.txt"));
    leave(hearken);
}

#[test]
fn a_langgraph_agent_is_answered_in_its_older_form_and_in_the_protocols() {
    let endpoint = Endpoint::new("agui_langgraph.py");
    for path in ["/", "/typed"] {
        let mut hearken = endpoint.hearken(path);
        hearken.say("> say hello");
        hearken.announced("output", "Here is the second.");
        hearken.announced("session_completed", "Finished");

        hearken.say("> ask me");
        let n = number(&hearken.announced("clarification", "Which colour do you want?"));
        hearken.say(&format!("a #{n} green"));
        hearken.announced("output", "You chose 'green'.");
        hearken.announced("session_completed", "Finished");

        let file = format!("{}.txt", path.trim_start_matches('/'));
        let _ = std::fs::remove_file(endpoint.folder.path().join(&file));
        hearken.say(&format!("> touch {file}"));
        accept(&mut hearken, &format!("touch (path: {file})"));
        hearken.announced("output", "The file stands there.");
        hearken.announced("session_completed", "Finished");
        assert!(endpoint.has(&file));

        hearken.say("> touch b.txt");
        let n = asked(&mut hearken, "touch (path: b.txt)");
        hearken.say(&format!("r #{n} no such thing"));
        hearken.announced("output", "Then not.");
        hearken.announced("session_completed", "Finished");
        assert!(!endpoint.has("b.txt"));
        let decisions = std::fs::read_to_string(endpoint.folder.path().join("decisions")).unwrap();
        assert!(decisions.contains("no such thing"), "{decisions}");

        hearken.say("> form");
        let n = number(&hearken.announced("clarification", "Who are you?"));
        hearken.say(&format!("a #{n} Ann"));
        let n = number(&hearken.announced("clarification", "age"));
        hearken.say(&format!("a #{n} 41"));
        let n = number(&hearken.announced("clarification", "Is this right?"));
        hearken.say(&format!("o {n} 1"));
        hearken.announced("output", "Ann");
        hearken.announced("session_completed", "Finished");

        hearken.say("> touch b.txt");
        asked(&mut hearken, "touch (path: b.txt)");
        hearken.say("stop");
        hearken.announced("reply", phrase!("stop_turn.first.*"));
        hearken.say("stop");
        hearken.announced(
            "session_cancelled",
            phrase!("session.cancelled.*", by = "user"),
        );
        assert!(!endpoint.has("b.txt"));

        hearken.say("> fail");
        hearken.announced("session_errored", "the graph is torn");
        leave(hearken);
    }
}

#[test]
fn two_endpoints_run_at_once_and_each_answer_goes_to_its_own() {
    let (one, two) = (
        Endpoint::new("agui_pydantic.py"),
        Endpoint::new("agui_langgraph.py"),
    );
    let (first, second) = (one.address("/"), two.address("/typed"));
    let arguments = [
        "watch", &first, &second, "--voice", "none", "--face", "json",
    ];
    let mut hearken = Hearken::spawn(&mut command(&arguments));
    hearken.announced("connection", phrase!("agui.ready"));
    hearken.announced("connection", phrase!("agui.ready"));
    hearken.say("sessions");
    hearken.announced("reply", "2:");
    hearken.say("> #1 touch one.txt");
    // With several agents, each question says whose it is, after its number.
    let of = |question: &Value| {
        let number = number(question);
        number.split(' ').next().unwrap().to_owned()
    };
    let first = of(&hearken.announced("confirmation", "touch (path: one.txt)"));
    hearken.say("> #2 touch two.txt");
    let second = of(&hearken.announced("confirmation", "touch (path: two.txt)"));
    for n in [second, first] {
        hearken.say(&format!("y {n}"));
        hearken.announced("reply", phrase!("reply.second_step.*"));
        hearken.say(&format!("c {n}"));
        hearken.announced("session_completed", "Finished");
    }
    assert!(one.has("one.txt") && !one.has("two.txt"));
    assert!(two.has("two.txt") && !two.has("one.txt"));
    leave(hearken);
}
