//! What the events before were made of, so that what comes again is shared and not read once more.
//!
//! Responsibilities: finding that it is the same. Not here: reading it (`direct`).
//!
//! Mental model: nearly every event of a stream is by the same producer, in the same language, of the same session as
//! the one before, and says so in the same bytes. What was made of these bytes is handed out again. Nothing else than the
//! bytes is compared, so nothing can be out of date: other bytes are read anew.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::envelope::{Localization, Producer};
use super::ids::{OutputId, SessionId};
use super::same::are_same;
use super::stamp::Minute;

/// An object as it stands in a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<'a> {
    pub(super) text: &'a str,
    /// Its place among the objects that were read last, where it is one of them.
    pub(super) again: Option<usize>,
}

/// Remembers which field came behind which, by their numbers.
#[derive(Debug, Clone)]
pub(super) struct Order([u8; MOST_FIELDS]);

/// How many fields are remembered; what comes behind others is found anew each time.
const MOST_FIELDS: usize = 64;

impl Default for Order {
    fn default() -> Self {
        Self([u8::MAX; MOST_FIELDS])
    }
}

impl Order {
    /// Returns the one that came behind this one last; a number that no field has where none did.
    #[inline]
    pub(super) fn behind(&self, before: usize) -> usize {
        self.0
            .get(before)
            .map_or(usize::MAX, |next| usize::from(*next))
    }

    /// Takes note of what came behind it.
    pub(super) fn note(&mut self, before: usize, next: usize) {
        if let (Some(known), Ok(next)) = (self.0.get_mut(before), u8::try_from(next)) {
            *known = next;
        }
    }
}

/// The places of the objects that were read last.
const PRODUCER: usize = 0;
const HINTS: usize = 1;
const EXTENSIONS: usize = 2;

/// What was made of which text.
type Made<T> = Option<(Box<str>, Arc<T>)>;

/// What was read last, to share it with what is read next.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    producer: Made<Producer>,
    hints: Made<Localization>,
    extensions: Made<Map<String, Value>>,
    session: Option<SessionId>,
    output: Option<OutputId>,
    order: Order,
    minute: Minute,
}

impl Recent {
    /// Returns the objects that were read last, as they stood there, in the order of their places: whole ones; and the
    /// order of the fields.
    pub(super) fn before(&mut self) -> ([Option<&str>; 3], &mut Order) {
        let objects = [
            self.producer.as_ref().map(|(text, _)| &**text),
            self.hints.as_ref().map(|(text, _)| &**text),
            self.extensions.as_ref().map(|(text, _)| &**text),
        ];
        (objects, &mut self.order)
    }

    /// Returns the producer that this object was read as before, or reads it.
    pub(super) fn producer(
        &mut self,
        object: Raw<'_>,
        read: impl FnOnce(&str) -> Option<Producer>,
    ) -> Option<Arc<Producer>> {
        again(&mut self.producer, PRODUCER, object, read)
    }

    /// Returns the hints that this object was read as before, or reads it.
    pub(super) fn hints(
        &mut self,
        object: Raw<'_>,
        read: impl FnOnce(&str) -> Option<Localization>,
    ) -> Option<Arc<Localization>> {
        again(&mut self.hints, HINTS, object, read)
    }

    /// Returns the extensions that this object was read as before, or reads them.
    pub(super) fn extensions(
        &mut self,
        object: Raw<'_>,
        read: impl FnOnce(&str) -> Option<Map<String, Value>>,
    ) -> Option<Arc<Map<String, Value>>> {
        again(&mut self.extensions, EXTENSIONS, object, read)
    }

    /// Reads a timestamp, if it keeps to 3.2.5.
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
