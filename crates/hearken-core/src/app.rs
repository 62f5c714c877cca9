//! The only place where state changes: facts come in, effects go out. Pure.
//!
//! Responsibilities: [`App::update`] takes an [`Input`] and the time and returns [`Effect`]s; [`App::deadline`] returns
//! when to call again with [`Input::Deadline`]. The same inputs give the same effects. Not here: sockets, screens,
//! engines, the clock (`runtime`).
//!
//! [`App`] is made of parts, each in a folder: `questions` (which one is shown, when it may be answered, how
//! the answer goes out), `links` (the sources and their news), `prompts` (conversations, prompts, stops),
//! `review` (looking back), `tuning` (how everything sounds, and how much is said), `key_input` (keys, switches),
//! `run` (how long the program runs). A part owns its methods: each takes an input and `AppCx`, which lends
//! what all parts may use, and returns facts (`fact`). No part calls another or knows [`App`]: `update` passes
//! facts on until there are none, `commands` gives each command to its part. A part receives what it must know
//! about another as a value, or is lent the links to read.
//!
//! `cx` lends `activity` (what the person is doing), `key_replies`, `face`, `held_announcements` (what waits for a
//! line) and `signals` (voice, bell and beat). Also here: `input`, `effect` and `app_setup` (what comes in, what goes
//! out, what the start needs), `timers` (what the passing of time triggers), `typing` (the line being typed), `status`
//! and `key_help` (read on request), `view` (what the faces read).

mod activity;
mod answer_origin;
mod app_setup;
mod change_visibility;
mod commands;
mod conversations;
mod cx;
mod dialect_wording;
mod effect;
mod face;
mod fact;
mod fault_words;
mod fleet;
mod held_announcements;
mod input;
mod key_help;
mod key_input;
mod key_replies;
mod links;
mod nearby;
mod prompts;
mod questions;
mod review;
mod run;
mod signals;
mod status;
mod timers;
mod tuning;
mod typing;
mod update;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::announce::{
    AnnouncementKind, Announcer, AnswerMethod, Class, Deliveries, SpeechQueue, VoiceEvent,
};
use crate::keys::{Command, Filter, TerminalInput};
use crate::link::LinkId;
use crate::protocol::Now;
use crate::session::Sessions;

pub use app_setup::{EndCondition, LineSource, Recording, Setup, SourceSetup, SpeechMode};
pub use change_visibility::VisibleChange;
pub use dialect_wording::EveryLanguage;
pub use effect::{Effect, Exit, LinkOrder, Notice, Noticed, RecordedFact};
pub use fault_words::phrase_text;
pub use input::{Input, PointerTarget};
pub(crate) use links::starts;
pub use links::{LinkPhase, LinkView, Stream, StreamEvent};
pub use nearby::NearbyCommands;
pub use questions::shown_question::{QuestionVisibility, ShownQuestion, VisiblePage};
pub use review::Hit;
pub use signals::VoiceState;

use activity::Activity;
use answer_origin::AnswerOrigin;
use conversations::Conversation;
use cx::AppCx;
use face::Face;
use fact::{Answerability, AppFact, AppFacts, LinkStep};
use fleet::Fleet;
use held_announcements::HeldAnnouncements;
use key_input::KeyInput;
use key_input::scan_state::Scanning;
use key_replies::KeyResponses;
use links::Links;
use prompts::Prompts;
use questions::Questions;
use review::Review;
use run::Run;
use signals::Signals;
use status::tell_start;
use timers::TimerTurn;
use tuning::Tuning;

/// The whole state of a run.
#[derive(Debug)]
pub struct App {
    cx: AppCx,
    links: Links,
    review: Review,
    tuning: Tuning,
    key_input: KeyInput,
    run: Run,
    questions: Questions,
    prompts: Prompts,
    fleet: Fleet,
}

impl App {
    /// Builds the initial state; [`Input::Start`] comes next.
    pub fn new(setup: Setup) -> Self {
        let mut sessions = Sessions::default();
        let is_scanned = setup.phrases.is_scanned();
        let worded = match is_scanned {
            // A person who scans types no lines.
            true => AnswerMethod::Keys,
            false => setup.manner,
        };
        let mut announcer = Announcer::new(
            setup.config.announce.clone(),
            Arc::clone(&setup.phrases),
            worded,
        );
        announcer.trust_mut().know(setup.keys.agents());
        if setup.config.run.one_step {
            announcer
                .grounds_mut()
                .want_one_step(setup.config.run.one_step_project);
        }
        for (at, source) in setup.sources.iter().enumerate() {
            let link = LinkId(at);
            announcer.set_source(link, source.announce.clone());
            announcer.grounds_mut().know(link, &source.folder);
            sessions.add_link(link, source.answerable);
            if source.leaves_machine() {
                sessions.link_leaves_machine(link);
            }
            if links::asks(source, &setup.config).require_signed {
                announcer.trust_mut().want(link);
            }
        }
        let tongue = Arc::clone(setup.phrases.tongue());
        let questions = &setup.config.questions;
        let filter = Filter::new(
            Duration::from_millis(questions.bounce_ms),
            Duration::from_millis(questions.slow_ms),
        );
        let fold = setup
            .config
            .announce
            .fold
            .then(|| Duration::from_secs(setup.config.announce.fold_after_seconds));
        let voice = match setup.voice {
            SpeechMode::Speak => VoiceState::Checking,
            SpeechMode::Silent => VoiceState::Off,
            SpeechMode::LeaveToReader => VoiceState::LeftToReader,
        };
        let queue = SpeechQueue::new(fold, setup.phrases)
            .polite(setup.config.announce.do_not_interrupt)
            .sounding(Deliveries::new(&setup.config.voice));
        let prompts = setup.sources.iter();
        let first_prompts = prompts.filter_map(|it| it.prompt.clone()).collect();
        let (seed, keys) = (setup.seed, &setup.keys);
        let links = Links::new(setup.sources, &setup.config, keys, seed, |id| {
            links::terms(&announcer, &queue, id)
        });
        Self {
            links,
            review: Review::default(),
            tuning: Tuning::new(setup.config.voice.delivery(), tongue),
            key_input: KeyInput::new(setup.keymap, filter, Scanning::new(setup.scan)),
            cx: AppCx {
                now: Now {
                    monotonic: Duration::ZERO,
                    wall: Timestamp::UNIX_EPOCH,
                },
                config: setup.config,
                face: Face::new(setup.manner, setup.lines, setup.face, setup.copies)
                    .scanned(is_scanned),
                sessions,
                announcer,
                queue,
                doing: Activity::default(),
                ended: None,
                answers: KeyResponses::default(),
                held_announcements: HeldAnnouncements::default(),
                signals: Signals::new(voice),
                is_recorded: setup.is_recorded,
                catching_up: BTreeMap::new(),
                effects: Vec::new(),
            },
            run: Run::new(setup.until),
            questions: Questions::default(),
            prompts: Prompts::beginning_with(first_prompts),
            fleet: Fleet::default(),
        }
    }

    /// Handles a fact and returns the effects to carry out, in order.
    pub fn update(&mut self, input: Input, now: Now) -> Vec<Effect> {
        self.cx.now = now;
        let alone = input == Input::Deadline;
        self.take(input);
        self.settle(alone);
        std::mem::take(&mut self.cx.effects)
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Start => {
                tell_start(&mut self.cx);
                self.questions.tell_policy(&mut self.cx);
                self.prompts.keep_first(&mut self.cx);
            }
            Input::Link { link, event } => {
                self.run.note_news(self.cx.now.monotonic);
                self.read_to_its_end();
                self.link(link, event);
            }
            Input::Stroke(stroke) => {
                match stroke.input {
                    TerminalInput::Key(_) => self.review.note_hand(self.cx.now.monotonic),
                    TerminalInput::Focus(on) => self.questions.focus(on),
                    TerminalInput::Wheel(up) => {
                        let at = if up {
                            PointerTarget::Older
                        } else {
                            PointerTarget::Newer
                        };
                        return self.point(Some(at), stroke.read);
                    }
                    TerminalInput::Click(..) => return self.point(None, stroke.read),
                    TerminalInput::Paste(_)
                    | TerminalInput::Stalled
                    | TerminalInput::Place(..)
                    | TerminalInput::Noise => {}
                }
                let scene = self.scan_scene();
                let facts = self.key_input.stroke(stroke, scene, &mut self.cx);
                self.pass(facts);
            }
            Input::Pointed { at, read } => self.point(at, read),
            Input::Line { text, read } => {
                self.cx.end_second_step(read);
                self.cx.line_over();
                self.line(&text, read);
            }
            Input::LineBegun => {
                self.review.note_hand(self.cx.now.monotonic);
                self.cx.held_announcements.begin_line();
            }
            Input::LineLeft => self.cx.line_over(),
            Input::Voice(event) => {
                let came = matches!(
                    event,
                    VoiceEvent::Ready { .. } | VoiceEvent::Recovered { .. }
                );
                self.tuning.voice(event, &mut self.cx);
                if came {
                    self.questions.ask_again_after_voice(&mut self.cx);
                }
                self.questions.note_said(&mut self.cx);
            }
            Input::Drawn { showing, at } => {
                self.cx
                    .answers
                    .note_covered(showing == QuestionVisibility::SideQuestion);
                self.questions.drawn(showing, at, &mut self.cx);
            }
            Input::Written { announcement, at } => self.questions.written(&announcement, at),
            Input::Deadline => {}
            Input::Terminate => {
                let facts =
                    self.run
                        .terminate(self.questions.is_all_sent(), &self.links, &mut self.cx);
                self.pass(facts);
            }
            Input::Found(nearby) => self.run.find(nearby),
            Input::Remembered(outcome) => self.tuning.remembered(outcome, &mut self.cx),
            Input::Edited(outcome) => {
                if let Some(late) = typing::edited(outcome, &mut self.cx) {
                    self.prompts.keep(&late);
                }
            }
            Input::Interrupt => {
                self.cx.line_over();
                self.command(Command::Interrupt);
            }
            Input::RecordingFailed(reason) => {
                self.cx.say(
                    Class::Outcome,
                    AnnouncementKind::Connection,
                    "record.failed",
                    &[("reason", self.cx.because(&reason))],
                );
            }
        }
    }

    /// Fires due timers and updates the shown question after every fact, so that no stream of facts starves a timer.
    fn settle(&mut self, alone: bool) {
        self.prompts.look_for_idle(&self.links, &self.cx);
        self.fire(TimerTurn::First, alone);
        let facts = self.fleet.count(&self.links, &mut self.cx);
        self.pass(facts);
        self.questions.refresh_shown(&mut self.cx);
        self.questions.refresh_title(&mut self.cx);
        self.questions.withdraw_notices(&mut self.cx);
        self.fire(TimerTurn::Last, alone);
    }
}

#[cfg(test)]
mod tests;
