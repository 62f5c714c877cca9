//! How hearken reaches the outside world: links, speech engines, hooks, the proxy, and the differences between systems.
//!
//! Responsibilities: one task per link, a broker between machines, one engine for speech, a server for what agents
//! report, the small commands that agents' hooks run, the tool server that an agent starts, the process between an
//! editor and its agent, files, programs and terminals. Not here: what any of it means (`hearken_core`).

pub mod broker;
pub mod hooks;
pub mod mcp;
pub mod platform;
pub mod producer;
pub mod proxy;
pub mod transport;
pub mod voice;

use aaep as protocol;
use hearken_core::{announce, keys};
use hearken_link::{config, link};
