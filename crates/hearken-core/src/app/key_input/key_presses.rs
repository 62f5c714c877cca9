//! Keyboard input: filtered, separated from scanning, and turned into commands.
//!
//! # Mental model
//! All input shows that hands are active. It restarts the wait before an answer, and input that is not a valid
//! key at this moment ends an open second step: the person is busy with something else. A key that is only
//! held, released, touched or meant for scanning ends no step; otherwise people who need those settings could
//! never confirm. All input is judged by the time at which it was read.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use crate::config::MouseChoice;
use crate::keys::{self, Command, KeyPress, Stroke, TerminalInput};

use super::KeyInput;
use super::scanning::ScanScene;
use super::typed_words::{KeyUse, Letter};
use crate::app::typing::paste_into_line;
use crate::app::{AnswerOrigin, AppCx, AppFact, AppFacts};

/// The bytes of a mouse report follow each other faster than keys.
const IN_REPORT: Duration = Duration::from_millis(50);

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
        if self.ends_report(key, read, cx) {
            self.hand(read, cx);
            return Vec::new();
        }
        let command = keys::command(key, cx.doing.mode(), self.keymap());
        let letter = self.judge(key, command.as_ref(), read, cx);
        if let Letter::OfWord(is_new) = letter {
            self.hand(read, cx);
            if is_new {
                self.tell_word(scene, cx);
            }
            return Vec::new();
        }
        let press = KeyPress {
            in_word: letter == Letter::Perhaps,
            // The question comes into sight by this key.
            before: match cx.answers.hides_question() {
                true => Some(read),
                false => press.before,
            },
            ..press
        };
        let waits_for_a_step = cx.doing.second_step().is_some();
        if press.again && waits_for_a_step && command != Some(Command::Interrupt) {
            return Vec::new();
        }
        cx.answers.clear();
        vec![AppFact::Command(command, AnswerOrigin::Key(press))]
    }

    /// Returns whether a key is the end of a mouse report of which only the last number came with it.
    fn ends_report(&mut self, key: KeyEvent, read: Duration, cx: &AppCx) -> bool {
        let last = std::mem::take(&mut self.digit);
        match key.code {
            KeyCode::Char('0'..='9') => self.digit = Some(read),
            KeyCode::Char('m' | 'M') => {
                let reports = cx.config.screen.mouse == MouseChoice::Click;
                let is_text = cx.doing.is_typing();
                return reports && !is_text && last.is_some_and(|at| read < at + IN_REPORT);
            }
            _ => {}
        }
        false
    }

    /// Judges whether a key is a letter of a word that is typed without a prompt.
    fn judge(
        &mut self,
        key: KeyEvent,
        command: Option<&Command>,
        read: Duration,
        cx: &AppCx,
    ) -> Letter {
        // Nobody writes a word by holding each key.
        let is_text = cx.doing.is_typing() || cx.doing.choices().is_some();
        if is_text || cx.config.questions.slow_ms > 0 {
            self.words.forget();
            return Letter::Meant;
        }
        if key.kind != KeyEventKind::Press {
            return Letter::Meant;
        }
        let purpose = purpose_of(command, cx);
        let changed = self.words.changed();
        let letter = self.words.take(key, purpose, read);
        if !self.words.is_fluent() {
            self.changes.clear();
        } else if changed {
            let replies = cx.answers.announcements().iter();
            let words = replies.flat_map(|reply| reply.segments.iter().cloned());
            self.changes.extend(words);
        }
        letter
    }

    /// Announces that a word was typed where none is read, and what its first letters changed.
    fn tell_word(&mut self, scene: ScanScene, cx: &mut AppCx) {
        cx.answers.clear();
        let key = match scene.takes_prompts() {
            true => "reply.typed_words",
            false => "reply.typed_words.nobody",
        };
        let mut words = cx.words(key, &[]);
        words.append(&mut self.changes);
        cx.answer_aside(words);
    }

    /// Handles hand activity without a valid key.
    pub(in crate::app) fn hand(&mut self, read: Duration, cx: &mut AppCx) {
        self.note(read);
        if cx.doing.second_step().is_some() {
            cx.stay_open();
        }
    }
}

/// Returns what a key is for at this moment.
fn purpose_of(command: Option<&Command>, cx: &AppCx) -> KeyUse {
    match command {
        Some(
            Command::Accept(_) | Command::Reject(..) | Command::Details(_) | Command::NextQuestion,
        ) => KeyUse::Question,
        Some(Command::Confirm(_))
            if cx.doing.second_step().is_some() || cx.ended_step().is_some() =>
        {
            KeyUse::Question
        }
        Some(Command::Stop) if !cx.queue.is_idle() => KeyUse::Question,
        // Where these fit, they open something, and no answering key follows.
        Some(
            Command::RejectBecause(_)
            | Command::Answer(..)
            | Command::Choose(..)
            | Command::Stop
            | Command::Status
            | Command::Fleet
            | Command::Repeat
            | Command::Previous
            | Command::Next
            | Command::Spell(_)
            | Command::WholeTurn
            | Command::Away
            | Command::Remarks
            | Command::Copy
            | Command::Output
            | Command::Plan
            | Command::Help
            | Command::Leave
            | Command::Quit,
        ) => KeyUse::Look,
        Some(Command::Confirm(_)) | None => KeyUse::Nothing,
        Some(_) => KeyUse::Change,
    }
}
