//! The code that cuts a text and the code that reads it agree.

use proptest::prelude::*;

use crate::announce::text::normalise::{OutputDisplay, Passage, ProseReader, Words};
use crate::announce::text::sentence::{Segmenter, Sentence};

/// Cuts a text that arrives in pieces of `piece` characters.
fn cut(text: &str, piece: usize) -> Vec<Sentence> {
    let mut segmenter = Segmenter::new(Some("en"));
    let letters: Vec<char> = text.chars().collect();
    let mut cut = Vec::new();
    for piece in letters.chunks(piece) {
        cut.extend(segmenter.push(&piece.iter().collect::<String>()));
    }
    cut.extend(segmenter.finish());
    cut
}

/// Reads a text aloud as it was cut, one line per piece.
fn spoken(text: &str) -> Vec<String> {
    let mut reader = ProseReader::default();
    let words = Words::default();
    cut(text, 1)
        .iter()
        .map(|piece| {
            let begins = piece.begins;
            let text = &piece.text;
            reader.read(Passage { text, begins }, &words, None)
        })
        .filter(|spoken| !spoken.is_empty())
        .collect()
}

fn shown(text: &str) -> String {
    let mut readable = OutputDisplay::default();
    let passage = Passage::new(text);
    readable.show(passage, &Words::default())
}

#[test]
fn inline_code_at_an_outputs_beginning_holds_nothing_back() {
    for begin in [
        "```cargo test``` is the command. ",
        "`cargo test` is the command. ",
        "~~~cargo test~~~ is the command. ",
        "- ```cargo test``` is the command. ",
        "> ```cargo test``` is the command. ",
        "``` ` ``` is a sign. ",
    ] {
        let text = format!("{begin}It runs. Then");
        let mut segmenter = Segmenter::new(Some("en"));
        let mut came = Vec::new();
        for (at, letter) in text.char_indices() {
            for sentence in segmenter.push(letter.encode_utf8(&mut [0; 4])) {
                came.push((at, sentence.text));
            }
        }
        let (at, first) = came.first().unwrap();
        assert_eq!(first, begin);
        assert!(*at <= begin.len() + 1, "{begin}: only after {at} bytes");
        assert_eq!(came.len(), 2, "{begin}: {came:?}");
    }
}

#[test]
fn a_block_of_code_in_an_item_ends_where_it_ends() {
    assert_eq!(
        spoken("Do:\n- ```sh\n  ls\n  ```\nThen rest. Well."),
        ["Do:", "code block, shell, 1 line", "Then rest.", "Well."]
    );
    assert_eq!(
        spoken("1. ```\n   ls\n   pwd\n   ```\n2. Rest."),
        ["1, code block, 2 lines", "item 2: Rest."]
    );
    assert_eq!(
        shown("1. ```\n   ls\n   ```\nThen *rest*."),
        "1.\nCode block:\n   ls\nEnd of code.\nThen rest."
    );
}

#[test]
fn a_block_of_code_in_a_quotation_ends_with_it() {
    assert_eq!(
        spoken("> ```rust\n> let x;\n> ```\n> said he.\n\nSo."),
        ["code block, Rust, 1 line", "quote: said he.", "So."]
    );
    let open = "> ```rust\n> let x;\n\nSo. It goes on. And";
    assert_eq!(spoken(open).last().unwrap(), "And");
    assert_eq!(
        shown("> ```rust\n> let x;\n> ```\nSo."),
        "Code block, Rust:\nlet x;\nEnd of code.\nSo."
    );
}

proptest! {
    /// Whatever an agent writes, what was cut as code is read as code, and everything else as prose.
    #[test]
    fn what_is_cut_as_code_is_read_as_code(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "```", "````", "`", "``", "~~~", "```rust", "```x```", "\n", "\n\n", "\n", "- ", "> ",
                "1. ", "# ", "a", "b. ", "c", " ", "  ", "|", "|--|", "\r\n",
            ]),
            0..30,
        ),
        piece in 1usize..9,
    ) {
        let text = parts.concat();
        let mut reader = ProseReader::default();
        let words = Words::default();
        for sentence in cut(&text, piece) {
            let begins = sentence.begins;
            reader.enter(begins);
            prop_assert_eq!(reader.in_code(), begins.in_code(), "{:?} in {:?}", sentence.text, text);
            reader.read(Passage { text: &sentence.text, begins }, &words, None);
        }
    }

    /// However a text arrives, it is cut into the same sentences.
    #[test]
    fn the_pieces_in_which_it_arrives_change_nothing(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "```", "`", "~~~", "```x```", "\n", "- ", "> ", "12", ". ", "# ", "a", "b. ", " ", "*", "+ ",
            ]),
            0..24,
        ),
        piece in 2usize..9,
    ) {
        let text = parts.concat();
        prop_assert_eq!(cut(&text, piece), cut(&text, 1));
    }
}
