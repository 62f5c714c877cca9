//! A permission that the agent requests: the question that it becomes, and the answers to it.
//!
//! Responsibilities: the fields of the question, the exact answers. Not here: when it is asked, and what is known of
//! its call (`turn`).

use serde_json::json;

use crate::event_writer::EventContent;
use crate::protocol::{
    ActionDetails, Attachments, AwaitingClarification, AwaitingConfirmation, Decision, Event,
    RejectOnly, ReplyToken, ToolCallId,
};
use crate::rpc::{self, Id};
use crate::{DialectOutput, QuestionEnd, SharedWording};

use super::call::{Call, DESCRIPTION};
use super::options::OptionChoice;

/// A request for a permission, or for an answer in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// The agent's id of the request.
    pub id: Id,
    /// AAEP's id of the call that it is for; empty if it is for none.
    pub call: String,
    /// The question, without its token, if an answer in words is wanted; `None` for a permission.
    pub clarifies: Option<Box<AwaitingClarification>>,
    /// What else is known of it, to be read in full.
    pub context: Vec<(String, String)>,
    /// All possible answers.
    pub choices: Vec<OptionChoice>,
    /// The answers that are offered as it is asked now.
    pub offered: Vec<OptionChoice>,
    /// Whether the request can be cancelled if no choice rejects it.
    pub can_cancel: bool,
    /// The token of the question; empty until it is asked.
    pub token: String,
    /// What was asked under the token; empty until it is asked.
    pub body: PermissionBody,
    /// AAEP's id of the call that it was last asked about.
    pub asked_about: Option<String>,
    /// The names of what has changed since it was last asked.
    pub changed: Vec<String>,
    /// The reason why it can only be rejected, if there is one.
    pub reject_only: Option<RejectOnly>,
    /// What the other request with the same id asks, or the options that share one id; empty if there are none.
    pub other_request: String,
    /// Whether its answers are easy to confuse, so that one step is never enough.
    pub is_doubtful: bool,
    /// The answer under way.
    pub sending: Option<SentAnswer>,
}

/// An answer from the person under way.
#[derive(Debug, Clone, PartialEq)]
pub struct SentAnswer {
    /// The number of the person's answer.
    pub request: u64,
    /// Whether it allows the call.
    pub allows: bool,
    /// The reason for a rejection, in the person's words.
    pub reason: Option<String>,
}

/// What a permission asks, apart from its token.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PermissionBody {
    question: AwaitingConfirmation,
    attached: Attachments,
}

impl PermissionBody {
    /// Returns it without what changes nothing about what would run: the names of earlier changes, which belong only to
    /// the act of asking, and the description of a command.
    fn comparable(mut self, call: &Call) -> Self {
        if let Some(deed) = &mut self.attached.action_details {
            deed.changed.clear();
        }
        if call.has_mere_description() {
            let extra = &mut self.question.extra_context;
            extra.retain(|(name, _)| name != DESCRIPTION);
        }
        self
    }
}

impl Permission {
    /// Creates a request for a permission.
    pub fn consent(
        id: Id,
        call: &str,
        choices: Vec<OptionChoice>,
        context: Vec<(String, String)>,
    ) -> Self {
        Self {
            id,
            call: call.to_owned(),
            clarifies: None,
            context,
            choices,
            offered: Vec::new(),
            can_cancel: false,
            token: String::new(),
            body: PermissionBody::default(),
            asked_about: None,
            changed: Vec::new(),
            reject_only: None,
            other_request: String::new(),
            is_doubtful: false,
            sending: None,
        }
    }

    /// Creates a request for an answer in words.
    pub fn words(id: Id, question: AwaitingClarification) -> Self {
        Self {
            clarifies: Some(Box::new(question)),
            ..Self::consent(id, "", Vec::new(), Vec::new())
        }
    }

    /// Notes what is wrong with the options: some share one id, or have the same name.
    pub fn note_offer(&mut self, shared: &[String], has_namesakes: bool) {
        if !shared.is_empty() {
            self.reject_only = Some(RejectOnly::SharedOption);
            self.other_request = shared.join(", ");
        }
        self.is_doubtful |= has_namesakes;
    }

    /// Returns the event that asks it.
    pub fn asks(&self, call: &Call, words: &SharedWording) -> EventContent {
        let reply_token = Some(ReplyToken::new(self.token.as_str()));
        match &self.clarifies {
            None => {
                let asked = self.question(call, words);
                let question = AwaitingConfirmation {
                    reply_token,
                    ..asked.question
                };
                let event = Event::AwaitingConfirmation(Box::new(question));
                EventContent::from(event).with(asked.attached)
            }
            Some(question) => {
                let mut question = question.clone();
                question.reply_token = reply_token;
                Event::AwaitingClarification(question).into()
            }
        }
    }

    /// Returns whether it can be answered at all.
    pub fn takes_answers(&self) -> bool {
        match &self.clarifies {
            Some(question) => !question.accepted_response_kinds.is_empty(),
            None => !self.offered.is_empty(),
        }
    }

    /// Returns the output that reports its question as over.
    pub fn over(&self, how: QuestionEnd) -> DialectOutput {
        DialectOutput::Over {
            token: self.token.clone(),
            reason: how,
        }
    }

    /// Returns the question about a call, without a token, and what is attached to it.
    pub fn question_about(
        &self,
        call: &Call,
        words: &SharedWording,
    ) -> (AwaitingConfirmation, Attachments) {
        let asked = self.question(call, words);
        (asked.question, asked.attached)
    }

    /// Returns the question about a call as it is now.
    fn question(&self, call: &Call, words: &SharedWording) -> PermissionBody {
        let action = call.action(words);
        let offer = self.offer(call);
        let mut extra_context = call.more();
        for (key, value) in &self.context {
            let mut name = key.clone();
            // An input of the tool may have the same name, and is something else.
            while extra_context
                .iter()
                .any(|(other, text)| *other == name && text != value)
            {
                name = format!("request_{name}");
            }
            if !extra_context.iter().any(|(other, _)| *other == name) {
                extra_context.push((name, value.clone()));
            }
        }
        let question = AwaitingConfirmation {
            names_action: !action.trim().is_empty(),
            action,
            tool: Some(call.tool()),
            tool_call_id: Some(ToolCallId::from(call.key.as_str())),
            allowed_replies: offer
                .iter()
                .map(|choice| Decision::parse(&choice.decision))
                .collect(),
            extra_context,
            ..AwaitingConfirmation::default()
        };
        let deed = call.action_details();
        let attached = Attachments {
            action_details: Some(ActionDetails {
                changed: self.changed.clone(),
                reject_only: self.only(call),
                other_request: self.other_request.clone(),
                is_cut: deed.is_cut || self.is_doubtful,
                ..deed
            }),
            ..call.attached(true)
        };
        PermissionBody { question, attached }
    }

    /// Returns the reason why a call can only be rejected, if there is one.
    fn only(&self, call: &Call) -> Option<RejectOnly> {
        self.reject_only
            .or(call.is_silent().then_some(RejectOnly::Silent))
            .or(call.is_too_much().then_some(RejectOnly::TooMuch))
    }

    /// Returns the answers that are possible for a call as it is now.
    fn offer(&self, call: &Call) -> Vec<OptionChoice> {
        let only = self.only(call);
        let choices = self
            .choices
            .iter()
            .filter(|choice| only.is_none() || choice.rejects);
        let mut offer: Vec<OptionChoice> = choices.cloned().collect();
        let rejects = offer.iter().any(|choice| choice.decision == "reject");
        if only.is_some() && self.can_cancel && !rejects {
            offer.push(OptionChoice::cancel());
        }
        offer
    }

    /// Records the question as asked, to detect later changes.
    pub fn note_asked(&mut self, call: &Call, words: &SharedWording) {
        self.body = self.question(call, words).comparable(call);
        self.asked_about = Some(call.key.clone());
        self.offered = self.offer(call);
    }

    /// Returns the names of what differs between the call as asked and as it is now.
    pub fn differences(&self, call: &Call, words: &SharedWording) -> Vec<String> {
        if self.clarifies.is_some() {
            return Vec::new();
        }
        let now = self.question(call, words).comparable(call);
        let (asked, current) = (&self.body.question, &now.question);
        let mut names: Vec<String> = Vec::new();
        if asked.action != current.action {
            let name = if call.has_command() {
                "command"
            } else {
                "action"
            };
            names.push(name.to_owned());
        }
        if asked.tool != current.tool {
            names.push("action".to_owned());
        }
        if asked.allowed_replies != current.allowed_replies {
            names.push("answers".to_owned());
        }
        let (before, after) = (&asked.extra_context, &current.extra_context);
        let is_same = |pair: &(String, String)| before.contains(pair) && after.contains(pair);
        let all = before.iter().chain(after);
        names.extend(
            all.filter(|pair| !is_same(pair))
                .map(|(name, _)| name.clone()),
        );
        if self.body.attached != now.attached && names.is_empty() {
            names.push("content".to_owned());
        }
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// Writes the answer that selects an option.
    pub fn selected(&self, choice: &OptionChoice) -> String {
        if choice.cancels {
            return self.cancelled();
        }
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": choice.option}});
        rpc::result(&self.id, &outcome.to_string())
    }

    /// Writes the answer that stopping a turn requires.
    pub fn cancelled(&self) -> String {
        rpc::result(
            &self.id,
            &json!({"outcome": {"outcome": "cancelled"}}).to_string(),
        )
    }
}
