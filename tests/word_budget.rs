//! How many words hearken needs, compared with a careful person who reports the same.
//!
//! `tests/fixtures/tellings` contains such a person's report on each scenario of the demo, from its start to its
//! end, when everything is accepted: who works on what, what was found, what the agent wrote, each question with its
//! risk, its action, what follows and what silence does, what was answered and the outcome.

use std::time::Duration;

use hearken::announce::AnswerMethod;
use hearken::config::{Config, Dialect, Verbosity};
use hearken::demo;
use hearken::dialect::Identity;
use hearken::linear::{LineWriter, Page};
use hearken_wording::phrase;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::screens::{NAMES, Player};
use crate::support::stage::Stage;

/// How many words hearken may say per ten of the careful person's, to a program that gets the ways to answer
/// separately.
const NORMAL: usize = 16;
/// The same, in terse mode.
const TERSE: usize = 12;
/// How many it may say in lines, where the ways to answer, as spoken, count as words like any others.
const LINES_NORMAL: usize = 22;
/// The same, in terse mode.
const LINES_TERSE: usize = 17;

/// The limits that were set before any telling was written: scenario, normal, terse. In terse mode, `question` and
/// `email` have one sentence more, which counts the inputs that the question does not mention.
const SET: [(&str, usize, usize); 4] = [
    ("tour", 163, 122),
    ("question", 64, 50),
    ("email", 134, 107),
    ("handoff", 64, 48),
];

/// Returns the number of words in a telling.
fn telling(name: &str) -> usize {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tellings");
    let text = std::fs::read_to_string(format!("{folder}/{name}.txt")).unwrap();
    text.split_whitespace().count()
}

/// Plays a scenario answered with lines, and returns what is to be spoken.
fn spoken(name: &str, verbosity: Verbosity, manner: AnswerMethod) -> Vec<String> {
    let mut player = Player::of(name, verbosity, manner);
    player.play();
    said(&player.stage)
}

/// Returns what is to be spoken of all that was announced.
fn said(stage: &Stage) -> Vec<String> {
    let objects = stage.objects.iter();
    let spoken = objects.map(|object| {
        let object: Value = serde_json::from_str(object).unwrap();
        object["spoken"].as_str().unwrap().to_owned()
    });
    spoken.filter(|spoken| !spoken.is_empty()).collect()
}

fn words(spoken: &[String]) -> usize {
    spoken
        .iter()
        .map(|spoken| spoken.split_whitespace().count())
        .sum()
}

/// A run of another protocol.
struct ForeignRun {
    name: &'static str,
    dialect: Dialect,
    /// The lines that answer its question.
    answers: &'static [&'static str],
    /// What its script hears in answer.
    heard: &'static str,
    /// What is said at its end.
    end: &'static str,
}

const OTHERS: [ForeignRun; 3] = [
    ForeignRun {
        name: "asp",
        dialect: Dialect::Asp,
        answers: &["o 1 1"],
        heard: "resume",
        end: "Everything is agreed",
    },
    ForeignRun {
        name: "negotiation",
        dialect: Dialect::Asp,
        answers: &[],
        heard: "",
        end: "fulfilled",
    },
    ForeignRun {
        name: "sage",
        dialect: Dialect::Sage,
        answers: &["y 1", "c 1"],
        heard: "allow",
        end: "tests pass",
    },
];

/// A key that is used nowhere else.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
";

/// Plays a run of another protocol, answered with lines, and returns what is to be spoken.
fn spoken_of(run: &ForeignRun, verbosity: Verbosity, manner: AnswerMethod) -> Vec<String> {
    let ForeignRun {
        name,
        dialect,
        answers,
        heard,
        ..
    } = *run;
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let start: jiff::Timestamp = "2026-03-07T14:30:00Z".parse().unwrap();
    let identity = Some(Identity::new(demo::PERSON, KEY).unwrap());
    let mut stage = Stage::speaking_to(config, start, dialect, identity, manner);
    let Some(script) = demo::script(name) else {
        let file = include_str!("fixtures/asp/negotiation.jsonl");
        for message in file.lines() {
            stage.wait(Duration::from_secs(1));
            stage.frame(message);
        }
        stage.wait_for_silence();
        return said(&stage);
    };
    let before = stage.play_script(script, "", &Value::Null, 0);
    for answer in answers {
        stage.wait(Duration::from_secs(10));
        stage.line(answer);
    }
    stage.wait(Duration::from_secs(1));
    let sent = serde_json::from_str(&stage.sent[0].1).unwrap();
    stage.play_script(script, heard, &sent, before);
    stage.wait_for_silence();
    said(&stage)
}

/// Checks that the documentation prints a table.
fn is_documented(table: &str) {
    let speech = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/speech.md");
    let speech = std::fs::read_to_string(speech).unwrap();
    assert!(
        speech.contains(table),
        "docs/speech.md lacks this table:\n{table}"
    );
}

/// Checks the words of each run against its limits, and that the documentation prints their numbers.
fn takes_few_words<'a>(
    names: impl Iterator<Item = &'a str>,
    spoken: impl Fn(&str, Verbosity, AnswerMethod) -> Vec<String>,
) {
    let mut table = String::new();
    let mut over = Vec::new();
    for name in names {
        let mut counts = Vec::new();
        for manner in [AnswerMethod::Program, AnswerMethod::Lines] {
            for verbosity in [Verbosity::Normal, Verbosity::Terse] {
                let said = spoken(name, verbosity, manner);
                let (count, most) = (words(&said), most(name, verbosity, manner));
                if count > most {
                    over.push(format!(
                        "{name}, {manner:?}, {verbosity:?}: {count} of {most}: {said:#?}"
                    ));
                }
                counts.push(count.to_string());
            }
        }
        table.push_str(&format!(
            "- [{name}](../tests/fixtures/tellings/{name}.txt): {}; {}\n",
            telling(name),
            counts.join(", ")
        ));
    }
    assert!(over.is_empty(), "{table}\n{}", over.join("\n"));
    is_documented(&table);
}

#[test]
fn no_run_of_another_protocol_takes_many_more_words_than_a_careful_person_does() {
    takes_few_words(
        OTHERS.iter().map(|run| run.name),
        |name, verbosity, manner| {
            let run = OTHERS.iter().find(|run| run.name == name).unwrap();
            let said = spoken_of(run, verbosity, manner);
            let end = said.last().unwrap();
            assert!(end.contains(run.end), "{name}: {end}");
            said
        },
    );
}

#[test]
fn no_scenario_takes_many_more_words_than_a_careful_person_does() {
    takes_few_words(NAMES.iter().copied(), spoken);
}

/// Returns the maximum number of words for a scenario.
fn most(name: &str, verbosity: Verbosity, manner: AnswerMethod) -> usize {
    let terse = verbosity == Verbosity::Terse;
    let ratio = match (manner, terse) {
        (AnswerMethod::Program, false) => NORMAL,
        (AnswerMethod::Program, true) => TERSE,
        (AnswerMethod::Keys | AnswerMethod::Lines, false) => LINES_NORMAL,
        (AnswerMethod::Keys | AnswerMethod::Lines, true) => LINES_TERSE,
    };
    let set = SET.iter().find(|(known, ..)| *known == name);
    match (manner, set) {
        (AnswerMethod::Program, Some((_, _, most))) if terse => *most,
        (AnswerMethod::Program, Some((_, most, _))) => *most,
        (AnswerMethod::Program, None) | (AnswerMethod::Keys | AnswerMethod::Lines, _) => {
            telling(name) * ratio / 10
        }
    }
}

/// The documentation shows what a 40-cell braille display currently gets of `email`.
#[test]
fn the_transcript_in_the_documents_is_what_is_written() {
    let mut player = Player::of("email", Verbosity::Normal, AnswerMethod::Lines);
    let mut written = LineWriter::new(Page::plain(40), TimeZone::UTC);
    let stage = &mut player.stage;
    let start = stage
        .told
        .iter()
        .map(|told| written.write(&stage.app, told));
    stage.lines = start.collect();
    stage.written = written;
    player.play();
    let lines = player.stage.lines.concat();
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/linear.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let count = format!("now, {} lines", lines.lines().count());
    assert!(docs.contains(&count), "docs/linear.md lacks {count:?}");
    let indented: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    assert!(
        docs.contains(&indented),
        "docs/linear.md lacks this transcript:\n{indented}"
    );
    for line in lines.lines() {
        assert!(line.chars().count() <= 40, "{line}");
    }
}

/// What must never be cut is said at every verbosity, in however few words.
#[test]
fn what_a_question_must_say_is_said_at_every_verbosity() {
    for verbosity in [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed] {
        let said = spoken("transfer", verbosity, AnswerMethod::Program);
        let at = said
            .iter()
            .position(|said| phrase!("question.risk.high").is_in(said))
            .unwrap();
        let mut rest = said[at].as_str();
        for part in [
            "Question 1.",
            "High risk.",
            "Can't be undone.",
            "Transfer $500.00 from your checking account, ending in 7821, to Harbor Bicycles.",
            "If accepted: The money moves at once. You cannot take it back",
            "only Harbor Bicycles could return it.",
            "Silence rejects in 5 minutes.",
        ] {
            let found = rest
                .find(part)
                .unwrap_or_else(|| panic!("{verbosity:?}: {part}: {said:?}"));
            rest = &rest[found + part.len()..];
        }
        // The second step says what it is about.
        assert!(said[at + 1].contains("Transfer $500.00 from"), "{said:?}");
        assert!(
            said.iter().any(|said| said.contains("Accepting")),
            "{said:?}"
        );
    }
}
