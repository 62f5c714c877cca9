//! Whether two texts are the same, by sixteen bytes at a time.
//!
//! What came before is known again by its bytes, some hundreds of them with each event. The C library's own way is a
//! call, and in musl, which packages are linked with, one that goes byte by byte.

use std::sync::Arc;

/// Tells whether two texts are the same.
#[inline]
pub fn are_same(one: &str, other: &str) -> bool {
    are_same_bytes(one.as_bytes(), other.as_bytes())
}

/// Tells whether two texts are the same, by their bytes.
#[inline]
pub fn are_same_bytes(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<16>(), other.last_chunk::<16>()) {
        // The last bytes first, which may be some of those before: ids that are not the same differ there.
        if end != other_end {
            return false;
        }
        // Compared one by one: as a whole they are handed to the C library.
        let (chunks, _) = one.as_chunks::<16>();
        let (other_chunks, _) = other.as_chunks::<16>();
        return (chunks.iter().zip(other_chunks)).all(|(chunk, other)| chunk == other);
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<8>(), other.last_chunk::<8>()) {
        return end == other_end && one.first_chunk::<8>() == other.first_chunk::<8>();
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<4>(), other.last_chunk::<4>()) {
        return end == other_end && one.first_chunk::<4>() == other.first_chunk::<4>();
    }
    one.iter().eq(other)
}

/// Tells whether two texts that are kept are the same, which are nearly always one: that is seen at a glance, and stays small
/// wherever it is asked.
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
    use super::are_same;

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
}
