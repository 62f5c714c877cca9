//! The machine of the agents on a NATS server.

mod strangers;

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::kit::rig::{MachineRig, RigPeer, start};
use crate::link::{
    Address, DeliveryFailure, Fault, Frame, HttpAnswer, LinkEvent, Phrase, Receipt, ServiceAnswers,
    ServiceCall,
};
use crate::protocol::AgentId;
use crate::{
    BrokerPlace, Dialect as _, DialectOutput, DialectSetup, PersonRequest, QuestionEnd,
    TransportKind,
};

pub(crate) const MESSAGES: &[&str] = &[
    r#"{"type":"io.nats.micro.v1.info_response","id":"JXpUnjTkYWrFZbLlsvLUZb","name":"agents","version":"0.5.0","description":"pi agent build","endpoints":[{"name":"prompt","subject":"agents.prompt.pi.anna.build","queue_group":"agents","metadata":{"max_payload":"1MB","attachments_ok":"true","min_sender_trust":"any"}},{"name":"status","subject":"agents.status.pi.anna.build","queue_group":"agents","metadata":null}],"metadata":{"agent":"pi","owner":"anna","session":"build","protocol_version":"0.3"}}"#,
    r#"{"id":"two","name":"agents","endpoints":[{"name":"prompt","subject":"team.agent-1.in"}],"metadata":{"agent":"codex","owner":"ben","protocol_version":"0.3"}}"#,
    r#"{"agent":"pi","owner":"anna","session":"build","instance_id":"JXpUnjTkYWrFZbLlsvLUZb","ts":"2026-11-28T18:42:08Z","interval_s":3}"#,
    r#"{"type":"status","data":"ack"}"#,
    r#"{"type":"response","data":"hello "}"#,
    r#"{"type":"response","data":{"text":"Here it is.","attachments":[{"filename":"plan.png","content":"eA=="}]}}"#,
    r#"{"type":"query","data":{"id":"33db311fc9fe41ad9c1f5bcfa0b7d1eb","reply_subject":"_INBOX.agents.e1nnS0t4xX76BvOXv2x5OK","prompt":"Still there?"}}"#,
    r#"{"type":"query","data":{"id":"2","reply_subject":"agents.prompt.victim.anna.build","prompt":"Delete it all?"}}"#,
    r#"{"type":"later","data":{"x":1}}"#,
];

/// What a server of this protocol has received.
#[derive(Debug, Default)]
struct Broker {
    calls: Vec<(u64, ServiceCall)>,
    left: Vec<u64>,
    follows: Vec<Address>,
}

impl RigPeer for Broker {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::CallService { request, call } => self.calls.push((request, call)),
            DialectOutput::LeaveCall(request) => self.left.push(request),
            DialectOutput::Follow(stream) => self.follows.push(stream.at),
            other => panic!("{other:?}"),
        }
    }
}

type SynadiaRig = MachineRig<Synadia, Broker>;

const ACK: &str = r#"{"type":"status","data":"ack"}"#;

fn info(agent: &str, session: &str, instance: &str) -> Value {
    let subject = format!("agents.prompt.{agent}.anna.{session}");
    json!({
        "name": "agents", "id": instance,
        "metadata": {"agent": agent, "owner": "anna", "session": session, "protocol_version": "0.3"},
        "endpoints": [
            {"name": "status", "subject": "agents.status.x.y.z"},
            {"name": "prompt", "subject": subject, "metadata": {"max_payload": "1KB"}},
        ],
    })
}

fn bench() -> SynadiaRig {
    let mut bench = SynadiaRig::of(Synadia::new(DialectSetup {
        carrier: TransportKind::Broker,
        broker: Some(BrokerPlace {
            durable: Some("hearken-anna".to_owned()),
            ..BrokerPlace::default()
        }),
        ..start()
    }));
    bench.news(&LinkEvent::Connecting { attempt: 1 });
    bench.news(&LinkEvent::Connected);
    bench
}

/// A machine that has found these agents, by name and session.
fn with(agents: &[(&str, &str)]) -> SynadiaRig {
    let mut bench = bench();
    bench.finds(agents);
    bench
}

impl SynadiaRig {
    /// Returns the latest request.
    fn latest(&self) -> (u64, ServiceCall) {
        self.calls.last().unwrap().clone()
    }

    fn finds(&mut self, agents: &[(&str, &str)]) {
        let (discovery, call) = self.latest();
        assert_eq!(call.subject, "$SRV.INFO.agents");
        for (agent, session) in agents {
            let instance = format!("{agent}-{session}-1");
            self.part(discovery, &info(agent, session, &instance).to_string());
        }
        self.ends(discovery);
    }

    fn part(&mut self, request: u64, text: &str) {
        let text = text.to_owned();
        self.news(&LinkEvent::Piece { request, text });
    }

    fn answered(&mut self, request: u64, status: u16, body: &str) {
        let outcome = Ok(HttpAnswer {
            status,
            location: None,
            retry_after: None,
            body: body.to_owned(),
        });
        self.news(&LinkEvent::Answered { request, outcome });
    }

    fn ends(&mut self, request: u64) {
        self.answered(request, 200, "");
    }

    fn fails(&mut self, request: u64, fault: Fault) {
        let outcome = Err(fault);
        self.news(&LinkEvent::Answered { request, outcome });
    }

    /// Prompts an agent, and returns the number of the request.
    fn prompts(&mut self, words: &str) -> u64 {
        self.prompt(words);
        self.latest().0
    }

    /// Prompts an agent that takes the prompt.
    fn begins(&mut self, words: &str) -> u64 {
        let request = self.prompts(words);
        self.part(request, ACK);
        request
    }

    fn asks(&mut self, request: u64, to: &str, prompt: &str) {
        let data = json!({"id": "q", "reply_subject": to, "prompt": prompt});
        let query = json!({"type": "query", "data": data});
        self.part(request, &query.to_string());
    }

    fn beats(&mut self, subject: &str, instance: &str, interval: u64) {
        let beat = json!({"instance_id": instance, "interval_s": interval});
        self.news(&LinkEvent::Frame(Frame {
            event: Some(subject.to_owned()),
            ..Frame::of(beat.to_string())
        }));
    }

    fn wait(&mut self, seconds: u64) {
        self.after(Duration::from_secs(seconds));
    }

    fn want(&mut self, agent: &str, wish: PersonRequest) {
        let id = self.id(agent);
        self.person_request(&PersonRequest::ForAgent(id, Box::new(wish)));
    }

    fn id(&self, name: &str) -> AgentId {
        let mut all = self.machine.promptable().iter();
        all.find(|agent| agent.name == name).unwrap().id.clone()
    }

    fn names(&self) -> Vec<&str> {
        let all = self.machine.promptable().iter();
        all.map(|agent| agent.name.as_str()).collect()
    }

    fn phrase(&self, key: &str) -> &Phrase {
        let mut all = self.phrases.iter().rev();
        all.find(|phrase| phrase.key == key)
            .unwrap_or_else(|| panic!("no {key} in {:?}", self.phrase_keys))
    }

    /// Fails if anything is wrong with the events.
    fn is_sound(&self) {
        assert!(self.faults.is_empty(), "{:?}", self.faults);
    }
}

#[test]
fn the_agents_that_are_there_can_be_prompted_before_they_were_ever_heard() {
    let mut bench = bench();
    let Address::Passing(passing) = &bench.follows[0] else {
        panic!("{:?}", bench.follows);
    };
    assert_eq!(
        passing.subjects,
        ["agents.hb.*.*.*", "agents.*.*.*.heartbeat"]
    );
    assert_eq!(passing.person.as_deref(), Some("hearken-anna"));
    bench.finds(&[("pi", "build"), ("codex", "default"), ("pi", "docs")]);
    assert_eq!(bench.names(), ["codex", "pi build", "pi docs"]);
    let there = "3 agents on NATS";
    assert_eq!(bench.phrase_keys, ["synadia.there"]);
    assert!(
        bench.announced()[0].starts_with(there),
        "{:?}",
        bench.announced()
    );
    bench.want("pi docs", PersonRequest::Prompt("write".to_owned()));
    let (_, call) = bench.latest();
    assert_eq!(call.subject, "agents.prompt.pi.anna.docs");
    assert_eq!(call.body, r#"{"prompt":"write"}"#);
    assert_eq!(call.answers, ServiceAnswers::Streamed);
    // Nothing is announced before it is taken.
    assert!(bench.events.is_empty());
}

#[test]
fn who_is_there_is_reported_once_and_nobody_can_be_prompted_before() {
    let mut bench = bench();
    bench.finds(&[]);
    assert!(bench.phrase_keys.is_empty());
    assert!(!bench.machine.connection().takes_prompts);
    bench.beats("agents.hb.pi.anna.build", "pi-build-1", 30);
    bench.wait(5);
    bench.finds(&[("pi", "build")]);
    assert!(bench.machine.connection().takes_prompts);
    bench.beats("agents.hb.codex.anna.x", "codex-x-1", 30);
    bench.wait(5);
    bench.finds(&[("pi", "build"), ("codex", "x")]);
    assert_eq!(bench.phrase_keys, ["synadia.there", "synadia.new"]);
}

#[test]
fn a_prompt_is_a_turn_of_its_agent_with_the_streamed_text() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.prompts("say hello");
    assert!(bench.machine.connection().in_turn && bench.events.is_empty());
    bench.part(request, ACK);
    for part in ["hel", "lo ", "there."] {
        let chunk = json!({"type": "response", "data": part});
        bench.part(request, &chunk.to_string());
    }
    bench.part(request, r#"{"type":"response","data":{"text":" And a file.","attachments":[{"filename":"a.png"},{"filename":"b"}]}}"#);
    bench.ends(request);
    assert_eq!(bench.said(), "hello there. And a file.");
    assert_eq!(bench.last("session.started")["request_text"], "say hello");
    assert_eq!(bench.count("session.completed"), 1);
    assert_eq!(
        bench.phrase("synadia.files").args[1].1,
        crate::link::PhraseArg::Own("2".to_owned())
    );
    assert!(!bench.machine.connection().in_turn);
    bench.is_sound();
}

#[test]
fn a_question_is_answered_where_it_says_and_nothing_claims_that_it_was_taken() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("deploy");
    bench.asks(request, "_INBOX.agents.x1", "To production?");
    let asked = bench.last("awaiting.clarification");
    assert_eq!(asked["question"], "To production?");
    bench.respond(1, "yes, please");
    let (answer, call) = bench.latest();
    assert_eq!(
        (call.subject.as_str(), call.body.as_str()),
        ("_INBOX.agents.x1", "yes, please")
    );
    assert_eq!(call.answers, ServiceAnswers::Unanswered);
    assert!(bench.outcomes.is_empty());
    bench.ends(answer);
    assert_eq!(bench.outcomes, [(1, Ok(Receipt::Written))]);
    bench.ends(request);
    assert_eq!(bench.count("session.completed"), 1);
    assert!(bench.over.is_empty());
    bench.is_sound();
}

#[test]
fn an_answer_that_looks_like_json_stays_the_persons_words() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("deploy");
    bench.asks(request, "_INBOX.agents.x1", "How?");
    bench.respond(1, r#"{"prompt":"x"}"#);
    let body: Value = serde_json::from_str(&bench.latest().1.body).unwrap();
    assert_eq!(body["prompt"], r#"{"prompt":"x"}"#);
}

#[test]
fn an_answer_that_nobody_waits_for_is_reported_and_its_question_is_over() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("deploy");
    bench.asks(request, "_INBOX.agents.x1", "To production?");
    bench.respond(1, "yes");
    let answer = bench.latest().0;
    bench.fails(answer, Fault::Refused);
    let [(1, Err(DeliveryFailure::Refused(Fault::Declined(why))))] = &bench.outcomes[..] else {
        panic!("{:?}", bench.outcomes);
    };
    assert_eq!(why.key, "synadia.why.nobody_waits");
    assert_eq!(bench.over, [QuestionEnd::TakenBack]);
    // The turn goes on.
    bench.asks(request, "_INBOX.agents.x2", "And now?");
    assert_eq!(bench.last("awaiting.clarification")["question"], "And now?");
    bench.is_sound();
}

#[test]
fn a_question_whose_answer_would_go_elsewhere_can_only_be_seen() {
    for to in [
        "agents.prompt.victim.anna.build",
        "aaep-reply.v1.main.a.b.c",
        "_INBOX.>",
        "$SYS.x",
    ] {
        let mut bench = with(&[("pi", "build")]);
        let request = bench.begins("deploy");
        let before = bench.calls.len();
        bench.asks(request, to, "Delete it all?");
        assert_eq!(bench.view_only, 1, "{to}");
        assert!(bench.phrase_keys.contains(&"synadia.no_inbox"));
        bench.respond(1, "yes");
        assert_eq!(bench.settled, [(1, false)]);
        assert_eq!(bench.calls.len(), before, "nothing is published");
        bench.is_sound();
    }
}

#[test]
fn a_stream_that_ends_takes_its_open_questions_with_it() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("deploy");
    bench.asks(request, "_INBOX.agents.x1", "One?");
    bench.asks(request, "_INBOX.agents.x2", "Two?");
    // A repeated message is not another question.
    bench.asks(request, "_INBOX.agents.x2", "Two?");
    assert_eq!(bench.count("awaiting.clarification"), 1);
    bench.ends(request);
    assert_eq!(bench.over, [QuestionEnd::TakenBack]);
    assert_eq!(bench.count("session.completed"), 1);
    bench.is_sound();
}

#[test]
fn errors_come_from_the_headers_with_the_agents_words() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("fail");
    bench.answered(request, 500, "handler error");
    let words = bench.last("session.errored")["summary_normal"].to_string();
    assert!(words.contains("handler error (500)"), "{words}");
    // Before anything else came, the prompt was not taken.
    let request = bench.prompts("refuse");
    bench.answered(request, 401, "no signature");
    assert_eq!(bench.count("session.started"), 1);
    let told = bench.announced().pop().unwrap();
    assert!(
        told.contains("a2a.refused") && told.contains("no signature (401)"),
        "{told}"
    );
    let request = bench.prompts("nobody");
    bench.fails(request, Fault::Refused);
    let told = bench.announced().pop().unwrap();
    assert!(told.contains("synadia.why.nobody"), "{told}");
    bench.is_sound();
}

#[test]
fn silence_is_reported_once_and_the_person_can_leave() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("silent");
    bench.wait(59);
    assert!(!bench.phrase_keys.contains(&"synadia.silent"));
    bench.part(request, ACK);
    bench.wait(59);
    assert!(
        !bench.phrase_keys.contains(&"synadia.silent"),
        "a sign of life"
    );
    bench.wait(1);
    bench.wait(60);
    let silent = |bench: &SynadiaRig| {
        bench
            .phrase_keys
            .iter()
            .filter(|it| **it == "synadia.silent")
            .count()
    };
    assert_eq!(silent(&bench), 1);
    bench.prompt("next");
    assert_eq!(bench.phrase_keys.last(), Some(&"prompt.held"));
    bench.person_request(&PersonRequest::Stop);
    assert_eq!(bench.left, [request]);
    assert_eq!(bench.count("session.cancelled"), 1);
    assert_eq!(bench.phrase_keys.last(), Some(&"prompt.next"));
    // What still comes is nobody's.
    let events = bench.events.len();
    bench.part(request, r#"{"type":"response","data":"late"}"#);
    bench.fails(request, Fault::Closed);
    assert_eq!(bench.events.len(), events);
    assert_eq!(bench.latest().1.body, r#"{"prompt":"next"}"#);
    bench.is_sound();
}

#[test]
fn while_the_person_is_asked_it_is_their_turn_and_not_the_agents_silence() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("deploy");
    bench.asks(request, "_INBOX.agents.x1", "To production?");
    bench.wait(300);
    assert!(!bench.phrase_keys.contains(&"synadia.silent"));
    bench.respond(1, "yes");
    let answer = bench.latest().0;
    bench.ends(answer);
    bench.wait(59);
    assert!(!bench.phrase_keys.contains(&"synadia.silent"));
    bench.wait(1);
    assert!(bench.phrase_keys.contains(&"synadia.silent"));
}

#[test]
fn a_prompt_that_was_never_begun_can_be_left_too() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.prompts("busy");
    bench.wait(60);
    assert!(bench.phrase_keys.contains(&"synadia.silent"));
    bench.person_request(&PersonRequest::Stop);
    assert_eq!(bench.left, [request]);
    assert_eq!(bench.phrase_keys.last(), Some(&"prompt.given_up"));
    bench.person_request(&PersonRequest::Stop);
    assert_eq!(bench.phrase_keys.last(), Some(&"stop_turn.none"));
    assert!(bench.events.is_empty());
}

#[test]
fn an_agent_is_away_after_three_intervals_whichever_way_its_heartbeats_are_spelled() {
    for spelling in ["agents.hb.pi.anna.build", "agents.pi.anna.build.heartbeat"] {
        let mut bench = with(&[("pi", "build")]);
        for _ in 0..4 {
            bench.beats(spelling, "pi-build-1", 10);
            bench.wait(10);
        }
        assert_eq!(bench.phrase_keys, ["synadia.there"]);
        bench.wait(19);
        assert_eq!(bench.phrase_keys, ["synadia.there"]);
        bench.wait(1);
        assert_eq!(bench.phrase_keys, ["synadia.there", "synadia.away"]);
        assert!(bench.names().is_empty());
        bench.wait(100);
        // It is found again, because hearken no longer knows that this program runs it.
        bench.beats(spelling, "pi-build-1", 10);
        bench.wait(5);
        bench.finds(&[("pi", "build")]);
        assert_eq!(
            bench.phrase_keys,
            ["synadia.there", "synadia.away", "synadia.back"]
        );
        assert_eq!(bench.names(), ["pi build"]);
    }
}

#[test]
fn an_agent_that_never_beats_is_away_after_three_usual_intervals() {
    let mut bench = with(&[("pi", "build")]);
    bench.wait(89);
    assert_eq!(bench.phrase_keys, ["synadia.there"]);
    bench.wait(1);
    assert_eq!(bench.phrase_keys, ["synadia.there", "synadia.away"]);
}

#[test]
fn a_heartbeat_under_another_name_keeps_nobody_alive() {
    let mut bench = with(&[("pi", "build"), ("codex", "x")]);
    for _ in 0..9 {
        bench.beats("agents.hb.codex.anna.x", "pi-build-1", 3600);
        bench.beats("agents.hb.codex.anna.x", "codex-x-1", 30);
        bench.wait(10);
    }
    assert_eq!(
        bench.phrase_keys,
        ["synadia.there", "fleet.forged", "synadia.away"]
    );
    assert_eq!(bench.names(), ["codex x"]);
}

#[test]
fn several_programs_of_one_address_are_one_agent_and_there_until_the_last_is_gone() {
    let mut bench = bench();
    let discovery = bench.latest().0;
    for instance in ["one", "two"] {
        bench.part(discovery, &info("pi", "build", instance).to_string());
    }
    bench.ends(discovery);
    assert_eq!(bench.names(), ["pi build"]);
    for _ in 0..20 {
        bench.beats("agents.hb.pi.anna.build", "two", 30);
        bench.wait(10);
    }
    assert_eq!(bench.phrase_keys, ["synadia.there"]);
}

#[test]
fn a_lost_connection_leaves_the_fate_of_what_was_under_way_unknown() {
    let mut bench = with(&[("pi", "build"), ("codex", "x")]);
    bench.want("pi build", PersonRequest::Prompt("one".to_owned()));
    let request = bench.latest().0;
    bench.part(request, ACK);
    bench.asks(request, "_INBOX.agents.x1", "Sure?");
    bench.respond(1, "yes");
    bench.want("codex x", PersonRequest::Prompt("two".to_owned()));
    bench.want("codex x", PersonRequest::Prompt("three".to_owned()));
    bench.lose();
    assert_eq!(bench.settled, [(1, false)]);
    assert_eq!(bench.count("session.errored"), 1);
    assert!(bench.phrase_keys.contains(&"prompt.perhaps_taken"));
    bench.prompt("four");
    // The transport reports what it gave up; that is known.
    bench.fails(request, Fault::Closed);
    assert_eq!(bench.count("session.errored"), 1);
    bench.news(&LinkEvent::Connecting { attempt: 2 });
    bench.news(&LinkEvent::Connected);
    let bodies: Vec<&str> = bench
        .calls
        .iter()
        .map(|(_, call)| call.body.as_str())
        .collect();
    assert_eq!(
        bodies.last(),
        Some(&r#"{"prompt":"three"}"#),
        "what waited is sent"
    );
    bench.is_sound();
}

#[test]
fn a_prompt_that_is_larger_than_its_agent_takes_is_not_sent() {
    let mut bench = with(&[("pi", "build")]);
    let before = bench.calls.len();
    bench.prompt(&"x".repeat(1025));
    assert_eq!(bench.calls.len(), before);
    assert_eq!(bench.phrase_keys.last(), Some(&"prompt.not_taken"));
    bench.prompt("short");
    assert_eq!(bench.calls.len(), before + 1);
}

#[test]
fn without_a_choice_a_prompt_goes_to_the_only_agent_or_to_none() {
    let mut bench = with(&[("pi", "build"), ("codex", "x")]);
    let before = bench.calls.len();
    bench.prompt("hello");
    assert_eq!(bench.calls.len(), before);
    assert_eq!(bench.phrase_keys.last(), Some(&"codex.which"));
    let mut bench = with(&[]);
    bench.prompt("hello");
    assert_eq!(bench.phrase_keys.last(), Some(&"prompt.nobody"));
    // One that is away may take it all the same.
    let mut bench = with(&[("pi", "build")]);
    bench.wait(90);
    let before = bench.calls.len();
    bench.prompt("hello");
    assert_eq!(bench.calls.len(), before + 1);
}

#[test]
fn seven_prompts_are_answered_at_a_time_and_the_next_waits() {
    let sessions = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut bench = with(&sessions.map(|session| ("pi", session)));
    let before = bench.calls.len();
    for session in sessions {
        bench.want(
            &format!("pi {session}"),
            PersonRequest::Prompt("go".to_owned()),
        );
    }
    assert_eq!(bench.calls.len(), before + 7);
    assert_eq!(bench.phrase_keys.last(), Some(&"prompt.held"));
    let first = bench.calls[before].0;
    bench.ends(first);
    assert_eq!(bench.latest().1.subject, "agents.prompt.pi.anna.h");
}
