//! Cutting text into lines of a given width, by words and grapheme clusters.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cuts a text into lines of at most `width` columns, at spaces, but not between a key and its number (`y 1`);
/// a word that is wider than a line is cut between grapheme clusters. Width 0 leaves the text unchanged.
/// Returns at least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    cut(text, width, "")
}

/// Cuts a text that is shown exactly as written, each of its lines separately; a row that ends inside a word ends
/// with `…`, so that a space between two words is never missed or imagined.
pub fn wrap_exact(text: &str, width: usize) -> Vec<String> {
    let mark = if width > NARROWEST_MARKED { CUT } else { "" };
    text.split('\n')
        .flat_map(|line| cut(line, width, mark))
        .collect()
}

/// What follows a part of a word that continues on the next row.
const CUT: &str = "…";
/// Up to this width, a row has no room for the mark.
const NARROWEST_MARKED: usize = 3;

fn cut(text: &str, width: usize, mark: &str) -> Vec<String> {
    if width == 0 {
        return vec![text.to_owned()];
    }
    let room = width - mark.width();
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in words(text) {
        if used > 0 {
            if used + 1 + word_width(word, width) > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            } else {
                line.push(' ');
                used += 1;
            }
        }
        // Measured grapheme by grapheme: a word may be as long as a message.
        let is_wide = !mark.is_empty() && used + word_width(word, width) > width;
        let room = if is_wide { room } else { width };
        for grapheme in word.graphemes(true) {
            let columns = grapheme.width();
            if used + columns > room && used > 0 {
                line.push_str(if is_wide { mark } else { "" });
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push_str(grapheme);
            used += columns;
        }
    }
    lines.push(line);
    lines
}

/// Splits a text at its spaces, but keeps a single letter with the number that follows it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let is_key = |word: &str| matches!(word.as_bytes(), [key] if key.is_ascii_lowercase());
        let is_number = |word: &str| {
            let number = word.trim_end_matches(['.', ',', ':', ';', ')']);
            (1..=LONGEST_NUMBER).contains(&number.len())
                && number.bytes().all(|b| b.is_ascii_digit())
        };
        let (mut word, mut left) = match text.split_once(' ') {
            Some((word, left)) => (word, Some(left)),
            None => (text, None),
        };
        if is_key(word)
            && let Some(after) = left
        {
            let end = after.find(' ').unwrap_or(after.len());
            if is_number(&after[..end]) {
                word = &text[..word.len() + 1 + end];
                left = text.get(word.len() + 1..);
            }
        }
        rest = left;
        Some(word)
    })
}

/// The longest number of a question or a choice, in digits.
const LONGEST_NUMBER: usize = 3;

/// Returns the width of a word, measured only until it exceeds `width`: a wider word is cut anyway.
fn word_width(word: &str, width: usize) -> usize {
    let mut used = 0;
    for grapheme in word.graphemes(true) {
        used += grapheme.width();
        if used > width {
            break;
        }
    }
    used
}

/// A cut between words may cost up to `1 / COST` of a length.
const COST: usize = 4;

/// Returns the beginning of a text with at most `most` characters, cut between words if that costs
/// little, and otherwise between grapheme clusters.
pub fn beginning(text: &str, most: usize) -> &str {
    let Some((hard, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let space = text[..hard].rfind(char::is_whitespace);
    if let Some(space) = space.filter(|at| *at >= hard - hard / COST) {
        return &text[..space];
    }
    let whole = text
        .grapheme_indices(true)
        .map(|(at, cluster)| at + cluster.len())
        .take_while(|end| *end <= hard)
        .last();
    // A cluster longer than a part is not a real letter.
    &text[..whole.unwrap_or(hard)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_with_its_number() {
        let text = "Type y 1 and then c 1 to accept, n 1 to reject, d 1 for details. a 1";
        assert_eq!(words(text).collect::<Vec<_>>().join(" "), text);
        for width in 8..60 {
            for line in wrap(text, width) {
                let last = line.rsplit(' ').next().unwrap_or_default();
                assert!(
                    last.len() > 1 || last.starts_with(char::is_numeric),
                    "{line}"
                );
                assert!(!line.starts_with(char::is_numeric), "{line}");
            }
        }
        for plain in ["a  b", " a 1 ", "x 12345 y", "", "y 1"] {
            assert_eq!(words(plain).collect::<Vec<_>>().join(" "), plain);
        }
    }

    #[test]
    fn words_and_widths_are_kept() {
        let text =
            "A question about a_very_long_identifier_that_does_not_fit and 日本語の文章 too.";
        for width in [2, 5, 14, 34, 74] {
            let lines = wrap(text, width);
            assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
            let squeezed = |text: &str| text.replace(' ', "");
            assert_eq!(squeezed(&lines.concat()), squeezed(text));
        }
        assert_eq!(wrap(text, 0), [text]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn a_word_of_a_megabyte_is_cut_in_linear_time() {
        let lines = wrap(&"x".repeat(1 << 20), 40);
        assert_eq!(lines.len(), (1 << 20) / 40 + 1);
    }

    proptest::proptest! {
        #[test]
        fn any_text_ends(text in ".{0,80}", width in 1usize..20) {
            let squeezed = |text: &str| text.replace(' ', "");
            proptest::prop_assert_eq!(squeezed(&wrap(&text, width).concat()), squeezed(&text));
        }
    }

    /// Cuts a text into pieces as the parts of a question are cut.
    fn pieces(text: &str, most: usize) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let piece = beginning(rest, most);
            assert!(!piece.is_empty() && piece.chars().count() <= most);
            rest = rest[piece.len()..].trim_start();
            pieces.push(piece);
        }
        pieces
    }

    #[test]
    fn a_text_is_cut_between_words_or_clusters() {
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(pieces(&family.repeat(3), 7), [family; 3]);
        assert_eq!(pieces(&"e\u{301}".repeat(3), 3), ["e\u{301}"; 3]);
        assert_eq!(pieces("one two three", 8), ["one two", "three"]);
        assert_eq!(pieces(&"x".repeat(25), 10).len(), 3);
        // An endless cluster is cut off with its part.
        let zalgo = format!("a{}", "\u{301}".repeat(5000));
        assert_eq!(beginning(&zalgo, 1000).chars().count(), 1000);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_all_there_in_its_pieces(text in "\\PC{0,60}", most in 1usize..9) {
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            let pieces = pieces(&text, most);
            proptest::prop_assert_eq!(squeezed(&pieces.concat()), squeezed(&text));
        }
    }
}
