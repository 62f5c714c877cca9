//! The vocabulary of SSIP, the protocol of speech-dispatcher: bytes to replies and events, and
//! back.
//!
//! Responsibilities: splitting a server's bytes into reply lines (1xx to 5xx) and events (7xx),
//! writing an utterance's text so that nothing in it can become a command, and the keywords for
//! priorities and languages. Not here: which command is sent when (`dialogue`), sockets
//! (`speech_dispatcher`).
//!
//! Source: the SSIP manual that comes with speech-dispatcher (`doc/ssip.texi`), sections 3, 4.1,
//! 4.3, 4.7 and 5; its section numbers are cited below as "SSIP".

use crate::announce::Class;

/// The longest line from the server; real ones stay under 200 bytes, so a longer one is not SSIP.
pub(super) const LINE_LIMIT: usize = 8 * 1024;

/// The most lines in one event; the longest real one has four.
const EVENT_LINES: usize = 8;

/// The longest language tag; RFC 5646 requires space for 35 characters.
const LANGUAGE_LIMIT: usize = 35;

/// A priority that hearken uses; the others of SSIP 4.3.1 are left out on purpose.
///
/// `important` cancels a screen reader's message for good, and `progress` drops messages;
/// `notification` is only good for a test that must never interrupt other speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Priority {
    /// Waits for other messages of its kind and is never cut by them.
    Message,
    /// Gives way to any message, such as a screen reader's, and to newer text.
    Text,
    /// Gives way to everything: used only for the silent sound test.
    Notification,
}

impl Priority {
    /// Returns the priority of a class.
    ///
    /// Alerts, answers to keys and outcomes must be heard, so only a more urgent utterance of our
    /// own may cut them. Activity and streamed text give way to any other speech on the machine:
    /// they are plentiful, and our own queue passes on the rest of a cut output again.
    pub(super) fn of(class: Class) -> Self {
        match class {
            Class::Alert | Class::Response | Class::Outcome => Self::Message,
            Class::Activity | Class::Stream => Self::Text,
        }
    }

    /// Returns the keyword of SSIP 4.3.3.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Message => "MESSAGE",
            Self::Text => "TEXT",
            Self::Notification => "NOTIFICATION",
        }
    }
}

/// An event in the life of a message (SSIP 4.7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageEvent {
    /// It became audible.
    Begin,
    /// It reached its end.
    End,
    /// It was discarded, begun or not.
    Cancel,
    /// It was paused by a client's PAUSE.
    Pause,
    /// It continues after a PAUSE.
    Resume,
}

/// One unit of the server's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerUnit {
    /// A line of a reply with more to come.
    Part {
        /// The text after the code.
        text: String,
    },
    /// The last line of a reply.
    Reply {
        /// The three digits; only the first is significant (SSIP 5).
        code: u16,
    },
    /// An event about a message.
    Event {
        /// The kind of event.
        happening: MessageEvent,
        /// The server's number for the message.
        message: u64,
    },
}

/// The error for input that is not SSIP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the socket does not speak the speech protocol")]
pub(super) struct Garbage;

/// A parser from bytes to [`ServerUnit`]s, however the bytes are cut.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Bytes without their line end so far; never longer than [`LINE_LIMIT`] and one chunk.
    bytes: Vec<u8>,
    /// The lines of an unfinished event; kept apart because a reply may surround it.
    event: Vec<String>,
}

impl Decoder {
    /// Adds bytes; [`Decoder::next`] must be called until it returns nothing before the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next unit of the server's output, if it is complete.
    pub(super) fn next(&mut self) -> Result<Option<ServerUnit>, Garbage> {
        loop {
            let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') else {
                return if self.bytes.len() > LINE_LIMIT {
                    Err(Garbage)
                } else {
                    Ok(None)
                };
            };
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            if line.len() > LINE_LIMIT {
                return Err(Garbage);
            }
            if let Some(said) = self.line(&line)? {
                return Ok(Some(said));
            }
        }
    }

    /// Parses one line; an event's inner line and an unknown event yield nothing.
    fn line(&mut self, line: &[u8]) -> Result<Option<ServerUnit>, Garbage> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        let (Some(code), Some(rest)) = (line.get(..3), line.get(3..)) else {
            return Err(Garbage);
        };
        if !code.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Garbage);
        }
        let code: u16 = code.parse().map_err(|_| Garbage)?;
        let (last, text) = match (rest.strip_prefix('-'), rest.strip_prefix(' ')) {
            (Some(text), _) => (false, text),
            (None, Some(text)) => (true, text),
            (None, None) if rest.is_empty() => (true, ""),
            (None, None) => return Err(Garbage),
        };
        match (code / 100, last) {
            (1..=5, false) => Ok(Some(ServerUnit::Part {
                text: text.to_owned(),
            })),
            (1..=5, true) => Ok(Some(ServerUnit::Reply { code })),
            (7, false) if self.event.len() < EVENT_LINES => {
                self.event.push(text.to_owned());
                Ok(None)
            }
            (7, true) => Ok(self.event_of(code)),
            (_, _) => Err(Garbage),
        }
    }

    /// Returns the event whose last line has arrived; an event that hearken does not use is dropped.
    fn event_of(&mut self, code: u16) -> Option<ServerUnit> {
        let lines = std::mem::take(&mut self.event);
        let happening = match code {
            701 => MessageEvent::Begin,
            702 => MessageEvent::End,
            703 => MessageEvent::Cancel,
            704 => MessageEvent::Pause,
            705 => MessageEvent::Resume,
            _ => return None,
        };
        let message = lines.first()?.trim().parse().ok()?;
        Some(ServerUnit::Event { happening, message })
    }
}

/// Returns whether a reply's code means success (SSIP 5: 1xx and 2xx).
pub(super) fn is_ok(code: u16) -> bool {
    (100..300).contains(&code)
}

/// Removes what no engine may get: control characters; the separating ones become a space.
///
/// Line ends (LF, CR, CR LF) become one LF.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut previous = '\0';
    for sign in text.chars() {
        match sign {
            '\n' if previous == '\r' => {}
            '\n' | '\r' => clean.push('\n'),
            '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => clean.push(' '),
            other if other.is_control() => {}
            other => clean.push(other),
        }
        previous = sign;
    }
    clean
}

/// Returns a text as the body of SPEAK, including the closing dot line (SSIP 4.1).
///
/// A line that starts with a dot gets a second one, so no text can end the message early, and what
/// follows can never be taken for a command.
pub(super) fn body(text: &str) -> String {
    let clean = clean(text);
    let mut body = String::with_capacity(clean.len() + 16);
    for line in clean.split('\n') {
        if line.starts_with('.') {
            body.push('.');
        }
        body.push_str(line);
        body.push_str("\r\n");
    }
    body.push_str(".\r\n");
    body
}

/// Returns a language tag in SSIP's form (RFC 1766, SSIP 4.5); `None` if it is not a tag.
///
/// BCP 47 tags are passed on unchanged; anything but letters, digits and single hyphens is refused,
/// which also keeps a hostile tag from becoming a second command.
pub(super) fn language(tag: &str) -> Option<&str> {
    let ok = tag.len() <= LANGUAGE_LIMIT
        && tag.split('-').all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
        && tag.starts_with(|first: char| first.is_ascii_alphabetic());
    ok.then_some(tag)
}

/// Returns SSIP's keyword for one of its eight kinds of voices (4.5), if a name is one: "female1", "child_male".
pub(super) fn voice_type(name: &str) -> Option<&'static str> {
    VOICE_TYPES
        .into_iter()
        .find(|kind| kind.eq_ignore_ascii_case(name.trim()))
}

/// The kinds of voices that every synthesizer maps to its own, as far as it has them.
const VOICE_TYPES: [&str; 8] = [
    "MALE1",
    "MALE2",
    "MALE3",
    "FEMALE1",
    "FEMALE2",
    "FEMALE3",
    "CHILD_MALE",
    "CHILD_FEMALE",
];

/// Removes everything from a word of the person's that could end the command containing it.
pub(super) fn one_line(word: &str) -> String {
    clean(word).replace('\n', " ")
}

/// Returns a client name for SSIP 4.5: user, program and component, each of letters, digits, - and _.
pub(super) fn client_name(user: &str) -> String {
    let user: String = user
        .chars()
        .filter(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_'))
        .take(64)
        .collect();
    let user = if user.is_empty() { "user" } else { &user };
    format!("{user}:hearken:main")
}
