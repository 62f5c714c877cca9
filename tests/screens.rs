//! Every scenario of the demo on three sizes of screen, without colour, and in lines.
//!
//! A small player performs the demo's own files on its own clock, with a person who accepts what is asked.
//! One snapshot per scenario contains its key moments at each size; the requirements for every screen and
//! every line are asserted separately.

use std::collections::BTreeSet;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hearken::announce::{AnswerMethod, Mark, Presentation, wrap};
use hearken::config::{Config, Verbosity};
use serde_json::{Map, Value, json};

use crate::support::child::command;
use crate::support::stage::Stage;

const SIZES: [(u16, u16); 3] = [(40, 10), (80, 24), (200, 60)];
/// The answer given, wherever an agent repeats it.
const ANSWER: &str = "your answer";
const START: &str = "2026-01-01T10:00:00Z";

/// A moment of a performance: its description, and its screen at each size.
struct Moment {
    what: String,
    screens: Vec<String>,
}

/// One agent's part: its producer object, its remaining steps, and their time.
struct Role {
    producer: Value,
    steps: Vec<Value>,
    next: usize,
    due: Duration,
    outcome: String,
    sequence: u64,
}

/// Performs a scenario.
pub struct Player {
    pub stage: Stage,
    roles: Vec<Role>,
    count: usize,
    moments: Vec<Moment>,
    /// Whether each page of a question is viewed.
    reads: bool,
    /// Whether the answers are lines.
    by_lines: bool,
}

fn scenario(name: &str) -> (Value, Vec<Value>) {
    let path = format!("{}/assets/demo/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    (lines.next().unwrap(), lines.collect())
}

impl Player {
    fn new(name: &str, verbosity: Verbosity) -> Self {
        Self::of(name, verbosity, AnswerMethod::Keys)
    }

    /// Creates a player for a person or a program without a voice that answers with keys or lines.
    pub fn of(name: &str, verbosity: Verbosity, manner: AnswerMethod) -> Self {
        let by_lines = manner != AnswerMethod::Keys;
        let (header, steps) = scenario(name);
        let cast = header["agents"].as_array().unwrap();
        let mut config = Config::default();
        config.announce.verbosity = verbosity;
        let roles = cast
            .iter()
            .map(|producer| {
                let id = &producer["agent_id"];
                let own = |step: &&Value| step.get("agent").unwrap_or(&cast[0]["agent_id"]) == id;
                Role {
                    producer: producer.clone(),
                    steps: steps.iter().filter(own).cloned().collect(),
                    next: 0,
                    due: Duration::ZERO,
                    outcome: String::new(),
                    sequence: 0,
                }
            })
            .collect();
        let mut player = Self {
            stage: match by_lines {
                true => Stage::by_lines(config, START.parse().unwrap(), manner),
                false => Stage::new(config, START.parse().unwrap()),
            },
            roles,
            count: 0,
            moments: Vec::new(),
            reads: false,
            by_lines,
        };
        for role in &mut player.roles {
            role.skip();
        }
        player
    }

    /// Plays everything to its end.
    pub fn play(&mut self) {
        while let Some(at) = (0..self.roles.len())
            .filter(|at| self.roles[*at].step().is_some())
            .min_by_key(|at| self.roles[*at].due)
        {
            let ahead = self.roles[at].due.saturating_sub(self.stage.now.monotonic);
            self.stage.wait(ahead);
            self.take(at);
            let now = self.stage.now.monotonic;
            let role = &mut self.roles[at];
            role.next += 1;
            role.due = now;
            role.skip();
        }
        self.stage.wait_for_silence();
        self.moment("the end");
    }

    fn take(&mut self, at: usize) {
        let step = self.roles[at].step().unwrap().clone();
        if let Some(event) = step.get("event") {
            if event["type"] == "aaep:agent.tool.completed" {
                self.moment("a tool runs");
            }
            let hands_over = event["type"] == "aaep:agent.handoff.requested";
            self.send(at, event);
            if hands_over {
                self.moment("it is handed over");
            }
        } else if let Some(say) = step.get("say") {
            let texts = [&say["sentences"]["texts"], &say["tokens"]["lines"]];
            let texts = texts.iter().find_map(|texts| texts.as_array()).unwrap();
            let mut position = 0;
            for text in texts {
                let chunk = format!("{} ", text.as_str().unwrap()).replace("{answer}", ANSWER);
                let event = json!({"type": "aaep:agent.output.streaming", "output_id": say["output"],
                    "content_type": say.get("content_type").unwrap_or(&json!("text/plain")),
                    "chunk_boundary_hint": "sentence", "position": position, "chunk": chunk, "complete": false});
                self.send(at, &event);
                position += chunk.chars().count();
                self.stage.wait(Duration::from_millis(700));
            }
            let event = json!({"type": "aaep:agent.output.streaming", "output_id": say["output"],
                "position": position, "chunk": "", "complete": true});
            self.send(at, &event);
        } else {
            let mut asked = step["ask"].clone();
            asked["reply_token"] = json!(format!("rpl_{}", self.count));
            asked["urgency"] = json!("critical");
            self.send(at, &asked);
            self.moment("a question");
            if self.reads {
                self.readable(&asked);
            }
            self.roles[at].outcome = self.answer(&asked);
        }
    }

    /// Sends an event in its envelope.
    fn send(&mut self, at: usize, payload: &Value) {
        self.count += 1;
        let role = &mut self.roles[at];
        let mut event: Map<String, Value> = json!({
            "@context": "https://aaep-protocol.org/context/v1", "aaep_version": "1.0.0",
            "event_id": format!("evt_{}", self.count), "session_id": format!("sess_{at}"),
            "timestamp": format!("{:.3}", self.stage.now.wall), "producer": role.producer,
            "sequence_number": role.sequence,
        })
        .as_object()
        .unwrap()
        .clone();
        role.sequence += 1;
        event.extend(payload.as_object().unwrap().clone());
        let kind = event["type"].as_str().unwrap();
        if kind.ends_with("errored") || kind.ends_with("handoff.requested") {
            event.insert("urgency".to_owned(), json!("critical"));
        }
        // The files pair events by labels; the wire uses ids.
        for (name, prefix) in [("tool_call_id", "call_"), ("output_id", "out_")] {
            if let Some(label) = event.get(name).and_then(Value::as_str) {
                let letters: String = label.chars().filter(char::is_ascii_alphanumeric).collect();
                event.insert(name.to_owned(), json!(format!("{prefix}{letters}")));
            }
        }
        let text = Value::Object(event).to_string();
        self.stage.frame(&text.replace("{answer}", ANSWER));
    }

    fn press(&mut self, code: KeyCode) {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        self.stage.key(key);
        self.stage.wait(Duration::from_millis(500));
    }

    /// Answers a question as a consenting person does, and returns the outcome's name.
    fn answer(&mut self, asked: &Value) -> String {
        self.stage.wait_for_silence();
        let before = self.stage.sent.len();
        let kind = asked["accepted_response_kinds"][0].as_str();
        if self.by_lines {
            // Reading takes a moment; a bare line does not answer a question that has just arrived.
            self.stage.wait(Duration::from_secs(3));
            self.stage.line(match kind {
                None | Some("yes_no") => "y",
                Some("multiple_choice") => "o 2",
                Some(_) => "a 4",
            });
            if self.stage.sent.len() == before {
                self.stage.wait(Duration::from_secs(1));
                self.stage.line("c");
            }
            assert_eq!(self.stage.sent.len(), before + 1, "answered once");
            return match kind {
                None => "accept".to_owned(),
                Some(_) => "answer".to_owned(),
            };
        }
        let keys = match kind {
            None | Some("yes_no") => "y",
            Some("multiple_choice") => "o",
            Some(_) => "a",
        };
        self.press(KeyCode::Char(keys.chars().next().unwrap()));
        match kind {
            None | Some("yes_no") => {}
            Some("multiple_choice") => {
                self.press(KeyCode::Down);
                self.moment("a choice in focus");
                self.press(KeyCode::Enter);
            }
            Some(_) => {
                self.press(KeyCode::Char('4'));
                self.moment("an answer being typed");
                self.press(KeyCode::Enter);
            }
        }
        if self.stage.sent.len() == before {
            self.moment("the second step");
            // It must be heard first.
            self.stage.wait_for_silence();
            self.press(KeyCode::Char('c'));
        }
        self.moment("answered");
        assert_eq!(self.stage.sent.len(), before + 1, "answered once");
        let body: Value = serde_json::from_str(&self.stage.sent[before].1).unwrap();
        assert_eq!(body["reply_token"], asked["reply_token"]);
        match kind {
            None => "accept".to_owned(),
            Some(_) => "answer".to_owned(),
        }
    }

    fn moment(&mut self, what: &str) {
        if self.by_lines {
            return;
        }
        let number = self
            .moments
            .iter()
            .filter(|m| m.what.starts_with(what))
            .count()
            + 1;
        self.moments.push(Moment {
            what: format!("{what} {number}"),
            screens: SIZES
                .iter()
                .map(|(columns, rows)| self.stage.screen(*columns, *rows))
                .collect(),
        });
    }

    /// Checks that at each size a person can read what is asked, what follows, how much time there is and
    /// which keys answer, on the first screen or by turning its pages with `d`.
    fn readable(&mut self, asked: &Value) {
        for (at, (columns, rows)) in SIZES.iter().enumerate() {
            let first = &self.moments.last().unwrap().screens[at];
            let flat = flat(first);
            assert!(
                first.starts_with("Question ") || flat.contains(" Question "),
                "{first}"
            );
            assert!(flat.contains(" left, from "), "no time:\n{first}");
            let keys: &[&str] = match asked["accepted_response_kinds"][0].as_str() {
                None => &["y accept", "y then c accept"],
                Some("yes_no") => &["y yes"],
                Some("multiple_choice") => &["o choose"],
                Some(_) => &["a answer", "a type"],
            };
            assert!(
                keys.iter().any(|keys| flat.contains(keys)),
                "{keys:?} is not in\n{first}"
            );
            let mut words: BTreeSet<String> = BTreeSet::new();
            for _ in 0..12 {
                words.extend(
                    self.stage
                        .screen(*columns, *rows)
                        .split_whitespace()
                        .map(str::to_owned),
                );
                self.press(KeyCode::Char('d'));
            }
            for part in ["action", "consequence", "question"] {
                for word in asked[part].as_str().unwrap_or_default().split_whitespace() {
                    assert!(
                        words.contains(word),
                        "{word:?} of the {part} is on no page at {columns}x{rows}"
                    );
                }
            }
        }
    }

    fn snapshot(&self) -> String {
        let mut out = String::new();
        for moment in &self.moments {
            for ((columns, rows), screen) in SIZES.iter().zip(&moment.screens) {
                out.push_str(&format!("=== {}, {columns}x{rows}\n", moment.what));
                out.push_str(&folded(screen));
            }
        }
        out
    }
}

impl Role {
    fn step(&self) -> Option<&Value> {
        self.steps.get(self.next)
    }

    /// Moves on to the next step that matches the outcome of the last question.
    fn skip(&mut self) {
        while let Some(step) = self.steps.get(self.next) {
            let on = match step.get("on") {
                None => Vec::new(),
                Some(Value::Array(labels)) => labels.clone(),
                Some(label) => vec![label.clone()],
            };
            if on.is_empty() || on.contains(&json!(self.outcome)) {
                let after = step["after_ms"].as_u64().unwrap_or(0);
                self.due += Duration::from_millis(after);
                return;
            }
            self.next += 1;
        }
    }
}

fn flat(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces several empty rows by their number.
fn folded(screen: &str) -> String {
    let mut out = String::new();
    let mut empty = 0;
    for row in screen.lines().chain(["."]) {
        if row.is_empty() {
            empty += 1;
            continue;
        }
        match empty {
            0 => {}
            1 => out.push('\n'),
            _ => out.push_str(&format!("    ({empty} empty rows)\n")),
        }
        empty = 0;
        if row != "." {
            out.push_str(row);
            out.push('\n');
        }
    }
    out
}

fn check(name: &str) {
    let mut player = Player::new(name, Verbosity::Normal);
    player.play();
    // No two moments look alike, at any size: the states can be distinguished without colour.
    for (at, size) in SIZES.iter().enumerate() {
        let screens: BTreeSet<&str> = player
            .moments
            .iter()
            .map(|moment| moment.screens[at].as_str())
            .collect();
        assert_eq!(screens.len(), player.moments.len(), "{name} at {size:?}");
    }
    let told = player.stage.told.iter();
    let odd: Vec<String> = told
        .filter(|told| told.kind == hearken::announce::AnnouncementKind::Anomaly)
        .map(|told| told.shown())
        .collect();
    assert!(odd.is_empty(), "{name}: {odd:?}");
    insta::assert_snapshot!(name, player.snapshot());
    let mut reader = Player::new(name, Verbosity::Normal);
    reader.reads = true;
    reader.play();
}

macro_rules! scenarios {
    ($($name:ident),*) => {
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

scenarios!(
    tour,
    question,
    tool,
    email,
    transfer,
    clarification,
    trip,
    error,
    handoff,
    agents,
    answer
);

#[test]
fn every_scenario_of_the_demo_is_here() {
    let listed: BTreeSet<&str> = hearken::demo::list()
        .map(|info| info.name.as_str())
        .collect();
    assert_eq!(listed, NAMES.iter().copied().collect());
}

/// Returns a line's words without its label or indentation.
fn message(line: &str) -> &str {
    if let Some(message) = line.strip_prefix("  ") {
        return message;
    }
    // A choice's number is in its label, and is announced.
    if line.starts_with("Choice ") {
        return line;
    }
    line.split_once(": ").map_or(line, |(_, message)| message)
}

#[test]
fn the_lines_of_every_scenario_are_all_that_is_announced_and_nothing_else() {
    for name in NAMES {
        for verbosity in [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed] {
            let mut player = Player::new(name, verbosity);
            player.play();
            let stage = &player.stage;
            assert_eq!(stage.told.len(), stage.lines.len());
            let mut minute = String::new();
            for (told, lines) in stage.told.iter().zip(&stage.lines) {
                assert!(
                    lines.chars().all(|c| c == '\n' || !c.is_control()),
                    "{name}: {lines:?}"
                );
                let written = lines.lines().map(message).collect::<Vec<_>>().join(" ");
                let time = told.at.wall.to_zoned(jiff::tz::TimeZone::UTC);
                let time = format!(" ({})", time.strftime("%H:%M"));
                // A question's parts have a line each; elsewhere hearken's mark their ends.
                let shown = match told.about {
                    Some(_) => {
                        let parts: Vec<&str> = told
                            .segments
                            .iter()
                            .map(|part| match part.mark {
                                Mark::Own => part.shown(),
                                Mark::Agent => part.text(),
                            })
                            .collect();
                        parts.join(" ")
                    }
                    None => told.shown(),
                };
                if flat(&shown).is_empty()
                    || matches!(told.aloud, Presentation::Seen | Presentation::Echo)
                {
                    assert_eq!(written, "");
                    continue;
                }
                let written = flat(&written);
                // The time stands after words of hearken's or in the label, and only if it has changed.
                let written = match time == minute || lines.contains(&format!("{time}: ")) {
                    true => written,
                    false => {
                        assert_eq!(written.matches(&time).count(), 1, "{name}: {written}");
                        written.replacen(&time, "", 1)
                    }
                };
                minute = time;
                assert_eq!(written, flat(&shown), "{name}");
            }
        }
    }
}

/// The real program, through a pipe: the linear face writes what the JSON face announces, byte for byte
/// without any control character except line feeds.
#[test]
fn what_is_piped_is_what_is_announced() {
    let capture = format!("{}/tests/fixtures/tour.jsonl", env!("CARGO_MANIFEST_DIR"));
    let run = |face: &str| {
        let arguments = [
            "replay",
            &capture,
            "--no-delay",
            "--face",
            face,
            "--voice",
            "none",
        ];
        let output = command(&arguments)
            .env("TERM", "xterm-256color")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let lines = run("linear");
    assert!(
        lines.chars().all(|c| c == '\n' || !c.is_control()),
        "{lines:?}"
    );
    let written = flat(&lines.lines().map(message).collect::<Vec<_>>().join(" "));
    let mut announced = 0;
    let mut rest = written.as_str();
    for line in run("json").lines() {
        let told: Value = serde_json::from_str(line).unwrap();
        let text = flat(told["text"].as_str().unwrap());
        // The first line names the face, and each face has its own keys.
        if text.starts_with("hearken, ") || !told["reply_token"].is_null() {
            continue;
        }
        // Anything repeated in other words has no line of its own; a state or a tool's start may have one unspoken.
        if told["spoken"] == "" {
            let kind = told["kind"].as_str().unwrap();
            assert!(["state", "tool_invoked"].contains(&kind), "{told}");
            if !rest.contains(&text) {
                assert_eq!(kind, "state", "{told}");
                continue;
            }
        }
        // Its rows come in order.
        for part in wrap(&text, 0) {
            let at = rest
                .find(&part)
                .unwrap_or_else(|| panic!("{part:?} is not in\n{rest}"));
            rest = &rest[at + part.len()..];
        }
        announced += 1;
    }
    assert!(announced > 10, "{announced}");
}
