//! Going back in what is being spoken, by sentence and by paragraph.
//!
//! Responsibilities: which sentences of texts were spoken last, and speaking them again, followed by what comes after
//! them. Not here: the history, which has everything (`history`).
//!
//! # Worked example
//! Of the sentences A, B and C, C is being spoken. Back by a sentence cuts C, and says B, C and what follows.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::place::{Place, Words, is_long};
use super::silenced::Silenced;
use super::table::Lane;
use super::{QueueItem, SpeechQueue, WaitingUtterance, Wish};
use crate::announce::announcement::{Announcement, Kind, Opening};

/// How many sentences are remembered: some ten minutes of speech. The history has more.
const MOST_REMEMBERED: usize = 128;

/// How far to go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BackBy {
    /// To the sentence before.
    Sentence,
    /// To the beginning of the paragraph, heading or item, or from there to the one before.
    Paragraph,
}

/// A sentence that was spoken, or is being spoken.
#[derive(Debug, Clone)]
struct SpokenSentence {
    announcement: Arc<Announcement>,
    at: Place,
    /// Whether it begins a paragraph.
    opens: bool,
}

impl SpokenSentence {
    fn is_in(&self, item: &QueueItem) -> bool {
        Arc::ptr_eq(&self.announcement, &item.announcement)
    }

    fn is(&self, item: &QueueItem, at: Place) -> bool {
        self.is_in(item) && self.at == at
    }
}

/// The sentences that were spoken last, oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail {
    spoken: VecDeque<SpokenSentence>,
}

impl Trail {
    /// Remembers words of a text or of a long answer to a key.
    pub(super) fn note(&mut self, item: &QueueItem, words: &Words) {
        let told = &item.announcement;
        let is_text = match item.home {
            Lane::Text => told.kind == Kind::Output,
            Lane::Response => is_long(told),
            Lane::Alert | Lane::Outcome | Lane::Activity | Lane::Progress => false,
        };
        // A speaker's name is only heard, before a sentence.
        let segment = told.segments.get(words.at.segment);
        let names = segment.is_some_and(|it| it.text().is_empty());
        let again = |last: &SpokenSentence| last.is(item, words.at);
        if !is_text || names || self.spoken.back().is_some_and(again) {
            return;
        }
        let begins = words.at.offset == 0;
        let first = !told
            .segments
            .iter()
            .take(words.at.segment)
            .any(|it| !it.text().is_empty());
        self.spoken.push_back(SpokenSentence {
            announcement: Arc::clone(told),
            at: words.at,
            opens: begins
                && (!first || item.home == Lane::Response || told.opens != Opening::Nothing),
        });
        if self.spoken.len() > MOST_REMEMBERED {
            self.spoken.pop_front();
        }
    }

    /// Removes and returns the sentences to go back over, oldest first; `None` if there is none.
    fn take_back(&mut self, by: BackBy) -> Option<Vec<SpokenSentence>> {
        let mut taken = VecDeque::new();
        while let Some(sentence) = self.spoken.pop_back() {
            let there = by == BackBy::Sentence || sentence.opens;
            taken.push_front(sentence);
            if there {
                break;
            }
        }
        (!taken.is_empty()).then(|| taken.into())
    }

    pub(super) fn clear(&mut self) {
        self.spoken.clear();
    }
}

impl SpeechQueue {
    /// Goes back in what is being spoken, was silenced, or was spoken last; returns `None` if nothing comes before.
    ///
    /// What is urgent comes first, and so does the end of an outcome that is being spoken.
    pub fn go_back(&mut self, by: BackBy, now: Duration) -> Option<Vec<Wish>> {
        let last = self.trail.spoken.back()?.clone();
        // The sentence at which the person is, if it was not spoken to its end.
        let plays = |item: &QueueItem, at: Place| last.is(item, at);
        let is_open = self
            .playing
            .as_ref()
            .is_some_and(|it| plays(&it.item, it.item.at))
            || self
                .silenced_last()
                .is_some_and(|item| plays(item, item.next))
            || self
                .first_text()
                .is_some_and(|item| item.again && plays(item, item.next));
        if is_open {
            let before = self.trail.spoken.len().checked_sub(2);
            before?;
            self.trail.spoken.pop_back();
        }
        let sentences = self.trail.take_back(by)?;
        let mut wishes = Vec::new();
        let of_it = |item: &QueueItem| is_open && last.is_in(item);
        if let Some(silenced) = self.pop_silenced(of_it) {
            self.take_up(silenced, now);
        } else {
            self.yield_to_the_person(&mut wishes);
            // A long answer to a key goes on among the texts.
            if let Some(silenced) = self.pop_silenced(of_it) {
                self.take_up(silenced, now);
            }
        }
        self.quiet_until = None;
        self.say_before(sentences, now);
        wishes.extend(self.drive(now));
        Some(wishes)
    }

    fn silenced_last(&self) -> Option<&QueueItem> {
        self.silenced.last().map(Silenced::item)
    }

    fn first_text(&self) -> Option<&QueueItem> {
        match self.lanes[Lane::Text as usize].front()? {
            WaitingUtterance::Item(item) => Some(item),
            WaitingUtterance::Fold(_) => None,
        }
    }

    /// Puts sentences before all waiting texts.
    fn say_before(&mut self, sentences: Vec<SpokenSentence>, now: Duration) {
        let mut groups: Vec<SpokenSentence> = Vec::new();
        for sentence in sentences {
            let same =
                |last: &SpokenSentence| Arc::ptr_eq(&last.announcement, &sentence.announcement);
            if !groups.last().is_some_and(same) {
                groups.push(sentence);
            }
        }
        let lane = &mut self.lanes[Lane::Text as usize];
        // The last of them may be part of what goes on.
        if let Some(WaitingUtterance::Item(item)) = lane.get_mut(0)
            && let Some(last) = groups.pop_if(|last| last.is_in(item))
        {
            item.next = last.at;
        }
        for group in groups.into_iter().rev() {
            let item = QueueItem {
                next: group.at,
                again: true,
                asked: true,
                counted: false,
                ..QueueItem::new(group.announcement, now)
            };
            self.lanes[Lane::Text as usize].push_front(WaitingUtterance::Item(item));
        }
    }
}
