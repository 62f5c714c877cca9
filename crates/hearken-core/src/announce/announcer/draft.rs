//! What is to be announced, before it has a number and a speaker.
//!
//! Responsibilities: that data, and how the person answers on the face for which it is worded. Not here: the
//! words (`change_wording`), what becomes of a draft (`publish`).

use crate::announce::announcement::{
    AnnouncementKind, Class, Cue, EventFacts, Opening, Presentation, QuestionRelation, Topic,
    Weight,
};
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::Segment;

/// The name of the argument by which phrases refer to their source.
const SOURCE: &str = "source";

/// How a person answers on the current face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerMethod {
    /// By single keys.
    Keys,
    /// By lines.
    Lines,
    /// By lines that a program writes; it receives what to write separately from the words.
    Program,
}

/// An announcement before it has a number.
pub(super) struct Draft {
    pub(super) class: Class,
    pub(super) kind: AnnouncementKind,
    pub(super) about: Option<QuestionRelation>,
    pub(super) topic: Option<Topic>,
    pub(super) weight: Weight,
    pub(super) cue: Option<Cue>,
    pub(super) segments: Vec<Segment>,
    pub(super) aloud: Presentation,
    pub(super) facts: EventFacts,
    /// The name of the source that it is about, if it concerns no session.
    pub(super) source: Option<String>,
    pub(super) opens: Opening,
}

impl Draft {
    pub(super) fn new(class: Class, kind: AnnouncementKind, segments: Vec<Segment>) -> Self {
        Self {
            class,
            kind,
            about: None,
            topic: None,
            weight: Weight::Plain,
            cue: None,
            segments,
            aloud: Presentation::Spoken,
            facts: EventFacts::default(),
            source: None,
            opens: Opening::Nothing,
        }
    }

    /// Sets the source's name from the phrase's arguments, if they include one.
    pub(super) fn naming(self, args: &Args<'_>) -> Self {
        let named = args.iter().find_map(|(name, arg)| match arg {
            Arg::Own(source) if *name == SOURCE => Some(source.clone()),
            Arg::Own(_)
            | Arg::Name(_)
            | Arg::Tool(_)
            | Arg::Agent(..)
            | Arg::Exact(..)
            | Arg::Command(_)
            | Arg::Inline(_)
            | Arg::Sounding { .. } => None,
        });
        Self {
            source: named,
            ..self
        }
    }

    pub(super) fn about(self, about: QuestionRelation) -> Self {
        Self {
            about: Some(about),
            ..self
        }
    }

    pub(super) fn topic(self, topic: Topic) -> Self {
        Self {
            topic: Some(topic),
            ..self
        }
    }

    pub(super) fn weight(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    pub(super) fn aloud(self, aloud: Presentation) -> Self {
        Self { aloud, ..self }
    }
}
