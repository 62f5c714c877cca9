//! One message, read as far as possible and made harmless.
//!
//! Responsibilities: the fields of a message in every documented spelling, each with a bound; recognising what is not a
//! message. Not here: what it means for its session (`session`), the frames around it (`binding_frames`).
//!
//! Mental model: reading never fails over a detail. Only a text without a performative or a sender is not a message.
//! Texts come from strangers: control characters become spaces, and what exceeds its bound is cut. The public documents
//! contradict each other, so both spellings are read: a party is an object or a bare name, a body is in `content.body`
//! or is the content itself, a number may be written as text.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::long_names;
use super::performatives::{Informs, Performative};

/// The longest name that is kept, in characters: agent addresses are shorter, and ids much shorter.
pub const LONGEST_NAME: usize = 256;
/// The longest body text that is kept, in characters: a page, more than a person listens to unasked.
pub const LONGEST_TEXT: usize = 2048;
/// How many terms of a body are announced, each with its name; the rest are only counted.
pub const MOST_TERMS: usize = 24;
/// How deep terms are read: the obligations of a party are on the third level.
const DEEPEST_TERM: usize = 4;
/// The longest value of one term, in characters.
const LONGEST_TERM: usize = 256;
/// The longest time that a message may set: a year, as for questions.
const LONGEST_WAIT: Duration = Duration::from_secs(31_536_000);

/// A message's own statement of its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Integrity {
    /// The hash that it claims.
    pub hash: Option<String>,
    /// The hash of the previous message.
    pub previous: Option<String>,
}

/// The body of a message, limited to what is announced or decides anything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct MessageBody {
    /// `type`.
    pub kind: Option<String>,
    /// The subject, from the best of its fields that has one.
    pub about: Option<String>,
    /// `reason`.
    pub reason: Option<String>,
    /// `urgency`.
    pub urgency: Option<String>,
    /// `code`.
    pub code: Option<String>,
    /// The ids of the commitments or proposals that it makes or answers.
    pub subject_ids: Vec<String>,
    /// `terms` and the fields beside them, each with its name.
    pub terms: Vec<(String, String)>,
    /// How many more terms there are.
    pub more_terms: usize,
    /// `validUntil`.
    pub valid_until: Option<Timestamp>,
    /// `timeout` of an ESCALATE.
    pub timeout: Option<Duration>,
    /// The proposed length of the session, in an invitation.
    pub lasts: Option<Duration>,
    /// Whether an error is declared unrecoverable.
    pub is_final: bool,
    /// How many characters of the subject and the reason were cut.
    pub left_out: usize,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AspMessage {
    /// `messageId`.
    pub id: Option<String>,
    /// `sessionId`; empty if missing: all messages without one share a session.
    pub session: String,
    /// `sequenceNumber`, counted per sender.
    pub sequence: Option<u64>,
    /// `timestamp`.
    pub stamp: Option<Timestamp>,
    /// The sender.
    pub sender: String,
    /// The recipient.
    pub recipient: Option<String>,
    /// The performative; absent if the name is not one of the thirteen.
    pub performative: Option<Performative>,
    /// The performative's name as written.
    pub performative_name: String,
    /// The kind of an INFORM.
    pub informs: Informs,
    /// The body.
    pub body: MessageBody,
    /// Its position in the chain.
    pub integrity: Integrity,
    /// `constraints.maxResponseTimeMs`.
    pub respond_within: Option<Duration>,
}

impl AspMessage {
    /// Reads a message; `None` if it is not one.
    pub fn read(map: &Map<String, Value>) -> Option<Self> {
        let performative_name = name(map.get("performative"))?;
        let sender = party(map.get("sender"))?;
        let content = map.get("content");
        let body = body_of(content);
        let performative = Performative::read(&performative_name);
        let informs = match performative {
            Some(Performative::Inform) => name(body.get("informType"))
                .and_then(|text| Informs::read(&text))
                .unwrap_or(Informs::Other),
            Some(_) | None => Informs::Other,
        };
        let integrity = map.get("integrity");
        let field = |at: Option<&Value>, key: &str| name(at.and_then(|it| it.get(key)));
        Some(Self {
            id: name(map.get("messageId")),
            session: long_names::session(map).unwrap_or_default(),
            sequence: map.get("sequenceNumber").and_then(whole),
            stamp: map.get("timestamp").and_then(stamp),
            sender,
            recipient: party(map.get("recipient")),
            performative,
            performative_name,
            informs,
            body: read_body(&body),
            integrity: Integrity {
                hash: field(integrity, "hash"),
                previous: field(integrity, "previousHash"),
            },
            respond_within: map
                .get("constraints")
                .and_then(|it| it.get("maxResponseTimeMs"))
                .and_then(whole)
                .filter(|ms| *ms > 0)
                .map(|ms| Duration::from_millis(ms).min(LONGEST_WAIT)),
        })
    }

    /// Returns whether the message invites the recipient to a session.
    pub fn invites(&self) -> bool {
        self.performative == Some(Performative::Propose)
            && self
                .body
                .kind
                .as_deref()
                .is_some_and(|kind| kind.eq_ignore_ascii_case("session-invitation"))
    }

    /// Returns whether it reports another message as out of order; such a report moves nothing.
    pub fn refuses_order(&self) -> bool {
        self.performative == Some(Performative::Reject)
            && self.body.code.as_deref() == Some("invalid_state_transition")
    }
}

/// Returns whether an object looks like a message: only messages have a performative with an id or a number.
pub fn looks_like_one(map: &Map<String, Value>) -> bool {
    let version = map.get("version").and_then(Value::as_str);
    let is_text = |key: &str| matches!(map.get(key), Some(Value::String(_)));
    is_text("performative")
        && (version.is_some_and(|version| version.starts_with("asp/"))
            || is_text("messageId")
            || map.contains_key("sequenceNumber"))
}

/// Makes a stranger's text harmless: control characters and line breaks become spaces, runs of spaces become one, and
/// anything beyond the bound is cut.
pub fn tame(text: &str, most: usize) -> String {
    let mut tamed = String::new();
    let mut kept = 0;
    for c in text.chars() {
        let gap = c.is_control() || c.is_whitespace();
        if gap && (tamed.is_empty() || tamed.ends_with(' ')) {
            continue;
        }
        if kept == most {
            tamed.push('…');
            return tamed;
        }
        tamed.push(if gap { ' ' } else { c });
        kept += 1;
    }
    tamed.truncate(tamed.trim_end().len());
    tamed
}

/// Counts the characters of an announced text that were cut.
fn left_out(value: Option<&Value>) -> usize {
    beyond(
        value.and_then(Value::as_str).unwrap_or_default(),
        LONGEST_TEXT,
    )
}

/// Counts the characters of a text beyond a bound.
fn beyond(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return 0;
    }
    let whole = tame(text, usize::MAX).chars().count();
    whole.saturating_sub(most)
}

fn text(value: Option<&Value>, most: usize) -> Option<String> {
    let tamed = match value? {
        Value::String(text) => tame(text, most),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(tamed).filter(|text| !text.is_empty())
}

fn name(value: Option<&Value>) -> Option<String> {
    text(value, LONGEST_NAME)
}

/// Reads a sender or recipient: an object with an `agentId`, or a bare name.
fn party(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Object(map) => name(map.get("agentId")),
        other => name(Some(other)),
    }
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reads a moment: RFC 3339, or milliseconds.
fn stamp(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reads a duration: a number in the unit, ISO 8601 ("PT30M"), or the friendly form ("30m").
fn length(value: &Value, unit: Duration) -> Option<Duration> {
    let read = match value {
        Value::Number(number) => number
            .as_f64()
            .filter(|number| *number > 0.0)
            .map(|number| number.min(1.0e12) * unit.as_secs_f64())
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        Value::String(text) => match text.trim().parse::<u32>() {
            Ok(number) => Some(unit.saturating_mul(number)),
            Err(_) => text
                .trim()
                .parse::<SignedDuration>()
                .ok()
                .and_then(|duration| duration.try_into().ok()),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    read.filter(|length| !length.is_zero())
        .map(|length| length.min(LONGEST_WAIT))
}

/// Finds the body: `content.body`, or the content itself; a body that is a text is JSON or a bare statement.
fn body_of(content: Option<&Value>) -> Map<String, Value> {
    let body = match content {
        Some(Value::Object(map)) => map.get("body").or(content),
        Some(_) | None => content,
    };
    match body {
        Some(Value::Object(map)) => map.clone(),
        Some(Value::String(text)) => crate::protocol::object(text).unwrap_or_else(|| {
            let mut map = Map::new();
            map.insert("text".to_owned(), text.as_str().into());
            map
        }),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {
            Map::new()
        }
    }
}

/// The fields that may contain the subject of a body, the best first.
const ABOUT: [&str; 14] = [
    "subject",
    "question",
    "query",
    "summary",
    "description",
    "task",
    "message",
    "text",
    "statement",
    "topic",
    "observation",
    "clarification",
    "resolution",
    "title",
];
/// The fields that identify what a message makes or answers.
const IDS: [&str; 5] = [
    "commitmentId",
    "proposalId",
    "inReplyTo",
    "originalProposalId",
    "referenceId",
];

fn read_body(body: &Map<String, Value>) -> MessageBody {
    let short = |key: &str| name(body.get(key));
    let long = |key: &str| text(body.get(key), LONGEST_TEXT);
    let second = Duration::from_secs(1);
    let milli = Duration::from_millis(1);
    let terms = body.get("terms");
    let term = |key: &str| terms.and_then(|it| it.get(key));
    let mut told = TermCollector::default();
    for key in [
        "terms",
        "counterTerms",
        "obligations",
        "deadline",
        "escrow",
        "penalties",
        "data",
        "result",
        "progress",
    ] {
        if let Some(value) = body.get(key) {
            let key = if key == "terms" || key == "data" {
                ""
            } else {
                key
            };
            told.collect(key, value, 0);
        }
    }
    let refuses_repair = ["recoverable", "retryable"]
        .iter()
        .any(|key| body.get(*key) == Some(&Value::Bool(false)));
    let names_final = ["severity", "errorType", "category"].iter().any(|key| {
        short(key).is_some_and(|word| {
            ["fatal", "unrecoverable", "permanent"]
                .iter()
                .any(|final_word| word.eq_ignore_ascii_case(final_word))
        })
    });
    MessageBody {
        kind: short("type"),
        about: ABOUT.iter().find_map(|key| long(key)),
        reason: long("reason").or_else(|| text(body.get("rejectionReason"), LONGEST_TEXT)),
        urgency: short("urgency"),
        code: short("code").or_else(|| short("errorCode")),
        subject_ids: IDS.iter().filter_map(|key| short(key)).collect(),
        terms: told.told,
        more_terms: told.more,
        valid_until: body.get("validUntil").and_then(stamp),
        timeout: body
            .get("timeout")
            .or_else(|| body.get("timeoutSeconds"))
            .and_then(|value| length(value, second))
            .or_else(|| body.get("timeoutMs").and_then(|value| length(value, milli))),
        // The table writes it with an underscore and gives its default in seconds; the examples write it in camel case
        // and in milliseconds.
        lasts: term("proposed_duration")
            .and_then(|value| length(value, second))
            .or_else(|| term("proposedDuration").and_then(|value| length(value, milli))),
        is_final: refuses_repair || names_final,
        left_out: [
            ABOUT.iter().find_map(|key| body.get(*key)),
            body.get("reason").or_else(|| body.get("rejectionReason")),
        ]
        .map(left_out)
        .iter()
        .sum::<usize>()
            + told.left_out,
    }
}

/// The parts of an invitation that concern the session itself and are not negotiated.
const OF_SESSION: [&str; 4] = [
    "proposed_duration",
    "proposedDuration",
    "schemas",
    "maxResponseTimeMs",
];

/// Collects the terms of a body, each with the path of names to it.
#[derive(Debug, Default)]
struct TermCollector {
    told: Vec<(String, String)>,
    more: usize,
    /// How many characters of them were cut.
    left_out: usize,
}

impl TermCollector {
    fn collect(&mut self, path: &str, value: &Value, depth: usize) {
        if self.told.len() >= MOST_TERMS || depth > DEEPEST_TERM {
            self.more += 1;
            return;
        }
        match value {
            Value::Object(map) => {
                for (key, value) in map
                    .iter()
                    .filter(|(key, _)| !OF_SESSION.contains(&key.as_str()))
                {
                    let key = tame(key, 64);
                    let path = if path.is_empty() {
                        key
                    } else {
                        format!("{path} {key}")
                    };
                    self.collect(&tame(&path, LONGEST_NAME), value, depth + 1);
                }
            }
            Value::Array(list) => {
                for value in list {
                    self.collect(path, value, depth + 1);
                }
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let plain = match value {
                    Value::String(text) => {
                        self.left_out += beyond(text, LONGEST_TERM);
                        tame(text, LONGEST_TERM)
                    }
                    other => other.to_string(),
                };
                self.told.push((path.to_owned(), plain));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Option<AspMessage> {
        AspMessage::read(value.as_object().unwrap())
    }

    #[test]
    fn both_spellings_of_the_documents_are_read() {
        let message = read(json!({
            "version": "asp/1.0", "messageId": "m1", "sessionId": "s1", "sequenceNumber": 5,
            "timestamp": "2026-03-07T14:30:00.000Z",
            "sender": {"agentId": "agent://acme.com/services/procurement", "trustScore": 72.5},
            "recipient": {"agentId": "agent://widgets.co/services/sales"},
            "performative": "PROPOSE",
            "content": {"mimeType": "application/json", "body": {"proposalId": "prop_1", "type": "service-agreement",
                "subject": "Widget terms", "terms": {"quantity": 5000, "pricePerUnit": 12.5},
                "validUntil": "2026-03-08T14:30:00.000Z"}, "context": []},
            "integrity": {"hash": "sha256:a", "previousHash": "sha256:b"},
            "constraints": {"maxResponseTimeMs": 5000}
        }))
        .unwrap();
        assert_eq!(message.performative, Some(Performative::Propose));
        assert_eq!(
            message.recipient.as_deref(),
            Some("agent://widgets.co/services/sales")
        );
        assert_eq!(message.body.about.as_deref(), Some("Widget terms"));
        assert_eq!(
            message.body.terms,
            [("quantity", "5000"), ("pricePerUnit", "12.5")]
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        assert_eq!(message.respond_within, Some(Duration::from_secs(5)));
        assert!(message.body.valid_until.is_some() && !message.invites());
        let bare = read(json!({
            "performative": "inform", "sender": "agent://a.example/x", "recipient": "agent://b.example/y",
            "sequenceNumber": "7", "timestamp": 1_772_893_800_000_i64,
            "content": {"informType": "Result", "summary": "All done"}
        }))
        .unwrap();
        assert_eq!(bare.sequence, Some(7));
        assert_eq!(bare.informs, Informs::Result);
        assert_eq!(bare.body.about.as_deref(), Some("All done"));
        assert_eq!(bare.stamp.unwrap().to_string(), "2026-03-07T14:30:00Z");
        let said = read(
            json!({"performative": "QUERY", "sender": "a", "messageId": "m", "content": {"body": "Which one?"}}),
        );
        assert_eq!(said.unwrap().body.about.as_deref(), Some("Which one?"));
    }

    #[test]
    fn times_are_read_in_their_units_and_bounded() {
        let lasts = |terms: Value| {
            let body = json!({"type": "session-invitation", "terms": terms});
            read(json!({"performative": "PROPOSE", "sender": "a", "content": {"body": body}}))
                .unwrap()
                .body
                .lasts
        };
        assert_eq!(
            lasts(json!({"proposed_duration": 600})),
            Some(Duration::from_secs(600))
        );
        assert_eq!(
            lasts(json!({"proposedDuration": 3_600_000})),
            Some(Duration::from_secs(3600))
        );
        assert_eq!(
            lasts(json!({"proposed_duration": "PT30M"})),
            Some(Duration::from_secs(1800))
        );
        assert_eq!(
            lasts(json!({"proposed_duration": "90"})),
            Some(Duration::from_secs(90))
        );
        assert_eq!(lasts(json!({"proposed_duration": -4})), None);
        assert_eq!(
            lasts(json!({"proposed_duration": 1.0e300})),
            Some(LONGEST_WAIT)
        );
        assert_eq!(lasts(json!({"proposed_duration": [3]})), None);
    }

    #[test]
    fn what_a_term_is_cut_by_is_counted() {
        let price = "9".repeat(LONGEST_TERM + 44);
        let message = read(
            json!({"performative": "PROPOSE", "sender": "a", "messageId": "m",
            "content": {"body": {"terms": {"price": price, "currency": "EUR"}}}}),
        );
        assert_eq!(message.unwrap().body.left_out, 44);
    }

    #[test]
    fn what_is_hostile_becomes_harmless_and_short() {
        let message = read(json!({
            "performative": "ESCALATE", "sender": {"agentId": "a\u{0}\u{1b}[2Jb\r\nc"}, "messageId": "x".repeat(9000),
            "content": {"body": {"reason": "line one\nline two\u{7}", "urgency": {"deep": 1}, "timeout": "soon",
                "terms": {"list": (0..500).collect::<Vec<_>>()}}}
        }))
        .unwrap();
        assert_eq!(message.sender, "a [2Jb c");
        assert_eq!(message.id.unwrap().chars().count(), LONGEST_NAME + 1);
        assert_eq!(message.body.reason.as_deref(), Some("line one line two"));
        assert_eq!(message.body.urgency, None);
        assert_eq!(message.body.timeout, None);
        assert_eq!(
            (message.body.terms.len(), message.body.more_terms),
            (MOST_TERMS, 500 - MOST_TERMS)
        );
        let mut deep = json!(1);
        for _ in 0..60 {
            deep = json!({"a": deep});
        }
        let message = read(
            json!({"performative": "PROPOSE", "sender": "a", "content": {"body": {"terms": deep}}}),
        )
        .unwrap();
        assert_eq!((message.body.terms.len(), message.body.more_terms), (0, 1));
    }

    #[test]
    fn what_names_no_performative_or_no_sender_is_no_message() {
        for value in [
            json!({}),
            json!({"performative": "PROPOSE"}),
            json!({"performative": 5, "sender": {"agentId": ""}}),
            json!({"sender": "a"}),
            json!({"performative": "", "sender": "a"}),
            json!({"performative": "PROPOSE", "sender": {"orgId": "x"}}),
        ] {
            assert_eq!(read(value.clone()), None, "{value}");
        }
        let purple = read(json!({"performative": "PURPLE", "sender": "a"})).unwrap();
        assert_eq!(
            (purple.performative, purple.performative_name.as_str()),
            (None, "PURPLE")
        );
    }
}
