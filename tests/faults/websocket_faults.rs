//! What goes wrong over a WebSocket: cuts, broken rules, sizes, close codes, unanswered pings, and
//! answers that are not a WebSocket.

use std::net::TcpListener;
use std::time::Duration;

use super::duplex_peer::{
    BYTES, CLOSE, CONTINUED, CONTINUED_TO_THE_END, DuplexExchange, DuplexScript, FaultPeer,
    FramingKind, HandshakeSide, PING, TEXT, TEXT_BEGUN, frame, nothing,
};
use super::duplex_story::{
    BACK, DuplexStoryEnd, ENDED, LOST, NO_ANSWER, START, STRANGE, heard, outlive, stories, watch,
};
use super::fault_server::BEFORE_ANSWER;
use super::{once, read, see_through};
use DuplexStoryEnd::{Over, Whole};
use HandshakeSide::{Kept, Shaken};
use hearken_wording::phrase;

const WS: [FramingKind; 1] = [FramingKind::WebSocket];
const BOTH: [HandshakeSide; 2] = [Shaken, Kept];

const BROKEN: &str = "The connection to S is lost: what answers there breaks the rules of a WebSocket. It is tried again.";
const LOST_TO_SIZE: &str =
    "The connection to S is lost: a message is larger than 4194304 bytes. It is tried again.";
const LOST_TO_SILENCE: &str =
    "The connection to S is lost: there was no answer in time. It is tried again.";

stories! {
    ws_nothing_is_wrong (WS, BOTH, Whole): &[] => &[START];

    // Cuts: before, within and after a whole message.
    ws_cut_before_the_upgrade (WS, BOTH, Whole): &[|_| {}] => &[NO_ANSWER, START];
    ws_cut_within_the_upgrade (WS, BOTH, Whole): &[|at| {
        let upgrade = at.upgrade();
        at.bytes(&upgrade.as_bytes()[..40]);
    }] => &[NO_ANSWER, START];
    ws_cut_before_the_consent (WS, [Shaken], Whole): &[|at| { at.accept().hear("subscription.request"); }]
        => &["Connected to S.", LOST, BACK, "S sends with a handshake."];
    ws_cut_within_the_consent (WS, [Shaken], Whole): &[|at| {
        at.accept().hear("subscription.request");
        let consent = at.consent();
        at.bytes(&consent[..consent.len() / 2]);
    }] => &["Connected to S.", LOST, BACK, "S sends with a handshake."];
    ws_cut_mid_frame (WS, BOTH, Whole): &[|at| half_of(at, 3)] => &[START, LOST, BACK];
    ws_cut_within_a_length (WS, BOTH, Whole): &[|at| {
        let event = at.event(3);
        at.open(3).bytes(&event[..3]);
    }] => &[START, LOST, BACK];
    ws_cut_mid_utf_8 (WS, BOTH, Whole): &[|at| {
        let event = at.event(2);
        let inside = inside_a_character(&event);
        at.open(2).bytes(&event[..inside]);
    }] => &[START, LOST, BACK];
    ws_cut_between_fragments (WS, BOTH, Whole): &[|at| {
        let text = at.log.event(3).to_string();
        at.open(3).bytes(&frame(TEXT_BEGUN, &text.as_bytes()[..50]));
    }] => &[START, LOST, BACK];
    ws_cut_again_and_again (WS, BOTH, Whole): &[
        |at| half_of(at, 2), |at| half_of(at, 3), |_| {}, |at| half_of(at, 4), |at| half_of(at, 6),
    ] => &[START, LOST, BACK, LOST, BACK, LOST, BACK, LOST, BACK];

    // Fragments, time and size.
    ws_fragments_with_a_ping_between_them (WS, BOTH, Whole): &[|at| {
        at.open(2);
        let text = at.log.event(2).to_string().into_bytes();
        let inside = inside_a_character(&text);
        at.bytes(&frame(TEXT_BEGUN, &text[..inside]));
        at.bytes(&frame(PING, b"are you there")).bytes(&frame(CONTINUED, b""));
        at.bytes(&frame(CONTINUED_TO_THE_END, &text[inside..]));
        at.events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START];
    ws_a_byte_a_second (WS, BOTH, Whole): &[|at| {
        at.open(1);
        let event = at.event(1);
        // Longer than a ping may wait for its answer, which can't be sent inside a message.
        at.dribble(&event[..6], Duration::from_secs(1)).dribble(&event[6..], Duration::ZERO);
        at.events(2, BEFORE_ANSWER + 1).finish();
    }] => &[START];
    ws_an_event_of_2_mib (WS, BOTH, Whole): &[|at| {
        at.open(3);
        let large = at.wrap(&at.log.large_text(2 << 20));
        at.bytes(&large).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START];
    ws_an_event_of_5_mib (WS, BOTH, Whole): &[|at| {
        at.open(3);
        let large = at.wrap(&at.log.large_text(5 << 20));
        at.bytes(&large).events(3, 5);
    }] => &[START, LOST_TO_SIZE, BACK];
    ws_a_length_that_is_a_lie (WS, BOTH, Whole): &[|at| {
        at.open(3).bytes(&[TEXT, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, b'{']).left();
    }] => &[START, LOST_TO_SIZE, BACK];
    ws_an_endless_message (WS, BOTH, Whole): &[|at| {
        at.open(3).bytes(&frame(TEXT_BEGUN, b"{"));
        let piece = frame(CONTINUED, &vec![b'a'; 1 << 20]);
        for _ in 0..48 { at.bytes(&piece); }
    }] => &[START, LOST_TO_SIZE, BACK];
    ws_pings_only (WS, BOTH, Whole): &[|at| {
        at.open(2);
        let pings = frame(PING, b"").repeat(1 << 12);
        for _ in 0..16 { at.bytes(&pings); }
        at.events(2, BEFORE_ANSWER + 1).finish();
    }] => &[START];

    // What breaks the rules of WebSocket, and what only breaks the protocol's.
    ws_bytes_instead_of_text (WS, BOTH, Whole): &[|at| {
        let text = at.log.event(3).to_string();
        at.open(3).bytes(&frame(BYTES, text.as_bytes())).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START, "1 message from S was left out: it came as bytes, where the protocol needs text."];
    ws_text_that_is_no_json (WS, BOTH, Whole): &[|at| {
        at.open(3).bytes(&frame(TEXT, b"hello")).bytes(&frame(TEXT, b"")).events(3, BEFORE_ANSWER + 1).finish();
    }] => &[START, STRANGE];
    ws_text_that_is_no_utf_8 (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&frame(TEXT, b"\"\xff\xfe\"")).left(); }] => &[START, BROKEN, BACK];
    ws_a_mask_from_the_server (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&[TEXT, 0x82, 1, 2, 3, 4, 5, 6]).left(); }] => &[START, BROKEN, BACK];
    ws_a_reserved_bit (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&frame(TEXT | 0x40, b"{}")).left(); }] => &[START, BROKEN, BACK];
    ws_an_unknown_kind_of_frame (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&frame(0x83, b"{}")).left(); }] => &[START, BROKEN, BACK];
    ws_the_rest_of_nothing (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&frame(CONTINUED_TO_THE_END, b"{}")).left(); }] => &[START, BROKEN, BACK];
    ws_a_ping_that_is_too_long (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&frame(PING, &[b'a'; 126])).left(); }] => &[START, BROKEN, BACK];
    ws_a_close_with_half_a_code (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&frame(CLOSE, &[3])).left(); }] => &[START, BROKEN, BACK];

    // Close codes.
    ws_close_1000 (WS, BOTH, Over(0)): &[|at| close(at, 1000)] => &[START, ENDED];
    ws_close_1001 (WS, BOTH, Whole): &[|at| close(at, 1001)]
        => &[START, "The connection to S is lost: the server is going away. It is tried again.", BACK];
    ws_close_1009 (WS, BOTH, Whole): &[|at| close(at, 1009)]
        => &[START, "The connection to S is lost: a message was too large for the server (code 1009). It is tried again.", BACK];
    ws_close_1011 (WS, BOTH, Whole): &[|at| close(at, 1011)]
        => &[START, "The connection to S is lost: the server has an error (code 1011). It is tried again.", BACK];
    ws_close_1012 (WS, BOTH, Whole): &[|at| close(at, 1012)]
        => &[START, "The connection to S is lost: the server is restarting. It is tried again.", BACK];
    ws_close_3000 (WS, BOTH, Whole): &[|at| close(at, 3000)]
        => &[START, "The connection to S is lost: the server closed the connection (code 3000). It is tried again.", BACK];
    ws_close_4000 (WS, BOTH, Over(0)): &[|at| close(at, 4000)] => &[START, ENDED];
    ws_close_4001 (WS, BOTH, Over(1)): &[|at| close(at, 4001)] => &[START, "S can't be used: the server turned hearken away (code 4001)."];
    ws_close_4002 (WS, BOTH, Over(1)): &[|at| close(at, 4002)]
        => &[START, "S can't be used: the server does not know who asks; it needs a token (code 4002). Give it with --token-env or --token-file."];
    ws_close_4003 (WS, BOTH, Over(1)): &[|at| close(at, 4003)] => &[START, "S can't be used: the server refuses access (code 4003)."];
    ws_close_4004 (WS, BOTH, Over(1)): &[|at| close(at, 4004)]
        => &[START, "S can't be used: the server ended the subscription because of a violation (code 4004)."];
    ws_close_4005 (WS, BOTH, Over(0)): &[|at| close(at, 4005)] => &[START, ENDED];
    ws_close_without_a_code (WS, BOTH, Whole): &[|at| { at.open(3).bytes(&frame(CLOSE, b"")).left(); }] => &[START, LOST, BACK];

    // A peer that may be gone.
    ws_pings_without_an_answer (WS, BOTH, Whole): &[|at| { at.open(3).left(); }] => &[START, LOST_TO_SILENCE, BACK];

    // Answers that are not a WebSocket.
    ws_status_401 (WS, BOTH, Over(1)): &[|at| { at.status("401 Unauthorized", ""); }] => &["S can't be used: the server needs a token (status 401). Give it with --token-env or --token-file. If it is opencode with a password, write opencode: before its address."];
    ws_status_403 (WS, BOTH, Over(1)): &[|at| { at.status("403 Forbidden", ""); }] => &["S can't be used: the server refuses access (status 403)."];
    ws_status_200 (WS, BOTH, Over(1)): &[|at| { at.status("200 OK", ""); }] => &["S can't be used: what answers there is not a WebSocket. Check host, port and path."];
    ws_status_307 (WS, BOTH, Over(1)): &[|at| { at.status("307 Temporary Redirect", "Location: https://elsewhere.example/\r\n"); }]
        => &["S can't be used: the server redirects its WebSocket, which is not followed. Check host, port and path."];
    ws_status_429 (WS, BOTH, Whole): &[|at| { at.status("429 Too Many Requests", "Retry-After: 1\r\n"); }]
        => &["S can't be reached: the server is too busy (status 429). It is tried again.", START];
    ws_status_503_twice_on_return (WS, BOTH, Whole): &[
        |at| { at.open(3); },
        |at| { at.status("503 Service Unavailable", ""); },
        |at| { at.status("503 Service Unavailable", ""); },
    ] => &[START, LOST, BACK];
    ws_another_subprotocol (WS, BOTH, Over(1)): &[|at| {
        let upgrade = at.upgrade().replace("aaep.v1", "chat");
        at.bytes(upgrade.as_bytes()).left();
    }] => &["S can't be used: the server does not speak aaep.v1 over its WebSocket. Check host, port and path."];
    ws_a_wrong_proof (WS, BOTH, Whole): &[|at| {
        let upgrade = at.upgrade().replace("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: x");
        at.bytes(upgrade.as_bytes()).left();
    }] => &["S can't be reached: what answers there breaks the rules of a WebSocket. It is tried again.", START];
    ws_endless_headers (WS, BOTH, Whole): &[|at| {
        at.bytes(b"HTTP/1.1 101 Switching Protocols\r\n");
        let piece = b"X-A: aaaaaaaaaaaaaaaa\r\n".repeat(1 << 14);
        for _ in 0..16 { at.bytes(&piece); }
    }] => &["S can't be reached: what answers there breaks the rules of a WebSocket. It is tried again.", START];
}

/// Sends what comes before an event, and half of it.
fn half_of(at: &mut DuplexExchange, n: usize) {
    let event = at.event(n);
    at.open(n).bytes(&event[..event.len() / 2]);
}

/// Returns a position between two bytes of one character.
fn inside_a_character(bytes: &[u8]) -> usize {
    let sign = "漢".as_bytes();
    let start = bytes.windows(sign.len()).position(|seen| seen == sign);
    start.unwrap() + 1
}

/// Sends some events and a close frame with a code, and waits until the other side has gone.
fn close(at: &mut DuplexExchange, code: u16) {
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend(b"because");
    at.open(3).bytes(&frame(CLOSE, &payload)).left();
}

#[test]
fn a_websocket_that_nobody_listens_for_is_followed_when_it_returns() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let turns: [DuplexScript; 1] = [|at| {
        at.open(3).gate();
    }];
    let peer = FaultPeer::on(listener, Shaken, &turns, nothing);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch(&peer, Shaken, &folder);
    child.announced("state", "Grüße aus 漢字.");
    peer.stop();
    child.announced(
        "connection",
        phrase!("link.lost", reason = "the connection was closed"),
    );
    // For a moment, the port may be the near end of another connection.
    let free = || TcpListener::bind(address).ok();
    let listener = (0..100).find_map(|_| {
        free().or_else(|| {
            std::thread::sleep(Duration::from_millis(50));
            None
        })
    });
    let again = FaultPeer::on(
        listener.expect("the port is free again"),
        Shaken,
        &[],
        nothing,
    );
    see_through(&mut child, "the way back");
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0);
    let told = read(&lines);
    once(&told, &lines.join("\n"));
    let start = ["Connected to S.", "S sends with a handshake.", LOST, BACK];
    assert_eq!(heard(&told, &again), start);
    assert_eq!(again.seen(|seen| seen.replies.len()), 1);
}

#[test]
fn a_question_outlives_its_websocket() {
    for kind in WS {
        for hands in BOTH {
            outlive(kind, hands);
        }
    }
}
