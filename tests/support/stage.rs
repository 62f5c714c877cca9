//! The app on a virtual clock, with a voice that only records.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hearken::announce::{Announcement, AnswerMethod, ChangePlace, Mark, Phrases, Utterance};
use hearken::app::{
    App, Effect, EndCondition, Exit, Input, LineSource, LinkOrder, QuestionVisibility, Setup,
    SourceSetup, SpeechMode, VisibleChange, VisiblePage,
};
use hearken::config::{Config, Dialect, ThemeChoice};
use hearken::demo::Script;
use hearken::dialect::{Identity, TransportKind};
use hearken::keys::Stroke;
use hearken::linear;
use hearken::link::{Frame, LinkEvent, LinkId, Receipt};
use hearken::pane::{self, Look};
use hearken::protocol::{KeyRing, Now};
use hearken::voice::VoiceEvent;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use serde_json::Value;

/// How many characters per second the recorded voice speaks.
const SPEED: u64 = 15;

/// Feeds facts to the app, deadline by deadline, and records the output.
pub struct Stage {
    pub app: App,
    pub now: Now,
    pub script: Vec<String>,
    /// All announcements, and the lines of each.
    pub told: Vec<Arc<Announcement>>,
    pub lines: Vec<String>,
    /// The writer of the lines.
    pub written: linear::LineWriter,
    pub sent: Vec<(u64, String)>,
    /// The output of the JSON face.
    pub objects: Vec<String>,
    /// The messages to the decision handler.
    pub handed: Vec<(u64, String)>,
    pub quit: Option<Exit>,
    playing: Option<(Utterance, Duration, Duration)>,
    started: Now,
}

impl Stage {
    pub fn new(config: Config, start: jiff::Timestamp) -> Self {
        Self::in_words(config, start, Phrases::english().unwrap())
    }

    /// Like [`Stage::new`], in another language.
    pub fn in_words(config: Config, start: jiff::Timestamp, phrases: Phrases) -> Self {
        Self::of(
            config,
            start,
            phrases,
            AnswerMethod::Keys,
            SourceSetup::default(),
        )
    }

    /// Like [`Stage::new`], with a source that speaks another protocol over pipes; decisions are handed on if no
    /// identity here speaks for the person.
    pub fn speaking(
        config: Config,
        start: jiff::Timestamp,
        dialect: Dialect,
        identity: Option<Identity>,
    ) -> Self {
        Self::speaking_to(config, start, dialect, identity, AnswerMethod::Keys)
    }

    /// Like [`Stage::speaking`], for someone who answers in a given manner.
    pub fn speaking_to(
        config: Config,
        start: jiff::Timestamp,
        dialect: Dialect,
        identity: Option<Identity>,
        manner: AnswerMethod,
    ) -> Self {
        let source = SourceSetup {
            carrier: TransportKind::Lines,
            dialect,
            handler: identity.is_none(),
            identity,
            ..SourceSetup::default()
        };
        let phrases = Phrases::english().unwrap();
        Self::of(config, start, phrases, manner, source)
    }

    /// Like [`Stage::new`], for a user who writes lines, without a voice.
    pub fn by_lines(config: Config, start: jiff::Timestamp, manner: AnswerMethod) -> Self {
        let phrases = Phrases::english().unwrap();
        Self::of(config, start, phrases, manner, SourceSetup::default())
    }

    fn of(
        config: Config,
        start: jiff::Timestamp,
        phrases: Phrases,
        manner: AnswerMethod,
        source: SourceSetup,
    ) -> Self {
        let keys = manner == AnswerMethod::Keys;
        let now = Now {
            monotonic: Duration::ZERO,
            wall: start,
        };
        let demo = phrases.text("source.demo", &[]);
        let demo = demo.trim_end_matches('.').to_owned();
        let app = App::new(Setup {
            config,
            phrases: Arc::new(phrases),
            manner,
            copies: true,
            keymap: Default::default(),
            scan: None,
            lines: (!keys).then_some(LineSource::Pipe),
            face: match manner {
                AnswerMethod::Keys => ("start.face.full", "start.why.terminal"),
                AnswerMethod::Lines => ("start.face.linear", "start.why.asked"),
                AnswerMethod::Program => ("start.face.json", "start.why.asked"),
            },
            voice: match keys {
                true => SpeechMode::Speak,
                false => SpeechMode::Silent,
            },
            until: EndCondition::Asked,
            keys: KeyRing::default(),
            seed: 1,
            is_recorded: true,
            sources: vec![SourceSetup {
                name: demo,
                answerable: true,
                recording: None,
                ..source
            }],
        });
        let mut stage = Self {
            app,
            now,
            script: Vec::new(),
            told: Vec::new(),
            lines: Vec::new(),
            written: linear::LineWriter::new(linear::Page::plain(0), TimeZone::UTC),
            sent: Vec::new(),
            objects: Vec::new(),
            handed: Vec::new(),
            quit: None,
            playing: None,
            started: now,
        };
        stage.input(Input::Start);
        if keys {
            stage.input(Input::Voice(VoiceEvent::Ready {
                engine: "memory".into(),
            }));
        }
        stage.link(LinkEvent::Connected);
        stage
    }

    pub fn link(&mut self, event: LinkEvent) {
        self.input(Input::Link {
            link: LinkId(0),
            event,
        });
    }

    /// Plays the frames of a protocol's script from the given one on, and returns how many there are.
    pub fn play_script(
        &mut self,
        script: &Script,
        heard: &str,
        sent: &Value,
        from: usize,
    ) -> usize {
        let mut at = from;
        while let Some((after, _)) = script.frames(heard, sent, self.now.wall).get(at) {
            self.wait(*after);
            // Its times are those at which it is sent.
            let frames = script.frames(heard, sent, self.now.wall);
            self.frame(&frames[at].1);
            at += 1;
        }
        at
    }

    pub fn frame(&mut self, text: &str) {
        self.link(LinkEvent::Frame(Frame::of(text.to_owned())));
    }

    /// Writes a line, as a program does.
    pub fn line(&mut self, text: &str) {
        let read = self.now.monotonic;
        let text = text.to_owned();
        self.written.interrupted();
        self.input(Input::Line { text, read });
    }

    pub fn press(&mut self, key: char) {
        self.key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
    }

    pub fn key(&mut self, key: KeyEvent) {
        self.input(Input::Stroke(Stroke::key(key, self.now.monotonic)));
    }

    /// Feeds a fact, and then the fact that a question it raises is drawn immediately.
    pub fn input(&mut self, input: Input) {
        self.feed(input);
        if self.app.wants_sight()
            && let Some((shown, _)) = self.app.shown()
        {
            let showing = QuestionVisibility::Page(VisiblePage::single_page(shown.question));
            let at = self.now.monotonic;
            self.feed(Input::Drawn { showing, at });
        }
        // And all that it changes, from where that is being read.
        if let (Some(read), Some((shown, _))) = (self.app.change_read(), self.app.shown()) {
            let drawn = VisibleChange {
                from: read.from,
                to: ChangePlace::END,
            };
            let showing = QuestionVisibility::Change(shown.question, drawn);
            let at = self.now.monotonic;
            self.feed(Input::Drawn { showing, at });
        }
    }

    fn feed(&mut self, input: Input) {
        let mut pending = vec![input];
        while let Some(input) = pending.pop() {
            for effect in self.app.update(input, self.now) {
                match effect {
                    Effect::Show(told) => {
                        self.lines.push(self.written.write(&self.app, &told));
                        self.objects.push(linear::json(&self.app, &told));
                        self.told.push(Arc::clone(&told));
                        let at = self.now.monotonic;
                        pending.push(Input::Written {
                            announcement: told,
                            at,
                        });
                    }
                    Effect::Speak(utterance) => {
                        assert!(self.playing.is_none(), "two utterances at once");
                        let characters = utterance.text.chars().count() as u64;
                        let length = Duration::from_millis((characters * 1000 / SPEED).max(200));
                        self.playing =
                            Some((utterance, self.now.monotonic, self.now.monotonic + length));
                    }
                    Effect::Hush => {
                        if let Some((utterance, since, _)) = self.playing.take() {
                            self.note(&utterance, since, " [cut]");
                            pending.push(Input::Voice(VoiceEvent::Cut(utterance.id)));
                        }
                    }
                    Effect::Link {
                        order: LinkOrder::Send { request, body },
                        ..
                    } => {
                        self.sent.push((request, body));
                        pending.push(Input::Link {
                            link: LinkId(0),
                            event: LinkEvent::Replied {
                                request,
                                outcome: Ok(Receipt::Taken),
                            },
                        });
                    }
                    Effect::Link {
                        order: LinkOrder::Hand { request, message },
                        ..
                    } => {
                        self.handed.push((request, message));
                        pending.push(Input::Link {
                            link: LinkId(0),
                            event: LinkEvent::Replied {
                                request,
                                outcome: Ok(Receipt::Taken),
                            },
                        });
                    }
                    Effect::Quit(exit) => self.quit = Some(exit),
                    Effect::Link { .. }
                    | Effect::Keep { .. }
                    | Effect::Edit { .. }
                    | Effect::Bell
                    | Effect::Copy(_)
                    | Effect::Notify(_)
                    | Effect::Withdraw(_)
                    | Effect::Farewell(_)
                    | Effect::Title(_)
                    | Effect::FlushInput
                    | Effect::Remember(_) => {}
                }
            }
        }
    }

    /// Lets time pass, deadline by deadline.
    pub fn wait(&mut self, time: Duration) {
        let end = self.now.monotonic + time;
        for round in 0.. {
            assert!(round < 100_000, "a deadline that never passes");
            let spoken = self.playing.as_ref().map(|(_, _, ends)| *ends);
            let next = [self.app.deadline(), spoken]
                .into_iter()
                .flatten()
                .min()
                .filter(|at| *at <= end);
            let Some(next) = next else { break };
            self.forward(next);
            if spoken.is_some_and(|ends| ends <= self.now.monotonic) {
                let (utterance, since, _) = self.playing.take().unwrap();
                self.note(&utterance, since, "");
                self.input(Input::Voice(VoiceEvent::Ended(utterance.id)));
            } else {
                self.input(Input::Deadline);
            }
        }
        self.forward(end);
    }

    /// Waits until the voice is silent.
    pub fn wait_for_silence(&mut self) {
        for _ in 0..1000 {
            self.wait(Duration::from_millis(500));
            if self.playing.is_none() {
                self.wait(Duration::from_millis(600));
                if self.playing.is_none() {
                    return;
                }
            }
        }
        panic!("it never falls silent");
    }

    fn forward(&mut self, to: Duration) {
        let ahead = to.saturating_sub(self.now.monotonic);
        self.now = self.now.after(ahead);
    }

    fn note(&mut self, utterance: &Utterance, since: Duration, how: &str) {
        let class = format!("{:?}", utterance.class).to_lowercase();
        let whose = match utterance.mark {
            Mark::Own => "own",
            Mark::Agent => "agent",
        };
        let since = since.saturating_sub(self.started.monotonic).as_secs_f64();
        self.script.push(format!(
            "{since:6.1} {class:8} {whose:5} {}{how}",
            utterance.text
        ));
    }

    /// Returns the screen as plain text, with the cursor position below it.
    pub fn screen(&self, columns: u16, rows: u16) -> String {
        let (buffer, cursor, _) = self.drawn(columns, rows, ThemeChoice::Plain);
        let mut text = String::new();
        for y in 0..rows {
            let mut line = String::new();
            for x in 0..columns {
                line.push_str(buffer[(x, y)].symbol());
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        format!("{text}(cursor at column {}, row {})\n", cursor.x, cursor.y)
    }

    /// Returns the screen in a theme: the cells, the cursor, and which page of a question is visible.
    pub fn drawn(
        &self,
        columns: u16,
        rows: u16,
        theme: ThemeChoice,
    ) -> (Buffer, Position, Option<VisiblePage>) {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let look = Look {
            theme,
            stacked: false,
        };
        let mut showing = QuestionVisibility::SideQuestion;
        pane::load_grammars();
        terminal
            .draw(|frame| {
                showing = pane::draw(frame, &self.app, self.now, &TimeZone::UTC, look);
            })
            .unwrap();
        let part = match showing {
            QuestionVisibility::Page(part) => Some(part),
            QuestionVisibility::Blank
            | QuestionVisibility::SideQuestion
            | QuestionVisibility::Choices(_)
            | QuestionVisibility::Change(..) => None,
        };
        let buffer = terminal.backend().buffer().clone();
        (buffer, terminal.get_cursor_position().unwrap(), part)
    }
}
