//! The structure of a command line: commands, pipes, loops, redirections.
//!
//! Responsibilities: turning the tree of the bash grammar into the few kinds of steps that matter here, and
//! recording unreadable parts. Not here: what a command does (`walk`).
//!
//! # Mental model
//! The grammar accepts any bytes. Everything that it marks as an error or skips, and every kind of node that is
//! not handled here, becomes an entry of `unread`, and such a command never counts as read. Nothing is repaired
//! or guessed.

mod redirects;
mod statements;
mod unknown_constructs;
mod word_pieces;
mod word_text;

use tree_sitter::Parser;

use crate::word::ShellWord;
use statements::TreeReader;

/// The longest command that is read, in bytes.
const LONGEST: usize = 32 * 1024;

/// A command line, or a part of one that runs as a unit.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Script {
    pub(crate) steps: Vec<CommandStep>,
    /// What could not be read.
    pub(crate) unread: Vec<String>,
}

/// The operator between two steps of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListOperator {
    /// `&&`: runs the next step only after a success.
    And,
    /// `||`: runs the next step only after a failure.
    Or,
}

/// One step of a command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CommandStep {
    /// One program with its words.
    Simple(ProgramCall),
    /// Commands, each with its output piped into the next.
    Pipeline(Vec<CommandStep>),
    /// Commands joined by `&&` and `||`.
    List(Box<CommandStep>, Vec<(ListOperator, CommandStep)>),
    /// Commands in parentheses or braces, or anything else with its own redirections.
    Group {
        body: Vec<CommandStep>,
        redirects: Vec<Redirect>,
        /// Whether changes to the folder and to variables end with it.
        subshell: bool,
    },
    /// A loop over words.
    For {
        variable: String,
        words: Vec<ShellWord>,
        body: Vec<CommandStep>,
    },
    /// Branches or bodies of a loop, each of which may or may not run.
    Branches(Vec<Vec<CommandStep>>),
    /// The definition of a function.
    Function {
        name: String,
        body: Vec<CommandStep>,
    },
    /// A test in brackets.
    Test {
        words: Vec<ShellWord>,
        /// Whether it may evaluate a value, which can run commands.
        computes: bool,
        text: String,
    },
    /// `export`, `declare` and the like.
    Declare {
        keyword: String,
        assignments: Vec<Assignment>,
        options: Vec<ShellWord>,
        text: String,
    },
    /// What could not be read.
    Unread(String),
}

/// One program with its words.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ProgramCall {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<ShellWord>,
    pub(crate) redirects: Vec<Redirect>,
    /// The command as written.
    pub(crate) text: String,
}

/// The assignment of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// The value; `None` if it is an array, or appended to the old value.
    pub(crate) value: Option<ShellWord>,
    /// All words in the assignment.
    pub(crate) words: Vec<ShellWord>,
}

/// The effect of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Reads a file.
    Read,
    /// Overwrites a file.
    Write,
    /// Appends to a file.
    Append,
    /// Duplicates or closes a stream.
    Stream,
    /// Reads a here-document or a here-string.
    Here,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) direction: Direction,
    pub(crate) target: ShellWord,
}

/// Returns a text in which a full stop, a word character that begins nothing, replaces each byte outside ASCII.
///
/// The grammar's scanner looks up characters in C tables that end at 255, and reads beyond them. No sign of the
/// shell is outside ASCII, so the tree is the same, and its places are valid in the text itself.
fn masked(text: &str) -> String {
    let mask = |byte: u8| {
        if byte.is_ascii() {
            char::from(byte)
        } else {
            '.'
        }
    };
    text.bytes().map(mask).collect()
}

/// Parses a command line.
pub(crate) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    if text.len() > LONGEST {
        script
            .unread
            .push("the end of a very long command".to_owned());
        return script;
    }
    let unbraced = word_text::unbraced(text);
    let is_unbraced = unbraced.is_some();
    let text = unbraced.as_deref().unwrap_or(text);
    let mut parser = Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    let tree = match parser.set_language(&language) {
        Ok(()) => parser.parse(masked(text), None),
        Err(_) => None,
    };
    let Some(tree) = tree else {
        script.unread.push(text.to_owned());
        return script;
    };
    let mut reader = TreeReader {
        text,
        unread: Vec::new(),
    };
    let odd = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || (c.is_whitespace() && !c.is_ascii())
    };
    if text.contains(odd) {
        reader
            .unread
            .push("an unusual blank or control character".to_owned());
    }
    if is_unbraced {
        reader.unread.push("braces that make a command".to_owned());
    }
    let root = tree.root_node();
    reader.errors(root);
    reader.gaps(root);
    reader.half_followed(root);
    script.steps = reader.statements(root, 0);
    script.unread = reader.unread;
    script
}
