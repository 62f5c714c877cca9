//! Redirections, and text that stands in place of a file.

use tree_sitter::Node;

use super::statements::Reader;
use super::{Direction, Joint, Redirect, Step};
use crate::word::Word;

/// What stands behind the beginning of a text in place, on the same line.
pub(super) enum Behind {
    Pipe(Vec<Step>),
    Joined(Joint, Step),
}

impl Reader<'_> {
    pub(super) fn redirected(&mut self, node: Node<'_>, depth: usize) -> Step {
        let body = node.child_by_field_name("body");
        let mut step = body.and_then(|body| self.step(body, depth + 1));
        let (mut redirects, mut words, mut behind) = (Vec::new(), Vec::new(), Vec::new());
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
                    behind.extend(after);
                }
                "comment" => {}
                _ => {
                    self.unread(child);
                }
            }
        }
        match &mut step {
            Some(Step::Simple(simple)) => {
                simple.redirects.append(&mut redirects);
                simple.words.append(&mut words);
            }
            // They belong to the last command of a pipe.
            Some(Step::Pipeline(steps)) => {
                if let Some(Step::Simple(simple)) = steps.last_mut() {
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
            step => Step::Group {
                body: step.into_iter().collect(),
                redirects,
                subshell: false,
            },
        };
        behind.into_iter().fold(step, |step, behind| match behind {
            Behind::Pipe(mut steps) => {
                steps.insert(0, step);
                Step::Pipeline(steps)
            }
            Behind::Joined(joint, next) => Step::List(Box::new(step), vec![(joint, next)]),
        })
    }

    /// Reads a redirection: what it does, the arguments that the grammar took for a part of it, and what stands behind
    /// the beginning of a text in place.
    pub(super) fn redirect(
        &mut self,
        node: Node<'_>,
        depth: usize,
    ) -> (Vec<Redirect>, Vec<Word>, Vec<Behind>) {
        let (mut redirects, mut words, mut behind) = (Vec::new(), Vec::new(), Vec::new());
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
            "heredoc_redirect" => {
                self.here(&children, depth, &mut redirects, &mut words, &mut behind)
            }
            _ => {
                let sign = children.iter().find(|child| !child.is_named());
                let sign = sign
                    .map(|sign| self.source(*sign).to_owned())
                    .unwrap_or_default();
                let mut targets = Vec::new();
                for child in children {
                    match child.kind() {
                        "file_descriptor" => {}
                        // A number right before a redirection is the stream that is redirected.
                        "number" | "word" if self.is_stream(child) => {}
                        _ if child.is_named() => targets.push(self.word(child, depth)),
                        _ => {}
                    }
                }
                let mut targets = targets.into_iter();
                let first = targets.next();
                // The grammar takes what follows for further targets; the shell takes it for arguments.
                words.extend(targets);
                let number = |word: &Word| {
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
        (redirects, words, behind)
    }

    fn is_stream(&self, node: Node<'_>) -> bool {
        let next = self.text.get(node.end_byte()..).unwrap_or_default();
        next.starts_with(['<', '>']) && self.source(node).bytes().all(|it| it.is_ascii_digit())
    }

    pub(super) fn here(
        &mut self,
        children: &[Node<'_>],
        depth: usize,
        redirects: &mut Vec<Redirect>,
        words: &mut Vec<Word>,
        behind: &mut Vec<Behind>,
    ) {
        let mut literal = false;
        let mut joint = Joint::And;
        let mut body = Word::default();
        for child in children {
            match child.kind() {
                "heredoc_start" => literal = self.source(*child).contains(['\'', '"', '\\']),
                "heredoc_body" => {
                    body = match literal {
                        true => Word::certain(self.source(*child)),
                        false => self.expanded(*child, depth),
                    };
                }
                "heredoc_end" | "file_descriptor" | "comment" => {}
                "&&" => joint = Joint::And,
                "||" => joint = Joint::Or,
                "pipeline" => behind.push(Behind::Pipe(self.statements(*child, depth))),
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
                        behind.push(Behind::Joined(joint, step));
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
