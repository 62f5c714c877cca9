//! The app's names for agents and for questions' tokens, which several machines may share.
//!
//! # Mental model
//! A name belongs to whoever uses it first: one agent, or one question's token, on one machine. One on another machine
//! gets the first of its further names that is free or already its own. So no name ever leads to two machines, whatever
//! a machine calls its agents and tokens.

use std::collections::{BTreeMap, VecDeque};

use crate::fleet::Machine;

/// The names in use, each with the machine and the name there.
#[derive(Debug)]
pub(super) struct NamesInUse {
    owners: BTreeMap<String, (Machine, String)>,
    order: VecDeque<String>,
    /// How many are remembered.
    most: usize,
}

impl NamesInUse {
    pub(super) fn new(most: usize) -> Self {
        Self {
            owners: BTreeMap::new(),
            order: VecDeque::new(),
            most,
        }
    }

    /// Returns the app's name for `own` on a machine: that itself, or the first of `further` that no other has.
    pub(super) fn name(
        &mut self,
        machine: &Machine,
        own: &str,
        further: impl Iterator<Item = String>,
    ) -> String {
        let owner = (machine.clone(), own.to_owned());
        let is_free = |name: &String| self.owners.get(name).is_none_or(|known| *known == owner);
        let mut all = std::iter::once(own.to_owned()).chain(further);
        let name = all.find(is_free).unwrap_or_else(|| own.to_owned());
        if self.owners.insert(name.clone(), owner).is_none() {
            self.order.push_back(name.clone());
        }
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.owners.remove(&oldest);
        }
        name
    }

    /// Returns whether a name is in use.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.owners.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fleet::Space;

    fn further(own: &str) -> impl Iterator<Item = String> {
        (2_u32..).map(move |n| format!("{own}x{n}"))
    }

    fn named(names: &mut NamesInUse, host: &str, own: &str) -> String {
        let machine = Machine::named(&Space::named("main"), host);
        names.name(&machine, own, further(own))
    }

    #[test]
    fn the_oldest_name_is_forgotten_beyond_the_bound() {
        let mut names = NamesInUse::new(2);
        for own in ["a", "b", "c"] {
            named(&mut names, "one", own);
        }
        assert!(!names.contains("a") && names.contains("b") && names.contains("c"));
        assert_eq!((names.owners.len(), names.order.len()), (2, 2));
    }

    proptest! {
        /// This holds even if a machine uses the very names that another would get.
        #[test]
        fn no_name_leads_to_two_machines_and_each_stays(
            uses in prop::collection::vec((0..4_usize, "(a|ax2|ax3|ax2x2|b)"), 1..60),
        ) {
            let mut names = NamesInUse::new(1000);
            let mut owners: BTreeMap<String, (usize, String)> = BTreeMap::new();
            let mut given: BTreeMap<(usize, String), String> = BTreeMap::new();
            for (host, own) in uses {
                let name = named(&mut names, &format!("host-{host}"), &own);
                let owner = (host, own);
                prop_assert_eq!(owners.entry(name.clone()).or_insert(owner.clone()), &owner);
                prop_assert_eq!(given.entry(owner).or_insert(name.clone()), &name);
            }
        }
    }
}
