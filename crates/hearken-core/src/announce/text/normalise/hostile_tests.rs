//! Texts made to slow a reader down.

use std::time::{Duration, Instant};

use super::tests::WORDS;
use super::{Words, exact, prose};

/// The length of a hostile text, in bytes; a debug build is some ten times slower.
const HOSTILE: usize = if cfg!(debug_assertions) {
    1 << 15
} else {
    1 << 20
};

/// How long a hostile text may take on a busy machine; quadratic time would take much longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Shapes that cost careless readers much time or memory. Commands are read as in questions.
#[test]
fn hostile_texts_take_linear_time() {
    let words = &*WORDS;
    let many = |unit: &str| unit.repeat(HOSTILE / unit.len());
    let mut shapes: Vec<String> = [
        "`",
        "` ",
        "[",
        "](",
        "](x",
        "![",
        "[a](b) ",
        "](b ",
        "|",
        "|a",
        "||&",
        ">",
        "\u{1b}",
        "\u{1b}]",
        "\u{1b}[1",
        "\u{9d}",
        "\u{9d}a",
        "\u{1b}Pa ",
        "(",
        "()",
        "(a.b.",
        "a.b.",
        "*",
        "**a",
        "_",
        "_a",
        "~~",
        "-",
        "--a",
        "- - ",
        "# ",
        "> ",
        "1. ",
        "\n",
        "a\n",
        "|a|\n",
        "```\n",
        "```",
        "://",
        "a://",
        "a@b.",
        "0f",
        "aB",
        "🚀",
        "👩\u{200d}",
        "1\u{fe0f}\u{20e3}",
        "│",
        "⠋ ",
        "'",
        "\"",
        "? ",
        "…",
        "…a",
        "\u{200d}",
        "\u{fe0f}",
        "$1",
        "<b>",
        "</",
        "\\",
        "&&",
        "a:",
        "'a",
        "é",
        "न\u{94d}\u{200d}",
        "x ",
        "$",
        "$x",
        "$$",
        "\\(",
        "\\[x",
        "\\begin{a}",
        "<sup>",
        "<sup>2</sup>",
        "<a x=\"",
        "<td>",
        "<li>",
        "<table><tr><th>a",
        "&lt;",
        "&amp",
        "^{",
        "x^2",
        "├── a\n",
        "5 GB ",
        "√(",
        "a<b,",
        "²",
        "₂",
        "::",
        "a && ",
    ]
    .map(many)
    .to_vec();
    shapes.push(many("](") + ")");
    shapes.push(many("](") + " x)");
    shapes.push(many("(") + &many("a.b."));
    shapes.push(
        "| ".to_owned()
            + &"a".repeat(HOSTILE / 2)
            + " | b |\n|--|--|\n"
            + &"|a|b|\n".repeat(HOSTILE / 16),
    );
    for shape in &shapes {
        for (name, read) in [
            ("prose", prose as fn(&str, &Words) -> String),
            ("exact", exact),
        ] {
            let begun = Instant::now();
            let spoken = read(shape, words);
            let taken = begun.elapsed();
            let start: String = shape.chars().take(8).collect();
            assert!(taken < PATIENCE, "{name} of {start:?}: {taken:?}");
            assert!(
                spoken.len() <= 32 * shape.len(),
                "{name} of {start:?}: {} bytes",
                spoken.len()
            );
        }
    }
}
