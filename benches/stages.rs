//! What an event costs, stage by stage: from its text to events, changes, announcements, utterances, and lines.
//!
//! Prints microseconds of one core an event, each stage with those before it, for a flood in 1, 100 and 10,000
//! sessions; `cargo bench --bench stages`. Beside it stands what `serde_json` takes for the same texts into types of the
//! same fields and nothing else, in the same run: the ratio to it is what compares two runs. The sessions are begun
//! before it is measured. Not here: bytes into frames, which is the transport's (docs/performance.md measures it with
//! all the rest over a socket).
#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]
#![allow(clippy::unwrap_used, reason = "what is measured is known to work")]

#[path = "support/clock.rs"]
mod clock;

use std::hint::black_box;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use std::vec::IntoIter;

use hearken::announce::{Announcer, Manner, Phrases};
use hearken::app::{App, Effect, Input, LineSource, Setup, SourceSetup, Until, VoiceWish};
use hearken::bench::Flood;
use hearken::config::Config;
use hearken::linear::{Lines, Page};
use hearken::link::{Frame, LinkEvent, LinkId};
use hearken::protocol::{KeyRing, Now, Recent};
use hearken::session::Sessions;
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

/// Makes a flood: the starts of its sessions, and its events.
fn flood(sessions: usize) -> (Vec<String>, Vec<String>) {
    let mut flood = Flood::new(sessions, now().wall);
    let starts = flood.by_ref().take(sessions).collect();
    (starts, flood.take(EVENTS).collect())
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
fn best<T>(events: &[String], ready: impl Fn() -> T, mut each: impl FnMut(&mut T, &str)) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let mut state = ready();
            let start = clock();
            for event in events {
                each(&mut state, black_box(event));
            }
            clock().saturating_sub(start).as_secs_f64() * 1e6 / events.len() as f64
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
    frames: IntoIter<Frame>,
    effects: Vec<Effect>,
    taken: usize,
}

impl Whole {
    fn begun(
        (starts, events): (&[String], &[String]),
        phrases: &Arc<Phrases>,
        voice: VoiceWish,
        writes: bool,
    ) -> Self {
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
        let frames = events.iter().cloned().map(Frame::of);
        let frames = frames.collect::<Vec<_>>().into_iter();
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
        for start in starts {
            whole.frame(Frame::of(start.clone()));
        }
        whole
    }

    /// Takes the next frame.
    fn next(&mut self, _: &str) {
        let frame = self.frames.next().unwrap();
        self.frame(frame);
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

fn main() {
    let phrases = Arc::new(Phrases::english().unwrap());
    for sessions in [1, 100, 10_000] {
        let (starts, events) = flood(sessions);
        let begun = || Core::begun(&starts, &phrases);
        let whole = |voice, writes| Whole::begun((&starts, &events), &phrases, voice, writes);
        let bare = best(
            &events,
            || (),
            |(), text| {
                black_box(serde_json::from_str::<Bare>(text).unwrap());
            },
        );
        println!("{sessions} sessions: serde_json alone {bare:.2} µs an event");
        let stages = [
            (
                "events",
                best(&events, Recent::default, |recent, text| {
                    black_box(recent.decode(text).unwrap());
                }),
            ),
            (
                "changes",
                best(&events, begun, |core, text| {
                    black_box(core.changes(text));
                }),
            ),
            ("announcements", best(&events, begun, Core::announce)),
            (
                "utterances",
                best(&events, || whole(VoiceWish::Speak, false), Whole::next),
            ),
            (
                "lines",
                best(&events, || whole(VoiceWish::Silent, true), Whole::next),
            ),
            (
                "lines and utterances",
                best(&events, || whole(VoiceWish::Speak, true), Whole::next),
            ),
        ];
        for (name, micros) in stages {
            println!(
                "  {name:24} {micros:6.2} µs, {:5.2} times as much",
                micros / bare
            );
        }
    }
}
