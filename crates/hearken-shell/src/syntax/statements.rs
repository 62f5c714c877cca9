//! Statements: commands, lists, loops, branches, functions and assignments.

use tree_sitter::Node;

use super::{Assignment, CommandStep, ListOperator, ProgramCall, Script};
use crate::word::{ShellWord, WordPiece};

/// How deeply commands may be nested.
pub(super) const DEEPEST: usize = 40;

/// Reads the tree of a command line.
pub(super) struct TreeReader<'a> {
    pub(super) text: &'a str,
    pub(super) unread: Vec<String>,
}

impl TreeReader<'_> {
    pub(super) fn source(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn note(&mut self, text: &str) {
        let text: String = text.trim().chars().take(80).collect();
        if !text.is_empty() && !self.unread.contains(&text) {
            self.unread.push(text);
        }
    }

    /// Notes everything that the grammar marked as an error.
    pub(super) fn errors(&mut self, root: Node<'_>) {
        if !root.has_error() {
            return;
        }
        let before = self.unread.len();
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            if node.is_error() || node.is_missing() {
                let source = self.source(node).to_owned();
                self.note(&source);
            }
            if node.has_error() && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    if self.unread.len() == before {
                        self.note("the end of the command");
                    }
                    return;
                }
            }
        }
    }

    /// Notes text other than blanks between two tokens. A line continuation inside a word is also noted,
    /// because the shell reads one word there and the grammar two; so is a comment that begins inside a word.
    pub(super) fn gaps(&mut self, root: Node<'_>) {
        let mut at = 0;
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            let whole =
                node.child_count() == 0 || node.kind() == "heredoc_body" || node.kind() == "string";
            if whole {
                let before = self.text.as_bytes().get(node.start_byte().wrapping_sub(1));
                if node.kind() == "comment" && before.is_some_and(|c| !b" \t\n;|&()<>".contains(c))
                {
                    // The shell reads `a#b` as one word, and the grammar may read a comment there.
                    self.note("a sign for a comment inside a word");
                }
                let gap = self
                    .text
                    .get(at..node.start_byte().max(at))
                    .unwrap_or_default();
                let joins = gap.replace("\\\n", "");
                let blank = joins.chars().all(|c| " \t\n".contains(c));
                if !blank || (joins.is_empty() && !gap.is_empty()) {
                    let gap = gap.replace('\n', " ");
                    self.note(if blank {
                        "a line that goes on inside a word"
                    } else {
                        &gap
                    });
                }
                at = at.max(node.end_byte());
            }
            if !whole && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    let rest = self.text.get(at..).unwrap_or_default().to_owned();
                    let blank = rest.chars().all(|c| " \t\n\\".contains(c));
                    self.note(if blank { "" } else { &rest });
                    return;
                }
            }
        }
    }

    pub(super) fn statements(&mut self, node: Node<'_>, depth: usize) -> Vec<CommandStep> {
        let mut steps = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            steps.extend(self.step(child, depth + 1));
        }
        steps
    }

    pub(super) fn unread(&mut self, node: Node<'_>) -> CommandStep {
        let source = self.source(node).to_owned();
        self.note(&source);
        CommandStep::Unread(source)
    }

    pub(super) fn step(&mut self, node: Node<'_>, depth: usize) -> Option<CommandStep> {
        if depth > DEEPEST {
            return Some(self.unread(node));
        }
        Some(match node.kind() {
            "comment" => return None,
            "command" => CommandStep::Simple(self.simple(node, depth)),
            "unset_command" => CommandStep::Simple(self.keyword(node, depth)),
            "variable_assignment" | "variable_assignments" => CommandStep::Simple(ProgramCall {
                assignments: self.assignments(node, depth),
                text: self.source(node).to_owned(),
                ..ProgramCall::default()
            }),
            "declaration_command" => self.declare(node, depth),
            "pipeline" => CommandStep::Pipeline(self.statements(node, depth)),
            "list" => self.list(node, depth),
            "negated_command" => CommandStep::Group {
                body: self.statements(node, depth),
                redirects: Vec::new(),
                subshell: false,
            },
            "subshell" => CommandStep::Group {
                body: self.statements(node, depth),
                redirects: Vec::new(),
                subshell: true,
            },
            "compound_statement" if self.source(node).starts_with("((") => self.test(node, depth),
            "compound_statement" | "do_group" | "else_clause" => CommandStep::Group {
                body: self.statements(node, depth),
                redirects: Vec::new(),
                subshell: false,
            },
            "redirected_statement" => self.redirected(node, depth),
            "if_statement" | "elif_clause" | "while_statement" => {
                let parts = self.statements(node, depth);
                CommandStep::Branches(parts.into_iter().map(|step| vec![step]).collect())
            }
            "for_statement" => self.for_each(node, depth),
            "c_style_for_statement" => {
                let body = node.child_by_field_name("body");
                let body = body
                    .map(|body| self.statements(body, depth))
                    .unwrap_or_default();
                // Its arithmetic can run commands only through these characters.
                let head = self.source(node).split("))").next().unwrap_or_default();
                if head.contains(['$', '`', '[']) {
                    let head = head.to_owned();
                    self.note(&head);
                }
                CommandStep::Branches(vec![body])
            }
            "case_statement" => self.case(node, depth),
            "function_definition" => {
                let name = node.child_by_field_name("name");
                let name = name
                    .map(|name| self.source(name).to_owned())
                    .unwrap_or_default();
                let body = node.child_by_field_name("body");
                CommandStep::Function {
                    name,
                    body: body
                        .and_then(|body| self.step(body, depth + 1))
                        .into_iter()
                        .collect(),
                }
            }
            "test_command" => self.test(node, depth),
            "ERROR" => {
                // The commands in it are still judged.
                let body = self.statements(node, depth);
                self.unread(node);
                CommandStep::Group {
                    body,
                    redirects: Vec::new(),
                    subshell: false,
                }
            }
            _ => self.unread(node),
        })
    }

    pub(super) fn list(&mut self, node: Node<'_>, depth: usize) -> CommandStep {
        let mut operator = ListOperator::And;
        let mut steps: Vec<(ListOperator, CommandStep)> = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "&&" => operator = ListOperator::And,
                "||" => operator = ListOperator::Or,
                _ if child.is_named() => match self.step(child, depth + 1) {
                    // `a && b && c` is a list inside a list.
                    Some(CommandStep::List(first, rest)) => {
                        steps.push((operator, *first));
                        steps.extend(rest);
                    }
                    Some(step) => steps.push((operator, step)),
                    None => {}
                },
                _ => {}
            }
        }
        let mut steps = steps.into_iter();
        match steps.next() {
            Some((_, first)) => CommandStep::List(Box::new(first), steps.collect()),
            None => self.unread(node),
        }
    }

    pub(super) fn simple(&mut self, node: Node<'_>, depth: usize) -> ProgramCall {
        let mut simple = ProgramCall {
            text: self.source(node).to_owned(),
            ..ProgramCall::default()
        };
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => simple.assignments.extend(self.assignments(child, depth)),
                "command_name" => {
                    let inner = child.named_child(0).unwrap_or(child);
                    let word = self.word(inner, depth);
                    simple.words.push(word);
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    let (redirects, words, continuations) = self.redirect(child, depth);
                    if !continuations.is_empty() {
                        self.unread(child);
                    }
                    simple.redirects.extend(redirects);
                    simple.words.extend(words);
                }
                "comment" => {}
                _ => {
                    let word = self.word(child, depth);
                    simple.words.push(word);
                }
            }
        }
        simple
    }

    /// Reads a statement whose first word is a keyword of the grammar.
    pub(super) fn keyword(&mut self, node: Node<'_>, depth: usize) -> ProgramCall {
        let mut simple = ProgramCall {
            text: self.source(node).to_owned(),
            ..ProgramCall::default()
        };
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let word = match child.kind() {
                "variable_name" => ShellWord::certain(self.source(child)),
                _ => self.word(child, depth),
            };
            simple.words.push(word);
        }
        simple
    }

    pub(super) fn declare(&mut self, node: Node<'_>, depth: usize) -> CommandStep {
        let (mut keyword, mut assignments, mut options) = (String::new(), Vec::new(), Vec::new());
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => assignments.extend(self.assignments(child, depth)),
                "variable_name" => {}
                _ if child.is_named() => {
                    let word = self.word(child, depth);
                    options.push(word);
                }
                _ => keyword = self.source(child).to_owned(),
            }
        }
        CommandStep::Declare {
            keyword,
            assignments,
            options,
            text: self.source(node).to_owned(),
        }
    }

    pub(super) fn assignments(&mut self, node: Node<'_>, depth: usize) -> Vec<Assignment> {
        if node.kind() == "variable_assignments" {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            let all = children
                .into_iter()
                .map(|child| self.assignments(child, depth));
            return all.collect::<Vec<_>>().concat();
        }
        let name = node.child_by_field_name("name");
        let plain = name.is_some_and(|name| name.kind() == "variable_name");
        let name = name
            .map(|name| self.source(name).to_owned())
            .unwrap_or_default();
        let value = node.child_by_field_name("value");
        let adds = self
            .source(node)
            .get(name.len()..)
            .is_some_and(|rest| rest.starts_with("+="));
        let mut words = Vec::new();
        let value = match value {
            Some(value) if value.kind() == "array" => {
                let mut cursor = value.walk();
                let children: Vec<Node<'_>> = value.named_children(&mut cursor).collect();
                words.extend(children.into_iter().map(|child| self.word(child, depth)));
                None
            }
            Some(value) => {
                let word = self.word(value, depth);
                words.push(word.clone());
                Some(word)
            }
            None => Some(ShellWord::certain("")),
        };
        if !plain {
            // An array index is evaluated, which can run commands.
            let source = self.source(node).to_owned();
            self.note(&source);
        }
        vec![Assignment {
            name,
            value: value.filter(|_| plain && !adds),
            words,
        }]
    }

    pub(super) fn for_each(&mut self, node: Node<'_>, depth: usize) -> CommandStep {
        let (mut variable, mut words, mut body) = (String::new(), Vec::new(), Vec::new());
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "variable_name" => variable = self.source(child).to_owned(),
                "do_group" | "compound_statement" => body = self.statements(child, depth),
                "comment" => {}
                _ => words.push(self.word(child, depth)),
            }
        }
        CommandStep::For {
            variable,
            words,
            body,
        }
    }

    pub(super) fn case(&mut self, node: Node<'_>, depth: usize) -> CommandStep {
        let mut branches = Vec::new();
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "case_item" => {
                    let mut inner = child.walk();
                    let items: Vec<Node<'_>> = child.named_children(&mut inner).collect();
                    let mut branch = Vec::new();
                    for (at, item) in items.iter().enumerate() {
                        let is_value = child.child_by_field_name("value") == Some(*item)
                            || child.field_name_for_named_child(at as u32) == Some("value");
                        if !is_value {
                            branch.extend(self.step(*item, depth + 1));
                        }
                    }
                    branches.push(branch);
                }
                "comment" => {}
                _ => {
                    // The compared word may contain commands.
                    let word = self.word(child, depth);
                    branches.push(vec![CommandStep::Test {
                        text: word.source.clone(),
                        words: vec![word],
                        computes: false,
                    }]);
                }
            }
        }
        CommandStep::Branches(branches)
    }

    pub(super) fn test(&mut self, node: Node<'_>, depth: usize) -> CommandStep {
        let text = self.source(node).to_owned();
        let mut scripts = Vec::new();
        self.substitutions(node, depth, &mut scripts);
        let computed = WordPiece::Computed {
            source: text.clone(),
            scripts,
            quoted: true,
        };
        let word = ShellWord {
            pieces: vec![computed],
            source: text.clone(),
        };
        // A comparison of numbers and a test for a variable evaluate their operands, and thus run commands in
        // an array index. Plain numbers and text run nothing.
        let signs = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];
        let compares = text.split_whitespace().any(|word| signs.contains(&word));
        let numbers = text.starts_with("((");
        let computes = (compares || numbers) && text.contains(['$', '`', '[']) && {
            let inner = text.trim_matches(['[', ']', '(', ')']);
            inner.contains(['$', '`', '['])
        };
        CommandStep::Test {
            words: vec![word],
            computes,
            text,
        }
    }

    /// Collects the substituted commands anywhere inside a node.
    pub(super) fn substitutions(&mut self, node: Node<'_>, depth: usize, found: &mut Vec<Script>) {
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            found.push(self.inner(node, depth));
            return;
        }
        if depth > DEEPEST {
            self.unread(node);
            return;
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for child in children {
            self.substitutions(child, depth + 1, found);
        }
    }

    pub(super) fn inner(&mut self, node: Node<'_>, depth: usize) -> Script {
        // Unreadable parts are noted for the whole command.
        Script {
            steps: self.statements(node, depth + 1),
            unread: Vec::new(),
        }
    }
}
