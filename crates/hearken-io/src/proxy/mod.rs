//! Standing between an editor and its agent: bytes are copied, and somebody listens along.
//!
//! Responsibilities: copying both ways, unchanged and at once (`copier`); telling a question of the agent and an answer of
//! the editor by what stands in a line (`outline`, `passage`); who decides what, exactly once (`arbiter`); what the listener
//! is told and what it wants (`wire`), within a bound (`tap`). Not here: what the messages mean beyond that (`dialect`), and
//! the listener itself, which is a process of its own (`runtime`).
//!
//! # Mental model
//! The copier is as thin as can be and waits for nobody but the two whose bytes it copies. A listener that is slow misses
//! lines, which are counted and told; one that is dead is started again a few times; the bytes flow all the same. Only while
//! a question is open that hearken may answer are the editor's lines looked at before they go on, and only up to where it is
//! clear that they are no answer to it.
//!
//! ```text
//! editor -> passage::Inward  -> agent     both under one arbiter, whose lock is never held over a write;
//! editor <- passage::Outward <- agent     lines of ours go in between lines only
//!              \-> tap -> listener -> decisions -^
//! ```

mod arbiter;
mod copier;
mod outline;
mod passage;
mod sluice;
mod tap;
#[cfg(test)]
mod tests;
mod wire;

pub use copier::{Call, Trouble, copy};
pub use wire::{Note, Notes, Side, Verdict, Wish, Wishes};
