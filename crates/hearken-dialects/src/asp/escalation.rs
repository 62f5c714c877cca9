//! The question that an escalation asks.
//!
//! Responsibilities: announcing the handoff, asking how the session should go on, and asking again later. Not here:
//! sending the decision (`translator`).

use std::time::Duration;

use crate::event_writer::{EventContent, stated};
use crate::protocol::{
    Attachments, AwaitingClarification, Choice, Event, HandoffRequested, ReplyToken, ResponseKind,
    Summary, Variant,
};
use crate::{Cx, DialectOutput};

use super::conversation::{AspConversation, HeardExtent};
use super::message::AspMessage;
use super::report_phrases;
use super::session::PresumedState;

/// The longest wait that AAEP can state, in seconds: a day. A longer one is not stated.
const LONGEST_WAIT: u64 = 86_400;
/// The longest pause after the choice to decide later; otherwise the pause is half of the remaining time.
const LONGEST_LATER: Duration = Duration::from_secs(600);
/// The shortest such pause, so that the question is no nuisance; but never more than half of the remaining time.
const SHORTEST_LATER: Duration = Duration::from_secs(60);

/// The possible answers to an escalation.
pub const CHOICES: [(&str, &str); 3] = [
    ("resume", "asp.choice.resume"),
    ("close", "asp.choice.close"),
    ("later", "asp.choice.later"),
];

/// The phase of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionPhase {
    /// It waits for the person.
    Asked,
    /// The person decides later; then the question is asked again.
    Later {
        /// The time to ask again.
        again: Duration,
    },
}

/// The question that an escalation asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EscalationQuestion {
    /// The token under which it was last asked.
    pub token: String,
    /// Its phase.
    pub phase: QuestionPhase,
    /// The address of the agent that escalated; empty if it was not heard.
    pub by: String,
    /// The reason, as given.
    pub(super) reason: String,
    /// When its time is up.
    pub(super) until: Option<Duration>,
    /// The event that asked it last: it is repeated unchanged, so that it does not count as a new question.
    pub(super) asking_event: Option<String>,
}

impl AspConversation {
    /// Postpones a question at the person's wish.
    pub fn later(&mut self, cx: &mut Cx<'_>) {
        let Some(question) = &mut self.question else {
            return;
        };
        let left = question
            .until
            .map(|until| until.saturating_sub(cx.now.monotonic));
        let pause = left.map_or(LONGEST_LATER, |left| (left / 2).min(LONGEST_LATER));
        let pause = pause.max(SHORTEST_LATER.min(left.unwrap_or(SHORTEST_LATER) / 2));
        question.phase = QuestionPhase::Later {
            again: cx.now.monotonic + pause,
        };
        let minutes = (pause.as_secs() / 60).max(1).to_string();
        let words = self.sentence("asp.later", &[("n", &minutes)]);
        // Reported under its own name: the handover was already announced.
        self.change("escalated", words, false, cx);
    }

    /// Announces an escalation, and asks how the session should go on.
    pub(super) fn escalate(&mut self, message: Option<&AspMessage>, cx: &mut Cx<'_>) {
        self.heard = HeardExtent::Running;
        if self.said == "awaiting_input" {
            // If only the server had reported it, this is the sender's own message; otherwise it is a second
            // escalation.
            let is_second = self
                .question
                .as_ref()
                .is_some_and(|question| !question.by.is_empty());
            let words = match is_second {
                true => self.sentence("asp.escalate.again", &[]),
                false => Summary::default(),
            };
            self.change("handing_off", words, false, cx);
        }
        let none = self.sentence("asp.reason.none", &[]);
        let none = none.normal.as_deref().unwrap_or_default();
        let body = message.map(|message| &message.body);
        let reason = body.and_then(|body| body.reason.as_deref().or(body.about.as_deref()));
        let mut reason = reason.unwrap_or(none).to_owned();
        let left_out = body.map_or(0, |body| body.left_out);
        if left_out > 0 {
            // The question is announced on its own, so it mentions the cut too.
            let cut = self
                .words
                .say("asp.cut.here", &[("n", &left_out.to_string())]);
            reason.extend(cut.first().map(|said| format!(" {}", said.normal)));
        }
        let args = match message {
            Some(message) => self.args(message),
            None => self.bare_args(),
        };
        let key = if message.is_some() {
            "asp.escalate"
        } else {
            "asp.escalated"
        };
        // The question states the reason, and comes before anything else.
        let summary = self.sentence(key, &args.pairs());
        let called = summary.normal.as_deref().unwrap_or(none).to_owned();
        let urgency = body
            .and_then(|body| body.urgency.as_deref())
            .and_then(urgency);
        let subject = stated(self.about.as_str()).map(|about| ("subject".to_owned(), about));
        let packaged_context = Some(("reason".to_owned(), reason.clone()))
            .into_iter()
            .chain(subject);
        let handoff = HandoffRequested {
            summary,
            reason: called,
            target_kind: Some("human".to_owned()),
            packaged_context: packaged_context.collect(),
            urgency: urgency.map(str::to_owned),
            ..HandoffRequested::default()
        };
        self.event(Event::HandoffRequested(handoff), cx);
        let until = match self.negotiation.standing() {
            PresumedState::At(_) => self.negotiation.escalation_ends(),
            PresumedState::ProbablyFailed { .. } => None,
        };
        self.question = Some(EscalationQuestion {
            token: String::new(),
            phase: QuestionPhase::Asked,
            by: message
                .map(|message| message.sender.clone())
                .unwrap_or_default(),
            reason,
            // The server reported only that the session is escalated, not since when.
            until: until.filter(|_| message.is_some()),
            asking_event: None,
        });
        self.ask(cx);
    }

    /// Asks the question, for the first time or again.
    pub(super) fn ask(&mut self, cx: &mut Cx<'_>) {
        let token = self.writer.token();
        let Some(question) = &mut self.question else {
            return;
        };
        question.token = token;
        question.phase = QuestionPhase::Asked;
        question.asking_event = None;
        self.change("awaiting_input", Summary::default(), false, cx);
        self.show(cx);
    }

    /// Shows the open question as it was asked.
    pub(super) fn show(&mut self, cx: &mut Cx<'_>) {
        let before = self.word(report_phrases::state(self.negotiation.before()));
        let Some(question) = &self.question else {
            return;
        };
        if let Some(asked) = &question.asking_event {
            cx.out.push(self.out(asked.clone()));
            return;
        }
        let (token, reason, until) = (
            question.token.clone(),
            question.reason.clone(),
            question.until,
        );
        let by = report_phrases::name(&question.by);
        let asked = self.words.say("asp.question", &[("sender", &by)]);
        let asked = asked.into_iter().map(|said| (said.language, said.normal));
        let (question, questions) = first_and_variants(asked);
        let terms = self.terms_in_words().into_iter();
        let context = terms.map(|(language, terms)| {
            let context = format!("{reason} {terms}");
            (language, context.trim().to_owned())
        });
        let (context, contexts) = first_and_variants(context);
        let breaches = self.negotiation.would_breach();
        let choices = CHOICES.iter().map(|(value, key)| match *value {
            "close" if breaches => self.choice(value, "asp.choice.close.breach", &before),
            value => self.choice(value, key, &before),
        });
        let left = until.map(|until| until.saturating_sub(cx.now.monotonic).as_secs().max(1));
        let left = left.filter(|left| *left <= LONGEST_WAIT);
        let fails = left.and_then(|_| self.words.say("asp.default", &[]).into_iter().next());
        let clarification = AwaitingClarification {
            question: question.unwrap_or_default(),
            questions,
            context: context.or_else(|| stated(reason)),
            contexts,
            reply_token: Some(ReplyToken::new(token)),
            accepted_response_kinds: vec![ResponseKind::MultipleChoice, ResponseKind::Freetext],
            choices: choices.collect(),
            timeout_seconds: left,
            default_response: fails.map(|said| said.normal),
            ..AwaitingClarification::default()
        };
        // Closing might count as breaking what was agreed to.
        let final_choices = breaches.then(|| "close".to_owned()).into_iter().collect();
        let content = EventContent::from(Event::AwaitingClarification(Box::new(clarification)));
        let content = content.with(Attachments {
            final_choices,
            fails_unanswered: left.is_some(),
            ..Attachments::default()
        });
        let text = self.write(content, cx.now);
        cx.out.push(self.out(text.clone()));
        if let Some(question) = &mut self.question {
            question.asking_event = Some(text);
        }
    }

    fn out(&self, text: String) -> DialectOutput {
        if self.answerable {
            DialectOutput::Event(text)
        } else {
            DialectOutput::ViewOnly(text)
        }
    }

    /// Words a choice. AAEP labels have one language, so the person's is used.
    fn choice(&self, value: &str, key: &str, before: &[(String, String)]) -> Choice {
        let state = before.first().map_or("", |(_, word)| word.as_str());
        let label = self.words.say(key, &[("state", state)]).into_iter().next();
        Choice::new(
            value,
            label.map_or_else(|| value.to_owned(), |said| said.normal),
        )
    }
}

/// Splits a text in several languages into the first, which is a field's own, and its variants (11.5.1).
fn first_and_variants(
    mut texts: impl Iterator<Item = (String, String)>,
) -> (Option<String>, Vec<Variant>) {
    let first = texts.next().and_then(|(_, text)| stated(text));
    let variants = texts.map(|(language, text)| Variant { language, text });
    (first, variants.collect())
}

/// Returns the urgency of an escalation in AAEP's terms.
fn urgency(word: &str) -> Option<&'static str> {
    let is = |words: &[&str]| words.iter().any(|it| word.eq_ignore_ascii_case(it));
    if is(&["high", "critical", "urgent", "immediate"]) {
        Some("high")
    } else if is(&["medium", "normal", "moderate"]) {
        Some("medium")
    } else if is(&["low"]) {
        Some("low")
    } else {
        None
    }
}
