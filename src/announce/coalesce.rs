//! shim
use std::time::Duration;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    None,
    Word,
    Sentence,
    Paragraph,
    Completion,
    Absent,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Sentences,
    WholeOutput,
    EveryBoundary,
}
pub struct Chunk<'a> {
    pub text: &'a str,
    pub position: Option<u64>,
    pub hint: Hint,
    pub complete: bool,
    pub language: Option<&'a str>,
}
#[derive(Debug, Clone)]
pub struct Piece {
    pub text: String,
    pub language: Option<String>,
}
#[derive(Debug)]
pub struct Coalescer {
    buf: String,
}
impl Coalescer {
    pub fn new(_p: Policy, _d: Duration) -> Self {
        Self { buf: String::new() }
    }
    pub fn push(&mut self, c: Chunk<'_>, _now: Duration) -> Vec<Piece> {
        self.buf.push_str(c.text);
        if c.hint == Hint::Sentence || c.complete {
            self.finish()
        } else {
            vec![]
        }
    }
    pub fn flush_due(&mut self, _now: Duration) -> Vec<Piece> {
        vec![]
    }
    pub fn deadline(&self) -> Option<Duration> {
        None
    }
    pub fn finish(&mut self) -> Vec<Piece> {
        let t = std::mem::take(&mut self.buf);
        if t.is_empty() {
            vec![]
        } else {
            vec![Piece {
                text: t,
                language: None,
            }]
        }
    }
}
