//! What a program's lines contain, and what is sent back.

use serde_json::Value;

use super::*;

#[test]
fn what_comes_is_unwrapped_as_it_came() {
    let mut lines = WritingStyle::default();
    let event = r#"{"type":"aaep:agent.state.changed","n":1.50,"x":"é"}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","method":"aaep.event","params":{event}}}"#);
    assert_eq!(lines.read(&line), ProgramLine::Message(event.to_owned()));
    let accepted = r#"{"type":"subscription.accepted"}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{accepted}}}"#);
    assert_eq!(lines.read(&line), ProgramLine::Message(accepted.to_owned()));
    let close = r#"{"type":"subscription.close"}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","method":"aaep.close","params":{close}}}"#);
    assert_eq!(lines.read(&line), ProgramLine::Message(close.to_owned()));
    let other = r#"{"jsonrpc":"2.0","method":"$/progress","params":{}}"#;
    assert_eq!(lines.read(other), ProgramLine::Nothing);
}

#[test]
fn a_liveness_check_and_an_unknown_request_are_answered() {
    let mut lines = WritingStyle::default();
    for id in ["7", "\"a b\""] {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"aaep.ping"}}"#);
        let wanted = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(lines.read(&ping), ProgramLine::Answer(wanted));
    }
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    match lines.read(ask) {
        ProgramLine::Answer(answer) => {
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["error"]["code"], NO_SUCH_METHOD);
        }
        other => panic!("{other:?}"),
    }
}

/// Requests a subscription, and reads the line that answers.
fn answered(line: &str) -> ProgramLine {
    let mut lines = WritingStyle::default();
    lines.wrap(r#"{"type":"subscription.request"}"#);
    lines.read(line)
}

#[test]
fn an_error_to_our_request_is_a_rejection_and_one_to_nobodys_ends_nothing() {
    let busy = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"busy"}}"#;
    let ProgramLine::Message(text) = answered(busy) else {
        panic!("{:?}", answered(busy));
    };
    let message: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(message["type"], "subscription.rejected");
    assert_eq!(message["reason_message"], "busy (JSON-RPC error -32000)");
    for id in ["null", "2", "0", "\"1\""] {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"what?"}}}}"#);
        assert_eq!(answered(&line), ProgramLine::Nothing, "{line}");
    }
}

#[test]
fn a_program_that_does_not_know_the_method_has_no_subscriptions() {
    let missing = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}"#;
    assert_eq!(answered(missing), ProgramLine::NoSubscriptions);
    // Once answered, the id has no meaning any more.
    let mut lines = WritingStyle::default();
    lines.wrap(r#"{"type":"subscription.request"}"#);
    lines.read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(matches!(lines.read(missing), ProgramLine::Message(_)));
    // A result takes precedence over an error beside it.
    let both = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{"code":-32601}}"#;
    assert_eq!(
        answered(both),
        ProgramLine::Message(r#"{"a":1}"#.to_owned())
    );
}

#[test]
fn what_goes_out_is_wrapped_by_its_type() {
    let mut lines = WritingStyle::default();
    for (kind, method, id) in [
        ("subscription.request", "aaep.subscribe", Some(1)),
        ("subscription.renegotiate", "aaep.renegotiate", Some(2)),
        ("subscription.close", "aaep.close", None),
        ("confirmation.reply", "aaep.reply", None),
        ("clarification.reply", "aaep.reply", None),
    ] {
        let message = format!("{{\"type\":\"{kind}\",\n\"text\":\"a\\nb\"}}");
        let line = lines.wrap(&message);
        assert!(!line.contains('\n'));
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["jsonrpc"], "2.0");
        assert_eq!(line["method"], method);
        assert_eq!(line.get("id").and_then(Value::as_u64), id);
        assert_eq!(line["params"]["type"], kind);
        assert_eq!(line["params"]["text"], "a\nb");
    }
}

#[test]
fn a_program_that_speaks_bare_is_answered_bare() {
    let mut lines = WritingStyle::default();
    let event = r#"{"type":"aaep:agent.session.started"}"#;
    assert_eq!(lines.read(event), ProgramLine::Message(event.to_owned()));
    let reply = r#"{"type":"confirmation.reply"}"#;
    assert_eq!(lines.wrap(reply), reply);
    assert_eq!(
        lines.read("no JSON"),
        ProgramLine::Message("no JSON".to_owned())
    );
}

#[test]
fn a_greeting_for_people_does_not_decide_how_a_program_speaks() {
    let mut lines = WritingStyle::default();
    for greeting in ["Loading the model", "50%", "[1, 2]", "\"ready\"", "{"] {
        assert_eq!(
            lines.read(greeting),
            ProgramLine::Message(greeting.to_owned())
        );
    }
    let line = lines.wrap(r#"{"type":"confirmation.reply"}"#);
    assert!(line.contains("aaep.reply"), "{line}");
}

#[test]
fn a_request_of_another_protocol_is_not_answered_in_the_persons_name() {
    let mut lines = WritingStyle::default();
    let ask = r#"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{}}"#;
    assert_eq!(lines.read(ask), ProgramLine::NotMine(ForeignFormat::Acp));
}
