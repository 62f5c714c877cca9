//! How many agents wait, work, are silent or away, by machine, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::announce::{Arg, Segment};
use crate::link::LinkId;
use crate::session::{Phase, Session};

use super::Fleet;
use crate::app::{AppCx, LinkView, Links};

/// How long a working agent may be silent before it counts as silent.
const SILENT: Duration = Duration::from_secs(60);
/// How many machines are named with each count.
const MOST_NAMED: usize = 4;

/// Counts by the names of machines.
type MachineCounts = BTreeMap<String, u64>;

/// How many agents are in each state, by machine.
#[derive(Debug, Default)]
struct AgentCounts {
    waiting: MachineCounts,
    working: MachineCounts,
    silent: MachineCounts,
    away: BTreeSet<String>,
}

impl AgentCounts {
    fn of(links: &Links, cx: &AppCx) -> Self {
        let mut accounts = Self::default();
        let mut counted: BTreeSet<(LinkId, String)> = BTreeSet::new();
        for view in links.iter().filter(|view| !view.is_over()) {
            for machine in view.machines().unwrap_or_default() {
                if machine.is_away {
                    accounts.away.insert(machine.name);
                    continue;
                }
                let Some(census) = machine.census else {
                    continue;
                };
                add(&mut accounts.working, &machine.name, census.working);
                add(&mut accounts.silent, &machine.name, census.silent);
                counted.insert((view.id, machine.name));
            }
        }
        for session in cx.sessions.iter().filter(|session| !session.is_ended()) {
            let name = machine_of(session, links);
            // Its bridge sees all its agents, and counts them every ten seconds.
            let is_counted = counted.contains(&(session.key.link, name.clone()));
            let silent_for = cx.now.monotonic.saturating_sub(session.last_event);
            match session.phase {
                Phase::Ended(_) | Phase::Waiting(_) => {}
                Phase::Running if is_counted => {}
                Phase::Running if silent_for >= SILENT => add(&mut accounts.silent, &name, 1),
                Phase::Running => add(&mut accounts.working, &name, 1),
            }
        }
        for question in cx.sessions.open_questions() {
            if question.answer().is_none()
                && let Some(session) = cx.sessions.get(&question.key)
            {
                add(&mut accounts.waiting, &machine_of(session, links), 1);
            }
        }
        accounts
    }
}

fn add(counts: &mut MachineCounts, machine: &str, count: u64) {
    if count > 0 {
        *counts.entry(machine.to_owned()).or_default() += count;
    }
}

/// Returns the machine on which a session runs, or else its source.
fn machine_of(session: &Session, links: &Links) -> String {
    if let Some(host) = &session.host {
        return host.to_string();
    }
    let view = links.get(session.key.link);
    let host = view.and_then(|view| view.connection().host);
    host.or_else(|| view.map(|view: &LinkView| view.name.clone()))
        .unwrap_or_default()
}

impl Fleet {
    /// Reads how many agents wait, work, are silent or away, by machine, questions first; then `stuck`, the
    /// agent that was asked to stop and has not.
    pub(in crate::app) fn read(&self, stuck: Option<String>, links: &Links, cx: &mut AppCx) {
        let accounts = AgentCounts::of(links, cx);
        let mut words = Vec::new();
        for (key, counts) in [
            ("fleet.waiting", &accounts.waiting),
            ("fleet.working", &accounts.working),
            ("fleet.silent", &accounts.silent),
        ] {
            words.extend(sentence(key, counts, cx));
        }
        if let Some(agent) = stuck {
            let args = [("agent", Arg::Name(agent))];
            words.push(Segment::own(cx.phrases().text("fleet.stuck", &args)));
        }
        if !accounts.away.is_empty() {
            let named = accounts.away.iter().take(MOST_NAMED).cloned();
            let rest = accounts.away.len().saturating_sub(MOST_NAMED);
            let args = [("machines", list(named.collect(), rest, cx))];
            let text = cx.phrases().text("fleet.are_away", &args);
            words.push(Segment::own(text));
        }
        if words.is_empty() {
            return cx.respond("fleet.nobody", &[]);
        }
        cx.answer_aside(words);
    }
}

/// Returns a count in words, with the machines that contribute most.
fn sentence(key: &str, counts: &MachineCounts, cx: &AppCx) -> Option<Segment> {
    let total: u64 = counts.values().sum();
    if total == 0 {
        return None;
    }
    let mut machines: Vec<(&String, &u64)> = counts.iter().collect();
    machines.sort_by_key(|(name, count)| (u64::MAX - **count, *name));
    let rest = machines.len().saturating_sub(MOST_NAMED);
    let named = machines.into_iter().take(MOST_NAMED);
    let named = named.map(|(name, count)| {
        let args = [("name", Arg::Name(name.clone())), ("n", Arg::own(count))];
        cx.phrases().text("fleet.on", &args)
    });
    let machines = list(named.collect(), rest, cx);
    let args = [("n", Arg::own(total)), ("machines", machines)];
    Some(Segment::own(cx.phrases().text(key, &args)))
}

/// Returns a list of names, with the number of those left out.
fn list(mut named: Vec<String>, rest: usize, cx: &AppCx) -> Arg {
    if rest > 0 {
        let args = [("n", Arg::own(rest))];
        named.push(cx.phrases().text("fleet.others", &args));
    }
    Arg::Own(named.join(", "))
}
