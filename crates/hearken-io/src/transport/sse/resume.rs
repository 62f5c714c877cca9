//! What a stream said about its own resumption.
//!
//! Responsibilities: sharing it between the connection that says it (`filter`) and the next request (`request`).
//! Not here: when a connection counts as resumed (`sse`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;

/// What a stream said about its own resumption; written by the filter, read by the next request.
#[derive(Debug, Default)]
pub(super) struct Resume {
    /// The last id, ready to be sent; absent when there was none or the stream cleared it.
    pub(super) last_event_id: Option<HeaderValue>,
    /// Whether events without an id came since: then going on behind the id is no proof of anything.
    pub(super) passed: bool,
    /// The stream's `retry:`.
    pub(super) retry: Option<Duration>,
}

/// Shares the resumption between the filter and the next request, which never run at once.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedResume(Arc<Mutex<Resume>>);

impl SharedResume {
    /// Runs something with the resumption; a lock that was poisoned still holds plain, whole values.
    pub(super) fn with<T>(&self, run: impl FnOnce(&mut Resume) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
