//! Where a phrase is among the lines of its language, known without reading them.
//!
//! Responsibilities: the places of a key in a table that the build creates (`digest`, `build.rs`) and the program
//! searches (`phrase`). Not here: what a line is.
//!
//! Mental model: a table has at least twice as many places as there are phrases, and stores where lines begin. Each
//! key has a place at which it is sought first; if another key's line is there, it is at one of the next. An empty
//! place means that the key does not exist.

/// Spreads similar keys: the golden ratio in 64 bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the places of a key in a table of `of` places, a power of two, the preferred one first. They are the same
/// on every machine, as the build may run on another one than the program.
pub(super) fn places(key: &str, of: usize) -> impl Iterator<Item = usize> {
    let number = |part: &[u8]| {
        let shifted = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        part.iter().fold(0, shifted)
    };
    let mixed = |mixed: u64, part: &[u8]| {
        let mixed = (mixed ^ number(part)).wrapping_mul(SPREAD);
        mixed ^ mixed >> 32
    };
    let first = key.as_bytes().chunks(8).fold(SPREAD, mixed) as u32 as usize;
    (0..of).map(move |step| first.wrapping_add(step) & (of - 1))
}
