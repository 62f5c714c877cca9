//! One announcement, ready for every face and for the voice.

use std::sync::Arc;

use serde::Serialize;

use crate::config::CueConfig;
use crate::protocol::{Attachments, Now, OutputId, TextDirection, ToolCallId};
use crate::session::{QuestionId, SessionKey};

use crate::announce::text::wrap::beginning;
use crate::announce::words::segment::{Mark, Segment, join, join_shown, join_spoken};
use crate::announce::words::spoken_language::SpokenLanguage;

/// The maximum length of a repeated text as laid out, in characters: more than a large screen holds. Its parts
/// contain all of it.
const LONGEST_REPEATED: usize = 12_000;

/// How urgent an announcement is; the variants are in the order in which queued speech is spoken.
///
/// The classes are P0 to P4 of the project's announcing rules (`docs/speech.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// P0: questions and their warnings, dangers, failed sessions, handoffs, anything critical.
    Alert,
    /// P1: the answer to a key press.
    Response,
    /// P2: starts and ends, tool results, resolved questions, links lost and restored.
    Outcome,
    /// P3: a tool's start, a state change.
    Activity,
    /// P4: streamed text and progress.
    Stream,
}

impl Class {
    /// All classes, most urgent first.
    pub const ALL: [Class; 5] = [
        Class::Alert,
        Class::Response,
        Class::Outcome,
        Class::Activity,
        Class::Stream,
    ];
}

/// What an announcement is about; the serialized names are part of the JSON face's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnouncementKind {
    /// A session began or was joined.
    SessionStarted,
    /// A session completed successfully.
    SessionCompleted,
    /// A session ended with an error.
    SessionErrored,
    /// A session was cancelled.
    SessionCancelled,
    /// An agent entered another state.
    State,
    /// A report of progress.
    Progress,
    /// A tool is about to be called.
    ToolInvoked,
    /// A tool returned.
    ToolCompleted,
    /// A piece of streamed text.
    Output,
    /// What the person told an agent to do.
    Prompt,
    /// A question that asks for consent, and news of it.
    Confirmation,
    /// A question that asks for information, and news of it.
    Clarification,
    /// A request for someone else to take over.
    Handoff,
    /// An event of an unknown type.
    Unknown,
    /// News of a link or of a voice.
    Connection,
    /// The answer to the person's key press or line.
    Reply,
    /// A danger that an agent reports.
    Danger,
    /// A violation of the protocol.
    Anomaly,
    /// Something the program says about itself.
    Hint,
    /// A sign that an agent works but reports nothing: played as a tick or spoken as a word.
    Heartbeat,
}

/// Whether an announcement is spoken, shown and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presentation {
    /// Spoken, in its class.
    Spoken,
    /// Shown in every face and kept, but not spoken: old news, or a harmless violation of the protocol.
    Shown,
    /// Kept, and shown where the person browses (the pane, JSON), but left out of speech and lines, which run in order
    /// of time: the person is in quiet mode, muted this agent, or wants to hear less.
    Seen,
    /// Kept, and reported to programs (JSON); people get the same fact in other words.
    Echo,
    /// Kept in the history only.
    Kept,
    /// Spoken, but neither shown nor kept: by the time anyone looked back, it would mean nothing.
    Heard,
}

/// The question that an announcement is about, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionRelation {
    /// Asks the question: the announcement contains the action, and hearing it arms the keys.
    Asks(QuestionId),
    /// Only concerns the question.
    Concerns(QuestionId),
}

impl QuestionRelation {
    /// Returns the question.
    pub fn question(self) -> QuestionId {
        match self {
            Self::Asks(id) | Self::Concerns(id) => id,
        }
    }
}

/// Whether an outcome is a failure; waiting failures are spoken before waiting successes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Weight {
    /// Not a failure.
    #[default]
    Plain,
    /// Something was stopped by the person.
    Stopped,
    /// Something did not work.
    Failure,
}

/// A short sound of the program's own, which no agent can produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// A question waits for an answer.
    Question,
    /// Something failed.
    Error,
    /// A session completed successfully.
    Done,
    /// An agent's text begins.
    Answer,
    /// A tool is called.
    Call,
    /// An agent works silently.
    Tick,
    /// A source was lost.
    Lost,
    /// A source was restored.
    Back,
}

impl Cue {
    /// Returns whether the settings enable this cue.
    pub fn is_on(self, cues: &CueConfig) -> bool {
        match self {
            Self::Question => cues.question,
            Self::Error => cues.error,
            Self::Done => cues.done,
            Self::Answer => cues.answer,
            Self::Call => cues.call,
            Self::Tick => cues.tick,
            Self::Lost => cues.lost,
            Self::Back => cues.back,
        }
    }

    /// All cues.
    pub const ALL: [Self; 8] = [
        Self::Question,
        Self::Error,
        Self::Done,
        Self::Answer,
        Self::Call,
        Self::Tick,
        Self::Lost,
        Self::Back,
    ];
}

/// What an event reports in addition to its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFacts {
    /// The facts, one sentence each.
    pub words: Vec<Segment>,
    /// Facts that are given only when the person asks, whatever the verbosity: lists, and ids for other programs.
    pub more: Vec<Segment>,
    /// The address among the facts, cleaned.
    pub address: Option<String>,
    /// The attached material that is read on demand, if any.
    pub(super) attached: Option<Arc<Attachments>>,
    /// A piece of an agent's text as written, if its line breaks and leading white space are significant; it is
    /// then read and copied line by line.
    pub written: Option<String>,
}

impl EventFacts {
    /// The empty facts, which most announcements share.
    const NONE: Self = Self {
        words: Vec::new(),
        more: Vec::new(),
        address: None,
        attached: None,
        written: None,
    };

    /// Returns the attached material that is read on demand.
    pub fn attached(&self) -> &Attachments {
        self.attached
            .as_deref()
            .unwrap_or_else(|| Attachments::nothing())
    }

    /// Returns whether these facts consist of words and an address only, so that several announcements can share them.
    pub(super) fn are_usual(&self) -> bool {
        self.written.is_none() && self.attached.is_none()
    }

    /// Returns whether there are no facts.
    pub(super) fn are_none(&self) -> bool {
        self.are_usual() && self.words.is_empty() && self.more.is_empty() && self.address.is_none()
    }

    /// Estimates the memory use, in bytes.
    pub(super) fn size(&self) -> usize {
        let words = self.words.iter().chain(&self.more);
        let words = words.map(Segment::size).sum::<usize>();
        let written = self.written.as_ref().map_or(0, String::len);
        let attached = self.attached.as_ref().map_or(0, |it| it.weight());
        words + self.address.as_ref().map_or(0, String::len) + attached + written
    }
}

/// Whose words an answer to the person quotes. Lines set these apart from hearken's own under a separate label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The display name of the agent.
    pub agent: Arc<str>,
    /// What the words are.
    pub kind: QuoteKind,
}

/// What the quoted words are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteKind {
    /// What the agent says.
    Text,
    /// What the agent got from elsewhere, such as the output of a call, or what it plans to do.
    Matter,
    /// What the agent runs.
    Call,
}

/// The part of an agent's text that begins with this piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Opening {
    /// Nothing: the paragraph continues.
    #[default]
    Nothing,
    /// A paragraph, a heading, an item or a block.
    Paragraph,
    /// The output itself.
    Output,
}

/// The key by which an announcement is merged with others of its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Topic {
    /// The agent's state.
    State,
    /// The agent's progress.
    Progress,
    /// One tool call, by its id.
    Call(ToolCallId),
    /// All calls of one tool that have no ids, by the tool's name.
    Tool(Arc<str>),
    /// An output, whose id may be missing.
    Output(Option<OutputId>),
}

impl Topic {
    /// Returns the topic of a tool call.
    pub(super) fn call(tool: &str, id: Option<&ToolCallId>) -> Self {
        id.map_or_else(|| Self::Tool(tool.into()), |id| Self::Call(id.clone()))
    }
}

/// The tool that an announcement is about, as its agent names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The tool's name.
    pub name: String,
    /// How the call ended, in the protocol's word; `None` while it runs, or if the agent does not report it.
    pub status: Option<String>,
}

impl Tool {
    /// Estimates the memory use, in bytes.
    fn size(&self) -> usize {
        std::mem::size_of::<Self>() + self.name.len() + self.status.as_ref().map_or(0, String::len)
    }
}

/// The number of an announcement within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct AnnouncementId(pub u64);

/// One announcement.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The announcement's number.
    pub id: AnnouncementId,
    /// When it was created.
    pub at: Now,
    /// How urgent it is.
    pub class: Class,
    /// What it is about.
    pub kind: AnnouncementKind,
    /// Whether it is spoken.
    pub aloud: Presentation,
    /// The session that it belongs to, if any.
    pub key: Option<SessionKey>,
    /// The display name of the agent that it concerns, if any.
    pub agent: Option<Arc<str>>,
    /// The name of the source that it is about, if it concerns no session.
    pub source: Option<Arc<str>>,
    /// The tool that was called or that returned, if any.
    pub tool: Option<Arc<Tool>>,
    /// The question that it is about, if any.
    pub about: Option<QuestionRelation>,
    /// The key by which it is merged with others of its kind.
    pub topic: Option<Topic>,
    /// Whether it reports a failure.
    pub weight: Weight,
    /// The short sound before its words, if the voice can play it.
    pub cue: Option<Cue>,
    /// The language of the program's own words in it.
    pub tongue: Arc<SpokenLanguage>,
    /// The text direction that its source declares; `None` if it declares none.
    pub direction: Option<TextDirection>,
    /// The words, by speaker and language.
    pub segments: Vec<Segment>,
    /// The facts that go with the words, if any; in detailed mode the segments already include them.
    pub facts: Option<Arc<EventFacts>>,
    /// Whose words it quotes, one for each of the agents' segments; the last one also counts for all further segments.
    pub quotes: Vec<Quote>,
    /// The part of an agent's text that begins with it.
    pub opens: Opening,
}

impl Announcement {
    /// Returns the facts that go with the words.
    pub fn facts(&self) -> &EventFacts {
        static NONE: EventFacts = EventFacts::NONE;
        self.facts.as_deref().unwrap_or(&NONE)
    }

    /// Adds the beginning of the agent's text that its words repeat, as it was written.
    #[must_use]
    pub fn repeating(mut self, written: &str) -> Self {
        self.facts = Some(Arc::new(EventFacts {
            written: Some(beginning(written, LONGEST_REPEATED).to_owned()),
            ..EventFacts::NONE
        }));
        self
    }

    /// Returns the words as the source wrote them, on one line.
    pub fn text(&self) -> String {
        join(&self.segments)
    }

    /// Returns the words as shown: without Markdown marks and on one line, except that code keeps its lines.
    /// Empty for pure structure, such as the line under a table's headers.
    pub fn shown(&self) -> String {
        join_shown(&self.segments)
    }

    /// Returns the words as spoken, on one line.
    pub fn spoken(&self) -> String {
        join_spoken(&self.segments)
    }

    /// Returns the words that the voice receives; empty if the announcement is not spoken.
    pub fn said(&self) -> String {
        match self.aloud {
            Presentation::Spoken | Presentation::Heard => self.spoken(),
            Presentation::Shown | Presentation::Seen | Presentation::Echo | Presentation::Kept => {
                String::new()
            }
        }
    }

    /// Returns whether all shown words are the agent's; every face then puts the agent's name before them.
    pub fn is_agents_text(&self) -> bool {
        // A speaker's name is only heard; it is not part of what is shown.
        let mut shown = self
            .segments
            .iter()
            .filter(|segment| !segment.text().is_empty())
            .peekable();
        shown.peek().is_some() && shown.all(|segment| segment.mark == Mark::Agent)
    }

    /// Returns the language of the first words that declare one.
    pub fn language(&self) -> Option<&str> {
        self.segments
            .iter()
            .find_map(|segment| segment.language.as_deref())
    }

    /// Returns the language of the first words that declare one, or else that of the program's own words.
    pub fn written_in(&self) -> &str {
        self.language().unwrap_or(&self.tongue.language)
    }

    /// Estimates the memory use, in bytes.
    pub fn size(&self) -> usize {
        let words: usize = self.segments.iter().map(Segment::size).sum();
        let source = self.source.as_ref().map_or(0, |name| name.len());
        let tool = self.tool.as_ref().map_or(0, |tool| tool.size());
        std::mem::size_of::<Self>() + words + self.facts().size() + source + tool
    }
}
