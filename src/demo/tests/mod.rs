//! The demo over a real socket: every scenario, every branch, every refusal.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod agreed;
mod client;
mod doors;
mod replies;
mod requests;
mod rules;
mod scenarios;
mod shaped;
mod streams;
