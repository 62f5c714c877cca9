//! What the events of one session say about each other: how many tools were called, which tools exist, and
//! where a text continues.
//!
//! Responsibilities: comparing those statements with the events that were seen. Not here: the items that report a
//! difference (`stream_check`), the order of the events (`session`).
//!
//! A difference is reported only if nothing is missing. If the session was joined later, lost events, or is in
//! a stream with unreadable lines, the missing part may explain it.

use std::collections::BTreeMap;

use crate::protocol::{
    OutputId, OutputStreaming, SessionCompleted, SessionId, SessionStarted, ToolInvoked,
};
use crate::session::{AnomalyKind, Change, ChangeKind, SessionEndEvent};

use super::safe_names;
use super::stream_rules::{Fact, StreamRule};

/// The most outputs of a session whose ends are remembered.
const MOST_OUTPUTS: usize = 256;

/// A difference, and the name that it concerns.
type Difference = (Fact, String);

/// The accounts of all sessions that have a report, by its index.
#[derive(Debug, Default)]
pub(super) struct SessionAccounts {
    all: Vec<(SessionId, Account)>,
    /// Whether a line could not be read; anything may have been in it.
    is_unread: bool,
}

impl SessionAccounts {
    /// Adds an account for the session of the next report.
    pub(super) fn begin(&mut self, session: &SessionId) {
        self.all.push((session.clone(), Account::default()));
    }

    /// Notes that an event of any session may be missing.
    pub(super) fn miss_all(&mut self) {
        self.is_unread = true;
        for (_, account) in &mut self.all {
            account.miss();
        }
    }

    /// Notes a change, and compares it with what its session said before. At a successful end, `linked` are the
    /// sessions that work for it under their own ids.
    pub(super) fn compare(
        &mut self,
        index: usize,
        change: &Change,
        linked: &[SessionId],
    ) -> Option<Difference> {
        let (_, account) = self.all.get_mut(index)?;
        if let ChangeKind::SessionStarted(event) = &change.kind {
            account.start(event);
            if self.is_unread {
                account.miss();
            }
            None
        } else if let ChangeKind::Anomaly(anomaly) = &change.kind {
            use AnomalyKind::{LateStart, SequenceGap, SequenceMisorder, SequenceStart};
            let misses = [LateStart, SequenceGap, SequenceMisorder, SequenceStart];
            if misses.contains(&anomaly.kind) {
                account.miss();
            }
            None
        } else if let ChangeKind::ToolInvoked(event) = &change.kind {
            account.call(event)
        } else if let ChangeKind::Output { event, .. } = &change.kind {
            account.chunk(event)
        } else if let ChangeKind::SessionEnded(SessionEndEvent::Completed(event)) = &change.kind {
            let of = |is_meant: &dyn Fn(&SessionId) -> bool| -> (u64, bool) {
                let meant = || self.all.iter().filter(|(id, _)| is_meant(id));
                let invoked = meant().map(|(_, account)| account.invoked).sum();
                (invoked, meant().all(|(_, account)| account.is_complete))
            };
            let (with_helpers, _) = of(&|id| *id == change.key.session);
            let (of_linked, is_whole) = of(&|id| linked.contains(id));
            let (_, account) = self.all.get(index)?;
            // A missing part of a linked session may explain the number.
            (is_whole || event.tool_invocations_count < Some(account.invoked))
                .then(|| account.end(event, [with_helpers, with_helpers + of_linked]))
                .flatten()
        } else {
            None
        }
    }
}

/// The statements and actions of one session so far.
#[derive(Debug, Default)]
struct Account {
    /// Whether the session began here and no part of it is known to be missing.
    is_complete: bool,
    /// The tools that its start listed; empty if it listed none.
    tools: Vec<String>,
    invoked: u64,
    /// How much text there was in all its outputs, in bytes.
    text: u64,
    outputs: BTreeMap<Option<OutputId>, OutputPlace>,
}

/// How far an output has come.
#[derive(Debug, Clone, Copy)]
struct OutputPlace {
    /// Where its last chunk began.
    position: u64,
    /// How much text all outputs had before that chunk.
    before: u64,
}

impl Account {
    /// Notes the start; a session that starts again has a new account.
    fn start(&mut self, event: &SessionStarted) {
        *self = Self {
            is_complete: true,
            tools: event.tools_available.clone(),
            ..Self::default()
        };
    }

    /// Notes that a part of the session is missing.
    fn miss(&mut self) {
        self.is_complete = false;
        self.outputs.clear();
    }

    /// Notes a call; returns the tool's name if the start lists tools, and not this one.
    fn call(&mut self, event: &ToolInvoked) -> Option<Difference> {
        self.invoked += 1;
        let unlisted =
            self.is_complete && !self.tools.is_empty() && !self.tools.contains(&event.tool);
        unlisted.then(|| {
            (
                Fact::Rule(StreamRule::ToolNotListed),
                safe_names::name(&event.tool),
            )
        })
    }

    /// Notes a chunk; returns how much text is missing before it.
    ///
    /// Producers count in characters, UTF-16 units or bytes, and over one output or all of them (4.3.3), so
    /// text is missing only if even all bytes since the last chunk do not reach this one.
    fn chunk(&mut self, event: &OutputStreaming) -> Option<Difference> {
        let before = self.text;
        self.text += event.chunk.len() as u64;
        let position = event.position?;
        let reached = OutputPlace { position, before };
        let last = match self.outputs.get_mut(&event.output_id) {
            Some(known) => std::mem::replace(known, reached),
            None => {
                if self.outputs.len() < MOST_OUTPUTS {
                    self.outputs.insert(event.output_id.clone(), reached);
                }
                return None;
            }
        };
        let most = (last.position).saturating_add(before - last.before);
        (position > most).then(|| {
            (
                Fact::Rule(StreamRule::PositionGap),
                (position - most).to_string(),
            )
        })
    }

    /// Compares the number of calls that a session's end states with those that were seen. The chapters count
    /// what "the agent invoked during this session" (4.1.2) and say nothing about agents that work for it,
    /// under its id or linked to it (A.9): each way to count is accepted.
    fn end(&self, event: &SessionCompleted, with_others: [u64; 2]) -> Option<Difference> {
        let stated = event.tool_invocations_count?;
        let differs = self.is_complete && stated != self.invoked && !with_others.contains(&stated);
        let seen = self.invoked;
        differs.then(|| (Fact::CountDiffers { stated, seen }, String::new()))
    }
}
