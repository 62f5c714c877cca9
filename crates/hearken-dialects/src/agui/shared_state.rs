//! The state that an agent shares: kept as sent, returned with the next run, never announced.
//!
//! Responsibilities: setting the state as a whole, changing it by JSON Patch (RFC 6902), and bounding it. Not here: its
//! content, which is the agent's business.

use serde_json::{Map, Value};

use crate::kit::members::text;

/// The largest state that is kept, in bytes of JSON: it goes out with every run, and a whole state arrives as one
/// frame.
const MOST_BYTES: usize = 512 * 1024;
/// How many changes one message may make.
const MOST_CHANGES: usize = 4096;

/// The shared state.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedState {
    value: Value,
    /// Whether the state is no longer known.
    is_lost: bool,
}

impl Default for SharedState {
    fn default() -> Self {
        Self {
            value: Value::Object(Map::new()),
            is_lost: false,
        }
    }
}

impl SharedState {
    /// Returns the state.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Replaces the state; returns whether it was lost just now.
    pub fn set(&mut self, value: Value) -> bool {
        let before = self.is_lost;
        *self = Self::default();
        match fits(&value) {
            true => self.value = value,
            false => self.is_lost = true,
        }
        self.is_lost && !before
    }

    /// Applies changes to the state; returns whether it was lost by them. If one fails, the state is lost.
    pub fn change(&mut self, changes: &[Value]) -> bool {
        if self.is_lost {
            return false;
        }
        let mut value = std::mem::take(&mut self.value);
        let few = changes.len() <= MOST_CHANGES;
        let mut made = few;
        for change in changes.iter().filter(|_| few) {
            made = made
                && change
                    .as_object()
                    .and_then(|it| apply(&mut value, it))
                    .is_some();
            // A state can grow by copying parts of itself.
            made = made && (text_of_copy(change).is_none() || fits(&value));
            if !made {
                break;
            }
        }
        match made && fits(&value) {
            true => self.value = value,
            false => {
                *self = Self::default();
                self.is_lost = true;
            }
        }
        self.is_lost
    }
}

fn text_of_copy(change: &Value) -> Option<&Value> {
    change.get("op").filter(|op| *op == "copy")
}

fn fits(value: &Value) -> bool {
    value.to_string().len() <= MOST_BYTES
}

/// Applies one change; `None` if it is impossible.
fn apply(value: &mut Value, change: &Map<String, Value>) -> Option<()> {
    let path = text(change, "path")?;
    let given = || change.get("value").cloned();
    match text(change, "op")? {
        "add" => add(value, path, given()?),
        "replace" => {
            *value.pointer_mut(path)? = given()?;
            Some(())
        }
        "remove" => take(value, path).map(|_| ()),
        "move" => {
            let moved = take(value, text(change, "from")?)?;
            add(value, path, moved)
        }
        "copy" => {
            let copy = value.pointer(text(change, "from")?)?.clone();
            add(value, path, copy)
        }
        "test" => (value.pointer(path)? == change.get("value")?).then_some(()),
        _ => None,
    }
}

/// Splits the last step off a path.
fn last(path: &str) -> Option<(&str, String)> {
    let (parent, last) = path.rsplit_once('/')?;
    Some((parent, last.replace("~1", "/").replace("~0", "~")))
}

fn place(step: &str) -> Option<usize> {
    let plain = step == "0" || !step.starts_with('0');
    step.parse()
        .ok()
        .filter(|_| plain && !step.starts_with('+'))
}

fn add(value: &mut Value, path: &str, given: Value) -> Option<()> {
    if path.is_empty() {
        *value = given;
        return Some(());
    }
    let (parent, step) = last(path)?;
    match value.pointer_mut(parent)? {
        Value::Object(map) => {
            map.insert(step, given);
        }
        Value::Array(list) if step == "-" => list.push(given),
        Value::Array(list) => {
            let at = place(&step).filter(|at| *at <= list.len())?;
            list.insert(at, given);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    }
    Some(())
}

fn take(value: &mut Value, path: &str) -> Option<Value> {
    if path.is_empty() {
        return Some(value.take());
    }
    let (parent, step) = last(path)?;
    match value.pointer_mut(parent)? {
        Value::Object(map) => map.remove(&step),
        Value::Array(list) => {
            let at = place(&step).filter(|at| *at < list.len())?;
            Some(list.remove(at))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The examples of RFC 6902, appendix A, as far as they can run in sequence.
    #[test]
    fn changes_are_made_as_json_patch_has_them() {
        for (before, changes, after) in [
            (
                json!({"foo": "bar"}),
                json!([{"op": "add", "path": "/baz", "value": "qux"}]),
                Some(json!({"baz": "qux", "foo": "bar"})),
            ),
            (
                json!({"foo": ["bar", "baz"]}),
                json!([{"op": "add", "path": "/foo/1", "value": "qux"}]),
                Some(json!({"foo": ["bar", "qux", "baz"]})),
            ),
            (
                json!({"foo": ["bar", "qux", "baz"]}),
                json!([{"op": "remove", "path": "/foo/1"}]),
                Some(json!({"foo": ["bar", "baz"]})),
            ),
            (
                json!({"baz": "qux"}),
                json!([{"op": "replace", "path": "/baz", "value": "boo"}]),
                Some(json!({"baz": "boo"})),
            ),
            (
                json!({"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}}),
                json!([{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}]),
                Some(json!({"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}})),
            ),
            (
                json!({"foo": [1]}),
                json!([{"op": "copy", "from": "/foo", "path": "/bar"}]),
                Some(json!({"foo": [1], "bar": [1]})),
            ),
            (
                json!({"foo": ["bar"]}),
                json!([{"op": "add", "path": "/foo/-", "value": ["abc"]}]),
                Some(json!({"foo": ["bar", ["abc"]]})),
            ),
            (
                json!({"/": 9, "~1": 10}),
                json!([{"op": "test", "path": "/~01", "value": 10}]),
                Some(json!({"/": 9, "~1": 10})),
            ),
            (
                json!({"baz": "qux"}),
                json!([{"op": "test", "path": "/baz", "value": "bar"}]),
                None,
            ),
            (
                json!({"foo": "bar"}),
                json!([{"op": "add", "path": "/baz/bat", "value": "qux"}]),
                None,
            ),
            (
                json!({"foo": [1]}),
                json!([{"op": "add", "path": "/foo/7", "value": 2}]),
                None,
            ),
            (json!({}), json!([{"op": "odd", "path": "/a"}]), None),
            (json!({}), json!(["odd"]), None),
        ] {
            let mut shared = SharedState::default();
            shared.set(before);
            let lost = shared.change(changes.as_array().unwrap());
            assert_eq!(lost, after.is_none(), "{changes}");
            assert_eq!(*shared.value(), after.unwrap_or(json!({})), "{changes}");
        }
    }

    #[test]
    fn what_is_too_large_is_lost_once_and_what_comes_whole_is_there_again() {
        let mut shared = SharedState::default();
        assert!(shared.set(json!({"a": "x".repeat(MOST_BYTES)})));
        assert!(
            !shared.set(json!({"a": "x".repeat(MOST_BYTES)})),
            "that was told"
        );
        assert!(!shared.change(&[json!({"op": "add", "path": "/b", "value": 1})]));
        assert_eq!(*shared.value(), json!({}));
        assert!(!shared.set(json!({"a": "x".repeat(MOST_BYTES / 2)})));
        let doubles = json!({"op": "copy", "from": "", "path": "/b"});
        assert!(shared.change(&vec![doubles; 64]), "it doubles each time");
    }
}
