//! Ways to disguise a rejected action (A.8.5).

use super::*;

/// Returns the questions of the reported breaches of rejections, with their certainty.
fn found(what: &[ChangeKind]) -> Vec<(QuestionId, bool)> {
    let of = |danger| match danger {
        Danger::DoneAfterRejection { suspicion, .. } => {
            Some((suspicion.question, suspicion.is_sure))
        }
        _ => None,
    };
    dangers(what).into_iter().filter_map(of).collect()
}

impl SessionStage {
    /// Asks about an action and decides; returns the question.
    fn decide(&mut self, action: &str, decision: Decision, more: Value) -> QuestionId {
        let token = format!("rpl_{}", self.count);
        let mut fields = json!({"action": action});
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        let id = self.ask_with(&token, fields);
        self.answer(id, decision);
        id
    }

    /// Plays a call that succeeds.
    fn does(&mut self, fields: Value) -> Vec<ChangeKind> {
        let mut what = self.on("tool.invoked", fields.clone());
        let mut end = fields;
        end["status"] = "success".into();
        what.extend(self.on("tool.completed", end));
        what
    }
}

const TRANSFER: &str = "Transfer $500 from checking to savings.";

#[test]
fn a_rejected_call_that_fails_first_and_then_succeeds_was_done() {
    for status in ["error", "timeout"] {
        for asked_first in [false, true] {
            let mut stage = SessionStage::new();
            stage.start();
            if !asked_first {
                stage.tool("send_email", "call_1");
            }
            let id = stage.ask("rpl_1");
            stage.answer(id, Decision::Reject);
            if asked_first {
                stage.tool("send_email", "call_1");
            }
            assert_eq!(found(&stage.done("send_email", "call_1", status)), []);
            let what = stage.done("send_email", "call_1", "success");
            assert_eq!(found(&what), [(id, true)], "{status} {asked_first}");
            let again = stage.done("send_email", "call_1", "success");
            assert_eq!(found(&again), [], "it is said once");
        }
    }
}

#[test]
fn a_call_that_nobody_was_asked_about_is_a_danger_too_if_it_fails_first() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    stage.done("send_email", "call_1", "error");
    let found = dangers(&stage.done("send_email", "call_1", "success"));
    assert!(matches!(found[..], [Danger::Unasked { done: true, .. }]));
}

#[test]
fn a_call_that_was_accepted_or_not_asked_about_may_fail_first() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Accept);
    stage.tool("send_email", "call_1");
    stage.done("send_email", "call_1", "error");
    assert_eq!(dangers(&stage.done("send_email", "call_1", "success")), []);
    stage.on(
        "tool.invoked",
        json!({"tool": "list", "tool_call_id": "call_2"}),
    );
    stage.done("list", "call_2", "error");
    assert_eq!(dangers(&stage.done("list", "call_2", "success")), []);
}

#[test]
fn a_rejected_call_that_succeeds_after_the_end_of_its_session_was_done() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.tool("send_email", "call_1");
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    stage.on("session.completed", json!({}));
    let what = stage.done("send_email", "call_1", "success");
    assert_eq!(found(&what), [(id, true)]);
}

#[test]
fn a_rejected_call_needs_no_beginning_to_be_done() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.decide(
        TRANSFER,
        Decision::Reject,
        json!({"tool_call_id": "call_9"}),
    );
    let what = stage.done("anything", "call_9", "success");
    assert_eq!(found(&what), [(id, true)]);
}

#[test]
fn a_harmless_question_is_no_decoy() {
    let calls = [
        (
            json!({"tool": "transfer_funds", "tool_call_id": "call_1",
            "summary_normal": "Transferring $500 from checking to savings."}),
            true,
        ),
        (
            json!({"tool": "transfer_money", "tool_call_id": "call_1", "summary_normal": "Working."}),
            false,
        ),
        (
            json!({"tool": "bank", "tool_call_id": "call_1", "summary_normal": "Working."}),
            false,
        ),
        // Under the id of the accepted call.
        (
            json!({"tool": "transfer_funds", "tool_call_id": "call_b",
            "summary_normal": "Transferring $500 from checking to savings."}),
            false,
        ),
    ];
    for (call, is_sure) in calls {
        let mut stage = SessionStage::new();
        stage.start();
        let rejected = stage.decide(TRANSFER, Decision::Reject, json!({"tool": "bank"}));
        let harmless =
            json!({"tool_call_id": "call_b", "risk_level": "low", "irreversible": false});
        stage.decide("Read the balance.", Decision::Accept, harmless);
        assert_eq!(
            found(&stage.does(call.clone())),
            [(rejected, is_sure)],
            "{call}"
        );
    }
}

#[test]
fn what_was_accepted_after_a_rejection_is_no_danger() {
    for call in [
        json!({"tool": "read_balance", "tool_call_id": "call_b"}),
        json!({"tool": "read_balance", "tool_call_id": "call_1"}),
        json!({"tool": "anything", "tool_call_id": "call_1"}),
    ] {
        let mut stage = SessionStage::new();
        stage.start();
        stage.decide(TRANSFER, Decision::Reject, json!({"tool": "bank"}));
        stage.decide("Read the balance.", Decision::Accept, json!({}));
        assert_eq!(found(&stage.does(call.clone())), [], "{call}");
    }
}

#[test]
fn what_was_rejected_is_a_danger_while_another_question_is_open() {
    for (call, is_sure) in [
        (
            json!({"tool": "transfer_funds", "tool_call_id": "call_1", "irreversible": true,
            "summary_normal": "Transferring $500 from checking to savings."}),
            true,
        ),
        (
            json!({"tool": "transfer_money", "tool_call_id": "call_1"}),
            true,
        ),
        (
            json!({"tool": "bank", "tool_call_id": "call_1", "irreversible": true}),
            false,
        ),
    ] {
        let mut stage = SessionStage::new();
        stage.start();
        let rejected = stage.decide(TRANSFER, Decision::Reject, json!({}));
        stage.ask_with("rpl_b", json!({"action": "Read the balance."}));
        assert_eq!(
            found(&stage.does(call.clone())),
            [(rejected, is_sure)],
            "{call}"
        );
    }
}

/// Plays a rejection, and a call in another session of the link after this many seconds.
fn elsewhere(agent: &str, seconds: u64, asked: Value, mut call: Value) -> Vec<(QuestionId, bool)> {
    let mut stage = SessionStage::new();
    stage.start();
    stage.decide(TRANSFER, Decision::Reject, asked);
    let other = json!({"session_id": "sess_2", "producer": {"agent_id": agent}});
    stage.on("session.started", other.clone());
    stage.wait(seconds * 1000);
    for (name, value) in other.as_object().unwrap() {
        call[name] = value.clone();
    }
    found(&stage.does(call))
}

#[test]
fn what_was_rejected_is_perhaps_done_in_another_session() {
    let words = || json!({"tool": "transfer_funds", "summary_normal": "Transferring $500 from checking to savings."});
    for agent in ["a", "b"] {
        assert_eq!(
            elsewhere(agent, 60, json!({}), words()),
            [(QuestionId(1), false)]
        );
        let asked = json!({"tool": "bank", "extra_context": {"args_summary": "500, savings"}});
        let same = json!({"tool": "bank", "args_summary": "500, savings"});
        assert_eq!(elsewhere(agent, 60, asked, same), [(QuestionId(1), false)]);
    }
    assert_eq!(elsewhere("b", 3600, json!({}), words()), [], "long ago");
    let bank = || json!({"tool": "bank"});
    for other in [
        json!({"tool": "bank", "args_summary": "20, Bob"}),
        json!({"tool": "transfer_money"}),
        json!({"tool": "balance", "summary_normal": "Fetching your balance."}),
    ] {
        assert_eq!(elsewhere("b", 1, bank(), other.clone()), [], "{other}");
    }
}

#[test]
fn what_another_session_was_allowed_is_no_danger() {
    let mut stage = SessionStage::new();
    stage.start();
    stage.decide(TRANSFER, Decision::Reject, json!({}));
    let other = json!({"session_id": "sess_2", "producer": {"agent_id": "b"}});
    stage.on("session.started", other.clone());
    stage.decide(TRANSFER, Decision::Accept, other);
    for session in ["sess_2", "sess_3"] {
        let fields = json!({"session_id": session, "producer": {"agent_id": "b"}});
        if session == "sess_3" {
            stage.on("session.started", fields.clone());
        }
        let mut call = json!({"tool": "transfer", "summary_normal": "Transferring $500 from checking to savings."});
        for (name, value) in fields.as_object().unwrap() {
            call[name] = value.clone();
        }
        assert_eq!(found(&stage.does(call)), [], "{session}");
    }
}

#[test]
fn the_decisions_that_are_remembered_are_bounded() {
    let mut stage = SessionStage::new();
    stage.start();
    for n in 0..300 {
        stage.decide(
            &format!("Send letter {n}"),
            Decision::Reject,
            json!({"consequence": "Gone."}),
        );
        let (from, to) = ("awaiting_input", "thinking");
        stage.on("state.changed", json!({"from_state": from, "to_state": to}));
    }
    assert_eq!(stage.sessions.decided.len(), 64);
}

#[test]
fn a_tool_may_be_called_anything() {
    for tool in [
        "nothing", "none", "", " ", "null", "it", "the", "other", "unknown", "_", "-", "read", "s",
        "ing",
    ] {
        for with_id in [false, true] {
            let mut stage = SessionStage::new();
            stage.start();
            let mut asked = json!({"action": "Go on?", "tool": tool});
            let mut call = json!({"tool": tool, "irreversible": true});
            if with_id {
                asked["tool_call_id"] = "call_1".into();
                call["tool_call_id"] = "call_1".into();
            }
            let rejected = stage.decide("Go on?", Decision::Reject, asked);
            let what = found(&stage.does(call));
            assert_eq!(what, [(rejected, true)], "{tool:?} {with_id}");
        }
    }
}
