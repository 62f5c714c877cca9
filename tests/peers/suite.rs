//! `aaep-conformance subscriber` from PyPI, through a listener that only this test has.
//!
//! The suite connects to the subscriber and posts events to it, which no transport of appendix B does. The
//! listener passes each event to hearken and answers only after hearken has announced it.
//! docs/conformance.md states what little that shows.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

use super::child::Hearken;
use super::program;

/// Serves the suite until its stream and its posts are over; returns hearken with its output.
fn serve(listener: &TcpListener, posts: usize) -> Hearken {
    let mut hearken = Hearken::start(&["watch", "-", "--face", "json", "--voice", "none"]);
    let mut streams = Vec::new();
    let mut posted = 0;
    while posted < posts {
        let (mut stream, _) = listener.accept().unwrap();
        let (head, body) = request(&mut stream);
        if head.starts_with("GET /events ") {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            // The suite receives nothing over it, but it stays open.
            streams.push(stream);
            continue;
        }
        assert!(head.starts_with("POST /messages "), "{head}");
        let event: Value = serde_json::from_str(&body).unwrap();
        let words = event["summary_normal"].as_str().unwrap();
        hearken.say(&event.to_string());
        hearken.wait(words, |line| line.contains(words));
        let answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
        posted += 1;
    }
    hearken
}

fn request(stream: &mut TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "no request");
    }
    let length = head.lines().find_map(|line| {
        let line = line.to_ascii_lowercase();
        line.strip_prefix("content-length:")?.trim().parse().ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

#[test]
fn the_subscribers_tests_of_the_suite_pass_and_are_two() {
    for level in ["1", "2", "3"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report.json");
        let page = folder.path().join("report.html");
        let mut suite = program("aaep-conformance");
        suite
            .args(["subscriber", "--connect", &url, "--level", level])
            .args(["--timeout", "30", "--fail-on-warning", "--report-json"])
            .arg(&report)
            .arg("--report-html")
            .arg(&page);
        let listening = std::thread::spawn(move || serve(&listener, 2));
        let output = suite.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "level {level}: {said}");
        drop(listening.join().unwrap());
        let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        let results = report["test_results"].as_array().unwrap();
        let ids: Vec<&str> = results
            .iter()
            .map(|result| result["test_id"].as_str().unwrap())
            .collect();
        // More than these would be new, and a reason to claim more.
        assert_eq!(ids, ["L1-SUB-001", "L1-SUB-002"], "level {level}");
        assert!(results.iter().all(|result| result["passed"] == true));
    }
}
