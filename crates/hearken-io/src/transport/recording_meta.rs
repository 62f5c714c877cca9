//! What a recording contains besides its events: when it was made, and which answers went out.
//!
//! Responsibilities: reading `F.meta.jsonl` as far as a replay needs it. Not here: writing it
//! (`capture`), the events themselves (`file`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::file::{self, SourceLine};

/// The longest line that is read, in bytes: replies are far shorter, and the text of frames is not needed here.
const LONGEST_LINE: usize = 64 * 1024;
/// The most bytes that are read for the links: days of news.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The most answers that are kept: more than a person gives in a month.
const MOST_ANSWERS: usize = 4096;

/// An answer that went out while the recording was made.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedAnswer {
    /// The decision on a confirmation.
    Decision(String),
    /// A text or a choice.
    Text(String),
    /// Yes or no.
    YesNo(bool),
    /// A number.
    Number(f64),
}

/// The information in a recording besides its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordingInfo {
    /// The time at which it was started.
    pub started_at: Option<Timestamp>,
    /// The last answer to each question and when it went out, by the line of the question's event,
    /// from 1.
    pub answers: BTreeMap<u64, (RecordedAnswer, Timestamp)>,
}

impl RecordingInfo {
    /// Reads the file beside the recording `events`. A capture by another tool has no such file,
    /// and invalid lines are ignored.
    pub fn beside(events: &Path) -> Self {
        let mut recorded = Self::default();
        let Ok(lines) = file::lines(&beside(events), LONGEST_LINE) else {
            return recorded;
        };
        for line in lines {
            match line {
                Ok(SourceLine::Text(text)) => recorded.note(&text),
                Ok(SourceLine::TooLong) => {}
                Err(_) => break,
            }
        }
        recorded
    }

    fn note(&mut self, line: &str) {
        if self.started_at.is_some() && !line.contains("\"reply\"") {
            return;
        }
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            return;
        };
        if self.started_at.is_none() {
            self.started_at = line["at"].as_str().and_then(|at| at.parse().ok());
        }
        if line["kind"] != "reply" || self.answers.len() >= MOST_ANSWERS {
            return;
        }
        let at = line["at"].as_str().and_then(|at| at.parse().ok());
        let (Some(asked), Some(at)) = (line["asked"].as_u64(), at) else {
            return;
        };
        let body = &line["body"];
        let answer = match (&body["decision"], &body["response"]) {
            (Value::String(decision), _) => RecordedAnswer::Decision(decision.clone()),
            (_, Value::String(text)) => RecordedAnswer::Text(text.clone()),
            (_, Value::Bool(yes)) => RecordedAnswer::YesNo(*yes),
            (_, Value::Number(number)) => match number.as_f64() {
                Some(number) => RecordedAnswer::Number(number),
                None => return,
            },
            _ => return,
        };
        self.answers.insert(asked, (answer, at));
    }
}

/// What happened to a link while a recording was made, or what arrived there before it was translated.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedLink {
    /// The number of events before it.
    pub after: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The link.
    pub link: usize,
    /// What happened.
    pub news: RecordedNews,
}

/// What happened to a link.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedNews {
    /// A connection was attempted.
    Connecting,
    /// It was made.
    Connected,
    /// It was lost.
    Lost,
    /// It failed for good.
    Failed,
    /// The source ended.
    Ended,
    /// This arrived.
    Arrived(String),
}

/// Reads what happened to the links from the file beside the recording `events`, as far as it fits into memory; a
/// capture by another tool has no such file, and invalid lines are ignored.
pub fn links_beside(events: &Path) -> Vec<RecordedLink> {
    let mut links = Vec::new();
    let Ok(lines) = file::lines(&beside(events), LONGEST_LINE) else {
        return links;
    };
    let (mut after, mut bytes) = (0, 0);
    for line in lines {
        let text = match line {
            Ok(SourceLine::Text(text)) => text,
            Ok(SourceLine::TooLong) => continue,
            Err(_) => break,
        };
        bytes += text.len();
        if bytes > MOST_BYTES {
            break;
        }
        let Ok(line) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let what = match line["kind"].as_str().unwrap_or_default() {
            "frame" => {
                after = line["line"].as_u64().unwrap_or(after);
                continue;
            }
            "connecting" => RecordedNews::Connecting,
            "connected" => RecordedNews::Connected,
            "lost" => RecordedNews::Lost,
            "failed" => RecordedNews::Failed,
            "ended" => RecordedNews::Ended,
            "raw" => match (&line["message"], &line["text"]) {
                (Value::Null, Value::String(text)) => RecordedNews::Arrived(text.clone()),
                (Value::Null, _) => continue,
                (message, _) => RecordedNews::Arrived(message.to_string()),
            },
            _ => continue,
        };
        let at = line["at"].as_str().and_then(|at| at.parse().ok());
        let link = line["link"]
            .as_u64()
            .and_then(|it| usize::try_from(it).ok());
        if let (Some(at), Some(link)) = (at, link) {
            links.push(RecordedLink {
                after,
                at,
                link,
                news: what,
            });
        }
    }
    links
}

/// Returns the name of the file beside a recording.
pub(super) fn beside(events: &Path) -> PathBuf {
    let mut name = events.as_os_str().to_owned();
    name.push(".meta.jsonl");
    PathBuf::from(name)
}
