//! The tool server that an agent starts: what it announces and asks, its channel, and calls that a hook asks about,
//! too.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::link::Receipt;
use crate::protocol::AgentId;
use crate::{Connection, LeaveOutcome};

use super::*;

impl ClaudeRig {
    /// Sends a message of a tool server; returns our number for the request.
    fn server(&mut self, kind: &str, mut more: Value) -> u64 {
        let own = json!({"session": "run 1", "agent": "claude-code", "folder": "/work/a"});
        for (key, value) in own.as_object().unwrap() {
            more.as_object_mut()
                .unwrap()
                .entry(key)
                .or_insert(value.clone());
        }
        self.post(&format!("/mcp/{kind}"), more)
    }

    fn relays(&mut self, tool: &str, preview: &str) -> u64 {
        let call =
            json!({"tool_name": tool, "description": "Makes a file", "input_preview": preview});
        self.server("permission", call)
    }

    fn body(&self, id: u64) -> &Value {
        &self.answers[&id].1
    }

    fn connection(&self) -> Connection {
        self.machine.connection()
    }
}

const HOOK_TIME: Duration = Duration::from_secs(1);

#[test]
fn what_it_announces_is_heard_as_the_agents_own_words() {
    let mut run = ClaudeRig::new();
    for text in ["The build is *green*.", "Now the tests."] {
        let id = run.server("announce", json!({"text": text}));
        assert_eq!(run.body(id), &json!({"announced": true}));
    }
    assert_eq!(run.said(), "The build is *green*.Now the tests.");
    let said = run.last("output.streaming");
    assert_eq!(said["producer"]["agent_name"], "Claude Code");
    assert_eq!(run.count("session.started"), 1, "it began once");
    let id = run.server("leave", json!({}));
    assert_eq!(run.body(id), &json!({}));
    assert_eq!(run.count("session.completed"), 1);
    assert!(!run.connection().takes_prompts && run.connection().only_heard);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn what_it_asks_is_answered_in_words_by_a_choice_or_not_at_all() {
    let mut run = ClaudeRig::new();
    let open = run.server("ask", json!({"question": "Which port?"}));
    assert_eq!(run.connection().when_left, LeaveOutcome::Default);
    let asked = run.last("awaiting.clarification").clone();
    assert_eq!(asked["question"], "Which port?");
    assert_eq!(
        run.count("awaiting.confirmation"),
        0,
        "it asks for no permission"
    );
    run.respond(1, "8080");
    assert_eq!(
        run.answers[&open],
        (Some(1), json!({"answer": "8080"})),
        "the answer is the person's"
    );
    run.written(1, true);
    assert_eq!(run.outcomes, [(1, Ok(Receipt::Written))]);
    assert_eq!(run.connection().when_left, LeaveOutcome::Open);

    let chosen = run.server(
        "ask",
        json!({"question": "Which?", "choices": ["left", "right"]}),
    );
    run.respond(2, "3");
    assert!(run.is_held(chosen), "it offers no third answer");
    run.respond(3, "2");
    assert_eq!(run.body(chosen), &json!({"answer": "right"}));
    run.written(3, false);
    assert_eq!(run.settled, [(1, true), (2, false), (3, false)]);

    let left = run.server("ask", json!({"question": "Now?"}));
    run.respond(4, "hearken.leave");
    assert_eq!(run.body(left), &json!({"left": true}));
    run.written(4, true);
    let declined = run.server("ask", json!({"question": "Well?"}));
    run.respond(5, "hearken.decline");
    assert_eq!(run.body(declined), &json!({"declined": true}));
    run.written(5, true);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_question_whose_call_is_cancelled_is_taken_back_and_too_many_are_refused() {
    let mut run = ClaudeRig::new();
    let id = run.server("ask", json!({"question": "Which port?"}));
    let token = run.token();
    run.news(&LinkEvent::Lapsed { id });
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    run.respond_under(1, &token, "8080");
    assert_eq!(run.settled, [(1, false)]);
    for n in 0..16 {
        let id = run.server("ask", json!({"question": format!("{n}?")}));
        assert!(run.is_held(id));
    }
    let id = run.server("ask", json!({"question": "more?"}));
    assert_eq!(
        run.body(id),
        &json!({"error": "too many questions are open"})
    );
    let id = run.server("ask", json!({}));
    assert_eq!(run.body(id), &json!({"error": "it can't be read"}));
    run.server("leave", json!({}));
    assert_eq!(run.over.len(), 2, "the one that is asked is over, too");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn prompts_go_to_its_channel_and_stay_until_they_are_confirmed() {
    let mut run = ClaudeRig::new();
    let first = run.server("listen", json!({"channel": true, "taken": 0}));
    assert!(run.is_held(first));
    let connection = run.connection();
    assert!(connection.takes_prompts && connection.never_stops && !connection.only_heard);
    run.prompt("run the tests");
    assert_eq!(
        run.body(first),
        &json!({"from": 0, "prompts": ["run the tests"]})
    );
    run.prompt("and then stop");
    // The first answer was not confirmed, so both come again.
    let second = run.server("listen", json!({"channel": true, "taken": 0}));
    assert_eq!(
        run.body(second),
        &json!({"from": 0, "prompts": ["run the tests", "and then stop"]})
    );
    let third = run.server("listen", json!({"channel": true, "taken": 2}));
    assert!(run.is_held(third), "nothing waits any more");
    run.person_request(&PersonRequest::Stop);
    assert_eq!(
        run.phrase_keys,
        [
            "mcp.channel",
            "mcp.prompted",
            "mcp.prompted",
            "stop_turn.only_heard"
        ]
    );
    run.news(&LinkEvent::Lapsed { id: third });
    run.after(Duration::from_secs(4));
    assert!(run.connection().takes_prompts, "it may ask again");
    run.prompt("once more");
    run.after(Duration::from_secs(2));
    assert!(!run.connection().takes_prompts);
    assert_eq!(
        run.phrase_keys[4..],
        ["mcp.prompted", "mcp.channel.over", "mcp.prompts_lost"]
    );
    run.prompt("too late");
    assert_eq!(run.phrase_keys.last(), Some(&"prompt.only_heard"));
}

#[test]
fn a_run_whose_process_was_killed_is_over_after_a_moment() {
    let mut run = ClaudeRig::new();
    run.server("announce", json!({"text": "hello"}));
    let id = run.server("listen", json!({"taken": 0}));
    assert!(run.is_held(id) && !run.connection().takes_prompts);
    run.prompt("you");
    run.news(&LinkEvent::Lapsed { id });
    let again = run.server("listen", json!({"taken": 0}));
    run.after(Duration::from_secs(6));
    assert_eq!(run.count("session.completed"), 0, "it only asked again");
    run.news(&LinkEvent::Lapsed { id: again });
    run.after(Duration::from_secs(6));
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.phrase_keys, ["prompt.only_heard"], "it had no channel");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_prompt_to_the_agent_that_is_heard_by_its_hooks_goes_to_its_channel() {
    let mut run = ClaudeRig::busy();
    let hooked = run.last("session.started")["producer"]["agent_id"].clone();
    let id = run.server("listen", json!({"channel": true, "taken": 0}));
    let whom = AgentId::from(hooked.as_str().unwrap());
    run.person_request(&PersonRequest::ForAgent(
        whom,
        Box::new(PersonRequest::Prompt("go on".to_owned())),
    ));
    assert_eq!(run.body(id)["prompts"], json!(["go on"]));
    run.server("announce", json!({"text": "Here."}));
    assert_eq!(run.last("output.streaming")["producer"]["agent_id"], hooked);
    let other = AgentId::from("claude_other");
    run.person_request(&PersonRequest::ForAgent(
        other,
        Box::new(PersonRequest::Prompt("you".to_owned())),
    ));
    assert_eq!(run.phrase_keys.last(), Some(&"prompt.only_heard"));
    // With several, none is guessed.
    run.server(
        "listen",
        json!({"session": "run 2", "folder": "/work/b", "channel": true, "taken": 0}),
    );
    run.prompt("who?");
    assert_eq!(run.phrase_keys.last(), Some(&"codex.which"));
}

#[test]
fn a_relayed_call_is_asked_about_after_a_moment_and_answered() {
    let mut run = ClaudeRig::new();
    run.server("listen", json!({"channel": true, "taken": 0}));
    let id = run.relays("Bash", r#"{"command":"touch a.txt"}"#);
    assert_eq!(run.count("awaiting.confirmation"), 0, "a hook may ask");
    run.after(HOOK_TIME);
    let asked = run.last("awaiting.confirmation");
    assert_eq!(asked["action"], "touch a.txt");
    assert_eq!(asked["allowed_replies"], json!(["accept", "reject"]));
    run.decide(1, "accept", None);
    assert_eq!(run.answers[&id], (Some(1), json!({"behavior": "allow"})));
    run.written(1, true);
    let id = run.relays("Bash", r#"{"command":"touch b.txt"}"#);
    run.after(HOOK_TIME);
    run.decide(2, "reject", Some("not that file"));
    assert_eq!(run.body(id), &json!({"behavior": "deny"}));
    assert!(!run.phrase_keys.contains(&"mcp.prompted"));
    run.written(2, true);
    assert_eq!(
        run.phrase_keys[1..],
        ["codex.reason_follows", "mcp.prompted"],
        "the reason follows as a prompt"
    );
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_relayed_call_that_is_cut_or_has_no_readable_input_can_only_be_rejected() {
    let mut run = ClaudeRig::new();
    let long = json!({"command": "x".repeat(400)}).to_string();
    let cut: String = long.chars().take(200).collect();
    for preview in [format!("{cut}…"), "(unserializable)".to_owned()] {
        let id = run.relays("Bash", &preview);
        run.after(HOOK_TIME);
        assert_eq!(run.phrase_keys.last(), Some(&"mcp.cut"));
        assert_eq!(
            run.last("awaiting.confirmation")["allowed_replies"],
            json!(["reject"])
        );
        run.decide(1, "accept", None);
        assert!(run.is_held(id), "it can't be accepted");
    }
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_call_that_a_hook_asks_about_is_asked_about_once_whichever_comes_first() {
    let asked = r#"{"command":"touch a.txt","description":"Makes a file"}"#;
    for late in [Duration::ZERO, HOOK_TIME] {
        // The channel first.
        let mut run = ClaudeRig::busy();
        let relayed = run.relays("Bash", asked);
        run.after(late);
        let hook = run.asks("touch a.txt");
        assert_eq!(run.body(relayed), &json!({}), "the hook's question wins");
        assert!(run.is_held(hook));
        run.decide(1, "accept", None);
        assert_eq!(run.decision(hook), &json!({"behavior": "allow"}));
        assert_eq!(run.over.len(), usize::from(late == HOOK_TIME));
        assert_eq!(run.faults, Vec::<String>::new());
    }
    // The hook first; another call is another question.
    let mut run = ClaudeRig::busy();
    let hook = run.asks("touch a.txt");
    let relayed = run.relays("Bash", asked);
    assert_eq!(run.body(relayed), &json!({}));
    let other = run.relays("Bash", r#"{"command":"touch b.txt"}"#);
    run.after(HOOK_TIME);
    assert!(run.is_held(hook) && run.is_held(other));
    assert_eq!(run.count("awaiting.confirmation"), 2);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_run_that_leaves_takes_its_questions_along_and_a_lost_door_ends_all() {
    let mut run = ClaudeRig::new();
    let relayed = run.relays("Bash", r#"{"command":"touch a.txt"}"#);
    run.server("leave", json!({}));
    assert_eq!(run.body(relayed), &json!({}));
    run.after(HOOK_TIME);
    assert_eq!(run.count("awaiting.confirmation"), 0);
    run.server("ask", json!({"question": "Well?"}));
    run.news(&LinkEvent::Ended);
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    assert!(run.machine.deadline().is_none());
}

#[derive(Debug, Clone)]
enum ServerStep {
    Run(u8),
    Announces(String),
    Asks(u8),
    Relays(u8),
    Hook(u8),
    Listens(u64),
    Leaves,
    Prompt(String),
    Responds(&'static str),
    Decides(&'static str),
    Went(bool),
    Lapses(u8),
    Wait(u64),
    Odd(String),
}

fn server_step() -> impl Strategy<Value = ServerStep> {
    let answer = prop::sample::select(vec!["1", "7", "hearken.decline", "hearken.leave", "words"]);
    let decision = prop::sample::select(vec!["accept", "reject", "odd"]);
    prop_oneof![
        1 => (0..3_u8).prop_map(ServerStep::Run),
        2 => "\\PC{0,20}".prop_map(ServerStep::Announces),
        4 => (0..3_u8).prop_map(ServerStep::Asks),
        4 => (0..3_u8).prop_map(ServerStep::Relays),
        2 => (0..3_u8).prop_map(ServerStep::Hook),
        2 => (0..4_u64).prop_map(ServerStep::Listens),
        1 => Just(ServerStep::Leaves),
        2 => "\\PC{0,20}".prop_map(ServerStep::Prompt),
        4 => answer.prop_map(ServerStep::Responds),
        3 => decision.prop_map(ServerStep::Decides),
        5 => any::<bool>().prop_map(ServerStep::Went),
        1 => (0..30_u8).prop_map(ServerStep::Lapses),
        2 => prop::sample::select(vec![1_u64, 10]).prop_map(ServerStep::Wait),
        1 => "\\PC{0,20}".prop_map(ServerStep::Odd),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(64)))]

    #[test]
    fn nothing_is_answered_in_the_persons_place_and_no_event_is_invalid(
        steps in prop::collection::vec(server_step(), 0..80)
    ) {
        let mut run = ClaudeRig::busy();
        let mut name = "run 0".to_owned();
        let mut lapsed = BTreeSet::new();
        let mut number = 0;
        for step in steps {
            let before = run.answers.values().filter(|(by, _)| by.is_some()).count();
            let decides = matches!(step, ServerStep::Responds(_) | ServerStep::Decides(_));
            let signed = |mut body: Value| {
                body["session"] = name.as_str().into();
                body
            };
            match step {
                ServerStep::Run(n) => name = format!("run {n}"),
                ServerStep::Announces(text) => { run.server("announce", signed(json!({"text": text}))); }
                ServerStep::Asks(choices) => {
                    let choices: Vec<String> = (0..choices).map(|n| n.to_string()).collect();
                    run.server("ask", signed(json!({"question": "?", "choices": choices})));
                }
                ServerStep::Relays(n) => {
                    let preview = json!({"command": format!("touch {n}"), "description": "Makes a file"});
                    run.server("permission", signed(json!({"tool_name": "Bash", "input_preview": preview.to_string()})));
                }
                ServerStep::Hook(n) => { run.asks(&format!("touch {n}")); }
                ServerStep::Listens(taken) => { run.server("listen", signed(json!({"channel": taken > 0, "taken": taken}))); }
                ServerStep::Leaves => { run.server("leave", signed(json!({}))); }
                ServerStep::Prompt(text) => run.prompt(&text),
                ServerStep::Responds(text) => { number += 1; run.respond(number, text); }
                ServerStep::Decides(decision) => { number += 1; run.decide(number, decision, Some("why")); }
                ServerStep::Went(went) => {
                    let waits = run.answers.values().filter_map(|(by, _)| *by);
                    let waits = waits.filter(|by| !run.settled.iter().any(|(it, _)| it == by)).min();
                    if let Some(request) = waits {
                        run.written(request, went);
                    }
                }
                ServerStep::Lapses(at) => {
                    let held = (1..=run.next).filter(|id| run.is_held(*id) && !lapsed.contains(id));
                    if let Some(id) = held.collect::<Vec<_>>().get(usize::from(at)) {
                        lapsed.insert(*id);
                        run.news(&LinkEvent::Lapsed { id: *id });
                    }
                }
                ServerStep::Wait(seconds) => run.after(Duration::from_secs(seconds)),
                ServerStep::Odd(text) => {
                    for kind in ["announce", "ask", "permission", "listen", "leave", text.as_str()] {
                        run.post(&format!("/mcp/{kind}"), &text);
                        let odd = json!({"session": [text], "text": {"a": text}, "choices": text});
                        run.post(&format!("/mcp/{kind}"), odd);
                    }
                }
            }
            let after = run.answers.values().filter(|(by, _)| by.is_some()).count();
            prop_assert!(after <= before + usize::from(decides), "nobody answered");
            for (by, body) in run.answers.values() {
                let is_decision = body.get("behavior").is_some() || body.get("answer").is_some();
                prop_assert!(by.is_some() || !is_decision, "{body}");
            }
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
