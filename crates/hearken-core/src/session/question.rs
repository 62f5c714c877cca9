//! One question of one agent, from its asking to its closing (chapter 6).

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::protocol::{
    Answer, Attachments, Decision, Now, RejectOnly, RiskLevel, TextDirection, ToolCallId,
    UndoStatement, is_direction_sign,
};

use super::key::{QuestionId, SessionKey};
use super::machines::{QuestionRun, ToolEvent};
use super::question_body::{QuestionBody, is_silent};
use super::token_memory::{Digest, TokenUse, digest_of_text};
use super::waiting_lists::UnraisedReason;

/// What a question's call states about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolWord {
    /// Whether it can't be undone.
    pub irreversible: bool,
    /// How much could go wrong.
    pub risk: Option<RiskLevel>,
    /// The digest of its arguments.
    pub(super) args: Option<Digest>,
}

/// Returns the rank of a risk; an unstated risk has the lowest.
fn grade(risk: Option<&RiskLevel>) -> u8 {
    match risk {
        None | Some(RiskLevel::Other(_)) => 0,
        Some(RiskLevel::Low) => 1,
        Some(RiskLevel::Medium) => 2,
        Some(RiskLevel::High) => 3,
    }
}

/// The answer that the person gave.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenAnswer {
    /// The answer.
    pub answer: Answer,
    /// When the person decided; kept over retries.
    pub decided: Timestamp,
    /// The number of this attempt, or of attempts so far, from 1.
    pub attempt: u32,
    /// Another answer that was sent before it and may have arrived.
    pub earlier: Option<Answer>,
}

/// The progress of the person's answer.
///
/// Once a byte of an answer has left, it may have arrived until something shows whether it did; each state below is
/// clear about that.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyState {
    /// It has not been answered here.
    Unanswered,
    /// The answer is on its way.
    Sending(GivenAnswer),
    /// The answer has not left, or was not accepted, and is retried: it can be withdrawn.
    Retrying(GivenAnswer),
    /// It is on its way again, and may have arrived before.
    SendingAgain(GivenAnswer),
    /// It may have arrived, and is retried.
    RetryingAgain(GivenAnswer),
    /// It may have arrived, and is not retried automatically; the question can be answered.
    Perhaps(GivenAnswer),
    /// It was written to a connection without acknowledgements.
    Written(GivenAnswer),
    /// The server accepted the message; that alone proves nothing.
    Sent(GivenAnswer),
    /// Its time ran out by our own count; the question stays answerable.
    TimedOut,
    /// The agent's events closed the question while the answer was on its way.
    Settling(GivenAnswer, CloseReason),
    /// The agent's events show that it was decided by our answer.
    Resolved(GivenAnswer, CloseReason),
    /// It is over; it is unknown whether our answer decided it.
    PerhapsResolved(GivenAnswer, CloseReason),
    /// It is over without an answer of ours.
    Withdrawn(CloseReason),
}

/// The reason why a question closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseReason {
    /// The agent left `awaiting_input` (A.4).
    StateLeft {
        /// The state that it entered; the agent's words about it are announced with the state itself.
        to: String,
    },
    /// The linked tool continued.
    ToolWentOn {
        /// What happened to it.
        event: ToolEvent,
    },
    /// The session ended.
    SessionEnded,
    /// The same question was asked again under a new token.
    AskedAgain,
    /// The question has changed, and another one replaces it.
    Changed,
    /// It was already decided before we connected; it was never raised.
    DecidedBefore,
    /// The producer ended the subscription in which it was asked (5.8.2).
    Unsubscribed,
    /// The person stopped the agent's work, and that cancelled it.
    Stopped,
    /// The agent withdrew it.
    TakenBack,
    /// Somebody else answered it, as its source reports.
    AnsweredBy {
        /// The person's name, if it is known.
        person: Option<Arc<str>>,
        /// The decision; `None` for an answer that is not a decision.
        decision: Option<Decision>,
    },
    /// The link is gone and its time is up.
    LinkGone,
    /// Its bridge was started again and no longer knows it.
    Forgotten,
    /// The link is back, the question was not heard there again, and its time is up.
    Unheard,
}

impl CloseReason {
    /// Returns the end of a question that somebody else answered.
    pub fn answered_by(person: Option<&str>, answer: &Answer) -> Self {
        Self::AnsweredBy {
            person: person.map(Arc::from),
            decision: match answer {
                Answer::Decision { decision, .. } => Some(decision.clone()),
                Answer::Response(_) => None,
            },
        }
    }

    /// Returns the decision that the agent's next step implies, for a confirmation that was not answered here:
    /// an agent that proceeds to the tool was allowed to, and a call that was waiting and then fails was not.
    /// Going back to thinking implies nothing, because both answers may lead there (A.4).
    pub fn implied(&self) -> Option<Decision> {
        match self {
            Self::StateLeft { to } if to == "calling_tool" => Some(Decision::Accept),
            Self::ToolWentOn {
                event: ToolEvent::Invoked | ToolEvent::Succeeded,
            } => Some(Decision::Accept),
            Self::ToolWentOn {
                event: ToolEvent::Failed,
            } => Some(Decision::Reject),
            Self::AnsweredBy { decision, .. } => decision.clone(),
            Self::StateLeft { .. }
            | Self::ToolWentOn {
                event: ToolEvent::TimedOut | ToolEvent::SessionEnded,
            }
            | Self::SessionEnded
            | Self::AskedAgain
            | Self::Changed
            | Self::DecidedBefore
            | Self::Unsubscribed
            | Self::Stopped
            | Self::TakenBack
            | Self::LinkGone
            | Self::Forgotten
            | Self::Unheard => None,
        }
    }
}

/// Whether an answer can reach the asker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerReach {
    /// The link on which it was asked is up.
    Live,
    /// The link was lost since; the question may be decided. It is live again once its session is active.
    LinkLost,
    /// The link was lost and is back, and its server continued after the last event that we had, without news
    /// since: if the server can be trusted, nothing has happened, and an answer may reach the asker.
    Resumed,
    /// The source is a recording or accepts no answers.
    NotAnswerable,
}

impl AnswerReach {
    /// Returns whether an answer can be sent to the asker.
    pub fn reaches(self) -> bool {
        match self {
            Self::Live | Self::Resumed => true,
            Self::LinkLost | Self::NotAnswerable => false,
        }
    }
}

/// The warnings given as time runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Warning {
    /// None yet.
    None,
    /// At half of the time.
    Half,
    /// Shortly before the end.
    Last,
}

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its number in this run.
    pub id: QuestionId,
    /// The session that asks.
    pub key: SessionKey,
    /// The agent's display name.
    pub agent: Arc<str>,
    /// What is asked.
    pub body: QuestionBody,
    /// Extra data that is read on demand.
    pub attached: Arc<Attachments>,
    /// The language of the question.
    pub language: Option<Arc<str>>,
    /// The direction of its texts, as the agent states it.
    pub direction: Option<TextDirection>,
    /// When it arrived.
    pub opened: Now,
    /// When it was raised, on the monotonic clock: later than its arrival if it was held back.
    pub raised: Duration,
    /// Who else used its token; if anybody did, nothing about the question is routine.
    pub token_use: TokenUse,
    /// When the producer asked, by its own account.
    pub asked_at: Option<Timestamp>,
    /// The progress of the answer.
    pub reply: ReplyState,
    /// Whether an answer can reach the asker.
    pub reach: AnswerReach,
    /// Whether unstated properties require no second step.
    pub(super) eased: bool,
    /// Whether it was reported that its call does something else.
    pub(super) ran_otherwise: bool,
    /// Whether silence rejected it: it closed after its time without an answer.
    pub lapsed: bool,
    /// Whether its time was over when the agent's events closed it.
    pub overdue: bool,
    /// Whether, since it was decided, a call has succeeded or its turn has ended.
    pub(super) was_followed: bool,
    /// Whether another open question has the same token, so that an answer may count for that one.
    pub shares_token: bool,
    /// The question that this one replaces because it has changed.
    pub replaces: Option<QuestionId>,
    /// The tool that it guards, if known.
    pub tool: Option<String>,
    /// What that tool stated about itself, if it was called before the question.
    pub tool_word: Option<ToolWord>,
    pub(super) call_id: Option<ToolCallId>,
    pub(super) warned: Warning,
    /// Why it has not been raised yet.
    pub(super) unraised_reason: Option<UnraisedReason>,
    pub(super) perhaps_told: bool,
    /// Whether the agent's words after it have been introduced.
    pub(super) introduced: bool,
    /// Whether it arrived as old news; its time then counts from when it was asked.
    pub(super) replayed: bool,
    /// The epoch of its session in which it was asked.
    pub(super) epoch: u32,
    /// The number of calls of its session when it was asked.
    pub(super) invocations: u64,
    /// Whether a tool was running when it was asked: it may be about that one.
    pub(super) beside_a_tool: bool,
    /// The number of events of its session when the answer was sent.
    pub(super) events_at_answer: Option<u64>,
}

impl ReplyState {
    /// Returns the state in the machine of A.4.
    pub fn run(&self) -> QuestionRun {
        match self {
            Self::Unanswered => QuestionRun::Unanswered,
            Self::Sending(_) => QuestionRun::Sending,
            Self::Retrying(_) => QuestionRun::Retrying,
            Self::SendingAgain(_) => QuestionRun::SendingAgain,
            Self::RetryingAgain(_) => QuestionRun::RetryingAgain,
            Self::Perhaps(_) => QuestionRun::Perhaps,
            Self::Written(_) => QuestionRun::Written,
            Self::Sent(_) => QuestionRun::Sent,
            Self::TimedOut => QuestionRun::TimedOut,
            Self::Settling(..) => QuestionRun::Settling,
            Self::Resolved(..) => QuestionRun::Resolved,
            Self::PerhapsResolved(..) => QuestionRun::PerhapsResolved,
            Self::Withdrawn(_) => QuestionRun::Withdrawn,
        }
    }

    /// Returns the answer that was given here, unless it certainly never arrived at a question that is over.
    pub fn given(&self) -> Option<&GivenAnswer> {
        match self {
            Self::Sending(given)
            | Self::Retrying(given)
            | Self::SendingAgain(given)
            | Self::RetryingAgain(given)
            | Self::Perhaps(given)
            | Self::Written(given)
            | Self::Sent(given)
            | Self::Settling(given, _)
            | Self::Resolved(given, _)
            | Self::PerhapsResolved(given, _) => Some(given),
            Self::Unanswered | Self::TimedOut | Self::Withdrawn(_) => None,
        }
    }

    /// Returns what closed the question.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match self {
            Self::Settling(_, how)
            | Self::Resolved(_, how)
            | Self::PerhapsResolved(_, how)
            | Self::Withdrawn(how) => Some(how),
            Self::Unanswered
            | Self::Sending(_)
            | Self::Retrying(_)
            | Self::SendingAgain(_)
            | Self::RetryingAgain(_)
            | Self::Perhaps(_)
            | Self::Written(_)
            | Self::Sent(_)
            | Self::TimedOut => None,
        }
    }

    /// Returns an answer that may have arrived although the question can be answered again.
    pub fn perhaps(&self) -> Option<&GivenAnswer> {
        match self {
            Self::Perhaps(given) => Some(given),
            Self::Unanswered
            | Self::Sending(_)
            | Self::Retrying(_)
            | Self::SendingAgain(_)
            | Self::RetryingAgain(_)
            | Self::Written(_)
            | Self::Sent(_)
            | Self::TimedOut
            | Self::Settling(..)
            | Self::Resolved(..)
            | Self::PerhapsResolved(..)
            | Self::Withdrawn(_) => None,
        }
    }
}

impl Question {
    /// Returns whether the question is still open: it may be answered, or its fate is unknown.
    pub fn is_open(&self) -> bool {
        self.reply.close_reason().is_none()
    }

    /// Returns whether an answer is wanted and can be given.
    pub fn is_answerable(&self) -> bool {
        self.reach.reaches()
            && self.body.token().is_some()
            && !matches!(self.token_use, TokenUse::Shared { .. })
            && matches!(
                self.reply,
                ReplyState::Unanswered | ReplyState::TimedOut | ReplyState::Perhaps(_)
            )
    }

    /// Returns the answer that was given here, whatever its state.
    pub fn answer(&self) -> Option<&Answer> {
        self.reply.given().map(|given| &given.answer)
    }

    /// Returns whether the person allowed it here, once or for longer.
    pub fn was_accepted(&self) -> bool {
        match self.answer() {
            Some(Answer::Decision { decision, .. }) => *decision != Decision::Reject,
            Some(Answer::Response(_)) | None => false,
        }
    }

    /// Returns whether the person rejected it here.
    pub fn was_rejected(&self) -> bool {
        matches!(
            self.answer(),
            Some(Answer::Decision {
                decision: Decision::Reject,
                ..
            })
        )
    }

    /// Returns the risk that the question states, or its tool's if that is worse.
    pub fn risk(&self) -> Option<&RiskLevel> {
        let stated = match &self.body {
            QuestionBody::Confirmation(asked) => asked.risk_level.as_ref(),
            QuestionBody::Clarification(_) => None,
        };
        self.tool_risk().or(stated)
    }

    /// Returns the risk that its tool states, if it is worse than the question's.
    pub fn tool_risk(&self) -> Option<&RiskLevel> {
        let QuestionBody::Confirmation(asked) = &self.body else {
            return None;
        };
        let said = self.tool_word.as_ref()?.risk.as_ref();
        let worse =
            grade(said) > grade(asked.risk_level.as_ref()).max(grade(Some(&RiskLevel::Low)));
        said.filter(|_| worse)
    }

    /// Returns whether the question or its tool says that it can't be undone.
    pub fn is_irreversible(&self) -> bool {
        match &self.body {
            QuestionBody::Confirmation(asked) => {
                asked.is_irreversible() || self.tool_word.as_ref().is_some_and(|it| it.irreversible)
            }
            QuestionBody::Clarification(_) => false,
        }
    }

    /// Returns whether the end of its time allows the action, or the question is not about an action.
    pub(super) fn accepts_when_silent(&self) -> bool {
        match &self.body {
            QuestionBody::Confirmation(asked) => asked.default_decision == Some(Decision::Accept),
            QuestionBody::Clarification(_) => true,
        }
    }

    /// Returns whether silence would accept something irreversible of medium or high risk (6.4.1).
    pub fn accepts_by_silence(&self) -> bool {
        match &self.body {
            QuestionBody::Confirmation(asked) => {
                asked.default_decision == Some(Decision::Accept)
                    && self.is_irreversible()
                    && matches!(self.risk(), Some(RiskLevel::High | RiskLevel::Medium))
            }
            QuestionBody::Clarification(_) => false,
        }
    }

    /// Returns whether accepting needs a second step: high or unknown risk, irreversible by either field or not stated
    /// to be reversible, each according to the question or its tool, an action that is not named, a token that was used
    /// before, a default that turns silence into consent, or a question that may be decided or is too long to be said
    /// in one go. A missing risk or reversibility is never taken for harmless.
    pub fn wants_second_step(&self) -> bool {
        let by_silence = match &self.body {
            QuestionBody::Confirmation(asked) => asked.default_decision == Some(Decision::Accept),
            QuestionBody::Clarification(_) => false,
        };
        by_silence || self.is_unusual()
    }

    /// Returns whether it says which call or tool it is about.
    pub(super) fn names_a_call(&self) -> bool {
        match &self.body {
            QuestionBody::Confirmation(asked) => {
                asked.tool.is_some() || asked.tool_call_id.is_some()
            }
            QuestionBody::Clarification(_) => false,
        }
    }

    /// Returns whether accepting takes two steps for any reason other than the effect of silence.
    pub fn is_unusual(&self) -> bool {
        match &self.body {
            QuestionBody::Confirmation(asked) => {
                let low = self.risk() == Some(&RiskLevel::Low);
                let mild = low || self.risk() == Some(&RiskLevel::Medium);
                let said_reversible = match asked.undoing() {
                    UndoStatement::Reversible | UndoStatement::WithEffort => true,
                    UndoStatement::Irreversible | UndoStatement::Unknown => false,
                };
                self.is_irreversible()
                    || self.token_use != TokenUse::Own
                    || self.shares_token
                    || self.replaces.is_some()
                    || !asked.names_action
                    || self.reach == AnswerReach::Resumed
                    || !(self.may_be_unstated() || (mild && said_reversible))
                    || self.is_cut()
                    || self.turns_its_direction()
            }
            QuestionBody::Clarification(_) => {
                self.token_use != TokenUse::Own
                    || self.shares_token
                    || self.body.twin_choices().is_some()
            }
        }
    }

    /// Returns whether a question's texts contain direction marks: even balanced ones can reorder the parts of a
    /// command on a screen.
    pub fn turns_its_direction(&self) -> bool {
        let turns = |text: &str| text.contains(is_direction_sign);
        match &self.body {
            QuestionBody::Confirmation(asked) => {
                turns(&asked.action) || asked.consequence.as_deref().is_some_and(turns)
            }
            QuestionBody::Clarification(asked) => {
                turns(&asked.question) || asked.choices.iter().any(|choice| turns(&choice.label))
            }
        }
    }

    /// Returns whether a call under its id differs from the one it asked for, in the tool's name or the arguments.
    pub(super) fn is_for_another(&self, tool: &str, args: Option<&str>) -> bool {
        let QuestionBody::Confirmation(asked) = &self.body else {
            return false;
        };
        let other_tool = asked.tool.as_deref().is_some_and(|asked| asked != tool);
        let known = self.asked_args();
        let other_args = match (known, args) {
            (Some(known), Some(args)) => known != digest_of_text(args),
            (Some(_) | None, Some(_) | None) => false,
        };
        other_tool || other_args
    }

    /// Returns the tool that it is about, if that is known.
    pub(super) fn asked_tool(&self) -> Option<&str> {
        let stated = match &self.body {
            QuestionBody::Confirmation(asked) => asked.tool.as_deref(),
            QuestionBody::Clarification(_) => None,
        };
        self.tool.as_deref().or(stated)
    }

    /// Returns the id of the call that it is about, if that is known.
    pub(super) fn asked_id(&self) -> Option<&ToolCallId> {
        let stated = match &self.body {
            QuestionBody::Confirmation(asked) => asked.tool_call_id.as_ref(),
            QuestionBody::Clarification(_) => None,
        };
        self.call_id.as_ref().or(stated)
    }

    /// Returns the digest of the arguments that it is about, if they are known.
    pub(super) fn asked_args(&self) -> Option<Digest> {
        let QuestionBody::Confirmation(asked) = &self.body else {
            return None;
        };
        let mut extra = asked.extra_context.iter();
        let said = extra.find(|(name, _)| name == "args_summary");
        let said = said.map(|(_, said)| digest_of_text(said));
        said.or(self.tool_word.as_ref().and_then(|word| word.args))
    }

    /// Returns the exact command that it asks for, if it asks for one.
    pub fn command(&self) -> Option<&str> {
        let QuestionBody::Confirmation(asked) = &self.body else {
            return None;
        };
        let action = asked.action.trim();
        let deed = self.attached.action_details.as_ref()?;
        let is_it = deed.commands.iter().any(|command| command.trim() == action);
        is_it.then_some(asked.action.as_str())
    }

    /// Returns why it can only be rejected, or `None` if it can also be accepted: nothing describes what would
    /// be done, or an answer could be mistaken.
    pub fn reject_only(&self) -> Option<RejectOnly> {
        let QuestionBody::Confirmation(asked) = &self.body else {
            return None;
        };
        match &self.attached.action_details {
            Some(deed) => deed.reject_only,
            None => is_silent(asked).then_some(RejectOnly::Silent),
        }
    }

    /// Returns whether the question is too long to be spoken in one go: then a part is spoken, with a note, and
    /// the details contain the rest.
    pub fn is_cut(&self) -> bool {
        let long = |text: &str| text.chars().nth(Self::LONGEST_PART).is_some();
        let has_long = |text: &Option<String>| text.as_deref().is_some_and(long);
        match &self.body {
            QuestionBody::Confirmation(asked) => {
                long(&asked.action) || has_long(&asked.consequence)
            }
            QuestionBody::Clarification(asked) => {
                let labels = asked.choices.iter().map(|it| it.label.chars().count());
                long(&asked.question)
                    || has_long(&asked.context)
                    || has_long(&asked.default_response)
                    || labels.sum::<usize>() > Self::LONGEST_PART
            }
        }
    }

    /// The maximum number of characters of an action, a consequence or a question that are spoken in one go:
    /// about a minute of speech, more than anyone can keep in mind.
    pub const LONGEST_PART: usize = 1000;
}
