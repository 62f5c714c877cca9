//! What Sage's own examples and answers become.

use crate::Cx;
use serde_json::{Value, json};

use crate::link::{DeliveryFailure, LinkEvent, Receipt};
use crate::protocol::{Answer, Decision, Reply, ReplyToken, Response};

use super::super::super::{Dialect, DialectOutput, TransportKind};
use super::{SageBench, briefs, events, told};

pub(super) fn message(kind: &str, fields: Value, payload: Value) -> String {
    let mut map = json!({
        "protocol_version": "sage.runtime.v0", "kind": "notification", "type": kind, "id": "evt",
        "thread_id": "t", "turn_id": "u", "timestamp": "2026-06-30T00:00:00Z", "source": "runtime",
        "payload": payload,
    });
    for (name, value) in fields.as_object().unwrap() {
        map[name] = value.clone();
    }
    map.to_string()
}

/// A bench whose turn has begun and was announced.
pub(super) fn begun() -> SageBench {
    let mut bench = SageBench::new(TransportKind::Lines);
    bench.frame(&message("thread.started", json!({}), json!({})));
    bench.frame(&message(
        "turn.started",
        json!({}),
        json!({"input_item_id": "i"}),
    ));
    bench.wait(300);
    bench
}

fn tool(status: &str, fields: Value) -> String {
    let mut payload = json!({"item_type": "tool_call", "tool_name": "bash", "status": status});
    for (name, value) in fields.as_object().unwrap() {
        payload[name] = value.clone();
    }
    let kind = if status == "started" {
        "item.created"
    } else {
        "item.completed"
    };
    message(kind, json!({"item_id": "c"}), payload)
}

pub(super) fn asks() -> String {
    let payload = json!({"tool_name": "bash", "risk": "critical", "reason": "clean up",
        "input_redacted": false, "input": {"cmd": "rm -r build"}});
    message(
        "permission.requested",
        json!({"request_id": "r/1", "item_id": "p"}),
        payload,
    )
}

pub(super) fn resolved(decision: &str) -> String {
    message(
        "permission.resolved",
        json!({"request_id": "r/1"}),
        json!({"decision": decision}),
    )
}

pub(super) fn reply(out: &[DialectOutput], answer: Answer) -> Reply {
    let token = events(out)
        .iter()
        .find_map(|event| event["reply_token"].as_str().map(str::to_owned))
        .unwrap();
    Reply {
        token: ReplyToken::new(token),
        answer,
        timestamp: "2026-06-30T00:00:05Z".parse().unwrap(),
        decided_by: "user:local".to_owned(),
    }
}

pub(super) fn decision(decision: Decision, why: Option<&str>) -> Answer {
    Answer::Decision {
        decision,
        rationale: why.map(str::to_owned),
    }
}

#[test]
fn the_documents_own_stream_is_told() {
    let mut bench = SageBench::new(TransportKind::OneWay);
    let out = bench.fixture("stream.jsonl");
    assert_eq!(
        briefs(&out),
        [
            r#"session.started request_text="summarize the repository status" summary_normal="summarize the repository status""#,
            r#"state.changed from_state="idle" to_state="thinking""#,
            r#"state.changed from_state="thinking" to_state="calling_tool""#,
            r#"tool.invoked args_summary="README.md" tool="read""#,
            r##"tool.completed status="success" summary_normal="# Sage" tool="read""##,
            r#"state.changed from_state="calling_tool" to_state="thinking""#,
            r#"state.changed from_state="thinking" to_state="awaiting_input""#,
            r#"awaiting.confirmation action="write (input redacted): modify workspace file" risk_level="high" tool="write""#,
            r#"state.changed from_state="awaiting_input" to_state="thinking""#,
            r#"session.errored error_category="requires_user" error_code="PERMISSION_DENIED" summary_normal="Permission denied by user""#,
        ]
    );
    assert_eq!(told(&out), ["translated.denied"]);
}

#[test]
fn the_lines_of_a_program_are_told_like_the_envelopes() {
    let text = std::fs::read_to_string(format!("{}/legacy_stream_mapping.jsonl", super::FIXTURES))
        .unwrap();
    let (mut legacy, mut runtime) = (
        SageBench::new(TransportKind::Lines),
        SageBench::new(TransportKind::Lines),
    );
    let (mut of_lines, mut of_envelopes) = (Vec::new(), Vec::new());
    let mut last = String::new();
    for line in text.lines() {
        let both: Value = serde_json::from_str(line).unwrap();
        let line = both["legacy_output_event"].to_string();
        // A result is one line but two notifications.
        if line != last {
            of_lines.extend(legacy.frame(&line));
        }
        last = line;
        of_envelopes.extend(runtime.frame(&both["protocol_notification"].to_string()));
    }
    let kinds = |out: &[DialectOutput]| -> Vec<String> {
        let kinds = briefs(out).into_iter();
        let kind = |line: String| line.split(' ').next().unwrap().to_owned();
        kinds
            .map(kind)
            .filter(|kind| kind != "session.started" && kind != "state.changed")
            .collect()
    };
    assert_eq!(kinds(&of_lines), kinds(&of_envelopes));
    let lines = briefs(&of_lines);
    assert!(lines.contains(&r##"tool.completed duration_ms=12 status="success" summary_normal="# Sage" tool="read""##.to_owned()), "{lines:?}");
    assert!(
        lines.contains(
            &r#"session.completed duration_ms=120 summary_normal="Done" tool_invocations_count=1"#
                .to_owned()
        ),
        "{lines:?}"
    );
}

#[test]
fn what_a_terminal_would_show_is_told_and_the_spinner_is_not() {
    let mut bench = SageBench::new(TransportKind::Lines);
    let out = bench.fixture("terminal.txt");
    assert_eq!(
        briefs(&out),
        [
            r#"session.started request_text="Run the tests" summary_normal="Run the tests""#,
            r#"state.changed from_state="idle" to_state="thinking""#,
            r#"state.changed from_state="thinking" to_state="writing_output""#,
            r#"output.streaming chunk="I run the tests now." complete=false"#,
            r#"output.streaming chunk="\n" complete=false"#,
            r#"output.streaming chunk="\nThey take a moment." complete=false"#,
            r#"output.streaming chunk="" complete=true"#,
            r#"state.changed from_state="writing_output" to_state="thinking""#,
            r#"state.changed from_state="thinking" to_state="calling_tool""#,
            r#"tool.invoked args_summary="cargo test" tool="bash""#,
            r#"tool.completed status="not_stated" summary_normal="running 12 tests\n12 passed" tool="bash""#,
            r#"state.changed from_state="calling_tool" to_state="thinking""#,
            r#"state.changed from_state="thinking" to_state="calling_tool""#,
            r#"tool.invoked tool="TodoWrite""#,
            r#"tool.completed status="not_stated" tool="TodoWrite""#,
            r#"state.changed from_state="calling_tool" to_state="thinking""#,
            r#"state.changed from_state="thinking" to_state="writing_output""#,
            r#"output.streaming chunk="Done" complete=false"#,
            r#"output.streaming chunk="" complete=true"#,
            r#"state.changed from_state="writing_output" to_state="thinking""#,
            r#"session.completed duration_ms=1200 summary_normal="All 12 tests pass." tool_invocations_count=2"#,
        ]
    );
    assert_eq!(told(&out), Vec::<String>::new());
}

#[test]
fn a_run_ends_as_its_words_say() {
    for (words, wanted) in [
        (
            "Task completed successfully",
            vec!["session.completed tool_invocations_count=0"],
        ),
        (
            "Error: no model",
            vec![r#"session.errored error_category="unknown" summary_normal="no model""#],
        ),
        (
            "Task interrupted by user",
            vec![r#"session.cancelled cancellation_reason="user_cancelled" cancelled_by="user""#],
        ),
        (
            "Task cancelled by user",
            vec![r#"session.cancelled cancellation_reason="user_cancelled" cancelled_by="user""#],
        ),
        (
            "Task reached maximum steps",
            vec![
                r#"session.errored error_category="unknown" error_code="MAX_STEPS" summary_normal="Task reached maximum steps""#,
            ],
        ),
        (
            "Waiting for input: Which file?",
            vec![
                r#"state.changed from_state="thinking" to_state="handing_off""#,
                r#"handoff.requested reason="Which file?" target_kind="human""#,
                r#"session.cancelled cancellation_reason="needs_user_input" cancelled_by="producer""#,
            ],
        ),
    ] {
        let mut bench = SageBench::new(TransportKind::Lines);
        bench.frame(r#"{"type":"system","message":"Sage Agent starting","timestamp":"2026-06-30T00:00:00Z"}"#);
        bench.frame(r#"{"type":"system","message":"Task: x","timestamp":"2026-06-30T00:00:00Z"}"#);
        let result =
            json!({"type": "result", "content": words, "timestamp": "2026-06-30T00:00:01Z"});
        assert_eq!(briefs(&bench.frame(&result.to_string())), wanted, "{words}");
    }
}

#[test]
fn a_program_that_reports_an_error_and_ends_has_failed_by_it() {
    let mut bench = SageBench::new(TransportKind::Lines);
    bench.frame(
        r#"{"type":"system","message":"Sage Agent starting","timestamp":"2026-06-30T00:00:00Z"}"#,
    );
    let out =
        bench.frame(r#"{"type":"error","message":"no key","timestamp":"2026-06-30T00:00:00Z"}"#);
    assert_eq!(briefs(&out), Vec::<String>::new());
    let out = bench.news(&LinkEvent::Ended);
    assert_eq!(
        briefs(&out).last().map(String::as_str),
        Some(r#"session.errored error_category="unknown" summary_normal="no key""#)
    );
    // A turn that goes on announces the error.
    let mut bench = begun();
    let payload =
        json!({"code": "model_failed", "message": "busy", "details": {"retryable": true}});
    bench.frame(&message("error.reported", json!({}), payload));
    assert_eq!(told(&bench.wait(1500)), ["translated.error"]);
}

#[test]
fn a_call_is_told_as_running_only_when_it_does() {
    // No permission is requested for a moment.
    let mut bench = begun();
    assert_eq!(
        briefs(&bench.frame(&tool("started", json!({})))),
        Vec::<String>::new()
    );
    assert_eq!(briefs(&bench.wait(299)), Vec::<String>::new());
    assert_eq!(
        briefs(&bench.wait(2)),
        [
            r#"state.changed from_state="thinking" to_state="calling_tool""#,
            r#"tool.invoked tool="bash""#
        ]
    );
    // It waits for its permission, however long.
    let mut bench = begun();
    bench.frame(&tool("started", json!({})));
    let asked = bench.frame(&asks());
    assert_eq!(
        briefs(&asked),
        [
            r#"state.changed from_state="thinking" to_state="awaiting_input""#,
            r#"awaiting.confirmation action="bash: rm -r build" extra_context={"risk":"critical"} risk_level="high" summary_detailed="clean up" tool="bash""#,
        ]
    );
    assert_eq!(briefs(&bench.wait(60_000)), Vec::<String>::new());
    assert_eq!(
        briefs(&bench.frame(&resolved("allow"))),
        [
            r#"state.changed from_state="awaiting_input" to_state="calling_tool""#,
            r#"tool.invoked tool="bash""#
        ]
    );
    // A permission requested before the call was reported belongs to the same call.
    let mut bench = begun();
    bench.frame(&asks());
    bench.frame(&resolved("allow"));
    assert_eq!(
        briefs(&bench.frame(&tool("started", json!({})))),
        Vec::<String>::new()
    );
    let out = bench.frame(&tool("completed", json!({"success": true})));
    assert_eq!(
        briefs(&out)[0],
        r#"tool.completed status="success" tool="bash""#
    );
}

#[test]
fn what_is_denied_is_told_as_denied_and_never_as_running() {
    let mut bench = begun();
    bench.frame(&tool("started", json!({})));
    bench.frame(&asks());
    let out = bench.frame(&resolved("deny"));
    assert_eq!(
        briefs(&out),
        [r#"state.changed from_state="awaiting_input" to_state="thinking""#]
    );
    assert_eq!(told(&out), ["translated.denied"]);
    // Its end reports the same again.
    let out = bench.frame(&tool(
        "failed",
        json!({"message": "Permission denied by user"}),
    ));
    assert_eq!(
        (briefs(&out).len(), told(&out)),
        (
            0,
            vec![
                "detail translated.illegal".to_owned(),
                "detail translated.illegal".to_owned()
            ]
        )
    );
    // The same without a question.
    let mut bench = begun();
    bench.frame(&tool("started", json!({})));
    let out = bench.frame(&tool("failed", json!({"code": "permission_denied"})));
    assert_eq!(
        (briefs(&out).len(), told(&out)),
        (0, vec!["translated.denied".to_owned()])
    );
}

#[test]
fn an_answer_goes_out_byte_by_byte_as_sage_wants_it() {
    for (answer, payload) in [
        (decision(Decision::Accept, None), r#"{"decision":"allow"}"#),
        (
            decision(Decision::Reject, Some("not now")),
            r#"{"decision":"deny","reason":"not now"}"#,
        ),
    ] {
        let mut bench = begun();
        let asked = bench.frame(&asks());
        let mut out = Vec::new();
        bench.sage.reply(
            4,
            &reply(&asked, answer),
            &mut Cx::new(bench.at(), &mut out),
        );
        let frame = format!(
            r#"{{"protocol_version":"sage.runtime.v0","kind":"request","type":"permission.respond","id":"req_permission_respond_r_1","thread_id":"t","turn_id":"u","request_id":"r/1","timestamp":"2026-06-30T00:00:05.000Z","source":"cli","payload":{payload}}}"#
        );
        assert_eq!(out, [DialectOutput::Send { request: 4, frame }]);
    }
}

fn settled(out: &[DialectOutput]) -> Vec<Result<Receipt, ()>> {
    let outcomes = out.iter().filter_map(|one| match one {
        DialectOutput::Settled {
            request: 4,
            outcome,
        } => Some(outcome.clone().map_err(|_| ())),
        _ => None,
    });
    outcomes.collect()
}

/// A bench whose question was answered, and the answer was written.
fn answered(answer: Answer) -> SageBench {
    let mut bench = begun();
    let asked = bench.frame(&asks());
    let mut out = Vec::new();
    bench.sage.reply(
        4,
        &reply(&asked, answer),
        &mut Cx::new(bench.at(), &mut out),
    );
    let written = LinkEvent::Replied {
        request: 4,
        outcome: Ok(Receipt::Written),
    };
    assert_eq!(settled(&bench.news(&written)), []);
    bench
}

#[test]
fn what_became_of_an_answer_is_told_once() {
    let response = |kind: &str, payload: Value| {
        let fields = json!({"kind": kind, "request_id": "req_permission_respond_r_1"});
        message("permission.respond.result", fields, payload)
    };
    let deny = || decision(Decision::Reject, None);
    // By Sage's acknowledgement.
    let mut bench = answered(deny());
    let out = bench.frame(&response("response", json!({"accepted": true})));
    assert_eq!(settled(&out), [Ok(Receipt::Taken)]);
    assert_eq!(settled(&bench.wait(10_000)), []);
    // By its refusal, in either form.
    let mut bench = answered(deny());
    assert_eq!(
        settled(&bench.frame(&response("response", json!({"accepted": false})))),
        [Err(())]
    );
    let mut bench = answered(deny());
    assert_eq!(
        settled(&bench.frame(&response("error", json!({"code": "invalid_request"})))),
        [Err(())]
    );
    // By the resolution, if it is the person's answer; their own denial is not announced to them.
    let mut bench = answered(deny());
    let out = bench.frame(&resolved("deny"));
    assert_eq!(
        (settled(&out), told(&out)),
        (vec![Ok(Receipt::Taken)], vec![])
    );
    // By a resolution against the person's answer.
    let mut bench = answered(decision(Decision::Accept, None));
    let out = bench.frame(&resolved("deny"));
    assert_eq!(
        (settled(&out), told(&out)),
        (
            vec![Ok(Receipt::Written)],
            vec!["translated.denied".to_owned()]
        )
    );
    // By nothing.
    let mut bench = answered(deny());
    assert_eq!(settled(&bench.wait(2001)), [Ok(Receipt::Written)]);
    // The connection was lost before any acknowledgement.
    let mut bench = answered(deny());
    let lost = LinkEvent::Lost {
        fault: crate::link::Fault::Closed,
        retry_in: std::time::Duration::from_secs(1),
    };
    assert_eq!(settled(&bench.news(&lost)), [Err(())]);
    assert_eq!(settled(&bench.wait(10_000)), []);
    // The answer was not sent.
    let mut bench = answered(deny());
    let lost = DeliveryFailure::Kept(crate::link::Fault::Closed);
    let out = bench.news(&LinkEvent::Replied {
        request: 4,
        outcome: Err(lost),
    });
    assert_eq!(settled(&out), [Err(())]);
    // No question was asked.
    let mut bench = begun();
    let mut out = Vec::new();
    let stray = Reply {
        token: ReplyToken::new("rpl_x".to_owned()),
        ..reply(&answered_question(), deny())
    };
    bench
        .sage
        .reply(4, &stray, &mut Cx::new(bench.at(), &mut out));
    assert_eq!(settled(&out), [Err(())]);
}

fn answered_question() -> Vec<DialectOutput> {
    begun().frame(&asks())
}

#[test]
fn what_sage_wants_to_be_told_is_asked_and_answered() {
    let mut bench = begun();
    let fields = json!({"request_id": "q", "item_id": "item_input_q"});
    let payload = json!({"item_type": "message", "role": "system", "content": "Which file?"});
    let out = bench.frame(&message("item.created", fields, payload));
    assert_eq!(
        briefs(&out)[1],
        r#"awaiting.clarification accepted_response_kinds=["freetext"] question="Which file?""#
    );
    let mut sent = Vec::new();
    let answer = Answer::Response(Response::Text("a.rs".to_owned()));
    bench
        .sage
        .reply(4, &reply(&out, answer), &mut Cx::new(bench.at(), &mut sent));
    let DialectOutput::Send { frame, .. } = &sent[0] else {
        panic!("{sent:?}")
    };
    let frame: Value = serde_json::from_str(frame).unwrap();
    assert_eq!(
        (&frame["type"], &frame["payload"]),
        (&json!("input.respond"), &json!({"text": "a.rs"}))
    );
    let fields = json!({"kind": "response", "request_id": frame["id"]});
    let out = bench.frame(&message(
        "input.respond.result",
        fields,
        json!({"accepted": true}),
    ));
    assert_eq!(settled(&out), [Ok(Receipt::Taken)]);
    assert_eq!(
        briefs(&out),
        [r#"state.changed from_state="awaiting_input" to_state="thinking""#]
    );
}

#[test]
fn what_goes_on_after_the_end_of_its_turn_is_told_all_the_same() {
    let mut bench = begun();
    let done = message("turn.completed", json!({}), json!({"status": "completed"}));
    bench.frame(&done);
    let out = bench.frame(&asks());
    assert!(
        briefs(&out)
            .iter()
            .any(|line| line.starts_with("awaiting.confirmation"))
    );
    assert!(told(&out).contains(&"detail translated.illegal".to_owned()));
    // A second end has no effect.
    let mut bench = begun();
    bench.frame(&done);
    assert_eq!(briefs(&bench.frame(&done)), Vec::<String>::new());
}

#[test]
fn text_that_comes_in_pieces_and_then_whole_is_told_once() {
    let mut bench = begun();
    let text = |kind: &str, item: &str, words: &str| {
        let payload = json!({"item_type": "assistant_message", "content": words});
        message(kind, json!({"item_id": item}), payload)
    };
    let mut out = Vec::new();
    for (kind, item, words) in [
        ("item.updated", "1", "Hel"),
        ("item.updated", "2", "lo"),
        ("item.created", "3", "Hello"),
        ("item.created", "4", "More"),
        ("item.updated", "4", "More of it"),
        ("item.completed", "4", "More of it"),
    ] {
        out.extend(bench.frame(&text(kind, item, words)));
    }
    let chunks: Vec<String> = events(&out)
        .iter()
        .filter_map(|event| event["chunk"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(chunks.concat(), "HelloMore of it");
}

#[test]
fn what_is_none_of_sages_is_counted() {
    let mut bench = SageBench::new(TransportKind::Lines);
    let unknown = message("turn.purple", json!({}), json!({}));
    assert_eq!(told(&bench.frame(&unknown)), ["unread"]);
    assert_eq!(told(&bench.frame("Compiling x")), ["unread"]);
}

#[test]
fn the_end_of_a_long_error_is_kept_as_that_is_where_what_failed_stands() {
    let mut bench = begun();
    bench.frame(&tool("started", json!({})));
    let lines = "Compiling a module\n".repeat(600);
    let out = bench.frame(&tool(
        "failed",
        json!({"message": format!("{lines}1 test, 1 failure")}),
    ));
    let all = events(&out);
    let is_end = |event: &&Value| event["type"] == "aaep:agent.tool.completed";
    let end = all.iter().find(is_end).unwrap();
    let output = &end["extensions"]["hearken"]["output"];
    let last = output["lines"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&output["count"], last.as_str()),
        (&json!(601), Some("1 test, 1 failure"))
    );
}
