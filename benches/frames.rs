//! The cost of a frame of the full face at 200 by 60, with a full history of 20,000 entries.
//!
//! `cargo bench --bench frames`. Frames are drawn at most 30 times a second; the bound for one is 2 ms.
#![allow(clippy::unwrap_used, reason = "what is measured is known to work")]

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use divan::Bencher;
use hearken::announce::{AnswerMethod, Phrases};
use hearken::app::{App, EndCondition, Input, Setup, SourceSetup, SpeechMode};
use hearken::config::{Config, ThemeChoice};
use hearken::keys::Stroke;
use hearken::link::{Frame, LinkEvent, LinkId};
use hearken::pane::{self, Look};
use hearken::protocol::{KeyRing, Now};
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

/// How many entries the history keeps.
const ENTRIES: usize = 20_000;
/// The screen.
const SIZE: (u16, u16) = (200, 60);

const ANSWER: &str = "The sum was *wrong*, see [the rules](https://shop.example/rules).\n\n# What changed\n\n\
| File | Lines | Why |\n|---|---:|---|\n| src/prices.py | 12 | a discount never makes a price negative |\n\n\
- Prices are rounded once, at the end.\n- [x] Tests pass\n\n```python\ndef total(prices, discount=0):\n    \
# What is to be paid.\n    return max(0, sum(prices) - discount)\n```\n\nRun `make check` before you merge.\n";

struct FullFace {
    app: App,
    now: Now,
    sent: u64,
}

impl FullFace {
    fn new() -> Self {
        let now = Now {
            monotonic: Duration::from_secs(1),
            wall: "2026-01-01T10:00:00Z".parse().unwrap(),
        };
        let mut app = App::new(Setup {
            config: Config::default(),
            phrases: Arc::new(Phrases::english().unwrap()),
            manner: AnswerMethod::Keys,
            copies: true,
            keymap: Default::default(),
            scan: None,
            lines: None,
            face: ("start.face.full", "start.why.terminal"),
            voice: SpeechMode::Silent,
            until: EndCondition::Asked,
            keys: KeyRing::default(),
            seed: 1,
            is_recorded: true,
            sources: vec![SourceSetup {
                name: "one".into(),
                answerable: true,
                ..SourceSetup::default()
            }],
        });
        app.update(Input::Start, now);
        let mut full = Self { app, now, sent: 0 };
        full.link(LinkEvent::Connected);
        full.event("session.started", json!({"summary_normal": "It begins."}));
        full
    }

    fn link(&mut self, event: LinkEvent) {
        let link = LinkId(0);
        self.app.update(Input::Link { link, event }, self.now);
    }

    fn event(&mut self, kind: &str, fields: Value) {
        self.sent += 1;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
            "aaep_version": "1.0.0", "event_id": format!("evt_{}", self.sent), "session_id": "sess_1",
            "timestamp": format!("{:.3}", self.now.wall), "producer": {"agent_id": "a", "agent_name": "opencode"},
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.link(LinkEvent::Frame(Frame::of(event.to_string())));
        self.now.monotonic += Duration::from_millis(10);
    }

    fn say(&mut self, text: &str) {
        let output = format!("out_{}", self.sent);
        let fields = json!({"output_id": output, "position": 0, "chunk": text, "complete": true});
        self.event("output.streaming", fields);
    }

    /// Fills the history.
    fn fill(mut self, with: fn(&mut Self)) -> Self {
        while self.app.history().len() < ENTRIES {
            let before = self.app.history().len();
            with(&mut self);
            assert!(self.app.history().len() > before);
        }
        self
    }

    fn press(&mut self, code: KeyCode) {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        self.now.monotonic += Duration::from_secs(1);
        let stroke = Stroke::key(key, self.now.monotonic);
        self.app.update(Input::Stroke(stroke), self.now);
    }

    fn measure(&self, bencher: Bencher<'_, '_>) {
        let look = Look {
            theme: ThemeChoice::Terminal,
            stacked: false,
        };
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
        bencher.bench_local(|| {
            terminal
                .draw(|frame| {
                    pane::draw(frame, &self.app, self.now, &TimeZone::UTC, look);
                })
                .unwrap();
        });
    }
}

fn answers() -> FullFace {
    FullFace::new().fill(|full| full.say(ANSWER))
}

#[divan::bench]
fn answers_with_tables_and_code(bencher: Bencher<'_, '_>) {
    answers().measure(bencher);
}

#[divan::bench]
fn one_long_answer(bencher: Bencher<'_, '_>) {
    let mut full = FullFace::new();
    full.say(&ANSWER.repeat(ENTRIES / 12));
    full.measure(bencher);
}

#[divan::bench]
fn a_long_block_of_code(bencher: Bencher<'_, '_>) {
    let mut full = answers();
    let code = "let total = prices.iter().sum::<u64>(); // to be paid\n".repeat(400);
    full.say(&format!("```rust\n{code}```\n"));
    full.measure(bencher);
}

#[divan::bench]
fn calls(bencher: Bencher<'_, '_>) {
    let full = FullFace::new().fill(|full| {
        let id = format!("call_{}", full.sent);
        let fields = json!({"tool": "read", "tool_call_id": id, "summary_normal": "Reading a file."});
        full.event("tool.invoked", fields);
        let fields = json!({"tool": "read", "tool_call_id": id, "status": "success", "summary_normal": "Read it."});
        full.event("tool.completed", fields);
    });
    full.measure(bencher);
}

#[divan::bench]
fn looking_far_back(bencher: Bencher<'_, '_>) {
    let mut full = answers();
    full.press(KeyCode::Home);
    full.press(KeyCode::PageDown);
    full.measure(bencher);
}

#[divan::bench]
fn a_question(bencher: Bencher<'_, '_>) {
    let mut full = answers();
    let lines: Vec<String> = (0..60).map(|at| format!("+line {at} = {at}")).collect();
    let change = json!({"path": "a.py", "added": 60, "removed": 0, "places": 1,
        "hunks": [{"line": 1, "lines": lines, "left_out": 0}]});
    full.event(
        "awaiting.confirmation",
        json!({"action": "Edit a.py", "consequence": "It changes.", "reply_token": "rpl_1", "urgency": "critical",
            "extensions": {"hearken": {"changes": [change]}}}),
    );
    full.measure(bencher);
}

fn main() {
    divan::main();
}
