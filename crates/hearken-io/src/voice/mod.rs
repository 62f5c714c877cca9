//! Words to sound: one thread that owns an engine and never blocks any other.
//!
//! Responsibilities: finding an engine, speaking one utterance at a time, stopping immediately, reporting what was
//! begun, ended or cut, and explaining in words if there is no voice. Not here: what is spoken and in which order
//! (`announce`).
//!
//! The path of an utterance:
//!
//! ```text
//! VoiceHandle -> mailbox -> worker (its own thread) -> an engine, behind trait Voice
//!                              |                          speech_dispatcher: dialogue, ssip
//! VoiceEvent <-- voice_sink <--'                          command_voice: speech_program
//!                                                         resident_program, system
//!                                                         no_voice
//! ```
//!
//! The mailbox has space for one utterance, and a stop overtakes it. The worker keeps the accounts: for each
//! [`VoiceHandle::speak`] there is exactly one [`VoiceEvent::Ended`] or [`VoiceEvent::Cut`], whatever the engine does.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

pub use crate::announce::{MissingVoice, VoiceEvent};
use crate::announce::{Reason, Utterance};
use crate::config::{VoiceChoice, VoiceConfig};

mod command_voice;
pub mod command_words;
mod cue;
mod dialogue;
mod engine_choice;
mod limits;
mod mailbox;
mod no_voice;
mod pitch;
mod resident_program;
pub mod screen_reader;
mod speech_dispatcher;
mod speech_program;
mod ssip;
pub mod system;
mod tone;
mod useless_daemon;
mod voice_languages;
mod voice_sink;
mod worker;

#[cfg(test)]
pub mod tests;

pub use crate::platform::{OWN_VOICE, SPEAKS};
pub use engine_choice::{VoiceEnvironment, can_be_here};
pub use voice_sink::VoiceSink;

#[cfg(test)]
use crate::announce::UtteranceId;
#[cfg(test)]
use crate::config::Delivery;
use limits::Limits;
use mailbox::Mailbox;

/// How long a dropped handle waits for silence; one that was closed in order does not wait.
const DROP_WAIT: Duration = Duration::from_millis(150);

/// An engine that turns utterances into sound, one at a time, on the voice's own thread.
///
/// No method waits for the engine except [`Voice::news`] and [`Voice::close`]. The caller stops the
/// current utterance before it starts the next one, and ignores news about one that is settled.
pub trait Voice {
    /// Starts speaking an utterance.
    fn speak(&mut self, utterance: Utterance);
    /// Silences the current utterance immediately; nothing more need be reported about it.
    fn stop(&mut self);
    /// Waits for the next news; the future may be dropped at any time without losing any.
    fn news(&mut self) -> impl Future<Output = VoiceEvent>;
    /// Says goodbye to the engine and leaves nothing speaking; the caller limits the time.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// The sender of utterances to the voice's thread; nothing here ever waits for an engine.
///
/// Dropping it without [`VoiceHandle::close`] silences the voice and waits at most 150 ms for that,
/// so that nothing goes on speaking after a panic.
#[derive(Debug)]
pub struct VoiceHandle {
    mailbox: Arc<Mailbox>,
    sink: VoiceSink,
}

impl VoiceHandle {
    /// Speaks an utterance, cutting the current one.
    ///
    /// Exactly one of [`VoiceEvent::Ended`] and [`VoiceEvent::Cut`] follows.
    pub fn speak(&self, utterance: Utterance) {
        if let Err(id) = self.mailbox.speak(utterance) {
            self.sink.cut(id);
        }
    }

    /// Silences the voice; this overtakes every earlier utterance.
    pub fn stop(&self) {
        self.mailbox.stop();
    }

    /// Ends the voice: the current utterance may end within `linger` and is cut after it.
    ///
    /// The request is sent immediately; the future completes when nothing speaks any more, at most
    /// half a second after `linger`.
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

/// Opens the chosen voice in this process's environment.
///
/// Returns immediately. The first news is [`VoiceEvent::Ready`] or [`VoiceEvent::None`], possibly
/// after a [`VoiceEvent::Notice`]; earlier utterances wait for it. With a screen reader present
/// `auto` means no voice of our own, because two voices at the same time are worse than none.
pub fn open(
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader_present: bool,
    sink: VoiceSink,
) -> VoiceHandle {
    open_in(
        VoiceEnvironment::from_env(),
        choice,
        config,
        reader_present,
        sink,
    )
}

/// Opens the chosen voice in the given surroundings instead of this process's environment.
pub fn open_in(
    surroundings: VoiceEnvironment,
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
    surroundings: VoiceEnvironment,
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader_present: bool,
    sink: VoiceSink,
    limits: Limits,
) -> VoiceHandle {
    let (choice, config) = (choice.clone(), config.clone());
    let mailbox = worker::start(sink.clone(), move |desk| async move {
        engine_choice::run(desk, surroundings, choice, config, reader_present, limits).await;
    });
    VoiceHandle { mailbox, sink }
}

/// Opens a voice that the caller provides, such as a test's; `make` runs on the voice's thread.
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
