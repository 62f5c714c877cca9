//! The platform's own speech, in a child process, so that its faults can't affect the pane.
//!
//! Responsibilities: starting the child, one utterance in it at a time, a time limit for every order, killing it if it
//! hangs and restarting it with backoff. Not here: the lines between the two (`child_messages`), the child's side
//! (`speech_child`, `tts_engine`).
//!
//! Mental model: the child is this very program with a hidden command. It reads orders from its standard input and
//! reports on its standard output, one JSON object per line. Every failure of the child, a crash, a hang, an invalid
//! line, is handled in one way: it is killed with its process group, the current utterance is cut, and a new child is
//! started after a wait that doubles each time. It ends by itself when its orders end, so that nothing goes on speaking
//! when this program is killed. If another process produces the sound, as on Linux, a killed child's words would
//! continue to their end: they are cancelled by the number of its connection (`orphan`), and if that is not known, the
//! next child is given extra time to wait for their end.
//!
//! ```text
//! -> {"order":"speak","id":1,"text":"hello",…}
//! <- {"told":"taken","id":1}   {"told":"begun","id":1}   {"told":"ended","id":1}
//! -> {"order":"stop"}
//! <- {"told":"silent"}
//! ```

use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::Instant;

use super::limits::Limits;
use super::worker::at;
use super::{Voice, VoiceEvent, ssip};
use crate::announce::{Reason, Utterance};

mod child_link;
mod child_messages;
#[cfg(any(test, feature = "system-voice", target_os = "macos", windows))]
mod nvda_engine;
mod orphan;
#[cfg(any(test, feature = "system-voice", target_os = "macos", windows))]
mod speech_child;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "system-voice", target_os = "macos", windows))]
mod tts_engine;

pub(super) use child_link::{ChildFault, ChildProgram, SpeechMeans};
use child_link::{Link, OrderStage, SpeechReport};
use child_messages::SpokenWords;
use orphan::Orphan;

/// The hidden command that turns this program into the child.
pub const COMMAND: &str = "system-voice";

/// The flag before the path of NVDA's controller client.
pub(super) const NVDA_FLAG: &str = "--nvda";

/// How long the child's engine may take to fall silent after its orders have ended; then it counts as hanging.
#[cfg(any(feature = "system-voice", target_os = "macos", windows))]
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(300);

/// The state of the voice's child.
#[derive(Debug)]
enum ChildState {
    /// Nothing happens until then.
    Waiting(Instant),
    Up(Box<Link>),
}

/// Whether the person has heard that the voice is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChildHealth {
    Well,
    Lost,
}

/// A voice that speaks with the platform's own speech.
#[derive(Debug)]
pub(super) struct SystemVoice {
    place: ChildProgram,
    own_pitch: i32,
    limits: Limits,
    state: ChildState,
    engine: Reason,
    news: VecDeque<VoiceEvent>,
    attempt: u32,
    health: ChildHealth,
    leftover: Option<Instant>,
    /// The means to silence what the current child leaves behind.
    orphan: Option<Orphan>,
}

impl SystemVoice {
    /// Starts the child and waits for its engine.
    pub(super) async fn open(
        place: ChildProgram,
        own_pitch: i32,
        limits: Limits,
    ) -> Result<Self, ChildFault> {
        let orphan = Self::expecting(&place).await;
        let mut voice = Self {
            orphan,
            state: ChildState::Up(Box::new(Link::start(&place, limits, None)?)),
            place,
            own_pitch,
            limits,
            engine: Reason::said(""),
            news: VecDeque::new(),
            attempt: 0,
            health: ChildHealth::Well,
            leftover: None,
        };
        loop {
            match voice.step().await? {
                SpeechReport::Opened(engine) => {
                    voice.opened();
                    voice.engine = engine;
                    return Ok(voice);
                }
                SpeechReport::Notice(text) => voice.news.push_back(VoiceEvent::Notice { text }),
                SpeechReport::Begun(_) | SpeechReport::Ended(_) | SpeechReport::Cut(_) => {}
            }
        }
    }

    async fn expecting(place: &ChildProgram) -> Option<Orphan> {
        match &place.daemon {
            Some(socket) => Orphan::expected(socket).await,
            None => None,
        }
    }

    fn opened(&self) {
        if let Some(orphan) = &self.orphan {
            orphan.opened();
        }
    }

    /// Returns the engine's name as reported by the child.
    pub(super) fn engine(&self) -> Reason {
        self.engine.clone()
    }

    /// Waits for the child's next news, starting one first if necessary.
    async fn step(&mut self) -> Result<SpeechReport, ChildFault> {
        loop {
            match &mut self.state {
                ChildState::Waiting(until) => {
                    at(Some(*until)).await;
                    self.orphan = Self::expecting(&self.place).await;
                    let link = Link::start(&self.place, self.limits, self.leftover)?;
                    self.state = ChildState::Up(Box::new(link));
                }
                ChildState::Up(link) => return link.turn().await,
            }
        }
    }

    /// Kills the child and schedules the next one; returns what the person should hear.
    fn lost(&mut self, fault: &ChildFault) -> Option<VoiceEvent> {
        let wait = self.limits.backoff(self.attempt);
        self.attempt = self.attempt.saturating_add(1);
        let state = std::mem::replace(&mut self.state, ChildState::Waiting(Instant::now() + wait));
        if let ChildState::Up(link) = state {
            self.leftover = link.busy.max(self.leftover);
            if let Some(orphan) = self.orphan.take().filter(|_| link.busy.is_some()) {
                tokio::spawn(async move { orphan.silence().await });
            }
        }
        match std::mem::replace(&mut self.health, ChildHealth::Lost) {
            ChildHealth::Well => Some(VoiceEvent::Lost {
                reason: fault.reason(self.place.by),
            }),
            ChildHealth::Lost => None,
        }
    }

    fn tell(&mut self, news: SpeechReport) -> Option<VoiceEvent> {
        match news {
            SpeechReport::Opened(engine) => {
                self.opened();
                self.engine.clone_from(&engine);
                match std::mem::replace(&mut self.health, ChildHealth::Well) {
                    ChildHealth::Well => None,
                    ChildHealth::Lost => Some(VoiceEvent::Recovered { engine }),
                }
            }
            SpeechReport::Begun(id) => {
                self.attempt = 0;
                Some(VoiceEvent::Begun(id))
            }
            SpeechReport::Ended(id) => Some(VoiceEvent::Ended(id)),
            SpeechReport::Cut(id) => Some(VoiceEvent::Cut(id)),
            SpeechReport::Notice(text) => Some(VoiceEvent::Notice { text }),
        }
    }

    fn link(&mut self) -> Option<&mut Link> {
        match &mut self.state {
            ChildState::Up(link) => match link.stage {
                OrderStage::Starting { .. } => None,
                OrderStage::Idle
                | OrderStage::Asked { .. }
                | OrderStage::Queued { .. }
                | OrderStage::Sounding { .. } => Some(link),
            },
            ChildState::Waiting(_) => None,
        }
    }
}

impl Voice for SystemVoice {
    fn speak(&mut self, utterance: Utterance) {
        let own_pitch = self.own_pitch;
        let id = utterance.id;
        // A text of only control characters has nothing to say; an empty text hangs the engine.
        let text = ssip::clean(&utterance.text).replace('\n', " ");
        if text.trim().is_empty() {
            return self.news.push_back(VoiceEvent::Ended(id));
        }
        match self.link() {
            Some(link) => link.speak(SpokenWords::of(utterance, text, own_pitch)),
            None => self.news.push_back(VoiceEvent::Cut(id)),
        }
    }

    fn stop(&mut self) {
        if let Some(link) = self.link() {
            link.stop();
        }
    }

    async fn news(&mut self) -> VoiceEvent {
        loop {
            if let Some(event) = self.news.pop_front() {
                return event;
            }
            let event = match self.step().await {
                Ok(news) => self.tell(news),
                Err(fault) => self.lost(&fault),
            };
            if let Some(event) = event {
                return event;
            }
        }
    }

    async fn close(&mut self) {
        let state = std::mem::replace(&mut self.state, ChildState::Waiting(Instant::now()));
        if let ChildState::Up(link) = state {
            let spoke = link.busy.is_some();
            link.close().await;
            // A hanging child is killed, and can't stop what it began.
            if let Some(orphan) = self.orphan.take().filter(|_| spoke) {
                orphan.silence().await;
            }
        }
    }
}

/// Runs the child: obeys the orders on standard input until they end, with the platform's own speech, or with NVDA
/// through its controller client.
#[cfg(any(feature = "system-voice", target_os = "macos", windows))]
pub fn run_child(nvda: Option<&std::path::Path>) -> ExitCode {
    let farewell = || {
        std::thread::sleep(FAREWELL);
        // The engine hangs in a call. Nothing of it may outlive the program.
        std::process::exit(1);
    };
    let (input, mut output) = (std::io::stdin(), std::io::stdout());
    match nvda {
        Some(library) => {
            let open = |items: &_| nvda_engine::open(library, items);
            speech_child::serve(input, &mut output, open, farewell);
        }
        None => speech_child::serve(input, &mut output, tts_engine::Platform::open, farewell),
    }
    // Without destructors: an engine's may hang, and its words have been stopped.
    std::process::exit(0)
}

/// Runs the child in a build without the platform's own speech: reports that and ends.
#[cfg(not(any(feature = "system-voice", target_os = "macos", windows)))]
pub fn run_child(_nvda: Option<&std::path::Path>) -> ExitCode {
    use std::io::Write as _;
    let told = child_messages::ChildReport::Failed {
        why: child_messages::Why::NotBuilt,
    };
    match std::io::stdout().write_all(&child_messages::line(&told)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
