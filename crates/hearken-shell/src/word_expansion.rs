//! What a word may become after its braces, variables and substitutions are expanded.

use crate::shell_state::{MOST_VALUES, ShellState};
use crate::word::{ShellWord, Value, WordPiece, is_pattern};

/// Returns the possible values of a word after expansion; `None` if there are too many.
pub(crate) fn possible_values(word: &ShellWord, state: &ShellState) -> Option<Vec<Value>> {
    let mut all = Vec::new();
    for word in word.braces()? {
        let mut values = vec![Value::certain("")];
        for (at, piece) in word.pieces.iter().enumerate() {
            let next: Vec<Value> = match piece {
                WordPiece::Text(text) => vec![Value {
                    is_pattern: is_pattern(text),
                    ..Value::certain(text)
                }],
                WordPiece::Quoted(text) => vec![Value::certain(text)],
                WordPiece::Variable { name, quoted } => match number(name) {
                    Some(text) => vec![Value::certain(text)],
                    None => state.variable(name, *quoted),
                },
                // A process substitution expands to the name of an open file.
                WordPiece::Command { source, .. } if source.starts_with(['<', '>']) => {
                    vec![Value::certain(source)]
                }
                WordPiece::Command { source, quoted, .. }
                | WordPiece::Computed { source, quoted, .. } => {
                    vec![Value {
                        may_split: !quoted,
                        ..Value::uncertain(source)
                    }]
                }
            };
            let mut joined = Vec::new();
            for value in &values {
                for next in &next {
                    joined.push(Value {
                        text: format!("{}{}", value.text, next.text),
                        is_certain: value.is_certain && next.is_certain,
                        is_pattern: value.is_pattern || next.is_pattern,
                        begins_uncertain: value.begins_uncertain
                            || (at == 0 && next.begins_uncertain),
                        stands_for_many: value.stands_for_many || next.stands_for_many,
                        may_split: value.may_split || next.may_split,
                    });
                }
            }
            if joined.len() > MOST_VALUES {
                return None;
            }
            values = joined;
        }
        all.extend(values);
    }
    Some(all)
}

/// Returns a sample value of a variable that is always a number.
fn number(name: &str) -> Option<&'static str> {
    matches!(
        name,
        "?" | "#" | "$" | "!" | "LINENO" | "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID"
    )
    .then_some("0")
}
