//! The pure core of hearken: agents' actions become announcements, and keys become answers.
//!
//! Responsibilities: the state of each session, announcements and their words, keys, reports over a stream, and the app
//! that ties them together. Not here: the clock, the disk, the network, a screen or a speech engine: facts come in as
//! [`app::Input`], and requests to the world go out as [`app::Effect`].

pub mod announce;
pub mod app;
pub mod bridge;
pub mod inspect;
pub mod keys;
mod report_words;
pub mod session;

use ::aaep as protocol;
pub use hearken_dialects as dialect;
use hearken_link::{config, link};

/// Returns how many of the given number of random runs to make: all of them if `HEARKEN_ALL_RUNS` is set in the
/// environment, as in `.ci/deep`, otherwise a part that takes seconds.
#[cfg(test)]
pub(crate) fn runs(all: u32) -> u32 {
    match std::env::var_os("HEARKEN_ALL_RUNS") {
        Some(_) => all,
        None => all / 5,
    }
}
