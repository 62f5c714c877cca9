//! A question that belongs to no turn: a session of AAEP of its own, in which one thing is asked after the other.
//!
//! Responsibilities: the events of such a session, under which token something is asked, which answer is on its way. Not
//! here: what is asked, and what an answer becomes (`earlier`, `signing`, `changing`, `forms`).

use serde_json::{Map, Value, json};

use crate::protocol::{Answer, Now, Response};
use crate::written;
use crate::{Out, Over};

use super::ending::sentence;
use super::turn::Teller;

/// How many answers a question can be given to choose from (AAEP takes 32).
pub const MOST_CHOICES: usize = 32;

/// Such a session.
#[derive(Debug)]
pub struct Aside {
    session: written::Session,
    /// Under which token something is asked; empty where nothing is.
    token: String,
    /// The number of the person's answer that is on its way.
    sending: Option<u64>,
}

/// What is asked.
#[derive(Debug, Default)]
pub struct Asks {
    /// The question.
    pub question: String,
    /// What more is to be known of it.
    pub context: String,
    /// Which kinds of answers it takes, by AAEP's names.
    pub kinds: Vec<&'static str>,
    /// The answers to choose from: what comes back, and what is said.
    pub choices: Vec<(String, String)>,
    /// Whether several of them may be taken.
    pub several: bool,
}

impl Asks {
    /// Asks for one of several things, which come back by their numbers from 1.
    pub fn one_of(question: String, labels: Vec<String>) -> Self {
        let numbered = labels.into_iter().enumerate();
        Self {
            question,
            kinds: vec!["multiple_choice"],
            choices: numbered
                .map(|(at, label)| ((at + 1).to_string(), label))
                .collect(),
            ..Self::default()
        }
    }

    /// Returns the fields of AAEP's question, but for its token.
    pub fn fields(self) -> Map<String, Value> {
        let choices: Vec<Value> = self
            .choices
            .into_iter()
            .take(MOST_CHOICES)
            .map(|(value, label)| json!({"value": value, "label": label}))
            .collect();
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        put("question", self.question.into());
        put("context", self.context.into());
        put("accepted_response_kinds", self.kinds.into());
        put("choices", choices.into());
        if self.several {
            put("multi_select", true.into());
        }
        fields
    }

    /// Asks for yes or no.
    pub fn whether(question: String) -> Self {
        Self {
            question,
            kinds: vec!["yes_no"],
            ..Self::default()
        }
    }
}

impl Aside {
    /// Begins one; the phrase says what it is about.
    pub fn begin(
        name: &str,
        thread: &str,
        about: &str,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) -> Self {
        let mut aside = Self {
            session: teller.writer.session(name, thread),
            token: String::new(),
            sending: None,
        };
        let args = [("agent", teller.writer.name())];
        let started = sentence(&teller.words, about, &args);
        aside.event("session.started", Value::Object(started), teller, now, out);
        aside.state("idle", "awaiting_input", teller, now, out);
        aside
    }

    /// Asks, in the place of what was asked before.
    pub fn ask(&mut self, asks: Asks, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        if !self.token.is_empty() {
            self.close(teller, now, out);
            self.state("thinking", "awaiting_input", teller, now, out);
        }
        self.sending = None;
        self.token = teller.writer.token();
        let mut fields = asks.fields();
        fields.insert("reply_token".to_owned(), self.token.as_str().into());
        let text = teller.writer.event(
            &mut self.session,
            "awaiting.clarification",
            now.wall,
            Value::Object(fields),
        );
        out.push(match teller.answerable {
            true => Out::Event(text),
            false => Out::ViewOnly(text),
        });
    }

    /// Returns whether an answer is one to what is asked, and none is on its way.
    pub fn takes(&self, token: &str) -> bool {
        !self.token.is_empty() && self.token == token && self.sending.is_none()
    }

    /// Takes note that an answer is on its way.
    pub fn sends(&mut self, request: u64) {
        self.sending = Some(request);
    }

    /// Takes what became of an answer; tells whether it was on its way from here.
    pub fn went(&mut self, request: u64) -> bool {
        self.sending.take_if(|number| *number == request).is_some()
    }

    /// Returns whether an answer is on its way.
    pub fn is_sending(&self) -> bool {
        self.sending.is_some()
    }

    /// Says that what is asked is over without an answer.
    pub fn is_over(&self, how: Over, out: &mut Vec<Out>) {
        if !self.token.is_empty() {
            let token = self.token.clone();
            out.push(Out::Over { token, how });
        }
    }

    /// Leaves what is asked: it is over also for whoever reads a recording.
    fn close(&mut self, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        if !self.token.is_empty() {
            self.token.clear();
            self.state("awaiting_input", "thinking", teller, now, out);
        }
    }

    /// Ends it.
    pub fn end(self, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        self.end_with(Map::new(), teller, now, out);
    }

    /// Ends it with something to be told.
    pub fn end_with(
        mut self,
        told: Map<String, Value>,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        self.close(teller, now, out);
        self.event("session.completed", Value::Object(told), teller, now, out);
    }

    /// Ends it because its agent is gone.
    pub fn lose(mut self, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        self.close(teller, now, out);
        let mut fields = sentence(&teller.words, "acp.end.gone", &[]);
        fields.insert("error_category".to_owned(), "unknown".into());
        self.event("session.errored", Value::Object(fields), teller, now, out);
    }

    fn state(&mut self, from: &str, to: &str, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        let fields = json!({"from_state": from, "to_state": to});
        self.event("state.changed", fields, teller, now, out);
    }

    fn event(
        &mut self,
        kind: &str,
        fields: Value,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let text = teller
            .writer
            .event(&mut self.session, kind, now.wall, fields);
        out.push(Out::Event(text));
    }
}

/// Reads an answer as the place of a choice, from 0.
pub fn place(answer: &Answer) -> Option<usize> {
    match answer {
        Answer::Response(Response::Text(value)) => value.parse::<usize>().ok()?.checked_sub(1),
        Answer::Response(Response::YesNo(_) | Response::Number(_)) | Answer::Decision { .. } => {
            None
        }
    }
}
