//! The process between an editor and its agent.
//!
//! Responsibilities: starting the agent, copying both ways, one thread each; carrying out decisions; starting the
//! listener, and restarting it a few times if it ends; the end of everything. Not here: who is first (`arbiter`), what
//! is held (`passage`).
//!
//! Nothing here waits for the listener: its notes wait in the `note_queue`, and its requests arrive on a thread of
//! their own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::arbiter::{Arbiter, Treatment};
use super::note_queue::{NoteQueue, QueuedNote};
use super::passage::{EditorReader, EditorWriter, PassedBytes, TAKES_BACK};
use super::pipe_messages::{
    DecisionOutcome, ListenerNote, ListenerRequest, ListenerRequestParser, Side,
};
use super::sluice::LineWriter;
use crate::platform::processes::{ASKING, Tree, alone_plainly, signal_of};
use crate::platform::system_signals::{Termination, TerminationSignals};
use crate::platform::take_stdout;
use crate::platform::{files, program_places};

/// The most bytes copied at a time: the capacity of a pipe.
const PIECE: usize = 64 * 1024;
/// How long an agent may take to end once its editor sends nothing more: it may have files to write.
const GRACE: Duration = Duration::from_secs(5);
/// How long it may take after each request to end.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the agent's last output may take to be read, if a process that it started keeps the output open.
const DRAIN: Duration = Duration::from_secs(2);
/// How long the listener may take to confirm that all is over; one that hangs never does.
const LAST_NOTES: Duration = Duration::from_secs(1);
/// How often a listener that ended is restarted.
const AGAIN: u32 = 3;
/// The wait before that, so that a listener that can't start causes no busy loop.
const BETWEEN: Duration = Duration::from_millis(200);
/// The pause between reads if the editor gave us a non-blocking input.
const NOTHING_YET: Duration = Duration::from_millis(5);
/// The longest question kept for a listener that missed it, in bytes, and the total for all questions.
const LONGEST_KEPT: usize = 256 * 1024;
const MOST_KEPT: usize = 8 * 1024 * 1024;

/// The programs to start.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The agent's program, which is started without a shell.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The listener: this program, and its arguments.
    pub listener: Vec<OsString>,
}

/// A problem of the copying itself that the person should hear.
#[derive(Debug)]
pub enum CopierProblem {
    /// The listener can't be started.
    PipeListener(io::Error),
    /// The listener ended, and is restarted.
    Again,
    /// The listener ended too often: the bytes flow, but hearken no longer listens.
    Gone,
}

/// The arbiter, and the questions that are open.
#[derive(Debug, Default)]
struct QuestionDesk {
    arbiter: Arbiter,
    questions: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
}

impl QuestionDesk {
    /// Updates the kept questions according to the notes.
    fn keep(&mut self, notes: &[ListenerNote]) {
        for note in notes {
            match note {
                ListenerNote::Asked { ticket, line } => {
                    if line.len() <= LONGEST_KEPT && self.bytes + line.len() <= MOST_KEPT {
                        self.bytes += line.len();
                        self.questions.insert(*ticket, line.clone());
                    }
                }
                ListenerNote::Answered { ticket, .. }
                | ListenerNote::Left(ticket)
                | ListenerNote::TakenBack(ticket) => {
                    self.forget(*ticket);
                }
                ListenerNote::Line(..)
                | ListenerNote::Withheld(..)
                | ListenerNote::Became(..)
                | ListenerNote::Missed { .. }
                | ListenerNote::Standing { .. } => {}
            }
        }
    }

    fn forget(&mut self, ticket: u64) {
        if let Some(line) = self.questions.remove(&ticket) {
            self.bytes -= line.len();
        }
    }
}

/// The state that the threads share.
struct CopierState {
    desk: Mutex<QuestionDesk>,
    to_agent: LineWriter<ChildStdin>,
    to_editor: LineWriter<File>,
    tap: NoteQueue,
    listener: Mutex<Option<Child>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event that concerns the copying as a whole.
enum CopierEvent {
    /// The editor sends nothing more, or reads nothing more.
    EditorGone,
    /// The agent sends nothing more.
    Drained,
    /// The agent has ended.
    Ended,
    /// A signal asks us to leave.
    Told(Termination),
}

/// The work of a thread.
type ThreadTask = Box<dyn FnOnce(&CopierState, &Sender<CopierEvent>) + Send>;

/// Copies between the editor, at our own standard input and output, and an agent, which is started; returns the agent's
/// exit code.
///
/// # Errors
/// If the agent can't be started.
pub fn copy(call: Programs, say: impl Fn(CopierProblem) + Send + 'static) -> io::Result<u8> {
    let mut command = Command::new(files::to_start(&call.program));
    if let Some(path) = program_places::path() {
        command.env("PATH", path);
    }
    command.args(&call.arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    // Before there is anything that a signal could leave behind.
    let signals = listen_for_signals();
    let mut agent = alone_plainly(&mut command).spawn()?;
    let (Some(input), Some(output)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(ErrorKind::BrokenPipe.into());
    };
    let tree = Tree::of_plain(&agent);
    let shared = Arc::new(CopierState {
        desk: Mutex::default(),
        to_agent: LineWriter::new(input),
        to_editor: LineWriter::new(take_stdout()?),
        tap: NoteQueue::default(),
        listener: Mutex::default(),
    });
    let (events, happens) = mpsc::channel();
    let spawn = |work: ThreadTask| {
        let (shared, events) = (Arc::clone(&shared), events.clone());
        thread::spawn(move || work(&shared, &events));
    };
    spawn(Box::new(inward));
    spawn(Box::new(|shared, events| outward(shared, output, events)));
    spawn(Box::new(|_, events| {
        if let Some((runtime, leaving)) = signals {
            hear_signals(&runtime, leaving, events);
        }
    }));
    let waited = tree.clone();
    spawn(Box::new(move |_, events| {
        if let Some(tree) = waited {
            tree.until_ended();
        }
        // The receiver is gone only if all is over.
        let _ = events.send(CopierEvent::Ended);
    }));
    let attended = Arc::clone(&shared);
    thread::spawn(move || attend(&attended, &call.listener, &say));

    let drained = until_ended(&happens, tree.as_ref());
    if !drained {
        let until = Instant::now() + DRAIN;
        while let Ok(event) = happens.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            if matches!(event, CopierEvent::Drained) {
                break;
            }
        }
    }
    // Processes that it left behind belong to it; its number is still its own, because it has not been waited for.
    if let Some(tree) = &tree {
        tree.ask_to_end();
    }
    let status = agent.wait()?;
    if !shared.tap.end(LAST_NOTES)
        && let Some(listener) = lock(&shared.listener).as_mut()
    {
        // It hangs: nothing of it may stay. It may be gone by now.
        let _ = listener.kill();
    }
    let code = match (status.code(), signal_of(status)) {
        (Some(code), _) => code,
        // The convention of shells.
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    Ok(u8::try_from(code & 0xff).unwrap_or(1))
}

/// Waits until the agent has ended, and makes it end if the editor is gone or we are asked to leave; returns whether
/// all of the agent's output has been read.
fn until_ended(happens: &mpsc::Receiver<CopierEvent>, tree: Option<&Tree>) -> bool {
    let mut drained = false;
    let mut deadline: Option<Instant> = None;
    let mut asking = ASKING.iter();
    loop {
        let event = match deadline {
            None => happens.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => happens.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(CopierEvent::Ended) | Err(RecvTimeoutError::Disconnected) => return drained,
            Ok(CopierEvent::Drained) => drained = true,
            Ok(CopierEvent::EditorGone) => {
                deadline.get_or_insert(Instant::now() + GRACE);
            }
            Ok(CopierEvent::Told(how)) => {
                match (how, ASKING.first(), tree) {
                    (Termination::Interrupt, Some(interrupt), Some(tree)) => interrupt(tree),
                    (Termination::End | Termination::Interrupt, _, Some(tree)) => tree.ask_to_end(),
                    (_, _, None) => {}
                }
                let soon = Instant::now() + PATIENCE;
                deadline = Some(deadline.map_or(soon, |at| at.min(soon)));
            }
            Err(RecvTimeoutError::Timeout) => {
                deadline = match (asking.next(), tree) {
                    (Some(ask), Some(tree)) => {
                        ask(tree);
                        Some(Instant::now() + PATIENCE)
                    }
                    (None, Some(tree)) => {
                        tree.kill();
                        None
                    }
                    (_, None) => None,
                };
            }
        }
    }
}

/// Starts listening for signals; `None` if that is not possible, which leaves them their default effect.
fn listen_for_signals() -> Option<(Runtime, TerminationSignals)> {
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let leaving = runtime
        .block_on(async { TerminationSignals::listen() })
        .ok()?;
    Some((runtime, leaving))
}

fn hear_signals(runtime: &Runtime, mut leaving: TerminationSignals, events: &Sender<CopierEvent>) {
    runtime.block_on(async {
        while events
            .send(CopierEvent::Told(leaving.received().await))
            .is_ok()
        {}
    });
}

/// Reads available bytes; `None` at the end.
fn read(from: &mut impl Read, piece: &mut [u8]) -> Option<usize> {
    loop {
        match from.read(piece) {
            Ok(0) => return None,
            Ok(count) => return Some(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(NOTHING_YET),
            Err(_) => return None,
        }
    }
}

impl CopierState {
    /// Passes a piece's notes to the listener, before the piece goes on.
    fn tell(&self, side: Side, taken: &mut PassedBytes) {
        self.tap.miss(side, taken.unheard);
        for note in taken.notes.drain(..) {
            self.tap.put(note);
        }
    }
}

/// Copies from the editor to the agent.
fn inward(shared: &CopierState, events: &Sender<CopierEvent>) {
    let mut passage = EditorReader::default();
    let mut piece = vec![0; PIECE];
    let mut editor = io::stdin().lock();
    loop {
        let count = read(&mut editor, &mut piece);
        let mut taken = {
            let desk = &mut *lock(&shared.desk);
            let taken = match count {
                Some(count) => passage.take(&piece[..count], &mut desk.arbiter),
                None => passage.end(&mut desk.arbiter),
            };
            desk.keep(&taken.notes);
            taken
        };
        shared.tell(Side::Editor, &mut taken);
        let passed = shared.to_agent.pass(&taken.passes);
        if count.is_none() {
            break;
        }
        if passed.is_err() {
            // The agent reads nothing more; its further output still goes to the editor.
            return;
        }
    }
    shared.to_agent.close();
    let _ = events.send(CopierEvent::EditorGone);
}

/// Copies from the agent to the editor.
fn outward(shared: &CopierState, mut agent: impl Read, events: &Sender<CopierEvent>) {
    let mut passage = EditorWriter::default();
    let mut piece = vec![0; PIECE];
    while let Some(count) = read(&mut agent, &mut piece) {
        let bytes = &piece[..count];
        // A question is registered before its end goes on, and can't be taken back before that: a decision may come
        // immediately.
        let editor = shared.to_editor.hold();
        let mut taken = {
            let desk = &mut *lock(&shared.desk);
            let taken = passage.take(bytes, &mut desk.arbiter);
            desk.keep(&taken.notes);
            taken
        };
        shared.tell(Side::Agent, &mut taken);
        if editor.pass(bytes).is_err() {
            // The editor is gone: the agent should notice, as it would without us.
            drop(agent);
            let _ = events.send(CopierEvent::EditorGone);
            break;
        }
    }
    // An agent that sends nothing more has closed its output, whether or not it is still running; so the editor sees
    // the end, too.
    shared.to_editor.close();
    let _ = events.send(CopierEvent::Drained);
}

/// Runs a listener, and restarts it a few times if it ends.
fn attend(shared: &Arc<CopierState>, call: &[OsString], say: &impl Fn(CopierProblem)) {
    for time in 0..=AGAIN {
        let number = shared.tap.begin();
        if let Err(error) = listen(shared, call, number) {
            say(CopierProblem::PipeListener(error));
            return shared.tap.shut();
        }
        if shared.tap.is_over() {
            return;
        }
        if let Some(mut listener) = lock(&shared.listener).take() {
            // It may have ended by itself.
            let _ = listener.kill();
            let _ = listener.wait();
        }
        if time < AGAIN {
            say(CopierProblem::Again);
            thread::sleep(BETWEEN);
        }
    }
    say(CopierProblem::Gone);
    shared.tap.shut();
}

/// Starts a listener and sends it all notes until it is gone or all is over.
fn listen(shared: &Arc<CopierState>, call: &[OsString], number: u32) -> io::Result<()> {
    let Some((program, arguments)) = call.split_first() else {
        return Err(ErrorKind::NotFound.into());
    };
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ErrorKind::BrokenPipe.into());
    };
    *lock(&shared.listener) = Some(child);
    let wishing = Arc::clone(shared);
    thread::spawn(move || carry_out(&wishing, output, number));
    let mut write = |note: &ListenerNote| io::Write::write_all(&mut input, &note.write());
    loop {
        let written = match shared.tap.next(number) {
            QueuedNote::Note(note) => write(&note),
            QueuedNote::Missed(missed) => {
                let (standing, questions) = {
                    let desk = lock(&shared.desk);
                    let (open, last) = desk.arbiter.open_tickets();
                    (
                        ListenerNote::Standing { last, open },
                        desk.questions.clone(),
                    )
                };
                let asked = |(ticket, line)| ListenerNote::Asked { ticket, line };
                let all = [missed, standing].into_iter();
                all.chain(questions.into_iter().map(asked))
                    .try_for_each(|note| write(&note))
            }
            QueuedNote::Over => return Ok(()),
        };
        if written.is_err() {
            // The listener is gone.
            shared.tap.gone(number);
            return Ok(());
        }
    }
}

/// Carries out a listener's requests until it is gone.
fn carry_out(shared: &CopierState, mut listener: impl Read, number: u32) {
    let mut wishes = ListenerRequestParser::default();
    let mut piece = vec![0; PIECE];
    while let Some(count) = read(&mut listener, &mut piece) {
        wishes.take(&piece[..count]);
        loop {
            match wishes.next_wish() {
                Ok(Some(wish)) => decide(shared, wish, number),
                Ok(None) => break,
                // The input is not a request of ours.
                Err(_) => return shared.tap.gone(number),
            }
        }
    }
    shared.tap.gone(number);
}

fn decide(shared: &CopierState, wish: ListenerRequest, number: u32) {
    let (ticket, request, mut line) = match wish {
        ListenerRequest::Decide {
            ticket,
            request,
            line,
        } => (ticket, request, line),
        ListenerRequest::Leave => return shared.tap.gone(number),
    };
    let verdict = if line.contains(&b'\n') {
        DecisionOutcome::Unwritable
    } else {
        let ours = {
            let mut desk = lock(&shared.desk);
            let ours = desk.arbiter.decides(ticket);
            if matches!(ours, Treatment::Decides(_)) {
                desk.forget(ticket);
            }
            ours
        };
        match ours {
            Treatment::Decides(id) => {
                line.push(b'\n');
                // If a side is gone, the answer is no longer wanted; its end is reported elsewhere.
                let _ = shared.to_agent.insert(&line);
                shared.tap.put_to(
                    number,
                    ListenerNote::Became(request, DecisionOutcome::Decides),
                );
                // An editor that does not read delays nothing but this.
                let _ = shared.to_editor.insert(&taken_back(&id));
                return;
            }
            Treatment::TooLate => DecisionOutcome::TooLate,
            Treatment::Full => DecisionOutcome::Full,
        }
    };
    shared
        .tap
        .put_to(number, ListenerNote::Became(request, verdict));
}

/// Returns the message that an answer is no longer wanted, with the id as the agent wrote it.
fn taken_back(id: &[u8]) -> Vec<u8> {
    let mut line =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{TAKES_BACK}\",\"params\":{{\"requestId\":")
            .into_bytes();
    line.extend_from_slice(id);
    line.extend_from_slice(b"}}\n");
    line
}
