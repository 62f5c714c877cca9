//! How far the clocks behind a link differ from this machine's.
//!
//! Responsibilities: the difference of each machine, learnt from its live events. Not here: what it means for a
//! question's time (`question_time`).

use foldhash::HashMap;
use jiff::Timestamp;

use crate::protocol::Now;

/// A change of the clock difference by more than this, in milliseconds, is a jump.
const LARGEST_JUMP_MS: i64 = 60_000;
/// The most machines whose clocks are remembered; those beyond share one difference.
const MOST_MACHINES: usize = 16_384;

/// The differences of all machines behind a link: one wrong clock says nothing about another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ClockSkews {
    /// The difference of a source that names no machine.
    unnamed: ClockSkew,
    named: HashMap<Box<str>, ClockSkew>,
}

/// The difference of one machine's clock, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct ClockSkew {
    smallest: Option<i64>,
    /// A difference after a jump that was seen only once.
    jumped: Option<i64>,
    /// The smallest difference before the clock was last set.
    before: Option<i64>,
}

impl ClockSkews {
    /// Learns a machine's difference from a live event; returns whether it changed.
    pub(super) fn learn(
        &mut self,
        machine: Option<&str>,
        stamped: Option<Timestamp>,
        now: Now,
    ) -> bool {
        let Some(stamped) = stamped else {
            return false;
        };
        let difference = now.wall.as_millisecond() - stamped.as_millisecond();
        self.of_mut(machine).learn(difference)
    }

    /// Returns the smallest difference seen between receiving a machine's events and their timestamps, in
    /// milliseconds. For an event that was stamped before the clock was set, as its own difference shows, it is
    /// the earlier one.
    pub(super) fn of(&self, machine: Option<&str>, difference: i64) -> Option<i64> {
        let is_full = self.named.len() >= MOST_MACHINES;
        let skew = match machine {
            Some(machine) => (self.named.get(machine)).or(is_full.then_some(&self.unnamed))?,
            None => &self.unnamed,
        };
        let known = [skew.smallest, skew.before].into_iter().flatten();
        known.min_by_key(|known| difference.abs_diff(*known))
    }

    fn of_mut(&mut self, machine: Option<&str>) -> &mut ClockSkew {
        let Some(machine) = machine else {
            return &mut self.unnamed;
        };
        if !self.named.contains_key(machine) {
            if self.named.len() >= MOST_MACHINES {
                return &mut self.unnamed;
            }
            self.named.insert(machine.into(), ClockSkew::default());
        }
        self.named.get_mut(machine).unwrap_or(&mut self.unnamed)
    }
}

impl ClockSkew {
    /// Learns a difference, and returns whether that changes the smallest. A jump of more than a minute, up or
    /// down, must be seen twice in a row: one wrong timestamp proves nothing, but a clock that was set yields
    /// two.
    fn learn(&mut self, difference: i64) -> bool {
        let near = |other: i64| (difference - other).abs() <= LARGEST_JUMP_MS;
        let before = self.smallest;
        match (self.smallest, self.jumped) {
            (None, _) => self.smallest = Some(difference),
            (Some(smallest), _) if near(smallest) => {
                self.smallest = Some(smallest.min(difference));
                self.jumped = None;
            }
            (Some(smallest), Some(jumped)) if near(jumped) => {
                self.before = Some(smallest);
                self.smallest = Some(difference.min(jumped));
                self.jumped = None;
            }
            (Some(_), _) => self.jumped = Some(difference),
        }
        self.smallest != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(ms: u64) -> Now {
        let start = Now {
            monotonic: Duration::ZERO,
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        start.after(Duration::from_millis(ms))
    }

    #[test]
    fn the_skew_is_the_smallest_difference() {
        let mut skews = ClockSkews::default();
        for (stamped, received) in [(0, 90), (100, 130), (200, 290)] {
            skews.learn(None, Some(at(stamped).wall), at(received));
        }
        assert_eq!(skews.of(None, 30), Some(30));
    }

    #[test]
    fn what_was_stamped_before_a_clock_was_set_keeps_its_difference() {
        let mut skews = ClockSkews::default();
        for ms in 0..3 {
            skews.learn(None, Some(at(ms).wall), at(ms));
        }
        for ms in 0..3 {
            skews.learn(None, Some(at(ms).wall), at(ms + 7_200_000));
        }
        assert_eq!(skews.of(None, 5), Some(0));
        assert_eq!(skews.of(None, 7_200_005), Some(7_200_000));
    }

    #[test]
    fn one_machines_clock_says_nothing_about_anothers() {
        let mut skews = ClockSkews::default();
        let ahead = at(3_600_000).wall;
        for ms in 0..5 {
            skews.learn(Some("build-3"), Some(ahead), at(ms));
            skews.learn(Some("build-4"), Some(at(ms).wall), at(ms + 20));
        }
        assert_eq!(skews.of(Some("build-3"), 0), Some(-3_600_000));
        assert_eq!(skews.of(Some("build-4"), 0), Some(20));
        skews.learn(None, Some(ahead), at(7));
        assert_eq!(skews.of(Some("build-5"), 0), None);
    }

    #[test]
    fn the_machines_are_bounded() {
        let mut skews = ClockSkews::default();
        for n in 0..MOST_MACHINES + 9 {
            skews.learn(Some(&n.to_string()), Some(at(0).wall), at(7));
        }
        assert_eq!(skews.named.len(), MOST_MACHINES);
        assert_eq!(skews.of(Some("of no name"), 7), Some(7));
    }
}
