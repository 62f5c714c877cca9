//! What is said when, checked by ear: two questions at once, unmistakable keys, work that runs in silence.

use std::time::Duration;

use hearken::announce::AnswerMethod;
use hearken::config::Config;
use serde_json::{Value, json};

use crate::support::face_scenes::event;
use crate::support::stage::Stage;

fn stage(manner: AnswerMethod) -> Stage {
    let mut config = Config::default();
    config.announce.heartbeat = false;
    let start = "2026-01-01T10:00:00Z".parse().unwrap();
    let mut stage = match manner {
        AnswerMethod::Keys => Stage::new(config, start),
        AnswerMethod::Lines | AnswerMethod::Program => Stage::by_lines(config, start, manner),
    };
    for agent in ["Ann", "Ben"] {
        event(
            &mut stage,
            agent,
            "session.started",
            json!({"summary_normal": format!("{agent} is at work.")}),
        );
    }
    stage.wait_for_silence();
    stage
}

fn asks(stage: &mut Stage, agent: &str, action: &str) {
    ask_for(stage, agent, action, 300);
}

/// Asks a question with a time limit in seconds.
fn ask_for(stage: &mut Stage, agent: &str, action: &str, seconds: u64) {
    event(
        stage,
        agent,
        "awaiting.confirmation",
        json!({"action": action, "consequence": format!("{agent} does it at once."), "reply_token": format!("rpl_{agent}"),
            "timeout_seconds": seconds, "default_decision": "reject", "risk_level": "medium", "irreversible": true,
            "urgency": "critical"}),
    );
}

/// Returns what was said, part by part, without the times.
fn said(stage: &mut Stage) -> Vec<String> {
    let script = std::mem::take(&mut stage.script);
    let words = script
        .iter()
        .map(|line| line.split_whitespace().skip(3).collect::<Vec<_>>());
    words.map(|words| words.join(" ")).collect()
}

#[test]
fn by_ear_one_question_is_finished_before_the_next_is_asked_once() {
    let mut stage = stage(AnswerMethod::Keys);
    let stage = &mut stage;
    asks(stage, "Ann", "Send the letter.");
    stage.wait_for_silence();
    said(stage);
    stage.press('y');
    stage.wait(Duration::from_millis(500));
    asks(stage, "Ben", "Delete the draft.");
    stage.wait(Duration::from_secs(8));
    assert_eq!(
        said(stage),
        [
            "Press letter c to confirm.",
            "Question 2 waits until this one is decided."
        ]
    );
    stage.press('c');
    assert_eq!(stage.sent.len(), 1);
    stage.wait_for_silence();
    let told = said(stage);
    assert_eq!(
        told,
        [
            "Accepting question 1:",
            "Send the letter. [cut]",
            "Question 2 from Ben.",
            "Medium risk. Can't be undone.",
            "Delete the draft.",
            "If accepted:",
            "Ben does it at once.",
            &told[7],
            "Question 1: Sent.",
        ]
    );
    assert!(
        told[7].starts_with("Silence rejects in 4 minutes"),
        "{told:?}"
    );
    // It can be answered: all of it has been said.
    stage.press('n');
    assert_eq!(stage.sent.len(), 2);
}

#[test]
fn what_was_heard_is_asked_in_short_after_the_one_before() {
    let mut stage = stage(AnswerMethod::Keys);
    let stage = &mut stage;
    asks(stage, "Ann", "Send the letter.");
    asks(stage, "Ben", "Delete the draft.");
    stage.wait_for_silence();
    said(stage);
    stage.press('n');
    stage.wait_for_silence();
    let told = said(stage);
    assert!(told[0].starts_with("Rejecting question 1"), "{told:?}");
    let next = told
        .iter()
        .position(|words| words == "Question 2 from Ben.");
    assert_eq!(
        told[next.unwrap()..],
        [
            "Question 2 from Ben.",
            "Medium risk. Can't be undone.",
            "Delete the draft.",
            "Question 1: Sent.",
        ]
    );
}

#[test]
fn a_question_with_little_time_waits_for_no_other_and_none_waits_for_long() {
    let mut stage = stage(AnswerMethod::Keys);
    let stage = &mut stage;
    asks(stage, "Ann", "Send the letter.");
    stage.wait_for_silence();
    stage.press('y');
    stage.wait(Duration::from_millis(500));
    said(stage);
    asks(stage, "Ben", "Delete the draft.");
    // The second step is left alone: after a quarter of a minute, the other question is asked all the same.
    stage.wait(Duration::from_secs(14));
    assert!(!said(stage).iter().any(|words| words == "Delete the draft."));
    stage.wait(Duration::from_secs(8));
    assert!(said(stage).iter().any(|words| words == "Delete the draft."));

    let mut stage = self::stage(AnswerMethod::Keys);
    let stage = &mut stage;
    asks(stage, "Ann", "Send the letter.");
    stage.wait_for_silence();
    stage.press('y');
    stage.wait(Duration::from_millis(500));
    said(stage);
    ask_for(stage, "Ben", "Delete the draft.", 30);
    stage.wait(Duration::from_secs(8));
    assert!(said(stage).iter().any(|words| words == "Delete the draft."));
}

#[test]
fn in_lines_one_question_is_finished_before_the_next_is_written() {
    let mut stage = stage(AnswerMethod::Lines);
    let stage = &mut stage;
    asks(stage, "Ann", "Send the letter.");
    stage.wait(Duration::from_secs(3));
    stage.line("y 1");
    stage.lines.clear();
    asks(stage, "Ben", "Delete the draft.");
    stage.wait(Duration::from_secs(8));
    // It can't be answered before it is written.
    let rows = |stage: &mut Stage| {
        let lines = std::mem::take(&mut stage.lines).concat();
        let rows = lines.lines().filter(|row| !row.starts_with("Protocol"));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        rows(stage),
        ["Note: Question 2 waits until this one is decided."]
    );
    stage.line("c 1");
    assert_eq!(stage.sent.len(), 1);
    let told = rows(stage);
    assert_eq!(
        told[..2],
        [
            "hearken: Accepting question 1:",
            "Ann asks: Send the letter."
        ]
    );
    assert_eq!(
        told[2..7],
        [
            "Question Ben: Question 2 from Ben. Medium risk. Can't be undone.",
            "Ben asks: Delete the draft.",
            "Question Ben: If accepted:",
            "Ben asks: Ben does it at once.",
            "Question Ben: Silence rejects in 5 minutes. y 2 c 2, n 2, d 2.",
        ]
    );
    let again = told[7..]
        .iter()
        .any(|row| row.contains("Delete the draft."));
    assert!(!again, "{told:?}");
    stage.wait(Duration::from_secs(3));
    stage.line("n 2");
    assert_eq!(stage.sent.len(), 2);
}

#[test]
fn keys_are_heard_as_words_that_cant_be_misheard() {
    let mut by_key = stage(AnswerMethod::Keys);
    asks(&mut by_key, "Ann", "Send the letter.");
    by_key.wait_for_silence();
    let keys = "letter y then letter c accepts, letter n rejects, letter d for details.";
    assert!(said(&mut by_key).iter().any(|words| words == keys));
    let mut by_line = stage(AnswerMethod::Lines);
    asks(&mut by_line, "Ann", "Send the letter.");
    event(
        &mut by_line,
        "Ben",
        "awaiting.clarification",
        json!({"question": "How many?", "reply_token": "rpl_n", "timeout_seconds": 240, "urgency": "critical",
            "accepted_response_kinds": ["numeric"]}),
    );
    let spoken: Vec<String> = by_line
        .objects
        .iter()
        .map(|object| serde_json::from_str::<Value>(object).unwrap())
        .map(|object| object["spoken"].as_str().unwrap().to_owned())
        .collect();
    for words in [
        "letter y 1 then letter c 1 accepts, letter n 1 rejects, letter d 1 for details.",
        "Type letter a, a space and a number.",
    ] {
        assert!(
            spoken.iter().any(|spoken| spoken.contains(words)),
            "{words}: {spoken:#?}"
        );
    }
    // No key appears in them as a single letter.
    for spoken in &spoken {
        let words: Vec<&str> = spoken.split_whitespace().collect();
        for pair in words.windows(2) {
            let key = pair[1].trim_end_matches([',', '.', ':']);
            let is_key = ["y", "n", "c", "d", "o"].contains(&key);
            assert!(!is_key || pair[0] == "letter", "{spoken}");
        }
    }
}

#[test]
fn the_status_tells_what_goes_on_through_a_long_silence() {
    for manner in [AnswerMethod::Keys, AnswerMethod::Lines] {
        let mut stage = stage(manner);
        let stage = &mut stage;
        let state = |stage: &mut Stage, agent: &str, from: &str, to: &str| {
            let fields = json!({"from_state": from, "to_state": to});
            event(stage, agent, "state.changed", fields);
        };
        state(stage, "Ann", "idle", "thinking");
        state(stage, "Ben", "idle", "calling_tool");
        event(
            stage,
            "Ben",
            "tool.invoked",
            json!({"tool": "read_file", "tool_call_id": "call_1"}),
        );
        stage.wait(Duration::from_secs(400));
        match manner {
            AnswerMethod::Keys => stage.press('t'),
            AnswerMethod::Lines | AnswerMethod::Program => stage.line("t"),
        }
        let told = stage.told.last().unwrap().shown();
        assert!(told.contains("Ann: working, thinking."), "{told}");
        assert!(
            told.contains("Ben: working, using a tool, running read file for 6 minutes"),
            "{told}"
        );
    }
}
