//! A question that belongs to no turn: it has an AAEP session of its own, which asks one thing after the other.
//!
//! Responsibilities: the events of such a session, the token of the open question, the answer under way. Not here: what
//! is asked, and what an answer leads to (`earlier`, `signing`, `changing`, `forms`).

use serde_json::{Map, Value, json};

use crate::protocol::{Answer, Response};
use crate::written;
use crate::{Cx, Out, Over};

use super::ending::sentence;
use super::turn::EventContext;

/// How many choices a question can offer (AAEP allows 32).
pub const MOST_CHOICES: usize = 32;

/// A session for such questions.
#[derive(Debug)]
pub struct SideQuestion {
    session: written::Session,
    /// The token of the open question; empty if none is open.
    token: String,
    /// The number of the person's answer under way.
    sending: Option<u64>,
}

/// The contents of a question.
#[derive(Debug, Default)]
pub struct Asks {
    /// The question.
    pub question: String,
    /// More about it.
    pub context: String,
    /// The kinds of answers that it accepts, by AAEP's names.
    pub kinds: Vec<&'static str>,
    /// The choices: the value that comes back, and the label that is heard.
    pub choices: Vec<(String, String)>,
    /// Whether several of them may be chosen.
    pub several: bool,
}

impl Asks {
    /// Builds a question with several choices, which come back by their numbers from 1.
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

    /// Returns the fields of AAEP's question, except its token.
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

    /// Builds a yes-or-no question.
    pub fn whether(question: String) -> Self {
        Self {
            question,
            kinds: vec!["yes_no"],
            ..Self::default()
        }
    }
}

impl SideQuestion {
    /// Begins a session; the phrase says what it is about.
    pub fn begin(
        name: &str,
        thread: &str,
        about: &str,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> Self {
        let mut aside = Self {
            session: teller.writer.session(name, thread),
            token: String::new(),
            sending: None,
        };
        let args = [("agent", teller.writer.name())];
        let started = sentence(&teller.words, about, &args);
        aside.event("session.started", Value::Object(started), teller, cx);
        aside.state("idle", "awaiting_input", teller, cx);
        aside
    }

    /// Asks a question, which replaces the previous one.
    pub fn ask(&mut self, asks: Asks, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if !self.token.is_empty() {
            self.close(teller, cx);
            self.state("thinking", "awaiting_input", teller, cx);
        }
        self.sending = None;
        self.token = teller.writer.token();
        let mut fields = asks.fields();
        fields.insert("reply_token".to_owned(), self.token.as_str().into());
        let text = teller.writer.event(
            &mut self.session,
            "awaiting.clarification",
            cx.now.wall,
            Value::Object(fields),
        );
        cx.out.push(match teller.answerable {
            true => Out::Event(text),
            false => Out::ViewOnly(text),
        });
    }

    /// Returns whether the token is the open question's, and no answer is under way.
    pub fn takes(&self, token: &str) -> bool {
        !self.token.is_empty() && self.token == token && self.sending.is_none()
    }

    /// Notes that an answer is under way.
    pub fn sends(&mut self, request: u64) {
        self.sending = Some(request);
    }

    /// Clears an answer that has arrived or failed; returns whether it was under way from here.
    pub fn went(&mut self, request: u64) -> bool {
        self.sending.take_if(|number| *number == request).is_some()
    }

    /// Returns whether an answer is under way.
    pub fn is_sending(&self) -> bool {
        self.sending.is_some()
    }

    /// Reports that the open question is over without an answer.
    pub fn is_over(&self, how: Over, out: &mut Vec<Out>) {
        if !self.token.is_empty() {
            let token = self.token.clone();
            out.push(Out::Over { token, how });
        }
    }

    /// Leaves the open question, so that it is over in a recording, too.
    fn close(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if !self.token.is_empty() {
            self.token.clear();
            self.state("awaiting_input", "thinking", teller, cx);
        }
    }

    /// Ends the session.
    pub fn end(self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        self.end_with(Map::new(), teller, cx);
    }

    /// Ends the session with something to announce.
    pub fn end_with(
        mut self,
        told: Map<String, Value>,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        self.close(teller, cx);
        self.event("session.completed", Value::Object(told), teller, cx);
    }

    /// Ends the session because its agent is gone.
    pub fn lose(mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        self.close(teller, cx);
        let mut fields = sentence(&teller.words, "acp.end.gone", &[]);
        fields.insert("error_category".to_owned(), "unknown".into());
        self.event("session.errored", Value::Object(fields), teller, cx);
    }

    fn state(&mut self, from: &str, to: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let fields = json!({"from_state": from, "to_state": to});
        self.event("state.changed", fields, teller, cx);
    }

    fn event(&mut self, kind: &str, fields: Value, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let text = teller
            .writer
            .event(&mut self.session, kind, cx.now.wall, fields);
        cx.out.push(Out::Event(text));
    }
}

/// Returns the index of the choice that an answer names, from 0.
pub fn place(answer: &Answer) -> Option<usize> {
    match answer {
        Answer::Response(Response::Text(value)) => value.parse::<usize>().ok()?.checked_sub(1),
        Answer::Response(Response::YesNo(_) | Response::Number(_)) | Answer::Decision { .. } => {
            None
        }
    }
}
