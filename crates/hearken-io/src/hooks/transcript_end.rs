//! The end of a transcript: the agent's latest texts, from the file that its hooks name.
//!
//! Responsibilities: reading the end of the file, finding the agent's own texts in it, within bounds. Not here: which
//! of them have already been heard (`dialect`), carrying them (`relay`).
//!
//! No specification guarantees the form: each line is a JSON object, and anything unknown is skipped. It was observed
//! with Claude Code 2.1:
//! `{"type":"assistant","uuid":…,"isSidechain":false,"message":{"content":[{"type":"text","text":…}]}}`.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::{Value, json};

/// The most bytes to read of the file: many times the amount written between two calls.
const MOST_BYTES: u64 = 512 * 1024;
/// The most texts to carry; the latest ones are used.
const MOST_TEXTS: usize = 32;

/// Returns the agent's latest texts, each with its unique name; none if there is no such file.
pub fn last_texts(path: &Path) -> Vec<Value> {
    end_of(path).map(|end| texts(&end)).unwrap_or_default()
}

/// Reads the end of a file, starting at the beginning of a line.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    // Anything but a regular file could block us.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(MOST_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut end)?;
    if from > 0 {
        let begun = end.iter().position(|byte| *byte == b'\n');
        end.drain(..begun.map_or(end.len(), |at| at + 1));
    }
    Ok(end)
}

/// Returns the agent's texts in whole lines; the last line may still be incomplete.
fn texts(lines: &[u8]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let Ok(said) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        let own = said.get("type").and_then(Value::as_str) == Some("assistant");
        // Its helpers' texts are for the agent, not for the person.
        let aside = said.get("isSidechain").and_then(Value::as_bool) == Some(true);
        let name = said.get("uuid").and_then(Value::as_str);
        let (Some(name), true, false) = (name, own, aside) else {
            continue;
        };
        let blocks = said.pointer("/message/content").and_then(Value::as_array);
        for (at, block) in blocks.into_iter().flatten().enumerate() {
            let is_text = block.get("type").and_then(Value::as_str) == Some("text");
            let text = block.get("text").and_then(Value::as_str);
            if let Some(text) = text.filter(|text| is_text && !text.trim().is_empty()) {
                all.push(json!({"id": format!("{name}/{at}"), "text": text}));
            }
        }
    }
    all.split_off(all.len().saturating_sub(MOST_TEXTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, text: &str) -> String {
        let content =
            json!([{"type": "thinking", "thinking": "no"}, {"type": "text", "text": text}]);
        json!({"type": "assistant", "uuid": name, "isSidechain": false, "message": {"content": content}}).to_string()
    }

    #[test]
    fn the_agents_own_texts_are_found_and_nothing_else() {
        let aside = line("b", "for the helper").replace("false", "true");
        let user = line("c", "of the person").replace("assistant", "user");
        let half = line("d", "half a line");
        let all = format!(
            "{}\nnonsense\n[]\n{aside}\n{user}\n{}\n{}",
            line("a", "I look."),
            line("e", "  "),
            &half[..half.len() - 4],
        );
        assert_eq!(
            texts(all.as_bytes()),
            [json!({"id": "a/1", "text": "I look."})]
        );
    }

    #[test]
    fn of_a_long_file_the_end_is_read_and_what_is_no_file_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        assert!(last_texts(&path).is_empty());
        assert!(last_texts(folder.path()).is_empty());
        let many = 40_000;
        let all: Vec<String> = (0..many).map(|n| line(&n.to_string(), "x")).collect();
        std::fs::write(&path, all.join("\n")).unwrap();
        let found = last_texts(&path);
        assert_eq!(found.len(), MOST_TEXTS);
        assert_eq!(found.last().unwrap()["id"], format!("{}/1", many - 1));
    }
}
