//! Where the faces' output goes, and a terminal that is restored on every way out.

use std::io::{self, IsTerminal, Write};

use jiff::tz::TimeZone;

use crate::announce::Announcement;
use crate::app::{App, Drawn, Notice};
use crate::config::{ScreenConfig, ThemeChoice};
use crate::linear::{self, Order, Page};
use crate::pane::{self, Look};
use crate::protocol::Now;
use crate::session::PromptId;

use super::plan::Face;
use super::screen::{self, Screen};
use super::signs::Signs;
use super::writer::Writer;

/// The exit code after a panic, as Rust gives it by itself.
const PANICKED: i32 = 101;

/// Writes one face's output.
pub(super) struct Output {
    face: Face,
    writer: Writer,
    zone: TimeZone,
    look: Look,
    page: Page,
    signs: Signs,
    screen: Option<Screen>,
    /// What is to be read where the full face was, after it.
    farewell: Vec<String>,
}

impl Output {
    /// `reader` says whether a screen reader is at work.
    pub(super) fn open(face: Face, settings: &ScreenConfig, reader: bool) -> anyhow::Result<Self> {
        let out = io::stdout();
        let env = |name: &str| std::env::var(name).ok();
        let signs = Signs::new(face != Face::Json && out.is_terminal(), settings, env);
        let screen = match face {
            Face::Full => Some(Screen::take()?),
            Face::Linear | Face::Json => None,
        };
        // The convention of no-color.org: set and not empty, whatever it says.
        let theme = match env("NO_COLOR") {
            Some(value) if !value.is_empty() => ThemeChoice::Plain,
            Some(_) | None => settings.theme,
        };
        Ok(Self {
            face,
            look: Look { theme },
            zone: TimeZone::system(),
            page: Page {
                width: settings.width,
                order: order(out.is_terminal() && !reader, env),
            },
            writer: Writer::new(out),
            signs,
            screen,
            farewell: Vec::new(),
        })
    }

    /// Tells whether this face is drawn.
    pub(super) fn draws(&self) -> bool {
        self.screen.is_some()
    }

    /// Draws the app, and gives which part of the shown question is in sight now.
    pub(super) fn draw(&mut self, app: &App, now: Now) -> io::Result<Option<Drawn>> {
        let mut drawn = None;
        if let Some(screen) = &mut self.screen {
            screen.draw(|frame| {
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
                let lines = linear::lines(app, told, &self.zone, self.page);
                self.writer.write(self.signs.marked(told.kind, lines));
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
        let sign = self.signs.bell();
        self.signal(sign);
    }

    /// Asks the terminal for a notification.
    pub(super) fn notify(&mut self, notice: &Notice) {
        let sign = self.signs.notify(notice);
        self.signal(sign);
    }

    /// Takes a notification back, where the terminal can.
    pub(super) fn withdraw(&mut self, prompt: PromptId) {
        let sign = self.signs.withdraw(prompt);
        self.signal(sign);
    }

    /// Gives an address to the terminal's clipboard.
    pub(super) fn copy(&mut self, address: &str) {
        let sign = self.signs.copy(address);
        self.signal(sign);
    }

    /// Sets the title, or restores the one that was there.
    pub(super) fn title(&mut self, title: Option<&str>) {
        let sign = self.signs.title(title);
        self.signal(sign);
    }

    /// Keeps words for the time after the full face, whose screen vanishes with it.
    pub(super) fn farewell(&mut self, words: String) {
        self.farewell.push(words);
    }

    fn signal(&mut self, sequence: String) {
        if sequence.is_empty() {
            return;
        }
        if self.draws() {
            // In one thread with the drawing, so that no sequence lands inside another one. A terminal
            // that is gone is noticed by its own watch.
            let mut out = io::stdout();
            let _ = out.write_all(sequence.as_bytes());
            let _ = out.flush();
        } else {
            self.writer.write(sequence);
        }
    }

    /// Gives the terminal back until [`Output::take_again`].
    pub(super) fn give_back(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.give_back();
        }
    }

    /// Takes the terminal again, after a stop.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        match &mut self.screen {
            Some(screen) => screen.take_again(),
            None => Ok(()),
        }
    }

    /// Draws no more: the terminal is gone.
    pub(super) fn give_up(&mut self) {
        self.screen = None;
    }

    /// Gives the terminal back as it was, and writes what was to be read after the full face: to
    /// standard error where the terminal is gone.
    pub(super) fn close(&mut self) {
        self.title(None);
        self.writer.close();
        self.screen = None;
        if self.face == Face::Full {
            for words in self.farewell.drain(..) {
                let line = format!("hearken: {words}\n");
                let mut out = io::stdout();
                let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
                if written.is_err() {
                    // Where neither can be written, nobody is left to read.
                    let _ = io::stderr().write_all(line.as_bytes());
                }
            }
        }
    }
}

/// Says who orders words from right to left on this output: signs for that are only for eyes, and only
/// where the terminal takes UTF-8 and may know them. The Linux console would show a sign for each.
fn order(for_eyes: bool, env: impl Fn(&str) -> Option<String>) -> Order {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let utf8 = locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    match env("TERM").as_deref() {
        None | Some("" | "dumb" | "linux") => Order::AsWritten,
        Some(_) if for_eyes && utf8 => Order::Isolated,
        Some(_) => Order::AsWritten,
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.close();
    }
}

/// Makes any panic, on whatever thread, end the program visibly: the terminal is given back first, so
/// that the message can be read. Going on without a link, a voice or a screen would be worse: the
/// person would wait for something that can't come.
pub(super) fn end_on_panic(face: Face) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if face == Face::Full {
            screen::restore();
        }
        super::desk::restore();
        before(info);
        super::leave_nothing();
        std::process::exit(PANICKED);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_isolated_for_eyes_on_a_terminal_that_can_take_it_and_nowhere_else() {
        let told = |for_eyes, pairs: &[(&str, &str)]| {
            order(for_eyes, |name| {
                let found = pairs.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let vte = [("TERM", "xterm-256color"), ("LANG", "he_IL.UTF-8")];
        assert_eq!(told(true, &vte), Order::Isolated);
        assert_eq!(told(false, &vte), Order::AsWritten);
        for other in [
            &[("TERM", "linux"), ("LANG", "he_IL.UTF-8")][..],
            &[("TERM", "dumb"), ("LANG", "he_IL.UTF-8")],
            &[("LANG", "he_IL.UTF-8")],
            &[("TERM", "xterm"), ("LANG", "he_IL.ISO-8859-8")],
            &[("TERM", "xterm"), ("LC_ALL", "C"), ("LANG", "he_IL.UTF-8")],
            &[("TERM", "xterm")],
        ] {
            assert_eq!(told(true, other), Order::AsWritten, "{other:?}");
        }
        let empty = [("TERM", "foot"), ("LC_ALL", ""), ("LC_CTYPE", "C.utf8")];
        assert_eq!(told(true, &empty), Order::Isolated);
    }
}
