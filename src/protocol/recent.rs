//! What the events before were made of, so that what comes again is shared and not read once more.
//!
//! Responsibilities: finding that it is the same. Not here: reading it (`direct`).
//!
//! Mental model: nearly every event of a stream is by the same producer, in the same language, of the same session as
//! the one before, and says so in the same bytes. What was made of these bytes is handed out again. Nothing else than the
//! bytes is compared, so nothing can be out of date: other bytes are read anew.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::envelope::{Localization, Producer};
use super::ids::{OutputId, SessionId};

/// What was made of which text.
type Made<T> = Option<(Box<str>, Arc<T>)>;

/// Holds what was read last, to share it with what is read next.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    producer: Made<Producer>,
    hints: Made<Localization>,
    extensions: Made<Map<String, Value>>,
    session: Option<SessionId>,
    output: Option<OutputId>,
}

impl Recent {
    /// Gives the objects that were read last, as they stood there: whole ones.
    pub(super) fn objects(&self) -> [Option<&str>; 3] {
        [
            self.producer.as_ref().map(|(text, _)| &**text),
            self.hints.as_ref().map(|(text, _)| &**text),
            self.extensions.as_ref().map(|(text, _)| &**text),
        ]
    }

    /// Gives the producer that this text was read as before, or reads it.
    pub(super) fn producer(
        &mut self,
        text: &str,
        read: impl FnOnce(&str) -> Option<Producer>,
    ) -> Option<Arc<Producer>> {
        again(&mut self.producer, text, read)
    }

    /// Gives the hints that this text was read as before, or reads it.
    pub(super) fn hints(
        &mut self,
        text: &str,
        read: impl FnOnce(&str) -> Option<Localization>,
    ) -> Option<Arc<Localization>> {
        again(&mut self.hints, text, read)
    }

    /// Gives the extensions that this text was read as before, or reads them.
    pub(super) fn extensions(
        &mut self,
        text: &str,
        read: impl FnOnce(&str) -> Option<Map<String, Value>>,
    ) -> Option<Arc<Map<String, Value>>> {
        again(&mut self.extensions, text, read)
    }

    /// Gives a session's id, if the text is one.
    pub(super) fn session(
        &mut self,
        text: &str,
        is_one: impl FnOnce(&str) -> bool,
    ) -> Option<SessionId> {
        if let Some(same) = self.session.as_ref().filter(|id| id.as_str() == text) {
            return Some(same.clone());
        }
        self.session = is_one(text).then(|| SessionId::from(text));
        self.session.clone()
    }

    /// Gives an output's id, if the text is one.
    pub(super) fn output(
        &mut self,
        text: &str,
        is_one: impl FnOnce(&str) -> bool,
    ) -> Option<OutputId> {
        if let Some(same) = self.output.as_ref().filter(|id| id.as_str() == text) {
            return Some(same.clone());
        }
        self.output = is_one(text).then(|| OutputId::from(text));
        self.output.clone()
    }
}

fn again<T>(
    made: &mut Made<T>,
    text: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Option<Arc<T>> {
    if let Some((_, same)) = made.as_ref().filter(|(of, _)| **of == *text) {
        return Some(Arc::clone(same));
    }
    let new = Arc::new(read(text)?);
    *made = Some((text.into(), Arc::clone(&new)));
    Some(new)
}
