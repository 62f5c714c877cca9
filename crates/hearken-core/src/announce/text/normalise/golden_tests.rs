//! Sentences of agents, and how a careful reader reads them aloud.

use super::prose;
use super::tests::{WORDS, streamed, unescape};

/// Sentences by kind, each as a careful reader reads it aloud.
const GOLDEN: [(&str, &str); 3] = [
    (
        "code_talk",
        include_str!("../../../../../../tests/fixtures/golden/code_talk.tsv"),
    ),
    (
        "science",
        include_str!("../../../../../../tests/fixtures/golden/science.tsv"),
    ),
    (
        "tables_and_trees",
        include_str!("../../../../../../tests/fixtures/golden/tables_and_trees.tsv"),
    ),
];

#[test]
fn golden_sentences_are_spoken_as_a_careful_reader_says_them() {
    let mut wrong = Vec::new();
    for (name, sentences) in GOLDEN {
        let lines = sentences.lines().filter(|line| !line.starts_with("# "));
        assert!(lines.clone().count() >= 60, "{name}");
        for line in lines {
            let (written, wanted) = line.split_once('\t').expect("two fields");
            let written = unescape(written);
            let spoken = prose(&written, &WORDS);
            // However it arrives, the same words are heard.
            for size in [1, 3, 1000] {
                let all: Vec<String> = streamed(&written, size)
                    .into_iter()
                    .map(|(heard, _)| heard)
                    .collect();
                if letters(&all.join(" ")) != letters(wanted) {
                    wrong.push(format!("{name}: {line}\n    by {size}: {all:?}"));
                }
            }
            if spoken != wanted {
                wrong.push(format!("{name}: {line}\n    got: {spoken}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
