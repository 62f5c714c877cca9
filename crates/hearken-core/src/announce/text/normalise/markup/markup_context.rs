//! What the text around a place in a line reveals.
//!
//! Responsibilities: judging by a few characters whether something is a formula, a chemical compound, the arguments of
//! a type. Not here: what follows from it (`markup`).

use crate::announce::text::normalise::entity::entity;
use crate::announce::text::normalise::math::names_function;

/// How much of a word or of a type's arguments is examined, in bytes.
const LONGEST: usize = 64;

/// Returns the beginning of a text, up to a bound.
pub(super) fn window(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the length of the rest of an address.
pub(super) fn length_of_address(rest: &str) -> usize {
    let opening = if rest.starts_with("](") { 2 } else { 3 };
    let ends =
        |c: char| c.is_whitespace() || opening == 2 && c == ')' || matches!(c, '`' | '<' | '>');
    let length = rest[opening..].find(ends).unwrap_or(rest.len() - opening);
    opening + length
}

/// Returns the letters and digits at the end of a text.
pub(super) fn last_word(text: &str) -> &str {
    let length: usize = text
        .chars()
        .rev()
        .take(LONGEST)
        .take_while(|c| c.is_alphanumeric())
        .map(char::len_utf8)
        .sum();
    &text[text.len() - length..]
}

pub(super) fn ends_in_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

pub(super) fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (shown, length) = match c {
            '&' => entity(rest).unwrap_or((Some(c), 1)),
            _ => (Some(c), c.len_utf8()),
        };
        out.extend(shown);
        rest = &rest[length..];
    }
    out
}

/// Returns whether an angle bracket opens the arguments of a type: names and commas, up to its partner.
pub(in crate::announce) fn encloses_arguments(rest: &str) -> bool {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in rest.char_indices().take(2 * LONGEST) {
        match c {
            // A comparison or a shift is followed by a space or a number.
            '<' if depth == 0 => depth = 1,
            '<' if before.is_alphanumeric() => depth += 1,
            '<' => return false,
            '>' if matches!(before, '-' | '=') => return false,
            '=' if before != ' ' => return false,
            '>' => {
                depth -= 1;
                if depth == 0 {
                    // A value directly after the bracket makes these two comparisons: `x<y, y>z`.
                    return !rest[at + 1..].starts_with(char::is_alphanumeric);
                }
            }
            ' ' | '0'..='9' if before == '<' => return false,
            ' ' if !(matches!(before, ',' | ':' | '|' | '=')
                || rest[at..].starts_with(" = ")
                || ends_in_modifier(&rest[..at])) =>
            {
                return false;
            }
            c if c.is_alphanumeric() => {}
            ' ' | ',' | '_' | '&' | '(' | ')' | '\'' | '[' | ']' | ':' | '?' | '*' | '.' | '|'
            | '=' => {}
            _ => return false,
        }
        before = c;
    }
    false
}

/// Returns whether a text ends with a word that belongs to the type after it.
fn ends_in_modifier(text: &str) -> bool {
    let word = text.rsplit(['<', ',', ' ']).next().unwrap_or_default();
    [
        "dyn", "impl", "mut", "const", "extends", "super", "unsigned", "keyof", "in", "out",
    ]
    .contains(&word)
}

/// The maximum length in bytes of a formula; of one between single dollar signs, since longer text is between
/// two prices; and of an environment's name.
const FORMULA: usize = 2000;
const DOLLARS: usize = 300;
const ENVIRONMENT: usize = 64;

/// Returns the formula that begins a text, and its length with delimiters: dollar signs, `\(…\)`, `\[…\]`, or
/// `\begin` and its `\end`, which belong to the formula.
pub(in crate::announce) fn formula_at(rest: &str) -> Option<(&str, usize)> {
    if let Some(inside) = rest.strip_prefix("$$") {
        let end = window(inside, FORMULA).find("$$").filter(|end| *end > 0)?;
        return Some((&inside[..end], end + 4));
    }
    if let Some(inside) = rest.strip_prefix('$') {
        let end = window(inside, DOLLARS).find('$')?;
        let is_one = is_formula(&inside[..end], &inside[end + 1..]);
        return is_one.then_some((&inside[..end], end + 2));
    }
    let pairs = [(r"\(", r"\)"), (r"\[", r"\]")];
    let pair = pairs.iter().find(|(open, _)| rest.starts_with(open));
    if let Some((_, close)) = pair {
        let inside = &rest[2..];
        if let Some(end) = window(inside, FORMULA).find(close).filter(|end| *end > 0) {
            return Some((&inside[..end], end + 4));
        }
    }
    let name = rest.strip_prefix(r"\begin{")?;
    let (name, _) = window(name, ENVIRONMENT).split_once('}')?;
    let close = format!(r"\end{{{name}}}");
    let end = window(rest, FORMULA).find(&close)? + close.len();
    Some((&rest[..end], end))
}

/// Returns whether the text between two dollar signs is a formula, not words between two prices or variables.
fn is_formula(inside: &str, after: &str) -> bool {
    let ends = inside.chars().next_back();
    let is_tight =
        ends.is_some_and(|c| !c.is_whitespace()) && !inside.starts_with(char::is_whitespace);
    let goes_on = after.starts_with(|c: char| c.is_ascii_digit());
    if !is_tight || goes_on {
        return false;
    }
    let has_mark = inside.contains(['\\', '^', '_', '=', '{', '+', '<', '>', '*', '|', '\'']);
    let is_command = inside.contains(['\\', '^', '{']);
    let longest = inside
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !names_function(word))
        .map(|word| word.chars().count())
        .max()
        .unwrap_or(0);
    let joins_names = after.starts_with(|c: char| c.is_alphabetic()) && !after.starts_with("th");
    is_command && (longest < 4 || inside.contains('\\') || !inside.contains(' '))
        || !joins_names && (longest < 2 || has_mark && longest < 4)
}

/// Returns whether a raised text makes a number before it an ordinal.
pub(in crate::announce) fn is_ordinal(before: &str, raised: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "st", "nd", "rd", "th", "er", "re", "e", "o", "a", "ème", "os", "as",
    ];
    before.ends_with(|c: char| c.is_ascii_digit()) && ENDINGS.contains(&raised)
}

/// Returns whether a lowered number counts the atoms of a chemical compound before it.
pub(in crate::announce) fn counts_atoms(before: &str, lowered: &str) -> bool {
    let is_number = lowered.bytes().all(|b| b.is_ascii_digit());
    let of_group = || before.ends_with(')') && is_compound(last_word(before.trim_end_matches(')')));
    is_number && (is_compound(last_word(before)) || of_group())
}

/// Returns whether a word consists of the signs of chemical elements and numbers, so that a number below it counts
/// atoms.
fn is_compound(word: &str) -> bool {
    const ONE: &str = "HBCNOFPSKVYIWU";
    const TWO: &str = "HeLiBeNeNaMgAlSiClArCaScTiCrMnFeCoNiCuZnGaGeAsSeBrKrRbSrZrNbMoTcRuRhPdAgCdInSnSbTeXeCsBaLaCePrNdPmSmEuGdTbDyHoErTmYbLuHfTaReOsIrPtAuHgTlPbBiPoAtRnFrRaAcThPaNpPuAm";
    if matches!(
        word,
        "B" | "C" | "K" | "V" | "Y" | "I" | "W" | "U" | "P" | "S"
    ) {
        // A letter alone is more often a variable.
        return false;
    }
    let bytes = word.as_bytes();
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        let is_two = |two: &[u8]| TWO.as_bytes().chunks(2).any(|known| known == two);
        at += match (b, bytes.get(at..at + 2)) {
            (b'0'..=b'9', _) if at > 0 => 1,
            (b'A'..=b'Z', Some(two)) if is_two(two) => 2,
            (b'A'..=b'Z', _) if ONE.as_bytes().contains(b) => 1,
            _ => return false,
        };
    }
    !word.is_empty()
}
