//! The meaning of keys while a choice is being made.

use crossterm::event::{KeyCode, KeyEvent};

use super::{Command, Edit};

/// A movement of the focus among the choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceMove {
    /// To the previous one.
    Previous,
    /// To the next one.
    Next,
    /// To the first.
    First,
    /// To the last.
    Last,
    /// To the next one that begins with this character.
    Letter(char),
    /// No movement: picks the choice in focus, or unpicks it if several may be picked.
    Pick,
}

/// Reads a key while a choice is being made. A letter only ever moves the focus here: `n` is the first letter
/// of a choice, not a rejection. With `None`, the key keeps its usual meaning.
pub(super) fn command(key: KeyEvent, control: bool) -> Option<Command> {
    let step = match key.code {
        KeyCode::Char(digit) if !control && digit.is_ascii_digit() => {
            return digit
                .to_digit(10)
                .map(|digit| Command::Digit(digit as usize));
        }
        KeyCode::Enter => return Some(Command::Edit(Edit::Submit)),
        KeyCode::Esc => return Some(Command::Back),
        KeyCode::Up => ChoiceMove::Previous,
        KeyCode::Down => ChoiceMove::Next,
        KeyCode::Home => ChoiceMove::First,
        KeyCode::End => ChoiceMove::Last,
        KeyCode::Char(' ') if !control => ChoiceMove::Pick,
        KeyCode::Char(letter) if !control && letter.is_alphabetic() => ChoiceMove::Letter(letter),
        _ => return None,
    };
    Some(Command::Choice(step))
}
