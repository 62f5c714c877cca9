//! From a key or a line to a command, by mode.
//!
//! Responsibilities: turning the terminal's bytes into strokes, the single table of keys, reading the lines of the
//! linear and JSON faces. Not here: what a command does, and whether a question is ready to be answered (`app`).

mod announcement_lines;
mod choice_keys;
mod groups;
mod key_names;
mod key_table;
mod line_commands;
mod line_editor;
mod map;
mod mouse_report;
mod scan_keys;
mod sequence;
mod stroke;
mod stroke_filter;
mod stroke_reader;
mod torn_report;
mod voice_keys;
mod win32;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::config::{Knob, Load};

pub use choice_keys::ChoiceMove;
pub use key_names::name_of;
pub use key_table::{BINDINGS, Binding};
pub use line_commands::{LINES, LineCommand, line};
pub use line_editor::{EditEffect, TypedLine};
pub use map::{Chord, KeptKey, KeyError, Keymap, names as command_names};
pub use scan_keys::{Scan, ScanKey};
pub use stroke::{Stroke, TerminalInput};
pub use stroke_filter::{Filter, KeyPress, KeyVerdict};
pub use stroke_reader::{KeyReader, LineFeed};
pub use voice_keys::VoiceChange;

/// The current meaning of the keys. Questions are identified by number, sources by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// The usual mode.
    #[default]
    Watching,
    /// Accepting this question waits for its second step; any other key leaves the question open.
    Confirming(u64),
    /// An answer to this question is being typed.
    Editing(u64),
    /// A choice of this question is being made; the number typed so far, 0 for none.
    Choosing(u64, usize),
    /// The person asked to quit while questions are open.
    Quitting,
    /// The person asked to leave this source while questions are open.
    Leaving(usize),
    /// The text to search for in the history is being typed.
    Searching,
    /// A prompt for the agent of this source is being typed.
    Prompting(usize),
    /// The help is shown.
    Help,
}

/// A command of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Accept, or yes.
    Accept(Option<u64>),
    /// The second step of accepting.
    Confirm(Option<u64>),
    /// Reject, or no.
    Reject(Option<u64>, Option<String>),
    /// Reject with a reason that is yet to be typed.
    RejectBecause(Option<u64>),
    /// Answer in words or with a number; without a text, open the editor.
    Answer(Option<u64>, Option<String>),
    /// Take the choice with this number, from 1; without one, wait for digits.
    Choose(Option<u64>, Option<usize>),
    /// Add a digit to the number of a choice.
    Digit(usize),
    /// Move among the choices, or pick one.
    Choice(ChoiceMove),
    /// Read out all that is known about a question.
    Details(Option<u64>),
    /// Go to the next open question.
    NextQuestion,
    /// Prompt an agent; without a text, open the editor.
    Prompt(Option<String>),
    /// Stop what an agent is doing; it must be asked for twice.
    StopTurn,
    /// The same, for the agent of the conversation with this number.
    StopConversation(usize),
    /// Read the conversations with their numbers and states.
    Conversations,
    /// Go to the conversation with this number; without one, leave the current one.
    GoTo(Option<usize>),
    /// Go to the next conversation.
    NextConversation,
    /// Read how many agents wait, work, are silent or away.
    Fleet,
    /// Change a setting of an agent: this one, if the person names one.
    Set(Option<String>),
    /// Read an agent's commands, or those that begin with a text.
    Commands(Option<String>),
    /// Leave the source of a question or of the last speaker.
    Leave,
    /// Read what a started program wrote to its standard error.
    Remarks,
    /// Read the output of the last call.
    Output,
    /// Read the plan.
    Plan,
    /// Fall silent.
    Stop,
    /// Continue what was stopped, at its sentence.
    GoOn,
    /// Go back to the sentence before.
    BackSentence,
    /// Go back to the beginning of the paragraph, or to the one before.
    BackParagraph,
    /// Skip the rest of the code that is being read.
    SkipCode,
    /// Fall silent, and leave a search or the history.
    Escape,
    /// Report what is going on.
    Status,
    /// Copy the current item: the part being read, the command being asked about, an address, an answer.
    Copy,
    /// Copy all that an agent wrote in its last turn.
    CopyAnswer,
    /// Copy the last block of code in it.
    CopyCode,
    /// Repeat the last announcement.
    Repeat,
    /// Go back in the history.
    Previous,
    /// Go forward in the history.
    Next,
    /// Go to the end of the history.
    Latest,
    /// Go back in the history by a screenful.
    PageBack,
    /// Go forward in the history by a screenful.
    PageForward,
    /// Go to the beginning of the history.
    First,
    /// Show the next part of the long announcement in view.
    ReadOn,
    /// Show the previous part.
    ReadBack,
    /// Jump forward (`true`) or back in all that an agent wrote.
    Leap(bool),
    /// Repeat the last announcements, for faces without paging.
    History,
    /// Read out all that an agent wrote in its last turn.
    WholeTurn,
    /// Search the history; without a text, open the editor.
    Search(Option<String>),
    /// Spell the chosen word, or the whole current text; a second time, with the spelling alphabet. A text chooses the
    /// word: its number, or a part of it.
    Spell(Option<String>),
    /// Choose the previous word of the current text, and say it.
    PreviousWord,
    /// Choose the next word, and say it.
    NextWord,
    /// Summarize in three sentences what happened while the person was away.
    Away,
    /// Mute or unmute the agent in view, or the last speaker.
    Mute(Option<String>),
    /// Announce only urgent news and responses to keys, or everything again.
    Quiet,
    /// Let every announcement finish, or allow interruptions again.
    DoNotInterrupt,
    /// Hold back new lines, or release them.
    Hold,
    /// Change to the next verbosity.
    Verbosity,
    /// Change how much is announced, to this level or to the next.
    Load(Option<Load>),
    /// Change the language, to the one with this tag or to the next of the person's languages.
    Language(Option<String>),
    /// Go to the voice's next setting, and announce it.
    NextKnob,
    /// Change one of the voice's settings: this one, or the one selected for the keys.
    Tune(Option<Knob>, VoiceChange),
    /// Save the voice's settings for later runs.
    Remember,
    /// Show or hide the help; in lines, say what can be typed now.
    Help,
    /// Read all of the help.
    AllHelp,
    /// Leave the program.
    Quit,
    /// An interrupt: quit, and the second time regardless of open questions.
    Interrupt,
    /// Edit the answer in the editor.
    Edit(Edit),
    /// Go back to the usual mode.
    Back,
    /// A line that is not a command, with its beginning, cleaned.
    NotUnderstood(String),
}

impl Command {
    /// Returns whether the command answers a question, or begins to.
    pub fn answers(&self) -> bool {
        matches!(
            self,
            Self::Accept(_)
                | Self::Confirm(_)
                | Self::Reject(..)
                | Self::RejectBecause(_)
                | Self::Answer(..)
                | Self::Choose(..)
        )
    }

    /// Returns whether the command moves through the help, or says something beside it.
    pub fn stays_in_help(&self) -> bool {
        matches!(
            self,
            Self::Previous
                | Self::Next
                | Self::Latest
                | Self::PageBack
                | Self::PageForward
                | Self::First
                | Self::Status
                | Self::Repeat
                | Self::Stop
                | Self::StopTurn
                | Self::Escape
                | Self::Interrupt
                | Self::Help
                | Self::AllHelp
        )
    }

    /// Returns whether the command leads to another place, and so ends reading part by part.
    pub fn leaves_reading(&self) -> bool {
        matches!(
            self,
            Self::Previous
                | Self::Next
                | Self::Latest
                | Self::First
                | Self::Search(_)
                | Self::Escape
        )
    }
}

/// A change to the answer in the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Insert a character.
    Insert(char),
    /// Delete the character before the cursor.
    Backspace,
    /// Delete the character under the cursor.
    Delete,
    /// Delete the word before the cursor.
    DeleteWord,
    /// Go one character back.
    Left,
    /// Go one character forward.
    Right,
    /// Go one word back.
    WordLeft,
    /// Go one word forward.
    WordRight,
    /// Go to the start.
    Home,
    /// Go to the end.
    End,
    /// Say the whole line.
    ReadLine,
    /// Begin a new line of a prompt.
    NewLine,
    /// Complete the command at the beginning of a prompt.
    Complete,
    /// Continue the prompt in the person's own editor.
    Editor,
    /// Bring back the previous prompt.
    Older,
    /// Bring back the next prompt, or the text that was being typed.
    Newer,
    /// Send the answer.
    Submit,
}

/// Reads a key. `None` means that the key is not bound in this mode.
///
/// Releases and repeats are not presses: a key that is held down never answers.
pub fn command(key: KeyEvent, mode: Mode, map: &Keymap) -> Option<Command> {
    if key.kind != KeyEventKind::Press {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if control && key.code == KeyCode::Char('c') {
        return Some(Command::Interrupt);
    }
    // Stopping an agent does not require leaving the current mode first.
    if control && map.find(key) == Some(Command::StopTurn) {
        return Some(Command::StopTurn);
    }
    match mode {
        Mode::Prompting(_) => prompt(key, control).or_else(|| edit(key, control)),
        Mode::Editing(_) | Mode::Searching => edit(key, control),
        Mode::Choosing(..) => choice_keys::command(key, control).or_else(|| map.find(key)),
        // Any other key closes the help.
        Mode::Help => map.find(key).or(Some(Command::Back)),
        Mode::Watching | Mode::Confirming(_) | Mode::Quitting | Mode::Leaving(_) => map.find(key),
    }
}

/// Reads the keys that are specific to a prompt, which may have several lines.
fn prompt(key: KeyEvent, control: bool) -> Option<Command> {
    let edit = match key.code {
        KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) => Edit::NewLine,
        KeyCode::Char('j') if control => Edit::NewLine,
        KeyCode::Char('g') if control => Edit::Editor,
        KeyCode::Up => Edit::Older,
        KeyCode::Down => Edit::Newer,
        KeyCode::Tab => Edit::Complete,
        _ => return None,
    };
    Some(Command::Edit(edit))
}

fn edit(key: KeyEvent, control: bool) -> Option<Command> {
    let word = control || key.modifiers.contains(KeyModifiers::ALT);
    let edit = match key.code {
        KeyCode::Esc => return Some(Command::Back),
        KeyCode::Enter => Edit::Submit,
        KeyCode::Char('w') if control => Edit::DeleteWord,
        KeyCode::Char('a') if control => Edit::Home,
        KeyCode::Char('e') if control => Edit::End,
        KeyCode::Char('h') if control => Edit::Backspace,
        KeyCode::Char('l') if control => Edit::ReadLine,
        KeyCode::Char(c) if !word => Edit::Insert(c),
        KeyCode::Backspace if word => Edit::DeleteWord,
        KeyCode::Backspace => Edit::Backspace,
        KeyCode::Delete => Edit::Delete,
        KeyCode::Left if word => Edit::WordLeft,
        KeyCode::Right if word => Edit::WordRight,
        KeyCode::Left => Edit::Left,
        KeyCode::Right => Edit::Right,
        KeyCode::Home => Edit::Home,
        KeyCode::End => Edit::End,
        KeyCode::Up | KeyCode::Down => Edit::ReadLine,
        _ => return None,
    };
    Some(Command::Edit(edit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(key: KeyEvent, mode: Mode) -> Option<Command> {
        command(key, mode, &Keymap::default())
    }

    fn press(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    #[test]
    fn enter_and_space_never_answer_and_escape_only_stops_or_leaves() {
        for mode in [Mode::Watching, Mode::Confirming(1), Mode::Quitting] {
            assert_eq!(usual(press(KeyCode::Enter), mode), None);
            assert_eq!(usual(press(KeyCode::Char(' ')), mode), None);
            assert_eq!(usual(press(KeyCode::Esc), mode), Some(Command::Escape));
        }
    }

    #[test]
    fn repeats_releases_and_chords_are_no_presses() {
        for kind in [KeyEventKind::Repeat, KeyEventKind::Release] {
            let key = KeyEvent {
                kind,
                ..press(KeyCode::Char('y'))
            };
            assert_eq!(usual(key, Mode::Watching), None);
        }
        for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
            assert_eq!(
                usual(KeyEvent::new(KeyCode::Char('y'), modifiers), Mode::Watching),
                None
            );
        }
        assert_eq!(
            usual(
                KeyEvent::new(KeyCode::Char('Y'), KeyModifiers::SHIFT),
                Mode::Watching
            ),
            Some(Command::Accept(None))
        );
    }

    #[test]
    fn in_the_editor_letters_are_letters() {
        let mode = Mode::Editing(1);
        assert_eq!(
            usual(press(KeyCode::Char('y')), mode),
            Some(Command::Edit(Edit::Insert('y')))
        );
        assert_eq!(usual(press(KeyCode::Esc), mode), Some(Command::Back));
    }

    #[test]
    fn a_prompt_has_lines_and_earlier_ones_and_an_answer_has_neither() {
        let alt = KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT);
        let feed = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
        for (key, prompt, answer) in [
            (alt, Edit::NewLine, Some(Edit::Submit)),
            (feed, Edit::NewLine, None),
            (press(KeyCode::Up), Edit::Older, Some(Edit::ReadLine)),
            (press(KeyCode::Down), Edit::Newer, Some(Edit::ReadLine)),
            (press(KeyCode::Enter), Edit::Submit, Some(Edit::Submit)),
        ] {
            assert_eq!(usual(key, Mode::Prompting(0)), Some(Command::Edit(prompt)));
            assert_eq!(usual(key, Mode::Editing(1)), answer.map(Command::Edit));
        }
    }

    #[test]
    fn what_an_agent_does_can_be_stopped_in_every_mode() {
        let key = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::CONTROL);
        for mode in [
            Mode::Watching,
            Mode::Confirming(1),
            Mode::Editing(1),
            Mode::Choosing(1, 0),
            Mode::Prompting(0),
            Mode::Help,
        ] {
            assert_eq!(usual(key, mode), Some(Command::StopTurn));
        }
    }

    #[test]
    fn no_key_is_bound_twice() {
        for (at, binding) in BINDINGS.iter().enumerate() {
            assert!(
                BINDINGS[at + 1..]
                    .iter()
                    .all(|other| other.key != binding.key),
                "{}",
                binding.key
            );
        }
    }
}
