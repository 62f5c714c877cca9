//! How deeply items are nested, in a list or in a drawn tree.
//!
//! Responsibilities: the level of a line, from its indentation or from the lines drawn before it. Not here: how a level
//! is spoken (`prose`).

/// How many levels are distinguished; deeper items count as on the last one.
const DEEPEST: usize = 16;

/// The levels that are open at a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    /// The indentation of each open level.
    indents: Vec<usize>,
    /// The level that was last heard.
    heard: usize,
}

impl Levels {
    /// Leaves all levels.
    pub(super) fn leave(&mut self) {
        self.indents.clear();
        self.heard = 0;
    }

    /// Enters the level of an item with this indentation; returns the level if it differs from the previous
    /// item's.
    pub(super) fn enter(&mut self, indent: usize) -> Option<usize> {
        while self.indents.len() > 1 && self.indents.last().is_some_and(|last| *last > indent) {
            self.indents.pop();
        }
        let is_deeper = self.indents.last().is_none_or(|last| indent >= last + 2);
        if is_deeper && self.indents.len() < DEEPEST {
            self.indents.push(indent);
        }
        let level = self.indents.len();
        let before = std::mem::replace(&mut self.heard, level);
        (level != before.max(1)).then_some(level)
    }
}

/// Returns how far a line is indented; a tab counts as four blanks.
pub(super) fn indent_of(line: &str) -> usize {
    let blanks = line.bytes().take_while(|b| matches!(b, b' ' | b'\t'));
    blanks.map(|b| if b == b'\t' { 4 } else { 1 }).sum()
}

/// Parses a line of a drawn tree, such as the output of `tree`: how far its branch is indented, and its text.
pub(super) fn branch(line: &str) -> Option<(usize, &str)> {
    let is_trunk = |c: char| matches!(c, ' ' | '\t' | '\u{a0}' | '│' | '┃' | '|');
    let bare = line.trim_start_matches(is_trunk);
    let indent = line[..line.len() - bare.len()].chars().count();
    let marks = [
        "├", "└", "╰", "┣", "┗", "┝", "┕", "|--", "`--", "+--", "\\--",
    ];
    // The bar of "|--" may have been taken for a trunk.
    let bar = line[..line.len() - bare.len()].ends_with('|') && bare.starts_with("--");
    let (mark, indent) = match marks.iter().find(|mark| bare.starts_with(**mark)) {
        Some(mark) => (*mark, indent),
        None if bar => ("--", indent - 1),
        None => return None,
    };
    let text = bare[mark.len()..].trim_start_matches(['─', '━', '╴', '-', '┬', '╼']);
    let spaced = text.trim_start_matches([' ', '\u{a0}']);
    let is_drawn = text.len() < bare[mark.len()..].len() || mark.ends_with("--");
    (is_drawn && spaced.len() < text.len()).then_some((indent, spaced.trim_end()))
}

/// How many branches make a tree.
const FEWEST: usize = 2;

/// Returns whether lines draw a tree: at least as many branches as other lines, such as roots and a program's
/// totals.
pub(super) fn is_drawn<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let (mut branches, mut others) = (0, 0);
    for line in lines {
        if branch(line).is_some() {
            branches += 1;
        } else if line.chars().any(char::is_alphanumeric) {
            others += 1;
        }
    }
    branches >= FEWEST && others <= branches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_heard_where_it_changes() {
        let mut levels = Levels::default();
        let heard: Vec<Option<usize>> = [0, 2, 2, 4, 0, 3, 1]
            .into_iter()
            .map(|indent| levels.enter(indent))
            .collect();
        assert_eq!(
            heard,
            [None, Some(2), None, Some(3), Some(1), Some(2), Some(1)]
        );
        let mut levels = Levels::default();
        for indent in 0..100 {
            levels.enter(2 * indent);
        }
        assert_eq!(levels.indents.len(), DEEPEST);
    }

    #[test]
    fn branches_are_told_from_tables_and_text() {
        for (line, wanted) in [
            ("├── src", Some((0, "src"))),
            ("│   └── main.rs", Some((4, "main.rs"))),
            ("    ├── x y ", Some((4, "x y"))),
            ("|-- src", Some((0, "src"))),
            ("|   `-- a", Some((4, "a"))),
            ("+-- b", Some((0, "b"))),
            ("├─ c", Some((0, "c"))),
            ("| a | b |", None),
            ("|---|---|", None),
            ("`--flag` x", None),
            ("├──────┤", None),
            ("text", None),
        ] {
            assert_eq!(branch(line), wanted, "{line}");
        }
    }
}
