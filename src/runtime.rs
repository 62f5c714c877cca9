//! The shell around the pure core: one loop that feeds facts to the app and carries out its effects.
//!
//! Responsibilities: the event loop, reading settings and tokens, choosing the face, opening links and the voice,
//! drawing. Not here: any decision about what is said, shown or sent (`app`).
//!
//! The loop polls its inputs in a fixed order: keys and signals, then the voice, then the deadline, then the links, so
//! that a flood of events never makes a key wait. It drains the links for up to `BATCH` before polling again: in a
//! flood, polling, waking and writing cost more than the events themselves. Events of a slow stream are handled one by
//! one.

mod agent_commands;
mod agent_offer;
mod bridge_run;
mod broker_place;
mod capture_commands;
mod chosen_sources;
pub(crate) mod codex_home;
mod cursor_replies;
mod decision_identity;
mod demo_server;
mod external_editor;
mod face_choice;
mod face_output;
mod face_screen;
mod guide_files;
mod hook_commands;
mod input_facts;
mod keyboard_modes;
mod line_terminal;
mod live_check;
mod missing_voice;
pub(crate) mod nearby_agents;
mod output_writer;
mod panics;
mod person_wording;
mod proxy_listener;
mod request_failure;
mod run_plan;
mod running_programs;
pub(crate) mod settings_file;
mod setup_terminal;
mod source_feed;
pub(crate) mod source_links;
mod surroundings;
mod terminal_signs;
pub(crate) mod versions;

use std::time::{Duration, Instant};

use crate::announce::{Reason, Utterance};
use crate::app::{App, Effect, Exit, Input, LineSource, RecordedFact, SpeechMode};
use crate::config::VoiceChoice;
use crate::dialect;
use crate::keys::{Stroke, TerminalInput};
use crate::link::{Frame, LinkEvent, LinkId};
use crate::protocol::Now;
use crate::transport::{LinkHandle, LinkNews, LinkSettings, Recorder, Source};
use crate::voice::{self, VoiceHandle, VoiceSink};

pub(crate) use crate::app::phrase_text;
pub use crate::dialect::ConversationToContinue;
/// Runs the process that speaks with the platform's own speech.
pub use crate::voice::system::run_child as system_voice;
pub use agent_commands::{AgentCall, agents};
pub(crate) use agent_commands::{StartCandidate, is_there, startable};
pub use agent_offer::{OfferOutcome, offered};
pub use bridge_run::{bridge, bridge_words};
pub(crate) use broker_place::durable;
pub use capture_commands::{shown, trace};
pub use demo_server::{DemoServing, serve};
pub use face_choice::Face;
pub(crate) use face_choice::{Terminals, choose_face};
pub use guide_files::{scenario_names, source_names, write_pages};
pub use hook_commands::{HookRequest, hooks, relay, serve_tools};
pub use live_check::check;
pub use panics::end_on_panic;
pub use person_wording::{fault, phrases, phrases_for};
pub use proxy_listener::{ProxyListener, acp_listen, acp_proxy};
pub use request_failure::RequestFailure;
pub(crate) use request_failure::{source as of_source, tls as of_tls};
pub use run_plan::{Plan, acp_speak, demo, list, replay, run_agent, say, watch};
pub use setup_terminal::set_up;

use external_editor::Editor;
use face_output::FaceOutput;
use input_facts::{Inputs, TerminalChange};
use output_writer::WriteFault;
use source_feed::SourceFeeds;
use surroundings::AgentSearch;

/// The shortest time between two full-screen redraws.
const FRAME: Duration = Duration::from_millis(33);

/// How long the last messages sent have to go out before the program leaves.
const LAST_SENT: Duration = Duration::from_millis(5);

/// How long to wait for the terminal's reply before another program reads the terminal: a distant one needs a third.
const LAST_REPLY: Duration = Duration::from_millis(300);

/// How long events are handled before the loop looks for a key again. The last event may run over, but a key should
/// wait no more than twice this long.
const BATCH: Duration = Duration::from_millis(1);

/// Runs a plan to its end.
///
/// # Errors
/// When the terminal or the recording can't be opened; in that case nothing is left changed.
pub async fn run(plan: Plan) -> anyhow::Result<Exit> {
    panics::give_back_first(plan.face);
    let started = Instant::now();
    let now = move || Now {
        monotonic: started.elapsed(),
        wall: jiff::Timestamp::now(),
    };
    let mut recorder = plan.record.as_deref().map(Recorder::create).transpose()?;
    for (at, source) in plan.setup.sources.iter().enumerate() {
        if let Some(recorder) = &mut recorder {
            recorder.source(jiff::Timestamp::now(), at, &source.name)?;
        }
    }
    let (voice_sink, mut voice_news) = VoiceSink::channel();
    let voice = (plan.setup.voice == SpeechMode::Speak).then(|| {
        voice::open(
            &plan.setup.config.voice.engine,
            &plan.setup.config.voice,
            plan.reader,
            voice_sink,
        )
    });
    let linger = Duration::from_millis(plan.setup.config.voice.linger_ms);
    let arm = Duration::from_millis(plan.setup.config.questions.arm_ms);
    let mut inputs = Inputs::open(
        plan.setup.lines,
        plan.face,
        started,
        arm,
        plan.setup.scan.clone(),
    )?;
    let reads_keys = plan.face == Face::Full || plan.setup.lines == Some(LineSource::Editor);
    let mut output = FaceOutput::open(
        plan.face,
        &plan.setup.config.screen,
        plan.reader,
        started,
        reads_keys,
    )?;
    let mut surroundings = AgentSearch::of(&plan, started);
    let mut feeds = SourceFeeds::open(plan.feeds, plan.links)?;
    let mut shell = Shell {
        recorder,
        voice,
        exit: None,
        happened: Vec::new(),
        edit: None,
    };
    let mut app = App::new(plan.setup);

    let mut queue = vec![Input::Start];
    let mut drawn = Instant::now().checked_sub(FRAME).unwrap_or(started);
    let mut dirty = true;
    let mut unwritten = None;
    let mut editor: Option<Editor> = None;
    while shell.exit.is_none() {
        // The app must know what was written before it judges a key or line that may answer it.
        queue.splice(0..0, output.take_written(&app));
        for input in queue.drain(..) {
            shell.take(input, &mut app, &mut feeds, &mut inputs, &mut output, now());
            dirty = true;
        }
        if let Some((text, most)) = shell.edit.take().filter(|_| editor.is_none()) {
            shell.happened.extend(output.upheaval());
            match Editor::open(&text, most, &mut inputs, &mut output) {
                Ok(open) => editor = Some(open),
                Err(reason) => {
                    if output.take_again().is_err() {
                        output.give_up();
                        shell.happened.push(Input::Terminate);
                    }
                    shell.happened.push(Input::Edited(Err(reason)));
                }
            }
        }
        queue.append(&mut shell.happened);
        if !queue.is_empty() {
            continue;
        }
        if shell.exit.is_some() {
            break;
        }
        let draws = output.draws();
        let can_draw = editor.is_none() && output.can_draw();
        if dirty && can_draw && drawn.elapsed() >= FRAME {
            if output.draw(&app, now()).is_err() {
                output.give_up();
                queue.push(Input::Terminate);
                continue;
            }
            drawn = Instant::now();
            dirty = false;
        }
        let can_draw = editor.is_none() && output.can_draw();
        let redraw = (dirty && can_draw).then(|| drawn + FRAME);
        let stale = draws
            .then(|| crate::pane::stale_at(&app, now()))
            .flatten()
            .and_then(|at| started.checked_add(at));
        let deadline = app.deadline().and_then(|at| started.checked_add(at));
        // The links share this thread: yielding lets them carry out their orders, however busy the loop is.
        tokio::task::yield_now().await;
        tokio::select! {
            biased;
            input = inputs.next() => {
                if matches!(input, Input::Line { .. }) {
                    output.catch_up().await;
                }
                let reply = match &input {
                    Input::Stroke(Stroke { input: TerminalInput::Place(_, column), read }) => output.replied(*column, *read, &app),
                    _ => None,
                };
                match reply {
                    Some(shown) => queue.extend(shown),
                    None => queue.push(match input {
                        Input::Stroke(Stroke { input: TerminalInput::Click(column, row), read }) => {
                            output.clicked((column, row), read)
                        }
                        other => other,
                    }),
                }
            }
            news = voice_news.recv(), if shell.voice.is_some() => {
                if let Some(news) = news {
                    let any = app.config().voice.engine == VoiceChoice::Auto;
                    queue.push(Input::Voice(missing_voice::noted(news, any)));
                }
            }
            outcome = closed(&mut editor) => {
                editor = None;
                inputs.take_back();
                dirty = true;
                if output.take_again().is_err() {
                    output.give_up();
                    queue.push(Input::Terminate);
                }
                queue.push(Input::Edited(outcome));
            }
            () = until(deadline) => queue.push(Input::Deadline),
            () = until(redraw) => {}
            () = until(output.deadline()) => queue.extend(output.due(&app)),
            // A displayed time has changed.
            () = until(stale), if !dirty => dirty = true,
            nearby = surroundings.found(), if surroundings.is_open() && app.hears_nobody() => {
                queue.push(Input::Found(nearby));
            }
            () = output.writer().changed() => {}
            // A reader that stops reading makes the sources wait, and nothing else.
            news = feeds.next(), if output.writer().has_room() && !app.is_reading() => {
                let first = now();
                let mut at = first;
                output.writer().gather();
                let mut next = Some(news);
                while let Some(input) = next {
                    shell.record(&input, at);
                    let mut effects = app.update(input, at);
                    shell.act(&mut effects, &app, &mut feeds, &mut inputs, &mut output, at);
                    // A batch is short, so the monotonic clock's progress also serves for the wall clock.
                    let passed = started.elapsed().saturating_sub(first.monotonic);
                    at = first.after(passed);
                    let goes_on = shell.goes_on() && output.writer().has_room() && !app.is_reading();
                    next = (goes_on && passed < BATCH)
                        .then(|| feeds.try_next())
                        .flatten();
                }
                output.writer().put_out();
                dirty = true;
            }
        }
        write_echo(&mut inputs, &mut output);
        match output.writer().broken() {
            None => {}
            Some(_) if output.draws() => {
                output.give_up();
                queue.push(Input::Terminate);
            }
            Some(WriteFault::Gone) => {
                shell.exit.get_or_insert(Exit::Clean);
            }
            Some(WriteFault::Failed(error)) => {
                unwritten = Some(OutputError(error));
                shell.exit.get_or_insert(Exit::Clean);
            }
        }
        match inputs.take_upheaval() {
            None => {}
            Some(TerminalChange::Resized) => {
                dirty = true;
                queue.extend(output.upheaval());
            }
            Some(TerminalChange::Suspend) => {
                queue.extend(output.upheaval());
                let came = take_replies(&mut inputs, &mut output, &app).await;
                let ends = |input: &Input| matches!(input, Input::Terminate | Input::Interrupt);
                let is_over = came.iter().any(ends);
                queue.extend(came);
                dirty = true;
                // A person who ends the program does not want to wait until it is resumed.
                if !is_over {
                    output.give_back();
                    inputs.suspend().await;
                    if output.take_again().is_err() {
                        output.give_up();
                        queue.push(Input::Terminate);
                    }
                }
            }
            Some(TerminalChange::Resumed) => {
                dirty = true;
                queue.extend(output.upheaval());
                if output.take_again().is_err() {
                    output.give_up();
                    queue.push(Input::Terminate);
                }
            }
        }
    }
    if let Some(editor) = editor {
        editor.end().await;
    }
    // The last messages sent must go out before the loop waits for the terminal.
    tokio::time::sleep(LAST_SENT).await;
    take_replies(&mut inputs, &mut output, &app).await;
    output.close();
    if let Some(voice) = shell.voice.take() {
        voice.close(linger).await;
    }
    feeds.close().await;
    // The last lines may be the ones that could not be written.
    if let Some(WriteFault::Failed(error)) = output.writer().broken() {
        unwritten = Some(OutputError(error));
    }
    // The app owns nothing that must be shut down, and the process memory is freed as a whole: dropping thousands of
    // sessions one by one takes longer than reporting one.
    std::mem::forget(app);
    match unwritten {
        Some(unwritten) => Err(unwritten.into()),
        None => Ok(shell.exit.unwrap_or(Exit::Clean)),
    }
}

/// The error that output could not be written: the disk is full, or the file has reached its size limit. The program
/// ends with code 1, because its reader does not have the whole output.
#[derive(Debug, thiserror::Error)]
#[error("the output can't be written")]
pub struct OutputError(#[source] pub std::io::Error);

/// Makes a write beyond a file's size limit fail as on a full disk; otherwise the system would kill the program
/// mid-write and leave the terminal's modes set. Must be called inside a runtime.
///
/// # Errors
/// When the signal handler can't be installed.
pub fn survive_large_files() -> std::io::Result<()> {
    crate::platform::system_signals::survive_large_files()
}

/// Ends any started programs that are still running, for an exit that waits for nothing.
pub fn leave_nothing() {
    crate::transport::end_all_now();
}

/// Writes the echo of what was typed.
fn write_echo(inputs: &mut Inputs, output: &mut FaceOutput) {
    for bytes in inputs.take_echo() {
        output.interrupted();
        output.writer().write(bytes);
    }
}

/// Waits until the person closes their editor.
async fn closed(editor: &mut Option<Editor>) -> Result<String, Reason> {
    match editor {
        Some(editor) => editor.closed().await,
        None => std::future::pending().await,
    }
}

/// Reads the replies that the terminal still owes: they would be typed into whatever reads it next. Returns the other
/// inputs that came meanwhile, without keys, which were meant for whatever reads it next.
async fn take_replies(inputs: &mut Inputs, output: &mut FaceOutput, app: &App) -> Vec<Input> {
    let at_most = tokio::time::sleep(LAST_REPLY);
    tokio::pin!(at_most);
    let mut came = Vec::new();
    while output.awaits_reply() {
        tokio::select! {
            input = inputs.next() => match input {
                Input::Stroke(Stroke { input: TerminalInput::Place(_, column), read }) => {
                    output.replied(column, read, app);
                }
                Input::Stroke(_) | Input::Line { .. } | Input::LineBegun | Input::LineLeft => {}
                other => came.push(other),
            },
            () = &mut at_most => break,
        }
    }
    came
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

/// What effects act on.
struct Shell {
    recorder: Option<Recorder>,
    voice: Option<VoiceHandle>,
    exit: Option<Exit>,
    /// The outcomes of effects, for the app.
    happened: Vec<Input>,
    /// The text that the person wants to continue in their own editor, and its maximum length.
    edit: Option<(String, usize)>,
}

impl Shell {
    /// Passes a fact to the app, and carries out the effects.
    fn take(
        &mut self,
        input: Input,
        app: &mut App,
        feeds: &mut SourceFeeds,
        inputs: &mut Inputs,
        output: &mut FaceOutput,
        at: Now,
    ) {
        self.record(&input, at);
        if matches!(input, Input::Line { .. }) {
            output.interrupted();
        }
        let mut effects = app.update(input, at);
        self.act(&mut effects, app, feeds, inputs, output, at);
    }

    /// Carries out the effects and empties the list.
    fn act(
        &mut self,
        effects: &mut Vec<Effect>,
        app: &App,
        feeds: &mut SourceFeeds,
        inputs: &mut Inputs,
        output: &mut FaceOutput,
        at: Now,
    ) {
        let (mut flushes, mut quits, mut shows) = (false, false, false);
        for effect in effects.iter() {
            flushes |= matches!(effect, Effect::FlushInput);
            quits |= matches!(effect, Effect::Quit(_));
            shows |= matches!(effect, Effect::Show(_));
        }
        if flushes {
            inputs.flush();
        }
        if quits {
            // The last lines must not follow half a typed line.
            inputs.abandon_line();
            write_echo(inputs, output);
        }
        if shows {
            // While a line is open, only notices are shown: they go above the line.
            inputs.leave_line();
            write_echo(inputs, output);
        }
        self.run(effects, app, feeds, output, at);
        if shows {
            inputs.take_line_up();
            write_echo(inputs, output);
        }
    }

    /// Returns whether nothing has come up that must be handled before the next link event.
    fn goes_on(&self) -> bool {
        self.exit.is_none() && self.happened.is_empty() && self.edit.is_none()
    }

    /// Records link events before anything changes them.
    fn record(&mut self, input: &Input, at: Now) {
        let (Some(recorder), Input::Link { link, event }) = (&mut self.recorder, input) else {
            return;
        };
        // Frames are recorded in `keep`, after they have gone through the door.
        if matches!(event, LinkEvent::Frame(_)) {
            return;
        }
        if let Err(error) = recorder.news(at.wall, link.0, event) {
            let failure = request_failure::recording(&error);
            self.happened.push(Input::RecordingFailed(failure));
        }
    }

    /// Records what came through the door, and what was sent.
    fn keep(&mut self, link: LinkId, kept: &RecordedFact, at: Now) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let recorded = match kept {
            // Each event is a line of its own, as it will be on replay.
            RecordedFact::Event(text) => dialect::recordable(text)
                .into_iter()
                .map(|text| LinkEvent::Frame(Frame::of(text)))
                .try_for_each(|frame| recorder.news(at.wall, link.0, &frame)),
            RecordedFact::Frame(text) => recorder.raw(at.wall, link.0, text),
            RecordedFact::Reply { request, body } => {
                recorder.reply(at.wall, link.0, *request, body)
            }
        };
        if let Err(error) = recorded {
            let failure = request_failure::recording(&error);
            self.happened.push(Input::RecordingFailed(failure));
        }
    }

    fn run(
        &mut self,
        effects: &mut Vec<Effect>,
        app: &App,
        feeds: &mut SourceFeeds,
        output: &mut FaceOutput,
        at: Now,
    ) {
        for effect in effects.drain(..) {
            match effect {
                Effect::Show(announcement) => output.show(app, announcement),
                Effect::Link { link, order } => feeds.carry_out(link, order),
                Effect::Speak(utterance) => self.speak(utterance),
                Effect::Hush => {
                    if let Some(voice) = &self.voice {
                        voice.stop();
                    }
                }
                Effect::Keep { link, kept } => self.keep(link, &kept, at),
                Effect::Bell => output.bell(),
                Effect::Copy(address) => output.copy(&address),
                Effect::Notify(notice) => output.notify(&notice),
                Effect::Withdraw(about) => output.withdraw(about),
                Effect::Farewell(words) => output.farewell(words),
                Effect::Title(title) => output.title(title.as_deref()),
                Effect::Remember(delivery) => {
                    let outcome = settings_file::remember(&delivery);
                    let outcome = outcome.map_err(|failure| failure.reason().clone());
                    self.happened.push(Input::Remembered(outcome));
                }
                // Done in the loop, which owns the input reader.
                Effect::FlushInput => {}
                Effect::Edit { text, most } => self.edit = Some((text, most)),
                Effect::Quit(exit) => self.exit = Some(exit),
            }
        }
    }

    fn speak(&self, utterance: Utterance) {
        if let Some(voice) = &self.voice {
            voice.speak(utterance);
        }
    }
}

/// An open source.
struct OpenSource {
    id: LinkId,
    news: LinkNews,
    handle: Option<LinkHandle>,
    /// The named source and its settings, if it can be followed by another way.
    origin: Option<(Source, LinkSettings)>,
}
