//! The scenarios that come with the program.
//!
//! Responsibilities: embedding `assets/demo/*.jsonl`, finding one by name or by a person's words. Not
//! here: their format (`scenario`).

use std::sync::{Arc, OnceLock};

use super::scenario::{Scenario, ScenarioInfo};
use super::script::Script;

/// The scenario that runs when nothing else is asked for.
pub const DEFAULT: &str = "tour";

/// The embedded files, in the order in which they are listed: the default, then from short to long.
const FILES: [&str; 11] = [
    include_str!("../../assets/demo/tour.jsonl"),
    include_str!("../../assets/demo/question.jsonl"),
    include_str!("../../assets/demo/tool.jsonl"),
    include_str!("../../assets/demo/email.jsonl"),
    include_str!("../../assets/demo/transfer.jsonl"),
    include_str!("../../assets/demo/clarification.jsonl"),
    include_str!("../../assets/demo/trip.jsonl"),
    include_str!("../../assets/demo/error.jsonl"),
    include_str!("../../assets/demo/handoff.jsonl"),
    include_str!("../../assets/demo/agents.jsonl"),
    include_str!("../../assets/demo/answer.jsonl"),
];

/// The embedded scenarios in other protocols.
const SCRIPTS: [&str; 2] = [
    include_str!("../../assets/demo/asp.jsonl"),
    include_str!("../../assets/demo/sage.jsonl"),
];

struct Catalogue {
    scenarios: Vec<Arc<Scenario>>,
    scripts: Vec<Script>,
    infos: Vec<ScenarioInfo>,
}

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        // A test reads every file, so none is left out here.
        let scenarios: Vec<Arc<Scenario>> = FILES
            .iter()
            .filter_map(|text| Scenario::parse(text).ok())
            .map(Arc::new)
            .collect();
        let scripts: Vec<Script> = SCRIPTS
            .iter()
            .filter_map(|text| Script::parse(text).ok())
            .collect();
        let infos = scenarios
            .iter()
            .map(|scenario| scenario.info().clone())
            .collect();
        Catalogue {
            scenarios,
            scripts,
            infos,
        }
    })
}

/// Lists the scenarios in AAEP, the default first.
pub fn list() -> &'static [ScenarioInfo] {
    &catalogue().infos
}

/// Lists the scenarios in other protocols.
pub fn scripts() -> &'static [Script] {
    &catalogue().scripts
}

/// Finds a scenario by its name.
pub(super) fn named(name: &str) -> Option<&'static Arc<Scenario>> {
    catalogue()
        .scenarios
        .iter()
        .find(|scenario| scenario.info.name == name)
}

/// Finds the scenario with the most keywords among a request's words, the first listed of equals; the
/// default when no word is a keyword.
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
    for scenario in &catalogue().scenarios {
        let hits = hits(scenario);
        if hits > best.0 {
            best = (hits, Some(scenario));
        }
    }
    best.1.or_else(|| named(DEFAULT))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn every_embedded_scenario_can_be_read_and_has_its_own_name() {
        let mut names = std::collections::BTreeSet::new();
        for text in FILES {
            let scenario = Scenario::parse(text)
                .map_err(|error| error.to_string())
                .unwrap();
            assert!(names.insert(scenario.info.name.clone()));
            assert!(scenario.info.title.len() < 60, "{:?}", scenario.info);
            assert!(
                scenario
                    .keywords
                    .iter()
                    .all(|word| word.chars().all(|sign| sign.is_lowercase()))
            );
        }
        for text in SCRIPTS {
            let script = Script::parse(text)
                .map_err(|error| error.to_string())
                .unwrap();
            assert!(names.insert(script.info().name.clone()));
        }
        assert_eq!(list().len(), FILES.len());
        assert_eq!(scripts().len(), SCRIPTS.len());
        assert_eq!(list()[0].name, DEFAULT);
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
