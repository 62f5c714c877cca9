//! From JSON text to a value, with two things that the usual way would hide: repeated names and repairs.
//!
//! Responsibilities: the half of step 1 that concerns the text. Not here: what the value means, repairing
//! invalid JSON (`json_repairs`).
//!
//! The last value of a repeated name counts, as usual. A list at the top level is parsed but not kept: it is
//! never a message, its texts are read one by one (`json_texts`), and a large one would take many times its
//! size in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::json_repairs::{Repairs, mend};

/// The parsed value and what was odd about its text.
pub(super) struct ParsedJson {
    pub(super) value: Value,
    /// The first name that occurs twice in one object.
    pub(super) repeated: Option<String>,
    /// The repairs that were needed before the text could be read.
    pub(super) marks: Repairs,
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<ParsedJson, serde_json::Error> {
    let once = |text: &str| {
        let mut repeated = None;
        let mut reader = serde_json::Deserializer::from_str(text);
        let top = ValueReader {
            repeated: &mut repeated,
            is_top: true,
        };
        let value = top.deserialize(&mut reader)?;
        reader.end()?;
        Ok((value, repeated))
    };
    let ((value, repeated), marks) = match once(text) {
        Ok(first) => (first, Repairs::default()),
        Err(error) => match mend(text) {
            // A position in the repaired text would mean nothing to the sender.
            Some(mended) => (once(&mended.text).map_err(|_| error)?, mended.marks),
            None => return Err(error),
        },
    };
    Ok(ParsedJson {
        value,
        repeated,
        marks,
    })
}

/// A reader of one value that remembers the first repeated name.
struct ValueReader<'a> {
    repeated: &'a mut Option<String>,
    /// Whether it is the whole text and not a part of it.
    is_top: bool,
}

impl ValueReader<'_> {
    fn inside(&mut self) -> ValueReader<'_> {
        ValueReader {
            repeated: self.repeated,
            is_top: false,
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self.inside())? {
            if !self.is_top {
                values.push(value);
            }
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            let value = object.next_value_seed(self.inside())?;
            match map.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(mut place) => {
                    if self.repeated.is_none() {
                        *self.repeated = Some(place.key().clone());
                    }
                    place.insert(value);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_whole_ones_stay() {
        for (text, wanted, mended) in [
            (r#""a\ud83db""#, "a\u{fffd}b", true),
            (r#""\ude00""#, "\u{fffd}", true),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", true),
            (r#""\uD83D\uDE00""#, "😀", false),
            (r#""\\ud83d""#, "\\ud83d", false),
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!(parsed.value, Value::from(wanted), "{text}");
            assert_eq!(parsed.marks.halves, mended, "{text}");
        }
    }

    #[test]
    fn a_repeated_name_is_remembered_at_any_depth() {
        let parsed = parse(r#"{"a":1,"b":{"c":1,"c":2},"a":3}"#).unwrap();
        assert_eq!(parsed.value["a"], 3);
        assert_eq!(parsed.value["b"]["c"], 2);
        assert_eq!(parsed.repeated.as_deref(), Some("c"));
        assert_eq!(parse(r#"{"a":{"b":1},"b":2}"#).unwrap().repeated, None);
    }

    #[test]
    fn a_value_is_what_serde_json_makes_of_it() {
        for text in [
            "null",
            "-3",
            "18446744073709551615",
            "1.5",
            "\"x\"",
            r#"{"a":[1,[2]]}"#,
            r#"{"a":[true,null,{"b":"c"}]}"#,
        ] {
            let plain: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text).unwrap().value, plain, "{text}");
        }
        assert!(parse("{").is_err() && parse("1 2").is_err() && parse("").is_err());
    }

    #[test]
    fn of_a_list_at_the_top_nothing_is_kept_but_what_is_wrong_with_it() {
        let parsed = parse(r#"[1,[2],{"a":1,"a":2}]"#).unwrap();
        assert_eq!(parsed.value, Value::Array(Vec::new()));
        assert_eq!(parsed.repeated.as_deref(), Some("a"));
        for text in ["[1,", "[1 2]", "[{]", "[1]2", r#"[{"a":tru}]"#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cut_escape_is_an_error_and_no_panic() {
        for text in ["\"\\u", "\"\\ud8", "\"\\", "\"\\ud83d\\u", "\"é\\ud83d"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
