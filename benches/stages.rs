//! What an event costs, stage by stage: from its text to events, changes, announcements, and lines.
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
use std::sync::Arc;
use std::time::Duration;

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

fn now() -> Now {
    Now {
        monotonic: Duration::from_secs(1),
        wall: "2026-11-23T02:00:00Z".parse().unwrap(),
    }
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
        for change in self.changes(text) {
            black_box(self.announcer.tell(&change, &self.sessions));
        }
    }
}

/// The whole of it, as the loop drives it.
struct Whole {
    app: App,
    lines: Lines,
}

impl Whole {
    fn begun(starts: &[String], phrases: &Arc<Phrases>, voice: VoiceWish) -> Self {
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
        let lines = Lines::new(Page::plain(0), TimeZone::UTC);
        let mut whole = Self { app, lines };
        whole.input(Input::Start);
        if voice == VoiceWish::Speak {
            let engine = "memory".into();
            whole.input(Input::Voice(VoiceEvent::Ready { engine }));
        }
        let event = LinkEvent::Connected;
        whole.input(Input::Link { link: LINK, event });
        for start in starts {
            whole.frame(start);
        }
        whole
    }

    fn frame(&mut self, text: &str) {
        let event = LinkEvent::Frame(Frame::of(text.to_owned()));
        self.input(Input::Link { link: LINK, event });
    }

    fn input(&mut self, input: Input) {
        for effect in self.app.update(input, now()) {
            if let Effect::Show(told) = effect {
                black_box(self.lines.write(&self.app, &told));
            }
        }
    }
}

fn main() {
    let phrases = Arc::new(Phrases::english().unwrap());
    for sessions in [1, 100, 10_000] {
        let (starts, events) = flood(sessions);
        let begun = || Core::begun(&starts, &phrases);
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
                "lines",
                best(
                    &events,
                    || Whole::begun(&starts, &phrases, VoiceWish::Silent),
                    Whole::frame,
                ),
            ),
            (
                "lines and utterances",
                best(
                    &events,
                    || Whole::begun(&starts, &phrases, VoiceWish::Speak),
                    Whole::frame,
                ),
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
