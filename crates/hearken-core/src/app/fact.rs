//! What a part has found out, and another one has to act on.
//!
//! Responsibilities: the kinds of facts that [`super::App`] passes from part to part. Not here: facts from the outside
//! world (`input`).

use crate::dialect::Wish;
use crate::keys::Command;
use crate::link::LinkId;
use crate::protocol::Reply;
use crate::session::{Change, QuestionId};

use super::by::By;
use super::conversations::Conversation;

/// What a part returns for other parts, which handle it before anything else.
#[derive(Debug)]
pub(super) enum AppFact {
    /// The person gave a command by a key; `None` for an unbound key.
    Command(Option<Command>, By),
    /// A scanning key changed what is being typed.
    Typed,
    /// The person wants speech to stop.
    StopSpeech,
    /// The person went to a conversation.
    Joined(Conversation),
    /// The person wants something of a source; whatever its dialect announces answers the person's key or line.
    Wanted(LinkId, Wish),
    /// A stop was sent to a conversation, by the number that the person used, if any.
    StopSent(Conversation, Option<usize>),
    /// An answer is to be sent under a number.
    Answered(LinkId, u64, Reply),
    /// An answer to a question was sent from the editor.
    Submitted(QuestionId),
    /// Sessions have changed.
    Changed(Vec<Change>),
}
