//! Two questions to the person's session bus: is Orca running, and is a screen reader switched on?
//!
//! Responsibilities: as much of D-Bus as two method calls need, each read bounded. Not here: what the answers mean.
//! Asking starts nothing (the flag NO_AUTO_START) and changes nothing. Source: the D-Bus specification, "Message
//! Protocol" and "Authentication Protocol"; `org.a11y.Status.ScreenReaderEnabled` of at-spi2-core;
//! `org.gnome.Orca.Service` of Orca 48.

use std::io::{self, Read, Write};
use std::time::Duration;

use crate::announce::Reason;
use crate::platform::sockets::{self, BlockingStream};

/// The largest answer that is read; a real one has about 100 bytes.
const LARGEST: usize = 64 * 1024;

/// The most messages to read while waiting for one answer; the bus itself sends one or two signals.
const MOST_MESSAGES: usize = 32;

/// The longest line of the greeting.
const LONGEST_LINE: usize = 512;

const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;
const NO_AUTO_START: u8 = 2;
const REPLY_SERIAL: u8 = 5;

/// The answers of the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BusAnswers {
    /// Whether Orca's name is on the bus.
    pub(super) orca: bool,
    /// Whether the desktop reports that a screen reader is on.
    pub(super) enabled: bool,
}

/// Why the bus gave no answer.
#[derive(Debug)]
pub(super) enum BusError {
    /// The address is of an unsupported kind.
    Address,
    /// The socket failed.
    Socket(io::Error),
    /// The answer is not D-Bus.
    Answer,
}

impl From<io::Error> for BusError {
    fn from(error: io::Error) -> Self {
        Self::Socket(error)
    }
}

impl BusError {
    /// Describes it for a person.
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Address => Reason::new("reader.bus.address"),
            Self::Socket(error) => {
                Reason::new("reader.bus.socket").because("why", Reason::of_system(error))
            }
            Self::Answer => Reason::new("reader.bus.answer"),
        }
    }
}

/// Queries the bus at an address; each read and write may take up to `limit`.
///
/// # Errors
/// If the bus can't be reached or does not speak D-Bus.
pub(super) fn ask(address: &str, limit: Duration) -> Result<BusAnswers, BusError> {
    let mut bus = Bus {
        socket: connect(address)?,
        serial: 0,
    };
    bus.socket.set_read_timeout(Some(limit))?;
    bus.socket.set_write_timeout(Some(limit))?;
    bus.greet()?;
    let daemon = ["org.freedesktop.DBus", "/org/freedesktop/DBus"];
    bus.call(daemon, "org.freedesktop.DBus", "Hello", &[])?;
    let orca = bus.call(
        daemon,
        "org.freedesktop.DBus",
        "NameHasOwner",
        &["org.gnome.Orca.Service"],
    )?;
    let enabled = bus.call(
        ["org.a11y.Bus", "/org/a11y/bus"],
        "org.freedesktop.DBus.Properties",
        "Get",
        &["org.a11y.Status", "ScreenReaderEnabled"],
    )?;
    Ok(BusAnswers {
        // A boolean is a number of four bytes.
        orca: orca.is_some_and(|body| body.number(0) == Some(1)),
        // The same in a variant: preceded by a signature of one letter and one byte of padding.
        enabled: enabled
            .is_some_and(|body| body.bytes.starts_with(&[1, b'b', 0]) && body.number(4) == Some(1)),
    })
}

fn connect(address: &str) -> Result<BlockingStream, BusError> {
    for one in address.split(';') {
        let Some(keys) = one.strip_prefix("unix:") else {
            continue;
        };
        for key in keys.split(',') {
            if let Some(path) = key.strip_prefix("path=") {
                return Ok(BlockingStream::connect(unescaped(path)?)?);
            }
            if let Some(name) = key.strip_prefix("abstract=") {
                return Ok(sockets::connect_abstract(&unescaped(name)?)?);
            }
        }
    }
    Err(BusError::Address)
}

/// Decodes escapes such as `%41` in an address.
fn unescaped(text: &str) -> Result<String, BusError> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| (digit as char).to_digit(16));
            let (Some(high), Some(low)) = (digit(), digit()) else {
                return Err(BusError::Address);
            };
            bytes.push(u8::try_from(high * 16 + low).map_err(|_| BusError::Address)?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).map_err(|_| BusError::Address)
}

/// The body of an answer.
struct AnswerBody {
    bytes: Vec<u8>,
    big_endian: bool,
}

impl AnswerBody {
    fn number(&self, at: usize) -> Option<u32> {
        number(&self.bytes, at, self.big_endian)
    }
}

fn number(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(if big_endian {
        u32::from_be_bytes(four)
    } else {
        u32::from_le_bytes(four)
    })
}

struct Bus {
    socket: BlockingStream,
    serial: u32,
}

impl Bus {
    /// Authenticates with the user's number, which the socket proves.
    fn greet(&mut self) -> Result<(), BusError> {
        let user = sockets::user().to_string();
        let hex: String = user.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.socket
            .write_all(format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes())?;
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\r\n") {
            self.socket.read_exact(&mut byte)?;
            line.push(byte[0]);
            if line.len() > LONGEST_LINE {
                return Err(BusError::Answer);
            }
        }
        if !line.starts_with(b"OK ") {
            return Err(BusError::Answer);
        }
        self.socket.write_all(b"BEGIN\r\n")?;
        Ok(())
    }

    /// Calls a method with strings; `None` means an error from the callee, such as a service that is not running.
    fn call(
        &mut self,
        [service, path]: [&str; 2],
        interface: &str,
        method: &str,
        strings: &[&str],
    ) -> Result<Option<AnswerBody>, BusError> {
        self.serial += 1;
        let call = message(self.serial, service, path, interface, method, strings);
        self.socket.write_all(&call)?;
        for _ in 0..MOST_MESSAGES {
            let (kind, answers, body) = self.read()?;
            if answers != Some(self.serial) {
                continue;
            }
            match kind {
                METHOD_RETURN => return Ok(Some(body)),
                ERROR => return Ok(None),
                _ => return Err(BusError::Answer),
            }
        }
        Err(BusError::Answer)
    }

    fn read(&mut self) -> Result<(u8, Option<u32>, AnswerBody), BusError> {
        let mut head = [0; 16];
        self.socket.read_exact(&mut head)?;
        let big_endian = match head[0] {
            b'l' => false,
            b'B' => true,
            _ => return Err(BusError::Answer),
        };
        let length = |at| {
            number(&head, at, big_endian)
                .and_then(|length| usize::try_from(length).ok())
                .filter(|length| *length <= LARGEST)
                .ok_or(BusError::Answer)
        };
        let (body, fields) = (length(4)?, length(12)?);
        let mut header = vec![0; fields.next_multiple_of(8)];
        self.socket.read_exact(&mut header)?;
        let mut bytes = vec![0; body];
        self.socket.read_exact(&mut bytes)?;
        let answers = reply_serial(header.get(..fields).unwrap_or_default(), big_endian)?;
        Ok((head[1], answers, AnswerBody { bytes, big_endian }))
    }
}

/// Returns the serial number of the call that a message answers, from its header's fields.
fn reply_serial(fields: &[u8], big_endian: bool) -> Result<Option<u32>, BusError> {
    let mut at = 0;
    while at < fields.len() {
        let (Some(&code), Some(&kind)) = (fields.get(at), fields.get(at + 2)) else {
            return Err(BusError::Answer);
        };
        // The code, a signature of one letter with its length and terminator, then the value.
        let value = at + 4;
        let end = match kind {
            b'u' => {
                if code == REPLY_SERIAL {
                    return Ok(number(fields, value, big_endian));
                }
                value + 4
            }
            b's' | b'o' => {
                let length = number(fields, value, big_endian).ok_or(BusError::Answer)?;
                value + 4 + usize::try_from(length).map_err(|_| BusError::Answer)? + 1
            }
            b'g' => value + 2 + usize::from(*fields.get(value).ok_or(BusError::Answer)?),
            _ => return Err(BusError::Answer),
        };
        at = end.next_multiple_of(8);
    }
    Ok(None)
}

/// Builds a method call.
fn message(
    serial: u32,
    service: &str,
    path: &str,
    interface: &str,
    method: &str,
    strings: &[&str],
) -> Vec<u8> {
    let mut body = Vec::new();
    for text in strings {
        put(&mut body, text);
    }
    let signature = "s".repeat(strings.len());
    let mut fields = Vec::new();
    for (code, kind, text) in [
        (1, b'o', path),
        (2, b's', interface),
        (3, b's', method),
        (6, b's', service),
    ] {
        pad(&mut fields, 8);
        fields.extend([code, 1, kind, 0]);
        put(&mut fields, text);
    }
    if !signature.is_empty() {
        pad(&mut fields, 8);
        fields.extend([8, 1, b'g', 0, size(&signature) as u8]);
        fields.extend(signature.bytes().chain([0]));
    }
    let mut out = vec![b'l', METHOD_CALL, NO_AUTO_START, 1];
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(serial.to_le_bytes());
    out.extend((fields.len() as u32).to_le_bytes());
    out.extend(fields);
    pad(&mut out, 8);
    out.extend(body);
    out
}

fn put(out: &mut Vec<u8>, text: &str) {
    pad(out, 4);
    out.extend(size(text).to_le_bytes());
    out.extend(text.bytes().chain([0]));
}

/// Returns the length of a text; every text here is short and from this file.
fn size(text: &str) -> u32 {
    text.len() as u32
}

fn pad(out: &mut Vec<u8>, to: usize) {
    out.resize(out.len().next_multiple_of(to), 0);
}
