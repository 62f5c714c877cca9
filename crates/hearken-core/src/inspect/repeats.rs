//! The same finding many times, told once with its number.
//!
//! Responsibilities: which findings are the same, how often and where the last one is. Not here: the words of one
//! (`report`).

use std::collections::HashMap;

use crate::protocol::Severity;

use super::report::{FoundIn, Item, Told};
use super::rules::Fact;
use super::wording::Wording;

/// How many kinds of findings are told apart; names from the wire make any number of them, and what is beyond
/// is told one by one.
const MOST_KINDS: usize = 4096;

/// What makes two findings the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
    place: FoundIn,
    rule: &'static str,
    section: &'static str,
    event: Option<String>,
    field: String,
    /// What is said, as far as the rule leaves it open.
    told: String,
    session: Option<String>,
}

/// A finding with how often it came.
#[derive(Debug, Clone)]
pub struct Repeated {
    /// The first of them.
    pub item: Item,
    /// How often it came.
    pub times: u64,
    /// The line of the last one.
    pub last: u64,
}

impl Repeated {
    /// Writes it as one line, with how often it came where that was more than once.
    pub fn to_text(&self, wording: &dyn Wording) -> String {
        let times = if self.times > 1 {
            let args = [
                ("n", self.times.to_string()),
                ("last", self.last.to_string()),
            ];
            wording.text("check.times", &args)
        } else {
            String::new()
        };
        self.item.in_words(times, wording)
    }
}

/// Collects findings, each kind once.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    kinds: HashMap<Kind, usize>,
    list: Vec<Repeated>,
}

impl Repeats {
    /// Takes a finding, and tells whether it is the first of its kind. One that can't be told apart any more
    /// comes back, to be told by itself.
    ///
    /// # Errors
    /// Gives a finding back that is beyond the bound.
    pub fn take(&mut self, item: Item) -> Result<bool, Box<Item>> {
        let kind = kind_of(&item);
        if let Some(known) = self.kinds.get(&kind).and_then(|at| self.list.get_mut(*at)) {
            known.times += 1;
            known.last = item.line;
            return Ok(false);
        }
        if self.list.len() >= MOST_KINDS {
            return Err(Box::new(item));
        }
        self.kinds.insert(kind, self.list.len());
        self.list.push(Repeated {
            last: item.line,
            item,
            times: 1,
        });
        Ok(true)
    }

    /// Returns all of them, in the order in which the first of each came.
    pub fn into_list(self) -> Vec<Repeated> {
        self.list
    }
}

/// Returns what a finding shares with its like. A danger, and an error of one session's order, is an event of its
/// own however often it comes, so its line tells it from the others.
fn kind_of(item: &Item) -> Kind {
    let told = match &item.told {
        Told::Problem(problem) => format!("{problem:?}"),
        Told::Stream(Fact::Foreign(what)) => what.name().to_owned(),
        Told::Stream(fact) => format!("{fact:?}"),
        Told::Danger(_) => item.line.to_string(),
        Told::Order(_) if item.severity == Severity::Error => item.line.to_string(),
        Told::Order(_) => String::new(),
    };
    Kind {
        place: item.place,
        rule: item.rule,
        section: item.section,
        event: item.event.clone(),
        field: item.field.clone(),
        told,
        session: match item.place {
            FoundIn::End => item.session.clone(),
            FoundIn::Line | FoundIn::Event | FoundIn::Order | FoundIn::Danger => None,
        },
    }
}
