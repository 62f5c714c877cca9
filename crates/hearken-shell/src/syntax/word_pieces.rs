//! Words and their pieces.

use tree_sitter::Node;

use super::statements::{DEEPEST, TreeReader};
use super::word_text::{ansi, number, push_quoted, sequence, unquoted};
use crate::word::{ShellWord, WordPiece};

impl TreeReader<'_> {
    /// Reads a word.
    pub(super) fn word(&mut self, node: Node<'_>, depth: usize) -> ShellWord {
        let mut word = ShellWord {
            pieces: Vec::new(),
            source: self.source(node).to_owned(),
        };
        self.pieces(node, depth, &mut word.pieces);
        word
    }

    pub(super) fn pieces(&mut self, node: Node<'_>, depth: usize, pieces: &mut Vec<WordPiece>) {
        let source = self.source(node).to_owned();
        if depth > DEEPEST {
            self.unread(node);
            pieces.push(WordPiece::Computed {
                source,
                scripts: Vec::new(),
                quoted: false,
            });
            return;
        }
        match node.kind() {
            "concatenation" => {
                let mut cursor = node.walk();
                let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
                for child in children {
                    self.pieces(child, depth + 1, pieces);
                }
            }
            "word"
            | "number"
            | "extglob_pattern"
            | "variable_name"
            | "test_operator"
            | "special_variable_name" => {
                unquoted(&source, pieces);
            }
            "raw_string" => {
                let inner = source
                    .strip_prefix('\'')
                    .and_then(|it| it.strip_suffix('\''));
                pieces.push(WordPiece::Quoted(inner.unwrap_or(&source).to_owned()));
            }
            "string" => {
                let word = self.expanded(node, depth);
                pieces.extend(word.pieces);
            }
            "ansi_c_string" => match ansi(&source) {
                Some(text) => pieces.push(WordPiece::Quoted(text)),
                None => {
                    self.unread(node);
                    pieces.push(WordPiece::Computed {
                        source,
                        scripts: Vec::new(),
                        quoted: false,
                    });
                }
            },
            "simple_expansion" => pieces.push(WordPiece::Variable {
                name: source.trim_start_matches('$').to_owned(),
                quoted: false,
            }),
            "command_substitution" | "process_substitution" => {
                let script = self.inner(node, depth);
                pieces.push(WordPiece::Command {
                    script,
                    source,
                    quoted: false,
                });
            }
            "expansion" | "arithmetic_expansion" | "brace_expression" | "translated_string" => {
                let name = source
                    .strip_prefix("${")
                    .and_then(|it| it.strip_suffix('}'));
                let plain = |name: &&str| {
                    !name.is_empty()
                        && name
                            .bytes()
                            .all(|it| it.is_ascii_alphanumeric() || it == b'_')
                };
                if let Some(name) = name.filter(plain) {
                    pieces.push(WordPiece::Variable {
                        name: name.to_owned(),
                        quoted: false,
                    });
                    return;
                }
                if let Some(text) = number(&source).or_else(|| sequence(&source)) {
                    pieces.push(WordPiece::Text(text));
                    return;
                }
                let mut scripts = Vec::new();
                self.substitutions(node, depth, &mut scripts);
                pieces.push(WordPiece::Computed {
                    source,
                    scripts,
                    quoted: false,
                });
            }
            // Punctuation as an argument of a command.
            _ if !node.is_named() && !source.contains(['$', '`', '\'', '"', '\\']) => {
                pieces.push(WordPiece::Quoted(source));
            }
            "$" => pieces.push(WordPiece::Quoted(source)),
            _ => {
                let mut scripts = Vec::new();
                self.substitutions(node, depth, &mut scripts);
                self.unread(node);
                pieces.push(WordPiece::Computed {
                    source,
                    scripts,
                    quoted: false,
                });
            }
        }
    }

    /// Reads text in double quotes or a here-document, in which only variables, commands and arithmetic are expanded.
    pub(super) fn expanded(&mut self, node: Node<'_>, depth: usize) -> ShellWord {
        let quoted = node.kind() == "string";
        let whole = self.source(node).to_owned();
        let mut word = ShellWord {
            pieces: Vec::new(),
            source: whole.clone(),
        };
        let begin = node.start_byte();
        let (mut at, end) = match quoted {
            true => (1, whole.len().saturating_sub(1)),
            false => (0, whole.len()),
        };
        let mut text = String::new();
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            let kind = child.kind();
            if !matches!(
                kind,
                "simple_expansion" | "expansion" | "command_substitution" | "arithmetic_expansion"
            ) {
                continue;
            }
            let (from, to) = (child.start_byte() - begin, child.end_byte() - begin);
            text.push_str(whole.get(at..from.max(at)).unwrap_or_default());
            at = to.max(at);
            push_quoted(&mut text, quoted, &mut word.pieces);
            let first = word.pieces.len();
            self.pieces(child, depth + 1, &mut word.pieces);
            for piece in word.pieces.iter_mut().skip(first) {
                if let WordPiece::Variable { quoted, .. }
                | WordPiece::Command { quoted, .. }
                | WordPiece::Computed { quoted, .. } = piece
                {
                    *quoted = true;
                }
            }
        }
        text.push_str(whole.get(at.min(end)..end).unwrap_or_default());
        push_quoted(&mut text, quoted, &mut word.pieces);
        if word.pieces.is_empty() {
            word.pieces.push(WordPiece::Quoted(String::new()));
        }
        word
    }
}
