//! The scenarios that come with the program.
//!
//! Responsibilities: embedding `assets/demo/*.jsonl`, finding a scenario by name or by a person's words. Not here:
//! their format (`scenario`).

use std::sync::{Arc, OnceLock};

use super::protocol_script::Script;
use super::scenario::{Scenario, ScenarioInfo};

/// The scenario that runs by default.
pub const DEFAULT: &str = "tour";

/// The embedded files by name, in listing order: the default, then from short to long.
const FILES: [(&str, &str); 11] = [
    ("tour", include_str!("../../assets/demo/tour.jsonl")),
    ("question", include_str!("../../assets/demo/question.jsonl")),
    ("tool", include_str!("../../assets/demo/tool.jsonl")),
    ("email", include_str!("../../assets/demo/email.jsonl")),
    ("transfer", include_str!("../../assets/demo/transfer.jsonl")),
    (
        "clarification",
        include_str!("../../assets/demo/clarification.jsonl"),
    ),
    ("trip", include_str!("../../assets/demo/trip.jsonl")),
    ("error", include_str!("../../assets/demo/error.jsonl")),
    ("handoff", include_str!("../../assets/demo/handoff.jsonl")),
    ("agents", include_str!("../../assets/demo/agents.jsonl")),
    ("answer", include_str!("../../assets/demo/answer.jsonl")),
];

/// The embedded scenarios in other protocols.
const SCRIPTS: [(&str, &str); 2] = [
    ("asp", include_str!("../../assets/demo/asp.jsonl")),
    ("sage", include_str!("../../assets/demo/sage.jsonl")),
];

/// Returns the names of all scenarios, those in other protocols last.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().chain(&SCRIPTS).map(|(name, _)| *name)
}

/// Returns the details of the scenarios in AAEP, the default first; this reads all of them.
pub fn list() -> impl Iterator<Item = &'static ScenarioInfo> {
    let scenarios = FILES.iter().filter_map(|(name, _)| named(name));
    scenarios.map(|scenario| scenario.info())
}

/// Returns the scenarios in other protocols.
pub fn scripts() -> impl Iterator<Item = &'static Script> {
    SCRIPTS.iter().filter_map(|(name, _)| script(name))
}

/// Finds a scenario in AAEP by name, and reads it: a run needs few of them, and each has a thousand parts.
pub(super) fn named(name: &str) -> Option<&'static Arc<Scenario>> {
    static READ: [OnceLock<Option<Arc<Scenario>>>; FILES.len()] =
        [const { OnceLock::new() }; FILES.len()];
    // A test reads every file, so none is missing here.
    let read = |text: &str| Scenario::parse(text).ok().map(Arc::new);
    in_file(&FILES, &READ, name, read)
}

/// Finds a scenario in another protocol by name, and reads it.
pub fn script(name: &str) -> Option<&'static Script> {
    static READ: [OnceLock<Option<Script>>; SCRIPTS.len()] =
        [const { OnceLock::new() }; SCRIPTS.len()];
    in_file(&SCRIPTS, &READ, name, |text| Script::parse(text).ok())
}

/// Returns the content of the named file, which is read only once.
fn in_file<T>(
    files: &[(&str, &str)],
    read: &'static [OnceLock<Option<T>>],
    name: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<&'static T> {
    let mut files = files.iter().zip(read);
    let ((_, text), read) = files.find(|((known, _), _)| *known == name)?;
    read.get_or_init(|| parse(text)).as_ref()
}

/// Returns the scenario with the most keywords among a request's words, the first listed if tied; the default if
/// no word is a keyword.
pub(super) fn for_request(request: &str) -> Option<&'static Arc<Scenario>> {
    let request = request.to_lowercase();
    let words: Vec<&str> = request
        .split(|sign: char| !sign.is_alphanumeric())
        .collect();
    let hits = |scenario: &Scenario| {
        scenario
            .keywords
            .iter()
            .filter(|keyword| words.contains(&keyword.as_str()))
            .count()
    };
    let mut best = (0, None);
    for scenario in FILES.iter().filter_map(|(name, _)| named(name)) {
        let hits = hits(scenario);
        if hits > best.0 {
            best = (hits, Some(scenario));
        }
    }
    best.1.or_else(|| named(DEFAULT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_scenario_can_be_read_and_has_its_own_name() {
        let mut names = std::collections::BTreeSet::new();
        for (name, text) in FILES {
            let scenario = Scenario::parse(text)
                .map_err(|error| error.to_string())
                .unwrap();
            assert_eq!(scenario.info.name, name);
            assert!(names.insert(name));
            assert!(scenario.info.title.len() < 60, "{:?}", scenario.info);
            assert!(
                scenario
                    .keywords
                    .iter()
                    .all(|word| word.chars().all(|sign| sign.is_lowercase()))
            );
        }
        for (name, text) in SCRIPTS {
            let script = Script::parse(text)
                .map_err(|error| error.to_string())
                .unwrap();
            assert_eq!(script.info().name, name);
            assert!(names.insert(name));
        }
        let listed = list().chain(scripts().map(Script::info));
        assert!(listed.map(|info| info.name.as_str()).eq(super::names()));
        assert_eq!(super::names().next(), Some(DEFAULT));
        assert!(named("sage").is_none() && script("tour").is_none());
    }

    #[test]
    fn a_request_finds_its_scenario() {
        for (request, name) in [
            ("Send an email to bob", "email"),
            ("What is my balance? Transfer money to Alice.", "transfer"),
            ("How is the weather?", "tool"),
            ("Book a table, but ask me which day", "clarification"),
            ("Plan a day trip to the coast", "trip"),
            ("Let it fail", "error"),
            ("I want to talk to a human", "handoff"),
            ("three agents at once", "agents"),
            ("Explain growing tomatoes", "answer"),
            ("May I archive this? Ask for my confirmation.", "question"),
            ("xyzzy", DEFAULT),
            ("", DEFAULT),
        ] {
            assert_eq!(for_request(request).unwrap().info.name, name, "{request}");
        }
    }
}
