//! The order of speech: what waits, what interrupts, what is dropped and counted.
//!
//! Responsibilities: storing everything that waits to be spoken, giving the voice one utterance at a
//! time, and deciding by class what an arrival does to the utterance being spoken. Not here: what is worth
//! announcing (`announcer`), how an engine works (`voice`).
//!
//! # Mental model
//! Announcements wait in lanes, one per class (P4 has two: text and progress). At most one utterance is in the
//! engine. An arrival either interrupts what is playing, or waits; waiting announcements of different lanes
//! leave in class order. Interrupted speech is dropped, repeated from its beginning, or resumed at the start of
//! its sentence, as the table below says; speech that the person silenced waits until they continue. Expired
//! announcements are counted, and for outcomes the count is spoken.
//!
//! | playing \ arriving | P0 | P1 | P2 | P3 | text | progress |
//! |---|---|---|---|---|---|---|
//! | P0 | waits | interrupts, repeated | waits | waits | waits | waits |
//! | P1 | waits at most 2 s | interrupts | waits | waits | waits | waits |
//! | P2 | interrupts, repeated | interrupts, repeated | waits | waits | waits | waits |
//! | P3 | interrupts, dropped | interrupts, dropped | interrupts, dropped | waits | waits | waits |
//! | text | interrupts, resumes | interrupts, resumes | waits | waits | waits | waits |
//! | progress | interrupts, dropped | interrupts, dropped | interrupts, dropped | interrupts, dropped | interrupts, dropped | waits, the last is kept |
//!
//! # Tuning by symptom
//! An alert waits too long for a response, or cuts it off too soon: change [`PATIENCE`]. Speech lags behind a
//! fast agent: lower the fold time in the settings. Results of a busy minute are missed: raise
//! `lanes::OUTCOME_LIFE`.

mod bookkeeping;
mod drive;
mod fold;
mod going_back;
mod lane_entries;
mod lanes;
mod ledger;
mod order;
mod place;
mod silenced_speech;
#[cfg(test)]
mod tests;
mod trail;

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::FixedState;

use crate::session::{QuestionId, SessionKey};

use super::delivery::Deliveries;
use crate::announce::announcement::{
    Announcement, AnnouncementId, AnnouncementKind, Class, QuestionRelation, Topic,
};
use crate::announce::speech::utterance::{Utterance, UtteranceId};
use crate::announce::words::phrase::Phrases;
use lane_entries::{LaneEntries, TopicEntry};
use lanes::LANES;
use place::WordPlace;
use trail::Trail;

pub use lanes::{Lane, Preemption, arrival};
pub use ledger::{Ledger, UtteranceFate};
pub use trail::RewindUnit;

/// How long an alert waits for the response to a key to finish.
const PATIENCE: Duration = Duration::from_secs(2);
/// Two presses of the stop key within this time clear P2 to P4; after a single press, speech resumes then.
const SECOND_STOP: Duration = Duration::from_millis(500);
/// The wait before speaking an alert again that an engine lost.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// What the voice is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceCommand {
    /// Speak this; nothing else is in the engine.
    Speak(Utterance),
    /// Fall silent immediately.
    Hush,
}

/// What happens to an announcement that is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutOutcome {
    /// It is repeated from this place.
    Again(WordPlace),
    /// It is not repeated, and this is its fate.
    Never(UtteranceFate),
}

#[derive(Debug, Clone)]
struct QueueItem {
    announcement: Arc<Announcement>,
    since: Duration,
    /// The lane in which it was taken for speaking.
    home: Lane,
    /// Where the utterance being spoken begins.
    at: WordPlace,
    /// Where the next words begin.
    next: WordPlace,
    /// Whether it is repeated after a cut.
    again: bool,
    /// Whether it waits for the person to go on.
    held: bool,
    /// Whether the person asked for it: it is not folded.
    asked: bool,
    /// Whether it counts as an announcement; a repetition was counted before.
    counted: bool,
    /// Whether it announces the end of a session, which waits for that session's text.
    ends: bool,
    /// A hash of its session and topic: hundreds wait, and each arrival must find those of its own
    /// topic.
    mark: u64,
}

impl QueueItem {
    fn new(announcement: Arc<Announcement>, since: Duration) -> Self {
        let ends = matches!(
            announcement.kind,
            AnnouncementKind::SessionCompleted | AnnouncementKind::SessionCancelled
        );
        let mark = FixedState::default().hash_one((&announcement.key, &announcement.topic));
        Self {
            since,
            home: Lane::of(&announcement),
            at: WordPlace::default(),
            next: WordPlace::default(),
            again: false,
            held: false,
            asked: false,
            counted: true,
            announcement,
            ends,
            mark,
        }
    }
}

#[derive(Debug, Clone)]
struct Fold {
    /// The mark of the folded items.
    mark: u64,
    key: Option<SessionKey>,
    topic: Option<Topic>,
    count: u64,
    /// Whether it waits for the person to go on.
    held: bool,
}

#[derive(Debug, Clone)]
enum WaitingUtterance {
    Item(QueueItem),
    /// Boxed because it is rare and large, while hundreds of items may wait.
    Fold(Box<Fold>),
}

impl TopicEntry for WaitingUtterance {
    fn mark(&self) -> u64 {
        match self {
            Self::Item(item) => item.mark,
            Self::Fold(fold) => fold.mark,
        }
    }
}

#[derive(Debug, Clone)]
struct PlayingUtterance {
    lane: Lane,
    item: QueueItem,
    utterance: UtteranceId,
}

/// Silenced speech that can continue.
#[derive(Debug, Clone)]
struct SilencedItem {
    item: QueueItem,
    /// The mark of its output, if more of that waits or is to come.
    holds: Option<u64>,
}

/// The order of speech.
#[derive(Debug, Clone)]
pub struct SpeechQueue {
    lanes: [LaneEntries<WaitingUtterance>; LANES],
    /// When each lane must next be checked for expired entries.
    looked_at: [Duration; LANES],
    playing: Option<PlayingUtterance>,
    /// The utterance that the engine was asked to stop and has not yet stopped.
    stopping: Option<UtteranceId>,
    quiet_until: Option<Duration>,
    impatient_at: Option<Duration>,
    next_utterance: u64,
    fold_after: Option<Duration>,
    ledger: Ledger,
    said: VecDeque<QuestionRelation>,
    /// The response to a key about a question that was heard to its end last.
    response_said: Option<AnnouncementId>,
    enabled: bool,
    expired_outcomes: u64,
    /// Whether an answer was read back but not yet announced as sent: no count comes between the two.
    is_answering: bool,
    /// Whether the announcement being spoken may finish.
    polite: bool,
    deliveries: Deliveries,
    phrases: Arc<Phrases>,
    /// Silenced speech that can continue, the most recent last.
    silenced: Vec<SilencedItem>,
    /// How many announcements the person skipped without being told the count.
    skipped: u64,
    trail: Trail,
}

impl SpeechQueue {
    /// Creates an empty queue; `fold_after` is the backlog from which text is folded, if at all, and
    /// `phrases` words the counts.
    pub fn new(fold_after: Option<Duration>, phrases: Arc<Phrases>) -> Self {
        Self {
            lanes: Default::default(),
            looked_at: [Duration::MAX; LANES],
            playing: None,
            stopping: None,
            quiet_until: None,
            impatient_at: None,
            next_utterance: 0,
            fold_after,
            ledger: Ledger::default(),
            said: VecDeque::new(),
            response_said: None,
            enabled: false,
            expired_outcomes: 0,
            is_answering: false,
            polite: false,
            deliveries: Deliveries::default(),
            phrases,
            silenced: Vec::new(),
            skipped: 0,
            trail: Trail::default(),
        }
    }

    /// Sets, at creation, whether the announcement being spoken may finish.
    pub fn polite(mut self, polite: bool) -> Self {
        self.polite = polite;
        self
    }

    /// Sets, at creation, how words sound.
    pub fn sounding(mut self, deliveries: Deliveries) -> Self {
        self.deliveries = deliveries;
        self
    }

    /// Sets the words for counts from now on.
    pub fn set_phrases(&mut self, phrases: Arc<Phrases>) {
        self.phrases = phrases;
    }

    /// Returns how words sound.
    pub fn deliveries(&self) -> &Deliveries {
        &self.deliveries
    }

    /// Returns how words sound, for changing it; changes apply from the next utterance on.
    pub fn deliveries_mut(&mut self) -> &mut Deliveries {
        &mut self.deliveries
    }

    /// Sets whether the announcement being spoken may finish, whatever arrives. The response to a key never
    /// waits, and an alert waits two seconds at most.
    pub fn set_polite(&mut self, polite: bool) {
        self.polite = polite;
    }

    /// Returns whether the announcement being spoken may finish.
    pub fn is_polite(&self) -> bool {
        self.polite
    }

    /// Handles the news that a voice is available.
    pub fn enable(&mut self) {
        self.enabled = true;
    }

    /// Handles the news that no voice is available: whatever waits would be old by the time one returns.
    pub fn disable(&mut self) {
        self.enabled = false;
        if let Some(playing) = self.playing.take() {
            self.ledger.note(
                playing.item.home,
                UtteranceFate::Voiceless,
                playing.item.counts(),
            );
        }
        self.stopping = None;
        self.forget_silenced(UtteranceFate::Voiceless, |_| true);
        self.trail.clear();
        for lane in Lane::ALL {
            self.clear(lane, UtteranceFate::Voiceless);
        }
    }

    /// Returns whether a voice accepts utterances.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns whether nothing is playing or waiting, except what waits for the person to continue.
    pub fn is_idle(&self) -> bool {
        let mut waiting = self.lanes.iter().flat_map(LaneEntries::iter);
        self.playing.is_none() && self.stopping.is_none() && waiting.all(WaitingUtterance::is_held)
    }

    /// Returns whether something about a question has yet to be spoken to its end.
    pub fn has_unspoken(&self, about: QuestionRelation) -> bool {
        let is_it = |item: &QueueItem| item.announcement.about == Some(about);
        let waits = |waiting: &WaitingUtterance| match waiting {
            WaitingUtterance::Item(item) => is_it(item),
            WaitingUtterance::Fold(_) => false,
        };
        self.playing.as_ref().is_some_and(|it| is_it(&it.item))
            || self.lanes.iter().flat_map(LaneEntries::iter).any(waits)
    }

    /// Returns whether a response to a key about a question is being spoken or waits for it, or was heard to its end and
    /// no other one since.
    pub fn tells_whole(&self, response: AnnouncementId) -> bool {
        let is_it = |item: &QueueItem| item.announcement.id == response;
        let mut waiting = self.lanes[Lane::Response as usize].iter();
        waiting.any(|it| it.item().is_some_and(is_it))
            || self.playing.as_ref().is_some_and(|it| is_it(&it.item))
            || self.response_said == Some(response)
    }

    /// Removes and returns the announcements about questions that were heard to their end since the last call.
    pub fn take_said(&mut self) -> Vec<QuestionRelation> {
        self.said.drain(..).collect()
    }

    /// Adds an announcement, and returns what the voice must do immediately. Nothing new starts playing until
    /// the next [`SpeechQueue::tick`], so that simultaneous arrivals are put in order first.
    pub fn push(&mut self, announcement: Arc<Announcement>, now: Duration) -> Vec<VoiceCommand> {
        let lane = Lane::of(&announcement);
        let mut item = QueueItem::new(Arc::clone(&announcement), now);
        self.ledger.take(lane);
        if !self.enabled {
            self.ledger
                .note(lane, UtteranceFate::Voiceless, item.counts());
            return Vec::new();
        }
        self.make_room(lane, &item);
        let mut wishes = Vec::new();
        item.held = self.is_held(&item);
        if let Some(playing) = self.playing.as_ref().filter(|_| !item.held) {
            match self.arrival(playing.lane, lane) {
                Preemption::Waits => {}
                Preemption::WaitsABit => {
                    self.impatient_at.get_or_insert(now + PATIENCE);
                }
                Preemption::Drops => self.give_way(Some(&announcement), &mut wishes),
                // Whoever goes on pressing keys has heard its beginning twice; only an alert comes until it is heard.
                Preemption::SaysAgain
                    if (playing.lane, lane) == (Lane::Outcome, Lane::Response)
                        && playing.item.again =>
                {
                    self.cut(CutOutcome::Never(UtteranceFate::Skipped), &mut wishes);
                }
                Preemption::SaysAgain
                    if order::is_of_another(&playing.item.announcement, &announcement) =>
                {
                    self.cut(CutOutcome::Never(UtteranceFate::Replaced), &mut wishes);
                }
                Preemption::SaysAgain => {
                    self.cut(CutOutcome::Again(WordPlace::default()), &mut wishes)
                }
                Preemption::Resumes => {
                    let at = playing.item.at;
                    self.cut(CutOutcome::Again(at), &mut wishes);
                }
            }
        }
        if lane == Lane::Alert && !self.lanes[Lane::Response as usize].is_empty() {
            // The response to a key comes first, but not for long.
            self.impatient_at.get_or_insert(now + PATIENCE);
        }
        if lane == Lane::Response {
            // A response to a key is never held back by the pause after a stop.
            self.quiet_until = None;
        }
        self.note_age(lane, &item);
        self.lanes[lane as usize].push_back(WaitingUtterance::Item(item));
        self.bound(lane);
        if lane == Lane::Text {
            self.fold();
        }
        wishes
    }

    fn arrival(&self, playing: Lane, arriving: Lane) -> Preemption {
        let fate = arrival(playing, arriving);
        let cuts = match fate {
            Preemption::Drops | Preemption::SaysAgain | Preemption::Resumes => true,
            Preemption::Waits | Preemption::WaitsABit => false,
        };
        match arriving {
            Lane::Alert if self.polite && cuts => Preemption::WaitsABit,
            Lane::Outcome | Lane::Activity | Lane::Text | Lane::Progress if self.polite => {
                Preemption::Waits
            }
            Lane::Alert
            | Lane::Response
            | Lane::Outcome
            | Lane::Activity
            | Lane::Text
            | Lane::Progress => fate,
        }
    }

    /// Drops the playing and waiting announcements that the person no longer wants to hear; alerts and responses to
    /// keys stay. The dropped ones remain in the history.
    pub fn drop_unwanted(
        &mut self,
        unwanted: impl Fn(&Announcement) -> bool,
        now: Duration,
    ) -> Vec<VoiceCommand> {
        for lane in [Lane::Outcome, Lane::Activity, Lane::Text, Lane::Progress] {
            self.take_out(lane, UtteranceFate::Skipped, |waiting| match waiting {
                WaitingUtterance::Item(item) => unwanted(&item.announcement),
                WaitingUtterance::Fold(_) => false,
            });
        }
        self.forget_silenced(UtteranceFate::Skipped, |item| {
            !matches!(item.home, Lane::Alert | Lane::Response) && unwanted(&item.announcement)
        });
        let mut wishes = Vec::new();
        let plays_unwanted = self.playing.as_ref().is_some_and(|playing| {
            !matches!(playing.lane, Lane::Alert | Lane::Response)
                && unwanted(&playing.item.announcement)
        });
        if plays_unwanted {
            self.cut(CutOutcome::Never(UtteranceFate::Skipped), &mut wishes);
            wishes.extend(self.drive(now));
        }
        wishes
    }

    /// Handles the news that an utterance was spoken to its end.
    pub fn ended(&mut self, id: UtteranceId, now: Duration) -> Vec<VoiceCommand> {
        if self.stopping == Some(id) {
            self.stopping = None;
            return self.drive(now);
        }
        let Some(playing) = &self.playing else {
            return Vec::new();
        };
        if playing.utterance != id {
            return Vec::new();
        }
        if playing.item.next.is_end_of(&playing.item.announcement) {
            self.finish();
            return self.drive(now);
        }
        // An announcement that has begun continues with its next words; whatever may interrupt it did so on arrival.
        let (lane, item) = (playing.lane, playing.item.clone());
        let (counts, home) = (item.counts(), item.home);
        self.note_heard(&item);
        self.playing = None;
        match self.play(lane, item) {
            Some(wish) => vec![wish],
            None => {
                self.ledger.note(home, UtteranceFate::Said, counts);
                self.drive(now)
            }
        }
    }

    /// Handles the news that an utterance was cut, by the queue or by the engine.
    pub fn cut_short(&mut self, id: UtteranceId, now: Duration) -> Vec<VoiceCommand> {
        if self.stopping == Some(id) {
            self.stopping = None;
        } else if self
            .playing
            .as_ref()
            .is_some_and(|playing| playing.utterance == id)
        {
            // The queue did not cut it: the engine lost it. An alert must be heard and is tried again after a while;
            // anything else remains in the history.
            match self.playing.take() {
                Some(playing) if playing.lane == Lane::Alert => {
                    let item = QueueItem {
                        next: WordPlace::default(),
                        ..playing.item
                    };
                    self.lanes[Lane::Alert as usize].push_front(WaitingUtterance::Item(item));
                    self.quiet_until = Some(now + TRY_AGAIN);
                }
                Some(lost) => {
                    self.ledger
                        .note(lost.item.home, UtteranceFate::Voiceless, lost.item.counts())
                }
                None => {}
            }
        }
        self.drive(now)
    }

    /// Silences what is being spoken; a second call within half a second clears P2 to P4.
    pub fn stop(&mut self, now: Duration) -> Vec<VoiceCommand> {
        let mut wishes = Vec::new();
        let second = self.quiet_until.is_some_and(|until| now < until);
        if let Some(playing) = &self.playing {
            // The person knows about the question and chose not to hear the rest.
            self.said.extend(playing.item.asks());
            self.silence(&mut wishes);
        }
        if second {
            self.skip_everything();
        }
        self.quiet_until = Some(now + SECOND_STOP);
        wishes
    }

    /// Drops every alert about a question, because the question is answered or closed.
    pub fn withdraw(&mut self, question: QuestionId, now: Duration) -> Vec<VoiceCommand> {
        let about = |announcement: &Announcement| {
            announcement.class == Class::Alert
                && announcement
                    .about
                    .is_some_and(|about| about.question() == question)
        };
        self.withdraw_silenced(about);
        self.take_out(
            Lane::Alert,
            UtteranceFate::Withdrawn,
            |waiting| match waiting {
                WaitingUtterance::Item(item) => about(&item.announcement),
                WaitingUtterance::Fold(_) => false,
            },
        );
        let mut wishes = Vec::new();
        if self
            .playing
            .as_ref()
            .is_some_and(|playing| about(&playing.item.announcement))
        {
            self.cut(CutOutcome::Never(UtteranceFate::Withdrawn), &mut wishes);
            wishes.extend(self.drive(now));
        }
        wishes
    }

    /// Does what is due at `now`; [`SpeechQueue::deadline`] says when that is.
    pub fn tick(&mut self, now: Duration) -> Vec<VoiceCommand> {
        let mut wishes = Vec::new();
        if self.impatient_at.is_some_and(|at| now >= at) {
            self.impatient_at = None;
            let alert_waits = !self.lanes[Lane::Alert as usize].is_empty();
            if let Some(playing) = self.playing.as_ref().filter(|_| alert_waits) {
                // Only politeness held the alert back; now the table applies.
                match arrival(playing.lane, Lane::Alert) {
                    Preemption::Waits => {}
                    Preemption::WaitsABit | Preemption::Drops => self.give_way(None, &mut wishes),
                    Preemption::SaysAgain => {
                        self.cut(CutOutcome::Again(WordPlace::default()), &mut wishes)
                    }
                    Preemption::Resumes => {
                        let at = playing.item.at;
                        self.cut(CutOutcome::Again(at), &mut wishes);
                    }
                }
            }
        }
        wishes.extend(self.drive(now));
        wishes
    }

    /// Notes whether an answer was read back but not yet announced as sent.
    pub fn note_answering(&mut self, is_answering: bool) {
        self.is_answering = is_answering;
    }

    /// Returns the monotonic time at which [`SpeechQueue::tick`] has something to do.
    pub fn deadline(&self) -> Option<Duration> {
        if !self.enabled {
            return None;
        }
        let idle = self.playing.is_none() && self.stopping.is_none();
        let quiet = self
            .quiet_until
            .filter(|_| idle && self.lanes.iter().any(|lane| !lane.is_empty()));
        [quiet, self.impatient_at].into_iter().flatten().min()
    }
}
