//! What an agent sent, in the listener's language.
//!
//! Responsibilities: translating a question by the variants that its producer sent, and saying so if that was not
//! possible. Not here: which of several languages fits best (`words::language`).

use std::sync::Arc;

use crate::announce::words::phrase::Arg;
use crate::protocol::{Decoded, Event, UNDETERMINED, WantedLanguages, direction_of};
use crate::session::{LinkId, Question};

use super::Announcer;

impl Announcer {
    /// Puts a question into the person's language, where its producer sent it in that language (11.5.1).
    pub fn put_into_language(&self, link: LinkId, decoded: &mut Decoded) {
        let hints = &mut decoded.envelope.localization;
        let wanted = WantedLanguages {
            languages: self.languages_of(link),
            fallbacks: &hints.fallback_chain,
        };
        let own = hints.primary_language.as_deref();
        let main = match &mut decoded.event {
            Event::AwaitingConfirmation(asked) => asked.put_into(own, wanted),
            Event::AwaitingClarification(asked) => asked.put_into(own, wanted),
            Event::SessionStarted(_)
            | Event::SessionCompleted(_)
            | Event::SessionErrored(_)
            | Event::SessionCancelled(_)
            | Event::StateChanged(_)
            | Event::Progress(_)
            | Event::ToolInvoked(_)
            | Event::ToolCompleted(_)
            | Event::OutputStreaming(_)
            | Event::HandoffRequested(_)
            | Event::Unknown(_) => return,
        };
        if main.as_deref() != hints.primary_language.as_deref() {
            let hints = Arc::make_mut(hints);
            // A variant has its own direction.
            hints.text_direction = main.as_deref().map(direction_of);
            hints.primary_language = main.map(Arc::from);
        }
    }

    /// Returns a text of a question that may be in a different language from the rest of it.
    pub(super) fn exact_in(&self, question: &Question, text: &str, other: Option<&String>) -> Arg {
        match other {
            None => self.exact(question, text),
            Some(tag) => {
                let known = Some(tag).filter(|tag| *tag != UNDETERMINED);
                Arg::Exact(text.to_owned(), known.map(|tag| tag.as_str().into()))
            }
        }
    }

    /// Names the language of such a text; empty if the rest is in the same language.
    pub(super) fn language_name(&self, other: Option<&String>) -> Arg {
        let Some(tag) = other else {
            return Arg::own("");
        };
        if tag == UNDETERMINED {
            return Arg::Own(self.phrases.text("question.in.unknown", &[]));
        }
        let language = tag.split(['-', '_']).next().unwrap_or_default();
        let key = format!("language.name.{}", language.to_ascii_lowercase());
        let name = if self.phrases.has(&key) {
            Arg::Own(self.phrases.text(&key, &[]))
        } else {
            Arg::Name(tag.clone())
        };
        Arg::Own(self.phrases.text("question.in", &[("language", name)]))
    }
}
