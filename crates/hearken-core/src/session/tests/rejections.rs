//! Calls that carry out a rejected action, whatever they say about themselves (A.8.5).

use super::*;

/// Plays a question with this action that is rejected, accepted or left alone, then successful calls, given by
/// their tools and words. Returns the dangers.
fn after(decision: Option<Decision>, calls: &[(&str, &str)]) -> Vec<Danger> {
    after_waiting(decision, 75_000, calls)
}

/// Does the same; without a decision, the calls begin after this many milliseconds.
fn after_waiting(decision: Option<Decision>, ms: u64, calls: &[(&str, &str)]) -> Vec<Danger> {
    let mut stage = SessionStage::new();
    stage.start();
    stage.on(
        "awaiting.confirmation",
        json!({"action": "Transfer $500 from checking to savings.", "consequence": "Funds move at once.",
            "reply_token": "rpl_1", "timeout_seconds": 60, "default_decision": "reject", "risk_level": "high",
            "reversibility": "irreversible"}),
    );
    let id = stage.sessions.open_questions().next().unwrap().id;
    if let Some(decision) = decision {
        stage.wait(5000);
        stage.answer(id, decision);
    } else {
        stage.wait(ms);
    }
    let mut found = Vec::new();
    for (at, (tool, words)) in calls.iter().enumerate() {
        let call = format!("call_{at}");
        found.extend(dangers(&stage.on(
            "tool.invoked",
            json!({"tool": tool, "tool_call_id": call, "summary_normal": words}),
        )));
        found.extend(dangers(&stage.done(tool, &call, "success")));
    }
    found
}

fn done(tool: &str, is_sure: bool, by_silence: bool) -> Vec<Danger> {
    let suspicion = Suspicion {
        question: QuestionId(1),
        is_sure,
        by_silence,
    };
    let tool = tool.to_owned();
    vec![Danger::DoneAfterRejection { tool, suspicion }]
}

const TRANSFER: (&str, &str) = (
    "transfer_funds",
    "Transferring $500 from checking to savings.",
);
const SYNC: (&str, &str) = ("sync_accounts", "Bringing the accounts up to date.");
const BALANCE: (&str, &str) = ("balance", "Fetching your balance.");

#[test]
fn a_call_with_the_words_of_what_was_rejected_is_surely_that() {
    let reject = || Some(Decision::Reject);
    let sure = done("transfer_funds", true, false);
    assert_eq!(after(reject(), &[TRANSFER]), sure);
    // It may come later.
    let found = after(reject(), &[BALANCE, SYNC, TRANSFER]);
    assert_eq!(found, [done("balance", false, false), sure].concat());
}

#[test]
fn only_the_first_other_call_after_a_rejection_is_perhaps_what_was_rejected() {
    let found = after(Some(Decision::Reject), &[SYNC, BALANCE]);
    assert_eq!(found, done("sync_accounts", false, false));
}

#[test]
fn the_first_call_after_a_rejection_with_the_same_verb_is_surely_what_was_rejected() {
    let call = ("transfer_money", "Working.");
    let found = after(Some(Decision::Reject), &[call]);
    assert_eq!(found, done("transfer_money", true, false));
    let found = after(Some(Decision::Reject), &[SYNC, call]);
    assert_eq!(found, done("sync_accounts", false, false));
}

#[test]
fn what_was_accepted_is_no_danger() {
    assert_eq!(after(Some(Decision::Accept), &[TRANSFER, SYNC]), []);
}

#[test]
fn silence_rejects_where_the_question_says_so() {
    assert_eq!(after(None, &[TRANSFER]), done("transfer_funds", true, true));
    assert_eq!(after(None, &[SYNC]), done("sync_accounts", false, true));
}

/// Somebody else may have accepted it in the last moment.
#[test]
fn a_call_at_the_very_end_of_a_questions_time_is_held_against_nobody() {
    for (ms, is_danger) in [(59_000, false), (60_500, false), (64_000, true)] {
        let found = after_waiting(None, ms, &[TRANSFER]);
        assert_eq!(!found.is_empty(), is_danger, "{ms}: {found:?}");
    }
}

#[test]
fn a_question_that_is_asked_again_and_accepted_clears_its_call() {
    let mut stage = SessionStage::new();
    stage.start();
    let first = stage.ask("rpl_1");
    stage.answer(first, Decision::Reject);
    let second = stage.ask("rpl_2");
    stage.answer(second, Decision::Accept);
    stage.tool("send_email", "call_1");
    assert_eq!(dangers(&stage.done("send_email", "call_1", "success")), []);
}

#[test]
fn a_repetition_that_nobody_accepted_here_does_not_clear_its_call() {
    let mut stage = SessionStage::new();
    stage.start();
    let first = stage.ask("rpl_1");
    stage.answer(first, Decision::Reject);
    stage.ask("rpl_2");
    let (from, to) = ("awaiting_input", "calling_tool");
    stage.on("state.changed", json!({"from_state": from, "to_state": to}));
    stage.tool("send_email", "call_1");
    let suspicion = Suspicion {
        question: first,
        is_sure: false,
        by_silence: false,
    };
    let tool = "send_email".to_owned();
    let found = dangers(&stage.done("send_email", "call_1", "success"));
    assert_eq!(found, [Danger::DoneAfterRejection { tool, suspicion }]);
}

#[test]
fn the_question_with_the_id_of_a_call_decides_before_its_words() {
    let mut stage = SessionStage::new();
    stage.start();
    let ask = |stage: &mut SessionStage, n: u8, file: &str| {
        let asked = json!({"action": format!("Write the file {file}"), "consequence": "It is written.",
            "reply_token": format!("rpl_{n}"), "tool_call_id": format!("call_{n}"), "timeout_seconds": 60});
        stage.on("awaiting.confirmation", asked);
        stage.sessions.open_questions().last().unwrap().id
    };
    let main = ask(&mut stage, 1, "main.rs");
    let lib = ask(&mut stage, 2, "lib.rs");
    stage.answer(main, Decision::Accept);
    stage.answer(lib, Decision::Reject);
    for (call, file, wanted) in [("call_1", "main.rs", false), ("call_2", "lib.rs", true)] {
        let words = format!("Writing the file {file}");
        stage.on(
            "tool.invoked",
            json!({"tool": "write", "tool_call_id": call, "summary_normal": words}),
        );
        let found = dangers(&stage.done("write", call, "success"));
        assert_eq!(!found.is_empty(), wanted, "{call}: {found:?}");
    }
}

#[test]
fn looking_at_what_was_rejected_is_at_most_perhaps_that() {
    let list = ("list_accounts", "Listing checking and savings, $500.");
    let found = after(
        Some(Decision::Reject),
        &[list, ("report", "Transferring $20 to Bob.")],
    );
    assert_eq!(found, done("list_accounts", false, false));
}

#[test]
fn a_call_that_fails_did_nothing() {
    let mut stage = SessionStage::new();
    stage.start();
    let id = stage.ask("rpl_1");
    stage.answer(id, Decision::Reject);
    stage.tool("send_email", "call_1");
    assert_eq!(dangers(&stage.done("send_email", "call_1", "error")), []);
}
