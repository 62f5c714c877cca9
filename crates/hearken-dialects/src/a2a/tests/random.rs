//! Random messages, legal and not: no panic, no invalid event, no lost question, no answer that the person did not
//! give.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum TaskStep {
    List(Vec<(u8, usize)>),
    Piece(usize, u8, usize, &'static str),
    Grows(usize, u8, &'static str, bool),
    Whole(usize, u8, usize, &'static str),
    Ends(usize, bool),
    Refuses(usize, i64),
    Fails(usize),
    Responds(&'static str),
    Prompt,
    Stop,
    Abandon,
    Wait(u8),
    Lost,
    Dropped,
    Odd(String),
}

const STATES: [&str; 9] = [
    "SUBMITTED",
    "WORKING",
    "WORKING",
    "INPUT_REQUIRED",
    "INPUT_REQUIRED",
    "AUTH_REQUIRED",
    "COMPLETED",
    "FAILED",
    "PONDERING",
];

fn step() -> impl Strategy<Value = TaskStep> {
    let words = prop::sample::select(vec![
        "",
        "One. ",
        "One. Two. ",
        "See https://a.example/x",
        "else",
    ]);
    let code = prop::sample::select(vec![-32001_i64, -32002, -32004, -32601, -32603]);
    prop_oneof![
        2 => prop::collection::vec((0..4_u8, 0..STATES.len()), 0..4).prop_map(TaskStep::List),
        8 => (any::<usize>(), 0..4_u8, 0..STATES.len(), words.clone()).prop_map(|(at, id, state, words)| TaskStep::Piece(at, id, state, words)),
        5 => (any::<usize>(), 0..4_u8, words.clone(), any::<bool>()).prop_map(|(at, id, words, append)| TaskStep::Grows(at, id, words, append)),
        4 => (any::<usize>(), 0..4_u8, 0..STATES.len(), words).prop_map(|(at, id, state, words)| TaskStep::Whole(at, id, state, words)),
        3 => (any::<usize>(), any::<bool>()).prop_map(|(at, good)| TaskStep::Ends(at, good)),
        2 => (any::<usize>(), code).prop_map(|(at, code)| TaskStep::Refuses(at, code)),
        1 => any::<usize>().prop_map(TaskStep::Fails),
        4 => prop::sample::select(vec!["blue", "done", ""]).prop_map(TaskStep::Responds),
        2 => Just(TaskStep::Prompt),
        1 => Just(TaskStep::Stop),
        1 => Just(TaskStep::Abandon),
        3 => (0..10_u8).prop_map(TaskStep::Wait),
        1 => Just(TaskStep::Lost),
        1 => Just(TaskStep::Dropped),
        1 => "\\PC{0,20}".prop_map(TaskStep::Odd),
    ]
}

/// Picks one of the pending requests.
fn open(run: &A2aRig, at: usize, wanted: impl Fn(&SentRequest) -> bool) -> Option<SentRequest> {
    let open: Vec<&SentRequest> = run
        .calls
        .iter()
        .filter(|it| !it.is_over && wanted(it))
        .collect();
    open.get(at % open.len().max(1)).map(|it| (*it).clone())
}

fn play(run: &mut A2aRig, step: TaskStep, number: &mut u64) {
    let name = |id: u8| format!("t{id}");
    match step {
        TaskStep::List(tasks) => {
            let tasks: Vec<Value> = tasks
                .into_iter()
                .map(|(id, state)| task(&name(id), STATES[state], ""))
                .collect();
            if run.waits("ListTasks") {
                run.answers(
                    "ListTasks",
                    json!({"tasks": tasks, "nextPageToken": "more"}),
                );
            }
        }
        TaskStep::Piece(at, id, state, words) => {
            if let Some(call) = open(run, at, |it| it.streams) {
                run.piece(call.number, stands(&name(id), STATES[state], words));
            }
        }
        TaskStep::Grows(at, id, words, append) => {
            if let Some(call) = open(run, at, |it| it.streams) {
                run.piece(call.number, grows(&name(id), words, append));
            }
        }
        TaskStep::Whole(at, id, state, words) => {
            if let Some(call) = open(run, at, |it| it.method != "ListTasks") {
                let mut whole = task(&name(id), STATES[state], words);
                whole["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": words}]}]);
                whole["history"] = json!([message("h", "AGENT", words)]);
                match call.streams {
                    true => run.piece(call.number, json!({"task": whole})),
                    false => {
                        let body = json!({"jsonrpc": "2.0", "id": 1, "result": whole});
                        run.answered(call.number, Ok(body.to_string()));
                    }
                }
            }
        }
        TaskStep::Ends(at, good) => {
            if let Some(call) = open(run, at, |it| it.streams) {
                run.answered(
                    call.number,
                    if good {
                        Ok(String::new())
                    } else {
                        Err(Fault::TimedOut)
                    },
                );
            }
        }
        TaskStep::Refuses(at, code) => {
            if let Some(call) = open(run, at, |_| true) {
                run.answered(call.number, Ok(refusal(code)));
            }
        }
        TaskStep::Fails(at) => {
            if let Some(call) = open(run, at, |_| true) {
                run.answered(call.number, Err(Fault::TimedOut));
            }
        }
        TaskStep::Responds(words) => {
            *number += 1;
            run.respond(*number, words);
        }
        TaskStep::Prompt => run.person_request(&PersonRequest::Prompt("more".to_owned())),
        TaskStep::Abandon => run.person_request(&PersonRequest::Abandon),
        TaskStep::Stop => run.person_request(&PersonRequest::Stop),
        TaskStep::Wait(seconds) => run.after(Duration::from_secs(u64::from(seconds))),
        TaskStep::Lost => {
            run.lost();
            run.connects(&card("1.0", true));
        }
        TaskStep::Dropped => run.news(&LinkEvent::Dropped {
            fault: Fault::TooLarge { limit: 1 },
            count: 1,
        }),
        TaskStep::Odd(text) => {
            if let Some(call) = open(run, 0, |it| it.streams) {
                run.news(&LinkEvent::Piece {
                    request: call.number,
                    text: text.clone(),
                });
                run.piece(
                    call.number,
                    json!({"task": {"id": text, "status": {"state": text}}}),
                );
                run.piece(
                    call.number,
                    json!({"statusUpdate": {"taskId": text, "status": text}}),
                );
                run.piece(call.number, json!({"message": {"parts": text}}));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(64)))]

    #[test]
    fn no_question_is_lost_and_no_answer_is_invented(steps in prop::collection::vec(step(), 0..80)) {
        let mut run = A2aRig::over(TransportKind::EventStream, None);
        run.connects(&card("1.0", true));
        let mut number = 0;
        let (mut prompts, mut stops) = (0, 0);
        for step in steps {
            prompts += usize::from(matches!(step, TaskStep::Prompt));
            stops += usize::from(matches!(step, TaskStep::Stop));
            play(&mut run, step, &mut number);
            let to_tasks = run.calls.iter().filter(|it| it.params["message"].get("taskId").is_some());
            prop_assert!(to_tasks.count() <= number as usize, "nobody answered: {:?}", run.calls.last());
            let begun = run.calls.iter().filter(|it| it.params.get("message").is_some_and(|it| it.get("taskId").is_none()));
            prop_assert!(begun.count() <= prompts, "nobody prompted: {:?}", run.calls.last());
            prop_assert!(stops > 0 || run.made("CancelTask") == 0, "nobody stopped");
            prop_assert!(run.calls.iter().filter(|it| it.streams && !it.is_over).count() <= 8);
            // A waiting task has its question, or the person's answer was accepted.
            for task in run.machine.tasks.values().filter(|task| task.waits() && !task.is_over) {
                let asked = task.turn.as_ref().is_some_and(|turn| turn.asks());
                let taken = run.settled.iter().any(|(_, taken)| *taken);
                prop_assert!(asked || taken, "{task:?}");
            }
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
        for number in 1..=number {
            let times = run.settled.iter().filter(|(it, _)| *it == number).count();
            let waits = run.calls.iter().any(|call| call.number == number && !call.is_over);
            prop_assert!(times == 1 || times == 0 && waits, "{number} settled {times} times");
        }
    }

    #[test]
    fn whatever_the_pieces_and_the_cuts_a_text_is_said_once_and_whole(
        pieces in prop::collection::vec(("[a-z]{1,6} ", any::<bool>()), 1..20)
    ) {
        let (mut run, mut stream) = A2aRig::busy();
        let mut whole = String::new();
        for (at, (text, cut)) in pieces.iter().enumerate() {
            if *cut {
                run.lost();
                run.connects(&card("1.0", true));
                stream = run.call("SubscribeToTask").number;
                // What was written during the loss is in the task.
                whole.push_str(text);
                let mut task = task("t1", "WORKING", "");
                task["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": whole}]}]);
                run.piece(stream, json!({"task": task}));
            } else {
                whole.push_str(text);
                run.piece(stream, grows("t1", text, at > 0));
            }
        }
        prop_assert_eq!(run.said(), whole);
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
