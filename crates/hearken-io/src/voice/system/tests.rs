//! Tests of both sides: the program's with scripted children, the child's with a scripted engine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod child_side;
#[cfg(unix)]
mod program_side;
