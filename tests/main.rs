//! The hermetic tests: everything on loopback, nothing installed, no sleeps.

#![cfg_attr(
    windows,
    allow(
        unused,
        reason = "what is for Unix alone leaves helpers without a user"
    )
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

// Not on Windows: tests of the repository that do not depend on the system (app_rooms, architecture, checklist,
// circles, directions, packaging), tests in a pseudo-terminal (bursts, latency, lines, pty, sight, terminal), and tests
// with a speech-dispatcher (speech) or Unix sockets (proxy). In other files, single tests are excluded for the same
// reasons (docs/systems.md).

// The scripted server from the voice's own tests refers to the voice by this name.
#[cfg(unix)]
use hearken::voice;

mod agreed_events;
#[cfg(unix)]
mod app_rooms;
#[cfg(unix)]
mod architecture;
mod bench;
mod bridge;
#[cfg(unix)]
mod bursts;
#[cfg(unix)]
mod checklist;
#[cfg(unix)]
mod circles;
mod cli;
mod contract;
mod dialects;
#[cfg(unix)]
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
mod hooked_others;
mod judged;
mod kinds;
#[cfg(unix)]
mod latency;
#[cfg(unix)]
mod lines;
mod look;
mod matrix;
mod musts;
mod nearby;
mod order;
mod own;
#[cfg(unix)]
mod packaging;
mod pane;
mod pictures;
#[cfg(unix)]
mod proxy;
#[cfg(unix)]
mod pty;
mod replies;
mod run;
mod screens;
mod served;
mod setup;
#[cfg(unix)]
mod sight;
mod sources;
mod speakers;
#[cfg(unix)]
mod speech;
mod spoof;
mod support;
mod telling;
#[cfg(unix)]
mod terminal;
mod terms;
mod transcripts;
mod trust;
mod words;
