//! The news of a conversation with speech-dispatcher, including its failures.
//!
//! Responsibilities: every reason why the daemon can't be used as a voice, with the key of its words. Not here: the
//! words (`announce`), when they are spoken.

use crate::announce::{Reason, UtteranceId};
use crate::voice::ssip::Garbage;

/// The reason why the daemon can't be used as a voice (any more).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::voice) enum DaemonFault {
    /// The socket could not be reached.
    Unreachable(Reason),
    /// The daemon closed the connection.
    Closed,
    /// Reading or writing failed.
    Broken(std::io::ErrorKind),
    /// A command did not get its reply in time.
    Mute,
    /// The daemon sent something other than SSIP.
    Garbage,
    /// The daemon can't report when speech begins and ends.
    NoEvents,
    /// There is no module, or only the dummy one, which plays a warning and no text.
    OnlyDummy,
    /// The silent test at the start got no answer.
    NoSound,
    /// The silent test failed on a daemon that was started from here and has been ended again.
    NoSoundOfOurs,
    /// A message was accepted but never began.
    NeverBegan,
    /// A message began and did not end in many times the time it needs.
    NeverEnded,
    /// Messages were refused one after another.
    Refuses(u16),
}

impl DaemonFault {
    /// Describes it for a person.
    pub(in crate::voice) fn reason(&self) -> Reason {
        match self {
            Self::Unreachable(why) => {
                Reason::new("voice.cause.daemon.unreachable").because("why", why.clone())
            }
            Self::Closed => Reason::new("voice.cause.daemon.closed"),
            Self::Broken(why) => {
                let why = Reason::of_kind(*why).unwrap_or_else(|| Reason::said(why));
                Reason::new("voice.cause.daemon.broken").because("why", why)
            }
            Self::Mute => Reason::new("voice.cause.daemon.mute"),
            Self::Garbage => Reason::new("voice.cause.daemon.garbage"),
            Self::NoEvents => Reason::new("voice.cause.daemon.no_events"),
            Self::OnlyDummy => Reason::new("voice.cause.daemon.only_dummy"),
            Self::NoSound => Reason::new("voice.cause.daemon.no_sound"),
            Self::NoSoundOfOurs => Reason::new("voice.cause.daemon.own_has_no_sound"),
            Self::NeverBegan => Reason::new("voice.cause.daemon.never_began"),
            Self::NeverEnded => Reason::new("voice.cause.daemon.never_ended"),
            Self::Refuses(code) => Reason::new("voice.cause.daemon.refuses").with("code", code),
        }
    }
}

impl From<Garbage> for DaemonFault {
    fn from(Garbage: Garbage) -> Self {
        Self::Garbage
    }
}

/// An item of news from the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::voice) enum DialogueEvent {
    /// The greeting is over and the sound has been tested.
    Opened,
    /// An utterance became audible.
    Begun(UtteranceId),
    /// An utterance ended.
    Ended(UtteranceId),
    /// An utterance was discarded, but not by [`super::Dialogue::stop`].
    Cut(UtteranceId),
    /// Something the person should hear once; speech goes on.
    Notice(Reason),
    /// Nothing more follows; the connection must be dropped.
    Failed(DaemonFault),
}
