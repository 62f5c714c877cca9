//! Folding: if speech falls behind a fast agent, the middle of an output becomes a count.

use smallvec::SmallVec;

use super::lane_entries::TopicEntry;
use super::lanes::Lane;
use super::place::WordPlace;
use super::{Fold, SpeechQueue, UtteranceFate, WaitingUtterance};

/// Characters spoken per second, for estimating a backlog: about 180 words a minute.
const CHARACTERS_PER_SECOND: usize = 15;
/// Fewer sentences than this are spoken, because their count would take as long.
const FEWEST_FOLDED: usize = 3;

impl SpeechQueue {
    /// Folds the middle of the newest output's waiting text if its backlog is too long: what fits into the time
    /// limit and the newest sentence stay, and a count replaces the rest.
    pub(super) fn fold(&mut self) {
        let Some(limit) = self.fold_after else { return };
        let lane = &mut self.lanes[Lane::Text as usize];
        let Some(WaitingUtterance::Item(newest)) = lane.back().filter(|it| !it.is_held()) else {
            return;
        };
        // With many agents, hundreds of entries from others may wait.
        if lane.of_mark(newest.mark) < 2 {
            return;
        }
        let (mark, topic) = (newest.mark, &newest.announcement.topic);
        let key = &newest.announcement.key;
        let of_topic = |waiting: &WaitingUtterance| {
            let (whose, about) = match waiting {
                WaitingUtterance::Item(item) => (&item.announcement.key, &item.announcement.topic),
                WaitingUtterance::Fold(fold) => (&fold.key, &fold.topic),
            };
            whose == key && about == topic
        };
        let those = lane.iter().enumerate();
        let those = those.filter(|(_, waiting)| waiting.mark() == mark && of_topic(waiting));
        let those: SmallVec<[usize; 16]> = those.map(|(at, _)| at).collect();
        let [before @ .., _] = &*those else {
            return;
        };
        let mut folded_at = None;
        let budget = usize::try_from(limit.as_secs())
            .unwrap_or(usize::MAX)
            .saturating_mul(CHARACTERS_PER_SECOND);
        let mut spent = 0;
        let mut kept_first = false;
        let mut out: SmallVec<[usize; 16]> = SmallVec::new();
        for at in before.iter().copied() {
            let item = match lane.get(at) {
                Some(WaitingUtterance::Item(item)) => item,
                Some(WaitingUtterance::Fold(_)) => {
                    folded_at = Some(at);
                    continue;
                }
                None => continue,
            };
            if item.asked || item.held || item.next > WordPlace::default() {
                continue;
            }
            // Whatever follows a count is added to it, however short.
            if folded_at.is_none() {
                let segments = item.announcement.segments.iter();
                spent += segments
                    .map(|segment| segment.spoken().chars().count())
                    .sum::<usize>();
            }
            if folded_at.is_some() || (spent > budget && kept_first) {
                out.push(at);
            }
            kept_first = true;
        }
        let Some(first) = out.first().copied() else {
            return;
        };
        let count = out.len() as u64;
        let begun = match folded_at {
            None if out.len() < FEWEST_FOLDED => return,
            None => Some(Box::new(Fold {
                mark,
                key: key.clone(),
                topic: topic.clone(),
                count,
                held: false,
            })),
            Some(_) => None,
        };
        if let Some(folded_at) = folded_at
            && let Some(WaitingUtterance::Fold(fold)) = lane.get_mut(folded_at)
        {
            fold.count += count;
        }
        for at in out.iter().rev() {
            lane.remove(*at);
        }
        self.ledger.note(Lane::Text, UtteranceFate::Folded, count);
        if let Some(fold) = begun {
            lane.insert(first, WaitingUtterance::Fold(fold));
        }
    }
}
