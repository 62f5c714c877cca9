//! The interrupts of a run as AAEP questions, and their combined answer.
//!
//! Responsibilities: one question after another for all interrupts, which answers each accepts, and the single answer
//! that goes out with the next run. Not here: what an interrupt wants (`interrupt`), when it is asked and sent
//! (`decisions`, `runs`).
//!
//! Mental model: a run goes on only when all of its interrupts are answered, so nothing is sent before the last answer.
//! Until then the answers are kept.

use serde_json::{Map, Value, json};

use crate::SharedWording;
use crate::event_writer::cut;
use crate::kit::call::{self, first};
use crate::kit::call_inputs::{CallInput, CallInputs};
use crate::kit::form_progress::{Action, AfterAnswer};
use crate::kit::form_schema::{self, FormKind, FormPart};
use crate::kit::options::OptionChoice;
use crate::kit::permission::Permission;
use crate::kit::standalone_question::QuestionContent;
use crate::kit::turn_updates::{CallNews, CallStatus};
use crate::kit::{acp_shape, members};
use crate::link::Phrase;
use crate::protocol::{Answer, Response};
use crate::rpc::Id;

use super::interrupt::{
    AnswerShape, Interrupt, InterruptRequest, LONGEST_MESSAGE, PermissionRequest, one_line,
};

/// How many questions the interrupts of one run may produce.
pub const MOST: usize = 64;
/// The longest call argument that a question contains in full, in characters.
const LONGEST_INPUT: usize = 4000;
/// How many call arguments a question may contain.
const MOST_INPUTS: usize = 64;
/// The longest title of a request for permission, in characters.
const LONGEST_TITLE: usize = 500;
/// The choice that closes a question without an answer; too odd to be typed by chance.
const CANCEL: &str = "hearken.cancel";
/// What LangGraph's endpoint expects for a cancelled interrupt.
const CANCELLED: &str = "__agui_cancelled__";

/// The form of the interrupts, and of the answers to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptForm {
    /// The form that the protocol defines.
    Typed,
    /// LangGraph's default form.
    Older,
}

/// What the person is asked before the run goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Interruption {
    way: InterruptForm,
    interrupts: Vec<Interrupt>,
    /// The questions, each with its interrupt and its answer.
    items: Vec<AskedItem>,
}

#[derive(Debug, Clone, PartialEq)]
struct AskedItem {
    of: usize,
    wants: InterruptRequest,
    given: Option<InterruptAnswer>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
enum InterruptAnswer {
    Value(Value),
    Cancelled,
}

/// What follows an answer.
#[derive(Debug)]
pub enum InterruptContinuation {
    /// The answer was kept; the next question is asked.
    Kept,
    /// It was the last answer: all of them go out.
    Sends,
    /// The same question asks for its next part.
    Further,
    /// The same question is asked again, for this reason.
    Again(Phrase),
    /// The question does not accept this answer.
    Unfit,
}

impl Interruption {
    /// Collects the interrupts of a run; `None` if any cannot be asked, or not be told apart from another.
    pub fn new(way: InterruptForm, interrupts: Vec<Interrupt>) -> Option<Self> {
        let mut items = Vec::new();
        for (of, interrupt) in interrupts.iter().enumerate() {
            items.extend(interrupt.wants.iter().map(|wants| AskedItem {
                of,
                wants: wants.clone(),
                given: None,
            }));
        }
        let named = |it: &Interrupt| !it.id.is_empty();
        let apart = interrupts.len() == 1 || interrupts.iter().all(named);
        let twice =
            |at: usize, it: &Interrupt| interrupts.iter().take(at).any(|other| other.id == it.id);
        let twice = interrupts.iter().enumerate().any(|(at, it)| twice(at, it));
        let fits = !items.is_empty() && items.len() <= MOST && apart && !twice;
        fits.then_some(Self {
            way,
            interrupts,
            items,
        })
    }

    /// Returns the time by which they must be answered.
    pub fn expires(&self) -> Option<jiff::Timestamp> {
        self.interrupts.iter().filter_map(|it| it.expires).min()
    }

    /// Returns the calls that they concern.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.interrupts.iter().filter_map(|it| it.call.as_deref())
    }

    /// Returns the names of its questions.
    pub fn names(&self) -> Vec<String> {
        (0..self.items.len()).map(|at| at.to_string()).collect()
    }

    /// Returns whether the person can close an interrupt without an answer in a form that the endpoint understands.
    fn can_cancel(&self, of: usize) -> bool {
        match self.way {
            InterruptForm::Typed => true,
            InterruptForm::Older => self.interrupts.get(of).is_some_and(|it| !it.id.is_empty()),
        }
    }

    /// Returns whether all interrupts can be closed without an answer.
    pub fn can_cancel_all(&self) -> bool {
        (0..self.interrupts.len()).all(|of| self.can_cancel(of))
    }

    /// Closes all interrupts without an answer.
    pub fn cancel_all(&mut self) {
        for item in &mut self.items {
            item.given = Some(InterruptAnswer::Cancelled);
        }
    }

    /// Builds the question of a name: the permission, and what is known of the call. `known` returns how much was heard
    /// of a call. The third value is whether the question can only be rejected because it is too long.
    pub fn question(
        &self,
        name: &str,
        known: &dyn Fn(&str) -> HeardExtent,
        words: &SharedWording,
    ) -> Option<(Permission, Option<CallNews>, bool)> {
        let item = self.items.get(name.parse::<usize>().ok()?)?;
        let interrupt = self.interrupts.get(item.of)?;
        let mut permission = Permission::consent(Id::of_name(name), "", Vec::new(), Vec::new());
        let asks = match &item.wants {
            InterruptRequest::Consent(consent) => {
                let (news, is_whole) = news(interrupt, consent, name, known);
                permission.call = call::key(&news.id);
                permission.choices = choices(consent, is_whole);
                if !interrupt.message.trim().is_empty() {
                    let whole = cut(&interrupt.message, 64 * 1024);
                    permission.context.push(("question".to_owned(), whole));
                }
                if !consent.about.trim().is_empty() {
                    let whole = cut(&consent.about, 64 * 1024);
                    permission.context.push(("about".to_owned(), whole));
                }
                return Some((permission, Some(news), !is_whole && consent.allows));
            }
            InterruptRequest::Form(filling) => filling.asks(words),
            InterruptRequest::Value(part) => self.value(item.of, part, words),
            InterruptRequest::Words => self.text(item.of, "", words),
            InterruptRequest::Json => self.text(item.of, "agui.json", words),
        };
        permission.clarifies = Some(Box::new(asks.question()));
        Some((permission, None, false))
    }

    fn message(&self, of: usize, words: &SharedWording) -> String {
        let message = self.interrupts.get(of).map(|it| it.message.as_str());
        match one_line(message.unwrap_or_default()) {
            nothing if nothing.is_empty() => first(words, "agui.asks", &[]),
            message => cut(&message, LONGEST_MESSAGE),
        }
    }

    /// Adds the choice to close a question without an answer. A question without other choices gets none: it is closed
    /// by stopping.
    fn cancel(&self, of: usize, asks: &mut QuestionContent, words: &SharedWording) {
        if self.can_cancel(of) && !asks.choices.is_empty() {
            asks.choices
                .push((CANCEL.to_owned(), first(words, "acp.form.cancel", &[])));
        }
    }

    fn text(&self, of: usize, more: &'static str, words: &SharedWording) -> QuestionContent {
        let mut question = self.message(of, words);
        if !more.is_empty() {
            question = first(words, more, &[("message", &question)]);
        }
        QuestionContent {
            question,
            kinds: vec!["freetext"],
            ..QuestionContent::default()
        }
    }

    fn value(&self, of: usize, part: &FormPart, words: &SharedWording) -> QuestionContent {
        let mut asks = QuestionContent {
            question: self.message(of, words),
            ..QuestionContent::default()
        };
        match &part.kind {
            FormKind::Text { .. } => asks.kinds.push("freetext"),
            FormKind::Number { .. } => asks.kinds.push("numeric"),
            FormKind::YesNo => asks.kinds.push("yes_no"),
            FormKind::One(offers) | FormKind::Several { offers, .. } => {
                asks.several = matches!(part.kind, FormKind::Several { .. });
                if offers.len() > form_schema::MOST_OFFERED || asks.several {
                    asks.kinds.push("freetext");
                }
                if offers.len() <= form_schema::MOST_OFFERED {
                    asks.kinds.push("multiple_choice");
                    let numbered = offers.iter().enumerate();
                    asks.choices = numbered
                        .map(|(at, it)| ((at + 1).to_string(), it.label.clone()))
                        .collect();
                }
            }
        }
        self.cancel(of, &mut asks, words);
        asks
    }

    /// Applies the answer to a question, and returns what follows. The second value is whether the answer allows
    /// something.
    pub fn answer(
        &mut self,
        name: &str,
        choice: Option<&OptionChoice>,
        answer: &Answer,
    ) -> (InterruptContinuation, bool) {
        let Some(item) = name
            .parse::<usize>()
            .ok()
            .and_then(|at| self.items.get_mut(at))
        else {
            return (InterruptContinuation::Unfit, false);
        };
        let mut allows = false;
        let is_cancel = matches!(answer, Answer::Response(Response::Text(text)) if text == CANCEL);
        let given = match (&mut item.wants, answer) {
            (InterruptRequest::Consent(consent), Answer::Decision { rationale, .. }) => {
                let Some(choice) = choice else {
                    return (InterruptContinuation::Unfit, false);
                };
                allows = choice.allows;
                InterruptAnswer::Value(consent.writes.write(allows, rationale.as_deref()))
            }
            (InterruptRequest::Form(filling), Answer::Response(response)) => match filling
                .take(response)
            {
                AfterAnswer::None => return (InterruptContinuation::Unfit, false),
                AfterAnswer::Ask => return (InterruptContinuation::Further, false),
                AfterAnswer::Again(why) => return (InterruptContinuation::Again(why), false),
                AfterAnswer::Give(Action::Accept) => InterruptAnswer::Value(filling.content()),
                AfterAnswer::Give(Action::Decline | Action::Cancel) => InterruptAnswer::Cancelled,
            },
            (
                InterruptRequest::Value(_) | InterruptRequest::Words | InterruptRequest::Json,
                Answer::Response(_),
            ) if is_cancel => InterruptAnswer::Cancelled,
            (InterruptRequest::Value(part), Answer::Response(response)) => {
                match part.take(response) {
                    Ok(value) => InterruptAnswer::Value(value),
                    Err(why) => return (InterruptContinuation::Again(why), false),
                }
            }
            (InterruptRequest::Words, Answer::Response(Response::Text(text))) => {
                InterruptAnswer::Value(text.as_str().into())
            }
            (InterruptRequest::Json, Answer::Response(Response::Text(text))) => {
                match serde_json::from_str(text) {
                    Ok(value) => InterruptAnswer::Value(value),
                    Err(_) => {
                        return (
                            InterruptContinuation::Again(Phrase::new("agui.no_json")),
                            false,
                        );
                    }
                }
            }
            (InterruptRequest::Consent(_), Answer::Response(_))
            | (
                InterruptRequest::Form(_)
                | InterruptRequest::Value(_)
                | InterruptRequest::Words
                | InterruptRequest::Json,
                Answer::Decision { .. },
            )
            | (InterruptRequest::Words | InterruptRequest::Json, Answer::Response(_)) => {
                return (InterruptContinuation::Unfit, false);
            }
        };
        item.given = Some(given);
        match self.items.iter().all(|it| it.given.is_some()) {
            true => (InterruptContinuation::Sends, allows),
            false => (InterruptContinuation::Kept, allows),
        }
    }

    /// Returns whether the answer has room for the reason of a rejection.
    pub fn takes_reason(&self, name: &str) -> bool {
        let item = name.parse::<usize>().ok().and_then(|at| self.items.get(at));
        match item.map(|item| &item.wants) {
            Some(InterruptRequest::Consent(consent)) => consent.writes.takes_reason(),
            Some(
                InterruptRequest::Form(_)
                | InterruptRequest::Value(_)
                | InterruptRequest::Words
                | InterruptRequest::Json,
            )
            | None => true,
        }
    }

    /// Removes an answer that was not sent.
    pub fn unanswered(&mut self, name: &str) {
        if let Some(item) = name
            .parse::<usize>()
            .ok()
            .and_then(|at| self.items.get_mut(at))
        {
            item.given = None;
        }
    }

    /// Returns the answer of an interrupt: its payload, or `Some(None)` if it was closed without one. The outer `None`
    /// means that part of it is not answered yet.
    fn payload(&self, of: usize) -> Option<Option<Value>> {
        let items = self.items.iter().filter(|it| it.of == of);
        let given: Option<Vec<&InterruptAnswer>> = items.map(|it| it.given.as_ref()).collect();
        let mut values = Vec::new();
        for given in given? {
            match given {
                InterruptAnswer::Cancelled => return Some(None),
                InterruptAnswer::Value(value) => values.push(value.clone()),
            }
        }
        let shape = self.interrupts.get(of)?.shape;
        match shape {
            AnswerShape::One => values.pop().map(Some),
            AnswerShape::Decisions => Some(Some(json!({"decisions": values}))),
        }
    }

    /// Returns the members of the next run that carry the answers; `None` while one is missing.
    pub fn resume(&self) -> Option<Map<String, Value>> {
        let mut members = Map::new();
        let mut answers = Vec::new();
        for of in 0..self.interrupts.len() {
            answers.push((self.interrupts.get(of)?.id.as_str(), self.payload(of)?));
        }
        match self.way {
            InterruptForm::Typed => {
                let entries = answers.into_iter().map(|(id, payload)| match payload {
                    Some(payload) => {
                        json!({"interruptId": id, "status": "resolved", "payload": payload})
                    }
                    None => json!({"interruptId": id, "status": "cancelled"}),
                });
                members.insert("resume".to_owned(), entries.collect());
            }
            InterruptForm::Older => {
                let value = |(id, payload): (&str, Option<Value>)| {
                    payload.unwrap_or_else(|| json!({CANCELLED: true, "interrupt_id": id}))
                };
                let resume = match answers.len() {
                    1 => answers.into_iter().next().map(value).map(as_read)?,
                    _ => {
                        let all = answers.into_iter().map(|it| (it.0.to_owned(), value(it)));
                        Value::Object(all.collect())
                    }
                };
                members.insert(
                    "forwardedProps".to_owned(),
                    json!({"command": {"resume": resume}}),
                );
            }
        }
        Some(members)
    }
}

/// Encodes a text that looks like JSON, because the endpoint would parse it as such.
fn as_read(value: Value) -> Value {
    match &value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_ok() => {
            value.to_string().into()
        }
        _ => value,
    }
}

/// How much was heard of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeardExtent {
    /// Nothing.
    No,
    /// Everything, including all arguments.
    Whole,
    /// Only part of it.
    Cut,
}

/// Returns what is known about the subject of a consent, and whether all of it will be announced.
fn news(
    interrupt: &Interrupt,
    consent: &PermissionRequest,
    name: &str,
    known: &dyn Fn(&str) -> HeardExtent,
) -> (CallNews, bool) {
    let heard = interrupt.call.as_deref().map(|call| (call, known(call)));
    if let Some((call, heard @ (HeardExtent::Whole | HeardExtent::Cut))) = heard {
        let news = CallNews {
            id: call.to_owned(),
            status: Some(CallStatus::Pending),
            ..CallNews::default()
        };
        return (news, heard == HeardExtent::Whole);
    }
    let said = one_line(&interrupt.message);
    let mut news = CallNews {
        id: interrupt
            .call
            .clone()
            .unwrap_or_else(|| format!("{} {name}", interrupt.id)),
        status: Some(CallStatus::Pending),
        kind: Some(
            consent
                .tool
                .clone()
                .unwrap_or_else(|| "approval".to_owned()),
        ),
        ..CallNews::default()
    };
    match &consent.given {
        Some(given) => {
            let is_whole = inputs(given, &mut news);
            (news, is_whole)
        }
        None => {
            let is_whole = said.chars().count() <= LONGEST_INPUT && !said.is_empty();
            let is_short = said.chars().count() <= LONGEST_TITLE;
            news.title = Some(cut(&said, LONGEST_TITLE)).filter(|title| !title.is_empty());
            if !is_short {
                news.inputs = Some(CallInputs::from_iter([CallInput::new(
                    "message",
                    &said.into(),
                )]));
            }
            (news, is_whole)
        }
    }
}

/// Adds the arguments of a call; returns whether all of them will be announced.
pub fn inputs(given: &Value, news: &mut CallNews) -> bool {
    let form = json!({"toolCallId": news.id, "rawInput": given});
    if let Some(read) = form.as_object().and_then(acp_shape::call) {
        news.inputs = read.inputs;
    }
    let short = |value: &Value| members::plain(value).chars().count() <= LONGEST_INPUT;
    match given {
        Value::Object(map) => map.len() <= MOST_INPUTS && map.values().all(short),
        other => short(other),
    }
}

/// Returns the possible answers: a call that the person cannot hear in full can only be rejected.
fn choices(consent: &PermissionRequest, is_whole: bool) -> Vec<OptionChoice> {
    let choice = |decision: &str, allows| OptionChoice {
        decision: decision.to_owned(),
        option: decision.to_owned(),
        allows,
        rejects: !allows,
        cancels: false,
    };
    let mut choices = Vec::new();
    if consent.allows && is_whole {
        choices.push(choice("accept", true));
    }
    if consent.rejects {
        choices.push(choice("reject", false));
    }
    choices
}
