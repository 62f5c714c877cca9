//! What every part of the app may use: the settings, the sessions, the words, the queue, and the way out to the person.
//!
//! Responsibilities: lending these to a part for one fact; the only way to announce anything. Not here: the
//! words (`announce`), the state of each part.
//!
//! The folder: `announcement_output` (announcements that wait for a line), `activity_end` (leaving the current
//! activity), `session_words` and `accounts` (sessions and counts in words).

mod accounts;
mod activity_end;
mod announcement_output;
mod session_words;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::announce::{
    Announcement, AnnouncementId, AnnouncementKind, Announcer, AnswerMethod, Arg, Args, Class,
    Phrases, Presentation, QuestionRelation, Quote, Reason, Segment, SpeechQueue, VoiceCommand,
};
use crate::config::Config;
use crate::link::{Fault, LinkId};
use crate::protocol::Now;
use crate::session::{Question, QuestionBody, QuestionId, SessionKey, Sessions};

use super::activity::Activity;
use super::activity::second_step::EndedStep;
use super::effect::{Effect, LinkOrder};
use super::face::Face;
use super::fault_words::fault_told;
use super::held_announcements::HeldAnnouncements;
use super::key_replies::KeyResponses;
use super::signals::Signals;

/// What every part may use while it handles a fact.
#[derive(Debug)]
pub(super) struct AppCx {
    /// The time of the fact that is being handled.
    pub(super) now: Now,
    pub(super) config: Config,
    pub(super) face: Face,
    pub(super) sessions: Sessions,
    pub(super) announcer: Announcer,
    pub(super) queue: SpeechQueue,
    /// What the person is doing.
    pub(super) doing: Activity,
    /// The last second step that ended without its key.
    pub(super) ended: Option<EndedStep>,
    /// The answers to the last key.
    pub(super) answers: KeyResponses,
    /// What waits to be written or spoken.
    pub(super) held_announcements: HeldAnnouncements,
    pub(super) signals: Signals,
    /// Whether a recording is made.
    pub(super) is_recorded: bool,
    /// The links on which missed messages are arriving, each with the announcement from which they are counted.
    /// Of these messages, only what is urgent is announced.
    pub(super) catching_up: BTreeMap<LinkId, AnnouncementId>,
    /// The effects for the outside world, in order.
    pub(super) effects: Vec<Effect>,
}

impl AppCx {
    /// Returns the program's own words.
    pub(super) fn phrases(&self) -> &Arc<Phrases> {
        self.announcer.phrases()
    }

    /// Gives a link an order.
    pub(super) fn order(&mut self, link: LinkId, order: LinkOrder) {
        self.effects.push(Effect::Link { link, order });
    }

    /// Announces something in the program's own name.
    pub(super) fn say(&mut self, class: Class, kind: AnnouncementKind, key: &str, args: &Args<'_>) {
        let announcement = self.announcer.say(class, kind, key, args, self.now);
        self.emit(announcement);
    }

    /// Announces a detail in the program's own name. Only people with detailed verbosity hear it; others find
    /// it in the history.
    pub(super) fn say_in_detail(
        &mut self,
        class: Class,
        kind: AnnouncementKind,
        key: &str,
        args: &Args<'_>,
    ) {
        let announcement = self
            .announcer
            .say_in_detail(class, kind, key, args, self.now);
        self.emit(announcement);
    }

    /// Answers a key or a line.
    pub(super) fn respond(&mut self, key: &str, args: &Args<'_>) {
        self.say(Class::Response, AnnouncementKind::Reply, key, args);
    }

    /// Returns a phrase in words, as the person wants to hear it.
    pub(super) fn words(&self, key: &str, args: &Args<'_>) -> Vec<Segment> {
        self.phrases().say(key, self.announcer.verbosity(), args)
    }

    /// Announces words about a question.
    pub(super) fn tell_words(
        &mut self,
        class: Class,
        kind: AnnouncementKind,
        about: QuestionRelation,
        words: Vec<Segment>,
    ) {
        let words = (words, Presentation::Spoken);
        let told = (self.announcer).say_about(class, kind, about, words, self.now);
        self.emit(told);
    }

    /// Announces words in answer to a key, and says how they reach the person.
    pub(super) fn tell_aloud(
        &mut self,
        class: Class,
        about: QuestionRelation,
        words: (Vec<Segment>, Presentation),
    ) {
        let told =
            (self.announcer).say_about(class, AnnouncementKind::Reply, about, words, self.now);
        self.emit(told);
    }

    /// Withdraws all speech about a question.
    pub(super) fn withdraw(&mut self, question: QuestionId) {
        let wishes = self.queue.withdraw(question, self.now.monotonic);
        self.command_voice(wishes);
    }

    /// Returns the sessions of the announcements so far, the newest first.
    pub(super) fn speakers(&self) -> impl Iterator<Item = &SessionKey> {
        let told = self.announcer.history().iter().rev();
        told.filter_map(|told| told.key.as_ref())
    }

    /// Answers a key or a line with words that are not news and do not enter the history.
    pub(super) fn answer_aside(&mut self, words: Vec<Segment>) {
        let response =
            self.announcer
                .aside(Class::Response, AnnouncementKind::Reply, words, self.now);
        self.emit(response);
    }

    /// Answers a key or a line with words that quote agents; they are not news and do not enter the history.
    pub(super) fn quote(&mut self, words: Vec<Segment>, quotes: Vec<Quote>) {
        let told = self.announcer.quoting(words, quotes, self.now);
        self.emit(told);
    }

    /// Keeps what the person told an agent in the history.
    pub(super) fn keep_prompt(&mut self, text: &str, agent: Option<&str>) {
        let prompt = self.announcer.keep_prompt(text, agent, self.now);
        self.emit(prompt);
    }

    /// Answers a key or a line by ear only.
    pub(super) fn answer_heard(&mut self, key: &str, args: &Args<'_>) {
        let words = self.words(key, args);
        let response =
            self.announcer
                .aside(Class::Response, AnnouncementKind::Reply, words, self.now);
        let mut response = Arc::unwrap_or_clone(response);
        response.aloud = Presentation::Heard;
        self.emit(Arc::new(response));
    }

    /// Answers a key or a line on the screen only.
    pub(super) fn answer_unsaid(&mut self, key: &str, args: &Args<'_>) {
        match self.face.manner() {
            AnswerMethod::Keys => {
                let words = self.words(key, args);
                let told =
                    self.announcer
                        .aside(Class::Response, AnnouncementKind::Reply, words, self.now);
                self.answers.take(&told);
            }
            AnswerMethod::Lines | AnswerMethod::Program => {
                let told = self.announcer.say(
                    Class::Response,
                    AnnouncementKind::Reply,
                    key,
                    args,
                    self.now,
                );
                self.put(told);
            }
        }
    }

    /// Returns whether there is a voice, or one is still being looked for.
    pub(super) fn has_voice(&self) -> bool {
        self.signals.voice().is_hoped_for()
    }

    /// Returns the text that is being typed, and the position of its cursor in characters.
    pub(super) fn editor(&self) -> (&str, usize) {
        let line = self.doing.line();
        line.map_or(("", 0), |line| (line.value(), line.cursor()))
    }

    /// Returns the current state of a question that was raised.
    pub(super) fn raised(&self, id: QuestionId) -> Option<Arc<Question>> {
        self.sessions.raised(id)?;
        self.sessions.shared(id)
    }

    /// Returns a fault in words.
    pub(super) fn fault_words(&self, fault: &Fault) -> String {
        fault_told(self.phrases(), fault)
    }

    /// Stores words to be read after the full face has closed; in line faces the lines stay anyway.
    pub(super) fn leave_word(&mut self, words: String) {
        match self.face.manner() {
            AnswerMethod::Keys => self.effects.push(Effect::Farewell(words)),
            AnswerMethod::Lines | AnswerMethod::Program => {}
        }
    }

    /// Returns the words for a reason from another room.
    pub(super) fn because(&self, reason: &Reason) -> Arg {
        Arg::Own(self.announcer.phrases().because(reason))
    }

    /// Shows an announcement and hands it to the voice.
    pub(super) fn emit(&mut self, announcement: Arc<Announcement>) {
        if announcement.kind != AnnouncementKind::Heartbeat {
            self.signals.rest();
        }
        self.answers.take(&announcement);
        if (self.signals).rings_for(&announcement, &self.config, self.now.monotonic) {
            self.effects.push(Effect::Bell);
        }
        if let Some(QuestionRelation::Asks(id)) = announcement.about
            && self.waits_for_decision(&announcement)
        {
            let args = [("n", Arg::own(id.0))];
            self.say(
                Class::Outcome,
                AnnouncementKind::Hint,
                "hold.decision",
                &args,
            );
        }
        match announcement.aloud {
            Presentation::Spoken => {
                self.put(Arc::clone(&announcement));
                self.utter(announcement);
            }
            Presentation::Heard if !self.queue.is_enabled() => self.put(announcement),
            Presentation::Heard => {
                let wishes = self.queue.push(announcement, self.now.monotonic);
                self.command_voice(wishes);
            }
            Presentation::Shown | Presentation::Seen | Presentation::Echo
                if self.is_missed(&announcement) => {}
            Presentation::Shown | Presentation::Seen | Presentation::Echo => self.put(announcement),
            Presentation::Kept => {}
        }
    }

    /// Returns whether an announcement reports something that was missed and goes only to the history.
    fn is_missed(&self, announcement: &Announcement) -> bool {
        let key = announcement.key.as_ref();
        key.is_some_and(|key| self.catching_up.contains_key(&key.link))
    }

    pub(super) fn command_voice(&mut self, wishes: Vec<VoiceCommand>) {
        for wish in wishes {
            self.effects.push(match wish {
                VoiceCommand::Speak(utterance) => Effect::Speak(utterance),
                VoiceCommand::Hush => Effect::Hush,
            });
        }
    }

    /// Announces something about a question in the program's own name.
    pub(super) fn tell_about(
        &mut self,
        class: Class,
        question: &Question,
        key: &str,
        args: &Args<'_>,
    ) {
        let segments = self.words(key, args);
        self.tell_of(class, question, key, (segments, Presentation::Spoken));
    }

    /// Announces something about a question in the program's own name, with a short form for people.
    pub(super) fn tell_about_in_short(
        &mut self,
        class: Class,
        question: &Question,
        (key, short): (&str, &str),
        args: &Args<'_>,
    ) {
        let words = self.announcer.in_short(key, short, args);
        self.tell_of(class, question, key, words);
    }

    pub(super) fn tell_of(
        &mut self,
        class: Class,
        question: &Question,
        key: &str,
        words: (Vec<Segment>, Presentation),
    ) {
        // The outcome of an answer is a reply; other news has the question's own kind.
        let kind = if key.starts_with("reply.") {
            AnnouncementKind::Reply
        } else {
            kind_of(question)
        };
        let announcement = self.announcer.say_about(
            class,
            kind,
            QuestionRelation::Concerns(question.id),
            words,
            self.now,
        );
        self.emit(announcement);
    }
}

pub(super) fn kind_of(question: &Question) -> AnnouncementKind {
    match question.body {
        QuestionBody::Confirmation(_) => AnnouncementKind::Confirmation,
        QuestionBody::Clarification(_) => AnnouncementKind::Clarification,
    }
}
