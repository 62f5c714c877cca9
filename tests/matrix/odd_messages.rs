//! The rows in which messages are not strictly JSON, or contain more than one event.

use super::*;

/// What real programs send: NaN, a list, two in one message, marks around it. All of it is announced, in
/// order, and so is the one that can't be read.
fn play_oddly(mut peer: impl TransportPeer, more: &[&str]) {
    let settings = tempfile::tempdir().unwrap();
    let mut child = start(&peer, &settings, more);
    peer.accept();
    let one = |n: u32| {
        let words = json!({"summary_normal": format!("Number {n} is here.")});
        event(n, "progress.updated", words).to_string()
    };
    let messages = [
        vec![peer.wrapped(&one(1).replacen('{', "{\"percent\":NaN,", 1))],
        vec![
            "[",
            &peer.wrapped(&one(2)),
            ",",
            &peer.wrapped(&one(3)),
            "]",
        ]
        .into_iter()
        .map(str::to_owned)
        .collect(),
        vec![peer.wrapped(&one(4)), peer.wrapped(&one(5))],
        vec![
            "\u{feff}".to_owned(),
            peer.wrapped(&one(6)),
            "\0".to_owned(),
        ],
        vec![peer.wrapped(&one(7)).replace("Number", "A \t tab, number")],
        vec!["{\"type\":".to_owned()],
        vec![peer.wrapped(&one(8))],
    ];
    for message in messages {
        peer.send_text(&message.concat());
    }
    child.wait("the last one", |line| line.contains("Number 8 is here."));
    let seen = child.seen().join("\n");
    let mut rest = seen.as_str();
    for words in [
        "Number 1 is here.",
        "Number 2 is here.",
        "Number 3 is here.",
        "Number 4 is here.",
        "Number 5 is here.",
        "Number 6 is here.",
        "number 7 is here.",
        "can't be understood: not valid JSON",
        "Number 8 is here.",
    ] {
        let found = rest.split_once(words);
        rest = found
            .unwrap_or_else(|| panic!("no {words:?} in its place:\n{seen}"))
            .1;
    }
    ask(&mut peer, &mut child, 10);
}

#[test]
fn server_sent_events() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = Sse {
        listener,
        stream: None,
    };
    bounded(move || play_oddly(peer, &["--plain-pair"]));
}

#[test]
fn websocket() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = WebsocketPeer {
        listener,
        socket: None,
    };
    bounded(move || play_oddly(peer, &["--plain-pair"]));
}

#[cfg(unix)]
#[test]
fn unix_socket_with_lengths() {
    bounded(|| play_oddly(Unix::new(true), &["--plain-pair"]));
}

#[cfg(unix)]
#[test]
fn unix_socket_with_lines() {
    bounded(|| play_oddly(Unix::new(false), &["--plain-pair"]));
}

#[test]
fn a_program_that_speaks_json_rpc() {
    bounded(|| play_oddly(Stdio::new(true), &["--plain-pair"]));
}

#[test]
fn a_program_that_speaks_bare() {
    bounded(|| play_oddly(Stdio::new(false), &["--plain-pair"]));
}
