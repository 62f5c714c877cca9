//! The searched words in rows: where they are, and the sign before each row that has some of them.
//!
//! # Mental model
//! A search compares texts; the screen has rows, in which a text is broken at words or within them, indented, and put
//! into the cells of a table. So the rows are read as one text again, in which a break between two rows counts as a
//! space or as nothing. Words that are apart in it, as in a folded cell, are found by as many of them as stand
//! together.

use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::protocol::is_direction_sign;

use super::text_rows::{PaneRow, led_by_sign};

/// What a row begins with besides its words: spaces, and the bar of a quotation.
const MARGIN: [char; 2] = [' ', '│'];

/// A piece of the rows' text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A character in lower case, with its row, its first column and the column after it.
    Sign(char, usize, usize, usize),
    /// The end of a row.
    Break,
}

/// Marks the searched words in rows, and puts a sign before each row that has some: rows must leave room for it.
/// Returns the rows and the number of the first marked one; `None` if no row has such words. The label at the beginning
/// is not searched.
pub(super) fn mark(
    mut rows: Vec<PaneRow>,
    label: &str,
    searched: &str,
    style: Style,
) -> Option<(Vec<PaneRow>, usize)> {
    let pieces = pieces(&rows);
    let skipped = label.to_lowercase();
    let skipped = skipped.chars().filter(|c| !c.is_whitespace()).count();
    let mut letters = 0;
    let begins = pieces.iter().position(|piece| {
        letters += usize::from(matches!(piece, Piece::Sign(c, ..) if *c != ' '));
        letters > skipped
    });
    let text = pieces.get(begins?..)?;
    let found = wanted(searched)
        .into_iter()
        .map(|wanted| found(text, &wanted))
        .find(|found| !found.is_empty())?;
    let mut marked = vec![false; rows.len()];
    for piece in found {
        if let Piece::Sign(_, row, from, to) = piece
            && let (Some(row), Some(marked)) = (rows.get_mut(row), marked.get_mut(row))
        {
            row.mark(from, to, style);
            *marked = true;
        }
    }
    let first = marked.iter().position(|marked| *marked)?;
    let led = rows.into_iter().zip(marked);
    let led = led.flat_map(|(row, marked)| led_by_sign(row, marked));
    Some((led.collect(), first))
}

/// Returns what to look for, the best first: all words, then fewer of them from the first, then the first one without
/// the signs around it, which may be Markdown's.
fn wanted(searched: &str) -> Vec<Vec<char>> {
    let lower = searched.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let bare = words
        .iter()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .find(|word| !word.is_empty());
    let fewer = (1..=words.len()).rev().filter_map(|n| words.get(..n));
    fewer
        .map(|words| words.join(" "))
        .chain(bare.map(str::to_owned))
        .map(|text| text.chars().collect())
        .collect()
}

/// Reads rows as one text, with spaces in a row counted as one.
fn pieces(rows: &[PaneRow]) -> Vec<Piece> {
    let mut all = Vec::new();
    for (nth, row) in rows.iter().enumerate() {
        let mut column = 0;
        let mut in_margin = true;
        for sign in row.text.graphemes(true) {
            let from = column;
            column += sign.width();
            if sign.starts_with(is_direction_sign) || in_margin && sign.starts_with(MARGIN) {
                continue;
            }
            in_margin = false;
            if sign.starts_with(char::is_whitespace) {
                if !matches!(all.last(), Some(Piece::Sign(' ', ..))) {
                    all.push(Piece::Sign(' ', nth, from, column));
                }
                continue;
            }
            let lower = sign.to_lowercase();
            all.extend(lower.chars().map(|c| Piece::Sign(c, nth, from, column)));
        }
        all.push(Piece::Break);
    }
    all
}

/// Returns the pieces of all places where a text is found.
fn found(pieces: &[Piece], wanted: &[char]) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(rest) = pieces.get(at..).filter(|rest| !rest.is_empty()) {
        match begins_with(rest, wanted) {
            Some(length) => {
                all.extend(rest.iter().take(length));
                at += length;
            }
            None => at += 1,
        }
    }
    all
}

/// Returns how many pieces a text takes, if they begin with it.
fn begins_with(pieces: &[Piece], wanted: &[char]) -> Option<usize> {
    let mut at = 0;
    for (nth, c) in wanted.iter().enumerate() {
        // A break stands for a space, or for nothing within a word; but no match begins with one.
        while nth > 0 && *c != ' ' && pieces.get(at) == Some(&Piece::Break) {
            at += 1;
        }
        match (pieces.get(at)?, c) {
            (Piece::Break, ' ') => {}
            (Piece::Sign(sign, ..), c) if sign == c => {}
            (Piece::Sign(..) | Piece::Break, _) => return None,
        }
        at += 1;
    }
    (at > 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(rows: &[&str], searched: &str) -> Option<(Vec<String>, usize)> {
        let rows = rows.iter();
        let rows = rows.map(|row| PaneRow::own((*row).to_owned(), Style::new()));
        let (rows, first) = mark(rows.collect(), "Bot says:", searched, Style::new())?;
        Some((rows.into_iter().map(|row| row.text).collect(), first))
    }

    fn signs(rows: &[&str], searched: &str) -> String {
        marked(rows, searched).map_or(String::new(), |(rows, _)| {
            rows.iter()
                .map(|row| if row.starts_with("» ") { '»' } else { '.' })
                .collect()
        })
    }

    #[test]
    fn words_are_found_across_rows_in_any_case_and_never_in_the_label() {
        let rows = [
            "Bot says: The Port is",
            "  80, and a transpor",
            "  ter says so.",
        ];
        assert_eq!(signs(&rows, "port"), "»»»");
        assert_eq!(signs(&rows, "is 80"), "»».");
        assert_eq!(signs(&rows, "TRANSPORTER  SAYS"), ".»»");
        assert_eq!(signs(&rows, "bot"), "");
        assert_eq!(signs(&rows, "says"), "..»");
        assert_eq!(signs(&rows, "nowhere"), "");
        assert_eq!(marked(&rows, "so.").unwrap().1, 2);
    }

    #[test]
    fn a_folded_cell_or_a_quotation_is_found_by_the_words_that_stand_together() {
        let folded = [
            "Bot says:",
            "  port │ The port that │ 1.0",
            "       │ it listens on │",
        ];
        assert_eq!(signs(&folded, "the port that it listens on"), ".».");
        let quoted = ["Bot says: x", "  │ Ports below", "  │ 1024 need root."];
        assert_eq!(signs(&quoted, "below 1024"), ".»»");
        assert_eq!(signs(&quoted, "**ports** below"), ".».");
    }

    #[test]
    fn the_sign_has_columns_of_its_own() {
        let (rows, _) = marked(&["Bot says: x", "  port"], "port").unwrap();
        assert_eq!(rows, ["  Bot says: x", "»   port"]);
    }
}
