//! The demo: agents inside the program that act out scenarios.
//!
//! Responsibilities: giving `hearken demo`, `hearken demo --serve` and the tests an agent that needs no key, no network
//! and no model, and keeps every rule of the protocol; its pace, clock and ids are parameters. Not here: serving AAEP
//! (`producer`), anything a subscriber does; the two meet on a socket only.
//!
//! ```text
//! assets/demo/*.jsonl -> reader -> scenario -> perform -> producer -> socket
//!                                      ^          |
//!                                   agents <------'- outcomes of questions
//! ```
//! Tests use [`DemoSettings::stepped`] and wait with the `until_…` methods of
//! [`Producer`](crate::producer::Producer) and [`Agents`], none of which polls; wrap them in a time limit.

mod agents;
mod catalogue;
mod gate;
mod perform;
mod person;
mod reader;
mod running;
mod say;
mod scenario;
mod script;
mod settings;
#[cfg(test)]
mod tests;

pub use agents::{Agents, SessionRef, StartError};
pub use catalogue::{DEFAULT, list, names, script, scripts};
pub use person::{PERSON, private_key};
pub use running::{Running, serve, serve_at};
pub use scenario::{Scenario, ScenarioError, ScenarioInfo};
pub use script::Script;
pub use settings::{DemoSettings, Pace, StartHearer, Timeouts};
