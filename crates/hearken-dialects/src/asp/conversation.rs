//! One session, translated into AAEP.
//!
//! Responsibilities: turning a session's messages into AAEP events, and an escalation into a question. Not here: frames
//! and answers (`translator`), what messages mean (`session`), the words (`report_phrases`, the phrase files).
//!
//! Mental model: one session of this protocol is one AAEP session. Its messages become state changes, each with a
//! sentence. The states have the document's names, except `awaiting_input` while a person is asked to resolve an
//! escalation. A COMMIT and its acceptance are critical; but a listener cannot answer them, so they ask no question.
//! After the end of a session, nothing in it becomes an event; only departures are reported.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::event_writer::{self, EventAgent, EventContent, EventWriter};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::{
    Event, NamedStep, Now, Progress, SessionCancelled, SessionCompleted, SessionErrored,
    SessionStarted, StateChanged, Summary, TransitionError, Watcher,
};
use crate::{Cx, DialectOutput, DialectStep, SharedWording};

use super::escalation::{EscalationQuestion, QuestionPhase};
use super::message::AspMessage;
use super::negotiated_terms::LatestTerms;
use super::performatives::Performative;
use super::report_phrases;
use super::sentences::Args;
use super::session::{Departure, ExpiredTimeout, MessageEffect, Negotiation};
use super::states::State;

/// The name of this dialect.
const NAME: &str = "asp";
/// How much AAEP has heard of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeardExtent {
    /// Nothing yet.
    Nothing,
    /// The session is running.
    Running,
    /// The session has ended.
    Over,
}

/// The translation of one session.
#[derive(Debug)]
pub struct AspConversation {
    /// The session in terms of the document.
    pub negotiation: Negotiation,
    /// The open question of an escalation.
    pub question: Option<EscalationQuestion>,
    pub(super) name: String,
    pub(super) writer: EventWriter,
    pub(super) session: event_writer::TranslatedSession,
    pub(super) words: SharedWording,
    /// Whether the person can resolve an escalation from here.
    pub(super) answerable: bool,
    pub(super) heard: HeardExtent,
    /// The state last reported to AAEP.
    pub(super) said: String,
    /// The subject, from the last message that stated one.
    pub(super) about: String,
    pub(super) offer: LatestTerms,
    pub(super) departed: BTreeSet<Departure>,
}

impl AspConversation {
    /// Starts the translation of a session.
    pub fn new(
        name: &str,
        agent: &str,
        negotiation: Negotiation,
        seed: u64,
        words: SharedWording,
        answerable: bool,
    ) -> Self {
        let agent = EventAgent {
            id: agent.to_owned(),
            name: report_phrases::name(agent),
            model: None,
        };
        let mut writer = EventWriter::new(NAME, agent, seed);
        let session = writer.session(name, name);
        Self {
            negotiation,
            question: None,
            name: name.to_owned(),
            writer,
            session,
            words,
            answerable,
            heard: HeardExtent::Nothing,
            said: "idle".to_owned(),
            about: String::new(),
            offer: LatestTerms::default(),
            departed: BTreeSet::new(),
        }
    }

    /// Returns whether the session has ended and can be forgotten.
    pub fn is_over(&self) -> bool {
        self.heard == HeardExtent::Over
    }

    /// Returns an id for one of our messages: a UUID of version 7, built from the time and the seed.
    pub fn message_id(&mut self, now: Now) -> String {
        let token = self.writer.token();
        let random = token.trim_start_matches("rpl_");
        let part = |from: usize, to: usize| random.get(from..to).unwrap_or_default();
        let millis =
            u64::try_from(now.wall.as_millisecond()).unwrap_or_default() & 0xffff_ffff_ffff;
        let time = format!("{millis:012x}");
        let (high, low) = time.split_at(8);
        format!(
            "{high}-{low}-7{}-a{}-{}",
            part(0, 3),
            part(3, 6),
            part(6, 18)
        )
    }

    /// Handles the next message of the session.
    pub fn message(&mut self, message: &AspMessage, cx: &mut Cx<'_>) {
        let mut notes = StepReporter {
            conversation: &self.name,
            out: &mut *cx.out,
        };
        let Some(taken) = self.negotiation.take(message, cx.now, &mut notes) else {
            return;
        };
        if let Some(performative) = message.performative {
            self.note_refused(performative, &taken, cx.out);
        }
        self.offer.note(message, &taken);
        let mut args = self.args(message);
        args.leave_out_known(&self.about, message.performative);
        if let Some(about) = &message.body.about
            && message.performative != Some(Performative::Escalate)
        {
            self.about.clone_from(about);
        }
        self.tell(
            report_phrases::key(message, &taken),
            &args,
            Some(message),
            &taken,
            cx,
        );
        if message.body.left_out > 0 {
            let cut = Phrase::new("asp.cut")
                .with("sender", PhraseArg::Name(args.sender.clone()))
                .with("n", PhraseArg::Own(message.body.left_out.to_string()));
            cx.out.push(DialectOutput::Announce(cut));
        }
        self.depart(&taken.departures, &args.sender, &args.performative, cx.out);
    }

    /// Handles the server's report of the session's state.
    pub fn on_reported_state(&mut self, state: State, cx: &mut Cx<'_>) {
        let mut notes = StepReporter {
            conversation: &self.name,
            out: &mut *cx.out,
        };
        let Some(taken) = self
            .negotiation
            .apply_reported_state(state, cx.now, &mut notes)
        else {
            // The first thing heard may be that the session is escalated.
            if self.heard == HeardExtent::Nothing && state == State::Escalated {
                self.escalate(None, cx);
            }
            return;
        };
        let args = self.bare_args();
        if taken.step.is_some() {
            self.tell("asp.told", &args, None, &taken, cx);
        }
        self.depart(&taken.departures, "", "", cx.out);
    }

    /// Returns when the next timer is due.
    pub fn deadline(&self) -> Option<Duration> {
        let again = self
            .question
            .as_ref()
            .and_then(|question| match question.phase {
                QuestionPhase::Later { again } => Some(again),
                QuestionPhase::Asked => None,
            });
        [self.negotiation.deadline(), again]
            .into_iter()
            .flatten()
            .min()
    }

    /// Handles the timers that are due.
    pub fn tick(&mut self, cx: &mut Cx<'_>) {
        for expired in self.negotiation.tick(cx.now) {
            self.expired(&expired, cx);
        }
        let again = matches!(
            self.question.as_ref().map(|question| question.phase),
            Some(QuestionPhase::Later { again }) if again <= cx.now.monotonic
        );
        if again {
            self.ask(cx);
        }
    }

    fn expired(&mut self, expired: &ExpiredTimeout, cx: &mut Cx<'_>) {
        let named = NamedStep {
            machine: <State as crate::protocol::Machine>::NAME,
            from: expired.state.name(),
            event: rule_event(expired),
        };
        cx.out.push(DialectOutput::Stepped(DialectStep {
            conversation: self.name.clone(),
            subject: String::new(),
            named,
            to: Some("probably FAILED"),
        }));
        let words = self.sentence(report_phrases::expired(expired.timeout), &[]);
        match (self.heard, &self.question) {
            (HeardExtent::Running, None) => {
                let said = self.said.clone();
                self.change(&said, words, false, cx);
            }
            // Leaving `awaiting_input` would mean that the question was decided.
            (HeardExtent::Running, Some(_)) if !self.answerable => self.progress(words, cx),
            // A question that can be answered has its own countdown and reports itself that it is probably over.
            (HeardExtent::Running | HeardExtent::Nothing | HeardExtent::Over, _) => {}
        }
        self.depart(expired.departure.as_slice(), "", "", cx.out);
    }

    /// Reports the effect of a message, or of a server's report.
    fn tell(
        &mut self,
        key: &'static str,
        args: &Args,
        message: Option<&AspMessage>,
        taken: &MessageEffect,
        cx: &mut Cx<'_>,
    ) {
        if self.heard == HeardExtent::Over {
            return;
        }
        let to = taken.step.map(|step| step.to);
        match to {
            Some(State::Closed | State::Failed) => self.end(key, args, message, taken, cx),
            Some(State::Escalated) => self.escalate(message, cx),
            Some(State::Invited) if self.heard == HeardExtent::Nothing => {
                let started = SessionStarted {
                    summary: self.sentence(key, &args.pairs()),
                    ..SessionStarted::default()
                };
                self.event(Event::SessionStarted(started), cx);
                self.heard = HeardExtent::Running;
            }
            Some(
                State::Idle
                | State::Invited
                | State::Introduced
                | State::Conversing
                | State::Agreeing
                | State::Executing,
            )
            | None => {
                let words = self.sentence(key, &args.pairs());
                let state = self.negotiation.standing().state();
                let binds = message.is_some()
                    && matches!(to, Some(State::Agreeing | State::Executing))
                    && taken.step.is_some_and(|step| step.from != State::Escalated);
                let waits = self.question.is_some() && state == State::Escalated;
                if waits {
                    // Leaving `awaiting_input` would mean that the question was decided.
                    self.progress(words, cx);
                } else {
                    self.question = None;
                    self.change(&aaep_state(state), words, binds, cx);
                }
            }
        }
    }

    fn end(
        &mut self,
        key: &'static str,
        args: &Args,
        message: Option<&AspMessage>,
        taken: &MessageEffect,
        cx: &mut Cx<'_>,
    ) {
        if self.said == "awaiting_input" {
            // The question ends before its session does.
            self.change("handing_off", Summary::default(), false, cx);
        }
        self.question = None;
        self.heard = HeardExtent::Over;
        let summary = self.sentence(key, &args.pairs());
        let failed = taken.step.is_some_and(|step| step.to == State::Failed);
        let withdrawn = message.is_some_and(|it| it.performative == Some(Performative::Withdraw));
        let breach = taken.meaning == super::session::MessageIntent::PerhapsBreach;
        let end = EventContent::from(if failed {
            Event::SessionErrored(SessionErrored {
                summary,
                ..SessionErrored::default()
            })
        } else if withdrawn || breach {
            Event::SessionCancelled(SessionCancelled {
                summary,
                cancelled_by: Some("producer".to_owned()),
                ..SessionCancelled::default()
            })
        } else {
            Event::SessionCompleted(SessionCompleted {
                summary,
                ..SessionCompleted::default()
            })
        });
        let is_critical = breach && !failed;
        self.event(if is_critical { end.critical() } else { end }, cx);
    }

    pub(super) fn change(&mut self, to: &str, summary: Summary, critical: bool, cx: &mut Cx<'_>) {
        self.heard = HeardExtent::Running;
        let from = std::mem::replace(&mut self.said, to.to_owned());
        let changed = EventContent::from(Event::StateChanged(StateChanged {
            summary,
            from_state: from.into(),
            to_state: to.to_owned().into(),
            ..StateChanged::default()
        }));
        self.event(
            if critical {
                changed.critical()
            } else {
                changed
            },
            cx,
        );
    }

    fn progress(&mut self, summary: Summary, cx: &mut Cx<'_>) {
        let words = summary.normal.as_deref().map(event_writer::short);
        let progress = Progress {
            description: words,
            summary,
            ..Progress::default()
        };
        self.event(Event::Progress(progress), cx);
    }

    pub(super) fn event(&mut self, content: impl Into<EventContent>, cx: &mut Cx<'_>) {
        let text = self.write(content, cx.now);
        cx.out.push(DialectOutput::Event(text));
    }

    pub(super) fn write(&mut self, content: impl Into<EventContent>, now: Now) -> String {
        let content = content.into().in_language(self.words.language());
        self.writer.event(&mut self.session, now.wall, content)
    }

    /// Reports departures from the document, each kind once.
    fn depart(
        &mut self,
        departures: &[Departure],
        sender: &str,
        performative: &str,
        out: &mut Vec<DialectOutput>,
    ) {
        for departure in departures {
            if !self.departed.insert(*departure) {
                continue;
            }
            let (key, state) = report_phrases::departure(*departure);
            let mut phrase = Phrase::new(key)
                .with("sender", PhraseArg::Name(sender.to_owned()))
                .with("performative", PhraseArg::Name(performative.to_owned()));
            if let Some(state) = state {
                phrase = phrase.with(
                    "state",
                    PhraseArg::Phrase(Phrase::new(report_phrases::state(state))),
                );
            }
            out.push(match departure {
                // The person hears the same as an event.
                Departure::Expired(_) | Departure::ResponseLate => DialectOutput::Detail(phrase),
                Departure::Illegal(_)
                | Departure::TablesDisagree(_)
                | Departure::AfterEnd(_)
                | Departure::AnswersItself
                | Departure::OtherCommitment
                | Departure::Unmet
                | Departure::UnknownPerformative
                | Departure::Chain(_)
                | Departure::ToldOtherwise(_) => DialectOutput::Announce(phrase),
            });
        }
    }

    /// Records in the trace that a state does not accept a performative.
    fn note_refused(
        &self,
        performative: Performative,
        taken: &MessageEffect,
        out: &mut Vec<DialectOutput>,
    ) {
        for departure in &taken.departures {
            let state = match departure {
                Departure::Illegal(state) | Departure::AfterEnd(state) => *state,
                Departure::TablesDisagree(_)
                | Departure::AnswersItself
                | Departure::OtherCommitment
                | Departure::Unmet
                | Departure::UnknownPerformative
                | Departure::Chain(_)
                | Departure::Expired(_)
                | Departure::ResponseLate
                | Departure::ToldOtherwise(_) => continue,
            };
            out.push(DialectOutput::Stepped(DialectStep {
                conversation: self.name.clone(),
                subject: String::new(),
                named: NamedStep {
                    machine: <State as crate::protocol::Machine>::NAME,
                    from: state.name(),
                    event: performative.name(),
                },
                to: None,
            }));
        }
    }
}

/// Reports the steps of a session's state machine.
struct StepReporter<'a> {
    conversation: &'a str,
    out: &'a mut Vec<DialectOutput>,
}

impl StepReporter<'_> {
    fn keep(&mut self, named: NamedStep, to: Option<&'static str>) {
        self.out.push(DialectOutput::Stepped(DialectStep {
            conversation: self.conversation.to_owned(),
            subject: String::new(),
            named,
            to,
        }));
    }
}

impl Watcher for StepReporter<'_> {
    fn before(&mut self, _: NamedStep) {}

    fn after(&mut self, step: NamedStep, to: &'static str) {
        self.keep(step, Some(to));
    }

    fn error(&mut self, step: NamedStep, _: &TransitionError) {
        self.keep(step, None);
    }
}

fn rule_event(expired: &ExpiredTimeout) -> &'static str {
    super::session_rules::wait(expired.timeout).trigger.name()
}

/// Returns AAEP's name for a state: the document's own, which AAEP 4.2.1 allows.
fn aaep_state(state: State) -> String {
    match state {
        State::Escalated => "handing_off".to_owned(),
        State::Idle
        | State::Invited
        | State::Introduced
        | State::Conversing
        | State::Agreeing
        | State::Executing
        | State::Closed
        | State::Failed => state.name().to_lowercase(),
    }
}
