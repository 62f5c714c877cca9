//! A subscription that was agreed: its terms, their changes, and whether they are kept.
//!
//! Responsibilities: what was asked for and what is honoured, told once where it differs;
//! renegotiation (5.7); a stream that outruns its rate (5.6.2); a silence that nobody can explain. Not
//! here: how it came to the agreement (`handshake`), the words of single terms (`terms`).

use std::collections::VecDeque;
use std::time::Duration;

use crate::announce::{Arg, Class, Kind};
use crate::link::{Ask, Fault, LinkId};
use crate::protocol::{Capabilities, Decoded, EventFilters, Now, Urgency, renegotiate};
use crate::session::{AnomalyKind, Change, What};

use super::handshake::Handshake;
use super::terms::Difference;
use super::waiting::Waiting;
use super::{App, Door, Effect, LinkView, terms};

/// Over how long arrivals are counted against the rate that was agreed.
const RATE_WINDOW: Duration = Duration::from_secs(5);
/// How often a lower rate is asked for at most: the producer needs time to keep to the last one.
const RATE_PAUSE: Duration = Duration::from_secs(60);

/// A subscription that ends sooner is not asked for again on the same connection: that could go round
/// for ever.
const LASTING: Duration = Duration::from_secs(5);

/// Holds what was agreed with a producer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Agreement {
    pub(super) id: String,
    pub(super) location: Option<String>,
    pub(super) asked: Capabilities,
    pub(super) honored: Capabilities,
    /// When it was agreed.
    pub(super) at: Duration,
    /// The change that was asked for last, while its answer is awaited.
    pub(super) changing: Option<(u64, Capabilities)>,
    /// When what is not urgent came, within [`RATE_WINDOW`].
    pub(super) arrivals: VecDeque<Duration>,
    /// When a lower rate was asked for last because the stream outran the agreed one, and which.
    pub(super) slowed: Option<(Duration, u64)>,
}

impl Agreement {
    /// Takes note of an arrival, and gives a lower rate where the producer outruns the agreed one.
    fn outrun(&mut self, now: Duration) -> Option<u64> {
        let rate = self
            .honored
            .max_events_per_second
            .or(self.asked.max_events_per_second)?;
        // A burst of one second's worth is within a token bucket's right (5.6.1).
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

impl App {
    /// Watches whether a producer keeps to the rate that was agreed; asks for a lower one if not.
    pub(super) fn watch_rate(&mut self, id: LinkId, decoded: &Decoded, now: Now) {
        if decoded.envelope.urgency == Urgency::Critical {
            return;
        }
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        let Handshake::Agreed(agreed) = &mut view.handshake else {
            return;
        };
        let Some(rate) = agreed.outrun(now.monotonic) else {
            return;
        };
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("rate", Arg::own(rate)),
        ];
        self.say(Class::Outcome, Kind::Connection, "link.outrun", &args, now);
        self.renew_terms(id);
    }

    /// Asks every producer for what the person wants now, where that is not what it was asked for.
    pub(super) fn change_terms(&mut self) {
        for link in 0..self.links.len() {
            self.renew_terms(LinkId(link));
        }
    }

    /// Asks one producer for what is wanted of it now, where that is not what it was asked for (5.7).
    /// Without a connection that waits until there is one again.
    pub(super) fn renew_terms(&mut self, id: LinkId) {
        let wanted = self.wanted(id);
        let request = self.number();
        let Some(view) = self
            .links
            .get_mut(id.0)
            .filter(|view| !view.is_down() && !view.phase.is_over())
        else {
            return;
        };
        let Handshake::Agreed(agreed) = &mut view.handshake else {
            return;
        };
        // A change on top of one that is under way is asked for as both in one.
        let before = agreed.changing.as_ref().map(|(_, change)| change.clone());
        let before = before.unwrap_or_default();
        let Some(change) = agreed.asked.amended(&before).lacking(&wanted) else {
            return;
        };
        let change = before.amended(&change);
        let body = renegotiate(&agreed.id, &change);
        agreed.changing = Some((request, change));
        self.effects.push(match view.door {
            Door::Beside => Effect::Ask {
                link: id,
                request,
                ask: Ask::Tell(body),
            },
            Door::Inside | Door::Open => Effect::Send {
                link: id,
                request,
                body,
            },
        });
    }

    /// Makes no reproach of missing events to a producer that was asked to leave some out (5.3.1.7): the
    /// gaps that this leaves in the numbers look like lost events, and are kept in the history alone.
    pub(super) fn excuse(&self, change: &mut Change) {
        let asked = match self
            .links
            .get(change.key.link.0)
            .map(|view| &view.handshake)
        {
            Some(Handshake::Agreed(agreed)) => agreed.asked.event_filters.as_ref(),
            Some(
                Handshake::Idle
                | Handshake::Manifest { .. }
                | Handshake::Asked { .. }
                | Handshake::Plain,
            )
            | None => None,
        };
        let whole = |filters: &EventFilters| {
            let everything = ["*", "aaep:*", "aaep:agent.*"];
            filters.exclude.is_empty()
                && (filters.include.iter()).any(|one| everything.contains(&one.as_str()))
        };
        if let What::Anomaly(anomaly) = &mut change.what
            && anomaly.kind == AnomalyKind::SequenceGap
            && asked.is_some_and(|filters| !whole(filters))
        {
            anomaly.first = false;
        }
    }

    pub(super) fn change_failed(&mut self, id: LinkId, fault: &Fault, now: Now) {
        let reason = self.fault_words(fault);
        if matches!(fault, Fault::Status { .. }) {
            self.change_refused(id, reason, now);
            return;
        }
        if let Some(view) = self.links.get_mut(id.0)
            && let Handshake::Agreed(agreed) = &mut view.handshake
        {
            // Whom the change did not reach is asked with the next one.
            agreed.changing = None;
        }
        self.tell_unchanged(id, reason, now);
    }

    /// A change was refused: what was agreed stays, and the same is not asked again at every turn.
    pub(super) fn change_refused(&mut self, id: LinkId, reason: String, now: Now) {
        if let Some(view) = self.links.get_mut(id.0)
            && let Handshake::Agreed(agreed) = &mut view.handshake
            && let Some((_, change)) = agreed.changing.take()
        {
            agreed.asked = agreed.asked.amended(&change);
        }
        self.tell_unchanged(id, reason, now);
    }

    /// Takes the end of the subscription that the producer says (5.8): what it asked is decided by its
    /// defaults (5.8.2), and a connection that carries both ways is asked for a new one.
    pub(super) fn closed(&mut self, id: LinkId, reason: String, agreed: Duration, now: Now) {
        self.release(id, now);
        self.set_handshake(id, Handshake::Idle);
        self.effects.push(Effect::LastWords {
            link: id,
            words: None,
        });
        let inside = self
            .links
            .get(id.0)
            .is_some_and(|view| view.door == Door::Inside);
        let lasted = now.monotonic >= agreed + LASTING;
        let key = if inside && lasted {
            "link.closed.again"
        } else {
            "link.closed"
        };
        let args = [
            ("source", Arg::Own(self.source_name(id))),
            ("text", Arg::Agent(reason, None)),
        ];
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
        let changes = self.sessions.unsubscribed(id, now);
        self.tell(changes, now);
        if inside && lasted {
            self.shake_hands_inside(id);
        } else if inside {
            // Who ends it as soon as it is agreed is asked after a pause, by a new connection.
            let reason = self.phrases().text("rejected.closed", &[]);
            self.turn_away(id, reason, None, true);
            self.close_refused(id, now);
        }
    }

    /// Tells that terms could not be changed.
    fn tell_unchanged(&mut self, id: LinkId, reason: String, now: Now) {
        let args = [
            ("source", Arg::Own(self.source_name(id))),
            ("reason", Arg::Own(reason)),
        ];
        self.say(
            Class::Outcome,
            Kind::Connection,
            "link.change_failed",
            &args,
            now,
        );
    }

    /// Tells once in which terms a producer differs from what was asked for.
    pub(super) fn tell_terms(&mut self, id: LinkId, notes: Option<String>, now: Now) {
        let Some(view) = self.links.get(id.0) else {
            return;
        };
        let Handshake::Agreed(agreed) = &view.handshake else {
            return;
        };
        let told = terms::differences(&agreed.asked, &agreed.honored);
        let known = view.terms_told.len() == told.len()
            && (view.terms_told.iter().zip(&told)).all(|(known, now)| now.is_known_from(known));
        if known {
            return;
        }
        let name = view.name.clone();
        let phrases = self.announcer.phrases();
        let words: Vec<String> = told.iter().map(|one| one.words(phrases)).collect();
        // Whoever is not asked must know it; the rest matters to those who look.
        let unasked = told.iter().any(Difference::leaves_unasked);
        let key = if told.is_empty() {
            "link.terms_kept"
        } else {
            "link.terms"
        };
        if let Some(view) = self.links.get_mut(id.0) {
            view.terms_told = told;
        }
        let args = [
            ("source", Arg::Own(name.clone())),
            ("terms", Arg::Own(words.join("; "))),
        ];
        if unasked {
            self.say(Class::Outcome, Kind::Connection, key, &args, now);
        } else {
            self.say_in_detail(Class::Outcome, Kind::Connection, key, &args, now);
        }
        if let Some(notes) = notes {
            let args = [
                ("source", Arg::Own(name)),
                ("text", Arg::Agent(notes, None)),
            ];
            self.say_in_detail(Class::Outcome, Kind::Connection, "link.notes", &args, now);
        }
    }

    /// Says how a source that is there is followed and which of its terms differ, for whoever looks.
    pub(super) fn connection_words(&self, view: &LinkView) -> Option<String> {
        let phrases = self.announcer.phrases();
        let how = match (view.answerable, &view.handshake) {
            (false, _) | (true, Handshake::Asked { .. } | Handshake::Manifest { .. }) => {
                return None;
            }
            (true, Handshake::Agreed(_)) => "link.handshake",
            (true, Handshake::Idle | Handshake::Plain) => "link.plain_pair",
        };
        let terms: Vec<String> = view
            .terms_told
            .iter()
            .map(|one| one.words(phrases))
            .collect();
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("how", Arg::Own(phrases.text(how, &[]))),
            ("terms", Arg::Own(terms.join("; "))),
        ];
        Some(phrases.text("status.connection", &args))
    }

    /// Tells of a silence that nobody can explain, ever more rarely.
    pub(super) fn silent(&mut self, id: LinkId, seconds: u64, now: Now) {
        let Some(view) = self.links.get_mut(id.0) else {
            return;
        };
        if seconds < view.silence_due {
            return;
        }
        view.silence_due = seconds.saturating_mul(2);
        // This says more than that nothing came yet.
        view.waiting = Waiting::Over;
        let source = ("source", Arg::Own(view.name.clone()));
        // Above a minute nobody wants to know the seconds.
        let whole = seconds.checked_rem(60).filter(|_| seconds >= 60);
        let time = Duration::from_secs(seconds.saturating_sub(whole.unwrap_or(0)));
        let args = [source, ("time", Arg::Own(self.announcer.time(time)))];
        self.say(Class::Outcome, Kind::Connection, "link.silent", &args, now);
    }
}
