//! The kinds of words in code, for their colours.
//!
//! Responsibilities: the grammar of a language, parsing each line once. Not here: the colours (`look`), rows
//! (`markdown`).
//!
//! # Mental model
//! A block of code is parsed from its first line, as a line alone does not say whether it is within a comment. The
//! blocks that were drawn last are remembered with the parser's state after them: in a block that grows, only the new
//! lines are parsed, and a screen that is drawn again parses nothing. A frame parses few lines, so that none delays a
//! key; the next frames go on ([`is_unfinished`]). A thread reads the grammars when code first appears. Colours convey
//! nothing that the words do not, so code without a grammar, or with more lines than [`MOST_LINES`], merely has none.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// How many lines of a block are parsed: longer ones are data.
const MOST_LINES: usize = 1000;
/// The longest line that is parsed, in bytes.
const LONGEST: usize = 500;
/// How many lines a frame parses: a line takes up to a sixth of a millisecond.
const AT_ONCE: usize = 8;
/// How many blocks are remembered: as many as a large screen shows.
const MOST_BLOCKS: usize = 16;

/// The kind of a word in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// A comment.
    Comment,
    /// A string or a character.
    Text,
    /// A number or another constant.
    Constant,
    /// A word of the language itself.
    Keyword,
    /// The name of a function.
    Function,
    /// The name of a type, a tag or an attribute.
    Type,
}

/// The kinds of a line's words, by byte range.
pub(super) type Inks = Vec<(Range<usize>, Ink)>;

static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();

/// Whether a thread reads the grammars.
static LOADING: AtomicBool = AtomicBool::new(false);

/// What each scope means; the first that fits decides.
static MEANINGS: LazyLock<Vec<(Scope, Option<Ink>)>> = LazyLock::new(|| {
    let meanings = [
        ("comment", Some(Ink::Comment)),
        ("string", Some(Ink::Text)),
        ("constant.character", Some(Ink::Text)),
        ("markup.inserted", Some(Ink::Text)),
        ("markup.deleted", Some(Ink::Keyword)),
        ("constant", Some(Ink::Constant)),
        ("entity.name.function", Some(Ink::Function)),
        ("support.function", Some(Ink::Function)),
        ("variable.function", Some(Ink::Function)),
        ("entity", Some(Ink::Type)),
        ("support", Some(Ink::Type)),
        ("keyword.operator", None),
        ("keyword", Some(Ink::Keyword)),
        ("storage", Some(Ink::Keyword)),
    ];
    let scope = |(name, ink): (&str, Option<Ink>)| Some((Scope::new(name).ok()?, ink));
    meanings.into_iter().filter_map(scope).collect()
});

/// A block that was drawn before.
struct ParsedBlock {
    language: String,
    lines: Vec<String>,
    inks: Vec<Inks>,
    /// The parser's state after the last line; `None` if it failed.
    parser: Option<(ParseState, ScopeStack)>,
}

thread_local! {
    /// The blocks that were drawn last, the latest at the end.
    static BLOCKS: RefCell<Vec<ParsedBlock>> = const { RefCell::new(Vec::new()) };
    /// How many more lines this frame parses.
    static LEFT: Cell<usize> = const { Cell::new(AT_ONCE) };
    /// Whether lines of this frame still wait for their colours.
    static UNFINISHED: Cell<bool> = const { Cell::new(false) };
}

/// Reads the grammars now, for callers that want all colours in the first frame.
pub fn load_grammars() {
    SYNTAXES.get_or_init(SyntaxSet::load_defaults_newlines);
}

/// Returns the grammars, or has them read.
fn syntaxes() -> Option<&'static SyntaxSet> {
    let loaded = SYNTAXES.get();
    if loaded.is_none() && !LOADING.swap(true, Ordering::Relaxed) {
        std::thread::spawn(load_grammars);
    }
    loaded
}

/// Begins a frame.
pub(super) fn begin() {
    LEFT.set(AT_ONCE);
    UNFINISHED.set(false);
}

/// Returns whether the last frame left lines for the next one.
pub(super) fn is_unfinished() -> bool {
    UNFINISHED.get()
}

/// Returns the kinds of words in each line of code, given the words after its fence; for fewer lines if the others have
/// no colours.
pub(super) fn inks(info: &str, lines: &[String]) -> Vec<Inks> {
    let Some(syntaxes) = syntaxes() else {
        UNFINISHED.set(true);
        return Vec::new();
    };
    let Some(syntax) = syntax(info, syntaxes) else {
        return Vec::new();
    };
    let lines = lines.get(..lines.len().min(MOST_LINES)).unwrap_or_default();
    BLOCKS.with_borrow_mut(|blocks| {
        let known = blocks
            .iter()
            .position(|block| block.language == syntax.name && lines.starts_with(&block.lines));
        let mut block = match known {
            Some(at) => blocks.remove(at),
            None => ParsedBlock {
                language: syntax.name.clone(),
                lines: Vec::new(),
                inks: Vec::new(),
                parser: Some((ParseState::new(syntax), ScopeStack::new())),
            },
        };
        for line in lines.get(block.lines.len()..).unwrap_or_default() {
            let Some(left) = LEFT.get().checked_sub(1) else {
                UNFINISHED.set(true);
                break;
            };
            LEFT.set(left);
            let inks = block.parse(line, syntaxes);
            block.inks.push(inks);
            block.lines.push(line.clone());
        }
        let inks = block.inks.clone();
        if blocks.len() >= MOST_BLOCKS {
            blocks.remove(0);
        }
        blocks.push(block);
        inks
    })
}

/// Returns the grammar of a language by the first word after a fence.
fn syntax<'a>(info: &str, syntaxes: &'a SyntaxSet) -> Option<&'a SyntaxReference> {
    let name = info
        .split([' ', ',', '{', ':'])
        .find(|word| !word.is_empty())?;
    let name = match name.to_ascii_lowercase().as_str() {
        // They are close enough to a language with a grammar.
        "ts" | "tsx" | "typescript" | "jsx" | "mjs" => "js".to_owned(),
        "console" | "shell" | "shell-session" | "zsh" | "fish" => "sh".to_owned(),
        "jsonc" | "json5" | "jsonl" => "json".to_owned(),
        "text" | "txt" | "plain" | "plaintext" => return None,
        other => other.to_owned(),
    };
    syntaxes.find_syntax_by_token(&name)
}

impl ParsedBlock {
    fn parse(&mut self, line: &str, syntaxes: &SyntaxSet) -> Inks {
        let Some((state, stack)) = &mut self.parser else {
            return Inks::new();
        };
        if line.len() > LONGEST {
            return Inks::new();
        }
        let with_end = format!("{line}\n");
        let Ok(steps) = state.parse_line(&with_end, syntaxes) else {
            self.parser = None;
            return Inks::new();
        };
        let mut inks = Inks::new();
        let mut from = 0;
        for (at, step) in steps {
            put(&mut inks, from..at.min(line.len()), ink(stack));
            from = at;
            if stack.apply(&step).is_err() {
                self.parser = None;
                return inks;
            }
        }
        put(&mut inks, from..line.len(), ink(stack));
        inks
    }
}

/// Adds a part of a line.
fn put(inks: &mut Inks, range: Range<usize>, ink: Option<Ink>) {
    let Some(ink) = ink.filter(|_| range.start < range.end) else {
        return;
    };
    match inks.last_mut() {
        Some((last, before)) if last.end == range.start && *before == ink => last.end = range.end,
        Some(_) | None => inks.push((range, ink)),
    }
}

/// Returns what the scopes at a place mean, the innermost first.
fn ink(stack: &ScopeStack) -> Option<Ink> {
    let meaning = |scope: &Scope| {
        let fits = MEANINGS
            .iter()
            .find(|(prefix, _)| prefix.is_prefix_of(*scope));
        fits.map(|(_, ink)| *ink)
    };
    stack.scopes.iter().rev().find_map(meaning).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(info: &str, lines: &[&str]) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        load_grammars();
        let mut frames = 0;
        let inks = loop {
            begin();
            let inks = inks(info, &lines);
            frames += 1;
            if !is_unfinished() {
                break inks;
            }
            assert_eq!(inks.len(), frames * AT_ONCE);
        };
        let line = |(line, inks): (&String, Inks)| {
            let inks = inks.into_iter();
            let words = inks.map(|(range, ink)| format!("{}={ink:?}", &line[range]));
            words.collect::<Vec<_>>().join(" ")
        };
        lines.iter().zip(inks).map(line).collect()
    }

    #[test]
    fn words_are_known_by_the_lines_before_them() {
        let code = [
            "def add(a):",
            "    return 'x' # 7",
            "\"\"\"",
            "one 1",
            "\"\"\"",
        ];
        let all = told("python", &code);
        assert_eq!(all[0], "def=Keyword add=Function");
        assert_eq!(all[1], "return=Keyword 'x'=Text # 7=Comment");
        assert!(
            all[3] == "one 1=Comment" || all[3] == "one 1=Text",
            "{all:?}"
        );
        // A block that grows is the same as one that came at once.
        let begun = told("rust", &["fn a() {", "/* one"]);
        let grown = told("rust", &["fn a() {", "/* one", "two */ 3"]);
        assert_eq!(begun[..], grown[..2]);
        assert_eq!(grown[2], "two */=Comment 3=Constant");
    }

    #[test]
    fn what_has_no_grammar_has_no_colours() {
        assert!(told("", &["let x"]).is_empty());
        assert!(told("no-such-language", &["let x"]).is_empty());
        assert_eq!(
            told("rust", &["let x = 1;"; MOST_LINES + 5]).len(),
            MOST_LINES
        );
    }
}
