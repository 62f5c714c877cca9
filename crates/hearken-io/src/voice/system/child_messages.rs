//! The messages between the program and the child that speaks for it: one JSON object per line.
//!
//! Responsibilities: the orders, the reports, and cutting bytes into lines with a bound. Not here:
//! who sends what when (`speech_child`, the module above).

use serde::{Deserialize, Serialize};

use crate::announce::{Mark, Reason, Utterance};
use crate::config::Delivery;

/// The longest line. The longest order contains a text of 64 KiB, which may become six times as long in JSON.
const LINE_LIMIT: usize = 512 * 1024;

/// An order to the child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ChildOrder {
    /// Speak this. Nothing is being spoken, or it was stopped before.
    Speak(SpokenWords),
    /// Fall silent.
    Stop,
}

/// The words to speak, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SpokenWords {
    /// The utterance's number.
    pub id: u64,
    /// The text; never empty, without control characters.
    pub text: String,
    /// Their language's tag, if known.
    pub language: Option<String>,
    /// Whether they are the program's own.
    pub own: bool,
    /// The distance of the program's own words above the usual pitch.
    pub own_pitch: i32,
    /// The usual pitch, if the person set one.
    pub usual_pitch: Option<i32>,
    /// How they should sound.
    pub delivery: Delivery,
}

impl SpokenWords {
    /// Converts an utterance into the terms of an order.
    pub(super) fn of(utterance: Utterance, text: String, own_pitch: i32) -> Self {
        Self {
            id: utterance.id.0,
            text,
            language: utterance.language,
            own: utterance.mark == Mark::Own,
            own_pitch,
            usual_pitch: utterance.sound.usual_pitch,
            delivery: utterance.sound.delivery,
        }
    }
}

/// A report from the child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ChildReport {
    /// The engine is ready.
    Ready {
        /// Its name.
        engine: Name,
    },
    /// The engine has accepted the words.
    Taken {
        /// The utterance.
        id: u64,
    },
    /// The words became audible.
    Begun {
        /// The utterance.
        id: u64,
    },
    /// The words ended.
    Ended {
        /// The utterance.
        id: u64,
    },
    /// Another program cut the words short.
    Cut {
        /// The utterance.
        id: u64,
    },
    /// A stop was obeyed.
    Silent,
    /// The engine's list of voices is being read, which takes a while.
    Looking,
    /// Something that the person should hear, once.
    Notice {
        /// The notice.
        what: SpeechNotice,
    },
    /// The engine failed; the child ends.
    Failed {
        /// The reason.
        why: Why,
    },
}

/// The name of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Name {
    /// The platform's own speech.
    Platform,
    /// An engine with a name of its own.
    Called(String),
}

/// Something about the speech that the person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SpeechNotice {
    /// Its pitch can't change, so nothing distinguishes the program's own words from the agents'.
    OnePitch,
    /// No voice speaks the language of this tag.
    NoLanguage(String),
    /// There is no voice of this name.
    NoVoice(String),
}

/// The reason why there is no speech (any more).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::voice) enum Why {
    /// This build has none.
    NotBuilt,
    /// It was closed and can't be reopened.
    NotReopened,
    /// It failed, in its own words.
    Failed(String),
    /// NVDA's controller client can't be loaded, in the system's words.
    NvdaLibrary(String),
    /// The thread that makes NVDA speak the words is gone.
    NvdaLost,
    /// NVDA is not running.
    NvdaAway,
    /// NVDA or its controller client is older than 2024.1.
    NvdaOld,
    /// NVDA returned this error code.
    NvdaCode(u32),
}

impl Name {
    /// Describes it for a person.
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Platform => Reason::new("voice.engine.system"),
            Self::Called(name) => Reason::said(name),
        }
    }
}

impl SpeechNotice {
    /// Describes it for a person.
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::OnePitch => Reason::new("voice.cause.system.one_pitch"),
            Self::NoLanguage(tag) => Reason::new("voice.cause.system.no_language").with("tag", tag),
            Self::NoVoice(name) => Reason::new("voice.cause.system.no_voice").with("name", name),
        }
    }
}

impl Why {
    /// Describes it for a person.
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::NotBuilt => Reason::new("voice.cause.system.not_built"),
            Self::NotReopened => Reason::new("voice.cause.system.not_reopened"),
            Self::Failed(words) => Reason::new("voice.cause.system.failed").with("why", words),
            Self::NvdaLibrary(words) => Reason::new("voice.cause.nvda.library").with("why", words),
            Self::NvdaLost => Reason::new("voice.cause.nvda.ended"),
            Self::NvdaAway => Reason::new("voice.cause.nvda.away"),
            Self::NvdaOld => Reason::new("voice.cause.nvda.old"),
            Self::NvdaCode(code) => Reason::new("voice.cause.nvda.code").with("code", code),
        }
    }
}

/// The error for a line that is not one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message is not one that was agreed")]
pub(super) struct Garbage;

/// A parser from bytes to messages, however the bytes are cut.
#[derive(Debug, Default)]
pub(super) struct MessageParser {
    bytes: Vec<u8>,
}

impl MessageParser {
    /// Adds bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next message, if it is complete.
    pub(super) fn next<M: for<'a> Deserialize<'a>>(&mut self) -> Result<Option<M>, Garbage> {
        let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') else {
            return if self.bytes.len() > LINE_LIMIT {
                Err(Garbage)
            } else {
                Ok(None)
            };
        };
        let message = serde_json::from_slice(&self.bytes[..end]).map_err(|_| Garbage);
        self.bytes.drain(..=end);
        message.map(Some)
    }
}

/// Returns a message as a line.
pub(super) fn line(message: &impl Serialize) -> Vec<u8> {
    // Serializing plain data with text keys can't fail; an empty line would be reported as garbage.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_any_cut_and_garbage_is_named() {
        let words = SpokenWords {
            id: 7,
            text: "one\ntwo \u{1F600}".into(),
            language: Some("de".into()),
            own: true,
            own_pitch: 20,
            usual_pitch: None,
            delivery: Delivery::default(),
        };
        let orders = [ChildOrder::Speak(words), ChildOrder::Stop];
        let bytes: Vec<u8> = orders.iter().flat_map(line).collect();
        for size in 1..40 {
            let (mut lines, mut got) = (MessageParser::default(), Vec::new());
            for part in bytes.chunks(size) {
                lines.feed(part);
                while let Some(order) = lines.next::<ChildOrder>().unwrap() {
                    got.push(order);
                }
            }
            assert_eq!(got, orders, "{size}");
        }
        let mut lines = MessageParser::default();
        lines.feed(b"{\"order\":\"stop\"\n");
        assert_eq!(lines.next::<ChildOrder>(), Err(Garbage));
        lines.feed(&vec![b' '; LINE_LIMIT + 1]);
        assert_eq!(lines.next::<ChildOrder>(), Err(Garbage), "an endless line");
    }
}
