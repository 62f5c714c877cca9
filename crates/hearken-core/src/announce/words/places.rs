//! Where a phrase stands among the lines of its language, known without reading them.
//!
//! Responsibilities: the places of a key in a table that the build lays down (`digest`, `build.rs`) and the program looks
//! into (`phrase`). Not here: what a line is.
//!
//! Mental model: a table has at least twice as many places as there are phrases, and holds where lines begin. A key has one
//! place that it is looked for first; where another key's line stands there, it is in one of the next. An empty place
//! says that there is no such key.

/// Spreads what is alike: the golden ratio in 64 bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the places of a key in a table of a power of two of them, the first one first. They are the same on every machine:
/// the build's is not always the program's.
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
