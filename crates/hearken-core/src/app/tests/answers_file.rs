//! Answers by the rules of a file: what they answer, and what they never do.

use super::*;
use crate::config;
use crate::session::Question;

fn scripted(rules: &str) -> Config {
    Config {
        answers: config::answers(rules).unwrap(),
        ..Config::default()
    }
}

/// Returns settings with an accepting rule called `mine` that has these further lines.
fn accepting(more: &str) -> Config {
    scripted(&format!(
        "[[answer]]\nname = \"mine\"\nkind = \"confirmation\"\nanswer = \"accept\"\n{more}\n"
    ))
}

const UNFIT: &str = "Rule mine matches question 1 but may not answer it; it stays open.";
const NONE: &str = "No rule of --answers answers question 1; it stays open.";

#[test]
fn a_rule_of_the_call_accepts_what_it_names_and_says_so() {
    let mut stage = Stage::with(
        PIPE,
        accepting("text = \"send RPL_1\"\nagents = [\"Mailer\"]"),
    );
    stage.assert_heard(phrase!(
        "answers.start",
        n = 1,
        rules = "mine accepts what is said to be of low risk and can be undone"
    ));
    stage.ask("rpl_1");
    let (_, body) = stage.sent.last().unwrap();
    assert_eq!(body["decision"], "accept");
    assert_eq!(body["decided_by"], "auto:mine");
    stage.assert_heard(phrase!(
        "policy.accepts",
        rule = "mine",
        n = 1,
        action = "Send rpl_1.",
        consequence = "It is gone"
    ));
    assert_eq!(stage.bells, 0);
}

#[test]
fn what_no_rule_is_about_stays_open_and_is_told_once() {
    for more in [
        "text = \"Delete\"",
        "agents = [\"Banker\"]",
        "tools = [\"send\"]",
    ] {
        let mut stage = Stage::with(PIPE, accepting(more));
        stage.ask("rpl_1");
        assert!(stage.sent.is_empty(), "{more}");
        assert_eq!(stage.bells, 1, "the person is asked: {more}");
        let told = |stage: &Stage| {
            let told = stage.lines.iter().filter(|line| line.contains(NONE));
            told.count()
        };
        assert_eq!(told(&stage), 1, "{more} {:?}", stage.lines);
        stage.wait(3000);
        stage.type_line("y 1");
        assert_eq!(stage.sent.last().unwrap().1["decided_by"], "user:local");
        assert_eq!(told(&stage), 1);
    }
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    assert!(!stage.heard("--answers"), "nobody named a file");
}

#[test]
fn without_a_named_risk_a_rule_accepts_what_one_of_the_settings_would() {
    for doubtful in [
        json!({"risk_level": "medium"}),
        json!({"risk_level": "high"}),
        json!({"risk_level": null}),
        json!({"irreversible": true}),
        json!({"irreversible": null}),
        json!({"irreversible": false, "reversibility": "reversible_with_effort"}),
        json!({"action": "  "}),
        json!({"action": "Save\u{202e} the file"}),
        json!({"action": "x".repeat(Question::LONGEST_PART + 1)}),
        json!({"allowed_replies": ["reject", "later"]}),
    ] {
        let mut stage = Stage::with(PIPE, accepting(""));
        stage.ask_with("rpl_1", doubtful.clone());
        assert!(stage.sent.is_empty(), "{doubtful}");
        assert!(stage.heard(UNFIT), "{doubtful} {:?}", stage.lines);
        assert_eq!(stage.bells, 1, "the person is asked: {doubtful}");
    }
}

#[test]
fn a_rule_takes_the_risks_that_it_names_and_no_other() {
    let whole = "text = \"send rpl_1\"";
    let tool = "tools = [\"send\"]";
    for (more, question, accepts) in [
        (
            "risks = [\"medium\"]",
            json!({"risk_level": "medium"}),
            true,
        ),
        ("risks = [\"medium\"]", json!({"risk_level": "high"}), false),
        ("risks = [\"medium\"]", json!({"risk_level": null}), false),
        ("risks = [\"unknown\"]", json!({"risk_level": null}), true),
        ("risks = [\"high\"]", json!({"risk_level": "high"}), true),
        (
            "risks = [\"high\"]",
            json!({"risk_level": "high", "irreversible": true}),
            false,
        ),
        (
            "risks = [\"high\"]",
            json!({"risk_level": "high", "irreversible": null}),
            false,
        ),
        ("irreversible = true", json!({"irreversible": true}), true),
        (
            "irreversible = true",
            json!({"irreversible": true, "risk_level": "medium"}),
            false,
        ),
        (
            "irreversible = true\nrisks = [\"high\"]",
            json!({"irreversible": true, "risk_level": "high"}),
            true,
        ),
    ] {
        for named in [whole, tool] {
            let mut stage = Stage::with(PIPE, accepting(&format!("{named}\n{more}")));
            let mut question = question.clone();
            question["tool"] = "send".into();
            stage.ask_with("rpl_1", question.clone());
            let wanted = accepts.then_some("accept");
            assert_eq!(stage.decision(), wanted, "{named} {more} {question}");
            assert_eq!(stage.heard(UNFIT), !accepts, "{named} {more} {question}");
        }
    }
}

#[test]
fn no_named_risk_makes_a_rule_accept_what_nobody_could_judge() {
    let all = "tools = [\"send\"]\nirreversible = true\nrisks = [\"low\", \"medium\", \"high\", \"unknown\"]";
    for question in [
        json!({"action": "  "}),
        json!({"action": "Save\u{202e} the file"}),
        json!({"action": "Save\u{200b} the file"}),
        json!({"consequence": "Gone\u{2067}"}),
        json!({"action": "x".repeat(Question::LONGEST_PART + 1)}),
        json!({"allowed_replies": ["reject", "later"]}),
        json!({"default_decision": "accept", "risk_level": "medium"}),
        json!({"reply_token": null}),
    ] {
        let mut question = question.clone();
        question["tool"] = "send".into();
        let mut stage = Stage::with(PIPE, accepting(all));
        stage.ask_with("rpl_1", question.clone());
        assert!(stage.sent.is_empty(), "{question}");
    }
    // An action that goes beyond a rule's text is a different action.
    let mut stage = Stage::with(PIPE, accepting("text = \"Send rpl_1\"\nrisks = [\"high\"]"));
    let more = json!({"action": "Send rpl_1 and delete the rest", "risk_level": "high"});
    stage.ask_with("rpl_1", more);
    assert!(stage.sent.is_empty() && stage.heard(NONE));
}

#[test]
fn the_tools_own_word_on_risk_counts_for_a_rule_too() {
    for (risks, accepts) in [("\"high\"", true), ("\"medium\"", false)] {
        let more = format!("tools = [\"wipe\"]\nirreversible = true\nrisks = [{risks}]");
        let mut stage = Stage::with(PIPE, accepting(&more));
        let call = json!({"tool": "wipe", "tool_call_id": "call_1", "irreversible": true, "risk_level": "high"});
        stage.event("tool.invoked", call);
        stage.ask_with("rpl_1", json!({"tool_call_id": "call_1"}));
        assert_eq!(stage.decision(), accepts.then_some("accept"), "{risks}");
    }
}

#[test]
fn a_used_token_is_answered_by_no_rule_of_the_call() {
    let rules = "[[answer]]\nname = \"mine\"\nkind = \"confirmation\"\nanswer = \"reject\"\n";
    let mut stage = Stage::with(PIPE, scripted(rules));
    stage.ask("rpl_1");
    assert_eq!(stage.decision(), Some("reject"));
    stage.event("session.completed", json!({"summary_normal": "Done."}));
    let again = json!({"session_id": "sess_2", "action": "Wipe the disk"});
    stage.ask_with("rpl_1", again);
    assert_eq!(stage.sent.len(), 1);
    stage.assert_heard(phrase!("answers.none", n = 2));
}

#[test]
fn the_rules_of_the_settings_stand_above_those_of_the_call() {
    for (decision, sent) in [("reject", Some("reject")), ("leave", None)] {
        let policy = format!("[[policy]]\nname = \"own\"\ndecision = \"{decision}\"\n");
        let config = Config {
            policy: Config::from_toml(&policy).unwrap().policy,
            ..accepting("")
        };
        let mut stage = Stage::with(PIPE, config);
        stage.ask("rpl_1");
        assert_eq!(stage.decision(), sent);
        stage.assert_not_heard(phrase!("answers.none"));
    }
}

#[test]
fn the_first_rule_that_is_about_a_question_decides() {
    let rules = "[[answer]]\nname = \"first\"\nkind = \"confirmation\"\ntext = \"rpl_1\"\nanswer = \"leave\"\n\
                 [[answer]]\nname = \"second\"\nkind = \"confirmation\"\nanswer = \"reject\"\n";
    let mut stage = Stage::with(PIPE, scripted(rules));
    stage.ask("rpl_1");
    assert!(stage.sent.is_empty() && stage.bells == 0);
    stage.assert_heard(phrase!("policy.leaves", rule = "first", n = 1));
    stage.ask("rpl_2");
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn a_clarification_is_answered_in_the_kind_that_it_takes_or_not_at_all() {
    for (answer, kinds, wanted) in [
        ("blue", json!(["freetext"]), Some(json!("blue"))),
        ("15", json!(["numeric"]), Some(json!(15))),
        ("many", json!(["numeric"]), None),
        ("yes", json!(["yes_no"]), Some(json!(true))),
        ("perhaps", json!(["yes_no"]), None),
        ("thursday", json!(["multiple_choice"]), Some(json!("thu"))),
        ("Friday", json!(["multiple_choice"]), None),
    ] {
        let rules = format!(
            "[[answer]]\nname = \"mine\"\nkind = \"clarification\"\ntext = \"which\"\nanswer = \"{answer}\"\n"
        );
        let mut stage = Stage::with(PIPE, scripted(&rules));
        stage.event(
            "awaiting.clarification",
            json!({"question": "Which one?", "reply_token": "rpl_1", "timeout_seconds": 60, "urgency": "critical",
                   "accepted_response_kinds": kinds, "choices": [{"value": "thu", "label": "Thursday"}, {"value": "wed", "label": "Wednesday"}]}),
        );
        let sent = stage.sent.last().map(|(_, body)| body["response"].clone());
        assert_eq!(sent, wanted, "{answer} {kinds}");
        if wanted.is_some() {
            assert_eq!(stage.sent[0].1["decided_by"], "auto:mine");
            stage.assert_heard(phrase!(
                "answers.answers",
                rule = "mine",
                n = 1,
                question = "Which one?"
            ));
        } else {
            assert!(stage.heard(UNFIT), "{answer} {:?}", stage.lines);
            assert_eq!(stage.bells, 1);
        }
    }
}

#[test]
fn an_answer_by_a_rule_of_the_call_that_does_not_arrive_leads_to_a_question() {
    let mut stage = Stage::with(PIPE, accepting(""));
    stage.ask("rpl_1");
    let request = stage.sent.last().unwrap().0;
    let outcome = Err(DeliveryFailure::Refused(Fault::Status {
        status: 403,
        retry_after: None,
    }));
    stage.link(0, LinkEvent::Replied { request, outcome });
    stage.assert_heard(phrase!("reply.given_up"));
    assert_eq!(stage.bells, 1, "the person is asked after all");
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn yes_and_no_in_a_rule_mean_the_same_whatever_the_persons_language_is() {
    for language in ["en", "de", "es"] {
        for (words, says) in [("yes", true), ("no", false)] {
            let mut config = scripted(&format!(
                "[[answer]]\nname = \"mine\"\nkind = \"clarification\"\nanswer = \"{words}\"\n"
            ));
            config.announce.languages = vec![language.to_owned()];
            let mut stage = Stage::speaking(language, PIPE, config);
            stage.event(
                "awaiting.clarification",
                json!({"question": "Go on?", "reply_token": "rpl_1", "timeout_seconds": 300,
                       "urgency": "critical", "accepted_response_kinds": ["yes_no"]}),
            );
            assert_eq!(stage.sent.len(), 1, "{language} {words}: {:?}", stage.lines);
            assert_eq!(stage.sent[0].1["response"], says, "{language} {words}");
        }
    }
}

#[test]
fn a_rules_text_is_whole_words() {
    for (text, action, accepts) in [
        ("move", "Move the notes", true),
        ("move", "Remove all photos", false),
        ("move", "Re-move all photos", false),
        ("the notes", "Move the notes.", true),
        ("the note", "Move the notes.", false),
    ] {
        let mut stage = Stage::with(PIPE, accepting(&format!("text = {text:?}")));
        stage.ask_with("rpl_1", json!({"action": action}));
        assert_eq!(!stage.sent.is_empty(), accepts, "{text:?} in {action:?}");
    }
}

#[test]
fn what_silence_would_accept_is_accepted_by_a_rule_that_names_it_alone() {
    let by_silence = json!({"default_decision": "accept"});
    let mut stage = Stage::with(PIPE, accepting(""));
    stage.ask_with("rpl_1", by_silence.clone());
    assert!(stage.sent.is_empty());
    stage.assert_heard(UNFIT);
    let mut stage = Stage::with(PIPE, accepting("silence = true"));
    stage.ask_with("rpl_1", by_silence);
    assert_eq!(stage.sent.last().unwrap().1["decision"], "accept");
}
