//! Whether the person was already told that this machine has no voice: an empty file in the state folder.
//!
//! Responsibilities: that file. Not here: the words (`app`), finding a voice (`voice`).

use std::path::Path;

use crate::platform::{files, put_for_owner};
use crate::voice::{MissingVoice, VoiceEvent};

use super::settings_file;

/// The file that exists once the person was told.
const FILE: &str = "no-voice";

/// Returns the voice's news with what to tell the person about a missing voice. `any` says whether any voice would have
/// done; the absence of a requested one is reported in every run.
pub(super) fn noted(news: VoiceEvent, any: bool) -> VoiceEvent {
    match settings_file::state_folder() {
        Some(folder) if any => noted_in(&folder, news),
        Some(_) | None => news,
    }
}

fn noted_in(folder: &Path, news: VoiceEvent) -> VoiceEvent {
    let file = folder.join(FILE);
    match news {
        VoiceEvent::None { reason, .. } => {
            let telling = match file.exists() {
                true => MissingVoice::Known,
                false => MissingVoice::That,
            };
            // If it can't be written, the person is told again, which is better than not at all.
            let _ = files::folder_for_owner(folder).and_then(|()| put_for_owner(&file, ""));
            VoiceEvent::None { reason, telling }
        }
        VoiceEvent::Ready { .. } => {
            // When it goes missing again, that is news.
            let _ = std::fs::remove_file(&file);
            news
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::Reason;

    #[test]
    fn it_is_told_once_and_again_after_there_was_a_voice() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let told = || {
            let reason = Reason::said("no device");
            let telling = MissingVoice::default();
            match noted_in(&state, VoiceEvent::None { reason, telling }) {
                VoiceEvent::None { telling, .. } => telling,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(told(), MissingVoice::That);
        assert_eq!(told(), MissingVoice::Known);
        let engine = Reason::said("memory");
        noted_in(&state, VoiceEvent::Ready { engine });
        assert_eq!(told(), MissingVoice::That);
    }
}
