//! What a chunk's `position` says about the text.
//!
//! Responsibilities: detecting text that was sent twice and text that is missing, although producers
//! count in characters, UTF-16 units, bytes or not at all. Not here: sentences, hints, time.
//!
//! Text is dropped only if it is proven to be the same text at the same place. A position that
//! fits no unit is noted once, and no position is believed after that; nothing is dropped because of it.

/// An oddity of a stream, noted quietly and once per output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionNote {
    /// A position points into text that already arrived but differs; everything was kept.
    Overlap,
    /// Positions skip text that never arrived; the number is in the producer's unit.
    Gap {
        /// How many units are missing.
        missing: u64,
    },
    /// Text arrived after the output was complete; it was kept.
    Late,
    /// Chunks were marked as sentences but do not end one; from now on only the text decides where sentences
    /// end.
    Unbelieved,
    /// Text without an end was cut at [`UNENDED`](super::UNENDED) bytes.
    Unended,
    /// Text that waited for a hint or the end was spoken after [`HELD`](super::HELD) bytes.
    Held,
}

/// How many bytes of earlier text are kept for comparison with an overlap. An overlap that
/// reaches further back can't be proven and is kept whole.
const HISTORY: usize = 16 * 1024;

/// How many repeated units prove an overlap if the position may also be a count of chunks.
const PROOF: u64 = 3;

/// The number of units in which positions may count, in the order in which they are tried.
const UNITS: usize = 3;

/// The positions of one output.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions {
    /// Where the next chunk should begin, counted in characters, UTF-16 units and bytes.
    next: [u64; UNITS],
    /// Which units have fitted all positions so far.
    fits: [bool; UNITS],
    first: Option<u64>,
    chunks: u64,
    /// Whether some position can't be a count of chunks.
    not_ordinal: bool,
    broken: bool,
    history: String,
}

impl Positions {
    /// Returns the new part of a chunk, and what is odd about its position.
    pub(super) fn accept<'a>(
        &mut self,
        text: &'a str,
        position: Option<u64>,
    ) -> (&'a str, Option<PositionNote>) {
        let (skip, note) = match position {
            Some(position) => self.compare(text, position),
            None => (0, None),
        };
        let new = &text[skip..];
        let counts = counts(new);
        for (next, count) in self.next.iter_mut().zip(counts) {
            *next = next.saturating_add(count);
        }
        self.chunks += 1;
        self.remember(new);
        (new, note)
    }

    fn compare(&mut self, text: &str, position: u64) -> (usize, Option<PositionNote>) {
        let Some(first) = self.first else {
            // Text before the first position counts backwards from it.
            self.first = Some(position);
            let shift = position.saturating_sub(self.next[0]);
            self.next = self.next.map(|next| next.saturating_add(shift));
            self.fits = [true; UNITS];
            return (0, None);
        };
        // Some producers count chunks, not characters.
        self.not_ordinal |= position != first.saturating_add(self.chunks);
        // Written out, because a map would call a function for each.
        let (next, fits) = (self.next, self.fits);
        let exact = [
            next[0] == position,
            next[1] == position,
            next[2] == position,
        ];
        let both = [
            exact[0] && fits[0],
            exact[1] && fits[1],
            exact[2] && fits[2],
        ];
        if both.contains(&true) {
            self.fits = both;
            return (0, None);
        }
        if self.broken {
            self.restart(position);
            return (0, None);
        }
        // Units that have fitted so far are tried first, then those that fit this chunk exactly, then the rest.
        if let Some(skip) = self.overlap(text, position, true) {
            return (skip, None);
        }
        if exact.contains(&true) {
            self.fits = exact;
            return (0, None);
        }
        if let Some(skip) = self.overlap(text, position, false) {
            return (skip, None);
        }
        let likely = [0, 1, 2].into_iter().find(|&unit| self.fits[unit]);
        let likely = self.next[likely.unwrap_or(0)];
        self.restart(position);
        if position > likely && self.not_ordinal {
            let missing = position - likely;
            return (0, Some(PositionNote::Gap { missing }));
        }
        self.broken = true;
        (0, Some(PositionNote::Overlap))
    }

    /// Finds the longest repeat in the units that have fitted so far (`fitting`), or in the others.
    fn overlap(&mut self, text: &str, position: u64, fitting: bool) -> Option<usize> {
        let (skip, unit) = (0..UNITS)
            .filter(|&unit| self.fits[unit] == fitting)
            .filter_map(|unit| {
                let back = self.next[unit].checked_sub(position)?;
                let proof = self.not_ordinal || back >= PROOF;
                let skip = self.repeated(text, back, unit)?;
                proof.then_some((skip, unit))
            })
            .max_by_key(|&(skip, unit)| (skip, UNITS - unit))?;
        self.fits = [false; UNITS];
        self.fits[unit] = true;
        Some(skip)
    }

    /// Continues counting from a position, whatever came before.
    fn restart(&mut self, position: u64) {
        self.next = [position; UNITS];
    }

    /// Returns how many bytes at the start of `text` repeat the text from `back` units before the end;
    /// `None` if they differ or can't be compared.
    fn repeated(&self, text: &str, back: u64, unit: usize) -> Option<usize> {
        let back = usize::try_from(back).ok()?;
        let start = from_end(&self.history, back, unit)?;
        let said = &self.history[start..];
        let length = said.len().min(text.len());
        (text.is_char_boundary(length) && text.as_bytes()[..length] == said.as_bytes()[..length])
            .then_some(length)
    }

    fn remember(&mut self, text: &str) {
        self.history.push_str(text);
        if self.history.len() > 2 * HISTORY {
            let mut cut = self.history.len() - HISTORY;
            while !self.history.is_char_boundary(cut) {
                cut += 1;
            }
            self.history.drain(..cut);
        }
    }
}

fn counts(text: &str) -> [u64; UNITS] {
    if text.is_ascii() {
        return [text.len() as u64; UNITS];
    }
    // Each character has exactly one byte that is not a continuation byte, and a character of four bytes is two
    // UTF-16 units. Bytes are counted because the compiler turns that into wide instructions.
    let (mut chars, mut long) = (0, 0);
    for byte in text.bytes() {
        chars += u64::from(byte & 0xc0 != 0x80);
        long += u64::from(byte >= 0xf0);
    }
    [chars, chars + long, text.len() as u64]
}

/// Returns the byte offset `back` units before the end, if it is between characters.
fn from_end(text: &str, back: usize, unit: usize) -> Option<usize> {
    if unit == 2 {
        let start = text.len().checked_sub(back)?;
        return text.is_char_boundary(start).then_some(start);
    }
    let mut left = back;
    let mut start = text.len();
    for c in text.chars().rev() {
        if left == 0 {
            break;
        }
        left = left.checked_sub(if unit == 0 { 1 } else { c.len_utf16() })?;
        start -= c.len_utf8();
    }
    (left == 0).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(chunks: &[(&str, u64)]) -> (String, Vec<PositionNote>) {
        let mut positions = Positions::default();
        let mut text = String::new();
        let mut notes = Vec::new();
        for (chunk, position) in chunks {
            let (new, note) = positions.accept(chunk, Some(*position));
            text.push_str(new);
            notes.extend(note);
        }
        (text, notes)
    }

    #[test]
    fn every_way_of_counting_is_understood() {
        for positions in [
            [0, 2, 4],
            [0, 3, 5],
            [0, 6, 8],
            [100, 102, 104],
            [7, 10, 12],
        ] {
            let [a, b, c] = positions;
            let (text, notes) = feed(&[("é👍", a), ("no", b), ("x", c)]);
            assert_eq!(text, "é👍nox", "{positions:?}");
            assert_eq!(notes, [], "{positions:?}");
        }
    }

    #[test]
    fn an_overlap_is_cut_only_where_the_text_is_the_same() {
        assert_eq!(
            feed(&[("Hello wor", 0), ("world", 6), ("!", 11)]),
            ("Hello world!".to_owned(), vec![])
        );
        assert_eq!(
            feed(&[("Hello ", 0), ("Hello ", 0), ("you", 6)]),
            ("Hello you".to_owned(), vec![])
        );
        assert_eq!(
            feed(&[("Grüße ", 0), ("ße an", 3), ("x", 8)]),
            ("Grüße anx".to_owned(), vec![])
        );
        let (text, notes) = feed(&[("Hello wor", 0), ("WORLD", 6), ("!", 11)]);
        assert_eq!(text, "Hello worWORLD!");
        assert_eq!(notes, [PositionNote::Overlap]);
    }

    #[test]
    fn a_gap_is_noted_and_counted_on_from() {
        let (text, notes) = feed(&[("one ", 0), ("two ", 10), ("three", 14)]);
        assert_eq!(text, "one two three");
        assert_eq!(notes, [PositionNote::Gap { missing: 6 }]);
    }

    #[test]
    fn positions_that_mean_something_else_drop_nothing() {
        // Positions that count chunks.
        let (text, notes) = feed(&[("aa", 0), ("aa", 1), ("aa", 2), ("aa", 3)]);
        assert_eq!(text, "aaaaaaaa");
        assert_eq!(notes, [PositionNote::Overlap]);
        // Positions that are always zero.
        let (text, _) = feed(&[("The ", 0), ("cat ", 0), ("cat ", 0), ("sat", 0)]);
        assert_eq!(text, "The cat cat sat");
    }

    #[test]
    fn huge_positions_do_no_harm() {
        let (text, _) = feed(&[
            ("a", u64::MAX),
            ("b", u64::MAX),
            ("c", 0),
            ("d", u64::MAX - 1),
        ]);
        assert_eq!(text, "abcd");
    }

    #[test]
    fn an_overlap_beyond_the_history_is_kept() {
        let long = "x y ".repeat(HISTORY);
        let (text, notes) = feed(&[(&long, 0), (&long, 0)]);
        assert_eq!(text.len(), long.len() * 2);
        assert_eq!(notes, [PositionNote::Overlap]);
    }
}
