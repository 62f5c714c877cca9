//! What one part has found out and another has to act on.
//!
//! Responsibilities: the kinds of facts that [`super::App`] passes from part to part. Not here: facts from the outside
//! world (`input`).

use crate::dialect::{DialectOutput, NoEvent, PersonRequest};
use crate::keys::Command;
use crate::link::{DeliveryFailure, Fault, LinkEvent, LinkId, Receipt, ServerRoute};
use crate::protocol::{AgentId, Decoded, Reply};
use crate::session::{AnswerReach, Change, QuestionId};

use super::{AnswerOrigin, Conversation, Exit};

/// Facts in the order in which they are to be handled.
pub(super) type AppFacts = Vec<AppFact>;

/// A fact that a part returns for other parts, which handle it before anything else.
#[derive(Debug)]
pub(super) enum AppFact {
    /// The person gave a command by a key; `None` for an unbound key.
    Command(Option<Command>, AnswerOrigin),
    /// A scanning key changed what is being typed.
    Typed,
    /// An item that answers a question was selected by a scanning key, and its command has run.
    ItemChosen,
    /// The person wants speech to stop.
    StopSpeech,
    /// The person wants details: of this question, whose next part was read, or, if none is open, of the last
    /// announcement.
    Detailed(Option<QuestionId>),
    /// The person went to a conversation.
    Joined(Conversation),
    /// Selected agents of a source are followed in full, or all (`None`).
    Selected(LinkId, Option<Vec<AgentId>>),
    /// The person wants something from a source; whatever its dialect announces answers the person's key or
    /// line.
    Request(LinkId, PersonRequest),
    /// The person prompted an agent: the wish, the text, and the agent's name where there are several.
    Prompted(LinkId, PersonRequest, String, Option<String>),
    /// A stop was sent to a conversation, by the number that the person used, if any.
    StopSent(Conversation, Option<usize>),
    /// An answer is to be sent under a number.
    Answered(LinkId, u64, Reply),
    /// An answer to a question was sent from the editor.
    Submitted(QuestionId),
    /// Sessions have changed.
    Changed(Vec<Change>),
    /// An event, with this number on its link, has changed sessions.
    Applied(LinkId, Vec<Change>, u64),
    /// A link is to release what it still holds back, because nothing more will come.
    Release(LinkId),
    /// The outputs of a link's dialect are to be carried out.
    CarryOut(LinkId, Vec<DialectOutput>),
    /// This many frames mean nothing in the dialect of a link.
    Unread(LinkId, NoEvent, u64),
    /// The next step of a frame with many texts is to be read.
    ReadOn,
    /// Such a frame is to be read to its end, because the next input must not overtake it.
    ReadOut,
    /// What comes next on a link, once everything before it is handled.
    Link(LinkId, LinkStep),
    /// Something new came from an agent.
    Heard(LinkId, AgentId),
    /// A source said something as a whole.
    SourceActive(LinkId),
    /// The transport has reported all that it knows of a request, while its dialect has yet to report the outcome.
    RequestWritten(u64),
    /// The outcome of an attempt to send an answer.
    Settled(u64, Result<Receipt, DeliveryFailure>),
    /// The loss of the connection of these questions was announced.
    LossAnnounced(Vec<QuestionId>),
    /// An answer without a number may now be meant for a different question than a moment ago.
    QuestionsChanged,
    /// A source ended before the work of its agents.
    SourceFailed,
    /// The run is to end.
    Quit(Exit),
}

/// What comes next on a link.
#[derive(Debug)]
pub(super) enum LinkStep {
    /// Handling the news itself, after its dialect has.
    After(LinkEvent),
    /// An output that resulted from one of a frame's several texts.
    Within(DialectOutput),
    /// An event.
    Event(Box<Decoded>, Answerability),
    /// A text that is not an event.
    Judge(NoEvent),
    /// Leaving a source that sends nothing in AAEP.
    ForeignLeft,
    /// Following its source in another way.
    ChangeWay(ServerRoute),
    /// Its final failure.
    Fail(Fault),
    /// Its regular end.
    End,
    /// Closing it for good.
    Close,
    /// A server that resumed where it had broken off now counts as the one that asked.
    Resumed(AnswerReach),
    /// Leaving it at the person's request.
    Left,
}

/// Whether the question of an event can be answered from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answerability {
    /// As far as its link can carry an answer.
    ToBeAnswered,
    /// Not at all: it is only to be seen.
    ToBeSeen,
}
