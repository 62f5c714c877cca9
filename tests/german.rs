//! Every scenario of the demo, announced in German: the program's own words contain no English.

use std::collections::BTreeSet;
use std::time::Duration;

use hearken::announce::{Mark, Phrases};
use hearken::config::{Config, Verbosity};
use hearken::demo::list;
use serde_json::Value;

use crate::support::child::Hearken;
use crate::support::stage::Stage;
use crate::support::{with_demo, within};

/// Words such that every English sentence of the program contains at least one, and no German sentence any.
const ENGLISH: [&str; 34] = [
    "the",
    "is",
    "are",
    "of",
    "you",
    "your",
    "and",
    "not",
    "has",
    "have",
    "with",
    "for",
    "it",
    "its",
    "this",
    "that",
    "no",
    "from",
    "without",
    "who",
    "what",
    "answer",
    "question",
    "press",
    "type",
    "can",
    "by",
    "there",
    "finished",
    "started",
    "done",
    "failed",
    "unnamed",
    "connected",
];

/// Plays a scenario to its end, with an answer to each question; returns its events.
fn capture(name: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    let (file, scenario) = (file.to_str().unwrap().to_owned(), name.to_owned());
    with_demo(async |running| {
        let mut child = Hearken::watch(
            &running.url(),
            "json",
            &["--language", "de", "--until", "ended", "--record", &file],
        );
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.agents().start(&scenario).unwrap();
        answer_all(&mut child);
    });
    let events = std::fs::read_to_string(&file).unwrap();
    events.lines().map(str::to_owned).collect()
}

/// Answers every question with the lines that it names, until every session that began has ended.
fn answer_all(child: &mut Hearken) {
    let (mut begun, mut ended) = (0, 0);
    while begun == 0 || ended < begun {
        let line = child.wait("announcement", |_| true);
        let told: Value = serde_json::from_str(&line).unwrap();
        match told["kind"].as_str().unwrap() {
            "session_started" => begun += 1,
            "session_completed" | "session_errored" | "session_cancelled" => ended += 1,
            _ => {}
        }
        if told["kind"] == "handoff" {
            return;
        }
        let Some(keys) = told["keys"].as_array() else {
            continue;
        };
        let keys: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
        let plain = |key: &&&str| !key.contains("TEXT") && !key.contains("NUMBER");
        match keys.iter().find(plain) {
            Some(key) => child.say(key),
            None => child.say(&keys[0].replace("TEXT", "4").replace("NUMBER", "4")),
        }
        if let Some(confirm) = keys.iter().find(|key| key.starts_with("c ")) {
            child.say(confirm);
        }
    }
}

/// Plays a capture in German, and requests everything that a key can request on the way.
fn tell(events: &[String], verbosity: Verbosity) -> Stage {
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let first: Value = serde_json::from_str(&events[0]).unwrap();
    let start = first["timestamp"].as_str().unwrap().parse().unwrap();
    let german = Phrases::for_languages(&["de".into()]).unwrap();
    let mut stage = Stage::in_words(config, start, german);
    for event in events {
        stage.frame(event);
        stage.wait(Duration::from_secs(4));
        for key in ['t', 'd', 'y'] {
            stage.press(key);
            stage.wait(Duration::from_secs(2));
        }
    }
    for key in [
        'h', 'b', 'r', 'w', 'l', 'e', 'm', 'm', 'k', 'k', 'i', 'i', 'v', 'j', 'j', 'j', 'u', '?',
    ] {
        stage.press(key);
        stage.wait(Duration::from_secs(2));
    }
    stage.wait(Duration::from_secs(150));
    stage.press('q');
    stage.wait_for_silence();
    stage
}

/// Returns the parts of English phrases, three words or more, that no German phrase contains.
fn english_parts() -> BTreeSet<String> {
    let file = |tag: &str| std::fs::read_to_string(format!("assets/phrases.{tag}.toml")).unwrap();
    let german = file("de").to_lowercase();
    let table: toml::Table = file("en").parse().unwrap();
    let mut parts = BTreeSet::new();
    for phrase in table["phrases"].as_table().unwrap().values() {
        let levels: Vec<&str> = match phrase {
            toml::Value::Table(levels) => {
                levels.values().filter_map(|text| text.as_str()).collect()
            }
            other => other.as_str().into_iter().collect(),
        };
        for text in levels {
            for part in text.split(['{', '}', '[', ']', '#', ':']) {
                let part = part.trim().to_lowercase();
                if part.split_whitespace().count() > 2 && !german.contains(&part) {
                    parts.insert(part);
                }
            }
        }
    }
    parts
}

/// Plays a scenario at every verbosity; returns how many segments of the program's own were checked,
/// and how many questions were asked.
fn holds(name: &str, parts: &BTreeSet<String>) -> (usize, usize) {
    let events = capture(name);
    assert!(events.len() > 4, "{name}");
    // The agents' own words stay as they are, in whatever language.
    let agents = events.concat().to_lowercase();
    let mut own = 0;
    for verbosity in [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed] {
        let stage = tell(&events, verbosity);
        let segments = stage.told.iter().flat_map(|told| &told.segments);
        for segment in segments.filter(|segment| segment.mark == Mark::Own) {
            own += 1;
            for text in [segment.text(), segment.spoken()] {
                let words = text.to_lowercase();
                let english = words
                    .split(|c: char| !c.is_alphabetic())
                    // The names of a call's inputs are the agent's.
                    .filter(|word| !agents.contains(&format!("\"{word}\":")))
                    .find(|word| ENGLISH.contains(word));
                assert_eq!(english, None, "{name} {verbosity:?}: {text}");
            }
        }
        let screen = stage.screen(100, 40);
        for line in stage.lines.iter().chain([&screen]) {
            let line = line.to_lowercase();
            for part in parts {
                assert!(
                    !line.contains(part) || agents.contains(part),
                    "{name} {verbosity:?}: {part:?} in {line}"
                );
            }
        }
    }
    let asked = events.iter().filter(|event| event.contains(".awaiting."));
    (own, asked.count())
}

#[test]
fn no_scenario_told_in_german_holds_an_english_sentence_of_the_programs() {
    let parts = english_parts();
    assert!(parts.len() > 250, "{}", parts.len());
    let (own, asked) = std::thread::scope(|scope| {
        let tellings: Vec<_> = list()
            .map(|scenario| scope.spawn(|| holds(&scenario.name, &parts)))
            .collect();
        tellings
            .into_iter()
            .map(|telling| telling.join().unwrap())
            .fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    });
    assert!(own > 2000 && asked > 9, "{own} {asked}");
}
