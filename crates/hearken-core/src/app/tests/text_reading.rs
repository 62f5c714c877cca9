//! Messages with several events, or in slightly incorrect JSON, are read; the rest is counted and announced.

use super::*;

impl Stage {
    fn text(&mut self, text: &str) {
        self.link(0, LinkEvent::Frame(Frame::of(text.to_owned())));
    }
}

fn event(id: &str, summary: &str) -> String {
    json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.progress.updated",
        "event_id": id,
        "session_id": "ses_1",
        "timestamp": "2026-01-01T00:00:00Z",
        "producer": {"agent_id": "agt_1", "agent_name": "Bot"},
        "summary_normal": summary,
    })
    .to_string()
}

#[test]
fn every_event_of_a_frame_is_told_in_its_order_whatever_stands_around_it() {
    let (one, two) = (event("e1", "Number one"), event("e2", "Number two"));
    for text in [
        format!("{one}{two}"),
        format!("{one}\n{two}\n"),
        format!("\u{feff}{one}\0{two}\0"),
        format!("[{one},{two}]"),
        format!("\u{1e}{one}\n\u{1e}{two}\n"),
    ] {
        let mut stage = Stage::new(PIPE);
        stage.text(&text);
        stage.wait(2000);
        let all = stage.lines.join("\n");
        let at = |words: &str| {
            all.find(words)
                .unwrap_or_else(|| panic!("{words} in {all}"))
        };
        assert!(at("Number one") < at("Number two"), "{text}: {all}");
        assert_eq!(stage.app.links()[0].garbage, 0, "{text}");
        assert_eq!(stage.app.links()[0].frames, 2, "{text}");
    }
}

#[test]
fn nan_and_raw_controls_cost_no_event() {
    let mut stage = Stage::new(PIPE);
    let with = |more: &str| event("e1", "Number one").replacen('{', &format!("{{{more},"), 1);
    stage.text(&with("\"percent\":NaN"));
    stage.assert_heard("Number one");
    let mut stage = Stage::new(PIPE);
    stage.text(&event("e1", "A tab here").replace("tab ", "tab\t"));
    stage.assert_heard("A tab here");
    assert_eq!(stage.app.links()[0].garbage, 0);
}

#[test]
fn a_question_in_a_list_behind_what_can_not_be_read_is_asked() {
    let mut stage = Stage::new(PIPE);
    let asks = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.awaiting.confirmation",
        "event_id": "e9",
        "session_id": "ses_1",
        "timestamp": "2026-01-01T00:00:00Z",
        "producer": {"agent_id": "agt_1", "agent_name": "Bot"},
        "action": "Send the mail",
        "reply_token": "rpl_1",
        "urgency": "critical",
    });
    stage.text(&format!("[7,{{\"no\":\"type\"}},{asks}"));
    stage.wait(2000);
    stage.assert_heard("Send the mail");
    assert_eq!(stage.app.links()[0].garbage, 2);
}

#[test]
fn a_frame_of_thousands_of_events_is_read_in_steps_and_nothing_overtakes_it() {
    let mut stage = Stage::new(PIPE);
    let count = 2000;
    let all: Vec<String> = (0..count)
        .map(|at| event(&format!("e{at}"), &format!("Number {at} of it")))
        .collect();
    stage.text(&format!("[{}]", all.join(",")));
    assert!(stage.app.is_reading(), "not all at once");
    let read = stage.app.links()[0].frames;
    assert!(read > 0 && read < 200, "{read} in one step");
    assert!(stage.app.deadline() <= Some(stage.now.monotonic), "and on");
    // A key comes between two steps, and is not a step.
    stage.input(Input::Interrupt);
    // The end of the source does not overtake earlier messages.
    stage.link(0, LinkEvent::Ended);
    assert!(!stage.app.is_reading());
    assert_eq!(stage.app.links()[0].frames, count);
}

#[test]
fn what_an_agent_was_saying_is_told_before_its_source_is_over() {
    let ends: [fn() -> LinkEvent; 2] = [
        || LinkEvent::Ended,
        || LinkEvent::Failed {
            fault: Fault::Closed,
        },
    ];
    for end in ends {
        let mut stage = Stage::new(PIPE);
        let words = json!({"chunk": "It is done but for", "position": 0, "complete": false, "output_id": "out_1"});
        stage.event("output.streaming", words);
        stage.assert_not_heard("It is done but for");
        stage.link(0, end());
        let is_it = |line: &String| line.contains("It is done but for");
        let said = stage.lines.iter().position(is_it).unwrap();
        assert!(
            said + 1 < stage.lines.len(),
            "the end is behind it: {:?}",
            stage.lines
        );
        stage.wait(10_000);
        let told = stage
            .lines
            .iter()
            .filter(|line| line.contains("It is done but for"));
        assert_eq!(told.count(), 1, "{:?}", stage.lines);
    }
}
