//! The server, a bridge to the demo's agent, and people who follow it.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;

use hearken::demo::{DemoSettings, Running, SessionRef, serve};
use hearken::producer::Producer;

use crate::child::{Hearken, command};
use crate::{PATIENCE, free_port, program};

/// A running NATS server, which stores what is published in a folder of its own.
pub(super) struct Server {
    child: Child,
    port: u16,
    /// Where others reach it.
    reached_at: u16,
    folder: tempfile::TempDir,
    more: Vec<String>,
}

impl Server {
    pub(super) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts it with more arguments.
    pub(super) fn with(more: &[&str]) -> Self {
        let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
        let more: Vec<String> = more.iter().map(|&one| one.to_owned()).collect();
        let child = run(port, folder.path(), &more);
        let server = Self {
            child,
            port,
            reached_at: port,
            folder,
            more,
        };
        server.until_listening();
        server
    }

    fn until_listening(&self) {
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until, "the NATS server does not listen");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Kills it without warning.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, with what it has stored.
    pub(super) fn start_again(&mut self) {
        self.child = run(self.port, self.folder.path(), &self.more);
        self.until_listening();
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Lets others reach it at another port, which leads to its own.
    pub(super) fn reach_through(&mut self, port: u16) {
        self.reached_at = port;
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.reached_at)
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(port: u16, folder: &Path, more: &[String]) -> Child {
    program("nats-server")
        .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
        .arg(folder.join("stored"))
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("nats-server: {error}"))
}

/// A space with one machine, on which the demo's agent is.
pub(super) struct Space {
    pub(super) runtime: tokio::runtime::Runtime,
    pub(super) server: Server,
    pub(super) agent: Running,
    pub(super) producer: Producer,
    pub(super) bridge: Hearken,
}

/// Starts a space and lets the test follow it.
pub(super) fn with(test: impl FnOnce(&mut Space)) {
    with_bridge(Server::start(), &[], test);
}

/// Starts a space on a server, with more arguments for the bridge, and lets the test follow it.
pub(super) fn with_bridge(server: Server, more: &[&str], test: impl FnOnce(&mut Space)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let agent = runtime
        .block_on(serve("127.0.0.1:0", DemoSettings::stepped(3)))
        .unwrap();
    let producer = agent.producer().clone();
    let bridge = bridge(&server, &agent, more);
    runtime.block_on(producer.until_subscribed(1));
    test(&mut Space {
        runtime,
        server,
        agent,
        producer,
        bridge,
    });
}

/// Starts a bridge to the demo's agent, as the machine `build-3` unless another name is given, and waits until it has reached the server.
pub(super) fn bridge(server: &Server, agent: &Running, more: &[&str]) -> Hearken {
    let url = server.url();
    let mut call = command(&["bridge", &agent.url(), "--to", &url]);
    if !more.contains(&"--name") {
        call.args(["--name", "build-3"]);
    }
    let mut bridge = Hearken::spawn(call.args(more));
    bridge.wait("server", |line| line.contains("can be reached"));
    bridge
}

impl Space {
    /// Follows the space as a person.
    pub(super) fn watch(&self, person: &str) -> Hearken {
        self.watch_with(person, &[])
    }

    /// Follows the space as a person, with more arguments.
    pub(super) fn watch_with(&self, person: &str, more: &[&str]) -> Hearken {
        watch(&self.server, person, more)
    }

    /// Starts a run of one of the demo's scenarios.
    pub(super) fn start(&self, scenario: &str) -> SessionRef {
        let _entered = self.runtime.enter();
        self.agent.agents().start(scenario).unwrap()
    }
}

impl Space {
    /// Waits for the end of a run.
    pub(super) fn finish(&self, run: SessionRef) {
        let ended = async { tokio::time::timeout(PATIENCE, run.until_ended()).await };
        let ended = self.runtime.block_on(ended);
        ended.expect("a run does not end");
    }
}

/// Follows a server's space as a person.
pub(super) fn watch(server: &Server, person: &str, more: &[&str]) -> Hearken {
    let settings = settings(server, person);
    let url = server.url();
    let mut call = command(&["watch", &url, "--face", "json", "--voice", "none"]);
    let mut watcher = Hearken::spawn(call.args(more).arg("--config").arg(settings));
    watcher.announced("connection", "Connected");
    watcher
}

/// Writes a person's settings, and returns their file.
pub(super) fn settings(server: &Server, person: &str) -> PathBuf {
    let file = server.folder().join(format!("{person}.toml"));
    std::fs::write(&file, format!("[questions]\nuser = \"{person}\"\n")).unwrap();
    file
}
