//! Random messages, legal and not: no panic, no invalid event, no lost question, no answer that the person did not
//! give.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum HookStep {
    Prompted(u8),
    Shell(&'static str, u8),
    Asks(u8, u8),
    Event(&'static str),
    Elicits(u8),
    Responds(&'static str),
    Who(u8),
    Decides(&'static str),
    Went(bool),
    Lapses(u8),
    Wait(u64),
    Odd(String),
}

const EVENTS: [&str; 9] = [
    "SessionStart",
    "Stop",
    "StopFailure",
    "SessionEnd",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Other",
];

fn step() -> impl Strategy<Value = HookStep> {
    let shell = prop::sample::select(vec![
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionDenied",
    ]);
    let decision = prop::sample::select(vec![
        "accept",
        "reject",
        "allow, and for this conversation work in the mode acceptEdits, which may act without asking",
        "ask in Codex's own terminal",
        "odd",
    ]);
    prop_oneof![
        2 => (0..3_u8).prop_map(HookStep::Prompted),
        4 => (shell, 0..4_u8).prop_map(|(event, id)| HookStep::Shell(event, id)),
        5 => (0..4_u8, 0..3_u8).prop_map(|(id, kind)| HookStep::Asks(id, kind)),
        2 => prop::sample::select(EVENTS.to_vec()).prop_map(HookStep::Event),
        2 => (0..3_u8).prop_map(HookStep::Elicits),
        4 => prop::sample::select(vec!["1", "words", "hearken.decline", "hearken.without"]).prop_map(HookStep::Responds),
        1 => (0..3_u8).prop_map(HookStep::Who),
        5 => decision.prop_map(HookStep::Decides),
        5 => any::<bool>().prop_map(HookStep::Went),
        1 => (0..20_u8).prop_map(HookStep::Lapses),
        1 => prop::sample::select(vec![1_u64, 200, 2000]).prop_map(HookStep::Wait),
        1 => "\\PC{0,20}".prop_map(HookStep::Odd),
    ]
}

fn ask(run: &mut ClaudeRig, id: u8, kind: u8) -> u64 {
    match kind {
        0 => run.asks(&format!("touch {id}")),
        1 => run.hook("PermissionRequest", json!({"tool_name": "Write", "tool_input": {"file_path": "/x", "content": "y".repeat(usize::from(id) * 9000)}})),
        _ => run.hook("PermissionRequest", json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "?"}]}})),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(64)))]

    #[test]
    fn no_question_is_lost_and_no_answer_is_invented(steps in prop::collection::vec(step(), 0..80)) {
        let mut run = ClaudeRig::new();
        let (mut number, mut asked) = (0, BTreeSet::new());
        let mut lapsed = BTreeSet::new();
        for step in steps {
            let decides = matches!(step, HookStep::Decides(_) | HookStep::Responds(_));
            let before = run.answers.values().filter(|(by, _)| by.is_some()).count();
            match step {
                HookStep::Prompted(id) => { run.prompted(&format!("words {id}")); },
                HookStep::Shell(event, id) => { run.shell(event, &format!("c{id}"), &format!("touch {id}")); },
                HookStep::Asks(id, kind) => {
                    asked.insert(ask(&mut run, id, kind));
                }
                HookStep::Event(event) => { run.hook(event, json!({"message": "x", "notification_type": "idle_prompt", "last_assistant_message": "Said."})); },
                HookStep::Elicits(kind) => {
                    let form = json!({"type": "object", "properties": {"a": {"type": "string"}}});
                    let body = match kind {
                        0 => json!({"mode": "form", "requested_schema": form, "message": run.next}),
                        1 => json!({"mode": "url", "url": "https://a.example/", "message": run.next}),
                        _ => json!({"mode": "form", "requested_schema": {"properties": {"a": kind}}}),
                    };
                    asked.insert(run.hook("Elicitation", body));
                }
                HookStep::Responds(text) => {
                    number += 1;
                    run.respond(number, text);
                }
                HookStep::Who(who) => {
                    (run.who, run.from) = [("s1", ""), ("s2", ""), ("s2", "/codex")][usize::from(who)];
                }
                HookStep::Decides(decision) => {
                    number += 1;
                    run.decide(number, decision, None);
                }
                HookStep::Went(went) => {
                    let waits = run.answers.values().filter_map(|(by, _)| *by);
                    let waits = waits.filter(|by| !run.settled.iter().any(|(it, _)| it == by)).min();
                    if let Some(request) = waits {
                        run.written(request, went);
                    }
                }
                HookStep::Lapses(at) => {
                    let id = asked.iter().nth(usize::from(at)).copied();
                    if let Some(id) = id.filter(|id| lapsed.insert(*id)) {
                        run.news(&LinkEvent::Lapsed { id });
                    }
                }
                HookStep::Wait(seconds) => run.after(Duration::from_secs(seconds)),
                HookStep::Odd(text) => {
                    let odd = [
                        json!({"tool_name": text, "tool_input": text, "permission_suggestions": [text, {"type": text}]}),
                        json!({"tool_name": "Write", "tool_input": {"file_path": [text], "content": 1}, "tool_response": {"structuredPatch": [text]}}),
                    ];
                    for body in odd {
                        asked.insert(run.hook("PermissionRequest", body.clone()));
                        run.hook("PreToolUse", body.clone());
                        run.hook("PostToolUse", body);
                    }
                    run.hook(&text, json!({"prompt_id": text}));
                    run.post("/hook", &text);
                    run.post(&text, &text);
                    run.news(&LinkEvent::Frame(Frame::of(&*text)));
                }
            }
            let answered = run.answers.values().filter(|(by, _)| by.is_some()).count();
            prop_assert!(answered <= before + usize::from(decides), "nobody answered");
            for (by, body) in run.answers.values() {
                prop_assert!(by.is_some() || *body == json!({}), "{body}");
            }
            // Requests without a question were let go; a question is asked, is queued, or was let go.
            for id in (1..=run.next).filter(|id| run.is_held(*id) && !lapsed.contains(id)) {
                prop_assert!(asked.contains(&id), "{id} is held");
                let name = id.to_string();
                let open = run.machine.conversations.values().filter_map(|it| it.turn.as_ref());
                let is_form = run.machine.elicited.iter().any(|it| it.id == Some(id));
                let open = is_form || open.flat_map(|turn| turn.requests()).any(|it| it.is_name(&name));
                prop_assert!(open, "{id} waits, and nobody is asked");
            }
        }
        // Where the agent's own terminal asks nothing meanwhile, no question waits past its time.
        let sent: Vec<u64> = run.answers.values().filter_map(|(by, _)| *by).collect();
        for request in sent.into_iter().filter(|by| !run.settled.iter().any(|(it, _)| it == by)).collect::<Vec<_>>() {
            run.written(request, true);
        }
        run.after(Duration::from_secs(300));
        prop_assert_eq!(run.machine.waiting_requests.values().filter(|it| it.only_here).count(), 0);
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
        for number in 1..=number {
            let times = run.settled.iter().filter(|(it, _)| *it == number).count();
            let waits = run.answers.values().any(|(by, _)| *by == Some(number));
            prop_assert!(times == 1 || times == 0 && waits, "{number} settled {times} times");
        }
    }
}
