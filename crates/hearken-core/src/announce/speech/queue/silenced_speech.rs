//! Speech that was silenced, and can continue at its sentence.
//!
//! Responsibilities: what the stop key cuts, the rest of that output, which waits with it, a long answer that
//! gave way to something else, and continuing. Not here: going back (`going_back`).
//!
//! # Mental model
//! A stop silences one text, not the agent: the rest of its output waits, and everything else is spoken as
//! ever, even the next output of the same agent. Silenced speech forms a stack: the person continues what was
//! silenced last. It then belongs to the texts, so that anything urgent precedes or interrupts it.

use std::time::Duration;

use super::lanes::Lane;
use super::place::is_long;
use super::{
    CutOutcome, PlayingUtterance, QueueItem, SilencedItem, SpeechQueue, UtteranceFate,
    VoiceCommand, WaitingUtterance,
};
use crate::announce::announcement::{Announcement, Opening, QuestionRelation};

/// How many silenced texts are remembered; hardly anyone would recall an earlier one.
const MOST_SILENCED: usize = 8;

impl SpeechQueue {
    /// Silences the playing utterance so that it can continue; nothing is kept that would be outdated by then.
    pub(super) fn silence(&mut self, wishes: &mut Vec<VoiceCommand>) {
        let Some(PlayingUtterance { lane, .. }) = &self.playing else {
            return;
        };
        let lane = *lane;
        if matches!(lane, Lane::Activity | Lane::Progress) {
            return self.cut(CutOutcome::Never(UtteranceFate::Skipped), wishes);
        }
        let Some(playing) = self.take_playing(wishes) else {
            return;
        };
        let item = QueueItem {
            next: playing.item.at,
            again: true,
            ..playing.item
        };
        let holds = (item.home == Lane::Text).then_some(item.mark);
        if let Some(mark) = holds {
            self.hold(mark);
        }
        self.pile(SilencedItem { item, holds });
    }

    /// Ends the answer to a key in favour of something else. A long answer is kept, unless the other speech is
    /// also long.
    pub(super) fn give_way(&mut self, to: Option<&Announcement>, wishes: &mut Vec<VoiceCommand>) {
        let long = |playing: &PlayingUtterance| {
            playing.item.home == Lane::Response && is_long(&playing.item.announcement)
        };
        if self.playing.as_ref().is_some_and(long) && !to.is_some_and(is_long) {
            self.silence(wishes);
        } else {
            self.cut(CutOutcome::Never(UtteranceFate::Cut), wishes);
        }
    }

    fn pile(&mut self, silenced: SilencedItem) {
        // Only the last answer to a key is still of use.
        if silenced.item.home == Lane::Response {
            self.forget_silenced(UtteranceFate::Replaced, |it| it.home == Lane::Response);
        }
        self.silenced.push(silenced);
        if self.silenced.len() > MOST_SILENCED {
            let oldest = self.silenced.remove(0);
            self.skip_silenced(oldest, UtteranceFate::Skipped);
        }
    }

    /// Removes matching silenced speech, with the text that waits after it, and records its fate.
    pub(super) fn forget_silenced(
        &mut self,
        fate: UtteranceFate,
        is_it: impl Fn(&QueueItem) -> bool,
    ) {
        let all = std::mem::take(&mut self.silenced);
        for silenced in all {
            if is_it(&silenced.item) {
                self.skip_silenced(silenced, fate);
            } else {
                self.silenced.push(silenced);
            }
        }
    }

    fn skip_silenced(&mut self, silenced: SilencedItem, fate: UtteranceFate) {
        let item = &silenced.item;
        self.ledger.note(item.home, fate, item.counts());
        if fate == UtteranceFate::Skipped {
            self.skipped += 1;
        }
        if let Some(mark) = silenced.holds {
            self.skip_text(fate, |waiting| waiting.holds(mark));
        }
    }

    /// Drops matching texts that wait, and counts them together with the announcements that folded entries
    /// stand for.
    pub(super) fn skip_text(
        &mut self,
        fate: UtteranceFate,
        is_it: impl Fn(&WaitingUtterance) -> bool,
    ) {
        let texts = self.lanes[Lane::Text as usize].iter();
        let stands = texts.filter(|it| is_it(it)).map(|waiting| match waiting {
            WaitingUtterance::Item(item) => item.counts(),
            WaitingUtterance::Fold(fold) => fold.count,
        });
        let skipped = stands.sum::<u64>();
        if fate == UtteranceFate::Skipped {
            self.skipped += skipped;
        }
        self.take_out(Lane::Text, fate, is_it);
    }

    /// Marks every waiting part of an output as held.
    fn hold(&mut self, mark: u64) {
        self.each_text(mark, |waiting| match waiting {
            WaitingUtterance::Item(item) => item.held = true,
            WaitingUtterance::Fold(fold) => fold.held = true,
        });
    }

    fn each_text(&mut self, mark: u64, mut change: impl FnMut(&mut WaitingUtterance)) {
        let lane = &mut self.lanes[Lane::Text as usize];
        for at in 0..lane.len() {
            if let Some(waiting) = lane.get_mut(at).filter(|it| it.has_mark(mark)) {
                change(waiting);
            }
        }
    }

    /// Returns whether an arriving text belongs to an output that was silenced. A new output under the same
    /// name does not, and ends the hold.
    pub(super) fn is_held(&mut self, item: &QueueItem) -> bool {
        if item.home != Lane::Text {
            return false;
        }
        let holds = |it: &&mut SilencedItem| it.holds == Some(item.mark);
        let Some(silenced) = self.silenced.iter_mut().find(holds) else {
            return false;
        };
        if item.announcement.opens == Opening::Output {
            silenced.holds = None;
            return false;
        }
        true
    }

    /// Returns how many pieces of agents' texts wait for the person to continue.
    pub fn silenced(&self) -> u64 {
        let texts = self.lanes[Lane::Text as usize].iter();
        let held = texts.filter(|it| it.is_held()).count();
        let cut = self.silenced.iter();
        let cut = cut.filter(|it| it.item.home == Lane::Text).count();
        (held + cut) as u64
    }

    /// Returns whether any silenced speech can continue.
    pub fn can_go_on(&self) -> bool {
        !self.silenced.is_empty()
    }

    /// Returns whether a long answer to a key is being spoken.
    pub fn is_reading(&self) -> bool {
        let long = |playing: &PlayingUtterance| {
            playing.item.home == Lane::Response && is_long(&playing.item.announcement)
        };
        self.playing.as_ref().is_some_and(long)
    }

    /// Returns how many announcements the person skipped since [`SpeechQueue::take_skipped`] was called.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns how many announcements the person skipped since the last call.
    pub fn take_skipped(&mut self) -> u64 {
        std::mem::take(&mut self.skipped)
    }

    /// Continues what was silenced last, at its sentence; returns the announcement, or `None` if nothing was
    /// silenced.
    ///
    /// Urgent speech comes first, and so does the end of an outcome that is being spoken.
    pub fn resume(
        &mut self,
        now: Duration,
    ) -> (Option<std::sync::Arc<Announcement>>, Vec<VoiceCommand>) {
        let mut wishes = Vec::new();
        let Some(silenced) = self.silenced.pop() else {
            return (None, wishes);
        };
        self.yield_to_the_person(&mut wishes);
        let announcement = std::sync::Arc::clone(&silenced.item.announcement);
        self.take_up(silenced, now);
        wishes.extend(self.drive(now));
        (Some(announcement), wishes)
    }

    /// Queues a silenced item again: before all other texts or, if it is urgent, after everything urgent.
    pub(super) fn take_up(&mut self, silenced: SilencedItem, now: Duration) {
        self.quiet_until = None;
        let SilencedItem { item, holds } = silenced;
        if let Some(mark) = holds.or((item.home == Lane::Text).then_some(item.mark)) {
            // Speech that the person asks for is not folded.
            self.each_text(mark, |waiting| match waiting {
                WaitingUtterance::Item(item) => {
                    item.asked |= item.held;
                    item.held = false;
                }
                WaitingUtterance::Fold(fold) => fold.held = false,
            });
        }
        let urgent = item.home == Lane::Alert;
        let item = WaitingUtterance::Item(QueueItem {
            since: now,
            asked: true,
            again: !urgent,
            ..item
        });
        // Nothing is spoken before a waiting question.
        match urgent {
            true => self.lanes[Lane::Alert as usize].push_back(item),
            false => self.lanes[Lane::Text as usize].push_front(item),
        }
    }

    /// Removes and returns the item that was silenced last, if it satisfies `is_it`.
    pub(super) fn pop_silenced(
        &mut self,
        is_it: impl Fn(&QueueItem) -> bool,
    ) -> Option<SilencedItem> {
        let last = self.silenced.last()?;
        match is_it(&last.item) {
            true => self.silenced.pop(),
            false => None,
        }
    }

    /// Cuts what the person would not wait for: another text, which continues later, and anything that is soon
    /// outdated.
    pub(super) fn yield_to_the_person(&mut self, wishes: &mut Vec<VoiceCommand>) {
        let Some(playing) = &self.playing else { return };
        match playing.lane {
            Lane::Text => {
                let at = playing.item.at;
                self.cut(CutOutcome::Again(at), wishes);
            }
            Lane::Response => self.give_way(None, wishes),
            Lane::Activity | Lane::Progress => {
                self.cut(CutOutcome::Never(UtteranceFate::Cut), wishes);
            }
            Lane::Alert | Lane::Outcome => {}
        }
    }

    /// Returns how many silenced announcements were taken in a lane.
    pub(super) fn silenced_of(&self, lane: Lane) -> u64 {
        let of_lane = self.silenced.iter().filter(|it| it.item.home == lane);
        of_lane.map(|it| it.item.counts()).sum()
    }

    /// Forgets silenced words about a question.
    pub(super) fn withdraw_silenced(&mut self, is_it: impl Fn(&Announcement) -> bool) {
        self.forget_silenced(UtteranceFate::Withdrawn, |item| is_it(&item.announcement));
    }

    /// Skips all silenced speech that is not urgent, and all waiting speech that is neither urgent nor the
    /// answer to a key.
    pub(super) fn skip_everything(&mut self) {
        self.forget_silenced(UtteranceFate::Skipped, |item| item.home != Lane::Alert);
        self.skip_text(UtteranceFate::Skipped, |_| true);
        for lane in [Lane::Outcome, Lane::Activity, Lane::Progress] {
            let waits = self.lanes[lane as usize].iter();
            self.skipped += waits.map(WaitingUtterance::counts).sum::<u64>();
            self.clear(lane, UtteranceFate::Skipped);
        }
    }
}

impl QueueItem {
    /// Returns the question that it asks, if any.
    pub(super) fn asks(&self) -> Option<QuestionRelation> {
        let about = self.announcement.about;
        about.filter(|about| matches!(about, QuestionRelation::Asks(_)))
    }
}

impl WaitingUtterance {
    /// Returns whether it waits for the person to continue.
    pub(super) fn is_held(&self) -> bool {
        match self {
            Self::Item(item) => item.held,
            Self::Fold(fold) => fold.held,
        }
    }

    fn has_mark(&self, mark: u64) -> bool {
        match self {
            Self::Item(item) => item.mark == mark,
            Self::Fold(fold) => fold.mark == mark,
        }
    }

    fn holds(&self, mark: u64) -> bool {
        self.is_held() && self.has_mark(mark)
    }
}
