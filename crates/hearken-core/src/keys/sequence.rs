//! The meaning of a complete control sequence.
//!
//! Responsibilities: the keys of the usual terminals, and those of modes that another program may have left turned on:
//! xterm's `modifyOtherKeys`, the kitty protocol's basic form, and a Windows console's (`win32`). Not here: where a
//! sequence ends (`stroke_reader`).

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::mouse_report::{self, MouseReport};
use super::win32;

/// A control sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sequence {
    /// A key.
    Key(KeyEvent),
    /// The start of a paste.
    PasteBegins,
    /// The terminal reports whether it has the focus.
    Focus(bool),
    /// The terminal reports its cursor position: row and column, from 1.
    Place(u16, u16),
    /// A mouse report.
    Mouse(MouseReport),
    /// An unknown sequence.
    Unknown,
}

/// Reads a sequence from the bytes between `ESC [` and its last byte, and that byte.
pub(super) fn read(parameters: &[u8], last: u8) -> Sequence {
    known(parameters, last).unwrap_or(Sequence::Unknown)
}

fn known(parameters: &[u8], last: u8) -> Option<Sequence> {
    if parameters == b"[" {
        // The Linux console's first five function keys.
        return match last {
            b'A'..=b'E' => Some(plain(KeyCode::F(1 + last - b'A'))),
            _ => None,
        };
    }
    match (parameters, last) {
        (b"", b'I') => return Some(Sequence::Focus(true)),
        (b"", b'O') => return Some(Sequence::Focus(false)),
        (b"", b'Z') => return key(KeyCode::BackTab, KeyModifiers::SHIFT, KeyEventKind::Press),
        (b"200", b'~') => return Some(Sequence::PasteBegins),
        _ => {}
    }
    if parameters.starts_with(b"<") {
        return mouse_report::read(parameters, last).map(Sequence::Mouse);
    }
    if last == b'_' {
        return win32::key(parameters).map(Sequence::Key);
    }
    let numbers = SequenceNumbers::read(parameters)?;
    match last {
        b'~' => numbered(&numbers),
        b'u' => by_character(numbers.first()?, numbers.shifted(), &numbers),
        b'R' => {
            // Two numbers may also be a cursor position; the first number of the key is always 1.
            let is_key = numbers.first() == Some(1) && (2..=16).contains(&numbers.modifiers());
            match is_key {
                true => numbers.key(KeyCode::F(3)),
                false => place(parameters),
            }
        }
        _ => numbers.key(lettered(last)?),
    }
}

/// Reads the reply to `CSI 6n`.
fn place(parameters: &[u8]) -> Option<Sequence> {
    let text = std::str::from_utf8(parameters).ok()?;
    let (row, column) = text.split_once(';')?;
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    Some(Sequence::Place(number(row)?, number(column)?))
}

fn lettered(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'S' => KeyCode::F(4),
        _ => return None,
    })
}

fn numbered(numbers: &SequenceNumbers) -> Option<Sequence> {
    let number = u8::try_from(numbers.first()?).ok()?;
    let code = match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=26 => KeyCode::F(number - 12),
        28..=29 => KeyCode::F(number - 15),
        31..=34 => KeyCode::F(number - 17),
        // xterm's modifyOtherKeys.
        27 => return by_character(numbers.third()?, None, numbers),
        _ => return None,
    };
    numbers.key(code)
}

fn by_character(code: u32, shifted: Option<u32>, numbers: &SequenceNumbers) -> Option<Sequence> {
    let mut modifiers = numbers.held();
    let c = char::from_u32(code)?;
    let code = match c {
        '\x1b' => KeyCode::Esc,
        '\r' => KeyCode::Enter,
        '\t' if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        '\t' => KeyCode::Tab,
        '\x7f' => KeyCode::Backspace,
        // Kitty's codes for keys without a character.
        '\u{e000}'..='\u{f8ff}' => return None,
        c => match shifted.and_then(char::from_u32) {
            Some(shifted) if modifiers.contains(KeyModifiers::SHIFT) => {
                modifiers -= KeyModifiers::SHIFT;
                KeyCode::Char(shifted)
            }
            Some(_) | None => KeyCode::Char(c),
        },
    };
    key(code, modifiers, numbers.kind()?)
}

fn plain(code: KeyCode) -> Sequence {
    Sequence::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn key(code: KeyCode, modifiers: KeyModifiers, kind: KeyEventKind) -> Option<Sequence> {
    let key = KeyEvent::new_with_kind(code, modifiers, kind);
    Some(Sequence::Key(key))
}

/// The numbers of a sequence, separated by `;`, and the parts of each, separated by `:`.
struct SequenceNumbers(Vec<Vec<Option<u32>>>);

impl SequenceNumbers {
    fn read(parameters: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(parameters).ok()?;
        let part = |part: &str| match part {
            "" => Some(None),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok().map(Some)
            }
            _ => None,
        };
        let number = |number: &str| number.split(':').map(part).collect::<Option<Vec<_>>>();
        text.split(';').map(number).collect::<Option<_>>().map(Self)
    }

    fn at(&self, number: usize, part: usize) -> Option<u32> {
        self.0.get(number)?.get(part).copied().flatten()
    }

    fn first(&self) -> Option<u32> {
        self.at(0, 0)
    }

    fn shifted(&self) -> Option<u32> {
        self.at(0, 1)
    }

    fn third(&self) -> Option<u32> {
        self.at(2, 0)
    }

    fn modifiers(&self) -> u32 {
        self.at(1, 0).unwrap_or(1)
    }

    fn held(&self) -> KeyModifiers {
        let mask = self.modifiers().saturating_sub(1);
        let all = [
            (1, KeyModifiers::SHIFT),
            (2, KeyModifiers::ALT),
            (4, KeyModifiers::CONTROL),
            (8, KeyModifiers::SUPER),
            (16, KeyModifiers::HYPER),
            (32, KeyModifiers::META),
        ];
        all.into_iter()
            .filter(|(bit, _)| mask & bit != 0)
            .fold(KeyModifiers::NONE, |held, (_, modifier)| held | modifier)
    }

    fn kind(&self) -> Option<KeyEventKind> {
        match self.at(1, 1) {
            None | Some(1) => Some(KeyEventKind::Press),
            Some(2) => Some(KeyEventKind::Repeat),
            Some(3) => Some(KeyEventKind::Release),
            Some(_) => None,
        }
    }

    fn key(&self, code: KeyCode) -> Option<Sequence> {
        key(code, self.held(), self.kind()?)
    }
}
