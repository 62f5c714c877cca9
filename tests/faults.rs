//! What goes wrong between a server and here, one row per fault: what the person hears of it, that nothing
//! is lost or said twice once it is over, and that memory stays bounded.
//!
//! Each row plays twice, against a server that resumes and against one that replays everything; see
//! `server`. After the row's broken connection comes a good one, where a question is asked and answered.
//! The announcements of a fault are in the row word for word, with `S` for the source.

mod certificates;
mod cut_replies;
mod duplex_peer;
mod duplex_story;
mod failing_ways;
mod fault_server;
#[cfg(unix)]
mod program_faults;
mod silent_servers;
#[cfg(unix)]
mod socket_faults;
mod waiting_servers;
mod websocket_faults;

use std::time::Duration;

use hearken_wording::phrase;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::child::Hearken;
use fault_server::{
    BEFORE_ANSWER, FaultServer, LineStyle, ReplayedPast, STREAM, StreamExchange, StreamScript,
    WORDS,
};

/// The most memory that a run may use, in bytes. It is far below what the rows send; a build with all
/// checks needs about 25 MB for itself.
const PEAK: usize = 64 * 1024 * 1024;

/// The waits between attempts are short here; the limits are shorter than the duration of the slow row.
const SETTINGS: &str = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n\
    connect_timeout_ms = 1000\nreply_timeout_ms = 1000\n";

use ServerStoryEnd::{Over, Whole};

const BACK: &str = "The connection to S is back.";
const CONNECTED: &str = "Connected to S, without a handshake.";
const TOO_LARGE: &str = "1 message from S was left out: a message is larger than 4194304 bytes.";
const LOST: &str = "The connection to S is lost: the connection was closed. It is tried again.";
const NO_ANSWER: &str = "S can't be reached: the connection was closed. It is tried again.";

/// How a story ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerStoryEnd {
    /// The fault passes and everything is heard.
    Whole,
    /// The program ends by itself with this code, because nothing more can be expected.
    Over(i32),
}

struct FaultRow {
    turns: &'static [StreamScript],
    style: LineStyle,
    hears: &'static [&'static str],
    end: ServerStoryEnd,
}

/// Defines a test for each row: its name, the style of its lines and its end, its first connections, and
/// what is heard of them.
macro_rules! rows {
    ($($name:ident ($style:ident, $end:expr): $turns:expr => $hears:expr;)*) => {
        $(#[test]
        fn $name() {
            static ROW: FaultRow = FaultRow { turns: $turns, style: LineStyle::$style, hears: $hears, end: $end };
            play_both(stringify!($name), &ROW);
        })*
    };
}

rows! {
    // Cuts: before, within and after a whole event.
    cut_before_headers (Lf, Whole): &[|_| {}] => &[NO_ANSWER, CONNECTED];
    cut_within_headers (Lf, Whole): &[|at| { at.bytes(&STREAM.as_bytes()[..30]); }] => &[NO_ANSWER, CONNECTED];
    cut_after_headers (Lf, Whole): &[|at| { at.open(1); }] => &[CONNECTED, LOST, BACK];
    cut_mid_frame (Lf, Whole): &[|at| half_of(at, 3)] => &[CONNECTED, LOST, BACK];
    cut_before_the_blank_line (Lf, Whole): &[|at| {
        let text = at.log.sse(3);
        at.open(3).text(&text[..text.len() - 1]);
    }] => &[CONNECTED, LOST, BACK];
    cut_mid_utf_8 (Lf, Whole): &[|at| {
        let text = at.log.sse(2);
        let inside = text.find('漢').unwrap() + 1;
        at.open(2).bytes(&text.as_bytes()[..inside]);
    }] => &[CONNECTED, LOST, BACK];
    cut_inside_a_chunk (Lf, Whole): &[|at| {
        let text = at.log.range(1, 3);
        at.bytes(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        at.bytes(format!("{:x}\r\n{text}", text.len() + 100).as_bytes());
    }] => &[CONNECTED, LOST, BACK];
    cut_between_two_pieces_of_text (Lf, Whole): &[|at| { at.open(4); }] => &[CONNECTED, LOST, BACK];
    cut_again_and_again (Lf, Whole): &[
        |at| half_of(at, 2), |at| half_of(at, 3), |_| {}, |at| half_of(at, 4), |at| half_of(at, 6),
    ] => &[CONNECTED, LOST, BACK, LOST, BACK, LOST, BACK, LOST, BACK];

    // Time.
    a_byte_a_second (Lf, Whole): &[slowly] => &[CONNECTED, LOST, BACK];

    // Size.
    an_event_of_2_mib (Lf, Whole): &[|at| {
        let large = at.log.large(2 << 20);
        at.open(3).text(&large);
    }] => &[CONNECTED, LOST, BACK];
    an_event_of_5_mib (Lf, Whole): &[|at| {
        let large = at.log.large(5 << 20);
        at.open(3).text(&large);
    }] => &[CONNECTED, TOO_LARGE, LOST, BACK];
    an_endless_line (Lf, Whole): &[|at| {
        at.open(3).text("data: ");
        let piece = vec![b'a'; 1 << 20];
        for _ in 0..48 { at.bytes(&piece); }
    }] => &[CONNECTED, TOO_LARGE, LOST, BACK];
    an_endless_event (Lf, Whole): &[|at| {
        at.open(3);
        let piece = b"data: a\n".repeat(1 << 17);
        for _ in 0..48 { at.bytes(&piece); }
    }] => &[CONNECTED, TOO_LARGE, LOST, BACK];
    endless_headers (Lf, Over(1)): &[|at| {
        at.bytes(b"HTTP/1.1 200 OK\r\n");
        let piece = b"X-A: aaaaaaaaaaaaaaaa\r\n".repeat(1 << 14);
        for _ in 0..16 { at.bytes(&piece); }
    }] => &["S can't be used: what answers there does not speak HTTP."];

    // Line ends, and what is between lines.
    lines_that_end_in_cr_lf (CrLf, Whole): &[|at| { at.open(5); }] => &[CONNECTED, LOST, BACK];
    lines_that_end_in_cr (Cr, Whole): &[|at| { at.open(5); }] => &[CONNECTED, LOST, BACK];
    cut_between_cr_and_lf (CrLf, Whole): &[|at| {
        let text = at.log.sse(3).replace('\n', "\r\n");
        at.open(3).bytes(&text.as_bytes()[..text.len() - 1]);
    }] => &[CONNECTED, LOST, BACK];
    a_byte_order_mark (Bom, Whole): &[|at| { at.open(5); }] => &[CONNECTED, LOST, BACK];
    comments_only (Lf, Whole): &[|at| {
        at.open(1);
        let piece = b": still here\n\n".repeat(1 << 16);
        for _ in 0..4 { at.bytes(&piece); }
    }] => &[CONNECTED, LOST, BACK];

    // Answers that are not a stream.
    gzip_not_asked_for (Lf, Over(1)): &[|at| {
        at.bytes(STREAM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n").as_bytes());
        at.bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    }] => &["S can't be used: the server answered with a compressed stream, not with an event stream. Check host, port and path."];
    status_401 (Lf, Over(1)): &[|at| { at.status("401 Unauthorized", ""); }] => &["S can't be used: the server needs a token (status 401). Give it with --token-env or --token-file. If it is opencode with a password, write opencode: before its address."];
    status_403 (Lf, Over(1)): &[|at| { at.status("403 Forbidden", ""); }] => &["S can't be used: the server refuses access (status 403)."];
    status_404 (Lf, Over(1)): &[|at| { at.status("404 Not Found", ""); }] => &["S can't be used: nothing is at that address (status 404). Check host, port and path."];
    status_401_on_return (Lf, Over(1)): &[|at| { at.open(3); }, |at| { at.status("401 Unauthorized", ""); }]
        => &[CONNECTED, LOST, "S can't be used: the server needs a token (status 401). Give it with --token-env or --token-file. If it is opencode with a password, write opencode: before its address."];
    status_429 (Lf, Whole): &[|at| { at.status("429 Too Many Requests", "Retry-After: 1\r\n"); }]
        => &["S can't be reached: the server is too busy (status 429). It is tried again.", CONNECTED];
    status_500 (Lf, Whole): &[|at| { at.status("500 Internal Server Error", ""); }]
        => &["S can't be reached: the server has an error (status 500). It is tried again.", CONNECTED];
    status_503_twice_on_return (Lf, Whole): &[
        |at| { at.open(3); },
        |at| { at.status("503 Service Unavailable", ""); },
        |at| { at.status("503 Service Unavailable", ""); },
    ] => &[CONNECTED, LOST, BACK];
    status_204 (Lf, Over(0)): &[|at| { at.status("204 No Content", ""); }] => &["S has ended."];
    status_204_after_a_cut (Lf, Over(0)): &[|at| { at.open(3); }, |at| { at.status("204 No Content", ""); }]
        => &[CONNECTED, LOST, "S has ended. planner was not done."];
    status_307 (Lf, Whole): &[|at| { at.status("307 Temporary Redirect", "Location: /elsewhere\r\n"); }] => &[CONNECTED];
    a_redirect_loop (Lf, Over(1)): &[again, again, again, again, again, again] => &["S can't be used: the server redirects again and again."];
    a_redirect_to_nowhere (Lf, Over(1)): &[|at| { at.status("307 Temporary Redirect", ""); }] => &["S can't be used: the server redirects to nowhere."];
}

/// Redirects to the same place.
fn again(at: &mut StreamExchange) {
    at.status("307 Temporary Redirect", "Location: /events\r\n");
}

/// Sends the first bytes of its head and of an event at one per second, which takes longer than every
/// limit in the settings, and the rest byte by byte.
fn slowly(at: &mut StreamExchange) {
    let second = Duration::from_secs(1);
    let text = at.log.range(1, BEFORE_ANSWER);
    at.dribble(&STREAM.as_bytes()[..2], second);
    at.dribble(&STREAM.as_bytes()[2..], Duration::ZERO);
    at.dribble(&text.as_bytes()[..2], second);
    at.dribble(&text.as_bytes()[2..], Duration::ZERO);
}

/// Sends what comes before an event, and half of it.
fn half_of(at: &mut StreamExchange, n: usize) {
    let text = at.log.sse(n);
    at.open(n).text(&text[..text.len() / 2]);
}

fn play_both(name: &str, row: &'static FaultRow) {
    std::thread::scope(|scope| {
        for past in [ReplayedPast::Resumed, ReplayedPast::Replayed] {
            scope.spawn(move || play(name, row, past));
        }
    });
}

fn watch(server: &FaultServer, settings: &TempDir) -> Hearken {
    watch_with(server, settings, SETTINGS, &[])
}

fn watch_with(server: &FaultServer, folder: &TempDir, settings: &str, more: &[&str]) -> Hearken {
    watch_at(server.address(), folder, settings, more)
}

fn watch_at(address: &str, folder: &TempDir, settings: &str, more: &[&str]) -> Hearken {
    let config = folder.path().join("config.toml");
    std::fs::write(&config, settings).unwrap();
    let url = format!("http://{address}");
    let mut arguments = vec![
        "watch",
        &url,
        "--plain-pair",
        "--face",
        "json",
        "--voice",
        "none",
        "--config",
        config.to_str().unwrap(),
    ];
    arguments.extend(more);
    Hearken::start(&arguments)
}

/// Answers the question about the letter, hears the session to its end within the memory limit, and
/// leaves.
fn see_through(child: &mut Hearken, row: &str) {
    child.announced("confirmation", "Send the letter");
    child.say("n 1");
    child.announced("session_completed", "Planner is done.");
    if let Some(peak) = child.peak() {
        assert!(peak < PEAK, "{row}: {peak} bytes");
    }
    child.say("q");
}

/// Parses the announcements.
fn read(lines: &[String]) -> Vec<Value> {
    let object = |line: &String| serde_json::from_str(line).unwrap();
    lines.iter().map(object).collect()
}

fn play(name: &str, row: &FaultRow, past: ReplayedPast) {
    let server = FaultServer::start(row.turns, past, row.style);
    let settings = tempfile::tempdir().unwrap();
    let mut child = watch(&server, &settings);
    if row.end == ServerStoryEnd::Whole {
        see_through(&mut child, &format!("{name}, {past:?}"));
    }
    let (code, errors, lines) = child.exit();
    let told = read(&lines);
    let all = lines.join("\n");
    let wanted = match row.end {
        ServerStoryEnd::Whole => 0,
        ServerStoryEnd::Over(code) => code,
    };
    assert_eq!(
        (code, errors.as_str()),
        (wanted, ""),
        "{name}, {past:?}\n{all}"
    );
    assert_eq!(heard(&told, &server), row.hears, "{name}, {past:?}\n{all}");
    if row.end == ServerStoryEnd::Whole {
        once(&told, &format!("{name}, {past:?}\n{all}"));
        let replies = server.seen(|seen| seen.replies.clone());
        assert_eq!(replies.len(), 1, "{name}, {past:?}: {replies:?}");
        assert_eq!(replies[0]["reply_token"], "rpl_1");
        assert_eq!(replies[0]["decision"], "reject");
    }
}

/// Returns what the person hears about the connection, with `S` for the source.
fn heard(told: &[Value], server: &FaultServer) -> Vec<String> {
    let source = format!("http://{}/events", server.address());
    let heard = heard_of(told).into_iter();
    heard.map(|text| text.replace(&source, "S")).collect()
}

/// Returns what the person hears about the connections.
fn heard_of(told: &[Value]) -> Vec<String> {
    told.iter()
        .filter(|line| {
            let kind = line["kind"].as_str().unwrap();
            ["connection", "anomaly", "danger"].contains(&kind)
        })
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Checks that each event of the log was said exactly once.
fn once(told: &[Value], what: &str) {
    for (kind, words) in WORDS {
        let count = told
            .iter()
            .filter(|line| line["kind"] == kind)
            .filter(|line| line["text"].as_str().unwrap().contains(words))
            .count();
        assert_eq!(count, 1, "{kind} {words:?}: {what}");
    }
}

/// Returns a header of a request.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

#[test]
fn what_is_resumed_is_what_came_whole() {
    let turns: [StreamScript; 3] = [|at| half_of(at, 1), |at| half_of(at, 4), |_| {}];
    let server = FaultServer::start(&turns, ReplayedPast::Resumed, LineStyle::Lf);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch(&server, &folder);
    child.announced("confirmation", "Send the letter");
    let heads: Vec<String> =
        server.seen(|seen| seen.streams.iter().map(|(_, head)| head.clone()).collect());
    let resumed: Vec<Option<&str>> = heads
        .iter()
        .map(|head| header(head, "last-event-id"))
        .collect();
    assert_eq!(resumed, [None, None, Some("evt_3"), Some("evt_3")]);
    for head in &heads {
        assert_eq!(header(head, "accept"), Some("text/event-stream"), "{head}");
        assert_eq!(header(head, "accept-encoding"), None, "{head}");
    }
}

/// Plays the turns and returns how long the wait for the second connection was.
fn gap(turns: &[StreamScript]) -> Duration {
    let server = FaultServer::start(turns, ReplayedPast::Resumed, LineStyle::Lf);
    let folder = tempfile::tempdir().unwrap();
    let settings = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 3000\n";
    let mut child = watch_with(&server, &folder, settings, &[]);
    child.announced("confirmation", "Send the letter");
    server.seen(|seen| seen.streams[1].0 - seen.streams[0].0)
}

#[test]
fn a_server_that_names_a_wait_is_left_alone_for_so_long() {
    let named: [(&str, &[StreamScript]); 2] = [
        (
            "retry:",
            &[|at| {
                at.open(2).text("retry: 1000\n\n");
            }],
        ),
        (
            "Retry-After",
            &[|at| {
                at.status("503 Service Unavailable", "Retry-After: 1\r\n");
            }],
        ),
    ];
    std::thread::scope(|scope| {
        for (name, turns) in named {
            scope.spawn(move || {
                let waited = gap(turns);
                assert!(waited >= Duration::from_secs(1), "{name}: {waited:?}");
            });
        }
    });
}

#[test]
fn the_token_goes_to_the_servers_own_origin_and_nowhere_else() {
    let other = FaultServer::start(&[], ReplayedPast::Resumed, LineStyle::Lf);
    let turns: [StreamScript; 2] = [
        |at| {
            at.status("307 Temporary Redirect", "Location: /elsewhere\r\n");
        },
        |at| {
            let away = format!("Location: http://{}/events\r\n", at.other);
            at.status("307 Temporary Redirect", &away);
        },
    ];
    let server = FaultServer::start(&turns, ReplayedPast::Resumed, LineStyle::Lf);
    server.knows(&other);
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "s3cret\n").unwrap();
    let more = ["--token-file", token.to_str().unwrap()];
    let mut child = watch_with(&server, &folder, SETTINGS, &more);
    child.announced("confirmation", "Send the letter");
    let carried = |server: &FaultServer| -> Vec<Option<String>> {
        server.seen(|seen| {
            let heads = seen
                .streams
                .iter()
                .map(|(_, head)| header(head, "authorization"));
            heads.map(|token| token.map(str::to_owned)).collect()
        })
    };
    let token = Some("Bearer s3cret".to_owned());
    assert_eq!(carried(&server), [token.clone(), token]);
    assert_eq!(carried(&other), [None]);
    assert!(!child.seen().join("\n").contains("s3cret"));
}

/// Follows a question whose connection breaks once `break_off` is called: it is asked once, and answered on the next.
fn outlives(child: &mut Hearken, break_off: impl FnOnce()) {
    child.announced("confirmation", "Send the letter");
    break_off();
    child.announced("connection", phrase!("link.lost"));
    child.announced("confirmation", phrase!("question.unsure", n = 1));
    child.announced("connection", phrase!("link.back"));
    child.announced("confirmation", phrase!("question.again.perhaps", n = 1));
    child.say("n 1");
    child.announced("session_completed", "Planner is done.");
    let asked =
        |line: &&String| phrase!("question.part.consequence", text = "It leaves.").is_in(line);
    // The words appear once in the text and once in the spoken form of the same line.
    assert_eq!(child.seen().iter().filter(asked).count(), 1);
}

#[test]
fn a_question_that_outlives_its_connection_is_asked_once_and_answered_on_the_next() {
    let turns: [StreamScript; 1] = [|at| {
        at.open(BEFORE_ANSWER + 1).gate();
    }];
    let server = FaultServer::start(&turns, ReplayedPast::Replayed, LineStyle::Lf);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch(&server, &folder);
    outlives(&mut child, || server.open_gate());
    assert_eq!(server.seen(|seen| seen.replies.len()), 1);
}
