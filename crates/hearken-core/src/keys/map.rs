//! The keys of each command: the table's defaults, overridden by the person's changes.
//!
//! Responsibilities: names of keys, reading the changes, refusing those that would make a key ambiguous or some
//! question unanswerable. Not here: what a command does (`app`).
//!
//! # Worked example
//! `accept = ["F5"]` and `mute = []` make F5 accept, `y` mean nothing and mute have no key.
//!
//! # Tuning by symptom
//! "the key … is given to both": give the other command another key, or `[]`, in the same file.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::config::KeysConfig;

use super::groups::GROUPS;
use super::{BINDINGS, Command};

/// The commands without which a person could not answer every kind of question, or quit.
const NEEDED: &[&str] = &[
    "accept", "confirm", "reject", "answer", "choose", "details", "quit",
];

/// Why a key setting can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No command has this name.
    #[error("there is no command {name:?}; docs/keys.md lists them: {}", names().join(", "))]
    UnknownCommand {
        /// The name.
        name: String,
    },
    /// No key has this name.
    #[error(
        "{command}: there is no key {name:?}; write a character, F1 to F12, Tab, Up, PageUp, Home, …, or Ctrl-, Alt- and a letter"
    )]
    UnknownKey {
        /// The command.
        command: String,
        /// The name.
        name: String,
    },
    /// The key has a meaning that can't be changed.
    #[error("{command}: {name} can't be used")]
    Reserved {
        /// The command.
        command: String,
        /// The key's name.
        name: String,
        /// Why the meaning is fixed.
        why: KeptKey,
    },
    /// Two commands want the same key.
    #[error("the key {name} is given to both {first} and {second}")]
    Conflict {
        /// The key's name.
        name: String,
        /// One command.
        first: String,
        /// The other.
        second: String,
    },
    /// A command has no key although some questions can't be answered without it.
    #[error("{name} has no key, and without it, some things can't be answered or left")]
    Unreachable {
        /// The command.
        name: &'static str,
    },
    /// Only one of the two keys of scanning is set.
    #[error("scanning needs a key that selects, and a key that steps or a time (scanning.auto_ms)")]
    HalfAScan,
}

/// Why a key keeps its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptKey {
    /// Enter and Space do nothing on their own, so that they never answer.
    Idle,
    /// The terminal needs it, or reports it as another key.
    Terminal,
}

/// One key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

impl Chord {
    /// Reads a key's name; returns `None` if no key has it.
    pub fn parse(name: &str) -> Option<Self> {
        let (modifiers, rest) = if let Some(rest) = name.strip_prefix("Ctrl-") {
            (KeyModifiers::CONTROL, rest)
        } else if let Some(rest) = name.strip_prefix("Alt-") {
            (KeyModifiers::ALT, rest)
        } else {
            (KeyModifiers::NONE, name)
        };
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            // Any blank that a keyboard sends counts as Space, and so does a terminal's Ctrl-@.
            (Some(c), None) if c.is_whitespace() => KeyCode::Char(' '),
            (Some('@'), None) if modifiers == KeyModifiers::CONTROL => KeyCode::Char(' '),
            (Some(c), None) if !c.is_control() => KeyCode::Char(c.to_ascii_lowercase()),
            _ => match rest {
                "Tab" => KeyCode::Tab,
                "Escape" => KeyCode::Esc,
                "Enter" => KeyCode::Enter,
                "Space" => KeyCode::Char(' '),
                "Backspace" => KeyCode::Backspace,
                "Delete" => KeyCode::Delete,
                "Insert" => KeyCode::Insert,
                "Up" => KeyCode::Up,
                "Down" => KeyCode::Down,
                "Left" => KeyCode::Left,
                "Right" => KeyCode::Right,
                "Home" => KeyCode::Home,
                "End" => KeyCode::End,
                "PageUp" | "Page Up" => KeyCode::PageUp,
                "PageDown" | "Page Down" => KeyCode::PageDown,
                other => {
                    let number = other.strip_prefix('F')?.parse::<u8>().ok()?;
                    if !(1..=12).contains(&number) {
                        return None;
                    }
                    KeyCode::F(number)
                }
            },
        };
        Some(Self { code, modifiers })
    }

    /// Returns whether a key press is this key. With caps lock a letter is still that letter.
    pub fn is(self, key: KeyEvent) -> bool {
        let code = match key.code {
            KeyCode::Char(c) if is_space(c, key.modifiers) => KeyCode::Char(' '),
            KeyCode::Char(c) => KeyCode::Char(c.to_ascii_lowercase()),
            other => other,
        };
        let chord = KeyModifiers::CONTROL | KeyModifiers::ALT;
        code == self.code && key.modifiers & chord == self.modifiers
    }

    fn reserved(self) -> Option<KeptKey> {
        if self.code == KeyCode::Enter || self.code == KeyCode::Char(' ') {
            Some(KeptKey::Idle)
        } else if self.modifiers == KeyModifiers::CONTROL
            && matches!(self.code, KeyCode::Char('c' | 'z' | 'm' | 'i' | 'j' | '['))
        {
            Some(KeptKey::Terminal)
        } else {
            None
        }
    }
}

/// Returns whether a key is Space: any blank, and Ctrl-@, which terminals send for Ctrl-Space.
fn is_space(c: char, modifiers: KeyModifiers) -> bool {
    c.is_whitespace() || (c == '@' && modifiers.contains(KeyModifiers::CONTROL))
}

/// The keys of all commands.
#[derive(Debug, Clone, PartialEq)]
pub struct Keymap {
    /// The keys of each command with their names, in the table's order.
    rows: Vec<Vec<(String, Chord)>>,
}

impl Default for Keymap {
    fn default() -> Self {
        let rows = BINDINGS
            .iter()
            .map(|binding| {
                let chord = Chord::parse(binding.key);
                let named = chord.map(|chord| (binding.key.to_owned(), chord));
                named.into_iter().collect()
            })
            .collect();
        Self { rows }
    }
}

impl Keymap {
    /// Creates a map from the defaults and the changes to them.
    ///
    /// # Errors
    /// For unknown names, keys with two meanings, and commands that must have a key but have none.
    pub fn new(changes: &KeysConfig) -> Result<Self, KeyError> {
        let mut map = Self::default();
        for (command, keys) in changes {
            let Some(at) = BINDINGS.iter().position(|row| row.name == command) else {
                return Err(KeyError::UnknownCommand {
                    name: command.clone(),
                });
            };
            let mut row = Vec::new();
            for name in keys {
                let chord = Chord::parse(name).ok_or_else(|| KeyError::UnknownKey {
                    command: command.clone(),
                    name: name.clone(),
                })?;
                if let Some(why) = chord.reserved() {
                    return Err(KeyError::Reserved {
                        command: command.clone(),
                        name: name.clone(),
                        why,
                    });
                }
                row.push((name.clone(), chord));
            }
            map.rows[at] = row;
        }
        map.check()?;
        Ok(map)
    }

    fn check(&self) -> Result<(), KeyError> {
        let all: Vec<(&str, &String, Chord)> = BINDINGS
            .iter()
            .zip(&self.rows)
            .flat_map(|(binding, row)| row.iter().map(|(name, chord)| (binding.name, name, *chord)))
            .collect();
        for (at, (first, name, chord)) in all.iter().enumerate() {
            if let Some((second, ..)) = all[at + 1..].iter().find(|(_, _, other)| other == chord) {
                return Err(KeyError::Conflict {
                    name: (*name).clone(),
                    first: (*first).to_owned(),
                    second: (*second).to_owned(),
                });
            }
        }
        for needed in NEEDED {
            if self.key_of(needed).is_none() {
                return Err(KeyError::Unreachable { name: needed });
            }
        }
        Ok(())
    }

    /// Returns the command of a key press in the usual mode.
    pub fn find(&self, key: KeyEvent) -> Option<Command> {
        BINDINGS
            .iter()
            .zip(&self.rows)
            .find(|(_, row)| row.iter().any(|(_, chord)| chord.is(key)))
            .map(|(binding, _)| (binding.command)())
    }

    /// Returns the name of the command that a key is bound to.
    pub fn owner(&self, chord: Chord) -> Option<&'static str> {
        BINDINGS
            .iter()
            .zip(&self.rows)
            .find(|(_, row)| row.iter().any(|(_, other)| *other == chord))
            .map(|(binding, _)| binding.name)
    }

    /// Returns the first key of a command, by its name in the table; `None` if it is turned off.
    pub fn key_of(&self, name: &str) -> Option<&str> {
        let at = BINDINGS.iter().position(|binding| binding.name == name)?;
        self.rows[at].first().map(|(name, _)| name.as_str())
    }

    /// Returns each command that has a key, with its keys and what it does.
    pub fn help(&self) -> impl Iterator<Item = (String, &'static str)> {
        BINDINGS
            .iter()
            .zip(&self.rows)
            .filter(|(_, row)| !row.is_empty())
            .map(|(binding, row)| {
                let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
                (names.join(", "), binding.does)
            })
    }

    /// Returns the same in groups, each with its heading, in the order of the help.
    pub fn help_in_groups(&self) -> Vec<(&'static str, Vec<(String, &'static str)>)> {
        GROUPS
            .iter()
            .map(|group| {
                let of_group = BINDINGS
                    .iter()
                    .filter(|binding| group.names.contains(&binding.name))
                    .map(|binding| binding.does);
                let of_group: Vec<&str> = of_group.collect();
                let entries = self.help().filter(|(_, does)| of_group.contains(does));
                (group.head, entries.collect::<Vec<_>>())
            })
            .filter(|(_, entries)| !entries.is_empty())
            .collect()
    }

    /// Returns the first key of every command, for the phrases that name keys; empty if the command is turned
    /// off.
    pub fn names(&self) -> BTreeMap<String, String> {
        BINDINGS
            .iter()
            .map(|binding| {
                let key = self.key_of(binding.name).unwrap_or_default();
                (binding.name.to_owned(), key.to_owned())
            })
            .collect()
    }
}

/// Returns the name of every command.
pub fn names() -> Vec<&'static str> {
    BINDINGS.iter().map(|binding| binding.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(text: &str) -> KeysConfig {
        toml::from_str(text).unwrap()
    }

    fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    fn usual(binding: &crate::keys::Binding) -> KeyEvent {
        let chord = Chord::parse(binding.key).unwrap();
        press(chord.code, chord.modifiers)
    }

    #[test]
    fn every_default_is_read_by_its_own_name() {
        for binding in BINDINGS {
            let key = usual(binding);
            let found = Keymap::default().find(key);
            assert_eq!(found, Some(binding.command()), "{}", binding.key);
        }
        Keymap::default().check().unwrap();
    }

    #[test]
    fn every_command_can_be_given_another_key() {
        for (at, binding) in BINDINGS.iter().enumerate() {
            let map = Keymap::new(&changes(&format!("{} = [\"Alt-z\"]", binding.name))).unwrap();
            let key = press(KeyCode::Char('z'), KeyModifiers::ALT);
            assert_eq!(map.find(key), Some((binding.command)()), "{}", binding.name);
            assert_eq!(map.find(usual(binding)), None, "{at}");
        }
    }

    #[test]
    fn every_command_can_be_turned_off_but_the_ones_that_answer_or_leave() {
        for binding in BINDINGS {
            let off = Keymap::new(&changes(&format!("{} = []", binding.name)));
            if NEEDED.contains(&binding.name) {
                assert_eq!(off, Err(KeyError::Unreachable { name: binding.name }));
            } else {
                let map = off.unwrap();
                assert_eq!(map.find(usual(binding)), None);
                assert!(map.help().all(|(_, does)| does != binding.does));
            }
        }
    }

    #[test]
    fn faults_are_told_in_words() {
        for (text, words) in [
            ("acept = [\"y\"]", "there is no command \"acept\""),
            ("accept = [\"Entre\"]", "accept: there is no key \"Entre\""),
            (
                "accept = [\"n\"]",
                "the key n is given to both accept and reject",
            ),
            ("accept = [\"Enter\"]", "Enter can't be used"),
            ("accept = [\"Space\"]", "Space can't be used"),
            ("accept = [\"Ctrl-@\"]", "Ctrl-@ can't be used"),
            ("accept = [\"\u{a0}\"]", "can't be used"),
            ("accept = [\"\u{3000}\"]", "can't be used"),
            ("mute = [\"Ctrl-c\"]", "Ctrl-c can't be used"),
            ("quit = []", "quit has no key"),
            ("accept = [\"F13\"]", "there is no key \"F13\""),
        ] {
            let fault = Keymap::new(&changes(text)).unwrap_err().to_string();
            assert!(fault.contains(words), "{text}: {fault}");
            assert!(!fault.contains('\n'));
        }
    }

    #[test]
    fn a_swap_is_no_conflict() {
        let map = Keymap::new(&changes("accept = [\"n\", \"F5\"]\nreject = [\"y\"]")).unwrap();
        let key = |c| press(KeyCode::Char(c), KeyModifiers::NONE);
        assert_eq!(map.find(key('n')), Some(Command::Accept(None)));
        assert_eq!(map.find(key('y')), Some(Command::Reject(None, None)));
        assert_eq!(
            map.find(press(KeyCode::F(5), KeyModifiers::NONE)),
            Some(Command::Accept(None))
        );
    }
}
