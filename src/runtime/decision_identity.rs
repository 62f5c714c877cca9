//! The identity and the handler for a person's decisions about a source's questions, in protocols that require a name.
//!
//! Responsibilities: reading the identity from the settings, checking the handler's address. Not here: what is signed
//! and sent (`dialect`).

use crate::announce::Reason;
use crate::config::LinkConfig;
use crate::dialect::Identity;
use crate::platform::files;
use crate::transport::{Source, SourceError};

use super::request_failure::{self, RequestFailure};

/// Reads the identity that speaks for the person, if one is set.
pub(super) fn identity(links: &LinkConfig) -> Result<Option<Identity>, RequestFailure> {
    let (Some(agent), Some(file)) = (&links.identity, &links.identity_key) else {
        return Ok(None);
    };
    let about = |why: Reason| {
        let failure = RequestFailure::new("call.identity").with("file", file.display());
        failure.because(why)
    };
    let text = files::open_to_read(file)
        .and_then(std::io::read_to_string)
        .map_err(|error| about(Reason::of_reading(&error)))?;
    let read = Identity::new(agent, &text);
    Ok(Some(read.map_err(|error| {
        about(request_failure::identity(error))
    })?))
}

/// Returns whether a separate handler carries out the person's decisions, and checks that its address is usable.
pub(super) fn handler(links: &LinkConfig) -> Result<bool, RequestFailure> {
    let Some(address) = &links.handler else {
        return Ok(false);
    };
    let judged = Source::parse(address, links).map(|source| matches!(source, Source::Http(_)));
    let fits = judged.and_then(|fits| fits.then_some(true).ok_or(SourceError::BadAddress));
    fits.map_err(|error| {
        RequestFailure::new("call.handler").because(request_failure::source(&error))
    })
}
