//! A question that belongs to no turn: it has an AAEP session of its own, which asks one thing after the other.
//!
//! Responsibilities: the events of such a session, the token of the open question, the answer under way. Not here: what
//! is asked, and what an answer leads to (`earlier_conversation`, `sign_in`, `setting_changes`, `forms`,
//! `review_outcomes`).

use crate::event_writer::{self, EventContent, stated};
use crate::protocol::{
    Answer, Attachments, AwaitingClarification, AwaitingConfirmation, Choice, Event, ReplyToken,
    Response, ResponseKind, SessionCompleted, SessionStarted, StateChanged,
};
use crate::{Cx, DialectOutput, QuestionEnd};

use super::turn::EventContext;
use super::turn_end::errored;

/// How many choices a question can offer (AAEP allows 32).
pub const MOST_CHOICES: usize = 32;

/// A session for such questions.
#[derive(Debug)]
pub struct SideQuestion {
    session: event_writer::TranslatedSession,
    /// The token of the open question; empty if none is open.
    token: String,
    /// The number of the person's answer under way.
    sending: Option<u64>,
}

/// The contents of a question.
#[derive(Debug, Default)]
pub struct QuestionContent {
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

impl QuestionContent {
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

    /// Returns it as AAEP's question, without a token.
    pub fn question(self) -> AwaitingClarification {
        let choices = self.choices.into_iter().take(MOST_CHOICES);
        AwaitingClarification {
            question: self.question,
            context: stated(self.context),
            accepted_response_kinds: self.kinds.into_iter().map(ResponseKind::parse).collect(),
            choices: choices
                .map(|(value, label)| Choice::new(value, label))
                .collect(),
            takes_several: self.several,
            ..AwaitingClarification::default()
        }
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
        let started = SessionStarted {
            summary: teller.words.summary(about, &args),
            ..SessionStarted::default()
        };
        let attached = Attachments {
            aside: true,
            ..Attachments::default()
        };
        let started = EventContent::from(Event::SessionStarted(started)).with(attached);
        aside.event(started, teller, cx);
        aside.state("idle", "awaiting_input", teller, cx);
        aside
    }

    /// Asks a question, which replaces the previous one.
    pub fn ask(&mut self, asks: QuestionContent, teller: &mut EventContext, cx: &mut Cx<'_>) {
        self.renew(teller, cx);
        let question = AwaitingClarification {
            reply_token: Some(ReplyToken::new(self.token.as_str())),
            ..asks.question()
        };
        let question = Event::AwaitingClarification(Box::new(question));
        self.put(question.into(), teller, cx);
    }

    /// Asks for a decision, which replaces the previous question.
    pub fn confirm(
        &mut self,
        question: AwaitingConfirmation,
        attached: Attachments,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        self.renew(teller, cx);
        let question = AwaitingConfirmation {
            reply_token: Some(ReplyToken::new(self.token.as_str())),
            ..question
        };
        let question = Event::AwaitingConfirmation(Box::new(question));
        self.put(EventContent::from(question).with(attached), teller, cx);
    }

    /// Leaves the previous question, and gives the next one its token.
    fn renew(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if !self.token.is_empty() {
            self.close(teller, cx);
            self.state("thinking", "awaiting_input", teller, cx);
        }
        self.sending = None;
        self.token = teller.writer.token();
    }

    fn put(&mut self, question: EventContent, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let text = teller
            .writer
            .event(&mut self.session, cx.now.wall, question);
        cx.out.push(match teller.answerable {
            true => DialectOutput::Event(text),
            false => DialectOutput::ViewOnly(text),
        });
    }

    /// Returns whether the token is the open question's, and no answer is under way.
    pub fn is_open(&self, token: &str) -> bool {
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
    pub fn is_over(&self, how: QuestionEnd, out: &mut Vec<DialectOutput>) {
        if !self.token.is_empty() {
            let token = self.token.clone();
            out.push(DialectOutput::Over { token, reason: how });
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
        self.end_with(SessionCompleted::default(), teller, cx);
    }

    /// Ends the session with something to announce.
    pub fn end_with(
        mut self,
        completed: SessionCompleted,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        self.close(teller, cx);
        self.event(Event::SessionCompleted(completed), teller, cx);
    }

    /// Ends the session because its agent is gone.
    pub fn lose(mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        self.close(teller, cx);
        let gone = teller.words.summary("acp.end.gone", &[]);
        self.event(errored(gone), teller, cx);
    }

    fn state(
        &mut self,
        from: &'static str,
        to: &'static str,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        let changed = StateChanged {
            from_state: from.into(),
            to_state: to.into(),
            ..StateChanged::default()
        };
        self.event(Event::StateChanged(changed), teller, cx);
    }

    fn event(
        &mut self,
        content: impl Into<EventContent>,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        let text = teller.writer.event(&mut self.session, cx.now.wall, content);
        cx.out.push(DialectOutput::Event(text));
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
