//! News of sources: up, down, what arrived, what was left out.

use std::time::Duration;

use crate::announce::{Arg, Class, Kind};
use crate::config::HandshakeConfig;
use crate::link::{Fault, LinkEvent, LinkId};
use crate::protocol::{Capabilities, Now, Unobserved};
use crate::session::{PromptId, Standing};

use super::foreign::Speaks;
use super::handshake::Handshake;
use super::run::remarks::Remarks;
use super::stream::{LinkPhase, StreamEvent};
use super::terms::Difference;
use super::waiting::Waiting;
use super::ways::Ways;
use super::{App, Door, Recording, SourceSetup};

/// A link that came back is told when something came over it, or when it held for this long: one
/// that opens and closes at once is not back.
const STEADY: Duration = Duration::from_secs(1);

/// Holds what is known of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkView {
    /// Which one.
    pub id: LinkId,
    /// Its name for a person.
    pub name: String,
    /// Where it is in its life.
    pub phase: LinkPhase,
    /// Whether answers can be sent to it.
    pub answerable: bool,
    /// What a recording tells beside its events; absent for everything that is none.
    pub recording: Option<Recording>,
    /// How many frames came.
    pub frames: u64,
    /// How many frames could not be understood.
    pub garbage: u64,
    /// How many frames were left out because of a bound.
    pub dropped: u64,
    /// Whether it is a program that was started for this, and ends with the link.
    pub program: bool,
    pub(super) remarks: Remarks,
    pub(super) subscription: String,
    /// How it shakes hands, and how far it is with that.
    pub(super) door: Door,
    pub(super) handshake: Handshake,
    /// The terms that were asked for with the last request for a subscription.
    pub(super) requested: Capabilities,
    /// By which way it is followed, and which others there are.
    pub(super) ways: Ways,
    /// The differences that were told last.
    pub(super) terms_told: Vec<Difference>,
    /// What is asked of it, where that is not as for all.
    pub(super) asks: Option<HandshakeConfig>,
    /// Which way it was last told to go, where that shows only on the connection itself.
    pub(super) way_told: Option<&'static str>,
    /// Why it is about to be given up by our own decision.
    pub(super) refused: Option<Fault>,
    /// Extensions that it can't tell from others, and that are not asked for any more.
    pub(super) left_out: Vec<String>,
    /// After how many seconds of silence the next word of it is due.
    pub(super) silence_due: u64,
    told: Told,
    /// What its start is waited for.
    pub(super) waiting: Waiting,
    /// When a link that came back is taken for steady.
    pub(super) steady_at: Option<Duration>,
    /// Whether this attempt follows a subscription again that its server may still know.
    pub(super) resumes: bool,
    /// When a server that went on where it had broken off is taken for the one that asked, and how sure
    /// that is.
    pub(super) resumed_at: Option<(Duration, Standing)>,
    /// What it was heard to speak.
    pub(super) speaks: Speaks,
    /// Whether it was told that somebody speaks here in a name that nothing proved.
    pub(super) claim_told: bool,
}

/// Says what the person was told of a link last, so that each turn is told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Unreachable,
    Up,
    Lost,
}

impl LinkView {
    /// Tells whether it should be up and is not.
    pub fn is_down(&self) -> bool {
        match self.phase {
            LinkPhase::Disconnected | LinkPhase::Connecting { .. } | LinkPhase::Failed => true,
            LinkPhase::Connected | LinkPhase::Streaming | LinkPhase::Completed => false,
        }
    }

    /// Gives when it has held so long that it is back, or is taken for the one that asked.
    pub(super) fn steady_due(&self) -> Option<Duration> {
        let resumed = self.resumed_at.map(|(at, _)| at);
        [self.steady_at, resumed].into_iter().flatten().min()
    }

    pub(super) fn new(id: LinkId, source: SourceSetup, ids: &mut u64) -> Self {
        Self {
            id,
            name: source.name,
            phase: LinkPhase::Disconnected,
            answerable: source.answerable,
            // What a recording holds is there or is not.
            waiting: match source.recording {
                Some(_) => Waiting::Over,
                None => Waiting::Unbegun,
            },
            recording: source.recording,
            program: source.program,
            remarks: Remarks::default(),
            frames: 0,
            garbage: 0,
            dropped: 0,
            subscription: format!("sub_{:016x}{:016x}", next_id(ids), next_id(ids)),
            door: source.door,
            handshake: Handshake::default(),
            requested: Capabilities::default(),
            ways: Ways::new(source.way),
            terms_told: Vec::new(),
            asks: source.handshake,
            way_told: None,
            refused: None,
            left_out: Vec::new(),
            silence_due: 0,
            told: Told::Nothing,
            steady_at: None,
            resumes: false,
            resumed_at: None,
            speaks: Speaks::default(),
            claim_told: false,
        }
    }
}

/// Gives the next number of a SplitMix64 sequence: enough for ids, which are no secrets.
fn next_id(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl App {
    pub(super) fn link(&mut self, id: LinkId, event: LinkEvent, now: Now) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        if view.phase.is_over() && !matches!(event, LinkEvent::Replied { .. }) {
            // The person left it; what was under way is of no interest any more.
            return;
        }
        match event {
            LinkEvent::Connecting { attempt } => {
                view.phase.step(StreamEvent::Connect, attempt);
                view.waiting.connecting(now);
                self.shake_hands(id);
            }
            LinkEvent::Connected => self.connected(id, now),
            LinkEvent::Resumed => self.resumed(id, now),
            LinkEvent::NoSubscriptions => self.no_subscriptions(id, now),
            // What comes in at a listening source, and what is followed next, is its dialect's business.
            LinkEvent::Listening { .. }
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::StreamEnded => {}
            LinkEvent::Frame(frame) => self.frame(id, frame, now),
            LinkEvent::Lost { fault, .. } => self.lost(id, &fault, now),
            LinkEvent::Failed { fault } => {
                if !self.other_way_after(id, &fault, now) {
                    self.failed(id, &fault, now);
                }
            }
            LinkEvent::Ended => self.ended(id, now),
            LinkEvent::Replied { request, outcome } => self.replied(request, outcome, now),
            LinkEvent::Remark { line } => self.remark(id, line),
            LinkEvent::Answered { request, outcome } => self.answered(id, request, outcome, now),
            LinkEvent::Silent { seconds } => self.silent(id, seconds, now),
            LinkEvent::Dropped { fault, count } => {
                view.waiting = Waiting::Over;
                view.dropped += count;
                let args = [
                    ("count", Arg::own(count)),
                    ("source", Arg::Own(view.name.clone())),
                    ("reason", Arg::Own(self.fault_words(&fault))),
                ];
                self.say(Class::Outcome, Kind::Connection, "link.dropped", &args, now);
            }
        }
    }

    fn connected(&mut self, id: LinkId, now: Now) {
        self.sessions.link_connected(id, now);
        self.shake_hands_inside(id);
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        view.phase.step(StreamEvent::Connected, 0);
        view.waiting.connected(now);
        let told = view.told;
        // What the person changed while nobody was there.
        self.renew_terms(id);
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        match told {
            Told::Up => {}
            Told::Lost => {
                view.steady_at = Some(now.monotonic + STEADY);
                view.resumed_at = view
                    .resumes
                    .then_some((now.monotonic + STEADY, Standing::Live));
            }
            Told::Nothing | Told::Unreachable => {
                view.told = Told::Up;
                let phrases = self.announcer.phrases();
                let how = match (view.answerable, &view.handshake) {
                    (false, _) | (true, Handshake::Asked { .. } | Handshake::Manifest { .. }) => {
                        String::new()
                    }
                    (true, Handshake::Agreed(_)) => phrases.text("link.handshake", &[]),
                    (true, Handshake::Idle | Handshake::Plain) => {
                        phrases.text("link.plain_pair", &[])
                    }
                };
                let made = view.recording.as_ref().map(|recording| recording.made);
                let source = ("source", Arg::Own(view.name.clone()));
                match made {
                    None => {
                        let args = [source, ("how", Arg::Own(how))];
                        // With one source it needs no name; how it connected is a matter of detail.
                        let short = match self.links.len() {
                            0 | 1 => "link.connected.only",
                            _ => "link.connected.short",
                        };
                        let announcement = self.announcer.say_in_short(
                            (Class::Outcome, Kind::Connection),
                            ("link.connected", short),
                            &args,
                            now,
                        );
                        self.emit(announcement, now);
                    }
                    Some(made) => {
                        let made = made.map(|made| made.strftime("%Y-%m-%d %H:%M UTC").to_string());
                        let made = ("made", Arg::own(made.unwrap_or_default()));
                        let key = "replay.started";
                        self.say(Class::Outcome, Kind::Connection, key, &[source, made], now);
                    }
                }
            }
        }
    }

    /// Takes the news that a server goes on behind its last event: without a subscription that is all
    /// there is to tell that it is the one that asked.
    fn resumed(&mut self, id: LinkId, now: Now) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        match view.handshake {
            Handshake::Idle | Handshake::Plain if view.told == Told::Lost => {
                view.resumed_at = Some((now.monotonic + STEADY, Standing::Resumed));
            }
            // A subscription that is followed again proves more; a new one, that the old is forgotten.
            Handshake::Idle
            | Handshake::Plain
            | Handshake::Manifest { .. }
            | Handshake::Asked { .. }
            | Handshake::Agreed(_) => {}
        }
    }

    /// Tells that a link is back.
    pub(super) fn link_back(&mut self, id: LinkId, now: Now) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        if view.steady_at.take().is_some() {
            view.told = Told::Up;
            let args = [("source", Arg::Own(view.name.clone()))];
            self.say(Class::Outcome, Kind::Connection, "link.back", &args, now);
        }
    }

    /// Tells of links that held long enough to be called back.
    pub(super) fn tick_links(&mut self, now: Now) {
        let steady: Vec<LinkId> = self
            .links
            .iter()
            .filter(|view| view.steady_at.is_some_and(|at| now.monotonic >= at))
            .map(|view| view.id)
            .collect();
        for id in steady {
            self.link_back(id, now);
        }
        let resumed: Vec<(LinkId, Standing)> = self
            .links
            .iter_mut()
            .filter_map(|view| {
                let (_, standing) = view.resumed_at.take_if(|(at, _)| now.monotonic >= *at)?;
                Some((view.id, standing))
            })
            .collect();
        for (id, standing) in resumed {
            // A server that waits for the answer says nothing more by itself: without this, nobody could
            // give it. Who knows its own subscription is the one that asked. Who goes on behind the id of
            // an event had to say where it stands if it could not (B.1.5), but may only not know better.
            let changes = self.sessions.link_resumed(id, standing, now);
            if !changes.is_empty() {
                self.questions.note_change(now.monotonic);
            }
            self.tell(changes, now);
        }
    }

    /// Tells which answer went out while a recording was made.
    pub(super) fn tell_recorded(&mut self, id: LinkId, number: u64, prompt: PromptId, now: Now) {
        let answer = self
            .links
            .get(id.0)
            .and_then(|view| view.recording.as_ref()?.answers.get(&number))
            .map(|(answer, _)| answer.clone());
        if let (Some(answer), Some(prompt)) = (answer, self.sessions.prompt(prompt).cloned()) {
            let words = self.announcer.answer_words(&prompt, &answer);
            let args = [("n", Arg::own(prompt.id.0)), ("answer", Arg::Own(words))];
            self.tell_about(Class::Alert, &prompt, "question.recorded", &args, now);
            let id = prompt.id;
            let changes = self
                .sessions
                .answered_before(id, answer, now, &mut Unobserved);
            self.tell(changes, now);
        }
    }

    /// Takes what a link still held back, because nothing more comes that it could wait for.
    pub(super) fn release(&mut self, id: LinkId, now: Now) {
        let changes = self.sessions.release_link(id, now);
        self.tell(changes, now);
    }

    fn lost(&mut self, id: LinkId, fault: &Fault, now: Now) {
        self.release(id, now);
        self.loosen(id, fault);
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        view.phase.step(StreamEvent::Disconnect, 0);
        view.waiting.lost();
        view.steady_at = None;
        view.resumed_at = None;
        let key = match view.told {
            Told::Nothing => "link.unreachable",
            Told::Up => "link.lost",
            Told::Unreachable | Told::Lost => return self.unsure(id, now),
        };
        view.told = if view.told == Told::Up {
            Told::Lost
        } else {
            Told::Unreachable
        };
        let name = view.name.clone();
        let args = [
            ("source", Arg::Own(name)),
            ("reason", Arg::Own(self.fault_words(fault))),
        ];
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
        self.unsure(id, now);
    }

    pub(super) fn failed(&mut self, id: LinkId, fault: &Fault, now: Now) {
        self.release(id, now);
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        view.phase.step(StreamEvent::Error, 0);
        let name = view.name.clone();
        let args = [
            ("source", Arg::Own(name)),
            ("reason", Arg::Own(self.fault_words(fault))),
            ("more", Arg::Own(self.has_remarked(id))),
        ];
        self.say(Class::Outcome, Kind::Connection, "link.failed", &args, now);
        self.unsure(id, now);
    }

    fn ended(&mut self, id: LinkId, now: Now) {
        self.release(id, now);
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        // A source of which nothing was AAEP was of no use.
        let how = if view.speaks.is_foreign() {
            StreamEvent::Error
        } else {
            StreamEvent::Complete
        };
        view.phase.step(how, 0);
        let key = if view.recording.is_some() {
            "replay.ended"
        } else {
            "link.ended"
        };
        let args = [("source", Arg::Own(view.name.clone()))];
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
        self.unsure(id, now);
    }

    /// Tells the fate of each question whose link is gone.
    pub(super) fn unsure(&mut self, id: LinkId, now: Now) {
        let over = self
            .links
            .get(id.0)
            .is_some_and(|view| view.phase.is_over());
        let unsure = if over {
            self.sessions.link_over(id, now)
        } else {
            self.sessions.link_lost(id, now)
        };
        for prompt in unsure {
            let Some(prompt) = self.sessions.prompt(prompt).cloned() else {
                continue;
            };
            let wishes = self.queue.withdraw(prompt.id, now.monotonic);
            self.wish(wishes);
            let (key, args) = self.announcer.unsure(&prompt);
            self.tell_about(Class::Alert, &prompt, key, &args, now);
        }
        self.questions.note_change(now.monotonic);
    }

    /// Words a number that has words of its own where it is a usual one.
    fn numbered(&self, key: &str, number: i64) -> String {
        let phrases = self.announcer.phrases();
        let exact = format!("{key}.{number}");
        let key = if phrases.has(&exact) { &exact } else { key };
        phrases.text(key, &[("number", Arg::own(number))])
    }

    /// Words a fault.
    pub(super) fn fault_words(&self, fault: &Fault) -> String {
        let phrases = self.announcer.phrases();
        match fault {
            Fault::Refused => phrases.text("fault.refused", &[]),
            Fault::UnknownHost => phrases.text("fault.unknown_host", &[]),
            Fault::TimedOut => phrases.text("fault.timed_out", &[]),
            Fault::Closed => phrases.text("fault.closed", &[]),
            Fault::Status { status, .. } => {
                let exact = format!("fault.status.{status}");
                let key = match status {
                    _ if phrases.has(&exact) => exact.as_str(),
                    500..=599 => "fault.status.5",
                    _ => "fault.status",
                };
                phrases.text(key, &[("status", Arg::own(status))])
            }
            Fault::ClosedWith { code, .. } => self.numbered("fault.close", i64::from(*code)),
            Fault::Exited { code } => self.numbered("fault.exit", i64::from(*code)),
            Fault::Killed { signal } => self.numbered("fault.signal", i64::from(*signal)),
            Fault::NotWebSocket(reason) => phrases.text(
                "fault.other",
                &[("reason", Arg::Own(phrases.reason(reason)))],
            ),
            Fault::NotEventStream { content_type } => phrases.text(
                "fault.not_event_stream",
                &[("content_type", Arg::Own(content_type.clone()))],
            ),
            Fault::Tls(reason) => {
                phrases.text("fault.tls", &[("reason", Arg::Own(phrases.reason(reason)))])
            }
            Fault::TooLarge { limit } => {
                phrases.text("fault.too_large", &[("limit", Arg::own(limit))])
            }
            Fault::OneWay => phrases.text("fault.one_way", &[]),
            Fault::Rejected { reason, .. } => {
                phrases.text("fault.rejected", &[("reason", Arg::Own(reason.clone()))])
            }
            Fault::Unusable(reason) | Fault::Other(reason) => phrases.text(
                "fault.other",
                &[("reason", Arg::Own(phrases.reason(reason)))],
            ),
        }
    }
}
