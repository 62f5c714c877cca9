//! JSON text that is changed in places, and stays unchanged everywhere else.
//!
//! Responsibilities: the positions of an object's members and an array's elements, removing some, adding one at the
//! end. Not here: which ones those are (`hook_settings`).
//!
//! Mental model: every part is a slice of one text, so its position follows from the start of the text. An addition
//! adopts the indentation of its surroundings.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A member of an object, or an element of an array, which has no name.
#[derive(Debug, Clone)]
pub(super) struct Member<'t> {
    pub(super) name: String,
    pub(super) value: &'t str,
    /// Its range in the whole text, including its name.
    pub(super) at: Range<usize>,
}

/// An object or an array within a text.
#[derive(Debug, Clone)]
pub(super) struct Container<'t> {
    whole: &'t str,
    /// Its range, including its brackets.
    at: Range<usize>,
    pub(super) parts: Vec<Member<'t>>,
}

/// The members of an object in order, including those with the same name.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collects;
        impl<'de> Visitor<'de> for Collects {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collects).map(Self)
    }
}

/// The elements of an array.
struct Elements<'t>(Vec<&'t RawValue>);

impl<'de: 't, 't> Deserialize<'de> for Elements<'t> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collects;
        impl<'de> Visitor<'de> for Collects {
            type Value = Vec<&'de RawValue>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(elements)
            }
        }
        deserializer.deserialize_seq(Collects).map(Self)
    }
}

impl<'t> Container<'t> {
    /// Parses the members of the object in a range; `None` if there is no object.
    pub(super) fn object(whole: &'t str, at: Range<usize>) -> Option<Self> {
        let text = whole.get(at.clone())?;
        let members: Members<'t> = serde_json::from_str(text).ok()?;
        let values = members
            .0
            .into_iter()
            .map(|(name, value)| (name, value.get()));
        Some(Self::of(whole, at, values.collect()))
    }

    /// Parses the elements of the array in a range; `None` if there is no array.
    pub(super) fn array(whole: &'t str, at: Range<usize>) -> Option<Self> {
        let text = whole.get(at.clone())?;
        let elements: Elements<'t> = serde_json::from_str(text).ok()?;
        let values = elements
            .0
            .into_iter()
            .map(|value| (String::new(), value.get()));
        Some(Self::of(whole, at, values.collect()))
    }

    fn of(whole: &'t str, at: Range<usize>, values: Vec<(String, &'t str)>) -> Self {
        let mut end = at.start + 1;
        let mut parts = Vec::new();
        for (name, value) in values {
            let value_at = place(whole, value);
            // A name comes after the preceding comma.
            let gap = whole.get(end..value_at.start).unwrap_or_default();
            let begin = end
                + gap
                    .find(|c: char| !c.is_whitespace() && c != ',')
                    .unwrap_or(gap.len());
            parts.push(Member {
                name,
                value,
                at: begin..value_at.end,
            });
            end = value_at.end;
        }
        Self { whole, at, parts }
    }

    /// Returns the range of a part's value.
    pub(super) fn value_at(&self, part: &Member<'_>) -> Range<usize> {
        place(self.whole, part.value)
    }

    /// Returns the parts with a name; a well-formed object has at most one.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &Member<'t>> {
        self.parts.iter().filter(move |part| part.name == name)
    }

    /// Returns the whole text without some of the parts.
    pub(super) fn without(&self, goes: impl Fn(usize) -> bool) -> String {
        let kept: Vec<usize> = (0..self.parts.len()).filter(|at| !goes(*at)).collect();
        let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) else {
            return self.whole.to_owned();
        };
        let mut text = self
            .whole
            .get(..self.at.start + 1)
            .unwrap_or_default()
            .to_owned();
        for (place, at) in kept.iter().enumerate() {
            let begin = match (
                place,
                at.checked_sub(1).and_then(|before| self.parts.get(before)),
            ) {
                (0, _) => {
                    text.push_str(
                        self.whole
                            .get(self.at.start + 1..first.at.start)
                            .unwrap_or_default(),
                    );
                    self.parts.get(*at).map(|part| part.at.start)
                }
                // Together with the text between it and the previous part.
                (_, Some(before)) => Some(before.at.end),
                (_, None) => None,
            };
            if let (Some(begin), Some(part)) = (begin, self.parts.get(*at)) {
                text.push_str(self.whole.get(begin..part.at.end).unwrap_or_default());
            }
        }
        if !kept.is_empty() {
            text.push_str(
                self.whole
                    .get(last.at.end..self.at.end - 1)
                    .unwrap_or_default(),
            );
        }
        text.push_str(self.whole.get(self.at.end - 1..).unwrap_or_default());
        text
    }

    /// Returns the whole text with one more part at the end, formatted as if it had always been there.
    pub(super) fn with(&self, name: Option<&str>, value: &Value) -> String {
        let unit = unit(self.whole);
        let outer = self.indentation();
        let inner = format!("{outer}{unit}");
        let is_compact = !self.whole.trim().contains('\n')
            && !self.whole.trim().is_empty()
            && self.whole.trim() != "{}";
        let value = match is_compact {
            true => value.to_string(),
            false => pretty(value, unit).replace('\n', &format!("\n{inner}")),
        };
        let value = match (name, is_compact) {
            (Some(name), true) => format!("{}:{value}", Value::from(name)),
            (Some(name), false) => format!("{}: {value}", Value::from(name)),
            (None, _) => value,
        };
        let (begin, end, part) = match (self.parts.last(), is_compact) {
            (Some(last), true) => (last.at.end, last.at.end, format!(",{value}")),
            (Some(last), false) => (last.at.end, last.at.end, format!(",\n{inner}{value}")),
            (None, true) => (self.at.start + 1, self.at.end - 1, value),
            (None, false) => (
                self.at.start + 1,
                self.at.end - 1,
                format!("\n{inner}{value}\n{outer}"),
            ),
        };
        let before = self.whole.get(..begin).unwrap_or_default();
        let behind = self.whole.get(end..).unwrap_or_default();
        format!("{before}{part}{behind}")
    }

    /// Returns the white space at the start of the line on which the container begins.
    fn indentation(&self) -> &'t str {
        let before = self.whole.get(..self.at.start).unwrap_or_default();
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        let length = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.get(..length).unwrap_or_default()
    }
}

/// Returns the range of a slice within its text.
fn place(whole: &str, part: &str) -> Range<usize> {
    let begin = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    begin..begin + part.len()
}

/// Returns the indentation of one level: the first indentation in the text, or two spaces.
fn unit(text: &str) -> &str {
    let indented = text.lines().find_map(|line| {
        let length = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.get(..length)
            .filter(|it| !it.is_empty() && !line.trim().is_empty())
    });
    indented.unwrap_or("  ")
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => String::from_utf8(text).unwrap_or_default(),
        // Writing to memory can't fail.
        Err(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_and_the_rest_stays_as_it_is() {
        let text = "{ \"a\" : 1,\n\t\"b\":[ 1 , 2,3 ],\"c\":{}\n}";
        let object = Container::object(text, 0..text.len()).unwrap();
        assert_eq!(
            object.without(|at| at == 0),
            "{ \"b\":[ 1 , 2,3 ],\"c\":{}\n}"
        );
        assert_eq!(object.without(|at| at == 1), "{ \"a\" : 1,\"c\":{}\n}");
        assert_eq!(
            object.without(|at| at == 2),
            "{ \"a\" : 1,\n\t\"b\":[ 1 , 2,3 ]\n}"
        );
        assert_eq!(object.without(|_| true), "{}");
        let list = object.value_at(&object.parts[1]);
        let array = Container::array(text, list).unwrap();
        assert_eq!(
            array.without(|at| at == 1),
            "{ \"a\" : 1,\n\t\"b\":[ 1,3 ],\"c\":{}\n}"
        );
    }

    #[test]
    fn a_part_takes_the_indentation_around_it() {
        let value = serde_json::json!({"x": [1]});
        for (text, wanted) in [
            ("{}", "{\n  \"n\": {\n    \"x\": [\n      1\n    ]\n  }\n}"),
            ("{\"a\":1}", "{\"a\":1,\"n\":{\"x\":[1]}}"),
            (
                "{\n\t\"a\": 1\n}\n",
                "{\n\t\"a\": 1,\n\t\"n\": {\n\t\t\"x\": [\n\t\t\t1\n\t\t]\n\t}\n}\n",
            ),
        ] {
            let at = 0..text.trim_end().len();
            let object = Container::object(text, at).unwrap();
            assert_eq!(object.with(Some("n"), &value), wanted);
        }
    }
}
