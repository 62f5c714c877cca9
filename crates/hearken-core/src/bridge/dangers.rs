//! Reports for watchers that do not receive an agent's calls: dangers, and questions that a call decided.
//!
//! Responsibilities: these reports, and counting agents by state. Not here: what a danger is (`session`), its
//! words for a person (the watcher's dialect).
//!
//! # Mental model
//! A person asked by a thousand agents receives their questions, starts and ends, and the calls of a few. A
//! danger shows in a call, so the bridge, which sees everything, reports it; watchers that see the call ignore
//! the report.

use std::time::Duration;

use crate::dialect::fleet::{BridgeReport, Census, Closed, DangerKind, ReportedDanger};
use crate::protocol::Now;
use crate::session::{Change, ChangeKind, CloseReason, Danger, Phase, QuestionId, ToolEvent};

use super::Bridge;

/// The states of an agent that proceeds with the call that it asked about, and of one that does not.
const CALLING: &str = "calling_tool";
const THINKING: &str = "thinking";
/// How long a working agent may be silent before it counts as silent.
const SILENT: Duration = Duration::from_secs(60);

impl Bridge {
    /// Reports those of these changes that no question, start or end shows.
    pub(super) fn report_changes(&mut self, changes: &[Change], now: Now) {
        for change in changes {
            match &change.kind {
                ChangeKind::Danger(danger) => self.report_danger(change, danger, now),
                ChangeKind::QuestionClosed {
                    question,
                    reason: CloseReason::ToolWentOn { event: how },
                } => self.report_decided(*question, *how, now),
                _ => {}
            }
        }
    }

    /// Reports that a call decided a question. An answer from a watcher is reported separately, with its
    /// person.
    fn report_decided(&mut self, question: QuestionId, how: ToolEvent, now: Now) {
        let Some(question) = self.sessions.question(question) else {
            return;
        };
        let link = question.key.link;
        let Some(token) = question.body.token().cloned() else {
            return;
        };
        let to = match how {
            ToolEvent::Invoked | ToolEvent::Succeeded => CALLING,
            ToolEvent::Failed | ToolEvent::TimedOut | ToolEvent::SessionEnded => THINKING,
        };
        let how = Closed::Decided { to: to.to_owned() };
        if !self.is_under_way(link, &token)
            && let Some(question) = self.answers.closed(link, &token, &how)
        {
            self.report(
                BridgeReport::Closed {
                    question,
                    reason: how,
                },
                now,
            );
        }
    }

    fn report_danger(&mut self, change: &Change, danger: &Danger, now: Now) {
        let Some((kind, tool, question, ran)) = shown_by_calls(danger) else {
            return;
        };
        let question = question.and_then(|question| {
            let question = self.sessions.question(question)?;
            let token = question.body.token()?;
            self.answers.event_of(question.key.link, token)
        });
        let danger = ReportedDanger {
            agent: change.key.agent.clone(),
            kind,
            tool: tool.to_owned(),
            ran: ran.filter(|ran| !ran.is_empty()).map(str::to_owned),
            question,
        };
        self.report(BridgeReport::Danger(danger), now);
    }

    /// Counts the agents by state.
    pub fn census(&self, now: Now) -> Census {
        let mut census = Census::default();
        for session in self.sessions.iter() {
            let silent_for = now.monotonic.saturating_sub(session.last_event);
            match session.phase {
                Phase::Ended(_) => {}
                Phase::Waiting(_) => census.waiting += 1,
                Phase::Running if silent_for >= SILENT => census.silent += 1,
                Phase::Running => census.working += 1,
            }
        }
        census
    }
}

/// Returns the kind of a danger that shows in calls, with the tool, the question and what ran instead; `None`
/// for a danger that shows in a question, which every watcher receives.
fn shown_by_calls(danger: &Danger) -> Option<(DangerKind, &str, Option<QuestionId>, Option<&str>)> {
    Some(match danger {
        Danger::Unasked { tool, .. } => (DangerKind::Unasked, tool, None, None),
        Danger::PerhapsUnasked { tool, .. } | Danger::PerhapsUnaskedLost { tool, .. } => {
            (DangerKind::PerhapsUnasked, tool, None, None)
        }
        Danger::DoneAfterRejection { tool, suspicion } => {
            let kind = match suspicion {
                it if it.by_silence => DangerKind::Lapsed,
                it if it.is_sure => DangerKind::Rejected,
                _ => DangerKind::PerhapsRejected,
            };
            // Silence rejects for every watcher alike, so no question is named.
            let question = (!suspicion.by_silence).then_some(suspicion.question);
            (kind, tool, question, None)
        }
        Danger::RanOtherwise {
            tool,
            question,
            ran,
        } => (DangerKind::RanOtherwise, tool, Some(*question), Some(ran)),
        Danger::ActsAfterEnd { tool } => (DangerKind::AfterEnd, tool, None, None),
        Danger::AcceptsBySilence { .. } | Danger::AnsweredAfterEnd { .. } => return None,
    })
}
