//! The fate of everything that was to be spoken, in words for the status.

use crate::announce::{Arg, Lane, Ledger, UtteranceFate};
use crate::app::App;

impl App {
    /// Returns the counts of what happened to everything that was queued to be spoken.
    pub fn ledger(&self) -> &Ledger {
        self.cx.queue.ledger()
    }

    /// Returns these counts in words: in total, and for urgent speech. Empty as long as no voice has spoken.
    pub(in crate::app) fn account_words(&self) -> Vec<String> {
        let ledger = self.cx.queue.ledger();
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
        let ledger = self.cx.queue.ledger();
        let sum = |count: &dyn Fn(Lane) -> u64| lanes.iter().map(|lane| count(*lane)).sum::<u64>();
        let taken = sum(&|lane| ledger.taken(lane));
        if taken == 0 {
            return None;
        }
        let phrases = self.phrases();
        let what = phrases.text(what, &[("n", Arg::own(taken))]);
        let waiting = sum(&|lane| self.cx.queue.waiting(lane));
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
}
