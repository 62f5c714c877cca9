//! The brackets and quotation marks that are open at the scanner's position.
//!
//! Responsibilities: a small stack; what a mark means next to its neighbours. Not here: what an open
//! bracket forbids (`mark_rules`).

use super::chars::{Pair, closes, goes_before_opening, opens};

/// How deeply pairs may be nested; deeper ones are not tracked, since no sentence that a person can follow by
/// ear has them.
const DEPTH: usize = 8;

/// How many bytes after the outermost opening mark its closing mark is expected.
///
/// Text inside brackets and quotes is kept whole up to this length (some 15 seconds of speech);
/// beyond it, the opening mark counts as stray, so that an unclosed bracket silences nothing.
pub(super) const REACH: u64 = 240;

/// The open pairs, outermost first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Enclosures {
    open: [Pair; DEPTH],
    depth: usize,
    since: u64,
}

impl Enclosures {
    /// Creates an empty stack.
    pub(super) fn new() -> Self {
        Self {
            open: [Pair::Round; DEPTH],
            depth: 0,
            since: 0,
        }
    }

    /// Returns whether anything is open at a byte of the stream; forgets what has been open for too long.
    pub(super) fn holds(&mut self, place: u64) -> bool {
        if self.depth > 0 && place.saturating_sub(self.since) > REACH {
            self.depth = 0;
        }
        self.depth > 0
    }

    /// Returns the innermost open pair.
    pub(super) fn top(&self) -> Option<Pair> {
        self.depth.checked_sub(1).map(|top| self.open[top])
    }

    fn has(&self, pair: Pair) -> bool {
        self.open[..self.depth].contains(&pair)
    }

    fn push(&mut self, pair: Pair, place: u64) {
        if self.depth == 0 {
            self.since = place;
        }
        if self.depth < DEPTH {
            self.open[self.depth] = pair;
            self.depth += 1;
        }
    }

    /// Closes a pair and everything opened inside it; returns whether it was open.
    pub(super) fn close(&mut self, pair: Pair) -> bool {
        match self.open[..self.depth].iter().rposition(|&p| p == pair) {
            Some(at) => {
                self.depth = at;
                true
            }
            None => false,
        }
    }

    /// Processes a mark in running text, given the character before it.
    pub(super) fn mark(&mut self, c: char, before: Option<char>, place: u64) {
        self.holds(place);
        let may_open = before.is_none_or(goes_before_opening);
        if let Some(pair) = opens(c) {
            return self.push(pair, place);
        }
        if let Some(pair) = closes(c) {
            self.close(pair);
            return;
        }
        match c {
            '"' => self.turn(Pair::Straight, Pair::Straight, may_open, place),
            '“' => self.turn(Pair::Low, Pair::Curved, may_open, place),
            '«' => self.turn(Pair::AngleInward, Pair::Angle, may_open, place),
            '»' => self.turn(Pair::Angle, Pair::AngleInward, may_open, place),
            '”' => self.close_either(Pair::Curved, Pair::Low),
            '‘' if may_open => self.push(Pair::Single, place),
            '‹' if may_open => self.push(Pair::SingleAngle, place),
            '›' => {
                self.close(Pair::SingleAngle);
            }
            _ => {}
        }
    }

    /// Closes `closing` if it is open; otherwise opens `opening` if the context allows.
    fn turn(&mut self, closing: Pair, opening: Pair, may_open: bool, place: u64) {
        if !self.close(closing) && may_open {
            self.push(opening, place);
        }
    }

    fn close_either(&mut self, one: Pair, other: Pair) {
        if !self.close(one) {
            self.close(other);
        }
    }

    /// Treats a mark directly after a sentence's end as closing.
    pub(super) fn shut(&mut self, c: char) {
        if let Some(pair) = closes(c) {
            self.close(pair);
            return;
        }
        match c {
            '"' => {
                self.close(Pair::Straight);
            }
            '“' | '”' => self.close_either(Pair::Curved, Pair::Low),
            '’' => {
                self.close(Pair::Single);
            }
            '«' | '»' => self.close_either(Pair::Angle, Pair::AngleInward),
            '›' => {
                self.close(Pair::SingleAngle);
            }
            _ => {}
        }
    }

    /// Returns whether a mark of this pair would close something here.
    pub(super) fn would_shut(&self, pair: Pair) -> bool {
        self.has(pair)
    }
}
