//! A scanner for an object's fields and values, in place in the text.
//!
//! Responsibilities: finding where a name or a value ends, and giving up on whatever is not JSON or needs a closer
//! look. Not here: which fields exist (`table`), what they mean (`direct`).
//!
//! # Mental model
//! Nearly every byte of a frequent event is inside a plain string, so the work is finding the ends of strings. Control
//! characters, which no string may contain, are ruled out for the whole message in one pass; a message with line breaks
//! therefore takes the full path. Values other than plain strings, numbers and booleans are recognized by their bytes
//! if they came before; otherwise `serde_json` reads them, like strings with escapes. `serde_json` alone, through a
//! visitor for each field and its name, takes more than twice the time.

use std::borrow::Cow;
use std::marker::PhantomData;

use memchr::memchr2;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::recent::Raw;
use crate::same::are_same_bytes;

/// A text, borrowed from the message if it has no escapes there.
#[derive(Debug)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

/// What an event names as its context.
#[derive(Debug)]
pub(super) enum Context<'a> {
    /// A single context.
    One(Text<'a>),
    /// A list of contexts.
    List(Vec<Text<'a>>),
}

/// The scanner of one object.
#[derive(Debug)]
pub(super) struct Scan<'a, 'k> {
    text: &'a str,
    /// The number of bytes consumed.
    at: usize,
    /// The objects of earlier events: an object that begins with the same bytes is the same object.
    known: [Option<&'k str>; 3],
}

/// A value that is read at the scanner's position.
pub(super) trait Value<'a>: Sized {
    /// Consumes the value; returns nothing if it is of another kind.
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self>;
}

/// A field's name in quotes, with its colon, in a form that is compared with a text in one step instead of byte by
/// byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    name: &'static str,
    /// Its bytes, and a mask of the bytes in use.
    bytes: [u128; 2],
    own: [u128; 2],
}

/// How many bytes are compared in one step.
const HALF: usize = size_of::<u128>();

impl Written {
    /// Creates it from the quoted name with its colon.
    #[allow(
        clippy::indexing_slicing,
        reason = "worked out as it is built, which fails where it is wrong"
    )]
    pub(super) const fn new(name: &'static str) -> Self {
        let (mut bytes, mut own) = ([[0; HALF]; 2], [[0; HALF]; 2]);
        let mut at = 0;
        while at < name.len() {
            bytes[at / HALF][at % HALF] = name.as_bytes()[at];
            own[at / HALF][at % HALF] = u8::MAX;
            at += 1;
        }
        Self {
            name,
            bytes: [u128::from_ne_bytes(bytes[0]), u128::from_ne_bytes(bytes[1])],
            own: [u128::from_ne_bytes(own[0]), u128::from_ne_bytes(own[1])],
        }
    }

    /// Returns whether a text begins with this name.
    #[inline]
    fn begins(&self, text: &[u8]) -> bool {
        if let Some((first, rest)) = text.split_first_chunk()
            && let Some(second) = rest.first_chunk()
        {
            let differs = |text: &[u8; HALF], at: usize| {
                (u128::from_ne_bytes(*text) ^ self.bytes[at]) & self.own[at]
            };
            return differs(first, 0) | differs(second, 1) == 0;
        }
        // Near the end of the message, fewer bytes are left.
        text.starts_with(self.name.as_bytes())
    }
}

impl<'a, 'k> Scan<'a, 'k> {
    /// Starts scanning after the opening brace of an object.
    pub(super) fn open(text: &'a str, known: [Option<&'k str>; 3]) -> Option<Self> {
        // A fold, not a search: there is nearly always none, and a fold checks many bytes in one step.
        let controls = (text.bytes()).fold(false, |any, b| any | (b < b' '));
        if controls {
            return None;
        }
        let mut scan = Self { text, at: 0, known };
        scan.sign(b'{').then_some(scan)
    }

    /// Consumes the name of the next field, with its colon.
    #[inline]
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let name = self.plain()?;
        self.sign(b':').then_some(name)
    }

    /// Consumes this field name, in quotes and with its colon, if it comes next.
    #[inline]
    pub(super) fn passes(&mut self, written: &Written) -> bool {
        if self.next() == Some(b' ') {
            self.at += 1;
        }
        let rest = self.text.as_bytes().get(self.at..);
        let is_it = rest.is_some_and(|rest| written.begins(rest));
        if is_it {
            self.at += written.name.len();
        }
        is_it
    }

    /// Returns whether another field follows; nothing if neither a field nor the object's end follows.
    #[inline]
    pub(super) fn goes_on(&mut self) -> Option<bool> {
        if self.sign(b',') {
            return Some(true);
        }
        self.sign(b'}').then_some(false)
    }

    /// Returns whether only white space is left.
    pub(super) fn is_over(&mut self) -> bool {
        self.space();
        self.next().is_none()
    }

    /// Returns the next byte.
    #[inline]
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the remaining text.
    #[inline]
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn space(&mut self) {
        while self.next() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Consumes the given text if it comes next.
    #[inline]
    fn passes_same(&mut self, wanted: &str) -> bool {
        let end = self.at + wanted.len();
        let next = self.text.as_bytes().get(self.at..end);
        let is_it = next.is_some_and(|next| are_same_bytes(next, wanted.as_bytes()));
        if is_it {
            self.at = end;
        }
        is_it
    }

    /// Consumes the given byte if it comes next, after any spaces.
    #[inline]
    fn sign(&mut self, sign: u8) -> bool {
        if self.next() != Some(sign) {
            self.space();
        }
        let is_it = self.next() == Some(sign);
        self.at += usize::from(is_it);
        is_it
    }

    /// Consumes a string without escapes, if the next value is one.
    #[inline]
    pub(super) fn plain(&mut self) -> Option<&'a str> {
        if self.next() != Some(b'"') {
            self.space();
        }
        let bytes = self.text.as_bytes();
        let [b'"', rest @ ..] = bytes.get(self.at..)? else {
            return None;
        };
        let from = self.at + 1;
        let to = from + memchr2(b'"', b'\\', rest)?;
        if bytes.get(to) != Some(&b'"') {
            return None;
        }
        self.at = to + 1;
        self.text.get(from..to)
    }

    /// Consumes the next value of any kind, as `serde_json` reads it.
    fn other<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut reader = serde_json::Deserializer::from_str(self.rest()).into_iter();
        let value = reader.next()?.ok()?;
        self.at += reader.byte_offset();
        Some(value)
    }
}

impl<'a> Value<'a> for Text<'a> {
    #[inline]
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self> {
        match scan.plain() {
            Some(text) => Some(Self(Cow::Borrowed(text))),
            None => scan.other(),
        }
    }
}

impl<'a> Value<'a> for Context<'a> {
    #[inline]
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self> {
        if let Some(one) = scan.plain() {
            return Some(Self::One(Text(Cow::Borrowed(one))));
        }
        match scan.next() {
            Some(b'[') => scan.other().map(Self::List),
            Some(_) | None => scan.other().map(Self::One),
        }
    }
}

impl<'a> Value<'a> for Raw<'a> {
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self> {
        scan.space();
        for (at, known) in scan.known.into_iter().enumerate() {
            let from = scan.at;
            if let Some(known) = known
                && scan.passes_same(known)
            {
                let (text, again) = (scan.text.get(from..scan.at)?, Some(at));
                return Some(Self { text, again });
            }
        }
        let raw: &RawValue = scan.other()?;
        let (text, again) = (raw.get(), None);
        text.starts_with('{').then_some(Self { text, again })
    }
}

impl<'a> Value<'a> for Vec<Text<'a>> {
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self> {
        scan.other()
    }
}

/// The most digits of a number that is read here: nineteen nines fit into 64 bits.
const MOST_DIGITS: usize = 19;

impl<'a> Value<'a> for u64 {
    /// Consumes digits only: a number in another form takes the full path.
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self> {
        scan.space();
        let (mut number, mut digits) = (0_u64, 0);
        let rest = scan.text.as_bytes().get(scan.at..).unwrap_or_default();
        for b in rest {
            match b {
                b'0'..=b'9' if digits < MOST_DIGITS => {
                    number = number * 10 + u64::from(*b - b'0');
                    digits += 1;
                }
                b',' | b'}' | b' ' => break,
                _ => return None,
            }
        }
        let begins_with_none = digits > 1 && rest.first() == Some(&b'0');
        if digits == 0 || digits == rest.len() || begins_with_none {
            return None;
        }
        scan.at += digits;
        Some(number)
    }
}

impl<'a> Value<'a> for bool {
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self> {
        scan.space();
        let is_so = scan.passes_same("true");
        (is_so || scan.passes_same("false")).then_some(is_so)
    }
}

/// A value that must be written as an object; a derived reader would also accept a list of the fields' values.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

/// Reads a field that is present; null is not accepted.
pub(super) fn there<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_value_is_what_serde_json_reads_or_none(value in "[\"{}\\[\\],:0-9a-ftrusln\\\\ \n\u{1}é.e-]{0,12}") {
            fn both<'a, T: Value<'a> + serde::Deserialize<'a>>(value: &'a str) -> Option<(T, T)> {
                let mut scan = Scan { text: value, at: 0, known: [None; 3] };
                let taken = T::take(&mut scan)?;
                // A number's end is recognized by the byte after it.
                Some((taken, serde_json::from_str(&value[..scan.at]).unwrap()))
            }
            // A message with control characters is not read here.
            let value = &*(value.replace(|c: char| c.is_ascii_control(), "") + "}");
            if let Some((taken, wanted)) = both::<u64>(value) {
                assert_eq!(taken, wanted);
            }
            if let Some((taken, wanted)) = both::<bool>(value) {
                assert_eq!(taken, wanted);
            }
            for value in [value, &format!("\"{value}\"}}")] {
                if let Some((taken, wanted)) = both::<Text<'_>>(value) {
                    assert_eq!(taken.0, wanted.0);
                }
            }
        }
    }

    #[test]
    fn a_name_is_known_where_a_text_begins_with_it() {
        let name = "\"expected_duration_ms\":";
        let written = Written::new(name);
        for behind in ["", "1}", "1,\"position\":22,\"chunk\":\"some words\"}"] {
            let text = format!("{name}{behind}");
            assert!(written.begins(text.as_bytes()), "{text}");
            for at in 0..name.len() {
                let mut other = text.clone().into_bytes();
                other[at] ^= 1;
                assert!(!written.begins(&other), "{text} {at}");
                assert!(!written.begins(&text.as_bytes()[..at]), "{text} {at}");
            }
        }
    }

    #[test]
    fn what_has_a_control_character_is_for_others() {
        for (text, taken) in [
            (r#"{"a":"b"}"#, true),
            ("{\"a\":\"b\nc\"}", false),
            ("{\"a\":\n\"b\"}", false),
        ] {
            assert_eq!(Scan::open(text, [None; 3]).is_some(), taken, "{text}");
        }
    }

    #[test]
    fn an_object_is_known_again_by_its_bytes() {
        let text = r#" {"a":"}"},"b""#;
        let mut scan = Scan {
            text,
            at: 0,
            known: [Some("{}"), Some(r#"{"a":"}"}"#), None],
        };
        assert_eq!(Raw::take(&mut scan).unwrap().text, r#"{"a":"}"}"#);
        assert_eq!(scan.rest(), r#","b""#);
    }
}
