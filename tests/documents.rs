//! Checks README, docs and settings against the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hearken::announce::normalise::Words;
use hearken::announce::{BUILT_IN, Lane, Phrases, Preemption, arrival};
use hearken::app::Stream;
use hearken::config::{Config, VOICES, voices_listed};
use hearken::inspect::StreamRule;
use hearken::keys::{BINDINGS, LINES, LineCommand};
use hearken::protocol::{JsonKind, Machine, Problem, Rule, Severity, TextForm};
use hearken::session::{AgentState, AnomalyKind, Lifecycle, OutputRun, QuestionRun, ToolRun};

use crate::support::page::{COLUMNS, wrapped};

mod help_documents;
mod phrases;

/// How many words all documents may have together.
const WORDS: usize = 32_000;
/// How many of these the README may have.
const README_WORDS: usize = 1_800;

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the built-in phrase files as written.
fn files() -> impl Iterator<Item = (&'static str, String)> {
    let tags = BUILT_IN.iter().map(|file| file.tag);
    tags.map(|tag| (tag, read(&format!("assets/phrases.{tag}.toml"))))
}

#[test]
fn the_annotated_settings_are_the_defaults() {
    assert_eq!(
        Config::from_toml(&read("assets/config.toml")).unwrap(),
        Config::default()
    );
}

#[test]
fn the_settings_and_the_page_list_every_voice() {
    holds_generated("docs/voices.md", "voices", &voices_listed());
    let rows = VOICES.iter().map(|row| {
        let only = row.only_on.map(|only| format!(" ({})", only.name()));
        let only = only.unwrap_or_default();
        format!("#   \"{}\"{only}: {}\n", row.written, row.help)
    });
    let marks = ("# The voice (docs/voices.md):\n", "engine = ");
    holds_between("assets/config.toml", marks, &rows.collect::<String>());
}

#[test]
fn the_example_of_a_rule_can_be_used_as_it_is() {
    let text = read("assets/config.toml");
    let rule = text.split("# [[policy]]").nth(1).unwrap();
    let rule: String = rule
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with("# "))
        .map(|line| format!("{}\n", &line[2..]))
        .collect();
    let config = Config::from_toml(&format!("[[policy]]\n{rule}")).unwrap();
    assert_eq!(config.policy[0].name, "no_mail");
    assert!(!config.policy[0].agents.is_empty() && !config.policy[0].risks.is_empty());
}

#[test]
fn every_setting_is_annotated() {
    let text = read("assets/config.toml");
    let written = toml::to_string(&Config::default()).unwrap();
    for line in written.lines().filter(|line| line.contains(" = ")) {
        let name = line.split(" = ").next().unwrap();
        assert!(
            text.contains(&format!("{name} =")),
            "{name} is not in assets/config.toml"
        );
    }
    let mut commented = false;
    for line in text.lines() {
        if line.starts_with('#') {
            commented = true;
        } else if line.contains(" = ") {
            assert!(commented, "{line} has no comment before it");
            commented = false;
        }
    }
}

#[test]
fn faults_of_a_settings_file_are_told_in_words() {
    let english = Phrases::english().unwrap();
    let german = Phrases::for_languages(&["de".to_owned()]).unwrap();
    for (text, words, worte) in [
        (
            "[announce]\nverbosity = \"loud\"",
            "line 2: verbosity is terse, normal or detailed, not loud",
            "Zeile 2: verbosity ist terse, normal oder detailed, nicht loud",
        ),
        (
            "[announce]\nverbosty = \"terse\"",
            "line 2: there is no setting verbosty; perhaps verbosity is meant",
            "Zeile 2: es gibt keine Einstellung verbosty; vielleicht ist verbosity gemeint",
        ),
        (
            "[voice]\nengine = \"loud\"",
            "line 2: engine is auto, speech-dispatcher, espeak-ng, espeak, system, nvda:LIBRARY, command:PROGRAM, json:PROGRAM or none, not loud",
            "Zeile 2: engine ist auto, speech-dispatcher, espeak-ng, espeak, system, nvda:LIBRARY, command:PROGRAM, json:PROGRAM oder none, nicht loud",
        ),
        (
            "[voice]\nengine = \"json:\"",
            "line 2: engine can't be json:",
            "Zeile 2: engine kann nicht json: sein",
        ),
        (
            "[nonsense]",
            "line 1: there is no setting nonsense",
            "Zeile 1: es gibt keine Einstellung nonsense",
        ),
        (
            "[questions]\nbounce_ms = \"long\"",
            "line 2: bounce_ms can't be long",
            "Zeile 2: bounce_ms kann nicht long sein",
        ),
        (
            "[questions]\nbounce_ms = 5000",
            "the setting questions.bounce_ms is out of range: 0 to 1000",
            "die Einstellung questions.bounce_ms liegt außerhalb: 0 bis 1000",
        ),
        (
            "[links]\nmax_frame_bytes = 10",
            "the setting links.max_frame_bytes is out of range: at least 65536",
            "die Einstellung links.max_frame_bytes liegt außerhalb: mindestens 65536",
        ),
        (
            "[handshake]\nlevels = [4]",
            "the setting handshake.levels is out of range: some of 1, 2, 3",
            "die Einstellung handshake.levels liegt außerhalb: einige von 1, 2, 3",
        ),
        (
            "[[source]]\nname = \"a\"\nurl = \"x\"\nidentity = \"k\"",
            "the setting source can't be used: \"a\" needs identity and identity_key together",
            "die Einstellung source ist nicht zu gebrauchen: \"a\" braucht identity und identity_key zusammen",
        ),
        (
            "[[policy]]\nname = \"a\"\ndecision = \"accept\"\nrisks = [\"medium\"]",
            "the setting policy can't be used: the rule a would accept by itself: that is possible for low risk only",
            "die Einstellung policy ist nicht zu gebrauchen: die Regel a würde von selbst annehmen: das geht nur bei niedrigem Risiko",
        ),
        (
            "x = [",
            "line 1 can't be read; a setting is written like this: name = \"value\"",
            "Zeile 1 ist nicht zu lesen; eine Einstellung schreibt man so: name = \"wert\"",
        ),
    ] {
        let error = Config::from_toml(text).unwrap_err();
        assert_eq!(english.settings_fault(&error), words, "{text}");
        assert_eq!(german.settings_fault(&error), worte, "{text}");
    }
}

#[test]
fn every_folder_crate_and_scenario_is_named() {
    let map = read("CONTRIBUTING.md");
    for root in ["src", "crates"] {
        for entry in fs::read_dir(root).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let place = format!("`{root}/{}`", name.trim_end_matches(".rs"));
            assert!(map.contains(&place), "{place} is not in CONTRIBUTING.md");
        }
    }
    let usage = read("docs/usage.md");
    for name in hearken::demo::names() {
        let name = format!("`{name}`");
        assert!(usage.contains(&name), "docs/usage.md lacks {name}");
    }
}

/// Checks the generated part of a page, between two marks; `HEARKEN_UPDATE_DOCS=1` rewrites it.
pub fn holds_generated(page: &str, name: &str, wanted: &str) {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    holds_between(page, (&begin, &end), &wrapped(wanted));
}

/// Checks the generated part of a file between two marks, or writes it.
fn holds_between(page: &str, (begin, end): (&str, &str), wanted: &str) {
    let text = read(page);
    let from = text.find(begin).expect("the mark is in the page") + begin.len();
    let to = from + text[from..].find(end).expect("the end mark is in the page");
    if std::env::var_os("HEARKEN_UPDATE_DOCS").is_some() {
        let page_now = format!("{}{wanted}{}", &text[..from], &text[to..]);
        fs::write(page, page_now).unwrap();
        return;
    }
    assert_eq!(&text[from..to], wanted, "{page} is not what the code says");
}

/// Returns the steps of a state machine as a list: which states an event leaves, and which one it enters.
pub fn steps<M: Machine>() -> String {
    let mut rows: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for row in M::valid_transitions() {
        let (event, to) = (M::event_label(row.event), row.to.label());
        let known = rows
            .iter_mut()
            .find(|(on, enters, _)| on == event && *enters == to);
        match known {
            Some((_, _, from)) => from.push(row.from.label()),
            None => rows.push((event.to_owned(), to, vec![row.from.label()])),
        }
    }
    let mut text = String::new();
    for (event, to, from) in rows {
        let from = match from.split_last() {
            Some(_) if from.len() == M::STATES.len() => "any".to_owned(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, before)) => format!("{} or {last}", before.join(", ")),
            None => continue,
        };
        text.push_str(&format!("- {event}: {from} to {to}\n"));
    }
    text.push_str(&format!(
        "\nIt begins in {}; {} of {} pairs are illegal.\n",
        M::INITIAL.label(),
        M::illegal_pairs().len(),
        M::STATES.len() * M::EVENTS.len()
    ));
    text
}

#[test]
fn the_machines_are_the_tables() {
    let page = "docs/state-machines.md";
    holds_generated(page, "session", &steps::<Lifecycle>());
    holds_generated(page, "state", &steps::<AgentState>());
    holds_generated(page, "tool", &steps::<ToolRun>());
    holds_generated(page, "question", &steps::<QuestionRun>());
    holds_generated(page, "output", &steps::<OutputRun>());
    holds_generated(page, "link", &steps::<Stream>());
}

/// Returns every document for people, with its text.
fn documents() -> Vec<(String, String)> {
    let pages = fs::read_dir("docs").unwrap().map(|entry| {
        let path = entry.unwrap().path();
        path.to_string_lossy().replace('\\', "/")
    });
    let pages = pages.filter(|path| path.ends_with(".md"));
    let own = ["README.md", "CONTRIBUTING.md"].map(str::to_owned);
    own.into_iter()
        .chain(pages)
        .map(|path| (path.clone(), read(&path)))
        .collect()
}

/// A person reads them all: what one page gains in words, another one has to lose.
#[test]
fn the_documents_stay_short() {
    let words = |text: &str| text.split_whitespace().count();
    let documents = documents();
    assert!(documents.len() > 20, "{}", documents.len());
    let all: usize = documents.iter().map(|(_, text)| words(text)).sum();
    assert!(all < WORDS, "{all} words");
    let readme = words(&read("README.md"));
    assert!(readme < README_WORDS, "README.md: {readme} words");
}

/// Tables, pictures and what is to be typed can't be wrapped.
#[test]
fn the_lines_of_the_documents_are_wrapped() {
    let mut long = Vec::new();
    for (path, text) in documents() {
        let mut is_code = false;
        for (line, number) in text.lines().zip(1..) {
            is_code ^= line.starts_with("```");
            let is_whole = is_code
                || ["|", "![", "    "]
                    .iter()
                    .any(|start| line.starts_with(start));
            if !is_whole && line.chars().count() > COLUMNS && line.trim().contains(' ') {
                long.push(format!("{path}:{number}: {line}"));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

/// Returns rules as a list for each severity: the name, the section if there is one, and the words.
fn by_severity<'a>(
    rules: impl Iterator<Item = (Severity, &'a str, &'a str, &'a str)> + Clone,
) -> String {
    let mut text = String::new();
    for (severity, title) in [
        (Severity::Error, "Errors:"),
        (Severity::Warning, "Warnings:"),
        (Severity::Note, "Notes:"),
    ] {
        text.push_str(&format!("{title}\n\n"));
        for (_, name, section, words) in rules.clone().filter(|(of, ..)| *of == severity) {
            let section = match section {
                "" => String::new(),
                section => format!(" ({section})"),
            };
            text.push_str(&format!("- `{name}`{section}: {words}\n"));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

#[test]
fn the_rules_of_order_are_documented_as_the_code_has_them() {
    let file: toml::Table = read("assets/phrases.en.toml").parse().unwrap();
    let rules = AnomalyKind::ALL.iter().map(|kind| {
        let words = file["phrases"][&format!("anomaly.{}", kind.name())]
            .as_str()
            .unwrap();
        (kind.severity(), kind.name(), kind.section(), words)
    });
    let rows = by_severity(rules);
    holds_generated("docs/state-machines.md", "rules of order", &rows);
}

#[test]
fn the_rules_of_a_check_are_documented_as_the_code_has_them() {
    let rules = Rule::ALL
        .iter()
        .map(|rule| (rule.severity(), rule.name(), "", rule.about()));
    let rows = by_severity(rules);
    holds_generated("docs/check.md", "rules of events", &rows);
    let rules = StreamRule::ALL
        .iter()
        .map(|rule| (rule.severity(), rule.name(), rule.section(), rule.about()));
    let rows = by_severity(rules);
    holds_generated("docs/check.md", "rules of streams", &rows);
}

/// The table of the project's announcing rules, in its own words: the current utterance by row, the
/// arriving one by column.
const RULES: [(&str, [&str; 5]); 6] = [
    (
        "P0",
        [
            "waits, in order",
            "interrupts; see 3",
            "waits",
            "waits",
            "waits",
        ],
    ),
    (
        "P1",
        ["waits at most 2 s", "interrupts", "waits", "waits", "waits"],
    ),
    (
        "P2",
        [
            "interrupts, said again after",
            "interrupts, said again after",
            "waits",
            "waits",
            "waits",
        ],
    ),
    (
        "P3",
        [
            "interrupts, dropped",
            "interrupts, dropped",
            "interrupts, dropped",
            "waits",
            "waits",
        ],
    ),
    (
        "P4 text",
        [
            "interrupts, resumes at its sentence's start",
            "interrupts, resumes",
            "waits for the sentence's end",
            "waits for the sentence's end",
            "waits",
        ],
    ),
    (
        "P4 progress",
        [
            "interrupts, dropped",
            "interrupts, dropped",
            "interrupts, dropped",
            "interrupts, dropped",
            "progress waits, only the last is kept; text interrupts",
        ],
    ),
];

/// Returns whether a cell of the rules describes what the code does.
fn agrees(cell: &str, does: Preemption) -> bool {
    match does {
        Preemption::Waits => cell.starts_with("waits") && !cell.contains("2 s"),
        Preemption::WaitsABit => cell.contains("2 s"),
        Preemption::Drops => cell == "interrupts" || cell == "interrupts, dropped",
        Preemption::SaysAgain => cell.contains("said again") || cell.contains("see 3"),
        Preemption::Resumes => cell.contains("resumes"),
    }
}

#[test]
fn the_table_of_speech_is_the_code_and_the_rules() {
    let mut rows =
        "| playing, arriving | P0 | P1 | P2 | P3 | P4 |\n|---|---|---|---|---|---|\n".to_owned();
    for (lane, (name, cells)) in Lane::ALL.into_iter().zip(RULES) {
        for (arriving, cell) in Lane::ALL.into_iter().zip(cells) {
            if lane == Lane::Progress && arriving == Lane::Text {
                assert_eq!(arrival(lane, Lane::Text), Preemption::Drops);
                assert_eq!(arrival(lane, Lane::Progress), Preemption::Waits);
            } else {
                assert!(
                    agrees(cell, arrival(lane, arriving)),
                    "{lane:?} {arriving:?}: {cell}"
                );
            }
            if arriving == Lane::Text && lane != Lane::Progress {
                assert_eq!(
                    arrival(lane, Lane::Progress),
                    arrival(lane, Lane::Text),
                    "P4 is one column"
                );
            }
        }
        rows.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    holds_generated("docs/speech.md", "table", &rows);
}

/// What pages say about the constants of speech: the page, its words, and the file, name and value of the constant.
const STATED: [(&str, &str, &str, &str, &str); 13] = [
    (
        "speech",
        "| 10 s; the next answer replaces it |",
        "speech/queue/lanes.rs",
        "RESPONSE_LIFE",
        "Duration::from_secs(10)",
    ),
    (
        "speech",
        "| 30 s, such states 2 minutes; then",
        "speech/queue/lanes.rs",
        "OUTCOME_LIFE",
        "Duration::from_secs(30)",
    ),
    (
        "speech",
        "| 30 s, such states 2 minutes; then",
        "speech/queue/lanes.rs",
        "NEWS_LIFE",
        "Duration::from_secs(120)",
    ),
    (
        "speech",
        "| 5 s, the latest of each;",
        "speech/queue/lanes.rs",
        "ACTIVITY_LIFE",
        "Duration::from_secs(5)",
    ),
    (
        "speech",
        "progress: 2 s, only the last |",
        "speech/queue/lanes.rs",
        "PROGRESS_LIFE",
        "Duration::from_secs(2)",
    ),
    (
        "speech",
        "P0 waits at most two seconds;",
        "speech/queue/mod.rs",
        "PATIENCE",
        "Duration::from_secs(2)",
    ),
    (
        "speech",
        "the same words of one source within 10 s,",
        "announcer/recent_words.rs",
        "REPEAT",
        "Duration::from_secs(10)",
    ),
    (
        "architecture",
        "512 waiting utterances a class",
        "speech/queue/order.rs",
        "MOST_WAITING",
        "512",
    ),
    (
        "architecture",
        "history of 20,000 entries",
        "history.rs",
        "MOST_ENTRIES",
        "20_000",
    ),
    (
        "architecture",
        "entries, 16 MiB",
        "history.rs",
        "MOST_BYTES",
        "16 * 1024 * 1024",
    ),
    (
        "architecture",
        "a chunk: 32 KiB",
        "text/coalesce/mod.rs",
        "LONGEST_CHUNK",
        "32 * 1024",
    ),
    (
        "keys",
        "`w` says up to 20,000 bytes",
        "announcer/turn_text.rs",
        "LONGEST_SAID",
        "20_000",
    ),
    (
        "keys",
        "reads the newest 128 KiB",
        "announcer/turn_text.rs",
        "LONGEST_TURN",
        "128 * 1024",
    ),
];

#[test]
fn the_constants_of_speech_are_those_of_the_code() {
    for (page, words, file, name, value) in STATED {
        let text = read(&format!("docs/{page}.md"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains(words),
            "docs/{page}.md does not say {words:?}"
        );
        let code = read(&format!("crates/hearken-core/src/announce/{file}"));
        let there = code.lines().any(|line| {
            line.contains(&format!("const {name}: ")) && line.ends_with(&format!(" = {value};"))
        });
        assert!(there, "{file} has no {name} of {value}");
    }
}

#[test]
fn the_page_about_keys_has_every_key_and_line() {
    let rows: String = BINDINGS
        .iter()
        .map(|binding| {
            format!(
                "- `{}` (`{}`): {}\n",
                binding.key, binding.name, binding.does
            )
        })
        .collect();
    holds_generated("docs/keys.md", "keys", &rows);
    let is_key = |line: &&LineCommand| {
        let mut keys = BINDINGS.iter();
        keys.any(|binding| binding.key == line.line && binding.does == line.does)
    };
    let (keys, lines): (Vec<&LineCommand>, Vec<&LineCommand>) = LINES.iter().partition(is_key);
    let keys: Vec<String> = keys.iter().map(|line| format!("`{}`", line.line)).collect();
    let mut rows = format!("- {}: as the keys of these names\n", keys.join(", "));
    for line in lines {
        rows.push_str(&format!("- `{}`: {}\n", line.line, line.does));
    }
    holds_generated("docs/keys.md", "lines", &rows);
}
