//! Servers with one way that fails: hearken continues on the next one that their manifest lists, the person
//! is told once, and nothing in a manifest leads anywhere but to the server itself.

use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::UnixListener;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hearken_wording::phrase;
use serde_json::{Value, json};

use super::duplex_peer::{
    DuplexExchange, DuplexScript, FaultPeer, HandshakeSide, OtherRequestAnswer,
};
use super::duplex_story::without_place;
use super::fault_server::{BEFORE_ANSWER, STREAM};
use super::{header, heard_of, once, read, see_through};
use crate::support::child::Hearken;

const CONNECTED: &str = "Connected to S, by a handshake.";

/// How a site answers requests other than the WebSocket's.
#[derive(Clone, Copy)]
struct Site {
    /// The transports of its manifest, as JSON; `None` without a manifest.
    lists: Option<&'static str>,
    subscription: Subscription,
    stream: StreamAnswer,
}

#[derive(Clone, Copy, PartialEq)]
enum Subscription {
    Taken,
    /// It answers with a status alone.
    Status(&'static str),
    /// It rejects with a reason from the protocol.
    Rejected(&'static str),
}

#[derive(Clone, Copy, PartialEq)]
enum StreamAnswer {
    Good,
    Status(&'static str),
    Page,
}

const GOOD: Site = Site {
    lists: Some(r#"["sse", "websocket"]"#),
    subscription: Subscription::Taken,
    stream: StreamAnswer::Good,
};

fn answer(at: &mut DuplexExchange, status: &str, headers: &str, body: &Value) {
    let body = body.to_string();
    let length = body.len();
    at.bytes(
        format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .as_bytes(),
    );
}

/// Plays the story over a stream of events.
fn tell(at: &mut DuplexExchange) {
    at.bytes(STREAM.as_bytes());
    let before = at.log.range(1, BEFORE_ANSWER + 1);
    at.bytes(before.as_bytes());
    if at.until_answered() {
        let after = at.log.range(BEFORE_ANSWER + 1, BEFORE_ANSWER + 3);
        at.bytes(after.as_bytes()).left();
    }
}

fn serve(at: &mut DuplexExchange, body: &str, site: Site) {
    let path = at.head.split(' ').nth(1).unwrap().to_owned();
    let path = path.split('?').next().unwrap();
    match (path, site.lists) {
        ("/.well-known/aaep-manifest.json", Some(lists)) => {
            let lists: Value = serde_json::from_str(lists).unwrap();
            let manifest = json!({
                "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:producer.manifest",
                "agent_id": "planner", "aaep_versions_supported": ["1.0.0"],
                "conformance_levels_supported": [1, 2, 3], "transports_supported": lists,
            });
            answer(at, "200 OK", "", &manifest);
        }
        ("/aaep/v1/subscriptions", _) => match site.subscription {
            Subscription::Taken => {
                let consent = json!({
                    "type": "subscription.accepted", "subscription_id": "sub_1", "aaep_version": "1.0.0",
                    "producer": {"agent_id": "planner"}, "honored_capabilities": {},
                });
                let location = "Location: /aaep/v1/events?subscription_id=sub_1\r\n";
                answer(at, "201 Created", location, &consent);
            }
            Subscription::Status(status) => {
                at.status(status, "");
            }
            Subscription::Rejected(code) => {
                let rejected = json!({
                    "type": "subscription.rejected", "reason_code": code, "reason_message": "",
                });
                answer(at, "400 Bad Request", "", &rejected);
            }
        },
        ("/aaep/v1/events", _) => {
            match site.stream {
                StreamAnswer::Good => tell(at),
                StreamAnswer::Status(status) => {
                    at.status(status, "");
                }
                StreamAnswer::Page => {
                    at.bytes(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>");
                }
            }
        }
        ("/events", _) if site.subscription != Subscription::Taken => tell(at),
        ("/aaep/v1/replies" | "/messages", _) => {
            let message: Value = serde_json::from_str(body).unwrap();
            if message["type"] == "confirmation.reply" {
                at.took(message);
            }
            at.bytes(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        }
        _ => {
            at.status("404 Not Found", "");
        }
    }
}

/// The address by which the person names a site.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SiteAddress {
    Http,
    Ws,
}

/// How a story ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WayStoryEnd {
    Whole,
    Over,
}

fn watch(
    peer: &FaultPeer,
    named: SiteAddress,
    folder: &tempfile::TempDir,
    more: &[&str],
) -> (Hearken, String) {
    let config = folder.path().join("config.toml");
    let settings = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n";
    std::fs::write(&config, settings).unwrap();
    let (source, name) = match named {
        SiteAddress::Http => (
            format!("http://{}", peer.address()),
            format!("http://{}/events", peer.address()),
        ),
        SiteAddress::Ws => (peer.source().to_owned(), peer.name()),
    };
    let mut arguments = vec!["watch", &source, "--face", "json", "--voice", "none"];
    arguments.extend(["--config", config.to_str().unwrap()]);
    arguments.extend(more);
    (Hearken::start(&arguments), name)
}

fn play(
    test: &str,
    named: SiteAddress,
    end: WayStoryEnd,
    beside: OtherRequestAnswer,
    turns: &[DuplexScript],
    hears: &[&str],
) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = FaultPeer::on(listener, HandshakeSide::Shaken, turns, beside);
    let folder = tempfile::tempdir().unwrap();
    let (mut child, name) = watch(&peer, named, &folder, &[]);
    if end == WayStoryEnd::Whole {
        see_through(&mut child, test);
    }
    let (code, errors, lines) = child.exit();
    let told = read(&lines);
    let all = format!("{test}\n{}", lines.join("\n"));
    let heard: Vec<String> = heard_of(&told)
        .into_iter()
        .map(|text| without_place(text.replace(&name, "S")))
        .collect();
    assert_eq!(heard, hears, "{all}\n{errors}");
    assert_eq!(
        (code, errors.as_str()),
        (i32::from(end == WayStoryEnd::Over), ""),
        "{all}"
    );
    if end == WayStoryEnd::Whole {
        once(&told, &all);
        assert_eq!(peer.seen(|seen| seen.replies.len()), 1, "{all}");
    }
}

/// Defines a test for each row: its name, the named address, its end, the site, the first connections to
/// the WebSocket, and what is heard.
macro_rules! sites {
    ($($name:ident ($named:ident, $end:ident): $site:expr, $turns:expr => $hears:expr;)*) => {
        $(#[test]
        fn $name() {
            const SITE: Site = $site;
            let turns: &[DuplexScript] = $turns;
            play(stringify!($name), SiteAddress::$named, WayStoryEnd::$end, |at, body| serve(at, body, SITE), turns, $hears);
        })*
    };
}

const WENT_ON: [&str; 2] = ["Connected to S.", "S sends with a handshake."];

sites! {
    // The event stream was named.
    the_stream_works (Http, Whole): GOOD, &[] => &[CONNECTED];
    the_order_of_a_manifest_does_not_pass_over_the_way_that_was_named (Http, Whole):
        Site { lists: Some(r#"["websocket", "sse"]"#), ..GOOD }, &[] => &[CONNECTED];
    the_stream_is_not_there (Http, Whole): Site { stream: StreamAnswer::Status("404 Not Found"), ..GOOD }, &[] => &[
        "The event stream of S can't be used: nothing is at that address (status 404). Going on over a WebSocket.",
        WENT_ON[0], WENT_ON[1],
    ];
    the_stream_is_a_page (Http, Whole): Site { stream: StreamAnswer::Page, ..GOOD }, &[] => &[
        "The event stream of S can't be used: the server answered with text/html, not with an event stream. Going on over a WebSocket.",
        WENT_ON[0], WENT_ON[1],
    ];
    the_subscription_has_no_place (Http, Whole): Site { subscription: Subscription::Status("405 Method Not Allowed"), ..GOOD }, &[] => &[
        "The event stream of S can't be used: it takes no subscription there (status 405). Going on over a WebSocket.",
        WENT_ON[0], WENT_ON[1],
    ];
    the_transport_is_unavailable (Http, Whole): Site { subscription: Subscription::Rejected("transport_unavailable"), ..GOOD }, &[] => &[
        "The event stream of S can't be used: it says that it does not serve that way. Going on over a WebSocket.",
        WENT_ON[0], WENT_ON[1],
    ];
    the_manifest_leaves_the_stream_out (Http, Whole): Site { lists: Some(r#"["grpc", "websocket"]"#), ..GOOD }, &[] => &[
        "S offers no event stream. Going on over a WebSocket.", WENT_ON[0], WENT_ON[1],
    ];
    no_other_way_is_listed (Http, Over): Site { lists: Some(r#"["sse", "unix-socket"]"#), stream: StreamAnswer::Status("404 Not Found"), ..GOOD }, &[]
        => &["S can't be used: nothing is at that address (status 404). Check host, port and path."];
    there_is_no_manifest (Http, Over): Site { lists: None, stream: StreamAnswer::Status("404 Not Found"), ..GOOD }, &[]
        => &["S can't be used: nothing is at that address (status 404). Check host, port and path."];
    no_way_works (Http, Over): Site { stream: StreamAnswer::Status("404 Not Found"), ..GOOD }, &[|at| { at.status("404 Not Found", ""); }] => &[
        "The event stream of S can't be used: nothing is at that address (status 404). Going on over a WebSocket.",
        "S can't be used: nothing is at that address (status 404). Check host, port and path.",
    ];
    the_plain_pair_comes_last (Http, Whole): Site { subscription: Subscription::Status("404 Not Found"), ..GOOD }, &[|at| { at.status("404 Not Found", ""); }] => &[
        "The event stream of S can't be used: it takes no subscription there (status 404). Going on over a WebSocket.",
        "The WebSocket of S can't be used: nothing is at that address (status 404). Going on without a handshake.",
        "Connected to S, without a handshake.",
    ];
    who_wants_a_token_is_not_gone_around (Http, Over): Site { subscription: Subscription::Status("401 Unauthorized"), ..GOOD }, &[]
        => &["S can't be used: the server needs a token (status 401). Give it with --token-env or --token-file. If it is opencode with a password, write opencode: before its address."];
    who_refuses_access_is_not_gone_around (Http, Over): Site { stream: StreamAnswer::Status("403 Forbidden"), ..GOOD }, &[]
        => &["S can't be used: the server refuses access (status 403)."];

    // The WebSocket was named.
    the_websocket_is_not_there (Ws, Whole): GOOD, &[|at| { at.status("404 Not Found", ""); }] => &[
        "The WebSocket of S can't be used: nothing is at that address (status 404). Going on over an event stream.", CONNECTED,
    ];
    the_websocket_is_something_else (Ws, Whole): Site { lists: Some(r#"["sse"]"#), ..GOOD }, &[|at| { at.status("200 OK", ""); }] => &[
        "The WebSocket of S can't be used: what answers there is not a WebSocket. Going on over an event stream.", CONNECTED,
    ];
    the_websocket_is_an_old_server (Ws, Whole): GOOD, &[|at| { at.bytes(b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n"); }] => &[
        "The WebSocket of S can't be used: what answers there is not a WebSocket. Going on over an event stream.", CONNECTED,
    ];
    the_websocket_is_kept_from_us_on_the_way (Ws, Whole): GOOD, &[|at| {
        let upgrade = at.upgrade().replace("Upgrade: websocket\r\nConnection: Upgrade\r\n", "");
        at.bytes(upgrade.as_bytes()).left();
    }] => &[
        "The WebSocket of S can't be used: what answers there is not a WebSocket. Going on over an event stream.", CONNECTED,
    ];
    the_websocket_does_not_serve_this (Ws, Whole): GOOD, &[|at| {
        at.accept().hear("subscription.request");
        let rejected = json!({"type": "subscription.rejected", "reason_code": "transport_unavailable", "reason_message": ""});
        let rejected = at.wrap(&rejected.to_string());
        at.bytes(&rejected).left();
    }] => &[
        "Connected to S.",
        "The WebSocket of S can't be used: it says that it does not serve that way. Going on over an event stream.",
    ];
    no_stream_is_listed (Ws, Over): Site { lists: Some(r#"["websocket"]"#), ..GOOD }, &[|at| { at.status("404 Not Found", ""); }]
        => &["S can't be used: nothing is at that address (status 404). Check host, port and path."];
    nobody_says_that_there_is_a_stream (Ws, Over): Site { lists: None, ..GOOD }, &[|at| { at.status("404 Not Found", ""); }]
        => &["S can't be used: nothing is at that address (status 404). Check host, port and path."];
    a_closed_websocket_is_not_gone_around (Ws, Over): GOOD, &[|at| { at.status("403 Forbidden", ""); }]
        => &["S can't be used: the server refuses access (status 403)."];
}

#[cfg(unix)]
#[test]
fn nothing_in_a_manifest_leads_to_another_server_or_to_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let path = folder.path().join("planner.sock");
    let socket = UnixListener::bind(&path).unwrap();
    socket.set_nonblocking(true).unwrap();
    let lists = json!([
        format!("ws://{}/aaep/v1/ws", stranger.local_addr().unwrap()),
        format!("unix:{}", path.display()),
        {"websocket": format!("ws://{}", stranger.local_addr().unwrap())},
        "unix-socket", "stdio-jsonrpc", "websocket",
    ]);
    // A site is a function that can't capture values known only at run time: this is where they are kept.
    static LISTS: OnceLock<&'static str> = OnceLock::new();
    let lists: &'static str = Box::leak(lists.to_string().into_boxed_str());
    LISTS.set(lists).unwrap();
    let beside: OtherRequestAnswer = |at, body| {
        let site = Site {
            lists: LISTS.get().copied(),
            stream: StreamAnswer::Status("404 Not Found"),
            ..GOOD
        };
        serve(at, body, site);
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = FaultPeer::on(listener, HandshakeSide::Shaken, &[], beside);
    let token = folder.path().join("token");
    std::fs::write(&token, "s3cret\n").unwrap();
    let more = ["--token-file", token.to_str().unwrap()];
    let (mut child, _) = watch(&peer, SiteAddress::Http, &folder, &more);
    child.announced(
        "connection",
        phrase!(
            "link.way_left_out",
            from = "no event stream",
            to = "over a WebSocket"
        ),
    );
    see_through(&mut child, "the way that is listed");
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0, "{lines:?}");
    assert!(!lines.join("\n").contains("s3cret"));
    assert!(stranger.accept().is_err(), "somebody came");
    assert!(socket.accept().is_err(), "somebody came to the socket");
    // The token went to the named origin, by each way.
    peer.seen(|seen| {
        for head in seen.connections.iter().chain(&seen.others) {
            assert_eq!(
                header(head, "authorization"),
                Some("Bearer s3cret"),
                "{head}"
            );
            assert_eq!(header(head, "host"), Some(peer.address()), "{head}");
        }
        assert_eq!(seen.connections.len(), 1);
    });
}

#[test]
fn a_subscription_that_is_left_for_another_way_is_closed() {
    let beside: OtherRequestAnswer = |at, body| {
        let site = Site {
            stream: StreamAnswer::Status("404 Not Found"),
            ..GOOD
        };
        serve(at, body, site);
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = FaultPeer::on(listener, HandshakeSide::Shaken, &[], beside);
    let folder = tempfile::tempdir().unwrap();
    let (mut child, _) = watch(&peer, SiteAddress::Http, &folder, &[]);
    child.announced("connection", "Going on over a WebSocket.");
    child.announced("confirmation", "Send the letter");
    child.say("q");
    child.say("q");
    child.exit();
    let close = |request: &&String| {
        request.starts_with("POST /aaep/v1/replies ")
            && request.contains(r#""type":"subscription.close""#)
            && request.contains(r#""subscription_id":"sub_1""#)
    };
    let closed = peer.seen(|seen| seen.others.iter().filter(close).count());
    assert_eq!(closed, 1, "{:?}", peer.seen(|seen| seen.others.clone()));
}

#[test]
fn a_server_whose_ways_fail_by_turns_is_left_alone_soon() {
    // Each way works for one event, and then nothing is there any more.
    let works: DuplexScript = |at| {
        at.open(2);
    };
    let away: DuplexScript = |at| {
        at.status("404 Not Found", "");
    };
    let turns = [works, away].repeat(40);
    static STREAMS: AtomicUsize = AtomicUsize::new(0);
    let beside: OtherRequestAnswer = |at, body| {
        let site = Site {
            stream: StreamAnswer::Status("404 Not Found"),
            ..GOOD
        };
        // The subscription is retried after a cut, and then a new one is requested.
        let wanted = at.head.starts_with("GET /aaep/v1/events");
        if wanted && STREAMS.fetch_add(1, Ordering::SeqCst).is_multiple_of(3) {
            let event = at.log.range(1, 2);
            at.bytes(STREAM.as_bytes()).bytes(event.as_bytes());
        } else {
            serve(at, body, site);
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = FaultPeer::on(listener, HandshakeSide::Shaken, &turns, beside);
    let folder = tempfile::tempdir().unwrap();
    let (child, _) = watch(&peer, SiteAddress::Ws, &folder, &[]);
    let (code, _, lines) = child.exit();
    assert_eq!(code, 1);
    let changes = lines.iter().filter(|line| line.contains("Going on over"));
    assert_eq!(changes.count(), 6, "{}", lines.join("\n"));
}
