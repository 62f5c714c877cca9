//! What every part of the app may use: the settings, the sessions, the words, the queue, and the way out to the person.
//!
//! Responsibilities: lending these to a part for one fact; the only way to announce anything. Not here: the
//! words (`announce`), the state of each part.
//!
//! The folder: `writing` (announcements that wait for a line), `steps` (leaving the current activity),
//! `session_words` and `accounts` (sessions and counts in words).

mod accounts;
mod session_words;
mod steps;
mod writing;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::announce::{
    About, Aloud, Announcement, AnnouncementId, Announcer, Arg, Args, Class, Kind, Manner, Phrases,
    Quote, Reason, Segment, SpeechQueue, Wish,
};
use crate::config::Config;
use crate::link::{Fault, LinkId};
use crate::protocol::Now;
use crate::session::{Question, QuestionBody, QuestionId, SessionKey, Sessions};

use super::activity::Doing;
use super::activity::second_step::EndedStep;
use super::effect::{Effect, LinkOrder};
use super::face::Face;
use super::fault_words::fault_told;
use super::holding::Holding;
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
    pub(super) doing: Doing,
    /// The last second step that ended without its key.
    pub(super) ended: Option<EndedStep>,
    /// The answers to the last key.
    pub(super) answers: KeyResponses,
    /// What waits to be written or spoken.
    pub(super) holding: Holding,
    pub(super) signals: Signals,
    /// Whether a recording is made.
    pub(super) keeps: bool,
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
    pub(super) fn say(&mut self, class: Class, kind: Kind, key: &str, args: &Args<'_>) {
        let announcement = self.announcer.say(class, kind, key, args, self.now);
        self.emit(announcement);
    }

    /// Announces a detail in the program's own name. Only people with detailed verbosity hear it; others find
    /// it in the history.
    pub(super) fn say_in_detail(&mut self, class: Class, kind: Kind, key: &str, args: &Args<'_>) {
        let announcement = self
            .announcer
            .say_in_detail(class, kind, key, args, self.now);
        self.emit(announcement);
    }

    /// Answers a key or a line.
    pub(super) fn respond(&mut self, key: &str, args: &Args<'_>) {
        self.say(Class::Response, Kind::Reply, key, args);
    }

    /// Returns a phrase in words, as the person wants to hear it.
    pub(super) fn words(&self, key: &str, args: &Args<'_>) -> Vec<Segment> {
        self.phrases().say(key, self.announcer.verbosity(), args)
    }

    /// Announces words about a question.
    pub(super) fn tell_words(
        &mut self,
        class: Class,
        kind: Kind,
        about: About,
        words: Vec<Segment>,
    ) {
        let words = (words, Aloud::Yes);
        let told = (self.announcer).say_about(class, kind, about, words, self.now);
        self.emit(told);
    }

    /// Announces words in answer to a key, and says how they reach the person.
    pub(super) fn tell_aloud(&mut self, class: Class, about: About, words: (Vec<Segment>, Aloud)) {
        let told = (self.announcer).say_about(class, Kind::Reply, about, words, self.now);
        self.emit(told);
    }

    /// Withdraws all speech about a question.
    pub(super) fn withdraw(&mut self, question: QuestionId) {
        let wishes = self.queue.withdraw(question, self.now.monotonic);
        self.wish(wishes);
    }

    /// Returns the sessions of the announcements so far, the newest first.
    pub(super) fn speakers(&self) -> impl Iterator<Item = &SessionKey> {
        let told = self.announcer.history().iter().rev();
        told.filter_map(|told| told.key.as_ref())
    }

    /// Answers a key or a line with words that are not news and do not enter the history.
    pub(super) fn answer_aside(&mut self, words: Vec<Segment>) {
        let told = self
            .announcer
            .aside(Class::Response, Kind::Reply, words, self.now);
        self.emit(told);
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
        let told = self
            .announcer
            .aside(Class::Response, Kind::Reply, words, self.now);
        let mut told = Arc::unwrap_or_clone(told);
        told.aloud = Aloud::Heard;
        self.emit(Arc::new(told));
    }

    /// Answers a key or a line on the screen only.
    pub(super) fn answer_unsaid(&mut self, key: &str, args: &Args<'_>) {
        match self.face.manner() {
            Manner::Keys => {
                let words = self.words(key, args);
                let told = self
                    .announcer
                    .aside(Class::Response, Kind::Reply, words, self.now);
                self.answers.take(&told);
            }
            Manner::Lines | Manner::Program => {
                let told = self
                    .announcer
                    .say(Class::Response, Kind::Reply, key, args, self.now);
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
            Manner::Keys => self.effects.push(Effect::Farewell(words)),
            Manner::Lines | Manner::Program => {}
        }
    }

    /// Returns the words for a reason from another room.
    pub(super) fn because(&self, reason: &Reason) -> Arg {
        Arg::Own(self.announcer.phrases().because(reason))
    }

    /// Shows an announcement and hands it to the voice.
    pub(super) fn emit(&mut self, announcement: Arc<Announcement>) {
        if announcement.kind != Kind::Heartbeat {
            self.signals.rest();
        }
        self.answers.take(&announcement);
        if (self.signals).rings_for(&announcement, &self.config, self.now.monotonic) {
            self.effects.push(Effect::Bell);
        }
        if let Some(About::Asks(id)) = announcement.about
            && self.waits_for_decision(&announcement)
        {
            let args = [("n", Arg::own(id.0))];
            self.say(Class::Outcome, Kind::Hint, "hold.decision", &args);
        }
        match announcement.aloud {
            Aloud::Yes => {
                self.put(Arc::clone(&announcement));
                self.utter(announcement);
            }
            Aloud::Heard if !self.queue.is_enabled() => self.put(announcement),
            Aloud::Heard => {
                let wishes = self.queue.push(announcement, self.now.monotonic);
                self.wish(wishes);
            }
            Aloud::Shown | Aloud::Seen | Aloud::Echo if self.is_missed(&announcement) => {}
            Aloud::Shown | Aloud::Seen | Aloud::Echo => self.put(announcement),
            Aloud::Kept => {}
        }
    }

    /// Returns whether an announcement reports something that was missed and goes only to the history.
    fn is_missed(&self, announcement: &Announcement) -> bool {
        let key = announcement.key.as_ref();
        key.is_some_and(|key| self.catching_up.contains_key(&key.link))
    }

    pub(super) fn wish(&mut self, wishes: Vec<Wish>) {
        for wish in wishes {
            self.effects.push(match wish {
                Wish::Speak(utterance) => Effect::Speak(utterance),
                Wish::Hush => Effect::Hush,
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
        self.tell_of(class, question, key, (segments, Aloud::Yes));
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
        words: (Vec<Segment>, Aloud),
    ) {
        // The outcome of an answer is a reply; other news has the question's own kind.
        let kind = if key.starts_with("reply.") {
            Kind::Reply
        } else {
            kind_of(question)
        };
        let announcement =
            self.announcer
                .say_about(class, kind, About::Tells(question.id), words, self.now);
        self.emit(announcement);
    }
}

pub(super) fn kind_of(question: &Question) -> Kind {
    match question.body {
        QuestionBody::Confirmation(_) => Kind::Confirmation,
        QuestionBody::Clarification(_) => Kind::Clarification,
    }
}
