//! The extension of an event that hearken translated from another protocol, if it carries only the usual fields.
//!
//! Responsibilities: reading it. Not here: the data that it may carry (`attachments`), and other extensions,
//! with which an event takes the full path.

use serde_json::{Map, Value};

use super::borrowed_value::{BorrowedText, Object, there};
use crate::translated_events::TRANSLATED;

/// The extensions that are read here.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Extensions<'a> {
    #[serde(borrow)]
    hearken: Object<HearkenExtension<'a>>,
}

/// The fields of our own extension: the dialect and the conversation.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct HearkenExtension<'a> {
    #[serde(borrow)]
    translated: BorrowedText<'a>,
    #[serde(default, deserialize_with = "there")]
    thread: Option<BorrowedText<'a>>,
}

/// Reads an event's extensions.
pub(super) fn extensions(text: &str) -> Option<Map<String, Value>> {
    let Object(extensions): Object<Extensions<'_>> = serde_json::from_str(text).ok()?;
    let Object(own) = extensions.hearken;
    let thread = own.thread.map(|thread| ("thread", thread));
    let fields = [(TRANSLATED, own.translated)].into_iter().chain(thread);
    let fields = fields.map(|(name, text)| (name.to_owned(), text.0.into_owned().into()));
    let own = Value::Object(fields.collect());
    Some(Map::from_iter([("hearken".to_owned(), own)]))
}
