//! Which phrase reports what, and the names and terms in it.
//!
//! Responsibilities: the phrase keys, one for each thing that a message can mean; shortening addresses and terms for
//! listening. Not here: the words themselves (the phrase files), which event carries them (`translator`).

use super::chain::ChainFault;
use super::message::AspMessage;
use super::performatives::{Informs, Performative};
use super::session::{Departure, MessageEffect, MessageIntent};
use super::session_rules::Timeout;
use super::states::{SessionOccurrence, State, Trigger};

/// Returns the phrase for a performative, unless a more specific one applies.
pub const fn plain(performative: Performative) -> &'static str {
    match performative {
        Performative::Propose => "asp.propose",
        Performative::Accept => "asp.accept",
        Performative::Reject => "asp.reject",
        Performative::Counter => "asp.counter",
        Performative::Inform => "asp.inform",
        Performative::Query => "asp.query",
        Performative::Clarify => "asp.clarify",
        Performative::Commit => "asp.commit",
        Performative::Delegate => "asp.delegate",
        Performative::Observe => "asp.observe",
        Performative::Withdraw => "asp.withdraw",
        Performative::Escalate => "asp.escalate",
        Performative::Close => "asp.close",
    }
}

/// Returns the phrase for a message and its effect.
pub fn key(message: &AspMessage, taken: &MessageEffect) -> &'static str {
    let Some(performative) = message.performative else {
        return "asp.unknown";
    };
    if taken.is_void() {
        return "asp.void";
    }
    let by = taken.step.map(|step| step.by);
    match (taken.meaning, by) {
        (MessageIntent::RefusesOrder, _) => "asp.refuses",
        (MessageIntent::Binds, _) => "asp.binds",
        (MessageIntent::PerhapsBreach, _) => "asp.breach",
        (MessageIntent::Invites, Some(_)) => "asp.invites",
        (_, Some(SessionOccurrence::By(Trigger::Introduction))) => "asp.introduced",
        (MessageIntent::Introduces, _) => "asp.introduces",
        (_, Some(SessionOccurrence::By(Trigger::InvitationRejected))) => "asp.declines",
        (_, Some(SessionOccurrence::By(Trigger::Fulfilled))) => "asp.fulfilled",
        (_, Some(SessionOccurrence::By(Trigger::UnrecoverableError))) => "asp.fails",
        (_, Some(SessionOccurrence::By(Trigger::CommitmentRejected))) => "asp.reject.commitment",
        (_, Some(SessionOccurrence::By(Trigger::CommitmentCountered))) => "asp.counter.commitment",
        (_, Some(SessionOccurrence::Back(_))) => "asp.resolves",
        (MessageIntent::Plain | MessageIntent::Invites | MessageIntent::ConfirmsClose, _) => {
            match message.informs {
                Informs::Progress => "asp.inform.progress",
                Informs::Result => "asp.inform.result",
                Informs::Error => "asp.inform.error",
                Informs::Identity | Informs::Resolution | Informs::Other => plain(performative),
            }
        }
    }
}

/// Returns the phrase for a timeout that expired by our own count.
pub const fn expired(timeout: Timeout) -> &'static str {
    match timeout {
        Timeout::Invitation => "asp.expired.invitation",
        Timeout::Response => "asp.expired.response",
        Timeout::Session => "asp.expired.session",
        Timeout::Escalation => "asp.expired.escalation",
    }
}

/// Returns the phrase for a state's name.
pub const fn state(state: State) -> &'static str {
    match state {
        State::Idle => "asp.state.idle",
        State::Invited => "asp.state.invited",
        State::Introduced => "asp.state.introduced",
        State::Conversing => "asp.state.conversing",
        State::Agreeing => "asp.state.agreeing",
        State::Executing => "asp.state.executing",
        State::Escalated => "asp.state.escalated",
        State::Closed => "asp.state.closed",
        State::Failed => "asp.state.failed",
    }
}

/// Returns the phrase for a departure, and its state if that matters.
pub const fn departure(departure: Departure) -> (&'static str, Option<State>) {
    match departure {
        Departure::Illegal(state) => ("asp.departure.illegal", Some(state)),
        Departure::TablesDisagree(state) => ("asp.departure.disagree", Some(state)),
        Departure::AfterEnd(state) => ("asp.departure.after_end", Some(state)),
        Departure::AnswersItself => ("asp.departure.itself", None),
        Departure::OtherCommitment => ("asp.departure.other", None),
        Departure::Unmet => ("asp.departure.unmet", None),
        Departure::UnknownPerformative => ("asp.departure.unknown", None),
        Departure::Chain(ChainFault::Link) => ("asp.departure.link", None),
        Departure::Chain(ChainFault::Gap) => ("asp.departure.gap", None),
        Departure::Chain(ChainFault::Back) => ("asp.departure.back", None),
        Departure::Chain(ChainFault::Reused) => ("asp.departure.reused", None),
        Departure::Expired(Timeout::Invitation) => ("asp.departure.expired.invitation", None),
        Departure::Expired(Timeout::Session) => ("asp.departure.expired.session", None),
        Departure::Expired(Timeout::Escalation) => ("asp.departure.expired.escalation", None),
        Departure::Expired(Timeout::Response) | Departure::ResponseLate => {
            ("asp.departure.late", None)
        }
        Departure::ToldOtherwise(state) => ("asp.departure.told", Some(state)),
    }
}

/// The phrases of all departures.
pub const DEPARTURES: [&str; 16] = [
    "asp.departure.illegal",
    "asp.departure.disagree",
    "asp.departure.after_end",
    "asp.departure.itself",
    "asp.departure.other",
    "asp.departure.unmet",
    "asp.departure.unknown",
    "asp.departure.link",
    "asp.departure.gap",
    "asp.departure.back",
    "asp.departure.reused",
    "asp.departure.expired.invitation",
    "asp.departure.expired.session",
    "asp.departure.expired.escalation",
    "asp.departure.late",
    "asp.departure.told",
];

/// Returns a sentence that explains a departure, by its phrase key; for the documentation and reports, which contain no
/// payload.
pub fn about(key: &str) -> Option<&'static str> {
    Some(match key {
        "asp.departure.illegal" => "the state allows no such performative; it moves nothing",
        "asp.departure.disagree" => {
            "the tables of the protocol disagree whether the state allows the performative; it counts"
        }
        "asp.departure.after_end" => "a message comes after the end of its session",
        "asp.departure.itself" => "a sender answers its own offer; it moves nothing",
        "asp.departure.other" => "a commitment other than the one that waits is accepted",
        "asp.departure.unmet" => "the step lacks the reason, urgency or terms that it needs",
        "asp.departure.unknown" => "the performative is none of the thirteen",
        "asp.departure.link" => {
            "a message does not name the hash of the one before it; only this linkage is looked at"
        }
        "asp.departure.gap" => "numbers of the sender are left out",
        "asp.departure.back" => "a number of the sender goes back",
        "asp.departure.reused" => "another message had the same id",
        "asp.departure.expired.invitation" => {
            "nobody answered an invitation in its time; the session has probably failed"
        }
        "asp.departure.expired.session" => {
            "a session lasts longer than its time; it has probably failed"
        }
        "asp.departure.expired.escalation" => {
            "nobody resolved an escalation in its time; the session has probably failed"
        }
        "asp.departure.late" => {
            "a response is late; the tables of the protocol disagree whether the session fails by that"
        }
        "asp.departure.told" => "the server names another state after the end",
        _ => return None,
    })
}

/// Shortens an agent's address for listening: its host, and the last part of its path.
pub fn name(address: &str) -> String {
    let bare = address.strip_prefix("agent://").unwrap_or(address);
    let mut parts = bare.split('/').filter(|part| !part.is_empty());
    let host = parts.next().unwrap_or(address);
    match parts.next_back() {
        Some(last) => format!("{host} {last}"),
        None => host.to_owned(),
    }
}

/// Joins the terms into one text.
pub fn terms(message: &AspMessage) -> String {
    let mut told: Vec<String> = message
        .body
        .terms
        .iter()
        .map(|(name, value)| format!("{name} {value}").trim().to_owned())
        .collect();
    if message.body.more_terms > 0 {
        told.push(format!("+{}", message.body.more_terms));
    }
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_heard_by_its_host_and_what_it_is_there() {
        for (address, heard) in [
            (
                "agent://acme.com/services/procurement",
                "acme.com procurement",
            ),
            ("agent://acme.com", "acme.com"),
            ("buyer", "buyer"),
            ("agent://", "agent://"),
            ("agent://a.example/b/", "a.example b"),
        ] {
            assert_eq!(name(address), heard);
        }
    }
}
