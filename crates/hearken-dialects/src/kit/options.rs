//! The options of a permission, as AAEP decisions.
//!
//! Responsibilities: which option accepts, which rejects, and what the others are called. Not here: sending one
//! (`permission`).
//!
//! Mental model: `y` and `n` stand for options that apply just once, and only if there is exactly one of each. Whatever
//! lasts longer, or is ambiguous, is chosen by its number and takes a second step. Our words for an option depend on
//! its kind; its name is the agent's, and could say anything.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::SharedWording;
use crate::event_writer::cut;

use super::call::first;
use super::members::text;

/// How many options a permission may have: AAEP allows 32 decisions.
const MOST: usize = 30;
/// The longest name of an option, in characters.
const LONGEST_NAME: usize = 350;

/// One possible answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionChoice {
    /// The AAEP decision that stands for it.
    pub decision: String,
    /// The agent's exact name for the option.
    pub option: String,
    /// Whether it allows the call.
    pub allows: bool,
    /// Whether it rejects the call; an option of an unknown kind does neither.
    pub rejects: bool,
    /// Whether it cancels the request instead of selecting an option.
    pub cancels: bool,
}

/// The possible answers to a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerOffer {
    /// The answers.
    pub choices: Vec<OptionChoice>,
    /// How many options are left out.
    pub left_out: usize,
    /// The names of options that share one id, so that choosing one could choose the other.
    pub shared: Vec<String>,
    /// Whether two options have the same name.
    pub has_namesakes: bool,
}

impl OptionChoice {
    /// Returns the answer that rejects by cancelling the request.
    pub fn cancel() -> Self {
        Self {
            decision: "reject".to_owned(),
            option: String::new(),
            allows: false,
            rejects: true,
            cancels: true,
        }
    }
}

/// Parses the options of a permission.
pub fn read(params: &Map<String, Value>, words: &SharedWording) -> AnswerOffer {
    let empty = Vec::new();
    let options = params.get("options").and_then(Value::as_array);
    let options = options.unwrap_or(&empty);
    let call = params.get("toolCall").and_then(Value::as_object);
    let call_kind = call.and_then(|call| text(call, "kind")).unwrap_or_default();
    let known: Vec<(&str, Cow<'_, str>, &str)> = options
        .iter()
        .filter_map(|option| {
            let option = option.as_object()?;
            let id = text(option, "optionId")?;
            let name = text(option, "name").unwrap_or(id);
            let covers = covered(option).map(|covers| match covers.as_str() {
                // Whatever the name says, it covers everything.
                "*" => covers,
                _ => format!("{name}: {covers}"),
            });
            let name = covers.map_or(Cow::Borrowed(name), Cow::Owned);
            Some((id, name, text(option, "kind").unwrap_or_default()))
        })
        .collect();
    let known: Vec<(&str, &str, &str)> = known
        .iter()
        .map(|(id, name, kind)| (*id, &**name, *kind))
        .collect();
    let is_shared = |id: &str| known.iter().filter(|(other, _, _)| *other == id).count() > 1;
    let shared = known.iter().filter(|(id, _, _)| is_shared(id));
    let shared: Vec<String> = shared.map(|(_, name, _)| cut(name, LONGEST_NAME)).collect();
    let same = |(at, (_, name, _)): (usize, &(&str, &str, &str))| {
        known
            .iter()
            .take(at)
            .any(|(_, other, _)| other.trim().eq_ignore_ascii_case(name.trim()))
    };
    let has_namesakes = known.iter().enumerate().any(same);
    let only = |wanted: &str| known.iter().filter(|(_, _, kind)| *kind == wanted).count() == 1;
    let (once, never) = (only("allow_once"), only("reject_once"));
    let mut choices: Vec<OptionChoice> = Vec::new();
    for (id, name, kind) in known.iter().filter(|(id, _, _)| !is_shared(id)).take(MOST) {
        let decision = match *kind {
            "allow_once" if once => "accept".to_owned(),
            "reject_once" if never => "reject".to_owned(),
            kind => {
                let name = cut(name, LONGEST_NAME);
                let said = match kind {
                    "allow_always" => lasting(&name, call_kind, words),
                    kind => first(words, phrase(kind), &[("name", &name)]),
                };
                // Options with the same name get a number.
                let mut told = said.clone();
                let mut number = 1;
                while choices.iter().any(|choice| choice.decision == told) {
                    number += 1;
                    told = format!("{said} ({number})");
                }
                told
            }
        };
        choices.push(OptionChoice {
            decision,
            option: (*id).to_owned(),
            allows: kind.starts_with("allow"),
            rejects: kind.starts_with("reject"),
            cancels: false,
        });
    }
    let left_out = options.len() - choices.len() - shared.len();
    if !shared.is_empty() {
        // It is unclear what a shared id means, so nothing may be allowed.
        choices.retain(|choice| choice.rejects);
    }
    AnswerOffer {
        choices,
        left_out,
        shared,
        has_namesakes,
    }
}

/// Returns what a lasting option covers, if its agent says so beside its name, as Mistral Vibe does.
fn covered(option: &Map<String, Value>) -> Option<String> {
    let meta = option.get("_meta").and_then(Value::as_object)?;
    let all = meta.get("required_permissions").and_then(Value::as_array)?;
    let label = |it: &Value| {
        let it = it.as_object()?;
        let label = text(it, "label").or_else(|| text(it, "session_pattern"))?;
        Some(label.to_owned())
    };
    let labels: Option<Vec<String>> = all.iter().map(label).collect();
    labels.filter(|it| !it.is_empty()).map(|it| it.join(", "))
}

/// Words a grant that outlives its call: the words say what it covers, or that nobody has said.
fn lasting(name: &str, call_kind: &str, words: &SharedWording) -> String {
    match coverage(name) {
        Coverage::Stated => first(words, "acp.option.allow_always", &[("name", name)]),
        Coverage::Unstated if name.trim().eq_ignore_ascii_case("always allow") => {
            first(words, "acp.option.always", &[])
        }
        Coverage::Unstated => first(words, "acp.option.allow_unstated", &[("name", name)]),
        Coverage::Everything => {
            let key = match call_kind {
                "edit" => "acp.option.every.edit",
                "execute" => "acp.option.every.command",
                "read" => "acp.option.every.read",
                "fetch" => "acp.option.every.fetch",
                _ => "acp.option.every.call",
            };
            let every = first(words, key, &[]);
            first(words, "acp.option.allow_always", &[("name", &every)])
        }
    }
}

/// What the name of a lasting grant says about what it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
    /// Something.
    Stated,
    /// Nothing: the words only say that it lasts.
    Unstated,
    /// Everything, by a pattern that fits whatever there is.
    Everything,
}

/// Words that say that a grant lasts, or how long, but not what it covers.
const LASTING_WORDS: &[&str] = &[
    "accept",
    "again",
    "all",
    "allow",
    "allowed",
    "always",
    "and",
    "approve",
    "ask",
    "asking",
    "conversation",
    "do",
    "don",
    "dont",
    "every",
    "for",
    "forever",
    "from",
    "future",
    "grant",
    "in",
    "it",
    "me",
    "not",
    "now",
    "of",
    "on",
    "permanently",
    "permit",
    "project",
    "remainder",
    "remember",
    "rest",
    "session",
    "t",
    "the",
    "this",
    "time",
    "user",
    "without",
    "workspace",
    "yes",
];

fn coverage(name: &str) -> Coverage {
    let mut patterns = name.split(',').map(str::trim);
    if patterns.any(|pattern| !pattern.is_empty() && pattern.chars().all(|c| c == '*')) {
        return Coverage::Everything;
    }
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric() && !"*./$~-_".contains(c));
    match words.all(|word| word.is_empty() || LASTING_WORDS.contains(&word)) {
        true => Coverage::Unstated,
        false => Coverage::Stated,
    }
}

fn phrase(kind: &str) -> &'static str {
    match kind {
        "allow_once" => "acp.option.allow_once",
        "reject_once" => "acp.option.reject_once",
        "reject_always" => "acp.option.reject_always",
        _ => "acp.option.other",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::rig::WORDS;
    use super::*;

    #[test]
    fn a_grant_that_lasts_says_what_it_covers_or_that_nobody_says_so() {
        for (name, covers) in [
            ("Always allow", Coverage::Unstated),
            ("Allow for this session", Coverage::Unstated),
            ("Allow for remainder of this session", Coverage::Unstated),
            ("Yes, and don't ask again", Coverage::Unstated),
            ("Always Allow in project: touch *", Coverage::Stated),
            ("Yes, and don't ask again for these files", Coverage::Stated),
            ("Always Allow all Bash", Coverage::Stated),
            ("*", Coverage::Everything),
            ("src/*, *", Coverage::Everything),
            ("src/*", Coverage::Stated),
            ("", Coverage::Unstated),
        ] {
            assert_eq!(coverage(name), covers, "{name}");
        }
    }

    #[test]
    fn a_grant_without_a_scope_keeps_a_name_that_says_more() {
        for (name, wanted) in [
            ("Always Allow", "always allow, how far is not said"),
            (
                "Allow for this session",
                "allow from now on, how far is not said: Allow for this session",
            ),
        ] {
            assert_eq!(lasting(name, "execute", &WORDS), wanted);
        }
    }

    #[test]
    fn what_a_grant_covers_is_read_where_it_stands_beside_its_name() {
        let option = |labels: Value| {
            let all: Vec<Value> = labels.as_array().into_iter().flatten().cloned().collect();
            let all: Vec<Value> = all.into_iter().map(|it| json!({"label": it})).collect();
            json!({"optionId": "a", "name": "Always allow", "kind": "allow_always",
                "_meta": {"required_permissions": all}})
        };
        for (labels, wanted) in [
            (
                json!(["touch *"]),
                "allow from now on: Always allow: touch *",
            ),
            (json!(["*"]), "allow from now on: every command"),
            (json!([]), "always allow, how far is not said"),
        ] {
            let params = json!({"toolCall": {"kind": "execute"}, "options": [option(labels)]});
            let offer = read(params.as_object().unwrap(), &WORDS);
            assert_eq!(offer.choices[0].decision, wanted);
        }
    }
}
