//! The server, a bridge to the demo's agent, and people who follow it.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use hearken::demo::{DemoSettings, ServedDemo, SessionRef, serve};
use hearken::producer::Producer;
use hearken_wording::phrase;

use crate::child::{Hearken, command};
use crate::{PATIENCE, free_port, program};

/// A running NATS server, which stores what is published in a folder of its own.
pub(super) struct NatsServer {
    child: Child,
    port: u16,
    /// Where others reach it.
    reached_at: u16,
    folder: tempfile::TempDir,
    more: Vec<String>,
}

impl NatsServer {
    pub(super) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts it with more settings, in the form of its own file.
    pub(super) fn with_settings(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("nats-server.conf");
        std::fs::write(&file, settings).unwrap();
        Self::in_folder(folder, &["-c", file.to_str().unwrap()], run)
    }

    /// Starts it with more arguments.
    pub(super) fn with(more: &[&str]) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), more, run)
    }

    /// Starts one that stores nothing.
    pub(super) fn without_streams() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), &[], |port, _, _| {
            let port = port.to_string();
            quiet(program("nats-server").args(["-a", "127.0.0.1", "-p", &port]))
        })
    }

    /// Starts it with a folder of its own, by a function.
    pub(super) fn in_folder(
        folder: tempfile::TempDir,
        more: &[&str],
        run: impl FnOnce(u16, &Path, &[String]) -> Child,
    ) -> Self {
        let port = free_port();
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

    /// Returns the id of its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(port: u16, folder: &Path, more: &[String]) -> Child {
    spawn(
        &mut program("nats-server"),
        port,
        &folder.join("stored"),
        more,
    )
}

/// Starts the server by a command that its arguments are added to.
pub(super) fn spawn(command: &mut Command, port: u16, stored: &Path, more: &[String]) -> Child {
    command
        .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
        .arg(stored)
        .args(more);
    quiet(command)
}

/// Starts the server without its words.
fn quiet(command: &mut Command) -> Child {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("nats-server: {error}"))
}

/// A space with one machine, on which the demo's agent is.
pub(super) struct Space {
    pub(super) runtime: tokio::runtime::Runtime,
    pub(super) server: NatsServer,
    pub(super) agent: ServedDemo,
    pub(super) producer: Producer,
    pub(super) bridge: Hearken,
}

/// Starts a space and lets the test follow it.
pub(super) fn with(test: impl FnOnce(&mut Space)) {
    with_bridge(NatsServer::start(), &[], test);
}

/// Starts a space on a server, with more arguments for the bridge, and lets the test follow it.
pub(super) fn with_bridge(server: NatsServer, more: &[&str], test: impl FnOnce(&mut Space)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let agent = agent(&runtime);
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

/// Starts the demo's agent.
pub(super) fn agent(runtime: &tokio::runtime::Runtime) -> ServedDemo {
    let agent = serve("127.0.0.1:0", DemoSettings::stepped(3));
    runtime.block_on(agent).unwrap()
}

/// Starts a bridge to the demo's agent, as the machine `build-3` unless another name is given, and waits until it has
/// reached the server.
pub(super) fn bridge(server: &NatsServer, agent: &ServedDemo, more: &[&str]) -> Hearken {
    let named = more.iter().position(|one| *one == "--name");
    let name = named.map_or("build-3", |at| more[at + 1]);
    let more: Vec<&str> = match named {
        Some(at) => [&more[..at], &more[at + 2..]].concat(),
        None => more.to_vec(),
    };
    bridge_as(name, &server.url(), agent, &more)
}

/// Starts a bridge to the demo's agent, as a machine, and waits until it has reached the server at an address.
pub(super) fn bridge_as(name: &str, url: &str, agent: &ServedDemo, more: &[&str]) -> Hearken {
    let mut bridge = bridge_of(name, url, agent, more);
    bridge.wait("server", |line| phrase!("bridge.broker.up").is_in(line));
    bridge
}

/// Starts a bridge to the demo's agent, as a machine.
pub(super) fn bridge_of(name: &str, url: &str, agent: &ServedDemo, more: &[&str]) -> Hearken {
    let mut call = command(&["bridge", &agent.url(), "--name", name, "--to", url]);
    Hearken::spawn(call.args(more))
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
pub(super) fn watch(server: &NatsServer, person: &str, more: &[&str]) -> Hearken {
    let settings = settings(server, person);
    let own = ["--config", settings.to_str().unwrap()];
    let more: Vec<&str> = more.iter().copied().chain(own).collect();
    watch_by(server, &more)
}

/// Follows a server's space with these arguments.
pub(super) fn watch_by(server: &NatsServer, more: &[&str]) -> Hearken {
    let url = server.url();
    let mut call = command(&["watch", &url, "--face", "json", "--voice", "none"]);
    let mut watcher = Hearken::spawn(call.args(more));
    watcher.announced("connection", "Connected");
    watcher
}

/// Writes a person's settings, and returns their file.
pub(super) fn settings(server: &NatsServer, person: &str) -> PathBuf {
    let file = server.folder().join(format!("{person}.toml"));
    std::fs::write(&file, format!("[questions]\nuser = \"{person}\"\n")).unwrap();
    file
}
