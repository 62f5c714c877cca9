//! More than any program can handle: large messages, full disks, files at their size limit, a reader that
//! stopped.

#[cfg(unix)]
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
#[cfg(unix)]
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::child::{Hearken, command};

/// The size of a large message, a little below the limit of a frame.
const LARGE: usize = 4 * 1024 * 1024 - 4096;

/// The memory allowed for it, in bytes, in addition to the rest.
const MEMORY: usize = 150 * 1024 * 1024;

fn event(number: usize, name: &str, fields: &Value) -> String {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{name}"),
        "event_id": format!("evt_{number}"),
        "session_id": "ses_1",
        "timestamp": jiff::Timestamp::now().to_string(),
        "producer": {"agent_id": "agt_1", "agent_name": "Bot"},
    });
    for (key, value) in fields.as_object().unwrap() {
        event[key] = value.clone();
    }
    event.to_string()
}

fn large(number: usize) -> String {
    // A different text each time, so that a screen changes.
    let sentence = format!("The quick brown fox jumps {number} times over the lazy dog. ");
    let text = sentence.repeat(LARGE / sentence.len());
    event(
        number,
        "output.streaming",
        &json!({"chunk": text, "output_id": "out_1"}),
    )
}

/// Serves one event stream: each text is an event, sent as fast as it is accepted. Returns the address and the
/// counter of accepted texts.
fn serve(texts: impl Iterator<Item = String> + Send + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        read_request(&stream);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        for text in texts {
            if write!(stream, "data: {text}\n\n").is_err() {
                return;
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
        // The stream stays open until the other side is gone.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    (address, taken)
}

fn read_request(stream: &TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    while lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
    {}
}

const WATCH: [&str; 6] = [
    "--face",
    "linear",
    "--voice",
    "none",
    "--plain-pair",
    "watch",
];

fn watch(source: &str) -> Vec<&str> {
    let mut arguments = vec![WATCH[5], source];
    arguments.extend(&WATCH[..5]);
    arguments
}

#[test]
fn a_question_behind_a_flood_of_large_messages_is_asked_and_memory_stays_bounded() {
    let asks = json!({
        "action": "Send the mail", "reply_token": "rpl_1", "urgency": "critical",
        "timeout_seconds": 600, "default": "reject",
    });
    let flood = (0..20).map(large);
    let (url, _) = serve(flood.chain([event(99, "awaiting.confirmation", &asks)]));
    let mut hearken = Hearken::start(&watch(&url));
    hearken.wait("question", |line| line.contains("Send the mail"));
    let left_out = |line: &&String| phrase!("output.left_out").is_in(line);
    assert_eq!(hearken.seen().iter().filter(left_out).count(), 20);
    if let Some(peak) = hearken.peak() {
        assert!(peak < MEMORY, "{} MiB", peak / 1024 / 1024);
    }
}

#[test]
fn a_reader_that_stopped_makes_the_server_wait_and_costs_no_memory() {
    let (url, taken) = serve((0..).map(large));
    let mut child = command(&watch(&url))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its output is not read.
    let messages = stands_still(&taken, 0);
    assert!(messages < 40, "{messages} messages of 4 MiB were taken");
    #[cfg(unix)]
    bounded(child.id());
    // It still handles signals, and on systems without them, its keys.
    #[cfg(unix)]
    {
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    }
    #[cfg(windows)]
    writeln!(child.stdin.as_mut().unwrap(), "q").unwrap();
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(Instant::now() < until, "it does not end"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.code(), Some(if cfg!(unix) { 143 } else { 0 }));
}

/// Waits until the server can send no more because hearken and the system are full, and returns how many
/// messages that took; it must get past a given number.
fn stands_still(taken: &AtomicUsize, beyond: usize) -> usize {
    let until = Instant::now() + PATIENCE;
    let mut before = 0;
    let mut since = Instant::now();
    while since.elapsed() < Duration::from_secs(2) {
        assert!(
            Instant::now() < until,
            "{before} messages were taken, and no end"
        );
        std::thread::sleep(Duration::from_millis(20));
        let now = taken.load(Ordering::Relaxed);
        if now != before || now <= beyond {
            (before, since) = (now, Instant::now());
        }
    }
    before
}

/// Checks a process's memory against the limit.
#[cfg(unix)]
fn bounded(id: u32) {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = peak.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    assert!(
        kilobytes.is_none_or(|peak| peak * 1024 < MEMORY),
        "{peak:?}"
    );
}

#[cfg(unix)]
fn capture(folder: &tempfile::TempDir, events: usize) -> String {
    let path = folder.path().join("capture.jsonl");
    let text = "Some words of it. ".repeat(60);
    let lines: Vec<String> = (0..events)
        .map(|at| {
            event(
                at,
                "output.streaming",
                &json!({"chunk": text, "complete": at + 1 == events}),
            )
        })
        .collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path.to_str().unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_told_with_code_1_by_whatever_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = capture(&folder, 3);
    let json = [&watch(&path)[..2], &["--face", "json", "--voice", "none"]].concat();
    for arguments in [
        watch(&path),
        json,
        vec!["check", &path],
        vec!["check", "--json", &path],
        vec!["trace", &path],
        vec!["demo", "--list"],
        vec!["completions", "bash"],
        vec!["doctor", "--silent"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let Output { status, stderr, .. } = command(&arguments)
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(1), "{arguments:?}: {errors}");
        let told = errors.starts_with("hearken: the output can't be written: ");
        assert!(
            told && errors.lines().count() == 1,
            "{arguments:?}: {errors}"
        );
    }
}

/// Runs it with a file size limit of 16 blocks of 512 or 1024 bytes.
#[cfg(unix)]
fn limited(arguments: &[&str]) -> Command {
    let plain = command(arguments);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 16; exec \"$0\" \"$@\""])
        .arg(plain.get_program())
        .args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.stdin(Stdio::null());
    limited
}

#[cfg(unix)]
#[test]
fn a_file_at_its_largest_size_is_told_and_is_no_death() {
    let folder = tempfile::tempdir().unwrap();
    let path = capture(&folder, 100);
    let kept = folder.path().join("kept.jsonl");
    let mut arguments = watch(&path);
    arguments.extend(["--record", kept.to_str().unwrap()]);
    let Output {
        status,
        stdout,
        stderr,
    } = limited(&arguments).output().unwrap();
    let (lines, errors) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert_eq!(status.code(), Some(0), "{errors}");
    let told = lines
        .lines()
        .filter(|line| phrase!("record.failed").is_in(line))
        .count();
    assert_eq!(told, 1, "{lines}{errors}");
    let words = lines.matches("Some words of it.").count();
    assert_eq!(words, 6000, "everything is told all the same");
    let whole = std::fs::read_to_string(&kept).unwrap();
    assert!(
        whole
            .lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
    // The output itself.
    let out = File::create(folder.path().join("out")).unwrap();
    let Output { status, stderr, .. } = limited(&watch(&path)).stdout(out).output().unwrap();
    let errors = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(1), "{errors}");
    assert!(phrase!("call.output").is_in(&errors), "{errors}");
}
