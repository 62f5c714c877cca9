//! Cutting a line of text into lines of a width, by words and grapheme clusters.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cuts a text into lines of at most `width` columns, at spaces; a word that is wider than a line is
/// cut between grapheme clusters. Width 0 leaves the text as it is. At least one line comes back.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    if width == 0 {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word;
        if used > 0 {
            if used + 1 + word.width() > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            } else {
                line.push(' ');
                used += 1;
            }
        }
        while used + word.width() > width {
            let at = fits(word, width - used);
            line.push_str(&word[..at]);
            word = &word[at..];
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push_str(word);
        used += word.width();
    }
    lines.push(line);
    lines
}

/// Finds where the grapheme clusters that fit into a width end; at least one is taken, so that a cut
/// always goes on.
fn fits(word: &str, width: usize) -> usize {
    let mut used = 0;
    let mut end = 0;
    for (at, grapheme) in word.grapheme_indices(true) {
        used += grapheme.width();
        if used > width && at > 0 {
            break;
        }
        end = at + grapheme.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

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

    proptest::proptest! {
        #[test]
        fn any_text_ends(text in ".{0,80}", width in 1usize..20) {
            let squeezed = |text: &str| text.replace(' ', "");
            proptest::prop_assert_eq!(squeezed(&wrap(&text, width).concat()), squeezed(&text));
        }
    }
}
