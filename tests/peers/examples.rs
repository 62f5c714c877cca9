//! The examples of the crate `aaep`, run against a producer as their own documentation says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use super::{ProducerProcess, free_port};

/// Starts an example with its input and output as pipes.
fn example(name: &str, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO"))
        .args(["run", "--quiet", "-p", "aaep", "--example", name, "--"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn an_agent_is_followed_and_answered_and_what_it_wrote_is_checked() {
    let peer = ProducerProcess::start("aaep-minimal-producer", free_port(), &[]);
    let address = format!("127.0.0.1:{}", peer.port);
    let mut announce = example("announce", &[&address]);
    let mut answer = example("answer", &[&address]);
    answer.stdin.take().unwrap().write_all(b"accept\n").unwrap();
    let mut events = BufReader::new(announce.stdout.take().unwrap()).lines();
    let mut replies = BufReader::new(answer.stdout.take().unwrap()).lines();
    // Whoever follows too late misses the question.
    for lines in [&mut events, &mut replies] {
        assert!(lines.next().unwrap().unwrap().starts_with("Following"));
    }
    peer.ask("Send an email to bob");
    let asked = replies.next().unwrap().unwrap();
    assert!(asked.starts_with("Call send_email"), "{asked}");
    assert!(
        replies
            .map(Result::unwrap)
            .any(|line| line.contains("200 OK"))
    );
    assert!(answer.wait().unwrap().success());
    let mut events = events.map(Result::unwrap);
    assert!(events.any(|line| line.contains("Email sent to")));
    announce.kill().unwrap();
    announce.wait().unwrap();

    let mut check = example("check", &[]);
    let capture = include_str!("../fixtures/tour.jsonl");
    check
        .stdin
        .take()
        .unwrap()
        .write_all(capture.as_bytes())
        .unwrap();
    let checked = check.wait_with_output().unwrap();
    let words = String::from_utf8(checked.stdout).unwrap();
    assert!(words.ends_with(" 0 errors\n"), "{words}");
    assert!(checked.status.success());
}
