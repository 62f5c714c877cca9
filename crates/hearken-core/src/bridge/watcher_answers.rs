//! Questions, and who answered them.
//!
//! Responsibilities: which question an answer is for, and whether its person saw the current question; passing
//! one answer at a time to the dialect, in order of arrival; what each watcher is told. Not here: when a
//! question is open (`session`), how an answer reaches the agent (the dialect).

use std::collections::{BTreeMap, VecDeque};

use crate::dialect::fleet::{AnsweredBy, BridgeReport, Closed, RequestFault, RequestOutcome};
use crate::dialect::{Cx, LeaveOutcome};
use crate::link::{DeliveryFailure, Fault, LinkId, Phrase, PhraseArg, Receipt};
use crate::protocol::{EventId, NoObserver, Now, RecordedReply, Reply, ReplyToken};
use crate::session::AnswerReach;

use super::published_events::apart;
use super::{Bridge, BridgeEffect};

/// How many questions are remembered, open or not: a late answer is still told who decided.
const MOST_QUESTIONS: usize = 8192;
/// How many answers to one question may wait for the outcome of the first.
const MOST_WAITING: usize = 32;

/// A question that was published.
#[derive(Debug, Clone)]
pub(super) struct PublishedQuestion {
    pub(super) link: LinkId,
    /// Its token at its source.
    pub(super) token: ReplyToken,
    pub(super) event: EventId,
    pub(super) digest: String,
    pub(super) text: String,
}

#[derive(Debug)]
struct KnownQuestion {
    question: PublishedQuestion,
    /// How it ended, if that was reported.
    closed: Option<Closed>,
}

/// An answer that was passed to a dialect, or waits for the outcome of another.
#[derive(Debug)]
struct PendingReply {
    /// The shell's number of the request; `None` if nobody waits for its outcome.
    number: Option<u64>,
    reply: Reply,
}

#[derive(Debug)]
struct ReplyUnderWay {
    outside: String,
    given: PendingReply,
    waiting: VecDeque<PendingReply>,
}

/// The questions by the token that watchers know, and the answers under way by the number that the dialect knows.
#[derive(Debug, Default)]
pub(super) struct Answers {
    questions: BTreeMap<String, KnownQuestion>,
    order: VecDeque<String>,
    under_way: BTreeMap<u64, ReplyUnderWay>,
    next: u64,
}

impl Answers {
    /// Returns the token under which a question goes out: its own, unless another source's question has the same.
    pub(super) fn outside(&self, link: LinkId, token: &str) -> String {
        match self.questions.get(token) {
            Some(known) if known.question.link != link => apart(token, link),
            Some(_) | None => token.to_owned(),
        }
    }

    /// Remembers a question that is asked, for the first time or again.
    pub(super) fn remember_question(&mut self, outside: String, asked: PublishedQuestion) {
        let known = KnownQuestion {
            question: asked,
            closed: None,
        };
        if self.questions.insert(outside.clone(), known).is_none() {
            self.order.push_back(outside);
        }
        if self.order.len() > MOST_QUESTIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.questions.remove(&oldest);
        }
    }

    /// Returns the event that asked the question of a link under a token.
    pub(super) fn event_of(&self, link: LinkId, token: &ReplyToken) -> Option<EventId> {
        let mut known = self.questions.values().map(|known| &known.question);
        let asked = known.find(|asked| asked.link == link && asked.token == *token)?;
        Some(asked.event.clone())
    }

    /// Notes how a question ended, and returns the event that asked it; `None` if that was noted before.
    pub(super) fn closed(
        &mut self,
        link: LinkId,
        token: &ReplyToken,
        how: &Closed,
    ) -> Option<EventId> {
        let mut known = self.questions.values_mut();
        let known =
            known.find(|known| known.question.link == link && known.question.token == *token)?;
        if known.closed.is_some() {
            return None;
        }
        known.closed = Some(how.clone());
        Some(known.question.event.clone())
    }
}

/// Reads a reply as AAEP defines it.
fn read_reply(reply: &serde_json::Value, now: Now) -> Option<Reply> {
    let read = RecordedReply::read(&reply.to_string())?;
    let decided_by = reply.get("decided_by").and_then(serde_json::Value::as_str);
    Some(Reply {
        token: read.token,
        answer: read.answer,
        timestamp: read.timestamp.unwrap_or(now.wall),
        decided_by: decided_by.unwrap_or_default().to_owned(),
    })
}

impl Bridge {
    /// Handles a reply in a watcher's request.
    pub(super) fn reply(
        &mut self,
        number: u64,
        reply: &serde_json::Value,
        digest: Option<String>,
        now: Now,
    ) {
        match read_reply(reply, now) {
            Some(reply) => self.answer(Some(number), reply, digest, now),
            None => self.outcome(Some(number), RequestOutcome::Unknown),
        }
    }

    /// Handles an answer; `digest`, if given, is that of the question that its person was shown.
    pub(super) fn answer(
        &mut self,
        number: Option<u64>,
        reply: Reply,
        digest: Option<String>,
        now: Now,
    ) {
        let outside = reply.token.reveal().to_owned();
        let Some(known) = self.answers.questions.get(&outside) else {
            return self.outcome(number, RequestOutcome::Unknown);
        };
        let (link, token) = (known.question.link, known.question.token.clone());
        let under_way = self.answers.under_way.values_mut();
        let given = PendingReply { number, reply };
        let mut under_way = under_way.filter(|one| one.outside == outside);
        if let Some(first) = under_way.next() {
            if first.waiting.len() < MOST_WAITING {
                first.waiting.push_back(given);
            } else {
                self.outcome(number, RequestOutcome::NotTaken(RequestFault::Busy));
            }
            return;
        }
        match &known.closed {
            Some(Closed::Answered(answered)) => {
                let answered = answered.clone();
                return self.outcome(number, RequestOutcome::Decided(answered));
            }
            Some(
                Closed::Decided { .. } | Closed::Stopped | Closed::TakenBack | Closed::Default,
            ) => return self.outcome(number, RequestOutcome::Closed),
            None => {}
        }
        let obstacle = match self.sessions.asked_under(link, &token) {
            Some(question) if !question.is_open() => {
                return self.outcome(number, RequestOutcome::Closed);
            }
            Some(question) => match question.reach {
                AnswerReach::Live | AnswerReach::Resumed => None,
                AnswerReach::NotAnswerable => Some(RequestFault::OnlySeen),
                AnswerReach::LinkLost => Some(RequestFault::Lost),
            },
            // The question overtook another event of its session, and waits for its turn there.
            None => {
                let link = self.links.get(link.0);
                link.is_none_or(|link| !link.is_up())
                    .then_some(RequestFault::Lost)
            }
        };
        if let Some(obstacle) = obstacle {
            return self.outcome(number, RequestOutcome::NotTaken(obstacle));
        }
        if digest.is_some_and(|digest| digest != known.question.digest) {
            let text = known.question.text.clone();
            self.outcome(number, RequestOutcome::Changed);
            return self.effects.push(BridgeEffect::Publish(text));
        }
        self.pass_on(outside, given, VecDeque::new(), now);
    }

    /// Passes an answer to its dialect.
    fn pass_on(
        &mut self,
        outside: String,
        given: PendingReply,
        waiting: VecDeque<PendingReply>,
        now: Now,
    ) {
        let Some(known) = self.answers.questions.get(&outside) else {
            return;
        };
        let (link, token) = (known.question.link, known.question.token.clone());
        // Numbers begin with 1, as in the app.
        self.answers.next += 1;
        let request = self.answers.next;
        let reply = Reply {
            token,
            ..given.reply.clone()
        };
        let under_way = ReplyUnderWay {
            outside,
            given,
            waiting,
        };
        self.answers.under_way.insert(request, under_way);
        let mut out = Vec::new();
        if let Some(link) = self.links.get_mut(link.0) {
            link.machine
                .reply(request, &reply, &mut Cx::new(now, &mut out));
        }
        self.carry_out(link, out, now);
    }

    /// Handles what became of an answer.
    pub(super) fn settled(
        &mut self,
        request: u64,
        outcome: Result<Receipt, DeliveryFailure>,
        now: Now,
    ) {
        let Some(mut done) = self.answers.under_way.remove(&request) else {
            return;
        };
        let PendingReply { number, reply } = done.given;
        match outcome {
            // The answer only led to the next step of a dialog: nothing is decided.
            Ok(Receipt::Here) => {
                self.outcome(number, RequestOutcome::Taken(Receipt::Taken));
                for other in done.waiting {
                    self.outcome(other.number, RequestOutcome::Closed);
                }
            }
            Ok(receipt) => {
                let answered = AnsweredBy {
                    person: AnsweredBy::person(&reply.decided_by),
                    answer: reply.answer,
                    at: now.wall,
                };
                self.outcome(number, RequestOutcome::Taken(receipt));
                for other in done.waiting {
                    self.outcome(other.number, RequestOutcome::Decided(answered.clone()));
                }
                self.answered(&done.outside, answered, now);
            }
            Err(DeliveryFailure::Kept(fault) | DeliveryFailure::Refused(fault)) => {
                let reason = self.reason(&fault);
                self.outcome(number, RequestOutcome::NotTaken(reason));
                if let Some(next) = done.waiting.pop_front() {
                    self.pass_on(done.outside, next, done.waiting, now);
                }
            }
            Err(DeliveryFailure::Unknown(fault)) => {
                let reason = self.reason(&fault);
                self.outcome(number, RequestOutcome::Perhaps(reason));
                // Another answer could contradict the one that perhaps arrived; its person decides.
                for other in done.waiting {
                    let outcome = RequestOutcome::NotTaken(RequestFault::PerhapsAnother);
                    self.outcome(other.number, outcome);
                }
            }
        }
    }

    /// Reports to every watcher who answered a question.
    fn answered(&mut self, outside: &str, answered: AnsweredBy, now: Now) {
        let Some(known) = self.answers.questions.get_mut(outside) else {
            return;
        };
        let how = Closed::Answered(answered);
        known.closed = Some(how.clone());
        let question = known.question.event.clone();
        let (link, token) = (known.question.link, known.question.token.clone());
        // The agent's next actions are judged by this answer.
        if let Some(asked) = self.sessions.asked_under(link, &token)
            && let Closed::Answered(AnsweredBy { answer, .. }) = &how
        {
            let (asked, answer) = (asked.id, answer.clone());
            self.sessions
                .answered_before(asked, answer, now, &mut NoObserver);
        }
        self.report(
            BridgeReport::Closed {
                question,
                reason: how,
            },
            now,
        );
    }

    /// Returns whether a question of a link is over while the outcome of an answer to it is still to come.
    pub(super) fn awaits_outcome(&self, link: LinkId) -> bool {
        self.answers.under_way.values().any(|one| {
            let known = self.answers.questions.get(&one.outside);
            known.is_some_and(|known| {
                let asked = &known.question;
                asked.link == link && known.closed.is_none() && self.is_over(link, &asked.token)
            })
        })
    }

    /// Returns whether an answer to the question of a link under a token is on its way to the agent.
    pub(super) fn is_under_way(&self, link: LinkId, token: &ReplyToken) -> bool {
        self.answers.under_way.values().any(|one| {
            let known = self.answers.questions.get(&one.outside);
            known.is_some_and(|known| known.question.link == link && known.question.token == *token)
        })
    }

    /// Returns whether the question of a link under a token is over.
    fn is_over(&self, link: LinkId, token: &ReplyToken) -> bool {
        let asked = self.sessions.asked_under(link, token);
        asked.is_some_and(|question| !question.is_open())
    }

    fn reason(&self, fault: &Fault) -> RequestFault {
        RequestFault::Other(self.words.fault(fault))
    }

    /// Settles the answers of a link that is over: its dialect is not called again.
    pub(super) fn settle_over(&mut self, link: LinkId) {
        let known = &self.answers.questions;
        let over = self.answers.under_way.extract_if(.., |_, one| {
            let asked = known.get(&one.outside);
            asked.is_none_or(|known| known.question.link == link)
        });
        let over: Vec<ReplyUnderWay> = over.map(|(_, one)| one).collect();
        for one in over {
            self.outcome(
                one.given.number,
                RequestOutcome::Perhaps(RequestFault::Lost),
            );
            for other in one.waiting {
                self.outcome(other.number, RequestOutcome::NotTaken(RequestFault::Lost));
            }
        }
    }

    /// Gives up every answer under way, because the bridge ends.
    pub(super) fn give_up_requests(&mut self) {
        for (_, one) in std::mem::take(&mut self.answers.under_way) {
            self.outcome(
                one.given.number,
                RequestOutcome::Perhaps(RequestFault::Ending),
            );
            for other in one.waiting {
                self.outcome(other.number, RequestOutcome::NotTaken(RequestFault::Ending));
            }
        }
    }

    /// Reports to watchers what becomes of each open question when the bridge ends.
    pub(super) fn leave_questions(&mut self, now: Now) {
        let open = self.sessions.open_questions().map(|question| {
            let subject = question.body.subject().to_owned();
            (question.key.link, question.agent.to_string(), subject)
        });
        let open: Vec<(LinkId, String, String)> = open.collect();
        for (link, agent, subject) in open {
            let left = self
                .links
                .get(link.0)
                .map(|link| link.connection().when_left);
            let key = match left {
                Some(LeaveOutcome::Default) | None => "bridge.left.default",
                Some(LeaveOutcome::Cancelled) => "bridge.left.cancelled",
                Some(LeaveOutcome::Open) => "bridge.left.open",
                Some(LeaveOutcome::Kept) => "bridge.left.kept",
            };
            let phrase = Phrase::new(key)
                .with("agent", PhraseArg::Name(agent))
                .with("subject", PhraseArg::Agent(subject));
            self.notice(link, &phrase, now);
        }
    }
}
