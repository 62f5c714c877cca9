//! Keys, lines and signals, as facts for the app.

use std::io::BufRead;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tokio::sync::mpsc;

use crate::app::{Input, LineSource};
use crate::keys::{LineFeed, Scan, Stroke, TerminalInput};
use crate::platform::keyboard::Keyboard;
use crate::platform::system_signals::{
    self, ContinueSignal, ResizeSignal, Termination, TerminationSignals,
};
use crate::platform::terminal;

use super::face_choice::Face;
use super::line_terminal::KeyLines;

/// The most lines that wait for the loop; beyond that, their writer waits.
const WAITING: usize = 64;

/// The longest line read, in bytes; anything longer is not an answer typed by a person.
const LONGEST_LINE: usize = 64 * 1024;

/// All input from the person and the system.
pub(super) struct Inputs {
    keys: Option<Keyboard>,
    lines: Option<mpsc::Receiver<Input>>,
    desk: Option<KeyLines>,
    leaving: TerminationSignals,
    resumed: ContinueSignal,
    resized: ResizeSignal,
    lost: Option<mpsc::Receiver<()>>,
    upheaval: Option<TerminalChange>,
    /// Whether another program has the terminal.
    lent: bool,
}

/// A change to the terminal other than a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalChange {
    /// Its size has changed.
    Resized,
    /// The person wants the terminal for something else for a while.
    Suspend,
    /// The program was stopped, and continues.
    Resumed,
}

/// How long a stop may take to arrive; if nothing could resume the program, the system does not stop
/// it at all.
const STOP: Duration = Duration::from_millis(200);

impl Inputs {
    pub(super) fn open(
        lines: Option<LineSource>,
        face: Face,
        started: Instant,
        arm: Duration,
        scan: Option<Scan>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            keys: (face == Face::Full).then(|| Keyboard::open(LineFeed::ControlJ, started)),
            lines: match lines {
                Some(LineSource::Pipe | LineSource::Terminal) => Some(read_lines(started)),
                Some(LineSource::Editor) | None => None,
            },
            desk: match lines {
                Some(LineSource::Editor) => Some(KeyLines::open(started, arm, scan)?),
                Some(LineSource::Pipe | LineSource::Terminal) | None => None,
            },
            leaving: TerminationSignals::listen()?,
            resumed: ContinueSignal::listen()?,
            resized: ResizeSignal::listen()?,
            lost: match face == Face::Full || lines == Some(LineSource::Editor) {
                true => terminal::watch_for_loss(),
                false => None,
            },
            upheaval: None,
            lent: false,
        })
    }

    /// Waits for the next fact.
    pub(super) async fn next(&mut self) -> Input {
        loop {
            tokio::select! {
                biased;
                leave = self.leaving.received() => match leave {
                    Termination::End => return Input::Terminate,
                    // The interrupt is meant for the program that has the terminal.
                    Termination::Interrupt if self.lent => continue,
                    Termination::Interrupt => {
                        self.abandon_line();
                        return Input::Interrupt;
                    }
                },
                input = next_typed(&mut self.desk) => return input,
                () = self.resumed.received() => {
                    // The other program continues to use the terminal.
                    if self.lent {
                        continue;
                    }
                    self.upheaval = Some(TerminalChange::Resumed);
                    return Input::Deadline;
                }
                () = loss(&mut self.lost) => {
                    // Reported once: the app ends as soon as pending work has arrived.
                    self.lost = None;
                    self.keys = None;
                    return Input::Terminate;
                }
                () = self.resized.received() => {
                    self.upheaval = Some(TerminalChange::Resized);
                    // Only the screen changed; the deadline input does no harm.
                    return Input::Deadline;
                }
                stroke = next_stroke(&mut self.keys) => match stroke {
                    Some(stroke) if system_signals::STOPS && is_suspend(&stroke) => {
                        self.upheaval = Some(TerminalChange::Suspend);
                        return Input::Deadline;
                    }
                    Some(stroke) => return Input::Stroke(stroke),
                    // The terminal is gone.
                    None => {
                        self.keys = None;
                        return Input::Terminate;
                    }
                },
                line = next_line(&mut self.lines) => match line {
                    Some(line) => return line,
                    // The end of standard input changes nothing.
                    None => self.lines = None,
                },
            }
        }
    }

    /// Returns the echo of what was typed.
    pub(super) fn take_echo(&mut self) -> Vec<String> {
        self.desk
            .as_mut()
            .map(KeyLines::take_echo)
            .unwrap_or_default()
    }

    /// Drops a line that is being typed.
    pub(super) fn abandon_line(&mut self) {
        if let Some(desk) = &mut self.desk {
            desk.abandon();
        }
    }

    /// Moves off a line that is being typed, because output is about to be written.
    pub(super) fn leave_line(&mut self) {
        if let Some(desk) = &mut self.desk {
            desk.leave_line();
        }
    }

    /// Redraws the line that is being typed, below the output.
    pub(super) fn take_line_up(&mut self) {
        if let Some(desk) = &mut self.desk {
            desk.take_line_up();
        }
    }

    /// Discards what was typed ahead.
    pub(super) fn flush(&mut self) {
        match &mut self.desk {
            Some(desk) => desk.flush(),
            None => terminal::flush_input(),
        }
    }

    /// Leaves the terminal to another program; returns whether it was left.
    pub(super) fn lend(&mut self) -> bool {
        self.lent = self.keys.as_mut().is_some_and(Keyboard::rest);
        // These keys were meant for the other program, and can't be passed on to it.
        if let Some(keys) = self.keys.as_mut().filter(|_| self.lent) {
            while keys.take().is_some() {}
        }
        self.lent
    }

    /// Takes over the terminal again. What was typed meanwhile was meant for the other program.
    pub(super) fn take_back(&mut self) {
        self.flush();
        if let Some(keys) = &mut self.keys {
            keys.go_on();
        }
        self.lent = false;
    }

    /// Returns what happened to the terminal since the last call.
    pub(super) fn take_upheaval(&mut self) -> Option<TerminalChange> {
        self.upheaval.take()
    }

    /// Stops the program as the terminal's own suspend key would, together with everything started
    /// with it, until it is resumed.
    pub(super) async fn suspend(&mut self) {
        self.resumed.stop(STOP).await;
    }
}

fn is_suspend(stroke: &Stroke) -> bool {
    let suspend = KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL);
    stroke.input == TerminalInput::Key(suspend)
}

/// Waits until the terminal is gone.
async fn loss(lost: &mut Option<mpsc::Receiver<()>>) {
    match lost {
        Some(lost) => {
            lost.recv().await;
        }
        None => std::future::pending().await,
    }
}

async fn next_stroke(keys: &mut Option<Keyboard>) -> Option<Stroke> {
    match keys {
        Some(keyboard) => keyboard.next().await,
        None => std::future::pending().await,
    }
}

async fn next_typed(desk: &mut Option<KeyLines>) -> Input {
    match desk {
        Some(desk) => desk.next().await,
        None => std::future::pending().await,
    }
}

async fn next_line(lines: &mut Option<mpsc::Receiver<Input>>) -> Option<Input> {
    match lines {
        Some(receiver) => receiver.recv().await,
        None => std::future::pending().await,
    }
}

/// Reads lines on a separate thread: a blocking read must not prevent the program from leaving.
fn read_lines(started: Instant) -> mpsc::Receiver<Input> {
    let (sender, receiver) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            match std::io::Read::take(&mut input, LONGEST_LINE as u64).read_until(b'\n', &mut bytes)
            {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let read = started.elapsed();
                    let whole = bytes.last() == Some(&b'\n');
                    let mut text = String::from_utf8_lossy(&bytes)
                        .trim_end_matches(['\n', '\r'])
                        .to_owned();
                    if !whole {
                        // The beginning of a longer line, or an unfinished line, is not a command: "y
                        // 1" may have been meant as "y 12".
                        text.push('…');
                        if bytes.len() == LONGEST_LINE && !skip_line(&mut input) {
                            return;
                        }
                    }
                    if sender.blocking_send(Input::Line { text, read }).is_err() {
                        return;
                    }
                }
            }
        }
    });
    receiver
}

/// Skips the rest of a line; returns false at the end of the input.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let (used, done) = match input.fill_buf() {
            Ok([]) | Err(_) => return false,
            Ok(buffer) => match buffer.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), false),
            },
        };
        input.consume(used);
        if done {
            return true;
        }
    }
}
