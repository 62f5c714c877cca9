//! hearken lets a person follow AI agents by ear, in braille or at a glance, and answer them with a
//! key press.
//!
//! The library is a pure core with a thin shell. Facts come in as [`app::Input`], orders go out as
//! [`app::Effect`], and `App::update` is the only place where state changes. `docs/architecture.md`
//! has the map.

pub mod bench;
pub mod cli;
pub mod demo;
pub mod doctor;
pub mod guide;
pub mod linear;
pub mod pane;
pub mod runtime;
pub mod setup;

pub use aaep as protocol;
pub use hearken_core::{announce, app, bridge, inspect, keys, session};
pub use hearken_dialects as dialect;
pub use hearken_io::{broker, hooks, mcp, producer, proxy, transport, voice};
pub use hearken_link::{config, link};

use hearken_io::platform;
