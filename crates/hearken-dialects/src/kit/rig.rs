//! The test rig of all dialects: a machine, a scripted peer on its other side, and everything that the machine emits.
//!
//! Responsibilities: feeding the machine, collecting its outputs, judging every event as `check` and the decoder do,
//! pairing its answers with what it was asked, answering questions. Not here: the messages of one protocol, which its own tests add for its [`RigPeer`].

pub mod answer_ledger;

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;

use hearken_core::inspect::{Checker, ReportFact};

use super::call::first;
use crate::every_language::EveryLanguage;
use crate::link::{
    DeliveryFailure, Fault, Frame, LastWords, LinkEvent, Phrase, PhraseArg, Receipt,
};
use crate::protocol::{
    Answer, Decision, Finding, Now, Problem, Reply, ReplyToken, Response, Severity,
};
use crate::{
    Cx, Dialect, DialectOutput, DialectSetup, OpenQuestionsChange, PersonRequest, QuestionEnd,
    SharedWording,
};
use answer_ledger::{AnswerLedger, Asked};

/// Every sentence, loaded once.
pub static WORDS: LazyLock<SharedWording> =
    LazyLock::new(|| SharedWording::new(EveryLanguage::best_for(&[])));

/// What is on the other side of a dialect.
pub trait RigPeer: Default {
    /// Handles an output that reaches the other side; panics at one that the dialect never emits.
    fn take(&mut self, out: DialectOutput);
}

/// A machine with its peer.
pub struct MachineRig<M, P> {
    pub machine: M,
    pub peer: P,
    checker: Checker,
    pub events: Vec<Value>,
    /// How many of the events ask what can't be answered here.
    pub view_only: usize,
    /// The keys of the phrases.
    pub phrase_keys: Vec<&'static str>,
    pub phrases: Vec<Phrase>,
    /// The numbers of settled answers, with whether they arrived.
    pub settled: Vec<(u64, bool)>,
    /// The same, with what became of them.
    pub outcomes: Vec<(u64, Result<Receipt, DeliveryFailure>)>,
    pub over: Vec<QuestionEnd>,
    pub stood: Vec<OpenQuestionsChange>,
    pub closed: Vec<Fault>,
    /// What is sent when the link is closed.
    pub last_words: Option<LastWords>,
    pub unread: u64,
    /// What is wrong with the events.
    pub faults: Vec<String>,
    /// What was asked, and what of it is unanswered.
    pub ledger: AnswerLedger,
    pub now: Now,
}

/// Returns a start with every sentence and a fixed seed.
pub fn start() -> DialectSetup {
    DialectSetup {
        words: WORDS.clone(),
        seed: 7,
        ..DialectSetup::unattended()
    }
}

impl<M: Dialect, P: RigPeer> MachineRig<M, P> {
    pub fn of(machine: M) -> Self {
        Self {
            machine,
            peer: P::default(),
            checker: Checker::new(),
            events: Vec::new(),
            view_only: 0,
            phrase_keys: Vec::new(),
            phrases: Vec::new(),
            settled: Vec::new(),
            outcomes: Vec::new(),
            over: Vec::new(),
            stood: Vec::new(),
            closed: Vec::new(),
            last_words: None,
            unread: 0,
            faults: Vec::new(),
            ledger: AnswerLedger::default(),
            now: Now {
                monotonic: Duration::ZERO,
                wall: "2026-03-07T14:30:00Z".parse().unwrap(),
            },
        }
    }

    fn with(&mut self, work: impl FnOnce(&mut M, &mut Cx<'_>)) {
        let mut out = Vec::new();
        work(&mut self.machine, &mut Cx::new(self.now, &mut out));
        for out in out {
            self.take(out);
        }
    }

    pub fn news(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::Lost { .. } => self.ledger.reconnect(),
            LinkEvent::Replied {
                request,
                outcome: Err(DeliveryFailure::Kept(_)),
            } => self.ledger.take_back(*request),
            LinkEvent::Frame(frame) => self.ledger.ask_in(&frame.text),
            LinkEvent::Request { id, .. } => self.ledger.ask(Asked::Request(*id)),
            LinkEvent::Lapsed { id } => self.ledger.lapse(Asked::Request(*id)),
            _ => {}
        }
        self.with(|machine, cx| machine.news(event, cx));
    }

    pub fn frame(&mut self, text: impl ToString) {
        self.news(&LinkEvent::Frame(Frame::of(text.to_string())));
    }

    pub fn lose(&mut self) {
        self.news(&LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        });
    }

    /// Reports that an answer was written, or was not.
    pub fn written(&mut self, request: u64, went: bool) {
        let outcome = match went {
            true => Ok(Receipt::Written),
            false => Err(DeliveryFailure::Kept(Fault::Closed)),
        };
        self.news(&LinkEvent::Replied { request, outcome });
    }

    pub fn person_request(&mut self, wish: &PersonRequest) {
        self.with(|machine, cx| machine.on_person_request(wish, cx));
    }

    pub fn prompt(&mut self, words: &str) {
        self.person_request(&PersonRequest::Prompt(words.to_owned()));
    }

    /// Lets time pass, and ticks once.
    pub fn after(&mut self, time: Duration) {
        self.now = self.now.after(time);
        self.with(|machine, cx| machine.tick(cx));
    }

    /// Decides the latest question.
    pub fn decide(&mut self, request: u64, decision: &str, reason: Option<&str>) {
        self.decide_under(request, &self.token(), decision, reason);
    }

    pub fn decide_under(
        &mut self,
        request: u64,
        token: &str,
        decision: &str,
        reason: Option<&str>,
    ) {
        let answer = Answer::Decision {
            decision: Decision::parse(decision),
            rationale: reason.map(str::to_owned),
        };
        self.reply(request, token, answer);
    }

    /// Answers the latest question.
    pub fn respond(&mut self, request: u64, response: impl Into<PersonReply>) {
        self.respond_under(request, &self.token(), response);
    }

    pub fn respond_under(&mut self, request: u64, token: &str, response: impl Into<PersonReply>) {
        self.reply(request, token, Answer::Response(response.into().0));
    }

    fn reply(&mut self, request: u64, token: &str, answer: Answer) {
        let reply = Reply {
            token: ReplyToken::new(token.to_owned()),
            answer,
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        self.ledger.ask(Asked::Reply(request));
        self.with(|machine, cx| machine.reply(request, &reply, cx));
    }

    /// Notes what is wrong with an answer of the machine.
    fn pair(&mut self, out: &DialectOutput) {
        let wrong = match out {
            DialectOutput::Settled { request, .. } => self.ledger.answer(Asked::Reply(*request)),
            DialectOutput::Respond { id, request, .. } => {
                self.ledger.send(*request, [Asked::Request(*id)])
            }
            DialectOutput::Send { request, frame } => self
                .ledger
                .send(Some(*request), answer_ledger::answers(frame)),
            _ => None,
        };
        assert!(wrong.is_none(), "{wrong:?}: {out:?}");
    }

    fn take(&mut self, out: DialectOutput) {
        self.pair(&out);
        match out {
            DialectOutput::ViewOnly(text) => {
                self.view_only += 1;
                self.event(&text);
            }
            DialectOutput::Event(text) => self.event(&text),
            DialectOutput::Settled { request, outcome } => {
                self.settled.push((request, outcome.is_ok()));
                self.outcomes.push((request, outcome));
            }
            DialectOutput::Announce(phrase) | DialectOutput::Detail(phrase) => {
                let said = WORDS.say(phrase.key, &[]);
                assert!(said.iter().all(|it| it.normal != phrase.key), "{phrase:?}");
                self.phrase_keys.push(phrase.key);
                self.phrases.push(phrase);
            }
            DialectOutput::Over { reason: how, .. } => self.over.push(how),
            DialectOutput::Standing(standing) => self.stood.push(standing),
            DialectOutput::Close(fault) => self.closed.push(fault),
            DialectOutput::Unread(_, times) => self.unread += times,
            DialectOutput::LastWords(words) => self.last_words = words,
            DialectOutput::Release => {}
            other => self.peer.take(other),
        }
    }

    fn event(&mut self, text: &str) {
        for item in self.checker.line(text) {
            // The order of the events is ours, so a translator breaks no rule of it.
            let is_ours =
                matches!(item.fact, ReportFact::Order(_)) && item.severity == Severity::Warning;
            if item.severity == Severity::Error || is_ours {
                self.faults.push(format!("{item:?}\n{text}"));
            }
        }
        let decoded = crate::protocol::decode(text).unwrap();
        // A question says all that its call does, however long that is.
        let counts = |it: &&Finding| {
            it.severity != Severity::Note
                && !matches!(it.problem, Problem::EventTooLarge | Problem::LongText)
        };
        for finding in decoded.findings.iter().filter(counts) {
            self.faults.push(format!("{finding}\n{text}"));
        }
        self.events.push(serde_json::from_str(text).unwrap());
    }
}

impl<M, P> MachineRig<M, P> {
    /// Returns the token of the latest question.
    pub fn token(&self) -> String {
        let mut asked = self.events.iter().rev();
        let asked = asked.find_map(|event| event["reply_token"].as_str());
        asked.unwrap_or("none").to_owned()
    }

    /// Returns what the person was told, in words.
    pub fn announced(&self) -> Vec<String> {
        self.phrases.iter().map(said).collect()
    }

    /// Returns the types of the events.
    pub fn types(&self) -> Vec<&str> {
        let types = self.events.iter().map(|it| it["type"].as_str().unwrap());
        types
            .map(|kind| kind.strip_prefix("aaep:agent.").unwrap())
            .collect()
    }

    /// Returns the types of the events; for a change of state, the new state.
    pub fn kinds(&self) -> Vec<String> {
        let states = self.events.iter().map(|event| event["to_state"].as_str());
        let kinds = self.types().into_iter().zip(states);
        kinds
            .map(|(kind, state)| state.unwrap_or(kind).to_owned())
            .collect()
    }

    pub fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|it| *it == kind).count()
    }

    pub fn last(&self, kind: &str) -> &Value {
        let types = self.types();
        let at = types.iter().rposition(|it| *it == kind);
        &self.events[at.unwrap_or_else(|| panic!("no {kind} in {types:?}"))]
    }

    /// Returns all text that was streamed, in order.
    pub fn said(&self) -> String {
        let chunks = self.events.iter().filter_map(|it| it["chunk"].as_str());
        chunks.collect()
    }
}

/// What a person answers.
pub struct PersonReply(Response);

impl From<Response> for PersonReply {
    fn from(response: Response) -> Self {
        Self(response)
    }
}

impl From<bool> for PersonReply {
    fn from(yes: bool) -> Self {
        Self(Response::YesNo(yes))
    }
}

impl From<f64> for PersonReply {
    fn from(number: f64) -> Self {
        Self(Response::Number(number))
    }
}

impl From<&str> for PersonReply {
    fn from(text: &str) -> Self {
        Self(Response::Text(text.to_owned()))
    }
}

impl<M, P> Deref for MachineRig<M, P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.peer
    }
}

impl<M, P> DerefMut for MachineRig<M, P> {
    fn deref_mut(&mut self) -> &mut P {
        &mut self.peer
    }
}

/// Words a phrase, with the phrases in it.
fn said(phrase: &Phrase) -> String {
    let word = |arg: &PhraseArg| match arg {
        PhraseArg::Own(text) | PhraseArg::Name(text) | PhraseArg::Agent(text) => text.clone(),
        PhraseArg::Phrase(phrase) => said(phrase),
        other => format!("{other:?}"),
    };
    let args = phrase.args.iter().map(|(name, arg)| (*name, word(arg)));
    let args: Vec<(&str, String)> = args.collect();
    let args: Vec<(&str, &str)> = args.iter().map(|(name, it)| (*name, it.as_str())).collect();
    first(&WORDS, phrase.key, &args)
}
