//! A stream's own instructions for resuming it.
//!
//! Responsibilities: sharing them between the connection that receives them (`sse_filter`) and the next request
//! (`stream_request`). Not here: when a connection counts as resumed (`sse`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;

/// A stream's own instructions for resuming it; written by the filter, read by the next request.
#[derive(Debug, Default)]
pub(super) struct Resume {
    /// The last id, ready to be sent; `None` if there was none or the stream cleared it.
    pub(super) last_event_id: Option<HeaderValue>,
    /// Whether events without an id followed: then resuming after the id does not prove that nothing was missed.
    pub(super) passed: bool,
    /// The stream's `retry:`.
    pub(super) retry: Option<Duration>,
}

/// The resumption shared by the filter and the next request, which never run at the same time.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedResume(Arc<Mutex<Resume>>);

impl SharedResume {
    /// Runs a function on the resumption; a poisoned lock still contains plain, complete values.
    pub(super) fn with<T>(&self, run: impl FnOnce(&mut Resume) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
