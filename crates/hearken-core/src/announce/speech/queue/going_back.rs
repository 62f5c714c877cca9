//! Going back in what is being spoken, by sentence and by paragraph.
//!
//! Responsibilities: repeating the last sentences and then continuing. Not here: which sentences these are
//! (`trail`).
//!
//! # Worked example
//! Of the sentences A, B and C, C is being spoken. Back by a sentence cuts C, and says B, C and what follows.

use std::time::Duration;

use super::lanes::Lane;
use super::place::WordPlace;
use super::trail::{RewindUnit, SpokenSentence};
use super::{QueueItem, SpeechQueue, VoiceCommand, WaitingUtterance};

impl SpeechQueue {
    /// Goes back in what is being spoken, was silenced, or was spoken last; returns `None` if nothing comes before.
    ///
    /// Urgent speech comes first, and so does the end of an outcome that is being spoken.
    pub fn go_back(&mut self, by: RewindUnit, now: Duration) -> Option<Vec<VoiceCommand>> {
        let last = self.trail.last()?.clone();
        // The current sentence, if it was not spoken to its end.
        let plays = |item: &QueueItem, at: WordPlace| last.is(&item.announcement, at);
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
            if !self.trail.has_more() {
                return None;
            }
            self.trail.pop();
        }
        let sentences = self.trail.take_back(by)?;
        let mut wishes = Vec::new();
        let of_it = |item: &QueueItem| is_open && last.is_in(&item.announcement);
        if let Some(silenced) = self.pop_silenced(of_it) {
            self.take_up(silenced, now);
        } else {
            self.yield_to_the_person(&mut wishes);
            // A long answer to a key continues in the text lane.
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
        self.silenced.last().map(|last| &last.item)
    }

    fn first_text(&self) -> Option<&QueueItem> {
        match self.lanes[Lane::Text as usize].front()? {
            WaitingUtterance::Item(item) => Some(item),
            WaitingUtterance::Fold(_) => None,
        }
    }

    /// Queues sentences before all waiting texts.
    fn say_before(&mut self, sentences: Vec<SpokenSentence>, now: Duration) {
        let mut groups: Vec<SpokenSentence> = Vec::new();
        for sentence in sentences {
            let same = |last: &SpokenSentence| last.is_in(&sentence.announcement);
            if !groups.last().is_some_and(same) {
                groups.push(sentence);
            }
        }
        let lane = &mut self.lanes[Lane::Text as usize];
        // The last of them may belong to the item that continues.
        if let Some(WaitingUtterance::Item(item)) = lane.get_mut(0)
            && let Some(last) = groups.pop_if(|last| last.is_in(&item.announcement))
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
