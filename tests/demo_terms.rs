//! Real hearkens on one demo producer: each with its own terms, at every door.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use hearken_wording::phrase;
use serde_json::Value;

use crate::support::child::Hearken;

/// Starts the demo's server, and returns it with its first line.
fn serve(arguments: &[&str]) -> (Hearken, String) {
    let mut server = Hearken::start(&[&["demo"], arguments].concat());
    let line = server.wait("the demo", |line| phrase!("serve.at").is_in(line));
    (server, line)
}

/// Returns the address in the server's words.
fn url(line: &str) -> String {
    let found = line
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    found.unwrap().trim_end_matches('.').to_owned()
}

/// Starts a run.
fn play(url: &str, scenario: &str) {
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let body = format!("{{\"scenario\": \"{scenario}\"}}");
    let head = "POST /sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
}

/// Follows a source with its own settings, and records the events.
fn follow(source: &[&str], settings: &str, folder: &Path, name: &str) -> Hearken {
    let config = folder.join(format!("{name}.toml"));
    std::fs::write(&config, settings).unwrap();
    let record = folder.join(name);
    let flags = [
        "watch",
        "--face",
        "json",
        "--voice",
        "none",
        "--until",
        "ended",
        "--config",
        config.to_str().unwrap(),
        "--record",
        record.to_str().unwrap(),
    ];
    Hearken::start(&[&flags, source].concat())
}

/// Reads a recording: the time of each event, and the event.
fn recorded(folder: &Path, name: &str) -> Vec<(Duration, Value)> {
    let lines = |name: String| -> Vec<Value> {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let arrivals: Vec<Duration> = lines(format!("{name}.meta.jsonl"))
        .iter()
        .filter(|line| line["kind"] == "frame")
        .map(|line| {
            let at: jiff::Timestamp = line["at"].as_str().unwrap().parse().unwrap();
            Duration::from_millis(u64::try_from(at.as_millisecond()).unwrap())
        })
        .collect();
    let events = lines(name.to_owned());
    assert_eq!(arrivals.len(), events.len());
    arrivals.into_iter().zip(events).collect()
}

fn kinds(events: &[(Duration, Value)]) -> Vec<&str> {
    let kinds = events.iter().map(|(_, event)| event["type"].as_str());
    kinds.map(Option::unwrap).collect()
}

#[test]
fn two_with_different_terms_get_different_streams_the_rate_is_kept_and_what_is_urgent_comes_at_once()
 {
    let folder = tempfile::tempdir().unwrap();
    let (_server, words) = serve(&["--serve", "127.0.0.1:0"]);
    let url = url(&words);
    let mut all = follow(&[&url], "", folder.path(), "all");
    let slow_terms = "[handshake]\nmax_events_per_second = 1\nexclude = [\"aaep:agent.tool.*\"]\n";
    let mut slow = follow(&[&url], slow_terms, folder.path(), "slow");
    all.announced("connection", phrase!("link.handshake"));
    slow.announced("connection", phrase!("link.handshake"));
    play(&url, "email");
    all.announced("confirmation", "");
    slow.announced("confirmation", "");
    all.say("y 1");
    all.say("c 1");
    assert_eq!(all.exit().0, 0);
    assert_eq!(slow.exit().0, 0);

    let (all, slow) = (
        recorded(folder.path(), "all"),
        recorded(folder.path(), "slow"),
    );
    assert!(kinds(&all).contains(&"aaep:agent.tool.invoked"));
    assert!(
        !kinds(&slow)
            .iter()
            .any(|kind| kind.starts_with("aaep:agent.tool")),
        "{:?}",
        kinds(&slow)
    );
    // One per second with one saved: never more than two within a second, nor n + 1 within n.
    let calm: Vec<Duration> = slow
        .iter()
        .filter(|(_, event)| event["urgency"] != "critical")
        .map(|(at, _)| *at)
        .collect();
    assert!(calm.len() > 4, "{calm:?}");
    for (n, window) in (2..calm.len()).flat_map(|n| calm.windows(n + 1).map(move |w| (n, w))) {
        let took = *window.last().unwrap() - window[0];
        let right = Duration::from_secs(n as u64 - 1) - Duration::from_millis(250);
        assert!(took >= right, "{} events in {took:?}", n + 1);
    }
    // The question overtakes the events that wait for their second.
    let question = |events: &[(Duration, Value)]| {
        let found = events
            .iter()
            .position(|(_, event)| event["type"] == "aaep:agent.awaiting.confirmation");
        let at = found.unwrap();
        (at, events[at].0)
    };
    let ((_, fast), (place, late)) = (question(&all), question(&slow));
    assert!(
        late.abs_diff(fast) < Duration::from_secs(2),
        "{late:?} {fast:?}"
    );
    let number = |event: &Value| event["sequence_number"].as_u64();
    let asked = number(&slow[place].1);
    assert!(
        slow[place + 1..]
            .iter()
            .any(|(_, event)| number(event) < asked),
        "nothing waited"
    );
}

/// Answers the email's question, and hears the session to its end.
fn answered(mut child: Hearken, shaken: &str) {
    child.announced("connection", shaken);
    child.announced("confirmation", "");
    child.say("y 1");
    child.announced("reply", phrase!("reply.second_step.*"));
    child.say("c 1");
    child.announced(
        "confirmation",
        phrase!("question.closed.answered", answer = "accept"),
    );
    child.announced("session_completed", "");
    let (code, errors, _) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn every_door_of_the_demo_is_followed_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}/demo.sock", folder.path().display());
    let (socket, folder) = (socket.as_str(), folder.path());
    // Each plays in real time, so all of them play at the same time.
    std::thread::scope(|scope| {
        for (place, source) in [
            ("127.0.0.1:0", "http"),
            ("127.0.0.1:0", "ws"),
            #[cfg(unix)]
            (socket, socket),
        ] {
            scope.spawn(move || {
                let (_server, words) = serve(&["--serve", place, "--scenario", "email"]);
                let source = match source {
                    "http" => url(&words),
                    "ws" => url(&words).replace("http://", "ws://"),
                    other => other.to_owned(),
                };
                let name = source.split(':').next().unwrap().to_owned();
                let shaken = match name.as_str() {
                    "http" => "by a handshake",
                    _ => "sends with a handshake",
                };
                answered(follow(&[&source], "", folder, &name), shaken);
            });
        }
        scope.spawn(move || {
            let own = crate::support::program();
            let program = [
                "--",
                own.to_str().unwrap(),
                "demo",
                "--serve",
                "-",
                "--scenario",
                "email",
            ];
            let child = follow(&program, "", folder, "pipes");
            answered(child, "sends with a handshake");
        });
    });
}

#[test]
fn a_demo_that_signs_is_followed_by_who_has_its_key_alone() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    std::fs::create_dir(&keys).unwrap();
    let key = keys.join("hearken-demo.pem");
    let served = ["--serve", "127.0.0.1:0", "--scenario", "email"];
    let sign = ["--sign", key.to_str().unwrap()];
    let (_server, words) = serve(&[&served[..], &sign[..]].concat());
    let trusting = format!(
        "[handshake]\nrequire_signed = true\nkeys = {:?}\n",
        keys.to_str().unwrap()
    );
    let source = url(&words);
    let stranger = "[handshake]\nrequire_signed = true\n";
    let mut refused = follow(&[&source], stranger, folder.path(), "stranger");
    refused.announced("connection", "no key");
    assert_eq!(refused.exit().0, 1);
    let trusted = follow(&[&source], &trusting, folder.path(), "trusting");
    answered(trusted, "by a handshake");
    // Another server under the same name has another key.
    let (_impostor, words) = serve(&served);
    let mut refused = follow(&[&url(&words)], &trusting, folder.path(), "impostor");
    refused.announced("connection", "signed manifest");
    assert_eq!(refused.exit().0, 1);
}
