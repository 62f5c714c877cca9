//! The structure of a command line: commands, pipes, loops, redirections.
//!
//! Responsibilities: turning the tree of the bash grammar into the few kinds of steps that matter here, and noticing
//! whatever could not be read. Not here: what a command does (`walk`).
//!
//! # Mental model
//! The grammar reads any bytes. What it marks as an error, what it skips, and every kind of node that is not handled here
//! becomes an entry of `unread`: the command is then never taken for read. Nothing is repaired or guessed.

mod redirects;
mod statements;
mod text;
mod words;

use tree_sitter::Parser;

use crate::word::Word;
use statements::Reader;

/// The longest command that is read, in bytes.
const LONGEST: usize = 32 * 1024;

/// A command line, or a part of one that is run as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    /// What could not be read.
    pub(crate) unread: Vec<String>,
}

/// How two steps of a list are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    /// `&&`: only after a success.
    And,
    /// `||`: only after a failure.
    Or,
}

/// One step of a command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// One program with its words.
    Simple(Simple),
    /// Commands whose output goes into the next.
    Pipeline(Vec<Step>),
    /// Commands joined by `&&` and `||`.
    List(Box<Step>, Vec<(Joint, Step)>),
    /// Commands in parentheses or braces, or anything with redirections of its own.
    Group {
        body: Vec<Step>,
        redirects: Vec<Redirect>,
        /// Whether a change of the folder or a variable ends with it.
        subshell: bool,
    },
    /// A loop over words.
    For {
        variable: String,
        words: Vec<Word>,
        body: Vec<Step>,
    },
    /// Commands of which some run, once or often.
    Branches(Vec<Vec<Step>>),
    /// A function.
    Function { name: String, body: Vec<Step> },
    /// A test in brackets.
    Test {
        words: Vec<Word>,
        /// Whether a value in it may be computed, which can run commands.
        computes: bool,
        text: String,
    },
    /// `export`, `declare` and the like.
    Declare {
        keyword: String,
        assignments: Vec<Assignment>,
        options: Vec<Word>,
        text: String,
    },
    /// What could not be read.
    Unread(String),
}

/// One program with its words.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// The command as it is written.
    pub(crate) text: String,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// The value; `None` where it is more than one word, or added to what was there.
    pub(crate) value: Option<Word>,
    /// Whatever words are in it.
    pub(crate) words: Vec<Word>,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A file is read.
    Read,
    /// A file is written over.
    Write,
    /// A file is written at its end.
    Append,
    /// Only one stream into another, or a stream is closed.
    Stream,
    /// The text that stands behind it is read.
    Here,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) direction: Direction,
    pub(crate) target: Word,
}

/// Reads a command line.
pub(crate) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    if text.len() > LONGEST {
        script
            .unread
            .push("the end of a very long command".to_owned());
        return script;
    }
    let unbraced = text::unbraced(text);
    let is_unbraced = unbraced.is_some();
    let text = unbraced.as_deref().unwrap_or(text);
    let mut parser = Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    let tree = match parser.set_language(&language) {
        Ok(()) => parser.parse(text, None),
        Err(_) => None,
    };
    let Some(tree) = tree else {
        script.unread.push(text.to_owned());
        return script;
    };
    let mut reader = Reader {
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
    script.steps = reader.statements(root, 0);
    script.unread = reader.unread;
    script
}
