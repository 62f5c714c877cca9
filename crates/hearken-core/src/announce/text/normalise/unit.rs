//! Units after numbers.
//!
//! Responsibilities: finding a unit with its prefix, its power and its divisor ("per"), and naming it. Not
//! here: the words (`words`), where a number begins (`markup`).

use super::words::{UnitNames, Words, fill};

/// The units that can mean something else directly after a number, as in "7B".
const NOT_JOINED: [&str; 15] = [
    "m", "A", "N", "J", "K", "T", "F", "H", "L", "l", "b", "B", "bit", "mol", "cal",
];

/// The units that count only at the end of a clause: before another word they may be letters, as in "5 A
/// records".
const AT_AN_END: [&str; 11] = ["A", "N", "J", "K", "T", "F", "H", "d", "b", "B", "W"];

/// Returns the words of the unit that follows a number, and its length with the space before it.
pub(super) fn unit_behind(number: &str, rest: &str, words: &Words) -> Option<(String, usize)> {
    let bare = rest
        .strip_prefix([' ', '\u{a0}', '\u{202f}'])
        .unwrap_or(rest);
    let space = rest.len() - bare.len();
    let (unit, mut length) = unit_at(bare, words)?;
    let written = &bare[..length];
    if space == 0 && NOT_JOINED.contains(&written) {
        return None;
    }
    let mut said = if number == "1" { unit.one } else { unit.many };
    if let Some(behind) = bare[length..].strip_prefix('/')
        && let Some((other, more)) = unit_at(behind, words)
    {
        said = fill(&words.per, &[("one", &said), ("other", &other.one)]);
        length += 1 + more;
    }
    let after = bare[length..].chars().next();
    let ends = match after {
        None | Some('.' | ',' | ';' | ':' | '!' | '?' | ')') => true,
        Some(c) if c.is_alphanumeric() || matches!(c, '_' | '(' | '/' | '<' | '=') => return None,
        Some(_) => false,
    };
    (ends || !AT_AN_END.contains(&written)).then_some((said, space + length))
}

/// Returns the unit at the start of a text, and its length.
fn unit_at(text: &str, words: &Words) -> Option<(UnitNames, usize)> {
    let is_letter =
        |c: char| c.is_ascii_alphabetic() || matches!(c, 'µ' | 'μ' | 'Ω' | '\u{2126}' | '°');
    let is_dot = |c: char| matches!(c, '·' | '⋅');
    let length: usize = text
        .chars()
        .take(8)
        .take_while(|c| is_letter(*c) || is_dot(*c))
        .map(char::len_utf8)
        .sum();
    // A product may have its own name; otherwise only its first unit is said.
    let product = &text[..length];
    let first = product.split(is_dot).next().unwrap_or_default();
    let units = words.units_by_sign();
    let (named, length) = [product, first]
        .into_iter()
        .find_map(|written| Some((units.get(written)?, written.len())))?;
    let behind = &text[length..];
    let power = [
        ("²", &words.squared),
        ("³", &words.cubed),
        ("^2", &words.squared),
        ("^3", &words.cubed),
    ];
    let power = power.into_iter().find(|(sign, _)| behind.starts_with(sign));
    Some(match power {
        Some((sign, word)) => {
            let with = |name: &str| format!("{name} {word}");
            let named = UnitNames {
                one: with(&named.one),
                many: with(&named.many),
            };
            (named, length + sign.len())
        }
        None => (named.clone(), length),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_named_where_they_are_units() {
        let words = Words::default();
        for (number, rest, wanted) in [
            ("3.2", " GiB of", Some("gibibytes")),
            ("1", " GB.", Some("gigabyte")),
            ("12", "kHz", Some("kilohertz")),
            ("4.7", " kΩ,", Some("kiloohms")),
            ("4", " MiB/s", Some("mebibytes per second")),
            ("5", " km/h", Some("kilometres per hour")),
            ("9.81", " m/s²", Some("metres per second squared")),
            ("100", " Mbps", Some("megabits per second")),
            ("20", "°C", Some("degrees Celsius")),
            ("60", "fps", Some("frames per second")),
            ("5", " N·m", Some("newton metres")),
            ("1", " kN⋅m.", Some("kilonewton metre")),
            ("5", " kg·m", Some("kilograms")),
            ("5", " A records", None),
            ("7", "B", None),
            ("5", "m", None),
            ("2", " min-heaps", Some("minutes")),
            ("3", " small", None),
            ("3", "", None),
        ] {
            let found = unit_behind(number, rest, &words);
            assert_eq!(
                found.as_ref().map(|(said, _)| said.as_str()),
                wanted,
                "{number}{rest}"
            );
        }
    }
}
