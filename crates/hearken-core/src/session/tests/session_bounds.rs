//! How much a stranger can make hearken store, and what is kept nevertheless.

use super::*;

fn ask_many(stage: &mut SessionStage, count: usize) {
    for n in 0..count {
        stage.on(
            "awaiting.clarification",
            json!({"question": format!("Which {n}?"), "reply_token": format!("rpl_{n}"), "timeout_seconds": 300, "urgency": "critical"}),
        );
    }
}

#[test]
fn everything_a_stranger_can_grow_is_bounded() {
    let mut stage = SessionStage::new();
    stage.sessions.sessions.narrow(3 << 18);
    for n in 0..1000 {
        stage.wait(1);
        stage.on(
            "tool.invoked",
            json!({"tool": "t", "session_id": format!("sess_{n}")}),
        );
        stage.on(
            "tool.invoked",
            json!({"tool": format!("t{n}"), "session_id": "sess_x"}),
        );
        stage.on("output.streaming", json!({"chunk": "a", "position": 0, "complete": false, "output_id": format!("out_{n}"), "session_id": "sess_x"}));
    }
    assert!(stage.sessions.sessions.bytes() <= 3 << 18);
    let dropped = stage.sessions.dropped();
    let kept = stage.sessions.iter().count() as u64;
    assert_eq!(kept + dropped.running_sessions, 1001);
    assert!(dropped.running_sessions > 300, "{dropped:?}");
    assert!(dropped.outputs > 900 && dropped.tools > 700);
    let busy = stage
        .sessions
        .iter()
        .find(|session| session.key.session.as_str() == "sess_x")
        .unwrap();
    assert!(busy.tools.len() <= 256 && busy.outputs().count() <= 64);
}

#[test]
fn ended_sessions_leave_first_and_waiting_ones_last() {
    let mut stage = SessionStage::new();
    stage.sessions.sessions.narrow(192 << 10);
    stage.on("session.started", json!({"session_id": "sess_asks"}));
    let id = stage.ask_with("rpl_1", json!({"session_id": "sess_asks"}));
    let mut forgotten = 0;
    for n in 0..600 {
        stage.wait(1);
        stage.on(
            "session.started",
            json!({"session_id": format!("sess_{n}")}),
        );
        let before = std::mem::replace(&mut forgotten, stage.sessions.dropped().running_sessions);
        let ended = stage.sessions.iter().filter(|it| it.is_ended()).count();
        assert!(
            forgotten == before || ended == 0,
            "{ended} ended ones are kept while running ones were forgotten"
        );
        if n % 2 == 0 {
            stage.on(
                "session.completed",
                json!({"session_id": format!("sess_{n}")}),
            );
        }
    }
    assert!(stage.sessions.question(id).unwrap().is_answerable());
    assert!(
        stage
            .sessions
            .iter()
            .any(|it| it.key.session.as_str() == "sess_asks")
    );
    assert!(forgotten > 100, "{forgotten}");
}

#[test]
fn of_ended_sessions_the_last_ones_are_kept() {
    let mut stage = SessionStage::new();
    for n in 0..400 {
        let id = format!("sess_{n}");
        stage.on("session.started", json!({"session_id": id}));
        stage.on("session.completed", json!({"session_id": id}));
    }
    let kept: Vec<_> = stage.sessions.iter().collect();
    assert_eq!(kept.len(), 256);
    assert!(kept.iter().all(|session| session.number > 144));
    assert_eq!(stage.sessions.dropped().sessions, 144);
    assert_eq!(stage.sessions.dropped().running_sessions, 0);
}

#[test]
fn a_session_that_began_anew_is_not_forgotten_for_the_end_of_its_life_before() {
    let mut stage = SessionStage::new();
    stage.on("session.started", json!({"session_id": "sess_again"}));
    stage.on("session.completed", json!({"session_id": "sess_again"}));
    stage.on("session.started", json!({"session_id": "sess_again"}));
    for n in 0..300 {
        let id = format!("sess_{n}");
        stage.on("session.started", json!({"session_id": id}));
        stage.on("session.completed", json!({"session_id": id}));
    }
    let again = |session: &&Session| session.key.session.as_str() == "sess_again";
    assert!(!stage.sessions.iter().find(again).unwrap().is_ended());
}

#[test]
fn a_thousand_sessions_are_followed_at_a_time_and_none_is_forgotten() {
    let mut stage = SessionStage::new();
    for _ in 0..2 {
        for n in 0..1000 {
            stage.on("tool.invoked", json!({"tool": "t", "session_id": format!("sess_{n}"), "tool_call_id": format!("call_{n}")}));
        }
    }
    assert_eq!(stage.sessions.iter().count(), 1000);
    assert!(stage.sessions.iter().all(|session| session.events == 2));
    assert_eq!(stage.sessions.dropped(), DroppedCounts::default());
}

#[test]
fn what_a_session_is_counted_for_is_no_less_than_its_names() {
    let mut stage = SessionStage::new();
    stage.start();
    let long = "n".repeat(200);
    for n in 0..200 {
        stage.on(
            "tool.invoked",
            json!({"tool": long, "tool_call_id": format!("call_{n}{long}")}),
        );
        let session = stage.sessions.iter().next().unwrap();
        let names: usize = session.tools.iter().map(|call| 3 * call.tool.len()).sum();
        assert_eq!(stage.sessions.sessions.bytes(), session.weight);
        assert!(session.weight > names && session.weight < 4096 + 8 * names.max(2048));
    }
    stage.on("session.completed", json!({}));
    let ended = stage.sessions.sessions.bytes();
    stage.on("session.started", json!({}));
    assert!(stage.sessions.sessions.bytes() < ended);
}

#[test]
fn two_runs_of_an_agent_are_told_apart_only_where_they_go_on_at_a_time() {
    let begin =
        |stage: &mut SessionStage, id: &str| stage.on("session.started", json!({"session_id": id}));
    let mut stage = SessionStage::new();
    begin(&mut stage, "sess_1");
    stage.on("session.completed", json!({"session_id": "sess_1"}));
    begin(&mut stage, "sess_2");
    assert!(!stage.sessions.several());
    begin(&mut stage, "sess_3");
    assert!(stage.sessions.several());
    let beside: Vec<bool> = stage.sessions.iter().map(|it| it.beside).collect();
    assert_eq!(beside, [false, true, true]);
    assert!(stage.sessions.any_goes_on());
    for id in ["sess_2", "sess_3"] {
        stage.on("session.completed", json!({"session_id": id}));
    }
    assert!(!stage.sessions.any_goes_on());
    begin(&mut stage, "sess_4");
    let last = |session: &&Session| session.key.session.as_str() == "sess_4";
    assert!(!stage.sessions.iter().find(last).unwrap().beside);
}

#[test]
fn closed_questions_of_a_megabyte_leave_early_and_are_counted() {
    let mut stage = SessionStage::new();
    stage.start();
    for n in 0..20 {
        let id = stage.ask_with(
            &format!("rpl_{n}"),
            json!({"action": format!("{n}{}", "x".repeat(1 << 20))}),
        );
        stage.answer(id, Decision::Reject);
        stage.state("awaiting_input", "thinking");
    }
    assert!(
        stage.sessions.questions.len() <= 5,
        "{}",
        stage.sessions.questions.len()
    );
    assert!(stage.sessions.dropped().questions >= 15);
}

#[test]
fn the_questions_of_a_session_are_found_among_those_of_many() {
    let mut stage = SessionStage::new();
    let asked: Vec<_> = (0..30)
        .map(|n| {
            let session = format!("sess_{}", n % 10);
            if n < 10 {
                stage.on("session.started", json!({"session_id": session}));
            }
            let more = json!({"session_id": session, "action": format!("Send {n}"), "timeout_seconds": 100 + n});
            (session, stage.ask_with(&format!("rpl_{n}"), more))
        })
        .collect();
    let of = |stage: &SessionStage, session: &str| {
        let mut keys = stage.sessions.iter().map(|session| &session.key);
        let key = keys.find(|key| key.session.as_str() == session);
        stage.sessions.open_of(key.unwrap())
    };
    for n in 0..10 {
        let session = format!("sess_{n}");
        let own = asked.iter().filter(|(of, _)| *of == session);
        let own: Vec<_> = own.map(|(_, id)| *id).collect();
        assert_eq!((of(&stage, &session), own.len()), (own, 3));
        // The next due time is the earliest remaining one.
        let next = stage.sessions.deadline();
        stage.on("session.completed", json!({"session_id": session}));
        assert!(of(&stage, &session).is_empty());
        assert!(stage.sessions.deadline().is_none_or(|due| Some(due) > next));
    }
    assert_eq!(stage.sessions.open_questions().count(), 0);
}

#[test]
fn texts_that_are_only_shown_are_cut() {
    let mut stage = SessionStage::new();
    let long = "y".repeat(100_000);
    stage.on("session.started", json!({"request_text": long}));
    stage.on(
        "state.changed",
        json!({"from_state": "idle", "to_state": long}),
    );
    let chained = stage.on(
        "state.changed",
        json!({"from_state": long, "to_state": "idle"}),
    );
    // The schema allows 64 characters, but the chain still works.
    assert_eq!(
        anomalies(&chained),
        [AnomalyKind::Invalid],
        "a long name is still itself"
    );
    stage.on(
        "state.changed",
        json!({"from_state": "idle", "to_state": long}),
    );
    stage.on(
        "progress.updated",
        json!({"progress": {"description": long}}),
    );
    let session = stage.sessions.iter().next().unwrap();
    assert!(session.request.as_ref().unwrap().len() < 3000);
    assert!(session.state.as_ref().unwrap().len() < 3000);
    assert!(
        session
            .progress
            .as_ref()
            .unwrap()
            .description
            .as_ref()
            .unwrap()
            .len()
            < 3000
    );
}

#[test]
fn a_question_held_back_when_its_link_is_lost_is_raised_within_a_second_with_a_doubt() {
    let asked_before = |stage: &mut SessionStage| {
        stage.wait(10_000);
        let old = stage.event(
            "awaiting.confirmation",
            json!({"action": "Send", "reply_token": "rpl_1", "timeout_seconds": 300, "default_decision": "reject",
                   "timestamp": "2026-01-01T00:00:01.000Z"}),
        );
        stage.sessions.link_connected(LINK, stage.now);
        assert!(
            !stage
                .put(LINK, &old)
                .iter()
                .any(|what| matches!(what, ChangeKind::QuestionOpened(_)))
        );
        stage.wait(200);
        stage.sessions.link_lost(LINK, stage.now)
    };
    let id = QuestionId(1);
    let standing = |stage: &SessionStage| stage.sessions.question(id).unwrap().reach;
    // No connection is made: it is still raised, and can't be answered.
    let mut stage = SessionStage::new();
    assert_eq!(asked_before(&mut stage), [], "nobody knows of it yet");
    assert_eq!(stage.wait(799), []);
    assert_eq!(stage.wait(1), [ChangeKind::QuestionOpened(id)]);
    assert_eq!(standing(&stage), AnswerReach::LinkLost);
    // A connection fails again and again: it is raised within the second, as possibly answered.
    let mut stage = SessionStage::new();
    asked_before(&mut stage);
    let mut raised = Vec::new();
    for ms in [300, 200, 200, 300] {
        raised.extend(stage.wait(ms));
        stage.sessions.link_connected(LINK, stage.now);
        raised.extend(stage.wait(100));
        if raised.is_empty() {
            assert_eq!(stage.sessions.link_lost(LINK, stage.now), []);
        }
    }
    assert_eq!(raised, [ChangeKind::QuestionOpened(id)]);
    assert_ne!(standing(&stage), AnswerReach::Live);
    // If no other connection is made, its fate is reported as unknown.
    let mut stage = SessionStage::new();
    asked_before(&mut stage);
    assert_eq!(stage.sessions.link_over(LINK, stage.now), [id]);
    assert_eq!(stage.sessions.open_questions().count(), 1);
}

#[test]
fn what_a_held_question_s_session_says_on_the_next_connection_decides_it() {
    let mut stage = SessionStage::new();
    let old = stage.event(
        "awaiting.confirmation",
        json!({"action": "Send", "reply_token": "rpl_1", "timeout_seconds": 300}),
    );
    let end = stage.event("session.completed", json!({}));
    stage.wait(5000);
    stage.sessions.link_connected(LINK, stage.now);
    stage.put(LINK, &old);
    stage.sessions.link_lost(LINK, stage.now);
    stage.sessions.link_connected(LINK, stage.now);
    let told = stage.put(LINK, &end);
    assert!(closed(&told).is_none(), "it was never raised: {told:?}");
    assert_eq!(stage.wait(3000), []);
}

#[test]
fn a_question_that_leaves_at_the_bound_is_told_to_be_closed() {
    let mut stage = SessionStage::new();
    stage.sessions.add_link(LINK, false);
    stage.start();
    let mut told = Vec::new();
    for n in 0..70 {
        let what = stage.on(
            "awaiting.clarification",
            json!({"question": format!("Which {n}?"), "reply_token": format!("rpl_{n}"), "timeout_seconds": 300, "urgency": "critical"}),
        );
        told.extend(closed(&what));
    }
    assert_eq!(told.len(), 70 - 64);
    assert_eq!(told[0], (QuestionId(1), CloseReason::LinkGone));
}

#[test]
fn what_waits_for_room_is_over_with_its_subscription() {
    let mut stage = SessionStage::new();
    stage.start();
    ask_many(&mut stage, 70);
    assert_eq!(stage.sessions.open_questions().count(), 64);
    let told = stage
        .sessions
        .over(LINK, &CloseReason::Unsubscribed, stage.now);
    assert_eq!(told.len(), 64, "what was never raised is not told");
    assert_eq!(stage.wait(3000), [], "nothing decided is raised");
    let raised = stage.on("session.started", json!({"session_id": "sess_2"}));
    let asked = |what: &ChangeKind| matches!(what, ChangeKind::QuestionOpened(_));
    assert!(!raised.iter().any(asked), "{raised:?}");
    assert_eq!(
        stage
            .sessions
            .questions
            .values()
            .filter(|it| it.is_open())
            .count(),
        0
    );
}

#[test]
fn what_waits_for_room_waits_on_while_its_link_is_down() {
    let mut stage = SessionStage::new();
    stage.start();
    ask_many(&mut stage, 200);
    stage.sessions.link_lost(LINK, stage.now);
    for _ in 0..3 {
        stage.wait(1000);
        assert_eq!(stage.sessions.open_questions().count(), 64);
    }
    stage.sessions.link_connected(LINK, stage.now);
    stage
        .sessions
        .link_resumed(LINK, AnswerReach::Live, stage.now);
    let first = stage.sessions.open_questions().next().unwrap().id;
    stage.answer(first, Decision::Reject);
    stage.wait(1);
    assert_eq!(
        stage.sessions.answerable_questions().count(),
        64,
        "the next one has its room"
    );
}

#[test]
fn a_replayed_question_that_nobody_answers_here_stays_so_when_its_link_is_over() {
    let mut stage = SessionStage::new();
    let old = stage.event(
        "awaiting.confirmation",
        json!({"action": "Send", "reply_token": "rpl_1", "timeout_seconds": 300}),
    );
    stage.wait(5000);
    stage.sessions.link_connected(LINK, stage.now);
    stage.put(LINK, &old);
    let id = QuestionId(1);
    let unreachable = |question: &mut Question| question.reach = AnswerReach::NotAnswerable;
    stage.sessions.questions.change(id, unreachable).unwrap();
    stage.sessions.link_over(LINK, stage.now);
    assert_eq!(
        stage.sessions.open_questions().count(),
        0,
        "it was not raised"
    );
    assert_eq!(stage.wait(1000), [ChangeKind::QuestionOpened(id)]);
    let standing = stage.sessions.question(id).unwrap().reach;
    assert_eq!(standing, AnswerReach::NotAnswerable);
}

#[test]
fn what_hardly_ever_changes_is_weighed_when_it_does() {
    let mut stage = SessionStage::new();
    for (name, fields) in [
        ("session.started", json!({"request_text": "x".repeat(1500)})),
        (
            "tool.invoked",
            json!({"tool": "t", "tool_call_id": "call_1"}),
        ),
        ("session.started", json!({"request_text": "y"})),
        (
            "tool.invoked",
            json!({"tool": "t", "tool_call_id": "call_2"}),
        ),
    ] {
        stage.on(name, fields);
        let session = stage.sessions.iter().next().unwrap();
        let mut anew = session.clone();
        anew.weigh_rest();
        assert_eq!(session.weight, anew.weigh(), "behind {name}");
    }
}

#[test]
fn hundreds_of_questions_are_counted_as_a_walk_finds_them_and_asked_in_their_order() {
    let mut stage = SessionStage::new();
    stage.sessions.add_link(LinkId(1), true);
    let mut dice = 7_u64;
    let mut roll = |sides: u64| {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    let mut last: std::collections::BTreeMap<_, QuestionId> = std::collections::BTreeMap::new();
    let mut old = Vec::new();
    let (mut raised, mut waited, mut most) = (0, 0, 0);
    for step in 0..3000 {
        let link = LinkId(usize::from(roll(4) == 0));
        let what = match roll(100) {
            0..88 => {
                let asked = stage.event(
                    "awaiting.clarification",
                    json!({
                        "question": format!("Which {step}?"), "reply_token": format!("rpl_{}", roll(3000)),
                        "timeout_seconds": 2000 + roll(300), "urgency": "critical",
                        "session_id": format!("sess_{}", roll(40)), "producer": {"agent_id": format!("a{}", roll(3))},
                    }),
                );
                old.push((link, asked.clone()));
                stage.put(link, &asked)
            }
            88..91 => {
                let happened = ["session.completed", "session.started", "state.changed"];
                let kind = happened[usize::try_from(roll(3)).unwrap()];
                let event = stage.event(
                    kind,
                    json!({
                        "session_id": format!("sess_{}", roll(40)), "producer": {"agent_id": format!("a{}", roll(3))},
                        "from_state": "awaiting_input", "to_state": "thinking",
                    }),
                );
                stage.put(link, &event)
            }
            91..97 => stage.wait(roll(400)),
            97 => {
                // It comes back and replays some of its questions.
                stage.sessions.link_lost(link, stage.now);
                stage.wait(3000);
                stage.sessions.link_connected(link, stage.now);
                let mut what = Vec::new();
                for (of, asked) in old.iter().rev().take(40).rev() {
                    if *of == link && roll(2) == 0 {
                        let mut again = asked.clone();
                        again["event_id"] = json!(format!("evt_again_{step}_{}", what.len()));
                        again["reply_token"] = json!(format!("rpl_again_{step}_{}", roll(1000)));
                        what.extend(stage.put(link, &again));
                    }
                }
                what
            }
            98 if roll(4) == 0 => {
                stage.sessions.link_over(link, stage.now);
                stage.sessions.link_connected(link, stage.now);
                Vec::new()
            }
            _ => {
                let open = stage
                    .sessions
                    .open_questions()
                    .find(|it| it.is_answerable());
                if let Some(id) = open.map(|question| question.id) {
                    stage.answer(id, Decision::Reject);
                }
                stage.wait(1)
            }
        };
        assert!(stage.sessions.counts_are_true(), "step {step}");
        for what in what {
            match what {
                ChangeKind::QuestionOpened(id) => {
                    raised += 1;
                    let whose = stage.sessions.question(id).unwrap().key.clone();
                    let before = last.insert((whose.link, whose.agent), id);
                    assert!(before < Some(id), "{before:?} was asked before {id:?}");
                }
                ChangeKind::QuestionsWaiting { waiting } => waited += waiting,
                _ => {}
            }
        }
        most = most.max(stage.sessions.open_questions().count());
    }
    assert!(
        raised > 500 && waited > 500 && most > 200,
        "{raised} {waited} {most}"
    );
}
