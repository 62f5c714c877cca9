//! Selected agents: what is delivered, what they did before, what the others' bridges report.

use super::*;
use crate::fleet::{DangerKind, ReportedDanger};
use crate::link::Address;
use crate::protocol::EventId;
use crate::{AgentPast, RemoteMachine};

impl NatsBench {
    fn selected(&mut self, agents: Option<&[&str]>) -> Vec<DialectOutput> {
        let agents: Option<Vec<AgentId>> =
            agents.map(|agents| agents.iter().map(|&agent| AgentId::from(agent)).collect());
        let mut out = Vec::new();
        let mut cx = Cx::new(self.now, &mut out);
        self.machine.select(agents.as_deref(), &mut cx);
        out
    }

    fn alive(&mut self, host: &str, sign: &str) -> Vec<DialectOutput> {
        self.frame(&format!("aaep-alive.v1.main.{host}"), sign)
    }
}

/// Returns the subjects that are asked for.
fn followed(out: &[DialectOutput]) -> Vec<String> {
    let subjects = out.iter().filter_map(|one| match one {
        DialectOutput::Follow(stream) => match &stream.at {
            Address::Stored(consumer) => Some(consumer.subjects.clone()),
            _ => None,
        },
        _ => None,
    });
    subjects.flatten().collect()
}

#[test]
fn of_agents_that_are_not_selected_only_what_matters_is_delivered() {
    let mut bench = NatsBench::joined();
    bench.event("build-3", &started("opencode", "sess_1", "evt_1"));
    let questions = ["aaep.v1.main.*.*.*.ask", "aaep.v1.main.*.*.*.life"];
    assert_eq!(followed(&bench.selected(Some(&[]))), questions);
    let out = bench.selected(Some(&["opencode"]));
    let of_agent = [
        "aaep.v1.main.build-3.opencode.*.act",
        "aaep.v1.main.build-3.opencode.*.text",
    ];
    assert_eq!(followed(&out)[2..], of_agent);
    assert_eq!(bench.selected(Some(&["opencode"])), [], "nothing changes");
    assert_eq!(followed(&bench.selected(None)), ["aaep.v1.main.>"]);
}

#[test]
fn a_lost_connection_comes_back_with_the_same_selection() {
    let mut bench = NatsBench::joined();
    let selected = followed(&bench.selected(Some(&[])));
    bench.news(LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    });
    let again = bench.news(LinkEvent::Connecting { attempt: 1 });
    assert_eq!(followed(&again), selected);
}

/// Selects an agent, and returns the request that creates the consumer of its past.
fn selects(bench: &mut NatsBench) -> (u64, ServiceCall) {
    bench.event("build-3", &started("opencode", "sess_1", "evt_1"));
    bench.selected(Some(&[]));
    let mut calls = calls(&bench.selected(Some(&["opencode"])));
    assert_eq!(calls.len(), 1);
    calls.remove(0)
}

fn text(chunk: &str, is_complete: bool) -> Value {
    json!({"type": "aaep:agent.output.streaming", "chunk": chunk, "complete": is_complete})
}

#[test]
fn what_a_selected_agent_did_before_is_read_once_and_in_its_order() {
    let mut bench = NatsBench::joined();
    let (create, call) = selects(&mut bench);
    let consumer = "$JS.API.CONSUMER.CREATE.AAEP_main.hearken-nobody=past";
    assert_eq!(call.subject, consumer);
    let config: Value = serde_json::from_str(&call.body).unwrap();
    assert_eq!(config["config"]["deliver_policy"], "all");
    let read = calls(&bench.answered(create, r#"{"num_pending": 4}"#));
    assert_eq!(read[0].1.body, r#"{"batch":4,"no_wait":true}"#);
    let request = read[0].0;
    let tool = json!({"type": "aaep:agent.tool.invoked", "summary_normal": "Runs the tests."});
    for part in [
        text("Hel", false),
        text("lo.", true),
        tool,
        text("Bye", false),
    ] {
        assert_eq!(bench.part(request, &part), []);
    }
    let out = bench.end(request);
    let texts = ["Hello.", "Runs the tests.", "Bye"];
    let recalled = AgentPast {
        agent: AgentId::from("opencode"),
        texts: texts.map(str::to_owned).to_vec(),
        left_out: 0,
    };
    assert_eq!(out[0], DialectOutput::Recalled(recalled));
    let deleted = "$JS.API.CONSUMER.DELETE.AAEP_main.hearken-nobody=past";
    assert_eq!(calls(&out)[0].1.subject, deleted);
    // Selected once more, it is not read again.
    assert_eq!(calls(&bench.selected(Some(&["opencode"]))), []);
}

#[test]
fn of_a_long_past_the_end_is_read_and_the_rest_is_counted() {
    let mut bench = NatsBench::joined();
    let (create, _) = selects(&mut bench);
    let mut request = create;
    for since in ["2025-12-31T23:00:00Z", "2025-12-31T23:55:00Z"] {
        let deletes = calls(&bench.answered(request, r#"{"num_pending": 20000}"#));
        let creates = calls(&bench.answered(deletes[0].0, r#"{"success": true}"#));
        let config: Value = serde_json::from_str(&creates[0].1.body).unwrap();
        assert_eq!(config["config"]["opt_start_time"], since);
        request = creates[0].0;
    }
    let read = calls(&bench.answered(request, r#"{"num_pending": 10007}"#));
    let request = read[0].0;
    for number in 0..250 {
        bench.part(request, &text(&format!("{number}."), true));
    }
    let out = bench.end(request);
    let DialectOutput::Recalled(recalled) = &out[0] else {
        panic!("{out:?}");
    };
    assert_eq!(recalled.texts.len(), 200);
    assert_eq!(recalled.texts[199], "249.");
    assert_eq!(recalled.left_out, 57);
}

#[test]
fn a_past_that_can_not_be_read_is_reported() {
    for refusal in [r#"{"error":{"code":403,"description":"no"}}"#, "", "x"] {
        let mut bench = NatsBench::joined();
        let (create, _) = selects(&mut bench);
        let out = bench.answered(create, refusal);
        assert_eq!(phrases(&out), ["fleet.not_recalled"], "{refusal}");
    }
    let mut bench = NatsBench::joined();
    let (request, _) = selects(&mut bench);
    let outcome = Err(Fault::TimedOut);
    let out = bench.news(LinkEvent::Answered { request, outcome });
    assert_eq!(phrases(&out), ["fleet.not_recalled"]);
}

#[test]
fn a_hostile_past_stays_within_bounds() {
    let mut bench = NatsBench::joined();
    let (create, _) = selects(&mut bench);
    let read = calls(&bench.answered(create, r#"{"num_pending": 3}"#));
    let request = read[0].0;
    // One text that never ends.
    for _ in 0..2000 {
        bench.part(request, &text(&"x".repeat(1000), false));
    }
    let out = bench.end(request);
    let DialectOutput::Recalled(recalled) = &out[0] else {
        panic!("{out:?}");
    };
    let size: usize = recalled.texts.iter().map(String::len).sum();
    assert!(recalled.texts.len() <= 200 && size <= 200 * 4001, "{size}");
    assert!(recalled.left_out > 0);
}

/// A danger on a machine, about the question that an event asked, if any.
fn danger(host: &str, question: Option<&str>) -> Value {
    let danger = BridgeReport::Danger(ReportedDanger {
        agent: AgentId::from("opencode"),
        kind: DangerKind::Rejected,
        tool: "bash".to_owned(),
        ran: None,
        question: question.map(EventId::from),
    });
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    serde_json::from_str(&danger.to_event(host, "bridge-1", 1, at)).unwrap()
}

#[test]
fn a_bridge_warns_of_an_agent_whose_calls_are_not_received() {
    let mut bench = NatsBench::joined();
    let warns = |bench: &mut NatsBench, host: &str| {
        let out = bench.event(host, &danger(host, None));
        out.iter().any(is_warning)
    };
    bench.event("build-3", &started("opencode", "sess_1", "evt_1"));
    assert!(!warns(&mut bench, "build-3"));
    bench.selected(Some(&[]));
    assert!(warns(&mut bench, "build-3"));
    bench.selected(Some(&["opencode"]));
    assert!(!warns(&mut bench, "build-3"));
    // An agent of that name on another machine is another agent.
    assert!(warns(&mut bench, "build-4"));
}

#[test]
fn a_bridge_warns_of_a_call_that_somebody_else_rejected() {
    let mut bench = NatsBench::joined();
    bench.event("build-3", &question("sess_1", "evt_q", "rpl_1"));
    let warned = bench.event("build-3", &danger("build-3", Some("evt_q")));
    assert!(warned.iter().any(is_warning));
    // The watcher who rejected it learns of it from their own events.
    bench.replied(7, "rpl_1");
    let warned = bench.event("build-3", &danger("build-3", Some("evt_q")));
    assert!(!warned.iter().any(is_warning));
}

fn is_warning(one: &DialectOutput) -> bool {
    matches!(one, DialectOutput::Warn(phrase) if phrase.key == "fleet.danger.rejected")
}

#[test]
fn signs_of_life_count_what_agents_do_and_machines_that_go_together_are_one_sentence() {
    let mut bench = NatsBench::joined();
    bench.alive("build-3", r#"{"working":2,"waiting":1,"silent":0}"#);
    bench.alive("build-4", "");
    let there = bench.machine.machines().unwrap();
    let counts: Vec<Option<u64>> = there
        .iter()
        .map(|one| one.census.map(|census| census.working))
        .collect();
    assert_eq!(counts, [Some(2), None]);
    assert_eq!(phrases(&bench.wait(31)), ["fleet.away", "fleet.away"]);
    let is_away = |one: &RemoteMachine| one.is_away;
    assert!(bench.machine.machines().unwrap().iter().all(is_away));
    assert_eq!(phrases(&bench.alive("build-4", "")), ["fleet.back"]);
    for number in 0..50 {
        bench.alive(&format!("node-{number}"), "");
    }
    assert_eq!(phrases(&bench.wait(31)), ["fleet.away.several"]);
    assert_eq!(bench.machine.deadline(), None);
}
