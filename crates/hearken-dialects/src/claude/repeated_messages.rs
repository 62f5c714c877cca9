//! Messages that arrive twice, because two settings files have the hooks, or the hooks run two
//! programs.
//!
//! Responsibilities: whether a message repeats an earlier one. Not here: what a message does (`client`).
//!
//! Mental model: Claude Code runs all hooks of an event at once and gives each the same text. A message that names its
//! call is a repeat whenever its content is. Any other is a repeat of an equal one only within [`TOGETHER`], with no
//! prompt or end between the two; a permission only if no other call of the same kind still waits for one.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use serde_json::Value;

use crate::protocol::object;

use super::messages::{Hook, HookNews, PermissionRequest, TEXTS};

/// The time within which the hooks of one event run.
const TOGETHER: Duration = Duration::from_secs(2);
/// How many messages are remembered, over all conversations.
const MOST: usize = 1024;

/// A message that came.
#[derive(Debug)]
struct ReceivedMessage {
    conversation: u64,
    content: u64,
    names_call: bool,
    at: Duration,
}

/// The latest messages.
#[derive(Debug, Default)]
pub(super) struct RecentMessages {
    latest: VecDeque<ReceivedMessage>,
}

impl RecentMessages {
    /// Records a message; returns whether it repeats an earlier one. `is_awaited` tells whether a call like that of a
    /// permission still waits for a permission of its own.
    pub(super) fn meet(
        &mut self,
        hook: &Hook,
        body: &str,
        is_awaited: impl FnOnce(&PermissionRequest) -> bool,
        now: Duration,
    ) -> bool {
        let (conversation, content) = (digest(&hook.conversation), content(body));
        let found = self.latest.iter().rfind(|it| {
            it.content == content && (it.names_call || now.saturating_sub(it.at) <= TOGETHER)
        });
        let is_repeated = match &hook.news {
            // Only its call says whether it is another one.
            HookNews::Asks(asks) => found.is_some() && !is_awaited(asks),
            HookNews::Begins { .. }
            | HookNews::Prompted(_)
            | HookNews::Calls(_)
            | HookNews::Called(..)
            | HookNews::Notice { .. }
            | HookNews::AsksThere(_)
            | HookNews::Elicits(_)
            | HookNews::Elicited
            | HookNews::Shows(_)
            | HookNews::Model(_)
            | HookNews::Tells(..)
            | HookNews::Batch(_)
            | HookNews::Interrupted
            | HookNews::HelperBegins(_)
            | HookNews::HelperEnds(_)
            | HookNews::Stops(_)
            | HookNews::Breaks(_)
            | HookNews::Ends
            | HookNews::Quiet
            | HookNews::Unknown(_) => found.is_some(),
        };
        if is_repeated {
            return true;
        }
        let (separates, names_call) = match &hook.news {
            HookNews::Prompted(_)
            | HookNews::Stops(_)
            | HookNews::Breaks(_)
            | HookNews::Interrupted
            | HookNews::Ends => (true, false),
            HookNews::Calls(made) | HookNews::Called(made, _) => (false, !made.id.is_empty()),
            HookNews::Asks(_)
            | HookNews::Begins { .. }
            | HookNews::Notice { .. }
            | HookNews::AsksThere(_)
            | HookNews::Elicits(_)
            | HookNews::Elicited
            | HookNews::Shows(_)
            | HookNews::Model(_)
            | HookNews::Tells(..)
            | HookNews::Batch(_)
            | HookNews::HelperBegins(_)
            | HookNews::HelperEnds(_)
            | HookNews::Quiet
            | HookNews::Unknown(_) => (false, false),
        };
        if separates {
            self.latest
                .retain(|it| it.names_call || it.conversation != conversation);
        }
        if self.latest.len() == MOST {
            self.latest.pop_front();
        }
        self.latest.push_back(ReceivedMessage {
            conversation,
            content,
            names_call,
            at: now,
        });
        false
    }
}

/// Returns a digest of what Claude Code wrote, without what each relay adds.
fn content(body: &str) -> u64 {
    match object(body) {
        Some(mut map) => {
            map.remove(TEXTS);
            digest(&Value::Object(map).to_string())
        }
        None => digest(body),
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
