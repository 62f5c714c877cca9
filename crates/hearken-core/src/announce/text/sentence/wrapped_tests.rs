//! Lines broken by hand: prose that continues, and lists and addresses with complete lines.

use super::*;

fn cut(language: &str, text: &str, size: usize) -> Vec<String> {
    let mut segmenter = Segmenter::new(Some(language));
    let mut found = Vec::new();
    let mut chars = text.chars().peekable();
    while chars.peek().is_some() {
        let chunk: String = chars.by_ref().take(size).collect();
        found.extend(segmenter.push(&chunk));
    }
    found.extend(segmenter.finish());
    found
        .iter()
        .map(|sentence| sentence.text.trim().to_owned())
        .collect()
}

#[test]
fn a_line_of_prose_goes_on_and_a_line_of_a_list_ends() {
    let text = include_str!("../../../../../../tests/fixtures/golden_rules.json");
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut seen = 0;
    for (language, rules) in document["wrapped"].as_object().unwrap() {
        for rule in rules.as_array().unwrap() {
            let text = rule["text"].as_str().unwrap();
            let wanted: Vec<&str> = rule["sentences"]
                .as_array()
                .unwrap()
                .iter()
                .map(|sentence| sentence.as_str().unwrap())
                .collect();
            for size in [1, 2, 7, 25, text.len()] {
                assert_eq!(cut(language, text, size), wanted, "{language} {size}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 15, "{seen}");
}
