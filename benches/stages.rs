//! What an event costs, stage by stage: from its bytes to frames, events, changes, announcements, utterances, and lines.
//!
//! Prints microseconds of one core an event, for a flood in 1, 100 and 10,000 sessions and for the demo's tour;
//! `cargo bench --bench stages`, with a part of "1 sessions: utterances" after `--` to measure only that. Each stage has
//! those before it in it, but for the frames: what comes behind them begins with an event's text, and the last stage with
//! the bytes. Beside it stands what `serde_json` takes for the same texts into types of the same fields and nothing else,
//! in the same run: the ratio to it is what compares two runs. The sessions of a flood are begun before it is measured.
#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]
#![allow(clippy::unwrap_used, reason = "what is measured is known to work")]

#[path = "support/clock.rs"]
mod clock;

use std::hint::black_box;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hearken::announce::{Announcer, Manner, Phrases};
use hearken::app::{App, Effect, Input, LineSource, Setup, SourceSetup, Until, VoiceWish};
use hearken::bench::Flood;
use hearken::config::Config;
use hearken::linear::{Lines, Page};
use hearken::link::{Frame, LinkEvent, LinkId};
use hearken::protocol::{KeyRing, Now, Recent};
use hearken::session::Sessions;
use hearken::transport::EventStream;
use hearken::voice::VoiceEvent;
use jiff::tz::TimeZone;
use serde::Deserialize;

use clock::clock;

/// How many events are measured.
const EVENTS: usize = 100_000;

/// How often each measurement is made; the best counts.
const ROUNDS: usize = 3;

/// How many events the loop takes between two looks at keys and at the clock: its millisecond has room for more.
const BATCH: usize = 100;

/// How many bytes come together: a piece of a body, as hyper reads it when there is more.
const PIECE: usize = 16 * 1024;

/// The largest event that is taken, in bytes.
const LARGEST: usize = 1024 * 1024;

/// The demo's tour as it was recorded.
const TOUR: &str = include_str!("../tests/fixtures/tour.jsonl");

const LINK: LinkId = LinkId(0);

/// An event with the fields that those of the flood have, and no check of any.
#[derive(Deserialize)]
#[allow(dead_code, reason = "reading them is what is measured")]
struct Bare {
    #[serde(rename = "@context")]
    context: String,
    #[serde(rename = "type")]
    type_name: String,
    aaep_version: String,
    event_id: String,
    session_id: String,
    sequence_number: u64,
    timestamp: String,
    producer: Maker,
    urgency: String,
    localization_hints: Hints,
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

/// Holds what is measured with: events that come, and what came before them.
struct Load {
    name: String,
    before: Vec<String>,
    events: Vec<String>,
    /// The same as bytes of an event stream.
    bytes: Vec<u8>,
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

    /// The demo's tour over and over, each time with ids of its own.
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

/// The moment of all events: what it costs to read the clock is none of the stages'.
static NOW: LazyLock<Now> = LazyLock::new(|| Now {
    monotonic: Duration::from_secs(1),
    wall: "2026-11-23T02:00:00Z".parse().unwrap(),
});

fn now() -> Now {
    *NOW
}

/// Gives the microseconds an event that the best of several rounds took; what is made ready does not count.
fn best<T>(ready: impl Fn() -> T, run: impl Fn(&mut T)) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let mut state = ready();
            let start = clock();
            run(&mut state);
            clock().saturating_sub(start).as_secs_f64() * 1e6 / EVENTS as f64
        })
        .fold(f64::INFINITY, f64::min)
}

/// What reads and relates events, and words them.
struct Core {
    recent: Recent,
    sessions: Sessions,
    announcer: Announcer,
}

impl Core {
    fn begun(starts: &[String], phrases: &Arc<Phrases>) -> Self {
        let settings = Config::default().announce;
        let mut core = Self {
            recent: Recent::default(),
            sessions: Sessions::default(),
            announcer: Announcer::new(settings, Arc::clone(phrases), Manner::Lines),
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
            black_box(self.announcer.tell(change, &self.sessions));
        }
    }
}

/// The whole of it, as the loop drives it when there is more than it can take at once.
struct Whole {
    app: App,
    lines: Option<Lines>,
    /// What comes, as a transport hands it over.
    frames: Vec<Frame>,
    effects: Vec<Effect>,
    taken: usize,
}

impl Whole {
    fn begun(load: &Load, phrases: &Arc<Phrases>, voice: VoiceWish, writes: bool) -> Self {
        let app = App::new(Setup {
            config: Config::default(),
            phrases: Arc::clone(phrases),
            manner: Manner::Lines,
            copies: false,
            keymap: Default::default(),
            scan: None,
            lines: Some(LineSource::Pipe),
            face: ("start.face.linear", "start.why.asked"),
            voice,
            until: Until::Asked,
            keys: KeyRing::default(),
            seed: 1,
            keeps: false,
            sources: vec![SourceSetup {
                name: "flood".to_owned(),
                answerable: true,
                ..SourceSetup::default()
            }],
        });
        let frames = load.events.iter().cloned().map(Frame::of).collect();
        let lines = writes.then(|| Lines::new(Page::plain(0), TimeZone::UTC));
        let mut whole = Self {
            app,
            lines,
            frames,
            effects: Vec::new(),
            taken: 0,
        };
        whole.input(Input::Start);
        if voice == VoiceWish::Speak {
            let engine = "memory".into();
            whole.input(Input::Voice(VoiceEvent::Ready { engine }));
        }
        let event = LinkEvent::Connected;
        whole.input(Input::Link { link: LINK, event });
        for event in &load.before {
            whole.frame(Frame::of(event.clone()));
        }
        whole
    }

    /// Takes all frames.
    fn run(&mut self) {
        for frame in std::mem::take(&mut self.frames) {
            self.frame(frame);
        }
    }

    fn frame(&mut self, frame: Frame) {
        let event = LinkEvent::Frame(frame);
        let mut effects = std::mem::take(&mut self.effects);
        let input = Input::Link { link: LINK, event };
        self.app.one_of_many(input, now(), &mut effects);
        self.act(&mut effects);
        self.effects = effects;
        self.taken += 1;
        if self.taken.is_multiple_of(BATCH) {
            let mut effects = self.app.settled(now());
            self.act(&mut effects);
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

/// Puts all of a stream's bytes together to frames, as they come over a socket.
fn frames(bytes: &[u8], mut each: impl FnMut(Frame)) {
    let mut framer = EventStream::new(LARGEST);
    for piece in bytes.chunks(PIECE) {
        framer
            .feed(black_box(piece))
            .into_iter()
            .for_each(&mut each);
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let phrases = Arc::new(Phrases::english().unwrap());
    let loads = [1, 100, 10_000].map(Load::flood);
    for load in loads.iter().chain([&Load::demo()]) {
        let wanted = |stage: &str| {
            let name = format!("{}: {stage}", load.name);
            wanted.as_deref().is_none_or(|part| name.contains(part))
        };
        let begun = || Core::begun(&load.before, &phrases);
        let whole = |voice, writes| Whole::begun(load, &phrases, voice, writes);
        let (speak, silent) = (VoiceWish::Speak, VoiceWish::Silent);
        let bare = best(
            || (),
            |()| {
                for text in &load.events {
                    black_box(serde_json::from_str::<Bare>(black_box(text)).unwrap());
                }
            },
        );
        println!("{}: serde_json alone {bare:.2} µs an event", load.name);
        let told = |name: &str, micros: f64| {
            let times = micros / bare;
            println!("  {name:28} {micros:6.2} µs, {times:5.2} times as much");
        };
        if wanted("frames") {
            let run = |(): &mut ()| {
                frames(&load.bytes, |frame| {
                    black_box(frame);
                });
            };
            told("frames", best(|| (), run));
        }
        if wanted("events") {
            let run = |recent: &mut Recent| {
                for text in &load.events {
                    black_box(recent.decode(text).unwrap());
                }
            };
            told("events", best(Recent::default, run));
        }
        if wanted("changes") {
            let run = |core: &mut Core| {
                for text in &load.events {
                    black_box(core.changes(text));
                }
            };
            told("changes", best(begun, run));
        }
        if wanted("announcements") {
            let run = |core: &mut Core| load.events.iter().for_each(|text| core.announce(text));
            told("announcements", best(begun, run));
        }
        if wanted("utterances") {
            told("utterances", best(|| whole(speak, false), Whole::run));
        }
        if wanted("lines") {
            told("lines", best(|| whole(silent, true), Whole::run));
        }
        if wanted("lines and utterances") {
            let micros = best(|| whole(speak, true), Whole::run);
            told("lines and utterances", micros);
        }
        if wanted("bytes to lines and utterances") {
            let run = |whole: &mut Whole| frames(&load.bytes, |frame| whole.frame(frame));
            told(
                "bytes to lines and utterances",
                best(|| whole(speak, true), run),
            );
        }
    }
}
