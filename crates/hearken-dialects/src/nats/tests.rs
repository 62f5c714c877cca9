//! The machine of a NATS space.

mod selection;

use serde_json::{Value, json};

use super::*;
use crate::fleet::{BridgeAbilities, BridgeReport, EventSubject, Machine, digest_of};
use crate::kit::rig::start;
use crate::link::{DeliveryFailure, LinkEvent, Receipt, ServiceCall};
use crate::protocol::{AgentId, Answer, Decision, Now, ReplyToken};
use crate::{CatchUpPhase, DialectOutput, QuestionEnd, TransportKind};

/// Messages for the tests of all dialects.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","producer":{"agent_id":"opencode"}}"#,
];

/// Drives a machine, and keeps its outputs.
struct NatsBench {
    machine: Nats,
    now: Now,
    /// The position of the latest frame.
    position: u64,
}

impl NatsBench {
    /// A machine whose connection has just come up, and the request that finds the bridges.
    fn joining() -> (Self, u64) {
        let mut bench = Self {
            machine: Nats::new(DialectSetup {
                carrier: TransportKind::Broker,
                ..start()
            }),
            now: Now {
                monotonic: Duration::from_secs(1),
                wall: "2026-01-01T00:00:00Z".parse().unwrap(),
            },
            position: 0,
        };
        let follow = bench.news(LinkEvent::Connecting { attempt: 1 });
        assert!(matches!(&follow[..], [DialectOutput::Follow(_)]));
        let discovery = calls(&bench.news(LinkEvent::Connected));
        assert_eq!(discovery[0].1.subject, "$SRV.PING.aaep-bridge");
        (bench, discovery[0].0)
    }

    /// A machine that has found no bridge yet, and holds nothing back.
    fn joined() -> Self {
        let (mut bench, discovery) = Self::joining();
        bench.end(discovery);
        bench
    }

    fn news(&mut self, event: LinkEvent) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        self.machine.news(&event, &mut Cx::new(self.now, &mut out));
        out
    }

    fn frame(&mut self, subject: &str, text: &str) -> Vec<DialectOutput> {
        self.position += 1;
        let event = Some(subject.to_owned());
        let position = Some(self.position);
        self.news(LinkEvent::Frame(Frame {
            event,
            position,
            ..Frame::of(text)
        }))
    }

    /// An event that a machine publishes as it should.
    fn event(&mut self, host: &str, event: &Value) -> Vec<DialectOutput> {
        let machine = Machine::named(&Space::named("main"), host);
        let subject = EventSubject::of(&machine, event.as_object().unwrap());
        self.frame(&subject.to_string(), &event.to_string())
    }

    fn part(&mut self, request: u64, text: &Value) -> Vec<DialectOutput> {
        let text = text.to_string();
        self.news(LinkEvent::Piece { request, text })
    }

    /// The end of an answer of several parts.
    fn end(&mut self, request: u64) -> Vec<DialectOutput> {
        self.answered(request, "")
    }

    fn answered(&mut self, request: u64, body: &str) -> Vec<DialectOutput> {
        let outcome = Ok(HttpAnswer {
            status: 200,
            location: None,
            retry_after: None,
            body: body.to_owned(),
        });
        self.news(LinkEvent::Answered { request, outcome })
    }

    fn replied(&mut self, number: u64, token: &str) -> Vec<DialectOutput> {
        let reply = Reply {
            token: ReplyToken::new(token.to_owned()),
            answer: Answer::Decision {
                decision: Decision::Accept,
                rationale: None,
            },
            decided_by: "user:anna".to_owned(),
            timestamp: self.now.wall,
        };
        let mut out = Vec::new();
        let mut cx = Cx::new(self.now, &mut out);
        self.machine.reply(number, &reply, &mut cx);
        out
    }

    fn wished(&mut self, wish: &PersonRequest) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        self.machine
            .on_person_request(wish, &mut Cx::new(self.now, &mut out));
        out
    }

    fn wait(&mut self, seconds: u64) -> Vec<DialectOutput> {
        self.now.monotonic += Duration::from_secs(seconds);
        let mut out = Vec::new();
        self.machine.tick(&mut Cx::new(self.now, &mut out));
        out
    }
}

fn calls(out: &[DialectOutput]) -> Vec<(u64, ServiceCall)> {
    let calls = out.iter().filter_map(|one| match one {
        DialectOutput::CallService { request, call } => Some((*request, call.clone())),
        _ => None,
    });
    calls.collect()
}

fn started(agent: &str, session: &str, id: &str) -> Value {
    json!({
        "type": "aaep:agent.session.started", "event_id": id, "session_id": session,
        "producer": {"agent_id": agent},
    })
}

fn question(session: &str, id: &str, token: &str) -> Value {
    json!({
        "type": "aaep:agent.awaiting.confirmation", "event_id": id, "session_id": session,
        "producer": {"agent_id": "opencode"}, "reply_token": token, "action": "rm -rf build",
    })
}

/// Returns what a bridge reports of itself, in a session of its own.
fn standing(host: &str, session: &str) -> Value {
    standing_of(host, session, false)
}

fn standing_of(host: &str, session: &str, forgets: bool) -> Value {
    let standing = BridgeReport::Standing(BridgeAbilities {
        host: host.to_owned(),
        prompts: true,
        several: false,
        stops: true,
        working: false,
        starting: false,
        forgets,
    });
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    serde_json::from_str(&standing.to_event(host, session, 0, at)).unwrap()
}

/// Returns the events that were passed on.
fn events(out: &[DialectOutput]) -> Vec<Value> {
    let texts = out.iter().filter_map(|one| match one {
        DialectOutput::Event(text) => Some(serde_json::from_str(text).unwrap()),
        _ => None,
    });
    texts.collect()
}

fn phrases(out: &[DialectOutput]) -> Vec<&'static str> {
    let keys = out.iter().filter_map(|one| match one {
        DialectOutput::Announce(phrase) => Some(phrase.key),
        _ => None,
    });
    keys.collect()
}

#[test]
fn an_event_is_passed_on_with_the_machine_of_its_subject() {
    let mut bench = NatsBench::joined();
    let mut event = started("opencode", "sess_1", "evt_1");
    event["extensions"] = json!({"hearken": {"host": "bank"}});
    let passed = events(&bench.event("build-3", &event));
    assert_eq!(passed[0]["extensions"]["hearken"]["host"], "build-3");
}

#[test]
fn a_machine_that_does_not_repeat_all_its_questions_is_told_of_once() {
    let mut bench = NatsBench::joined();
    let told = |bench: &mut NatsBench, host: &str, forgets| {
        let event = standing_of(host, "bridge1", forgets);
        let told = phrases(&bench.event(host, &event));
        told.contains(&"bridge.forgets")
    };
    assert!(!told(&mut bench, "build-3", false));
    assert!(told(&mut bench, "build-3", true));
    assert!(!told(&mut bench, "build-3", true));
    assert!(told(&mut bench, "build-4", true));
}

#[test]
fn what_a_subject_does_not_say_is_left_out_and_counted() {
    let mut bench = NatsBench::joined();
    let event = started("opencode", "sess_1", "evt_1").to_string();
    let other_agent = "aaep.v1.main.build-3.codex.sess_1.life";
    assert_eq!(phrases(&bench.frame(other_agent, &event)), ["fleet.forged"]);
    for _ in 0..8 {
        assert_eq!(bench.frame(other_agent, &event), []);
    }
    assert_eq!(
        phrases(&bench.frame(other_agent, &event)),
        ["fleet.forged"],
        "the tenth"
    );
    let other_session = "aaep.v1.main.build-3.opencode.sess_2.life";
    assert_eq!(
        events(&bench.frame(other_session, &event)),
        [] as [Value; 0]
    );
    assert_eq!(
        events(&bench.frame("other.subject", &event)),
        [] as [Value; 0]
    );
}

#[test]
fn agents_of_one_name_on_two_machines_are_two_agents() {
    let mut bench = NatsBench::joined();
    let here = started("opencode", "sess_1", "evt_1");
    let there = started("opencode", "sess_1", "evt_2");
    let first = events(&bench.event("build-3", &here));
    let second = events(&bench.event("build-4", &there));
    assert_eq!(first[0]["producer"]["agent_id"], "opencode");
    assert_eq!(second[0]["producer"]["agent_id"], "opencode@build-4");
    assert_eq!(second[0]["producer"]["agent_name"], "opencode");
    let stop = PersonRequest::ForAgent(
        AgentId::from("opencode@build-4"),
        Box::new(PersonRequest::Stop),
    );
    let call = &calls(&bench.wished(&stop))[0].1;
    assert!(
        call.subject
            .starts_with("aaep-do.v1.main.build-4.opencode.")
    );
    assert_eq!(call.body, r#"{"stop":true}"#);
}

#[test]
fn an_answer_goes_to_its_machine_with_the_digest_of_what_was_shown() {
    let mut bench = NatsBench::joined();
    let asked = question("sess_1", "evt_q", "rpl_1");
    bench.event("build-3", &asked);
    let (request, call) = calls(&bench.replied(7, "rpl_1")).remove(0);
    assert_eq!(call.subject, "aaep-reply.v1.main.build-3.opencode.sess_1");
    let digest = digest_of(&asked.to_string()).unwrap();
    let headers = [
        ("Hearken-Digest", digest),
        ("Hearken-By", "anna".to_owned()),
    ];
    assert_eq!(call.headers, headers);
    let out = bench.answered(request, r#"{"result":"taken"}"#);
    let settled = DialectOutput::Settled {
        request: 7,
        outcome: Ok(Receipt::Taken),
    };
    assert_eq!(out, [settled]);
}

#[test]
fn one_token_on_two_machines_leads_to_each_machines_question() {
    let mut bench = NatsBench::joined();
    let asked = question("sess_1", "evt_q", "rpl_1");
    bench.event("build-3", &asked);
    let mut other = question("sess_1", "evt_p", "rpl_1");
    other["action"] = json!("ls");
    let passed = events(&bench.event("build-4", &other));
    let token = passed[0]["reply_token"].as_str().unwrap();
    assert_ne!(token, "rpl_1");
    let call = calls(&bench.replied(8, token)).remove(0).1;
    assert_eq!(call.subject, "aaep-reply.v1.main.build-4.opencode.sess_1");
    let body: Value = serde_json::from_str(&call.body).unwrap();
    assert_eq!(
        body["reply_token"], "rpl_1",
        "the machine knows its own token"
    );
    let call = calls(&bench.replied(9, "rpl_1")).remove(0).1;
    assert_eq!(call.subject, "aaep-reply.v1.main.build-3.opencode.sess_1");
}

#[test]
fn a_machine_can_not_take_what_is_meant_for_another_by_its_names() {
    let mut bench = NatsBench::joined();
    // `evil` gives its agent and its token the names that those of `build-4` would get.
    bench.event("evil", &started("opencode@build-4", "sess_1", "evt_1"));
    let mut lure = question("sess_1", "evt_2", "rpl_1x2");
    lure["producer"]["agent_id"] = json!("opencode@build-4");
    bench.event("evil", &lure);
    bench.event("build-3", &question("sess_1", "evt_3", "rpl_1"));
    let real = events(&bench.event("build-4", &question("sess_1", "evt_4", "rpl_1")));
    let token = real[0]["reply_token"].as_str().unwrap();
    let call = calls(&bench.replied(7, token)).remove(0).1;
    assert_eq!(call.subject, "aaep-reply.v1.main.build-4.opencode.sess_1");
    let agent = real[0]["producer"]["agent_id"].as_str().unwrap();
    let stop = PersonRequest::ForAgent(AgentId::from(agent), Box::new(PersonRequest::Stop));
    let call = calls(&bench.wished(&stop)).remove(0).1;
    assert_eq!(call.subject, "aaep-do.v1.main.build-4.opencode.sess_1");
}

#[test]
fn nobody_there_means_that_the_machine_is_away_and_the_question_stays() {
    let mut bench = NatsBench::joined();
    bench.event("build-3", &question("sess_1", "evt_q", "rpl_1"));
    let request = calls(&bench.replied(7, "rpl_1"))[0].0;
    let outcome = Err(Fault::Refused);
    let out = bench.news(LinkEvent::Answered { request, outcome });
    let [
        DialectOutput::Settled {
            outcome: Err(DeliveryFailure::Kept(Fault::Declined(why))),
            ..
        },
    ] = &out[..]
    else {
        panic!("{out:?}");
    };
    assert_eq!(why.key, "bridge.why.away");
}

#[test]
fn a_machine_without_a_sign_of_life_is_away_and_comes_back() {
    let mut bench = NatsBench::joined();
    let alive = "aaep-alive.v1.main.build-3";
    let inquiry = calls(&bench.frame(alive, ""));
    assert_eq!(inquiry[0].1.subject, "aaep-now.v1.main.build-3");
    bench.end(inquiry[0].0);
    bench.wait(20);
    assert_eq!(bench.frame(alive, ""), []);
    assert_eq!(bench.wait(29), []);
    assert_eq!(phrases(&bench.wait(1)), ["fleet.away"]);
    assert_eq!(bench.wait(100), [], "once");
    let out = bench.frame(alive, "");
    assert_eq!(phrases(&out), ["fleet.back"]);
    assert_eq!(calls(&out)[0].1.subject, "aaep-now.v1.main.build-3");
}

/// Finds the machine `build-3`, and returns the request for its snapshot.
fn found(bench: &mut NatsBench, discovery: u64) -> u64 {
    let metadata = json!({"metadata": {"space": "main", "host": "build-3"}});
    let inquiry = calls(&bench.part(discovery, &metadata));
    assert_eq!(inquiry[0].1.subject, "aaep-now.v1.main.build-3");
    inquiry[0].0
}

#[test]
fn what_runs_already_comes_before_what_was_missed_and_nothing_comes_twice() {
    let (mut bench, discovery) = NatsBench::joining();
    let earlier = started("opencode", "sess_1", "evt_1");
    let missed = started("opencode", "sess_2", "evt_2");
    assert_eq!(bench.event("build-3", &missed), []);
    assert_eq!(bench.news(LinkEvent::CaughtUp), []);
    let inquiry = found(&mut bench, discovery);
    let snapshot = json!({"sequence": 1, "events": [earlier, missed]});
    assert_eq!(bench.part(inquiry, &snapshot), []);
    assert_eq!(bench.end(discovery), []);
    let out = bench.end(inquiry);
    let ids: Vec<Value> = events(&out)
        .iter()
        .map(|event| event["event_id"].clone())
        .collect();
    assert_eq!(ids, ["evt_1", "evt_2"]);
    assert_eq!(out[1], DialectOutput::Missed(CatchUpPhase::Begins));
    assert_eq!(out[3], DialectOutput::Missed(CatchUpPhase::IsOver));
}

#[test]
fn a_silent_machine_holds_back_what_is_delivered_for_two_seconds_at_most() {
    let (mut bench, discovery) = NatsBench::joining();
    found(&mut bench, discovery);
    assert_eq!(
        bench.event("build-4", &started("codex", "sess_1", "evt_1")),
        []
    );
    assert_eq!(bench.wait(1), []);
    assert_eq!(bench.machine.deadline(), Some(Duration::from_secs(3)));
    assert_eq!(events(&bench.wait(1)).len(), 1);
    let after = bench.event("build-4", &started("codex", "sess_2", "evt_2"));
    assert_eq!(events(&after).len(), 1);
}

#[test]
fn a_bridge_that_was_started_again_does_not_know_the_question_before_it() {
    let mut bench = NatsBench::joined();
    bench.event("build-3", &question("sess_1", "evt_q", "rpl_1"));
    bench.event("build-3", &question("sess_2", "evt_p", "rpl_2"));
    assert_eq!(
        calls(&bench.event("build-3", &standing("build-3", "bridge-1"))),
        []
    );
    let inquiry = calls(&bench.event("build-3", &standing("build-3", "bridge-2")))[0].0;
    bench.part(
        inquiry,
        &json!({"sequence": 4, "events": [question("sess_2", "evt_p", "rpl_2")]}),
    );
    let over = DialectOutput::Over {
        token: "rpl_1".to_owned(),
        reason: QuestionEnd::Forgotten,
    };
    assert_eq!(bench.end(inquiry), [over]);
}

#[test]
fn a_prompt_without_an_agent_needs_the_only_machine_with_the_only_agent() {
    let mut bench = NatsBench::joined();
    let prompt = PersonRequest::Prompt("go on".to_owned());
    assert_eq!(phrases(&bench.wished(&prompt)), ["prompt.not_taken"]);
    bench.event("build-3", &standing("build-3", "bridge-1"));
    let call = calls(&bench.wished(&prompt)).remove(0).1;
    assert_eq!(call.subject, "aaep-do.v1.main.build-3.hearken-bridge.=");
    assert_eq!(call.body, r#"{"prompt":"go on"}"#);
    bench.event("build-4", &standing("build-4", "bridge-2"));
    assert_eq!(phrases(&bench.wished(&prompt)), ["prompt.not_taken"]);
}

#[test]
fn requests_whose_connection_is_lost_perhaps_arrived() {
    let mut bench = NatsBench::joined();
    bench.event("build-3", &question("sess_1", "evt_q", "rpl_1"));
    bench.replied(7, "rpl_1");
    let out = bench.news(LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    });
    let perhaps = |one: &DialectOutput| {
        matches!(
            one,
            DialectOutput::Settled {
                request: 7,
                outcome: Err(DeliveryFailure::Unknown(_))
            }
        )
    };
    assert!(out.iter().any(perhaps), "{out:?}");
}
