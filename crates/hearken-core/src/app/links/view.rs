//! One source as the person sees it: whether it is there, what it was heard to send, what was told of it.
//!
//! Responsibilities: each turn of its life, and which word of it is due. Not here: the words (`news`), how it is
//! spoken with (its dialect).

use std::time::Duration;

use crate::dialect::{self, Connection, Dialect, NoEvent, Offered};
use crate::link::LinkId;
use crate::protocol::{Decoded, Now, Recent};
use crate::session::Standing;

use super::speaks::Speaks;
use super::start::Waiting;
use super::stream::{LinkPhase, StreamEvent};
use crate::app::Recording;
use crate::app::run::remarks::Remarks;

/// A link that came back is told when something came over it, or when it held for this long: one
/// that opens and closes at once is not back.
const STEADY: Duration = Duration::from_secs(1);

/// What is known of one source.
#[derive(Debug)]
pub struct LinkView {
    /// Which one.
    pub id: LinkId,
    /// Its name for a person.
    pub name: String,
    /// The name that it has besides.
    other_name: OtherName,
    /// Where it is in its life.
    pub phase: LinkPhase,
    /// Whether answers can be sent to it.
    pub answerable: bool,
    /// What a recording tells beside its events; absent for everything that is none.
    pub recording: Option<Recording>,
    /// How many messages came.
    pub frames: u64,
    /// How many messages could not be understood.
    pub garbage: u64,
    /// How many messages were left out because of a bound.
    pub dropped: u64,
    /// Whether it is a program that was started for this, and ends with the link.
    pub program: bool,
    remarks: Remarks,
    /// What the events before were made of.
    recent: Recent,
    /// What stands between its frames and us.
    dialect: Box<dyn Dialect>,
    told: Told,
    /// What its start is waited for.
    waiting: Waiting,
    back: Back,
    /// After how many seconds of silence the next word of it is due.
    silence_due: u64,
    /// What it was heard to speak.
    speaks: Speaks,
    /// Whether it was told that somebody speaks here in a name that nothing proved.
    claim_told: bool,
}

/// The name of a source at the very address that the person gave, where it is called by another place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OtherName {
    /// It has only one.
    None,
    /// Nobody is there yet.
    AsGiven(String),
    /// It is tried there.
    Tried(String),
}

/// What the person was told of a link last, so that each turn is told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Unreachable,
    Up,
    Lost,
}

/// What a connection that came back has to show yet; each connection has its own.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Back {
    /// When it is taken for steady.
    steady_at: Option<Duration>,
    /// When a server that went on where it had broken off is taken for the one that asked, and how sure
    /// that is.
    resumed_at: Option<(Duration, Standing)>,
}

impl LinkView {
    pub(super) fn new(
        id: LinkId,
        name: String,
        as_given: Option<String>,
        answerable: bool,
        recording: Option<Recording>,
        program: bool,
        dialect: Box<dyn Dialect>,
    ) -> Self {
        Self {
            id,
            name,
            other_name: as_given.map_or(OtherName::None, OtherName::AsGiven),
            recent: Recent::default(),
            phase: LinkPhase::Disconnected,
            answerable,
            // What a recording holds is there or is not.
            waiting: match recording {
                Some(_) => Waiting::Over,
                None => Waiting::Unbegun,
            },
            recording,
            frames: 0,
            garbage: 0,
            dropped: 0,
            program,
            remarks: Remarks::default(),
            dialect,
            told: Told::Nothing,
            back: Back::default(),
            silence_due: 0,
            speaks: Speaks::default(),
            claim_told: false,
        }
    }

    /// Reads one of its texts: an event.
    pub(super) fn read(&mut self, text: &str) -> Result<Box<Decoded>, NoEvent> {
        dialect::read_after(text, &mut self.recent)
    }

    /// Reads one of its texts before it is taken, if it is an event that is read in the same way whatever comes before it.
    pub(in crate::app) fn read_ahead(&mut self, text: &str) -> Option<Box<Decoded>> {
        match self.dialect.may_pass() {
            true => self.recent.decode_at_once(text),
            false => None,
        }
    }

    /// Returns whether it should be up and is not.
    pub fn is_down(&self) -> bool {
        match self.phase {
            LinkPhase::Disconnected | LinkPhase::Connecting { .. } => !self.connection().rests,
            LinkPhase::Failed => true,
            LinkPhase::Connected | LinkPhase::Streaming | LinkPhase::Completed => false,
        }
    }

    /// Returns whether nothing more will come from it.
    pub fn is_over(&self) -> bool {
        self.phase.is_over()
    }

    /// Returns how it is spoken with.
    pub(in crate::app) fn connection(&self) -> Connection {
        self.dialect.connection()
    }

    /// Returns what a program wrote for people last.
    pub(in crate::app) fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    pub(in crate::app) fn remarks_mut(&mut self) -> &mut Remarks {
        &mut self.remarks
    }

    /// Returns when it has held so long that it is back, or is taken for the one that asked.
    pub(super) fn steady_due(&self) -> Option<Duration> {
        let resumed = self.back.resumed_at.map(|(at, _)| at);
        [self.back.steady_at, resumed].into_iter().flatten().min()
    }

    /// Returns the commands that it takes in the place of a prompt.
    pub(in crate::app) fn offers(&self) -> &[Offered] {
        self.dialect.offers()
    }

    /// Returns how the other side is spoken with.
    pub(super) fn dialect_mut(&mut self) -> &mut dyn Dialect {
        self.dialect.as_mut()
    }

    /// Returns what its start is waited for.
    pub(super) fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// Waits for something else of its start.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.waiting = waiting;
    }

    /// Returns what it was heard to speak.
    pub(super) fn speaks(&self) -> Speaks {
        self.speaks
    }

    /// Takes note of what it was heard to speak.
    pub(super) fn note_speaks(&mut self, speaks: Speaks) {
        self.speaks = speaks;
    }

    /// Takes note of a message of AAEP.
    pub(super) fn speaks_aaep(&mut self) {
        self.speaks.aaep();
    }

    /// Returns when its start has lasted so long that it is told.
    pub(super) fn waits_until(&self) -> Option<Duration> {
        self.waiting.due(self.phase)
    }

    /// Returns when its dialect waits no longer.
    pub(super) fn dialect_due(&self) -> Option<Duration> {
        self.dialect.deadline().filter(|_| !self.is_over())
    }

    /// Has it speak another dialect.
    #[cfg(test)]
    pub(in crate::app) fn speak(&mut self, dialect: Box<dyn Dialect>) {
        self.dialect = dialect;
    }

    /// Takes the begin of an attempt.
    pub(super) fn connecting(&mut self, attempt: u32, now: Now) {
        self.phase.step(StreamEvent::Connect, attempt);
        self.waiting.connecting(now);
    }

    /// Takes the connection; tells whether it is the first one, which is told.
    pub(super) fn connected(&mut self, now: Now) -> bool {
        self.phase.step(StreamEvent::Connected, 0);
        self.waiting.connected(now);
        match self.told {
            Told::Up => false,
            Told::Lost => {
                self.back.steady_at = Some(now.monotonic + STEADY);
                false
            }
            Told::Nothing | Told::Unreachable => {
                self.told = Told::Up;
                true
            }
        }
    }

    /// Takes the word that whoever is there now went on where it had broken off.
    pub(super) fn resumed(&mut self, standing: Standing, now: Now) {
        // Some know it only after they have asked what is open there, and the first answer has told that it is back.
        if matches!(self.told, Told::Lost | Told::Up) {
            self.back.resumed_at = Some((now.monotonic + STEADY, standing));
        }
    }

    /// Tells, once, that it is back: something came, or it held for long enough.
    pub(super) fn is_back(&mut self) -> bool {
        let back = self.back.steady_at.take().is_some();
        if back {
            self.told = Told::Up;
        }
        back
    }

    /// Returns whether it has held long enough to be called back.
    pub(super) fn is_steady(&self, now: Now) -> bool {
        self.back.steady_at.is_some_and(|at| now.monotonic >= at)
    }

    /// Gives, once, how sure it is that the one that asked is there again.
    pub(super) fn take_resumed(&mut self, now: Now) -> Option<Standing> {
        let due = self.back.resumed_at.take_if(|(at, _)| now.monotonic >= *at);
        due.map(|(_, standing)| standing)
    }

    /// Takes a message of whatever content.
    pub(super) fn received(&mut self) {
        self.silence_due = 0;
        self.waiting = Waiting::Over;
        self.phase.receive();
    }

    /// Takes a loss, and names what is to be told of it.
    pub(super) fn lost(&mut self) -> Option<&'static str> {
        self.left_connection();
        self.waiting.lost();
        let (told, key) = match self.told {
            Told::Nothing => (Told::Unreachable, Some("link.unreachable")),
            Told::Up => (Told::Lost, Some("link.lost")),
            Told::Unreachable | Told::Lost => (self.told, None),
        };
        self.told = told;
        key
    }

    /// Forgets everything that belongs to the connection that was left.
    pub(super) fn left_connection(&mut self) {
        self.phase.step(StreamEvent::Disconnect, 0);
        self.back = Back::default();
    }

    /// Takes an attempt at the very address that the person gave.
    pub(super) fn tries_as_given(&mut self) {
        if let OtherName::AsGiven(name) = &mut self.other_name {
            self.other_name = OtherName::Tried(std::mem::take(name));
        }
    }

    /// Takes the connection: at the address that the person gave the source is called by that.
    pub(super) fn met(&mut self) {
        if let OtherName::Tried(name) = &mut self.other_name {
            self.name = std::mem::take(name);
            self.other_name = OtherName::None;
        }
    }

    /// Takes its end: for good, without hope.
    pub(super) fn failed(&mut self) {
        self.phase.step(StreamEvent::Error, 0);
    }

    /// Takes its regular end.
    pub(super) fn ended(&mut self) {
        // A source of which nothing was AAEP was of no use.
        let how = if self.speaks.is_foreign() {
            StreamEvent::Error
        } else {
            StreamEvent::Complete
        };
        self.phase.step(how, 0);
    }

    /// Takes the wish of the person to leave it.
    pub(in crate::app) fn left(&mut self) {
        self.phase.step(StreamEvent::Leave, 0);
    }

    /// Returns whether a silence of so many seconds is to be told: ever more rarely.
    pub(super) fn is_long_silent(&mut self, seconds: u64) -> bool {
        if seconds < self.silence_due {
            return false;
        }
        self.silence_due = seconds.saturating_mul(2);
        // This says more than that nothing came yet.
        self.waiting = Waiting::Over;
        true
    }

    /// Tells, once, that nobody was warned of a mere claim yet.
    pub(super) fn warns_of_claim(&mut self) -> bool {
        !std::mem::replace(&mut self.claim_told, true)
    }
}
