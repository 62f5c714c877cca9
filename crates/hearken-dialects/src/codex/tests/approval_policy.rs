//! Who decides in a thread: said when it is joined, and when it changes.

use super::*;

fn settings(policy: &str, reviewer: &str) -> Value {
    json!({"approvalPolicy": policy, "approvalsReviewer": reviewer, "sandbox": {"type": "workspaceWrite"}})
}

fn joined_with(run: &mut CodexRig, id: u64, settings: &Value) {
    let mut result = resumed("idle");
    for (key, value) in settings.as_object().unwrap() {
        result[key] = value.clone();
    }
    run.frame(json!({"id": id, "result": result}));
}

#[test]
fn who_decides_is_said_once_for_threads_that_ask_alike_and_at_each_change() {
    let mut run = CodexRig::new(TransportKind::WebSocket, None);
    run.connect(&["t", "s"]);
    joined_with(&mut run, 3, &settings("on-request", "auto_review"));
    joined_with(&mut run, 4, &settings("on-request", "auto_review"));
    let decides = |run: &CodexRig| {
        let all = run.announced().into_iter();
        all.filter(|it| it.contains("Codex") && !it.contains("onversation"))
            .collect::<Vec<String>>()
    };
    assert_eq!(decides(&run), ["Codex decides most things itself."]);
    for (policy, reviewer, said) in [
        (
            "untrusted",
            "user",
            "You are asked more now. Codex asks before it changes anything.",
        ),
        (
            "never",
            "user",
            "Careful: you are asked less now. Codex never asks.",
        ),
        (
            "new",
            "user",
            "Whether Codex asks before it acts is not known.",
        ),
    ] {
        for _ in 0..2 {
            run.says(
                "thread/settings/updated",
                json!({"threadSettings": settings(policy, reviewer)}),
            );
        }
        assert_eq!(decides(&run).last().unwrap(), said);
    }
    assert_eq!(decides(&run).len(), 4);
}
