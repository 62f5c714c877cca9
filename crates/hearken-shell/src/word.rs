//! One word of a command: its pieces, and its value if that is certain.

use crate::syntax::Script;

/// One piece of a word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WordPiece {
    /// Unquoted text, in which `*`, `?`, `[` and braces are special.
    Text(String),
    /// Literal text.
    Quoted(String),
    /// A variable.
    Variable {
        name: String,
        /// Whether it is in double quotes, so that its value stays one word.
        quoted: bool,
    },
    /// A command or process substitution.
    Command {
        script: Script,
        source: String,
        quoted: bool,
    },
    /// Any other expansion, with the commands in it.
    Computed {
        source: String,
        scripts: Vec<Script>,
        quoted: bool,
    },
}

/// One word of a command, before the shell expands it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ShellWord {
    pub(crate) pieces: Vec<WordPiece>,
    /// The word as written.
    pub(crate) source: String,
}

/// The value of a word after expansion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Value {
    /// The text, in which uncertain parts are kept as written.
    pub(crate) text: String,
    /// Whether all of the text is certain.
    pub(crate) is_certain: bool,
    /// Whether it is a pattern that matches files.
    pub(crate) is_pattern: bool,
    /// Whether the text begins with an uncertain part.
    pub(crate) begins_uncertain: bool,
    /// Whether it stands for any number of found or piped words.
    pub(crate) stands_for_many: bool,
    /// Whether it may expand to several words, or to none.
    pub(crate) may_split: bool,
}

impl Value {
    /// Returns a value that is certain.
    pub(crate) fn certain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_certain: true,
            ..Self::default()
        }
    }

    /// Returns an unknown value, shown as this text.
    pub(crate) fn uncertain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            begins_uncertain: true,
            ..Self::default()
        }
    }

    /// Returns a value that stands for any number of found or piped words.
    pub(crate) fn many() -> Self {
        Self {
            stands_for_many: true,
            may_split: true,
            ..Self::uncertain("")
        }
    }

    /// Returns the text if all of it is certain and literal.
    pub(crate) fn literal(&self) -> Option<&str> {
        (self.is_certain && !self.is_pattern).then_some(self.text.as_str())
    }

    /// Returns two values joined by a space.
    pub(crate) fn joined(self, next: &Self) -> Self {
        Self {
            text: format!("{} {}", self.text, next.text),
            is_certain: self.is_certain && next.is_certain,
            is_pattern: self.is_pattern || next.is_pattern,
            ..self
        }
    }

    /// Returns the text after its first `bytes` bytes as a separate value, with the same certainty.
    pub(crate) fn behind(&self, bytes: usize) -> Self {
        Self {
            text: self.text.get(bytes..).unwrap_or_default().to_owned(),
            begins_uncertain: !self.is_certain && self.text.len() == bytes,
            ..self.clone()
        }
    }
}

impl ShellWord {
    /// Returns a word of literal text.
    pub(crate) fn certain(text: &str) -> Self {
        Self {
            pieces: vec![WordPiece::Quoted(text.to_owned())],
            source: text.to_owned(),
        }
    }

    /// Returns the commands inside the word.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.pieces.iter().flat_map(|piece| match piece {
            WordPiece::Command { script, .. } => std::slice::from_ref(script),
            WordPiece::Computed { scripts, .. } => scripts.as_slice(),
            WordPiece::Text(_) | WordPiece::Quoted(_) | WordPiece::Variable { .. } => &[],
        })
    }

    /// Expands braces, as the shell does before anything else; returns `None` if that makes too many words.
    pub(crate) fn braces(&self) -> Option<Vec<ShellWord>> {
        let has = self
            .pieces
            .iter()
            .any(|piece| matches!(piece, WordPiece::Text(text) if text.contains('{')));
        if !has {
            return Some(vec![self.clone()]);
        }
        let mut tokens = Vec::new();
        for piece in &self.pieces {
            match piece {
                WordPiece::Text(text) => tokens.extend(text.chars().map(Token::Char)),
                WordPiece::Quoted(_)
                | WordPiece::Variable { .. }
                | WordPiece::Command { .. }
                | WordPiece::Computed { .. } => tokens.push(Token::Whole(piece)),
            }
        }
        let all = expand(&tokens, 0)?;
        Some(all.iter().map(|tokens| joined(tokens)).collect())
    }
}

/// The most words that braces may expand to.
const MOST_WORDS: usize = 64;
/// How deeply braces may be nested.
const DEEPEST: usize = 8;

#[derive(Debug, Clone, Copy)]
enum Token<'a> {
    Char(char),
    Whole(&'a WordPiece),
}

impl Token<'_> {
    fn is(self, wanted: char) -> bool {
        matches!(self, Self::Char(c) if c == wanted)
    }
}

fn expand<'a>(tokens: &[Token<'a>], depth: usize) -> Option<Vec<Vec<Token<'a>>>> {
    if depth > DEEPEST {
        return None;
    }
    let Some((open, close, commas)) = first_braces(tokens) else {
        return Some(vec![tokens.to_vec()]);
    };
    let mut bounds = vec![open];
    bounds.extend(commas);
    bounds.push(close);
    let rest = expand(tokens.get(close + 1..).unwrap_or_default(), depth + 1)?;
    let mut all = Vec::new();
    for pair in bounds.windows(2) {
        let &[from, to] = pair else { continue };
        let member = tokens.get(from + 1..to).unwrap_or_default();
        for middle in expand(member, depth + 1)? {
            for end in &rest {
                let head = tokens.get(..open).unwrap_or_default();
                all.push([head, middle.as_slice(), end.as_slice()].concat());
                if all.len() > MOST_WORDS {
                    return None;
                }
            }
        }
    }
    Some(all)
}

/// Returns the positions of the first braces with commas directly inside: opening, closing and commas.
fn first_braces(tokens: &[Token<'_>]) -> Option<(usize, usize, Vec<usize>)> {
    for (open, _) in tokens.iter().enumerate().filter(|(_, token)| token.is('{')) {
        let (mut level, mut commas) = (0_usize, Vec::new());
        for (at, token) in tokens.iter().enumerate().skip(open) {
            if token.is('{') {
                level += 1;
            } else if token.is(',') && level == 1 {
                commas.push(at);
            } else if token.is('}') {
                level -= 1;
                if level == 0 {
                    if !commas.is_empty() {
                        return Some((open, at, commas));
                    }
                    break;
                }
            }
        }
    }
    None
}

fn joined(tokens: &[Token<'_>]) -> ShellWord {
    let mut word = ShellWord::default();
    for token in tokens {
        match token {
            Token::Char(c) => {
                word.source.push(*c);
                match word.pieces.last_mut() {
                    Some(WordPiece::Text(text)) => text.push(*c),
                    Some(_) | None => word.pieces.push(WordPiece::Text(c.to_string())),
                }
            }
            Token::Whole(piece) => {
                word.source.push_str(match piece {
                    WordPiece::Text(text) | WordPiece::Quoted(text) => text,
                    WordPiece::Variable { name, .. } => name,
                    WordPiece::Command { source, .. } | WordPiece::Computed { source, .. } => {
                        source
                    }
                });
                word.pieces.push((*piece).clone());
            }
        }
    }
    word
}

/// Returns whether unquoted text is a pattern that matches files.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> Option<Vec<String>> {
        let word = ShellWord {
            pieces: vec![WordPiece::Text(text.to_owned())],
            source: text.to_owned(),
        };
        let words = word.braces()?;
        Some(words.into_iter().map(|word| word.source).collect())
    }

    #[test]
    fn braces_expand_to_every_member() {
        for (text, words) in [
            ("{build,dist}", vec!["build", "dist"]),
            ("a{b,c}d", vec!["abd", "acd"]),
            ("{a,b}{c,d}", vec!["ac", "ad", "bc", "bd"]),
            ("{a,{b,c}}", vec!["a", "b", "c"]),
            ("a{b", vec!["a{b"]),
            ("{x}", vec!["{x}"]),
            ("plain", vec!["plain"]),
        ] {
            assert_eq!(sources(text).unwrap(), words, "{text}");
        }
        assert_eq!(sources(&"{a,b}".repeat(7)), None);
        assert_eq!(sources(&"{".repeat(500)), Some(vec!["{".repeat(500)]));
    }
}
