//! The visual form of a text: its skeleton by UTS 39 (section 4, Confusable Detection).
//!
//! Responsibilities: combining the skeletons of letters. Not here: which part of a name is examined (`naming`),
//! the prototype of each letter, which the build takes from `unicode-security` (`build.rs`).

use unicode_normalization::UnicodeNormalization as _;

include!(concat!(env!("OUT_DIR"), "/skeletons.rs"));

/// Returns the skeleton of a text: texts with the same skeleton look alike.
pub(in crate::announce) fn skeleton(text: &str) -> impl Iterator<Item = char> {
    text.nfd().flat_map(prototype).nfd()
}

/// Returns what a letter looks like: itself, other letters, or nothing.
fn prototype(letter: char) -> impl Iterator<Item = char> {
    let behind = SKELETONS.partition_point(|(first, ..)| *first <= letter);
    let row = behind.checked_sub(1).and_then(|at| SKELETONS.get(at));
    let seen = row
        .filter(|(_, last, ..)| letter <= *last)
        .and_then(|(_, _, at, length)| {
            let at = usize::from(*at);
            PROTOTYPES.get(at..at + usize::from(*length))
        });
    let itself = seen.is_none().then_some(letter);
    itself.into_iter().chain(seen.unwrap_or_default().chars())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_security::confusable_detection::skeleton as known;

    use super::skeleton;

    #[test]
    fn every_letter_is_seen_as_the_library_sees_it() {
        for letter in char::MIN..=char::MAX {
            let text = letter.to_string();
            assert!(skeleton(&text).eq(known(&text)), "{letter:?}");
        }
    }

    proptest! {
        #[test]
        fn so_is_every_text(text in "\\PC{0,24}") {
            let (ours, theirs): (String, String) = (skeleton(&text).collect(), known(&text).collect());
            prop_assert_eq!(ours, theirs);
        }
    }
}
