//! What a message means in the current state of its session.
//!
//! Responsibilities: which trigger a message is, if any; whether a message contains what its step requires. Not here:
//! where a trigger leads (`session_rules`), the step itself (`session`).

use super::message::AspMessage;
use super::performatives::{Informs, Performative};
use super::session::{Commitment, Departure, MessageIntent, Negotiation, SessionMove, remember};
use super::states::{SessionOccurrence, State, Trigger};

/// The meaning of a message.
pub(super) struct MessageMeaning {
    pub(super) meaning: MessageIntent,
    pub(super) happens: Option<SessionOccurrence>,
    /// Whether several such messages together make one step.
    pub(super) is_part: bool,
}

impl Negotiation {
    /// Returns what a message means in the current state.
    pub(super) fn read(
        &mut self,
        message: &AspMessage,
        performative: Performative,
    ) -> Result<MessageMeaning, Departure> {
        let state = self.standing.state();
        let by = |trigger: Trigger| MessageMeaning {
            meaning: MessageIntent::Plain,
            happens: Some(SessionOccurrence::By(trigger)),
            is_part: false,
        };
        let plain = MessageMeaning {
            meaning: MessageIntent::Plain,
            happens: None,
            is_part: false,
        };
        let own_invitation = self.inviter.as_ref() == Some(&message.sender);
        let commitment = self
            .commitment
            .as_ref()
            .filter(|_| state == State::Agreeing);
        let own_commitment = commitment.is_some_and(|it| it.by == message.sender);
        Ok(match (state, performative) {
            (_, Performative::Close) => self.closes(message),
            (_, Performative::Withdraw) => by(Trigger::Withdrawal),
            (_, Performative::Escalate) => by(Trigger::Escalation),
            (State::Idle, Performative::Propose) if message.invites() => MessageMeaning {
                meaning: MessageIntent::Invites,
                ..by(Trigger::Invitation)
            },
            (State::Invited, Performative::Accept | Performative::Reject) if own_invitation => {
                return Err(Departure::AnswersItself);
            }
            (State::Invited, Performative::Reject) => by(Trigger::InvitationRejected),
            (State::Invited, Performative::Accept) => {
                self.accepted = true;
                self.introduction(MessageIntent::Plain)
            }
            (State::Invited, Performative::Inform) if message.informs == Informs::Identity => {
                remember(&mut self.introduced, &message.sender);
                self.introduction(MessageIntent::Introduces)
            }
            (
                State::Introduced,
                Performative::Propose
                | Performative::Query
                | Performative::Inform
                | Performative::Observe,
            ) => by(Trigger::Conversation),
            (State::Conversing, Performative::Commit) => by(Trigger::Commitment),
            (State::Agreeing, Performative::Accept | Performative::Reject) if own_commitment => {
                return Err(Departure::AnswersItself);
            }
            (State::Agreeing, Performative::Accept) => {
                let other = commitment.is_some_and(|it| !it.is_meant_by(&message.body.subject_ids));
                if other {
                    return Err(Departure::OtherCommitment);
                }
                MessageMeaning {
                    meaning: MessageIntent::Binds,
                    ..by(Trigger::CommitmentAccepted)
                }
            }
            (State::Agreeing, Performative::Reject) => by(Trigger::CommitmentRejected),
            (State::Agreeing, Performative::Counter) => by(Trigger::CommitmentCountered),
            (State::Executing, Performative::Inform)
                if message.informs == Informs::Error && message.body.is_final =>
            {
                by(Trigger::UnrecoverableError)
            }
            (State::Escalated, Performative::Inform) if message.informs == Informs::Resolution => {
                MessageMeaning {
                    meaning: MessageIntent::Plain,
                    happens: Some(SessionOccurrence::Back(self.before)),
                    is_part: false,
                }
            }
            // If the table allows these, nothing moves; if it does not, the table's verdict decides.
            (
                State::Idle
                | State::Invited
                | State::Introduced
                | State::Conversing
                | State::Agreeing
                | State::Executing
                | State::Escalated
                | State::Closed
                | State::Failed,
                Performative::Propose
                | Performative::Accept
                | Performative::Reject
                | Performative::Counter
                | Performative::Inform
                | Performative::Query
                | Performative::Clarify
                | Performative::Commit
                | Performative::Delegate
                | Performative::Observe,
            ) => plain,
        })
    }

    /// Returns the effect of an ACCEPT or an identity: the step once there are an ACCEPT and both identities.
    fn introduction(&self, meaning: MessageIntent) -> MessageMeaning {
        let whole = self.accepted && self.introduced.len() >= 2;
        MessageMeaning {
            meaning,
            happens: whole.then_some(SessionOccurrence::By(Trigger::Introduction)),
            is_part: true,
        }
    }

    fn closes(&self, message: &AspMessage) -> MessageMeaning {
        let state = self.standing.state();
        let alone = message
            .body
            .reason
            .as_deref()
            .is_some_and(|reason| reason.eq_ignore_ascii_case("unilateral"));
        let (meaning, trigger) = match state {
            State::Executing if self.result_told && !alone => {
                (MessageIntent::Plain, Trigger::Fulfilled)
            }
            State::Executing => (MessageIntent::PerhapsBreach, Trigger::Close),
            // The session was only paused: what was agreed still binds.
            State::Escalated if self.would_breach() => {
                (MessageIntent::PerhapsBreach, Trigger::Close)
            }
            State::Idle
            | State::Invited
            | State::Introduced
            | State::Conversing
            | State::Agreeing
            | State::Escalated
            | State::Closed
            | State::Failed => (MessageIntent::Plain, Trigger::Close),
        };
        MessageMeaning {
            meaning,
            happens: Some(SessionOccurrence::By(trigger)),
            is_part: false,
        }
    }
}

impl Commitment {
    /// Returns whether an answer with these ids refers to this commitment: it names no id, or one of the commitment's.
    fn is_meant_by(&self, ids: &[String]) -> bool {
        ids.is_empty() || self.ids.is_empty() || ids.iter().any(|id| self.ids.contains(id))
    }
}

/// Returns whether a message contains what the document requires for a step, as far as that can be seen.
pub(super) fn is_met(step: &SessionMove, message: &AspMessage) -> bool {
    let SessionOccurrence::By(trigger) = step.by else {
        return true;
    };
    let body = &message.body;
    let reason = body.reason.is_some();
    match trigger {
        Trigger::InvitationRejected
        | Trigger::CommitmentRejected
        | Trigger::Withdrawal
        | Trigger::Close
        | Trigger::Fulfilled => reason,
        Trigger::Escalation => reason && body.urgency.is_some(),
        Trigger::Commitment => !body.terms.is_empty(),
        Trigger::Invitation
        | Trigger::Introduction
        | Trigger::InvitationExpired
        | Trigger::Conversation
        | Trigger::CommitmentAccepted
        | Trigger::CommitmentCountered
        | Trigger::Resolution
        | Trigger::SessionExpired
        | Trigger::EscalationExpired
        | Trigger::ResponseExpired
        | Trigger::UnrecoverableError
        | Trigger::Violation => true,
    }
}
