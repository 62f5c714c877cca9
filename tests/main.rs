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

// What wants a pseudo-terminal, a shell, signals or Unix sockets, and what looks at the repository and no system, is not for
// Windows (docs/systems.md).

// The scripted server of the voice's own tests names the voice so.
#[cfg(unix)]
use hearken::voice;

mod agreed_events;
#[cfg(unix)]
mod app_rooms;
#[cfg(unix)]
mod architecture;
mod bench;
#[cfg(unix)]
mod bursts;
#[cfg(unix)]
mod checklist;
#[cfg(unix)]
mod circles;
#[cfg(unix)]
mod cli;
mod contract;
mod dialects;
#[cfg(unix)]
mod directions;
#[cfg(unix)]
mod doctor;
mod documents;
mod endpoint;
mod events;
mod faults;
#[cfg(unix)]
mod floods;
mod german;
#[cfg(unix)]
mod guide;
mod hands;
#[cfg(unix)]
mod hooked;
#[cfg(unix)]
mod kinds;
#[cfg(unix)]
mod latency;
#[cfg(unix)]
mod lines;
mod look;
#[cfg(unix)]
mod matrix;
#[cfg(unix)]
mod musts;
#[cfg(unix)]
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
#[cfg(unix)]
mod run;
mod screens;
#[cfg(unix)]
mod sight;
#[cfg(unix)]
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
mod words;
