//! The corpus, and properties of every text.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::announce::text::markdown::PieceStart;
use crate::announce::text::sentence::Segmenter;

const CORPUS: &str = include_str!("../../../../../../tests/fixtures/normalise.tsv");

pub(super) static WORDS: LazyLock<Words> = LazyLock::new(Words::default);

pub(super) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next().unwrap() {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '\\' => out.push('\\'),
            'x' => {
                let digits: String = chars.by_ref().take(2).collect();
                out.push(char::from(u8::from_str_radix(&digits, 16).unwrap()));
            }
            'u' => {
                let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
            }
            other => panic!("unknown escape {other:?} in {text:?}"),
        }
    }
    out
}

#[test]
fn the_corpus_is_spoken_as_it_says() {
    let words = &*WORDS;
    let mut cases = 0;
    let mut wrong = Vec::new();
    for line in CORPUS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
    {
        let [profile, input, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not three fields: {line:?}");
        };
        let input = unescape(input);
        let spoken = match profile {
            "clean" => clean(&input).into_owned(),
            "prose" => prose(&input, words),
            "exact" => exact(&input, words),
            "command" => command(&input, words),
            other => panic!("unknown profile {other:?}"),
        };
        cases += 1;
        if spoken != expected {
            wrong.push(format!("{line}\n    got: {spoken}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {cases}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(cases >= 150, "only {cases} cases");
}

#[test]
fn every_sign_of_a_command_is_heard() {
    let words = &*WORDS;
    for c in (' '..='~').filter(|c| c.is_ascii_punctuation()) {
        for text in [
            format!("{c}"),
            format!("{c}x"),
            format!("x {c} y"),
            format!("x {c}y"),
            format!("a {c}{c} b"),
        ] {
            let heard = command(&text, words);
            assert!(
                heard.len() > text.len() && heard.chars().all(|c| c.is_alphanumeric() || c == ' '),
                "{text:?}: {heard:?}"
            );
        }
        // In a question, brackets and a stop after a word are pauses; everything else is spoken.
        let heard = exact(&format!("x {c}y"), words);
        if !matches!(c, '(' | ')') {
            assert!(
                heard.chars().all(|c| c.is_alphanumeric() || c == ' '),
                "{c:?}: {heard:?}"
            );
        }
    }
}

#[test]
fn no_english_is_hard_wired() {
    let mut words = Words::default();
    let shout = |sign: &mut SignWords| {
        sign.one = "§".into();
        sign.many = "§§".into();
    };
    words.signs.iter_mut().for_each(shout);
    words.prose.iter_mut().for_each(shout);
    assert_eq!(exact("-f | x", &words), "§ f § x");
    assert_eq!(prose("a -> /b", &words), "a § § b");
    assert_eq!(prose("======", &words), "6 §§");
}

/// Reads a text as it is cut into sentences on arrival.
pub(super) fn streamed(text: &str, chunk: usize) -> Vec<(String, String)> {
    let words = &*WORDS;
    let mut segmenter = Segmenter::new(Some("en"));
    let (mut reader, mut readable) = (ProseReader::default(), OutputDisplay::default());
    let mut rest = text;
    let mut sentences = Vec::new();
    while !rest.is_empty() {
        let mut length = chunk.min(rest.len());
        while !rest.is_char_boundary(length) {
            length += 1;
        }
        sentences.extend(segmenter.push(&rest[..length]));
        rest = &rest[length..];
    }
    sentences.extend(segmenter.finish());
    sentences
        .iter()
        .map(|sentence| {
            let passage = Passage {
                text: &sentence.text,
                begins: sentence.begins,
            };
            (
                reader.read(passage, words, None),
                readable.show(passage, words),
            )
        })
        .filter(|(spoken, shown)| !spoken.is_empty() || !shown.is_empty())
        .collect()
}

fn heard(text: &str) -> Vec<String> {
    streamed(text, 3)
        .into_iter()
        .map(|(heard, _)| heard)
        .collect()
}

#[test]
fn a_distance_never_stands_behind_a_word_that_wants_a_moment() {
    let now = "2026-04-21T21:00:00Z".parse().ok();
    for (text, wanted) in [
        ("Done 2026-04-21T10:00:00Z", "Done 11 hours ago"),
        (
            "Starts at 2026-04-21T10:00:00Z",
            "Starts at 21 April 2026 at 10:00 UTC",
        ),
        (
            "Since 2026-04-21T22:00:00Z",
            "Since 21 April 2026 at 22:00 UTC",
        ),
    ] {
        let mut reader = ProseReader::default();
        let passage = Passage::new(text);
        assert_eq!(reader.read(passage, &WORDS, now), wanted);
    }
}

#[test]
fn a_reader_remembers_the_block_between_pieces() {
    let words = &*WORDS;
    let mut reader = ProseReader::default();
    let mut begins = PieceStart::Line;
    let mut read = |text: &str, next: PieceStart| {
        let passage = Passage { text, begins };
        begins = next;
        reader.read(passage, words, None)
    };
    assert_eq!(read("Look.\n", PieceStart::Line), "Look.");
    assert_eq!(read("```rust\n", PieceStart::Code), "code block, Rust");
    assert_eq!(read("fn main() {\n", PieceStart::Code), "");
    assert_eq!(read("}\n", PieceStart::Code), "");
    assert_eq!(read("```\n", PieceStart::Line), "2 lines, end of code");
    assert_eq!(read("| A | B |\n", PieceStart::Line), "table: A, B");
    assert_eq!(read("|---|---|\n", PieceStart::Line), "");
    assert_eq!(read("| 1 | 2 |\n", PieceStart::Line), "A: 1, B: 2");
    assert_eq!(read("After.", PieceStart::Line), "After.");
}

#[test]
fn a_line_that_closes_its_backticks_holds_nothing_back() {
    let text = "Use it.\n```cargo test``` runs them. Then push.\n\n~~~gone~~~ is old. Yes.\n";
    assert_eq!(
        heard(text),
        [
            "Use it.",
            "cargo test runs them.",
            "Then push.",
            "gone is old.",
            "Yes."
        ]
    );
    // Marks in the middle of a line open nothing, neither in speech nor on the screen.
    let text = "Fine. ~~~ is a mark.\nSo is this. ```\nAll is said.\n";
    let all: Vec<(String, String)> = streamed(text, 3);
    assert!(
        all.iter().any(|(heard, _)| heard == "All is said."),
        "{all:?}"
    );
    assert!(
        all.iter().all(|(heard, _)| !heard.contains("code")),
        "{all:?}"
    );
    assert!(
        all.iter().all(|(_, shown)| !shown.contains("ode")),
        "{all:?}"
    );
}

#[test]
fn operators_are_words_with_and_without_backticks() {
    for (text, wanted) in [
        ("Run `a && b` now.", "Run a and then b now."),
        ("Run a && b now.", "Run a and then b now."),
        (
            "`make 2>&1 | tee log`",
            "make 2 redirect to descriptor 1 pipe tee log",
        ),
        (
            "make 2>&1 | tee log",
            "make 2 redirect to descriptor 1 pipe tee log",
        ),
        ("Try x || y.", "Try x or else y."),
        ("ls >out.txt", "ls redirect to out.txt"),
        ("rm *.log", "rm star dot log"),
        (
            "`foo(&x)`",
            "foo open parenthesis ampersand x close parenthesis",
        ),
        ("`foo_bar()` and `Vec::new`", "foo bar and Vec new"),
        ("`x == y`", "x equals equals y"),
        ("5 < 6 and Vec<String>", "5 less than 6 and Vec of String"),
    ] {
        assert_eq!(heard(text), [wanted], "{text}");
    }
}

#[test]
fn a_line_with_a_bar_behind_a_table_is_no_row_of_it() {
    assert_eq!(
        heard("| A | B |\n|---|---|\n| 1 | x \\| y |\nRun `ls | wc`.\n").last(),
        Some(&"Run ls pipe wc.".to_owned())
    );
    let text = "| A | B |\n|---|---|\n| 1 | `x \\| y` |\nRun ls | wc\n";
    let shown: Vec<String> = streamed(text, 5)
        .into_iter()
        .map(|(_, shown)| shown)
        .collect();
    assert_eq!(shown.last().map(String::as_str), Some("Run ls | wc"));
    assert!(
        heard(text).join(" ").contains("B: x pipe y"),
        "{:?}",
        heard(text)
    );
}

#[test]
fn commands_in_a_streamed_answer_keep_every_sign_however_the_chunks_fall() {
    for (text, wanted) in [
        (
            "Use `cat <a >>b` here.",
            "Use cat redirect from a append to b here.",
        ),
        (
            "Then `x || y; z &` ends.",
            "Then x or else y semicolon z ampersand ends.",
        ),
        ("- run `a && b`\n- and `c | d`\n", "c pipe d"),
        ("> `a | b` is quoted\n", "a pipe b is quoted"),
        ("## Run `a && b`\n", "a and then b"),
        ("See **`ls | wc`** now.", "ls pipe wc"),
        ("`git commit --no-verify` skips.", "dash dash no"),
    ] {
        for size in [1, 3, 1000] {
            let all = streamed(text, size);
            let heard: Vec<&str> = all.iter().map(|(heard, _)| heard.as_str()).collect();
            assert!(heard.join(" ").contains(wanted), "{wanted:?} in {heard:?}");
        }
    }
}

/// Texts of meaningful signs and arbitrary characters.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "word",
        "Bc",
        "7",
        "0f3c9d2",
        " ",
        "  ",
        "\n",
        "\t",
        "-",
        "--",
        "`",
        "```",
        "*",
        "_",
        "[",
        "](",
        "]",
        "(",
        ")",
        "|",
        "|--|",
        ">",
        ">>",
        "&&",
        "#",
        "1. ",
        "- ",
        ".",
        "...",
        ",",
        ":",
        "://",
        "www.",
        "@",
        "/",
        "\\",
        "$",
        "%",
        "~",
        "=",
        "+",
        "\"",
        "'",
        "!",
        "![",
        "?",
        "<b>",
        "é",
        "中",
        "न\u{94d}",
        "ن",
        "\u{200c}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{20e3}",
        "🚀",
        "👩",
        "💻",
        "🇩",
        "│",
        "⠋",
        "→",
        "…",
        "—",
        "™",
        "ℹ",
        "②",
        "\u{301}",
        "\u{1b}[",
        "\u{1b}]",
        "\u{7}",
        "\u{9b}",
        "\u{202e}",
        "\u{e0041}",
        "\u{180b}",
        "ᠠ",
        "\u{e0100}",
        "2026-04-21",
        "T10:22",
        "$",
        "\\(",
        "\\frac{",
        "}",
        "^2",
        "<sup>",
        "</sup>",
        "<td>",
        "<a href=x>",
        "&lt;",
        "&#x200b;",
        "²",
        "√",
        "├── ",
        " GB",
        "<T>",
        "\u{2028}",
        "\u{a0}",
        "\u{3000}",
    ]);
    let built = prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat());
    prop_oneof![
        built,
        any::<String>(),
        prop::collection::vec(any::<char>(), 0..24).prop_map(String::from_iter)
    ]
}

/// Returns whether a circled or squared letter is named as a picture when joined to others.
fn is_pictured(c: char) -> bool {
    matches!(
        c,
        '\u{2139}' | '\u{24c2}' | '\u{3297}' | '\u{3299}' | '\u{1f100}'..='\u{1f1ff}'
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_hidden_comes_out(text in texts()) {
        let words = &*WORDS;
        for out in [prose(&text, words), exact(&text, words), command(&text, words), clean(&text).into_owned()] {
            prop_assert!(!hides(&out), "{out:?}");
            prop_assert!(!out.chars().any(char::is_control), "{out:?}");
        }
        let lines = clean_lines(&text);
        prop_assert!(!hides(&lines) && !lines.chars().any(|c| c.is_control() && c != '\n'), "{lines:?}");
    }

    #[test]
    fn cleaning_twice_changes_nothing(text in texts()) {
        let once = clean(&text);
        prop_assert_eq!(&clean(&once), &once);
        if !hides(&text) && !text.contains(['\n', '\r', '\t', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
            prop_assert_eq!(&clean(&text), &text);
        }
    }

    #[test]
    fn questions_keep_every_letter_and_digit(text in texts()) {
        let out = exact(&text, &WORDS);
        let shown = clean(&text);
        let mut heard = out.chars();
        // A look-alike letter is spoken by its code.
        let is_plain = |c: &char| c.is_ascii() || unmasked(&c.to_string()).is_none();
        for c in shown.chars().filter(|c| c.is_alphanumeric() && !is_pictured(*c) && is_plain(c)) {
            prop_assert!(heard.any(|other| other == c), "{c:?} of {shown:?} is not in {out:?}");
        }
    }

    #[test]
    fn a_reader_takes_any_pieces(pieces in prop::collection::vec(texts(), 0..6)) {
        let words = &*WORDS;
        let mut reader = ProseReader::default();
        for piece in pieces {
            prop_assert!(!hides(&reader.read(Passage::new(&piece), words, None)));
        }
    }

    #[test]
    fn any_dictionary_and_text_go_together(text in texts(), from in texts(), to in texts()) {
        let dictionary = Pronunciation::new([(from, to)]);
        let _ = dictionary.apply(&text);
    }
}
