//! The path of one hook: its message to the listening hearken, and the decision back.
//!
//! Responsibilities: reading the message, delivering it, waiting only if something is asked, printing only valid
//! decisions. Not here: what a message means (`dialect`).
//!
//! Mental model: the relay decides nothing by itself. Whatever goes wrong (no hearken is listening, the port hangs, the
//! answer is invalid, hearken goes away) it prints nothing, and the agent asks in its own terminal as usual. It waits
//! only for a permission, and no longer than its output has a reader.

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::exchange::{Exchange, ParsedAnswer, ReadStep};
use super::hook_endpoint::{self, HookTerms};
use super::transcript_end::last_texts;
use crate::config::HookedAgent;
use crate::platform::terminal::{Printed, wait_to_read};

/// The messages whose answer is awaited.
const ASKS: [&str; 3] = [PERMISSION, "permissionRequest", FORM];
/// The message that asks for a permission.
const PERMISSION: &str = "PermissionRequest";
/// The message before a call of Gemini CLI's, whose hooks can only refuse it.
const BEFORE: &str = "BeforeTool";
/// The message by which a tool server asks the person something.
const FORM: &str = "Elicitation";
/// The largest message, in bytes: more than any tool is called with. Of a larger one, only the fact is reported.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The time limit for everything that does not wait for a person. A hanging hearken costs the agent no more than this.
const SHORT: Duration = Duration::from_millis(200);
/// How long to wait for a person; the settings that we write allow it to wait that long.
const LONG: Duration = Duration::from_secs(60 * 60);
/// How much longer an agent whose terminal asks nothing meanwhile waits for a hearken that hangs.
const MARGIN: Duration = Duration::from_secs(5);
/// How often to check whether the decision still has a reader.
const LOOK: Duration = Duration::from_millis(500);
/// The path for messages, after the secret.
const HOOK: &str = "hook";
/// The path for reporting that a message is too large.
const TOO_LARGE: &str = "too-large";
/// The field of a message that contains the agent's latest texts.
const TEXTS: &str = "hearken_texts";
/// The status for a message that is too large.
const REFUSED_LARGE: u16 = 413;

/// What a hook reports: the agent that runs it, and what happened, if the message itself does not say it.
#[derive(Debug, Clone, Copy)]
pub struct HookSender<'a> {
    /// The agent.
    pub agent: HookedAgent,
    /// What happened.
    pub event: Option<&'a str>,
}

impl HookSender<'_> {
    /// Returns the path of its messages, after the secret. The agent that came first has none of its own.
    fn path(&self) -> String {
        let mut path = HOOK.to_owned();
        if self.agent != HookedAgent::Claude {
            path.push('/');
            path.push_str(self.agent.name());
        }
        let plain = |event: &&str| event.chars().all(|c| c.is_ascii_alphanumeric());
        if let Some(event) = self.event.filter(plain) {
            path.push('/');
            path.push_str(event);
        }
        path
    }

    /// Returns how long to wait for a person. No terminal asks for a form meanwhile.
    fn patience(&self, event: &str, terms: HookTerms) -> Duration {
        match self.agent.asks_too() && event != FORM {
            true => LONG,
            false => terms.hand_back.saturating_add(MARGIN).min(LONG),
        }
    }
}

/// Carries one message from `input` to the hearken that a folder names, and its decision to `output`.
///
/// Only a complete decision is printed, and no error is ever reported.
pub fn relay(
    folder: &Path,
    sender: HookSender<'_>,
    input: impl Read,
    output: &mut (impl Write + Printed),
) {
    let mut message = Vec::new();
    let read = input.take(MOST_BYTES + 1).read_to_end(&mut message);
    let Some(knock) = hook_endpoint::find(folder).filter(|_| read.is_ok()) else {
        return;
    };
    if message.len() as u64 > MOST_BYTES {
        return tell_too_large(&knock);
    }
    let parsed: Option<Value> = serde_json::from_slice(&message).ok();
    let name = parsed.as_ref().and_then(|it| it.get("hook_event_name"));
    let name = name.and_then(Value::as_str).or(sender.event);
    let waits = sender.agent == HookedAgent::Gemini && knock.terms.gemini_waits;
    let asks = |name: &&str| ASKS.contains(name) || waits && *name == BEFORE;
    let asked = name.filter(asks).map(str::to_owned);
    let file = parsed.as_ref().and_then(|it| it.get("transcript_path"));
    let file = file
        .and_then(Value::as_str)
        .filter(|_| knock.terms.transcript);
    if let Some(file) = file {
        put_texts(&mut message, &last_texts(Path::new(file)));
    }
    drop(parsed);
    let patience = match &asked {
        Some(event) => sender.patience(event, knock.terms),
        None => SHORT,
    };
    let until = Instant::now() + patience;
    let Some(answer) = post(&knock, &sender.path(), &message, until, output) else {
        return;
    };
    if answer.status == REFUSED_LARGE {
        return tell_too_large(&knock);
    }
    let decision = asked.and_then(|event| answer.decision(sender.agent, &event));
    if let Some(decision) = decision {
        // If the reader is gone, the decision was made elsewhere.
        let _ = output.write_all(decision.as_bytes());
        let _ = output.flush();
    }
}

/// Adds the agent's latest texts to a message without changing anything else, unless that makes it too large.
fn put_texts(message: &mut Vec<u8>, texts: &[Value]) {
    let added = format!(",\"{TEXTS}\":{}}}", Value::from(texts.to_vec()));
    let whole = message.trim_ascii_end().len();
    if texts.is_empty()
        || (whole + added.len()) as u64 > MOST_BYTES
        || !message.get(..whole).is_some_and(|it| it.ends_with(b"}"))
    {
        return;
    }
    message.truncate(whole - 1);
    message.extend_from_slice(added.as_bytes());
}

fn tell_too_large(knock: &hook_endpoint::HookAddress) {
    let until = Instant::now() + SHORT;
    // Nothing is printed, and no reader is needed.
    let nobody = std::io::stderr();
    let _ = post(knock, TOO_LARGE, b"{}", until, &nobody);
}

impl ParsedAnswer {
    /// Returns the decision, if the answer is one in the form that the agent reads.
    fn decision(&self, agent: HookedAgent, event: &str) -> Option<String> {
        let said: Value = serde_json::from_slice(&self.body)
            .ok()
            .filter(|_| self.status == 200)?;
        match agent {
            HookedAgent::Claude | HookedAgent::Codex | HookedAgent::Qwen => {
                let own = said.get("hookSpecificOutput")?;
                let of = own.get("hookEventName").and_then(Value::as_str);
                if event == FORM {
                    return filled_in(own).filter(|_| of == Some(FORM));
                }
                let decision = own.get("decision").filter(|it| decides(it))?;
                // Only the decision itself is passed on, without anything beside it.
                (of == Some(PERMISSION)).then(|| {
                    json!({"hookSpecificOutput": {"hookEventName": PERMISSION, "decision": decision}})
                        .to_string()
                })
            }
            HookedAgent::Copilot => decides(&said).then(|| said.to_string()),
            HookedAgent::Gemini => {
                let denies = said.get("decision").and_then(Value::as_str) == Some("deny");
                let reason = said.get("reason").cloned().unwrap_or_default();
                denies.then(|| json!({"decision": "deny", "reason": reason}).to_string())
            }
        }
    }
}

/// Returns the answer to a form, without anything beside it; `None` if it is not one.
fn filled_in(said: &Value) -> Option<String> {
    let action = said.get("action").and_then(Value::as_str);
    let action = action.filter(|it| matches!(*it, "accept" | "decline" | "cancel"))?;
    let mut output = json!({"hookEventName": FORM, "action": action});
    if let Some(content) = said.get("content").filter(|it| it.is_object()) {
        output["content"] = content.clone();
    }
    Some(json!({"hookSpecificOutput": output}).to_string())
}

/// Returns whether a value allows or rejects a call.
fn decides(decision: &Value) -> bool {
    let behavior = decision.get("behavior").and_then(Value::as_str);
    matches!(behavior, Some("allow" | "deny"))
}

/// Posts a message and returns the answer; `None` if none arrives in time, or its reader is gone.
fn post(
    knock: &hook_endpoint::HookAddress,
    to: &str,
    message: &[u8],
    until: Instant,
    reader: &impl Printed,
) -> Option<ParsedAnswer> {
    let mut exchange = Exchange::open(knock, to, message, SHORT)?;
    while Instant::now() < until {
        let left = until.saturating_duration_since(Instant::now());
        if !wait_to_read(&exchange.stream, reader, LOOK.min(left))? {
            continue;
        }
        match exchange.read() {
            ReadStep::More => {}
            ReadStep::Nothing | ReadStep::Over => break,
        }
    }
    exchange.answer()
}

#[cfg(test)]
#[path = "tests/relay.rs"]
mod tests;
