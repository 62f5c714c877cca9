//! What a bridge and its watchers tell each other beyond AAEP.
//!
//! A bridge offers what any dialect receives again as AAEP. For most of it AAEP is enough, and any subscriber can
//! follow and answer it. Three things have no place there, and this module gives them one:
//!
//! - **What the bridge reports in its own name** ([`BridgeReport`]): what can be done with its agents, a sentence for
//!   people, what an agent did without being allowed to, what became of a question. Each is an AAEP event of an
//!   extension type (`hearken:…`), which other subscribers may ignore (7.4.1).
//! - **What a watcher requests** ([`Request`]): a reply with the digest of the question that its person was shown, a
//!   prompt, a stop.
//! - **What becomes of a request** ([`RequestOutcome`]), for the one who made it.
//!
//! Responsibilities: the form of these messages, and the digest of a question ([`digest`]). Not here: deciding
//! anything (`bridge` in the core), the watcher's side (`aaep`), sockets (the shell).

mod bridge_report;
mod census;
mod danger;
mod machine_side;
mod question_digest;
mod subject;
mod watcher_memory;
mod watcher_request;

pub use bridge_report::{AnsweredBy, BridgeAbilities, BridgeReport, Closed};
pub use census::Census;
pub use danger::{DangerKind, ReportedDanger};
pub use machine_side::{PublishedEvent, Publishing, person_request, snapshot};
pub use question_digest::{digest, digest_of};
pub use subject::{
    DEFAULT_SPACE, EventSubject, Machine, Space, SubjectLane, agent_of_request, token,
};
pub(crate) use watcher_memory::{AskedQuestion, Purpose, WatcherMemory};
pub use watcher_request::{Request, RequestContent, RequestFault, RequestOutcome};

/// The agent's id in a bridge's own events.
pub const BRIDGE: &str = "hearken-bridge";
/// The field of the extension `hearken` that marks a question as one that can only be seen here.
pub const VIEW_ONLY: &str = "view_only";
/// The longest name of a machine or a person that is kept, in characters.
const LONGEST_NAME: usize = 64;
/// The longest sentence of a bridge that is kept, in characters.
const LONGEST_SENTENCE: usize = 4096;

/// Returns a text without control characters, cut to a bound; `None` if nothing is left.
fn name(text: &str, most: usize) -> Option<String> {
    let plain = text.chars().filter(|sign| !sign.is_control());
    let name: String = plain.take(most).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
