//! Answers to the demo's agent, through pipes: what arrives there, and how often.

use hearken::producer::Producer;
use hearken_wording::phrase;

use crate::support::child::Hearken;
use crate::support::{with_demo, within};

/// Runs a scenario against the program and lets the test talk to it.
fn with(scenario: &'static str, test: impl FnOnce(&mut Hearken, &Producer) + Send) {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut child = Hearken::watch(&running.url(), "json", &[]);
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start(scenario).unwrap();
        within("question", producer.until_asked(1)).await;
        test(&mut child, producer);
    });
}

#[test]
fn an_email_is_accepted_in_two_steps() {
    with("email", |child, producer| {
        let asked = child.announced("confirmation", phrase!("question.head", n = 1));
        assert_eq!(asked["class"], "alert");
        child.say("y 1");
        child.announced("reply", phrase!("reply.second_step.*"));
        assert_eq!(producer.replies().len(), 0);
        child.say("c 1");
        child.announced("reply", phrase!("reply.accepting.*"));
        child.announced(
            "confirmation",
            phrase!("question.closed.answered", answer = "accept"),
        );
        child.announced("tool_completed", "is sent");
        child.announced("session_completed", phrase!("session.completed.*"));
        assert_eq!(producer.replies().len(), 1);
    });
}

#[test]
fn an_email_is_rejected_with_a_reason() {
    with("email", |child, producer| {
        child.announced("confirmation", phrase!("question.head", n = 1));
        child.say("r not now");
        child.announced("reply", phrase!("reply.rejecting.*"));
        child.announced(
            "confirmation",
            phrase!("question.closed.answered", answer = "reject"),
        );
        child.announced("output", phrase!("output.after_rejection"));
        let replies = producer.replies();
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0].message["decision_rationale"], "not now");
    });
}

#[test]
fn a_choice_is_sent_as_its_value() {
    with("clarification", |child, producer| {
        let asked = child.announced("clarification", phrase!("question.head", n = 1));
        assert!(
            asked["keys"]
                .as_array()
                .unwrap()
                .iter()
                .any(|key| key == "o 1 1"),
            "{asked}"
        );
        child.say("o 1");
        child.announced("reply", phrase!("reply.answering.*"));
        child.announced("clarification", phrase!("question.closed.answered"));
        assert_eq!(producer.replies().len(), 1);
    });
}

#[test]
fn silence_is_told_as_what_it_does() {
    with("email", |child, producer| {
        child.announced("confirmation", phrase!("question.head", n = 1));
        producer.expire_questions();
        child.announced("confirmation", "settled without you");
    });
}

#[test]
fn three_agents_stay_apart_and_are_named() {
    with("agents", |child, _| {
        let asked = child.announced("confirmation", phrase!("question.head", n = 1));
        let spoken = asked["spoken"].as_str().unwrap();
        let agent = asked["agent"].as_str().unwrap();
        assert!(spoken.contains(agent), "{spoken}");
        child.say("n 1");
        // Some runs end before the question is even written.
        let ended = |child: &Hearken| {
            let kind = "\"kind\":\"session_completed\"";
            child
                .seen()
                .iter()
                .filter(|line| line.contains(kind))
                .count()
        };
        while ended(child) < 3 {
            child.announced("session_completed", "");
        }
        let mut agents: Vec<String> = child
            .seen()
            .iter()
            .filter_map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["agent"]
                    .as_str()
                    .map(str::to_owned)
            })
            .collect();
        agents.sort();
        agents.dedup();
        assert_eq!(agents.len(), 3, "{agents:?}");
    });
}

/// Whatever is repeated, and however many speak: an agent's words never get a label of hearken's.
#[test]
fn an_agents_words_always_stand_under_its_name() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut child = Hearken::watch(&running.url(), "linear", &[]);
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("agents").unwrap();
        within("question", producer.until_asked(1)).await;
        child.wait("the question", |line| {
            line.starts_with("Question") && line.contains("y 1 ")
        });
        child.say("n 1");
        // Some runs end before the question is even written.
        let is_end = |line: &str| line.contains("Finished");
        while child.seen().iter().filter(|line| is_end(line)).count() < 3 {
            child.wait("an end", is_end);
        }
        child.say("h");
        child.wait("the history's end", |line| {
            phrase!("history.end").is_in(line)
        });
        let says: Vec<&String> = child
            .seen()
            .iter()
            .filter(|line| line.contains(" says: "))
            .collect();
        assert!(says.len() > 3, "{says:?}");
        let words: Vec<&str> = says
            .iter()
            .filter_map(|line| line.split(" says: ").nth(1))
            .collect();
        for line in child
            .seen()
            .iter()
            .filter(|line| line.starts_with("Note") || line.starts_with("hearken:"))
        {
            assert!(!words.iter().any(|words| line.contains(words)), "{line}");
        }
    });
}
