//! Values from earlier events, so that repeated parts are shared instead of read again.
//!
//! Responsibilities: recognising repeated parts. Not here: reading them (`direct`).
//!
//! Mental model: nearly every event of a stream has the same producer, language and session as the previous
//! one, in the same bytes. The value that was read from these bytes is reused. Because the bytes themselves are
//! compared, no value can be out of date.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::envelope::{Localization, Producer};
use super::ids::{OutputId, SessionId};

/// A text and the value that was read from it.
type SharedValue<T> = Option<(Box<str>, Arc<T>)>;

/// The values that were read last, to be shared with the next event.
#[derive(Debug, Clone, Default)]
pub struct RecentValues {
    producer: SharedValue<Producer>,
    hints: SharedValue<Localization>,
    extensions: SharedValue<Map<String, Value>>,
    session: Option<SessionId>,
    output: Option<OutputId>,
}

impl RecentValues {
    /// Returns the producer previously read from the same bytes, or reads this one.
    pub(super) fn producer(
        &mut self,
        object: &str,
        read: impl FnOnce(&str) -> Option<Producer>,
    ) -> Option<Arc<Producer>> {
        again(&mut self.producer, object, read)
    }

    /// Returns the hints previously read from the same bytes, or reads these.
    pub(super) fn hints(
        &mut self,
        object: &str,
        read: impl FnOnce(&str) -> Option<Localization>,
    ) -> Option<Arc<Localization>> {
        again(&mut self.hints, object, read)
    }

    /// Returns the extensions previously read from the same bytes, or reads these.
    pub(super) fn extensions(
        &mut self,
        object: &str,
        read: impl FnOnce(&str) -> Option<Map<String, Value>>,
    ) -> Option<Arc<Map<String, Value>>> {
        again(&mut self.extensions, object, read)
    }

    /// Returns a session's id, if the text is one.
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

    /// Returns an output's id, if the text is one.
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
    made: &mut SharedValue<T>,
    object: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Option<Arc<T>> {
    if let Some((_, same)) = made.as_ref().filter(|(text, _)| **text == *object) {
        return Some(Arc::clone(same));
    }
    let new = Arc::new(read(object)?);
    *made = Some((object.into(), Arc::clone(&new)));
    Some(new)
}
