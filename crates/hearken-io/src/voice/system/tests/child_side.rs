//! The child's side with a scripted engine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::mpsc;

use super::super::child_messages::{ChildOrder, ChildReport, Name, Why, line};
use super::super::speech_child::{ChildNews, EndDetection, Engine, SpeechEvent, serve};
use super::super::*;
use crate::voice::tests::{PATIENCE, utterance};

/// An engine that records its calls and reports what a test wants.
struct Scripted {
    done: mpsc::Sender<String>,
    ends: EndDetection,
    hang: Option<mpsc::Receiver<()>>,
}

impl Engine for Scripted {
    type Token = u64;
    fn name(&self) -> Name {
        Name::Called("scripted".to_owned())
    }
    fn ends(&self) -> EndDetection {
        self.ends
    }
    fn say(
        &mut self,
        words: &SpokenWords,
        _: &mut dyn FnMut(ChildReport),
    ) -> Result<Option<u64>, Why> {
        if let Some(hang) = &self.hang {
            let _ = hang.recv();
        }
        self.done.send(format!("say {}", words.text)).unwrap();
        if words.text == "break" {
            return Err(Why::Failed("it broke".to_owned()));
        }
        Ok(Some(words.id + 100))
    }
    fn stop(&mut self) -> Result<(), Why> {
        self.done.send("stop".to_owned()).unwrap();
        Ok(())
    }
    fn is_speaking(&mut self) -> Result<bool, Why> {
        Ok(false)
    }
}

/// The child's side with a scripted engine, on pipes.
struct ChildSide {
    orders: std::io::PipeWriter,
    told: BufReader<std::io::PipeReader>,
    done: mpsc::Receiver<String>,
    items: mpsc::Sender<ChildNews<u64>>,
    farewell: mpsc::Receiver<()>,
}

fn inside(ends: EndDetection, hang: Option<mpsc::Receiver<()>>) -> ChildSide {
    let (input, orders) = std::io::pipe().unwrap();
    let (told, mut output) = std::io::pipe().unwrap();
    let (did, done) = mpsc::channel();
    let (lend, items) = mpsc::channel();
    let (left, farewell) = mpsc::channel();
    std::thread::spawn(move || {
        let open = |items: &mpsc::Sender<ChildNews<u64>>| {
            lend.send(items.clone()).unwrap();
            Ok(Scripted {
                done: did,
                ends,
                hang,
            })
        };
        serve(input, &mut output, open, move || left.send(()).unwrap());
    });
    ChildSide {
        orders,
        told: BufReader::new(told),
        done,
        items: items.recv_timeout(PATIENCE).unwrap(),
        farewell,
    }
}

impl ChildSide {
    fn order(&mut self, order: &ChildOrder) {
        self.orders.write_all(&line(order)).unwrap();
    }

    fn speak(&mut self, id: u64, text: &str) {
        self.order(&ChildOrder::Speak(SpokenWords::of(
            utterance(id, text),
            text.to_owned(),
            20,
        )));
    }

    fn tells(&mut self) -> Option<ChildReport> {
        let mut text = String::new();
        self.told.read_line(&mut text).unwrap();
        (!text.is_empty()).then(|| serde_json::from_str(&text).unwrap())
    }

    fn does(&self, what: &str) {
        assert_eq!(self.done.recv_timeout(PATIENCE).as_deref(), Ok(what));
    }
}

#[test]
fn the_child_obeys_in_order_and_tells_only_of_the_words_in_force() {
    let mut inside = inside(EndDetection::Told, None);
    let ready = ChildReport::Ready {
        engine: Name::Called("scripted".into()),
    };
    assert_eq!(inside.tells(), Some(ready));
    inside.speak(1, "one");
    assert_eq!(inside.tells(), Some(ChildReport::Taken { id: 1 }));
    inside
        .items
        .send(ChildNews::Heard(SpeechEvent::Begun, 101))
        .unwrap();
    assert_eq!(inside.tells(), Some(ChildReport::Begun { id: 1 }));
    inside.order(&ChildOrder::Stop);
    assert_eq!(inside.tells(), Some(ChildReport::Silent));
    // The engine's report about the stopped words arrives late.
    inside
        .items
        .send(ChildNews::Heard(SpeechEvent::Cut, 101))
        .unwrap();
    inside.speak(2, "two");
    assert_eq!(inside.tells(), Some(ChildReport::Taken { id: 2 }));
    inside
        .items
        .send(ChildNews::Heard(SpeechEvent::Ended, 102))
        .unwrap();
    assert_eq!(inside.tells(), Some(ChildReport::Ended { id: 2 }));
    inside.does("say one");
    inside.does("stop");
    inside.does("say two");
}

#[test]
fn an_engine_that_does_not_tell_its_ends_is_asked() {
    let mut inside = inside(EndDetection::Asked, None);
    inside.tells();
    inside.speak(1, "one");
    let told: Vec<_> = (0..3).map(|_| inside.tells().unwrap()).collect();
    let all = [
        ChildReport::Taken { id: 1 },
        ChildReport::Begun { id: 1 },
        ChildReport::Ended { id: 1 },
    ];
    assert_eq!(told, all);
}

#[test]
fn a_failing_engine_is_told_and_never_called_again() {
    let mut inside = inside(EndDetection::Told, None);
    inside.tells();
    inside.speak(1, "break");
    let failed = ChildReport::Failed {
        why: Why::Failed("it broke".into()),
    };
    assert_eq!(inside.tells(), Some(failed));
    assert_eq!(inside.tells(), None, "the child is over");
    inside.does("say break");
    assert!(inside.done.recv_timeout(PATIENCE).is_err());
}

#[test]
fn the_end_of_orders_silences_the_engine_and_garbage_ends_them() {
    for garbage in [None, Some("{\"order\":\"format the disk\"}\n")] {
        let mut inside = inside(EndDetection::Told, None);
        inside.tells();
        inside.speak(1, "one");
        inside.tells();
        inside.does("say one");
        if let Some(garbage) = garbage {
            inside.orders.write_all(garbage.as_bytes()).unwrap();
        }
        drop(inside.orders);
        assert_eq!(inside.done.recv_timeout(PATIENCE).as_deref(), Ok("stop"));
        inside.farewell.recv_timeout(PATIENCE).unwrap();
    }
}

#[test]
fn a_hanging_engine_does_not_keep_the_child_from_ending() {
    let (release, hang) = mpsc::channel();
    let mut inside = inside(EndDetection::Told, Some(hang));
    inside.tells();
    inside.speak(1, "one");
    drop(inside.orders);
    // From this moment the real child has 300 ms to live.
    inside.farewell.recv_timeout(PATIENCE).unwrap();
    assert!(inside.done.try_recv().is_err(), "the engine still hangs");
    drop(release);
}
