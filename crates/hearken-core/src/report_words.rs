//! The words of reports, from the phrase files. Not here: what is reported (`inspect`).

use crate::announce::{Arg, Phrases, danger_args, danger_key};
use crate::inspect::Wording;
use crate::protocol::Problem;
use crate::session::{AnomalyKind, Danger};

impl Wording for Phrases {
    fn text(&self, key: &str, args: &[(&str, String)]) -> String {
        let args: Vec<(&str, Arg)> = args
            .iter()
            .map(|(place, text)| (*place, Arg::Own(text.clone())))
            .collect();
        Phrases::text(self, key, &args)
    }

    fn problem(&self, field: &str, problem: &Problem) -> String {
        Phrases::problem(self, field, problem)
    }

    fn departure(&self, kind: AnomalyKind, detail: &str) -> String {
        Phrases::departure(self, kind, detail.to_owned())
    }

    fn danger(&self, danger: &Danger, tool: &str) -> String {
        let args = danger_args(self, danger, Arg::Own(tool.to_owned()), String::new());
        Phrases::text(self, danger_key(danger), &args)
    }
}
