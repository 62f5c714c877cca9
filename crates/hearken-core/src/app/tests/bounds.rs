//! A call's material stays within its limits, however much an agent sends, and cuts are announced.

use super::*;

/// The most that the history may weigh after one call, in bytes: attachments have 32 KiB, in the news of the call and
/// in those of its question.
const MOST: usize = 160 * 1024;

impl Stage {
    fn agent_sends(&mut self, message: Value) {
        self.link(0, LinkEvent::Frame(Frame::of(message.to_string())));
        self.wait(1000);
    }

    fn of_call(&mut self, update: Value) {
        self.agent_sends(json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "s", "update": update}}));
    }

    fn weight(&self) -> usize {
        self.app.history().iter().map(|told| told.size()).sum()
    }

    /// Goes one part forward, by a key or by a line.
    fn read_on(&mut self, lines: bool) {
        match lines {
            true => self.type_line("."),
            false => self.press('.'),
        }
    }
}

#[test]
fn a_change_of_two_thousand_lines_is_read_from_its_beginning_and_told_as_cut() {
    for options in [PIPE, KEYS] {
        let lines = options.lines.is_some();
        let mut stage = Stage::prompted(options);
        let before = stage.weight();
        let text = |word: &str| -> String {
            (0..2000)
                .map(|n| format!("line {n} of the file, {word}\n"))
                .collect()
        };
        let diff = json!([{"type": "diff", "path": "/work/a/big.rs", "oldText": text("as it was"), "newText": text("changed")}]);
        let option = |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
        stage.agent_sends(json!({"jsonrpc": "2.0", "id": 70, "method": "session/request_permission", "params": {
            "sessionId": "s", "toolCall": {"toolCallId": "e", "title": "Edit big.rs", "kind": "edit", "content": diff},
            "options": [option("yes", "allow_once"), option("no", "reject_once")]}}));
        stage.assert_heard(phrase!("acp.edit", added = 2000, removed = 2000));
        assert!(stage.weight() - before < MOST, "{}", stage.weight());
        let mut parts = 0;
        while !stage.heard(phrase!("reading.end")) {
            stage.read_on(lines);
            parts += 1;
            assert!(parts < 2000, "{:?}", stage.lines.last());
        }
        assert!(parts > 20, "{parts}");
        stage.assert_heard(phrase!("reading.place", n = 1, count = 1, line = 1));
        let cut = "left out here, because there was too much.";
        let told = stage.lines.iter().filter(|line| line.contains(cut)).count();
        assert_eq!(told, 1, "where it is cut, and only there");
        assert!(
            stage.sent.iter().all(|(_, body)| body["id"] != 70),
            "reading answers nothing"
        );
    }
}

#[test]
fn an_output_of_five_megabytes_is_read_from_both_ends_and_told_as_cut() {
    for options in [PIPE, KEYS] {
        let lines = options.lines.is_some();
        let mut stage = Stage::prompted(options);
        let before = stage.weight();
        stage.of_call(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "cargo test", "kind": "execute",
            "status": "in_progress", "rawInput": {"command": "cargo test"}}));
        let count = 170_000;
        let output: String = (1..=count)
            .map(|n| format!("line {n} of the output.........\n"))
            .collect();
        assert!(output.len() >= 5 * 1000 * 1000);
        stage.of_call(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "content": [{"type": "content", "content": {"type": "text", "text": output}}]}),
        );
        assert!(stage.weight() - before < MOST, "{}", stage.weight());
        match lines {
            true => stage.type_line("output"),
            false => stage.code(KeyCode::F(3)),
        }
        let said = stage.lines.last().unwrap().clone();
        assert!(
            said.contains(&format!("Output, {count} lines, "))
                && phrase!("reading.output").is_in(&said),
            "{said}"
        );
        stage.lines.clear();
        let mut parts = 0;
        while !stage.heard(phrase!("reading.end")) {
            stage.read_on(lines);
            parts += 1;
            assert!(parts < 1000);
        }
        assert!(stage.heard("Line 1. line 1 of the output"), "its beginning");
        assert!(stage.heard(&format!("{count} of the output")), "its end");
        stage.assert_heard(phrase!("reading.left_out"));
        assert!(stage.weight() - before < MOST, "{}", stage.weight());
    }
}

#[test]
fn many_large_outputs_weigh_no_more_than_the_history_may() {
    let mut stage = Stage::prompted(PIPE);
    let output = "x".repeat(100) + "\n";
    let output = output.repeat(10_000);
    for n in 0..700 {
        let id = format!("c{n}");
        stage.of_call(json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "look", "kind": "read", "status": "in_progress"}));
        let brought = if n % 50 == 0 {
            &output
        } else {
            &output[..40_000]
        };
        stage.of_call(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
            "content": [{"type": "content", "content": {"type": "text", "text": brought}}]}),
        );
    }
    assert!(stage.weight() <= 16 * 1024 * 1024, "{}", stage.weight());
    assert!(stage.app.history().left() > 0, "what left is counted");
}

#[test]
fn the_sentences_of_hundreds_of_runs_come_whole_and_their_pauses_make_each_due() {
    let mut stage = Stage::new(PIPE);
    let say = |stage: &mut Stage, n: usize, chunk: &str| {
        stage.event(
            "output.streaming",
            json!({"session_id": format!("sess_{n}"), "chunk": chunk, "complete": false, "output_id": "out_1"}),
        );
    };
    let count = |stage: &Stage, words: &str| {
        let lines = stage.lines.iter();
        lines.filter(|line| line.contains(words)).count()
    };
    for part in [
        "The first half ",
        "and the second one. ",
        "Of this no more came",
    ] {
        for n in 0..400 {
            say(&mut stage, n, part);
        }
    }
    assert_eq!(count(&stage, "The first half and the second one."), 400);
    assert_eq!(count(&stage, "The first half"), 400);
    assert_eq!(count(&stage, "Of this"), 0);
    stage.wait(900);
    assert_eq!(count(&stage, "Of this no more"), 400);
    assert_eq!(stage.app.sessions().dropped(), Default::default());
}

#[test]
fn where_texts_have_no_room_the_one_that_was_silent_longest_is_said_as_far_as_it_came() {
    let mut stage = Stage::new(PIPE);
    stage.app.cx.announcer.narrow(64 * 1024);
    for n in 0..200 {
        stage.event(
            "output.streaming",
            json!({"session_id": format!("sess_{n}"), "chunk": format!("Text {n} goes"), "complete": false, "output_id": "out_1"}),
        );
    }
    let said = |stage: &Stage, n: usize| stage.heard(&format!("Text {n} goes"));
    assert!(said(&stage, 0) && said(&stage, 100));
    assert!(!said(&stage, 199) && !said(&stage, 195));
}
