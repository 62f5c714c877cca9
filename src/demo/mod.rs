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
//! [`Producer`](crate::producer::Producer) and [`DemoAgents`], none of which polls; wrap them in a time limit.

mod agent_gate;
mod catalogue;
mod demo_agents;
mod demo_person;
mod demo_settings;
mod performance;
mod protocol_script;
mod scenario;
mod scenario_reader;
mod served_demo;
#[cfg(test)]
mod tests;
mod text_chunks;

pub use catalogue::{DEFAULT, list, names, script, scripts};
pub use demo_agents::{DemoAgents, SessionRef, StartError};
pub use demo_person::{PERSON, private_key};
pub use demo_settings::{DemoSettings, Pace, StartHearer, Timeouts};
pub use protocol_script::Script;
pub use scenario::{Scenario, ScenarioError, ScenarioInfo};
pub use served_demo::{ServedDemo, serve, serve_at};
