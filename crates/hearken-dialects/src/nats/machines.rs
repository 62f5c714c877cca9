//! The machines of a space: which are there, and what can be done with their agents.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Nats;
use crate::fleet::{Machine, Standing};
use crate::link::{Phrase, PhraseArg};
use crate::{Cx, Out};

/// How long a machine may give no sign of life: three times as long as it waits between two.
const AWAY_AFTER: Duration = Duration::from_secs(30);
/// The most machines that are remembered.
const MOST_MACHINES: usize = 16_384;

/// Whether a machine is there, and what can be done with its agents.
#[derive(Debug, Default)]
struct Presence {
    /// When it last gave a sign of life over this connection.
    alive: Option<Duration>,
    /// Whether it was announced as away.
    is_away: bool,
    standing: Option<Standing>,
    /// The session in which its bridge reports.
    bridge: Option<String>,
}

/// All machines by their names.
#[derive(Debug, Default)]
pub(super) struct Machines {
    all: BTreeMap<Machine, Presence>,
}

/// What a sign of a machine shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// It is there, as before.
    There,
    /// It was not known to be there.
    Found,
    /// It was away, and is back.
    Back,
}

impl Machines {
    fn of(&mut self, machine: &Machine) -> Option<&mut Presence> {
        if self.all.len() >= MOST_MACHINES && !self.all.contains_key(machine) {
            return None;
        }
        Some(self.all.entry(machine.clone()).or_default())
    }

    /// Notes that a machine gives a sign of life.
    pub(super) fn alive(&mut self, machine: &Machine, now: Duration) -> Sign {
        let Some(presence) = self.of(machine) else {
            return Sign::There;
        };
        let before = presence.alive.replace(now);
        match (std::mem::take(&mut presence.is_away), before) {
            (true, _) => Sign::Back,
            (false, None) => Sign::Found,
            (false, Some(_)) => Sign::There,
        }
    }

    /// Notes what can be done with a machine's agents; returns whether another bridge reports it than before.
    pub(super) fn stands(&mut self, machine: &Machine, session: &str, standing: Standing) -> bool {
        let Some(presence) = self.of(machine) else {
            return false;
        };
        presence.standing = Some(standing);
        let before = presence.bridge.replace(session.to_owned());
        before.is_some_and(|before| before != session)
    }

    /// Returns what can be done with a machine's agents.
    pub(super) fn standing_of(&self, machine: &Machine) -> Option<&Standing> {
        self.all.get(machine)?.standing.as_ref()
    }

    /// Returns the machines whose agents accept prompts.
    pub(super) fn prompted(&self) -> impl Iterator<Item = &Machine> {
        let prompted = self.all.iter().filter(|(_, presence)| {
            presence
                .standing
                .as_ref()
                .is_some_and(|standing| standing.prompts)
        });
        prompted.map(|(machine, _)| machine)
    }

    /// Returns what can be done with any of the agents.
    pub(super) fn standing(&self) -> Standing {
        let all = self
            .all
            .values()
            .filter_map(|presence| presence.standing.as_ref());
        all.fold(Standing::default(), |all, one| Standing {
            prompts: all.prompts || one.prompts,
            stops: all.stops || one.stops,
            working: all.working || one.working,
            ..all
        })
    }

    /// Forgets which machines are there: the connection is gone.
    pub(super) fn unknown(&mut self) {
        for presence in self.all.values_mut() {
            presence.alive = None;
        }
    }

    /// Returns when the next machine has been silent for too long.
    pub(super) fn due(&self) -> Option<Duration> {
        let present = self.all.values().filter(|presence| !presence.is_away);
        present
            .filter_map(|presence| presence.alive)
            .min()
            .map(|alive| alive + AWAY_AFTER)
    }

    /// Returns the machines that have just been silent for too long.
    fn newly_away(&mut self, now: Duration) -> Vec<Machine> {
        let mut away = Vec::new();
        for (machine, presence) in &mut self.all {
            let is_silent = presence
                .alive
                .is_some_and(|alive| now >= alive + AWAY_AFTER);
            if is_silent && !presence.is_away {
                presence.is_away = true;
                presence.alive = None;
                away.push(machine.clone());
            }
        }
        away
    }
}

impl Nats {
    /// Announces the machines that have gone away.
    pub(super) fn tell_away(&mut self, cx: &mut Cx<'_>) {
        for machine in self.machines.newly_away(cx.now.monotonic) {
            let phrase = Phrase::new("fleet.away").with("host", PhraseArg::Name(machine.name()));
            cx.out.push(Out::Tell(phrase));
        }
    }

    /// Handles a sign of life.
    pub(super) fn alive(&mut self, machine: &Machine, cx: &mut Cx<'_>) {
        match self.machines.alive(machine, cx.now.monotonic) {
            Sign::There => {}
            Sign::Found => self.inquire(machine.clone(), cx),
            Sign::Back => {
                let name = PhraseArg::Name(machine.name());
                let phrase = Phrase::new("fleet.back").with("host", name);
                cx.out.push(Out::Tell(phrase));
                self.inquire(machine.clone(), cx);
            }
        }
    }
}
