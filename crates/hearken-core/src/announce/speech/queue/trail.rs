//! The sentences of texts that were spoken last.
//!
//! Responsibilities: remembering them, and how far back a sentence or a paragraph reaches. Not here: speaking
//! them again (`going_back`), everything that was announced (`history`).

use std::collections::VecDeque;
use std::sync::Arc;

use super::lanes::Lane;
use super::place::{UtteranceWords, WordPlace, is_long};
use crate::announce::announcement::{Announcement, AnnouncementKind, Opening};
use crate::announce::words::segment::Segment;

/// How many sentences are remembered: some ten minutes of speech. The history has more.
const MOST_REMEMBERED: usize = 128;

/// How far to go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RewindUnit {
    /// To the sentence before.
    Sentence,
    /// To the beginning of the paragraph, heading or item, or, from there, of the previous one.
    Paragraph,
}

/// A sentence that was spoken, or is being spoken.
#[derive(Debug, Clone)]
pub(super) struct SpokenSentence {
    /// The announcement that it is part of.
    pub(super) announcement: Arc<Announcement>,
    /// Where it begins.
    pub(super) at: WordPlace,
    /// Whether it begins a paragraph.
    opens: bool,
}

impl SpokenSentence {
    /// Returns whether it is part of an announcement.
    pub(super) fn is_in(&self, announcement: &Arc<Announcement>) -> bool {
        Arc::ptr_eq(&self.announcement, announcement)
    }

    /// Returns whether it is the sentence at a place of an announcement.
    pub(super) fn is(&self, announcement: &Arc<Announcement>, at: WordPlace) -> bool {
        self.is_in(announcement) && self.at == at
    }
}

/// The sentences that were spoken last, oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail {
    spoken: VecDeque<SpokenSentence>,
}

impl Trail {
    /// Remembers words of a text or of a long answer to a key, which were taken in a lane.
    pub(super) fn note(&mut self, told: &Arc<Announcement>, home: Lane, words: &UtteranceWords) {
        let is_text = match home {
            Lane::Text => told.kind == AnnouncementKind::Output,
            Lane::Response => is_long(told),
            Lane::Alert | Lane::Outcome | Lane::Activity | Lane::Progress => false,
        };
        // A speaker's name before a sentence is only heard.
        let is_named = |segment: &Segment| segment.text().is_empty();
        let names = told.segments.get(words.at.segment).is_some_and(is_named);
        let again = |last: &SpokenSentence| last.is(told, words.at);
        if !is_text || names || self.spoken.back().is_some_and(again) {
            return;
        }
        let mut before = told.segments.iter().take(words.at.segment);
        let first = before.all(is_named);
        let opens = !first || home == Lane::Response || told.opens != Opening::Nothing;
        self.spoken.push_back(SpokenSentence {
            announcement: Arc::clone(told),
            at: words.at,
            opens: opens && words.at.offset == 0,
        });
        if self.spoken.len() > MOST_REMEMBERED {
            self.spoken.pop_front();
        }
    }

    /// Returns the last sentence.
    pub(super) fn last(&self) -> Option<&SpokenSentence> {
        self.spoken.back()
    }

    /// Returns whether there is a sentence before the last.
    pub(super) fn has_more(&self) -> bool {
        self.spoken.len() > 1
    }

    /// Forgets the last sentence.
    pub(super) fn pop(&mut self) {
        self.spoken.pop_back();
    }

    /// Removes and returns the sentences to repeat, oldest first; `None` if there are none.
    pub(super) fn take_back(&mut self, by: RewindUnit) -> Option<Vec<SpokenSentence>> {
        let mut taken = VecDeque::new();
        while let Some(sentence) = self.spoken.pop_back() {
            let there = by == RewindUnit::Sentence || sentence.opens;
            taken.push_front(sentence);
            if there {
                break;
            }
        }
        (!taken.is_empty()).then(|| taken.into())
    }

    /// Forgets all sentences.
    pub(super) fn clear(&mut self) {
        self.spoken.clear();
    }
}
