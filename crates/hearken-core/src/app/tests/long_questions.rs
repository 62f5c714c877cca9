//! Questions that are too long to be spoken in one go.

use super::*;
use crate::protocol::is_direction_sign;

/// Returns a text longer than two parts, with an end that changes its meaning.
fn long(end: &str) -> String {
    format!("{}{end}", "copy the folder and ".repeat(120))
}

fn last(stage: &Stage) -> &str {
    stage.lines.last().map_or("", String::as_str)
}

#[test]
fn a_long_confirmation_is_told_in_parts_and_accepted_only_after_its_end() {
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"action": long("then delete it.")}));
    stage.assert_heard(phrase!(
        "question.cut",
        details = "type d 1 for all of it, in 3 parts"
    ));
    stage.assert_not_heard("then delete it");
    stage.wait(2500);
    stage.type_line("y 1");
    assert!(last(&stage).contains("Type d 1 for the next part first."));
    let mut told = String::new();
    for part in 1..=3 {
        stage.type_line("d 1");
        let words = last(&stage).to_owned();
        assert!(
            words.starts_with(&format!("Question 1, part {part} of 3.")),
            "{words}"
        );
        assert_eq!(
            phrase!("question.part.next.lines", n = 1).is_in(&words),
            part < 3,
            "{words}"
        );
        assert!(words.chars().count() < 1400, "{words}");
        told.push_str(&words);
        stage.type_line("c 1");
        assert!(stage.sent.is_empty());
    }
    assert_eq!(told.matches("copy the folder and").count(), 120);
    assert!(
        told.contains("then delete it.")
            && phrase!("question.part.consequence", text = "It is gone").is_in(&told)
    );
    assert!(
        phrase!("question.risk.low").is_in(&told)
            && phrase!("question.lines.accept_twice", n = 1).is_in(&told)
    );
    stage.type_line("y 1");
    stage.wait(500);
    stage.type_line("c 1");
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_long_clarification_is_told_in_parts_and_answered_only_after_its_end() {
    for fields in [
        json!({"question": long("or not at all?"), "accepted_response_kinds": ["freetext"]}),
        json!({"question": "Which?", "context": long("or not at all?"), "accepted_response_kinds": ["freetext"]}),
        json!({"question": "Which?", "choices": [
            {"value": "a", "label": long("or so")}, {"value": "b", "label": "or not at all?"}]}),
    ] {
        let mut stage = Stage::new(PIPE);
        let mut event = fields;
        event["reply_token"] = json!("rpl_1");
        event["timeout_seconds"] = json!(300);
        event["urgency"] = json!("critical");
        stage.event("awaiting.clarification", event);
        stage.assert_heard(phrase!("question.cut"));
        stage.assert_not_heard("or not at all?");
        stage.wait(2500);
        for line in ["a first", "o 1 2", "y 1", "n 1"] {
            stage.type_line(line);
            assert!(stage.sent.is_empty(), "{line}");
        }
        for _ in 0..3 {
            stage.type_line("d 1");
        }
        stage.assert_heard("or not at all?");
        stage.type_line(if stage.heard(phrase!("question.part.choice", n = 2)) {
            "o 1 2"
        } else {
            "a first"
        });
        assert_eq!(stage.sent.len(), 1, "{:?}", stage.lines);
    }
}

#[test]
fn with_a_voice_the_last_part_is_heard_or_stopped_before_an_answer() {
    let mut stage = Stage::new(Options {
        voice: SpeechMode::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.ask_with("rpl_1", json!({"action": long("then delete it.")}));
    stage.speak_all();
    stage.wait(25_000);
    stage.press('y');
    assert!(last(&stage).contains("Press d for the next part first."));
    for _ in 0..3 {
        stage.press('d');
        stage.wait(500);
    }
    stage.press('y');
    let words = last(&stage);
    assert!(phrase!("reply.not_yet.said").is_in(words), "{words}");
    assert!(
        phrase!("question.part", i = 3, count = 3).is_in(words),
        "it is said once more: {words}"
    );
    stage.speak_all();
    stage.wait(700);
    stage.press('y');
    stage.wait(500);
    stage.press('c');
    assert_eq!(stage.decision(), Some("accept"), "{:?}", stage.lines);
}

#[test]
fn a_long_question_whose_every_page_was_on_the_screen_was_shown() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"action": long("then delete it.")}));
    stage.see(0, 2);
    stage.wait(500);
    stage.press('y');
    assert!(last(&stage).contains("Press d for the next part first."));
    stage.see(1, 2);
    stage.wait(700);
    stage.press('y');
    stage.wait(500);
    stage.press('c');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_rejection_is_free_at_every_moment() {
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"action": long("then delete it.")}));
    stage.wait(2500);
    stage.type_line("n 1");
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn a_warning_and_a_rule_say_that_there_is_more() {
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"action": long("then delete it.")}));
    stage.lines.clear();
    stage.wait(160_000);
    stage.assert_heard(phrase!("question.warning"));
    stage.assert_heard(phrase!("question.cut"));
}

#[test]
fn signs_of_direction_in_a_command_are_named_and_take_two_steps() {
    let mut stage = Stage::new(PIPE);
    let action = "Run cp \u{2067}a b\u{2069} /tmp";
    stage.ask_with(
        "rpl_1",
        json!({"action": action, "consequence": "\u{200f}Copied"}),
    );
    stage.assert_heard("Run cp [right-to-left isolate]a b[end of isolate] /tmp");
    stage.assert_heard("[right-to-left mark]Copied");
    stage.assert_not_heard(phrase!("question.hidden"));
    let told = stage.app.history().iter().last().unwrap();
    assert!(!told.text().contains(is_direction_sign));
    let asked = stage
        .app
        .history()
        .iter()
        .find(|told| told.text().contains("Run cp"));
    let spoken = asked.unwrap().spoken();
    assert!(
        spoken.contains("cp right-to-left isolate a b end of isolate"),
        "{spoken}"
    );
    stage.wait(2500);
    stage.type_line("y 1");
    assert!(stage.sent.is_empty());
    stage.wait(500);
    stage.type_line("c 1");
    assert_eq!(stage.decision(), Some("accept"));
    // A mark without its pair counts as hidden, is removed, and is announced.
    stage.ask_with("rpl_2", json!({"action": "Run rm \u{2067}a b"}));
    assert!(stage.heard("Run rm a b") && stage.heard(phrase!("question.hidden")));
    // In prose both stay, and are not announced.
    stage.event(
        "output.streaming",
        json!({"chunk": "Der \u{2067}שלום\u{2069} Ordner\u{200f}. ", "output_id": "o", "complete": true}),
    );
    let mut history = stage.app.history().iter().rev();
    let told = history.find(|told| told.is_agents_text()).unwrap();
    assert!(
        told.text()
            .contains("Der \u{2067}שלום\u{2069} Ordner\u{200f}"),
        "{:?}",
        told.text()
    );
    assert!(
        !told.spoken().contains(is_direction_sign),
        "{:?}",
        told.spoken()
    );
}

#[test]
fn an_output_that_is_declared_to_be_code_is_read_as_code() {
    let heard = |kind: &str| {
        let mut stage = Stage::new(PIPE);
        stage.event("session.started", json!({"summary_normal": "Writing"}));
        stage.lines.clear();
        for (chunk, complete) in [
            ("def f(x):\n    ret", false),
            ("urn x * 2\n", false),
            ("", true),
        ] {
            let event = json!({"chunk": chunk, "complete": complete, "output_id": "out_1", "content_type": kind});
            stage.event("output.streaming", event);
        }
        let told = stage.app.history().iter();
        let of_text = told.filter(|told| told.kind == crate::announce::AnnouncementKind::Output);
        let spoken: Vec<String> = of_text.map(|told| told.spoken()).collect();
        spoken.join(" ")
    };
    let code = heard("text/x-python");
    assert!(code.contains("Python") && !code.contains("def f"), "{code}");
    assert!(code.contains("2 lines"), "{code}");
    let prose = heard("text/plain");
    assert!(
        prose.contains("def f") && !prose.contains("Python"),
        "{prose}"
    );
}
