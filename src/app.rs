//! The one place where state changes: facts come in, wishes go out. Pure.
//!
//! Responsibilities: [`App::update`] takes an [`Input`] and the time and answers with [`Effect`]s;
//! [`App::deadline`] says when to call again with [`Input::Deadline`]. The same inputs give the same
//! effects. Not here: sockets, screens, engines, the clock (`runtime`).
//!
//! The folder: `input` and `effect` (what comes in and goes out), `links` and `waiting` (news of sources), `handshake`,
//! `proof`, `refusal`, `agreement` and `terms` (what is agreed with them), `alarms` (bell, notification and
//! title for a question), `asking` (which question is shown), `sight` (when it may be answered), `gate` (whether
//! this answer counts for it), `answering` and `clarifying` (what the person decides), `sending` (what
//! becomes of it), `commands` (everything else that a key or a line can want), `view` (what the faces read).

mod agreement;
mod alarms;
mod announcing;
mod answering;
mod answers;
mod asking;
mod choices;
mod choosing;
mod clarifying;
mod commands;
mod confirming;
mod doing;
mod effect;
mod facts;
mod foreign;
mod gate;
mod handshake;
mod helping;
mod holding;
mod input;
mod links;
mod policy;
mod pressing;
mod proof;
mod reading;
mod refusal;
mod reviewing;
mod run;
mod scanning;
mod second_step;
mod sending;
mod setup;
mod sight;
mod spelling;
mod stream;
mod terms;
mod timers;
mod tuning;
mod typing;
mod view;
mod waiting;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::announce::{
    Aloud, Announcement, AnnouncementId, Announcer, Arg, Args, Class, Deliveries, Kind, Manner,
    SpeechQueue, Tongue, Wish,
};
use crate::config::Config;
use crate::keys::{Command, Filter, Keymap};
use crate::link::LinkId;
use crate::protocol::{KeyRing, Now, fit};
use crate::session::{Change, PromptId, Sessions, What};
use crate::voice::VoiceEvent;

pub use alarms::Notice;
pub use asking::Shown;
pub use effect::{Effect, Exit};
pub use input::Input;
pub use links::LinkView;
pub use reviewing::Hit;
pub use setup::{Door, LineSource, Recording, Setup, SourceSetup, Until, VoiceWish};
pub use sight::{Drawn, Showing};
pub use stream::{LinkPhase, Stream, StreamEvent};
pub use view::VoiceState;

use alarms::Attention;
use answers::Answers;
use doing::Doing;
use holding::Holding;
use reading::Reading;
use reviewing::Reviewing;
use run::Run;
use scanning::Scanning;
use sending::Outgoing;
use sight::Heard;
use timers::Turn;
use tuning::Tuning;

/// Holds the whole state of a run.
#[derive(Debug)]
pub struct App {
    config: Config,
    keys: KeyRing,
    manner: Manner,
    lines: Option<LineSource>,
    face: (&'static str, &'static str),
    /// Whether the terminal takes what is to be copied.
    copies: bool,
    links: Vec<LinkView>,
    sessions: Sessions,
    announcer: Announcer,
    queue: SpeechQueue,
    reviewing: Reviewing,
    tuning: Tuning,
    /// How the program's own words were spoken when the run began.
    tongue: Arc<Tongue>,
    holding: Holding,
    scanning: Scanning,
    voice: VoiceState,
    doing: Doing,
    run: Run,
    shown: Option<Shown>,
    /// The questions whose action was heard, or that the person chose not to hear.
    heard: BTreeMap<PromptId, Heard>,
    /// When each question's lines were written last.
    written: BTreeMap<PromptId, Duration>,
    /// How many parts of a question were told that is told in parts.
    parts_told: BTreeMap<PromptId, usize>,
    /// The questions that a rule leaves alone: they stay open, and nobody is asked.
    left: BTreeSet<PromptId>,
    /// The questions that a rule answered, once: if that fails, the person is asked.
    by_rule: BTreeSet<PromptId>,
    outgoing: BTreeMap<u64, Outgoing>,
    next_request: u64,
    review: Option<AnnouncementId>,
    answers: Answers,
    /// Which part of a long announcement is shown, and of which one.
    review_page: Option<(AnnouncementId, isize)>,
    /// When something was read last that is no key.
    last_hand: Option<Duration>,
    /// When the bell last rang in the place of a cue.
    last_bell: Option<Duration>,
    filter: Filter,
    keymap: Keymap,
    questions_changed: Option<Duration>,
    flush_at: Option<Duration>,
    titled: usize,
    /// Whether the person looks at the terminal, and what was notified.
    attention: Attention,
    /// The frame that is being read in steps.
    reading: Option<Reading>,
    effects: Vec<Effect>,
}

impl App {
    /// Makes the state at the start; [`Input::Start`] comes next.
    pub fn new(setup: Setup) -> Self {
        let mut sessions = Sessions::default();
        let mut ids = setup.seed;
        let mut announcer = Announcer::new(
            setup.config.announce.clone(),
            Arc::clone(&setup.phrases),
            setup.manner,
        );
        let links: Vec<LinkView> = setup
            .sources
            .into_iter()
            .enumerate()
            .map(|(at, source)| {
                let link = LinkId(at);
                announcer.set_source(link, source.announce.clone());
                sessions.add_link(link, source.answerable);
                LinkView::new(link, source, &mut ids)
            })
            .collect();
        let tongue = Arc::clone(setup.phrases.tongue());
        let questions = &setup.config.questions;
        let setup_filter = Filter::new(
            Duration::from_millis(questions.bounce_ms),
            Duration::from_millis(questions.slow_ms),
        );
        let fold = setup
            .config
            .announce
            .fold
            .then(|| Duration::from_secs(setup.config.announce.fold_after_seconds));
        let mut app = Self {
            keys: KeyRing::default(),
            manner: setup.manner,
            lines: setup.lines,
            face: setup.face,
            copies: setup.copies,
            links,
            sessions,
            announcer,
            queue: SpeechQueue::new(fold, setup.phrases)
                .polite(setup.config.announce.do_not_interrupt)
                .sounding(Deliveries::new(&setup.config.voice)),
            reviewing: Reviewing::default(),
            tuning: Tuning::new(setup.config.voice.delivery()),
            tongue,
            holding: Holding::default(),
            scanning: Scanning::new(setup.scan),
            voice: match setup.voice {
                VoiceWish::Speak => VoiceState::Checking,
                VoiceWish::Silent => VoiceState::Off,
                VoiceWish::LeaveToReader => VoiceState::LeftToReader,
            },
            config: setup.config,
            doing: Doing::default(),
            run: Run::new(setup.until),
            shown: None,
            heard: BTreeMap::new(),
            written: BTreeMap::new(),
            parts_told: BTreeMap::new(),
            left: BTreeSet::new(),
            by_rule: BTreeSet::new(),
            outgoing: BTreeMap::new(),
            next_request: 0,
            review: None,
            answers: Answers::default(),
            review_page: None,
            last_hand: None,
            last_bell: None,
            filter: setup_filter,
            keymap: setup.keymap,
            questions_changed: None,
            flush_at: None,
            titled: 0,
            attention: Attention::default(),
            reading: None,
            effects: Vec::new(),
        };
        app.hold_keys(setup.keys);
        app
    }

    /// Takes a fact and gives what is wished of the world, in order.
    pub fn update(&mut self, input: Input, now: Now) -> Vec<Effect> {
        let alone = input == Input::Deadline;
        match input {
            Input::Start => self.start(now),
            Input::Link { link, event } => {
                self.run.note_news(now.monotonic);
                self.read_to_its_end(now);
                self.link(link, event, now);
            }
            Input::Stroke(stroke) => self.stroke(stroke, now),
            Input::Line { text, read } => {
                self.end_second_step(read, now);
                self.line_over(now);
                self.line(&text, read, now);
            }
            Input::LineBegun => self.line_begun(now),
            Input::LineLeft => self.line_over(now),
            Input::Voice(event) => self.voice(event, now),
            Input::Drawn { showing, at } => self.drawn(showing, at, now),
            Input::Written { told, at } => self.written(&told, at),
            Input::Deadline => {}
            Input::Terminate => self.terminate(now),
            Input::Remembered(outcome) => self.remembered(outcome, now),
            Input::Interrupt => {
                self.line_over(now);
                self.command(Command::Interrupt, now);
            }
            Input::RecordingFailed(reason) => {
                self.say(
                    Class::Outcome,
                    Kind::Connection,
                    "record.failed",
                    &[("reason", self.reason(&reason))],
                    now,
                );
            }
        }
        // Time has passed with every fact; what it made due comes now, so that no fact starves it.
        self.fire(Turn::First, alone, now);
        self.refresh_shown(now);
        self.refresh_title();
        self.withdraw_notices();
        self.fire(Turn::Last, alone, now);
        std::mem::take(&mut self.effects)
    }

    fn start(&mut self, now: Now) {
        let text = |app: &Self, key: &str| Arg::Own(app.announcer.phrases().text(key, &[]));
        let voice = match self.voice {
            VoiceState::Off => text(self, "start.voice.off"),
            VoiceState::LeftToReader => text(self, "start.voice.reader"),
            // It tells by itself when it is there.
            VoiceState::Checking
            | VoiceState::Ready { .. }
            | VoiceState::Lost { .. }
            | VoiceState::None { .. } => Arg::own(""),
        };
        let args = [
            ("face", text(self, self.face.0)),
            ("why", text(self, self.face.1)),
            ("voice", voice),
        ];
        self.say(Class::Outcome, Kind::Hint, "start.face", &args, now);
        let known = self.announcer.phrases().language().to_owned();
        let wanted = &self.config.announce.languages;
        if !wanted.iter().any(|tag| fit(tag, &known).is_some()) {
            // The person would otherwise wonder whether the wish was understood.
            let wanted = Arg::Own(wanted.join(", "));
            let args = [("wanted", wanted)];
            self.say(Class::Outcome, Kind::Hint, "start.language", &args, now);
        }
        self.tell_policy(now);
    }

    fn voice(&mut self, event: VoiceEvent, now: Now) {
        match event {
            VoiceEvent::Ready { engine } => self.voice_is_there(engine, "voice.ready", now),
            VoiceEvent::Recovered { engine } => self.voice_is_there(engine, "voice.back", now),
            VoiceEvent::Begun(_) => {}
            VoiceEvent::Adjustable { knobs, usual } => self.tuning.adjustable(knobs, usual),
            VoiceEvent::Cues { heard } => self.tuning.cues_heard(heard),
            VoiceEvent::Ended(id) => {
                let wishes = self.queue.ended(id, now.monotonic);
                self.wish(wishes);
            }
            VoiceEvent::Cut(id) => {
                let wishes = self.queue.cut_short(id, now.monotonic);
                self.wish(wishes);
            }
            VoiceEvent::Notice { text } => {
                self.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.notice",
                    &[("text", self.reason(&text))],
                    now,
                );
            }
            VoiceEvent::Lost { reason } => {
                // Speech is still handed over: a trial is what brings some voices back.
                self.voice = VoiceState::Lost {
                    reason: reason.clone(),
                };
                self.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.lost",
                    &[("reason", self.reason(&reason))],
                    now,
                );
                self.effects.push(Effect::Bell);
            }
            VoiceEvent::None { reason } => {
                self.queue.disable();
                self.voice = VoiceState::None {
                    reason: reason.clone(),
                };
                self.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.none",
                    &[("reason", self.reason(&reason))],
                    now,
                );
            }
        }
        self.note_said(now);
    }

    /// Gives what another room says of itself in the person's language.
    fn reason(&self, english: &str) -> Arg {
        Arg::Own(self.announcer.phrases().reason(english))
    }

    fn voice_is_there(&mut self, engine: String, key: &str, now: Now) {
        self.queue.enable();
        self.voice = VoiceState::Ready {
            engine: engine.clone(),
        };
        let args = [("engine", self.reason(&engine))];
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
        self.ask_again_after_voice(now);
    }

    /// Turns changes of sessions into announcements and everything that hangs on them.
    fn tell(&mut self, changes: Vec<Change>, now: Now) {
        for mut change in changes {
            self.excuse(&mut change);
            if matches!(change.what, What::SessionStarted(_) | What::SessionJoined) {
                self.run.note_session();
            }
            if let What::PromptClosed { prompt, .. } = &change.what {
                // What is still being said about it is cut short; its outcome follows.
                let wishes = self.queue.withdraw(*prompt, now.monotonic);
                self.wish(wishes);
                self.questions_changed = Some(now.monotonic);
            }
            if let What::PromptOpened(prompt)
            | What::PromptAnswerable(prompt)
            | What::PromptFreed(prompt)
            | What::PromptUnheard(prompt) = &change.what
            {
                if self.by_policy(*prompt, now) {
                    continue;
                }
                self.question_opened(*prompt, now);
            }
            if let What::PromptWarning { prompt, .. } = &change.what
                && self.is_left_alone(*prompt)
            {
                continue;
            }
            for announcement in self.announcer.tell(&change, &self.sessions) {
                self.emit(announcement, now);
            }
        }
    }

    /// Says something in the program's own name.
    fn say(&mut self, class: Class, kind: Kind, key: &str, args: &Args<'_>, now: Now) {
        let announcement = self.announcer.say(class, kind, key, args, now);
        self.emit(announcement, now);
    }

    /// Says in the program's own name what only whoever wants it in detail hears; others find it by looking.
    fn say_in_detail(&mut self, class: Class, kind: Kind, key: &str, args: &Args<'_>, now: Now) {
        let announcement = self.announcer.say_in_detail(class, kind, key, args, now);
        self.emit(announcement, now);
    }

    /// Answers a key or a line.
    fn respond(&mut self, key: &str, args: &Args<'_>, now: Now) {
        self.say(Class::Response, Kind::Reply, key, args, now);
    }

    /// Shows an announcement and hands it to the voice.
    fn emit(&mut self, announcement: Arc<Announcement>, now: Now) {
        if announcement.kind != Kind::Heartbeat {
            self.reviewing.heard();
        }
        self.answers.take(&announcement, self.shown.is_some());
        self.ring_for(&announcement, now);
        match announcement.aloud {
            Aloud::Yes => {
                self.put(Arc::clone(&announcement));
                self.utter(announcement, now);
            }
            Aloud::Heard => {
                let wishes = self.queue.push(announcement, now.monotonic);
                self.wish(wishes);
            }
            Aloud::Shown | Aloud::Seen | Aloud::Echo => self.put(announcement),
            Aloud::Kept => {}
        }
        self.note_said(now);
    }

    fn wish(&mut self, wishes: Vec<Wish>) {
        for wish in wishes {
            self.effects.push(match wish {
                Wish::Speak(utterance) => Effect::Speak(utterance),
                Wish::Hush => Effect::Hush,
            });
        }
    }
}

#[cfg(test)]
mod tests;
