//! The rules that relate two fields of an event (chapters 4 and 6).
//!
//! Responsibilities: rules that no table of single fields can express. Not here: single fields (`schema`), the order of
//! the steps (`event_check`).

use serde_json::{Map, Value};

use super::finding::{Findings, Rule};
use super::payload::reads_as_irreversible;
use super::problem::Problem;
use super::schema::CoreType;

/// Signs of a secret in arguments (4.3.1): how keys of well-known services and headers begin.
const SECRETS: [&str; 12] = [
    "password=",
    "password:",
    "passwd=",
    "api_key",
    "apikey=",
    "authorization:",
    "bearer ",
    "private key-----",
    "ghp_",
    "github_pat_",
    "sk-ant-",
    "aws_secret",
];

/// Words that replace a secret.
const BLANKS: [&str; 6] = [
    "redacted", "hidden", "masked", "removed", "omitted", "filtered",
];

/// Returns whether the secret that should follow was left out, as chapter 10 asks (T5): `[redacted]`, `***`.
fn is_blanked(after: &str) -> bool {
    let mut value = after.trim_start_matches([' ', '"', '\'', '=', ':']);
    for scheme in ["bearer ", "basic "] {
        value = value.strip_prefix(scheme).unwrap_or(value).trim_start();
    }
    let value = value.trim_start_matches(['[', '<', '(', '{', '"', '\'']);
    let blank = |word: &&str| {
        let rest = value.strip_prefix(*word);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    value.starts_with("***") || value.starts_with("•••") || BLANKS.iter().any(blank)
}

/// Returns whether arguments look as if they contained a secret.
pub(super) fn looks_secret(arguments: &str) -> bool {
    let text = arguments.to_ascii_lowercase();
    // All signs are searched for in one pass over the text: every call has arguments, and hardly any a secret.
    let begins = |b: u8| matches!(b, b'p' | b'a' | b'b' | b'g' | b's');
    let places = text.bytes().enumerate().filter(|(_, b)| begins(*b));
    places.map(|(at, _)| &text[at..]).any(|from| {
        let after = |sign: &&str| from.strip_prefix(*sign);
        let mut found = SECRETS.iter().filter_map(after);
        found.any(|after| !is_blanked(after))
    })
}

/// Checks the rules between fields of a payload.
pub(super) fn relations(map: &Map<String, Value>, core: &CoreType, findings: &mut Findings) {
    match core.name {
        "agent.awaiting.confirmation" => confirmation(map, findings),
        "agent.awaiting.clarification" => clarification(map, findings),
        "agent.progress.updated" => progress(map, findings),
        "agent.tool.invoked" => {
            let secret = text(map, "args_summary").is_some_and(looks_secret);
            if secret {
                findings.find(
                    Rule::PossibleSecret,
                    "4.3.1",
                    "args_summary",
                    Problem::LooksSecret,
                );
            }
        }
        "agent.tool.completed" => {
            let failed = matches!(text(map, "status"), Some("error" | "timeout"));
            if failed && get(map, "error_message").is_none() {
                findings.find(Rule::NoReason, "4.3.2", "error_message", Problem::NoReason);
            }
        }
        _ => {}
    }
}

fn confirmation(map: &Map<String, Value>, findings: &mut Findings) {
    let irreversible = reads_as_irreversible(map);
    let risk = text(map, "risk_level");
    if text(map, "default_decision") == Some("accept") {
        match (irreversible, risk) {
            (true, Some("high" | "medium")) => findings.find(
                Rule::UnsafeDefault,
                "6.4.1",
                "default_decision",
                Problem::MustReject,
            ),
            (true, Some("low")) | (false, Some("high")) => findings.find(
                Rule::RiskyDefault,
                "6.4.1",
                "default_decision",
                Problem::ShouldReject,
            ),
            (true, _) => findings.find(
                Rule::RiskyDefault,
                "6.4.1",
                "default_decision",
                Problem::ShouldRejectUnknown,
            ),
            (false, _) => {}
        }
    }
    let Some(Value::Array(allowed)) = map.get("allowed_replies") else {
        return;
    };
    let words: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    if words
        .iter()
        .any(|word| !["accept", "reject"].contains(word))
    {
        findings.find(
            Rule::CustomReply,
            "6.3.1",
            "allowed_replies",
            Problem::OtherDecision,
        );
    }
    if !words.is_empty() && !words.contains(&"reject") {
        findings.find(
            Rule::NoReject,
            "6.3.4",
            "allowed_replies",
            Problem::NoReject,
        );
    }
}

fn clarification(map: &Map<String, Value>, findings: &mut Findings) {
    let Some(Value::Array(kinds)) = map.get("accepted_response_kinds") else {
        return;
    };
    let is_empty = |name| {
        map.get(name)
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty)
    };
    if kinds.iter().any(|kind| kind == "multiple_choice")
        && is_empty("choices")
        && is_empty("options")
    {
        findings.find(Rule::NoChoices, "4.4.2", "choices", Problem::ChoicesNeeded);
    }
}

fn progress(map: &Map<String, Value>, findings: &mut Findings) {
    let Some(Value::Object(progress)) = map.get("progress") else {
        return;
    };
    let known = ["percent", "step", "total_steps", "description"];
    if !known.iter().any(|name| progress.contains_key(*name)) {
        findings.find(Rule::TooFew, "4.2.2", "progress", Problem::EmptyProgress);
    }
    let number = |name| progress.get(name).and_then(Value::as_u64);
    if number("step")
        .zip(number("total_steps"))
        .is_some_and(|(step, total)| step > total)
    {
        findings.find(
            Rule::StepBeyondTotal,
            "4.2.2",
            "progress.step",
            Problem::BeyondTotal,
        );
    }
}

/// Returns a field if it is present and not null.
pub(super) fn get<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    map.get(name).filter(|value| !value.is_null())
}

pub(super) fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sign_of_a_secret_is_found_wherever_it_stands() {
        for sign in SECRETS {
            for text in [
                format!("{sign}x"),
                format!("grüße, {}x", sign.to_uppercase()),
                format!("{sign}*** {sign}x"),
                format!("password=*** api_keys {sign}x"),
            ] {
                assert!(looks_secret(&text), "{text}");
            }
            assert!(!looks_secret(&format!("a {sign}*** b")), "{sign}");
            assert!(!looks_secret(&format!("a {} b", &sign[1..])), "{sign}");
        }
    }
}
