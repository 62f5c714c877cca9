//! The commands of a conversation with speech-dispatcher.
//!
//! Responsibilities: their wording and the time limit of each. Not here: when one is sent and what
//! its reply means.

use std::time::Duration;

use crate::voice::limits::Limits;
use crate::voice::ssip::{self, Priority};

/// A command that gets a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DaemonRequest {
    /// Tells the daemon which client is speaking.
    ClientName,
    /// Requests all kinds of events.
    NotifyAll,
    /// Requests one kind of event, if the daemon can't enable all with one command.
    Notify(&'static str),
    /// Declares texts as plain, so that nothing in them is markup.
    PlainText,
    /// Requests the list of synthesizers.
    Modules,
    /// Requests the current synthesizer.
    Module,
    /// Requests the person's own language.
    BaseLanguage,
    /// Requests the person's own pitch.
    BasePitch,
    /// Requests the person's own rate.
    BaseRate,
    /// Requests the person's own volume.
    BaseVolume,
    /// Requests the person's own kind of voice.
    BaseVoice,
    /// Requests which punctuation marks the person hears.
    BasePunctuation,
    /// Sets the next message's rate, from -100 to 100.
    Rate(i32),
    /// Sets the next message's volume, from -100 to 100.
    Volume(i32),
    /// Sets the next message's voice: one of SSIP's kinds, or a synthesizer's own by name.
    Voice(String),
    /// Sets which punctuation marks of the next message are spoken, by SSIP's keyword.
    Punctuation(String),
    /// Sets the next message's priority.
    Priority(Priority),
    /// Sets the next message's pitch, from -100 to 100.
    Pitch(i32),
    /// Sets the next message's language.
    Language(String),
    /// Requests the voices, to learn which languages can be spoken.
    Voices,
    /// Requests permission to send a text.
    Speak(Serial),
    /// The text itself; its lines are written when the permission arrives.
    Body(Serial),
    /// Silences this client's messages.
    Cancel,
    /// Says goodbye.
    Quit,
}

/// The number of a job, so that a late reply can't be taken for the next job's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Serial(pub(super) u64);

impl DaemonRequest {
    /// Returns the command's line without its line break, if it is a single line.
    pub(super) fn line(&self, client_name: &str) -> Option<String> {
        Some(match self {
            Self::ClientName => format!("SET SELF CLIENT_NAME {client_name}"),
            Self::NotifyAll => "SET SELF NOTIFICATION ALL ON".to_owned(),
            Self::Notify(kind) => format!("SET SELF NOTIFICATION {kind} ON"),
            Self::PlainText => "SET SELF SSML_MODE OFF".to_owned(),
            Self::Modules => "LIST OUTPUT_MODULES".to_owned(),
            Self::Module => "GET OUTPUT_MODULE".to_owned(),
            Self::BaseLanguage => "GET LANGUAGE".to_owned(),
            Self::BasePitch => "GET PITCH".to_owned(),
            Self::BaseRate => "GET RATE".to_owned(),
            Self::BaseVolume => "GET VOLUME".to_owned(),
            Self::BaseVoice => "GET VOICE_TYPE".to_owned(),
            Self::BasePunctuation => "GET PUNCTUATION".to_owned(),
            Self::Volume(volume) => format!("SET SELF VOLUME {}", volume.clamp(&-100, &100)),
            Self::Voice(name) => match ssip::voice_type(name) {
                Some(kind) => format!("SET SELF VOICE_TYPE {kind}"),
                None => format!("SET SELF SYNTHESIS_VOICE {}", ssip::one_line(name)),
            },
            Self::Punctuation(level) => format!("SET SELF PUNCTUATION {}", ssip::one_line(level)),
            Self::Rate(rate) => format!("SET SELF RATE {}", rate.clamp(&-100, &100)),
            Self::Priority(priority) => format!("SET SELF PRIORITY {}", priority.word()),
            Self::Pitch(pitch) => format!("SET SELF PITCH {}", pitch.clamp(&-100, &100)),
            Self::Language(tag) => format!("SET SELF LANGUAGE {tag}"),
            Self::Voices => "LIST SYNTHESIS_VOICES".to_owned(),
            Self::Speak(_) => "SPEAK".to_owned(),
            Self::Body(_) => return None,
            Self::Cancel => "CANCEL SELF".to_owned(),
            Self::Quit => "QUIT".to_owned(),
        })
    }

    /// Returns the time limit for the reply.
    pub(super) fn limit(&self, limits: &Limits) -> Duration {
        match self {
            Self::Voices => limits.list,
            Self::ClientName
            | Self::NotifyAll
            | Self::Notify(_)
            | Self::PlainText
            | Self::Modules
            | Self::Module
            | Self::BaseLanguage
            | Self::BasePitch
            | Self::BaseRate
            | Self::BaseVolume
            | Self::BaseVoice
            | Self::BasePunctuation
            | Self::Rate(_)
            | Self::Volume(_)
            | Self::Voice(_)
            | Self::Punctuation(_)
            | Self::Priority(_)
            | Self::Pitch(_)
            | Self::Language(_)
            | Self::Speak(_)
            | Self::Body(_)
            | Self::Cancel
            | Self::Quit => limits.call,
        }
    }
}
