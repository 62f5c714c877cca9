//! Keyboard input: filtered, separated from scanning, and turned into commands.
//!
//! # Mental model
//! All input shows that hands are active. It restarts the wait before an answer, and input that is not a valid
//! key at this moment ends an open second step: the person is busy with something else. A key that is only
//! held, released, touched or meant for scanning ends no step; otherwise people who need those settings could
//! never confirm. All input is judged by the time at which it was read.

use std::time::Duration;

use crossterm::event::{KeyEvent, KeyEventKind};

use crate::keys::{self, Command, KeyPress, Stroke, TerminalInput};

use super::KeyInput;
use super::scanning::ScanScene;
use crate::app::typing::paste_into_line;
use crate::app::{AnswerOrigin, AppCx, AppFact, AppFacts};

impl KeyInput {
    /// Handles keyboard input.
    pub(in crate::app) fn stroke(
        &mut self,
        stroke: Stroke,
        scene: ScanScene,
        cx: &mut AppCx,
    ) -> AppFacts {
        let read = stroke.read.min(cx.now.monotonic);
        // For a key, a second step is over if it had lapsed when the key was read.
        cx.end_second_step(read);
        match stroke.input {
            TerminalInput::Key(key) => return self.key(key, read, scene, cx),
            TerminalInput::Paste(text) => {
                self.hand(read, cx);
                if cx.doing.is_typing() {
                    paste_into_line(&text, cx);
                }
            }
            TerminalInput::Stalled => {
                self.hand(read, cx);
                cx.respond("reply.paste_stalled", &[]);
            }
            TerminalInput::Focus(on) => {
                if on {
                    self.hand(read, cx);
                }
            }
            // An unrequested position report counts as unknown input.
            TerminalInput::Place(..)
            | TerminalInput::Click(..)
            | TerminalInput::Wheel(_)
            | TerminalInput::Noise => {
                self.hand(read, cx);
            }
        }
        Vec::new()
    }

    fn key(&mut self, key: KeyEvent, read: Duration, scene: ScanScene, cx: &mut AppCx) -> AppFacts {
        let press = self.take(key, cx.doing.is_typing(), read);
        let Some(press) = press else {
            return Vec::new();
        };
        // With slow keys, the repeat counts.
        let key = match key.kind {
            KeyEventKind::Repeat if !press.again => KeyEvent {
                kind: KeyEventKind::Press,
                ..key
            },
            KeyEventKind::Press | KeyEventKind::Repeat | KeyEventKind::Release => key,
        };
        if let Some(scanned) = self.scanning().key(key) {
            return self.scan(scanned, press, scene, cx);
        }
        let command = keys::command(key, cx.doing.mode(), self.keymap());
        let press = KeyPress {
            follows_letter: self.continues_word(press, key, command.as_ref()),
            ..press
        };
        let waits_for_a_step = cx.doing.second_step().is_some();
        if press.again && waits_for_a_step && command != Some(Command::Interrupt) {
            return Vec::new();
        }
        cx.answers.clear();
        vec![AppFact::Command(command, AnswerOrigin::Key(press))]
    }

    /// Handles hand activity without a valid key.
    pub(in crate::app) fn hand(&mut self, read: Duration, cx: &mut AppCx) {
        self.note(read);
        if cx.doing.second_step().is_some() {
            cx.stay_open();
        }
    }
}
