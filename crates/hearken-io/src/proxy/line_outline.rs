//! The outline of a line, read as it arrives: the members of a JSON-RPC envelope, without their content.
//!
//! Responsibilities: finding `id`, `method`, `result` and `error` at the top level of one object, byte by byte, within
//! a bound whatever the line's length. Not here: what follows from them (`passage`).
//!
//! Only names and ids are collected, so a line of any size can flow while it is read. Invalid JSON yields what was seen
//! before the error; the receiver of the line judges it.

use serde_json::{Number, Value};

/// The longest id that is recognized, in bytes as written: the same limit as the translator's.
const LONGEST_ID: usize = 256;
/// The longest name that is examined, in bytes as written: every relevant method and member is shorter.
const LONGEST_NAME: usize = 256;

/// The id of a request, independent of its spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RpcId {
    /// A number, in its shortest form.
    Number(String),
    /// A string, decoded.
    Text(String),
}

impl RpcId {
    /// Parses an id as written; `None` for an invalid one, and for `null`.
    pub fn read(written: &[u8]) -> Option<Self> {
        match serde_json::from_slice(written).ok()? {
            Value::Number(number) => Some(Self::Number(shortest(&number))),
            Value::String(text) => Some(Self::Text(text)),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Returns a number so that 1, 1.0 and 1e0 are the same id: a program that parses numbers may send back another
/// spelling.
fn shortest(number: &Number) -> String {
    /// Up to here every whole number has its own binary form (2^53).
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < EXACT => {
            format!("{}", value as i64)
        }
        Some(_) | None => number.to_string(),
    }
}

/// The form of a line, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineForm {
    /// Only white space so far.
    Open,
    /// An object.
    Object,
    /// An array, which may contain several messages.
    List,
    /// Anything else.
    Other,
}

/// The parser of one line.
#[derive(Debug, Clone)]
pub struct Outline {
    at: JsonPosition,
    depth: u32,
    form: LineForm,
    /// The name or value being read, as written.
    text: Vec<u8>,
    member: Member,
    id: Option<RpcId>,
    written: Vec<u8>,
    method: Option<String>,
    answers: bool,
}

/// The position in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonPosition {
    Start,
    /// Before a member's name.
    Name,
    InName,
    InNameEscape,
    /// After the name, before the colon.
    Colon,
    /// Before a value.
    Value,
    /// In a value that is a string.
    Text,
    TextEscape,
    /// In a number or a keyword.
    Word,
    /// In a nested array or object.
    Inner,
    InnerText,
    InnerEscape,
    /// After a value.
    Comma,
    End,
}

/// The member whose value is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Id,
    Method,
    Answer,
    Other,
}

impl Default for Outline {
    fn default() -> Self {
        Self {
            at: JsonPosition::Start,
            depth: 0,
            form: LineForm::Open,
            text: Vec::new(),
            member: Member::Other,
            id: None,
            written: Vec::new(),
            method: None,
            answers: false,
        }
    }
}

impl Outline {
    /// Returns the form of the line.
    pub fn form(&self) -> LineForm {
        self.form
    }

    /// Returns the line's id.
    pub fn id(&self) -> Option<&RpcId> {
        self.id.as_ref()
    }

    /// Returns the id as written.
    pub fn written(&self) -> &[u8] {
        &self.written
    }

    /// Returns the method.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Returns whether the line contains a result or an error.
    pub fn answers(&self) -> bool {
        self.answers
    }

    /// Processes the next byte; returns whether it revealed anything new.
    pub fn take(&mut self, byte: u8) -> bool {
        let space = matches!(byte, b' ' | b'\t' | b'\r');
        match self.at {
            JsonPosition::Start if space => false,
            JsonPosition::Start => {
                (self.form, self.at) = match byte {
                    b'{' => (LineForm::Object, JsonPosition::Name),
                    b'[' => (LineForm::List, JsonPosition::End),
                    _ => (LineForm::Other, JsonPosition::End),
                };
                true
            }
            JsonPosition::Name => {
                match byte {
                    b'"' => self.begin(JsonPosition::InName),
                    b'}' => self.at = JsonPosition::End,
                    // A comma, white space, or invalid JSON.
                    _ => {}
                }
                false
            }
            JsonPosition::InName => {
                match byte {
                    b'"' => {
                        self.member = self.named();
                        self.at = JsonPosition::Colon;
                    }
                    _ => self.keep(byte, JsonPosition::InNameEscape, LONGEST_NAME),
                }
                false
            }
            JsonPosition::InNameEscape => {
                self.keep_escaped(byte, JsonPosition::InName, LONGEST_NAME);
                false
            }
            JsonPosition::Colon => {
                if byte == b':' {
                    self.at = JsonPosition::Value;
                }
                false
            }
            JsonPosition::Value if space => false,
            JsonPosition::Value => self.value_begins(byte),
            JsonPosition::Text => match byte {
                b'"' => {
                    self.push(byte, self.longest());
                    self.at = JsonPosition::Comma;
                    self.value_ends()
                }
                _ => {
                    self.keep(byte, JsonPosition::TextEscape, self.longest());
                    false
                }
            },
            JsonPosition::TextEscape => {
                self.keep_escaped(byte, JsonPosition::Text, self.longest());
                false
            }
            JsonPosition::Word => match byte {
                b',' | b'}' => {
                    self.at = if byte == b',' {
                        JsonPosition::Name
                    } else {
                        JsonPosition::End
                    };
                    self.value_ends()
                }
                _ if space => {
                    self.at = JsonPosition::Comma;
                    self.value_ends()
                }
                _ => {
                    self.push(byte, self.longest());
                    false
                }
            },
            JsonPosition::Inner => {
                match byte {
                    b'"' => self.at = JsonPosition::InnerText,
                    b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            self.at = JsonPosition::Comma;
                        }
                    }
                    _ => {}
                }
                false
            }
            JsonPosition::InnerText => {
                match byte {
                    b'"' => self.at = JsonPosition::Inner,
                    b'\\' => self.at = JsonPosition::InnerEscape,
                    _ => {}
                }
                false
            }
            JsonPosition::InnerEscape => {
                self.at = JsonPosition::InnerText;
                false
            }
            JsonPosition::Comma => {
                match byte {
                    b',' => self.at = JsonPosition::Name,
                    b'}' => self.at = JsonPosition::End,
                    _ => {}
                }
                false
            }
            JsonPosition::End => false,
        }
    }

    fn begin(&mut self, at: JsonPosition) {
        self.text.clear();
        self.at = at;
    }

    /// Stores a byte of a string, and notes the start of an escape.
    fn keep(&mut self, byte: u8, escape: JsonPosition, longest: usize) {
        self.push(byte, longest);
        if byte == b'\\' {
            self.at = escape;
        }
    }

    fn keep_escaped(&mut self, byte: u8, back: JsonPosition, longest: usize) {
        self.push(byte, longest);
        self.at = back;
    }

    /// Stores a byte; one more than the longest shows that the text was too long.
    fn push(&mut self, byte: u8, longest: usize) {
        if self.text.len() <= longest {
            self.text.push(byte);
        }
    }

    fn longest(&self) -> usize {
        match self.member {
            Member::Id => LONGEST_ID,
            Member::Method => LONGEST_NAME,
            Member::Answer | Member::Other => 0,
        }
    }

    fn named(&self) -> Member {
        let is = |name: &[u8]| match name {
            b"id" => Member::Id,
            b"method" => Member::Method,
            b"result" | b"error" => Member::Answer,
            _ => Member::Other,
        };
        if !self.text.contains(&b'\\') {
            return is(&self.text);
        }
        let mut whole = vec![b'"'];
        whole.extend_from_slice(&self.text);
        whole.push(b'"');
        serde_json::from_slice::<String>(&whole).map_or(Member::Other, |name| is(name.as_bytes()))
    }

    fn value_begins(&mut self, byte: u8) -> bool {
        self.text.clear();
        match byte {
            b'"' => {
                self.push(byte, self.longest());
                self.at = JsonPosition::Text;
            }
            b'{' | b'[' => {
                self.depth = 1;
                self.at = JsonPosition::Inner;
            }
            b',' => self.at = JsonPosition::Name,
            b'}' => self.at = JsonPosition::End,
            _ => {
                self.push(byte, self.longest());
                self.at = JsonPosition::Word;
            }
        }
        // It is known to be an answer before the answer itself has arrived.
        let news = self.member == Member::Answer && !self.answers;
        self.answers |= news;
        news
    }

    fn value_ends(&mut self) -> bool {
        if self.text.len() > self.longest() {
            return false;
        }
        match self.member {
            Member::Id => {
                // If it occurs twice, parsers use the last one.
                self.id = RpcId::read(&self.text);
                self.written.clone_from(&self.text);
                self.id.is_some()
            }
            Member::Method => {
                self.method = serde_json::from_slice(&self.text).ok();
                self.method.is_some()
            }
            Member::Answer | Member::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Outline {
        let mut outline = Outline::default();
        for byte in line.bytes() {
            outline.take(byte);
        }
        outline
    }

    fn seen(line: &str) -> (Option<RpcId>, Option<String>, bool) {
        let outline = read(line);
        let method = outline.method().map(str::to_owned);
        (outline.id().cloned(), method, outline.answers())
    }

    #[test]
    fn the_members_of_an_envelope_are_found_wherever_they_stand() {
        let number = |it: &str| Some(RpcId::Number(it.to_owned()));
        let text = |it: &str| Some(RpcId::Text(it.to_owned()));
        let is = |line: &str, id: Option<RpcId>, method: Option<&str>, answers: bool| {
            assert_eq!(
                seen(line),
                (id, method.map(str::to_owned), answers),
                "{line}"
            );
        };
        is(
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            number("7"),
            None,
            true,
        );
        is(
            r#" { "result" : {"id":1,"method":"x"} , "id" : "a\"\u0062" } "#,
            text("a\"b"),
            None,
            true,
        );
        is(
            r#"{"params":{"a":["}",{"id":3}],"b":"\\"},"method":"m","id":-2}"#,
            number("-2"),
            Some("m"),
            false,
        );
        is(r#"{"\u0069d":4,"error":null}"#, number("4"), None, true);
        is(r#"{"id":null,"result":1}"#, None, None, true);
        is(r#"{"id":{"id":1},"result":1}"#, None, None, true);
        is(r#"[{"id":1,"result":1}]"#, None, None, false);
        is(r#"{"id":1,"id":2,"result":1}"#, number("2"), None, true);
        is("no json", None, None, false);
        is("", None, None, false);
        assert_eq!(read("[").form(), LineForm::List);
        assert_eq!(read("x").form(), LineForm::Other);
        assert_eq!(read(" ").form(), LineForm::Open);
        let long = format!(r#"{{"id":"{}","result":1}}"#, "x".repeat(300));
        is(&long, None, None, true);
    }

    #[test]
    fn an_id_is_the_same_however_it_is_written() {
        let same = |one: &str, other: &str| {
            assert_eq!(
                RpcId::read(one.as_bytes()),
                RpcId::read(other.as_bytes()),
                "{one} {other}"
            );
        };
        same("1", "1.0");
        same("100", "1e2");
        same("\"a\"", "\"\\u0061\"");
        assert_ne!(RpcId::read(b"1"), RpcId::read(b"\"1\""));
        assert_ne!(
            RpcId::read(b"9007199254740993"),
            RpcId::read(b"9007199254740992")
        );
        assert_eq!(RpcId::read(b"null"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_within_a_bound(bytes in proptest::collection::vec(0_u8..=255, 0..600)) {
            let mut outline = Outline::default();
            for byte in bytes {
                outline.take(byte);
                assert!(outline.text.len() <= LONGEST_ID + 1);
            }
        }

        #[test]
        fn what_is_written_by_a_library_is_read_as_it_reads_it(
            id in 0_i64..5,
            name in "[a-z\"\\\\{}\\[\\],:é ]{0,12}",
            is_text in proptest::bool::ANY,
            answers in proptest::bool::ANY,
        ) {
            let id: Value = if is_text { name.clone().into() } else { id.into() };
            let mut line = serde_json::json!({"a": {"id": 9, "x": [name.clone()]}, "id": id, "z": name});
            line[if answers { "result" } else { "method" }] = name.clone().into();
            let outline = read(&line.to_string());
            assert_eq!(outline.id().cloned(), RpcId::read(id.to_string().as_bytes()));
            assert_eq!(outline.answers(), answers);
            assert_eq!(outline.method(), (!answers).then_some(name.as_str()));
        }
    }
}
