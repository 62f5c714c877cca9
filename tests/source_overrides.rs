//! Two sources in one settings file, each with its own settings, through the whole program.

use std::io::{Read, Write};

use hearken::config::{Config, Load, Verbosity};
use hearken_wording::phrase;
use serde_json::Value;

use crate::support::child::{Hearken, command};

/// Starts the demo's server, and returns it with its address.
fn serve() -> (Hearken, String) {
    let mut server = Hearken::start(&["demo", "--serve", "127.0.0.1:0"]);
    let line = server.wait("the demo", |line| phrase!("serve.at").is_in(line));
    let url = line
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    let url = url.unwrap().trim_end_matches('.').to_owned();
    (server, url)
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

/// Writes settings with two sources at one address: one terse without tools, one detailed.
fn two(url: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(
        file,
        "[[source]]\nname = \"short\"\nurl = \"{url}\"\nverbosity = \"terse\"\n\
         [source.handshake]\nexclude = [\"aaep:agent.tool.*\"]\n\
         [[source]]\nname = \"long\"\nurl = \"{url}\"\nverbosity = \"detailed\"\nload = \"high\"\n"
    )
    .unwrap();
    file
}

#[test]
fn two_sources_are_told_each_at_its_own_verbosity_and_asked_for_its_own_terms() {
    let (_server, url) = serve();
    let settings = two(&url);
    let path = settings.path().to_str().unwrap();
    let mut child = Hearken::start(&[
        "watch", "--face", "json", "--voice", "none", "--until", "ended", "--config", path,
    ]);
    for _ in 0..2 {
        child.announced("connection", phrase!("link.handshake"));
    }
    // The key changes the general setting, and says who keeps their own.
    child.say("v");
    child.announced(
        "reply",
        "Verbosity: detailed. short keeps terse. long keeps detailed.",
    );
    play(&url, "tool");
    let (code, errors, lines) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let told: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| -> Vec<&str> {
        let found = told.iter().filter(|told| told["kind"] == kind);
        found.map(|told| told["text"].as_str().unwrap()).collect()
    };
    let (started, tools, ended) = (
        of("session_started"),
        of("tool_completed"),
        of("session_completed"),
    );
    assert_eq!((started.len(), ended.len()), (2, 2), "{lines:#?}");
    assert!(
        // The one that comes second is distinguished by its source, and its name appears once.
        started.iter().any(|text| {
            text.starts_with("Weather Guide")
                && text.ends_with(" is looking up the weather in Lisbon.")
                && text.matches("Weather Guide").count() == 1
        }),
        "{started:?}"
    );
    assert!(
        started.iter().any(|text| text.contains("The request was")),
        "{started:?}"
    );
    assert!(ended.contains(&"Finished."), "{ended:?}");
    assert!(
        ended.iter().any(|text| text.contains("Result:")),
        "{ended:?}"
    );
    // One of them never sent its tools, as requested.
    assert!(of("anomaly").is_empty(), "{lines:#?}");
    assert_eq!(tools.len(), 1, "{tools:?}");
    assert!(tools[0].contains("4.5 millimeters"), "{tools:?}");
}

#[test]
fn doctor_says_what_is_a_sources_own() {
    let settings = two("http://127.0.0.1:1");
    let path = settings.path().to_str().unwrap();
    let found = command(&[
        "doctor", "--silent", "--voice", "none", "--all", "--config", path, "short",
    ])
    .output()
    .unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    for line in [
        "Settings: short: verbosity = \"terse\", its own, from the file.",
        "Settings: short: handshake.exclude = [\"aaep:agent.tool.*\"], its own, from the file.",
        "Settings: short: load = \"medium\", as for all, by default.",
    ] {
        assert!(text.lines().any(|told| told == line), "{line} in\n{text}");
    }
    assert!(
        !text.contains("Settings: long"),
        "only what is meant: {text}"
    );
}

#[test]
fn the_example_of_sources_can_be_used_as_it_is() {
    let text = std::fs::read_to_string("assets/config.toml").unwrap();
    let example = text.find("# [[source]]").unwrap();
    let example: String = text[example..]
        .lines()
        .take_while(|line| line.starts_with("# "))
        .map(|line| format!("{}\n", &line[2..]))
        .collect();
    let config = Config::from_toml(&example).unwrap();
    let [planner, helper] = config.source.as_slice() else {
        panic!("{:?}", config.source);
    };
    assert_eq!(planner.verbosity, Some(Verbosity::Terse));
    assert_eq!(planner.load, Some(Load::Low));
    assert_eq!(planner.handshake.max_events_per_second, Some(5));
    assert!(helper.quiet && !helper.command.is_empty());
}
