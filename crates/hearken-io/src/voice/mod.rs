//! Words to sound: one thread that owns an engine and never blocks anybody else.
//!
//! Responsibilities: finding an engine, speaking one utterance at a time, stopping at once, telling
//! what was begun, ended or cut, and saying in words when there is no voice. Not here: what is said
//! and in which order (`announce`).
//!
//! The way of an utterance:
//!
//! ```text
//! VoiceHandle -> mailbox -> worker (its own thread) -> an engine, behind trait Voice
//!                              |                          speech_dispatcher: dialogue, ssip, language
//! VoiceEvent <-- sink <--------'                          command: program, words
//!                                                         silence
//! ```
//!
//! The mailbox has room for one utterance and a stop overtakes it. The worker keeps the accounts:
//! for each [`VoiceHandle::speak`] there is exactly one [`VoiceEvent::Ended`] or
//! [`VoiceEvent::Cut`], whatever the engine does.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

pub use crate::announce::VoiceEvent;
use crate::announce::{Reason, Utterance};
use crate::config::{VoiceChoice, VoiceConfig};

mod choose;
mod command;
mod cue;
mod dialogue;
mod language;
mod limits;
mod mailbox;
mod ours;
mod pitch;
mod program;
pub mod reader;
mod silence;
mod sink;
mod speech_dispatcher;
mod ssip;
pub mod system;
mod tone;
pub mod words;
mod worker;

#[cfg(test)]
pub mod tests;

pub use crate::platform::{OWN_VOICE, SPEAKS};
pub use choose::Surroundings;
pub use sink::VoiceSink;

#[cfg(test)]
use crate::announce::UtteranceId;
#[cfg(test)]
use crate::config::Delivery;
use limits::Limits;
use mailbox::Mailbox;

/// How long a dropped handle waits for silence; one that was closed in order does not wait.
const DROP_WAIT: Duration = Duration::from_millis(150);

/// Turns utterances into sound, one at a time, on the voice's own thread.
///
/// No method waits for the engine but [`Voice::close`]. The caller stops what is being said before
/// it hands the next utterance over, and ignores what is told about one that is settled.
pub trait Voice {
    /// Begins to say an utterance.
    fn speak(&mut self, utterance: Utterance);
    /// Silences what is being said, at once; nothing more need be told about it.
    fn stop(&mut self);
    /// Waits for the next news; it may be dropped at any time without losing any.
    fn news(&mut self) -> impl Future<Output = VoiceEvent>;
    /// Takes leave of the engine and leaves nothing speaking; the caller bounds the time.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// Hands utterances to the voice's thread; nothing here ever waits for an engine.
///
/// Dropping it without [`VoiceHandle::close`] silences the voice and waits for that 150 ms at most,
/// so that nothing goes on speaking after a panic.
#[derive(Debug)]
pub struct VoiceHandle {
    mailbox: Arc<Mailbox>,
    sink: VoiceSink,
}

impl VoiceHandle {
    /// Has an utterance said, cutting the one that is being said.
    ///
    /// Exactly one of [`VoiceEvent::Ended`] and [`VoiceEvent::Cut`] follows.
    pub fn speak(&self, utterance: Utterance) {
        if let Err(id) = self.mailbox.speak(utterance) {
            self.sink.cut(id);
        }
    }

    /// Silences the voice; it overtakes everything that was handed over before.
    pub fn stop(&self) {
        self.mailbox.stop();
    }

    /// Ends the voice: what is being said may end within `linger` and is cut after it.
    ///
    /// The wish goes out at once; the future is done when nothing speaks any more, half a second
    /// after `linger` at the latest.
    pub fn close(self, linger: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.mailbox.close(linger);
        async move {
            self.mailbox.left().await;
        }
    }
}

impl Drop for VoiceHandle {
    fn drop(&mut self) {
        self.mailbox.close(Duration::ZERO);
        self.mailbox.left_within(DROP_WAIT);
    }
}

/// Opens the chosen voice as this process's environment has it.
///
/// It returns at once. The first news is [`VoiceEvent::Ready`] or [`VoiceEvent::None`], possibly
/// after a [`VoiceEvent::Notice`]; what is handed over before waits for it. With a screen reader
/// present `auto` means no voice of our own, because two voices at once are worse than none.
pub fn open(
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader_present: bool,
    sink: VoiceSink,
) -> VoiceHandle {
    open_in(
        Surroundings::from_env(),
        choice,
        config,
        reader_present,
        sink,
    )
}

/// Opens the chosen voice in given surroundings instead of this process's environment.
pub fn open_in(
    surroundings: Surroundings,
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader_present: bool,
    sink: VoiceSink,
) -> VoiceHandle {
    open_limited(
        surroundings,
        choice,
        config,
        reader_present,
        sink,
        Limits::default(),
    )
}

fn open_limited(
    surroundings: Surroundings,
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader_present: bool,
    sink: VoiceSink,
    limits: Limits,
) -> VoiceHandle {
    let (choice, config) = (choice.clone(), config.clone());
    let mailbox = worker::start(sink.clone(), move |desk| async move {
        choose::run(desk, surroundings, choice, config, reader_present, limits).await;
    });
    VoiceHandle { mailbox, sink }
}

/// Opens a voice of the caller's own making, such as a test's; `make` runs on the voice's thread.
pub fn open_with<V, F>(engine: &str, sink: VoiceSink, make: F) -> VoiceHandle
where
    V: Voice,
    F: FnOnce() -> V + Send + 'static,
{
    let engine = Reason::said(engine);
    let mailbox = worker::start(sink.clone(), move |mut desk| async move {
        desk.tell(VoiceEvent::Ready { engine });
        desk.serve(make(), Limits::default()).await;
    });
    VoiceHandle { mailbox, sink }
}
