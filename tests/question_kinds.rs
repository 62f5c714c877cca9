//! A question of each kind, answered through all three faces; each reply is checked against its
//! schema.

#[cfg(unix)]
use std::time::Duration;

use hearken::producer::{PostVerdict, Producer};
use serde_json::{Value, json};

use crate::support::child::Hearken;
#[cfg(unix)]
use crate::support::pty_terminal::Terminal;
use crate::support::{with_demo, within};

/// The person's answers, in the order in which the scenario `trip` asks.
fn wanted() -> [(&'static str, Value); 5] {
    [
        ("response", json!(true)),
        ("response", json!(4)),
        ("response", json!("a walk, and no \"museum\"")),
        ("response", json!("sunday")),
        ("decision", json!("later")),
    ]
}

/// Checks a reply against the fields of chapters 6.3 and 6.5: the required ones, the optional ones,
/// and no others.
fn check(message: &Value, answer: &str) {
    let fields = message.as_object().unwrap();
    let (kind, optional): (&str, &[&str]) = match answer {
        "decision" => (
            "confirmation.reply",
            &[
                "decided_by",
                "decision_rationale",
                "modified_action",
                "correlation_id",
            ],
        ),
        _ => (
            "clarification.reply",
            &["decided_by", "confidence", "correlation_id"],
        ),
    };
    let required = [
        "type",
        "reply_token",
        answer,
        "subscription_id",
        "timestamp",
    ];
    for name in required {
        assert!(fields.contains_key(name), "{name} is missing");
    }
    for name in fields.keys() {
        let name = name.as_str();
        assert!(
            required.contains(&name) || optional.contains(&name),
            "{name} is no field of a {kind}"
        );
    }
    let text = |name: &str| fields[name].as_str().unwrap();
    assert_eq!(text("type"), kind);
    for (name, prefix) in [("reply_token", "rpl_"), ("subscription_id", "sub_")] {
        let id = text(name).strip_prefix(prefix).unwrap();
        assert!((1..=64).contains(&id.len()), "{name}");
        assert!(
            id.chars().all(|c| c.is_ascii_alphanumeric()),
            "{name} has other signs"
        );
    }
    text("timestamp").parse::<jiff::Timestamp>().unwrap();
    assert_eq!(text("decided_by"), "user:local");
}

fn check_all(producer: &Producer) {
    let replies = producer.replies();
    assert_eq!(replies.len(), 5);
    for (reply, (name, value)) in replies.iter().zip(wanted()) {
        assert_eq!(reply.verdict, PostVerdict::Taken);
        assert_eq!(reply.message[name], value);
        check(&reply.message, name);
    }
}

/// Answers with lines that each name their question, in a line-based face.
fn by_lines(face: &str, asked: impl Fn(&mut Hearken, usize) + Send) {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut child = Hearken::watch(&running.url(), face, &[]);
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("trip").unwrap();
        for (at, lines) in [
            vec!["y 1"],
            vec!["a #2 4,5", "a #2 4"],
            vec!["a #3 a walk, and no \"museum\""],
            vec!["o 4 2"],
            vec!["o 5 1", "c 5"],
        ]
        .into_iter()
        .enumerate()
        {
            within("question", producer.until_asked(1)).await;
            asked(&mut child, at + 1);
            for line in lines {
                child.say(line);
            }
            within("reply", producer.until_replies(at as u64 + 1)).await;
        }
        check_all(producer);
    });
}

#[test]
fn every_kind_is_answered_in_the_linear_face() {
    by_lines("linear", |child, number| {
        child.wait("the question", |line| {
            line.starts_with("Question") && line.contains(&format!("Question {number}."))
        });
    });
}

#[test]
fn every_kind_is_answered_in_the_json_face() {
    by_lines("json", |child, number| {
        let kind = if number == 5 {
            "confirmation"
        } else {
            "clarification"
        };
        child.announced(kind, &format!("Question {number}."));
    });
}

#[cfg(unix)]
#[test]
fn every_kind_is_answered_in_the_full_face() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut terminal = Terminal::watch(100, 30, &running.url(), "full");
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("trip").unwrap();
        for (at, keys) in [
            vec!["y"],
            vec!["a", "4,5\r", "\x17\x174\r"],
            vec!["a", "a walk, and no \"museum\"\r"],
            vec!["o", "2"],
            vec!["o", "1", "c"],
        ]
        .into_iter()
        .enumerate()
        {
            within("question", producer.until_asked(1)).await;
            terminal.wait(&format!("Question {}, ", at + 1));
            for keys in keys {
                // Longer than the arming time and the time between two steps.
                terminal.let_pass(Duration::from_millis(600));
                terminal.press(keys);
            }
            within("reply", producer.until_replies(at as u64 + 1)).await;
        }
        check_all(producer);
    });
}
