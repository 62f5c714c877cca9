//! The server's requests to its clients: approvals and their decisions.
//!
//! Responsibilities: the call that an approval is for, the decisions that it offers and what each covers, the answer
//! that each becomes. Not here: questions for words (`input_questions`), when something is asked (`thread`).
//!
//! Mental model: `y` allows this once and `n` declines this once; the turn goes on after both. Every other decision is
//! chosen by its number, is read out with all that it covers, and takes a second step. One that covers more than can be
//! read out is not offered. The agent's reason is only its claim, so it is among the details.

use serde_json::{Map, Value, json};

use crate::SharedWording;
use crate::event_writer::cut;
use crate::kit::call::first;
use crate::kit::call_inputs::{CallInput, CallInputs, word};
use crate::kit::members::text;
use crate::kit::options::OptionChoice;
use crate::kit::shell::unwrapped;
use crate::kit::turn_updates::{CallNews, CallStatus};
use crate::kit::web_address::Address;

use super::input_questions::CodexForm;
use super::items;

/// How many decisions are kept: AAEP allows 32.
const MOST: usize = 30;
/// The longest rule that can be read out in full before it is chosen, in characters.
const LONGEST_RULE: usize = 250;
/// The longest other text, in characters.
const LONGEST: usize = 4000;
/// How many inputs are kept.
const MOST_INPUTS: usize = 512;
/// How much of a title is read out, in characters.
const LONGEST_TITLE: usize = 512;

/// What the server asks.
#[derive(Debug, Clone, PartialEq)]
pub enum CodexQuestion {
    /// Permission for something.
    Consent(Box<ApprovalRequest>),
    /// An answer in words.
    Words(CodexForm),
}

/// A request for an approval.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// What is said about the call that it is for.
    pub news: CallNews,
    /// The possible answers.
    pub choices: Vec<OptionChoice>,
    /// How many answers are not offered, because they cover more than can be read out.
    pub left_out: usize,
    /// What else is known, to be read in full.
    pub context: Vec<(String, String)>,
    /// The tool server and the tool whose call it is for, if the request does not identify the call.
    pub tool: Option<(String, String)>,
}

/// Returns whether a method needs a person's decision; other requests do not wait for a person.
pub fn is_for_a_person(method: &str) -> bool {
    let lower = method.to_ascii_lowercase();
    [
        "approval",
        "elicitation",
        "userinput",
        "permission",
        "verification",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Parses a request; `None` if the method is unknown, or it is unclear what the request is for.
pub fn read(
    method: &str,
    params: &Map<String, Value>,
    words: &SharedWording,
) -> Option<CodexQuestion> {
    match method {
        "item/commandExecution/requestApproval" => {
            command(params, words).map(|it| CodexQuestion::Consent(Box::new(it)))
        }
        "item/fileChange/requestApproval" => {
            files(params, words).map(|it| CodexQuestion::Consent(Box::new(it)))
        }
        "item/permissions/requestApproval" => {
            permissions(params, words).map(|it| CodexQuestion::Consent(Box::new(it)))
        }
        "item/tool/requestUserInput" => CodexForm::input(params, words).map(CodexQuestion::Words),
        "mcpServer/elicitation/request" => elicitation(params, words),
        _ => None,
    }
}

/// Returns those of the named details that are present.
fn context(params: &Map<String, Value>, names: &[&str]) -> Vec<(String, String)> {
    let said = names.iter().filter_map(|name| {
        let said = text(params, name).filter(|text| !text.trim().is_empty())?;
        Some(((*name).to_owned(), cut(said, LONGEST)))
    });
    said.collect()
}

/// Identifies the call of an item; a part of it with an approval of its own is another call.
fn call(params: &Map<String, Value>) -> Option<CallNews> {
    let item = text(params, "itemId")?;
    let part = text(params, "approvalId").map(|part| format!("{item} {part}"));
    Some(CallNews {
        id: cut(&part.unwrap_or_else(|| item.to_owned()), 512),
        status: Some(CallStatus::InProgress),
        ..CallNews::default()
    })
}

/// Removes the choices that allow, because not all that they cover can be read out; returns their number.
pub fn unallowed(choices: &mut Vec<OptionChoice>) -> usize {
    let before = choices.len();
    choices.retain(|choice| !choice.allows);
    before - choices.len()
}

/// Returns whether a call can't be read out in full, because something of it was cut.
pub fn is_cut(news: &CallNews) -> bool {
    let long = |text: &str, most: usize| text.chars().nth(most).is_some();
    let title = news.title.as_deref();
    let inputs = news.inputs.as_ref().map(|inputs| inputs.all.as_slice());
    let mut inputs = inputs.unwrap_or_default().iter();
    title.is_some_and(|title| long(title, LONGEST_TITLE))
        || inputs.len() >= MOST_INPUTS
        || inputs.any(|input| input.is_cut)
}

fn decided(decision: Value) -> Value {
    json!({"decision": decision})
}

/// A collector of possible answers.
struct Choices<'a> {
    words: &'a SharedWording,
    all: Vec<OptionChoice>,
    left_out: usize,
}

impl Choices<'_> {
    fn put(&mut self, decision: &str, answer: &Value, allows: bool) {
        // Two answers with the same name could not be told apart; the first one counts.
        if self.all.len() < MOST && !self.all.iter().any(|it| it.decision == decision) {
            self.all.push(OptionChoice {
                decision: decision.to_owned(),
                option: answer.to_string(),
                allows,
                rejects: !allows,
                cancels: false,
            });
        }
    }

    fn say(&mut self, key: &str, args: &[(&str, &str)], answer: &Value, allows: bool) {
        // A cut text would not show all that the answer covers.
        if args
            .iter()
            .any(|(_, text)| text.chars().count() > LONGEST_RULE)
        {
            self.left_out += 1;
            return;
        }
        let decision = first(self.words, key, args);
        self.put(&decision, answer, allows);
    }

    /// Adds one decision of the protocol.
    fn decision(&mut self, decision: &Value) {
        let answer = decided(decision.clone());
        match decision.as_str() {
            Some("accept") => return self.put("accept", &answer, true),
            Some("decline") => return self.put("reject", &answer, false),
            Some("acceptForSession") => {
                return self.say("codex.option.session", &[], &answer, true);
            }
            Some("cancel") => return self.say("codex.option.cancel", &[], &answer, false),
            Some(_) | None => {}
        }
        let inner = |name: &str, part: &str| decision.get(name).and_then(|it| it.get(part));
        if let Some(rule) = inner("acceptWithExecpolicyAmendment", "execpolicy_amendment") {
            let rule = rule
                .as_array()
                .map(|rule| rule.iter().map(word).collect::<Vec<_>>());
            let rule = rule.unwrap_or_default().join(" ");
            if !rule.trim().is_empty() {
                return self.say("codex.option.rule", &[("rule", &rule)], &answer, true);
            }
        }
        if let Some(rule) = inner("applyNetworkPolicyAmendment", "network_policy_amendment") {
            let part = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
            let host = part("host");
            let known = match part("action") {
                "allow" => Some(("codex.option.host", true)),
                "deny" => Some(("codex.option.no_host", false)),
                _ => None,
            };
            if let Some((key, allows)) = known.filter(|_| !host.trim().is_empty()) {
                return self.say(key, &[("host", host)], &answer, allows);
            }
        }
        // An unknown decision can't be described before it is chosen.
        self.left_out += 1;
    }
}

/// Returns the decisions of an approval. Declining is always among them, even if the list in the request omits it: the
/// schema has it, and the server accepts it.
fn decisions(
    params: &Map<String, Value>,
    usual: &[Value],
    words: &SharedWording,
) -> (Vec<OptionChoice>, usize) {
    let mut choices = Choices {
        words,
        all: Vec::new(),
        left_out: 0,
    };
    let given = params.get("availableDecisions").and_then(Value::as_array);
    let given = given.filter(|given| !given.is_empty());
    for decision in given.map_or(usual, Vec::as_slice).iter().take(MOST) {
        choices.decision(decision);
    }
    choices.decision(&json!("decline"));
    choices.decision(&json!("cancel"));
    (choices.all, choices.left_out)
}

fn command(params: &Map<String, Value>, words: &SharedWording) -> Option<ApprovalRequest> {
    let news = call(params)?;
    let context_ = context(params, &["reason", "cwd", "environmentId"]);
    let mut usual = vec![json!("accept"), json!("acceptForSession")];
    if let Some(rule) = params
        .get("proposedExecpolicyAmendment")
        .filter(|rule| rule.is_array())
    {
        usual.push(json!({"acceptWithExecpolicyAmendment": {"execpolicy_amendment": rule}}));
    }
    let hosts = params
        .get("proposedNetworkPolicyAmendments")
        .and_then(Value::as_array);
    for rule in hosts.into_iter().flatten().take(MOST) {
        usual.push(json!({"applyNetworkPolicyAmendment": {"network_policy_amendment": rule}}));
    }
    let (choices, left_out) = decisions(params, &usual, words);
    let network = params
        .get("networkApprovalContext")
        .and_then(Value::as_object);
    let run = text(params, "command").map(unwrapped).unwrap_or_default();
    let news = match (network, text(params, "kind")) {
        (Some(network), _) => {
            let part = |name: &str| text(network, name).unwrap_or_default();
            let args = [("host", part("host")), ("protocol", part("protocol"))];
            CallNews {
                kind: Some("fetch".to_owned()),
                title: Some(first(words, "codex.network", &args)),
                inputs: Some(CallInputs::from_iter([CallInput::new(
                    "command",
                    &run.clone().into(),
                )])),
                ..news
            }
        }
        (None, Some("writeStdin")) => CallNews {
            kind: Some("execute".to_owned()),
            title: Some(first(
                words,
                "codex.stdin",
                &[("command", &cut(&run, LONGEST))],
            )),
            ..news
        },
        (None, Some(_) | None) => items::command(params, news),
    };
    Some(ApprovalRequest {
        news,
        choices,
        left_out,
        context: context_,
        tool: None,
    })
}

fn files(params: &Map<String, Value>, words: &SharedWording) -> Option<ApprovalRequest> {
    let mut news = call(params)?;
    news.kind = Some("edit".to_owned());
    let usual = [json!("accept"), json!("acceptForSession")];
    let (mut choices, mut left_out) = decisions(params, &usual, words);
    let mut context = context(params, &["reason"]);
    if let Some(root) = text(params, "grantRoot").filter(|root| !root.trim().is_empty()) {
        let said = first(words, "codex.root", &[("path", root)]);
        context.push(("grantRoot".to_owned(), cut(&said, LONGEST)));
        // Accepting grants that, too: so it is chosen by its number, with all that it covers.
        left_out += unallowed(&mut choices);
        let mut rooted = Choices {
            words,
            all: Vec::new(),
            left_out,
        };
        let accept = decided(json!("accept"));
        rooted.say("codex.option.root", &[("path", root)], &accept, true);
        // One of the removed choices is back here.
        left_out = rooted.left_out.saturating_sub(rooted.all.len());
        rooted.all.append(&mut choices);
        choices = rooted.all;
    }
    Some(ApprovalRequest {
        news,
        choices,
        left_out,
        context,
        tool: None,
    })
}

fn permissions(params: &Map<String, Value>, words: &SharedWording) -> Option<ApprovalRequest> {
    let mut news = call(params)?;
    let wanted = params.get("permissions").and_then(Value::as_object)?;
    let (rights, granted) = rights(wanted, words);
    // No call of its own follows.
    news.status = Some(CallStatus::Pending);
    news.kind = Some("permissions".to_owned());
    news.title = Some(first(words, "codex.rights", &[("rights", &rights)]));
    let grant = |scope: &str| json!({"permissions": granted, "scope": scope});
    let mut choices = Choices {
        words,
        all: Vec::new(),
        left_out: 0,
    };
    // Permissions that do not fit into the sentence can't be granted by a key.
    if rights.chars().count() <= LONGEST_RULE && !rights.is_empty() {
        choices.put("accept", &grant("turn"), true);
        choices.say("codex.option.rights_session", &[], &grant("session"), true);
    } else {
        choices.left_out = 2;
    }
    choices.put(
        "reject",
        &json!({"permissions": {}, "scope": "turn"}),
        false,
    );
    Some(ApprovalRequest {
        news,
        choices: choices.all,
        left_out: choices.left_out,
        context: context(params, &["reason", "cwd", "environmentId"]),
        tool: None,
    })
}

/// Describes rights; returns those that are described, too.
pub fn rights(wanted: &Map<String, Value>, words: &SharedWording) -> (String, Map<String, Value>) {
    let mut parts: Vec<String> = Vec::new();
    let mut granted = Map::new();
    for (name, part) in wanted.iter().filter(|(_, part)| !part.is_null()) {
        granted.insert(name.clone(), part.clone());
        let known = match name.as_str() {
            "network" => network(part, words),
            "fileSystem" => folders(part, words),
            _ => None,
        };
        // Whatever it is, it is granted only if it was read out.
        parts.push(known.unwrap_or_else(|| format!("{name}: {part}")));
    }
    parts.retain(|part| !part.is_empty());
    (parts.join("; "), granted)
}

/// Describes access to the network; `None` if the request says anything else.
fn network(part: &Value, words: &SharedWording) -> Option<String> {
    (*part == json!({"enabled": true})).then(|| first(words, "codex.right.network", &[]))
}

/// Describes which folders are to be read and written; `None` if part of the request can't be described.
fn folders(part: &Value, words: &SharedWording) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    let mut say = |access: &str, path: &str| {
        let key = match access {
            "read" => "codex.right.read",
            "write" => "codex.right.write",
            "deny" => "codex.right.deny",
            _ => return None,
        };
        let line = first(words, key, &[("path", path)]);
        if !said.contains(&line) {
            said.push(line);
        }
        Some(())
    };
    for (member, value) in part.as_object()?.iter().filter(|(_, it)| !it.is_null()) {
        match member.as_str() {
            access @ ("read" | "write") => {
                for path in value.as_array()? {
                    say(access, path.as_str()?)?;
                }
            }
            "entries" => {
                for entry in value.as_array()? {
                    let path = entry.get("path")?;
                    let at = |name: &str| path.get(name).and_then(Value::as_str);
                    let place = at("path").or_else(|| at("pattern"));
                    let place = place.map_or_else(|| path.to_string(), str::to_owned);
                    say(entry.get("access")?.as_str()?, &place)?;
                }
            }
            // The depth to which a pattern is followed grants nothing.
            "globScanMaxDepth" if value.is_u64() => {}
            _ => return None,
        }
    }
    Some(said.join("; "))
}

fn elicitation(params: &Map<String, Value>, words: &SharedWording) -> Option<CodexQuestion> {
    let server = text(params, "serverName").unwrap_or_default();
    let message = text(params, "message").unwrap_or_default();
    let meta = params.get("_meta").and_then(Value::as_object);
    let of_meta = |name: &str| meta.and_then(|meta| text(meta, name));
    let fields = params
        .get("requestedSchema")
        .and_then(|schema| schema.get("properties"))
        .and_then(Value::as_object);
    let asks_words = fields.is_some_and(|fields| !fields.is_empty());
    if text(params, "mode") != Some("url") && (asks_words || fields.is_none()) {
        return CodexForm::elicitation(params, words).map(CodexQuestion::Words);
    }
    let answer = |action: &str, meta: Value| {
        let content = if action == "accept" {
            json!({})
        } else {
            Value::Null
        };
        json!({"action": action, "content": content, "_meta": meta})
    };
    let mut choices = Choices {
        words,
        all: Vec::new(),
        left_out: 0,
    };
    choices.put("accept", &answer("accept", Value::Null), true);
    let lasts = meta.and_then(|meta| meta.get("persist"));
    let lasts = lasts.and_then(Value::as_array);
    for lasting in lasts.into_iter().flatten().take(MOST) {
        let kept = answer("accept", json!({"persist": lasting}));
        match lasting.as_str() {
            Some("session") => choices.say("codex.option.tool_session", &[], &kept, true),
            Some("always") => choices.say("codex.option.tool_always", &[], &kept, true),
            Some(_) | None => choices.left_out += 1,
        }
    }
    choices.put("reject", &answer("decline", Value::Null), false);
    choices.say(
        "codex.option.cancel",
        &[],
        &answer("cancel", Value::Null),
        false,
    );
    let tool = of_meta("tool_name");
    let title = match text(params, "url") {
        Some(url) => {
            // An address in disguise is not asked about: nobody could judge it.
            let address = Address::read(url, message)?;
            let odd = address.odd(words);
            let args = [
                ("server", server),
                ("host", &address.host),
                ("odd", &odd),
                ("url", url),
                ("message", message),
            ];
            first(words, "codex.url", &args)
        }
        None => first(
            words,
            "codex.elicits",
            &[("server", server), ("message", message)],
        ),
    };
    let called = meta.and_then(|meta| meta.get("tool_params"));
    let called = called.and_then(Value::as_object).map(CallInputs::read);
    let news = CallNews {
        id: format!("elicitation {server} {}", tool.unwrap_or_default()),
        title: Some(title),
        kind: Some(tool.map_or_else(|| server.to_owned(), |tool| format!("{server}.{tool}"))),
        status: Some(CallStatus::Pending),
        inputs: Some(called.unwrap_or_default()),
        ..CallNews::default()
    };
    Some(CodexQuestion::Consent(Box::new(ApprovalRequest {
        news,
        choices: choices.all,
        left_out: choices.left_out,
        context: of_meta("tool_description")
            .map(|about| ("about".to_owned(), cut(about, LONGEST)))
            .into_iter()
            .collect(),
        tool: tool.map(|tool| (server.to_owned(), tool.to_owned())),
    })))
}
