//! What a conversation with speech-dispatcher has to tell, its failures in plain words.
//!
//! Responsibilities: the wording of every way in which the daemon is no voice, with its remedy. Not
//! here: when it is said.

use crate::announce::UtteranceId;
use crate::voice::ssip::Garbage;

/// Says why the daemon is no voice (any more), as a plain sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::voice) enum Fault {
    /// The socket could not be reached.
    #[error("speech-dispatcher can't be reached: {0}")]
    Unreachable(String),
    /// The daemon closed the connection.
    #[error("speech-dispatcher ended the connection")]
    Closed,
    /// Reading or writing failed.
    #[error("the connection to speech-dispatcher broke: {0}")]
    Broken(std::io::ErrorKind),
    /// A command got no reply in time.
    #[error("speech-dispatcher does not answer")]
    Mute,
    /// What came was not SSIP.
    #[error("speech-dispatcher's socket answers with something that is not the speech protocol")]
    Garbage,
    /// The daemon can't tell when speech begins and ends.
    #[error("this speech-dispatcher does not tell when speech begins and ends; update it")]
    NoEvents,
    /// No module, or only the dummy one, which plays a warning and no text.
    #[error(
        "speech-dispatcher has no speech synthesiser, only its dummy module; install one, for example speech-dispatcher-espeak-ng"
    )]
    OnlyDummy,
    /// The silent test at the start got no answer.
    #[error(
        "speech-dispatcher is running but can't play sound; check the audio device, then restart speech-dispatcher"
    )]
    NoSound,
    /// The same of a daemon that was started from here, and was ended again.
    #[error("speech-dispatcher can't play sound; check the audio device")]
    NoSoundOfOurs,
    /// A message was taken but never began.
    #[error(
        "speech-dispatcher takes the words but never begins to speak: its audio device is gone, it is paused, or another program keeps it busy; if it stays silent, restart it"
    )]
    NeverBegan,
    /// A message began and did not end in many times the time it needs.
    #[error("speech-dispatcher began to speak and got stuck; if it stays silent, restart it")]
    NeverEnded,
    /// Messages were refused one after another.
    #[error("speech-dispatcher refuses to speak, with code {0}")]
    Refuses(u16),
}

impl From<Garbage> for Fault {
    fn from(Garbage: Garbage) -> Self {
        Self::Garbage
    }
}

/// What the conversation has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::voice) enum News {
    /// The greeting is over and the sound was tested.
    Opened,
    /// The first sound of an utterance.
    Begun(UtteranceId),
    /// An utterance's end.
    Ended(UtteranceId),
    /// An utterance that was thrown away, not by [`Dialogue::stop`].
    Cut(UtteranceId),
    /// Something the person should know once; speech goes on.
    Notice(String),
    /// Nothing more comes; the connection is to be dropped.
    Failed(Fault),
}
