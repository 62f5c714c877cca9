//! Sources that connect slowly, or send nothing from their start.

use super::*;
use crate::dialect::TransportKind;

const LATE: &str = "This may be normal: some servers answer only when something happens.";
const SILENT: &str =
    "S is connected, and no agent there has sent anything yet. Perhaps none is working.";

/// Starts with one source whose first attempt to connect begins now.
fn begun(source: SourceSetup) -> Stage {
    let name = "S".to_owned();
    let mut stage = Stage::of(KEYS, vec![SourceSetup { name, ..source }]);
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.lines.clear();
    stage
}

fn plain() -> SourceSetup {
    SourceSetup {
        answerable: true,
        carrier: TransportKind::EventStream,
        plain: true,
        ..SourceSetup::default()
    }
}

fn lost() -> LinkEvent {
    LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    }
}

#[test]
fn a_source_that_still_connects_is_told_once_after_four_seconds() {
    let mut stage = begun(plain());
    stage.wait(3_999);
    assert_eq!(stage.lines, [""; 0]);
    stage.wait(1);
    // Nobody knows whether such a server exists before its first event.
    assert_eq!(stage.lines, [format!("Still connecting to S. {LATE}")]);
    stage.wait(600_000);
    assert_eq!(stage.lines.len(), 1, "{:?}", stage.lines);
    stage.link(0, LinkEvent::Connected);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.wait(60_000);
    stage.assert_not_heard(phrase!("link.nothing_yet"));
}

#[test]
fn an_answer_that_cannot_wait_for_an_event_is_not_excused_with_one() {
    // A WebSocket opens immediately or not at all, and so does a manifest request.
    for carrier in [
        TransportKind::WebSocket,
        TransportKind::Socket,
        TransportKind::EventStream,
    ] {
        let mut stage = begun(SourceSetup {
            carrier,
            plain: false,
            ..plain()
        });
        stage.wait(5_000);
        assert_eq!(stage.lines, ["Still connecting to S."], "{carrier:?}");
    }
}

#[test]
fn a_source_that_is_silent_from_its_start_is_told_once_as_one_that_may_be_well() {
    let mut stage = begun(plain());
    stage.wait(1_000);
    stage.link(0, LinkEvent::Connected);
    stage.lines.clear();
    stage.wait(9_999);
    assert_eq!(stage.lines, [""; 0]);
    stage.wait(1);
    assert_eq!(stage.lines, [SILENT]);
    stage.wait(600_000);
    stage.link(0, lost());
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.wait(60_000);
    stage.link(0, LinkEvent::Connected);
    stage.wait(60_000);
    stage.assert_heard(phrase!("link.back"));
    stage.assert_not_heard(phrase!("link.connecting"));
    let told = stage.lines.iter().filter(|line| *line == SILENT);
    assert_eq!(told.count(), 1);
}

#[test]
fn a_source_that_begins_in_time_adds_nothing() {
    let mut stage = begun(plain());
    stage.wait(3_999);
    stage.link(0, LinkEvent::Connected);
    stage.wait(9_999);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.wait(60_000);
    stage.assert_not_heard(phrase!("link.connecting"));
    stage.assert_not_heard(phrase!("link.nothing_yet"));
    // An unreadable message was also sent.
    let mut stage = begun(plain());
    stage.link(0, LinkEvent::Connected);
    let text = "{".to_owned();
    stage.link(0, LinkEvent::Frame(Frame::of(text)));
    stage.wait(60_000);
    stage.assert_not_heard(phrase!("link.nothing_yet"));
}

#[test]
fn a_failure_is_told_in_the_place_of_a_wait() {
    let mut stage = begun(plain());
    stage.link(0, lost());
    for attempt in 2..9 {
        stage.link(0, LinkEvent::Connecting { attempt });
        stage.wait(5_000);
        stage.link(0, lost());
    }
    assert_eq!(stage.lines.len(), 1, "{:?}", stage.lines);
    stage.assert_heard("S can't be reached");
    // Its first connection is its first silence.
    stage.link(0, LinkEvent::Connected);
    stage.wait(10_000);
    assert_eq!(stage.lines.last().unwrap(), SILENT);
    let mut stage = begun(plain());
    let fault = Fault::Closed;
    stage.link(0, LinkEvent::Failed { fault });
    stage.wait(60_000);
    stage.assert_not_heard(phrase!("link.connecting"));
    let mut stage = begun(plain());
    stage.link(0, LinkEvent::Connected);
    stage.link(0, LinkEvent::Ended);
    stage.wait(60_000);
    stage.assert_not_heard(phrase!("link.nothing_yet"));
}

#[test]
fn a_doubt_that_a_source_is_there_is_not_followed_by_a_lesser_one() {
    let mut stage = begun(plain());
    stage.link(0, LinkEvent::Connected);
    stage.wait(2_000);
    stage.link(0, LinkEvent::Silent { seconds: 2 });
    stage.wait(60_000);
    stage.assert_heard(phrase!("link.silent"));
    stage.assert_not_heard(phrase!("link.nothing_yet"));
}

#[test]
fn a_recording_is_not_waited_for() {
    let mut stage = begun(SourceSetup {
        recording: Some(Recording::default()),
        ..SourceSetup::default()
    });
    stage.wait(60_000);
    stage.link(0, LinkEvent::Connected);
    stage.lines.clear();
    stage.wait(60_000);
    assert_eq!(stage.lines, [""; 0]);
}
