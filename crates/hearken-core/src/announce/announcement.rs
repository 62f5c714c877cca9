//! One thing that is worth telling, ready for every face and for the voice.

use std::sync::Arc;

use serde::Serialize;

use crate::config::CueConfig;
use crate::protocol::{Attached, Now, OutputId, TextDirection, ToolCallId};
use crate::session::{PromptId, SessionKey};

use crate::announce::words::segment::{Mark, Segment, join, join_shown, join_spoken};
use crate::announce::words::tongue::Tongue;

/// How urgent an announcement is; the order is the order in which waiting speech leaves.
///
/// The classes are P0 to P4 of the project's announcing rules (`docs/speech.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// P0: questions and their warnings, dangers, errored sessions, handoffs, anything critical.
    Alert,
    /// P1: the answer to a key press.
    Response,
    /// P2: starts and ends, tool results, resolved questions, links lost and back.
    Outcome,
    /// P3: a tool's start, a state change.
    Activity,
    /// P4: streamed text and progress.
    Stream,
}

impl Class {
    /// Lists every class, most urgent first.
    pub const ALL: [Class; 5] = [
        Class::Alert,
        Class::Response,
        Class::Outcome,
        Class::Activity,
        Class::Stream,
    ];
}

/// Names what an announcement is about; the names are a contract of the JSON face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session began, or was joined.
    SessionStarted,
    /// A session ended well.
    SessionCompleted,
    /// A session ended by an error.
    SessionErrored,
    /// A session was cancelled.
    SessionCancelled,
    /// An agent entered another state.
    State,
    /// Progress.
    Progress,
    /// A tool is about to be called.
    ToolInvoked,
    /// A tool returned.
    ToolCompleted,
    /// Streamed text.
    Output,
    /// A question for consent, and what becomes of it.
    Confirmation,
    /// A question for information, and what becomes of it.
    Clarification,
    /// Somebody else is asked to take over.
    Handoff,
    /// An event of an unknown type.
    Unknown,
    /// News of a link or a voice.
    Connection,
    /// The answer to the person's key or line.
    Reply,
    /// A danger.
    Danger,
    /// A broken rule of the protocol.
    Anomaly,
    /// What the program says about itself.
    Hint,
    /// An agent works and has nothing to tell: a voice plays it as a tick, or says it in a word.
    Heartbeat,
}

/// Whether an announcement is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aloud {
    /// It is, in its class.
    Yes,
    /// It is shown in every face and kept, and not spoken: old news, or a broken rule that costs nothing.
    Shown,
    /// It is kept, and shown where a person looks around (the pane, JSON); it is left out of what is heard or
    /// read in the order of time, speech and lines: the person is quiet, muted its agent or wants less.
    Seen,
    /// It is kept, and told to programs (JSON); people are told the same in other words.
    Echo,
    /// It is kept in the history only.
    Kept,
    /// It is spoken, and neither shown nor kept: by the time one could look back, it means nothing.
    Heard,
}

/// Which question an announcement is about, and in what way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum About {
    /// It asks the question: it carries the action, and hearing it arms the keys.
    Asks(PromptId),
    /// It is about the question.
    Tells(PromptId),
}

impl About {
    /// Returns the question.
    pub fn prompt(self) -> PromptId {
        match self {
            Self::Asks(id) | Self::Tells(id) => id,
        }
    }
}

/// Whether an outcome is a failure: those are said before the successes that wait with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Weight {
    /// It is none.
    #[default]
    Plain,
    /// Something did not work.
    Failure,
}

/// Names a short sound of the program's own, which no agent can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// A question waits for an answer.
    Question,
    /// Something went wrong.
    Error,
    /// A session ended well.
    Done,
    /// A silent agent works.
    Tick,
    /// A source is lost.
    Lost,
    /// A source is back.
    Back,
}

impl Cue {
    /// Returns whether it is wanted.
    pub fn is_on(self, cues: &CueConfig) -> bool {
        match self {
            Self::Question => cues.question,
            Self::Error => cues.error,
            Self::Done => cues.done,
            Self::Tick => cues.tick,
            Self::Lost => cues.lost,
            Self::Back => cues.back,
        }
    }

    /// Lists every cue.
    pub const ALL: [Self; 6] = [
        Self::Question,
        Self::Error,
        Self::Done,
        Self::Tick,
        Self::Lost,
        Self::Back,
    ];
}

/// What an event tells beside its words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The facts, a sentence each.
    pub words: Vec<Segment>,
    /// The address among them, cleaned.
    pub address: Option<String>,
    /// What belongs to it and is read on demand, where there is anything.
    pub(super) attached: Option<Arc<Attached>>,
    /// A piece of an agent's text as it was written, where its lines and the white space before them say more than
    /// its words: it is read and copied by them.
    pub written: Option<String>,
}

impl Facts {
    /// What most announcements have beside their words.
    const NONE: Self = Self {
        words: Vec::new(),
        address: None,
        attached: None,
        written: None,
    };

    /// Returns what belongs to it and is read on demand.
    pub fn attached(&self) -> &Attached {
        self.attached
            .as_deref()
            .unwrap_or_else(|| Attached::nothing())
    }

    /// Returns whether they are no more than words and an address, as others may have them, too.
    pub(super) fn are_usual(&self) -> bool {
        self.written.is_none() && self.attached.is_none()
    }

    /// Returns whether there are none.
    pub(super) fn are_none(&self) -> bool {
        self.are_usual() && self.words.is_empty() && self.address.is_none()
    }

    /// Estimates the memory that they take, in bytes.
    pub(super) fn size(&self) -> usize {
        let words = self.words.iter().map(Segment::size).sum::<usize>();
        let written = self.written.as_ref().map_or(0, String::len);
        let attached = self.attached.as_ref().map_or(0, |it| it.weight());
        words + self.address.as_ref().map_or(0, String::len) + attached + written
    }
}

/// Names what merges an announcement with others of its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Topic {
    /// The state that the agent is in.
    State,
    /// How far it is.
    Progress,
    /// A call of a tool, by its id.
    Call(ToolCallId),
    /// The calls of a tool that have no ids, by the tool's name.
    Tool(Arc<str>),
    /// An output, which need not have an id.
    Output(Option<OutputId>),
}

impl Topic {
    /// Names a call of a tool.
    pub(super) fn call(tool: &str, id: Option<&ToolCallId>) -> Self {
        id.map_or_else(|| Self::Tool(tool.into()), |id| Self::Call(id.clone()))
    }
}

/// Names the tool that an announcement is about, as its agent does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// How the call ended, in the protocol's word; absent as long as it runs, and where nothing says it.
    pub status: Option<String>,
}

impl Tool {
    /// Estimates the memory that it takes, in bytes.
    fn size(&self) -> usize {
        std::mem::size_of::<Self>() + self.name.len() + self.status.as_ref().map_or(0, String::len)
    }
}

/// Numbers an announcement within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct AnnouncementId(pub u64);

/// One thing that is worth telling.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// Its number.
    pub id: AnnouncementId,
    /// When it was made.
    pub at: Now,
    /// How urgent it is.
    pub class: Class,
    /// What it is about.
    pub kind: Kind,
    /// Whether it is spoken.
    pub aloud: Aloud,
    /// Whose session, if any.
    pub key: Option<SessionKey>,
    /// The agent's name for a person, if an agent is concerned.
    pub agent: Option<Arc<str>>,
    /// The name of the source that it is about, where no session is concerned.
    pub source: Option<Arc<str>>,
    /// Which tool is called or returned, if any.
    pub tool: Option<Arc<Tool>>,
    /// Which question, if any.
    pub about: Option<About>,
    /// What merges it with others of its kind.
    pub topic: Option<Topic>,
    /// Whether it tells of a failure.
    pub weight: Weight,
    /// The short sound that comes before its words, where a voice has it.
    pub cue: Option<Cue>,
    /// In which language the program's own words in it are.
    pub tongue: Arc<Tongue>,
    /// In which direction its source says that its words run; absent where it says nothing.
    pub direction: Option<TextDirection>,
    /// The words, by speaker and language.
    pub segments: Vec<Segment>,
    /// What is known beside them, where there is anything; told in detail, they are among them.
    pub facts: Option<Arc<Facts>>,
}

impl Announcement {
    /// Returns what is known beside its words.
    pub fn facts(&self) -> &Facts {
        static NONE: Facts = Facts::NONE;
        self.facts.as_deref().unwrap_or(&NONE)
    }

    /// Returns the words of the source, on one line.
    pub fn text(&self) -> String {
        join(&self.segments)
    }

    /// Returns the words as they are shown: without Markdown's marks, on one line but for code, whose
    /// lines are kept. Empty for what is structure only, such as the line under a table's headers.
    pub fn shown(&self) -> String {
        join_shown(&self.segments)
    }

    /// Returns the words as they are spoken, on one line.
    pub fn spoken(&self) -> String {
        join_spoken(&self.segments)
    }

    /// Returns the words that a voice is given: none where it is shown or kept and not spoken.
    pub fn said(&self) -> String {
        match self.aloud {
            Aloud::Yes | Aloud::Heard => self.spoken(),
            Aloud::Shown | Aloud::Seen | Aloud::Echo | Aloud::Kept => String::new(),
        }
    }

    /// Returns whether all words are the agent's: then every face puts its name before them.
    pub fn is_agents_text(&self) -> bool {
        // A speaker's name is heard only; it is no part of what is shown.
        let mut shown = self
            .segments
            .iter()
            .filter(|segment| !segment.text().is_empty())
            .peekable();
        shown.peek().is_some() && shown.all(|segment| segment.mark == Mark::Agent)
    }

    /// Returns the language of the first words that have one.
    pub fn language(&self) -> Option<&str> {
        self.segments
            .iter()
            .find_map(|segment| segment.language.as_deref())
    }

    /// Returns the language of the first words that have one, else that of the program's own words.
    pub fn written_in(&self) -> &str {
        self.language().unwrap_or(&self.tongue.language)
    }

    /// Estimates the memory that it takes, in bytes.
    pub fn size(&self) -> usize {
        let words: usize = self.segments.iter().map(Segment::size).sum();
        let source = self.source.as_ref().map_or(0, |name| name.len());
        let tool = self.tool.as_ref().map_or(0, |tool| tool.size());
        std::mem::size_of::<Self>() + words + self.facts().size() + source + tool
    }
}
