//! The text of words: escapes, quotes, numbers and sequences.

use crate::word::WordPiece;

/// Moves text from double quotes or a here-document into a piece, without its escapes.
pub(super) fn push_quoted(text: &mut String, quoted: bool, pieces: &mut Vec<WordPiece>) {
    if text.is_empty() {
        return;
    }
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = match (c, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
                continue;
            }
            ('\\', Some('$' | '`' | '\\')) => true,
            ('\\', Some('"')) => quoted,
            _ => false,
        };
        plain.extend(if escaped { chars.next() } else { Some(c) });
    }
    text.clear();
    pieces.push(WordPiece::Quoted(plain));
}

/// Splits unquoted text into text that may be special to the shell and escaped text.
pub(super) fn unquoted(source: &str, pieces: &mut Vec<WordPiece>) {
    let mut plain = String::new();
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        if !plain.is_empty() {
            pieces.push(WordPiece::Text(std::mem::take(&mut plain)));
        }
        match chars.next() {
            // A line continuation.
            Some('\n') => {}
            Some(next) => pieces.push(WordPiece::Quoted(next.to_string())),
            None => pieces.push(WordPiece::Quoted("\\".to_owned())),
        }
    }
    if !plain.is_empty() {
        pieces.push(WordPiece::Text(plain));
    }
}

/// Reads text in `$'…'`; returns `None` if it has an unusual escape.
pub(super) fn ansi(source: &str) -> Option<String> {
    let inner = source.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut text = String::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        // A single byte beyond ASCII is not a character.
        if let Some(value) = digits(&mut chars, 8, 3) {
            text.push(char::from_u32(value).filter(char::is_ascii)?);
            continue;
        }
        text.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '\\' => '\\',
            '\'' => '\'',
            '"' => '"',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => char::from_u32(digits(&mut chars, 16, 2)?).filter(char::is_ascii)?,
            'u' => char::from_u32(digits(&mut chars, 16, 4)?)?,
            'U' => char::from_u32(digits(&mut chars, 16, 8)?)?,
            _ => return None,
        });
    }
    Some(text)
}

/// Reads up to `most` digits; returns `None` if there are none.
pub(super) fn digits(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    base: u32,
    most: usize,
) -> Option<u32> {
    let mut value: Option<u32> = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(base)) else {
            break;
        };
        value = Some(value.unwrap_or(0).wrapping_mul(base).wrapping_add(digit));
        chars.next();
    }
    value
}

/// Returns a sample result of an arithmetic expansion, if it contains only numbers and operators.
pub(super) fn number(source: &str) -> Option<String> {
    let inner = source.strip_prefix("$((")?.strip_suffix("))")?;
    inner
        .chars()
        .all(|c| c.is_ascii_digit() || " +-*/%()<>=&|".contains(c))
        .then(|| "0".to_owned())
}

/// Returns the members of `{1..5}`, as braces with commas.
pub(super) fn sequence(source: &str) -> Option<String> {
    let (from, to) = source
        .strip_prefix('{')?
        .strip_suffix('}')?
        .split_once("..")?;
    let (from, to): (i32, i32) = (from.parse().ok()?, to.parse().ok()?);
    let count = from.abs_diff(to);
    let step = (to - from).signum();
    let members = (0..=i32::try_from(count).ok().filter(|count| *count < 64)?)
        .map(|at| (from + step * at).to_string());
    let members: Vec<String> = members.collect();
    (members.len() > 1).then(|| format!("{{{}}}", members.join(",")))
}

/// Returns the text with the braces that begin a command (`{rm,-rf,build}`) written as words, because the grammar
/// misreads them; `None` if there are none.
pub(super) fn unbraced(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut begins = true;
    let mut changed = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let inner = rest.strip_prefix('{').filter(|_| begins);
        let end = inner.and_then(|inner| inner.find(['}', ' ', '\t', '\n', ';', '{']));
        if let (Some(inner), Some(end)) = (inner, end)
            && inner.get(end..).is_some_and(|rest| rest.starts_with('}'))
            && inner.get(..end).is_some_and(|inner| inner.contains(','))
        {
            plain.push_str(&inner.get(..end).unwrap_or_default().replace(',', " "));
            rest = inner.get(end + 1..).unwrap_or_default();
            changed = true;
            begins = false;
            continue;
        }
        begins = match c {
            ';' | '&' | '|' | '\n' | '(' => true,
            ' ' | '\t' => begins,
            _ => false,
        };
        plain.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    changed.then_some(plain)
}
