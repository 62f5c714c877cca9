//! Chapter 9's requirements for a subscriber, sentence by sentence, as far as no test of another room
//! shows the sentence itself; docs/conformance.md says which.

use std::time::Duration;

use hearken::config::{Config, Load, Verbosity};
use hearken_wording::phrase;
#[cfg(unix)]
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::child::Hearken;
use crate::support::scripted_handshake::{Events, HandshakeServer, event};
use crate::support::stage::Stage;

/// A moment after the link's first second, during which a server may replay.
const SETTLED: Duration = Duration::from_secs(2);

fn stage(config: Config) -> Stage {
    let mut stage = Stage::new(config, "2026-05-24T14:22:11Z".parse().unwrap());
    stage.wait(SETTLED);
    stage
}

/// Puts an event on the stage, created at this moment.
fn put(stage: &mut Stage, number: u32, kind: &str, fields: &Value) {
    let mut made = event(number, kind, fields);
    made["timestamp"] = json!(format!("{:.3}", stage.now.wall));
    stage.frame(&made.to_string());
}

fn begin(stage: &mut Stage) {
    let words = json!({"summary_normal": "Planner is here."});
    put(stage, 1, "session.started", &words);
    stage.wait_for_silence();
    stage.script.clear();
    stage.lines.clear();
}

fn confirmation(action: &str, more: &Value) -> Value {
    let mut fields = json!({"urgency": "critical", "reply_token": "rpl_1", "action": action,
        "consequence": "It leaves.", "risk_level": "low", "irreversible": false,
        "timeout_seconds": 120, "default_decision": "reject"});
    let more = more.as_object().unwrap().clone();
    fields.as_object_mut().unwrap().extend(more);
    fields
}

/// Removes the time and the number from what was said or shown, so that only the words are compared.
fn words(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| {
        let line = line.trim_end();
        let shown = line.rsplit_once(" (").map_or(line, |(words, _)| words);
        shown.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '.')
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_three_endings_never_sound_alike_whatever_they_say_of_themselves() {
    let bare = json!({});
    let same = json!({"summary_terse": "Over.", "summary_normal": "It is over.",
        "summary_detailed": "It is all over now."});
    for verbosity in [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed] {
        for load in [Load::Low, Load::Medium, Load::High] {
            for said_of_itself in [&bare, &same] {
                let mut heard = Vec::new();
                let mut shown = Vec::new();
                for (kind, own) in [
                    ("session.completed", json!({})),
                    (
                        "session.errored",
                        json!({"urgency": "critical", "error_category": "unknown"}),
                    ),
                    ("session.cancelled", json!({"cancelled_by": "producer"})),
                ] {
                    let mut config = Config::default();
                    config.announce.verbosity = verbosity;
                    config.announce.load = load;
                    let mut stage = stage(config);
                    begin(&mut stage);
                    let mut fields = own;
                    let same = said_of_itself.as_object().unwrap().clone();
                    fields.as_object_mut().unwrap().extend(same);
                    put(&mut stage, 2, kind, &fields);
                    stage.wait_for_silence();
                    heard.push(words(&stage.script));
                    shown.push(words(&stage.lines));
                }
                for told in [&heard, &shown] {
                    assert!(told.iter().all(|words| !words.is_empty()), "{told:?}");
                    let alike = told[0] == told[1] || told[1] == told[2] || told[0] == told[2];
                    assert!(!alike, "{verbosity:?} {load:?}: {told:?}");
                }
            }
        }
    }
}

#[test]
fn an_unknown_event_is_told_by_its_words_and_harms_nothing() {
    for (kind, context) in [
        (
            "aaep:agent.purple.flamingo",
            json!("https://aaep-protocol.org/context/v1"),
        ),
        (
            "medai:patient.consulted",
            json!([
                "https://aaep-protocol.org/context/v1",
                "https://example.org/medai/context/v1"
            ]),
        ),
        (
            "https://example.org/types/agent.thing",
            json!("https://aaep-protocol.org/context/v1"),
        ),
    ] {
        for (fields, told) in [
            (json!({"summary_normal": "A flamingo passes."}), true),
            (json!({"payload": {"deep": [[[1]]]}}), false),
        ] {
            let mut stage = stage(Config::default());
            begin(&mut stage);
            let mut strange = event(2, "x", &fields);
            strange["type"] = json!(kind);
            strange["@context"] = context.clone();
            strange["timestamp"] = json!(format!("{:.3}", stage.now.wall));
            stage.frame(&strange.to_string());
            stage.wait_for_silence();
            let heard = words(&stage.script);
            assert_eq!(
                heard.contains("A flamingo passes."),
                told,
                "{kind}: {heard}"
            );
            // The session continues as if nothing had happened.
            let tool = json!({"tool": "look_up", "summary_normal": "Looking it up."});
            put(&mut stage, 3, "tool.invoked", &tool);
            stage.wait_for_silence();
            let heard = words(&stage.script);
            assert!(heard.contains("Looking it up."), "{kind}: {heard}");
            assert_eq!(stage.quit, None);
        }
    }
}

#[test]
fn an_extension_that_nobody_knows_changes_no_word() {
    let strange = [
        json!({"medai": {"dose": 5, "unit": "mg", "nested": {"a": [1, {"b": null}]}}}),
        json!({"x": {}, "y": {"reply_token": "rpl_other", "urgency": "critical"}}),
        json!({"@graph": {"type": "aaep:agent.session.errored"}}),
    ];
    let told = |extensions: Option<&Value>| {
        let mut stage = stage(Config::default());
        begin(&mut stage);
        let put = |stage: &mut Stage, number, kind: &str, mut fields: Value| {
            if let Some(extensions) = extensions {
                fields["extensions"] = extensions.clone();
            }
            put(stage, number, kind, &fields);
            stage.wait_for_silence();
        };
        let tool =
            json!({"tool": "look_up", "tool_call_id": "call_1", "summary_normal": "Looking."});
        put(&mut stage, 2, "tool.invoked", tool);
        let chunk = json!({"chunk": "All is well. ", "position": 0, "complete": true,
            "output_id": "out_1", "coalesce_hint": "completion"});
        put(&mut stage, 3, "output.streaming", chunk);
        put(
            &mut stage,
            4,
            "awaiting.confirmation",
            confirmation("Send it", &json!({})),
        );
        let end = json!({"summary_normal": "Finished."});
        put(&mut stage, 5, "session.completed", end);
        // All that a person hears of the extension itself is at most a note that its prefix is
        // unknown.
        let own = |line: &&String| !line.contains("extension");
        let lines: Vec<String> = stage.script.iter().filter(own).cloned().collect();
        (words(&lines), stage.sent.len())
    };
    let plain = told(None);
    assert!(
        plain.0.contains("Looking.") && plain.0.contains("Send it"),
        "{}",
        plain.0
    );
    for extensions in &strange {
        assert_eq!(told(Some(extensions)), plain, "{extensions}");
    }
}

/// Stages that a person's settings and keys have made quiet.
fn quietened() -> Vec<(&'static str, Stage)> {
    let with = |verbosity, load, keys: &str| {
        let mut config = Config::default();
        config.announce.verbosity = verbosity;
        config.announce.load = load;
        let mut stage = stage(config);
        begin(&mut stage);
        for key in keys.chars() {
            stage.press(key);
        }
        stage.wait_for_silence();
        stage.script.clear();
        stage.lines.clear();
        stage
    };
    vec![
        ("nothing", with(Verbosity::Normal, Load::Medium, "")),
        ("terse", with(Verbosity::Terse, Load::Medium, "")),
        ("low load", with(Verbosity::Terse, Load::Low, "")),
        ("muted", with(Verbosity::Normal, Load::Medium, "m")),
        ("quiet", with(Verbosity::Normal, Load::Medium, "k")),
        ("all at once", with(Verbosity::Terse, Load::Low, "mk")),
    ]
}

/// Every kind of event that can be urgent, with words that identify it.
fn urgent() -> Vec<(&'static str, Value)> {
    let critical = |mut fields: Value| {
        fields["urgency"] = json!("critical");
        // In terse mode, a state has its own words.
        fields["summary_terse"] = json!("The marker.");
        fields
    };
    let words = json!({"summary_normal": "The marker."});
    vec![
        (
            "session.errored",
            critical(json!({"error_category": "unknown", "summary_normal": "The marker."})),
        ),
        (
            "awaiting.confirmation",
            confirmation("The marker", &json!({})),
        ),
        (
            "awaiting.clarification",
            critical(
                json!({"question": "The marker?", "reply_token": "rpl_1", "timeout_seconds": 60}),
            ),
        ),
        (
            "handoff.requested",
            critical(json!({"reason": "The marker", "target_kind": "human"})),
        ),
        (
            "state.changed",
            critical(json!({"from_state": "idle", "to_state": "thinking",
            "summary_normal": "The marker."})),
        ),
        (
            "tool.invoked",
            critical(json!({"tool": "look_up", "summary_normal": "The marker."})),
        ),
        ("purple.flamingo", critical(words)),
    ]
}

#[test]
fn nothing_urgent_is_ever_silenced() {
    for (kind, fields) in urgent() {
        for (how, mut stage) in quietened() {
            put(&mut stage, 2, kind, &fields);
            stage.wait_for_silence();
            for told in [&stage.script, &stage.lines] {
                let told = words(told).to_lowercase();
                assert!(told.contains("the marker"), "{kind}, {how}: {told:?}");
            }
        }
    }
}

#[test]
fn what_is_urgent_goes_before_a_flood_that_came_before_it() {
    for (kind, fields) in urgent() {
        let mut stage = stage(Config::default());
        begin(&mut stage);
        let mut position = 0;
        for number in 0..3_000 {
            let text = format!("Sentence {number} of a long story. ");
            let chunk = json!({"chunk": text, "position": position, "complete": false,
                "output_id": "out_1", "coalesce_hint": "sentence"});
            position += text.len();
            put(&mut stage, 10 + number, "output.streaming", &chunk);
        }
        stage.wait(Duration::from_millis(300));
        let before = stage.script.len();
        put(&mut stage, 5_000, kind, &fields);
        stage.wait(Duration::from_secs(20));
        let after = &stage.script[before..];
        // The sentence being said is cut; the next words are the urgent ones.
        let spoken = after.iter().filter(|line| !line.ends_with("[cut]"));
        let first: Vec<String> = spoken.take(4).cloned().collect();
        let heard = words(&first).to_lowercase();
        assert!(heard.contains("the marker"), "{kind}: {after:#?}");
        assert!(!first[0].contains("of a long story"), "{kind}: {first:#?}");
    }
}

#[test]
fn a_question_that_is_taken_back_is_gone_and_can_not_be_answered() {
    for (kind, fields) in [
        (
            "session.cancelled",
            json!({"cancelled_by": "user", "summary_normal": "Cancelled."}),
        ),
        (
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "thinking",
                "summary_normal": "No longer needed."}),
        ),
        (
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "deciding"}),
        ),
    ] {
        let mut stage = stage(Config::default());
        begin(&mut stage);
        put(
            &mut stage,
            2,
            "awaiting.confirmation",
            &confirmation("Send it", &json!({})),
        );
        stage.wait_for_silence();
        assert!(stage.screen(80, 24).contains("Send it"));
        put(&mut stage, 3, kind, &fields);
        stage.wait_for_silence();
        let heard = words(&stage.script).to_lowercase();
        assert!(heard.contains("question 1"), "{kind}: {heard}");
        let told = stage.lines.iter().any(|line| {
            phrase!("question.head", n = 1).is_in(line)
                && (line.contains("withdrawn")
                    || line.contains("settled")
                    || line.contains("closed"))
        });
        assert!(told, "{kind}: {:#?}", stage.lines);
        stage.press('y');
        stage.wait(SETTLED);
        stage.press('n');
        stage.wait_for_silence();
        assert_eq!(stage.sent, [], "{kind}: a token that is spent is not used");
        let told = words(&stage.lines);
        assert!(told.contains("Nothing was sent"), "{kind}: {told}");
    }
}

#[test]
fn nobody_is_answered_for_however_long_it_takes() {
    for (kind, fields) in [
        (
            "awaiting.confirmation",
            confirmation(
                "Save the draft",
                &json!({"default_decision": "accept", "timeout_seconds": 5}),
            ),
        ),
        (
            "awaiting.clarification",
            json!({"urgency": "critical", "question": "Which age?", "reply_token": "rpl_1",
                "timeout_seconds": 5, "default_response": "65",
                "accepted_response_kinds": ["multiple_choice", "freetext", "yes_no"],
                "choices": [{"value": "60", "label": "60"}, {"value": "65", "label": "65"}]}),
        ),
    ] {
        let mut stage = stage(Config::default());
        begin(&mut stage);
        put(&mut stage, 2, kind, &fields);
        stage.wait(Duration::from_secs(3 * 3600));
        assert_eq!(stage.sent, [], "{kind}");
        let told = words(&stage.lines);
        assert!(told.contains("timed out"), "{kind}: {told}");
    }
}

/// Starts a subscriber of a scripted server, with its stream open.
fn agreed(more: &[&str]) -> (HandshakeServer, Events, Hearken) {
    let server = HandshakeServer::at("127.0.0.1:0");
    let url = format!("http://{}", server.at);
    let flags = ["watch", "--face", "json", "--voice", "none", &url];
    let mut child = Hearken::start(&[&flags[..], more].concat());
    let request = server.agree("sub_1");
    for kind in ["confirmation", "clarification"] {
        let key = format!("supports_{kind}_reply");
        assert_eq!(request["capabilities"][key], true);
    }
    let events = server.events("sub_1").stream();
    child.announced("connection", phrase!("link.handshake"));
    (server, events, child)
}

#[test]
fn a_token_goes_back_as_it_came_whatever_stands_in_it() {
    let (server, mut events, mut child) = agreed(&[]);
    let words = json!({"summary_normal": "Planner is here."});
    events.send(&event(1, "session.started", &words));
    let tokens = [
        format!("rpl_{}", "aZ09".repeat(16)),
        "rpl_0".to_owned(),
        // None of these has the form in chapter 6.2.1; they are opaque all the same (6.2.3).
        "rpl_a-b_c.d~e".to_owned(),
        "Token with spaces, \"quotes\", \\ and é 漢 \u{202e}".to_owned(),
        format!("rpl_{}", "x".repeat(300)),
    ];
    for (at, token) in tokens.iter().enumerate() {
        let number = 10 + 10 * u32::try_from(at).unwrap();
        let nth = 2 * at + 1;
        let mut asks = event(
            number,
            "awaiting.confirmation",
            &confirmation(
                &format!("Send letter {number}"),
                &json!({"reply_token": token}),
            ),
        );
        events.send(&asks);
        child.announced("confirmation", &format!("Send letter {number}"));
        child.say(&format!("n {nth}"));
        let reply = server.told("204 No Content", &Value::Null);
        assert_eq!(reply["reply_token"], token.as_str());
        let going_on = json!({"from_state": "awaiting_input", "to_state": "thinking"});
        events.send(&event(number + 1, "state.changed", &going_on));
        child.announced("confirmation", "settled");

        let clarifying = format!("{token}2");
        let fields = json!({"urgency": "critical", "question": format!("Which name, {number}?"),
            "reply_token": clarifying, "timeout_seconds": 120, "accepted_response_kinds": ["freetext"]});
        asks = event(number + 2, "awaiting.clarification", &fields);
        events.send(&asks);
        child.announced("clarification", &format!("Which name, {number}?"));
        child.say(&format!("a #{} Ada", nth + 1));
        let reply = server.told("204 No Content", &Value::Null);
        assert_eq!(reply["reply_token"], clarifying.as_str());
        assert_eq!(reply["response"], "Ada");
        events.send(&event(number + 3, "state.changed", &going_on));
        child.announced("clarification", "settled");
    }
}

/// A way to end a subscriber.
type Way = fn(&mut Hearken, &mut Events);

#[test]
fn every_way_out_tells_the_server() {
    let ways: &[(&str, &[&str], Way)] = &[
        ("leaving the program", &[], |child, _| child.say("q")),
        ("leaving the source", &[], |child, _| child.say("x")),
        #[cfg(unix)]
        ("an interrupt", &[], |child, _| child.signal(Signal::INT)),
        #[cfg(unix)]
        ("an end from outside", &[], |child, _| {
            child.signal(Signal::TERM)
        }),
        #[cfg(unix)]
        ("a terminal that hangs up", &[], |child, _| {
            child.signal(Signal::HUP)
        }),
        (
            "the end that was asked for",
            &["--until", "ended"],
            |_, events| {
                let words = json!({"summary_normal": "Planner is here."});
                events.send(&event(1, "session.started", &words));
                events.send(&event(2, "session.completed", &words));
            },
        ),
    ];
    for (how, flags, leave) in ways {
        let (server, mut events, mut child) = agreed(flags);
        leave(&mut child, &mut events);
        let close = server.told("204 No Content", &Value::Null);
        assert_eq!(close["type"], "subscription.close", "{how}");
        assert_eq!(close["subscription_id"], "sub_1", "{how}");
        assert_eq!(close["reason_code"], "subscriber_shutdown", "{how}");
        events.left();
        child.exit();
    }
}

#[test]
fn an_answer_goes_to_who_asked_and_is_passed_on_to_nobody() {
    let servers = [
        HandshakeServer::at("127.0.0.1:0"),
        HandshakeServer::at("127.0.0.1:0"),
    ];
    let urls = servers
        .each_ref()
        .map(|server| format!("http://{}", server.at));
    let flags = [
        "watch", "--face", "json", "--voice", "none", &urls[0], &urls[1],
    ];
    let mut child = Hearken::start(&flags);
    let names = ["sub_1", "sub_2"];
    let mut streams = Vec::new();
    for (server, name) in servers.iter().zip(names) {
        let request = server.agree(name);
        // A forwarder would declare that it can't answer (6.6, 1).
        assert_eq!(request["capabilities"]["supports_confirmation_reply"], true);
        streams.push(server.events(name).stream());
    }
    // The same question verbatim from both, as if one producer had passed on the other's.
    let asks = event(
        1,
        "awaiting.confirmation",
        &confirmation("Send it", &json!({})),
    );
    for (events, nth) in streams.iter_mut().zip(["Question 1", "Question 2"]) {
        events.send(&asks);
        child.announced("confirmation", nth);
    }
    for (at, line, decision) in [(1, "y 2", "accept"), (0, "n 1", "reject")] {
        child.say(line);
        let reply = servers[at].told("204 No Content", &Value::Null);
        assert_eq!(reply["subscription_id"], names[at]);
        assert_eq!(reply["decision"], decision);
    }
}
