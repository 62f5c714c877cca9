//! The questions, the answers sent, and races.

use super::*;

fn asked() -> OpencodeRig {
    let mut run = OpencodeRig::busy();
    run.shell("c", "running");
    run.says("permission.asked", touch("per_1", "c"));
    run
}

#[test]
fn a_grant_for_everything_says_of_what() {
    for (permission, said) in [
        ("edit", "allow from now on: every edit"),
        ("bash", "allow from now on: every command"),
        ("websearch", "allow from now on: everything of this kind"),
    ] {
        let mut run = OpencodeRig::busy();
        let mut asks = touch("per_1", "c");
        asks["permission"] = permission.into();
        asks["always"] = json!(["*"]);
        run.says("permission.asked", asks);
        let question = run.last("awaiting.confirmation");
        assert_eq!(question["allowed_replies"][2], said);
    }
}

#[test]
fn each_decision_goes_out_as_its_reply() {
    for (decision, reason, body) in [
        ("accept", None, json!({"reply": "once"})),
        (
            "allow from now on: touch *",
            None,
            json!({"reply": "always"}),
        ),
        ("reject", None, json!({"reply": "reject"})),
        (
            "reject",
            Some("not there"),
            json!({"reply": "reject", "message": "not there"}),
        ),
    ] {
        let mut run = asked();
        let question = run.last("awaiting.confirmation");
        assert_eq!(question["action"], "touch a.txt");
        assert_eq!(run.count("tool.invoked"), 0, "it does not run");
        run.decide(1, decision, reason);
        assert_eq!(run.posted(), ("/permission/per_1/reply", body));
        assert_eq!(run.settled, []);
        let reply = if decision == "reject" {
            "reject"
        } else {
            "once"
        };
        run.says(
            "permission.replied",
            json!({"sessionID": "ses_a", "requestID": "per_1", "reply": reply}),
        );
        run.answers("/permission/per_1/reply", 200, &json!(true));
        assert_eq!(run.settled, [(1, true)]);
        assert_eq!(run.count("tool.invoked"), usize::from(decision != "reject"));
        run.says("permission.asked", touch("per_1", "c"));
        assert_eq!(
            run.count("awaiting.confirmation"),
            1,
            "it is never asked twice"
        );
        assert_eq!((run.over.len(), run.faults.len()), (0, 0));
    }
}

#[test]
fn who_was_faster_is_told_by_the_question_that_is_over() {
    // Another client answered first, and that was heard.
    let mut run = asked();
    run.says(
        "permission.replied",
        json!({"sessionID": "ses_a", "requestID": "per_1", "reply": "once"}),
    );
    assert_eq!(run.kinds().last().unwrap(), "calling_tool");
    run.shell("c", "running");
    assert_eq!(run.count("tool.invoked"), 1);
    // Both answered, and the server reports who was late.
    let mut run = asked();
    run.decide(1, "accept", None);
    run.says(
        "permission.replied",
        json!({"sessionID": "ses_a", "requestID": "per_1", "reply": "reject"}),
    );
    assert_eq!(
        run.kinds().last().unwrap(),
        "awaiting.confirmation",
        "nobody knows yet whose it was"
    );
    run.answers(
        "/permission/per_1/reply",
        404,
        &json!({"_tag": "PermissionNotFoundError"}),
    );
    assert_eq!(
        (run.settled.as_slice(), run.kinds().last().unwrap().as_str()),
        (&[(1, false)][..], "thinking")
    );
}

#[test]
fn what_did_not_go_out_can_be_given_again() {
    let mut run = asked();
    run.decide(1, "accept", None);
    run.fails("/permission/per_1/reply", Fault::Refused);
    run.decide(2, "reject", None);
    assert_eq!(run.posted().1, json!({"reply": "reject"}));
    run.answers("/permission/per_1/reply", 200, &json!(true));
    assert_eq!(run.settled, [(1, false), (2, true)]);
}

#[test]
fn permissions_are_asked_one_after_the_other_and_those_that_others_decide_are_not_asked() {
    let mut run = asked();
    run.says("permission.asked", touch("per_2", "d"));
    run.says("permission.asked", touch("per_3", "e"));
    assert_eq!(run.count("awaiting.confirmation"), 1);
    run.says(
        "permission.replied",
        json!({"sessionID": "ses_a", "requestID": "per_2", "reply": "reject"}),
    );
    assert_eq!(run.phrase_keys, ["opencode.decided_unasked"]);
    run.decide(1, "accept", None);
    run.answers("/permission/per_1/reply", 200, &json!(true));
    assert_eq!(run.count("awaiting.confirmation"), 2);
    run.decide(2, "accept", None);
    assert_eq!(run.posted().0, "/permission/per_3/reply");
}

#[test]
fn an_edit_is_asked_by_its_lines_and_anything_else_by_what_it_is() {
    let mut run = OpencodeRig::busy();
    let diff = "--- /w/b.txt\n+++ /w/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n";
    run.says("permission.asked", json!({"id": "per_1", "sessionID": "ses_a", "permission": "edit", "patterns": ["b.txt"],
        "metadata": {"filepath": "/w/b.txt", "diff": diff}, "always": ["*"], "tool": {"messageID": "m", "callID": "w"}}));
    let question = run.last("awaiting.confirmation");
    assert_eq!(question["action"], "Writes /w/b.txt, a new file of 2 lines");
    run.decide(1, "accept", None);
    run.answers("/permission/per_1/reply", 200, &json!(true));
    run.says(
        "permission.asked",
        json!({"id": "per_2", "sessionID": "ses_a", "permission": "external_directory",
        "patterns": ["/etc/*"], "metadata": {"parentDir": "/etc"}, "always": []}),
    );
    let question = run.last("awaiting.confirmation");
    assert_eq!(
        question["action"],
        "external_directory: /etc/* (parentDir: /etc)"
    );
    assert_eq!(
        question["allowed_replies"],
        json!(["accept", "reject"]),
        "nothing would be allowed for good"
    );
}

#[test]
fn several_questions_are_asked_one_by_one_and_answered_together() {
    let mut run = OpencodeRig::busy();
    run.says("question.asked", two("que_1"));
    let first = run.last("awaiting.clarification").clone();
    assert_eq!(first["question"], "Question 1 of 2. Which colour?");
    assert_eq!(first["choices"][0]["label"], "Red: like a fox");
    let posts = run.calls.len();
    run.respond(1, "1");
    assert_eq!(
        (run.calls.len(), run.settled.as_slice()),
        (posts, &[(1, true)][..])
    );
    let second = run.last("awaiting.clarification").clone();
    assert!(
        second["question"]
            .as_str()
            .unwrap()
            .starts_with("Question 2 of 2. Which files?")
    );
    assert_ne!(first["reply_token"], second["reply_token"]);
    run.respond(2, "2, 1");
    assert_eq!(
        run.posted(),
        (
            "/question/que_1/reply",
            json!({"answers": [["Red"], ["b.txt", "a.txt"]]})
        )
    );
    run.says(
        "question.replied",
        json!({"sessionID": "ses_a", "requestID": "que_1", "answers": []}),
    );
    run.answers("/question/que_1/reply", 200, &json!(true));
    assert_eq!(run.settled, [(1, true), (2, true)]);
    assert_eq!(run.kinds().last().unwrap(), "thinking");
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn questions_are_declined_together_and_an_answer_that_is_none_is_not_sent() {
    let mut run = OpencodeRig::busy();
    let mut asks = two("que_1");
    asks["questions"][0]["custom"] = json!(false);
    run.says("question.asked", asks);
    run.respond(1, "green");
    assert_eq!(run.settled, [(1, false)]);
    run.respond(2, "decline");
    assert_eq!(run.posted(), ("/question/que_1/reject", json!({})));
    run.says(
        "question.rejected",
        json!({"sessionID": "ses_a", "requestID": "que_1"}),
    );
    run.answers("/question/que_1/reject", 404, &json!({}));
    assert_eq!(
        (run.settled.as_slice(), run.kinds().last().unwrap().as_str()),
        (&[(1, false), (2, false)][..], "thinking")
    );
}

#[test]
fn what_is_still_asked_is_over_with_its_turn() {
    let mut run = asked();
    run.rests("ses_a");
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.faults, Vec::<String>::new());
}

/// In a URL path, a name of dots alone leads elsewhere, encoded or not.
#[test]
fn no_request_is_asked_whose_name_leads_to_another_place() {
    for name in [".", "..", "..."] {
        let mut run = OpencodeRig::busy();
        run.shell("c", "running");
        run.says("permission.asked", touch(name, "c"));
        assert_eq!(run.count("awaiting.confirmation"), 0, "{name}");
    }
    for name in ["../session", "a/../b", "..%2f"] {
        let mut run = OpencodeRig::busy();
        run.shell("c", "running");
        run.says("permission.asked", touch(name, "c"));
        run.decide(1, "accept", None);
        let (path, _) = run.posted();
        let inner = path
            .strip_prefix("/permission/")
            .unwrap()
            .strip_suffix("/reply")
            .unwrap();
        assert!(!inner.contains(['/', '.']), "{path}");
    }
}
