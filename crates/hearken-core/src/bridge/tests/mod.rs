//! A bridge with dialects made for the test.

mod dangers;
mod random_orders;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::*;
use crate::dialect::fleet::{AnsweredBy, Closed, Request, RequestContent, RequestFault, digest_of};
use crate::dialect::{Connection, Cx, Dialect, LeaveOutcome, PersonRequest, QuestionEnd};
use crate::link::{DeliveryFailure, Fault, Frame, LinkEvent, Receipt};
use crate::protocol::{AgentId, Answer, Decision, Reply, ReplyToken};

/// What a dialect received.
#[derive(Debug, Default)]
struct DialectInput {
    replies: Vec<(u64, Reply)>,
    wishes: Vec<PersonRequest>,
}

/// A dialect that passes frames on as events, records what it receives and settles nothing on its own.
#[derive(Debug)]
struct Passing {
    taken: Arc<Mutex<DialectInput>>,
    connection: Connection,
}

impl Dialect for Passing {
    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        cx.out.push(DialectOutput::Event(frame.text.clone()));
    }

    fn reply(&mut self, request: u64, reply: &Reply, _: &mut Cx<'_>) {
        let mut taken = self.taken.lock().unwrap();
        taken.replies.push((request, reply.clone()));
    }

    fn on_person_request(&mut self, wish: &PersonRequest, _: &mut Cx<'_>) {
        self.taken.lock().unwrap().wishes.push(wish.clone());
    }

    fn connection(&self) -> Connection {
        self.connection.clone()
    }
}

struct BridgeBench {
    bridge: Bridge,
    taken: Vec<Arc<Mutex<DialectInput>>>,
    now: Now,
    requests: u64,
}

impl BridgeBench {
    fn new(connections: Vec<Connection>) -> Self {
        let source = |at: usize| SourceSetup {
            name: format!("agent {at}"),
            answerable: true,
            ..SourceSetup::default()
        };
        let sources = (0..connections.len()).map(source).collect();
        let (config, keys) = (Config::default(), KeyRing::default());
        let mut bridge = Bridge::new("build-3".to_owned(), &config, &keys, 7, sources);
        let mut taken = Vec::new();
        for (link, connection) in bridge.links.iter_mut().zip(connections) {
            let shared = Arc::new(Mutex::new(DialectInput::default()));
            taken.push(Arc::clone(&shared));
            link.machine = Box::new(Passing {
                taken: shared,
                connection,
            });
        }
        let now = Now {
            monotonic: Duration::from_secs(1),
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut bench = Self {
            bridge,
            taken,
            now,
            requests: 0,
        };
        bench.update(BridgeInput::Start);
        for at in 0..bench.taken.len() {
            bench.link(at, LinkEvent::Connected);
        }
        bench
    }

    fn one() -> Self {
        Self::new(vec![Connection::default()])
    }

    fn update(&mut self, input: BridgeInput) -> Vec<BridgeEffect> {
        self.bridge.update(input, self.now)
    }

    fn link(&mut self, at: usize, event: LinkEvent) -> Vec<BridgeEffect> {
        let link = LinkId(at);
        self.update(BridgeInput::Link { link, event })
    }

    fn event(&mut self, at: usize, text: &Value) -> Vec<BridgeEffect> {
        self.link(at, LinkEvent::Frame(Frame::of(text.to_string())))
    }

    /// Begins a session and asks a question in it; returns the question as it was published.
    fn asks(&mut self, at: usize, token: &str) -> String {
        self.event(
            at,
            &event("session.started", json!({"summary_normal": "Go."})),
        );
        let state = json!({"from_state": "idle", "to_state": "awaiting_input"});
        self.event(at, &event("state.changed", state));
        published(&self.event(at, &question(token, "rm -rf build")))
    }

    fn answers(&mut self, who: &str, decision: Decision, shown: &str) -> Vec<BridgeEffect> {
        let reply = reply(who, decision, shown);
        let digest = digest_of(shown);
        let reply = serde_json::from_str(&reply.to_json("sub_1")).unwrap();
        self.requests(RequestContent::Reply { reply, digest })
    }

    fn requests(&mut self, content: RequestContent) -> Vec<BridgeEffect> {
        self.requests += 1;
        let number = self.requests;
        let id = format!("req_{number}");
        let request = Request { id, content };
        self.update(BridgeInput::Request { number, request })
    }

    /// Reports the outcome of the newest reply that a dialect received.
    fn settles(
        &mut self,
        at: usize,
        outcome: Result<Receipt, DeliveryFailure>,
    ) -> Vec<BridgeEffect> {
        let request = self.taken[at].lock().unwrap().replies.last().unwrap().0;
        self.outs(at, DialectOutput::Settled { request, outcome })
    }

    /// Returns an output of a dialect.
    fn outs(&mut self, at: usize, out: DialectOutput) -> Vec<BridgeEffect> {
        self.bridge.carry_out(LinkId(at), vec![out], self.now);
        std::mem::take(&mut self.bridge.effects)
    }

    fn replies(&self, at: usize) -> usize {
        self.taken[at].lock().unwrap().replies.len()
    }
}

fn event(kind: &str, more: Value) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{kind}"), "event_id": format!("evt_{kind}"), "session_id": "sess_1",
        "timestamp": "2026-01-01T00:00:00Z", "producer": {"agent_id": "opencode"},
    });
    let fields = more.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(fields);
    event
}

fn question(token: &str, action: &str) -> Value {
    let more = json!({
        "reply_token": token, "action": action, "default_decision": "reject", "timeout_seconds": 600,
        "consequence": "It is gone.", "summary_normal": "Do it?",
    });
    event("awaiting.confirmation", more)
}

fn reply(who: &str, decision: Decision, shown: &str) -> Reply {
    let shown: Value = serde_json::from_str(shown).unwrap();
    Reply {
        token: ReplyToken::new(shown["reply_token"].as_str().unwrap()),
        answer: Answer::Decision {
            decision,
            rationale: None,
        },
        timestamp: "2026-01-01T00:00:00Z".parse().unwrap(),
        decided_by: format!("user:{who}"),
    }
}

fn published(effects: &[BridgeEffect]) -> String {
    let mut texts = effects.iter().filter_map(|effect| match effect {
        BridgeEffect::Publish(text) => Some(text.clone()),
        _ => None,
    });
    texts.next().unwrap()
}

fn outcomes(effects: &[BridgeEffect]) -> Vec<(u64, RequestOutcome)> {
    let outcomes = effects.iter().filter_map(|effect| match effect {
        BridgeEffect::Outcome { number, outcome } => Some((*number, outcome.clone())),
        _ => None,
    });
    outcomes.collect()
}

fn closed(effects: &[BridgeEffect]) -> Vec<Closed> {
    let closed = effects.iter().filter_map(|effect| match effect {
        BridgeEffect::Report {
            report: BridgeReport::Closed { reason: how, .. },
            ..
        } => Some(how.clone()),
        _ => None,
    });
    closed.collect()
}

fn notices(effects: &[BridgeEffect]) -> Vec<String> {
    let said = effects.iter().filter_map(|effect| match effect {
        BridgeEffect::Report { report, .. } => report.sentence(&["en".to_owned()]),
        _ => None,
    });
    said.map(|(text, _)| text).collect()
}

fn by(who: &str, decision: Decision) -> AnsweredBy {
    AnsweredBy {
        person: Some(who.to_owned()),
        answer: Answer::Decision {
            decision,
            rationale: None,
        },
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
    }
}

#[test]
fn an_event_goes_out_as_it_is_with_the_name_of_the_machine() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    let mut asked: Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(asked["extensions"]["hearken"]["host"], "build-3");
    let fields = asked.as_object_mut().unwrap();
    fields.remove("extensions");
    fields.remove("@context");
    let mut before = question("rpl_1", "rm -rf build");
    before.as_object_mut().unwrap().remove("@context");
    assert_eq!(asked, before);
}

#[test]
fn an_agent_can_not_claim_to_run_on_another_machine_but_a_bridge_can_name_its_own() {
    let host_of = |bench: &mut BridgeBench| {
        let claims =
            json!({"summary_normal": "Go.", "extensions": {"hearken": {"host": "build-9"}}});
        let text = published(&bench.event(0, &event("session.started", claims)));
        let event: Value = serde_json::from_str(&text).unwrap();
        event["extensions"]["hearken"]["host"].clone()
    };
    assert_eq!(host_of(&mut BridgeBench::one()), "build-3");
    let mut behind_another = BridgeBench::new(vec![Connection {
        host: Some("build-4".to_owned()),
        ..Connection::default()
    }]);
    assert_eq!(host_of(&mut behind_another), "build-4");
}

#[test]
fn an_answer_goes_to_the_dialect_once_and_everyone_is_told() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    let effects = bench.answers("anna", Decision::Accept, &asked);
    assert_eq!(outcomes(&effects), [], "its fate is still unknown");
    assert_eq!(bench.replies(0), 1);
    // Somebody else answers meanwhile, and waits.
    assert_eq!(
        outcomes(&bench.answers("ben", Decision::Reject, &asked)),
        []
    );
    assert_eq!(bench.replies(0), 1);
    let effects = bench.settles(0, Ok(Receipt::Taken));
    let anna = by("anna", Decision::Accept);
    assert_eq!(
        outcomes(&effects),
        [
            (1, RequestOutcome::Taken(Receipt::Taken)),
            (2, RequestOutcome::Decided(anna.clone())),
        ]
    );
    assert_eq!(closed(&effects), [Closed::Answered(anna.clone())]);
    // Later watchers are told who decided.
    let effects = bench.answers("carl", Decision::Accept, &asked);
    assert_eq!(outcomes(&effects), [(3, RequestOutcome::Decided(anna))]);
    assert_eq!(bench.replies(0), 1);
}

#[test]
fn who_answered_is_reported_before_what_follows_from_it() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    bench.answers("anna", Decision::Accept, &asked);
    let state = |to: &str, id: &str| {
        let mut state = event(
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": to}),
        );
        state["event_id"] = id.into();
        state
    };
    // The agent acts before it confirms the answer.
    let texts = |effects: &[BridgeEffect]| {
        let published = |effect: &&BridgeEffect| matches!(effect, BridgeEffect::Publish(_));
        effects.iter().filter(published).count()
    };
    assert_eq!(texts(&bench.event(0, &state("calling_tool", "evt_a"))), 0);
    assert_eq!(texts(&bench.event(0, &state("thinking", "evt_b"))), 0);
    let effects = bench.settles(0, Ok(Receipt::Taken));
    let is_report = |effect: &BridgeEffect| matches!(effect, BridgeEffect::Report { .. });
    let report = effects.iter().position(is_report).unwrap();
    let event = effects
        .iter()
        .position(|effect| matches!(effect, BridgeEffect::Publish(_)));
    assert!(report < event.unwrap());
    assert_eq!(texts(&effects), 2);
    // If the outcome does not come in time, the events stop waiting.
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    bench.answers("anna", Decision::Accept, &asked);
    assert_eq!(texts(&bench.event(0, &state("calling_tool", "evt_a"))), 0);
    bench.now.monotonic = bench.bridge.deadline().unwrap();
    assert_eq!(texts(&bench.update(BridgeInput::Deadline)), 1);
}

#[test]
fn if_the_first_answer_never_left_the_next_one_is_sent() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    bench.answers("anna", Decision::Accept, &asked);
    bench.answers("ben", Decision::Reject, &asked);
    let effects = bench.settles(0, Err(DeliveryFailure::Kept(Fault::Refused)));
    assert!(matches!(
        &outcomes(&effects)[..],
        [(1, RequestOutcome::NotTaken(RequestFault::Other(words)))] if !words.is_empty()
    ));
    assert_eq!(bench.replies(0), 2);
    let effects = bench.settles(0, Ok(Receipt::Written));
    let taken = RequestOutcome::Taken(Receipt::Written);
    assert_eq!(outcomes(&effects), [(2, taken)]);
    assert_eq!(
        closed(&effects),
        [Closed::Answered(by("ben", Decision::Reject))]
    );
}

#[test]
fn an_answer_that_perhaps_arrived_is_followed_by_no_other() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    bench.answers("anna", Decision::Accept, &asked);
    bench.answers("ben", Decision::Reject, &asked);
    let effects = bench.settles(0, Err(DeliveryFailure::Unknown(Fault::TimedOut)));
    let outcomes = outcomes(&effects);
    assert!(matches!(outcomes[0], (1, RequestOutcome::Perhaps(_))));
    let not_taken = RequestOutcome::NotTaken(RequestFault::PerhapsAnother);
    assert_eq!(outcomes[1], (2, not_taken));
    assert_eq!(bench.replies(0), 1);
    // The question is open, and a person may answer it again.
    bench.answers("ben", Decision::Reject, &asked);
    assert_eq!(bench.replies(0), 2);
}

#[test]
fn an_answer_to_what_was_shown_before_a_change_is_refused_and_asked_again() {
    let mut bench = BridgeBench::one();
    let before = bench.asks(0, "rpl_1");
    let mut changed = question("rpl_1", "rm -rf /");
    changed["event_id"] = "evt_changed".into();
    let after = published(&bench.event(0, &changed));
    let effects = bench.answers("anna", Decision::Accept, &before);
    assert_eq!(outcomes(&effects), [(1, RequestOutcome::Changed)]);
    assert_eq!(published(&effects), after, "it is asked again");
    assert_eq!(bench.replies(0), 0);
}

#[test]
fn an_answer_to_what_is_not_open_is_refused() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    let never = asked.replace("rpl_1", "rpl_9");
    let effects = bench.answers("anna", Decision::Accept, &never);
    assert_eq!(outcomes(&effects), [(1, RequestOutcome::Unknown)]);
    let thinking = json!({"from_state": "awaiting_input", "to_state": "thinking"});
    let mut thinking = event("state.changed", thinking);
    thinking["event_id"] = "evt_on".into();
    bench.event(0, &thinking);
    let effects = bench.answers("anna", Decision::Accept, &asked);
    assert_eq!(outcomes(&effects), [(2, RequestOutcome::Closed)]);
    assert_eq!(bench.replies(0), 0);
}

#[test]
fn a_lost_source_takes_no_answer() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    let lost = LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::ZERO,
    };
    let said = notices(&bench.link(0, lost));
    assert!(
        said[0].starts_with("The connection to agent 0 is lost"),
        "{said:?}"
    );
    let effects = bench.answers("anna", Decision::Accept, &asked);
    let lost = RequestOutcome::NotTaken(RequestFault::Lost);
    assert_eq!(outcomes(&effects), [(1, lost)]);
    assert_eq!(bench.replies(0), 0);
    let back = notices(&bench.link(0, LinkEvent::Connected));
    assert_eq!(back, ["The connection to agent 0 is back."]);
}

#[test]
fn a_plain_reply_is_an_answer_without_an_outcome() {
    let mut bench = BridgeBench::one();
    let asked = bench.asks(0, "rpl_1");
    let effects = bench.update(BridgeInput::Reply(reply("local", Decision::Reject, &asked)));
    assert_eq!(effects, []);
    let effects = bench.settles(0, Ok(Receipt::Taken));
    assert_eq!(outcomes(&effects), []);
    let how = closed(&effects);
    assert!(matches!(&how[..], [Closed::Answered(answered)] if answered.person.is_none()));
}

#[test]
fn two_sources_with_the_same_names_stay_apart() {
    let mut bench = BridgeBench::new(vec![Connection::default(), Connection::default()]);
    let first: Value = serde_json::from_str(&bench.asks(0, "rpl_1")).unwrap();
    let second = bench.asks(1, "rpl_1");
    let shown: Value = serde_json::from_str(&second).unwrap();
    assert_ne!(first["reply_token"], shown["reply_token"]);
    assert_ne!(first["session_id"], shown["session_id"]);
    bench.answers("anna", Decision::Accept, &second);
    assert_eq!((bench.replies(0), bench.replies(1)), (0, 1));
    let (_, reply) = bench.taken[1].lock().unwrap().replies[0].clone();
    assert_eq!(reply.token.reveal(), "rpl_1", "as its source knows it");
}

#[test]
fn what_the_source_says_of_a_question_is_reported_once() {
    let mut bench = BridgeBench::one();
    bench.asks(0, "rpl_1");
    let over = || DialectOutput::Over {
        token: "rpl_1".to_owned(),
        reason: QuestionEnd::TakenBack,
    };
    assert_eq!(closed(&bench.outs(0, over())), [Closed::TakenBack]);
    assert_eq!(closed(&bench.outs(0, over())), []);
}

#[test]
fn prompts_and_stops_go_where_they_can() {
    let heard = Connection {
        only_heard: true,
        ..Connection::default()
    };
    let prompted = Connection {
        takes_prompts: true,
        ..Connection::default()
    };
    let mut bench = BridgeBench::new(vec![heard, prompted]);
    let prompt = |agent: Option<&str>| RequestContent::Prompt {
        agent: agent.map(AgentId::from),
        text: "say hello".to_owned(),
    };
    let effects = bench.requests(prompt(None));
    let taken = RequestOutcome::Taken(Receipt::Written);
    assert_eq!(outcomes(&effects), [(1, taken.clone())]);
    let wishes = |bench: &BridgeBench, at: usize| bench.taken[at].lock().unwrap().wishes.len();
    assert_eq!((wishes(&bench, 0), wishes(&bench, 1)), (0, 1));
    // An agent that was heard is known by its name.
    bench.asks(0, "rpl_1");
    let effects = bench.requests(prompt(Some("opencode")));
    let none = RequestOutcome::NotTaken(RequestFault::NoPrompts);
    assert_eq!(outcomes(&effects), [(2, none)]);
    let effects = bench.requests(prompt(Some("stranger")));
    let which = RequestOutcome::NotTaken(RequestFault::WhichAgent);
    assert_eq!(outcomes(&effects), [(3, which)]);
    let effects = bench.requests(RequestContent::Stop { agent: None });
    let nothing = RequestOutcome::NotTaken(RequestFault::NothingUnderWay);
    assert_eq!(outcomes(&effects), [(4, nothing)]);
    assert_eq!((wishes(&bench, 0), wishes(&bench, 1)), (0, 1));
}

#[test]
fn the_end_says_what_becomes_of_each_question_and_request() {
    for (when_left, words) in [
        (LeaveOutcome::Default, "goes on without an answer"),
        (LeaveOutcome::Cancelled, "is cancelled"),
        (LeaveOutcome::Open, "in the agent's own terminal"),
        (LeaveOutcome::Kept, "stays open at opencode"),
    ] {
        let mut bench = BridgeBench::new(vec![Connection {
            when_left,
            ..Connection::default()
        }]);
        let asked = bench.asks(0, "rpl_1");
        bench.answers("anna", Decision::Accept, &asked);
        bench.answers("ben", Decision::Accept, &asked);
        let effects = bench.update(BridgeInput::End);
        let said = notices(&effects);
        assert!(
            said[0].contains(words) && said[0].contains("rm -rf build"),
            "{said:?}"
        );
        assert_eq!(
            outcomes(&effects),
            [
                (1, RequestOutcome::Perhaps(RequestFault::Ending)),
                (2, RequestOutcome::NotTaken(RequestFault::Ending)),
            ]
        );
    }
}

#[test]
fn it_ends_with_its_last_source() {
    let mut bench = BridgeBench::new(vec![Connection::default(), Connection::default()]);
    let over = |effects: &[BridgeEffect]| {
        let mut effects = effects.iter();
        effects.any(|effect| matches!(effect, BridgeEffect::Over(Exit::NoSource)))
    };
    assert!(!over(&bench.link(0, LinkEvent::Ended)));
    let failed = LinkEvent::Failed {
        fault: Fault::Refused,
    };
    assert!(over(&bench.link(1, failed)));
}

#[test]
fn what_means_nothing_is_counted_ever_more_rarely() {
    let mut bench = BridgeBench::one();
    let mut said = 0;
    for _ in 0..1000 {
        said += notices(&bench.event(0, &json!("no event"))).len();
    }
    assert_eq!(said, 4, "1, 10, 100 and 1000");
}
