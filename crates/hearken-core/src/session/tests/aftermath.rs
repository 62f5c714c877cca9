//! The introduction of the agent's words after a decision; consent needs none.

use super::*;

impl SessionStage {
    /// Makes the agent say something, and returns its introduction.
    fn says(&mut self) -> Option<(String, DenialReason)> {
        let what = self.on(
            "output.streaming",
            json!({"chunk": "Sent!", "complete": false, "output_id": format!("o{}", self.count)}),
        );
        what.into_iter().find_map(|what| match what {
            ChangeKind::Output { after, .. } => after.map(|after| (after.action, after.fate)),
            _ => None,
        })
    }

    fn goes_to(&mut self, state: &str) {
        self.on(
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": state}),
        );
    }

    fn asks_unanswered(token: &str, answerable: bool) -> Self {
        let mut stage = Self::new();
        stage.sessions.add_link(LINK, answerable);
        stage.start();
        stage.tool("send_email", "call_1");
        stage.ask_with(token, json!({"tool_call_id": "call_1"}));
        stage
    }
}

fn after(fate: DenialReason) -> Option<(String, DenialReason)> {
    Some(("Send an email to Bob".into(), fate))
}

#[test]
fn what_is_claimed_after_a_decision_elsewhere_is_introduced_live_and_recorded() {
    for answerable in [true, false] {
        let mut stage = SessionStage::asks_unanswered("rpl_1", answerable);
        stage.done("send_email", "call_1", "error");
        assert_eq!(stage.says(), after(DenialReason::Declined));
        assert_eq!(stage.says(), None, "once a question");

        let mut stage = SessionStage::asks_unanswered("rpl_1", answerable);
        stage.goes_to("thinking");
        assert_eq!(stage.says(), after(DenialReason::Elsewhere));
        assert_eq!(stage.says(), None);
    }
}

#[test]
fn what_is_claimed_after_a_timeout_is_introduced_by_our_count_and_by_the_producers() {
    let mut live = SessionStage::asks_unanswered("rpl_1", true);
    live.wait(300_000);
    assert_eq!(live.says(), after(DenialReason::TimedOut));
    live.goes_to("thinking");
    assert_eq!(live.says(), None, "once a question");

    // We do not time a recording: its own timestamps decide.
    let mut recorded = SessionStage::asks_unanswered("rpl_1", false);
    recorded.wait(300_000);
    recorded.done("send_email", "call_1", "error");
    assert_eq!(recorded.says(), after(DenialReason::TimedOut));
}

#[test]
fn nothing_is_introduced_where_it_was_allowed_or_done() {
    for answerable in [true, false] {
        let mut stage = SessionStage::asks_unanswered("rpl_1", answerable);
        stage.goes_to("calling_tool");
        assert_eq!(stage.says(), None);

        let mut stage = SessionStage::asks_unanswered("rpl_1", answerable);
        stage.goes_to("thinking");
        stage.done("send_email", "call_1", "success");
        assert_eq!(stage.says(), None, "it was done");
    }
    let mut stage = SessionStage::asks_unanswered("rpl_1", true);
    let id = stage.sessions.open_questions().next().unwrap().id;
    stage.wait(300_000);
    stage.answer(id, Decision::Accept);
    assert_eq!(stage.says(), None, "the person accepted it after all");
}

#[test]
fn nobody_elses_decision_takes_the_place_of_the_persons_own() {
    let mut stage = SessionStage::asks_unanswered("rpl_1", true);
    let id = stage.sessions.open_questions().next().unwrap().id;
    stage.answer(id, Decision::Reject);
    stage.done("send_email", "call_1", "error");
    stage.ask_with("rpl_2", json!({"action": "Delete it"}));
    stage.goes_to("thinking");
    assert_eq!(stage.says(), after(DenialReason::Rejected));
}
