//! The hermetic tests: everything on loopback, nothing installed, no sleeps.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

// The scripted server of the voice's own tests names the voice so.
use hearken::voice;

mod agreed_events;
mod app_rooms;
mod architecture;
mod bursts;
mod checklist;
mod circles;
mod cli;
mod contract;
mod dialects;
mod directions;
mod doctor;
mod documents;
mod endpoint;
mod events;
mod faults;
mod floods;
mod german;
mod guide;
mod hands;
mod hooked;
mod kinds;
mod latency;
mod lines;
mod look;
mod matrix;
mod musts;
mod nearby;
mod order;
mod own;
mod packaging;
mod pane;
mod pictures;
mod proxy;
mod pty;
mod replies;
mod run;
mod screens;
mod sight;
mod sources;
mod speakers;
mod speech;
mod spoof;
mod support;
mod telling;
mod terminal;
mod terms;
mod transcripts;
mod words;
