//! The process between an editor and its agent.
//!
//! Responsibilities: starting the agent, copying both ways, a thread each; carrying decisions out; starting the listener,
//! and again a few times where it ends; the end of all of it. Not here: who is first (`arbiter`), what is held (`passage`).
//!
//! Nothing here waits for the listener: what it is told waits in the `tap`, and what it wants comes on a thread of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::arbiter::{Arbiter, Ours};
use super::passage::{Inward, Outward, TAKES_BACK, Taken};
use super::sluice::Sluice;
use super::tap::{Next, Tap};
use super::wire::{Note, Side, Verdict, Wish, Wishes};
use crate::platform::processes::{ASKING, Tree, alone_plainly, signal_of};
use crate::platform::signals::{Leave, Leaving};
use crate::platform::take_stdout;
use crate::platform::{files, places};

/// How much is copied at once: what a pipe holds.
const PIECE: usize = 64 * 1024;
/// How long an agent may take to end once its editor says nothing more: it may have files to write.
const GRACE: Duration = Duration::from_secs(5);
/// How long it may take after each word that it is to end.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long what the agent wrote last may take to be read, where something that it started keeps its output open.
const DRAIN: Duration = Duration::from_secs(2);
/// How long the listener may take to say that it knows that all is over; one that hangs never does.
const LAST_NOTES: Duration = Duration::from_secs(1);
/// How often a listener that ended is started again.
const AGAIN: u32 = 3;
/// How long that waits, so that one that can't start is no busy loop.
const BETWEEN: Duration = Duration::from_millis(200);
/// How long reading waits where the editor gave us an input that never waits by itself.
const NOTHING_YET: Duration = Duration::from_millis(5);
/// The longest question that is kept for a listener that missed it, in bytes, and how much is kept of all.
const LONGEST_KEPT: usize = 256 * 1024;
const MOST_KEPT: usize = 8 * 1024 * 1024;

/// What is to be started.
#[derive(Debug, Clone)]
pub struct Call {
    /// The agent's program, which is started without a shell.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The listener: this program, and its arguments.
    pub listener: Vec<OsString>,
}

/// What the person should know of the copying itself.
#[derive(Debug)]
pub enum Trouble {
    /// The listener can't be started.
    NoListener(io::Error),
    /// The listener ended, and is started again.
    Again,
    /// The listener ended too often: the bytes flow, and nobody listens.
    Gone,
}

/// Keeps who decides what, and the questions that are open.
#[derive(Debug, Default)]
struct Desk {
    arbiter: Arbiter,
    questions: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
}

impl Desk {
    /// Keeps the questions in step with what was told.
    fn keep(&mut self, notes: &[Note]) {
        for note in notes {
            match note {
                Note::Asked { ticket, line } => {
                    if line.len() <= LONGEST_KEPT && self.bytes + line.len() <= MOST_KEPT {
                        self.bytes += line.len();
                        self.questions.insert(*ticket, line.clone());
                    }
                }
                Note::Answered { ticket, .. } | Note::Left(ticket) | Note::TakenBack(ticket) => {
                    self.forget(*ticket);
                }
                Note::Line(..)
                | Note::Withheld(..)
                | Note::Became(..)
                | Note::Missed { .. }
                | Note::Standing { .. } => {}
            }
        }
    }

    fn forget(&mut self, ticket: u64) {
        if let Some(line) = self.questions.remove(&ticket) {
            self.bytes -= line.len();
        }
    }
}

/// What the threads have in common.
struct Shared {
    desk: Mutex<Desk>,
    to_agent: Sluice<ChildStdin>,
    to_editor: Sluice<File>,
    tap: Tap,
    listener: Mutex<Option<Child>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What happens to the copying as a whole.
enum Event {
    /// The editor says nothing more, or reads nothing more.
    EditorGone,
    /// The agent says nothing more.
    Drained,
    /// The agent has ended.
    Ended,
    /// We are told to leave.
    Told(Leave),
}

/// What a thread does.
type Work = Box<dyn FnOnce(&Shared, &Sender<Event>) + Send>;

/// Copies between the editor, who is at our own standard input and output, and an agent, which is started; gives the exit code
/// of the agent.
///
/// # Errors
/// The agent can't be started.
pub fn copy(call: Call, say: impl Fn(Trouble) + Send + 'static) -> io::Result<u8> {
    let mut command = Command::new(files::to_start(&call.program));
    if let Some(path) = places::path() {
        command.env("PATH", path);
    }
    command.args(&call.arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = alone_plainly(&mut command).spawn()?;
    let (Some(input), Some(output)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(ErrorKind::BrokenPipe.into());
    };
    let tree = Tree::of_plain(&agent);
    let shared = Arc::new(Shared {
        desk: Mutex::default(),
        to_agent: Sluice::new(input),
        to_editor: Sluice::new(take_stdout()?),
        tap: Tap::default(),
        listener: Mutex::default(),
    });
    let (events, happens) = mpsc::channel();
    let spawn = |work: Work| {
        let (shared, events) = (Arc::clone(&shared), events.clone());
        thread::spawn(move || work(&shared, &events));
    };
    spawn(Box::new(inward));
    spawn(Box::new(|shared, events| outward(shared, output, events)));
    spawn(Box::new(|_, events| hear_signals(events)));
    let waited = tree.clone();
    spawn(Box::new(move |_, events| {
        if let Some(tree) = waited {
            tree.until_ended();
        }
        // Who listened is gone only when all is over.
        let _ = events.send(Event::Ended);
    }));
    let attended = Arc::clone(&shared);
    thread::spawn(move || attend(&attended, &call.listener, &say));

    let drained = until_ended(&happens, tree.as_ref());
    if !drained {
        let until = Instant::now() + DRAIN;
        while let Ok(event) = happens.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            if matches!(event, Event::Drained) {
                break;
            }
        }
    }
    // What it left behind belongs to it; its number is still its own, because it was not waited for.
    if let Some(tree) = &tree {
        tree.ask_to_end();
    }
    let status = agent.wait()?;
    if !shared.tap.end(LAST_NOTES)
        && let Some(listener) = lock(&shared.listener).as_mut()
    {
        // It hangs: nothing of it is to stay. It may be gone by now.
        let _ = listener.kill();
    }
    let code = match (status.code(), signal_of(status)) {
        (Some(code), _) => code,
        // As shells say it.
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    Ok(u8::try_from(code & 0xff).unwrap_or(1))
}

/// Waits until the agent has ended, and sees to it where the editor is gone or we are told to leave; tells whether all that
/// the agent wrote was read.
fn until_ended(happens: &mpsc::Receiver<Event>, tree: Option<&Tree>) -> bool {
    let mut drained = false;
    let mut deadline: Option<Instant> = None;
    let mut asking = ASKING.iter();
    loop {
        let event = match deadline {
            None => happens.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => happens.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match event {
            Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => return drained,
            Ok(Event::Drained) => drained = true,
            Ok(Event::EditorGone) => {
                deadline.get_or_insert(Instant::now() + GRACE);
            }
            Ok(Event::Told(how)) => {
                match (how, ASKING.first(), tree) {
                    (Leave::Interrupt, Some(interrupt), Some(tree)) => interrupt(tree),
                    (Leave::End | Leave::Interrupt, _, Some(tree)) => tree.ask_to_end(),
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

fn hear_signals(events: &Sender<Event>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return;
    };
    runtime.block_on(async {
        let Ok(mut leaving) = Leaving::listen() else {
            return;
        };
        while events.send(Event::Told(leaving.told().await)).is_ok() {}
    });
}

/// Reads what is there; nothing at the end.
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

impl Shared {
    /// Tells the listener of a piece, before it goes on.
    fn tell(&self, side: Side, taken: &mut Taken) {
        self.tap.miss(side, taken.unheard);
        for note in taken.notes.drain(..) {
            self.tap.put(note);
        }
    }
}

/// Copies from the editor to the agent.
fn inward(shared: &Shared, events: &Sender<Event>) {
    let mut passage = Inward::default();
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
            // The agent reads nothing more; what it still says goes on to the editor.
            return;
        }
    }
    shared.to_agent.close();
    let _ = events.send(Event::EditorGone);
}

/// Copies from the agent to the editor.
fn outward(shared: &Shared, mut agent: impl Read, events: &Sender<Event>) {
    let mut passage = Outward::default();
    let mut piece = vec![0; PIECE];
    while let Some(count) = read(&mut agent, &mut piece) {
        let bytes = &piece[..count];
        // A question is known before its end goes on, and is not taken back before that: a decision may come at once.
        let editor = shared.to_editor.hold();
        let mut taken = {
            let desk = &mut *lock(&shared.desk);
            let taken = passage.take(bytes, &mut desk.arbiter);
            desk.keep(&taken.notes);
            taken
        };
        shared.tell(Side::Agent, &mut taken);
        if editor.pass(bytes).is_err() {
            // The editor is gone: the agent shall notice, as it would without us.
            drop(agent);
            let _ = events.send(Event::EditorGone);
            break;
        }
    }
    // An agent that says nothing more has closed its output, whether or not it still runs; so the editor sees the end, too.
    shared.to_editor.close();
    let _ = events.send(Event::Drained);
}

/// Has a listener run, and again a few times where it ends.
fn attend(shared: &Arc<Shared>, call: &[OsString], say: &impl Fn(Trouble)) {
    for time in 0..=AGAIN {
        let number = shared.tap.begin();
        if let Err(error) = listen(shared, call, number) {
            say(Trouble::NoListener(error));
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
            say(Trouble::Again);
            thread::sleep(BETWEEN);
        }
    }
    say(Trouble::Gone);
    shared.tap.shut();
}

/// Starts a listener and tells it everything until it is gone or all is over.
fn listen(shared: &Arc<Shared>, call: &[OsString], number: u32) -> io::Result<()> {
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
    let mut write = |note: &Note| io::Write::write_all(&mut input, &note.write());
    loop {
        let written = match shared.tap.next(number) {
            Next::Note(note) => write(&note),
            Next::Missed(missed) => {
                let (standing, questions) = {
                    let desk = lock(&shared.desk);
                    let (open, last) = desk.arbiter.standing();
                    (Note::Standing { last, open }, desk.questions.clone())
                };
                let asked = |(ticket, line)| Note::Asked { ticket, line };
                let all = [missed, standing].into_iter();
                all.chain(questions.into_iter().map(asked))
                    .try_for_each(|note| write(&note))
            }
            Next::Over => return Ok(()),
        };
        if written.is_err() {
            // It is gone.
            shared.tap.gone(number);
            return Ok(());
        }
    }
}

/// Carries out what a listener wants, until it is gone.
fn carry_out(shared: &Shared, mut listener: impl Read, number: u32) {
    let mut wishes = Wishes::default();
    let mut piece = vec![0; PIECE];
    while let Some(count) = read(&mut listener, &mut piece) {
        wishes.take(&piece[..count]);
        loop {
            match wishes.next_wish() {
                Ok(Some(wish)) => decide(shared, wish, number),
                Ok(None) => break,
                // It is not one of ours.
                Err(_) => return shared.tap.gone(number),
            }
        }
    }
    shared.tap.gone(number);
}

fn decide(shared: &Shared, wish: Wish, number: u32) {
    let (ticket, request, mut line) = match wish {
        Wish::Decide {
            ticket,
            request,
            line,
        } => (ticket, request, line),
        Wish::Leave => return shared.tap.gone(number),
    };
    let verdict = if line.contains(&b'\n') {
        Verdict::Unwritable
    } else {
        let ours = {
            let mut desk = lock(&shared.desk);
            let ours = desk.arbiter.decides(ticket);
            if matches!(ours, Ours::Decides(_)) {
                desk.forget(ticket);
            }
            ours
        };
        match ours {
            Ours::Decides(id) => {
                line.push(b'\n');
                // Where a side is gone nobody wants the answer any more; its end is told by itself.
                let _ = shared.to_agent.insert(&line);
                shared
                    .tap
                    .put_to(number, Note::Became(request, Verdict::Decides));
                // An editor that does not read holds up nothing but this.
                let _ = shared.to_editor.insert(&taken_back(&id));
                return;
            }
            Ours::TooLate => Verdict::TooLate,
            Ours::Full => Verdict::Full,
        }
    };
    shared.tap.put_to(number, Note::Became(request, verdict));
}

/// Writes the word that an answer is no longer wanted; the id stands in it as the agent wrote it.
fn taken_back(id: &[u8]) -> Vec<u8> {
    let mut line =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{TAKES_BACK}\",\"params\":{{\"requestId\":")
            .into_bytes();
    line.extend_from_slice(id);
    line.extend_from_slice(b"}}\n");
    line
}
