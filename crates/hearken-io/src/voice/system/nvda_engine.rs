//! NVDA as an engine of the child: its own voice, as its user has set it, and its braille display.
//!
//! Responsibilities: words as SSML, speaking one after another, falling silent reliably. Not here: the library
//! (`platform::nvda_client`).
//!
//! Mental model: the call that speaks words returns when they have been spoken, so a separate thread, the mouth, makes
//! it. A stop keeps cancelling until the mouth is free: a single cancel could come just before the words reached NVDA,
//! and would silence nothing. Rate, volume and voice are NVDA's and are left alone; only hearken's own words are raised
//! in pitch, as with every voice.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::child_messages::{ChildReport, Name, SpokenWords, Why};
use super::speech_child::{ChildNews, EndDetection, Engine, SpeechEvent};
use crate::platform::nvda_client::Client;

/// NVDA's result for words that were cancelled (`ERROR_CANCELLED`).
const CANCELLED: u32 = 1223;

/// How long a stop waits for the mouth before it cancels again.
const AGAIN: Duration = Duration::from_millis(30);

/// The functions of NVDA, so that tests can replace them.
pub(super) trait NvdaFunctions: Clone + Send + 'static {
    /// Speaks SSML, and returns when it has been spoken.
    fn speak(&self, ssml: &str) -> Result<(), u32>;
    /// Silences NVDA.
    fn cancel(&self) -> Result<(), u32>;
    /// Shows a text in braille for a while.
    fn braille(&self, text: &str) -> Result<(), u32>;
}

impl NvdaFunctions for Client {
    fn speak(&self, ssml: &str) -> Result<(), u32> {
        Client::speak(self, ssml)
    }
    fn cancel(&self) -> Result<(), u32> {
        Client::cancel(self)
    }
    fn braille(&self, text: &str) -> Result<(), u32> {
        Client::braille(self, text)
    }
}

/// An engine that speaks through NVDA.
#[derive(Debug)]
pub(super) struct Nvda<R> {
    reader: R,
    words: Sender<(u64, String)>,
    /// Signals from the mouth that it is free.
    free: Receiver<()>,
    /// The number of words that the mouth was given and has not reported as finished.
    busy: usize,
    next: u64,
}

/// Opens the library, and checks that NVDA is running and new enough.
#[allow(unreachable_code, reason = "systems without NVDA have no client")]
#[cfg_attr(
    test,
    allow(
        dead_code,
        reason = "builds without the system's own speech only test the rest"
    )
)]
pub(super) fn open(library: &Path, items: &Sender<ChildNews<u64>>) -> Result<Nvda<Client>, Why> {
    let client = Client::load(library).map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound && error.raw_os_error().is_none() {
            Why::NvdaOld
        } else {
            Why::NvdaLibrary(error.to_string())
        }
    })?;
    client.is_running().map_err(|_| Why::NvdaAway)?;
    client.takes_ssml().map_err(|_| Why::NvdaOld)?;
    Ok(Nvda::new(client, items.clone()))
}

impl<R: NvdaFunctions> Nvda<R> {
    pub(super) fn new(reader: R, items: Sender<ChildNews<u64>>) -> Self {
        let (words, given) = mpsc::channel();
        let (freed, free) = mpsc::channel();
        let mouth = reader.clone();
        std::thread::spawn(move || speak(&mouth, &given, &items, &freed));
        Self {
            reader,
            words,
            free,
            busy: 0,
            next: 0,
        }
    }
}

/// Runs the mouth: speaks the words that it is given, one after another.
fn speak(
    reader: &impl NvdaFunctions,
    given: &Receiver<(u64, String)>,
    items: &Sender<ChildNews<u64>>,
    freed: &Sender<()>,
) {
    for (token, ssml) in given {
        // If the child is about to end, nothing receives this any more.
        let _ = items.send(ChildNews::Heard(SpeechEvent::Begun, token));
        let said = reader.speak(&ssml);
        let _ = freed.send(());
        let _ = items.send(match said {
            Ok(()) => ChildNews::Heard(SpeechEvent::Ended, token),
            Err(CANCELLED) => ChildNews::Heard(SpeechEvent::Cut, token),
            Err(code) => ChildNews::Failed(Why::NvdaCode(code)),
        });
    }
}

impl<R: NvdaFunctions> Engine for Nvda<R> {
    type Token = u64;

    fn name(&self) -> Name {
        Name::Called("NVDA".to_owned())
    }

    fn ends(&self) -> EndDetection {
        EndDetection::Told
    }

    fn say(
        &mut self,
        words: &SpokenWords,
        _tell: &mut dyn FnMut(ChildReport),
    ) -> Result<Option<u64>, Why> {
        // Most people have no braille display; NVDA does not report its absence, and a braille error must not cost the
        // words.
        let _ = self.reader.braille(&words.text);
        self.next += 1;
        self.busy += 1;
        self.words
            .send((self.next, ssml(words)))
            .map_err(|_| Why::NvdaLost)?;
        Ok(Some(self.next))
    }

    fn stop(&mut self) -> Result<(), Why> {
        while self.free.try_recv().is_ok() {
            self.busy = self.busy.saturating_sub(1);
        }
        while self.busy > 0 {
            self.reader.cancel().map_err(Why::NvdaCode)?;
            match self.free.recv_timeout(AGAIN) {
                Ok(()) => self.busy -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Why::NvdaLost),
            }
        }
        Ok(())
    }

    fn is_speaking(&mut self) -> Result<bool, Why> {
        while self.free.try_recv().is_ok() {
            self.busy = self.busy.saturating_sub(1);
        }
        Ok(self.busy > 0)
    }
}

/// Returns words as SSML: in their language if it is known, raised in pitch if they are hearken's own.
fn ssml(words: &SpokenWords) -> String {
    let mut text = String::with_capacity(words.text.len() + 80);
    text.push_str("<speak>");
    if let Some(tag) = &words.language {
        text.push_str("<voice xml:lang=\"");
        escape(tag, &mut text);
        text.push_str("\">");
    }
    let is_raised = words.own && words.own_pitch != 0;
    if is_raised {
        let percent = (100 + words.own_pitch).clamp(50, 150);
        text.push_str(&format!("<prosody pitch=\"{percent}%\">"));
    }
    escape(&words.text, &mut text);
    if is_raised {
        text.push_str("</prosody>");
    }
    if words.language.is_some() {
        text.push_str("</voice>");
    }
    text.push_str("</speak>");
    text
}

/// Appends a text, escaping the characters that are special in XML and replacing control characters by spaces.
fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '&' => into.push_str("&amp;"),
            '"' => into.push_str("&quot;"),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => into.push(' '),
            c => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Condvar, Mutex};

    use super::*;
    use crate::config::Delivery;

    /// A fake NVDA that speaks words until it is cancelled or released.
    #[derive(Debug, Clone, Default)]
    struct FakeNvda(Arc<(Mutex<State>, Condvar)>);

    #[derive(Debug, Default)]
    struct State {
        said: Vec<String>,
        shown: Vec<String>,
        cancels: usize,
        /// How many cancels come too early to silence anything.
        early: usize,
        speaking: bool,
        over: Option<Result<(), u32>>,
    }

    impl FakeNvda {
        fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
            let outcome = act(&mut self.0.0.lock().unwrap());
            self.0.1.notify_all();
            outcome
        }
    }

    impl NvdaFunctions for FakeNvda {
        fn speak(&self, ssml: &str) -> Result<(), u32> {
            let mut state = self.0.0.lock().unwrap();
            state.said.push(ssml.to_owned());
            state.speaking = true;
            self.0.1.notify_all();
            while state.over.is_none() {
                state = self.0.1.wait(state).unwrap();
            }
            state.speaking = false;
            state.over.take().unwrap()
        }
        fn cancel(&self) -> Result<(), u32> {
            self.with(|state| {
                state.cancels += 1;
                if state.speaking && state.cancels > state.early {
                    state.over = Some(Err(CANCELLED));
                }
            });
            Ok(())
        }
        fn braille(&self, text: &str) -> Result<(), u32> {
            self.with(|state| state.shown.push(text.to_owned()));
            Err(1)
        }
    }

    fn words(text: &str) -> SpokenWords {
        SpokenWords {
            id: 7,
            text: text.to_owned(),
            language: None,
            own: false,
            own_pitch: 20,
            usual_pitch: None,
            delivery: Delivery::default(),
        }
    }

    #[test]
    fn words_are_said_shown_and_told_to_be_over() {
        let (items, heard) = mpsc::channel();
        let fake = FakeNvda::default();
        let mut nvda = Nvda::new(fake.clone(), items);
        let token = nvda.say(&words("a < b"), &mut |_| {}).unwrap().unwrap();
        assert!(
            matches!(heard.recv().unwrap(), ChildNews::Heard(SpeechEvent::Begun, it) if it == token)
        );
        assert!(nvda.is_speaking().unwrap());
        fake.with(|state| state.over = Some(Ok(())));
        assert!(
            matches!(heard.recv().unwrap(), ChildNews::Heard(SpeechEvent::Ended, it) if it == token)
        );
        assert!(!nvda.is_speaking().unwrap());
        fake.with(|state| {
            assert_eq!(state.said, ["<speak>a &lt; b</speak>"]);
            assert_eq!(state.shown, ["a < b"]);
        });
    }

    #[test]
    fn a_stop_cancels_until_it_is_silent_even_where_it_came_too_early() {
        let (items, heard) = mpsc::channel();
        let fake = FakeNvda::default();
        fake.with(|state| state.early = 3);
        let mut nvda = Nvda::new(fake.clone(), items);
        nvda.say(&words("one"), &mut |_| {}).unwrap();
        nvda.stop().unwrap();
        assert!(!nvda.is_speaking().unwrap());
        assert!(fake.with(|state| state.cancels) > 3);
        assert!(matches!(
            heard.recv().unwrap(),
            ChildNews::Heard(SpeechEvent::Begun, 1)
        ));
        assert!(matches!(
            heard.recv().unwrap(),
            ChildNews::Heard(SpeechEvent::Cut, 1)
        ));
        // A stop in silence asks nothing of NVDA, which may be speaking words of its own.
        let before = fake.with(|state| state.cancels);
        nvda.stop().unwrap();
        assert_eq!(fake.with(|state| state.cancels), before);
    }

    #[test]
    fn a_reader_that_went_away_is_told() {
        let (items, heard) = mpsc::channel();
        let fake = FakeNvda::default();
        fake.with(|state| state.over = Some(Err(1722)));
        let mut nvda = Nvda::new(fake, items);
        nvda.say(&words("one"), &mut |_| {}).unwrap();
        assert!(matches!(
            heard.recv().unwrap(),
            ChildNews::Heard(SpeechEvent::Begun, 1)
        ));
        assert!(matches!(
            heard.recv().unwrap(),
            ChildNews::Failed(Why::NvdaCode(1722))
        ));
    }

    #[test]
    fn words_become_ssml_in_their_language_and_the_own_ones_are_raised() {
        let mut own = words("Ja & \u{1b}\"nein\"");
        own.own = true;
        own.language = Some("de-DE".to_owned());
        assert_eq!(
            ssml(&own),
            "<speak><voice xml:lang=\"de-DE\"><prosody pitch=\"120%\">Ja &amp;  &quot;nein&quot;</prosody></voice></speak>"
        );
        own.own_pitch = 0;
        own.language = Some("\"><x".to_owned());
        assert!(ssml(&own).starts_with("<speak><voice xml:lang=\"&quot;&gt;&lt;x\">Ja"));
    }
}
