//! Keyboard input: filtered, separated from scanning, and turned into commands.
//!
//! # Mental model
//! All input is a sign of active hands. It restarts the wait before an answer, and input that is not a valid key at
//! this moment ends a second step that was begun: the person is busy with something else. A key that is only held,
//! released, touched or meant for scanning ends none; otherwise people who need those settings could never confirm.
//! Everything is judged by the time at which it was read.

use std::time::Duration;

use crossterm::event::{KeyEvent, KeyEventKind};

use crate::keys::{self, Command, Stroke, Struck};
use crate::protocol::Now;

use crate::app::App;

impl App {
    /// Handles keyboard input.
    pub(in crate::app) fn stroke(&mut self, stroke: Stroke, now: Now) {
        let read = stroke.read.min(now.monotonic);
        // A second step that had lapsed when this was read is not open for it.
        self.cx.end_second_step(read, now);
        match stroke.what {
            Struck::Key(key) => self.key(key, read, now),
            Struck::Paste(text) => {
                self.hand(read, now);
                if self.cx.doing.is_typing() {
                    self.paste_into_line(&text, now);
                }
            }
            Struck::Stalled => {
                self.hand(read, now);
                self.cx.respond("reply.paste_stalled", &[], now);
            }
            Struck::Focus(on) => {
                self.questions.focus(on);
                if on {
                    self.hand(read, now);
                }
            }
            // A position report that was not requested counts as unknown input.
            Struck::Place(..) | Struck::Noise => self.hand(read, now),
        }
    }

    fn key(&mut self, key: KeyEvent, read: Duration, now: Now) {
        let press = self.hands.take(key, self.cx.doing.is_typing(), read);
        self.review.note_hand(now.monotonic);
        let Some(press) = press else { return };
        // With slow keys, the repeat is what counts.
        let key = match key.kind {
            KeyEventKind::Repeat if !press.again => KeyEvent {
                kind: KeyEventKind::Press,
                ..key
            },
            KeyEventKind::Press | KeyEventKind::Repeat | KeyEventKind::Release => key,
        };
        if let Some(scanned) = self.hands.scanning().key(key) {
            self.scan(scanned, press, now);
            return;
        }
        let command = keys::command(key, self.cx.doing.mode(), self.hands.keymap());
        let waits_for_a_step = self.cx.doing.second_step().is_some();
        if press.again && waits_for_a_step && command != Some(Command::Interrupt) {
            return;
        }
        self.cx.answers.clear();
        self.pressed(command, press, now);
    }

    /// Handles hand activity without a valid key.
    fn hand(&mut self, read: Duration, now: Now) {
        self.hands.note(read);
        if self.cx.doing.second_step().is_some() {
            self.cx.stay_open(now);
        }
    }
}
