//! The answers that a permission takes, as decisions of AAEP.
//!
//! Responsibilities: which option is accepting, which is rejecting, and what the others are called. Not here: sending one
//! (`permission`).
//!
//! Mental model: `y` and `n` stand for what lasts for this once, and only where there is exactly one such option.
//! Whatever lasts longer, or is ambiguous, is chosen by its number and takes a second step. What an option does is said by
//! its kind, in our words; its name is the agent's, and could say anything.

use serde_json::{Map, Value};

use crate::dialect::Words;
use crate::dialect::written::cut;

use super::call::first;
use super::read::text;

/// How many options a permission may have: AAEP takes 32 decisions.
const MOST: usize = 30;
/// The longest name of an option, in characters.
const LONGEST_NAME: usize = 350;

/// Holds one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What it is as a decision of AAEP.
    pub decision: String,
    /// The agent's name for it, to the letter.
    pub option: String,
    /// Whether it allows the call.
    pub allows: bool,
}

/// Reads the options of a permission; the second value counts those that are left out.
pub fn read(params: &Map<String, Value>, words: &Words) -> (Vec<Choice>, usize) {
    let empty = Vec::new();
    let options = params.get("options").and_then(Value::as_array);
    let options = options.unwrap_or(&empty);
    let known: Vec<(&str, &str, &str)> = options
        .iter()
        .filter_map(|option| {
            let option = option.as_object()?;
            let id = text(option, "optionId")?;
            let name = text(option, "name").unwrap_or(id);
            Some((id, name, text(option, "kind").unwrap_or_default()))
        })
        .collect();
    let only = |wanted: &str| known.iter().filter(|(_, _, kind)| *kind == wanted).count() == 1;
    let (once, never) = (only("allow_once"), only("reject_once"));
    let mut choices: Vec<Choice> = Vec::new();
    for (id, name, kind) in known.iter().take(MOST) {
        let decision = match *kind {
            "allow_once" if once => "accept".to_owned(),
            "reject_once" if never => "reject".to_owned(),
            kind => {
                let name = cut(name, LONGEST_NAME);
                let said = first(words, phrase(kind), &[("name", &name)]);
                // Two that are called the same are told apart.
                let mut told = said.clone();
                let mut number = 1;
                while choices.iter().any(|choice| choice.decision == told) {
                    number += 1;
                    told = format!("{said} ({number})");
                }
                told
            }
        };
        choices.push(Choice {
            decision,
            option: (*id).to_owned(),
            allows: kind.starts_with("allow"),
        });
    }
    let left_out = options.len() - choices.len();
    (choices, left_out)
}

fn phrase(kind: &str) -> &'static str {
    match kind {
        "allow_once" => "acp.option.allow_once",
        "allow_always" => "acp.option.allow_always",
        "reject_once" => "acp.option.reject_once",
        "reject_always" => "acp.option.reject_always",
        _ => "acp.option.other",
    }
}
