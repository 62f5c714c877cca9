//! Tests of recognising a dialect, and of the frames handed on to it.

use super::*;
use crate::Cx;
use crate::Terms;
use crate::config::{HandshakeConfig, Load, Verbosity};
use crate::descriptor::{Descriptor, Naming};
use crate::protocol::KeyRing;
use crate::protocol::Now;

fn start() -> DialectSetup {
    DialectSetup {
        stream: crate::link::Stream::at(crate::link::Address::Given),
        words: Default::default(),
        token: None,
        identity: None,
        folder: String::new(),
        prompt: None,
        prompts_at: None,
        earlier: Default::default(),
        ask_always: false,
        hand_back: Duration::from_secs(300),
        gemini_waits: false,
        handler: false,
        conversation: None,
        broker: None,
        carrier: TransportKind::OneWay,
        path: String::new(),
        origin: String::new(),
        plain: false,
        handshake: HandshakeConfig::default(),
        keys: KeyRing::default(),
        terms: Terms {
            verbosity: Verbosity::Normal,
            load: Load::Medium,
            languages: vec!["en".to_owned()],
            rate: None,
        },
        seed: 1,
        numbers: RequestNumbers::default(),
    }
}

const NOW: Now = Now {
    monotonic: Duration::from_secs(1),
    wall: jiff::Timestamp::UNIX_EPOCH,
};

fn frame(machine: &mut UndecidedMachine, text: &str) -> Vec<DialectOutput> {
    let mut out = Vec::new();
    machine.news(
        &LinkEvent::Frame(Frame::of(text)),
        &mut Cx::new(NOW, &mut out),
    );
    out
}

const EVENT: &str = r#"{"type":"aaep:agent.state.changed"}"#;

#[test]
fn what_is_nobodys_is_judged_at_once_and_nothing_is_lost_or_told_twice() {
    let mut machine = UndecidedMachine::new(start());
    let mut heard = Vec::new();
    for text in ["Loading the model", "50%", EVENT, "done"] {
        heard.extend(frame(&mut machine, text));
    }
    let texts = ["Loading the model", "50%", EVENT, "done"];
    assert_eq!(
        heard,
        texts.map(|text| DialectOutput::Event(text.to_owned()))
    );
    assert!(machine.open.is_none(), "an event of AAEP decides");
}

#[test]
fn what_is_recognised_is_handed_on_as_it_stands_and_not_before() {
    let mut machine = UndecidedMachine::new(start());
    assert!(!machine.passes(EVENT), "it is to be recognised by it");
    frame(&mut machine, EVENT);
    assert!(machine.passes(EVENT));
    let around = format!(" {EVENT}");
    assert!(!machine.passes(&around), "something is to be taken off");
}

#[test]
fn a_list_is_recognised_by_the_first_thing_in_it() {
    for text in [format!("[{EVENT},{EVENT}]"), format!("\u{feff} {EVENT}")] {
        let mut machine = UndecidedMachine::new(start());
        assert_eq!(frame(&mut machine, &text).len(), 1);
        assert!(machine.open.is_none(), "{text}");
    }
}

#[test]
fn a_question_behind_something_else_in_a_frame_does_not_wait() {
    let mut machine = UndecidedMachine::new(start());
    let frames = frame(&mut machine, &format!(r#"[{{"type":"pong"}},{EVENT}]"#));
    assert_eq!(frames.len(), 1, "it is handed on at once");
    assert!(machine.open.is_none());
}

/// Lines for people are counted once; otherwise a source with a long greeting would be given up.
#[test]
fn what_was_judged_is_not_told_again_when_another_dialect_is_recognised() {
    let mut machine = UndecidedMachine::new(start());
    for _ in 0..40 {
        assert_eq!(frame(&mut machine, "Loading").len(), 1);
    }
    let held = frame(&mut machine, r#"{"type":"pong"}"#);
    assert_eq!(held, []);
    let out = frame(
        &mut machine,
        r#"{"performative":"QUERY","messageId":"m","sender":"agent://a.example/b"}"#,
    );
    let unread = |wish: &&DialectOutput| matches!(wish, DialectOutput::Unread(..));
    assert_eq!(out.iter().filter(unread).count(), 0, "{out:?}");
    let events = |wish: &&DialectOutput| matches!(wish, DialectOutput::Event(_));
    assert_eq!(out.iter().filter(events).count(), 1, "{out:?}");
}

#[test]
fn what_is_kept_of_a_source_that_is_never_recognised_has_a_bound() {
    let mut machine = UndecidedMachine::new(start());
    for _ in 0..MOST_FRAMES {
        assert_eq!(frame(&mut machine, "x").len(), 1);
        assert!(machine.open.is_some());
    }
    assert_eq!(frame(&mut machine, "x").len(), 1);
    assert!(machine.open.is_none());
    let mut machine = UndecidedMachine::new(start());
    assert_eq!(frame(&mut machine, &"x".repeat(MOST_BYTES + 1)).len(), 1);
    assert!(machine.open.is_none());
}

/// A program that was started and is connected.
fn program() -> (UndecidedMachine, Vec<DialectOutput>) {
    let mut machine = UndecidedMachine::new(DialectSetup {
        carrier: TransportKind::Lines,
        ..start()
    });
    let mut out = Vec::new();
    machine.news(&LinkEvent::Connected, &mut Cx::new(NOW, &mut out));
    (machine, out)
}

fn spoken_to(out: &[DialectOutput]) -> bool {
    out.iter()
        .any(|out| matches!(out, DialectOutput::Send { frame, .. } if frame.contains("aaep") || frame.contains("subscription.request")))
}

/// Returns the dialects that their texts show: where an address's scheme names the dialect, nothing has to.
fn recognisable() -> impl Iterator<Item = &'static Descriptor> {
    let by_scheme = |row: &&Descriptor| matches!(row.named, Naming::Schemes(_));
    DIALECTS.iter().filter(move |row| !by_scheme(row))
}

#[test]
fn whatever_comes_first_each_dialect_hears_all_of_it_once_and_in_order() {
    for row in recognisable() {
        for carrier in [TransportKind::OneWay, TransportKind::Lines] {
            let start = || DialectSetup { carrier, ..start() };
            let mut undecided = UndecidedMachine::new(start());
            let mut alone = row.machine(DialectSetup {
                numbers: match row.is_native() {
                    true => RequestNumbers::default(),
                    false => RequestNumbers::of_another(),
                },
                ..start()
            });
            let (mut heard, mut wanted) = (Vec::new(), Vec::new());
            let events = std::iter::once(LinkEvent::Connected).chain(
                row.messages
                    .iter()
                    .map(|text| LinkEvent::Frame(Frame::of(*text))),
            );
            for event in events {
                undecided.news(&event, &mut Cx::new(NOW, &mut heard));
                alone.news(&event, &mut Cx::new(NOW, &mut wanted));
            }
            // The last words of AAEP's machine are withdrawn, and it wanted nothing else.
            heard.retain(|out| *out != DialectOutput::LastWords(None));
            wanted.retain(|out| *out != DialectOutput::LastWords(None));
            assert_eq!(heard, wanted, "{:?} over {carrier:?}", row.dialect);
            assert!(undecided.open.is_none(), "{:?} is recognised", row.dialect);
        }
    }
}

#[test]
fn a_program_that_speaks_another_protocol_is_never_spoken_to_in_aaep() {
    for row in recognisable().filter(|row| !row.is_native()) {
        let kind = row.dialect;
        let (mut machine, out) = program();
        assert_eq!(out, [], "nothing is said before it is known to whom");
        assert_eq!(machine.connection(), Connection::default());
        for text in row.messages {
            assert!(!spoken_to(&frame(&mut machine, text)), "{kind:?}: {text}");
        }
        let mut out = Vec::new();
        machine.tick(&mut Cx::new(NOW.after(COURTESY * 10), &mut out));
        assert!(!spoken_to(&out), "{kind:?}");
    }
}

#[test]
fn a_program_that_waits_to_be_spoken_to_is_spoken_to_soon_and_once() {
    // A greeting for people does not show who waits for whom.
    for greeting in [None, Some("Loading the model")] {
        let (mut machine, _) = program();
        if let Some(greeting) = greeting {
            assert!(!spoken_to(&frame(&mut machine, greeting)));
        }
        assert_eq!(machine.deadline(), Some(NOW.monotonic + COURTESY));
        let mut out = Vec::new();
        machine.tick(&mut Cx::new(NOW.after(COURTESY), &mut out));
        let said = out.iter().filter(
            |out| matches!(out, DialectOutput::Send { frame, .. } if frame.contains("aaep.subscribe")),
        );
        assert_eq!(said.count(), 1, "{out:?}");
        assert_eq!(machine.deadline(), None);
    }
}

#[test]
fn a_program_that_ends_within_the_courtesy_is_not_spoken_to() {
    let (mut machine, _) = program();
    let mut out = Vec::new();
    machine.news(&LinkEvent::Ended, &mut Cx::new(NOW, &mut out));
    machine.tick(&mut Cx::new(NOW.after(COURTESY), &mut out));
    assert!(!spoken_to(&out), "{out:?}");
}

#[test]
fn only_a_started_program_is_waited_for() {
    for (carrier, plain, speaks) in [
        (TransportKind::Socket, false, true),
        (TransportKind::WebSocket, false, true),
        (TransportKind::Lines, true, false),
    ] {
        let mut machine = UndecidedMachine::new(DialectSetup {
            carrier,
            plain,
            ..start()
        });
        let mut out = Vec::new();
        machine.news(&LinkEvent::Connected, &mut Cx::new(NOW, &mut out));
        assert_eq!(spoken_to(&out), speaks, "{carrier:?}");
        assert_eq!(machine.deadline(), None, "{carrier:?}");
    }
}

#[test]
fn what_came_over_a_connection_that_is_lost_is_not_told_to_whoever_is_recognised_later() {
    let mut machine = UndecidedMachine::new(start());
    frame(&mut machine, "Loading the model");
    let lost = LinkEvent::Lost {
        fault: crate::link::Fault::Closed,
        retry_in: Duration::ZERO,
    };
    machine.news(&lost, &mut Cx::new(NOW, &mut Vec::new()));
    let open = machine.open.as_ref().unwrap();
    assert!(open.kept.is_empty());
    assert_eq!((open.bytes, open.judged), (0, 0));
}
