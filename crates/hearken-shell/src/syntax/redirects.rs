//! Redirections and here-documents.

use tree_sitter::Node;

use super::statements::TreeReader;
use super::{CommandStep, Direction, ListOperator, Redirect};
use crate::word::ShellWord;

/// The text after the operator of a here-document on its line.
pub(super) enum Continuation {
    Pipe(Vec<CommandStep>),
    Joined(ListOperator, CommandStep),
}

impl TreeReader<'_> {
    pub(super) fn redirected(&mut self, node: Node<'_>, depth: usize) -> CommandStep {
        let body = node.child_by_field_name("body");
        let mut step = body.and_then(|body| self.step(body, depth + 1));
        let (mut redirects, mut words, mut continuations) = (Vec::new(), Vec::new(), Vec::new());
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            if Some(child) == body {
                continue;
            }
            match child.kind() {
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    let (more, arguments, after) = self.redirect(child, depth);
                    redirects.extend(more);
                    words.extend(arguments);
                    continuations.extend(after);
                }
                "comment" => {}
                _ => {
                    self.unread(child);
                }
            }
        }
        match &mut step {
            Some(CommandStep::Simple(simple)) => {
                simple.redirects.append(&mut redirects);
                simple.words.append(&mut words);
            }
            // These belong to the last command of a pipe.
            Some(CommandStep::Pipeline(steps)) => {
                if let Some(CommandStep::Simple(simple)) = steps.last_mut() {
                    simple.redirects.append(&mut redirects);
                    simple.words.append(&mut words);
                }
            }
            Some(_) | None => {}
        }
        if !words.is_empty() {
            self.unread(node);
        }
        let step = match step {
            Some(step) if redirects.is_empty() => step,
            step => CommandStep::Group {
                body: step.into_iter().collect(),
                redirects,
                subshell: false,
            },
        };
        continuations
            .into_iter()
            .fold(step, |step, continuation| match continuation {
                Continuation::Pipe(mut steps) => {
                    steps.insert(0, step);
                    CommandStep::Pipeline(steps)
                }
                Continuation::Joined(operator, next) => {
                    CommandStep::List(Box::new(step), vec![(operator, next)])
                }
            })
    }

    /// Reads a redirection, and returns it with the arguments that the grammar took for part of it, and with
    /// the text after the operator of a here-document.
    pub(super) fn redirect(
        &mut self,
        node: Node<'_>,
        depth: usize,
    ) -> (Vec<Redirect>, Vec<ShellWord>, Vec<Continuation>) {
        let (mut redirects, mut words, mut continuations) = (Vec::new(), Vec::new(), Vec::new());
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        match node.kind() {
            "herestring_redirect" => {
                let target = children.iter().rfind(|child| child.is_named());
                let target = target
                    .map(|target| self.word(*target, depth))
                    .unwrap_or_default();
                redirects.push(Redirect {
                    direction: Direction::Here,
                    target,
                });
            }
            "heredoc_redirect" => self.heredoc(
                &children,
                depth,
                &mut redirects,
                &mut words,
                &mut continuations,
            ),
            _ => {
                let sign = children.iter().find(|child| !child.is_named());
                let sign = sign
                    .map(|sign| self.source(*sign).to_owned())
                    .unwrap_or_default();
                let mut targets = Vec::new();
                for child in children {
                    match child.kind() {
                        "file_descriptor" => {}
                        // A number right before a redirection names the stream.
                        "number" | "word" if self.is_stream(child) => {}
                        _ if child.is_named() => targets.push(self.word(child, depth)),
                        _ => {}
                    }
                }
                let mut targets = targets.into_iter();
                let first = targets.next();
                // For the grammar, the words that follow are further targets; for the shell, they are
                // arguments.
                words.extend(targets);
                let number = |word: &ShellWord| {
                    let digits = word.source.strip_suffix('-').unwrap_or(&word.source);
                    word.source == "-"
                        || (!digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
                };
                let direction = match (sign.as_str(), &first) {
                    (">&-" | "<&-", _) => {
                        words.splice(0..0, first.clone());
                        Direction::Stream
                    }
                    (">&" | "<&", Some(target)) if number(target) => Direction::Stream,
                    ("<" | "<&", Some(_)) => Direction::Read,
                    (">" | ">|" | "&>" | ">&", Some(_)) => Direction::Write,
                    (">>" | "&>>", Some(_)) => Direction::Append,
                    _ => {
                        self.unread(node);
                        Direction::Write
                    }
                };
                redirects.push(Redirect {
                    direction,
                    target: first.unwrap_or_default(),
                });
            }
        }
        (redirects, words, continuations)
    }

    fn is_stream(&self, node: Node<'_>) -> bool {
        let next = self.text.get(node.end_byte()..).unwrap_or_default();
        next.starts_with(['<', '>']) && self.source(node).bytes().all(|it| it.is_ascii_digit())
    }

    pub(super) fn heredoc(
        &mut self,
        children: &[Node<'_>],
        depth: usize,
        redirects: &mut Vec<Redirect>,
        words: &mut Vec<ShellWord>,
        continuations: &mut Vec<Continuation>,
    ) {
        let mut literal = false;
        let mut operator = ListOperator::And;
        let mut body = ShellWord::default();
        for child in children {
            match child.kind() {
                "heredoc_start" => literal = self.source(*child).contains(['\'', '"', '\\']),
                "heredoc_body" => {
                    body = match literal {
                        true => ShellWord::certain(self.source(*child)),
                        false => self.expanded(*child, depth),
                    };
                }
                "heredoc_end" | "file_descriptor" | "comment" => {}
                "&&" => operator = ListOperator::And,
                "||" => operator = ListOperator::Or,
                "pipeline" => {
                    continuations.push(Continuation::Pipe(self.statements(*child, depth)))
                }
                "file_redirect" | "herestring_redirect" => {
                    let (more, arguments, _) = self.redirect(*child, depth);
                    redirects.extend(more);
                    words.extend(arguments);
                }
                kind if child.is_named() => {
                    let is_word = matches!(
                        kind,
                        "word"
                            | "string"
                            | "raw_string"
                            | "concatenation"
                            | "number"
                            | "simple_expansion"
                            | "expansion"
                            | "command_substitution"
                            | "ansi_c_string"
                            | "process_substitution"
                    );
                    if is_word {
                        let word = self.word(*child, depth);
                        words.push(word);
                    } else if let Some(step) = self.step(*child, depth + 1) {
                        continuations.push(Continuation::Joined(operator, step));
                    }
                }
                _ => {}
            }
        }
        redirects.push(Redirect {
            direction: Direction::Here,
            target: body,
        });
    }
}
