//! Recognises the dialect of a source from its first frames.
//!
//! Responsibilities: asking each dialect about a text, holding frames that prove nothing yet, within a bound, and
//! handing them in order to the machine of the recognised dialect. Not here: what each dialect looks like (its own
//! module), what belongs to no dialect (`format_names`), where a source is met meanwhile (`unrecognised_server`).
//!
//! # Mental model
//! In AAEP the subscriber speaks first, so a source is treated as AAEP until it proves to be something else. A frame
//! that is surely of one dialect decides. One that may be of another (a greeting before its first message) is held back
//! until a frame decides or [`PATIENCE`] has passed; then AAEP's machine judges it, and the person hears what it looks
//! like. A copy is kept for the dialect that may be recognised later. A frame that fits no dialect is judged
//! immediately.
//!
//! A program that is started may speak any dialect, and a protocol in which the program speaks first can do nothing
//! with a request that it does not know. So AAEP's request waits for a moment ([`COURTESY`]): a program that speaks in
//! that time is recognised by what it says; one that does not is waiting to be spoken to, as AAEP producers do.
//!
//! # Tuning by symptom
//! - What a source sends is reported as something else, although it is recognised later: [`PATIENCE`] is too short.
//! - A source that sends nothing useful stays silent for long: [`PATIENCE`] is too long.
//! - A program of another protocol starts slowly, and is spoken to in AAEP: [`COURTESY`] is too short.
//! - An AAEP producer that waits for the handshake is heard late: [`COURTESY`] is too long.
//! - A source with a long greeting is never recognised: [`MOST_FRAMES`] or [`MOST_BYTES`] is too low.

use crate::Cx;
use std::time::Duration;

use crate::link::{Frame, LinkEvent, ServerRoute};
use crate::protocol::Reply;

use super::aaep::Aaep;
use super::descriptor::{DIALECTS, Descriptor};
use super::unrecognised_server::SearchStage;
use super::{
    Connection, Dialect, DialectOutput, DialectSetup, JsonTexts, OfferedCommand, PersonRequest,
    PromptableAgent, RequestNumbers, TransportKind, bare,
};

/// How many frames of an unrecognised source are kept: a program may first print some lines, and a server may first
/// send some signs of life.
const MOST_FRAMES: usize = 64;

/// How many bytes of them are kept: many times the size of 64 lines for people.
const MOST_BYTES: usize = 256 * 1024;

/// How long a frame that proves nothing waits for one that does: the first frames mostly come together, and a longer
/// silence would worry people.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a started program has to speak first: compiled programs do so immediately, and half a second more at the
/// start of one that waits does no harm.
const COURTESY: Duration = Duration::from_millis(500);

/// Whether a text belongs to a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognition {
    /// Nothing else looks like this.
    Surely,
    /// Its sources send such texts, but so do others.
    Perhaps,
    /// No.
    No,
}

/// How many bytes of a frame are examined, so that a frame of many texts is not read to its end twice while a key
/// waits.
const MOST_LOOKED_AT: usize = 16 * 1024;

/// Returns the dialect that a text surely belongs to; of a frame, the dialect of the first such text in it.
pub fn recognise(text: &str) -> Option<&'static Descriptor> {
    let surely = |text: &str| {
        DIALECTS
            .iter()
            .find(|row| (row.recognise)(text) == Recognition::Surely)
    };
    let text = bare(text);
    let mut texts = JsonTexts::default();
    loop {
        let found = surely(texts.next(text)?);
        if found.is_some() || texts.passed() > MOST_LOOKED_AT {
            return found;
        }
    }
}

/// Returns the first text in a frame.
fn first_text(text: &str) -> &str {
    let text = bare(text);
    JsonTexts::default().next(text).unwrap_or(text)
}

/// The machine that treats a source as AAEP until it is recognised.
#[derive(Debug)]
pub(crate) struct UndecidedMachine {
    /// The machine in use: AAEP's until another dialect is recognised.
    machine: Box<dyn Dialect>,
    /// What is kept until a dialect is recognised; `None` afterwards.
    open: Option<Unrecognised>,
}

/// The state of a source that may still be of any dialect.
#[derive(Debug)]
struct Unrecognised {
    start: DialectSetup,
    kept: Vec<Frame>,
    bytes: usize,
    /// How many of the kept frames AAEP's machine has judged already.
    judged: usize,
    /// When the oldest of the others has waited long enough.
    until: Option<Duration>,
    /// Whether the connection is up.
    up: bool,
    /// Where the source is met.
    meeting: SearchStage,
    /// Until when AAEP's machine does not hear of the connection, so that a program may speak first.
    courtesy: Option<Duration>,
}

impl UndecidedMachine {
    pub(crate) fn new(start: DialectSetup) -> Self {
        let open = Unrecognised {
            start: start.clone(),
            kept: Vec::new(),
            bytes: 0,
            judged: 0,
            until: None,
            up: false,
            meeting: SearchStage::new(),
            courtesy: None,
        };
        Self {
            machine: Box::new(Aaep::new(start)),
            open: Some(open),
        }
    }

    fn first_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        let Some(open) = &mut self.open else {
            return self.machine.news(&LinkEvent::Frame(frame.clone()), cx);
        };
        if let Some(row) = recognise(&frame.text) {
            self.decide(row, cx);
            return self.machine.news(&LinkEvent::Frame(frame.clone()), cx);
        }
        if open.meeting.reads_a_document() {
            // Some servers answer every path with some JSON.
            return self.stay(cx);
        }
        open.bytes += frame.text.len();
        if open.kept.len() >= MOST_FRAMES || open.bytes > MOST_BYTES {
            // No dialect is recognised: AAEP's machine reports what it looks like.
            self.stay(cx);
            return self.machine.news(&LinkEvent::Frame(frame.clone()), cx);
        }
        open.kept.push(frame.clone());
        let text = first_text(&frame.text);
        let perhaps = DIALECTS
            .iter()
            .any(|row| (row.recognise)(text) == Recognition::Perhaps);
        if perhaps {
            open.until.get_or_insert(cx.now.monotonic + PATIENCE);
        } else {
            self.judge_kept(cx);
        }
    }

    /// Passes an event on to the machine and checks its outputs: if AAEP has no way to the source left, the exact
    /// address that the person gave is tried.
    fn pass_on(&mut self, event: &LinkEvent, cx: &mut Cx<'_>) {
        let Some(open) = &mut self.open else {
            return self.machine.news(event, cx);
        };
        let mut wishes = Vec::new();
        self.machine.news(event, &mut Cx::new(cx.now, &mut wishes));
        open.meeting.take_note(&wishes);
        if let Some(because) = open.meeting.over(&open.start, event, &wishes) {
            wishes.retain(|wish| !matches!(wish, DialectOutput::Close(_)));
            wishes.push(DialectOutput::ChangeWay(ServerRoute::AsGiven));
            open.meeting.leave(because);
            // This machine still reports what unrecognised frames look like, but sends nothing.
            self.machine = Box::new(Aaep::new(DialectSetup {
                carrier: TransportKind::OneWay,
                plain: true,
                ..open.start.clone()
            }));
        }
        cx.out.extend(wishes);
    }

    /// Reports the connection to AAEP's machine, so that it may now speak.
    fn speak(&mut self, cx: &mut Cx<'_>) {
        let waited = self.open.as_mut().and_then(|open| open.courtesy.take());
        if waited.is_some() {
            self.machine.news(&LinkEvent::Connected, cx);
        }
    }

    /// Has AAEP's machine judge the frames that waited.
    fn judge_kept(&mut self, cx: &mut Cx<'_>) {
        let Some(open) = &mut self.open else {
            return;
        };
        open.until = None;
        for frame in open.kept.iter().skip(open.judged) {
            self.machine.news(&LinkEvent::Frame(frame.clone()), cx);
        }
        open.judged = open.kept.len();
    }

    /// Settles on AAEP's machine, and has it judge the kept frames.
    fn stay(&mut self, cx: &mut Cx<'_>) {
        self.speak(cx);
        self.judge_kept(cx);
        let open = self.open.take();
        // AAEP's own ways have failed, and the address as given is not one of them.
        if let Some(because) = open.and_then(|open| open.meeting.failed()) {
            cx.out.push(DialectOutput::Close(because));
        }
    }

    /// Hands the kept frames, and everything after them, to the machine of a dialect.
    fn decide(&mut self, row: &Descriptor, cx: &mut Cx<'_>) {
        if row.is_native() {
            return self.stay(cx);
        }
        let Some(mut open) = self.open.take() else {
            return;
        };
        if let Some(followed) = open.meeting.followed() {
            open.start.stream = followed.clone();
        }
        if open.courtesy.is_none() {
            // What AAEP's machine began is void: the other side never understood it.
            cx.out.push(DialectOutput::LastWords(None));
        }
        self.machine = row.machine(DialectSetup {
            numbers: RequestNumbers::of_another(),
            ..open.start
        });
        if open.up {
            self.machine.news(&LinkEvent::Connected, cx);
        }
        for (at, frame) in open.kept.into_iter().enumerate() {
            let mut wishes = Vec::new();
            let event = LinkEvent::Frame(frame);
            self.machine.news(&event, &mut Cx::new(cx.now, &mut wishes));
            // Unreadable frames were reported when they were first judged, and count only once.
            let told = |wish: &DialectOutput| {
                at < open.judged && matches!(wish, DialectOutput::Unread(..))
            };
            cx.out.extend(wishes.into_iter().filter(|wish| !told(wish)));
        }
    }
}

impl Dialect for UndecidedMachine {
    fn may_pass(&self) -> bool {
        self.open.is_none() && self.machine.may_pass()
    }

    fn passes(&mut self, frame: &str) -> bool {
        self.open.is_none() && self.machine.passes(frame)
    }

    fn news(&mut self, event: &LinkEvent, cx: &mut Cx<'_>) {
        match event {
            LinkEvent::Frame(frame) => return self.on_frame(frame, cx),
            LinkEvent::Connected => {
                if let Some(open) = &mut self.open {
                    open.up = true;
                    if open.start.carrier == TransportKind::Lines && !open.start.plain {
                        open.courtesy = Some(cx.now.monotonic + COURTESY);
                        return;
                    }
                }
            }
            // Nothing more is coming that could identify the dialect.
            LinkEvent::Ended | LinkEvent::Lost { .. } | LinkEvent::Failed { .. } => {
                self.judge_kept(cx);
                if let Some(open) = &mut self.open {
                    open.up = false;
                    open.courtesy = None;
                    // A dialect recognised over the next connection does not get the frames of this one.
                    open.kept.clear();
                    (open.bytes, open.judged) = (0, 0);
                }
            }
            LinkEvent::Connecting { .. }
            | LinkEvent::Resumed
            | LinkEvent::Replied { .. }
            | LinkEvent::Answered { .. }
            | LinkEvent::Silent { .. }
            | LinkEvent::Remark { .. }
            | LinkEvent::Dropped { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Missed { .. }
            | LinkEvent::CaughtUp
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
        if let Some(open) = &mut self.open {
            open.meeting.met(event, &open.start, cx.out);
        }
        self.pass_on(event, cx);
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        match self.open.is_some() {
            true => self.first_frame(frame, cx),
            false => self.machine.on_frame(frame, cx),
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        self.machine.reply(request, reply, cx);
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        match (wish, &mut self.open) {
            (PersonRequest::Terms(terms), Some(open)) => open.start.terms.clone_from(terms),
            (PersonRequest::Terms(_), None)
            | (
                PersonRequest::Prompt(_)
                | PersonRequest::Stop
                | PersonRequest::Abandon
                | PersonRequest::Set(_)
                | PersonRequest::ForAgent(..),
                _,
            ) => {}
        }
        self.machine.on_person_request(wish, cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        let due = |open: &Unrecognised| open.until.is_some_and(|until| cx.now.monotonic >= until);
        if self.open.as_ref().is_some_and(due) {
            self.judge_kept(cx);
        }
        let polite =
            |open: &Unrecognised| open.courtesy.is_some_and(|until| cx.now.monotonic >= until);
        if self.open.as_ref().is_some_and(polite) {
            self.speak(cx);
        }
        self.machine.tick(cx);
    }

    fn deadline(&self) -> Option<Duration> {
        let open = self.open.as_ref();
        let waits = open.and_then(|open| open.until);
        let courtesy = open.and_then(|open| open.courtesy);
        let all = [waits, courtesy, self.machine.deadline()];
        all.into_iter().flatten().min()
    }

    fn connection(&self) -> Connection {
        let silent = |open: &Unrecognised| open.courtesy.is_some() || open.meeting.is_as_given();
        match self.open.as_ref().is_some_and(silent) {
            // It is not known yet how to speak with it.
            true => Connection::default(),
            false => self.machine.connection(),
        }
    }

    fn offers(&self) -> &[OfferedCommand] {
        self.machine.offers()
    }

    fn mode(&self) -> Option<String> {
        self.machine.mode()
    }

    fn promptable(&self) -> &[PromptableAgent] {
        self.machine.promptable()
    }
}

#[cfg(test)]
#[path = "tests/recognise.rs"]
mod tests;
