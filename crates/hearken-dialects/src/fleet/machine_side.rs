//! A machine's side of a space: what it publishes, and the requests it gets. Pure.
//!
//! Responsibilities: the subject and the id of each event, the replies and requests of watchers, snapshots. Not here:
//! subjects (`subject`), what a request may do (`bridge` in the core), sending anything (the shell).

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::{BRIDGE, EventSubject, Machine, RequestContent, SubjectLane, agent_of_request};
use crate::protocol::{AgentId, object};

/// How many reply tokens are remembered with the subject where each is answered.
const MOST_TOKENS: usize = 8192;
/// The largest message of a snapshot, in bytes: below what brokers accept by default.
const LARGEST_PART: usize = 512 * 1024;
/// The room in a snapshot message for what surrounds its events and for the growth of their JSON,
/// in bytes.
const AROUND: usize = 1024;

/// What a machine has published, as far as requests refer to it.
#[derive(Debug)]
pub struct Publishing {
    machine: Machine,
    /// The subject where each question is answered.
    tokens: BTreeMap<String, String>,
    tokens_in_order: VecDeque<String>,
}

/// Where an event is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedEvent {
    /// Its subject.
    pub subject: String,
    /// Its lane.
    pub lane: SubjectLane,
    /// The id by which the broker recognises repeats.
    pub id: String,
    /// The agent that asks, if the event is a question.
    pub asks: Option<String>,
}

impl Publishing {
    /// Begins to publish as a machine.
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            tokens: BTreeMap::new(),
            tokens_in_order: VecDeque::new(),
        }
    }

    /// Returns where an event is published; `None` if the text is not a JSON object.
    pub fn event(&mut self, text: &str) -> Option<PublishedEvent> {
        let event = object(text)?;
        let subject = EventSubject::of(&self.machine, &event);
        let words = |field: &str| event.get(field).and_then(Value::as_str);
        if let Some(token) = words("reply_token") {
            self.note_token(token, subject.reply());
        }
        let id = words("event_id").unwrap_or_default();
        let producer = event.get("producer");
        let named = ["agent_name", "agent_id"]
            .iter()
            .find_map(|name| producer?.get(name)?.as_str());
        let is_question = event.contains_key("reply_token");
        Some(PublishedEvent {
            asks: named.filter(|_| is_question).map(str::to_owned),
            id: format!("{}.{id}", self.machine.token()),
            lane: subject.lane,
            subject: subject.to_string(),
        })
    }

    fn note_token(&mut self, token: &str, subject: String) {
        if self.tokens.insert(token.to_owned(), subject).is_none() {
            self.tokens_in_order.push_back(token.to_owned());
        }
        if self.tokens_in_order.len() > MOST_TOKENS
            && let Some(oldest) = self.tokens_in_order.pop_front()
        {
            self.tokens.remove(&oldest);
        }
    }

    /// Returns the reply in a request; `None` if there is none, or if it answers no question of the session in its
    /// subject.
    pub fn reply(
        &self,
        subject: &str,
        body: &str,
        by: Option<&str>,
        digest: Option<String>,
    ) -> Option<RequestContent> {
        let mut reply = object(body)?;
        let token = reply.get("reply_token")?.as_str()?;
        let elsewhere = |own: &String| own != subject;
        if self.tokens.get(token).is_some_and(elsewhere) {
            return None;
        }
        if let Some(by) = by {
            reply.insert("decided_by".to_owned(), format!("user:{by}").into());
        }
        let reply = Value::Object(reply);
        Some(RequestContent::Reply { reply, digest })
    }
}

/// Returns the prompt, the stop or the change of a setting in a request; `None` if there is none.
pub fn person_request(subject: &str, body: &str) -> Option<RequestContent> {
    let agent = agent_of_request(subject)?;
    let agent = (agent != BRIDGE).then(|| AgentId::from(agent.as_str()));
    let body = object(body)?;
    match (body.get("prompt"), body.get("stop"), body.get("set")) {
        (Some(Value::String(text)), None, None) if !text.trim().is_empty() => {
            Some(RequestContent::Prompt {
                agent,
                text: text.clone(),
            })
        }
        (None, Some(Value::Bool(true)), None) => Some(RequestContent::Stop { agent }),
        (None, None, Some(Value::String(what))) => Some(RequestContent::Set {
            agent,
            setting: Some(what.clone()).filter(|what| !what.is_empty()),
        }),
        _ => None,
    }
}

/// Returns a snapshot of what is going on: one or more messages with the events and the position in the stream that
/// they reflect, and an empty one at the end. `limit` is the largest message that the broker accepts, in bytes; an
/// event that exceeds it was not published either.
pub fn snapshot<'a>(
    position: u64,
    limit: usize,
    events: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let limit = limit.saturating_sub(AROUND);
    let largest = limit.min(LARGEST_PART);
    let part = |events: &[Value]| json!({"sequence": position, "events": events}).to_string();
    let mut messages = Vec::new();
    let mut gathered: Vec<Value> = Vec::new();
    let mut size = 0;
    for text in events.filter(|text| text.len() <= limit) {
        if size + text.len() > largest && !gathered.is_empty() {
            messages.push(part(&std::mem::take(&mut gathered)));
            size = 0;
        }
        // A comma follows each event but the last.
        size += text.len() + 1;
        gathered.extend(object(text).map(Value::Object));
    }
    messages.push(part(&gathered));
    messages.push(String::new());
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Space;

    fn publishing() -> Publishing {
        Publishing::new(Machine::named(&Space::named("main"), "build-3"))
    }

    fn question(session: &str, token: &str) -> String {
        json!({
            "type": "aaep:agent.awaiting.confirmation", "event_id": format!("evt_{token}"),
            "session_id": session, "producer": {"agent_id": "opencode"}, "reply_token": token,
        })
        .to_string()
    }

    #[test]
    fn an_event_has_the_id_of_its_machine_and_the_subject_of_its_session() {
        let published = publishing().event(&question("sess_1", "rpl_1")).unwrap();
        let wanted = PublishedEvent {
            subject: "aaep.v1.main.build-3.opencode.sess_1.ask".to_owned(),
            lane: SubjectLane::Ask,
            id: "build-3.evt_rpl_1".to_owned(),
            asks: Some("opencode".to_owned()),
        };
        assert_eq!(published, wanted);
        assert_eq!(publishing().event("[]"), None);
    }

    #[test]
    fn a_reply_counts_only_under_the_subject_of_its_question() {
        let mut publishing = publishing();
        publishing.event(&question("sess_1", "rpl_1"));
        publishing.event(&question("sess_2", "rpl_2"));
        let body = r#"{"reply_token":"rpl_1","decision":"accept","decided_by":"user:eve"}"#;
        let reply = |session: &str, body: &str| {
            let subject = format!("aaep-reply.v1.main.build-3.opencode.{session}");
            publishing.reply(&subject, body, Some("anna"), None)
        };
        let Some(RequestContent::Reply { reply: own, .. }) = reply("sess_1", body) else {
            panic!("it is a reply");
        };
        assert_eq!(
            own["decided_by"], "user:anna",
            "the header names who answers"
        );
        assert_eq!(reply("sess_2", body), None);
        for no_reply in ["", "null", "{}", r#"{"reply_token":1}"#] {
            assert_eq!(reply("sess_1", no_reply), None, "{no_reply}");
        }
    }

    #[test]
    fn tokens_are_bounded() {
        let mut publishing = publishing();
        for number in 0..MOST_TOKENS + 5 {
            publishing.event(&question("s", &format!("rpl_{number}")));
        }
        assert_eq!(publishing.tokens.len(), MOST_TOKENS);
        assert_eq!(publishing.tokens_in_order.len(), MOST_TOKENS);
    }

    #[test]
    fn a_wish_is_one_of_three_for_the_agent_of_its_subject() {
        let of = |body: &str| person_request("aaep-do.v1.main.build-3.opencode.sess_1", body);
        let agent = Some(AgentId::from("opencode"));
        let prompt = RequestContent::Prompt {
            agent: agent.clone(),
            text: "go on".to_owned(),
        };
        assert_eq!(of(r#"{"prompt":"go on"}"#), Some(prompt));
        let stop = RequestContent::Stop { agent };
        assert_eq!(of(r#"{"stop":true}"#), Some(stop));
        for none in [
            "",
            "{}",
            r#"{"prompt":" "}"#,
            r#"{"stop":false}"#,
            r#"{"prompt":"x","stop":true}"#,
        ] {
            assert_eq!(of(none), None, "{none}");
        }
        let only = person_request(
            "aaep-do.v1.main.build-3.hearken-bridge.any",
            r#"{"stop":true}"#,
        );
        assert_eq!(only, Some(RequestContent::Stop { agent: None }));
    }

    #[test]
    fn a_snapshot_fits_a_broker_that_takes_little() {
        let events: Vec<String> = (0..9)
            .map(|n| json!({"event_id": n, "text": "x".repeat(10_000 * n)}).to_string())
            .collect();
        let messages = snapshot(7, 65_536, events.iter().map(String::as_str));
        assert!(messages.iter().all(|message| message.len() <= 65_536));
        let all = messages.iter().filter_map(|message| object(message));
        let ids: Vec<i64> = all
            .flat_map(|part| part["events"].as_array().unwrap().clone())
            .map(|event| event["event_id"].as_i64().unwrap())
            .collect();
        assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6], "two are larger than a message");
    }

    #[test]
    fn a_snapshot_is_in_parts_that_a_broker_takes_and_ends_with_nothing() {
        let long = json!({"event_id": "evt", "text": "x".repeat(200 * 1024)}).to_string();
        let messages = snapshot(7, 1024 * 1024, [long.as_str(); 5].into_iter());
        assert_eq!(messages.len(), 4, "two, two, one, and the end");
        assert_eq!(messages.last().unwrap(), "");
        for message in &messages[..3] {
            assert!(message.len() < 600 * 1024);
            assert_eq!(object(message).unwrap()["sequence"], 7);
        }
        assert_eq!(snapshot(0, 1024, [].into_iter()).len(), 2);
    }
}
