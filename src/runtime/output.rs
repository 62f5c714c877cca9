//! Where the faces' output goes, and a terminal that is restored on every way out.

use std::io::{self, IsTerminal, Stdout, Write};

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::announce::Announcement;
use crate::app::{App, Drawn};
use crate::config::ScreenConfig;
use crate::linear;
use crate::pane::{self, Look};
use crate::protocol::Now;

use super::plan::Face;
use super::writer::Writer;

/// The exit code after a panic, as Rust gives it by itself.
const PANICKED: i32 = 101;

/// Notifications are cut to this many characters; terminals and desktops cut them anyway.
const LONGEST_NOTE: usize = 200;

/// Writes one face's output.
pub(super) struct Output {
    face: Face,
    writer: Writer,
    zone: TimeZone,
    look: Look,
    width: u16,
    /// Whether control sequences for bell, title and notifications may be written.
    signals: bool,
    titled: bool,
    terminal: Option<Terminal<CrosstermBackend<Stdout>>>,
}

impl Output {
    pub(super) fn open(face: Face, screen: &ScreenConfig) -> anyhow::Result<Self> {
        let out = io::stdout();
        let dumb = std::env::var("TERM").map_or(true, |term| term.is_empty() || term == "dumb");
        let signals = face != Face::Json && out.is_terminal() && !dumb;
        let terminal = if face == Face::Full {
            enable_raw_mode()?;
            let mut stdout = io::stdout();
            execute!(stdout, EnterAlternateScreen, EnableBracketedPaste)?;
            Some(Terminal::new(CrosstermBackend::new(stdout))?)
        } else {
            None
        };
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let look = Look { colours };
        Ok(Self {
            face,
            writer: Writer::new(out),
            look,
            zone: TimeZone::system(),
            width: screen.width,
            signals,
            titled: false,
            terminal,
        })
    }

    /// Tells whether this face is drawn.
    pub(super) fn draws(&self) -> bool {
        self.terminal.is_some()
    }

    /// Draws the app, and gives which part of the shown question is in sight now.
    pub(super) fn draw(&mut self, app: &App, now: Now) -> io::Result<Option<Drawn>> {
        let mut drawn = None;
        if let Some(terminal) = &mut self.terminal {
            terminal.draw(|frame| {
                drawn = pane::draw(frame, app, now, &self.zone, self.look);
            })?;
        }
        Ok(drawn)
    }

    pub(super) fn show(&mut self, app: &App, told: &Announcement) {
        match self.face {
            // The pane reads the app.
            Face::Full => {}
            Face::Linear => {
                let lines = linear::lines(app, told, &self.zone, self.width);
                self.writer.write(lines);
            }
            Face::Json => {
                let mut line = linear::json(app, told);
                line.push('\n');
                self.writer.write(line);
            }
        }
    }

    /// Gives the way to what is written.
    pub(super) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(super) fn bell(&mut self) {
        self.signal("\x07");
    }

    /// Sends a notification through the terminal (OSC 9, which most terminals know). The text was
    /// cleaned before; what could end the sequence is taken out once more.
    pub(super) fn notify(&mut self, text: &str) {
        let text: String = text
            .chars()
            .filter(|c| !c.is_control() && *c != '\u{9c}')
            .take(LONGEST_NOTE)
            .collect();
        self.signal(&format!("\x1b]9;{text}\x1b\\"));
    }

    /// Sets the title, or restores the one that was there.
    pub(super) fn title(&mut self, title: Option<&str>) {
        match title {
            Some(title) => {
                if !self.titled {
                    self.titled = true;
                    self.signal("\x1b[22;2t");
                }
                self.signal(&format!("\x1b]2;{title}\x1b\\"));
            }
            None if self.titled => {
                self.titled = false;
                self.signal("\x1b[23;2t");
            }
            None => {}
        }
    }

    fn signal(&mut self, sequence: &str) {
        if !self.signals {
            return;
        }
        if self.draws() {
            // In one thread with the drawing, so that no sequence lands inside another one. A terminal
            // that is gone is noticed by the next key.
            let mut out = io::stdout();
            let _ = out.write_all(sequence.as_bytes());
            let _ = out.flush();
        } else {
            self.writer.write(sequence.to_owned());
        }
    }

    /// Gives the terminal back as it was.
    pub(super) fn close(&mut self) {
        self.title(None);
        self.writer.close();
        if self.terminal.take().is_some() {
            restore();
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.close();
    }
}

/// Undoes everything that the full face does to a terminal; each step is tried whatever the others did.
fn restore() {
    let _ = execute!(io::stdout(), DisableBracketedPaste);
    let _ = execute!(io::stdout(), LeaveAlternateScreen);
    let _ = execute!(io::stdout(), Show);
    let _ = disable_raw_mode();
}

/// Makes any panic, on whatever thread, end the program visibly: the terminal is given back first, so
/// that the message can be read. Going on without a link, a voice or a screen would be worse: the
/// person would wait for something that can't come.
pub(super) fn end_on_panic(face: Face) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if face == Face::Full {
            restore();
        }
        before(info);
        std::process::exit(PANICKED);
    }));
}
