//! Checks the phrase files against the code and against each other.

use std::path::PathBuf;

use super::*;
use crate::support::PLACES;
use hearken::link::{Cause, NoTls, NoWebSocket};

/// Every phrase key that the code names is in the file, and every phrase in the file is used.
#[test]
fn the_phrase_file_and_the_code_agree() {
    let mut code = String::new();
    let mut stack: Vec<PathBuf> = PLACES.iter().map(PathBuf::from).collect();
    while let Some(folder) = stack.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // These rooms word nothing; their names of events and fields merely look like keys.
                let silent = ["protocol", "session", "inspect", "demo", "transport"];
                if !silent.iter().any(|room| path.ends_with(room)) {
                    stack.push(path);
                }
            } else {
                code.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let reports: String = [
        "stream_rules",
        "report",
        "repeated_findings",
        "trace",
        "mermaid",
    ]
    .map(|file| read(&format!("crates/hearken-core/src/inspect/{file}.rs")))
    .concat();
    let file: toml::Table = read("assets/phrases.en.toml").parse().unwrap();
    let phrases = file["phrases"].as_table().unwrap();
    let quoted: BTreeSet<&str> = code.split('"').chain(reports.split('"')).collect();
    let unused: BTreeSet<&String> = phrases
        .keys()
        // These are looked up by status, close code, exit code and signal.
        .filter(|key| {
            let by_number = [
                "fault.status.",
                "fault.close.",
                "fault.exit.",
                "fault.signal.",
            ];
            !by_number.iter().any(|group| key.starts_with(group))
        })
        // These are looked up by the name of their subject; the tests of departures and findings check them.
        .filter(|key| {
            let by_name = [
                "anomaly.",
                "finding.",
                "found.",
                "unread.",
                "check.departs.",
                "check.grade.",
                "check.ended.",
                "check.result.",
            ];
            let rule = StreamRule::ALL
                .iter()
                .any(|rule| **key == format!("check.{}", rule.name()));
            !rule && !by_name.iter().any(|group| key.starts_with(group))
        })
        .filter(|key| {
            // Scanning has a wording of its own for some.
            let base = key
                .strip_suffix(".scan")
                .filter(|it| phrases.contains_key(*it));
            !quoted.contains(base.unwrap_or(key))
        })
        .collect();
    assert!(unused.is_empty(), "phrases that nobody says: {unused:?}");
    let groups: BTreeSet<&str> = phrases
        .keys()
        .map(|key| key.split('.').next().unwrap())
        .collect();
    let mut missing = BTreeSet::new();
    // A quote that is a character of a text, or stands alone, does not open or close one.
    let paired = code.replace("\\\"", "").replace("'\"'", "");
    // A raw text may end with a backslash: quoted text is extracted line by line, so that only that one odd line is
    // affected.
    let pieces = paired
        .lines()
        .flat_map(|line| line.split('"').skip(1).step_by(2));
    for piece in pieces {
        let looks_like_one = piece.contains('.')
            && groups.contains(piece.split('.').next().unwrap())
            && piece
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '.' || c == '_');
        if looks_like_one && !phrases.contains_key(piece) {
            missing.insert(piece);
        }
    }
    // Event types of the protocol look like keys, but are not.
    missing.retain(|key| {
        !["session.started", "tool.invoked", "agent"].contains(key)
            && ![".rs", ".cmd", ".json", ".jsonl", ".lock"]
                .iter()
                .any(|file| key.ends_with(file))
            && !key.ends_with('.')
    });
    let protocol = [
        "state.changed",
        "progress.updated",
        "handoff.requested",
        "session.errored",
        "session.cancelled",
        "session.completed",
        "output.streaming",
        "tool.completed",
        "voice.rate",
        "voice.engine",
        "voice.own_pitch",
        "questions.arm_ms",
        "voice.toml",
    ];
    missing.retain(|key| !protocol.contains(key));
    // Messages of a dialect look like keys, too.
    let dialects = [
        "turn.",
        "error.reported",
        "error.tool_failed",
        "agent.handoff.requested",
        "agent.output.streaming",
        "agent.session.started",
        "agent.state.changed",
        "question.asked",
        "question.rejected",
        "question.replied",
        "question.updated",
        "session.compacted",
        "session.created",
        "session.deleted",
        "session.diff",
        "session.error",
        "session.idle",
        "session.status",
        "session.updated",
    ];
    missing.retain(|key| !dialects.iter().any(|kind| key.starts_with(kind)));
    assert!(missing.is_empty(), "keys that no phrase has: {missing:?}");
}

/// Returns the arguments that a phrase uses, at any level.
fn arguments(entry: &toml::Value) -> BTreeSet<String> {
    let texts: Vec<&str> = match entry {
        toml::Value::String(text) => vec![text],
        toml::Value::Table(levels) => levels.values().filter_map(toml::Value::as_str).collect(),
        other => panic!("no phrase: {other}"),
    };
    texts
        .iter()
        .flat_map(|text| text.split('{').skip(1))
        .map(|rest| rest.split(['}', '#']).next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_phrase_files_have_the_same_keys_and_arguments() {
    let english: toml::Table = read("assets/phrases.en.toml").parse().unwrap();
    let english = english["phrases"].as_table().unwrap();
    let keys = |table: &toml::Table| table.keys().cloned().collect::<BTreeSet<_>>();
    let levels = |entry: &toml::Value| entry.as_table().map(keys);
    let mut faults = Vec::new();
    for (tag, text) in files() {
        let file: toml::Table = text.parse().unwrap();
        assert_eq!(file["language"].as_str(), Some(tag));
        let phrases = file["phrases"].as_table().unwrap();
        let mut fault =
            |key: &str, why: &str| faults.push(format!("phrases.{tag}.toml {why} {key}"));
        for (key, wanted) in english {
            match phrases.get(key) {
                None => fault(key, "lacks"),
                Some(entry) if arguments(entry) != arguments(wanted) => {
                    fault(key, "has other places than English in");
                }
                Some(entry) if levels(entry) != levels(wanted) => {
                    fault(key, "has other levels than English in");
                }
                Some(_) => {}
            }
        }
        let needless = phrases.keys().filter(|key| !english.contains_key(*key));
        needless.for_each(|key| fault(key, "has, unlike English,"));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A person who wants Spanish hears Spanish, from a voice that speaks it as requested.
#[test]
fn a_file_in_the_folder_is_all_that_a_language_takes() {
    let phrases = Phrases::for_languages(&["es-MX".to_owned(), "en".to_owned()]).unwrap();
    assert_eq!(phrases.language(), "es");
    assert_eq!(phrases.voice_language(), Some("es-MX"));
    assert_eq!(phrases.text("question.risk.high", &[]), "Riesgo alto.");
    let files = fs::read_dir("assets").unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("phrases.")
    });
    assert_eq!(files.count(), BUILT_IN.len());
    assert_eq!(BUILT_IN[0].tag, "en");
}

/// Announcements in another language use its words: nothing is left in English except what is the same there.
#[test]
fn no_language_has_english_sentences_left() {
    /// Names, words that other languages took from this one, and phrases made only of placeholders.
    const SAME: [&str; 25] = [
        "fact.version",
        "label.reply",
        "title.questions",
        "source.demo",
        "way.from.websocket",
        "acp.protocol",
        "foreign.acp",
        "foreign.mcp",
        "foreign.cloud_events",
        "start.face",
        "start.face.json",
        "tune.minus",
        "tune.wants.punctuation",
        "away.sentences",
        "agent.namesake",
        "verbosity.normal",
        "finding.kind.null",
        "check.grade.error",
        "check.total",
        "man.name",
        "doctor.part.terminal",
        "doctor.line.broken",
        "doctor.face.remedy",
        "offer.opencode",
        "offer.codex",
    ];
    let english: toml::Table = read("assets/phrases.en.toml").parse().unwrap();
    let english = english["phrases"].as_table().unwrap();
    // Words are what remains without placeholders and punctuation.
    let words = |value: &toml::Value| -> Vec<String> {
        let mut text = value.to_string();
        while let Some((before, after)) = text.split_once('{') {
            let Some((_, rest)) = after.split_once('}') else {
                break;
            };
            text = format!("{before} {rest}");
        }
        text.split(|c: char| !c.is_alphabetic())
            .filter(|word| word.chars().count() > 3)
            .map(str::to_lowercase)
            .collect()
    };
    for (tag, text) in files().filter(|(tag, _)| *tag != "en") {
        let file: toml::Table = text.parse().unwrap();
        for (key, phrase) in file["phrases"].as_table().unwrap() {
            let (there, source) = (words(phrase), words(&english[key]));
            let left = !there.is_empty() && there == source && !SAME.contains(&key.as_str());
            assert!(!left, "{tag}: {key} is English: {phrase}");
        }
        for section in ["help"] {
            for (source, told) in file[section].as_table().unwrap() {
                let told = told.as_str().unwrap();
                assert!(
                    told != source || words(&toml::Value::String(source.clone())).is_empty(),
                    "{tag}: {source:?} is English"
                );
            }
        }
    }
}

/// Every fault of a link has its words, in every language.
#[test]
fn every_reason_of_a_link_has_its_words_in_each_language() {
    let all = [NoWebSocket::KEYS, NoTls::KEYS, Cause::KEYS].concat();
    assert!(all.len() > 70, "{}", all.len());
    for (tag, text) in files() {
        let file: toml::Table = text.parse().unwrap();
        let phrases = file["phrases"].as_table().unwrap();
        for (key, details) in &all {
            let words = phrases.get(*key).and_then(toml::Value::as_str);
            let words = words.unwrap_or_else(|| panic!("{tag}: {key} has no words"));
            let wanted: BTreeSet<&str> = details.iter().copied().collect();
            let places = words.split('{').skip(1);
            let places: BTreeSet<&str> = places
                .filter_map(|it| Some(it.split_once('}')?.0))
                .collect();
            assert_eq!(places, wanted, "{tag}: {key}");
        }
        let known = phrases.keys().filter(|key| key.starts_with("cause."));
        let spare: Vec<_> = known
            .filter(|key| !all.iter().any(|(of, _)| of == key))
            .collect();
        assert!(spare.is_empty(), "{tag}: nobody says {spare:?}");
    }
}

/// A voice's messages stay typed until they are worded: nothing there reads like a sentence.
#[test]
fn no_voice_says_a_sentence_of_its_own() {
    /// Texts that look like words but reach nobody as such.
    const NO_WORDS: [&str; 12] = [
        "HISTORY ",
        "SET SELF ",
        "LIST ",
        "GET ",
        "CANCEL ",
        "AUTH EXTERNAL",
        "\\0AUTH EXTERNAL",
        "<voice xml:lang=",
        "<prosody pitch=",
        "voice of {",
        "the socket does not speak",
        "the message is not one that was agreed",
    ];
    fn literals(code: &str, found: &mut BTreeSet<String>) {
        let lines = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n");
        let code = code.replace("'\"'", "").replace("\\\"", "");
        // A build condition, or the reason why a lint is off, is not for any listener.
        let silent = ["cfg(", "cfg!(", ".expect(", "concat!(", "reason = "];
        for (at, text) in code.split('"').enumerate() {
            let before = code.split('"').nth(at.wrapping_sub(1)).unwrap_or_default();
            let statement = before.rsplit(['\n', ';']).next().unwrap_or_default();
            let is_sentence = text.split(' ').filter(|word| word.len() > 1).count() > 1;
            if at % 2 == 1 && is_sentence && !silent.iter().any(|start| statement.contains(start)) {
                found.insert(text.to_owned());
            }
        }
    }
    fn collect(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("tests") {
                    collect(&path, found);
                }
            } else if !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.replace("#[cfg(test)]\n#[cfg(unix)]\n", "#[cfg(test)]\n");
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                literals(code, found);
            }
        }
    }
    let mut wanted = BTreeSet::new();
    collect(Path::new("crates/hearken-io/src/voice"), &mut wanted);
    wanted.retain(|text| !NO_WORDS.iter().any(|start| text.starts_with(start)));
    assert!(wanted.is_empty(), "{wanted:#?}");
}

/// A word missing from a file would be heard in English.
#[test]
fn every_other_language_has_all_words_and_all_of_the_help() {
    let english = toml::Table::try_from(Words::default()).unwrap();
    for (tag, text) in files().filter(|(tag, _)| *tag != "en") {
        let file: toml::Table = text.parse().unwrap();
        let help = file["help"].as_table().unwrap();
        let keys = BINDINGS.iter().map(|binding| binding.does);
        let lacks = keys.chain(LINES.iter().map(|line| line.does));
        let lacks: BTreeSet<&str> = lacks.filter(|does| !help.contains_key(*does)).collect();
        assert!(
            lacks.is_empty(),
            "phrases.{tag}.toml lacks under [help]: {lacks:#?}"
        );
        let words = file["words"].as_table().unwrap();
        for (name, value) in &english {
            let there = words
                .get(name)
                .unwrap_or_else(|| panic!("{tag}: no word for {name}"));
            if let (toml::Value::Array(wanted), toml::Value::Array(there)) = (value, there) {
                let signs = |list: &[toml::Value]| -> BTreeSet<String> {
                    list.iter()
                        .filter_map(|sign| Some(sign.get("sign")?.as_str()?.to_owned()))
                        .collect()
                };
                let missing: Vec<_> = signs(wanted).difference(&signs(there)).cloned().collect();
                assert!(missing.is_empty(), "{tag}: {name} has no {missing:?}");
            } else if let (Some(wanted), Some(there)) = (value.as_str(), there.as_str()) {
                let places = |text: &str| arguments(&toml::Value::String(text.to_owned()));
                assert_eq!(places(there), places(wanted), "{tag}: {name}");
            }
        }
    }
}

#[test]
fn every_departure_has_its_words() {
    let file: toml::Table = read("assets/phrases.en.toml").parse().unwrap();
    let phrases = file["phrases"].as_table().unwrap();
    let mut wanted: BTreeSet<String> = AnomalyKind::ALL
        .iter()
        .map(|kind| format!("anomaly.{}", kind.name()))
        .collect();
    wanted.extend(["anomaly.undecodable", "anomaly.undecodable.more"].map(str::to_owned));
    let there: BTreeSet<String> = phrases
        .keys()
        .filter(|key| key.starts_with("anomaly."))
        .cloned()
        .collect();
    assert_eq!(there, wanted);
}

/// Every phrase of a report is in the file, and the file has no further ones.
#[test]
fn every_finding_has_its_words() {
    let file: toml::Table = read("assets/phrases.en.toml").parse().unwrap();
    let phrases = file["phrases"].as_table().unwrap();
    let there: BTreeSet<String> = phrases
        .keys()
        .filter(|key| key.starts_with("finding."))
        .cloned()
        .collect();
    let names = Problem::NAMES.iter().map(|name| format!("finding.{name}"));
    let kinds = JsonKind::ALL.map(|kind| format!("finding.kind.{}", kind.name()));
    let forms = TextForm::ALL.map(|form| format!("finding.form.{}", form.name()));
    let own = ["finding.event", "finding.or"].map(str::to_owned);
    let wanted = names.chain(kinds).chain(forms).chain(own).collect();
    assert_eq!(there, wanted);
    // A departure of another protocol is told by what it is, not by its key.
    let keys = phrases.keys().filter(|key| !key.starts_with("check."));
    let departs = keys.filter(|key| hearken::dialect::about_departure(key).is_some());
    let mut count = 0;
    for key in departs {
        assert!(
            phrases.contains_key(&format!("check.departs.{key}")),
            "{key}"
        );
        count += 1;
    }
    assert!(count > 10, "{count}");
    // These come with data, and have their own words for it.
    let with_data = [
        StreamRule::Several,
        StreamRule::NotJson,
        StreamRule::NotAaep,
        StreamRule::CountDiffers,
    ];
    for rule in StreamRule::ALL
        .iter()
        .filter(|rule| !with_data.contains(rule))
    {
        let key = format!("check.{}", rule.name());
        assert!(phrases.contains_key(&key), "{key}");
    }
}

/// A sentence that mentions a key names its command, so that it stays true with other keys.
#[test]
fn phrases_name_keys_by_their_commands() {
    let mut named = BTreeSet::new();
    for (tag, text) in files() {
        for piece in text.split("{key:").skip(1) {
            let (command, key) = piece.split('}').next().unwrap().split_once('=').unwrap();
            let binding = BINDINGS
                .iter()
                .find(|binding| binding.name == command)
                .unwrap_or_else(|| panic!("{tag}: no command {command}"));
            assert_eq!(binding.key, key, "{tag}");
            named.insert(command.to_owned());
        }
    }
    for needed in [
        "accept", "confirm", "reject", "answer", "choose", "details", "leave", "quit",
    ] {
        assert!(
            named.contains(needed),
            "no sentence names the key of {needed}"
        );
    }
    let english: toml::Table = read("assets/phrases.en.toml").parse().unwrap();
    for (key, phrase) in english["phrases"].as_table().unwrap() {
        let words = phrase.to_string();
        for binding in BINDINGS.iter().filter(|binding| binding.key.len() == 1) {
            for literal in [
                format!("ress {} ", binding.key),
                format!("ress {},", binding.key),
            ] {
                assert!(
                    !words.contains(&literal),
                    "{key} names the key {} as if it were fixed",
                    binding.key
                );
            }
        }
    }
}

#[test]
fn every_sentence_names_the_keys_as_they_are() {
    let changes = toml::from_str("accept = [\"F5\"]\nleave = []").unwrap();
    let keymap = hearken::keys::Keymap::new(&changes).unwrap();
    let phrases = hearken::announce::Phrases::english()
        .unwrap()
        .keyed(&keymap.names());
    assert_eq!(phrases.text("question.keys.accept", &[]), "F5 accepts");
    assert_eq!(
        phrases.text("danger.remedy.leave", &[]),
        "Press (no key) to leave this agent."
    );
    assert_eq!(phrases.text("question.keys.reject", &[]), "n rejects");
}
