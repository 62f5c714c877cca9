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
// circles, directions, packaging, unique_names), tests in a pseudo-terminal (bursts, hidden_screens, latency,
// linear_terminal, pane_terminal, pty), and tests with a speech-dispatcher (speech) or Unix sockets (proxy). In other
// files, single tests are excluded for the same reasons (docs/systems.md).

// The scripted server from the voice's own tests refers to the voice by this name.
#[cfg(unix)]
use hearken::voice;

#[cfg(unix)]
mod app_rooms;
#[cfg(unix)]
mod architecture;
mod bench;
mod bridge;
#[cfg(unix)]
mod bursts;
mod capture_reports;
#[cfg(unix)]
mod checklist;
#[cfg(unix)]
mod circles;
mod claude_hooks;
mod cli;
mod contract;
mod demo_terms;
mod dialects;
#[cfg(unix)]
mod directions;
mod doctor;
mod documents;
mod endpoint;
mod events;
mod faults;
mod file_trust;
mod floods;
mod german;
mod guide_output;
mod hands;
mod handshake_events;
mod heard_order;
#[cfg(unix)]
mod hidden_screens;
#[cfg(unix)]
mod latency;
#[cfg(unix)]
mod linear_terminal;
mod matrix;
mod mcp_program;
mod musts;
mod nearby_programs;
mod one_judgement;
mod other_hooks;
#[cfg(unix)]
mod packaging;
mod pane;
#[cfg(unix)]
mod pane_terminal;
mod piped_answers;
#[cfg(unix)]
mod proxy;
#[cfg(unix)]
mod pty;
mod question_kinds;
mod readme_pictures;
mod run;
mod screens;
mod setup;
mod source_overrides;
mod sources;
mod speakers;
#[cfg(unix)]
mod speech;
mod spoken_words;
mod spoof;
mod support;
mod transcripts;
#[cfg(unix)]
mod unique_names;
mod word_budget;
