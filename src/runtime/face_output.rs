//! Where the faces' output goes, and a terminal that is restored on every way out.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use ratatui::layout::Position;

use crate::announce::Announcement;
use crate::app::{App, Input, Notice, Noticed, QuestionVisibility};
use crate::config::{MouseChoice, ScreenConfig, ThemeChoice};
use crate::linear::{self, LineWriter, Page, VisualOrder};
use crate::pane::{self, ClickPlaces, Look};
use crate::platform::{terminal, zone};
use crate::protocol::Now;

use super::cursor_replies::Replies;
use super::face_choice::Face;
use super::face_screen::Screen;
use super::output_writer::OutputWriter;
use super::terminal_signs::TerminalSigns;
use crate::platform::keyboard::REPLIES;

/// A write to a pipe that took less than this counts from its beginning: its reader may answer before we see the
/// write return.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Asks a terminal for the cursor position: it replies once it has read everything before.
const QUERY: &str = "\x1b[6n";

/// What becomes visible once a text is written.
#[derive(Debug)]
pub(super) enum TextEffect {
    /// A frame of the full face, with the number of upheavals before it was drawn.
    Frame(QuestionVisibility, u64),
    /// An announcement.
    Told(Arc<Announcement>),
    /// Whatever was written before the query with this number, to which the terminal replies.
    Asked(u64),
}

/// Writes one face's output.
pub(super) struct FaceOutput {
    face: Face,
    writer: OutputWriter<TextEffect>,
    zone: TimeZone,
    look: Look,
    lines: LineWriter,
    /// Whether lines are as wide as the terminal is at the moment.
    fits_terminal: bool,
    signs: TerminalSigns,
    screen: Option<Screen>,
    started: Instant,
    /// How often the terminal was changed under the frames.
    upheavals: u64,
    /// The writes that wait for the terminal's replies, if it is queried.
    replies: Option<Replies<TextEffect>>,
    /// Whether it has been queried at all.
    is_asked: bool,
    /// What was last reported to be in sight.
    in_sight: Option<QuestionVisibility>,
    /// Whether a fast write counts from its beginning: the output is not a terminal.
    piped: bool,
    /// The words to print after the full face has left the screen.
    farewell: Vec<String>,
    /// What clicks on the last frame are meant for.
    places: ClickPlaces,
}

impl FaceOutput {
    /// Opens the output of a face. `reader` says whether a screen reader is running.
    ///
    /// # Errors
    /// When the terminal can't be taken over.
    pub(super) fn open(
        face: Face,
        settings: &ScreenConfig,
        reader: bool,
        started: Instant,
        reads_keys: bool,
    ) -> anyhow::Result<Self> {
        let out = io::stdout();
        // The thread that may block in a write must hold no lock that the way out needs.
        let own = terminal::output()?;
        let env = |name: &str| std::env::var(name).ok();
        let signs = TerminalSigns::new(face != Face::Json && out.is_terminal(), settings, env);
        let screen = match face {
            // Beside a screen reader nothing but a key moves anything.
            Face::Full if reader => Some(Screen::take(MouseChoice::Off)?),
            Face::Full => Some(Screen::take(settings.mouse)?),
            Face::Linear | Face::Json => None,
        };
        let page = Page {
            width: settings.width.unwrap_or(0),
            order: order(out.is_terminal() && !reader, env),
        };
        // The no-color.org convention: set and not empty, whatever the value.
        let theme = match env("NO_COLOR") {
            Some(value) if !value.is_empty() => ThemeChoice::Plain,
            Some(_) | None => settings.theme,
        };
        // A terminal without escape sequences would display the query.
        let knows_query =
            face == Face::Full || !matches!(env("TERM").as_deref(), None | Some("" | "dumb"));
        let asks = reads_keys && REPLIES && out.is_terminal() && knows_query;
        let zone = zone::here();
        Ok(Self {
            face,
            look: Look {
                theme,
                stacked: reader,
            },
            lines: LineWriter::new(page, zone.clone()),
            fits_terminal: settings.width.is_none() && out.is_terminal(),
            zone,
            writer: OutputWriter::new(own),
            signs,
            screen,
            started,
            upheavals: 0,
            replies: asks.then(Replies::new),
            is_asked: false,
            in_sight: None,
            piped: !out.is_terminal(),
            farewell: Vec::new(),
            places: ClickPlaces::default(),
        })
    }

    /// Returns whether this face is drawn.
    pub(super) fn draws(&self) -> bool {
        self.screen.is_some()
    }

    /// Returns whether the previous frame is written: there is never more than one on its way.
    pub(super) fn can_draw(&self) -> bool {
        self.screen.is_some() && self.writer.is_idle()
    }

    /// Draws the app. What is then in sight is reported when the frame is written.
    pub(super) fn draw(&mut self, app: &App, now: Now) -> io::Result<()> {
        let mut showing = QuestionVisibility::SideQuestion;
        let Some(screen) = &mut self.screen else {
            return Ok(());
        };
        let places = ClickPlaces::default();
        let bytes = screen.draw(|frame| {
            showing = pane::draw_with_places(frame, app, now, &self.zone, self.look, &places);
        })?;
        self.places = places;
        if let Some(mut bytes) = bytes {
            let mut shows = TextEffect::Frame(showing, self.upheavals);
            let is_news = self.in_sight != Some(showing) || app.wants_sight() || !self.is_asked;
            if let Some(replies) = self.replies.as_mut().filter(|_| is_news) {
                let column = replies.next_column();
                // In the second row, so that the reply is not mistaken for a key.
                bytes.push_str(&format!("\x1b7\x1b[2;{column}H{QUERY}\x1b8"));
                shows = TextEffect::Asked(replies.query(Some(column), shows));
                self.is_asked = true;
            }
            self.writer.write_to_show(bytes, shows);
        }
        Ok(())
    }

    /// Returns the fact that the person clicked at a column and a row, from 1.
    pub(super) fn clicked(&self, (column, row): (u16, u16), read: Duration) -> Input {
        let position = Position::new(column.saturating_sub(1), row.saturating_sub(1));
        let at = self.places.at(position);
        Input::Pointed { at, read }
    }

    /// Notes that the terminal was changed under the frames; returns the fact that nothing is in sight. Lines
    /// stay where they are.
    pub(super) fn upheaval(&mut self) -> Option<Input> {
        let screen = self.screen.as_mut()?;
        // This fails only if nothing can be drawn, which the next frame will detect.
        let _ = screen.forget();
        self.upheavals += 1;
        self.in_sight = Some(QuestionVisibility::Blank);
        if let Some(replies) = &mut self.replies {
            replies.forget();
        }
        Some(Input::Drawn {
            showing: QuestionVisibility::Blank,
            at: self.started.elapsed(),
        })
    }

    /// Returns what was written since the last call, as far as the app needs to know.
    pub(super) fn take_written(&mut self, app: &App) -> Vec<Input> {
        let mut facts = Vec::new();
        for written in self.writer.take_written() {
            let took = written.returned.saturating_duration_since(written.begun);
            let at = if self.piped && took < AT_ONCE {
                written.begun
            } else {
                written.returned
            };
            let at = at.saturating_duration_since(self.started);
            let shown = match (written.shows, &mut self.replies) {
                (TextEffect::Asked(query), Some(replies)) => replies.written(query, at),
                (shows, _) => vec![(shows, at)],
            };
            self.shown(shown, app, &mut facts);
        }
        facts
    }

    /// Handles the terminal's cursor report; returns `None` if it was not queried.
    pub(super) fn replied(&mut self, column: u16, at: Duration, app: &App) -> Option<Vec<Input>> {
        let shown = self.replies.as_mut()?.reply(column, at)?;
        let mut facts = Vec::new();
        self.shown(shown, app, &mut facts);
        Some(facts)
    }

    /// Returns whether the terminal still owes a reply.
    pub(super) fn awaits_reply(&self) -> bool {
        self.replies.as_ref().is_some_and(Replies::is_awaited)
    }

    /// Returns when a terminal that has not replied is presumed never to reply.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let at = self.replies.as_ref()?.deadline()?;
        self.started.checked_add(at)
    }

    /// Returns what counts as shown because the terminal does not reply.
    pub(super) fn due(&mut self, app: &App) -> Vec<Input> {
        let now = self.started.elapsed();
        let shown = self
            .replies
            .as_mut()
            .map(|replies| replies.due(now))
            .unwrap_or_default();
        let mut facts = Vec::new();
        self.shown(shown, app, &mut facts);
        facts
    }

    fn shown(&mut self, shown: Vec<(TextEffect, Duration)>, app: &App, facts: &mut Vec<Input>) {
        for (shows, at) in shown {
            match shows {
                TextEffect::Told(told) => facts.push(Input::Written {
                    announcement: told,
                    at,
                }),
                // A frame drawn for a different terminal size says nothing about this one.
                TextEffect::Frame(_, upheavals) if upheavals != self.upheavals => {}
                TextEffect::Frame(showing, _) => {
                    if self.in_sight != Some(showing) || app.wants_sight() {
                        self.in_sight = Some(showing);
                        facts.push(Input::Drawn { showing, at });
                    }
                }
                // The query stands for what was written before it.
                TextEffect::Asked(_) => {}
            }
        }
    }

    /// Waits a moment for writes in progress: a program that answers a line over a pipe has read it, although we
    /// may not yet know that it is written.
    pub(super) async fn catch_up(&self) {
        if !self.piped {
            return;
        }
        let idle = async {
            while !self.writer.is_idle() {
                self.writer.changed().await;
            }
        };
        // This times out if the reader takes nothing: then the answer is not for what waits.
        let _ = tokio::time::timeout(AT_ONCE, idle).await;
    }

    pub(super) fn show(&mut self, app: &App, told: Arc<Announcement>) {
        match self.face {
            // The pane reads the app.
            Face::Full => {}
            Face::Linear => {
                if self.fits_terminal {
                    let columns = terminal::size().map_or(0, |(columns, _)| columns);
                    self.lines.set_width(columns);
                }
                let lines = self.lines.write(app, &told);
                let lines = self.signs.marked(told.kind, lines);
                self.write_told(lines, told);
            }
            Face::Json => {
                let mut line = linear::json(app, &told);
                line.push('\n');
                self.write_told(line, told);
            }
        }
    }

    /// Notes that the person typed among the lines, or that a line appeared elsewhere.
    pub(super) fn interrupted(&mut self) {
        self.lines.interrupted();
    }

    fn write_told(&mut self, mut text: String, told: Arc<Announcement>) {
        // The time matters only for questions.
        if told.about.is_none() {
            return self.writer.write(text);
        }
        let mut shows = TextEffect::Told(told);
        if let Some(replies) = &mut self.replies {
            text.push_str(QUERY);
            shows = TextEffect::Asked(replies.query(None, shows));
        }
        self.writer.write_to_show(text, shows);
    }

    /// Returns the writer behind this output.
    pub(super) fn writer(&self) -> &OutputWriter<TextEffect> {
        &self.writer
    }

    pub(super) fn bell(&mut self) {
        let sign = self.signs.bell();
        self.signal(sign);
    }

    /// Asks the terminal to show a notification.
    pub(super) fn notify(&mut self, notice: &Notice) {
        let sign = self.signs.notify(notice);
        self.signal(sign);
    }

    /// Withdraws a notification, if the terminal can.
    pub(super) fn withdraw(&mut self, about: Noticed) {
        let sign = self.signs.withdraw(about);
        self.signal(sign);
    }

    /// Copies a text to the terminal's clipboard, and to the system's on systems whose terminals can't be relied
    /// on for that.
    pub(super) fn copy(&mut self, text: &str) {
        let sign = self.signs.copy(text);
        if !sign.is_empty() {
            terminal::copy(text);
        }
        self.signal(sign);
    }

    /// Sets the title, or restores the one that was there.
    pub(super) fn title(&mut self, title: Option<&str>) {
        let sign = self.signs.title(title);
        self.signal(sign);
    }

    /// Keeps words to print after the full face, whose screen vanishes with it.
    pub(super) fn farewell(&mut self, words: String) {
        self.farewell.push(words);
    }

    fn signal(&mut self, sequence: String) {
        if !sequence.is_empty() {
            self.writer.write(sequence);
        }
    }

    /// Hands the terminal back until [`FaceOutput::take_again`].
    pub(super) fn give_back(&mut self) {
        // No frame may land on a screen that is no longer ours.
        let drained = self.writer.drain();
        match &mut self.screen {
            Some(screen) if drained => screen.give_back(),
            Some(screen) => screen.let_go(),
            None => {}
        }
    }

    /// Takes over the terminal again, after a stop.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        match &mut self.screen {
            Some(screen) => screen.take_again(),
            None => Ok(()),
        }
    }

    /// Stops drawing: the terminal is gone.
    pub(super) fn give_up(&mut self) {
        self.screen = None;
    }

    /// Restores the terminal, and prints what was kept for after the full face: to standard error if the terminal
    /// is gone. A terminal that accepts nothing is left without a word.
    pub(super) fn close(&mut self) {
        self.title(None);
        let takes = self.writer.close();
        if let Some(mut screen) = self.screen.take()
            && !takes
        {
            screen.let_go();
        }
        if self.face == Face::Full && takes {
            for words in self.farewell.drain(..) {
                let line = format!("hearken: {words}\n");
                match super::output_writer::write_at_once(line.clone().into_bytes()) {
                    Ok(()) => {}
                    // Standard error is usually the same terminal, which accepts nothing.
                    Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
                    Err(_) => {
                        // If neither can be written, nobody is left to read.
                        let _ = io::stderr().write_all(line.as_bytes());
                    }
                }
            }
        }
    }
}

/// Returns how right-to-left words are ordered on this output. Direction marks are for sighted reading only, on
/// terminals that accept UTF-8 and may know them; the Linux console would display a sign for each.
fn order(for_eyes: bool, env: impl Fn(&str) -> Option<String>) -> VisualOrder {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let utf8 = locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    match env("TERM").as_deref() {
        None | Some("" | "dumb" | "linux") => VisualOrder::AsWritten,
        Some(_) if for_eyes && utf8 => VisualOrder::Isolated,
        Some(_) => VisualOrder::AsWritten,
    }
}

impl Drop for FaceOutput {
    fn drop(&mut self) {
        self.close();
    }
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
        assert_eq!(told(true, &vte), VisualOrder::Isolated);
        assert_eq!(told(false, &vte), VisualOrder::AsWritten);
        for other in [
            &[("TERM", "linux"), ("LANG", "he_IL.UTF-8")][..],
            &[("TERM", "dumb"), ("LANG", "he_IL.UTF-8")],
            &[("LANG", "he_IL.UTF-8")],
            &[("TERM", "xterm"), ("LANG", "he_IL.ISO-8859-8")],
            &[("TERM", "xterm"), ("LC_ALL", "C"), ("LANG", "he_IL.UTF-8")],
            &[("TERM", "xterm")],
        ] {
            assert_eq!(told(true, other), VisualOrder::AsWritten, "{other:?}");
        }
        let empty = [("TERM", "foot"), ("LC_ALL", ""), ("LC_CTYPE", "C.utf8")];
        assert_eq!(told(true, &empty), VisualOrder::Isolated);
    }
}
