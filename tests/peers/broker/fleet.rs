//! A fleet of simulated machines, which publish and answer over a real server as bridges do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_nats::Client;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// How many events of a machine are on their way at the same time.
const UNDER_WAY: usize = 16;
/// How often a machine gives a sign of life.
const ALIVE: Duration = Duration::from_secs(10);

/// The events of one agent in a turn: the type, the lane and what it has beside the common fields.
const TURN: [(&str, &str, &str); 10] = [
    (
        "state.changed",
        "act",
        r#""from_state":"idle","to_state":"thinking","summary_normal":"Thinking.""#,
    ),
    (
        "output.streaming",
        "text",
        r#""output_id":"out_1","chunk":"I am reading the files. ","complete":false"#,
    ),
    (
        "output.streaming",
        "text",
        r#""output_id":"out_1","chunk":"There are three of them. ","complete":true"#,
    ),
    (
        "tool.invoked",
        "act",
        r#""tool":"read","tool_call_id":"call_N","summary_normal":"Reading main.rs.""#,
    ),
    (
        "tool.completed",
        "act",
        r#""tool":"read","tool_call_id":"call_N","status":"success","summary_normal":"212 lines.""#,
    ),
    (
        "state.changed",
        "act",
        r#""from_state":"thinking","to_state":"executing","summary_normal":"Working.""#,
    ),
    (
        "progress.updated",
        "act",
        r#""progress":{"percent":50},"summary_normal":"Half of it is done.""#,
    ),
    (
        "output.streaming",
        "text",
        r#""output_id":"out_2","chunk":"The test is green now. ","complete":false"#,
    ),
    (
        "output.streaming",
        "text",
        r#""output_id":"out_2","chunk":"I am going on to the next. ","complete":true"#,
    ),
    (
        "state.changed",
        "act",
        r#""from_state":"executing","to_state":"idle","summary_normal":"Ready.""#,
    ),
];

/// The machines, each with its own connection.
pub(super) struct Fleet {
    machines: Vec<Arc<SimulatedAgent>>,
    /// How many events the server has confirmed.
    stored: Arc<AtomicU64>,
    serving: Vec<JoinHandle<()>>,
}

struct SimulatedAgent {
    host: String,
    agents: usize,
    client: Client,
    context: Context,
    /// The number of its last event.
    last: AtomicU64,
    /// Its running sessions, as its snapshot reports them.
    started: Vec<String>,
}

impl SimulatedAgent {
    fn agent(&self, number: usize) -> String {
        format!("{}-a{number}", self.host)
    }

    fn subject(&self, agent: usize, lane: &str) -> String {
        let name = self.agent(agent);
        let session = name.replace('-', "");
        format!("aaep.v1.main.{}.{name}.sess_{session}.{lane}", self.host)
    }

    /// Returns an event and its id.
    fn event(&self, agent: usize, kind: &str, more: &str) -> (String, String) {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let id = format!("evt_{}x{number}", self.host.replace('-', ""));
        let (name, host) = (self.agent(agent), &self.host);
        let at = jiff::Timestamp::now();
        let session = name.replace('-', "");
        let more = more.replace("call_N", &format!("call_{}", number / 2));
        let text = format!(
            r#"{{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.{kind}","aaep_version":"1.0.0","event_id":"{id}","session_id":"sess_{session}","timestamp":"{at:.3}","producer":{{"agent_id":"{name}"}},"extensions":{{"hearken":{{"host":"{host}"}}}},{more}}}"#
        );
        (id, text)
    }

    /// Publishes an event, and returns what confirms it.
    async fn publish(
        &self,
        agent: usize,
        (kind, lane, more): (&str, &str, &str),
    ) -> jetstream::context::PublishAckFuture {
        let (id, text) = self.event(agent, kind, more);
        let message = PublishMessage::build()
            .payload(text.into())
            .message_id(format!("{}.{id}", self.host));
        let subject = self.subject(agent, lane);
        self.context.send_publish(subject, message).await.unwrap()
    }

    /// Answers like a bridge: who it is, and what runs there.
    async fn serve(self: Arc<Self>) {
        let host = &self.host;
        let mut pings = self
            .client
            .subscribe("$SRV.PING.aaep-bridge")
            .await
            .unwrap();
        let now = format!("aaep-now.v1.main.{host}");
        let mut snapshots = self.client.subscribe(now).await.unwrap();
        let metadata = json!({"type": "io.nats.micro.v1.ping_response", "name": "aaep-bridge",
            "id": host, "version": "0.1.0",
            "metadata": {"space": "main", "host": host, "bridge": host, "version": "0.1.0"}});
        let counts = json!({"working": self.agents, "waiting": 0, "silent": 0}).to_string();
        let mut alive = tokio::time::interval(ALIVE);
        loop {
            tokio::select! {
                Some(ping) = pings.next() => {
                    let Some(reply) = ping.reply else { continue };
                    self.client.publish(reply, metadata.to_string().into()).await.unwrap();
                }
                Some(asked) = snapshots.next() => {
                    let Some(reply) = asked.reply else { continue };
                    let events: Vec<Value> = self.started.iter()
                        .map(|text| serde_json::from_str(text).unwrap()).collect();
                    let sequence = self.last.load(Ordering::Relaxed);
                    let part = json!({"sequence": sequence, "events": events}).to_string();
                    self.client.publish(reply.clone(), part.into()).await.unwrap();
                    self.client.publish(reply, "".into()).await.unwrap();
                }
                _ = alive.tick() => {
                    let subject = format!("aaep-alive.v1.main.{host}");
                    self.client.publish(subject, counts.clone().into()).await.unwrap();
                }
            }
        }
    }
}

impl Fleet {
    /// Connects the machines, and starts a session of each of their agents.
    pub(super) fn start(runtime: &Runtime, url: &str, machines: usize, agents: usize) -> Self {
        runtime.block_on(async {
            let client = async_nats::connect(url).await.unwrap();
            let config = jetstream::stream::Config {
                name: "AAEP_main".to_owned(),
                subjects: vec!["aaep.v1.main.>".to_owned()],
                max_bytes: 1 << 30,
                duplicate_window: Duration::from_secs(120),
                ..Default::default()
            };
            let context = jetstream::new(client);
            context.get_or_create_stream(config).await.unwrap();
            let mut fleet = Self {
                machines: Vec::new(),
                stored: Arc::default(),
                serving: Vec::new(),
            };
            for number in 0..machines {
                let client = async_nats::connect(url).await.unwrap();
                let mut machine = SimulatedAgent {
                    host: format!("m-{number}"),
                    agents,
                    context: jetstream::new(client.clone()),
                    client,
                    last: AtomicU64::new(1),
                    started: Vec::new(),
                };
                for agent in 0..agents {
                    let words = format!(r#""summary_normal":"Turn of agent {agent}.""#);
                    let (id, text) = machine.event(agent, "session.started", &words);
                    let message = PublishMessage::build()
                        .payload(text.clone().into())
                        .message_id(id);
                    let subject = machine.subject(agent, "life");
                    let stored = machine.context.send_publish(subject, message).await;
                    stored.unwrap().await.unwrap();
                    machine.started.push(text);
                }
                let machine = Arc::new(machine);
                fleet
                    .serving
                    .push(tokio::spawn(Arc::clone(&machine).serve()));
                fleet.machines.push(machine);
            }
            fleet
        })
    }

    /// Publishes for a time, this many events per second in all, or as many as the server takes; returns how many it
    /// confirmed, and how long that took.
    pub(super) fn work(
        &self,
        runtime: &Runtime,
        rate: Option<f64>,
        time: Duration,
    ) -> (u64, Duration) {
        let before = self.stored.load(Ordering::Relaxed);
        let begun = Instant::now();
        runtime.block_on(async {
            let tasks = self.working(rate, Arc::new(AtomicBool::new(false)), Some(begun + time));
            for task in tasks {
                task.await.unwrap();
            }
        });
        (
            self.stored.load(Ordering::Relaxed) - before,
            begun.elapsed(),
        )
    }

    /// Publishes until it is told to stop.
    pub(super) fn work_on(&self, runtime: &Runtime, rate: f64) -> PublishingMachines {
        let _entered = runtime.enter();
        let stop = Arc::new(AtomicBool::new(false));
        let tasks = self.working(Some(rate), Arc::clone(&stop), None);
        PublishingMachines { stop, tasks }
    }

    fn working(
        &self,
        rate: Option<f64>,
        stop: Arc<AtomicBool>,
        until: Option<Instant>,
    ) -> Vec<JoinHandle<()>> {
        let each = rate.map(|rate| Duration::from_secs_f64(self.machines.len() as f64 / rate));
        let all = self.machines.iter().enumerate();
        let start = |(number, machine): (usize, &Arc<SimulatedAgent>)| {
            let (machine, stored) = (Arc::clone(machine), Arc::clone(&self.stored));
            let stop = Arc::clone(&stop);
            tokio::spawn(async move {
                let is_over = || {
                    stop.load(Ordering::Relaxed)
                        || until.is_some_and(|until| Instant::now() >= until)
                };
                let mut pace = each.map(|each| {
                    // The machines are not in step.
                    let first =
                        tokio::time::Instant::now() + each.mul_f64(number as f64 % 97.0 / 97.0);
                    tokio::time::interval_at(first, each)
                });
                let mut step = number;
                while !is_over() {
                    let count = match &mut pace {
                        Some(pace) => {
                            pace.tick().await;
                            1
                        }
                        None => UNDER_WAY,
                    };
                    let mut under_way = Vec::with_capacity(count);
                    for _ in 0..count {
                        let agent = (step / TURN.len()) % machine.agents;
                        under_way.push(machine.publish(agent, TURN[step % TURN.len()]).await);
                        step += 1;
                    }
                    for confirmation in under_way {
                        if confirmation.await.is_ok() {
                            stored.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            })
        };
        all.map(start).collect()
    }

    /// Asks a question on a machine, and returns when it was published.
    pub(super) fn ask(&self, runtime: &Runtime, number: usize, words: &str) -> Instant {
        let machine = &self.machines[number % self.machines.len()];
        let more = format!(
            r#""action":"{words}","consequence":"It is done.","reply_token":"rpl_{number}of{}","timeout_seconds":300,"default_decision":"reject","risk_level":"high","summary_normal":"{words}""#,
            machine.host.replace('-', "")
        );
        let at = Instant::now();
        let agent = number % machine.agents;
        runtime.block_on(async {
            let asked = machine.publish(agent, ("awaiting.confirmation", "ask", &more));
            asked.await.await.unwrap();
        });
        at
    }

    /// Returns how many events the server has confirmed since the sessions were started.
    pub(super) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.serving.iter().for_each(JoinHandle::abort);
    }
}

/// Machines that publish meanwhile.
pub(super) struct PublishingMachines {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl PublishingMachines {
    pub(super) fn stop(self, runtime: &Runtime) {
        self.stop.store(true, Ordering::Relaxed);
        runtime.block_on(async {
            for task in self.tasks {
                task.await.unwrap();
            }
        });
    }
}

/// What processes have used so far.
pub(super) struct ProcessUse(BTreeMap<&'static str, (u32, Duration)>);

impl ProcessUse {
    /// Looks at processes by their ids.
    pub(super) fn so_far(processes: &[(&'static str, u32)]) -> Self {
        Self(
            processes
                .iter()
                .map(|(name, id)| (*name, (*id, processor(*id))))
                .collect(),
        )
    }

    /// Returns how many processors each has used since, on average, and its present and peak memory.
    pub(super) fn report(&self, time: Duration) -> String {
        let parts = self.0.iter().map(|(name, (id, before))| {
            let used = processor(*id).saturating_sub(*before);
            let part = used.as_secs_f64() / time.as_secs_f64();
            let [now, most] = ["VmRSS:", "VmHWM:"].map(|field| memory(*id, field) >> 20);
            format!("{name} {part:.2} processors, {now} MiB (at most {most})")
        });
        parts.collect::<Vec<_>>().join("; ")
    }
}

/// Returns the processor time that a process has used.
fn processor(id: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let numbers = stat
        .rsplit_once(')')
        .map(|(_, numbers)| numbers)
        .unwrap_or_default();
    let ticks = numbers.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    // A tick is a hundredth of a second on every Linux.
    Duration::from_millis(10 * ticks)
}

/// Returns a number of bytes of a process.
fn memory(id: u32, field: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with(field))
        .unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).unwrap_or("0");
    kilobytes.parse::<usize>().unwrap() * 1024
}
