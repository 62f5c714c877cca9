use proptest::prelude::*;

use super::*;
use crate::link::{Fault, PhraseArg};

const OVERRULE: &str = "thread/approveGuardianDeniedAction";

impl CodexRig {
    /// Has the reviewer report on an item's command.
    fn judges(&mut self, review: &str, item: &str, status: &str, reason: &str) {
        let action = json!({"type": "command", "source": "unifiedExec", "command": format!("/bin/bash -lc 'touch {item}'"),
            "cwd": "/work/a"});
        self.judges_action(review, item, status, reason, action);
    }

    fn judges_action(
        &mut self,
        review: &str,
        item: &str,
        status: &str,
        reason: &str,
        action: Value,
    ) {
        let over = status != "inProgress";
        let method = match over {
            true => "item/autoApprovalReview/completed",
            false => "item/autoApprovalReview/started",
        };
        let risk = if over { json!("high") } else { Value::Null };
        let verdict = json!({"status": status, "riskLevel": risk, "userAuthorization": "low", "rationale": reason});
        let params = json!({"turnId": "u", "reviewId": review, "targetItemId": item, "startedAtMs": 1, "completedAtMs": 2,
            "decisionSource": "agent", "action": action, "review": verdict});
        self.says(method, params);
    }

    /// Has an item's command refused, as the server does it.
    fn refuses(&mut self, review: &str, item: &str) {
        self.item("item/started", "u", touch(item, "inProgress"));
        self.judges(review, item, "inProgress", "");
        self.judges(review, item, "denied", "Nobody asked for it.");
        self.item("item/completed", "u", touch(item, "declined"));
    }

    fn overrulings(&self) -> Vec<&Value> {
        let all = self
            .sent
            .iter()
            .filter(|(_, frame)| frame["method"] == OVERRULE);
        all.map(|(_, frame)| &frame["params"]).collect()
    }

    fn arg(&self, name: &str) -> String {
        let phrase = self.phrases.last().unwrap();
        let found = phrase.args.iter().find(|(known, _)| *known == name);
        match found.map(|(_, arg)| arg) {
            Some(PhraseArg::Agent(text) | PhraseArg::Name(text)) => text.clone(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_refusal_is_the_reviewers_with_its_reason_and_no_failure() {
    let mut run = CodexRig::in_turn();
    run.item("item/started", "u", touch("c", "inProgress"));
    run.judges("r", "c", "inProgress", "");
    // It does not run while it is judged, however long that takes.
    run.after(Duration::from_secs(60));
    assert_eq!(run.count("tool.invoked"), 0);
    let warning =
        "Automatic approval review denied (risk: high, authorization: low): Nobody asked for it.";
    run.says("guardianWarning", json!({"message": warning}));
    assert!(run.phrase_keys.is_empty(), "its reason follows");
    run.judges("r", "c", "denied", "Nobody asked for it.");
    assert_eq!(run.phrase_keys, ["oversight.reviewer.refused"]);
    assert_eq!(
        (run.arg("title"), run.arg("reason")),
        ("touch c".to_owned(), "Nobody asked for it.".to_owned())
    );
    run.item("item/completed", "u", touch("c", "declined"));
    assert_eq!(run.phrase_keys.len(), 1, "who refused it was said");
    assert_eq!(
        (run.count("tool.invoked"), run.count("tool.completed")),
        (0, 0)
    );
    // A tool of a server fails when it is refused, by the server's word.
    let tool = |status: &str| {
        json!({"type": "mcpToolCall", "id": "m", "server": "s", "tool": "t", "status": status,
        "arguments": {"a": 1}, "error": {"message": "denied"}})
    };
    run.item("item/started", "u", tool("inProgress"));
    let action = json!({"type": "mcpToolCall", "server": "s", "toolName": "t"});
    run.judges_action("r2", "m", "denied", "", action);
    run.item("item/completed", "u", tool("failed"));
    assert_eq!(run.phrase_keys, ["oversight.reviewer.refused"; 2]);
    assert_eq!(run.count("tool.completed"), 0);
    run.ends("u", "completed");
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn what_the_reviewer_allows_runs_and_every_other_verdict_is_told() {
    let mut run = CodexRig::in_turn();
    run.item("item/started", "u", touch("c", "inProgress"));
    run.judges("r", "c", "inProgress", "");
    run.judges("r", "c", "approved", "Harmless.");
    assert_eq!(run.phrase_keys, ["codex.review.allowed_danger"]);
    assert_eq!(run.count("tool.invoked"), 1);
    run.item("item/completed", "u", touch("c", "completed"));
    assert_eq!(run.count("tool.completed"), 1);
    for (status, key) in [
        ("timedOut", "codex.review.late"),
        ("aborted", "codex.review.broken_off"),
    ] {
        run.phrase_keys.clear();
        run.item("item/started", "u", touch(status, "inProgress"));
        run.judges(status, status, "inProgress", "");
        run.judges(status, status, status, "");
        run.item("item/completed", "u", touch(status, "declined"));
        assert_eq!(run.phrase_keys, [key]);
    }
    run.says(
        "autoApprovalReview/strictReviewRequired",
        json!({"turnId": "u", "startedAtMs": 1}),
    );
    assert_eq!(run.phrase_keys.last(), Some(&"codex.review.strict"));
    // Only a refusal can be taken back.
    assert_eq!(run.count("awaiting.confirmation"), 0);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn warnings_that_say_more_than_the_refusal_are_told_and_none_is_lost() {
    let mut run = CodexRig::in_turn();
    run.says(
        "guardianWarning",
        json!({"message": "Outside of a review."}),
    );
    assert_eq!(run.phrase_keys, ["codex.warning"]);
    run.judges("r", "c", "inProgress", "");
    run.says("guardianWarning", json!({"message": "Too many refusals."}));
    run.judges("r", "c", "denied", "Because.");
    assert_eq!(
        run.phrase_keys[1..],
        ["oversight.reviewer.refused", "codex.warning"]
    );
    // The end of the turn ends its reviews.
    run.judges("r2", "d", "inProgress", "");
    run.says("guardianWarning", json!({"message": "It ends here."}));
    run.ends("u", "interrupted");
    assert_eq!(run.phrase_keys.last(), Some(&"codex.warning"));
    assert_eq!(run.arg("words"), "It ends here.");
}

#[test]
fn the_person_is_asked_whether_it_may_be_tried_again_and_codex_is_told_so() {
    let mut run = CodexRig::in_turn();
    run.refuses("r", "c");
    let question = run.last("awaiting.confirmation").clone();
    assert_eq!(question["action"], "touch c");
    assert_eq!(question["risk_level"], "high");
    assert_eq!(question["allowed_replies"], json!(["accept", "reject"]));
    assert_eq!(
        question["consequence"],
        "Codex may try it once more, and its reviewer judges it again"
    );
    assert_eq!(question["summary_detailed"], "Nobody asked for it.");
    assert!(question.get("tool").is_none() && question.get("tool_call_id").is_none());
    // The turn goes on, and ends; the question stays.
    run.ends("u", "completed");
    run.after(Duration::from_secs(5));
    assert!(run.over.is_empty());
    run.decide(1, "accept", None);
    let told = run.overrulings();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["threadId"], "t");
    assert_eq!(told[0]["event"]["id"], "r");
    assert_eq!(told[0]["event"]["action"]["source"], "unified_exec");
    assert!(run.outcomes.is_empty(), "it is on its way");
    // Twice would be two permissions.
    run.decide(2, "accept", None);
    assert_eq!(run.overrulings().len(), 1);
    run.grant(OVERRULE, &json!({}));
    assert!(run.outcomes.contains(&(1, Ok(Receipt::Taken))));
    assert_eq!(run.phrase_keys.last(), Some(&"codex.overrule.waits"));
    assert_eq!(run.count("session.completed"), 2);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
    // While it works, it reads that by itself.
    run.begins("u", "again");
    let mut run = CodexRig::in_turn();
    run.refuses("r", "c");
    run.decide(1, "accept", None);
    run.grant(OVERRULE, &json!({}));
    assert_eq!(run.phrase_keys.last(), Some(&"codex.overrule.told"));
}

#[test]
fn a_no_sends_nothing_and_the_refusal_stands() {
    let mut run = CodexRig::in_turn();
    run.refuses("r", "c");
    let sent = run.sent.len();
    run.decide(1, "reject", Some("never"));
    assert_eq!(run.sent.len(), sent);
    assert_eq!(run.outcomes, [(1, Ok(Receipt::Here))]);
    assert_eq!(run.count("session.completed"), 1);
    assert!(run.over.is_empty());
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_permission_that_codex_does_not_take_or_that_is_lost_is_not_said_to_be_given() {
    let mut run = CodexRig::in_turn();
    run.refuses("r", "c");
    run.decide(1, "accept", None);
    run.refuse(OVERRULE, "invalid Guardian denial event");
    assert!(matches!(
        run.outcomes[..],
        [(1, Err(DeliveryFailure::Refused(Fault::Rejected { .. })))]
    ));
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    let mut run = CodexRig::in_turn();
    run.refuses("r", "c");
    let token = run.token();
    run.decide(1, "accept", None);
    run.lose();
    assert!(matches!(
        run.outcomes[..],
        [(1, Err(DeliveryFailure::Unknown(_)))]
    ));
    // While nobody is there, it can be tried again; over the next connection it is given.
    run.decide_under(2, &token, "accept", None);
    assert!(matches!(
        run.outcomes[1..],
        [(2, Err(DeliveryFailure::Kept(_)))]
    ));
    run.connect(&["t"]);
    run.decide_under(3, &token, "accept", None);
    run.grant(OVERRULE, &json!({}));
    assert_eq!(run.outcomes.last(), Some(&(3, Ok(Receipt::Taken))));
}

#[test]
fn the_same_refusal_is_asked_about_once_and_not_any_more_once_it_is_allowed() {
    let mut run = CodexRig::in_turn();
    run.refuses("r", "c");
    run.judges("r2", "c", "denied", "Still not.");
    assert_eq!(run.count("awaiting.confirmation"), 1);
    assert_eq!(run.phrase_keys, ["oversight.reviewer.refused"; 2]);
    run.judges("r3", "c", "approved", "");
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    // Of very many, the oldest goes.
    let mut run = CodexRig::in_turn();
    for n in 0..9 {
        run.refuses(&format!("r{n}"), &format!("c{n}"));
    }
    assert_eq!((run.count("awaiting.confirmation"), run.over.len()), (9, 1));
    // A closed conversation takes nothing any more.
    run.says("thread/closed", json!({}));
    assert_eq!(run.over.len(), 9);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn changes_can_be_allowed_only_if_they_were_heard() {
    let files = json!({"type": "applyPatch", "cwd": "/work/a", "files": ["/work/a/x"]});
    let mut run = CodexRig::in_turn();
    run.judges_action("r", "f", "denied", "", files.clone());
    assert_eq!(run.count("awaiting.confirmation"), 0);
    let change = json!({"path": "/work/a/x", "kind": {"type": "add"}, "diff": "one\n"});
    run.item(
        "item/started",
        "u",
        json!({"type": "fileChange", "id": "g", "changes": [change], "status": "inProgress"}),
    );
    run.judges_action("r2", "g", "denied", "", files);
    let question = run.last("awaiting.confirmation");
    assert!(
        question["action"].as_str().unwrap().contains('x'),
        "{question}"
    );
    assert!(question.to_string().contains("one"), "{question}");
    // A recording can be heard, and asks nothing.
    let mut run = CodexRig::new(TransportKind::OneWay, None);
    run.says("turn/started", json!({"turn": {"id": "u", "items": []}}));
    run.refuses("r", "c");
    assert_eq!(run.count("awaiting.confirmation"), 0);
    assert_eq!(run.phrase_keys, ["oversight.reviewer.refused"]);
}

#[test]
fn hooks_models_and_goals_are_told_when_they_matter() {
    let mut run = CodexRig::in_turn();
    let hook = |status: &str| {
        json!({"turnId": "u", "run": {"id": "h", "eventName": "preToolUse", "status": status,
        "statusMessage": "s", "entries": [{"kind": "feedback", "text": "not here"}]}})
    };
    run.says("hook/started", hook("running"));
    run.says("hook/completed", hook("completed"));
    run.says("thread/queue/changed", json!({}));
    assert!(run.phrase_keys.is_empty());
    for (status, key) in [
        ("blocked", "codex.hook.blocked"),
        ("stopped", "codex.hook.stopped"),
        ("failed", "codex.hook.failed"),
    ] {
        run.says("hook/completed", hook(status));
        assert_eq!(
            (run.phrase_keys.last(), run.arg("words").as_str()),
            (Some(&key), "not here")
        );
    }
    run.says(
        "model/rerouted",
        json!({"turnId": "u", "fromModel": "a", "toModel": "b", "reason": "highRiskCyberActivity"}),
    );
    assert_eq!(
        (run.phrase_keys.last(), run.arg("to").as_str()),
        (Some(&"codex.rerouted"), "b")
    );
    run.phrase_keys.clear();
    let goal = |status: &str, tokens: u64| json!({"goal": {"objective": "win", "status": status, "tokensUsed": tokens}});
    for (status, tokens) in [
        ("active", 1),
        ("active", 2),
        ("paused", 2),
        ("active", 3),
        ("blocked", 3),
        ("usageLimited", 4),
        ("complete", 5),
        ("complete", 6),
        ("odd", 7),
    ] {
        run.says("thread/goal/updated", goal(status, tokens));
    }
    assert_eq!(
        run.phrase_keys,
        [
            "codex.goal",
            "codex.goal.paused",
            "codex.goal",
            "codex.goal.blocked",
            "codex.goal.limit",
            "codex.goal.reached"
        ]
    );
    run.says("thread/goal/cleared", json!({}));
    run.says("thread/goal/updated", goal("complete", 1));
    assert_eq!(run.phrase_keys.len(), 7);
}

#[derive(Debug, Clone)]
enum ReviewStep {
    Item(u8, bool),
    Judges(u8, u8, &'static str, &'static str),
    Warns(&'static str),
    Turn(bool),
    Decides(u8, &'static str),
    Grants(bool),
    Loses,
    Returns,
}

fn step() -> impl Strategy<Value = ReviewStep> {
    let status = prop_oneof![
        Just("inProgress"),
        Just("denied"),
        Just("denied"),
        Just("approved"),
        Just("timedOut"),
        Just("odd")
    ];
    prop_oneof![
        2 => (0..3_u8, prop::bool::ANY).prop_map(|(item, over)| ReviewStep::Item(item, over)),
        6 => (0..12_u8, 0..3_u8, status, prop_oneof![Just(""), Just("Why.")]).prop_map(|(review, item, status, why)| ReviewStep::Judges(review, item, status, why)),
        1 => prop_oneof![Just("Denied: Why."), Just("More.")].prop_map(ReviewStep::Warns),
        1 => prop::bool::ANY.prop_map(ReviewStep::Turn),
        5 => (0..6_u8, prop_oneof![Just("accept"), Just("accept"), Just("reject"), Just("odd")]).prop_map(|(which, what)| ReviewStep::Decides(which, what)),
        3 => prop::bool::weighted(0.7).prop_map(ReviewStep::Grants),
        1 => Just(ReviewStep::Loses),
        2 => Just(ReviewStep::Returns),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(150)))]

    /// Codex is told only what the person allowed, each word of theirs comes to exactly one end, and every warning is
    /// told or repeats a refusal.
    #[test]
    fn only_what_the_person_allows_is_allowed(steps in prop::collection::vec(step(), 0..60)) {
        let mut run = CodexRig::in_turn();
        let (mut up, mut request, mut allowed) = (true, 0, 0);
        let mut tokens: Vec<String> = Vec::new();
        for step in steps {
            let sent = run.overrulings().len();
            match &step {
                ReviewStep::Decides(which, what) => {
                    if let Some(token) = tokens.iter().rev().nth(usize::from(*which)).cloned() {
                        request += 1;
                        run.decide_under(request, &token, what, None);
                    }
                }
                ReviewStep::Loses if up => {
                    up = false;
                    run.lose();
                }
                ReviewStep::Returns if !up => {
                    up = true;
                    run.connect(&["t"]);
                    run.grant("thread/resume", &resumed("idle"));
                }
                _ if !up => continue,
                ReviewStep::Item(item, over) => {
                    let (method, status) = if *over { ("item/completed", "declined") } else { ("item/started", "inProgress") };
                    run.item(method, "u", touch(&format!("c{item}"), status));
                }
                ReviewStep::Judges(review, item, status, why) => run.judges(&format!("r{review}"), &format!("c{item}"), status, why),
                ReviewStep::Warns(words) => run.says("guardianWarning", json!({"message": words})),
                ReviewStep::Turn(true) => run.begins("u", "go on"),
                ReviewStep::Turn(false) => run.ends("u", "completed"),
                ReviewStep::Grants(granted) => {
                    if run.overrulings().len() > allowed {
                        allowed = run.overrulings().len();
                        match granted {
                            true => run.grant(OVERRULE, &json!({})),
                            false => run.refuse(OVERRULE, "no"),
                        }
                    }
                }
                ReviewStep::Loses | ReviewStep::Returns => {}
            }
            let more = run.overrulings().len() - sent;
            prop_assert!(more == 0 || (more == 1 && up && matches!(step, ReviewStep::Decides(_, "accept"))), "{:?}", step);
            let asked = run.events.iter().filter(|it| it["type"] == "aaep:agent.awaiting.confirmation");
            tokens = asked.map(|it| it["reply_token"].as_str().unwrap().to_owned()).collect();
        }
        if up {
            run.lose();
        }
        for number in 1..=request {
            let ends = run.outcomes.iter().filter(|(it, _)| *it == number).count();
            prop_assert_eq!(ends, 1, "answer {}", number);
        }
        prop_assert_eq!(&run.faults, &Vec::<String>::new());
    }
}
