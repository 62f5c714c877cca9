//! From the terminal's bytes to strokes.
//!
//! Responsibilities: finding where each key, sequence and paste ends, by bytes, time and size, whatever the terminal or
//! a program behind it sends. Not here: what a complete sequence means (`sequence`), what a key means
//! (`keys::command`), the descriptor that is read (`runtime`).
//!
//! # Mental model
//! Nothing that is read is lost: it is a key, a paste, a focus report, or noise, and each is a sign that a hand
//! is at work. Nothing waits for ever: a sequence that does not continue ends after [`UNFINISHED`], a paste
//! after [`STALLED`]; the rest of such a paste is swallowed until its end mark or Escape, so that none of it
//! passes for a key. Ctrl-C is a key in the middle of anything.
//!
//! A sequence that arrived in several reads reports hand activity for each of them: its key alone would report
//! only the last.
//!
//! # Worked example
//! `ESC [ 1 ;` at 0 ms and nothing more: noise, read at 0 ms, reported at 100 ms. `5 A` at 150 ms: the keys `5` and
//! `A`, neither of which answers, because noise came less than 400 ms before.
//!
//! # Tuning by symptom
//! Arrow keys over a slow line arrive as Escape and letters: raise [`ESCAPE`], and Escape stops speech that much later.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::mouse_report::MouseReport;
use super::sequence::{self, Sequence};
use super::stroke::{Stroke, TerminalInput};
use super::torn_report::{self, TornAt, TornByte, TornReport};

/// How long an ESC waits for the rest of a sequence before it counts as the key Escape, which must stop speech within
/// 50 ms.
const ESCAPE: Duration = Duration::from_millis(25);
/// How long a sequence may take from its first byte: terminals send a sequence in one piece, and networks rarely split
/// one.
const UNFINISHED: Duration = Duration::from_millis(100);
/// How long a paste may pause.
const STALLED: Duration = Duration::from_secs(1);
/// The longest control sequence, in bytes: twice what any key sends.
const LONGEST_SEQUENCE: usize = 64;
/// How much of a paste is kept, in bytes: twice the longest answer, so that too long a paste is recognised as
/// such.
const LONGEST_PASTE: usize = 32 * 1024;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CTRL_C: u8 = 0x03;
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// The meaning of a line feed: Enter, on a terminal that translates it, or Ctrl-J.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFeed {
    /// Enter.
    Enter,
    /// Ctrl-J.
    ControlJ,
}

/// The reader of the terminal's bytes.
#[derive(Debug, Clone)]
pub struct KeyReader {
    feed: LineFeed,
    state: State,
    /// When the first byte of the unfinished sequence was read.
    since: Duration,
    /// When its last byte was read.
    last: Duration,
    /// The time of an earlier read that contained part of it.
    earlier: Option<Duration>,
    /// A mouse report that was given up a moment ago.
    torn: TornReport,
}

/// The unfinished item.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Ground,
    /// An ESC with nothing after it yet.
    Escape,
    /// The parameters after `ESC [`.
    Control {
        parameters: Vec<u8>,
        overlong: bool,
    },
    /// Bytes that may continue a mouse report whose beginning counted as a key.
    Perhaps(Vec<u8>),
    /// A mouse report in the old form, with the number of bytes still to come.
    Mouse(u8),
    /// `ESC O`.
    Single,
    /// A string for a program, such as the reply to a query that was never sent; `by` is its opening letter.
    Text {
        by: u8,
        begun: bool,
        escape: bool,
    },
    /// A character of several bytes.
    Character {
        bytes: Vec<u8>,
        alt: bool,
    },
    /// A paste, with the number of bytes of its end mark read so far.
    Paste {
        text: Vec<u8>,
        mark: usize,
    },
    /// The rest of a paste that was given up.
    Swallow {
        mark: usize,
        told: bool,
    },
}

impl KeyReader {
    /// Creates a reader that has read nothing.
    pub fn new(feed: LineFeed) -> Self {
        Self {
            feed,
            state: State::Ground,
            since: Duration::ZERO,
            last: Duration::ZERO,
            earlier: None,
            torn: TornReport::default(),
        }
    }

    /// Feeds the bytes of one read, and returns what they complete, in order.
    pub fn bytes(&mut self, bytes: &[u8], now: Duration) -> Vec<Stroke> {
        let mut strokes = self.expire(now);
        self.earlier = match self.state {
            // Each read that is swallowed is reported immediately.
            State::Ground | State::Swallow { .. } => None,
            State::Escape
            | State::Control { .. }
            | State::Perhaps(_)
            | State::Mouse(_)
            | State::Single
            | State::Text { .. }
            | State::Character { .. }
            | State::Paste { .. } => Some(self.last),
        };
        let headless = torn_report::headless(bytes, self.state == State::Ground);
        if headless > 0 {
            self.end(TerminalInput::Noise, now, &mut strokes);
        }
        for byte in bytes.iter().skip(headless) {
            self.byte(*byte, now, &mut strokes);
            self.last = now;
        }
        strokes
    }

    /// Returns what has timed out by now.
    pub fn expire(&mut self, now: Duration) -> Vec<Stroke> {
        let mut strokes = Vec::new();
        // The end of one item may be the beginning of another.
        while self.deadline().is_some_and(|at| now >= at) {
            self.expire_one(&mut strokes);
        }
        strokes
    }

    fn expire_one(&mut self, strokes: &mut Vec<Stroke>) {
        let read = self.last;
        match std::mem::replace(&mut self.state, State::Ground) {
            State::Ground => {}
            State::Escape => {
                self.key(KeyCode::Esc, false, read, strokes);
                self.torn.tear(TornAt::Escape, read);
            }
            // Nothing followed, so it was a key with Alt after all.
            State::Control { parameters, .. } if parameters.is_empty() => {
                self.key(KeyCode::Char('['), true, read, strokes);
                self.torn.tear(TornAt::Bracket, read);
            }
            State::Control { parameters, .. } if parameters.starts_with(b"<") => {
                self.end(TerminalInput::Noise, read, strokes);
                self.torn.tear(TornAt::Numbers, read);
            }
            State::Mouse(left) => {
                self.end(TerminalInput::Noise, read, strokes);
                self.torn.tear(TornAt::Bytes(left), read);
            }
            State::Perhaps(bytes) => self.not_a_report(&bytes, read, strokes),
            State::Single => self.key(KeyCode::Char('O'), true, read, strokes),
            State::Text {
                by, begun: false, ..
            } => {
                self.key(KeyCode::Char(char::from(by)), true, read, strokes);
            }
            // The ESC may begin a new sequence.
            State::Text { escape: true, .. } => {
                self.end(TerminalInput::Noise, read, strokes);
                self.begin(State::Escape, read);
            }
            State::Control { .. } | State::Text { .. } | State::Character { .. } => {
                self.end(TerminalInput::Noise, read, strokes);
            }
            State::Paste { text, mark } => {
                self.end(pasted(text), read, strokes);
                self.end(TerminalInput::Stalled, read, strokes);
                self.swallow_on(mark, true);
            }
            // It was Escape: the keyboard belongs to the person again.
            State::Swallow { mark: 1, .. } => {}
            State::Swallow { mark, .. } => {
                self.end(TerminalInput::Stalled, read, strokes);
                self.swallow_on(mark, true);
            }
        }
    }

    /// Returns when the unfinished item times out.
    pub fn deadline(&self) -> Option<Duration> {
        match &self.state {
            State::Ground => None,
            State::Escape => Some(self.since + ESCAPE),
            State::Control { .. }
            | State::Perhaps(_)
            | State::Mouse(_)
            | State::Single
            | State::Text { .. }
            | State::Character { .. } => Some(self.since + UNFINISHED),
            State::Paste { .. } => Some(self.last + STALLED),
            State::Swallow { mark: 1, .. } => Some(self.last + ESCAPE),
            State::Swallow { told: false, .. } => Some(self.last + STALLED),
            State::Swallow { told: true, .. } => None,
        }
    }

    fn byte(&mut self, byte: u8, now: Duration, strokes: &mut Vec<Stroke>) {
        match std::mem::replace(&mut self.state, State::Ground) {
            State::Ground => self.ground(byte, now, strokes),
            State::Escape => self.escaped(byte, now, strokes),
            State::Control {
                parameters,
                overlong,
            } => self.control(parameters, overlong, byte, now, strokes),
            State::Perhaps(bytes) => self.perhaps(bytes, byte, now, strokes),
            State::Mouse(left) => match (byte, left) {
                (..0x20, _) => self.broken(byte, now, strokes),
                (_, 1) => self.end(TerminalInput::Noise, now, strokes),
                (_, left) => self.state = State::Mouse(left - 1),
            },
            State::Single => match byte {
                b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S' => {
                    // After `ESC O` this letter is F3; after `ESC [` it reports the cursor's position.
                    let what = match byte {
                        b'R' => TerminalInput::Key(KeyCode::F(3).into()),
                        byte => terminal_input(sequence::read(b"", byte)),
                    };
                    self.end(what, now, strokes);
                }
                byte => self.broken(byte, now, strokes),
            },
            State::Text { by, escape, .. } => match (byte, escape) {
                (BEL, _) | (b'\\', true) => self.end(TerminalInput::Noise, now, strokes),
                (ESC, false) => self.text(by, true),
                // A new sequence follows the ESC, and this one never ended.
                (byte, true) => {
                    self.end(TerminalInput::Noise, now, strokes);
                    self.begin(State::Escape, now);
                    self.byte(byte, now, strokes);
                }
                (CTRL_C, false) => self.broken(byte, now, strokes),
                (_, false) => self.text(by, false),
            },
            State::Character { bytes, alt } => self.character(bytes, alt, byte, now, strokes),
            State::Paste { text, mark } => self.paste(text, mark, byte, now, strokes),
            State::Swallow { mark, told } => self.swallow(mark, told, byte, now, strokes),
        }
    }

    fn begin(&mut self, state: State, now: Duration) {
        self.state = state;
        self.since = now;
        self.last = now;
    }

    fn text(&mut self, by: u8, escape: bool) {
        self.state = State::Text {
            by,
            begun: true,
            escape,
        };
    }

    fn ground(&mut self, byte: u8, now: Duration, strokes: &mut Vec<Stroke>) {
        match self.torn.take(byte, now) {
            TornByte::Other => {}
            TornByte::Part => return self.end(TerminalInput::Noise, now, strokes),
            TornByte::Perhaps => return self.begin(State::Perhaps(vec![byte]), now),
        }
        match byte {
            ESC => self.begin(State::Escape, now),
            0xc2..=0xf4 => self.begin(
                State::Character {
                    bytes: vec![byte],
                    alt: false,
                },
                now,
            ),
            0x80.. => self.end(TerminalInput::Noise, now, strokes),
            byte => self.end(TerminalInput::Key(single(byte, self.feed)), now, strokes),
        }
    }

    fn escaped(&mut self, byte: u8, now: Duration, strokes: &mut Vec<Stroke>) {
        match byte {
            b'[' => {
                self.state = State::Control {
                    parameters: Vec::new(),
                    overlong: false,
                }
            }
            b'O' => self.state = State::Single,
            b']' | b'P' | b'_' | b'^' => {
                self.state = State::Text {
                    by: byte,
                    begun: false,
                    escape: false,
                }
            }
            ESC => {
                self.end(TerminalInput::Key(KeyCode::Esc.into()), now, strokes);
                self.begin(State::Escape, now);
            }
            0xc2..=0xf4 => {
                self.state = State::Character {
                    bytes: vec![byte],
                    alt: true,
                }
            }
            0x80.. => self.end(TerminalInput::Noise, now, strokes),
            byte => {
                let key = single(byte, self.feed);
                let modifiers = key.modifiers | KeyModifiers::ALT;
                let key = KeyEvent::new(key.code, modifiers);
                self.end(TerminalInput::Key(key), now, strokes);
            }
        }
    }

    fn control(
        &mut self,
        mut parameters: Vec<u8>,
        overlong: bool,
        byte: u8,
        now: Duration,
        strokes: &mut Vec<Stroke>,
    ) {
        match byte {
            b'[' if parameters.is_empty() => {
                parameters.push(byte);
                self.state = State::Control {
                    parameters,
                    overlong,
                };
            }
            b'M' if parameters.is_empty() => self.state = State::Mouse(3),
            0x20..=0x3f => {
                let overlong = overlong || parameters.len() >= LONGEST_SEQUENCE;
                if !overlong {
                    parameters.push(byte);
                }
                self.state = State::Control {
                    parameters,
                    overlong,
                };
            }
            0x40..=0x7e if overlong => self.end(TerminalInput::Noise, now, strokes),
            0x40..=0x7e => match sequence::read(&parameters, byte) {
                Sequence::PasteBegins => self.begin(
                    State::Paste {
                        text: Vec::new(),
                        mark: 0,
                    },
                    now,
                ),
                other => self.end(terminal_input(other), now, strokes),
            },
            byte => self.broken(byte, now, strokes),
        }
    }

    /// Continues with what may be the rest of a mouse report, which begins `[<0` or `<0`; from there on it is
    /// noise.
    fn perhaps(&mut self, mut bytes: Vec<u8>, byte: u8, now: Duration, strokes: &mut Vec<Stroke>) {
        match (bytes.last(), byte) {
            (Some(b'['), b'<') => {
                bytes.push(byte);
                self.state = State::Perhaps(bytes);
            }
            (Some(b'['), b'M') => self.state = State::Mouse(3),
            (Some(b'M'), 0x20..) => self.state = State::Mouse(2),
            (Some(b'<'), b'0'..=b'9') => {
                self.state = State::Control {
                    parameters: b"<".to_vec(),
                    overlong: true,
                };
            }
            (_, _) => {
                self.not_a_report(&bytes, now, strokes);
                self.ground(byte, now, strokes);
            }
        }
    }

    /// Reads bytes as the keys that they are after all.
    fn not_a_report(&mut self, bytes: &[u8], read: Duration, strokes: &mut Vec<Stroke>) {
        for byte in bytes {
            let what = match byte {
                // As a key, this letter would have an effect.
                b'M' => TerminalInput::Noise,
                byte => TerminalInput::Key(single(*byte, self.feed)),
            };
            self.end(what, read, strokes);
            self.torn.tear(TornAt::behind(*byte), read);
        }
    }

    fn character(
        &mut self,
        mut bytes: Vec<u8>,
        alt: bool,
        byte: u8,
        now: Duration,
        strokes: &mut Vec<Stroke>,
    ) {
        bytes.push(byte);
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let what = match text.chars().next() {
                    Some(c) => TerminalInput::Key(character_key(c, alt)),
                    None => TerminalInput::Noise,
                };
                self.end(what, now, strokes);
            }
            // So far it is a valid prefix.
            Err(error) if error.error_len().is_none() => {
                self.state = State::Character { bytes, alt };
            }
            Err(_) => self.broken(byte, now, strokes),
        }
    }

    fn paste(
        &mut self,
        mut text: Vec<u8>,
        mark: usize,
        byte: u8,
        now: Duration,
        strokes: &mut Vec<Stroke>,
    ) {
        if PASTE_ENDS.get(mark) == Some(&byte) {
            if mark + 1 == PASTE_ENDS.len() {
                self.end(pasted(text), now, strokes);
            } else {
                let mark = mark + 1;
                self.state = State::Paste { text, mark };
            }
            return;
        }
        keep(&mut text, &PASTE_ENDS[..mark]);
        match byte {
            CTRL_C => {
                self.end(pasted(text), now, strokes);
                self.end(TerminalInput::Key(single(byte, self.feed)), now, strokes);
                self.state = State::Swallow {
                    mark: 0,
                    told: false,
                };
            }
            ESC => self.state = State::Paste { text, mark: 1 },
            byte => {
                keep(&mut text, &[byte]);
                self.state = State::Paste { text, mark: 0 };
            }
        }
    }

    fn swallow(
        &mut self,
        mark: usize,
        told: bool,
        byte: u8,
        now: Duration,
        strokes: &mut Vec<Stroke>,
    ) {
        self.end(TerminalInput::Noise, now, strokes);
        let mark = match byte {
            CTRL_C => {
                self.end(TerminalInput::Key(single(byte, self.feed)), now, strokes);
                0
            }
            byte if PASTE_ENDS.get(mark) == Some(&byte) => mark + 1,
            ESC => 1,
            _ => 0,
        };
        if mark < PASTE_ENDS.len() {
            self.swallow_on(mark, told);
        }
    }

    fn swallow_on(&mut self, mark: usize, told: bool) {
        self.state = State::Swallow { mark, told };
    }

    /// Ends a sequence at a byte that can't belong to it, and reads that byte separately.
    fn broken(&mut self, byte: u8, now: Duration, strokes: &mut Vec<Stroke>) {
        self.end(TerminalInput::Noise, now, strokes);
        self.ground(byte, now, strokes);
    }

    fn key(&mut self, code: KeyCode, alt: bool, read: Duration, strokes: &mut Vec<Stroke>) {
        let key = match code {
            KeyCode::Char(c) => character_key(c, alt),
            code => code.into(),
        };
        self.end(TerminalInput::Key(key), read, strokes);
    }

    /// Adds a stroke, preceded by noise for an earlier read of its bytes, when a hand was at work.
    fn end(&mut self, what: TerminalInput, read: Duration, strokes: &mut Vec<Stroke>) {
        let noise = |read| Stroke {
            input: TerminalInput::Noise,
            read,
        };
        // The terminal's own reply may arrive in pieces: no hand is at work.
        let earlier = self
            .earlier
            .take()
            .filter(|_| !matches!(what, TerminalInput::Place(..)));
        strokes.extend(earlier.map(noise));
        if earlier.is_some() && what == TerminalInput::Focus(false) {
            // A whole report does not show a hand at work, but a sequence in pieces does.
            strokes.push(noise(read));
        }
        let stroke = Stroke { input: what, read };
        // A thousand stray bytes of one read are reported once.
        if stroke.input != TerminalInput::Noise || strokes.last() != Some(&stroke) {
            strokes.push(stroke);
        }
    }
}

fn terminal_input(sequence: Sequence) -> TerminalInput {
    match sequence {
        Sequence::Key(key) => TerminalInput::Key(key),
        Sequence::Focus(on) => TerminalInput::Focus(on),
        Sequence::Place(row, column) => TerminalInput::Place(row, column),
        Sequence::Mouse(MouseReport::Click(column, row)) => TerminalInput::Click(column, row),
        Sequence::Mouse(MouseReport::Wheel(up)) => TerminalInput::Wheel(up),
        Sequence::Mouse(MouseReport::Other) => TerminalInput::Noise,
        // A paste that begins where none can begin is not a paste.
        Sequence::PasteBegins | Sequence::Unknown => TerminalInput::Noise,
    }
}

fn keep(text: &mut Vec<u8>, bytes: &[u8]) {
    let room = LONGEST_PASTE.saturating_sub(text.len()).min(bytes.len());
    text.extend_from_slice(&bytes[..room]);
}

fn pasted(text: Vec<u8>) -> TerminalInput {
    TerminalInput::Paste(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the key of a byte below 128.
fn single(byte: u8, feed: LineFeed) -> KeyEvent {
    let control = |c: u8| KeyEvent::new(KeyCode::Char(char::from(c)), KeyModifiers::CONTROL);
    match byte {
        b'\r' => KeyCode::Enter.into(),
        b'\n' if feed == LineFeed::Enter => KeyCode::Enter.into(),
        b'\t' => KeyCode::Tab.into(),
        0x7f => KeyCode::Backspace.into(),
        ESC => KeyCode::Esc.into(),
        0 => control(b' '),
        0x01..=0x1a => control(byte - 1 + b'a'),
        0x1c..=0x1f => control(byte - 0x1c + b'4'),
        byte => character_key(char::from(byte), false),
    }
}

fn character_key(c: char, alt: bool) -> KeyEvent {
    let mut modifiers = KeyModifiers::NONE;
    if c.is_uppercase() {
        modifiers |= KeyModifiers::SHIFT;
    }
    if alt {
        modifiers |= KeyModifiers::ALT;
    }
    KeyEvent::new(KeyCode::Char(c), modifiers)
}

#[cfg(test)]
mod tests;
