//! The ends of conversations, what comes after them, and answers that a capture shows.

use serde_json::{Value, json};

use crate::link::{Fault, LinkEvent};
use crate::protocol::{Answer, Decision, Response};

use super::super::super::DialectOutput;
use super::document_examples::{asks, begun, message, resolved};
use super::{briefs, events, told};

/// Returns the steps of Sage's own machines, a refused one with an exclamation mark.
fn steps(out: &[DialectOutput], machine: &str) -> Vec<String> {
    let of = |one: &DialectOutput| match one {
        DialectOutput::Stepped(step) if step.named.machine == machine => {
            let to = step.to.unwrap_or("!");
            Some(format!("{} {} {to}", step.named.from, step.named.event))
        }
        _ => None,
    };
    out.iter().filter_map(of).collect()
}

fn ended(payload: Value) -> String {
    message("thread.ended", json!({"turn_id": null}), payload)
}

fn started() -> String {
    message("turn.started", json!({"turn_id": "u2"}), json!({}))
}

#[test]
fn a_turn_after_the_end_of_its_conversation_is_heard_and_told_as_that() {
    let mut bench = begun();
    bench.frame(&ended(json!({})));
    let mut out = bench.frame(&started());
    out.extend(bench.wait(300));
    assert_eq!(steps(&out, "session"), ["Ended Chat !"]);
    assert_eq!(told(&out)[0], "sage.after_end");
    assert!(briefs(&out)[0].starts_with("session.started"), "{out:?}");
    let done = json!({"status": "completed"});
    let out = bench.frame(&message("turn.completed", json!({"turn_id": "u2"}), done));
    assert!(
        briefs(&out)
            .iter()
            .any(|event| event.starts_with("session.completed"))
    );
    // Once for each conversation, and not if it is begun anew.
    let out = bench.frame(&message(
        "turn.started",
        json!({"turn_id": "u3"}),
        json!({}),
    ));
    assert!(!told(&out).contains(&"sage.after_end".to_owned()));
    let mut bench = begun();
    bench.frame(&ended(json!({})));
    bench.frame(&message(
        "thread.started",
        json!({"turn_id": null}),
        json!({}),
    ));
    assert_eq!(told(&bench.frame(&started())), [] as [String; 0]);
}

#[test]
fn a_conversation_ends_by_an_error_or_by_its_time() {
    for (payload, step, told_idle) in [
        (
            json!({"reason": "session_error", "message": "No disk."}),
            "Error",
            "sage.conversation.failed",
        ),
        (
            json!({"reason": "idle_timeout"}),
            "Timeout",
            "sage.conversation.timed_out",
        ),
    ] {
        // If a turn runs, its end says it.
        let out = begun().frame(&ended(payload.clone()));
        assert_eq!(steps(&out, "session"), [format!("Processing {step} Ended")]);
        let last = briefs(&out).pop().unwrap();
        assert!(last.starts_with("session.errored"), "{last}");
        assert_eq!(told(&out), [] as [String; 0]);
        // Without one, nothing else would.
        let mut bench = begun();
        let done = json!({"status": "completed"});
        bench.frame(&message("turn.completed", json!({}), done));
        let out = bench.frame(&ended(payload));
        assert_eq!(steps(&out, "session"), [format!("Active {step} Ended")]);
        assert_eq!(told(&out), [told_idle]);
    }
    let out = begun().frame(&ended(json!({})));
    assert_eq!(steps(&out, "session"), ["Processing End Ended"]);
}

#[test]
fn an_error_that_names_no_turn_is_the_conversations_own() {
    let error = |kind: &str, retryable: bool| {
        let details = json!({"retryable": retryable});
        let payload = json!({"code": "provider", "message": "No key.", "details": details});
        message(&format!("error.{kind}"), json!({"turn_id": null}), payload)
    };
    for kind in ["reported", "session", "provider"] {
        let mut bench = begun();
        let done = json!({"status": "completed"});
        bench.frame(&message("turn.completed", json!({}), done));
        let out = bench.frame(&error(kind, true));
        assert_eq!(
            (told(&out), steps(&out, "session").len()),
            (vec!["translated.error".to_owned()], 0)
        );
        assert_eq!(events(&out), [] as [Value; 0], "no turn begins by it");
        let out = bench.frame(&error(kind, false));
        assert_eq!(steps(&out, "session"), ["Active Error Ended"]);
        assert_eq!(told(&out), ["translated.error"]);
    }
}

#[test]
fn a_capture_shows_the_answer_of_another_client() {
    let mut bench = begun();
    let payload = json!({"item_type": "message", "role": "system", "content": "Which file?"});
    bench.frame(&message(
        "item.created",
        json!({"request_id": "q"}),
        payload,
    ));
    let fields = json!({"kind": "request", "id": "own", "request_id": "q"});
    let out = bench.frame(&message("input.respond", fields, json!({"text": "a.rs"})));
    let answered = out.iter().find_map(|one| match one {
        DialectOutput::Answered(reply) => Some(reply.answer.clone()),
        _ => None,
    });
    assert_eq!(
        answered,
        Some(Answer::Response(Response::Text("a.rs".to_owned())))
    );
    assert_eq!(steps(&out, "session"), ["Paused Resume Processing"]);
    assert_eq!(
        briefs(&out),
        [r#"state.changed from_state="awaiting_input" to_state="thinking""#]
    );
    // Sage's confirmation of it is not news.
    let fields = json!({"kind": "response", "request_id": "own"});
    let out = bench.frame(&message(
        "input.respond.result",
        fields,
        json!({"accepted": true}),
    ));
    assert_eq!((briefs(&out).len(), told(&out).len()), (0, 0));
    // A permission is resolved by its own message.
    let mut bench = begun();
    bench.frame(&asks());
    let fields = json!({"kind": "request", "id": "own", "request_id": "r/1"});
    let out = bench.frame(&message(
        "permission.respond",
        fields,
        json!({"decision": "deny"}),
    ));
    let [DialectOutput::Answered(reply)] = &out[out.len() - 1..] else {
        panic!("{out:?}")
    };
    assert!(matches!(
        reply.answer,
        Answer::Decision {
            decision: Decision::Reject,
            ..
        }
    ));
    assert!(!briefs(&bench.frame(&resolved("deny"))).is_empty());
}

#[test]
fn the_machine_of_the_stream_knows_every_end_of_a_connection() {
    let mut bench = begun();
    let fault = Fault::Closed;
    let retry_in = std::time::Duration::from_secs(1);
    let out = bench.news(&LinkEvent::Lost { fault, retry_in });
    assert_eq!(steps(&out, "stream"), ["Streaming Error Failed"]);
    let out = bench.news(&LinkEvent::Connecting { attempt: 1 });
    assert_eq!(steps(&out, "stream"), ["Failed Reconnect Connecting"]);
    let out = bench.news(&LinkEvent::Connected);
    assert_eq!(steps(&out, "stream"), ["Connecting Connected Connected"]);
    let out = bench.news(&LinkEvent::Ended);
    assert_eq!(steps(&out, "stream"), ["Connected Disconnect Disconnected"]);
    assert_eq!(told(&out), [] as [String; 0]);
    let out = begun().news(&LinkEvent::Ended);
    assert_eq!(steps(&out, "stream"), ["Streaming Complete Completed"]);
}
