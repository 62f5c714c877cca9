//! `hearken setup` on a terminal: shows and speaks the dialog's words, reads lines and switches, writes the settings.
//!
//! Responsibilities: the terminal, the voice that is tried, the file. Not here: the questions and what an answer means
//! (`setup`).

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tokio::sync::{mpsc, oneshot};

use crate::announce::speakable::Profile;
use crate::announce::{
    Arg, Class, Deliveries, Mark, Phrases, Reason, Utterance, UtteranceId, wrap,
};
use crate::app::{Exit, SpeechMode};
use crate::config::{Config, ReaderChoice, ThemeChoice, VoiceChoice};
use crate::keys;
use crate::pane;
use crate::platform::system_signals::{Termination, TerminationSignals};
use crate::platform::{files, put_for_owner, terminal};
use crate::setup::{Change, Dialog, MergeError, SetupEffect, SetupInput, Value, merge};
use crate::voice::{self, VoiceEvent, VoiceHandle, VoiceSink};

use super::face_choice::{reader_present, speech_mode};
use super::request_failure::RequestFailure;
use super::{OutputError, capture_commands, settings_file};

/// How long a voice may take to begin.
const BEGINNING: Duration = Duration::from_secs(10);

/// How long the last words may take: a slow voice says them in about half of it.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// What precedes a row that continues another.
const INDENT: &str = "  ";

/// How long to wait for a switch.
const SWITCH: Duration = Duration::from_secs(60);

/// How long nobody looks whether the person has left meanwhile.
const GLANCE: Duration = Duration::from_millis(100);

/// Asks the person the questions, and writes the answers into their settings, or into the named file.
///
/// # Errors
/// When the settings can't be read or written, or the terminal can't be written to.
pub async fn set_up(
    file: Option<&Path>,
    reader: ReaderChoice,
    words: Phrases,
) -> anyhow::Result<Exit> {
    // A named file need not exist yet.
    let mut config = match file.filter(|file| !file.exists()) {
        Some(_) => Config::default(),
        None => settings_file::load(file)?,
    };
    settings_file::recall(&mut config)?;
    let path = match file {
        Some(file) => file.to_owned(),
        None => {
            settings_file::own_file().ok_or_else(|| RequestFailure::new("call.setup.no_place"))?
        }
    };
    let words = Arc::new(words);
    let reader = reader_present(reader);
    let mut desk = SetupDesk {
        voice: SetupVoice::open(&config, reader),
        words: Arc::clone(&words),
        reader,
        path,
    };
    // From the moment the first question is visible, it can be left.
    let mut leaving = TerminationSignals::listen()?;
    // What was typed before is not an answer.
    terminal::flush_input();
    let mut dialog = Dialog::new(words, &config, reader);
    let mut effects = dialog.begin();
    loop {
        let input = match desk.carry_out(effects)? {
            NextInput::Left => {
                return Ok(tokio::select! {
                    () = desk.voice.finish() => {
                        desk.voice.close().await;
                        Exit::Clean
                    }
                    told = leaving.received() => exit(told),
                });
            }
            NextInput::Listen => {
                let over = Arc::new(AtomicBool::new(false));
                let is_over = Arc::clone(&over);
                let mut key = tokio::task::spawn_blocking(move || switch(&is_over));
                loop {
                    tokio::select! {
                        key = &mut key => break key.unwrap_or(SetupInput::Key(None)),
                        () = desk.voice.news() => {}
                        told = leaving.received() => {
                            over.store(true, Ordering::Relaxed);
                            // It gives the terminal back before anything is written to it.
                            let _ = key.await;
                            return desk.leave(&mut dialog, told).await;
                        }
                    }
                }
            }
            NextInput::Await => desk.voice.is_there(&desk.words).await,
            NextInput::On => {
                let mut line = Box::pin(typed());
                loop {
                    tokio::select! {
                        line = &mut line => break line,
                        () = desk.voice.news() => {}
                        told = leaving.received() => return desk.leave(&mut dialog, told).await,
                    }
                }
            }
        };
        effects = dialog.take(input);
    }
}

/// Returns how a signal ends the program.
fn exit(told: Termination) -> Exit {
    match told {
        Termination::Interrupt => Exit::Interrupted,
        Termination::End => Exit::Terminated,
    }
}

/// What comes after the effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextInput {
    /// The next line.
    On,
    /// A key of a switch.
    Listen,
    /// News of the voice.
    Await,
    /// Nothing: it is over.
    Left,
}

/// What the dialog's requests need.
struct SetupDesk {
    voice: SetupVoice,
    words: Arc<Phrases>,
    reader: bool,
    path: PathBuf,
}

impl SetupDesk {
    /// Carries out what the dialog asks for; its words are spoken in one go.
    fn carry_out(&mut self, effects: Vec<SetupEffect>) -> anyhow::Result<NextInput> {
        let mut said = Vec::new();
        let mut carried = NextInput::On;
        for effect in effects {
            match effect {
                SetupEffect::Tell(text) => {
                    print(&text)?;
                    said.push(text);
                }
                SetupEffect::Speak(config) => self.voice.take(*config, self.reader),
                SetupEffect::Show(theme) => show(&self.sample(theme))?,
                SetupEffect::Listen => carried = NextInput::Listen,
                SetupEffect::Await => carried = NextInput::Await,
                SetupEffect::Leave => carried = NextInput::Left,
                SetupEffect::Write(changes) => {
                    let same = self.words.text("setup.same", &[]);
                    let written = self.write(&changes)?;
                    print(written.as_deref().unwrap_or(&same))?;
                    // A path and the names of settings are for the eye.
                    said.push(match written {
                        Some(_) => self.words.text("setup.saved", &[]),
                        None => same,
                    });
                    carried = NextInput::Left;
                }
            }
        }
        self.voice.say(&said.join(" "), &self.words);
        Ok(carried)
    }

    /// Leaves by a signal, with the settings as they were.
    async fn leave(mut self, dialog: &mut Dialog, told: Termination) -> anyhow::Result<Exit> {
        self.carry_out(dialog.take(SetupInput::End))?;
        self.voice.close().await;
        Ok(exit(told))
    }

    /// Returns a sample of what matters in the colours of a theme.
    fn sample(&self, theme: ThemeChoice) -> String {
        let has_no_color = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let theme = match has_no_color {
            true => ThemeChoice::Plain,
            false => theme,
        };
        let is_terminal = std::io::stdout().is_terminal();
        let word = |key: &str| self.words.text(key, &[]);
        pane::sample(
            theme,
            is_terminal,
            [
                word("setup.show.alert"),
                word("setup.show.danger"),
                word("setup.show.own"),
                word("setup.show.quiet"),
            ],
        )
    }

    /// Writes the changes into the person's file, and returns words about it; `None` if there are none.
    fn write(&self, changes: &[Change]) -> Result<Option<String>, RequestFailure> {
        let rate = changes
            .iter()
            .find(|it| (it.table, it.name) == ("voice", "rate"));
        if changes.is_empty() {
            return Ok(None);
        }
        // The file as it is now: somebody may have changed it meanwhile.
        let there = self.path.exists();
        let text = match there {
            true => {
                settings_file::text(Some(&self.path))?.map_or_else(String::new, |(_, text)| text)
            }
            false => String::new(),
        };
        let text = merge(&text, changes).map_err(|why| {
            let reason = match why {
                MergeError::Syntax => Reason::new("call.setup.syntax"),
                MergeError::NoSection(name) => Reason::new("call.setup.section").with("name", name),
            };
            RequestFailure::in_file(&self.path, reason)
        })?;
        if Config::from_toml(&text).is_err() {
            return Err(RequestFailure::in_file(
                &self.path,
                Reason::new("call.setup.syntax"),
            ));
        }
        // A link is followed to the file that is meant.
        let path = match there {
            true => self.path.canonicalize(),
            false => Ok(self.path.clone()),
        };
        let unwritable = |error: std::io::Error| RequestFailure::unwritable(&self.path, &error);
        let path = path.map_err(unwritable)?;
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            files::folder_for_owner(folder).map_err(unwritable)?;
        }
        put_for_owner(&path, &text).map_err(unwritable)?;
        if rate.is_some() {
            settings_file::forget_rate()?;
        }
        let of_change = |change: &Change| match &change.value {
            Some(Value::Text(text)) => format!("{}.{} = {text:?}", change.table, change.name),
            Some(Value::Number(n)) => format!("{}.{} = {n}", change.table, change.name),
            None => {
                let name = Arg::Own(format!("{}.{}", change.table, change.name));
                self.words.text("setup.unset", &[("name", name)])
            }
        };
        let changes: Vec<String> = changes.iter().map(of_change).collect();
        let args = [
            ("name", Arg::Own(capture_commands::shown(&self.path))),
            ("changes", Arg::Own(changes.join(", "))),
        ];
        Ok(Some(self.words.text("setup.written", &args)))
    }
}

/// The voice that is tried.
struct SetupVoice {
    voice: Option<VoiceHandle>,
    events: mpsc::Receiver<VoiceEvent>,
    config: Config,
    /// The engine that is wanted.
    engine: Option<VoiceChoice>,
    standing: VoiceStanding,
    /// The number of the last utterance.
    said: u64,
    /// The number of the last utterance that is over.
    over: u64,
}

/// What is known of the voice.
enum VoiceStanding {
    /// Nothing yet.
    Begins,
    /// It is there.
    Ready(Reason),
    /// It is not there.
    Missing(Reason),
}

impl SetupVoice {
    /// Opens the voice of the settings as they are, if hearken would speak.
    fn open(config: &Config, found: bool) -> Self {
        let (_, events) = VoiceSink::channel();
        let mut voice = Self {
            voice: None,
            events,
            config: config.clone(),
            engine: None,
            standing: VoiceStanding::Begins,
            said: 0,
            over: 0,
        };
        voice.take(config.clone(), found);
        voice
    }

    /// Speaks by other settings from now on.
    fn take(&mut self, config: Config, found: bool) {
        let reader = match config.screen.reader {
            ReaderChoice::Auto => found,
            ReaderChoice::Yes => true,
            ReaderChoice::No => false,
        };
        let speaks = speech_mode(&config.voice.engine, reader) == SpeechMode::Speak;
        let engine = speaks.then(|| config.voice.engine.clone());
        // One that was missing may be there by now.
        let is_missing = matches!(self.standing, VoiceStanding::Missing(_));
        if engine != self.engine || is_missing {
            let (sink, events) = VoiceSink::channel();
            self.voice = (engine.as_ref()).map(|it| voice::open(it, &config.voice, reader, sink));
            self.events = events;
            self.over = self.said;
            self.engine = engine;
            self.standing = VoiceStanding::Begins;
        }
        self.config = config;
    }

    /// Waits until it is known whether the voice is there.
    async fn is_there(&mut self, words: &Phrases) -> SetupInput {
        let known = async {
            while let VoiceStanding::Begins = self.standing {
                self.news().await;
            }
        };
        // In time or not, the result is in the standing.
        let _ = tokio::time::timeout(BEGINNING, known).await;
        match &self.standing {
            VoiceStanding::Ready(engine) => SetupInput::Voice(words.because(engine)),
            VoiceStanding::Missing(why) => SetupInput::NoVoice(words.because(why)),
            VoiceStanding::Begins => SetupInput::NoVoice(words.text("setup.slow", &[])),
        }
    }

    /// Speaks a text, interrupting what is being said.
    fn say(&mut self, text: &str, words: &Phrases) {
        let Some(voice) = self.voice.as_ref().filter(|_| !text.is_empty()) else {
            return;
        };
        self.said += 1;
        voice.speak(Utterance {
            id: UtteranceId(self.said),
            class: Class::Response,
            text: words.lexicon().speak(text, Profile::Prose, None),
            language: words.voice_language().map(str::to_owned),
            mark: Mark::Own,
            sound: Deliveries::new(&self.config.voice).sound(Mark::Own, [None, None], None),
        });
    }

    /// Handles the next news of the voice.
    async fn news(&mut self) {
        let told = match &self.voice {
            Some(_) => self.events.recv().await,
            None => None,
        };
        match told {
            Some(VoiceEvent::Ready { engine } | VoiceEvent::Recovered { engine }) => {
                self.standing = VoiceStanding::Ready(engine);
            }
            Some(VoiceEvent::None { reason, .. } | VoiceEvent::Lost { reason }) => {
                self.standing = VoiceStanding::Missing(reason);
            }
            Some(VoiceEvent::Ended(id) | VoiceEvent::Cut(id)) => self.over = id.0,
            Some(
                VoiceEvent::Begun(_)
                | VoiceEvent::Notice { .. }
                | VoiceEvent::Adjustable { .. }
                | VoiceEvent::Cues { .. },
            ) => {}
            None => std::future::pending().await,
        }
    }

    /// Waits until the last words are said, or can't be.
    async fn finish(&mut self) {
        let all = async {
            while self.over < self.said && !matches!(self.standing, VoiceStanding::Missing(_)) {
                self.news().await;
            }
        };
        // A voice that takes longer is cut.
        let _ = tokio::time::timeout(LAST_WORDS, all).await;
    }

    /// Ends the voice; what it still says may end as far as the settings give it time.
    async fn close(self) {
        if let Some(voice) = self.voice {
            voice
                .close(Duration::from_millis(self.config.voice.linger_ms))
                .await;
        }
    }
}

/// Writes a text; a terminal gets it in rows of whole words, and what continues a row is indented.
fn print(text: &str) -> Result<(), OutputError> {
    let columns = match std::io::stdout().is_terminal() {
        true => terminal::size().map_or(0, |(columns, _)| usize::from(columns)),
        false => 0,
    };
    let mut out = std::io::stdout().lock();
    let mut write = || {
        for line in text.lines() {
            let mut rows = wrap(line, columns);
            let further = rows.split_off(1).join(" ");
            rows.extend(
                Some(further)
                    .filter(|it| !it.is_empty())
                    .into_iter()
                    .flat_map(|further| {
                        let rows = wrap(&further, columns.saturating_sub(INDENT.len()).max(1));
                        rows.into_iter().map(|row| format!("{INDENT}{row}"))
                    }),
            );
            writeln!(out, "{}", rows.join("\n"))?;
        }
        out.flush()
    };
    write().map_err(OutputError)
}

/// Writes rows as they are.
fn show(rows: &str) -> Result<(), OutputError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{rows}")
        .and_then(|()| out.flush())
        .map_err(OutputError)
}

/// Reads one line.
async fn typed() -> SetupInput {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let count = std::io::stdin().lock().read_line(&mut line);
        // The receiver is gone if the person left by a signal.
        let _ = sender.send(matches!(count, Ok(1..)).then_some(line));
    });
    let line = receiver.await.ok().flatten();
    line.map_or(SetupInput::End, SetupInput::Line)
}

/// Reads the key that a switch sends. Without a terminal there is none.
fn switch(is_over: &AtomicBool) -> SetupInput {
    if !std::io::stdin().is_terminal() || crossterm::terminal::enable_raw_mode().is_err() {
        return SetupInput::Key(None);
    }
    let key = pressed(is_over);
    // A terminal that stays raw would show at once; there is nothing else to try.
    let _ = crossterm::terminal::disable_raw_mode();
    match key {
        Some(key) if is_interrupt(key) => SetupInput::End,
        key => SetupInput::Key(key.and_then(keys::name_of)),
    }
}

fn pressed(is_over: &AtomicBool) -> Option<KeyEvent> {
    let until = std::time::Instant::now() + SWITCH;
    while !is_over.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(std::time::Instant::now());
        if !event::poll(left.min(GLANCE)).ok()? {
            if left.is_zero() {
                return None;
            }
            continue;
        }
        match event::read().ok()? {
            Event::Key(key) if key.kind == KeyEventKind::Press => return Some(key),
            _ => {}
        }
    }
    None
}

fn is_interrupt(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}
