//! The proxy between an editor and its agent: bytes are copied, and hearken listens in.
//!
//! Responsibilities: copying both ways, unchanged and without delay (`copier`); recognizing the agent's questions and
//! the editor's answers by the content of a line (`line_outline`, `passage`); who decides what, exactly once
//! (`arbiter`); the listener's notes and requests (`pipe_messages`), within a bound (`note_queue`). Not here: what the
//! messages mean beyond that (`dialect`), and the listener itself, which is a separate process (`runtime`).
//!
//! # Mental model
//! The copier is as thin as possible and waits only for the two sides whose bytes it copies. A slow listener misses
//! lines, which are counted and reported; a dead one is restarted a few times; the bytes flow all the same. Only while
//! a question is open that hearken may answer are the editor's lines examined before they go on, and only up to the
//! point where they are clearly no answer to it.
//!
//! ```text
//! editor -> passage::Inward  -> agent     both under one arbiter, whose lock is never held over a write;
//! editor <- passage::Outward <- agent     lines of ours go in between lines only
//!              \-> tap -> listener -> decisions -^
//! ```

mod arbiter;
mod copier;
mod line_outline;
mod note_queue;
mod passage;
mod pipe_messages;
mod sluice;
#[cfg(test)]
mod tests;

pub use copier::{CopierProblem, Programs, copy};
pub use pipe_messages::{
    DecisionOutcome, ListenerNote, ListenerNoteParser, ListenerRequest, ListenerRequestParser, Side,
};
