//! The output of a call that arrives piece by piece.

use crate::protocol::CallOutput;

/// How many bytes are kept, from the end: a command reports its result last.
const MOST_BYTES: usize = 24 * 1024;

/// The end of an output, and how many lines came before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct OutputTail {
    text: String,
    lines_left_out: u64,
}

impl OutputTail {
    /// Adds a piece.
    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        let Some(over) = self.text.len().checked_sub(MOST_BYTES) else {
            return;
        };
        let over = self.text.ceil_char_boundary(over);
        // Whole lines are left out, as far as there are any.
        let rest = self.text.get(over..).unwrap_or_default();
        let at = rest.find('\n').map_or(over, |line| over + line + 1);
        let gone = self.text.get(..at).unwrap_or_default();
        self.lines_left_out += gone.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.text.drain(..at);
    }

    /// Returns the output, counting what was left out; `None` if nothing arrived.
    pub(super) fn output(&self) -> Option<CallOutput> {
        let output = CallOutput::of(self.text.trim_end())?;
        Some(CallOutput {
            count: output.count + self.lines_left_out,
            gap: match self.lines_left_out {
                0 => output.gap,
                _ => 0,
            },
            ..output
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_and_only_the_end_of_many_is_kept() {
        let mut tail = OutputTail::default();
        assert_eq!(tail.output(), None);
        for piece in ["on", "e\ntwo", "\n"] {
            tail.push(piece);
        }
        let output = tail.output().unwrap();
        assert_eq!(output.lines, ["one", "two"]);
        for n in 0..10_000 {
            tail.push(&format!("line {n} ö\n"));
        }
        let output = tail.output().unwrap();
        assert!(tail.text.len() <= MOST_BYTES);
        assert_eq!(output.count, 10_002);
        assert_eq!(output.gap, 0);
        assert!(output.left_out() > 5_000);
        assert_eq!(output.lines.last().unwrap(), "line 9999 ö");
        assert!(output.lines[0].starts_with("line "));
        // A single line of any length.
        tail.push(&"ö".repeat(MOST_BYTES));
        assert!(tail.text.len() <= MOST_BYTES);
    }
}
