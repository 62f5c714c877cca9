//! hearken follows AI agents by ear, by braille or by a glance, and answers them by a key.
//!
//! The library is a pure core with a thin shell. Facts come in as [`app::Input`], wishes go out as
//! [`app::Effect`], and `App::update` is the only place where state changes. `docs/architecture.md`
//! has the map.

pub mod announce;
pub mod app;
pub mod bench;
pub mod cli;
pub mod config;
pub mod demo;
pub mod dialect;
pub mod doctor;
pub mod guide;
pub mod hooks;
pub mod inspect;
pub mod keys;
pub mod linear;
pub mod link;
pub mod pane;
mod platform;
pub mod protocol;
pub mod proxy;
pub mod runtime;
pub mod session;
pub mod transport;
pub mod voice;

/// Says how many of so many random runs are made: all of them where the environment has `HEARKEN_ALL_RUNS`, as in
/// `.ci/deep`, else a part that takes seconds.
#[cfg(test)]
pub(crate) fn runs(all: u32) -> u32 {
    if std::env::var_os("HEARKEN_ALL_RUNS").is_some() {
        all
    } else {
        all / 5
    }
}
