//! Faults of links and phrases of dialects, in words.

use crate::announce::{Arg, Manner};
use crate::link::{LinkId, Phrase};

use crate::app::App;
use crate::app::fault_words::{all_told, args_of};

impl App {
    /// Returns the arguments of a dialect's phrase: its own, and the name of its source.
    pub(in crate::app) fn told_args(
        &self,
        id: LinkId,
        phrase: &Phrase,
    ) -> Vec<(&'static str, Arg)> {
        let mut args = vec![("source", Arg::Own(self.links.name(id)))];
        args.extend(args_of(self.cx.phrases(), phrase));
        args
    }

    /// Returns the key of a dialect's phrase for the person's way of giving commands.
    pub(super) fn told_key(&self, key: &'static str) -> &'static str {
        match (key, self.cx.announcer.manner()) {
            ("oversight.starts.change", Manner::Lines | Manner::Program) => {
                "oversight.starts.change_lines"
            }
            (key, _) => key,
        }
    }

    /// Returns several phrases of a dialect as one text.
    pub(super) fn all_words(&self, phrases: &[Phrase]) -> String {
        all_told(self.cx.phrases(), phrases)
    }
}
