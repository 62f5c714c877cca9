//! Splitting text into the chunks of a streamed output.
//!
//! Responsibilities: splitting a text as a language model streams it (tokens) and turning a `say`
//! line of a scenario into `agent.output.streaming` payloads (chapter 4.3.3). Not here: `position`
//! and the real `output_id`, which are known only when a chunk is sent (`producer`).

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::producer::EventKind;

/// The fastest stream in a scenario, in tokens per second; `Pace` can speed it up further.
const MAX_TOKENS_PER_SECOND: u32 = 1_000;
/// The longest pause between two sentences, in milliseconds.
const MAX_SENTENCE_MS: u64 = 60_000;

/// A `say` line: one whole output, in one of two forms.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SayLine {
    /// The output's label within its session; the wire carries an id generated for it.
    pub(super) output: String,
    content_type: Option<String>,
    tokens: Option<TokenStream>,
    sentences: Option<Sentences>,
}

/// Lines of text sent in small pieces at an even rate, without boundary hints.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenStream {
    per_second: u32,
    lines: Vec<String>,
}

/// Whole sentences, each with the hint `sentence`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentences {
    every_ms: u64,
    texts: Vec<String>,
}

/// One chunk and the time since the previous one (zero for the first).
pub(super) struct TimedChunk {
    pub(super) after: Duration,
    pub(super) fields: Map<String, Value>,
}

impl SayLine {
    /// Splits the line into chunks; the last one completes the output. The error describes what is
    /// wrong with the line.
    pub(super) fn chunks(&self) -> Result<Vec<TimedChunk>, String> {
        let (gap, hint, texts) = match (&self.tokens, &self.sentences) {
            (Some(tokens), None) => {
                if !(1..=MAX_TOKENS_PER_SECOND).contains(&tokens.per_second) {
                    return Err(format!("per_second must be 1 to {MAX_TOKENS_PER_SECOND}"));
                }
                (
                    Duration::from_secs(1) / tokens.per_second,
                    None,
                    tokenize(&tokens.lines.join("\n")),
                )
            }
            (None, Some(sentences)) => {
                if sentences.every_ms > MAX_SENTENCE_MS {
                    return Err(format!("every_ms must be at most {MAX_SENTENCE_MS}"));
                }
                (
                    Duration::from_millis(sentences.every_ms),
                    Some("sentence"),
                    spaced(&sentences.texts),
                )
            }
            (Some(_), Some(_)) | (None, None) => {
                return Err("say wants either tokens or sentences".to_owned());
            }
        };
        if texts.is_empty() || texts.iter().any(String::is_empty) {
            return Err("say has nothing to say".to_owned());
        }
        let last = texts.len() - 1;
        let chunk = |(index, text): (usize, String)| {
            let mut fields = Map::new();
            fields.insert("type".to_owned(), json!(EventKind::OutputStreaming.wire()));
            fields.insert("chunk".to_owned(), json!(text));
            fields.insert("complete".to_owned(), json!(index == last));
            let hint = if index == last {
                Some("completion")
            } else {
                hint
            };
            if let Some(hint) = hint {
                fields.insert("coalesce_hint".to_owned(), json!(hint));
            }
            fields.insert("output_id".to_owned(), json!(self.output));
            if let Some(content_type) = &self.content_type {
                fields.insert("content_type".to_owned(), json!(content_type));
            }
            let after = if index == 0 { Duration::ZERO } else { gap };
            TimedChunk { after, fields }
        };
        Ok(texts.into_iter().enumerate().map(chunk).collect())
    }
}

/// Inserts a space between sentences, unless one already ends with whitespace.
fn spaced(texts: &[String]) -> Vec<String> {
    let last = texts.len().saturating_sub(1);
    texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            if index == last || text.is_empty() || text.ends_with(char::is_whitespace) {
                text.clone()
            } else {
                format!("{text} ")
            }
        })
        .collect()
}

/// Splits a text roughly as a model's tokenizer does: a word with the space before it, digits in
/// threes, each symbol by itself, long words in two. Joined, the tokens are the text.
fn tokenize(text: &str) -> Vec<String> {
    /// Longer words become two tokens.
    const WHOLE_WORD_CHARS: usize = 9;
    /// How many digits fit in a token.
    const FIGURES: usize = 3;

    let mut tokens: Vec<String> = Vec::new();
    let mut token = String::new();
    let mut last = ChunkMark::Other;
    let mut run = 0;
    for character in text.chars() {
        let sign = ChunkMark::of(character);
        let joins = sign == ChunkMark::Mark
            || (last == ChunkMark::Space && sign == ChunkMark::Space)
            || (last == ChunkMark::Space && sign == ChunkMark::Word && token == " ")
            || (matches!(last, ChunkMark::Word | ChunkMark::Mark) && sign == ChunkMark::Word)
            || (last == ChunkMark::Figure && sign == ChunkMark::Figure && run < FIGURES);
        if !joins && !token.is_empty() {
            tokens.push(std::mem::take(&mut token));
        }
        run = if joins { run + 1 } else { 1 };
        token.push(character);
        last = sign;
    }
    if !token.is_empty() {
        tokens.push(token);
    }
    tokens
        .into_iter()
        .flat_map(|token| {
            let word = token.strip_prefix(' ').unwrap_or(&token);
            let splits = token.len() > WHOLE_WORD_CHARS
                && word.bytes().all(|sign| sign.is_ascii_alphabetic());
            let middle = if splits {
                token.len().div_ceil(2)
            } else {
                token.len()
            };
            let (head, tail) = token.split_at(middle);
            [head.to_owned(), tail.to_owned()]
        })
        .filter(|token| !token.is_empty())
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkMark {
    Space,
    Word,
    Figure,
    /// A character that must not be separated from the one before it: everything beyond ASCII that is
    /// not a letter, above all combining marks.
    Mark,
    Other,
}

impl ChunkMark {
    fn of(character: char) -> Self {
        match character {
            _ if character.is_whitespace() => ChunkMark::Space,
            '0'..='9' => ChunkMark::Figure,
            // Braces enclose a placeholder, which is only filled in if it stays in one piece.
            '{' | '}' => ChunkMark::Word,
            _ if character.is_alphabetic() => ChunkMark::Word,
            _ if character.is_ascii() => ChunkMark::Other,
            _ => ChunkMark::Mark,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_joined_are_the_text() {
        let text = "Dr. Lee paid $1,234.56 (approx.) — \u{65}\u{301}t\u{e9}!\n\n1. Reorganisation\n   `let x = 1;`\n{answer}.";
        let tokens = tokenize(text);
        assert_eq!(tokens.concat(), text);
        assert!(
            tokens.contains(&"e\u{301}t\u{e9}".to_owned())
                || tokens.contains(&" e\u{301}t\u{e9}".to_owned()),
            "{tokens:?}"
        );
        assert!(tokens.contains(&"{answer}".to_owned()), "{tokens:?}");
        assert!(tokens.contains(&"234".to_owned()), "{tokens:?}");
        assert!(tokens.iter().all(|token| !token.is_empty()));
        assert!(tokens.contains(&"isation".to_owned()), "{tokens:?}");
    }

    proptest::proptest! {
        #[test]
        fn no_character_is_lost_or_made_up(text in "\\PC{0,200}|[a-zA-Z{}\\s0-9.,]{0,80}") {
            proptest::prop_assert_eq!(tokenize(&text).concat(), text);
        }
    }

    #[test]
    fn the_last_chunk_completes_the_output_and_only_it() {
        let say: SayLine = serde_json::from_value(json!({"output": "a",
            "sentences": {"every_ms": 500, "texts": ["One.", "Two.\n", "Three."]}}))
        .unwrap();
        let chunks = say.chunks().unwrap();
        let texts: Vec<&str> = chunks
            .iter()
            .map(|chunk| chunk.fields["chunk"].as_str().unwrap())
            .collect();
        assert_eq!(texts, ["One. ", "Two.\n", "Three."]);
        let complete: Vec<bool> = chunks
            .iter()
            .map(|chunk| chunk.fields["complete"].as_bool().unwrap())
            .collect();
        assert_eq!(complete, [false, false, true]);
        assert_eq!(chunks[0].after, Duration::ZERO);
        assert_eq!(chunks[1].after, Duration::from_millis(500));
        assert_eq!(chunks[2].fields["coalesce_hint"], "completion");
    }

    #[test]
    fn a_say_line_without_a_manner_or_a_text_is_an_error() {
        for line in [
            json!({"output": "a"}),
            json!({"output": "a", "tokens": {"per_second": 0, "lines": ["x"]}}),
            json!({"output": "a", "tokens": {"per_second": 60, "lines": []}}),
            json!({"output": "a", "sentences": {"every_ms": 1, "texts": [""]}}),
            json!({"output": "a", "sentences": {"every_ms": 1, "texts": ["x"]},
                   "tokens": {"per_second": 60, "lines": ["x"]}}),
        ] {
            let say: SayLine = serde_json::from_value(line.clone()).unwrap();
            assert!(say.chunks().is_err(), "{line}");
        }
    }
}
