//! What goes wrong over a Unix socket, in either framing: cuts, false lengths, lines without an end, and a
//! peer that accepts a connection and says nothing.

use std::time::Duration;

use super::duplex_peer::{DuplexExchange, DuplexScript, FaultPeer, FramingKind, HandshakeSide};
use super::duplex_story::{
    BACK, DuplexStoryEnd, GARBAGE, LOST, NO_TEXT, START, STRANGE, TOO_LARGE, heard, outlive,
    stories, watch,
};
use super::fault_server::BEFORE_ANSWER;
use super::{once, read, see_through};
use DuplexStoryEnd::{Over, Whole};
use FramingKind::{Lengths, Lines};
use HandshakeSide::{Kept, Shaken};
use hearken_wording::phrase;

const EITHER: [FramingKind; 2] = [Lengths, Lines];
const BOTH: [HandshakeSide; 2] = [Shaken, Kept];

const OUT_OF_STEP: &str = "The connection to S is lost: its messages do not end where their lengths say. It is tried again.";
const LOST_TO_SILENCE: &str =
    "The connection to S is lost: there was no answer in time. It is tried again.";
const NEITHER: &str = "S can't be used: what answers there speaks neither framing of the protocol.";

stories! {
    socket_nothing_is_wrong (EITHER, BOTH, Whole): &[] => &[START];

    // Cuts.
    socket_cut_at_once (EITHER, [Kept], Whole): &[|_| {}] => &["Connected to S, without a handshake.", LOST, BACK];
    socket_cut_before_the_consent ([Lengths], [Shaken], Whole): &[|at| { at.hear("subscription.request"); }]
        => &["Connected to S.", LOST, BACK, "S sends with a handshake."];
    socket_cut_within_the_consent (EITHER, [Shaken], Whole): &[|at| {
        at.hear("subscription.request");
        let consent = at.consent();
        at.bytes(&consent[..consent.len() / 2]);
    }] => &["Connected to S.", LOST, BACK, "S sends with a handshake."];
    socket_cut_mid_message (EITHER, BOTH, Whole): &[|at| half_of(at, 3)] => &[START, LOST, BACK];
    socket_cut_within_a_length ([Lengths], BOTH, Whole): &[|at| { at.open(3).bytes(&[0, 0]); }] => &[START, LOST, BACK];
    socket_cut_before_the_line_s_end ([Lines], BOTH, Whole): &[|at| {
        let event = at.event(3);
        at.open(3).bytes(&event[..event.len() - 1]);
    }] => &[START, LOST, BACK];
    socket_cut_mid_utf_8 (EITHER, BOTH, Whole): &[|at| {
        let event = at.event(2);
        let sign = "漢".as_bytes();
        let inside = event.windows(sign.len()).position(|seen| seen == sign).unwrap() + 1;
        at.open(2).bytes(&event[..inside]);
    }] => &[START, LOST, BACK];
    socket_cut_again_and_again (EITHER, BOTH, Whole): &[
        |at| half_of(at, 2), |at| half_of(at, 3), |at| half_of(at, 4), |at| half_of(at, 6),
    ] => &[START, LOST, BACK, LOST, BACK, LOST, BACK, LOST, BACK];

    // A peer that accepts the connection and says nothing is asked in the other framing, which this one does
    // not read; then in the first again.
    socket_taken_and_not_answered ([Lengths], [Shaken], Whole): &[|at| { at.left(); }]
        => &["Connected to S.", LOST_TO_SILENCE, BACK, "S sends with a handshake."];

    // Time and size.
    socket_a_byte_a_second (EITHER, BOTH, Whole): &[|at| {
        at.open(1);
        let event = at.event(1);
        at.dribble(&event[..3], Duration::from_secs(1)).dribble(&event[3..], Duration::ZERO);
        at.events(2, BEFORE_ANSWER + 1).finish();
    }] => &[START];
    socket_an_event_of_2_mib (EITHER, BOTH, Whole): &[|at| {
        let large = at.wrap(&at.log.large_text(2 << 20));
        at.open(3).bytes(&large).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START];
    socket_an_event_of_5_mib (EITHER, BOTH, Whole): &[|at| {
        let large = at.wrap(&at.log.large_text(5 << 20));
        at.open(3).bytes(&large).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START, TOO_LARGE];
    socket_a_line_that_never_ends ([Lines], BOTH, Whole): &[|at| {
        at.open(3);
        let piece = vec![b'a'; 1 << 20];
        for _ in 0..48 { at.bytes(&piece); }
    }] => &[START, TOO_LARGE, LOST, BACK];

    // False lengths.
    socket_a_length_that_is_far_too_long ([Lengths], BOTH, Whole): &[|at| {
        at.open(3).bytes(&[0xff; 4]).events(3, 5).left();
    }] => &[START, OUT_OF_STEP, BACK];
    socket_a_length_beyond_the_bound ([Lengths], BOTH, Whole): &[|at| {
        at.open(3).bytes(&[0, 0xff, 0xff, 0xff]);
        let piece = vec![b'a'; (1 << 24) - 1];
        at.bytes(&piece).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START, TOO_LARGE];
    socket_a_length_that_is_a_little_too_long ([Lengths], BOTH, Whole): &[|at| {
        // The next message's length is taken as the end of this one, and what follows makes no sense: the
        // event itself is heard, and what comes after it is not an event.
        let mut event = at.event(3);
        event[3] = event[3].wrapping_add(4);
        at.open(3).bytes(&event).events(4, 6).left();
    }] => &[START, NO_TEXT, OUT_OF_STEP, BACK];
    socket_a_length_that_is_too_short ([Lengths], BOTH, Whole): &[|at| {
        let mut event = at.event(3);
        event[2] = event[2].wrapping_sub(1);
        at.open(3).bytes(&event).events(4, 6).left();
    }] => &[START, GARBAGE, OUT_OF_STEP, BACK];
    socket_lengths_of_nothing ([Lengths], BOTH, Whole): &[|at| {
        at.open(3).bytes(&[0; 4096]).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START];

    // Line ends, and what is between lines.
    socket_lines_that_end_in_cr_lf ([Lines], BOTH, Whole): &[|at| {
        at.open(1);
        for n in 1..=BEFORE_ANSWER {
            let line = format!("{}\r\n\r\n", at.log.event(n));
            at.bytes(line.as_bytes());
        }
        at.finish();
    }] => &[START];
    socket_a_byte_order_mark ([Lines], BOTH, Whole): &[|at| {
        at.bytes(b"\xEF\xBB\xBF").open(BEFORE_ANSWER + 1).finish();
    }] => &[START];
    socket_a_line_that_is_no_json (EITHER, BOTH, Whole): &[|at| {
        let words = at.wrap("hello");
        at.open(3).bytes(&words).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START, STRANGE];
    socket_bytes_that_are_no_text (EITHER, BOTH, Whole): &[|at| {
        let bytes = at.wrap("~~~~");
        let bytes: Vec<u8> = bytes.iter().map(|byte| if *byte == b'~' { 0xff } else { *byte }).collect();
        at.open(3).bytes(&bytes).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START, NO_TEXT];
    socket_neither_framing (EITHER, [Kept], Over(1)): &[|at| { at.bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n").left(); }]
        => &["Connected to S, without a handshake.", NEITHER];
}

/// Sends what comes before an event, and half of it.
fn half_of(at: &mut DuplexExchange, n: usize) {
    let event = at.event(n);
    at.open(n).bytes(&event[..event.len() / 2]);
}

#[test]
fn a_socket_that_was_taken_away_is_followed_when_it_returns() {
    for kind in EITHER {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("planner.sock");
        let turns: [DuplexScript; 1] = [|at| {
            at.open(3).gate();
        }];
        let peer = FaultPeer::at(&path, kind, Shaken, &turns);
        let settings = tempfile::tempdir().unwrap();
        let mut child = watch(&peer, Shaken, &settings);
        child.announced("state", "Grüße aus 漢字.");
        peer.stop();
        child.announced(
            "connection",
            phrase!("link.lost", reason = "the connection was closed"),
        );
        std::fs::remove_file(&path).unwrap();
        let again = FaultPeer::at(&path, kind, Shaken, &[]);
        see_through(&mut child, "the way back");
        let (code, _, lines) = child.exit();
        assert_eq!(code, 0);
        let told = read(&lines);
        once(&told, &lines.join("\n"));
        let hears = ["Connected to S.", "S sends with a handshake.", LOST, BACK];
        assert_eq!(heard(&told, &again), hears);
        assert_eq!(again.seen(|seen| seen.replies.len()), 1);
    }
}

#[test]
fn a_question_outlives_its_socket() {
    for kind in EITHER {
        for hands in BOTH {
            outlive(kind, hands);
        }
    }
}
