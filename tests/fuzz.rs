//! A bounded fuzz run of the decoder and of the sessions, with no tool but cargo: `HEARKEN_FUZZ_SECONDS=60 cargo
//! test --test fuzz`. The seed is printed, and `HEARKEN_FUZZ_SEED` replays it; input that finds a fault belongs in
//! `tests/corpus`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells its figures"
)]

#[path = "heard_order/numbered_streams.rs"]
mod numbered_streams;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use hearken::inspect::{Checker, Format, Tracer};
use hearken::link::LinkId;
use hearken::protocol::{Answer, Decision, DecodeError, Decoded, Event, Now, Response, decode};
use hearken::session::{Change, ChangeKind, Phase, Question, QuestionId, SessionKey, Sessions};
use jiff::Timestamp;
use serde_json::{Value, json};

const EVENTS: &str = include_str!("corpus/events.jsonl");
const ODD: &str = include_str!("corpus/odd.jsonl");

struct FuzzDice(u64);

impl FuzzDice {
    fn new(name: &str) -> Self {
        let given = std::env::var("HEARKEN_FUZZ_SEED")
            .ok()
            .map(|text| text.parse().expect("HEARKEN_FUZZ_SEED is a number"));
        let seed = given.unwrap_or_else(|| {
            let now = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap();
            now.as_nanos() as u64 | 1
        });
        println!("{name}: HEARKEN_FUZZ_SEED={seed}");
        Self(seed.max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

fn seconds() -> Duration {
    let seconds = std::env::var("HEARKEN_FUZZ_SECONDS").map_or(300, |text| {
        text.parse().expect("HEARKEN_FUZZ_SECONDS is a number")
    });
    Duration::from_secs(seconds)
}

fn nasty(dice: &mut FuzzDice) -> Value {
    match dice.below(16) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(i64::MIN),
        5 => json!(1.5e308),
        6 => json!(0.1),
        7 => json!(""),
        8 => json!("x".repeat(dice.below(70_000))),
        9 => json!("\u{0}\u{1b}[2J\u{202e}\u{feff}\u{e0041}"),
        10 => json!([]),
        11 => json!({}),
        12 => json!(vec![json!("a"); dice.below(600)]),
        13 => (0..dice.below(100)).fold(json!({}), |inner, _| json!({"a": inner})),
        14 => json!("awaiting_input"),
        _ => json!(dice.next() % 100_000),
    }
}

fn disturb(dice: &mut FuzzDice, value: &mut Value) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = dice.pick(&keys).clone();
            match dice.below(6) {
                0 => {
                    map.remove(&key);
                }
                1 => {
                    map.insert(key, nasty(dice));
                }
                2 => {
                    let other = dice.pick(&keys).clone();
                    let moved = map[&other].clone();
                    map.insert(key, moved);
                }
                3 => {
                    let name = format!("{key}_{}", dice.below(9));
                    map.insert(name, nasty(dice));
                }
                _ => disturb(dice, map.get_mut(&key).unwrap()),
            }
        }
        Value::Array(values) if !values.is_empty() => {
            let at = dice.below(values.len());
            if dice.one_in(2) {
                let copy = values[at].clone();
                values.push(copy);
            } else {
                disturb(dice, &mut values[at]);
            }
        }
        other => *other = nasty(dice),
    }
}

fn corrupt(dice: &mut FuzzDice, bytes: &mut Vec<u8>, corpus: &[String]) {
    if bytes.is_empty() {
        bytes.extend_from_slice(dice.pick(corpus).as_bytes());
    }
    let at = dice.below(bytes.len());
    match dice.below(9) {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = dice.next() as u8,
        2 => {
            bytes.remove(at);
        }
        3 => bytes.truncate(at),
        4 => {
            let other = dice.pick(corpus).as_bytes();
            let cut = dice.below(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[cut..]);
        }
        5 => {
            let end = (at + dice.below(40)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
        6 => {
            let pieces: [&[u8]; 10] = [
                b"\\ud83d",
                b"\\udc00",
                b"\\u0000",
                b"1e999",
                b"-0",
                b"123456789012345678901234567890",
                b"{\"a\":",
                b"[[[[[[[[[[[[[[[[",
                b"\"",
                b"\\",
            ];
            let piece = *dice.pick(&pieces);
            bytes.splice(at..at, piece.iter().copied());
        }
        7 => {
            let opens = "[".repeat(dice.below(400));
            bytes.splice(at..at, opens.bytes());
        }
        _ => {
            let other = dice.pick(corpus).as_bytes().to_vec();
            bytes.splice(at..at, other);
        }
    }
    bytes.truncate(200_000);
}

fn corpus() -> Vec<String> {
    EVENTS
        .lines()
        .chain(ODD.lines())
        .map(str::to_owned)
        .collect()
}

fn make(dice: &mut FuzzDice, corpus: &[String]) -> String {
    let mut text = dice.pick(corpus).clone();
    if let Ok(mut value) = serde_json::from_str::<Value>(&text) {
        for _ in 0..dice.below(5) {
            disturb(dice, &mut value);
        }
        text = value.to_string();
    }
    if dice.one_in(2) {
        let mut bytes = text.into_bytes();
        for _ in 0..=dice.below(6) {
            corrupt(dice, &mut bytes, corpus);
        }
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    text
}

/// Checks a decoded message for the guarantees that all later stages rely on.
fn hold(text: &str, decoded: &Decoded) {
    let findings = &decoded.findings;
    assert!(findings.len() <= 65, "{}", findings.len());
    assert!(
        findings.iter().map(|finding| finding.step).is_sorted() || {
            let judged = findings
                .iter()
                .take_while(|finding| finding.rule.name() != "shortened");
            judged.map(|finding| finding.step).is_sorted()
        }
    );
    for finding in findings {
        assert_eq!(finding.severity, finding.rule.severity());
        assert!(!finding.section.is_empty() && !finding.problem.name().is_empty());
        let shown = finding.to_string();
        assert!(
            shown.len() < 2000 && !shown.chars().any(char::is_control),
            "{shown}"
        );
    }
    let envelope = &decoded.envelope;
    let names = [
        envelope.event_id.as_ref().map_or("", |id| id.as_str()),
        envelope.session_id.as_str(),
        envelope.producer.agent_id.as_str(),
        &*envelope.type_name,
    ];
    assert!(
        names.iter().all(|name| name.len() < 300),
        "names are bounded"
    );
    match &decoded.event {
        Event::Progress(progress) => {
            assert!(
                progress
                    .percent
                    .is_none_or(|percent| (0.0..=100.0).contains(&percent))
            );
        }
        Event::AwaitingConfirmation(asked) => {
            assert!(
                asked
                    .timeout_seconds
                    .is_none_or(|seconds| seconds <= 31_536_000)
            );
            assert!(asked.extra_context.len() <= 256 && asked.allowed_replies.len() <= 256);
        }
        Event::AwaitingClarification(asked) => {
            assert!(!asked.accepted_response_kinds.is_empty() && asked.choices.len() <= 256);
        }
        Event::SessionStarted(_)
        | Event::SessionCompleted(_)
        | Event::SessionErrored(_)
        | Event::SessionCancelled(_)
        | Event::StateChanged(_)
        | Event::ToolInvoked(_)
        | Event::ToolCompleted(_)
        | Event::OutputStreaming(_)
        | Event::HandoffRequested(_)
        | Event::Unknown(_) => {}
    }
    assert_eq!(
        decode(text).as_deref(),
        Ok(decoded),
        "the same text is the same event"
    );
}

#[test]
fn the_decoder_survives_anything() {
    let phrases = hearken::announce::Phrases::english().unwrap();
    let mut dice = FuzzDice::new("decoder");
    let corpus = corpus();
    let until = Instant::now() + seconds();
    let (mut texts, mut read, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
    let (mut checker, mut tracer) = (Checker::new(), Tracer::new());
    while Instant::now() < until {
        let text = make(&mut dice, &corpus);
        let begin = Instant::now();
        let decoded = decode(&text);
        slowest = slowest.max(begin.elapsed());
        texts += 1;
        match &decoded {
            Ok(decoded) => {
                read += 1;
                hold(&text, decoded);
            }
            Err(error) => {
                assert!(phrases.unread(error).len() < 200);
                // Anything that serde_json reads as an object with a type is never refused.
                let plain = serde_json::from_str::<Value>(&text);
                let readable = plain
                    .is_ok_and(|value| value["type"].as_str().is_some_and(|name| !name.is_empty()));
                assert!(!readable, "{error:?}: {text}");
                if let DecodeError::Json { line, column, .. } = error {
                    assert!(*line >= 1 && *column <= text.len() + 1, "{line} {column}");
                }
            }
        }
        for line in text.split('\n') {
            for item in checker.line(line) {
                let shown = item.to_text(&phrases);
                assert!(
                    shown.len() < 4000 && !shown.chars().any(char::is_control),
                    "{shown}"
                );
            }
            tracer.line(line);
        }
        if texts % 20_000 == 0 {
            let (_, summary) = std::mem::take(&mut checker).finish();
            assert!(summary.sessions.len() <= 1000);
            let json = summary.to_json(false);
            assert!(
                json.lines()
                    .all(|line| serde_json::from_str::<Value>(line).is_ok())
            );
            std::mem::take(&mut tracer).finish(Format::Mermaid, &phrases);
        }
    }
    println!("decoder: {texts} texts, {read} of them read, the slowest in {slowest:?}");
    assert!(read > texts / 10, "the mutations leave something to read");
    assert!(
        slowest < Duration::from_secs(2),
        "no text of 200 kB takes long"
    );
}

#[derive(Default)]
struct Witness {
    asked: BTreeSet<QuestionId>,
    closed: BTreeSet<QuestionId>,
    ended: BTreeMap<SessionKey, bool>,
}

impl Witness {
    fn hear(&mut self, changes: &[Change]) {
        for change in changes {
            match &change.kind {
                ChangeKind::QuestionOpened(id) => {
                    assert!(self.asked.insert(*id), "{id:?} raised twice")
                }
                ChangeKind::QuestionClosed {
                    question,
                    reason: how,
                } => {
                    assert!(
                        self.asked.contains(question),
                        "only what was raised is closed: {question:?} {how:?} {changes:#?}"
                    );
                    assert!(self.closed.insert(*question), "{question:?} is closed once");
                }
                ChangeKind::SessionStarted(_)
                | ChangeKind::SessionJoined
                | ChangeKind::HelperJoined => {
                    self.ended.insert(change.key.clone(), false);
                }
                ChangeKind::SessionEnded(_) | ChangeKind::HelperEnded(_) => {
                    self.ended.insert(change.key.clone(), true);
                }
                _ => {}
            }
        }
    }

    fn check(&self, sessions: &Sessions) {
        for id in self.asked.difference(&self.closed) {
            assert!(
                sessions.question(*id).is_some_and(Question::is_open),
                "{id:?} is lost"
            );
            assert!(
                sessions.open_questions().any(|question| question.id == *id),
                "{id:?} is hidden"
            );
        }
        for id in &self.closed {
            assert!(
                !sessions.question(*id).is_some_and(Question::is_open),
                "{id:?} lives again"
            );
        }
        let mut count = 0;
        for session in sessions.iter() {
            count += 1;
            if self.ended.get(&session.key) == Some(&true) {
                assert!(session.is_ended(), "{:?} ended and lives", session.key);
            }
            assert!(session.tools.len() <= 256 && session.outputs().count() <= 64);
            if let Phase::Waiting(id) = session.phase {
                assert!(sessions.question(id).is_some_and(Question::is_open));
            }
        }
        assert!(count <= 256, "{count} sessions");
    }
}

const LINKS: usize = 3;

/// How many turns a run has before everything is restarted.
const TURNS: u32 = 3000;

struct FuzzRun {
    sessions: Sessions,
    witness: Witness,
    now: Now,
    sent: Vec<(LinkId, String)>,
}

impl FuzzRun {
    fn new() -> Self {
        let mut sessions = Sessions::default();
        for link in 0..LINKS {
            sessions.add_link(LinkId(link), link + 1 < LINKS);
        }
        Self {
            sessions,
            witness: Witness::default(),
            now: Now {
                monotonic: Duration::from_secs(10),
                wall: "2026-05-24T14:22:11Z".parse().unwrap(),
            },
            sent: Vec::new(),
        }
    }

    fn event(&self, dice: &mut FuzzDice, corpus: &[String]) -> String {
        let mut event: Value = serde_json::from_str(dice.pick(corpus).as_str()).unwrap();
        let number = dice.below(5);
        event["event_id"] = json!(format!("evt_{}", dice.next() % 100_000));
        event["session_id"] = json!(format!(
            "sess_{}",
            if dice.one_in(30) {
                dice.below(400)
            } else {
                dice.below(3)
            }
        ));
        event["producer"]["agent_id"] = json!(format!("a{}", dice.below(3)));
        let ago = dice.below(5000) as i64 - 500;
        let stamp = Timestamp::from_millisecond(self.now.wall.as_millisecond() - ago).unwrap();
        event["timestamp"] = json!(format!("{stamp:.3}"));
        let outputs = if dice.one_in(20) {
            dice.below(200)
        } else {
            dice.below(3)
        };
        for (field, value) in [
            ("tool_call_id", json!(format!("call_{number}"))),
            ("output_id", json!(format!("out_{}", outputs))),
            ("reply_token", json!(format!("rpl_{}", dice.below(200)))),
            ("timeout_seconds", json!(dice.below(30))),
            ("position", json!(number)),
        ] {
            if event.get(field).is_some() && !dice.one_in(8) {
                event[field] = value;
            }
        }
        if dice.one_in(4) {
            event["sequence_number"] = json!(dice.below(20));
        }
        if dice.one_in(3) {
            for _ in 0..dice.below(3) {
                disturb(dice, &mut event);
            }
        }
        event.to_string()
    }

    fn apply(&mut self, link: LinkId, text: &str) {
        if let Ok(decoded) = decode(text) {
            let changes = self.sessions.apply(link, decoded, self.now);
            self.witness.hear(&changes);
        }
    }

    fn turn(&mut self, dice: &mut FuzzDice, corpus: &[String]) {
        let link = LinkId(dice.below(LINKS));
        match dice.below(24) {
            0 | 1 if !self.sent.is_empty() => {
                let (link, text) = dice.pick(&self.sent).clone();
                self.apply(link, &text);
            }
            2 | 3 => {
                let far = if dice.one_in(20) { 100_000_000 } else { 4000 };
                let wait = Duration::from_millis(dice.below(far) as u64);
                self.now = self.now.after(wait);
                let changes = self.sessions.tick(self.now);
                self.witness.hear(&changes);
            }
            4 => {
                let changes = self.sessions.release_link(link, self.now);
                self.witness.hear(&changes);
                self.sessions.link_lost(link, self.now);
            }
            5 => self.sessions.link_connected(link, self.now),
            6..=8 => self.answer(dice),
            _ => {
                let text = self.event(dice, corpus);
                self.apply(link, &text);
                self.sent.push((link, text));
                if self.sent.len() > 200 {
                    self.sent.remove(0);
                }
            }
        }
        self.now = self.now.after(Duration::from_millis(dice.below(50) as u64));
    }

    fn answer(&mut self, dice: &mut FuzzDice) {
        let open: Vec<QuestionId> = self
            .sessions
            .open_questions()
            .map(|question| question.id)
            .collect();
        if open.is_empty() {
            return;
        }
        let id = *dice.pick(&open);
        let answer = match dice.below(3) {
            0 => Answer::Decision {
                decision: Decision::Accept,
                rationale: None,
            },
            1 => Answer::Decision {
                decision: Decision::Reject,
                rationale: None,
            },
            _ => Answer::Response(Response::Text("x".to_owned())),
        };
        let mut changes = Vec::new();
        match dice.below(6) {
            0 | 1 => {
                self.sessions
                    .reply_sending(id, answer, self.now.wall, self.now);
            }
            2 => changes = self.sessions.reply_sent(id, self.now),
            3 => self.sessions.reply_not_delivered(id, self.now),
            4 => self.sessions.reply_unknown(id, self.now),
            _ => self.sessions.reply_given_up(id, self.now),
        }
        self.witness.hear(&changes);
    }

    fn settle(&mut self) {
        for _ in 0..256 {
            match self.sessions.deadline() {
                Some(due) if due <= self.now.monotonic => {
                    let changes = self.sessions.tick(self.now);
                    self.witness.hear(&changes);
                }
                Some(_) | None => return,
            }
        }
        panic!("a deadline stays in the past");
    }
}

#[test]
fn the_sessions_survive_anything() {
    let mut dice = FuzzDice::new("sessions");
    let corpus: Vec<String> = EVENTS.lines().map(str::to_owned).collect();
    let until = Instant::now() + seconds();
    let (mut runs, mut turns, mut asked) = (0_u64, 0_u64, 0);
    while Instant::now() < until {
        let mut run = FuzzRun::new();
        for turn in 0..TURNS {
            run.turn(&mut dice, &corpus);
            run.settle();
            if turn % 8 == 0 {
                run.witness.check(&run.sessions);
            }
            turns += 1;
        }
        run.witness.check(&run.sessions);
        asked += run.witness.asked.len();
        runs += 1;
    }
    println!("sessions: {runs} runs, {turns} turns, {asked} questions");
    assert!(asked > 0);
}

/// Whatever is cut, lost or reordered in a hundred thousand legal streams, half of them on each of two threads.
#[test]
fn what_arrives_is_heard_in_order() {
    let mut dice = FuzzDice::new("order");
    let seeds: Vec<u64> = (0..100_000).map(|_| dice.next()).collect();
    std::thread::scope(|scope| {
        for half in seeds.chunks(seeds.len() / 2) {
            scope.spawn(|| half.iter().copied().for_each(numbered_streams::play));
        }
    });
}
