//! What holds several events, or is no JSON to the letter, is read; the rest is counted and told.

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

/// Returns texts of all kinds: events, several of them, what is none, and what is cut.
fn texts() -> Vec<String> {
    let tour = include_str!("../../../../../tests/fixtures/tour.jsonl").lines();
    // Many runs of it, each with ids of its own.
    let runs = (0..20).flat_map(|n| {
        let own = move |text: &str| {
            let at = text.find("\"evt_").unwrap() + 5;
            format!("{}{n:02x}{}", &text[..at], &text[at + 2..])
        };
        tour.clone().map(own)
    });
    let odd = [
        "no event".to_owned(),
        format!("{}{}", event("e1", "Number one"), event("e2", "Number two")),
        event("e3", "Three").replacen('{', "{\"percent\":NaN,", 1),
        r#"{"type":"subscription.rejected","code":"other"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"session/update","params":{}}"#.to_owned(),
    ];
    tour.clone()
        .map(str::to_owned)
        .chain(runs)
        .chain(odd)
        .collect()
}

fn question(n: u64, now: Now) -> String {
    json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:agent.awaiting.confirmation",
        "event_id": format!("evt_q{n}"),
        "session_id": format!("sess_q{}", n % 3),
        "timestamp": format!("{:.3}", now.wall),
        "producer": {"agent_id": "agt_1", "agent_name": "Bot"},
        "action": "Send it", "consequence": "It is gone", "reply_token": format!("rpl_{n}"),
        "timeout_seconds": 60, "default_decision": "reject", "urgency": "critical",
    })
    .to_string()
}

/// Tells that two apps said, wrote and sent the same.
fn are_the_same(alone: &Stage, together: &Stage) {
    assert_eq!(alone.lines, together.lines);
    assert_eq!(alone.spoken, together.spoken);
    assert_eq!(alone.sent, together.sent);
    let frames = |stage: &Stage| {
        let links = stage.app.links().iter();
        Vec::from_iter(links.map(|link| (link.frames, link.garbage)))
    };
    assert_eq!(frames(alone), frames(together));
}

/// What comes in lots is read before the first of a lot is taken: nothing else changes by it.
#[test]
fn what_is_read_ahead_is_told_as_what_is_read_in_its_turn() {
    let texts = texts();
    for (voice, lot) in [
        (VoiceWish::Silent, 2),
        (VoiceWish::Silent, 32),
        (VoiceWish::Speak, 7),
        (VoiceWish::Speak, 100),
    ] {
        let stage = || Stage::new(Options { voice, ..PIPE });
        let (mut alone, mut together, mut ahead) = (stage(), stage(), 0);
        for lot in texts.chunks(lot) {
            let frame = |text: &String| LinkEvent::Frame(Frame::of(text.clone()));
            lot.iter().for_each(|text| alone.link(0, frame(text)));
            let read: Vec<Input> = (lot.iter())
                .map(|text| together.app.read_ahead(LinkId(0), frame(text)))
                .collect();
            ahead += (read.iter())
                .filter(|input| matches!(input, Input::Event { .. }))
                .count();
            together.app.look_ahead(read.iter());
            read.into_iter().for_each(|input| together.input(input));
        }
        alone.wait(5000);
        together.wait(5000);
        // Who speaks is known as soon as the first lot was taken.
        assert!(ahead > 200, "{ahead} of {}", texts.len());
        assert!(alone.lines.len() > 100);
        are_the_same(&alone, &together);
    }
}

/// The same where two sources come and go in the middle of a lot, and a person asks, answers, mutes and leaves between what
/// was read and what is taken.
#[test]
fn nothing_that_happens_before_it_is_taken_changes_what_was_read() {
    let texts = texts();
    let mut sent = 0;
    for seed in 0..u64::from(runs(60)) {
        let mut dice = sequences::Dice(seed);
        let voice = [VoiceWish::Silent, VoiceWish::Speak][usize::from(dice.roll(2) > 0)];
        let stage = || Stage::new(Options { voice, ..PIPE });
        let (mut alone, mut together) = (stage(), stage());
        let (mut at, mut asked) = ([0, 0], 0);
        for _ in 0..20 {
            // Each is news of a link, or a line of the person.
            let mut lot: Vec<Result<(usize, LinkEvent), &str>> = Vec::new();
            for _ in 0..1 + dice.roll(40) {
                let link = usize::from(dice.roll(3) == 0);
                let fact = match dice.roll(40) {
                    0 => Ok(LinkEvent::Lost {
                        fault: crate::link::Fault::Closed,
                        retry_in: Duration::from_secs(1),
                    }),
                    1 => Ok(LinkEvent::Connected),
                    2 => Ok(LinkEvent::Resumed),
                    3..10 => Err(["y", "n", "t", "v", "m", "d", "n 1"][dice.roll(7) as usize]),
                    11 => {
                        asked += 1;
                        let text = question(asked, alone.now);
                        Ok(LinkEvent::Frame(Frame::of(text)))
                    }
                    10 => {
                        // Some are missed.
                        at[link] += 3;
                        continue;
                    }
                    _ => {
                        let text = &texts[at[link] % texts.len()];
                        at[link] += 1;
                        let until = match dice.roll(30) {
                            0 => text.len() / 2,
                            _ => text.len(),
                        };
                        Ok(LinkEvent::Frame(Frame::of(&text[..until])))
                    }
                };
                lot.push(fact.map(|event| (link, event)));
            }
            for fact in lot.clone() {
                match fact {
                    Ok((link, event)) => alone.link(link, event),
                    Err(line) => alone.type_line(line),
                }
            }
            let read: Vec<Result<Input, &str>> = (lot.into_iter())
                .map(|fact| fact.map(|(link, event)| together.app.read_ahead(LinkId(link), event)))
                .collect();
            (together.app).look_ahead(read.iter().filter_map(|fact| fact.as_ref().ok()));
            for fact in read {
                match fact {
                    Ok(input) => together.input(input),
                    Err(line) => together.type_line(line),
                }
            }
            let pause = [0, 1, 300, 4000][dice.roll(4) as usize];
            alone.wait(pause);
            together.wait(pause);
            are_the_same(&alone, &together);
        }
        sent += alone.sent.len();
    }
    assert!(sent > 0, "some question was answered");
}

#[test]
fn nan_and_raw_controls_cost_no_event() {
    let mut stage = Stage::new(PIPE);
    let with = |more: &str| event("e1", "Number one").replacen('{', &format!("{{{more},"), 1);
    stage.text(&with("\"percent\":NaN"));
    assert!(stage.heard("Number one"), "{:?}", stage.lines);
    let mut stage = Stage::new(PIPE);
    stage.text(&event("e1", "A tab here").replace("tab ", "tab\t"));
    assert!(stage.heard("A tab here"), "{:?}", stage.lines);
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
    assert!(stage.heard("Send the mail"), "{:?}", stage.lines);
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
    // A key comes between two steps, and is no step.
    stage.input(Input::Interrupt);
    // The end of the source does not overtake what came before it.
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
        assert!(!stage.heard("It is done but for"));
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
