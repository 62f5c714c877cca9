//! Claude Code's questions as AAEP questions, and the decisions in the form of its hooks.
//!
//! Responsibilities: the answers to a permission and what each covers; questions in words, which are shown here and
//! answered in Claude Code's own terminal. Not here: asking one after another (`kit::turn`), sending (`decisions`).
//!
//! Mental model: `y` allows the call once and `n` rejects it once. Each suggestion is a separate answer that allows the
//! call and widens something: it is announced in full before the person can choose its number, and is not offered if it
//! is too long for that, or unknown. A call that cannot be announced in full cannot be allowed from here at all.

use serde_json::{Map, Value, json};

use crate::SharedWording;
use crate::event_writer::cut;
use crate::kit::call::first;
use crate::kit::members::text;
use crate::kit::options::OptionChoice;
use crate::kit::permission::Permission;
use crate::protocol::{self, AwaitingClarification};
use crate::rpc::Id;

use super::harness::Harness;
use super::messages::TerminalQuestion;

/// How many suggestions are offered: AAEP allows 32 decisions.
const MOST: usize = 30;
/// The longest suggestion that can be announced in full before it is chosen, in characters.
const LONGEST_RULE: usize = 250;
/// The answer that decides nothing and lets the agent's own terminal ask.
pub const ASK_THERE: &str = "ask there";
/// The tool that asks the person in words. Allowing it without an answer would give an empty answer.
const ASKS_WORDS: &str = "AskUserQuestion";
/// How many questions and answers are announced, and how long each may be, in characters.
const MOST_WORDS: usize = 31;
const LONGEST_WORDS: usize = 900;

/// Builds the question for a permission, and counts the suggestions that are not offered.
pub fn permission(
    harness: &Harness,
    request: u64,
    call: &str,
    suggestions: &[Value],
    is_whole: bool,
    words: &SharedWording,
) -> (Permission, usize) {
    let mut choices = Vec::new();
    let mut left_out = 0;
    let reject = OptionChoice {
        decision: "reject".to_owned(),
        option: json!({"behavior": "deny"}).to_string(),
        allows: false,
        rejects: true,
        cancels: false,
    };
    if is_whole && !harness.only_rejects() {
        choices.push(OptionChoice {
            decision: "accept".to_owned(),
            option: json!({"behavior": "allow"}).to_string(),
            allows: true,
            rejects: false,
            cancels: false,
        });
    }
    choices.push(reject);
    if !harness.agent.asks_too() {
        choices.push(ask_there(harness, words));
    }
    let suggestions = match harness.takes_suggestions() {
        true => suggestions,
        false => &[],
    };
    for suggestion in suggestions {
        let said = suggestion.as_object().and_then(|it| said(it, words));
        let is_new = |said: &String| {
            !choices
                .iter()
                .any(|choice: &OptionChoice| choice.decision == *said)
        };
        match said.filter(|said| is_whole && choices.len() < MOST && is_new(said)) {
            Some(decision) => choices.push(OptionChoice {
                decision,
                option: json!({"behavior": "allow", "updatedPermissions": [suggestion]})
                    .to_string(),
                allows: true,
                rejects: false,
                cancels: false,
            }),
            None => left_out += 1,
        }
    }
    let id = Id::of_name(&request.to_string());
    let permission = Permission::consent(id, call, choices, Vec::new());
    (permission, left_out)
}

/// Describes what a suggestion widens; `None` if that is unknown or too long to announce.
fn said(suggestion: &Map<String, Value>, words: &SharedWording) -> Option<String> {
    let place = match text(suggestion, "destination")? {
        "session" => "claude.for.session",
        "localSettings" => "claude.for.local",
        "projectSettings" => "claude.for.project",
        "userSettings" => "claude.for.user",
        _ => return None,
    };
    let place = first(words, place, &[]);
    let (key, what) = match text(suggestion, "type")? {
        "addRules" if text(suggestion, "behavior") == Some("allow") => (
            "claude.option.rules",
            listed(suggestion, "rules", |it| rule(it, words))?,
        ),
        "addDirectories" => (
            "claude.option.folders",
            listed(suggestion, "directories", plain)?,
        ),
        "setMode" => match text(suggestion, "mode")? {
            // These modes ask at least as much as the default one.
            mode @ ("default" | "plan") => ("claude.option.mode", mode.to_owned()),
            mode => ("claude.option.free_mode", mode.to_owned()),
        },
        _ => return None,
    };
    let fits = !what.trim().is_empty() && what.chars().count() <= LONGEST_RULE;
    fits.then(|| first(words, key, &[("what", &what), ("place", &place)]))
}

/// Lists all entries of a member; `None` if one of them cannot be described.
fn listed(
    suggestion: &Map<String, Value>,
    key: &str,
    say: impl Fn(&Value) -> Option<String>,
) -> Option<String> {
    let all = suggestion.get(key)?.as_array()?;
    let all: Option<Vec<String>> = all.iter().map(say).collect();
    Some(all?.join(", "))
}

fn plain(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Describes a rule as settings write it: the tool and its arguments; without arguments it covers every call.
fn rule(rule: &Value, words: &SharedWording) -> Option<String> {
    let tool = rule.get("toolName")?.as_str()?;
    match rule.get("ruleContent") {
        None | Some(Value::Null) => Some(first(words, "claude.rule.all", &[("tool", tool)])),
        Some(content) => Some(format!("{tool}({})", content.as_str()?)),
    }
}

/// Builds the question in words that a call of that tool asks; `None` for any other tool.
pub fn question(
    request: u64,
    tool: &str,
    input: &Map<String, Value>,
    words: &SharedWording,
) -> Option<Permission> {
    if tool != ASKS_WORDS {
        return None;
    }
    let all = input.get("questions").and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_object);
    let mut asked = Vec::new();
    let mut choices = Vec::new();
    for question in all.take(MOST_WORDS) {
        asked.push(text(question, "question").unwrap_or_default());
        let options = question.get("options").and_then(Value::as_array);
        let options = options.into_iter().flatten().filter_map(Value::as_object);
        let labels = options.filter_map(|option| text(option, "label"));
        choices.extend(labels.map(|label| cut(label, LONGEST_WORDS)));
    }
    choices.truncate(MOST_WORDS);
    let asked = cut(&asked.join(" "), LONGEST_WORDS * 4);
    let choices = choices.into_iter().enumerate();
    let question = AwaitingClarification {
        question: first(words, "claude.question", &[("words", &asked)]),
        choices: choices
            .map(|(at, label)| protocol::Choice::new((at + 1).to_string(), label))
            .collect(),
        ..AwaitingClarification::default()
    };
    Some(Permission::words(
        Id::of_name(&request.to_string()),
        question,
    ))
}

/// Returns a question that can be answered only in the agent's own terminal.
pub fn elsewhere(name: &str, asked: &TerminalQuestion, words: &SharedWording) -> Permission {
    let (key, asked) = match asked {
        TerminalQuestion::Command(command) => ("hooks.there.command", as_code(command)),
        TerminalQuestion::Edit(path) => ("hooks.there.edit", path.clone()),
        TerminalQuestion::Words(asked) => ("hooks.there.words", asked.clone()),
    };
    let asked = first(words, key, &[("words", &cut(&asked, LONGEST_WORDS))]);
    let question = AwaitingClarification {
        question: first(words, "claude.question", &[("words", &asked)]),
        ..AwaitingClarification::default()
    };
    Permission::words(Id::of_name(name), question)
}

/// Returns a command so that its signs are read one by one.
fn as_code(command: &str) -> String {
    match command.contains('`') {
        true => format!("`` {command} ``"),
        false => format!("`{command}`"),
    }
}

/// Returns the choice that hands a question back to the agent's own terminal.
fn ask_there(harness: &Harness, words: &SharedWording) -> OptionChoice {
    let key = match harness.only_rejects() {
        true => "hooks.option.left",
        false => "hooks.option.there",
    };
    OptionChoice {
        decision: first(words, key, &[("agent", harness.agent.title())]),
        option: ASK_THERE.to_owned(),
        allows: false,
        rejects: false,
        cancels: false,
    }
}

/// Returns the answer to the waiting hook: a decision, with the person's reason for a rejection.
pub fn decision(harness: &Harness, choice: &OptionChoice, reason: Option<&str>) -> String {
    let mut decision: Value = serde_json::from_str(&choice.option).unwrap_or_default();
    if let Some(reason) = reason.filter(|reason| !choice.allows && !reason.trim().is_empty()) {
        decision["message"] = reason.into();
    }
    harness.decide(&decision)
}
