//! Identifiers that look random and come from a seed.
//!
//! Responsibilities: a small generator (splitmix64) and the forms that AAEP requires: a prefix and 32
//! hexadecimal digits. Not here: secrecy. Anyone who knows the generator can derive the next id from
//! one, which is acceptable for an agent that only acts: a reply token correlates, it does not
//! authenticate (chapter 6.2.4).

/// A generator of identifiers; the same seed gives the same ones in the same order.
#[derive(Debug, Clone)]
pub(super) struct Ids {
    state: u64,
}

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next id: the prefix, an underscore, 128 bits in hexadecimal.
    pub(super) fn mint(&mut self, prefix: &str) -> String {
        format!("{prefix}_{:016x}{:016x}", self.next(), self.next())
    }

    /// Advances splitmix64 (Steele, Lea and Flood 2014); its period of 2^64 rules out a repeat.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        // The reference outputs of splitmix64 for the seed 1234567.
        let mut ids = Ids::new(1_234_567);
        assert_eq!(ids.next(), 6_457_827_717_110_365_317);
        assert_eq!(ids.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_same_seed_gives_the_same_ids() {
        let (mut one, mut other) = (Ids::new(7), Ids::new(7));
        let id = one.mint("evt");
        assert_eq!(id, other.mint("evt"));
        assert_eq!(id.len(), 4 + 32);
        assert_ne!(id, one.mint("evt"));
        assert_ne!(Ids::new(8).mint("evt"), id);
    }
}
