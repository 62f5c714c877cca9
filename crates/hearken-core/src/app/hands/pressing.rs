//! What was read from the keyboard: filtered, told from scanning, and turned into commands.
//!
//! # Mental model
//! Whatever is read is a hand at work. It starts the wait before an answer again, and what is no key of
//! this moment ends a second step that was begun: somebody is busy with something else. What comes of a
//! key that is only held, let go, touched or meant for scanning ends none, or those who need it could
//! never confirm. Everything is judged by the time at which it was read.

use std::time::Duration;

use crossterm::event::{KeyEvent, KeyEventKind};

use crate::keys::{self, Command, Stroke, Struck};
use crate::protocol::Now;

use crate::app::App;

impl App {
    /// Takes what was read from the keyboard.
    pub(in crate::app) fn stroke(&mut self, stroke: Stroke, now: Now) {
        let read = stroke.read.min(now.monotonic);
        // A second step that was over when this was read is no longer there for it.
        self.end_second_step(read, now);
        match stroke.what {
            Struck::Key(key) => self.key(key, read, now),
            Struck::Paste(text) => {
                self.hand(read, now);
                if self.doing.is_typing() {
                    self.paste_into_line(&text, now);
                }
            }
            Struck::Stalled => {
                self.hand(read, now);
                self.respond("reply.paste_stalled", &[], now);
            }
            Struck::Focus(on) => {
                self.questions.focus(on);
                if on {
                    self.hand(read, now);
                }
            }
            // One that nobody asked for is whatever a hand may have sent.
            Struck::Place(..) | Struck::Noise => self.hand(read, now),
        }
    }

    fn key(&mut self, key: KeyEvent, read: Duration, now: Now) {
        let press = self.hands.take(key, self.doing.is_typing(), read);
        self.review.note_hand(now.monotonic);
        let Some(press) = press else { return };
        // With slow keys it is a repeat that counts.
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
        let command = keys::command(key, self.doing.mode(), self.hands.keymap());
        let waits_for_a_step = self.doing.second_step().is_some();
        if press.again && waits_for_a_step && command != Some(Command::Interrupt) {
            return;
        }
        self.answers.clear();
        self.pressed(command, press, now);
    }

    /// A hand was at work without a key of this moment.
    fn hand(&mut self, read: Duration, now: Now) {
        self.hands.note(read);
        if self.doing.second_step().is_some() {
            self.stay_open(now);
        }
    }
}
