//! The child's side: orders in, an engine, reports out.
//!
//! Responsibilities: one order after another, reporting the end of speech, and ending with the program, however that
//! ends. Not here: the engine (`tts_engine`), the program's side (the module above).
//!
//! There are two threads. The first owns the engine, whose calls may hang. The second only reads orders: when they end,
//! because the program closed them or was killed, it gives the first a moment to silence the engine and then ends the
//! process, hanging call or not.

use std::io::{Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::child_messages::{ChildOrder, ChildReport, MessageParser, Name, SpokenWords, Why, line};

/// How often to check an engine that does not report the end of its words.
const LOOK: Duration = Duration::from_millis(40);

/// An event in the life of words, as reported by an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeechEvent {
    Begun,
    Ended,
    Cut,
}

/// An item that the first thread waits for.
#[derive(Debug)]
pub(super) enum ChildNews<T> {
    Order(ChildOrder),
    /// An engine's report about the words with this number.
    Heard(SpeechEvent, T),
    /// The engine failed outside any call.
    Failed(Why),
    /// No more orders will come.
    End,
}

/// How the end of words is detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndDetection {
    /// The engine reports it.
    Told,
    /// The engine is polled.
    Asked,
}

/// A speech engine; after an error it must not be called again.
pub(super) trait Engine {
    /// The engine's number for words.
    type Token: PartialEq + Send + 'static;
    /// Returns its name as a person knows it.
    fn name(&self) -> Name;
    /// Returns how the end of words is detected.
    fn ends(&self) -> EndDetection;
    /// Starts speaking words, and returns their number if it numbers them.
    fn say(
        &mut self,
        words: &SpokenWords,
        tell: &mut dyn FnMut(ChildReport),
    ) -> Result<Option<Self::Token>, Why>;
    /// Silences the engine.
    fn stop(&mut self) -> Result<(), Why>;
    /// Returns whether the engine is speaking.
    fn is_speaking(&mut self) -> Result<bool, Why>;
}

/// The current words.
struct CurrentWords<T> {
    id: u64,
    token: Option<T>,
}

/// Obeys orders until they end or the engine fails; `farewell` runs when there are no more orders, on the thread that
/// read them.
pub(super) fn serve<E: Engine>(
    input: impl Read + Send + 'static,
    output: &mut impl Write,
    open: impl FnOnce(&mpsc::Sender<ChildNews<E::Token>>) -> Result<E, Why>,
    farewell: impl FnOnce() + Send + 'static,
) {
    let (items, waiting) = mpsc::channel();
    let orders = items.clone();
    std::thread::spawn(move || {
        read(input, &orders);
        // If the engine failed, the first thread is already gone.
        let _ = orders.send(ChildNews::End);
        farewell();
    });
    let mut engine = match open(&items) {
        Ok(engine) => engine,
        Err(why) => return tell(output, &ChildReport::Failed { why }),
    };
    let ready = ChildReport::Ready {
        engine: engine.name(),
    };
    tell(output, &ready);
    if let Err(why) = obey(&mut engine, &waiting, output) {
        tell(output, &ChildReport::Failed { why });
    }
}

fn obey<E: Engine>(
    engine: &mut E,
    waiting: &mpsc::Receiver<ChildNews<E::Token>>,
    output: &mut impl Write,
) -> Result<(), Why> {
    let mut saying: Option<CurrentWords<E::Token>> = None;
    loop {
        let item = match (&saying, engine.ends()) {
            (Some(_), EndDetection::Asked) => waiting.recv_timeout(LOOK),
            (None, EndDetection::Asked) | (_, EndDetection::Told) => {
                waiting.recv().map_err(|_| RecvTimeoutError::Disconnected)
            }
        };
        match item {
            Ok(ChildNews::Order(ChildOrder::Speak(words))) => {
                let id = words.id;
                let token = engine.say(&words, &mut |told| tell(output, &told))?;
                tell(output, &ChildReport::Taken { id });
                if engine.ends() == EndDetection::Asked {
                    tell(output, &ChildReport::Begun { id });
                }
                saying = Some(CurrentWords { id, token });
            }
            Ok(ChildNews::Order(ChildOrder::Stop)) => {
                saying = None;
                engine.stop()?;
                tell(output, &ChildReport::Silent);
            }
            Ok(ChildNews::Heard(happening, token)) => {
                let ours = saying.as_ref().filter(|it| it.token == Some(token));
                let Some(id) = ours.map(|it| it.id) else {
                    continue;
                };
                tell(
                    output,
                    &match happening {
                        SpeechEvent::Begun => ChildReport::Begun { id },
                        SpeechEvent::Ended => ChildReport::Ended { id },
                        SpeechEvent::Cut => ChildReport::Cut { id },
                    },
                );
                if happening != SpeechEvent::Begun {
                    saying = None;
                }
            }
            Ok(ChildNews::Failed(why)) => return Err(why),
            Ok(ChildNews::End) | Err(RecvTimeoutError::Disconnected) => return engine.stop(),
            Err(RecvTimeoutError::Timeout) => {
                if !engine.is_speaking()?
                    && let Some(said) = saying.take()
                {
                    tell(output, &ChildReport::Ended { id: said.id });
                }
            }
        }
    }
}

/// Reads orders until there are no more; an invalid order also ends them.
fn read<T>(mut input: impl Read, orders: &mpsc::Sender<ChildNews<T>>) {
    let mut lines = MessageParser::default();
    let mut chunk = [0; 8 * 1024];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => lines.feed(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        loop {
            match lines.next() {
                Ok(Some(order)) => {
                    if orders.send(ChildNews::Order(order)).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

fn tell(output: &mut impl Write, told: &ChildReport) {
    // If nothing reads this any more, the program is gone, and the end of its orders shows that.
    let _ = output.write_all(&line(told)).and_then(|()| output.flush());
}
