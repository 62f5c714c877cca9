//! What the engine receives next, and what becomes of what it was speaking.

use std::sync::Arc;
use std::time::Duration;

use crate::config::Verbosity;

use super::lanes::Lane;
use super::place::{WordPlace, words_from};
use super::{
    CutOutcome, PlayingUtterance, QueueItem, SpeechQueue, UtteranceFate, VoiceCommand,
    WaitingUtterance,
};
use crate::announce::announcement::{
    Announcement, AnnouncementId, AnnouncementKind, Class, Opening, Presentation, Topic, Weight,
};
use crate::announce::speech::utterance::{Utterance, UtteranceId};
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Mark;

impl SpeechQueue {
    /// Cuts the playing utterance.
    pub(super) fn cut(&mut self, after: CutOutcome, wishes: &mut Vec<VoiceCommand>) {
        let Some(playing) = self.take_playing(wishes) else {
            return;
        };
        // An alert is repeated until it was heard to its end, or skipped.
        match after {
            CutOutcome::Again(next) => {
                let item = QueueItem {
                    next,
                    again: true,
                    ..playing.item
                };
                self.note_age(playing.lane, &item);
                self.lanes[playing.lane as usize].push_front(WaitingUtterance::Item(item));
            }
            CutOutcome::Never(fate) => {
                let item = &playing.item;
                self.ledger.note(item.home, fate, item.counts());
            }
        }
    }

    /// Stops the utterance that the engine is speaking, and returns it.
    pub(super) fn take_playing(
        &mut self,
        commands: &mut Vec<VoiceCommand>,
    ) -> Option<PlayingUtterance> {
        let playing = self.playing.take()?;
        self.stopping = Some(playing.utterance);
        commands.push(VoiceCommand::Hush);
        self.impatient_at = None;
        Some(playing)
    }

    /// Records that a question was heard once the remaining words only say how to answer: a person who knows
    /// how need not listen to them.
    pub(super) fn note_heard(&mut self, item: &QueueItem) {
        let announcement = &item.announcement;
        let (said, left) =
            (announcement.segments).split_at(item.next.segment.min(announcement.segments.len()));
        // The question was recorded as heard at the first of these words.
        let first = said.last().is_some_and(|segment| !segment.ways);
        if let Some(about) = announcement.about
            && first
            && left.iter().all(|segment| segment.ways)
        {
            self.said.push_back(about);
        }
    }

    pub(super) fn finish(&mut self) {
        let playing = self.playing.take();
        if let Some(playing) = &playing {
            self.ledger.note(
                playing.item.home,
                UtteranceFate::Said,
                playing.item.counts(),
            );
        }
        if let Some(playing) = playing
            && let Some(about) = playing.item.announcement.about
        {
            if playing.item.home == Lane::Response {
                self.response_said = Some(playing.item.announcement.id);
            }
            let mut heard = playing.item.announcement.segments.iter();
            let mut heard = heard
                .by_ref()
                .filter(|it| !it.spoken().trim().is_empty())
                .rev();
            let noted = heard.next().is_some_and(|last| last.ways) && heard.next().is_some();
            if !noted {
                self.said.push_back(about);
            }
        }
        self.impatient_at = None;
    }

    /// Returns the next utterance for the engine, if the engine is free and nothing holds it back.
    pub(super) fn drive(&mut self, now: Duration) -> Vec<VoiceCommand> {
        self.expire(now);
        if !self.enabled || self.playing.is_some() || self.stopping.is_some() {
            return Vec::new();
        }
        if self.quiet_until.is_some_and(|until| now < until) {
            return Vec::new();
        }
        self.quiet_until = None;
        let urgent = [Lane::Alert, Lane::Response];
        let waits = urgent
            .iter()
            .any(|lane| !self.lanes[*lane as usize].is_empty());
        if self.expired_outcomes > 0 && !waits && !self.is_answering {
            let count = std::mem::take(&mut self.expired_outcomes);
            let count = self.counted("outcome.expired", Class::Outcome, count, None, now);
            let outcomes = &mut self.lanes[Lane::Outcome as usize];
            // The count does not precede the last words of an answer.
            let is_reply = |waiting: &WaitingUtterance| matches!(waiting, WaitingUtterance::Item(item) if item.announcement.kind == AnnouncementKind::Reply);
            let at = outcomes.iter().take_while(|it| is_reply(it)).count();
            outcomes.insert(at, WaitingUtterance::Item(count));
        }
        for lane in Lane::ALL {
            while let Some(waiting) = self.take_next(lane) {
                match waiting {
                    WaitingUtterance::Item(item) => {
                        let (counts, home) = (item.counts(), item.home);
                        if let Some(wish) = self.play(lane, item) {
                            return vec![wish];
                        }
                        self.ledger.note(home, UtteranceFate::Wordless, counts);
                    }
                    WaitingUtterance::Fold(fold) => {
                        let (class, topic) = (Class::Stream, fold.topic);
                        let count = self.counted("output.folded", class, fold.count, topic, now);
                        // The count belongs to its output, so a stop silences both.
                        let count = QueueItem {
                            mark: fold.mark,
                            asked: true,
                            ..count
                        };
                        if let Some(wish) = self.play(lane, count) {
                            return vec![wish];
                        }
                    }
                }
            }
        }
        Vec::new()
    }

    /// Speaks the next words of an item; returns `None` if none are left.
    pub(super) fn play(&mut self, lane: Lane, mut item: QueueItem) -> Option<VoiceCommand> {
        let words = words_from(&item.announcement, item.next, lane == Lane::Alert)?;
        let segment = item.announcement.segments.get(words.at.segment)?;
        // Only the first words carry the cue; the rest still belongs to the same announcement.
        let cue = item
            .announcement
            .cue
            .filter(|_| item.next == WordPlace::default());
        (item.at, item.next) = (words.at, words.next);
        self.trail.note(&item.announcement, item.home, &words);
        self.next_utterance += 1;
        let id = UtteranceId(self.next_utterance);
        let class = item.announcement.class;
        let language = (segment.language.as_deref()).or_else(|| match segment.mark {
            Mark::Own => item.announcement.tongue.voice.as_deref(),
            Mark::Agent => None,
        });
        let key = item.announcement.key.as_ref();
        let agent = [
            key.map(|key| key.agent.as_str()),
            item.announcement.agent.as_deref(),
        ];
        let sound = self
            .deliveries
            .sound(segment.mark, agent, language)
            .with(cue.filter(|cue| cue.is_on(self.deliveries.cues())));
        let utterance = Utterance {
            id,
            class,
            text: words.text,
            language: language.map(str::to_owned),
            mark: segment.mark,
            sound,
        };
        self.playing = Some(PlayingUtterance {
            lane,
            item,
            utterance: id,
        });
        Some(VoiceCommand::Speak(utterance))
    }

    /// Creates the item that reports how many announcements were left out.
    fn counted(
        &self,
        key: &str,
        class: Class,
        count: u64,
        topic: Option<Topic>,
        now: Duration,
    ) -> QueueItem {
        let announcement = Announcement {
            // A count stands for others and is not itself a history entry.
            id: AnnouncementId(0),
            at: crate::protocol::Now {
                monotonic: now,
                wall: jiff::Timestamp::UNIX_EPOCH,
            },
            class,
            kind: AnnouncementKind::Hint,
            aloud: Presentation::Spoken,
            key: None,
            agent: None,
            source: None,
            tool: None,
            about: None,
            topic,
            weight: Weight::Plain,
            cue: None,
            tongue: Arc::clone(self.phrases.tongue()),
            direction: None,
            segments: self
                .phrases
                .say(key, Verbosity::Normal, &[("n", Arg::own(count))]),
            facts: None,
            quotes: Vec::new(),
            opens: Opening::Nothing,
        };
        QueueItem::new(Arc::new(announcement), now)
    }
}
