//! An agreed subscription: its terms, their changes, and whether they are kept.
//!
//! Responsibilities: the terms asked for and honoured, announced once if they differ; renegotiation (5.7); a stream
//! that exceeds its rate (5.6.2); the producer's end of the subscription. Not here: reaching the agreement
//! (`subscription`), the single terms (`terms`).

use crate::Cx;
use std::collections::VecDeque;
use std::time::Duration;

use crate::link::{Fault, Phrase, PhraseArg};
use crate::protocol::{Capabilities, EventFilters, object, renegotiate};

use super::terms::{self, Difference};
use super::{Aaep, DialectOutput, Handshake, Handshakes, OpenQuestionsChange, tell};

/// The period over which arrivals are counted against the agreed rate.
const RATE_WINDOW: Duration = Duration::from_secs(5);
/// The shortest time between two requests for a lower rate: the producer needs time to adapt to the last one.
const RATE_PAUSE: Duration = Duration::from_secs(60);

/// A subscription that ends sooner is not requested again on the same connection, to avoid an endless loop.
const LASTING: Duration = Duration::from_secs(5);

/// The agreement with a producer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Agreement {
    pub(super) id: String,
    pub(super) location: Option<String>,
    pub(super) requested: Capabilities,
    pub(super) honored: Capabilities,
    /// When it was agreed.
    pub(super) at: Duration,
    /// Whether it is followed on a later connection than the one it was agreed on.
    pub(super) followed_again: bool,
    /// The last change that was requested, while its answer is pending.
    pub(super) changing: Option<(u64, Capabilities)>,
    /// The arrival times of events that are not critical, within [`RATE_WINDOW`].
    arrivals: VecDeque<Duration>,
    /// When a lower rate was last requested because the stream exceeded the agreed one, and that rate.
    slowed: Option<(Duration, u64)>,
}

impl Agreement {
    pub(super) fn new(
        id: String,
        location: Option<String>,
        asked: Capabilities,
        honored: Capabilities,
        at: Duration,
    ) -> Self {
        Self {
            id,
            location,
            requested: asked,
            honored,
            at,
            followed_again: false,
            changing: None,
            arrivals: VecDeque::new(),
            slowed: None,
        }
    }

    /// Records an arrival; returns a lower rate to request if the producer exceeds the agreed one.
    fn outrun(&mut self, now: Duration) -> Option<u64> {
        let rate = self
            .honored
            .max_events_per_second
            .or(self.requested.max_events_per_second)?;
        // A token bucket allows a burst of one second's worth (5.6.1).
        let most = usize::try_from(rate.saturating_mul(RATE_WINDOW.as_secs() + 1)).ok()?;
        self.arrivals.push_back(now);
        while self
            .arrivals
            .front()
            .is_some_and(|at| *at + RATE_WINDOW <= now)
            || self.arrivals.len() > most.saturating_add(1)
        {
            self.arrivals.pop_front();
        }
        let rested = self.slowed.is_none_or(|(at, _)| now >= at + RATE_PAUSE);
        if self.arrivals.len() <= most || !rested || self.changing.is_some() || rate <= 1 {
            return None;
        }
        self.slowed = Some((now, rate / 2));
        self.arrivals.clear();
        Some(rate / 2)
    }
}

/// Returns whether an event is critical: critical events do not count against the rate (5.6.3). The search for the word
/// spares most events a second parse.
fn is_critical(text: &str) -> bool {
    text.contains("\"critical\"")
        && object(text).is_some_and(|event| {
            event.get("urgency").and_then(serde_json::Value::as_str) == Some("critical")
        })
}

impl Aaep {
    /// Checks whether a producer keeps to the agreed rate, and asks for a lower one if not.
    pub(super) fn watch_rate(&mut self, text: &str, cx: &mut Cx<'_>) {
        let Handshake::Agreed(agreed) = &mut self.handshake else {
            return;
        };
        if is_critical(text) {
            return;
        }
        let Some(rate) = agreed.outrun(cx.now.monotonic) else {
            return;
        };
        let rate = PhraseArg::Own(rate.to_string());
        cx.out.push(DialectOutput::Announce(
            tell("link.outrun").with("rate", rate),
        ));
        self.renew_terms(cx.out);
    }

    /// Returns the terms that are wanted now.
    pub(super) fn capabilities(&self) -> Capabilities {
        let slowed = match &self.handshake {
            Handshake::Agreed(agreed) => agreed.slowed.map(|(_, rate)| rate),
            Handshake::Idle
            | Handshake::Manifest { .. }
            | Handshake::Asked(_)
            | Handshake::Plain => None,
        };
        let wanted = terms::requested_terms(&self.asks, &self.wanted_terms);
        Capabilities {
            supported_extensions: Some(self.extensions()),
            max_events_per_second: slowed.or(wanted.max_events_per_second),
            ..wanted
        }
    }

    /// Requests the terms that are wanted now, if they differ from those asked for (5.7). Without a connection, this
    /// waits for the next one.
    pub(super) fn renew_terms(&mut self, out: &mut Vec<DialectOutput>) {
        if !self.up {
            return;
        }
        let wanted = self.capabilities();
        let Handshake::Agreed(agreed) = &mut self.handshake else {
            return;
        };
        // A change on top of a pending one is requested as both together.
        let before = agreed.changing.as_ref().map(|(_, change)| change.clone());
        let before = before.unwrap_or_default();
        let Some(change) = agreed.requested.amended(&before).lacking(&wanted) else {
            return;
        };
        let change = before.amended(&change);
        let message = renegotiate(&agreed.id, &change);
        let request = match self.at {
            Handshakes::Beside => {
                let request = self.numbers.fresh();
                out.push(DialectOutput::Call {
                    request,
                    call: self.addresses.tell(message),
                });
                request
            }
            Handshakes::Inside | Handshakes::Nowhere => self.send(&message, out),
        };
        if let Handshake::Agreed(agreed) = &mut self.handshake {
            agreed.changing = Some((request, change));
        }
    }

    /// Returns whether the producer was asked to leave some events out (5.3.1.7): the resulting gaps in the numbers
    /// look like lost events.
    pub(super) fn leaves_out(&self) -> bool {
        let filters = match &self.handshake {
            Handshake::Agreed(agreed) => agreed.requested.event_filters.as_ref(),
            Handshake::Idle
            | Handshake::Manifest { .. }
            | Handshake::Asked(_)
            | Handshake::Plain => None,
        };
        let whole = |filters: &EventFilters| {
            let everything = ["*", "aaep:*", "aaep:agent.*"];
            filters.exclude.is_empty()
                && (filters.include.iter()).any(|one| everything.contains(&one.as_str()))
        };
        filters.is_some_and(|filters| !whole(filters))
    }

    pub(super) fn change_failed(&mut self, fault: Fault, out: &mut Vec<DialectOutput>) {
        if matches!(fault, Fault::Status { .. }) {
            self.change_refused(PhraseArg::Fault(fault), out);
            return;
        }
        if let Handshake::Agreed(agreed) = &mut self.handshake {
            // The change did not arrive, so the next one includes it.
            agreed.changing = None;
        }
        Self::tell_unchanged(PhraseArg::Fault(fault), out);
    }

    /// Handles a rejected change, which ends the subscription (5.7): its open questions are decided by their defaults
    /// (5.8.2), and a new one is requested on the terms that were agreed before. Beside a stream that happens when the
    /// server ends the stream. The rejected change is not requested again.
    pub(super) fn change_ended(&mut self, reason: PhraseArg, cx: &mut Cx<'_>) {
        let Handshake::Agreed(agreed) = &mut self.handshake else {
            return;
        };
        let Some((_, change)) = agreed.changing.take() else {
            return;
        };
        self.kept_terms = Some((agreed.requested.clone(), change));
        cx.out.push(DialectOutput::Release);
        self.step(Handshake::Idle, cx.out);
        self.last_words(None, cx.out);
        let told = tell("link.change_ended").with("reason", reason);
        cx.out.push(DialectOutput::Announce(told));
        cx.out
            .push(DialectOutput::Standing(OpenQuestionsChange::Decided));
        self.shake_hands_inside(cx.out);
    }

    /// Handles a change that was not taken: the agreement stays, and the same change is not requested again.
    fn change_refused(&mut self, reason: PhraseArg, out: &mut Vec<DialectOutput>) {
        if let Handshake::Agreed(agreed) = &mut self.handshake
            && let Some((_, change)) = agreed.changing.take()
        {
            agreed.requested = agreed.requested.amended(&change);
        }
        Self::tell_unchanged(reason, out);
    }

    /// Handles the producer's end of the subscription (5.8): its open questions are decided by their defaults (5.8.2),
    /// and on a bidirectional connection a new subscription is requested.
    pub(super) fn closed(&mut self, reason: String, agreed: Duration, cx: &mut Cx<'_>) {
        cx.out.push(DialectOutput::Release);
        self.step(Handshake::Idle, cx.out);
        self.last_words(None, cx.out);
        let inside = self.at == Handshakes::Inside;
        let lasted = cx.now.monotonic >= agreed + LASTING;
        let key = if inside && lasted {
            "link.closed.again"
        } else {
            "link.closed"
        };
        cx.out.push(DialectOutput::Announce(
            tell(key).with("text", PhraseArg::Agent(reason)),
        ));
        // A bridge decides nothing: whether a question behind it stays open is its agent's matter.
        if self.bridged.abilities().is_none() {
            cx.out
                .push(DialectOutput::Standing(OpenQuestionsChange::Decided));
        }
        if inside && lasted {
            self.shake_hands_inside(cx.out);
        } else if inside {
            // A producer that ends it immediately is asked again after a pause, on a new connection.
            self.turn_away(Phrase::new("rejected.closed"), None, true, cx.out);
        }
    }

    /// Announces that terms could not be changed.
    fn tell_unchanged(reason: PhraseArg, out: &mut Vec<DialectOutput>) {
        out.push(DialectOutput::Announce(
            tell("link.change_failed").with("reason", reason),
        ));
    }

    /// Announces, once, the terms in which a producer differs from what was asked for.
    pub(super) fn tell_terms(&mut self, notes: Option<String>, out: &mut Vec<DialectOutput>) {
        let Handshake::Agreed(agreed) = &self.handshake else {
            return;
        };
        let told = terms::differences(&agreed.requested, &agreed.honored);
        let known = self.terms_told.len() == told.len()
            && (self.terms_told.iter().zip(&told)).all(|(known, now)| now.is_known_from(known));
        if known {
            return;
        }
        // A person who will not be asked questions must know it; the rest is detail.
        let unasked = told.iter().any(Difference::leaves_unasked);
        let key = if told.is_empty() {
            "link.terms_kept"
        } else {
            "link.terms"
        };
        let phrases = told.iter().map(Difference::phrase).collect();
        self.terms_told = told;
        let terms = tell(key).with("terms", PhraseArg::Phrases(phrases));
        out.push(if unasked {
            DialectOutput::Announce(terms)
        } else {
            DialectOutput::Detail(terms)
        });
        if let Some(notes) = notes {
            let notes = tell("link.notes").with("text", PhraseArg::Agent(notes));
            out.push(DialectOutput::Detail(notes));
        }
    }
}
