//! Members of JSON objects, read leniently: one that is missing or of the wrong type counts as absent.

use serde_json::{Map, Value};

/// Returns a member that is a text.
pub fn text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

/// Returns a member that is an object.
pub fn object<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    map.get(name).and_then(Value::as_object)
}

/// Writes a value as text; a text is left as it is.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
