//! An agent's text in a turn: heard whole or in parts, code line by line, copied, and heard only at its end.

use super::*;
use crate::config::AnswersChoice;

const ANSWER: &str = "# Plan\n\nRun `npm test && npm run build` first. It takes a minute.\n\n```rust\nfn main() {\n    if ready {\n        go();\n    }\n\n}\n```\n\nThat is all.\n";

/// Returns a stage with a written answer, in chunks that split it anywhere.
fn answered(options: Options) -> Stage {
    let mut stage = Stage::new(options);
    stage.event("session.started", json!({"summary_normal": "Planning"}));
    write(&mut stage, ANSWER);
    stage
}

fn write(stage: &mut Stage, text: &str) {
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(7) {
        let chunk: String = piece.iter().collect();
        stage.event(
            "output.streaming",
            json!({"chunk": chunk, "complete": false, "output_id": "out_1"}),
        );
    }
    stage.event(
        "output.streaming",
        json!({"chunk": "", "complete": true, "output_id": "out_1"}),
    );
}

fn last(stage: &Stage) -> &str {
    stage.lines.last().unwrap()
}

#[test]
fn an_answer_is_gone_through_by_parts_and_its_code_line_by_line_with_the_indentation() {
    let told = [
        "# Plan",
        "Run `npm test && npm run build` first. It takes a minute.",
        "Code, Rust, 6 lines.",
        "fn main() {",
        "Indent 4. if ready {",
        "Indent 8. go();",
        "Indent 4. }",
        "empty line",
        "No indent. }",
        "That is all.",
    ];
    for (options, on, back) in [(KEYS, '.', ','), (PIPE, '.', ',')] {
        let lines = options.lines.is_some();
        let mut stage = answered(options);
        let step = |stage: &mut Stage, c: char| match lines {
            true => stage.type_line(&c.to_string()),
            false => stage.press(c),
        };
        step(&mut stage, 'w');
        stage.assert_heard(phrase!("turn", agent = "Mailer", n = 10));
        for words in told {
            step(&mut stage, on);
            assert_eq!(last(&stage), words);
        }
        step(&mut stage, on);
        assert_eq!(last(&stage), "That was the last part.");
        // On the way back, the indentation is announced if it differs from the line read before, not from the line
        // above.
        for words in [
            "No indent. }",
            "empty line",
            "Indent 4. }",
            "Indent 8. go();",
            "Indent 4. if ready {",
        ] {
            step(&mut stage, back);
            if words == "No indent. }" {
                // The bracket without indentation was the last line read.
                assert_eq!(last(&stage), "}");
            } else {
                assert_eq!(last(&stage), words);
            }
        }
    }
}

#[test]
fn headings_and_code_are_leaped_to_by_key_and_by_line() {
    let mut stage = answered(KEYS);
    stage.press('w');
    for (code, words) in [
        (KeyCode::PageDown, "# Plan"),
        (KeyCode::PageDown, "Code, Rust, 6 lines."),
        (KeyCode::PageDown, "That is all."),
        (KeyCode::PageDown, "No more headings or code after this."),
        (KeyCode::PageUp, "Code, Rust, 6 lines."),
    ] {
        stage.code(code);
        assert_eq!(last(&stage), words);
    }
    stage.press('.');
    stage.code(KeyCode::PageUp);
    assert_eq!(last(&stage), "Code, Rust, 6 lines.");
    // After leaving, the keys mean the history again.
    stage.code(KeyCode::Esc);
    stage.code(KeyCode::PageUp);
    assert!(stage.app.is_looking_back(), "{:?}", stage.lines);
    let mut stage = answered(PIPE);
    stage.type_line("..");
    assert!(last(&stage).contains("Nothing is being read."));
    stage.type_line("w");
    for (line, words) in [
        ("..", "# Plan"),
        ("..", "Code, Rust, 6 lines."),
        (",,", "# Plan"),
        (",,", "No headings or code before this."),
    ] {
        stage.type_line(line);
        assert_eq!(last(&stage), words);
    }
}

#[test]
fn an_answer_its_code_and_a_command_are_copied_as_they_were_written() {
    let code = "fn main() {\n    if ready {\n        go();\n    }\n\n}";
    let mut stage = answered(KEYS);
    stage.press('z');
    assert_eq!(stage.copied, [ANSWER.trim_end()]);
    assert!(last(&stage).contains("the answer, 14 lines."));
    stage.press('w');
    stage.press('z');
    stage.press('z');
    assert_eq!(stage.copied[1..], [ANSWER.trim_end(), code]);
    assert!(last(&stage).contains("the code, Rust, 6 lines."));
    stage.press('.');
    stage.press('.');
    stage.press('z');
    assert!(last(&stage).contains("this paragraph."));
    stage.press('z');
    assert!(
        last(&stage).contains("npm test && npm run build"),
        "{:?}",
        stage.lines
    );
    assert_eq!(stage.copied.last().unwrap(), "npm test && npm run build");
    stage.press('z');
    assert!(last(&stage).contains("this paragraph."), "and around");
    for _ in 0..3 {
        stage.press('.');
    }
    stage.press('z');
    assert_eq!(stage.copied.last().unwrap(), code, "a line means its block");

    let mut stage = answered(PIPE);
    stage.type_line("z code");
    stage.type_line("z answer");
    assert_eq!(stage.copied, [code, ANSWER.trim_end()]);
    stage.type_line("z nothing");
    assert!(!stage.heard("z nothing") || stage.copied.len() == 2);
    let mut stage = Stage::new(PIPE);
    stage.type_line("z answer");
    stage.assert_heard(phrase!("turn.none"));
    stage.chunk("Words. ");
    stage.type_line("z code");
    stage.assert_heard(phrase!("copy.no_code"));
    assert!(stage.copied.is_empty());
}

#[test]
fn what_a_question_asks_for_is_copied_to_the_sign_and_without_what_hides() {
    let mut stage = answered(KEYS);
    stage.ask_with(
        "rpl_1",
        json!({"action": "rm -rf \u{202e}build && echo \u{7}done"}),
    );
    stage.press('z');
    assert_eq!(stage.copied, ["rm -rf build && echo done"]);
    assert_eq!(stage.decision(), None, "copying answers nothing");
}

#[test]
fn a_text_that_no_terminal_takes_is_not_copied() {
    let mut stage = Stage::new(PIPE);
    for _ in 0..4 {
        stage.chunk(&format!("{}. ", "word ".repeat(5_000)));
    }
    stage.type_line("z answer");
    assert!(
        stage.heard(phrase!("copy.text_too_long")),
        "{:?}",
        stage.lines.last()
    );
    assert!(stage.copied.is_empty());
}

#[test]
fn a_long_answer_is_said_in_part_and_reached_whole() {
    let mut stage = Stage::new(PIPE);
    let paragraphs: String = (0..2000)
        .map(|n| format!("Number {n} of them all.\n\n"))
        .collect();
    for piece in paragraphs.as_bytes().chunks(4000) {
        stage.chunk(std::str::from_utf8(piece).unwrap());
    }
    stage.type_line("w");
    let said = stage
        .lines
        .iter()
        .rev()
        .find(|line| phrase!("turn.lines").is_in(line))
        .unwrap()
        .clone();
    assert!(
        phrase!("turn.lines", n = 2000).is_in(&said) && said.len() < 30_000,
        "{}",
        said.len()
    );
    assert!(
        said.ends_with("more parts."),
        "{}",
        &said[said.len() - 60..]
    );
    stage.type_line(",");
    assert_eq!(last(&stage), "Number 1999 of them all.");
}

#[test]
fn answers_are_heard_at_the_end_of_their_turn_alone_and_read_before_all_the_same() {
    for options in [KEYS, PIPE, VOICE] {
        let (lines, voice) = (
            options.lines.is_some(),
            matches!(options.voice, SpeechMode::Speak),
        );
        let mut config = Config::default();
        config.announce.answers = AnswersChoice::AtTheEnd;
        let mut stage = Stage::with(options, config);
        if voice {
            stage.input(Input::Voice(VoiceEvent::Ready {
                engine: "test".into(),
            }));
        }
        stage.event("session.started", json!({"summary_normal": "Off we go"}));
        stage.chunk("First words. ");
        stage.event(
            "tool.invoked",
            json!({"tool": "look", "summary_normal": "Looking"}),
        );
        stage.chunk("Second words. ");
        stage.wait(20_000);
        let heard = |stage: &Stage, words: &str| match voice {
            true => stage.spoken.iter().any(|(_, said)| said.contains(words)),
            false => stage.read.iter().any(|line| line.contains(words)),
        };
        if lines || voice {
            stage.speak_all();
            assert!(!heard(&stage, "First words"), "{:?}", stage.lines);
        }
        // A question is asked immediately, and the text can be read on request before it ends.
        stage.ask("rpl_1");
        stage.speak_all();
        assert!(heard(&stage, "If accepted"), "{:?}", stage.spoken);
        assert!(!heard(&stage, "First words"));
        if lines {
            stage.type_line("w");
            assert!(
                heard(&stage, "First words. Second words."),
                "{:?}",
                stage.lines
            );
        }
        stage.lines.clear();
        stage.read.clear();
        stage.spoken.clear();
        stage.event("session.completed", json!({"summary_normal": "All done"}));
        stage.wait(1000);
        stage.speak_all();
        assert!(
            heard(&stage, "First words."),
            "{:?} {:?}",
            stage.lines,
            stage.spoken
        );
        assert!(heard(&stage, "Second words."));
        // Only once: the next turn does not repeat it.
        stage.lines.clear();
        stage.read.clear();
        stage.spoken.clear();
        stage.event(
            "session.started",
            json!({"summary_normal": "Again", "session_id": "sess_2"}),
        );
        stage.event(
            "session.completed",
            json!({"summary_normal": "Over", "session_id": "sess_2"}),
        );
        stage.wait(1000);
        stage.speak_all();
        assert!(!heard(&stage, "First words."));
    }
}

#[test]
fn at_the_end_nothing_is_said_of_an_agent_that_is_muted_or_while_quiet() {
    let mut config = Config::default();
    config.announce.answers = AnswersChoice::AtTheEnd;
    config.announce.muted = vec!["Mailer".to_owned()];
    let mut stage = Stage::with(PIPE, config);
    stage.event("session.started", json!({}));
    stage.chunk("First words. ");
    stage.event("session.completed", json!({}));
    assert!(
        !stage.read.iter().any(|line| line.contains("First words")),
        "{:?}",
        stage.read
    );
    // An agent that is unmuted before the end is heard at the end.
    stage.event("session.started", json!({"session_id": "sess_2"}));
    stage.event(
        "output.streaming",
        json!({"session_id": "sess_2", "chunk": "Later words. ", "complete": true}),
    );
    stage.type_line("m Mailer");
    stage.event("session.completed", json!({"session_id": "sess_2"}));
    assert!(
        stage.read.iter().any(|line| line.contains("Later words")),
        "{:?}",
        stage.read
    );
}

#[test]
fn what_is_urgent_in_a_text_does_not_wait_for_the_end() {
    let mut config = Config::default();
    config.announce.answers = AnswersChoice::AtTheEnd;
    let mut stage = Stage::with(PIPE, config);
    stage.event("session.started", json!({}));
    stage.event(
        "output.streaming",
        json!({"chunk": "The disk is full. ", "complete": true, "output_id": "o", "urgency": "critical"}),
    );
    assert!(
        stage
            .read
            .iter()
            .any(|line| line.contains("The disk is full.")),
        "{:?}",
        stage.read
    );
}
