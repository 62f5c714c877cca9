//! Shell constructs that the reader follows only in part: with one of them, a command is not known, whatever
//! else is found.
//!
//! Responsibilities: finding them by their syntax. Not here: what the rest of a command does (`walk`).
//!
//! The reader and bash agree on plain commands. Where bash evaluates text again, carries state from one command
//! to another, or reads a word in an unusual way, a harmless-looking command can run anything, so none of that
//! is ever cleared.

use tree_sitter::Node;

use super::TreeReader;

/// Builtins that change what later commands do, or run text.
const BUILTINS: &[&str] = &[
    "alias",
    "bind",
    "builtin",
    "coproc",
    "compgen",
    "complete",
    "compopt",
    "declare",
    "enable",
    "eval",
    "exec",
    "fc",
    "getopts",
    "hash",
    "history",
    "jobs",
    "let",
    "local",
    "mapfile",
    "readarray",
    "readonly",
    "shopt",
    "trap",
    "typeset",
    "unalias",
    "unset",
];

/// Comparisons in `[[ … ]]` that evaluate their operands as arithmetic.
const NUMERIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl TreeReader<'_> {
    /// Notes each construct that is followed only in part.
    pub(super) fn half_followed(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        // The number of command substitutions around each node, outermost first.
        let mut around = vec![0];
        loop {
            let node = cursor.node();
            let depth = around.last().copied().unwrap_or_default();
            if let Some(what) = self.half_follows(node, depth) {
                self.note(what);
            }
            if cursor.goto_first_child() {
                around.push(depth + usize::from(node.kind() == "command_substitution"));
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                around.pop();
            }
        }
    }

    /// Returns the construct of a node that is followed only in part.
    fn half_follows(&self, node: Node<'_>, substitutions: usize) -> Option<&'static str> {
        let source = self.source(node);
        match node.kind() {
            "function_definition" => Some("a function"),
            "case_item" if source_of_pattern(source).contains(['$', '`']) => {
                Some("a pattern that is computed")
            }
            "command_name" if source.contains(['$', '`']) => Some("a program that is computed"),
            "command_name" if BUILTINS.contains(&unquoted(source).as_str()) => {
                Some("a command of the shell itself")
            }
            "unset_command" => Some("a command of the shell itself"),
            "declaration_command" if !source.starts_with("export ") => {
                Some("a command of the shell itself")
            }
            "command_substitution" if source.starts_with('`') => Some("backquotes"),
            "comment" if substitutions > 0 => Some("a comment inside a command"),
            "expansion" if !is_plain_expansion(source) => Some("an expansion"),
            "arithmetic_expansion" | "c_style_for_statement" | "subscript"
                if has_name(source.trim_start_matches("$((")) =>
            {
                Some("arithmetic with names")
            }
            "compound_statement" if source.starts_with("((") && has_name(source) => {
                Some("arithmetic with names")
            }
            "test_command" if is_numeric_test(source) => Some("arithmetic with names"),
            "ansi_c_string" if source.replace("\\n", "").replace("\\t", "").contains('\\') => {
                Some("escapes in a string")
            }
            "heredoc_redirect" if !self.is_plain_heredoc(node) => Some("a here-document"),
            "file_descriptor" if !matches!(source, "0" | "1" | "2") => Some("a file descriptor"),
            "for_statement" => {
                let name = node.child_by_field_name("variable");
                let is_own = name.is_some_and(|name| crate::shell_state::is_own(self.source(name)));
                (!is_own).then_some("a variable that programs read")
            }
            "variable_assignment" if source.contains("+=") => Some("an assignment"),
            _ => None,
        }
    }

    /// Returns whether a node is a whole line.
    fn is_line(&self, node: Node<'_>) -> bool {
        let text = self.text.as_bytes();
        let before = node.start_byte().checked_sub(1).and_then(|at| text.get(at));
        let after = text.get(node.end_byte());
        before == Some(&b'\n') && after.is_none_or(|c| *c == b'\n')
    }

    /// Returns whether bash and the grammar end a here-document at the same line, and evaluate nothing in it.
    fn is_plain_heredoc(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        let mut start = None;
        let mut body = "";
        let mut end = None;
        let mut indents = false;
        for child in node.children(&mut cursor) {
            match child.kind() {
                "heredoc_start" => start = Some(self.source(child)),
                "heredoc_body" => body = self.source(child),
                "heredoc_end" if self.is_line(child) => end = Some(self.source(child)),
                "<<-" => indents = true,
                _ => {}
            }
        }
        let Some(start) = start else {
            return false;
        };
        let name = start.trim_matches(['\'', '"']);
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let is_quoted = start != name && start.len() == name.len() + 2;
        if indents || !is_name || !(is_quoted || start == name) {
            return false;
        }
        if !is_quoted && body.contains(['`', '$', '\\']) {
            return false;
        }
        // No line before the last may look like the end, with or without blanks.
        let lines = body.lines().filter(|line| line.trim() == name).count();
        end.is_some_and(|end| end == name) && lines == 0
    }
}

fn source_of_pattern(item: &str) -> &str {
    item.split(')').next().unwrap_or(item)
}

fn unquoted(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '\\' | '\'' | '"'))
        .collect()
}

/// Returns whether an expansion is only a variable's value, its length, or a literal default.
fn is_plain_expansion(source: &str) -> bool {
    let Some(inner) = source
        .strip_prefix("${")
        .and_then(|it| it.strip_suffix('}'))
    else {
        return false;
    };
    let inner = inner.strip_prefix('#').unwrap_or(inner);
    let (name, default) = inner.split_once(":-").unwrap_or((inner, ""));
    let is_name = name
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let is_literal = default
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || b"_./-".contains(&it));
    !name.is_empty() && is_name && is_literal
}

/// Returns whether an expression names a variable, which the shell evaluates again.
fn has_name(source: &str) -> bool {
    source.contains(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '`' | '['))
}

fn is_numeric_test(source: &str) -> bool {
    let words: Vec<&str> = source.split_whitespace().collect();
    let is_number = |word: &&str| {
        let word = word.trim_matches('"');
        matches!(word, "$#" | "$?")
            || (!word.is_empty() && word.bytes().all(|it| it.is_ascii_digit()))
    };
    source.starts_with("[[")
        && words.iter().enumerate().any(|(at, word)| {
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            NUMERIC.contains(word)
                && !(before.is_some_and(is_number) && words.get(at + 1).is_some_and(is_number))
        })
}
