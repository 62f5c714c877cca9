//! What a line says of itself, read as it comes: the members of a JSON-RPC envelope, without what they hold.
//!
//! Responsibilities: finding `id`, `method`, `result` and `error` at the top of one object, byte by byte, within a bound
//! whatever the line's length. Not here: what follows from them (`passage`).
//!
//! Nothing is gathered but names and ids, so a line of any size can flow while it is read. What is no JSON gives what was
//! seen before it went wrong; whoever the line is for judges it.

use serde_json::{Number, Value};

/// The longest id that is known, in bytes as it is written: as long as the translator keeps one.
const LONGEST_ID: usize = 256;
/// The longest name that is looked at, in bytes as it is written: every method and member that matters is shorter.
const LONGEST_NAME: usize = 256;

/// The id of a request, the same however it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A number, in its shortest form.
    Number(String),
    /// A text, decoded.
    Text(String),
}

impl Id {
    /// Reads an id as it is written; nothing for what can't be one, and `null`.
    pub fn read(written: &[u8]) -> Option<Self> {
        match serde_json::from_slice(written).ok()? {
            Value::Number(number) => Some(Self::Number(shortest(&number))),
            Value::String(text) => Some(Self::Text(text)),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Writes a number so that 1, 1.0 and 1e0 are one id: who reads JSON into a number gives back another spelling.
fn shortest(number: &Number) -> String {
    /// Up to here every whole number has one binary form of its own (2^53).
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < EXACT => {
            format!("{}", value as i64)
        }
        Some(_) | None => number.to_string(),
    }
}

/// What a line is, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Nothing but space so far.
    Open,
    /// An object.
    Object,
    /// A list, which may hold several messages.
    List,
    /// Something else.
    Other,
}

/// Reads one line.
#[derive(Debug, Clone)]
pub struct Outline {
    at: At,
    depth: u32,
    form: Form,
    /// What is being read, as it is written.
    text: Vec<u8>,
    member: Member,
    id: Option<Id>,
    written: Vec<u8>,
    method: Option<String>,
    answers: bool,
}

/// Where in the line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    /// Before a member's name.
    Name,
    InName,
    InNameEscape,
    /// Behind the name, before the colon.
    Colon,
    /// Before a value.
    Value,
    /// In a value that is a text.
    Text,
    TextEscape,
    /// In a number or a word.
    Word,
    /// In a list or an object of its own.
    Inner,
    InnerText,
    InnerEscape,
    /// Behind a value.
    Comma,
    End,
}

/// Whose value is being read.
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
            at: At::Start,
            depth: 0,
            form: Form::Open,
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
    /// Returns what the line is.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the id that stands in it.
    pub fn id(&self) -> Option<&Id> {
        self.id.as_ref()
    }

    /// Returns the id as it is written.
    pub fn written(&self) -> &[u8] {
        &self.written
    }

    /// Returns the method.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Returns whether a result or an error stands in it.
    pub fn answers(&self) -> bool {
        self.answers
    }

    /// Takes the next byte; tells whether something is known now that was not before.
    pub fn take(&mut self, byte: u8) -> bool {
        let space = matches!(byte, b' ' | b'\t' | b'\r');
        match self.at {
            At::Start if space => false,
            At::Start => {
                (self.form, self.at) = match byte {
                    b'{' => (Form::Object, At::Name),
                    b'[' => (Form::List, At::End),
                    _ => (Form::Other, At::End),
                };
                true
            }
            At::Name => {
                match byte {
                    b'"' => self.begin(At::InName),
                    b'}' => self.at = At::End,
                    // A comma, space, or what is no JSON.
                    _ => {}
                }
                false
            }
            At::InName => {
                match byte {
                    b'"' => {
                        self.member = self.named();
                        self.at = At::Colon;
                    }
                    _ => self.keep(byte, At::InNameEscape, LONGEST_NAME),
                }
                false
            }
            At::InNameEscape => {
                self.keep_escaped(byte, At::InName, LONGEST_NAME);
                false
            }
            At::Colon => {
                if byte == b':' {
                    self.at = At::Value;
                }
                false
            }
            At::Value if space => false,
            At::Value => self.value_begins(byte),
            At::Text => match byte {
                b'"' => {
                    self.push(byte, self.longest());
                    self.at = At::Comma;
                    self.value_ends()
                }
                _ => {
                    self.keep(byte, At::TextEscape, self.longest());
                    false
                }
            },
            At::TextEscape => {
                self.keep_escaped(byte, At::Text, self.longest());
                false
            }
            At::Word => match byte {
                b',' | b'}' => {
                    self.at = if byte == b',' { At::Name } else { At::End };
                    self.value_ends()
                }
                _ if space => {
                    self.at = At::Comma;
                    self.value_ends()
                }
                _ => {
                    self.push(byte, self.longest());
                    false
                }
            },
            At::Inner => {
                match byte {
                    b'"' => self.at = At::InnerText,
                    b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            self.at = At::Comma;
                        }
                    }
                    _ => {}
                }
                false
            }
            At::InnerText => {
                match byte {
                    b'"' => self.at = At::Inner,
                    b'\\' => self.at = At::InnerEscape,
                    _ => {}
                }
                false
            }
            At::InnerEscape => {
                self.at = At::InnerText;
                false
            }
            At::Comma => {
                match byte {
                    b',' => self.at = At::Name,
                    b'}' => self.at = At::End,
                    _ => {}
                }
                false
            }
            At::End => false,
        }
    }

    fn begin(&mut self, at: At) {
        self.text.clear();
        self.at = at;
    }

    /// Keeps a byte of a text, unless it begins an escape.
    fn keep(&mut self, byte: u8, escape: At, longest: usize) {
        self.push(byte, longest);
        if byte == b'\\' {
            self.at = escape;
        }
    }

    fn keep_escaped(&mut self, byte: u8, back: At, longest: usize) {
        self.push(byte, longest);
        self.at = back;
    }

    /// Keeps a byte; one more than the longest shows that it was too long.
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
                self.at = At::Text;
            }
            b'{' | b'[' => {
                self.depth = 1;
                self.at = At::Inner;
            }
            b',' => self.at = At::Name,
            b'}' => self.at = At::End,
            _ => {
                self.push(byte, self.longest());
                self.at = At::Word;
            }
        }
        // That it answers is clear before the answer itself has come.
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
                // Where it stands twice, readers take the last.
                self.id = Id::read(&self.text);
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
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn read(line: &str) -> Outline {
        let mut outline = Outline::default();
        for byte in line.bytes() {
            outline.take(byte);
        }
        outline
    }

    fn seen(line: &str) -> (Option<Id>, Option<String>, bool) {
        let outline = read(line);
        let method = outline.method().map(str::to_owned);
        (outline.id().cloned(), method, outline.answers())
    }

    #[test]
    fn the_members_of_an_envelope_are_found_wherever_they_stand() {
        let number = |it: &str| Some(Id::Number(it.to_owned()));
        let text = |it: &str| Some(Id::Text(it.to_owned()));
        let is = |line: &str, id: Option<Id>, method: Option<&str>, answers: bool| {
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
        assert_eq!(read("[").form(), Form::List);
        assert_eq!(read("x").form(), Form::Other);
        assert_eq!(read(" ").form(), Form::Open);
        let long = format!(r#"{{"id":"{}","result":1}}"#, "x".repeat(300));
        is(&long, None, None, true);
    }

    #[test]
    fn an_id_is_the_same_however_it_is_written() {
        let same = |one: &str, other: &str| {
            assert_eq!(
                Id::read(one.as_bytes()),
                Id::read(other.as_bytes()),
                "{one} {other}"
            );
        };
        same("1", "1.0");
        same("100", "1e2");
        same("\"a\"", "\"\\u0061\"");
        assert_ne!(Id::read(b"1"), Id::read(b"\"1\""));
        assert_ne!(Id::read(b"9007199254740993"), Id::read(b"9007199254740992"));
        assert_eq!(Id::read(b"null"), None);
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
            assert_eq!(outline.id().cloned(), Id::read(id.to_string().as_bytes()));
            assert_eq!(outline.answers(), answers);
            assert_eq!(outline.method(), (!answers).then_some(name.as_str()));
        }
    }
}
