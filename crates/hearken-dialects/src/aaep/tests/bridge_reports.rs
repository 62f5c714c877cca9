//! The machine of a watcher of a bridge.

use serde_json::{Value, json};

use super::super::tests::{AaepBench, call, consent, reply, start};
use super::*;
use crate::fleet::{AnsweredBy, Closed, RequestFault, digest_of};
use crate::link::LinkEvent;
use crate::protocol::{Answer, EventId, Response};
use crate::{Dialect, PersonRequest, TransportKind};

fn at() -> jiff::Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn standing() -> BridgeReport {
    BridgeReport::Standing(BridgeAbilities {
        host: "build-3".to_owned(),
        prompts: true,
        several: true,
        stops: true,
        working: true,
        starting: false,
        forgets: false,
    })
}

fn question() -> String {
    json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.awaiting.confirmation", "event_id": "evt_q", "session_id": "sess_1",
        "producer": {"agent_id": "opencode"}, "reply_token": "rpl_1", "action": "rm -rf build",
        "default_decision": "reject", "summary_normal": "Remove it?",
    })
    .to_string()
}

/// A watcher that has agreed with a bridge over its connection.
fn watching() -> AaepBench {
    let mut bench = AaepBench::new(TransportKind::Socket);
    bench.news(LinkEvent::Connected);
    bench.frame(consent().to_string());
    bench.frame(standing().to_event("build-3", "b", 0, at()));
    bench
}

fn sent(out: &[DialectOutput]) -> (u64, Value) {
    let mut sent = out.iter().filter_map(|one| match one {
        DialectOutput::Send { request, frame } => {
            Some((*request, serde_json::from_str(frame).unwrap()))
        }
        _ => None,
    });
    sent.next().unwrap()
}

fn replied(bench: &mut AaepBench, number: u64) -> Vec<DialectOutput> {
    let mut out = Vec::new();
    let mut cx = Cx::new(bench.now, &mut out);
    bench.machine.reply(number, &reply(), &mut cx);
    out
}

fn wished(bench: &mut AaepBench, wish: &PersonRequest) -> Vec<DialectOutput> {
    let mut out = Vec::new();
    bench
        .machine
        .on_person_request(wish, &mut Cx::new(bench.now, &mut out));
    out
}

#[test]
fn an_answer_carries_the_digest_of_its_question_and_settles_once() {
    let mut bench = watching();
    assert_eq!(bench.frame(question()), [DialectOutput::Event(question())]);
    let out = replied(&mut bench, 7);
    let (number, message) = sent(&out);
    assert_eq!(message["type"], "hearken.request");
    assert_eq!(message["subscription_id"], "sub_1");
    assert_eq!(message["digest"], digest_of(&question()).unwrap());
    assert_eq!(message["reply"]["reply_token"], "rpl_1");
    // A request that has left has no outcome yet.
    let outcome = Ok(Receipt::Written);
    let left = LinkEvent::Replied {
        request: number,
        outcome,
    };
    assert_eq!(bench.news(left), []);
    let id = message["request_id"].as_str().unwrap();
    let taken = RequestOutcome::Taken(Receipt::Taken).to_json(id);
    let settled = DialectOutput::Settled {
        request: 7,
        outcome: Ok(Receipt::Taken),
    };
    assert_eq!(bench.frame(taken.clone()), [settled]);
    assert_eq!(bench.frame(taken), [], "once");
    // The report about the watcher's own answer adds nothing.
    let answered = answered_by("anna");
    assert_eq!(bench.frame(answered), []);
}

fn answered_by(person: &str) -> String {
    let how = Closed::Answered(AnsweredBy {
        person: Some(person.to_owned()),
        answer: reply().answer,
        at: at(),
    });
    let question = EventId::from("evt_q");
    BridgeReport::Closed {
        question,
        reason: how,
    }
    .to_event("build-3", "b", 1, at())
}

#[test]
fn somebody_elses_answer_is_reported() {
    let mut bench = watching();
    bench.frame(question());
    let told = DialectOutput::AnsweredBy {
        token: "rpl_1".to_owned(),
        person: Some("anna".to_owned()),
        answer: reply().answer,
    };
    assert_eq!(bench.frame(answered_by("anna")), [told]);
}

#[test]
fn what_the_bridge_declines_is_declined_for_good() {
    let decided = RequestOutcome::Decided(AnsweredBy {
        person: None,
        answer: Answer::Response(Response::YesNo(true)),
        at: at(),
    });
    let (kept, refused) = (false, true);
    let only_seen = RequestOutcome::NotTaken(RequestFault::OnlySeen);
    let lost = RequestOutcome::NotTaken(RequestFault::Lost);
    for (outcome, key, may_be_decided) in [
        (RequestOutcome::Changed, "bridge.changed", kept),
        (only_seen, "bridge.why.only_seen", kept),
        (RequestOutcome::Closed, "bridge.closed", refused),
        (RequestOutcome::Unknown, "bridge.unknown", refused),
        (decided, "bridge.first.answered", refused),
        (lost, "bridge.why.lost", refused),
    ] {
        let mut bench = watching();
        bench.frame(question());
        let out = replied(&mut bench, 7);
        let (_, message) = sent(&out);
        let id = message["request_id"].as_str().unwrap();
        let mut out = bench.frame(outcome.to_json(id));
        let settled = out.pop();
        let Some(DialectOutput::Settled {
            request: 7,
            outcome: Err(undelivered),
        }) = settled
        else {
            panic!("{settled:?}");
        };
        // Who was first is said before the watcher's own answer is reported as too late.
        let is_first =
            matches!(&out[..], [DialectOutput::AnsweredBy { token, .. }] if token == "rpl_1");
        assert_eq!(is_first, key == "bridge.first.answered");
        let is_refused = matches!(undelivered, DeliveryFailure::Refused(_));
        assert_eq!(is_refused, may_be_decided, "{key}");
        let Fault::Declined(phrase) = undelivered.fault() else {
            panic!("{undelivered:?}");
        };
        assert_eq!(phrase.key, key);
        assert!(undelivered.fault().is_final(), "it is not sent again");
    }
}

#[test]
fn an_outcome_that_never_comes_is_unknown() {
    let unknown = |fault| DialectOutput::Settled {
        request: 7,
        outcome: Err(DeliveryFailure::Unknown(fault)),
    };
    let mut bench = watching();
    bench.frame(question());
    replied(&mut bench, 7);
    let due = bench.machine.deadline().unwrap();
    bench.now.monotonic = due;
    let mut out = Vec::new();
    bench.machine.tick(&mut Cx::new(bench.now, &mut out));
    assert_eq!(out, [unknown(Fault::TimedOut)]);
    assert_eq!(bench.machine.deadline(), None);
    replied(&mut bench, 7);
    let lost = LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::ZERO,
    };
    assert!(bench.news(lost).contains(&unknown(Fault::Closed)));
}

#[test]
fn a_request_that_never_left_is_kept() {
    let mut bench = watching();
    bench.frame(question());
    let out = replied(&mut bench, 7);
    let (number, _) = sent(&out);
    let kept = Err(DeliveryFailure::Kept(Fault::Closed));
    let left = LinkEvent::Replied {
        request: number,
        outcome: kept.clone(),
    };
    let settled = DialectOutput::Settled {
        request: 7,
        outcome: kept,
    };
    assert_eq!(bench.news(left), [settled]);
}

#[test]
fn beside_a_stream_the_answer_is_the_outcome() {
    let mut bench = AaepBench::of(start(TransportKind::EventStream));
    let out = bench.news(LinkEvent::Connecting { attempt: 1 });
    let out = bench.answer(call(&out).0, 404, &json!({}));
    bench.answer(call(&out).0, 201, &consent());
    bench.news(LinkEvent::Connected);
    bench.frame(standing().to_event("build-3", "b", 0, at()));
    bench.frame(question());
    let asked = |bench: &mut AaepBench, number| call(&replied(bench, number)).0;
    let settled = |request, outcome| [DialectOutput::Settled { request, outcome }];
    let number = asked(&mut bench, 7);
    let taken: Value =
        serde_json::from_str(&RequestOutcome::Taken(Receipt::Written).to_json("req_1")).unwrap();
    let out = bench.answer(number, 200, &taken);
    assert_eq!(out, settled(7, Ok(Receipt::Written)));
    // A server that refuses did not take it; one that fails may have.
    let fault = |status| Fault::Status {
        status,
        retry_after: None,
    };
    let number = asked(&mut bench, 8);
    let refused = DeliveryFailure::Refused(fault(404));
    assert_eq!(
        bench.answer(number, 404, &json!({})),
        settled(8, Err(refused))
    );
    let number = asked(&mut bench, 9);
    let unknown = DeliveryFailure::Unknown(fault(500));
    assert_eq!(
        bench.answer(number, 500, &json!({})),
        settled(9, Err(unknown))
    );
}

#[test]
fn prompts_and_stops_go_through_it_to_the_agent_that_is_meant() {
    let mut bench = watching();
    let connection = bench.machine.connection();
    assert!(connection.takes_prompts && connection.converses && connection.in_turn);
    assert!(!connection.never_stops && !connection.only_heard);
    let opencode = || AgentId::from("opencode");
    let of = |wish| PersonRequest::ForAgent(opencode(), Box::new(wish));
    let content = |out: &[DialectOutput]| {
        let (_, mut message) = sent(out);
        let fields = message.as_object_mut().unwrap();
        for field in ["type", "subscription_id", "request_id"] {
            fields.remove(field);
        }
        message
    };
    let out = wished(&mut bench, &PersonRequest::Prompt("say hello".to_owned()));
    assert_eq!(content(&out), json!({"prompt": "say hello"}));
    let out = wished(&mut bench, &of(PersonRequest::Stop));
    assert_eq!(content(&out), json!({"stop": true, "agent_id": "opencode"}));
    let out = wished(&mut bench, &of(PersonRequest::Set(Some("mode".to_owned()))));
    assert_eq!(
        content(&out),
        json!({"set": "mode", "agent_id": "opencode"})
    );
    let out = wished(&mut bench, &of(PersonRequest::Prompt("x".to_owned())));
    let (_, message) = sent(&out);
    let id = message["request_id"].as_str().unwrap();
    let outcome = RequestOutcome::NotTaken(RequestFault::NoPrompts).to_json(id);
    let out = bench.frame(outcome);
    assert!(
        matches!(&out[..], [DialectOutput::Announce(phrase)] if phrase.key == "prompt.not_taken")
    );
}

#[test]
fn a_bridge_takes_a_prompt_before_it_has_reported_anything() {
    let mut bench = AaepBench::new(TransportKind::Socket);
    bench.news(LinkEvent::Connected);
    let mut consent = consent();
    consent["producer"]["agent_id"] = crate::fleet::BRIDGE.into();
    bench.frame(consent.to_string());
    let connection = bench.machine.connection();
    assert!(connection.takes_prompts && connection.gets_ready);
    let out = wished(&mut bench, &PersonRequest::Prompt("say hello".to_owned()));
    assert_eq!(sent(&out).1["prompt"], "say hello");
}

#[test]
fn a_producer_that_is_no_bridge_gets_plain_replies() {
    let mut bench = AaepBench::new(TransportKind::Socket);
    bench.news(LinkEvent::Connected);
    bench.frame(consent().to_string());
    bench.frame(question());
    let out = replied(&mut bench, 7);
    let (number, message) = sent(&out);
    assert_eq!(
        (number, &message["type"]),
        (7, &json!("confirmation.reply"))
    );
    assert!(!bench.machine.connection().takes_prompts);
}

#[test]
fn what_is_only_to_be_seen_is_passed_on_as_such() {
    let mut bench = watching();
    let mut event: Value = serde_json::from_str(&question()).unwrap();
    event["extensions"] = json!({"hearken": {"view_only": true}});
    let text = event.to_string();
    assert_eq!(bench.frame(text.clone()), [DialectOutput::ViewOnly(text)]);
}

#[test]
fn a_notice_is_heard_in_the_persons_language() {
    let mut bench = watching();
    let said = crate::in_summary([("en", "It was lost."), ("de", "Sie ist weg.")].map(
        |(language, words)| crate::WordedSentence {
            language: language.to_owned(),
            terse: words.to_owned(),
            normal: words.to_owned(),
            detailed: words.to_owned(),
        },
    ));
    let language = Some("en".to_owned());
    let notice = BridgeReport::Notice { said, language }.to_event("build-3", "b", 1, at());
    let heard = |out: Vec<DialectOutput>| match &out[..] {
        [DialectOutput::Announce(phrase)] => phrase.args[0].1.clone(),
        other => panic!("{other:?}"),
    };
    let words = |text: &str| PhraseArg::Agent(text.to_owned());
    assert_eq!(heard(bench.frame(notice.clone())), words("It was lost."));
    bench.machine.wanted_terms.languages = vec!["de-AT".to_owned()];
    assert_eq!(heard(bench.frame(notice)), words("Sie ist weg."));
}

#[test]
fn a_person_hears_once_that_a_bridge_does_not_repeat_all_questions() {
    let mut bench = watching();
    let told = |out: &[DialectOutput]| {
        let is_loss = |one: &&DialectOutput| matches!(one, DialectOutput::Announce(phrase) if phrase.key == "bridge.forgets");
        out.iter().filter(is_loss).count()
    };
    let full = BridgeReport::Standing(BridgeAbilities {
        host: "build-3".to_owned(),
        forgets: true,
        ..BridgeAbilities::default()
    });
    let full = full.to_event("build-3", "b", 1, at());
    assert_eq!(told(&bench.frame(full.clone())), 1);
    assert_eq!(told(&bench.frame(full)), 0);
}
