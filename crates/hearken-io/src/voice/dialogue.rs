//! The conversation with speech-dispatcher, without a socket: bytes and time in, bytes and news out.
//!
//! Responsibilities: the greeting, one message at a time, stopping, matching events to messages,
//! time limits, what an error code means. Not here: the wording on the wire (`ssip`), connecting
//! and reconnecting (`speech_dispatcher`).
//!
//! A mental model. SSIP is synchronous: a command, then its reply, then the next command. Events
//! come between replies whenever they like, and the one that says a message has begun may come
//! before the reply that numbers the message. So three things are kept apart:
//!
//! - `asked`: the commands without a reply, oldest first. Only CANCEL is ever sent while another
//!   one waits, because a stop must not queue behind anything.
//! - `job`: the one message that the person should be hearing, and how far it has got.
//! - `dying`: messages that were cancelled and whose end was not reported yet.
//!
//! Before SPEAK, the settings that differ from what the job wants are sent one by one. Nothing is
//! set that need not be: a daemon's rate, voice, volume and punctuation are the person's own.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use super::language::{Languages, covers};
use super::limits::Limits;
use super::pitch;
use super::ssip::{self, Decoder, Happening, Priority};
use crate::announce::{Mark, Reason, Sound, Utterance, UtteranceId};
use crate::config::{Delivery, Knob, Punctuation};

mod fault;
mod hear;
mod request;
mod settings;

pub(super) use fault::{Fault, News};
use request::{Request, Serial};
use settings::{Level, Need, Word};

/// Bounds a reply's lines, the list of voices apart; real ones have under 20.
const REPLY_LINES: usize = 64;

/// Bounds the lines of the list of voices; the longest one seen has 13,363.
const VOICE_LINES: usize = 100_000;

/// Bounds the events that wait for their message's number; two can come early.
const EARLY_EVENTS: usize = 16;

/// Bounds the cancelled messages that are waited for at the end; with one message at a time, two.
const DYING: usize = 16;

/// Bounds the languages without a voice that are told one by one: an agent could invent more.
const TAGS_TOLD: usize = 16;

/// How many messages may be refused in a row before the daemon counts as unusable.
const REFUSALS: u32 = 3;

/// What the dummy output module is called; it says that there is no real one.
const DUMMY: &str = "dummy";

/// What is set once a connection.
#[derive(Debug, Clone)]
pub(super) struct Greeting {
    /// The client's name (SSIP 4.5).
    pub client_name: String,
    /// How far the program's own words lie above the daemon's pitch.
    pub own_pitch: i32,
}

/// Remembers over connections what was told already.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    languages: BTreeSet<String>,
    voices: BTreeSet<String>,
    knobs: BTreeSet<Knob>,
}

#[derive(Debug)]
struct Asked {
    request: Request,
    until: Instant,
}

/// What a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A blank text that makes no sound and disturbs nobody, to learn whether sound can be made.
    Test,
    Utterance(UtteranceId),
}

#[derive(Debug)]
struct Job {
    serial: Serial,
    purpose: Purpose,
    priority: Priority,
    language: Option<String>,
    mark: Mark,
    sound: Sound,
    text: String,
    stage: Stage,
}

/// How far a job has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The settings are being brought in line.
    Preparing,
    /// SPEAK was sent.
    Asking,
    /// The text was sent.
    Handing,
    /// The daemon has it. Old daemons give no number; then the first that begins is ours.
    Queued {
        message: Option<u64>,
        until: Instant,
    },
    /// It can be heard.
    Sounding { message: u64, until: Instant },
    /// Somebody paused the daemon; nothing can be expected until it is resumed.
    Held { message: u64 },
}

/// One connection's conversation.
#[derive(Debug)]
pub(super) struct Dialogue {
    greeting: Greeting,
    limits: Limits,
    told: Told,
    decoder: Decoder,
    outgoing: Vec<u8>,
    steps: VecDeque<Request>,
    asked: VecDeque<Asked>,
    parts: Vec<String>,
    voice_lines: usize,
    job: Option<Job>,
    serial: u64,
    early: VecDeque<(Happening, u64)>,
    dying: VecDeque<u64>,
    refusals: u32,
    base_language: Option<String>,
    priority: Option<Priority>,
    language: Option<String>,
    rate: Level,
    pitch: Level,
    volume: Level,
    voice: Word,
    punctuation: Word,
    voices: Option<Languages>,
    news: VecDeque<News>,
    failed: bool,
}

impl Dialogue {
    /// Begins a conversation: the greeting is ready to be sent.
    pub(super) fn new(greeting: Greeting, told: Told, limits: Limits, now: Instant) -> Self {
        let steps = VecDeque::from([
            Request::ClientName,
            Request::NotifyAll,
            Request::PlainText,
            Request::Modules,
            Request::Module,
            Request::BaseLanguage,
            Request::BaseRate,
            Request::BasePitch,
            Request::BaseVolume,
        ]);
        let mut dialogue = Self {
            greeting,
            limits,
            told,
            decoder: Decoder::default(),
            outgoing: Vec::new(),
            steps,
            asked: VecDeque::new(),
            parts: Vec::new(),
            voice_lines: 0,
            job: None,
            serial: 0,
            early: VecDeque::new(),
            dying: VecDeque::new(),
            refusals: 0,
            base_language: None,
            priority: None,
            language: None,
            rate: Level::default(),
            pitch: Level::default(),
            volume: Level::default(),
            voice: Word::default(),
            punctuation: Word::default(),
            voices: None,
            news: VecDeque::new(),
            failed: false,
        };
        dialogue.begin(Job {
            serial: Serial(0),
            purpose: Purpose::Test,
            priority: Priority::Notification,
            language: None,
            mark: Mark::Agent,
            sound: Sound::default(),
            text: " ".to_owned(),
            stage: Stage::Preparing,
        });
        dialogue.advance(now);
        dialogue
    }

    /// Gives back what must be remembered over connections.
    pub(super) fn into_told(self) -> Told {
        self.told
    }

    /// Hands an utterance over; what was being said must have been stopped.
    pub(super) fn speak(&mut self, utterance: Utterance, now: Instant) {
        self.stop(now);
        let Utterance {
            id,
            class,
            text,
            language,
            mark,
            sound,
        } = utterance;
        self.begin(Job {
            serial: Serial(0),
            purpose: Purpose::Utterance(id),
            priority: Priority::of(class),
            language,
            mark,
            sound,
            text,
            stage: Stage::Preparing,
        });
        self.advance(now);
    }

    /// Silences what is being said; nothing more is told about it.
    ///
    /// CANCEL is written at once, even while another reply is missing. The one moment it may not be
    /// is between SPEAK and the permission to send the text, where it would become the text: there
    /// nothing can be heard yet, and the message is sent empty.
    pub(super) fn stop(&mut self, now: Instant) {
        let Some(job) = self.job.take() else {
            return;
        };
        let message = match job.stage {
            Stage::Preparing | Stage::Asking => return,
            Stage::Handing => None,
            Stage::Queued { message, .. } => message,
            Stage::Sounding { message, .. } | Stage::Held { message } => Some(message),
        };
        if let Some(message) = message {
            self.bury(message);
        }
        self.ask(Request::Cancel, now);
    }

    /// Takes leave after what is under way.
    pub(super) fn quit(&mut self, now: Instant) {
        self.steps.push_back(Request::Quit);
        self.advance(now);
    }

    /// Returns whether nothing is being said or waited for.
    pub(super) fn is_quiet(&self) -> bool {
        self.job.is_none() && self.asked.is_empty() && self.dying.is_empty()
    }

    /// Takes bytes of the daemon in.
    pub(super) fn receive(&mut self, bytes: &[u8], now: Instant) {
        self.decoder.feed(bytes);
        while !self.failed {
            match self.decoder.next() {
                Ok(Some(said)) => self.hear(said, now),
                Ok(None) => break,
                Err(garbage) => self.fail(garbage.into()),
            }
        }
        self.advance(now);
    }

    /// Returns the moment at which [`Dialogue::expire`] has to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let asked = self.asked.front().map(|asked| asked.until);
        let job = self.job.as_ref().and_then(|job| match job.stage {
            Stage::Preparing | Stage::Asking | Stage::Handing | Stage::Held { .. } => None,
            Stage::Queued { until, .. } | Stage::Sounding { until, .. } => Some(until),
        });
        [asked, job].into_iter().flatten().min()
    }

    /// Fails the conversation if a time limit has passed.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.asked.front().is_some_and(|asked| asked.until <= now) {
            self.fail(Fault::Mute);
            return;
        }
        let Some(job) = &self.job else {
            return;
        };
        let fault = match (job.stage, job.purpose) {
            (Stage::Queued { until, .. } | Stage::Sounding { until, .. }, Purpose::Test)
                if until <= now =>
            {
                Fault::NoSound
            }
            (Stage::Queued { until, .. }, Purpose::Utterance(_)) if until <= now => {
                Fault::NeverBegan
            }
            (Stage::Sounding { until, .. }, Purpose::Utterance(_)) if until <= now => {
                Fault::NeverEnded
            }
            (
                Stage::Preparing
                | Stage::Asking
                | Stage::Handing
                | Stage::Queued { .. }
                | Stage::Sounding { .. }
                | Stage::Held { .. },
                Purpose::Test | Purpose::Utterance(_),
            ) => return,
        };
        // The message would otherwise be heard whenever the sound comes back, perhaps minutes late.
        self.stop(now);
        self.fail(fault);
    }

    /// Ends the conversation for a reason that only the socket knows.
    pub(super) fn fail(&mut self, fault: Fault) {
        if !self.failed {
            self.failed = true;
            self.news.push_back(News::Failed(fault));
        }
    }

    /// Returns the bytes to be written.
    pub(super) fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    /// Says how many of the outgoing bytes were written.
    pub(super) fn wrote(&mut self, count: usize) {
        self.outgoing.drain(..count.min(self.outgoing.len()));
    }

    /// Returns the next piece of news.
    pub(super) fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Takes a job on, under a number of its own.
    fn begin(&mut self, job: Job) {
        self.serial += 1;
        self.early.clear();
        self.job = Some(Job {
            serial: Serial(self.serial),
            ..job
        });
    }

    /// Sends the next command, if none is waiting for its reply.
    fn advance(&mut self, now: Instant) {
        if self.failed || !self.asked.is_empty() {
            return;
        }
        if let Some(step) = self.steps.pop_front() {
            self.ask(step, now);
            return;
        }
        if self
            .job
            .as_ref()
            .is_some_and(|job| job.stage == Stage::Preparing)
            && let Some(mut job) = self.job.take()
        {
            let request = self.needed(&mut job);
            self.job = Some(job);
            self.ask(request, now);
        }
    }

    /// Picks the first thing that the job needs and the connection has not got.
    fn needed(&mut self, job: &mut Job) -> Request {
        if self.priority != Some(job.priority) {
            return Request::Priority(job.priority);
        }
        if let Some(request) = self.language_for(job.language.as_deref()) {
            return request;
        }
        if let Some(request) = self.delivery_for(job) {
            return request;
        }
        job.stage = Stage::Asking;
        Request::Speak(job.serial)
    }

    /// Returns the command that brings the language in line, if one is needed.
    ///
    /// A tag that the daemon's own language covers (en for en-US) leaves the person's voice alone,
    /// because SET LANGUAGE may replace it (SSIP 4.5). The real daemon takes any tag without an
    /// error and then goes on in the language before, so the list of voices is asked for, once,
    /// when the first other language comes.
    fn language_for(&mut self, tag: Option<&str>) -> Option<Request> {
        let wanted = match tag.map(|tag| (tag, ssip::language(tag))) {
            None => None,
            Some((tag, None)) => {
                self.tell_no_voice(tag);
                None
            }
            Some((_, Some(tag))) if self.is_base(tag) => None,
            Some((_, Some(tag))) => match &self.voices {
                None => return Some(Request::Voices),
                Some(voices) if voices.speaks(tag) => Some(tag.to_owned()),
                Some(_) => {
                    self.tell_no_voice(tag);
                    None
                }
            },
        };
        let wanted = wanted.or_else(|| self.base_language.clone())?;
        (self.language.as_ref() != Some(&wanted)).then_some(Request::Language(wanted))
    }

    fn is_base(&self, tag: &str) -> bool {
        self.base_language
            .as_deref()
            .is_some_and(|base| covers(base, tag))
    }

    /// Says once for each tag, and no more than [`TAGS_TOLD`] times, that a language has no voice.
    fn tell_no_voice(&mut self, tag: &str) {
        let readable = ssip::language(tag);
        let key = readable.unwrap_or("?").to_ascii_lowercase();
        if self.told.languages.len() > TAGS_TOLD || !self.told.languages.insert(key) {
            return;
        }
        let text = match readable {
            _ if self.told.languages.len() > TAGS_TOLD => {
                Reason::new("voice.cause.language.further")
            }
            Some(tag) => Reason::new("voice.cause.language.none").with("tag", tag),
            None => Reason::new("voice.cause.language.unread"),
        };
        self.news.push_back(News::Notice(text));
    }

    /// Returns the first command that brings voice, numbers and punctuation in line, if one is needed.
    fn delivery_for(&mut self, job: &mut Job) -> Option<Request> {
        if let Some(name) = &job.sound.delivery.voice
            && ssip::voice_type(name).is_none()
        {
            // The real daemon takes any name without an error and then goes on in the voice before.
            match &self.voices {
                None => return Some(Request::Voices),
                Some(voices) if voices.has(name) => {}
                Some(_) => {
                    let name = name.clone();
                    self.tell_no_such_voice(&name);
                    job.sound.delivery.voice = None;
                }
            }
        }
        let wanted = &job.sound.delivery;
        match self.voice.needs(wanted.voice.as_deref()) {
            Some(Need::Base) => return Some(Request::BaseVoice),
            Some(Need::Set(name)) => return Some(Request::Voice(name)),
            None => {}
        }
        match self
            .punctuation
            .needs(wanted.punctuation.map(Punctuation::name))
        {
            Some(Need::Base) => return Some(Request::BasePunctuation),
            Some(Need::Set(level)) => return Some(Request::Punctuation(level)),
            None => {}
        }
        let pitch = pitch::of(
            job.mark,
            &job.sound,
            self.pitch.base,
            self.greeting.own_pitch,
        );
        let rate = self.rate.needs(wanted.rate).map(Request::Rate);
        let volume = self.volume.needs(wanted.volume).map(Request::Volume);
        let pitch = self.pitch.needs(Some(pitch)).map(Request::Pitch);
        rate.or(volume).or(pitch)
    }

    /// Says once for each name, and no more than [`TAGS_TOLD`] times, that there is no such voice.
    fn tell_no_such_voice(&mut self, name: &str) {
        if self.told.voices.len() < TAGS_TOLD && self.told.voices.insert(name.to_owned()) {
            let text = Reason::new("voice.cause.no_such_voice").with("name", name);
            self.news.push_back(News::Notice(text));
        }
    }

    /// Returns what the person has set for everything on this machine, as far as it was asked for.
    pub(super) fn usual(&self) -> Delivery {
        Delivery {
            rate: Some(self.rate.base),
            pitch: Some(self.pitch.base),
            volume: Some(self.volume.base),
            voice: None,
            punctuation: None,
        }
    }

    /// Writes a command and waits for its reply.
    fn ask(&mut self, request: Request, now: Instant) {
        if let Some(line) = request.line(&self.greeting.client_name) {
            self.outgoing.extend_from_slice(line.as_bytes());
            self.outgoing.extend_from_slice(b"\r\n");
        }
        let until = now + request.limit(&self.limits);
        self.asked.push_back(Asked { request, until });
    }
}
