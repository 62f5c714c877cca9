//! The JSON texts of a message that holds more than one object: several on a line, or in an array.
//!
//! Responsibilities: finding where each text begins and ends, one by one, so that a large message is read in steps. Not
//! here: what a text means (`decode`), repairs inside it (`json_repairs`).
//!
//! Between texts, white space, a byte order mark, NUL (a terminator that C programs send along), the record
//! separator of RFC 7464 and commas are skipped. Each element of an array at the top level is a separate text.
//! Anything that can't begin a text ends the search: prose may quote an event, and a quoted event is not an
//! event.
//!
//! ```text
//! {"a":1}{"b":2}      -> {"a":1} and {"b":2}
//! [{"a":1},7]         -> {"a":1} and 7
//! {"a":1} and {"b":2} -> {"a":1} and "and {"b":2}"
//! ```

/// An iterator over the texts of one message.
#[derive(Debug, Clone, Default)]
pub struct JsonTexts {
    at: usize,
    in_array: bool,
}

impl JsonTexts {
    /// Returns the next text of the message; every call must pass the same message.
    pub fn next<'a>(&mut self, message: &'a str) -> Option<&'a str> {
        loop {
            let rest = message.get(self.at..)?;
            let text = rest.trim_start_matches(|c| is_between(c) || c == ',');
            self.at = message.len() - text.len();
            let length = match text.bytes().next()? {
                b'[' if !self.in_array => {
                    self.in_array = true;
                    self.at += 1;
                    continue;
                }
                b']' if self.in_array => {
                    self.in_array = false;
                    self.at += 1;
                    continue;
                }
                b'{' | b'[' => enclosed(text),
                _ if self.in_array => element(text),
                _ => text.len(),
            };
            self.at += length;
            return Some(&text[..length]);
        }
    }

    /// Returns how many bytes of the message have been consumed.
    pub fn passed(&self) -> usize {
        self.at
    }
}

/// Returns a text without the separators around it.
#[inline]
pub fn bare(message: &str) -> &str {
    match message.as_bytes() {
        // It is nearly always a single object.
        [b'{', .., b'}'] => message,
        _ => message.trim_matches(is_between),
    }
}

/// Returns whether a character may occur between two texts.
fn is_between(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{feff}' | '\0' | '\u{1e}')
}

/// Returns the length of the object or array at the start of a text: the whole length if it is never closed.
fn enclosed(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the element at the start of a text that is neither an object nor an array.
fn element(text: &str) -> usize {
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte == b'"' {
            in_string = true;
        } else if at > 0 && matches!(byte, b',' | b']') {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(message: &str) -> Vec<&str> {
        let mut walk = JsonTexts::default();
        std::iter::from_fn(|| walk.next(message)).collect()
    }

    #[test]
    fn several_on_a_line_and_the_elements_of_an_array_are_found() {
        let one = r#"{"a":"} \" {"}"#;
        let two = r#"{"b":[1,{"c":2}]}"#;
        assert_eq!(texts(&format!("{one}{two}")), [one, two]);
        assert_eq!(texts(&format!(" {one}, {two},")), [one, two]);
        assert_eq!(texts(&format!("\u{feff}{one}\0")), [one]);
        assert_eq!(texts(&format!("\u{1e}{one}\n\u{1e}{two}\n")), [one, two]);
        assert_eq!(texts(&format!("[{one}, {two}]")), [one, two]);
        assert_eq!(texts(&format!("[{one}][{two}]")), [one, two]);
        assert_eq!(
            texts(&format!("[{one},7,\"x,]\",[{two}]]{two}")),
            [one, "7", "\"x,]\"", &format!("[{two}]"), two]
        );
        assert_eq!(texts("[]"), [""; 0]);
        assert_eq!(texts(" \u{feff}"), [""; 0]);
    }

    #[test]
    fn what_is_cut_or_no_text_is_one_text_to_its_end() {
        let one = r#"{"a":1}"#;
        assert_eq!(texts(&format!("[{one},{{\"b\"")), [one, "{\"b\""]);
        assert_eq!(texts("{\"a\":\"x"), ["{\"a\":\"x"]);
        let quoted = format!("INFO sent {one}");
        assert_eq!(texts(&quoted), [quoted.as_str()], "a quoted event is none");
        assert_eq!(texts(&format!("{one} {quoted}")), [one, quoted.as_str()]);
    }

    #[test]
    fn what_surrounds_a_text_goes_and_what_is_inside_stays() {
        assert_eq!(bare("\u{feff} {\"a\":\"\0\"}\0\n"), "{\"a\":\"\0\"}");
        assert_eq!(bare(",{}"), ",{}");
    }

    proptest! {
        #[test]
        fn every_walk_ends_and_gives_parts_in_their_order(
            message in "[\\[\\]{}\",:\\\\a \\x00\u{feff}é]{0,80}"
        ) {
            let mut walk = JsonTexts::default();
            let mut passed = 0;
            while let Some(text) = walk.next(&message) {
                prop_assert!(!text.is_empty());
                prop_assert!(walk.passed() > passed);
                passed = walk.passed();
                prop_assert!(message[..passed].ends_with(text));
            }
        }
    }
}
