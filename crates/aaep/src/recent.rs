//! Values read from earlier events, so that repeated parts are shared and not read again.
//!
//! Responsibilities: recognizing that a part is the same. Not here: reading it (`direct`).
//!
//! Mental model: nearly every event of a stream comes from the same producer, in the same language, of the same session
//! as the one before, and says so in the same bytes. The value that was read from these bytes is reused. Only the bytes
//! are compared, so nothing can be out of date: other bytes are read anew.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::envelope::{Localization, Producer};
use super::ids::{OutputId, SessionId};
use super::same::are_same;
use super::stamp::Minute;

/// An object as written in a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<'a> {
    pub(super) text: &'a str,
    /// Its index among the objects that were read last, if it is one of them.
    pub(super) again: Option<usize>,
}

/// Remembers which field followed which, by their numbers.
#[derive(Debug, Clone)]
pub(super) struct FieldOrder([u8; MOST_FIELDS]);

/// How many fields are remembered; what follows any other field is looked up each time.
const MOST_FIELDS: usize = 64;

impl Default for FieldOrder {
    fn default() -> Self {
        Self([u8::MAX; MOST_FIELDS])
    }
}

impl FieldOrder {
    /// Returns the field that last followed this one, or a number that no field has if none did.
    #[inline]
    pub(super) fn behind(&self, before: usize) -> usize {
        self.0
            .get(before)
            .map_or(usize::MAX, |next| usize::from(*next))
    }

    /// Records which field followed this one.
    pub(super) fn note(&mut self, before: usize, next: usize) {
        if let (Some(known), Ok(next)) = (self.0.get_mut(before), u8::try_from(next)) {
            *known = next;
        }
    }
}

/// The indices of the objects that were read last.
const PRODUCER: usize = 0;
const HINTS: usize = 1;
const EXTENSIONS: usize = 2;

/// A text and the value that was read from it.
type Made<T> = Option<(Box<str>, Arc<T>)>;

/// The values that were read last, to be shared with the next event.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    producer: Made<Producer>,
    hints: Made<Localization>,
    extensions: Made<Map<String, Value>>,
    session: Option<SessionId>,
    output: Option<OutputId>,
    order: FieldOrder,
    minute: Minute,
}

impl Recent {
    /// Returns the texts of the objects that were read last, in the order of their indices and always whole, and the
    /// order of the fields.
    pub(super) fn before(&mut self) -> ([Option<&str>; 3], &mut FieldOrder) {
        let objects = [
            self.producer.as_ref().map(|(text, _)| &**text),
            self.hints.as_ref().map(|(text, _)| &**text),
            self.extensions.as_ref().map(|(text, _)| &**text),
        ];
        (objects, &mut self.order)
    }

    /// Returns the producer that was read from the same bytes before, or reads this one.
    pub(super) fn producer(
        &mut self,
        object: Raw<'_>,
        read: impl FnOnce(&str) -> Option<Producer>,
    ) -> Option<Arc<Producer>> {
        again(&mut self.producer, PRODUCER, object, read)
    }

    /// Returns the hints that were read from the same bytes before, or reads these.
    pub(super) fn hints(
        &mut self,
        object: Raw<'_>,
        read: impl FnOnce(&str) -> Option<Localization>,
    ) -> Option<Arc<Localization>> {
        again(&mut self.hints, HINTS, object, read)
    }

    /// Returns the extensions that were read from the same bytes before, or reads these.
    pub(super) fn extensions(
        &mut self,
        object: Raw<'_>,
        read: impl FnOnce(&str) -> Option<Map<String, Value>>,
    ) -> Option<Arc<Map<String, Value>>> {
        again(&mut self.extensions, EXTENSIONS, object, read)
    }

    /// Reads a timestamp if it conforms to 3.2.5.
    pub(super) fn stamp(&mut self, text: &str) -> Option<Timestamp> {
        self.minute.read(text)
    }

    /// Returns a session's id, if the text is one.
    pub(super) fn session(
        &mut self,
        text: &str,
        is_one: impl FnOnce(&str) -> bool,
    ) -> Option<SessionId> {
        if let Some(same) = self
            .session
            .as_ref()
            .filter(|id| are_same(id.as_str(), text))
        {
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
        if let Some(same) = self
            .output
            .as_ref()
            .filter(|id| are_same(id.as_str(), text))
        {
            return Some(same.clone());
        }
        self.output = is_one(text).then(|| OutputId::from(text));
        self.output.clone()
    }
}

fn again<T>(
    made: &mut Made<T>,
    place: usize,
    object: Raw<'_>,
    read: impl FnOnce(&str) -> Option<T>,
) -> Option<Arc<T>> {
    let is_it = |text: &str| object.again == Some(place) || are_same(text, object.text);
    if let Some((_, same)) = made.as_ref().filter(|(text, _)| is_it(text)) {
        return Some(Arc::clone(same));
    }
    let new = Arc::new(read(object.text)?);
    *made = Some((object.text.into(), Arc::clone(&new)));
    Some(new)
}
