//! What a recording contains and what it never does.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{RecordError, Recorder};
use crate::link::{Fault, LinkEvent, Receipt};
use crate::transport::file::tests::Folder;
use crate::transport::tests::frame;
use crate::transport::{RecordedAnswer, RecordingInfo};

fn at() -> Timestamp {
    "2026-05-04T03:02:01.5Z".parse().unwrap()
}

fn meta(path: &Path) -> Vec<Value> {
    let beside = PathBuf::from(format!("{}.meta.jsonl", path.display()));
    fs::read_to_string(beside)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn events_are_written_as_they_came_and_everything_else_beside_them() {
    let folder = Folder::new("record");
    let path = folder.0.join("run.jsonl");
    let mut recorder = Recorder::create(&path).unwrap();
    recorder.source(at(), 0, "http://localhost/events").unwrap();
    let events = [
        LinkEvent::Connecting { attempt: 1 },
        LinkEvent::Connected,
        frame(r#"{"z":1.10,"a":1e999,"n":12345678901234567890123,"z":2}"#),
        frame("{\r\n  \"t\": \"a \\\" b \\\\\",\n\t\"l\": [1, 2]\n}\n"),
        frame("[1]"),
        frame("not json"),
        LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_millis(250),
        },
        LinkEvent::Dropped {
            fault: Fault::TooLarge { limit: 9 },
            count: 2,
        },
        LinkEvent::Replied {
            request: 5,
            outcome: Ok(Receipt::Taken),
        },
        LinkEvent::Failed {
            fault: Fault::Refused,
        },
        LinkEvent::Ended,
    ];
    for event in &events {
        recorder.news(at(), 0, event).unwrap();
    }
    // Nothing is buffered: the recorder is still open.
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\"z\":1.10,\"a\":1e999,\"n\":12345678901234567890123,\"z\":2}\n\
         {\"t\":\"a \\\" b \\\\\",\"l\":[1,2]}\n"
    );
    let told = |kind: &str, more: Value| {
        let mut line = json!({ "at": "2026-05-04T03:02:01.500Z", "link": 0, "kind": kind });
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        line
    };
    assert_eq!(
        meta(&path),
        [
            told("source", json!({ "name": "http://localhost/events" })),
            told("connecting", json!({ "attempt": 1 })),
            told("connected", json!({})),
            told("frame", json!({ "line": 1 })),
            told("frame", json!({ "line": 2 })),
            told("undecodable", json!({ "text": "[1]" })),
            told("undecodable", json!({ "text": "not json" })),
            told(
                "lost",
                json!({ "fault": "the connection was closed", "retry_in_ms": 250 })
            ),
            told(
                "dropped",
                json!({ "fault": "a message is larger than 9 bytes", "count": 2 })
            ),
            told(
                "replied",
                json!({ "request": 5, "arrived": "taken", "fault": null })
            ),
            told("failed", json!({ "fault": "connection refused" })),
            told("ended", json!({})),
        ]
    );
}

#[test]
fn a_reply_is_recorded_without_its_token() {
    let folder = Folder::new("reply");
    let path = folder.0.join("run.jsonl");
    let mut recorder = Recorder::create(&path).unwrap();
    let body = r#"{"type":"confirmation.reply","reply_token":"rpl_s3cret","decision":"accept",
        "inner":[{"reply_token":"rpl_s3cret"}]}"#;
    recorder.reply(at(), 1, 7, body).unwrap();
    recorder.reply(at(), 1, 8, "rpl_s3cret").unwrap();
    let lines = meta(&path);
    assert_eq!(
        lines[0]["body"],
        json!({ "type": "confirmation.reply", "decision": "accept", "inner": [{}] })
    );
    assert_eq!(lines[1]["body"], json!({ "bytes": 10 }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    let all = fs::read_to_string(format!("{}.meta.jsonl", path.display())).unwrap();
    assert!(!all.contains("s3cret"));
}

#[test]
fn a_frame_in_other_words_is_kept_beside_its_events_without_its_token() {
    let folder = Folder::new("raw");
    let path = folder.0.join("run.jsonl");
    let mut recorder = Recorder::create(&path).unwrap();
    let frame = r#"{"jsonrpc":"2.0","params":{"type":"x","reply_token":"rpl_s3cret"}}"#;
    recorder.raw(at(), 1, frame).unwrap();
    recorder.raw(at(), 1, "thinking").unwrap();
    let lines = meta(&path);
    assert_eq!(lines[0]["kind"], "raw");
    let left = json!({ "jsonrpc": "2.0", "params": { "type": "x" } });
    assert_eq!(lines[0]["message"], left);
    assert_eq!(lines[1]["text"], "thinking");
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
}

#[cfg(unix)]
#[test]
fn both_files_are_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    let path = folder.0.join("run.jsonl");
    let _recorder = Recorder::create(&path).unwrap();
    for file in [path.clone(), folder.0.join("run.jsonl.meta.jsonl")] {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
    }
}

#[test]
fn nothing_is_ever_overwritten_and_nothing_left_behind() {
    let folder = Folder::new("exists");
    let path = folder.0.join("run.jsonl");
    let beside = folder.0.join("run.jsonl.meta.jsonl");
    fs::write(&path, "mine").unwrap();
    let error = Recorder::create(&path).unwrap_err();
    assert!(matches!(error, RecordError::AlreadyExists { .. }));
    assert!(error.to_string().contains("already exists"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert!(!beside.exists());

    fs::rename(&path, &beside).unwrap();
    assert!(matches!(
        Recorder::create(&path),
        Err(RecordError::AlreadyExists { .. })
    ));
    assert_eq!(fs::read_to_string(&beside).unwrap(), "mine");
    assert!(!path.exists());

    let error = Recorder::create(&folder.0.join("no/such/folder.jsonl")).unwrap_err();
    assert!(matches!(error, RecordError::Create { .. }));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_way_is_not_followed() {
    let folder = Folder::new("symlink");
    let path = folder.0.join("run.jsonl");
    let target = folder.0.join("target");
    std::os::unix::fs::symlink(&target, &path).unwrap();
    assert!(matches!(
        Recorder::create(&path),
        Err(RecordError::AlreadyExists { .. })
    ));
    assert!(!target.exists());
}

#[test]
fn the_bound_stops_the_recording_and_is_told_once() {
    let folder = Folder::new("full");
    let path = folder.0.join("run.jsonl");
    let mut recorder = Recorder::with_limit(&path, 400).unwrap();
    let mut told = 0;
    for _ in 0..50 {
        match recorder.news(at(), 0, &frame("{\"a\":1}")) {
            Ok(()) => {}
            Err(RecordError::Full { limit: 400 }) => told += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(told, 1);
    recorder.source(at(), 0, "x").unwrap();
    recorder.reply(at(), 0, 1, "{}").unwrap();
    let events = fs::read_to_string(&path).unwrap();
    assert!(events.lines().all(|line| line == "{\"a\":1}") && events.ends_with('\n'));
    let lines = meta(&path);
    assert_eq!(lines.last().unwrap()["kind"], "stopped");
}

#[test]
fn a_write_error_stops_the_recording_and_is_told_once() {
    let folder = Folder::new("broken");
    let path = folder.0.join("run.jsonl");
    let mut recorder = Recorder::create(&path).unwrap();
    recorder.news(at(), 0, &frame("{\"a\":1}")).unwrap();
    // A read-only file stands in for a full disk.
    recorder.events.file = fs::File::open(&path).unwrap();
    assert!(matches!(
        recorder.news(at(), 0, &frame("{\"a\":2}")),
        Err(RecordError::Write(_))
    ));
    recorder.news(at(), 0, &frame("{\"a\":3}")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n");
}

#[test]
fn half_a_line_is_taken_back() {
    let folder = Folder::new("half");
    let path = folder.0.join("run.jsonl");
    let mut recorder = Recorder::create(&path).unwrap();
    recorder.news(at(), 0, &frame("{\"a\":1}")).unwrap();
    recorder.events.file.write_all(b"{\"a\":").unwrap();
    recorder.events.take_back();
    recorder.news(at(), 0, &frame("{\"a\":2}")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"a\":2}\n");
}

#[test]
fn a_recording_knows_which_question_was_answered_how() {
    let folder = Folder::new("answers");
    let path = folder.0.join("run.jsonl");
    let mut recorder = Recorder::create(&path).unwrap();
    recorder.source(at(), 0, "somewhere").unwrap();
    for text in [
        r#"{"type":"x"}"#,
        r#"{"type":"asks","reply_token":"rpl_1"}"#,
        r#"{"type":"asks","reply_token":"rpl_2"}"#,
        r#"{"type":"asks","reply_token":"rpl_3"}"#,
    ] {
        recorder.news(at(), 0, &frame(text)).unwrap();
    }
    for body in [
        r#"{"type":"confirmation.reply","reply_token":"rpl_1","decision":"accept"}"#,
        r#"{"type":"clarification.reply","reply_token":"rpl_2","response":7}"#,
        r#"{"type":"clarification.reply","reply_token":"rpl_3","response":true}"#,
        r#"{"type":"clarification.reply","reply_token":"rpl_3","response":"at noon"}"#,
        r#"{"type":"clarification.reply","reply_token":"rpl_unknown","response":"x"}"#,
    ] {
        recorder.reply(at(), 0, 1, body).unwrap();
    }
    let recorded = RecordingInfo::beside(&path);
    assert_eq!(recorded.started_at, Some(at()));
    assert_eq!(
        recorded.answers.into_iter().collect::<Vec<_>>(),
        [
            (2, (RecordedAnswer::Decision("accept".into()), at())),
            (3, (RecordedAnswer::Number(7.0), at())),
            (4, (RecordedAnswer::Text("at noon".into()), at())),
        ],
        "the last one counts"
    );
    assert!(
        !meta(&path)
            .iter()
            .any(|line| line.to_string().contains("rpl_"))
    );
    assert_eq!(
        RecordingInfo::beside(&folder.0.join("none.jsonl")),
        RecordingInfo::default()
    );
}
