//! The hermetic tests: everything on loopback, nothing installed, no sleeps.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod architecture;
mod cli;
mod contract;
mod documents;
mod events;
mod kinds;
mod latency;
mod lines;
mod look;
mod matrix;
mod replies;
mod sources;
mod support;
mod terminal;
mod transcripts;
