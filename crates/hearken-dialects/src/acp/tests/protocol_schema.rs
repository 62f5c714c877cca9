//! The protocol's own JSON Schema, against which every message sent in these tests is checked.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;

use super::*;

const SCHEMA: &str = include_str!("../../../../../tests/fixtures/acp/schema.json");

/// The messages that are sent, and the schema's names for them.
const OUT: [(&str, &str); 11] = [
    ("initialize", "InitializeRequest"),
    ("session/new", "NewSessionRequest"),
    ("session/list", "ListSessionsRequest"),
    ("session/load", "LoadSessionRequest"),
    ("session/resume", "ResumeSessionRequest"),
    ("session/prompt", "PromptRequest"),
    ("session/cancel", "CancelNotification"),
    ("session/set_mode", "SetSessionModeRequest"),
    ("session/set_config_option", "SetSessionConfigOptionRequest"),
    ("authenticate", "AuthenticateRequest"),
    ("$/cancel_request", "CancelRequestNotification"),
];

/// The validators of each kind of message by name, built once.
static VALIDATORS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let names = OUT.iter().map(|(_, name)| *name);
    let names = names.chain([
        "RequestPermissionResponse",
        "CreateElicitationResponse",
        "Error",
    ]);
    let validator = |name: &str| {
        let schema = json!({"$schema": schema["$schema"], "$defs": schema["$defs"],
            "$ref": format!("#/$defs/{name}")});
        jsonschema::validator_for(&schema).unwrap()
    };
    names.map(|name| (name, validator(name))).collect()
});

/// Returns what is wrong with a message that is sent.
fn wrong(frame: &str) -> Vec<String> {
    let message: Value = serde_json::from_str(frame).unwrap();
    let map = message.as_object().unwrap();
    let known = |names: &[&str]| map.keys().all(|key| names.contains(&key.as_str()));
    let method = map.get("method").and_then(Value::as_str);
    let (name, body, whole) = match (method, map.get("result"), map.get("error")) {
        (Some(method), None, None) => {
            let name = OUT.iter().find(|(known, _)| *known == method);
            let (_, name) = name.unwrap_or_else(|| panic!("no such method: {frame}"));
            let asks = name.ends_with("Request") == map.contains_key("id");
            let whole = asks && known(&["jsonrpc", "id", "method", "params"]);
            (*name, &map["params"], whole)
        }
        (None, Some(result), None) => (
            match result.get("action") {
                Some(_) => "CreateElicitationResponse",
                None => "RequestPermissionResponse",
            },
            result,
            known(&["jsonrpc", "id", "result"]) && map.contains_key("id"),
        ),
        (None, None, Some(error)) => (
            "Error",
            error,
            known(&["jsonrpc", "id", "error"]) && map.contains_key("id"),
        ),
        _ => panic!("neither one nor the other: {frame}"),
    };
    let faults = VALIDATORS[name].iter_errors(body);
    let mut faults: Vec<String> = faults.map(|fault| format!("{name}: {fault}")).collect();
    if !whole || map.get("jsonrpc") != Some(&json!("2.0")) {
        faults.push("not an envelope as it should be".to_owned());
    }
    faults
}

/// Checks a message that is sent against the schema.
pub fn hold(frame: &str) {
    assert!(!frame.contains('\n'), "one message a line: {frame}");
    assert_eq!(wrong(frame), [""; 0], "{frame}");
}

#[test]
fn what_is_not_of_the_protocol_is_found() {
    for frame in [
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/a"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text"}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"s"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"allowed"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/set_config_option","params":{"sessionId":"s","configId":"c","value":true}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"y"}}"#,
        r#"{"id":1,"error":{"code":-32601,"message":"y"}}"#,
    ] {
        assert_ne!(wrong(frame), [""; 0], "{frame}");
    }
}
