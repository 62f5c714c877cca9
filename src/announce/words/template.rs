//! The shape of a phrase: words, arguments, optional parts.
//!
//! Responsibilities: reading a template's text. Not here: filling it in (`phrase`).

/// A phrase as a run of parts.
pub(super) type Template = Vec<Part>;

/// One part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Words as they are.
    Literal(String),
    /// The key of a command by its name, and how it is called.
    Key { command: String, key: String },
    /// What is typed in a line.
    Typed(String),
    /// An argument by its name.
    Arg(String),
    /// One of two words, by a number.
    Plural {
        arg: String,
        one: String,
        many: String,
    },
    /// What is left out when an argument in it is empty.
    Optional(Vec<Part>),
}

/// Reads a template.
pub(super) fn template(text: &str) -> Result<Template, &'static str> {
    let mut chars = text.chars().peekable();
    let parts = parts(&mut chars, false)?;
    Ok(parts)
}

fn parts(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    inside: bool,
) -> Result<Vec<Part>, &'static str> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    loop {
        match chars.next() {
            None if inside => return Err("a [ is not closed"),
            None => break,
            Some('[') => {
                push_literal(&mut parts, &mut literal);
                parts.push(Part::Optional(self::parts(chars, true)?));
            }
            Some(']') if inside => break,
            Some(']') => return Err("a ] without a ["),
            Some('{') => {
                push_literal(&mut parts, &mut literal);
                let mut inner = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some(c) => inner.push(c),
                        None => return Err("a { is not closed"),
                    }
                }
                let pieces: Vec<&str> = inner.split('#').collect();
                if let Some(named) = inner.strip_prefix("key:") {
                    let Some((command, key)) = named.split_once('=') else {
                        return Err("a key is {key:command=its usual key}");
                    };
                    parts.push(Part::Key {
                        command: command.to_owned(),
                        key: key.to_owned(),
                    });
                    continue;
                }
                if let Some(typed) = inner.strip_prefix("type:") {
                    parts.push(Part::Typed(typed.to_owned()));
                    continue;
                }
                parts.push(match pieces.as_slice() {
                    [name] if !name.is_empty() => Part::Arg((*name).to_owned()),
                    [name, one, many] if !name.is_empty() => Part::Plural {
                        arg: (*name).to_owned(),
                        one: (*one).to_owned(),
                        many: (*many).to_owned(),
                    },
                    _ => return Err("an argument is neither {name} nor {name#one#many}"),
                });
            }
            Some('}') => return Err("a } without a {"),
            Some(c) => literal.push(c),
        }
    }
    push_literal(&mut parts, &mut literal);
    Ok(parts)
}

/// Puts other keys in the place of the usual ones; `none` stands where a command has no key.
pub(super) fn rename_keys(
    template: &mut Template,
    keys: &std::collections::BTreeMap<String, String>,
    none: &str,
) {
    for part in template {
        match part {
            Part::Key { command, key } => {
                if let Some(other) = keys.get(command) {
                    *key = if other.is_empty() { none } else { other }.to_owned();
                }
            }
            Part::Optional(inner) => rename_keys(inner, keys, none),
            Part::Literal(_) | Part::Typed(_) | Part::Arg(_) | Part::Plural { .. } => {}
        }
    }
}

fn push_literal(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Literal(std::mem::take(literal)));
    }
}
