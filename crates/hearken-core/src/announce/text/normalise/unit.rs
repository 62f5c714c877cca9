//! Units behind numbers.
//!
//! Responsibilities: finding a unit with its prefix, its power and what it is measured by, and naming it. Not here: which
//! words that are (`words`), where a number begins (`markup`).

use foldhash::{HashMap, HashMapExt};

use super::words::{Sign, Word, Words, fill};

/// The units that stand for something else, too, when a number is written together with them, as in "7B".
const NOT_JOINED: [&str; 15] = [
    "m", "A", "N", "J", "K", "T", "F", "H", "L", "l", "b", "B", "bit", "mol", "cal",
];

/// The units that count only at the end of a clause: more letters would be a word, as in "5 A records".
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

/// The names of the units, with and without a prefix, by how they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Units(HashMap<String, Named>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    one: String,
    many: String,
}

impl Units {
    pub(super) fn of(words: &Words) -> Self {
        let plain = words.units.iter().map(|unit| {
            let named = Named {
                one: unit.one.to_string(),
                many: unit.many.to_string(),
            };
            (unit.sign.to_string(), named)
        });
        let with_prefix = words.prefixes.iter().flat_map(|prefix| {
            let units = words.units.iter().filter(|unit| takes(prefix, unit));
            units.map(|unit| (format!("{}{}", prefix.sign, unit.sign), named(prefix, unit)))
        });
        let mut units = HashMap::new();
        for (written, named) in plain.chain(with_prefix) {
            units.entry(written).or_insert(named);
        }
        Self(units)
    }

    /// Returns whether a quick look finds what could be a unit at the start of the text behind a number.
    pub(super) fn may_follow(&self, behind: &str) -> bool {
        let bare = behind.strip_prefix(' ').unwrap_or(behind);
        let is_letter = |b: &u8| b.is_ascii_alphabetic();
        let letters = bare.bytes().take_while(is_letter).count();
        // A sign beyond ASCII may be a unit, a power, or a space of another kind.
        let is_foreign = bare.as_bytes().get(letters).is_some_and(|b| !b.is_ascii());
        is_foreign || self.0.contains_key(&bare[..letters])
    }
}

/// Returns the unit at the start of a text, and its length.
fn unit_at(text: &str, words: &Words) -> Option<(Named, usize)> {
    let is_letter =
        |c: char| c.is_ascii_alphabetic() || matches!(c, 'µ' | 'μ' | 'Ω' | '\u{2126}' | '°');
    let is_dot = |c: char| matches!(c, '·' | '⋅');
    let length: usize = text
        .chars()
        .take(8)
        .take_while(|c| is_letter(*c) || is_dot(*c))
        .map(char::len_utf8)
        .sum();
    // A product has a name of its own, or only its first unit is said.
    let product = &text[..length];
    let first = product.split(is_dot).next().unwrap_or_default();
    let units = &words.units_by_sign().0;
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
            let named = Named {
                one: with(&named.one),
                many: with(&named.many),
            };
            (named, length + sign.len())
        }
        None => (named.clone(), length),
    })
}

/// Returns whether a prefix stands before a unit.
fn takes(prefix: &Sign, unit: &Sign) -> bool {
    let prefix = prefix.sign.as_ref();
    let is_binary = prefix.ends_with('i');
    match unit.sign.as_ref() {
        "B" | "b" | "bit" | "bps" => {
            is_binary || matches!(prefix, "k" | "K" | "M" | "G" | "T" | "P" | "E")
        }
        "m" | "g" | "s" | "l" | "L" | "mol" => {
            matches!(prefix, "n" | "µ" | "μ" | "m" | "c" | "k")
        }
        "Hz" | "A" | "Ah" | "V" | "W" | "Wh" | "Ω" | "\u{2126}" | "F" | "J" | "N" | "Pa" | "eV"
        | "cal" | "T" | "N·m" | "N⋅m" | "Pa·s" | "A·h" | "W·h" => {
            !is_binary && !matches!(prefix, "c" | "K" | "E")
        }
        _ => false,
    }
}

/// Returns the names of a unit with a prefix.
fn named(prefix: &Sign, unit: &Sign) -> Named {
    let name = |unit: &Word| {
        // A word in the middle of another has no capital.
        let (first, rest) = unit.split_at(unit.find(' ').unwrap_or(unit.len()));
        format!("{}{}{rest}", prefix.one, first.to_lowercase())
    };
    Named {
        one: name(&unit.one),
        many: name(&unit.many),
    }
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
