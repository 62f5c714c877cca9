//! Folding: when speech falls behind a fast agent, the middle of an output becomes a count.

use super::table::Lane;
use super::{Fate, Fold, SpeechQueue, Waiting};

/// How many characters are spoken in a second, for estimating a backlog: about 180 words a minute.
const CHARACTERS_PER_SECOND: usize = 15;
/// Fewer sentences than this are said: their count would take as long.
const FEWEST_FOLDED: usize = 3;

impl SpeechQueue {
    /// Folds the middle of the newest output's waiting text when its backlog is too long: what fits
    /// into the time stays, the rest becomes a count, and the newest sentence stays as the end.
    pub(super) fn fold(&mut self) {
        let Some(limit) = self.fold_after else { return };
        let lane = &mut self.lanes[Lane::Text as usize];
        let Some(Waiting::Item(newest)) = lane.back() else {
            return;
        };
        let mark = newest.mark;
        // With many agents, hundreds wait that are of others.
        let last = lane.len() - 1;
        if !lane.iter().take(last).any(|waiting| waiting.mark() == mark) {
            return;
        }
        let topic = newest.announcement.topic.clone();
        let key = newest.announcement.key.clone();
        let of_topic = |waiting: &Waiting| {
            let (whose, about) = match waiting {
                Waiting::Item(item) => (&item.announcement.key, &item.announcement.topic),
                Waiting::Fold(fold) => (&fold.key, &fold.topic),
            };
            waiting.mark() == mark && *whose == key && *about == topic
        };
        let folded_at = lane
            .iter()
            .position(|waiting| matches!(waiting, Waiting::Fold(_)) && of_topic(waiting));
        let budget = usize::try_from(limit.as_secs())
            .unwrap_or(usize::MAX)
            .saturating_mul(CHARACTERS_PER_SECOND);
        let mut spent = 0;
        let mut kept_first = false;
        let mut out = Vec::new();
        for (at, waiting) in lane.iter().enumerate() {
            let Waiting::Item(item) = waiting else {
                continue;
            };
            if at == last || !of_topic(waiting) || item.next > 0 {
                continue;
            }
            spent += item
                .announcement
                .segments
                .iter()
                .map(|segment| segment.spoken().chars().count())
                .sum::<usize>();
            let after_fold = folded_at.is_some_and(|folded| at > folded);
            if after_fold || (spent > budget && kept_first) {
                out.push(at);
            }
            kept_first = true;
        }
        if folded_at.is_none() && out.len() < FEWEST_FOLDED {
            return;
        }
        if let Some(folded_at) = folded_at
            && let Some(Waiting::Fold(fold)) = lane.get_mut(folded_at)
        {
            fold.count += out.len() as u64;
        }
        let Some(first) = out.first().copied() else {
            return;
        };
        for at in out.iter().rev() {
            lane.remove(*at);
        }
        self.ledger.note(Lane::Text, Fate::Folded, out.len() as u64);
        if folded_at.is_none() {
            lane.insert(
                first,
                Waiting::Fold(Box::new(Fold {
                    mark,
                    key,
                    topic,
                    count: out.len() as u64,
                })),
            );
        }
    }
}
