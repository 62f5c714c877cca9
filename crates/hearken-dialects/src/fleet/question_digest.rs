//! The digest of a question: what its person was shown.

use ring::digest::{Context, SHA256};
use serde_json::{Map, Value};

use crate::protocol::object;

/// The fields that differ between two messages with the same question.
const NOT_SHOWN: [&str; 7] = [
    "@context",
    "aaep_version",
    "correlation_id",
    "event_id",
    "reply_token",
    "sequence_number",
    "timestamp",
];

/// The number of bytes that are kept of the hash: nobody can find a second question with the same 128 bits.
const BYTES: usize = 16;

/// Returns the digest of the question in an event's text, in hexadecimal; `None` if the text is not a JSON object.
pub fn digest_of(text: &str) -> Option<String> {
    Some(digest(&object(text)?))
}

/// Returns the digest of the question in an event, in hexadecimal: of every field except those that differ between two
/// messages with the same question. The order of fields doesn't matter.
pub fn digest(event: &Map<String, Value>) -> String {
    let mut hash = Context::new(&SHA256);
    let shown = event
        .iter()
        .filter(|(field, _)| !NOT_SHOWN.contains(&field.as_str()));
    hash_fields(shown, &mut hash);
    let hash = hash.finish();
    let bytes = hash.as_ref().iter().take(BYTES);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes fields by name. Each part is preceded by its kind and length, so that no two objects are written alike.
fn hash_fields<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>, hash: &mut Context) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(name, _)| name.as_str());
    hash_head('o', fields.len(), hash);
    for (name, value) in fields {
        hash_text('k', name, hash);
        hash_value(value, hash);
    }
}

fn hash_value(value: &Value, hash: &mut Context) {
    match value {
        Value::Null => hash_head('n', 0, hash),
        Value::Bool(yes) => hash_head('b', usize::from(*yes), hash),
        Value::Number(number) => hash_text('d', &number.to_string(), hash),
        Value::String(text) => hash_text('s', text, hash),
        Value::Array(values) => {
            hash_head('a', values.len(), hash);
            for value in values {
                hash_value(value, hash);
            }
        }
        Value::Object(fields) => hash_fields(fields.iter(), hash),
    }
}

fn hash_text(kind: char, text: &str, hash: &mut Context) {
    hash_head(kind, text.len(), hash);
    hash.update(text.as_bytes());
}

fn hash_head(kind: char, length: usize, hash: &mut Context) {
    hash.update(format!("{kind}{length}:").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = r#"{"type":"aaep:agent.awaiting.confirmation","event_id":"evt_1","reply_token":"rpl_1",
        "action":"rm -rf build","extensions":{"hearken":{"deed":{"tool":"sh"},"n":1}}}"#;

    #[test]
    fn only_what_is_shown_counts_and_the_order_does_not() {
        let digest = digest_of(ASKED).unwrap();
        assert_eq!(digest.len(), 2 * BYTES);
        let again = r#"{"reply_token":"rpl_2","timestamp":"2026-01-01T00:00:00Z","action":"rm -rf build","sequence_number":4,
            "extensions":{"hearken":{"n":1,"deed":{"tool":"sh"}}},"type":"aaep:agent.awaiting.confirmation"}"#;
        assert_eq!(digest_of(again).unwrap(), digest);
    }

    #[test]
    fn any_other_change_is_another_question() {
        let digest = digest_of(ASKED).unwrap();
        for (from, to) in [
            ("rm -rf build", "rm -rf ."),
            ("confirmation", "clarification"),
            ("\"sh\"", "\"bash\""),
            ("\"n\":1", "\"n\":2"),
            ("\"action\"", "\"question\""),
            ("{\"tool\":\"sh\"}", "[\"tool\",\"sh\"]"),
            (
                "\"rm -rf build\"",
                "\"rm -rf build\",\"risk_level\":\"low\"",
            ),
        ] {
            assert!(ASKED.contains(from), "{from}");
            let other = digest_of(&ASKED.replace(from, to)).unwrap();
            assert_ne!(other, digest, "{from} -> {to}");
        }
    }

    #[test]
    fn what_is_no_object_has_none() {
        assert_eq!(digest_of("[1]"), None);
        assert_eq!(digest_of(""), None);
    }
}
