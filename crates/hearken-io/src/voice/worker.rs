//! The voice's thread: it carries orders to an engine and the engine's news back.
//!
//! Responsibilities: a thread with its own runtime, so that drawing and reading can't delay a stop;
//! exactly one of Ended and Cut for each utterance, whatever an engine does; the time limit for the
//! last words. Not here: engines, and which one it is (`engine_choice`).

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::limits::Limits;
use super::mailbox::{Mailbox, Orders};
use super::voice_sink::{NewsListener, SinkQueue, VoiceSink};
use super::{MissingVoice, Voice, VoiceEvent};
use crate::announce::{Reason, Utterance, UtteranceId};

/// The longest text, in bytes: the largest event of AAEP has 64 KiB (3.7), and a program's argument may have 128 KiB.
pub(super) const TEXT_LIMIT: usize = 64 * 1024;

/// How far back from [`TEXT_LIMIT`] to look for a space, so that no word is cut in two.
const WORD_LIMIT: usize = 256;

/// The name of the voice's thread in a debugger.
const THREAD: &str = "hearken-voice";

/// Starts the thread and makes it run `work`; if that fails, reports that there is no voice, and why.
pub(super) fn start<F, Fut>(sink: VoiceSink, work: F) -> Arc<Mailbox>
where
    F: FnOnce(SpeechAccounts) -> Fut + Send + 'static,
    Fut: Future<Output = ()>,
{
    let mailbox = Arc::new(Mailbox::default());
    let desk = SpeechAccounts::new(Arc::clone(&mailbox), sink.clone());
    let thread = std::thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            let mut desk = desk;
            match tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
            {
                Ok(runtime) => runtime.block_on(work(desk)),
                Err(error) => desk.tell(VoiceEvent::None {
                    reason: Reason::new("voice.cause.not_started")
                        .because("why", Reason::of_system(&error)),
                    telling: MissingVoice::default(),
                }),
            }
        });
    if let Err(error) = thread {
        // The thread that was never created has dropped its desk, which has settled the mailbox.
        SinkQueue::new(sink).push(VoiceEvent::None {
            reason: Reason::new("voice.cause.not_started")
                .because("why", Reason::of_system(&error)),
            telling: MissingVoice::default(),
        });
    }
    mailbox
}

/// The accounts between the callers and an engine.
#[derive(Debug)]
pub(super) struct SpeechAccounts {
    mailbox: Arc<Mailbox>,
    outbox: SinkQueue,
    /// The utterance that the engine was given and has not finished.
    current: Option<UtteranceId>,
    /// The utterance that arrived before there was an engine.
    early: Option<Utterance>,
    /// The time at which the current utterance is cut because the voice is being closed.
    closing: Option<Instant>,
}

impl SpeechAccounts {
    fn new(mailbox: Arc<Mailbox>, sink: VoiceSink) -> Self {
        Self {
            mailbox,
            outbox: SinkQueue::new(sink),
            current: None,
            early: None,
            closing: None,
        }
    }

    /// Passes on an event, unless it is about an utterance that is already settled.
    pub(super) fn tell(&mut self, event: VoiceEvent) {
        match &event {
            VoiceEvent::Begun(id) if self.current != Some(*id) => return,
            VoiceEvent::Ended(id) | VoiceEvent::Cut(id) if self.current != Some(*id) => return,
            VoiceEvent::Ended(_) | VoiceEvent::Cut(_) => self.current = None,
            VoiceEvent::Lost { .. } | VoiceEvent::None { .. } => self.cut_current(),
            VoiceEvent::Begun(_)
            | VoiceEvent::Ready { .. }
            | VoiceEvent::Recovered { .. }
            | VoiceEvent::Adjustable { .. }
            | VoiceEvent::Cues { .. }
            | VoiceEvent::Notice { .. } => {}
        }
        self.outbox.push(event);
    }

    fn cut_current(&mut self) {
        if let Some(id) = self.current.take() {
            self.outbox.push(VoiceEvent::Cut(id));
        }
    }

    /// Reports the replaced utterances, and applies a request to close.
    fn account(&mut self, orders: &mut Orders) {
        for id in orders.cut.drain(..) {
            self.outbox.push(VoiceEvent::Cut(id));
        }
        self.outbox.lost(orders.lost);
        if let Some(linger) = orders.close {
            let until = Instant::now() + linger.min(Duration::from_secs(3600));
            self.closing = Some(self.closing.map_or(until, |before| before.min(until)));
        }
    }

    /// Carries out the orders that have arrived.
    fn obey(&mut self, voice: &mut impl Voice) {
        let mut orders = self.mailbox.take();
        if orders.stop || orders.next.is_some() {
            self.hush(voice);
        }
        self.account(&mut orders);
        if let Some(next) = orders.next {
            self.hand_over(next, voice);
        }
    }

    fn hush(&mut self, voice: &mut impl Voice) {
        if self.current.is_some() {
            voice.stop();
            self.cut_current();
        }
    }

    fn hand_over(&mut self, mut utterance: Utterance, voice: &mut impl Voice) {
        self.hush(voice);
        if self.closing.is_some() {
            return self.outbox.push(VoiceEvent::Cut(utterance.id));
        }
        if shorten(&mut utterance.text) {
            self.tell(VoiceEvent::Notice {
                text: Reason::new("voice.cause.cut"),
            });
        }
        self.current = Some(utterance.id);
        if has_words(&utterance.text) {
            voice.speak(utterance);
        } else {
            self.tell(VoiceEvent::Ended(utterance.id));
        }
    }

    /// Waits for an engine, or for a request to close; keeps at most one utterance meanwhile.
    pub(super) async fn until<T>(&mut self, engine: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(engine);
        loop {
            let mut orders = self.mailbox.take();
            let replaced = if orders.stop || orders.next.is_some() {
                std::mem::replace(&mut self.early, orders.next.take())
            } else {
                None
            };
            if let Some(replaced) = replaced {
                self.outbox.push(VoiceEvent::Cut(replaced.id));
            }
            self.account(&mut orders);
            if self.closing.is_some() {
                return None;
            }
            tokio::select! {
                biased;
                () = self.mailbox.rung() => {}
                found = &mut engine => return Some(found),
                listener = self.outbox.tend() => {
                    if listener == NewsListener::Gone {
                        return None;
                    }
                }
            }
        }
    }

    /// Serves an engine until the voice is closed or its listener is gone.
    pub(super) async fn serve(mut self, mut voice: impl Voice, limits: Limits) {
        if let Some(early) = self.early.take() {
            self.hand_over(early, &mut voice);
        }
        loop {
            self.obey(&mut voice);
            if let Some(until) = self.closing
                && (self.current.is_none() || until <= Instant::now())
            {
                break;
            }
            tokio::select! {
                biased;
                () = self.mailbox.rung() => {}
                event = voice.news() => self.tell(event),
                listener = self.outbox.tend() => {
                    if listener == NewsListener::Gone {
                        break;
                    }
                }
                () = at(self.closing), if self.closing.is_some() => {}
            }
        }
        self.hush(&mut voice);
        // An engine that does not close in time is abandoned: the program is ending.
        let _ = tokio::time::timeout(limits.close, voice.close()).await;
    }
}

impl Drop for SpeechAccounts {
    /// Settles the accounts at the end.
    fn drop(&mut self) {
        let orders = self.mailbox.leave();
        self.cut_current();
        let unsaid = self.early.take().into_iter().chain(orders.next);
        for id in orders.cut.into_iter().chain(unsaid.map(|next| next.id)) {
            self.outbox.push(VoiceEvent::Cut(id));
        }
        self.mailbox.gone();
    }
}

/// Waits until a given time, or forever.
pub(super) async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Returns whether a text contains anything that an engine could speak.
fn has_words(text: &str) -> bool {
    text.chars()
        .any(|sign| !sign.is_whitespace() && !sign.is_control())
}

/// Shortens a text that exceeds [`TEXT_LIMIT`], between two words if possible; returns whether it did.
fn shorten(text: &mut String) -> bool {
    if text.len() <= TEXT_LIMIT {
        return false;
    }
    let limit = text.floor_char_boundary(TEXT_LIMIT);
    let space = text[..limit]
        .rfind(char::is_whitespace)
        .filter(|space| limit - space <= WORD_LIMIT);
    text.truncate(space.unwrap_or(limit));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words_and_never_inside_a_character() {
        let mut short = "a few words".to_owned();
        assert!(!shorten(&mut short));
        assert_eq!(short, "a few words");

        let mut words = "word ".repeat(TEXT_LIMIT / 4);
        assert!(shorten(&mut words));
        assert!(words.ends_with("word"), "a whole word at the end");

        let mut solid = "ü".repeat(TEXT_LIMIT);
        assert!(shorten(&mut solid));
        assert!(solid.len() > TEXT_LIMIT - 4);
    }

    #[test]
    fn blanks_and_controls_are_no_words() {
        assert!(!has_words(" \u{0}\n\t\u{85}"));
        assert!(has_words(" . "));
    }
}
