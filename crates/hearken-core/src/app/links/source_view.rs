//! One source as the person sees it: whether it is up, what it was heard to send, what was announced about it.
//!
//! Responsibilities: each change of its state, and the announcement for it. Not here: the words (`news`), how
//! to speak with it (its dialect).

use std::time::Duration;

use crate::dialect::{
    self, Connection, Dialect, NoEvent, OfferedCommand, PromptableAgent, RemoteMachine,
};
use crate::link::LinkId;
use crate::protocol::{Decoded, Now, RecentValues};
use crate::session::AnswerReach;

use super::heard_protocol::HeardProtocol;
use super::recording_start::RecordingStart;
use super::remarks::Remarks;
use super::start::StartWait;
use super::stream::{LinkPhase, StreamEvent};
use crate::app::Recording;

/// A link that came back is announced once something comes over it, or once it has stayed up for this long: a link that
/// opens and closes again is not back.
const STEADY: Duration = Duration::from_secs(1);

/// The state of one source.
#[derive(Debug)]
pub struct LinkView {
    /// Its id.
    pub id: LinkId,
    /// Its name for a person.
    pub name: String,
    /// Its other name, if it has one.
    other_name: OtherName,
    /// The phase of its life.
    pub phase: LinkPhase,
    /// Whether answers can be sent to it.
    pub answerable: bool,
    /// What a recording contains besides its events; `None` for a source that is not a recording.
    pub recording: Option<Recording>,
    /// What the recording's first lines are.
    beginning: RecordingStart,
    /// How many messages came.
    pub frames: u64,
    /// How many messages could not be understood.
    pub garbage: u64,
    /// How many messages were dropped because of a limit.
    pub dropped: u64,
    /// Whether it is a program that this run started, and that ends with the link.
    pub program: bool,
    remarks: Remarks,
    /// Values shared by recent events.
    recent: RecentValues,
    /// The dialect between its frames and the app.
    dialect: Box<dyn Dialect>,
    last_announced: LastAnnounced,
    /// The wait for its start.
    waiting: StartWait,
    back: Reconnection,
    /// The number of seconds of silence at which the next announcement is due.
    silence_due: u64,
    /// What it was heard to speak.
    speaks: HeardProtocol,
    /// Whether it was announced that the source is an agent's saved conversation.
    kept_told: bool,
    /// Whether it is followed only because another source's address also means it. That source's connection, to
    /// the same server, is announced instead.
    is_beside: bool,
    /// Whether it was announced that an agent here uses a name that was not proved.
    claim_told: bool,
}

/// The name of a source at exactly the address that the person gave, while it is named after another one.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OtherName {
    /// It has only one name.
    None,
    /// That address was not tried yet.
    AsGiven(String),
    /// That address is being tried.
    Tried(String),
}

/// The last announcement about a link, so that each change is announced once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastAnnounced {
    Nothing,
    Unreachable,
    Up,
    Lost,
}

/// What a restored connection has yet to prove; each connection starts afresh.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Reconnection {
    /// When it counts as steady.
    steady_at: Option<Duration>,
    /// When a server that resumed where it had broken off counts as the one that asked, and with what
    /// certainty.
    resumed_at: Option<(Duration, AnswerReach)>,
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
            recent: RecentValues::default(),
            phase: LinkPhase::Disconnected,
            answerable,
            // A recording needs no wait: its file exists or not.
            waiting: match recording {
                Some(_) => StartWait::Over,
                None => StartWait::Unbegun,
            },
            recording,
            beginning: RecordingStart::default(),
            frames: 0,
            garbage: 0,
            dropped: 0,
            program,
            remarks: Remarks::default(),
            dialect,
            last_announced: LastAnnounced::Nothing,
            back: Reconnection::default(),
            silence_due: 0,
            speaks: HeardProtocol::default(),
            kept_told: false,
            claim_told: false,
            is_beside: false,
        }
    }

    /// Marks it as a source that another source's address also means.
    pub(super) fn beside_another(self) -> Self {
        Self {
            is_beside: true,
            waiting: StartWait::Over,
            ..self
        }
    }

    /// Returns whether another source's address also means it, so that its connection is not announced.
    pub(super) fn is_beside(&self) -> bool {
        self.is_beside
    }

    /// Reads one of its texts as an event.
    pub(super) fn read(&mut self, text: &str) -> Result<Box<Decoded>, NoEvent> {
        dialect::read_after(text, &mut self.recent)
    }

    /// Returns whether it should be up but is not.
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

    /// Returns how its dialect speaks with it.
    pub(in crate::app) fn connection(&self) -> Connection {
        self.dialect.connection()
    }

    /// Returns the last remarks for people that a program wrote.
    pub(in crate::app) fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    pub(super) fn remarks_mut(&mut self) -> &mut Remarks {
        &mut self.remarks
    }

    /// Returns when it has stayed up long enough to count as back, or as the one that asked.
    pub(super) fn steady_due(&self) -> Option<Duration> {
        let resumed = self.back.resumed_at.map(|(at, _)| at);
        [self.back.steady_at, resumed].into_iter().flatten().min()
    }

    /// Returns the machines that are present, if it has several.
    pub(in crate::app) fn machines(&self) -> Option<Vec<RemoteMachine>> {
        self.dialect.machines()
    }

    /// Returns the commands that it accepts instead of a prompt.
    pub(in crate::app) fn offers(&self) -> &[OfferedCommand] {
        self.dialect.offers()
    }

    /// Returns the agents known to accept prompts, even before they are heard.
    pub(in crate::app) fn promptable(&self) -> &[PromptableAgent] {
        self.dialect.promptable()
    }

    /// Returns the mode that its agent works in, as the agent names it.
    pub(in crate::app) fn mode(&self) -> Option<String> {
        self.dialect.mode()
    }

    /// Returns its dialect.
    pub(super) fn dialect_mut(&mut self) -> &mut dyn Dialect {
        self.dialect.as_mut()
    }

    /// Returns the wait for its start.
    pub(super) fn waiting(&self) -> StartWait {
        self.waiting
    }

    /// Replaces the wait for its start.
    pub(super) fn wait(&mut self, waiting: StartWait) {
        self.waiting = waiting;
    }

    /// Returns what it was heard to speak.
    pub(super) fn speaks(&self) -> HeardProtocol {
        self.speaks
    }

    /// Sets what it was heard to speak.
    pub(super) fn note_speaks(&mut self, speaks: HeardProtocol) {
        self.speaks = speaks;
    }

    /// Notes that it is an agent's saved conversation; returns whether that is new.
    pub(super) fn first_kept(&mut self) -> bool {
        !std::mem::replace(&mut self.kept_told, true)
    }

    /// Returns what its first lines are, if it is a recording.
    pub(super) fn beginning(&mut self) -> Option<&mut RecordingStart> {
        self.recording.as_ref()?;
        Some(&mut self.beginning)
    }

    /// Notes an AAEP message.
    pub(super) fn speaks_aaep(&mut self) {
        self.speaks.aaep();
    }

    /// Returns when its slow start is to be announced.
    pub(super) fn waits_until(&self) -> Option<Duration> {
        self.waiting.due(self.phase)
    }

    /// Returns when its dialect stops waiting.
    pub(super) fn dialect_due(&self) -> Option<Duration> {
        self.dialect.deadline().filter(|_| !self.is_over())
    }

    /// Replaces its dialect.
    #[cfg(test)]
    pub(in crate::app) fn speak(&mut self, dialect: Box<dyn Dialect>) {
        self.dialect = dialect;
    }

    /// Handles the beginning of an attempt.
    pub(super) fn connecting(&mut self, attempt: u32, now: Now) {
        self.phase.step(StreamEvent::Connect, attempt);
        self.waiting.connecting(now);
    }

    /// Handles the connection; returns whether it is the first one, which is announced.
    pub(super) fn connected(&mut self, now: Now) -> bool {
        self.phase.step(StreamEvent::Connected, 0);
        self.waiting.connected(now);
        match self.last_announced {
            LastAnnounced::Up => false,
            LastAnnounced::Lost => {
                self.back.steady_at = Some(now.monotonic + STEADY);
                false
            }
            LastAnnounced::Nothing | LastAnnounced::Unreachable => {
                self.last_announced = LastAnnounced::Up;
                !self.is_beside
            }
        }
    }

    /// Handles the report that the server resumed where it had broken off.
    pub(super) fn resumed(&mut self, standing: AnswerReach, now: Now) {
        // Some dialects know this only after asking what is open, and the first answer has already announced
        // the return.
        if matches!(self.last_announced, LastAnnounced::Lost | LastAnnounced::Up) {
            self.back.resumed_at = Some((now.monotonic + STEADY, standing));
        }
    }

    /// Returns, once, that it is back: something came, or it stayed up for long enough.
    pub(super) fn is_back(&mut self) -> bool {
        let back = self.back.steady_at.take().is_some();
        if back {
            self.last_announced = LastAnnounced::Up;
        }
        back && !self.is_beside
    }

    /// Returns whether it has stayed up long enough to count as back.
    pub(super) fn is_steady(&self, now: Now) -> bool {
        self.back.steady_at.is_some_and(|at| now.monotonic >= at)
    }

    /// Returns, once, how certain it is that the server that asked is back.
    pub(super) fn take_resumed(&mut self, now: Now) -> Option<AnswerReach> {
        let due = self.back.resumed_at.take_if(|(at, _)| now.monotonic >= *at);
        due.map(|(_, standing)| standing)
    }

    /// Handles the arrival of a message, whatever its content.
    pub(super) fn received(&mut self) {
        self.silence_due = 0;
        self.waiting = StartWait::Over;
        self.phase.receive();
    }

    /// Handles a loss, and returns the phrase key of its announcement.
    pub(super) fn lost(&mut self) -> Option<&'static str> {
        self.left_connection();
        self.waiting.lost();
        let (told, key) = match self.last_announced {
            LastAnnounced::Nothing => (LastAnnounced::Unreachable, Some("link.unreachable")),
            LastAnnounced::Up => (LastAnnounced::Lost, Some("link.lost")),
            LastAnnounced::Unreachable | LastAnnounced::Lost => (self.last_announced, None),
        };
        self.last_announced = told;
        key.filter(|_| !self.is_beside)
    }

    /// Resets everything that belonged to the connection.
    pub(super) fn left_connection(&mut self) {
        self.phase.step(StreamEvent::Disconnect, 0);
        self.back = Reconnection::default();
    }

    /// Notes an attempt at exactly the address that the person gave.
    pub(super) fn tries_as_given(&mut self) {
        if let OtherName::AsGiven(name) = &mut self.other_name {
            self.other_name = OtherName::Tried(std::mem::take(name));
        }
    }

    /// Handles the connection: a source met at the address that the person gave is named after it.
    pub(super) fn met(&mut self) {
        if let OtherName::Tried(name) = &mut self.other_name {
            self.name = std::mem::take(name);
            self.other_name = OtherName::None;
        }
    }

    /// Handles its final failure.
    pub(super) fn failed(&mut self) {
        self.phase.step(StreamEvent::Error, 0);
    }

    /// Handles its regular end.
    pub(super) fn ended(&mut self) {
        // A source that never sent AAEP was of no use.
        let how = if self.speaks.is_foreign() {
            StreamEvent::Error
        } else {
            StreamEvent::Complete
        };
        self.phase.step(how, 0);
    }

    /// Handles the person's leaving it.
    pub(in crate::app) fn left(&mut self) {
        self.phase.step(StreamEvent::Leave, 0);
    }

    /// Returns whether a silence of this length is to be announced, at growing intervals.
    pub(super) fn is_long_silent(&mut self, seconds: u64) -> bool {
        if seconds < self.silence_due {
            return false;
        }
        self.silence_due = seconds.saturating_mul(2);
        // The announcement of a silence says more than that nothing has come yet.
        self.waiting = StartWait::Over;
        true
    }

    /// Returns, once, that the warning about an unproved name is due.
    pub(super) fn warns_of_claim(&mut self) -> bool {
        !std::mem::replace(&mut self.claim_told, true)
    }
}
