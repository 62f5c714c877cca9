//! Why something failed, in the language of the phrases.
//!
//! Responsibilities: finding the English words that the rooms below say in a phrase file's `[reasons]`,
//! with what they name (a program, a code, a cause of their own) carried over. Not here: the English
//! words, which stand where the fault is made.
//!
//! A worked example. The file has `"{engine} can't be reached: {why}" = "{engine} ist nicht zu erreichen:
//! {why}"`. Of "piper can't be reached: no such file" it makes "piper ist nicht zu erreichen: " and the
//! cause, which is looked for in turn. What no entry fits stays as it is.

use std::collections::BTreeMap;

/// How often a cause may have a cause of its own; ours have two.
const DEEPEST: usize = 4;

/// Says what is wrong with an entry.
const ONE_SIDED: &str = "the two sides of a reason must have the same places, each with a name";

/// Holds the reasons of one language by the English ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Reasons {
    whole: BTreeMap<String, String>,
    /// The entries with places, those that say most by themselves first.
    shaped: Vec<(Vec<Bit>, Vec<Bit>)>,
}

/// A part of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bit {
    Literal(String),
    Place(String),
}

impl Reasons {
    /// Reads the entries of a file.
    ///
    /// # Errors
    /// The English side of an entry whose places do not fit, and what is wrong.
    pub(super) fn new(file: BTreeMap<String, String>) -> Result<Self, (String, &'static str)> {
        let mut reasons = Self::default();
        for (english, other) in file {
            if !english.contains('{') {
                reasons.whole.insert(english, other);
                continue;
            }
            let pair = (bits(&english), bits(&other));
            let (Some(from), Some(to)) = pair else {
                return Err((english, ONE_SIDED));
            };
            if places(&from) != places(&to) || literals(&from) == 0 {
                return Err((english, ONE_SIDED));
            }
            reasons.shaped.push((from, to));
        }
        reasons
            .shaped
            .sort_by_key(|(from, _)| std::cmp::Reverse(literals(from)));
        Ok(reasons)
    }

    /// Gives a reason in this language; English where it is not known.
    pub(super) fn of(&self, english: &str) -> String {
        self.at(english, DEEPEST)
    }

    fn at(&self, english: &str, depth: usize) -> String {
        if let Some(known) = self.whole.get(english) {
            return known.clone();
        }
        if depth == 0 {
            return english.to_owned();
        }
        let fitting = self
            .shaped
            .iter()
            .find_map(|(from, to)| Some((matched(from, english)?, to)));
        let Some((found, to)) = fitting else {
            return english.to_owned();
        };
        to.iter()
            .map(|bit| match bit {
                Bit::Literal(text) => text.clone(),
                Bit::Place(name) => found
                    .get(name.as_str())
                    .map_or_else(String::new, |inner| self.at(inner, depth - 1)),
            })
            .collect()
    }
}

/// Parts an entry; nothing where a brace has no other, a place has no name, or two touch.
fn bits(text: &str) -> Option<Vec<Bit>> {
    let mut bits = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, later) = after.split_once('}')?;
        if name.is_empty() || before.contains('}') {
            return None;
        }
        if !before.is_empty() {
            bits.push(Bit::Literal(before.to_owned()));
        } else if !bits.is_empty() {
            return None;
        }
        bits.push(Bit::Place(name.to_owned()));
        rest = later;
    }
    if rest.contains('}') {
        return None;
    }
    if !rest.is_empty() {
        bits.push(Bit::Literal(rest.to_owned()));
    }
    Some(bits)
}

fn places(bits: &[Bit]) -> std::collections::BTreeSet<&str> {
    bits.iter()
        .filter_map(|bit| match bit {
            Bit::Place(name) => Some(name.as_str()),
            Bit::Literal(_) => None,
        })
        .collect()
}

fn literals(bits: &[Bit]) -> usize {
    let length = |bit: &Bit| match bit {
        Bit::Literal(text) => text.len(),
        Bit::Place(_) => 0,
    };
    bits.iter().map(length).sum()
}

/// Finds what stands in an entry's places, each as short as the rest allows; nothing where it does
/// not fit.
fn matched<'a>(bits: &'a [Bit], text: &'a str) -> Option<BTreeMap<&'a str, &'a str>> {
    let mut found = BTreeMap::new();
    let mut rest = text;
    let mut open: Option<&str> = None;
    for (at, bit) in bits.iter().enumerate() {
        match bit {
            Bit::Place(name) => open = Some(name),
            Bit::Literal(literal) => {
                let last = at + 1 == bits.len();
                let start = match open {
                    None => rest.starts_with(literal.as_str()).then_some(0)?,
                    Some(_) if last => {
                        let start = rest.len().checked_sub(literal.len())?;
                        rest.ends_with(literal.as_str()).then_some(start)?
                    }
                    Some(_) => rest.find(literal.as_str())?,
                };
                if let Some(name) = open.take() {
                    found.insert(name, rest.get(..start)?);
                }
                rest = rest.get(start + literal.len()..)?;
            }
        }
    }
    match open {
        Some(name) => {
            found.insert(name, rest);
        }
        None if !rest.is_empty() => return None,
        None => {}
    }
    found
        .values()
        .all(|inner| !inner.is_empty())
        .then_some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn reasons(entries: &[(&str, &str)]) -> Result<Reasons, (String, &'static str)> {
        let entries = entries.iter().map(|(a, b)| ((*a).into(), (*b).into()));
        Reasons::new(entries.collect())
    }

    #[test]
    fn a_reason_is_told_with_what_it_names_and_with_its_cause() {
        let reasons = reasons(&[
            ("it is empty", "es ist leer"),
            ("{engine} fails: {why}", "{why}, darum versagt {engine}"),
            ("{engine} fails: it {how}", "{engine} versagt: es {how}"),
            ("ended with {status}", "endete mit {status}"),
            ("{a} of {b} is gone", "{b} fehlt {a}"),
        ])
        .unwrap();
        for (english, german) in [
            ("it is empty", "es ist leer"),
            ("x fails: it is empty", "x versagt: es is empty"),
            ("x fails: no idea", "no idea, darum versagt x"),
            (
                "x fails: ended with code 1",
                "endete mit code 1, darum versagt x",
            ),
            ("the end of the world is gone", "the world fehlt the end"),
            ("of is gone", "of is gone"),
            (" of x is gone", " of x is gone"),
            ("something else", "something else"),
            ("", ""),
        ] {
            assert_eq!(reasons.of(english), german, "{english}");
        }
    }

    #[test]
    fn causes_without_an_end_come_to_one() {
        let reasons = reasons(&[("no: {why}", "nein: {why}")]).unwrap();
        let long = reasons.of(&"no: ".repeat(1000));
        assert!(long.starts_with("nein: nein: nein: nein: no: no: "));
    }

    #[test]
    fn entries_whose_places_do_not_fit_are_faults() {
        for (english, other) in [
            ("a {x}", "a {y}"),
            ("a {x}", "a"),
            ("a {}", "a {}"),
            ("a {x", "a {x"),
            ("a } {x}", "a {x}"),
            ("{x}{y}", "{y}{x}"),
        ] {
            assert!(reasons(&[(english, other)]).is_err(), "{english}");
        }
    }
}
