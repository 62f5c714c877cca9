//! Streamed prose through sentence, coalesce and normalise on one core.
//!
//! `cargo bench --bench pipeline`; a name after `--` measures only that one, as in `all_three`. The targets:
//! 100 MB/s for prose and code in chunks of 25 bytes, 50 for Markdown, Chinese and Arabic, and no less for a
//! text ten times as long or a sentence without an end. A busy machine is slower: to compare two runs, use the
//! ratio to unicode-segmentation over the whole text, measured in the same run.

use std::fmt;
use std::hint::black_box;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use divan::Bencher;
use divan::counter::BytesCount;
use hearken::announce::coalesce::{Chunk, CoalesceSettings, Coalescer};
use hearken::announce::normalise::{Passage, ProseReader, Words};
use hearken::announce::sentence::Segmenter;
use unicode_segmentation::UnicodeSegmentation;

/// The size of a chunk in bytes: about five tokens.
const CHUNK: usize = 25;

const PROSE: &str = "I looked at the configuration and found two problems. The first is that the \
    retry limit is set to 3, which is too low for a slow network; the second is that the timeout is \
    never read. Dr. Smith wrote about this in 2014, and the U.S. team has seen it as well. Should I \
    change both? It would take about 20 minutes, and all the tests (there are 214 of them) would run \
    again. \"It works on my machine,\" she said, but it didn't. We can do better than that! ";

const MARKDOWN: &str = "## What I changed\n\n1. Raised `retry_limit` to **10** in src/config.rs\n2. \
    Read the timeout, see [the docs](https://example.com/docs/timeouts)\n\nThe function \
    `parseHTTPResponse()` now returns early. ✅ All tests pass in commit 9f86d081884c7d659a2f.\n\n\
    ```rust\nlet limit = 10;\nlet wait = limit * 2;\n```\n\nAnything else? ";

const CODE: &str = "impl Retries {\n    /// Gives how long to wait before the next attempt.\n    pub fn \
    wait(&self, attempt: u32) -> Duration {\n        let most = self.limit.min(1 << attempt.min(10));\n        \
    if most == 0 {\n            return Duration::ZERO;\n        }\n        Duration::from_millis(u64::from(most) \
    * 250)\n    }\n}\n\n";

/// Splits a text into chunks at character boundaries; each comes with its position in characters.
fn chunks(text: &str) -> Vec<(&str, u64)> {
    let mut chunks = Vec::new();
    let mut position = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let mut length = CHUNK.min(rest.len());
        while !rest.is_char_boundary(length) {
            length += 1;
        }
        let (chunk, later) = rest.split_at(length);
        chunks.push((chunk, position));
        position += chunk.chars().count() as u64;
        rest = later;
    }
    chunks
}

fn segment(chunks: &[(&str, u64)]) -> usize {
    let mut segmenter = Segmenter::new(Some("en"));
    let mut count = 0;
    for (chunk, _) in chunks {
        count += segmenter.push(black_box(chunk)).len();
    }
    count + segmenter.finish().len()
}

fn pipeline(chunks: &[(&str, u64)], words: &Words) -> usize {
    let mut reader = ProseReader::default();
    let mut coalescer = Coalescer::new(CoalesceSettings::default());
    let language = Arc::from("en");
    let mut bytes = 0;
    for (index, &(chunk, position)) in chunks.iter().enumerate() {
        let now = Duration::from_millis(index as u64);
        let chunk = Chunk {
            text: black_box(chunk),
            position: Some(position),
            complete: index + 1 == chunks.len(),
            language: Some(&language),
            ..Chunk::default()
        };
        for piece in coalescer.push(chunk, now) {
            let passage = Passage {
                text: &piece.text,
                begins: piece.begins,
            };
            bytes += reader.read(passage, words, None).len();
        }
    }
    bytes
}

/// A text and its name.
struct NamedText {
    name: &'static str,
    text: String,
}

impl fmt::Display for NamedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

static TEXTS: LazyLock<Vec<NamedText>> = LazyLock::new(|| {
    let texts = [
        ("prose, 1 MB", PROSE.repeat((1 << 20) / PROSE.len())),
        ("prose, 10 MB", PROSE.repeat(10 * (1 << 20) / PROSE.len())),
        ("prose and Markdown, 1 MB", {
            let mixed = PROSE.to_owned() + "\n\n" + MARKDOWN;
            mixed.repeat((1 << 20) / mixed.len())
        }),
        (
            "Markdown, 1 MB",
            MARKDOWN.repeat((1 << 20) / MARKDOWN.len()),
        ),
        (
            "code, 1 MB",
            format!("It is this:\n\n```rust\n{}```\n", CODE.repeat((1 << 20) / CODE.len())),
        ),
        (
            "a sentence without an end, 1 MB",
            "word and ".repeat((1 << 20) / 9),
        ),
        (
            "Chinese, 1 MB",
            "这个函数现在会提前返回，所有测试都通过了。还需要别的吗？".repeat((1 << 20) / 84),
        ),
        (
            "Japanese, 1 MB",
            "この関数はすぐに戻るようになりました。テストはすべて通っています。ほかに何か必要ですか？"
                .repeat((1 << 20) / 132),
        ),
        (
            "Hindi, 1 MB",
            "यह फ़ंक्शन अब जल्दी लौटता है। सभी परीक्षण सफल रहे। क्या और कुछ चाहिए? ".repeat((1 << 20) / 180),
        ),
        (
            "Arabic, 1 MB",
            "هذه الدالة تعود الآن مبكرا، وقد نجحت كل الاختبارات. هل تريد شيئا آخر؟ ".repeat((1 << 20) / 125),
        ),
    ];
    let text = |(name, text)| NamedText { name, text };
    texts.map(text).into()
});

fn texts() -> impl Iterator<Item = &'static NamedText> {
    TEXTS.iter()
}

#[divan::bench_group(sample_count = 20, sample_size = 1)]
mod texts_through {
    use super::*;

    #[divan::bench(args = texts())]
    fn unicode_segmentation(bencher: Bencher, text: &NamedText) {
        let run = || {
            black_box(text.text.as_str())
                .split_sentence_bounds()
                .count()
        };
        bencher
            .counter(BytesCount::of_str(&text.text))
            .bench_local(run);
    }

    #[divan::bench(args = texts())]
    fn sentence(bencher: Bencher, text: &NamedText) {
        let chunks = chunks(&text.text);
        bencher
            .counter(BytesCount::of_str(&text.text))
            .bench_local(|| segment(&chunks));
    }

    #[divan::bench(args = texts())]
    fn all_three(bencher: Bencher, text: &NamedText) {
        let (chunks, words) = (chunks(&text.text), Words::default());
        bencher
            .counter(BytesCount::of_str(&text.text))
            .bench_local(|| pipeline(&chunks, &words));
    }
}

fn main() {
    divan::main();
}
