//! What comes from agents, read.
//!
//! Responsibilities: the answer to the discovery, heartbeats, the chunks of an answer to a prompt, each with its
//! bounds. Not here: what becomes of them (`agent`, `prompt_answers`).

use std::time::Duration;

use serde_json::{Map, Value};

use crate::event_writer::cut;
use crate::protocol::object;

use super::subject;

/// The name of the service that every agent registers.
const SERVICE: &str = "agents";
/// The longest name that is kept, in characters.
const LONGEST_NAME: usize = 48;
/// The longest id of a running agent, in bytes; the packages use 22.
const LONGEST_ID: usize = 64;
/// The most names of attached files that are kept; the others are counted.
const MOST_FILES: usize = 4;
/// The longest words of an error, in characters; the packages send 200.
const LONGEST_ERROR: usize = 400;
/// The longest time between two heartbeats: an agent that announces a longer one would never count as away.
const LONGEST_INTERVAL: u64 = 3600;

/// One running agent, as it answers the discovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentInfo {
    /// Its id, which its heartbeats repeat.
    pub(super) instance: String,
    pub(super) agent: String,
    pub(super) owner: String,
    pub(super) session: String,
    /// Where its prompts go.
    pub(super) subject: String,
    /// The largest prompt that it takes, in bytes, if it says so.
    pub(super) most: Option<usize>,
}

/// Why the agent in an answer to the discovery can't be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoAgent {
    /// It is not what an agent answers.
    Unread,
    /// The subject of its prompts can't be used.
    Subject,
}

/// Reads an answer to the discovery.
pub(super) fn info(text: &str) -> Result<AgentInfo, NoAgent> {
    let info = object(text).ok_or(NoAgent::Unread)?;
    let known = read_info(&info).ok_or(NoAgent::Unread)?;
    match subject::takes_prompts(&known.subject) {
        true => Ok(known),
        false => Err(NoAgent::Subject),
    }
}

fn read_info(info: &Map<String, Value>) -> Option<AgentInfo> {
    if info.get("name")?.as_str()? != SERVICE {
        return None;
    }
    let metadata = info.get("metadata")?.as_object()?;
    let of = |name: &str| Some(cut(metadata.get(name)?.as_str()?, LONGEST_NAME));
    let endpoints = info.get("endpoints")?.as_array()?;
    let named = |one: &&Value| one.get("name").and_then(Value::as_str) == Some("prompt");
    let endpoint = endpoints.iter().find(named)?;
    let most = endpoint
        .get("metadata")
        .and_then(|it| it.get("max_payload"));
    Some(AgentInfo {
        instance: id(info.get("id")?)?,
        agent: of("agent").filter(|name| !name.is_empty())?,
        owner: of("owner").filter(|name| !name.is_empty())?,
        session: of("session").unwrap_or_default(),
        subject: endpoint.get("subject")?.as_str()?.to_owned(),
        most: most.and_then(Value::as_str).and_then(bytes),
    })
}

fn id(value: &Value) -> Option<String> {
    let id = value.as_str()?;
    (!id.is_empty() && id.len() <= LONGEST_ID).then(|| id.to_owned())
}

/// Reads a size like `1MB`; each unit is 1024 times the next smaller one.
fn bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// One sign of life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heartbeat {
    /// The id of the running agent.
    pub(super) instance: String,
    /// After how long the next one is due.
    pub(super) interval: Duration,
}

/// Reads a heartbeat.
pub(super) fn heartbeat(text: &str) -> Option<Heartbeat> {
    let beat = object(text)?;
    let interval = beat.get("interval_s")?.as_u64()?;
    Some(Heartbeat {
        instance: id(beat.get("instance_id")?)?,
        interval: Duration::from_secs(interval.clamp(1, LONGEST_INTERVAL)),
    })
}

/// Files that come with a text, which can't be read here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Files {
    pub(super) names: Vec<String>,
    pub(super) count: usize,
}

/// One part of the answer to a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerChunk {
    /// Text for the person.
    Says { text: String, files: Files },
    /// A question.
    Asks(Query),
    /// A sign that the agent works.
    Works,
    /// A kind that is not known; the protocol wants it ignored.
    Unknown(String),
}

/// A question in the middle of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    /// The agent's name for it.
    pub(super) id: String,
    /// Where the answer goes.
    pub(super) reply_subject: String,
    pub(super) text: String,
    pub(super) files: Files,
}

/// Reads one part of the answer to a prompt; `None` if it is not what an agent may send.
pub(super) fn chunk(text: &str) -> Option<AnswerChunk> {
    let chunk = object(text)?;
    let data = chunk.get("data");
    Some(match chunk.get("type")?.as_str()? {
        "response" => says(data?)?,
        "status" => data?.as_str().map(|_| AnswerChunk::Works)?,
        "query" => AnswerChunk::Asks(query(data?.as_object()?)?),
        other => AnswerChunk::Unknown(cut(other, LONGEST_NAME)),
    })
}

fn says(data: &Value) -> Option<AnswerChunk> {
    if let Some(text) = data.as_str() {
        let (text, files) = (text.to_owned(), Files::default());
        return Some(AnswerChunk::Says { text, files });
    }
    let data = data.as_object()?;
    Some(AnswerChunk::Says {
        text: data.get("text")?.as_str()?.to_owned(),
        files: files(data),
    })
}

fn query(data: &Map<String, Value>) -> Option<Query> {
    let of = |name: &str| Some(data.get(name)?.as_str()?.to_owned());
    Some(Query {
        id: of("id")?,
        reply_subject: of("reply_subject")?,
        text: of("prompt")?,
        files: files(data),
    })
}

fn files(data: &Map<String, Value>) -> Files {
    let all = data.get("attachments").and_then(Value::as_array);
    let all: &[Value] = all.map_or(&[], Vec::as_slice);
    let named = all.iter().filter_map(|file| file.get("filename")?.as_str());
    Files {
        names: named
            .take(MOST_FILES)
            .map(|name| cut(name, LONGEST_NAME))
            .collect(),
        count: all.len(),
    }
}

/// Returns an error from the headers of an answer as one text.
pub(super) fn error(code: u16, words: &str) -> String {
    match words.trim().trim_end_matches('.') {
        "" => code.to_string(),
        words => format!("{} ({code})", cut(words, LONGEST_ERROR)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_both_packages_write_them() {
        for (text, wanted) in [
            ("1MB", Some(1 << 20)),
            ("512kb", Some(512 << 10)),
            ("2 GB", Some(2 << 30)),
            ("77", Some(77)),
            ("", None),
            ("many", None),
            ("1TB", None),
            ("99999999999999999999", None),
            ("18446744073709551615GB", None),
        ] {
            assert_eq!(bytes(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_chunk_is_what_the_packages_send_or_nothing() {
        let says = |text: &str, names: &[&str], count| {
            let names = names.iter().map(|it| (*it).to_owned()).collect();
            let (text, files) = (text.to_owned(), Files { names, count });
            Some(AnswerChunk::Says { text, files })
        };
        for (text, wanted) in [
            (
                r#"{"type":"status","data":"ack"}"#,
                Some(AnswerChunk::Works),
            ),
            (
                r#"{"type":"status","data":"done"}"#,
                Some(AnswerChunk::Works),
            ),
            (r#"{"type":"status"}"#, None),
            (r#"{"type":"response","data":"a"}"#, says("a", &[], 0)),
            (
                r#"{"type":"response","data":{"text":"a","attachments":[{"filename":"b"},{"x":1}]}}"#,
                says("a", &["b"], 2),
            ),
            (r#"{"type":"response","data":{"attachments":[]}}"#, None),
            (r#"{"type":"response","data":7}"#, None),
            (r#"{"type":"query","data":{"id":"1","prompt":"a"}}"#, None),
            (
                r#"{"type":"later","data":1}"#,
                Some(AnswerChunk::Unknown("later".to_owned())),
            ),
            (r#"{"data":"a"}"#, None),
            ("plain text", None),
            ("[]", None),
        ] {
            assert_eq!(chunk(text), wanted, "{text}");
        }
    }

    #[test]
    fn an_interval_is_bounded() {
        let of = |interval: &str| {
            let text = format!(r#"{{"instance_id":"a","interval_s":{interval}}}"#);
            heartbeat(&text).map(|beat| beat.interval.as_secs())
        };
        assert_eq!(of("30"), Some(30));
        assert_eq!(of("0"), Some(1));
        assert_eq!(of("18446744073709551615"), Some(LONGEST_INTERVAL));
        assert_eq!(of("-3"), None);
        assert_eq!(heartbeat(r#"{"interval_s":30}"#), None);
    }
}
