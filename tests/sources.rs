//! Every kind of source through the whole program.

#[cfg(unix)]
use std::io::{BufRead, BufReader, Write};
#[cfg(unix)]
use std::os::unix::net::UnixListener;

use hearken_wording::phrase;

use crate::support::child::Hearken;
use crate::support::stand_in::StandIn;

const STARTED: &str = r#"{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-01-01T00:00:00Z","producer":{"agent_id":"planner"},"summary_normal":"Planner is here."}"#;
const ENDED: &str = r#"{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.completed","event_id":"evt_2","session_id":"sess_1","timestamp":"2026-01-01T00:00:01Z","producer":{"agent_id":"planner"},"summary_normal":"Planner is done."}"#;

const LINEAR: [&str; 5] = ["watch", "--face", "linear", "--voice", "none"];

fn watch(arguments: &[&str]) -> Hearken {
    let mut all = LINEAR.to_vec();
    all.extend(arguments);
    Hearken::start(&all)
}

#[cfg(unix)]
fn exists(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}

#[test]
fn a_program_is_followed_to_its_end_and_its_death_is_told() {
    let ends = |leaves| {
        let stand_in = StandIn::new("why", leaves);
        stand_in.plays(|mut talk| {
            talk.say(STARTED);
            talk.say(ENDED);
            talk.end();
        });
        let call = stand_in.call();
        let call: Vec<&str> = call.iter().map(String::as_str).collect();
        (
            stand_in.name(),
            watch(&[&["--"], &call[..]].concat()).exit(),
        )
    };
    let (name, (code, errors, lines)) = ends(0);
    assert_eq!((code, errors.as_str()), (0, ""), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("Planner is here.")));
    let over = format!("{name} has ended.");
    assert!(lines.iter().any(|line| line.contains(&over)), "{lines:?}");
    let (_, (code, _, lines)) = ends(7);
    assert_eq!(code, 1);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("ended with exit code 7. It wrote 1 line")),
        "{lines:?}"
    );
}

#[cfg(unix)]
#[test]
fn quitting_leaves_nothing_of_a_program_behind() {
    let script = format!("trap '' INT; sleep 60 & echo \"pids $$ $!\" >&2; echo '{STARTED}'; wait");
    let mut child = watch(&["--", "sh", "-c", &script]);
    child.wait("the session", |line| line.contains("Planner is here."));
    // Its messages to people travel separately from its events, and may arrive later.
    let until = std::time::Instant::now() + crate::support::PATIENCE;
    let line = loop {
        assert!(std::time::Instant::now() < until, "it wrote no pids");
        child.say("g");
        let wrote = |line: &str| line.contains("pids ") || phrase!("remarks.none").is_in(line);
        let line = child.wait("what it wrote", wrote);
        if line.contains("pids ") {
            break line;
        }
    };
    child.say("q");
    let (code, ..) = child.exit();
    assert_eq!(code, 0);
    let after = line.split("pids ").nth(1).unwrap();
    let pids: Vec<&str> = after.split([' ', '.']).take(2).collect();
    assert!(pids.iter().all(|pid| pid.parse::<u32>().is_ok()), "{line}");
    let until = std::time::Instant::now() + crate::support::PATIENCE;
    while pids.iter().any(|pid| exists(pid) && !is_zombie(pid)) {
        assert!(
            std::time::Instant::now() < until,
            "{pids:?} are still there"
        );
        std::thread::yield_now();
    }
}

/// A grandchild is reaped by its adoptive parent, which does not always happen on a test machine.
#[cfg(unix)]
fn is_zombie(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[cfg(unix)]
#[test]
fn a_unix_socket_is_followed_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("planner.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let mut child = watch(&["--plain-pair", &format!("unix:{}", path.display())]);
    let (mut server, _) = listener.accept().unwrap();
    let asks = STARTED
        .replace("session.started", "awaiting.confirmation")
        .replace("evt_1", "evt_9")
        .replace(
            "\"summary_normal\"",
            "\"reply_token\":\"rpl_abc\",\"action\":\"Send it\",\"consequence\":\"It leaves.\",\"risk_level\":\"low\",\
             \"irreversible\":false,\"timeout_seconds\":120,\"default_decision\":\"reject\",\"summary_normal\"",
        )
        .replace("2026-01-01T00:00:00Z", &format!("{:.3}", jiff::Timestamp::now()));
    writeln!(server, "{STARTED}\n{asks}").unwrap();
    child.wait("the question", |line| line.contains("Send it"));
    let mut reply = String::new();
    let mut reader = BufReader::new(server.try_clone().unwrap());
    // A line counts if the question was shown before it was read.
    child.say("y");
    reader.read_line(&mut reply).unwrap();
    let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["type"], "confirmation.reply");
    assert_eq!(reply["reply_token"], "rpl_abc");
    assert_eq!(reply["decision"], "accept");
    child.wait("sent", |line| line.contains("Sent."));
    drop(server);
    drop(reader);
    child.wait("the loss", |line| line.contains("is lost"));
    child.say("q");
    child.say("q");
    child.exit();
}

#[test]
fn what_can_not_be_a_source_is_refused_in_one_line() {
    for (source, words) in [
        match cfg!(windows) {
            true => ("unix:", "this system has no Unix sockets"),
            false => ("unix:", "needs the path of a socket"),
        },
        (
            "ws://example.com/",
            "plain http or ws to example.com is refused",
        ),
        ("gopher://x/", "gopher is not a kind of source"),
    ] {
        let (code, errors, _) = watch(&[source]).exit();
        assert_eq!(code, 2);
        assert!(errors.contains(words), "{errors}");
    }
    let (code, errors, _) = Hearken::start(&["watch"]).exit();
    assert_eq!(code, 2);
    assert!(errors.contains("SOURCE"), "{errors}");
}
