//! One word of a command: what it is made of, and what it says as far as that is certain.

use crate::syntax::Script;

/// One piece of a word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Unquoted text, in which `*`, `?`, `[` and braces have their meaning.
    Text(String),
    /// Text that stands for itself.
    Quoted(String),
    /// A variable.
    Variable {
        name: String,
        /// Whether it stands in double quotes, so that its value stays one word.
        quoted: bool,
    },
    /// A command whose output takes this place.
    Command {
        script: Script,
        source: String,
        quoted: bool,
    },
    /// Anything else that the shell computes, with the commands in it.
    Computed {
        source: String,
        scripts: Vec<Script>,
        quoted: bool,
    },
}

/// One word of a command, before the shell expands it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    /// The word as it is written.
    pub(crate) source: String,
}

/// What a word says once it is expanded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Value {
    /// The text; what is not certain in it stands as it is written.
    pub(crate) text: String,
    /// Whether all of the text is certain.
    pub(crate) is_certain: bool,
    /// Whether it is a pattern that stands for files.
    pub(crate) is_pattern: bool,
    /// Whether the text begins with something that is not certain.
    pub(crate) begins_uncertain: bool,
    /// Whether it stands for whatever is found or piped in.
    pub(crate) stands_for_many: bool,
    /// Whether it may come to several words, or to none.
    pub(crate) may_split: bool,
}

impl Value {
    /// Returns a certain text.
    pub(crate) fn certain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_certain: true,
            ..Self::default()
        }
    }

    /// Returns something that nobody knows, shown by these words.
    pub(crate) fn uncertain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            begins_uncertain: true,
            ..Self::default()
        }
    }

    /// Returns what stands for whatever is found or piped in.
    pub(crate) fn many() -> Self {
        Self {
            stands_for_many: true,
            may_split: true,
            ..Self::uncertain("")
        }
    }

    /// Returns the text, where all of it is certain and stands for itself.
    pub(crate) fn literal(&self) -> Option<&str> {
        (self.is_certain && !self.is_pattern).then_some(self.text.as_str())
    }

    /// Returns two words as one, with a blank between them.
    pub(crate) fn joined(self, next: &Self) -> Self {
        Self {
            text: format!("{} {}", self.text, next.text),
            is_certain: self.is_certain && next.is_certain,
            is_pattern: self.is_pattern || next.is_pattern,
            ..self
        }
    }

    /// Returns a part of the text as a value of its own, with the same certainty.
    pub(crate) fn behind(&self, bytes: usize) -> Self {
        Self {
            text: self.text.get(bytes..).unwrap_or_default().to_owned(),
            begins_uncertain: !self.is_certain && self.text.len() == bytes,
            ..self.clone()
        }
    }
}

impl Word {
    /// Returns a word of certain text.
    pub(crate) fn certain(text: &str) -> Self {
        Self {
            pieces: vec![Piece::Quoted(text.to_owned())],
            source: text.to_owned(),
        }
    }

    /// Returns the commands inside the word.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.pieces.iter().flat_map(|piece| match piece {
            Piece::Command { script, .. } => std::slice::from_ref(script),
            Piece::Computed { scripts, .. } => scripts.as_slice(),
            Piece::Text(_) | Piece::Quoted(_) | Piece::Variable { .. } => &[],
        })
    }

    /// Expands braces, as the shell does before anything else; `None` where they make too many words to be read.
    pub(crate) fn braces(&self) -> Option<Vec<Word>> {
        let has = self
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(text) if text.contains('{')));
        if !has {
            return Some(vec![self.clone()]);
        }
        let mut signs = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => signs.extend(text.chars().map(Sign::Char)),
                Piece::Quoted(_)
                | Piece::Variable { .. }
                | Piece::Command { .. }
                | Piece::Computed { .. } => signs.push(Sign::Whole(piece)),
            }
        }
        let all = expand(&signs, 0)?;
        Some(all.iter().map(|signs| joined(signs)).collect())
    }
}

/// The most words that braces may stand for.
const MOST_WORDS: usize = 64;
/// How deep braces may be nested.
const DEEPEST: usize = 8;

#[derive(Debug, Clone, Copy)]
enum Sign<'a> {
    Char(char),
    Whole(&'a Piece),
}

impl Sign<'_> {
    fn is(self, wanted: char) -> bool {
        matches!(self, Self::Char(c) if c == wanted)
    }
}

fn expand<'a>(signs: &[Sign<'a>], depth: usize) -> Option<Vec<Vec<Sign<'a>>>> {
    if depth > DEEPEST {
        return None;
    }
    let Some((open, close, commas)) = first_braces(signs) else {
        return Some(vec![signs.to_vec()]);
    };
    let mut bounds = vec![open];
    bounds.extend(commas);
    bounds.push(close);
    let rest = expand(signs.get(close + 1..).unwrap_or_default(), depth + 1)?;
    let mut all = Vec::new();
    for pair in bounds.windows(2) {
        let &[from, to] = pair else { continue };
        let member = signs.get(from + 1..to).unwrap_or_default();
        for middle in expand(member, depth + 1)? {
            for end in &rest {
                let head = signs.get(..open).unwrap_or_default();
                all.push([head, middle.as_slice(), end.as_slice()].concat());
                if all.len() > MOST_WORDS {
                    return None;
                }
            }
        }
    }
    Some(all)
}

/// Finds the first braces with a comma at their own level.
fn first_braces(signs: &[Sign<'_>]) -> Option<(usize, usize, Vec<usize>)> {
    for (open, _) in signs.iter().enumerate().filter(|(_, sign)| sign.is('{')) {
        let (mut level, mut commas) = (0_usize, Vec::new());
        for (at, sign) in signs.iter().enumerate().skip(open) {
            if sign.is('{') {
                level += 1;
            } else if sign.is(',') && level == 1 {
                commas.push(at);
            } else if sign.is('}') {
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

fn joined(signs: &[Sign<'_>]) -> Word {
    let mut word = Word::default();
    for sign in signs {
        match sign {
            Sign::Char(c) => {
                word.source.push(*c);
                match word.pieces.last_mut() {
                    Some(Piece::Text(text)) => text.push(*c),
                    Some(_) | None => word.pieces.push(Piece::Text(c.to_string())),
                }
            }
            Sign::Whole(piece) => {
                word.source.push_str(match piece {
                    Piece::Text(text) | Piece::Quoted(text) => text,
                    Piece::Variable { name, .. } => name,
                    Piece::Command { source, .. } | Piece::Computed { source, .. } => source,
                });
                word.pieces.push((*piece).clone());
            }
        }
    }
    word
}

/// Tells whether unquoted text holds signs that stand for files.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn sources(text: &str) -> Option<Vec<String>> {
        let word = Word {
            pieces: vec![Piece::Text(text.to_owned())],
            source: text.to_owned(),
        };
        let words = word.braces()?;
        Some(words.into_iter().map(|word| word.source).collect())
    }

    #[test]
    fn braces_stand_for_every_member() {
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
