//! Sequence numbers: what is repaired, what is announced, and for which sessions nothing waits.

use super::*;

impl SessionStage {
    fn numbered(&mut self, number: u64) -> Vec<ChangeKind> {
        self.on(
            "progress.updated",
            json!({"progress": {"percent": number}, "sequence_number": number}),
        )
    }
}

/// Returns the percentages in the order in which they were applied.
fn order(what: &[ChangeKind]) -> Vec<u64> {
    what.iter()
        .filter_map(|what| match what {
            ChangeKind::Progress(progress) => progress.percent.map(|percent| percent as u64),
            _ => None,
        })
        .collect()
}

/// Returns how many messages are reported missing for each gap.
fn gaps(what: &[ChangeKind]) -> Vec<&str> {
    what.iter()
        .filter_map(|what| match what {
            ChangeKind::Anomaly(Anomaly {
                kind: AnomalyKind::SequenceGap,
                detail,
                ..
            }) => Some(detail.name()),
            _ => None,
        })
        .collect()
}

fn begun() -> SessionStage {
    let mut stage = SessionStage::new();
    stage.on("session.started", json!({"sequence_number": 0}));
    stage
}

#[test]
fn numbers_are_followed_and_a_late_join_is_normal() {
    let mut stage = SessionStage::new();
    let what = stage.numbered(17);
    assert_eq!(anomalies(&what), []);
    assert!(what.contains(&ChangeKind::SessionJoined));
    assert_eq!(order(&what), [17], "far from the beginning nobody waits");
    assert_eq!(anomalies(&stage.numbered(18)), []);
    assert_eq!(stage.numbered(21), [], "it waits for 19 and 20");
    let late = stage.wait(250);
    assert_eq!(anomalies(&late), [AnomalyKind::SequenceGap]);
    assert_eq!(order(&late), [21]);
    assert_eq!(
        anomalies(&stage.numbered(20)),
        [AnomalyKind::SequenceMisorder]
    );
    let unnumbered = stage.on("progress.updated", json!({"progress": {"percent": 1}}));
    assert_eq!(anomalies(&unnumbered), [AnomalyKind::SequenceMixed]);
    assert_eq!(anomalies(&stage.numbered(99)), [], "told once");
}

#[test]
fn what_came_too_early_is_put_into_its_place() {
    let mut stage = begun();
    assert_eq!(stage.numbered(3), []);
    assert_eq!(stage.numbered(2), []);
    let what = stage.numbered(1);
    assert_eq!(order(&what), [1, 2, 3]);
    assert_eq!(anomalies(&what), []);
    assert_eq!(stage.wait(10_000), [], "nothing is left behind");
}

#[test]
fn a_start_that_is_overtaken_is_still_the_first() {
    let mut stage = SessionStage::new();
    assert_eq!(stage.numbered(1), []);
    let what = stage.on("session.started", json!({"sequence_number": 0}));
    assert!(
        matches!(what.first(), Some(ChangeKind::SessionStarted(_))),
        "{what:?}"
    );
    assert_eq!(order(&what), [1]);
    assert_eq!(anomalies(&what), []);
}

#[test]
fn a_gap_is_told_once_with_its_size_and_nothing_is_lost() {
    let mut stage = begun();
    stage.numbered(5);
    stage.numbered(6);
    assert_eq!(stage.sessions.deadline(), Some(Duration::from_millis(250)));
    let what = stage.wait(250);
    assert_eq!(order(&what), [5, 6]);
    assert_eq!(gaps(&what), ["4"]);
}

#[test]
fn nobody_waits_for_a_producer_that_leaves_numbers_out_as_a_habit() {
    let mut stage = begun();
    for number in [2, 4] {
        assert_eq!(stage.numbered(number), []);
        stage.wait(250);
    }
    assert_eq!(order(&stage.numbered(6)), [6], "at once");
}

#[test]
fn a_question_ahead_of_its_turn_is_not_lost_when_the_link_goes() {
    let mut stage = begun();
    let ask = stage.event(
        "awaiting.confirmation",
        json!({"action": "Send", "reply_token": "rpl_1", "timeout_seconds": 30, "default_decision": "reject",
               "urgency": "critical", "sequence_number": 2}),
    );
    assert_eq!(stage.put(LINK, &ask), []);
    let released = stage.sessions.release_link(LINK, stage.now);
    assert!(
        released
            .iter()
            .any(|change| matches!(change.kind, ChangeKind::QuestionOpened(_)))
    );
}

#[test]
fn an_ended_session_waits_for_nothing_and_others_are_not_held_up() {
    let mut stage = begun();
    stage.on("session.completed", json!({"sequence_number": 1}));
    let late = stage.numbered(3);
    assert!(anomalies(&late).contains(&AnomalyKind::AfterEnd));
    let mut stage = begun();
    assert_eq!(stage.numbered(2), []);
    let other = stage.on(
        "session.started",
        json!({"session_id": "sess_2", "sequence_number": 0}),
    );
    assert!(matches!(other.first(), Some(ChangeKind::SessionStarted(_))));
}

#[test]
fn what_is_held_is_bounded() {
    let mut stage = SessionStage::new();
    let mut at_once = 0;
    for session in 0..200 {
        stage.on(
            "session.started",
            json!({"session_id": format!("sess_{session}"), "sequence_number": 0}),
        );
        let what = stage.on(
            "progress.updated",
            json!({"session_id": format!("sess_{session}"), "sequence_number": 2, "progress": {"percent": 2}}),
        );
        at_once += order(&what).len();
    }
    assert_eq!(at_once, 200 - 64);
    assert_eq!(order(&stage.wait(250)).len(), 64);
}

#[test]
fn a_replayed_burst_and_a_reconnect_raise_no_alarm() {
    let mut stage = begun();
    for number in 1..=5 {
        stage.numbered(number);
    }
    let replayed: Vec<Value> = (1..=3)
        .map(|n| {
            stage.count = n;
            let mut event = stage.event(
                "progress.updated",
                json!({"progress": {"percent": n}, "sequence_number": n}),
            );
            event["event_id"] = json!(format!("evt_{}", n + 1));
            event
        })
        .collect();
    stage.count = 100;
    stage.sessions.link_lost(LINK, stage.now);
    stage.wait(5000);
    stage.sessions.link_connected(LINK, stage.now);
    for event in &replayed {
        assert_eq!(anomalies(&stage.put(LINK, event)), []);
    }
    stage.wait(1000);
    assert_eq!(anomalies(&stage.numbered(6)), []);
}

/// The ninth event after a missing one does not overtake the eight that wait.
#[test]
fn nothing_overtakes_what_waits() {
    let mut stage = begun();
    let mut told = Vec::new();
    for number in 2..=9 {
        told.extend(stage.numbered(number));
    }
    assert_eq!(told, [], "eight wait for the first");
    told = stage.numbered(10);
    assert_eq!(order(&told), (2..=10).collect::<Vec<u64>>());
    assert_eq!(anomalies(&told), [AnomalyKind::SequenceGap]);
    assert_eq!(gaps(&told), ["1"], "one is missing, not nine");
    let mut stage = begun();
    assert_eq!(stage.numbered(2), []);
    let far = stage.numbered(60);
    assert_eq!(far, [], "how far it is ahead makes no difference");
    assert_eq!(order(&stage.numbered(1)), [1, 2]);
    assert_eq!(order(&stage.wait(250)), [60]);
    let mut stage = begun();
    assert_eq!(stage.numbered(2), []);
    let unnumbered = stage.on("progress.updated", json!({"progress": {"percent": 50}}));
    assert_eq!(order(&unnumbered), [2, 50]);
}

#[test]
fn what_is_behind_a_second_gap_waits_for_its_own_time() {
    let mut stage = begun();
    assert_eq!(stage.numbered(2), []);
    stage.wait(200);
    assert_eq!(stage.numbered(4), []);
    assert_eq!(order(&stage.wait(50)), [2]);
    assert_eq!(order(&stage.numbered(3)), [3, 4]);
}

#[test]
fn an_end_waits_for_what_comes_before_it_even_where_numbers_are_left_out_as_a_habit() {
    let mut stage = begun();
    for number in [2, 4] {
        stage.numbered(number);
        stage.wait(250);
    }
    let end = stage.on("session.completed", json!({"sequence_number": 6}));
    assert_eq!(end, []);
    let what = stage.numbered(5);
    assert_eq!(order(&what), [5]);
    assert!(
        matches!(what.last(), Some(ChangeKind::SessionEnded(_))),
        "{what:?}"
    );
    assert_eq!(anomalies(&what), []);
}

#[test]
fn joining_late_holds_nothing() {
    for number in 2..=9 {
        let mut stage = SessionStage::new();
        assert_eq!(order(&stage.numbered(number)), [number]);
        assert_eq!(order(&stage.numbered(number + 1)), [number + 1]);
        // An event that was under way when we joined may be late.
        let late = stage.numbered(number - 1);
        assert_eq!(order(&late), [number - 1]);
        assert_eq!(anomalies(&late), []);
    }
    let mut stage = SessionStage::new();
    stage.numbered(3);
    let start = stage.on("session.started", json!({"sequence_number": 0}));
    assert_eq!(anomalies(&start), [], "it was overtaken while we joined");
}

/// If a question may have been missed, the danger is reported as possible; if none can have been, as certain.
#[test]
fn a_gap_neither_invents_nor_hides_a_danger() {
    let call = |number: u64| {
        json!({"tool": format!("wipe_{number}"), "tool_call_id": format!("call_{number}"), "irreversible": true,
               "sequence_number": number})
    };
    let done = |number: u64| {
        let call = number - 1;
        json!({"tool": format!("wipe_{call}"), "tool_call_id": format!("call_{call}"), "status": "success",
               "sequence_number": number})
    };
    let perhaps = |number: u64| Danger::PerhapsUnasked {
        tool: format!("wipe_{number}"),
        done: true,
        gravity: Gravity::Irreversible,
    };
    let mut stage = begun();
    // Number 1 is missing: there is room for one question.
    stage.on("tool.invoked", call(2));
    stage.on("tool.completed", done(3));
    stage.on("tool.invoked", call(4));
    stage.on("tool.completed", done(5));
    let surely = Danger::Unasked {
        tool: "wipe_4".to_owned(),
        done: true,
        gravity: Gravity::Irreversible,
    };
    assert_eq!(dangers(&stage.wait(250)), [perhaps(2), surely]);
    // The question may also have come after the call.
    let mut stage = begun();
    stage.on("tool.invoked", call(1));
    stage.on("tool.completed", json!({"tool": "wipe_1", "tool_call_id": "call_1", "status": "success", "sequence_number": 3}));
    assert_eq!(dangers(&stage.wait(250)), [perhaps(1)]);
    // Before we joined, there may have been any number of them.
    let mut stage = SessionStage::new();
    stage.numbered(5);
    let mut found = Vec::new();
    for number in [6, 8, 10] {
        stage.on("tool.invoked", call(number));
        found.extend(dangers(&stage.on("tool.completed", done(number + 1))));
    }
    assert_eq!(found, [perhaps(6), perhaps(8), perhaps(10)]);
}

proptest! {
    /// Whatever the order within the window, everything is applied once, in the right order.
    #[test]
    fn any_order_within_the_window_is_put_right(seed in prop::collection::vec(0usize..100, 8)) {
        let mut numbers: Vec<u64> = (1..=8).collect();
        for (at, swap) in seed.iter().enumerate() {
            numbers.swap(at, swap % 8);
        }
        let mut stage = begun();
        let mut taken = Vec::new();
        for number in numbers {
            let what = stage.numbered(number);
            prop_assert_eq!(anomalies(&what), []);
            taken.extend(order(&what));
        }
        prop_assert_eq!(taken, (1..=8).collect::<Vec<u64>>());
    }
}
