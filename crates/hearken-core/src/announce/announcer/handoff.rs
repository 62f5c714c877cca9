//! The words for a handoff: to whom, why, and what the receiver learns.
//!
//! Responsibilities: saying everything once, with names that make sense when heard. Not here: how much of it
//! each verbosity includes (the phrase file).

use crate::config::Verbosity;
use crate::protocol::HandoffRequested;
use crate::session::Change;

use super::change_wording::{agents, name};
use super::{Announcer, Draft};
use crate::announce::announcement::{AnnouncementKind, Class};
use crate::announce::words::phrase::Arg;

impl Announcer {
    /// Words a handoff.
    pub(super) fn handoff(&self, change: &Change, event: &HandoffRequested) -> Draft {
        let target = match event.target_kind.as_deref() {
            Some("human") => Arg::own(self.phrases.text("handoff.human", &[])),
            Some("specialist_agent") => Arg::own(self.phrases.text("handoff.specialist", &[])),
            Some("escalation_queue") => Arg::own(self.phrases.text("handoff.queue", &[])),
            other => name(other),
        };
        let summary = self.summary(change, &event.summary, AnnouncementKind::Handoff);
        // Producers begin the summary with the reason; in terse mode, the reason is all that is spoken.
        let is_told = self.level(change.key.link, AnnouncementKind::Handoff) != Verbosity::Terse
            && matches!(&summary, Arg::Agent(summary, _) if tells(summary, &event.reason));
        let reason = Some(event.reason.as_str()).filter(|_| !is_told);
        // A summary made of the handoff itself and the beginning of the reason adds nothing.
        let summary = match &summary {
            Arg::Agent(text, _)
                if reason.is_some_and(|reason| begins(text, reason))
                    && self.level(change.key.link, AnnouncementKind::Handoff)
                        != Verbosity::Detailed =>
            {
                Arg::own("")
            }
            Arg::Agent(..)
            | Arg::Own(_)
            | Arg::Sounding { .. }
            | Arg::Name(_)
            | Arg::Tool(_)
            | Arg::Exact(..)
            | Arg::Command(_)
            | Arg::Inline(_) => summary,
        };
        let context = context(&event.packaged_context);
        let args = [
            ("target", target),
            ("summary", summary),
            ("reason", agents(change, reason)),
            ("context", agents(change, Some(&context))),
        ];
        self.phrase(
            change,
            Class::Alert,
            AnnouncementKind::Handoff,
            "handoff",
            &args,
        )
    }
}

/// Returns whether a summary contains a reason word for word, ignoring its final stop.
fn tells(summary: &str, reason: &str) -> bool {
    let reason = reason.trim().trim_end_matches(['.', '!', '。']);
    !reason.is_empty() && summary.contains(reason)
}

/// Returns whether a summary's first sentence begins the reason, which then says the same and more.
fn begins(summary: &str, reason: &str) -> bool {
    let first = summary.split(['.', '!', '。']).next().unwrap_or_default();
    !first.trim().is_empty() && reason.trim().starts_with(first.trim())
}

/// Words what the receiver learns: each name as words, each entry as a sentence.
fn context(packaged: &[(String, String)]) -> String {
    let mut words = String::new();
    for (key, value) in packaged {
        if !words.is_empty() {
            let is_over = words.ends_with(|c: char| !c.is_alphanumeric());
            words.push_str(if is_over { " " } else { ". " });
        }
        words.push_str(&key.replace('_', " "));
        words.push_str(": ");
        words.push_str(value.trim());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_the_summary_tells_is_not_told_again() {
        assert!(tells(
            "The card was refused. A person has to pay.",
            "The card was refused."
        ));
        assert!(!tells("A person has to pay.", "The card was refused."));
        assert!(!tells("A person has to pay.", " . "));
    }

    #[test]
    fn a_summary_that_begins_as_the_reason_does_is_told_by_it() {
        let reason = "Your question needs an advisor who can look at your papers.";
        assert!(begins(
            "Your question needs an advisor. I hand it over.",
            reason
        ));
        assert!(!begins(
            "I hand it over. Your question needs an advisor.",
            reason
        ));
        assert!(!begins("", reason));
    }

    #[test]
    fn what_the_next_one_is_told_is_sentences_with_names_as_words() {
        let packaged = [
            ("request", "Where is tax due?"),
            ("tools_invoked", "search_rules"),
            ("open_question", "Which rule holds."),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(
            context(&packaged),
            "request: Where is tax due? tools invoked: search_rules. open question: Which rule holds."
        );
    }
}
