//! The state of one source as a whole: its clock, the events it already sent, whether it is up.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::time::Duration;

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt};
use jiff::Timestamp;

use super::clock_skew::ClockSkews;
use crate::protocol::{AgentId, EventId, Now, ReplyToken};

/// The minimum number of recent event ids that a link remembers, to drop duplicates; at times it remembers up
/// to twice as many. That covers a server that replays its last 1000 events at every connect several times
/// over.
const MOST_EVENT_IDS: usize = 8192;

/// The most view-only questions that wait to be raised: each is in an event that waits for its turn, and no
/// more events wait.
const MOST_ONLY_SHOWN: usize = 64;

/// The longest burst: a server may replay old events right after we connect.
const BURST_AT_MOST: Duration = Duration::from_secs(1);
/// The silence after which a burst is over.
const BURST_SILENCE: Duration = Duration::from_millis(250);

/// How long missed messages may take to arrive: after that, questions are asked in any case.
const MISSED_AT_MOST: Duration = Duration::from_secs(60);

/// An event stamped this shortly before we connected still counts as news: a session that begins as we
/// subscribe is stamped while the connection is being made, and two clocks may differ by as much. A replayed
/// event is older, or so young that it is news to everyone.
const YOUNG: Duration = Duration::from_millis(500);

/// Whether a link may still be replaying old events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Burst {
    /// New events are live.
    Over,
    /// Connected at this moment; old events may arrive.
    Possible { connected: Now, last: Duration },
    /// Connected at this moment, and the missed messages are arriving.
    Missed { connected: Now },
    /// The link is down. Questions that were held back wait for the next connection to judge them.
    Down,
}

/// What an event's id shows about the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventNovelty {
    /// It is new.
    First,
    /// It is the same event again.
    Again,
    /// The id belongs to another event.
    Different,
}

/// The state of one source.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LinkState {
    answerable: bool,
    /// Whether it goes to another machine, whose clock may be wrong.
    leaves_machine: bool,
    /// The tokens of view-only questions, until they are raised.
    only_shown: VecDeque<ReplyToken>,
    burst: Burst,
    pub(super) skews: ClockSkews,
    /// The fingerprints of events by their ids, both as 64-bit hashes.
    seen: HashMap<u64, u64>,
    /// The previous generation of `seen`, as large; an id that recurs moves over.
    seen_before: HashMap<u64, u64>,
}

impl LinkState {
    /// Creates the state; `answerable` is false for recordings and pipes, whose events never count as old.
    pub(super) fn new(answerable: bool) -> Self {
        Self {
            answerable,
            leaves_machine: false,
            only_shown: VecDeque::new(),
            burst: Burst::Over,
            skews: ClockSkews::default(),
            seen: HashMap::new(),
            seen_before: HashMap::new(),
        }
    }

    /// Notes that it goes to another machine.
    pub(super) fn leave_machine(&mut self) {
        self.leaves_machine = true;
    }

    /// Returns whether its speakers use this machine's clock, unless an event names another machine.
    pub(super) fn shares_clock(&self) -> bool {
        !self.leaves_machine
    }

    pub(super) fn is_down(&self) -> bool {
        self.burst == Burst::Down
    }

    /// Notes that an upcoming question can't be answered from here.
    pub(super) fn only_shows(&mut self, token: ReplyToken) {
        self.only_shown.push_back(token);
        if self.only_shown.len() > MOST_ONLY_SHOWN {
            self.only_shown.pop_front();
        }
    }

    /// Returns whether the question of a token can be answered from here; a note to the contrary counts once.
    pub(super) fn takes_answer(&mut self, token: Option<&ReplyToken>) -> bool {
        let held = token.and_then(|token| self.only_shown.iter().position(|held| held == token));
        match held {
            Some(at) => {
                self.only_shown.remove(at);
                false
            }
            None => self.answerable,
        }
    }

    pub(super) fn connected(&mut self, now: Now) {
        if self.answerable {
            self.burst = Burst::Possible {
                connected: now,
                last: now.monotonic,
            };
        }
    }

    /// Notes that missed messages come next.
    pub(super) fn missed(&mut self, now: Now) {
        self.burst = Burst::Missed { connected: now };
    }

    /// Notes that the missed messages have arrived.
    pub(super) fn caught_up(&mut self) {
        if self.is_catching_up() {
            self.burst = Burst::Over;
        }
    }

    /// Returns whether missed messages are arriving.
    pub(super) fn is_catching_up(&self) -> bool {
        matches!(self.burst, Burst::Missed { .. })
    }

    pub(super) fn lost(&mut self) {
        self.burst = Burst::Down;
    }

    /// Records an event, and returns whether it was seen before. `fingerprint` differs if two events under one id
    /// differ: the second event of a producer that reuses an id must not be lost.
    pub(super) fn meet(
        &mut self,
        agent: &AgentId,
        event: &EventId,
        fingerprint: u64,
    ) -> EventNovelty {
        let id = FixedState::default().hash_one((agent, event));
        // Removing the oldest id with each new one would cost as much as adding it.
        if self.seen.len() >= MOST_EVENT_IDS {
            std::mem::swap(&mut self.seen, &mut self.seen_before);
            self.seen.clear();
        }
        let before = self.seen.insert(id, fingerprint);
        match before.or_else(|| self.seen_before.get(&id).copied()) {
            Some(known) if known == fingerprint => EventNovelty::Again,
            Some(_) => EventNovelty::Different,
            None => EventNovelty::First,
        }
    }

    /// Returns whether an event is old news of a burst; a newer or late event ends the burst.
    pub(super) fn is_replayed(&mut self, stamped: Option<Timestamp>, now: Now) -> bool {
        self.end_burst_if_due(now.monotonic);
        let (connected, last) = match &mut self.burst {
            Burst::Possible { connected, last } => (connected, last),
            // All messages until then were missed, whatever the clock of their machine says.
            Burst::Missed { .. } => return true,
            Burst::Over | Burst::Down => return false,
        };
        let old = stamped.is_some_and(|stamped| stamped < connected.wall);
        if old {
            *last = now.monotonic;
        } else {
            self.burst = Burst::Over;
        }
        old
    }

    /// Returns whether an event of a burst is still news to a person. A question that came in a burst may
    /// nevertheless have been answered, however young it is.
    pub(super) fn is_young(&self, stamped: Option<Timestamp>) -> bool {
        let Burst::Possible { connected, .. } = &self.burst else {
            return false;
        };
        let news = connected.wall.checked_sub(YOUNG).unwrap_or(connected.wall);
        stamped.is_some_and(|stamped| stamped >= news)
    }

    /// Returns when a possible burst ends by time alone.
    pub(super) fn burst_ends(&self) -> Option<Duration> {
        match self.burst {
            Burst::Over | Burst::Down => None,
            Burst::Missed { connected } => Some(connected.monotonic + MISSED_AT_MOST),
            Burst::Possible { connected, last } => {
                Some((connected.monotonic + BURST_AT_MOST).min(last + BURST_SILENCE))
            }
        }
    }

    /// Ends a burst whose time is over; returns true if old questions may now be raised.
    pub(super) fn end_burst_if_due(&mut self, now: Duration) -> bool {
        if self.burst_ends().is_some_and(|ends| now >= ends) {
            self.burst = Burst::Over;
        }
        self.burst == Burst::Over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Now {
        let start = Now {
            monotonic: Duration::ZERO,
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        start.after(Duration::from_millis(ms))
    }

    #[test]
    fn a_burst_ends_by_silence_a_new_event_or_time() {
        let old = Some(at(0).wall);
        let mut link = LinkState::new(true);
        link.connected(at(100));
        assert!(link.is_replayed(old, at(110)));
        assert!(link.is_replayed(old, at(350)));
        assert!(!link.is_replayed(old, at(601)), "250 ms of silence");

        link.connected(at(1000));
        assert!(!link.is_replayed(Some(at(1001).wall), at(1002)));
        assert!(!link.is_replayed(old, at(1003)), "a newer event came first");

        link.connected(at(2000));
        for ms in (2000..3000).step_by(100) {
            assert!(link.is_replayed(old, at(ms)));
        }
        assert!(!link.is_replayed(old, at(3000)), "one second");
    }

    #[test]
    fn what_was_stamped_while_the_connection_was_made_is_news_that_may_be_decided() {
        for (stamped, old, young) in [
            (499, true, false),
            (500, true, true),
            (997, true, true),
            (1003, false, true),
        ] {
            let mut link = LinkState::new(true);
            link.connected(at(1000));
            let stamped = Some(at(stamped).wall);
            assert_eq!(link.is_young(stamped), young, "{stamped:?}");
            assert_eq!(link.is_replayed(stamped, at(1010)), old, "{stamped:?}");
        }
    }

    #[test]
    fn what_was_missed_is_old_until_it_has_arrived() {
        let mut link = LinkState::new(true);
        link.connected(at(0));
        link.missed(at(100));
        assert!(link.is_replayed(Some(at(50).wall), at(110)));
        let ahead = Some(at(110).wall);
        assert!(link.is_replayed(ahead, at(120)), "its clock is ahead");
        assert!(
            link.is_replayed(Some(at(60).wall), at(9000)),
            "and still coming"
        );
        assert!(!link.end_burst_if_due(at(9000).monotonic));
        link.caught_up();
        assert!(link.end_burst_if_due(at(9001).monotonic));
        assert!(!link.is_replayed(Some(at(60).wall), at(9002)));

        link.missed(at(10_000));
        assert!(
            link.end_burst_if_due(at(70_000).monotonic),
            "it took too long"
        );
    }

    #[test]
    fn a_recording_has_no_old_events() {
        let mut link = LinkState::new(false);
        link.connected(at(100));
        assert!(!link.is_replayed(Some(at(0).wall), at(110)));
    }

    #[test]
    fn ids_count_per_agent_and_are_bounded() {
        let mut link = LinkState::new(true);
        let (a, b, id) = (
            AgentId::from("a"),
            AgentId::from("b"),
            EventId::from("evt_1"),
        );
        assert_eq!(link.meet(&a, &id, 1), EventNovelty::First);
        assert_eq!(link.meet(&a, &id, 1), EventNovelty::Again);
        assert_eq!(link.meet(&a, &id, 2), EventNovelty::Different);
        assert_eq!(link.meet(&b, &id, 1), EventNovelty::First);
        let numbered = |n: usize| EventId::from(format!("evt_n{n}"));
        for n in 0..3 * MOST_EVENT_IDS {
            assert_eq!(link.meet(&a, &numbered(n), 1), EventNovelty::First);
            if n >= MOST_EVENT_IDS && n.is_multiple_of(1000) {
                let oldest = numbered(n + 1 - MOST_EVENT_IDS);
                assert_eq!(link.clone().meet(&a, &oldest, 1), EventNovelty::Again);
            }
            assert!(link.seen.len() + link.seen_before.len() <= 2 * MOST_EVENT_IDS);
        }
        assert_eq!(link.meet(&a, &id, 1), EventNovelty::First, "long forgotten");
    }
}
