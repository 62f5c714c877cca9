//! The machines of a space: which are there, and what can be done with their agents.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Nats;
use crate::fleet::{BridgeAbilities, Census, Machine};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::object;
use crate::{Cx, DialectOutput, RemoteMachine};

/// How long a machine may give no sign of life: three times as long as it waits between two.
const AWAY_AFTER: Duration = Duration::from_secs(30);
/// The most machines that are remembered.
const MOST_MACHINES: usize = 16_384;

/// How many machines that go away together are named.
const MOST_NAMED: usize = 3;

/// Whether a machine is there, and what can be done with its agents.
#[derive(Debug, Default)]
struct Presence {
    /// When it last gave a sign of life over this connection.
    alive: Option<Duration>,
    /// Whether its events wait there, because the broker stores none.
    waits: bool,
    standing: Option<BridgeAbilities>,
    /// What its agents do, as it counts them.
    census: Option<Census>,
    /// The session in which its bridge reports.
    bridge: Option<String>,
}

/// How many machines have agents with each of these abilities.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Totals {
    prompts: usize,
    stops: usize,
    working: usize,
}

impl Totals {
    fn add(&mut self, standing: &BridgeAbilities) {
        self.prompts += usize::from(standing.prompts);
        self.stops += usize::from(standing.stops);
        self.working += usize::from(standing.working);
    }

    fn remove(&mut self, standing: &BridgeAbilities) {
        self.prompts -= usize::from(standing.prompts);
        self.stops -= usize::from(standing.stops);
        self.working -= usize::from(standing.working);
    }
}

/// All machines by their names. What is needed with every event is counted, so that no event scans a thousand machines.
#[derive(Debug, Default)]
pub(super) struct Machines {
    all: BTreeMap<Machine, Presence>,
    /// The machines that are there, by their last sign of life.
    by_sign: BTreeSet<(Duration, Machine)>,
    away: BTreeSet<Machine>,
    totals: Totals,
    /// How many signs of life came from machines beyond the number that is remembered.
    beyond: u64,
}

/// What a sign of a machine shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PresenceChange {
    /// It is there, as before.
    There,
    /// It was not known to be there.
    Found,
    /// It was away, and is back.
    Back,
    /// It is the first beyond the number that is remembered.
    Beyond,
}

impl Machines {
    fn of(&mut self, machine: &Machine) -> Option<&mut Presence> {
        if self.all.len() >= MOST_MACHINES && !self.all.contains_key(machine) {
            return None;
        }
        Some(self.all.entry(machine.clone()).or_default())
    }

    /// Notes that a machine gives a sign of life.
    pub(super) fn alive(
        &mut self,
        machine: &Machine,
        census: Option<Census>,
        now: Duration,
    ) -> PresenceChange {
        let Some(presence) = self.of(machine) else {
            self.beyond += 1;
            return match self.beyond {
                1 => PresenceChange::Beyond,
                _ => PresenceChange::There,
            };
        };
        presence.census = census.or(presence.census);
        let before = presence.alive.replace(now);
        if let Some(before) = before {
            self.by_sign.remove(&(before, machine.clone()));
        }
        self.by_sign.insert((now, machine.clone()));
        match (self.away.remove(machine), before) {
            (true, _) => PresenceChange::Back,
            (false, None) => PresenceChange::Found,
            (false, Some(_)) => PresenceChange::There,
        }
    }

    /// Notes whether a machine's events wait there; returns whether that is news.
    fn wait(&mut self, machine: &Machine, waits: bool) -> bool {
        let presence = self.of(machine);
        presence.is_some_and(|presence| std::mem::replace(&mut presence.waits, waits) != waits)
    }

    /// Notes what can be done with a machine's agents; returns whether a different bridge than before reports it.
    pub(super) fn stands(
        &mut self,
        machine: &Machine,
        session: &str,
        standing: BridgeAbilities,
    ) -> bool {
        let Some(presence) = self.of(machine) else {
            return false;
        };
        let earlier = presence.standing.replace(standing.clone());
        let before = presence.bridge.replace(session.to_owned());
        if let Some(earlier) = earlier {
            self.totals.remove(&earlier);
        }
        self.totals.add(&standing);
        before.is_some_and(|before| before != session)
    }

    /// Returns what can be done with a machine's agents.
    pub(super) fn standing_of(&self, machine: &Machine) -> Option<&BridgeAbilities> {
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
    pub(super) fn abilities(&self) -> BridgeAbilities {
        BridgeAbilities {
            prompts: self.totals.prompts > 0,
            stops: self.totals.stops > 0,
            working: self.totals.working > 0,
            ..BridgeAbilities::default()
        }
    }

    /// Returns the machines that are there, and those that are away.
    pub(super) fn machines(&self) -> Vec<RemoteMachine> {
        let there = self.all.iter().filter_map(|(machine, presence)| {
            let is_away = self.away.contains(machine);
            (presence.alive.is_some() || is_away).then(|| RemoteMachine {
                name: machine.name(),
                census: presence.census,
                is_away,
            })
        });
        there.collect()
    }

    /// Forgets which machines are there: the connection is gone.
    pub(super) fn unknown(&mut self) {
        self.by_sign.clear();
        for presence in self.all.values_mut() {
            presence.alive = None;
        }
    }

    /// Returns when the next machine has been silent for too long.
    pub(super) fn due(&self) -> Option<Duration> {
        self.by_sign.first().map(|(alive, _)| *alive + AWAY_AFTER)
    }

    /// Returns the machines that have just been silent for too long.
    fn newly_away(&mut self, now: Duration) -> Vec<Machine> {
        let mut away = Vec::new();
        while self.due().is_some_and(|due| now >= due)
            && let Some((_, machine)) = self.by_sign.pop_first()
        {
            if let Some(presence) = self.all.get_mut(&machine) {
                presence.alive = None;
            }
            self.away.insert(machine.clone());
            away.push(machine);
        }
        away
    }
}

impl Nats {
    /// Announces the machines that have gone away: one by its name, several at once by their number.
    pub(super) fn tell_away(&mut self, cx: &mut Cx<'_>) {
        let away = self.machines.newly_away(cx.now.monotonic);
        if away.len() > MOST_NAMED {
            let count = PhraseArg::Own(away.len().to_string());
            let phrase = Phrase::new("fleet.away.several").with("n", count);
            return cx.out.push(DialectOutput::Announce(phrase));
        }
        for machine in away {
            let phrase = Phrase::new("fleet.away").with("host", PhraseArg::Name(machine.name()));
            cx.out.push(DialectOutput::Announce(phrase));
        }
    }

    /// Handles a sign of life, which says how many events wait there if the broker stores none.
    pub(super) fn alive(&mut self, machine: &Machine, sign: &str, cx: &mut Cx<'_>) {
        let unstored = object(sign).and_then(|sign| sign.get("unstored")?.as_u64());
        if self.machines.wait(machine, unstored.is_some()) {
            let host = PhraseArg::Name(machine.name());
            let phrase = match unstored {
                Some(count) => {
                    Phrase::new("fleet.unstored").with("n", PhraseArg::Own(count.to_string()))
                }
                None => Phrase::new("fleet.stored"),
            };
            cx.out
                .push(DialectOutput::Announce(phrase.with("host", host)));
        }
        // Only the machine itself can say what is asked there meanwhile.
        if unstored.is_some() {
            self.inquire(machine.clone(), cx);
        }
        let census = Census::read(sign);
        match self.machines.alive(machine, census, cx.now.monotonic) {
            PresenceChange::There => {}
            PresenceChange::Beyond => {
                let most = PhraseArg::Own(MOST_MACHINES.to_string());
                let phrase = Phrase::new("fleet.beyond").with("most", most);
                cx.out.push(DialectOutput::Announce(phrase));
            }
            PresenceChange::Found => self.inquire(machine.clone(), cx),
            PresenceChange::Back => {
                let name = PhraseArg::Name(machine.name());
                let phrase = Phrase::new("fleet.back").with("host", name);
                cx.out.push(DialectOutput::Announce(phrase));
                self.inquire(machine.clone(), cx);
            }
        }
    }
}
