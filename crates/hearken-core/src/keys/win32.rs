//! Keys as a Windows console reports them to a program: win32-input-mode, which another program may have left turned
//! on.
//!
//! Shape: `ESC [ Vk ; Sc ; Uc ; Kd ; Cs ; Rc _`, with the virtual key, its scan code, the character, whether
//! the key goes down, the keys held, and a count (Microsoft's specification of the mode). Each key is reported
//! twice, down and up, even a key that only modifies others.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

const RIGHT_ALT: u32 = 0x01;
const LEFT_ALT: u32 = 0x02;
const RIGHT_CONTROL: u32 = 0x04;
const LEFT_CONTROL: u32 = 0x08;
const SHIFT: u32 = 0x10;

/// Reads the parameters of a report; `None` if its key means nothing on its own.
pub(super) fn key(parameters: &[u8]) -> Option<KeyEvent> {
    let text = std::str::from_utf8(parameters).ok()?;
    let mut numbers = [0, 0, 0, 0, 0, 1];
    let mut fields = text.split(';');
    for (number, field) in numbers.iter_mut().zip(&mut fields) {
        if !field.is_empty() {
            *number = field.parse().ok()?;
        }
    }
    let [virtual_key, scan_code, character, down, held, _] = numbers;
    // A report without a key passes on characters that another program wrote, such as a reply.
    if fields.next().is_some() || (virtual_key, scan_code) == (0, 0) {
        return None;
    }
    let kind = match down {
        0 => KeyEventKind::Release,
        1 => KeyEventKind::Press,
        _ => return None,
    };
    let is_held = |keys: u32| held & keys != 0;
    // AltGr is reported as both modifiers, and its character is enough.
    let is_altgr = is_held(RIGHT_ALT) && is_held(LEFT_CONTROL) && character != 0;
    let mut modifiers = KeyModifiers::NONE;
    if is_held(SHIFT) {
        modifiers |= KeyModifiers::SHIFT;
    }
    if is_held(RIGHT_CONTROL | LEFT_CONTROL) && !is_altgr {
        modifiers |= KeyModifiers::CONTROL;
    }
    if is_held(RIGHT_ALT | LEFT_ALT) && !is_altgr {
        modifiers |= KeyModifiers::ALT;
    }
    let code = match by_virtual_key(virtual_key) {
        Some(KeyCode::Tab) if is_held(SHIFT) => KeyCode::BackTab,
        Some(code) => code,
        None => {
            let is_control = modifiers.contains(KeyModifiers::CONTROL);
            let c = match (character, virtual_key) {
                // With Control, the character is a control code or none; letters have their own codes as keys.
                (..0x20, 0x41..=0x5a) if is_control => char::from_u32(virtual_key + 0x20)?,
                (..0x20, 0x20 | 0x30..=0x39) if is_control => char::from_u32(virtual_key)?,
                (..0x20, _) => return None,
                (character, _) => char::from_u32(character)?,
            };
            // As from terminals, only a letter shows that Shift is held.
            modifiers.set(KeyModifiers::SHIFT, c.is_uppercase());
            KeyCode::Char(c)
        }
    };
    Some(KeyEvent::new_with_kind(code, modifiers, kind))
}

fn by_virtual_key(virtual_key: u32) -> Option<KeyCode> {
    Some(match virtual_key {
        0x08 => KeyCode::Backspace,
        0x09 => KeyCode::Tab,
        0x0d => KeyCode::Enter,
        0x1b => KeyCode::Esc,
        0x21 => KeyCode::PageUp,
        0x22 => KeyCode::PageDown,
        0x23 => KeyCode::End,
        0x24 => KeyCode::Home,
        0x25 => KeyCode::Left,
        0x26 => KeyCode::Up,
        0x27 => KeyCode::Right,
        0x28 => KeyCode::Down,
        0x2d => KeyCode::Insert,
        0x2e => KeyCode::Delete,
        0x70..=0x87 => KeyCode::F(u8::try_from(virtual_key - 0x6f).ok()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_a_terminal_would_have_sent() {
        let none = KeyModifiers::NONE;
        for (report, code, held) in [
            ("89;21;121;1;0;1", KeyCode::Char('y'), none),
            ("89;21;89;1;16;1", KeyCode::Char('Y'), KeyModifiers::SHIFT),
            ("67;46;3;1;8;1", KeyCode::Char('c'), KeyModifiers::CONTROL),
            ("67;46;0;1;4;1", KeyCode::Char('c'), KeyModifiers::CONTROL),
            ("32;57;32;1;0;1", KeyCode::Char(' '), none),
            ("191;53;63;1;16;1", KeyCode::Char('?'), none),
            ("13;28;13;1;0;1", KeyCode::Enter, none),
            ("9;15;9;1;16;1", KeyCode::BackTab, KeyModifiers::SHIFT),
            ("27;1;27;1;0;1", KeyCode::Esc, none),
            ("112;59;0;1;0;1", KeyCode::F(1), none),
            ("38;72;0;1;256;1", KeyCode::Up, none),
            ("65;30;97;1;2;1", KeyCode::Char('a'), KeyModifiers::ALT),
            ("69;18;8364;1;9;1", KeyCode::Char('€'), none),
            ("89;21;121;1;32", KeyCode::Char('y'), none),
        ] {
            let wanted = KeyEvent::new(code, held);
            assert_eq!(key(report.as_bytes()), Some(wanted), "{report}");
        }
        let up = key(b"89;21;121;0;0;1").map(|key| key.kind);
        assert_eq!(up, Some(KeyEventKind::Release));
    }

    #[test]
    fn what_is_no_key_by_itself_is_none() {
        for report in [
            "17;29;0;1;8;1",
            "16;42;0;1;16;1",
            "0;0;27;1;0;1",
            "89;21;55357;1;0;1",
            "89;21;121;7;0;1",
            "89;21;121;1;0;1;9",
            "x",
            "99999999999;1;1;1;0;1",
            "",
        ] {
            assert_eq!(key(report.as_bytes()), None, "{report}");
        }
    }
}
