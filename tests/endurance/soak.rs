//! A soak: agents that stream, ask, vanish and return, a screen that changes its size, a slow voice, an engine that
//! dies and recovers, over and over. All input is accounted for, nothing urgent is lost, and neither is any memory,
//! thread or descriptor.
//!
//! `HEARKEN_SOAK_SECONDS` sets the duration: hours, if available.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hearken::bench::Flood;
use serde_json::{Value, json};

use super::support::pty_terminal::Terminal;
use super::support::scripted_ssip::{FakeSsip, LineKind, address};
use super::{AgentEvents, PATIENCE, binary, request};

/// The default duration.
const SECONDS: u64 = 40;
/// How many events of text, states and tools are sent per second.
const RATE: u64 = 300;
/// How many sessions send them.
const FLOODED: usize = 3;
/// The most events in a recording, so that the input can be counted there.
const MOST_RECORDED: u64 = 1_200_000;
/// How long an utterance lasts, in milliseconds.
const SPOKEN: u64 = 5;
const SLOWLY: u64 = 400;
/// The most memory growth after the first quarter, in KiB: the history and the recent events take a while to fill.
const GROWTH: u64 = 16 * 1024;
/// How many connections may be kept for another request at one time and not at another.
const SPARE: usize = 3;

/// An action on the event stream.
enum Deed {
    Events(String),
    Vanish,
}

/// A server with the plain pair, whose stream may break off and continues with the next client.
struct BreakingServer {
    url: String,
    deeds: Sender<Deed>,
    replies: Receiver<Value>,
    /// How often a client requested the stream.
    streams: Arc<AtomicUsize>,
}

impl BreakingServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (deeds, to_do) = channel();
        let to_do = Arc::new(Mutex::new(to_do));
        let (sender, replies) = channel();
        let streams = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&streams);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (to_do, sender) = (Arc::clone(&to_do), sender.clone());
                let count = Arc::clone(&count);
                std::thread::spawn(move || serve(stream, &to_do, &sender, &count));
            }
        });
        Self {
            url,
            deeds,
            replies,
            streams,
        }
    }
}

fn serve(
    mut stream: TcpStream,
    to_do: &Mutex<Receiver<Deed>>,
    sender: &Sender<Value>,
    streams: &AtomicUsize,
) {
    let (head, body) = request(&mut stream);
    if head.starts_with("POST /messages") {
        sender.send(serde_json::from_slice(&body).unwrap()).unwrap();
        let answer = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        let _ = stream.write_all(answer.as_bytes());
        return;
    }
    if !head.starts_with("GET /events") {
        let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let _ = stream.write_all(answer.as_bytes());
        return;
    }
    let to_do = to_do.lock().unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    streams.fetch_add(1, Ordering::Release);
    while let Ok(Deed::Events(text)) = to_do.recv() {
        stream.write_all(text.as_bytes()).unwrap();
    }
}

/// The voice: every utterance ends after a while.
struct Voice {
    server: FakeSsip,
    /// How long an utterance lasts, in milliseconds.
    lasts: AtomicU64,
    /// The first connection that does not belong to a dead engine.
    alive: Mutex<usize>,
    over: AtomicBool,
}

impl Voice {
    fn start() -> Self {
        Self {
            server: FakeSsip::start(),
            lasts: AtomicU64::new(SPOKEN),
            alive: Mutex::new(0),
            over: AtomicBool::new(false),
        }
    }

    fn speak(&self) {
        let mut begun: Option<(u64, Instant)> = None;
        while !self.over.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(2));
            let alive = self.alive.lock().unwrap();
            let open = self.server.wait("anything", |_, messages| {
                let last = messages.last().filter(|it| !it.over);
                Some(
                    last.filter(|it| it.connection >= *alive)
                        .map(|it| it.number),
                )
            });
            let Some(number) = open else { continue };
            match begun {
                Some((of, since)) if of == number => {
                    let lasts = Duration::from_millis(self.lasts.load(Ordering::Acquire));
                    if since.elapsed() >= lasts {
                        self.server.event(702, number);
                    }
                }
                Some(_) | None => begun = Some((number, Instant::now())),
            }
        }
    }

    /// Kills the engine, and starts another listener a little later.
    fn die(&self, meanwhile: impl FnOnce()) {
        let mut alive = self.alive.lock().unwrap();
        *alive = self.connections();
        self.server.die();
        drop(alive);
        meanwhile();
        self.server.listen();
        let alive = *self.alive.lock().unwrap();
        self.server.wait("a voice that is back", |lines, _| {
            let mut later = lines.iter().filter(|line| line.connection >= alive);
            later.any(|line| line.text == "SPEAK").then_some(())
        });
    }

    /// Returns the number of connections so far.
    fn connections(&self) -> usize {
        self.server.wait("anything", |lines, _| {
            let last = lines.iter().map(|line| line.connection).max();
            Some(last.map_or(0, |last| last + 1))
        })
    }

    /// Returns the number of text lines read.
    fn read(&self) -> usize {
        self.server.wait("anything", |lines, _| Some(lines.len()))
    }

    /// Waits until certain words are said, starting from a line.
    fn says(&self, from: usize, words: &str) {
        self.server.wait(words, |lines, _| {
            let mut later = lines.iter().skip(from);
            let says = later.any(|line| line.kind == LineKind::Text && line.text.contains(words));
            says.then_some(())
        });
    }
}

/// The system resources that a program uses.
#[derive(Debug)]
struct ResourcesHeld {
    memory: u64,
    threads: u64,
    descriptors: usize,
}

fn held(id: u32) -> ResourcesHeld {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let number = |name: &str| -> u64 {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    ResourcesHeld {
        memory: number("VmRSS:"),
        threads: number("Threads:"),
        descriptors: std::fs::read_dir(format!("/proc/{id}/fd")).unwrap().count(),
    }
}

/// Sends the due events of the flood, and counts them by type.
struct Pour {
    flood: Flood,
    began: Instant,
    poured: u64,
    rate: u64,
    sent: BTreeMap<String, u64>,
}

impl Pour {
    fn due(&mut self, agent: &BreakingServer) {
        let due = self.began.elapsed().as_millis() as u64 * self.rate / 1000;
        for _ in self.poured..due {
            let event = self.flood.next().unwrap();
            self.send(agent, &event);
        }
        self.poured = self.poured.max(due);
    }

    fn send(&mut self, agent: &BreakingServer, event: &str) {
        let kind = event.split("aaep:agent.").nth(1).unwrap();
        let kind = kind.split('"').next().unwrap().to_owned();
        *self.sent.entry(kind).or_default() += 1;
        agent
            .deeds
            .send(Deed::Events(format!("data: {event}\n\n")))
            .unwrap();
    }
}

/// Continues the flood for a while.
fn go_on(pour: &mut Pour, agent: &BreakingServer, terminal: &mut Terminal, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        pour.due(agent);
        terminal.let_pass(Duration::from_millis(10));
    }
}

#[test]
fn everything_is_accounted_for_whatever_happens_and_nothing_is_held_for_ever() {
    let seconds =
        std::env::var("HEARKEN_SOAK_SECONDS").map_or(SECONDS, |seconds| seconds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("soak.jsonl");
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[questions]\narm_ms = 0\n").unwrap();
    let (agent, voice) = (BreakingServer::start(), Voice::start());
    let mut terminal = Terminal::start_program(
        &binary(),
        160,
        60,
        &[
            "watch",
            &agent.url,
            "--face",
            "full",
            "--verbosity",
            "detailed",
            "--record",
            record.to_str().unwrap(),
            "--config",
            config.to_str().unwrap(),
        ],
        &[
            ("TERM", "xterm-256color"),
            ("SPEECHD_ADDRESS", &address(&voice.server)),
            ("PATH", "/nonexistent"),
        ],
    );
    std::thread::scope(|scope| {
        scope.spawn(|| voice.speak());
        // A failure must not wait for a thread that is never stopped.
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let sent = soak(&agent, &voice, &mut terminal, Duration::from_secs(seconds));
            account(&sent, &record, &config);
        }));
        voice.over.store(true, Ordering::Release);
        told.unwrap_or_else(|failure| std::panic::resume_unwind(failure));
    });
}

/// Plays everything over and over, and returns how many events of each type were sent.
fn soak(
    agent: &BreakingServer,
    voice: &Voice,
    terminal: &mut Terminal,
    length: Duration,
) -> BTreeMap<String, u64> {
    terminal.wait("Status: ");
    let mut agents = AgentEvents {
        count: 0,
        start: jiff::Timestamp::now(),
        at: Duration::ZERO,
    };
    let rate = RATE.min(MOST_RECORDED / length.as_secs().max(1));
    let flood = Flood::new(FLOODED, jiff::Timestamp::now());
    let mut pour = Pour {
        flood: flood.at_rate(u32::try_from(rate).unwrap()),
        began: Instant::now(),
        poured: 0,
        rate,
        sent: BTreeMap::new(),
    };
    let start = agents.event(9, "session.started", json!({"summary_normal": "Going."}));
    pour.send(agent, &start);
    let sizes = [(80, 24), (40, 10), (200, 60), (100, 30)];
    let (mut round, mut asked, mut early) = (0, 0, None);
    let started = Instant::now();
    while started.elapsed() < length || round % 5 != 0 {
        agents.at = started.elapsed();
        match round % 5 {
            0 => {
                asked += 1;
                ask(agent, voice, terminal, &mut pour, &mut agents, asked);
            }
            1 => {
                let before = agent.streams.load(Ordering::Acquire);
                agent.deeds.send(Deed::Vanish).unwrap();
                let until = Instant::now() + PATIENCE;
                while agent.streams.load(Ordering::Acquire) == before {
                    assert!(Instant::now() < until, "nobody came back");
                    go_on(&mut pour, agent, terminal, Duration::from_millis(50));
                }
            }
            2 => {
                let (columns, rows) = sizes[round / 5 % sizes.len()];
                terminal.resize(columns, rows);
            }
            3 => {
                voice.lasts.store(SLOWLY, Ordering::Release);
                go_on(&mut pour, agent, terminal, Duration::from_secs(2));
                voice.lasts.store(SPOKEN, Ordering::Release);
            }
            _ => voice.die(|| go_on(&mut pour, agent, terminal, Duration::from_millis(300))),
        }
        go_on(&mut pour, agent, terminal, Duration::from_millis(200));
        round += 1;
        if early.is_none() && round % 5 == 0 && started.elapsed() > length / 4 {
            early = Some(held(terminal.id()));
        }
    }
    let late = held(terminal.id());
    let early = early.unwrap();
    println!(
        "{round} rounds, {asked} questions, {:?}; {early:?} and {late:?}",
        pour.sent
    );
    assert!(late.memory < early.memory + GROWTH, "{early:?} {late:?}");
    assert!(late.threads <= early.threads, "{early:?} {late:?}");
    assert!(
        late.descriptors <= early.descriptors + SPARE,
        "{early:?} {late:?}"
    );
    judge(terminal, asked);
    // Every text is completed.
    let mut open = FLOODED;
    while open > 0 {
        let event = pour.flood.next().unwrap();
        open -= usize::from(event.contains("output.streaming"));
        let event = event.replace(r#""complete":false"#, r#""complete":true"#);
        pour.send(agent, &event);
    }
    terminal.let_pass(Duration::from_millis(500));
    pour.sent
}

/// Asks a question, and answers it once it has been said.
fn ask(
    agent: &BreakingServer,
    voice: &Voice,
    terminal: &mut Terminal,
    pour: &mut Pour,
    agents: &mut AgentEvents,
    asked: usize,
) {
    let from = voice.read();
    let (token, action) = (format!("rpl_{asked}"), format!("Do thing {asked} of many"));
    let question = json!({
        "action": action, "reply_token": token, "timeout_seconds": 3000, "default_decision": "reject",
        "risk_level": "low", "irreversible": false, "urgency": "critical",
    });
    let question = agents.event(9, "awaiting.confirmation", question);
    pour.send(agent, &question);
    voice.says(from, &action);
    let mut pressed: Option<Instant> = None;
    let until = Instant::now() + PATIENCE;
    let reply = loop {
        assert!(
            Instant::now() < until,
            "question {asked} is not answered:\n{}",
            terminal.screen()
        );
        // A key that comes too early is rejected with a message, and pressed again, late enough not to count as held.
        if pressed.is_none_or(|at| at.elapsed() > Duration::from_secs(1)) {
            terminal.press(if asked.is_multiple_of(2) { "n" } else { "y" });
            pressed = Some(Instant::now());
        }
        go_on(pour, agent, terminal, Duration::from_millis(20));
        if let Ok(reply) = agent.replies.try_recv() {
            break reply;
        }
    };
    assert_eq!(reply["reply_token"], token);
    let settled = json!({"from_state": "awaiting_input", "to_state": "thinking"});
    let settled = agents.event(9, "state.changed", settled);
    pour.send(agent, &settled);
}

/// Reads from the status how the utterances ended.
fn judge(terminal: &mut Terminal, asked: usize) {
    terminal.resize(200, 60);
    terminal.let_pass(Duration::from_millis(500));
    terminal.press("t");
    terminal.wait_until("what was said", |screen| {
        words_of(screen).contains("urgent ones:") || words_of(screen).contains("urgent one:")
    });
    let screen = words_of(&terminal.screen());
    let counted = |what: &str| {
        let at = screen
            .find(what)
            .unwrap_or_else(|| panic!("no {what}: {screen}"));
        let taken = screen[..at]
            .rsplit(' ')
            .next()
            .unwrap()
            .parse::<u64>()
            .unwrap();
        let rest = screen[at..].split_once(": ").unwrap().1;
        let counts = rest.split('.').next().unwrap().split(", ").map(|count| {
            let (number, fate) = count.split_once(' ').unwrap();
            (fate.to_owned(), number.parse::<u64>().unwrap())
        });
        (taken, counts.collect::<BTreeMap<_, _>>())
    };
    let (taken, all) = counted(" announcements to be said:");
    println!("{taken} announcements: {all:?}");
    assert_eq!(all.values().sum::<u64>(), taken, "{all:?}");
    assert!(all["said"] > 0 && all["folded into a count"] > 0, "{all:?}");
    let (taken, urgent) = counted(" urgent one");
    println!("{taken} urgent: {urgent:?}");
    assert_eq!(urgent.values().sum::<u64>(), taken, "{urgent:?}");
    assert!(taken >= asked as u64, "{urgent:?}");
    for never in ["folded into a count", "too old", "cut by what was urgent"] {
        assert!(!urgent.contains_key(never), "{urgent:?}");
    }
}

/// Joins the words of a screen into one line.
fn words_of(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Compares what was sent with what was heard, and with a replay: each result once, and every word.
fn account(sent: &BTreeMap<String, u64>, record: &Path, config: &Path) {
    let heard = BufReader::new(std::fs::File::open(record).unwrap());
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    for line in heard.lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let kind = event["type"]
            .as_str()
            .unwrap()
            .trim_start_matches("aaep:agent.");
        *kinds.entry(kind.to_owned()).or_default() += 1;
        if let Some(chunk) = event["chunk"].as_str() {
            let session = event["session_id"].as_str().unwrap().to_owned();
            words.entry(session).or_default().push_str(chunk);
        }
    }
    assert_eq!(&kinds, sent, "what was sent was heard");
    let told = Command::new(binary())
        .args([
            "replay",
            record.to_str().unwrap(),
            "--no-delay",
            "--face",
            "json",
        ])
        .args(["--voice", "none", "--config", config.to_str().unwrap()])
        .output()
        .unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let told: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let count = |kind: &str| told.iter().filter(|it| it["kind"] == kind).count() as u64;
    for (event, kind) in [
        ("session.started", "session_started"),
        ("tool.invoked", "tool_invoked"),
        ("tool.completed", "tool_completed"),
    ] {
        assert_eq!(count(kind), sent[event], "{kind}");
    }
    let asked: BTreeSet<&str> = told
        .iter()
        .filter_map(|it| it["reply_token"].as_str())
        .collect();
    assert_eq!(asked.len() as u64, sent["awaiting.confirmation"]);
    for (session, said) in &words {
        let mut whole = String::new();
        for output in told
            .iter()
            .filter(|it| it["kind"] == "output" && it["session"] == **session)
        {
            whole.push_str(output["text"].as_str().unwrap());
            whole.push(' ');
        }
        let [said, whole] = [said.as_str(), &whole]
            .map(|text| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() });
        assert_eq!(said.len(), whole.len(), "{session}");
        assert!(said == whole, "{session}: the words differ");
    }
}
