//! The cost of an event, stage by stage: from its bytes to frames, events, changes, announcements, utterances,
//! and lines.
//!
//! Each load has 100,000 events, so that a time of 100 ms is 1 µs per event: a flood in 1, 100 and 10,000 sessions, one
//! that names no language, one that was translated, and the demo's tour.
//! `cargo bench --bench stages -- --sort location`; a stage's name after that measures only that one. Each stage
//! includes those before it, except for the frames: the stages after them start from an event's text, and the last
//! stage from the bytes. In the same run, `serde_json` merely parses the same texts into types with the same fields: to
//! compare two runs, use the ratio to it, and the fastest of the samples, which other programs disturb least. The
//! sessions of a flood are started before the measurement.
#![allow(clippy::unwrap_used, reason = "what is measured is known to work")]

use std::fmt;
use std::hint::black_box;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use hearken::announce::{Announcer, AnswerMethod, Phrases};
use hearken::app::{App, Effect, EndCondition, Input, LineSource, Setup, SourceSetup, SpeechMode};
use hearken::bench::Flood;
use hearken::config::Config;
use hearken::linear::{LineWriter, Page};
use hearken::link::{Frame, LinkEvent, LinkId};
use hearken::protocol::{CORE_CONTEXT, KeyRing, Now, OWN_CONTEXT, RecentValues, TRANSLATED};
use hearken::session::Sessions;
use hearken::transport::EventStream;
use hearken::voice::VoiceEvent;
use jiff::tz::TimeZone;
use serde::Deserialize;

/// The number of events measured.
const EVENTS: usize = 100_000;

/// How many bytes arrive together: a piece of a body, as hyper reads it when more is available.
const PIECE: usize = 16 * 1024;

/// The largest event accepted, in bytes.
const LARGEST: usize = 1024 * 1024;

/// The language hints of the flood's events.
const HINTS: &str = r#""localization_hints":{"primary_language":"en-US","text_direction":"ltr"},"#;

/// A recording of the demo's tour.
const TOUR: &str = include_str!("../tests/fixtures/tour.jsonl");

const LINK: LinkId = LinkId(0);

/// An event with the same fields as the flood's, without any checks.
#[derive(Deserialize)]
#[allow(dead_code, reason = "reading them is what is measured")]
struct BareEvent {
    #[serde(rename = "@context")]
    context: serde_json::Value,
    #[serde(rename = "type")]
    type_name: String,
    aaep_version: String,
    event_id: String,
    session_id: String,
    sequence_number: u64,
    timestamp: String,
    producer: Maker,
    urgency: String,
    localization_hints: Option<Hints>,
    extensions: Option<Extensions>,
    summary_terse: Option<String>,
    summary_normal: Option<String>,
    chunk: Option<String>,
    position: Option<u64>,
    complete: Option<bool>,
    output_id: Option<String>,
    content_type: Option<String>,
    from_state: Option<String>,
    to_state: Option<String>,
    tool: Option<String>,
    tool_call_id: Option<String>,
    description: Option<String>,
    args_summary: Option<String>,
    risk_level: Option<String>,
    irreversible: Option<bool>,
    status: Option<String>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "reading them is what is measured")]
struct Maker {
    agent_id: String,
    agent_version: String,
    agent_name: String,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "reading them is what is measured")]
struct Hints {
    primary_language: String,
    text_direction: String,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "reading them is what is measured")]
struct Extensions {
    hearken: ExtensionFields,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "reading them is what is measured")]
struct ExtensionFields {
    translated: String,
    thread: String,
}

/// The input of a measurement: the events, and those that must come before them.
struct Load {
    name: String,
    before: Vec<String>,
    events: Vec<String>,
    /// The same events as bytes of an event stream.
    bytes: Vec<u8>,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Load {
    fn new(name: String, before: Vec<String>, events: Vec<String>) -> Self {
        let stream = events.iter().map(|event| format!("data: {event}\n\n"));
        let bytes = stream.collect::<String>().into_bytes();
        Self {
            name,
            before,
            events,
            bytes,
        }
    }

    fn flood(sessions: usize) -> Self {
        let mut flood = Flood::new(sessions, now().wall);
        let starts = flood.by_ref().take(sessions).collect();
        let events = flood.take(EVENTS).collect();
        Self::new(format!("{sessions} sessions"), starts, events)
    }

    /// A flood as existing producers write it: without a language.
    fn plain() -> Self {
        Self::written("no hints", |event| event.replace(HINTS, ""))
    }

    /// A flood as from an agent of another protocol.
    fn translated() -> Self {
        Self::written("translated", |event| {
            let contexts = format!(r#"["{CORE_CONTEXT}","{OWN_CONTEXT}"]"#);
            let own =
                format!(r#""extensions":{{"hearken":{{"{TRANSLATED}":"acp","thread":"1"}}}},"#);
            (event.replace(HINTS, &own)).replacen(&format!(r#""{CORE_CONTEXT}""#), &contexts, 1)
        })
    }

    /// A flood in one session, with each event rewritten.
    fn written(name: &str, write: impl Fn(&str) -> String) -> Self {
        let one = Self::flood(1);
        let all = |events: Vec<String>| events.iter().map(|event| write(event)).collect();
        Self::new(name.to_owned(), all(one.before), all(one.events))
    }

    /// The demo's tour repeated, each time with its own ids.
    fn demo() -> Self {
        let events = TOUR.lines().cycle().take(EVENTS).enumerate();
        let length = TOUR.lines().count();
        let events = events.map(|(at, event)| {
            let round = format!("{:08x}", at / length);
            let id = |mut text: String, kind: &str| {
                for (at, _) in event.match_indices(kind) {
                    let from = at + kind.len();
                    text.replace_range(from..from + round.len(), &round);
                }
                text
            };
            ["evt_", "sess_", "rpl_"]
                .into_iter()
                .fold(event.to_owned(), id)
        });
        Self::new("demo".to_owned(), Vec::new(), events.collect())
    }
}

/// The time of all events: the stages do not include the cost of reading the clock.
static NOW: LazyLock<Now> = LazyLock::new(|| Now {
    monotonic: Duration::from_secs(1),
    wall: "2026-11-23T02:00:00Z".parse().unwrap(),
});

fn now() -> Now {
    *NOW
}

/// The part that decodes and relates events, and words them.
struct Core {
    recent: RecentValues,
    sessions: Sessions,
    announcer: Announcer,
}

impl Core {
    fn begun(starts: &[String], phrases: &Arc<Phrases>) -> Self {
        let settings = Config::default().announce;
        let mut core = Self {
            recent: RecentValues::default(),
            sessions: Sessions::default(),
            announcer: Announcer::new(settings, Arc::clone(phrases), AnswerMethod::Lines),
        };
        core.sessions.add_link(LINK, false);
        for start in starts {
            core.announce(start);
        }
        core
    }

    fn changes(&mut self, text: &str) -> Vec<hearken::session::Change> {
        let decoded = self.recent.decode(text).unwrap();
        self.sessions.apply(LINK, decoded, now())
    }

    fn announce(&mut self, text: &str) {
        for change in &self.changes(text) {
            black_box(self.announcer.announce(change, &self.sessions));
        }
    }
}

/// The whole pipeline, driven as by the loop when it can't keep up.
struct WholePipeline {
    app: App,
    lines: Option<LineWriter>,
    /// The frames, as a transport delivers them.
    frames: Vec<Frame>,
}

impl WholePipeline {
    fn begun(load: &Load, phrases: &Arc<Phrases>, voice: SpeechMode, writes: bool) -> Self {
        let app = App::new(Setup {
            config: Config::default(),
            phrases: Arc::clone(phrases),
            manner: AnswerMethod::Lines,
            copies: false,
            keymap: Default::default(),
            scan: None,
            lines: Some(LineSource::Pipe),
            face: ("start.face.linear", "start.why.asked"),
            voice,
            until: EndCondition::Asked,
            keys: KeyRing::default(),
            seed: 1,
            is_recorded: false,
            sources: vec![SourceSetup {
                name: "flood".to_owned(),
                answerable: true,
                ..SourceSetup::default()
            }],
        });
        let frames = load.events.iter().cloned().map(Frame::of).collect();
        let lines = writes.then(|| LineWriter::new(Page::plain(0), TimeZone::UTC));
        let mut whole = Self { app, lines, frames };
        whole.input(Input::Start);
        if voice == SpeechMode::Speak {
            let engine = "memory".into();
            whole.input(Input::Voice(VoiceEvent::Ready { engine }));
        }
        let event = LinkEvent::Connected;
        whole.input(Input::Link { link: LINK, event });
        whole.take(load.before.iter().cloned().map(Frame::of));
        whole
    }

    /// Handles all frames.
    fn run(&mut self) {
        let frames = std::mem::take(&mut self.frames);
        self.take(frames.into_iter());
    }

    /// Handles frames as the loop does.
    fn take(&mut self, frames: impl Iterator<Item = Frame>) {
        for frame in frames {
            let event = LinkEvent::Frame(frame);
            self.input(Input::Link { link: LINK, event });
        }
    }

    fn input(&mut self, input: Input) {
        let mut effects = self.app.update(input, now());
        self.act(&mut effects);
    }

    fn act(&mut self, effects: &mut Vec<Effect>) {
        for effect in effects.drain(..) {
            if let (Effect::Show(told), Some(lines)) = (effect, &mut self.lines) {
                black_box(lines.write(&self.app, &told));
            }
        }
    }
}

/// Assembles a stream's bytes into frames, in the pieces that a socket delivers.
fn pieces(bytes: &[u8], mut each: impl FnMut(std::vec::IntoIter<Frame>)) {
    let mut framer = EventStream::new(LARGEST);
    for piece in bytes.chunks(PIECE) {
        each(framer.feed(black_box(piece)).into_iter());
    }
}

/// The inputs of all measurements, built once.
static LOADS: LazyLock<[Load; 6]> = LazyLock::new(|| {
    let [one, hundred, many] = [1, 100, 10_000].map(Load::flood);
    [
        one,
        hundred,
        many,
        Load::plain(),
        Load::translated(),
        Load::demo(),
    ]
});

static PHRASES: LazyLock<Arc<Phrases>> = LazyLock::new(|| Arc::new(Phrases::english().unwrap()));

fn loads() -> impl Iterator<Item = &'static Load> {
    LOADS.iter()
}

/// Measures a stage; the preparation does not count.
fn stage<T>(bencher: Bencher, ready: impl Fn() -> T, run: impl Fn(&mut T)) {
    let bencher = bencher.counter(ItemsCount::new(EVENTS));
    bencher.with_inputs(ready).bench_local_refs(run);
}

fn whole(bencher: Bencher, load: &Load, voice: SpeechMode, writes: bool) {
    let ready = || WholePipeline::begun(load, &PHRASES, voice, writes);
    stage(bencher, ready, WholePipeline::run);
}

#[divan::bench_group(sample_count = 5, sample_size = 1)]
mod stages {
    use super::*;

    #[divan::bench(args = loads())]
    fn serde_json_alone(bencher: Bencher, load: &Load) {
        let run = |(): &mut ()| {
            for text in &load.events {
                black_box(serde_json::from_str::<BareEvent>(black_box(text)).unwrap());
            }
        };
        stage(bencher, || (), run);
    }

    #[divan::bench(args = loads())]
    fn frames(bencher: Bencher, load: &Load) {
        let run = |(): &mut ()| {
            pieces(&load.bytes, |frames| {
                frames.for_each(|frame| {
                    black_box(frame);
                });
            });
        };
        stage(bencher, || (), run);
    }

    #[divan::bench(args = loads())]
    fn events(bencher: Bencher, load: &Load) {
        let run = |recent: &mut RecentValues| {
            for text in &load.events {
                black_box(recent.decode(text).unwrap());
            }
        };
        stage(bencher, RecentValues::default, run);
    }

    #[divan::bench(args = loads())]
    fn changes(bencher: Bencher, load: &Load) {
        let run = |core: &mut Core| {
            for text in &load.events {
                black_box(core.changes(text));
            }
        };
        stage(bencher, || Core::begun(&load.before, &PHRASES), run);
    }

    #[divan::bench(args = loads())]
    fn announcements(bencher: Bencher, load: &Load) {
        let run = |core: &mut Core| load.events.iter().for_each(|text| core.announce(text));
        stage(bencher, || Core::begun(&load.before, &PHRASES), run);
    }

    #[divan::bench(args = loads())]
    fn utterances(bencher: Bencher, load: &Load) {
        whole(bencher, load, SpeechMode::Speak, false);
    }

    #[divan::bench(args = loads())]
    fn lines(bencher: Bencher, load: &Load) {
        whole(bencher, load, SpeechMode::Silent, true);
    }

    #[divan::bench(args = loads())]
    fn lines_and_utterances(bencher: Bencher, load: &Load) {
        whole(bencher, load, SpeechMode::Speak, true);
    }

    #[divan::bench(args = loads())]
    fn bytes_to_lines_and_utterances(bencher: Bencher, load: &Load) {
        let ready = || WholePipeline::begun(load, &PHRASES, SpeechMode::Speak, true);
        let run = |whole: &mut WholePipeline| pieces(&load.bytes, |frames| whole.take(frames));
        stage(bencher, ready, run);
    }
}

fn main() {
    divan::main();
}
