//! Faults of links and phrases of dialects, in words.

use crate::announce::{AnswerMethod, Arg};
use crate::link::{LinkId, Phrase};

use super::Links;
use crate::app::AppCx;
use crate::app::fault_words::{all_told, args_of};

impl Links {
    /// Returns the arguments of a dialect's phrase: its own, and the name of its source.
    pub(in crate::app) fn told_args(
        &self,
        id: LinkId,
        phrase: &Phrase,
        cx: &AppCx,
    ) -> Vec<(&'static str, Arg)> {
        let mut args = vec![("source", Arg::Own(self.name(id)))];
        args.extend(args_of(cx.phrases(), phrase));
        args
    }

    /// Returns the key of a dialect's phrase for the way in which the person gives commands.
    pub(super) fn told_key(&self, key: &'static str, cx: &AppCx) -> &'static str {
        match (key, cx.announcer.manner()) {
            ("oversight.starts.change", AnswerMethod::Lines | AnswerMethod::Program) => {
                "oversight.starts.change_lines"
            }
            (key, _) => key,
        }
    }

    /// Returns several phrases of a dialect as one text.
    pub(super) fn all_words(&self, phrases: &[Phrase], cx: &AppCx) -> String {
        all_told(cx.phrases(), phrases)
    }
}
