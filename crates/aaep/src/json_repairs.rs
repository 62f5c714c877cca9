//! Repairs for common invalid JSON of real programs, so that the rest can be read.
//!
//! Responsibilities: halves of characters, raw control characters, NaN and Infinity, in one pass over the text.
//! Not here: reading the value (`parse`), reporting the repairs (`decode`).
//!
//! An agent that streams text in UTF-16 units may cut an emoji in two and write each half as an escape: dropping that
//! chunk would lose its words, so each half becomes U+FFFD. Python's json writes NaN: the field then counts as absent.
//! A program that builds JSON by hand may forget to escape a tab.
//!
//! ```text
//! {"a":NaN,"b":1}  -> {"b":1}     and "a" is what was left out
//! [1,-Infinity]    -> [1,null]    in a list every place counts
//! ```

/// The deepest nesting that is followed; the JSON reader itself refuses anything deeper.
const DEEPEST: usize = 128;

/// A repaired text, and what was wrong with it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RepairedText {
    pub(super) text: String,
    pub(super) marks: Repairs,
}

/// The repairs of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repairs {
    /// Halves of characters were replaced.
    pub(super) halves: bool,
    /// Raw control characters were read as if they were escaped.
    pub(super) controls: bool,
    /// The first field that was left out because it is not a number; empty inside a list.
    pub(super) no_number: Option<String>,
}

/// Repairs a text; returns `None` if it contains nothing that can be repaired here.
pub(super) fn mend(text: &str) -> Option<RepairedText> {
    let mut pass = RepairPass {
        text,
        at: 0,
        kept: 0,
        open: Vec::new(),
        mended: RepairedText::default(),
    };
    pass.run();
    let RepairPass {
        kept, mut mended, ..
    } = pass;
    if mended.marks == Repairs::default() {
        return None;
    }
    mended.text.push_str(&text[kept..]);
    Some(mended)
}

/// An open object or list.
#[derive(Debug, Clone, Copy)]
enum OpenBracket {
    List,
    /// An object, before a member's name.
    Object,
    /// An object, after a member's name, which begins at these places of the repaired text and of the original.
    Member {
        there: usize,
        here: usize,
    },
}

struct RepairPass<'a> {
    text: &'a str,
    at: usize,
    /// The end of what has been copied or left out.
    kept: usize,
    open: Vec<OpenBracket>,
    mended: RepairedText,
}

impl RepairPass<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.name();
                    self.at += 1;
                    self.string();
                    continue;
                }
                b'{' | b'[' if self.open.len() >= DEEPEST => return,
                b'{' => self.open.push(OpenBracket::Object),
                b'[' => self.open.push(OpenBracket::List),
                b'}' | b']' => {
                    self.open.pop();
                }
                b',' => {
                    if let Some(open @ OpenBracket::Member { .. }) = self.open.last_mut() {
                        *open = OpenBracket::Object;
                    }
                }
                b'N' | b'I' | b'-' => {
                    if let Some(length) = no_number(&bytes[self.at..]) {
                        self.leave_out(length);
                        continue;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Notes the start of a member's name, if one is due.
    fn name(&mut self) {
        let there = self.mended.text.len() + self.at - self.kept;
        if let Some(open @ OpenBracket::Object) = self.open.last_mut() {
            *open = OpenBracket::Member {
                there,
                here: self.at,
            };
        }
    }

    /// Advances to the end of a string whose opening quote has been consumed.
    fn string(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.escape(),
                0..0x20 => {
                    let escape = format!("\\u{byte:04x}");
                    self.put(&escape, 1);
                    self.mended.marks.controls = true;
                }
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) {
        let bytes = self.text.as_bytes();
        match unit(bytes, self.at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, self.at + 6), Some(0xDC00..=0xDFFF)) => {
                self.at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                self.put("\\ufffd", 6);
                self.mended.marks.halves = true;
            }
            Some(_) => self.at += 6,
            // Any other escape is two bytes long, including an escaped backslash; a raw control character after
            // a backslash is not an escape and is repaired separately.
            None if bytes.get(self.at + 1).is_some_and(|next| *next < 0x20) => {
                self.put("\\\\", 1);
            }
            None => self.at += 2,
        }
    }

    /// Replaces the next bytes by another text.
    fn put(&mut self, other: &str, length: usize) {
        self.mended.text.push_str(&self.text[self.kept..self.at]);
        self.mended.text.push_str(other);
        self.at += length;
        self.kept = self.at;
    }

    /// Leaves out a member whose value is not a number; in a list, a null takes its place.
    fn leave_out(&mut self, length: usize) {
        let field = match self.open.last() {
            Some(OpenBracket::List) => {
                self.put("null", length);
                String::new()
            }
            Some(OpenBracket::Member { there, here }) => {
                let (there, here) = (*there, *here);
                let name = &self.text[here + 1..self.at];
                let name = name[..name.find('"').unwrap_or(0)].to_owned();
                self.put("", length);
                self.mended.text.truncate(there);
                self.comma();
                name
            }
            // Alone or in place of a name, it can't be repaired.
            Some(OpenBracket::Object) | None => {
                self.at += length;
                return;
            }
        };
        self.mended.marks.no_number.get_or_insert(field);
    }

    /// Removes the comma between an omitted member and its neighbour.
    fn comma(&mut self) {
        let rest = &self.text[self.at..];
        let after = rest.trim_ascii_start();
        self.at += rest.len() - after.len();
        if after.starts_with(',') {
            self.at += 1;
            if let Some(open) = self.open.last_mut() {
                *open = OpenBracket::Object;
            }
        } else {
            let before = self.mended.text.trim_ascii_end().len();
            if self.mended.text[..before].ends_with(',') {
                self.mended.text.truncate(before - 1);
            }
        }
        self.kept = self.at;
    }
}

/// Reads the escape of a UTF-16 unit.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits
        .iter()
        .all(u8::is_ascii_hexdigit)
        .then(|| std::str::from_utf8(digits).ok())
        .flatten()
        .and_then(|digits| u16::from_str_radix(digits, 16).ok())
}

/// Returns the length of a non-number such as `NaN`, as programs write it, at the start of the bytes.
fn no_number(bytes: &[u8]) -> Option<usize> {
    ["NaN", "Infinity", "-Infinity", "-NaN"]
        .into_iter()
        .find(|name| bytes.starts_with(name.as_bytes()))
        .map(str::len)
        .filter(|length| !bytes.get(*length).is_some_and(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn mended(text: &str) -> (Value, Option<String>) {
        let mended = mend(text).unwrap();
        let value = serde_json::from_str(&mended.text);
        (value.expect(&mended.text), mended.marks.no_number)
    }

    #[test]
    fn a_field_that_is_no_number_is_left_out_and_a_place_in_a_list_stays() {
        for (text, value, field) in [
            (r#"{"a":NaN}"#, json!({}), "a"),
            (r#"{"a":NaN,"b":1}"#, json!({"b": 1}), "a"),
            (r#"{"b":1 , "a" : -Infinity }"#, json!({"b": 1}), "a"),
            (
                r#"{"b":1,"a":Infinity,"c":2}"#,
                json!({"b": 1, "c": 2}),
                "a",
            ),
            (r#"{"a":NaN,"b":NaN}"#, json!({}), "a"),
            (
                r#"{"o":{"a":NaN},"l":[1,NaN]}"#,
                json!({"o": {}, "l": [1, null]}),
                "a",
            ),
            (r#"[NaN]"#, json!([null]), ""),
            (r#"{"t":"NaN, {","a":NaN}"#, json!({"t": "NaN, {"}), "a"),
        ] {
            assert_eq!(mended(text), (value, Some(field.to_owned())), "{text}");
        }
        for text in [r#"{"a":"NaN"}"#, "NaN", "{NaN:1}", r#"{"a":NaNo}"#, "{}"] {
            assert_eq!(mend(text), None, "{text}");
        }
    }

    #[test]
    fn a_raw_control_is_read_as_if_it_were_escaped() {
        let (value, _) = mended("{\"a\":\"x\0y\tz\\\n\"}");
        assert_eq!(value, json!({"a": "x\0y\tz\\\n"}));
        assert_eq!(mend("{\"a\":\n\t1}"), None, "white space between");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fail_and_what_is_json_stays(
            text in "[\\[\\]{}\",:\\\\ud8\\x00é NaInfity1-]{0,60}"
        ) {
            let mended = mend(&text);
            if serde_json::from_str::<Value>(&text).is_ok() {
                // A half of a character is the only fault here that some JSON readers accept.
                prop_assert!(mended.is_none_or(|mended| mended.marks.no_number.is_none()));
            }
        }
    }
}
