//! Counts in words for the status: the fate of everything that was to be spoken, and what was forgotten.

use crate::announce::{Arg, Lane, UtteranceFate};

use super::AppCx;
use crate::session::DroppedCounts;

impl AppCx {
    /// Returns what happened to everything that was queued to be spoken, in words: in total, and for urgent
    /// speech. Empty until a voice has spoken.
    pub(in crate::app) fn account_words(&self) -> Vec<String> {
        let ledger = self.queue.ledger();
        let said = Lane::ALL
            .iter()
            .any(|lane| ledger.of(*lane, UtteranceFate::Said) > 0);
        if !said {
            return Vec::new();
        }
        let all = self.account("status.spoken.all", &Lane::ALL);
        let urgent = self.account("status.spoken.urgent", &[Lane::Alert]);
        all.into_iter().chain(urgent).collect()
    }

    /// Returns the counts of some lanes in words; `None` if nothing was queued there.
    fn account(&self, what: &str, lanes: &[Lane]) -> Option<String> {
        let ledger = self.queue.ledger();
        let sum = |count: &dyn Fn(Lane) -> u64| lanes.iter().map(|lane| count(*lane)).sum::<u64>();
        let taken = sum(&|lane| ledger.taken(lane));
        if taken == 0 {
            return None;
        }
        let phrases = self.phrases();
        let what = phrases.text(what, &[("n", Arg::own(taken))]);
        let waiting = sum(&|lane| self.queue.waiting(lane));
        let of = |fate: UtteranceFate| sum(&|lane| ledger.of(lane, fate));
        let name = |fate| match fate {
            UtteranceFate::Said => "said",
            UtteranceFate::Folded => "folded",
            UtteranceFate::Expired => "expired",
            UtteranceFate::Replaced => "replaced",
            UtteranceFate::Cut => "cut",
            UtteranceFate::Skipped => "skipped",
            UtteranceFate::Withdrawn => "withdrawn",
            UtteranceFate::Voiceless => "voiceless",
            UtteranceFate::Wordless => "wordless",
        };
        let fates = UtteranceFate::ALL.map(|fate| (name(fate), of(fate)));
        let counts = fates.into_iter().chain([("waiting", waiting)]);
        let counts = counts.filter(|(name, count)| *count > 0 || *name == "said");
        let counts = counts.map(|(name, count)| (name, Arg::own(count)));
        let args: Vec<_> = [("what", Arg::Own(what))]
            .into_iter()
            .chain(counts)
            .collect();
        Some(phrases.text("status.spoken", &args))
    }

    /// Returns the counts of what `session` dropped at its limits; `None` if nothing was dropped.
    pub(in crate::app) fn forgotten_words(&self) -> Option<String> {
        let dropped = self.sessions.dropped();
        let count = |count: u64| {
            if count == 0 {
                Arg::own("")
            } else {
                Arg::own(count)
            }
        };
        let DroppedCounts {
            sessions,
            running_sessions,
            duplicates,
            tools,
            outputs,
            questions,
            unasked,
        } = dropped;
        (dropped != DroppedCounts::default()).then(|| {
            let args = [
                ("sessions", count(sessions)),
                ("running", count(running_sessions)),
                ("tools", count(tools)),
                ("outputs", count(outputs)),
                ("questions", count(questions)),
                ("unasked", count(unasked)),
                ("duplicates", count(duplicates)),
            ];
            self.phrases().text("status.forgotten", &args)
        })
    }
}
