//! `hearken bench`: the figures of a small run, and what an interrupted one leaves behind.

use std::process::{Command, Stdio};
#[cfg(unix)]
use std::time::Instant;

use hearken_wording::phrase;
use serde_json::Value;

use crate::support::child::command;
#[cfg(unix)]
use crate::support::{PATIENCE, child::Hearken};

/// Returns the report of every measured part.
fn parts(call: &mut Command) -> Vec<Value> {
    let output = call.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Whether a figure exists depends on the system: a missing one is `null`, and none is invented.
#[test]
fn every_way_is_measured_and_every_marked_event_is_timed() {
    for (sessions, events) in [("1", 500), ("200", 600)] {
        let count = events.to_string();
        let call = ["bench", "--sessions", sessions, "--events", &count];
        let call = [&call[..], &["--seconds", "1", "--json"]].concat();
        let parts = parts(&mut command(&call));
        let names: Vec<_> = parts.iter().map(|part| part["part"].clone()).collect();
        assert_eq!(
            names,
            ["socket", "file", "check", "latency", "typed", "quiet"]
        );
        for part in &parts[..3] {
            assert_eq!(part["events"], events);
            assert!(part["events_per_second"].as_f64().unwrap() > 0.0, "{part}");
            for figure in ["processor_us_per_event", "peak_bytes"] {
                let figure = &part[figure];
                // The system counts processor time in steps, and this little work may take none.
                let known = figure.as_f64().is_some_and(|figure| figure >= 0.0);
                assert!(
                    known || (figure.is_null() && !cfg!(target_os = "linux")),
                    "{part}"
                );
            }
        }
        let way = &parts[3];
        let figure = |name: &str| way[name].as_f64().unwrap();
        assert_eq!(figure("marked"), figure("timed"), "{way}");
        assert!(figure("timed") >= 50.0, "{way}");
        assert!(
            figure("p50_ms") > 0.0 && figure("p50_ms") <= figure("p99_ms"),
            "{way}"
        );
        assert!(figure("p99_ms") <= figure("worst_ms"), "{way}");
        let typed = &parts[4];
        let mut kinds = vec![&typed["reply"]];
        match cfg!(unix) {
            true => kinds.push(&typed["silence"]),
            false => assert!(typed["silence"].is_null(), "{typed}"),
        }
        for kind in kinds {
            assert!(kind["timed"].as_u64().unwrap() > 0, "{typed}");
            let [median, worst] = ["p50_ms", "worst_ms"].map(|name| kind[name].as_f64().unwrap());
            assert!(median > 0.0 && median <= worst, "{typed}");
        }
        let quiet = &parts[5];
        assert!(quiet["start_ms"].as_f64().unwrap() > 0.0, "{quiet}");
        if cfg!(target_os = "linux") {
            for figure in ["peak_bytes", "demo_peak_bytes"] {
                assert!(quiet[figure].as_u64().unwrap() > 0, "{quiet}");
            }
            assert_eq!(quiet["wakings"], 0, "who has nothing to do sleeps: {quiet}");
        }
    }
}

/// A socket's path is limited to about a hundred characters. Everything else is measured there as
/// anywhere.
#[cfg(unix)]
#[test]
fn a_folder_whose_name_is_too_long_for_a_socket_keeps_stops_alone_untimed() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("x".repeat(120));
    std::fs::create_dir(&long).unwrap();
    let mut call = command(&["bench", "--events", "100", "--seconds", "1", "--json"]);
    let parts = parts(call.env("TMPDIR", &long));
    assert!(parts[4]["silence"].is_null(), "{}", parts[4]);
    assert!(
        parts[4]["reply"]["timed"].as_u64().unwrap() > 0,
        "{}",
        parts[4]
    );
    assert_eq!(parts[5]["part"], "quiet");
}

/// Returns the running child processes of a program, as soon as there are any.
#[cfg(unix)]
fn children(id: u32) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let threads = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
        let threads = threads.map(|thread| thread.unwrap().path().join("children"));
        let told: String = threads
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect();
        if !told.is_empty() {
            return told.split_whitespace().map(str::to_owned).collect();
        }
        assert!(Instant::now() < until, "it started nothing");
        std::thread::yield_now();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_and_leaves_neither_a_child_nor_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut call = command(&["bench", "--sessions", "1", "--events", "1000000"]);
    let mut bench = Hearken::spawn(call.env("TMPDIR", folder.path()));
    bench.wait("a start", |line| {
        phrase!("bench.begins", events = 1000000).is_in(line)
    });
    bench.signal(rustix::process::Signal::INT);
    let (code, errors, lines) = bench.exit();
    assert_eq!((code, errors.as_str()), (130, ""), "{lines:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    // While its child runs.
    let mut call = command(&["bench", "--events", "2000", "--seconds", "60"]);
    let mut bench = Hearken::spawn(call.env("TMPDIR", folder.path()));
    bench.wait("the last but one", |line| line.starts_with("Checked: "));
    let children = children(bench.id());
    assert_eq!(children.len(), 1, "{children:?}");
    bench.signal(rustix::process::Signal::INT);
    let (code, errors, lines) = bench.exit();
    assert_eq!((code, errors.as_str()), (130, ""), "{lines:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let left = format!("/proc/{}", children[0]);
    assert!(!std::path::Path::new(&left).exists(), "{left}");
}
