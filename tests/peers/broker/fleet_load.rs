//! A thousand machines with ten thousand agents on one server, followed by one person. `.ci/deep` plays it whole, and
//! `HEARKEN_BINARY` names the program, `HEARKEN_FLOOD_SECONDS` the time of a flood; otherwise there are few machines
//! for a moment. It prints figures.

#![allow(
    clippy::print_stdout,
    reason = "the figures are for whoever reads the run"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, consumer};
use hearken_wording::phrase;
use tokio::runtime::Runtime;

use crate::child::{Hearken, command};

use super::fleet::{Fleet, ProcessUse};
use super::nats_server::{NatsServer, settings};

/// How large a round is.
struct Round {
    machines: usize,
    agents: usize,
    /// How long the machines publish as much as they can.
    saturating: Duration,
    /// How many events per second go on while questions are timed, and how many questions.
    modest: f64,
    questions: usize,
    /// The time within which 99 of a hundred questions are spoken; a busy machine proves little.
    spoken: Duration,
}

const SMALL: Round = Round {
    machines: 20,
    agents: 10,
    saturating: Duration::from_secs(1),
    modest: 100.0,
    questions: 10,
    spoken: Duration::from_secs(5),
};

const WHOLE: Round = Round {
    machines: 1000,
    agents: 10,
    saturating: Duration::from_secs(20),
    modest: 500.0,
    questions: 200,
    spoken: Duration::from_secs(1),
};

fn round() -> Round {
    let seconds = std::env::var("HEARKEN_FLOOD_SECONDS");
    let seconds = seconds.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    match std::env::var_os("HEARKEN_ALL_RUNS") {
        Some(_) => Round {
            saturating: seconds.unwrap_or(WHOLE.saturating),
            ..WHOLE
        },
        None => SMALL,
    }
}

/// A server with a fleet.
struct Loaded {
    runtime: Runtime,
    server: NatsServer,
    fleet: Fleet,
    round: Round,
}

impl Loaded {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (server, round) = (NatsServer::start(), round());
        let begun = Instant::now();
        let fleet = Fleet::start(&runtime, &server.url(), round.machines, round.agents);
        let all = round.machines * round.agents;
        println!(
            "{} machines with {all} agents began within {:.1?}.",
            round.machines,
            begun.elapsed()
        );
        Self {
            runtime,
            server,
            fleet,
            round,
        }
    }

    fn watch(&self, voice: &str, more: &[&str]) -> Hearken {
        let url = self.server.url();
        let own = settings(&self.server, "anna");
        let mut call = command(&["watch", &url, "--face", "json", "--voice", voice]);
        let mut watcher = Hearken::spawn(call.args(more).arg("--config").arg(own));
        watcher.announced("connection", "Connected");
        watcher
    }

    /// Returns how many events are still to be delivered to the person.
    fn pending(&self) -> u64 {
        let url = self.server.url();
        self.runtime.block_on(async {
            let context = jetstream::new(async_nats::connect(&url).await.unwrap());
            let stream = context.get_stream("AAEP_main").await.unwrap();
            let place = stream
                .get_consumer::<consumer::pull::Config>("hearken-anna")
                .await;
            let mut place = place.unwrap();
            let known = place.info().await.unwrap();
            known.num_pending + known.num_ack_pending as u64
        })
    }

    /// Waits until the person has received everything, or for a minute; returns how many events are left.
    fn catch_up(&self) -> u64 {
        let until = Instant::now() + crate::PATIENCE;
        loop {
            let left = self.pending();
            if left == 0 || Instant::now() >= until {
                return left;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Whoever joins hears how many agents there are, publishing at full speed loses nothing, and all of it is received.
#[test]
fn a_person_follows_a_fleet_that_publishes_as_fast_as_it_can() {
    let loaded = Loaded::start();
    let (server, own) = (loaded.server.id(), std::process::id());
    let alone = [("server", server), ("machines", own)];
    let used = ProcessUse::so_far(&alone);
    let (stored, time) = loaded
        .fleet
        .work(&loaded.runtime, None, loaded.round.saturating);
    let rate = stored as f64 / time.as_secs_f64();
    println!(
        "Nobody follows: {rate:.0} events a second stored; {}.",
        used.report(time)
    );

    let joining = Instant::now();
    let mut anna = loaded.watch("none", &[]);
    let id = anna.id();
    let used = ProcessUse::so_far(&[("watcher", id)]);
    let agents = loaded.round.machines * loaded.round.agents;
    let started = std::cell::Cell::new(0);
    let line = anna.wait("every agent", |line| {
        started.set(started.get() + usize::from(line.contains("\"session_started\"")));
        started.get() == agents || phrase!("fleet.many.*").is_in(line)
    });
    let time = joining.elapsed();
    println!(
        "Joining takes {time:.1?} and {} lines; {}.",
        anna.seen().len(),
        used.report(time)
    );
    if started.get() < agents {
        assert!(line.contains("agents work"), "{line}");
        let wanted = format!("{agents} agents work");
        let until = Instant::now() + crate::PATIENCE;
        loop {
            anna.say("fleet");
            let counts = anna.announced("reply", "");
            if counts["text"].as_str().unwrap().contains(&wanted) {
                break;
            }
            assert!(Instant::now() < until, "{counts}");
            std::thread::sleep(Duration::from_millis(200));
        }
        let time = joining.elapsed();
        println!(
            "All {agents} are counted after {time:.1?} and {} lines; {}.",
            anna.seen().len(),
            used.report(time)
        );
    }

    let all = [("server", server), ("machines", own), ("watcher", id)];
    let used = ProcessUse::so_far(&all);
    let begun = Instant::now();
    let (stored, time) = loaded
        .fleet
        .work(&loaded.runtime, None, loaded.round.saturating);
    let rate = stored as f64 / time.as_secs_f64();
    println!(
        "One person follows: {rate:.0} events a second stored; {}.",
        used.report(time)
    );
    let behind = loaded.pending();
    let left = loaded.catch_up();
    let received = stored.saturating_sub(left) as f64 / begun.elapsed().as_secs_f64();
    println!(
        "The person was {behind} events behind, then {left}, and received {received:.0} a second; {}.",
        used.report(begun.elapsed())
    );
    // At a speed that nobody could follow, the server keeps what was not received yet.
    assert!(
        left == 0 || loaded.round.machines > SMALL.machines,
        "{left}"
    );
    drop(anna);
}

/// Creates a voice that notes when it was given what to say.
fn voice(folder: &Path) -> String {
    let program = folder.join("voice");
    let said = folder.join("said");
    let text = format!(
        "#!/bin/bash\nread -r words\necho \"$EPOCHREALTIME $words\" >>{}\n",
        said.display()
    );
    std::fs::write(&program, text).unwrap();
    let rights = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&program, rights).unwrap();
    format!("command:{}", program.display())
}

#[test]
fn a_question_among_a_fleet_is_spoken_at_once() {
    let loaded = Loaded::start();
    let folder = loaded.server.folder().to_owned();
    let anna = loaded.watch(&voice(&folder), &["--verbosity", "terse"]);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(loaded.catch_up(), 0);
    let working = loaded.fleet.work_on(&loaded.runtime, loaded.round.modest);
    let (begun, before) = (Instant::now(), loaded.fleet.stored());
    let used = ProcessUse::so_far(&[("server", loaded.server.id()), ("watcher", anna.id())]);
    let said = folder.join("said");
    let mut times = Vec::new();
    for number in 0..loaded.round.questions {
        // No digits, which are spoken in words.
        let mark: String = number
            .to_string()
            .bytes()
            .map(|digit| char::from(digit + 50))
            .collect();
        let mark = format!("Deploy zq{mark}.");
        let asked = jiff::Timestamp::now();
        loaded.fleet.ask(&loaded.runtime, number, &mark);
        let until = Instant::now() + crate::PATIENCE;
        let spoken = loop {
            let all = std::fs::read_to_string(&said).unwrap_or_default();
            let line = all
                .lines()
                .find(|line| line.contains(mark.trim_end_matches('.')));
            if let Some(line) = line {
                break line.split(' ').next().unwrap().to_owned();
            }
            assert!(Instant::now() < until, "{mark} is not spoken: {all}");
            std::thread::sleep(Duration::from_millis(5));
        };
        let spoken: f64 = spoken.parse().unwrap();
        let asked = asked.as_millisecond() as f64 / 1000.0;
        times.push(Duration::from_secs_f64((spoken - asked).max(0.0)));
    }
    let time = begun.elapsed();
    let rate = (loaded.fleet.stored() - before) as f64 / time.as_secs_f64();
    working.stop(&loaded.runtime);
    times.sort_unstable();
    let part = |hundredths: usize| times[(times.len() * hundredths).div_ceil(100) - 1];
    println!(
        "At {rate:.0} events a second, from a question's publication to the voice: {:.1?} at p50, {:.1?} at p99, {:.1?} at most; {}.",
        part(50),
        part(99),
        part(100),
        used.report(time)
    );
    assert!(part(99) < loaded.round.spoken, "{times:?}");
}
