//! Equality of two texts, compared sixteen bytes at a time.
//!
//! Repeated parts are recognised by their bytes, some hundreds for each event. The C library's comparison costs
//! a call, and in musl, with which packages are linked, it goes byte by byte.

use std::sync::Arc;

/// Returns whether two texts are the same.
#[inline]
pub fn are_same(one: &str, other: &str) -> bool {
    are_same_bytes(one.as_bytes(), other.as_bytes())
}

/// Returns whether two texts are the same, given their bytes.
#[inline]
pub fn are_same_bytes(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<16>(), other.last_chunk::<16>()) {
        // The last bytes are compared first, although they may overlap earlier ones: different ids differ
        // there.
        if end != other_end {
            return false;
        }
        // Compared chunk by chunk, because a comparison of the whole would call the C library.
        let (mut one, mut other) = (one, other);
        while let (Some((chunk, rest)), Some((other_chunk, other_rest))) = (
            one.split_first_chunk::<16>(),
            other.split_first_chunk::<16>(),
        ) {
            if chunk != other_chunk {
                return false;
            }
            (one, other) = (rest, other_rest);
        }
        return true;
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<8>(), other.last_chunk::<8>()) {
        return end == other_end && one.first_chunk::<8>() == other.first_chunk::<8>();
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<4>(), other.last_chunk::<4>()) {
        return end == other_end && one.first_chunk::<4>() == other.first_chunk::<4>();
    }
    one.iter().eq(other)
}

/// The fixed number of bytes that are compared as one row.
pub const ROW: usize = 40;

/// Returns whether two rows are the same, without branches, for which the compiler would also call the C
/// library.
#[inline]
pub fn are_same_rows(one: &[u8; ROW], other: &[u8; ROW]) -> bool {
    #[inline]
    fn numbers(row: &[u8; ROW]) -> Option<[u128; 3]> {
        // The last bytes overlap earlier ones.
        let (first, rest) = row.split_first_chunk()?;
        let (middle, last) = (rest.first_chunk()?, row.last_chunk()?);
        Some([
            u128::from_ne_bytes(*first),
            u128::from_ne_bytes(*middle),
            u128::from_ne_bytes(*last),
        ])
    }
    let (Some([a, b, c]), Some([d, e, f])) = (numbers(one), numbers(other)) else {
        return one == other;
    };
    (a ^ d) | (b ^ e) | (c ^ f) == 0
}

/// Returns whether two shared texts are the same. They are nearly always the same allocation, which the inlined part
/// checks; it stays small wherever it is inlined.
#[inline]
pub fn are_one(one: &Arc<str>, other: &Arc<str>) -> bool {
    #[inline(never)]
    fn say_the_same(one: &str, other: &str) -> bool {
        are_same(one, other)
    }
    Arc::ptr_eq(one, other) || say_the_same(one, other)
}

#[cfg(test)]
mod tests {
    use super::{ROW, are_same, are_same_rows};

    #[test]
    fn texts_are_the_same_where_every_byte_is() {
        let text: String = ('a'..='z').chain('A'..='Z').collect();
        for length in 0..=text.len() {
            let one = &text[..length];
            assert!(are_same(one, one), "{one}");
            assert!(are_same(one, &String::from(one)), "{one}");
            assert!(!are_same(one, &format!("{one}.")), "{one}");
            for at in 0..length {
                let mut other = one.to_owned();
                other.replace_range(at..=at, ".");
                assert!(!are_same(one, &other) && !are_same(&other, one), "{other}");
            }
        }
    }

    #[test]
    fn bytes_of_one_length_are_the_same_where_every_one_is() {
        let one: [u8; ROW] = std::array::from_fn(|at| at as u8);
        assert!(are_same_rows(&one, &one.clone()));
        for at in 0..one.len() {
            let mut other = one;
            other[at] ^= 128;
            assert!(!are_same_rows(&one, &other), "{at}");
        }
    }
}
