//! One output, on which our lines are inserted between those of the other side.
//!
//! Responsibilities: writing bytes immediately, and a line of ours only after a complete line of theirs. Not here:
//! which lines (`copier`).

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The writer to one side.
#[derive(Debug)]
pub struct LineWriter<W>(Mutex<SluiceState<W>>);

#[derive(Debug)]
struct SluiceState<W> {
    /// `None` once closed.
    out: Option<W>,
    /// Whether a line of theirs is incomplete.
    is_within: bool,
    /// Our lines that wait for its end: one per decision, which the arbiter bounds.
    waiting: Vec<u8>,
}

impl<W: Write> LineWriter<W> {
    /// Creates a sluice that writes to `out`.
    pub fn new(out: W) -> Self {
        Self(Mutex::new(SluiceState {
            out: Some(out),
            is_within: false,
            waiting: Vec::new(),
        }))
    }

    /// Writes their bytes.
    ///
    /// # Errors
    /// If the side no longer reads.
    pub fn pass(&self, bytes: &[u8]) -> io::Result<()> {
        self.hold().pass(bytes)
    }

    /// Locks the output, so that nothing of ours is inserted before the next pass.
    pub fn hold(&self) -> LockedOutput<'_, W> {
        LockedOutput(self.lock())
    }

    /// Writes a line of ours, including its line break, as soon as it fits between theirs.
    ///
    /// # Errors
    /// If the side no longer reads.
    pub fn insert(&self, line: &[u8]) -> io::Result<()> {
        let mut inner = self.lock();
        if inner.is_within {
            inner.waiting.extend_from_slice(line);
            return Ok(());
        }
        inner.write(line)
    }

    /// Closes the output; lines that wait for the end of an incomplete line are lost.
    pub fn close(&self) {
        self.lock().out = None;
    }

    fn lock(&self) -> MutexGuard<'_, SluiceState<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A locked output.
#[derive(Debug)]
pub struct LockedOutput<'a, W>(MutexGuard<'a, SluiceState<W>>);

impl<W: Write> LockedOutput<'_, W> {
    /// Writes their bytes, and unlocks the output.
    ///
    /// # Errors
    /// If the side no longer reads.
    pub fn pass(self, bytes: &[u8]) -> io::Result<()> {
        let Some(last) = bytes.last() else {
            return Ok(());
        };
        let mut inner = self.0;
        let place = match inner.waiting.is_empty() {
            true => None,
            false => bytes.iter().position(|byte| *byte == b'\n'),
        };
        match place {
            None => inner.write(bytes)?,
            Some(end) => {
                let (before, after) = bytes.split_at(end + 1);
                inner.write(before)?;
                let ours = std::mem::take(&mut inner.waiting);
                inner.write(&ours)?;
                inner.write(after)?;
            }
        }
        inner.is_within = *last != b'\n';
        Ok(())
    }
}

impl<W: Write> SluiceState<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(out) = &mut self.out else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        out.write_all(bytes)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Default)]
    struct WrittenBytes(std::sync::Arc<Mutex<Vec<u8>>>);

    impl Write for WrittenBytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_of_ours_never_stands_within_another() {
        let seen = WrittenBytes::default();
        let sluice = LineWriter::new(seen.clone());
        sluice.insert(b"1\n").unwrap();
        sluice.pass(b"ab").unwrap();
        sluice.insert(b"2\n").unwrap();
        sluice.insert(b"3\n").unwrap();
        sluice.pass(b"c").unwrap();
        sluice.pass(b"d\nef\ng").unwrap();
        sluice.insert(b"4\n").unwrap();
        sluice.pass(b"\n").unwrap();
        sluice.insert(b"5\n").unwrap();
        assert_eq!(*seen.0.lock().unwrap(), b"1\nabcd\n2\n3\nef\ng\n4\n5\n");
        sluice.close();
        assert!(sluice.pass(b"x").is_err() && sluice.insert(b"x").is_err());
        assert!(sluice.pass(b"").is_ok());
    }
}
