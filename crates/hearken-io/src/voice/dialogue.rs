//! The conversation with speech-dispatcher, without a socket: bytes and time in, bytes and news out.
//!
//! Responsibilities: the greeting, one message at a time, stopping, matching events to messages, time limits, what an
//! error code means. Not here: the wording on the wire (`ssip`), connecting and reconnecting (`speech_dispatcher`).
//!
//! Mental model: SSIP is synchronous: a command, then its reply, then the next command. Events arrive at any time
//! between replies, and the event that a message has begun may arrive before the reply that numbers the message. So
//! three things are kept apart:
//!
//! - `asked`: the commands without a reply, oldest first. Only CANCEL is ever sent while another one waits, because a
//!   stop must not queue behind anything.
//! - `job`: the one message that the person should be hearing, and its progress.
//! - `dying`: messages that were cancelled and whose end has not been reported yet.
//!
//! Before SPEAK, the settings that differ from what the job wants are sent one by one. Nothing is set unnecessarily: a
//! daemon's rate, voice, volume and punctuation are the person's own.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use super::limits::Limits;
use super::pitch;
use super::ssip::{self, Decoder, MessageEvent, Priority};
use super::voice_languages::{Languages, covers};
use crate::announce::{Mark, Reason, Sound, Utterance, UtteranceId};
use crate::config::{Delivery, Knob, Punctuation};

mod daemon_commands;
mod daemon_news;
mod daemon_settings;
mod incoming_replies;

use daemon_commands::{DaemonRequest, Serial};
pub(super) use daemon_news::{DaemonFault, DialogueEvent};
use daemon_settings::{Level, SettingStep, WordSetting};

/// The most lines in a reply, except the list of voices; real ones have under 20.
const REPLY_LINES: usize = 64;

/// The most lines in the list of voices; the longest one seen has 13,363.
const VOICE_LINES: usize = 100_000;

/// The most events that wait for their message's number; two can arrive early.
const EARLY_EVENTS: usize = 16;

/// The most cancelled messages whose end is awaited; with one message at a time, there are two.
const DYING: usize = 16;

/// How many languages without a voice are reported one by one: an agent could invent more.
const TAGS_TOLD: usize = 16;

/// The number of consecutive refused messages after which the daemon counts as unusable.
const REFUSALS: u32 = 3;

/// The name of the dummy output module, which means that there is no real one.
const DUMMY: &str = "dummy";

/// The settings made once per connection.
#[derive(Debug, Clone)]
pub(super) struct Greeting {
    /// The client's name (SSIP 4.5).
    pub client_name: String,
    /// The distance of the program's own words above the daemon's pitch.
    pub own_pitch: i32,
}

/// What has already been reported, kept across connections.
#[derive(Debug, Clone, Default)]
pub(super) struct ReportedProblems {
    languages: BTreeSet<String>,
    voices: BTreeSet<String>,
    knobs: BTreeSet<Knob>,
}

#[derive(Debug)]
struct PendingCommand {
    request: DaemonRequest,
    until: Instant,
}

/// The purpose of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A blank, silent text that interrupts no other speech, to learn whether sound can be produced.
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
    stage: JobStage,
}

/// The progress of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobStage {
    /// The settings are being adjusted.
    Preparing,
    /// SPEAK has been sent.
    Asking,
    /// The text has been sent.
    Handing,
    /// The daemon has accepted it. Old daemons give no number; then the first message that begins is ours.
    Queued {
        message: Option<u64>,
        until: Instant,
    },
    /// It can be heard.
    Sounding { message: u64, until: Instant },
    /// The daemon was paused from outside; nothing can be expected until it is resumed.
    Held { message: u64 },
}

/// The conversation of one connection.
#[derive(Debug)]
pub(super) struct Dialogue {
    greeting: Greeting,
    limits: Limits,
    told: ReportedProblems,
    decoder: Decoder,
    outgoing: Vec<u8>,
    steps: VecDeque<DaemonRequest>,
    asked: VecDeque<PendingCommand>,
    parts: Vec<String>,
    voice_lines: usize,
    job: Option<Job>,
    serial: u64,
    early: VecDeque<(MessageEvent, u64)>,
    dying: VecDeque<u64>,
    refusals: u32,
    base_language: Option<String>,
    priority: Option<Priority>,
    language: Option<String>,
    rate: Level,
    pitch: Level,
    volume: Level,
    voice: WordSetting,
    punctuation: WordSetting,
    voices: Option<Languages>,
    news: VecDeque<DialogueEvent>,
    failed: bool,
}

impl Dialogue {
    /// Starts a conversation: the greeting is ready to be sent.
    pub(super) fn new(
        greeting: Greeting,
        told: ReportedProblems,
        limits: Limits,
        now: Instant,
    ) -> Self {
        let steps = VecDeque::from([
            DaemonRequest::ClientName,
            DaemonRequest::NotifyAll,
            DaemonRequest::PlainText,
            DaemonRequest::Modules,
            DaemonRequest::Module,
            DaemonRequest::BaseLanguage,
            DaemonRequest::BaseRate,
            DaemonRequest::BasePitch,
            DaemonRequest::BaseVolume,
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
            voice: WordSetting::default(),
            punctuation: WordSetting::default(),
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
            stage: JobStage::Preparing,
        });
        dialogue.advance(now);
        dialogue
    }

    /// Returns what must be remembered across connections.
    pub(super) fn into_told(self) -> ReportedProblems {
        self.told
    }

    /// Starts an utterance, stopping the previous one.
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
            stage: JobStage::Preparing,
        });
        self.advance(now);
    }

    /// Silences the current utterance; nothing more is reported about it.
    ///
    /// CANCEL is written immediately, even while another reply is missing. The only exception is
    /// between SPEAK and the permission to send the text, where CANCEL would become the text:
    /// nothing can be heard yet, and the message is sent empty.
    pub(super) fn stop(&mut self, now: Instant) {
        let Some(job) = self.job.take() else {
            return;
        };
        let message = match job.stage {
            JobStage::Preparing | JobStage::Asking => return,
            JobStage::Handing => None,
            JobStage::Queued { message, .. } => message,
            JobStage::Sounding { message, .. } | JobStage::Held { message } => Some(message),
        };
        if let Some(message) = message {
            self.bury(message);
        }
        self.ask(DaemonRequest::Cancel, now);
    }

    /// Says goodbye after what is under way.
    pub(super) fn quit(&mut self, now: Instant) {
        self.steps.push_back(DaemonRequest::Quit);
        self.advance(now);
    }

    /// Returns whether nothing is being spoken or awaited.
    pub(super) fn is_quiet(&self) -> bool {
        self.job.is_none() && self.asked.is_empty() && self.dying.is_empty()
    }

    /// Processes bytes from the daemon.
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

    /// Returns the time at which [`Dialogue::expire`] must be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let asked = self.asked.front().map(|asked| asked.until);
        let job = self.job.as_ref().and_then(|job| match job.stage {
            JobStage::Preparing | JobStage::Asking | JobStage::Handing | JobStage::Held { .. } => {
                None
            }
            JobStage::Queued { until, .. } | JobStage::Sounding { until, .. } => Some(until),
        });
        [asked, job].into_iter().flatten().min()
    }

    /// Fails the conversation if a time limit has passed.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.asked.front().is_some_and(|asked| asked.until <= now) {
            self.fail(DaemonFault::Mute);
            return;
        }
        let Some(job) = &self.job else {
            return;
        };
        let fault = match (job.stage, job.purpose) {
            (JobStage::Queued { until, .. } | JobStage::Sounding { until, .. }, Purpose::Test)
                if until <= now =>
            {
                DaemonFault::NoSound
            }
            (JobStage::Queued { until, .. }, Purpose::Utterance(_)) if until <= now => {
                DaemonFault::NeverBegan
            }
            (JobStage::Sounding { until, .. }, Purpose::Utterance(_)) if until <= now => {
                DaemonFault::NeverEnded
            }
            (
                JobStage::Preparing
                | JobStage::Asking
                | JobStage::Handing
                | JobStage::Queued { .. }
                | JobStage::Sounding { .. }
                | JobStage::Held { .. },
                Purpose::Test | Purpose::Utterance(_),
            ) => return,
        };
        // Otherwise the message would be heard whenever sound returns, perhaps minutes late.
        self.stop(now);
        self.fail(fault);
    }

    /// Ends the conversation for a reason that only the socket knows.
    pub(super) fn fail(&mut self, fault: DaemonFault) {
        if !self.failed {
            self.failed = true;
            self.news.push_back(DialogueEvent::Failed(fault));
        }
    }

    /// Returns the bytes to write.
    pub(super) fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    /// Removes the first `count` outgoing bytes, which have been written.
    pub(super) fn wrote(&mut self, count: usize) {
        self.outgoing.drain(..count.min(self.outgoing.len()));
    }

    /// Returns the next item of news.
    pub(super) fn news(&mut self) -> Option<DialogueEvent> {
        self.news.pop_front()
    }

    /// Starts a job under its own number.
    fn begin(&mut self, job: Job) {
        self.serial += 1;
        self.early.clear();
        self.job = Some(Job {
            serial: Serial(self.serial),
            ..job
        });
    }

    /// Sends the next command, unless one is waiting for its reply.
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
            .is_some_and(|job| job.stage == JobStage::Preparing)
            && let Some(mut job) = self.job.take()
        {
            let request = self.needed(&mut job);
            self.job = Some(job);
            self.ask(request, now);
        }
    }

    /// Returns the first command that the job still needs on this connection.
    fn needed(&mut self, job: &mut Job) -> DaemonRequest {
        if self.priority != Some(job.priority) {
            return DaemonRequest::Priority(job.priority);
        }
        if let Some(request) = self.language_for(job.language.as_deref()) {
            return request;
        }
        if let Some(request) = self.delivery_for(job) {
            return request;
        }
        job.stage = JobStage::Asking;
        DaemonRequest::Speak(job.serial)
    }

    /// Returns the command that adjusts the language, if one is needed.
    ///
    /// A tag that is covered by the daemon's own language (en for en-US) leaves the person's voice
    /// alone, because SET LANGUAGE may replace it (SSIP 4.5). The real daemon accepts any tag
    /// without an error and then continues in the previous language, so the list of voices is
    /// requested, once, at the first different language.
    fn language_for(&mut self, tag: Option<&str>) -> Option<DaemonRequest> {
        let wanted = match tag.map(|tag| (tag, ssip::language(tag))) {
            None => None,
            Some((tag, None)) => {
                self.tell_no_voice(tag);
                None
            }
            Some((_, Some(tag))) if self.is_base(tag) => None,
            Some((_, Some(tag))) => match &self.voices {
                None => return Some(DaemonRequest::Voices),
                Some(voices) if voices.speaks(tag) => Some(tag.to_owned()),
                Some(_) => {
                    self.tell_no_voice(tag);
                    None
                }
            },
        };
        let wanted = wanted.or_else(|| self.base_language.clone())?;
        (self.language.as_ref() != Some(&wanted)).then_some(DaemonRequest::Language(wanted))
    }

    fn is_base(&self, tag: &str) -> bool {
        self.base_language
            .as_deref()
            .is_some_and(|base| covers(base, tag))
    }

    /// Reports, once per tag, that a language has no voice; after [`TAGS_TOLD`] tags, once for all further ones.
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
        self.news.push_back(DialogueEvent::Notice(text));
    }

    /// Returns the first command that adjusts voice, numbers or punctuation, if one is needed.
    fn delivery_for(&mut self, job: &mut Job) -> Option<DaemonRequest> {
        if let Some(name) = &job.sound.delivery.voice
            && ssip::voice_type(name).is_none()
        {
            // The real daemon accepts any name without an error and then continues in the previous voice.
            match &self.voices {
                None => return Some(DaemonRequest::Voices),
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
            Some(SettingStep::Base) => return Some(DaemonRequest::BaseVoice),
            Some(SettingStep::Set(name)) => return Some(DaemonRequest::Voice(name)),
            None => {}
        }
        match self
            .punctuation
            .needs(wanted.punctuation.map(Punctuation::name))
        {
            Some(SettingStep::Base) => return Some(DaemonRequest::BasePunctuation),
            Some(SettingStep::Set(level)) => return Some(DaemonRequest::Punctuation(level)),
            None => {}
        }
        let pitch = pitch::of(
            job.mark,
            &job.sound,
            self.pitch.base,
            self.greeting.own_pitch,
        );
        let rate = self.rate.needs(wanted.rate).map(DaemonRequest::Rate);
        let volume = self.volume.needs(wanted.volume).map(DaemonRequest::Volume);
        let pitch = self.pitch.needs(Some(pitch)).map(DaemonRequest::Pitch);
        rate.or(volume).or(pitch)
    }

    /// Reports, once per name and at most [`TAGS_TOLD`] times, that there is no such voice.
    fn tell_no_such_voice(&mut self, name: &str) {
        if self.told.voices.len() < TAGS_TOLD && self.told.voices.insert(name.to_owned()) {
            let text = Reason::new("voice.cause.no_such_voice").with("name", name);
            self.news.push_back(DialogueEvent::Notice(text));
        }
    }

    /// Returns the person's settings for everything on this machine, as far as they have been requested.
    pub(super) fn usual(&self) -> Delivery {
        Delivery {
            rate: Some(self.rate.base),
            pitch: Some(self.pitch.base),
            volume: Some(self.volume.base),
            voice: None,
            punctuation: None,
        }
    }

    /// Writes a command and starts waiting for its reply.
    fn ask(&mut self, request: DaemonRequest, now: Instant) {
        if let Some(line) = request.line(&self.greeting.client_name) {
            self.outgoing.extend_from_slice(line.as_bytes());
            self.outgoing.extend_from_slice(b"\r\n");
        }
        let until = now + request.limit(&self.limits);
        self.asked.push_back(PendingCommand { request, until });
    }
}
