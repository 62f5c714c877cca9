//! Who carries out what a person decides about a source's questions, where a protocol wants somebody's name for it.
//!
//! Responsibilities: reading the identity of the settings, judging the handler's address. Not here: what is signed and
//! sent (`dialect`).

use anyhow::Context;

use crate::config::LinkConfig;
use crate::dialect::Identity;
use crate::transport::{Source, SourceError};

/// Reads the identity that speaks for the person, where one is set.
pub(super) fn identity(links: &LinkConfig) -> anyhow::Result<Option<Identity>> {
    let (Some(agent), Some(file)) = (&links.identity, &links.identity_key) else {
        return Ok(None);
    };
    let about = || format!("the key of the identity in {}", file.display());
    let text = std::fs::read_to_string(file).with_context(about)?;
    Ok(Some(Identity::new(agent, &text).with_context(about)?))
}

/// Tells whether somebody else carries the person's decisions out; their address is one that can be used.
pub(super) fn handler(links: &LinkConfig) -> anyhow::Result<bool> {
    let Some(address) = &links.handler else {
        return Ok(false);
    };
    let judged = Source::parse(address, links).map(|source| matches!(source, Source::Http(_)));
    let fits = judged.and_then(|fits| fits.then_some(true).ok_or(SourceError::BadAddress));
    fits.context("the address of the handler")
}
