//! Whatever the person obviously means is done, and whatever waits for the person is announced.

use super::held_announcements::EDITOR;
use super::*;

#[test]
fn a_no_with_words_rejects_with_a_reason_or_says_how() {
    let mut stage = Stage::new(EDITOR);
    stage.ask("rpl_1");
    stage.wait(5_000);
    stage.type_line("n because no");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("help.unknown.reason"));
    stage.type_line("n 1 because no");
    assert_eq!(stage.decision(), Some("reject"));
    stage.assert_heard(phrase!("reply.rejecting.short", reason = "because no"));
}

#[test]
fn an_agent_is_muted_by_its_name() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.type_line("m mailer");
    stage.assert_heard(phrase!("mute.on", agent = "Mailer"));
    stage.type_line("m Mailer");
    stage.assert_heard(phrase!("mute.off", agent = "Mailer"));
    stage.type_line("m Nobody");
    stage.assert_heard(phrase!("mute.unknown", agent = "Nobody"));
    // One of two agents is addressed by its full name.
    stage.event_on(1, "session.started", json!({"summary_normal": "Off we go"}));
    stage.type_line("m Mailer");
    stage.assert_heard(phrase!("mute.several", agent = "Mailer"));
    stage.type_line("m Mailer of source 2");
    stage.assert_heard(phrase!("mute.on", agent = "Mailer of source 2"));
}

#[test]
fn a_call_that_waits_for_the_person_is_not_said_to_run() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.event(
        "tool.invoked",
        json!({"tool": "send_email", "tool_call_id": "call_1", "irreversible": true}),
    );
    stage.type_line("t");
    stage.assert_heard("running send email for");
    stage.ask_with("rpl_1", json!({"tool_call_id": "call_1"}));
    stage.wait(5_000);
    stage.lines.clear();
    stage.type_line("t");
    stage.assert_heard(phrase!("status.tool.waits", tool = "send email"));
    stage.assert_not_heard("running send email");
    stage.type_line("y");
    stage.type_line("c");
    assert_eq!(stage.decision(), Some("accept"));
    stage.lines.clear();
    stage.type_line("t");
    stage.assert_heard("running send email for");
}

#[test]
fn one_of_two_that_share_a_name_is_told_once() {
    let mut stage = Stage::new(EDITOR);
    stage.event_on(1, "session.started", json!({"summary_normal": "Off we go"}));
    stage.event(
        "session.started",
        json!({"summary_normal": "Mailer is writing to Ann."}),
    );
    stage.assert_heard("Mailer of source 1 is writing to Ann.");
    stage.assert_not_heard("source 1 started");
}

/// Starts a session of an agent, for a request.
fn begin(stage: &mut Stage, session: &str, request: Option<&str>) {
    let mut fields = json!({"session_id": session, "summary_normal": "Mailer: at work."});
    if let Some(request) = request {
        fields["request_text"] = request.into();
    }
    stage.event("session.started", fields);
}

#[test]
fn two_runs_of_one_agent_at_a_time_are_told_apart_by_what_was_asked_for() {
    let mut stage = Stage::new(EDITOR);
    begin(&mut stage, "sess_1", Some("Write to Ann about the rent"));
    stage.assert_heard("Mailer: at work.");
    begin(&mut stage, "sess_2", Some("Sort the post, please"));
    stage.assert_heard("Mailer on 'Sort the post': at work.");
    let asked = |session: &str, token: &str| {
        json!({"session_id": session, "action": "Send it", "reply_token": token,
               "timeout_seconds": 300, "consequence": "It is gone"})
    };
    stage.event("awaiting.confirmation", asked("sess_1", "t1"));
    stage.event("awaiting.confirmation", asked("sess_2", "t2"));
    stage.assert_heard("Mailer on 'Write to Ann'");
    stage.lines.clear();
    stage.type_line("t");
    stage.assert_heard("Mailer on 'Write to Ann': ");
    let name =
        |told: &Arc<Announcement>| told.agent.as_deref().map(str::to_owned).unwrap_or_default();
    let names: Vec<String> = stage.app.history().iter().map(name).collect();
    assert!(
        names.contains(&"Mailer on 'Sort the post'".to_owned()),
        "{names:?}"
    );
    // All of an agent's runs are muted, whichever one is named.
    stage.type_line("m mailer on 'sort the post'");
    stage.assert_heard(phrase!("mute.on", agent = "Mailer"));
}

#[test]
fn runs_without_a_request_of_their_own_have_a_number() {
    let mut stage = Stage::new(EDITOR);
    begin(&mut stage, "sess_1", None);
    begin(&mut stage, "sess_2", Some("Sort the post"));
    begin(&mut stage, "sess_3", Some("Sort the POST"));
    stage.type_line("t");
    for name in ["Mailer run 1: ", "Mailer run 2: ", "Mailer run 3: "] {
        stage.assert_heard(name);
    }
    // Runs in sequence can't be confused.
    let mut stage = Stage::new(EDITOR);
    begin(&mut stage, "sess_1", None);
    stage.event("session.completed", json!({"session_id": "sess_1"}));
    begin(&mut stage, "sess_2", None);
    stage.assert_not_heard("Mailer run");
}

#[test]
fn a_mark_stays_in_sight_behind_the_longest_name() {
    let mut stage = Stage::new(EDITOR);
    let name = "A".repeat(200);
    for link in 0..2 {
        let producer = json!({"agent_id": "a", "agent_name": name});
        stage.event_on(link, "session.started", json!({"producer": producer}));
    }
    stage.type_line("t");
    for mark in ["AAA of source 1: ", "AAA of source 2: "] {
        stage.assert_heard(mark);
    }
    // The shortened name may again end with something to cut off.
    for name in [
        "Security review assistant for the payments team of ACME",
        "Security review assistant for the bank (EUR) .net desk",
    ] {
        let mut stage = Stage::new(EDITOR);
        for link in 0..2 {
            let producer = json!({"agent_id": "a", "agent_name": name});
            stage.event_on(link, "session.started", json!({"producer": producer}));
        }
        stage.type_line("t");
        for mark in [" of source 1: ", " of source 2: "] {
            stage.assert_heard(mark);
        }
    }
}

#[test]
fn a_number_before_an_answer_names_the_only_question_or_nothing_is_sent() {
    let ask = |kinds: Value| {
        let mut stage = Stage::new(EDITOR);
        stage.event(
            "awaiting.clarification",
            json!({"question": "How many?", "reply_token": "t", "timeout_seconds": 300,
                   "accepted_response_kinds": kinds, "choices": ["one", "1 more"]}),
        );
        stage.wait(5_000);
        stage
    };
    for (kinds, line, sent) in [
        (json!(["numeric"]), "a 1 2", json!(2)),
        (json!(["numeric"]), "a 2", json!(2)),
        (json!(["numeric", "freetext"]), "a 1 2", json!(2)),
        (json!(["yes_no"]), "a 1 yes", json!(true)),
        (json!(["multiple_choice"]), "a 1 one", json!("one")),
        (json!(["multiple_choice"]), "a 1 more", json!("1 more")),
        (json!(["freetext"]), "a 2 eggs", json!("2 eggs")),
        (json!(["freetext"]), "a #1 1 egg", json!("1 egg")),
    ] {
        let mut stage = ask(kinds);
        stage.type_line(line);
        assert_eq!(stage.sent.len(), 1, "{line}: {:?}", stage.lines);
        assert_eq!(stage.sent[0].1["response"], sent, "{line}");
    }
    for (kinds, line, words) in [
        (
            json!(["freetext"]),
            "a 1 egg",
            "Nothing was sent. Type a #1 TEXT,",
        ),
        (
            json!(["numeric"]),
            "a 1 2,5",
            "2,5 can't be read as a number",
        ),
        (json!(["multiple_choice"]), "a 1 two", "This question takes"),
    ] {
        let mut stage = ask(kinds);
        stage.type_line(line);
        assert!(stage.sent.is_empty(), "{line}");
        assert!(stage.heard(words), "{line}: {:?}", stage.lines);
    }
}

#[test]
fn a_silent_agent_that_works_is_told_to_who_reads_lines() {
    let mut stage = Stage::new(EDITOR);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    let told = |stage: &Stage| {
        stage
            .lines
            .iter()
            .filter(|line| phrase!("heartbeat").is_in(line))
            .count()
    };
    stage.wait(2_999);
    assert_eq!(told(&stage), 0);
    stage.wait(1);
    assert_eq!(told(&stage), 1);
    stage.wait(60_000);
    assert!(told(&stage) <= 4, "as rarely as by ear: {:?}", stage.lines);
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.wait(60_000);
    assert_eq!(told(&stage), 0, "a pipe has no need of it");
}
