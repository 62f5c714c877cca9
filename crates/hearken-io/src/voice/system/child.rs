//! The child's side: orders in, an engine, what is told out.
//!
//! Responsibilities: one order after the other, telling the end of what is said, and ending with the
//! program, however that ends. Not here: the engine (`platform`), the program's side (the module above).
//!
//! Two threads. The first owns the engine, whose calls may hang. The second only reads orders: when
//! they end, because the program closed them or was killed, it leaves the first a moment to silence
//! the engine and then ends the process, hanging call or not.

use std::io::{Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::message::{Lines, Name, Order, Told, Why, Words, line};

/// How often an engine that does not tell the end of its words is looked at.
const LOOK: Duration = Duration::from_millis(40);

/// What happened to words, as an engine tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happening {
    Begun,
    Ended,
    Cut,
}

/// What the first thread waits for.
#[derive(Debug)]
pub(super) enum Item<T> {
    Order(Order),
    /// An engine's news of what it numbered so.
    Heard(Happening, T),
    /// An engine that failed while nobody called it.
    Failed(Why),
    /// No order comes any more.
    End,
}

/// How the end of words is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// The engine tells.
    Told,
    /// The engine is asked.
    Asked,
}

/// Speaks; an error means that the engine must not be called again.
pub(super) trait Engine {
    /// Numbers words.
    type Token: PartialEq + Send + 'static;
    /// Returns its name as a person knows it.
    fn name(&self) -> Name;
    /// Returns how the end of words is known.
    fn ends(&self) -> Ends;
    /// Begins to say words, and gives their number if it numbers them.
    fn say(
        &mut self,
        words: &Words,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Option<Self::Token>, Why>;
    /// Falls silent.
    fn stop(&mut self) -> Result<(), Why>;
    /// Returns whether it speaks.
    fn is_speaking(&mut self) -> Result<bool, Why>;
}

/// What is being said.
struct Saying<T> {
    id: u64,
    token: Option<T>,
}

/// Obeys orders until they end or the engine fails; `farewell` runs when no order comes any more, on
/// the thread that read them.
pub(super) fn serve<E: Engine>(
    input: impl Read + Send + 'static,
    output: &mut impl Write,
    open: impl FnOnce(&mpsc::Sender<Item<E::Token>>) -> Result<E, Why>,
    farewell: impl FnOnce() + Send + 'static,
) {
    let (items, waiting) = mpsc::channel();
    let orders = items.clone();
    std::thread::spawn(move || {
        read(input, &orders);
        // The first thread is gone already when the engine failed.
        let _ = orders.send(Item::End);
        farewell();
    });
    let mut engine = match open(&items) {
        Ok(engine) => engine,
        Err(why) => return tell(output, &Told::Failed { why }),
    };
    let ready = Told::Ready {
        engine: engine.name(),
    };
    tell(output, &ready);
    if let Err(why) = obey(&mut engine, &waiting, output) {
        tell(output, &Told::Failed { why });
    }
}

fn obey<E: Engine>(
    engine: &mut E,
    waiting: &mpsc::Receiver<Item<E::Token>>,
    output: &mut impl Write,
) -> Result<(), Why> {
    let mut saying: Option<Saying<E::Token>> = None;
    loop {
        let item = match (&saying, engine.ends()) {
            (Some(_), Ends::Asked) => waiting.recv_timeout(LOOK),
            (None, Ends::Asked) | (_, Ends::Told) => {
                waiting.recv().map_err(|_| RecvTimeoutError::Disconnected)
            }
        };
        match item {
            Ok(Item::Order(Order::Speak(words))) => {
                let id = words.id;
                let token = engine.say(&words, &mut |told| tell(output, &told))?;
                tell(output, &Told::Taken { id });
                if engine.ends() == Ends::Asked {
                    tell(output, &Told::Begun { id });
                }
                saying = Some(Saying { id, token });
            }
            Ok(Item::Order(Order::Stop)) => {
                saying = None;
                engine.stop()?;
                tell(output, &Told::Silent);
            }
            Ok(Item::Heard(happening, token)) => {
                let ours = saying.as_ref().filter(|it| it.token == Some(token));
                let Some(id) = ours.map(|it| it.id) else {
                    continue;
                };
                tell(
                    output,
                    &match happening {
                        Happening::Begun => Told::Begun { id },
                        Happening::Ended => Told::Ended { id },
                        Happening::Cut => Told::Cut { id },
                    },
                );
                if happening != Happening::Begun {
                    saying = None;
                }
            }
            Ok(Item::Failed(why)) => return Err(why),
            Ok(Item::End) | Err(RecvTimeoutError::Disconnected) => return engine.stop(),
            Err(RecvTimeoutError::Timeout) => {
                if !engine.is_speaking()?
                    && let Some(said) = saying.take()
                {
                    tell(output, &Told::Ended { id: said.id });
                }
            }
        }
    }
}

/// Reads orders until there are no more; what is no order ends them.
fn read<T>(mut input: impl Read, orders: &mpsc::Sender<Item<T>>) {
    let mut lines = Lines::default();
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
                    if orders.send(Item::Order(order)).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

fn tell(output: &mut impl Write, told: &Told) {
    // When nobody reads any more the program is gone, and the end of its orders tells that.
    let _ = output.write_all(&line(told)).and_then(|()| output.flush());
}
