//! The names of key presses in the settings.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::map::Chord;

/// Returns the name by which [`Chord::parse`] knows a key; `None` if it has none.
pub fn name_of(key: KeyEvent) -> Option<String> {
    let name = match key.code {
        KeyCode::Char(c) if c.is_whitespace() => "Space".to_owned(),
        KeyCode::Char(c) => c.to_ascii_lowercase().to_string(),
        KeyCode::F(number) => format!("F{number}"),
        code => NAMED
            .iter()
            .find(|(named, _)| *named == code)
            .map(|(_, name)| (*name).to_owned())?,
    };
    let before = match key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT) {
        KeyModifiers::CONTROL => "Ctrl-",
        KeyModifiers::ALT => "Alt-",
        _ => "",
    };
    let name = format!("{before}{name}");
    Chord::parse(&name)
        .is_some_and(|chord| chord.is(key))
        .then_some(name)
}

const NAMED: [(KeyCode, &str); 14] = [
    (KeyCode::Tab, "Tab"),
    (KeyCode::Esc, "Escape"),
    (KeyCode::Enter, "Enter"),
    (KeyCode::Backspace, "Backspace"),
    (KeyCode::Delete, "Delete"),
    (KeyCode::Insert, "Insert"),
    (KeyCode::Up, "Up"),
    (KeyCode::Down, "Down"),
    (KeyCode::Left, "Left"),
    (KeyCode::Right, "Right"),
    (KeyCode::Home, "Home"),
    (KeyCode::End, "End"),
    (KeyCode::PageUp, "PageUp"),
    (KeyCode::PageDown, "PageDown"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_settings_take_is_named_as_they_name_it() {
        let press = |code, modifiers| name_of(KeyEvent::new(code, modifiers));
        for (code, name) in NAMED {
            assert_eq!(press(code, KeyModifiers::NONE).as_deref(), Some(name));
        }
        for (code, modifiers, name) in [
            (KeyCode::Char(' '), KeyModifiers::NONE, Some("Space")),
            (KeyCode::Char('@'), KeyModifiers::CONTROL, Some("Ctrl-@")),
            (KeyCode::Char('A'), KeyModifiers::SHIFT, Some("a")),
            (KeyCode::Char('x'), KeyModifiers::CONTROL, Some("Ctrl-x")),
            (KeyCode::Left, KeyModifiers::ALT, Some("Alt-Left")),
            (KeyCode::F(12), KeyModifiers::NONE, Some("F12")),
            (KeyCode::F(13), KeyModifiers::NONE, None),
            (KeyCode::CapsLock, KeyModifiers::NONE, None),
            (
                KeyCode::Char('x'),
                KeyModifiers::CONTROL.union(KeyModifiers::ALT),
                None,
            ),
        ] {
            assert_eq!(press(code, modifiers).as_deref(), name, "{code:?}");
        }
    }
}
