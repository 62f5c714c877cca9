//! What differs between the systems that hearken runs on, each behind the same names.
//!
//! Responsibilities: files for the owner alone, programs and all that they started, signals, the terminal, sockets of this
//! machine. Not here: any decision, any word.
//!
//! Mental model: one folder a system, with the same files and the same names in them, and nowhere else a word about
//! which system it is. What a system does not have is absent there in a way that the compiler knows (a type without
//! values, a constant that says so), so that nobody can pretend to have it; the rooms above say it in words.

pub(crate) mod strays;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{files, keyboard, numbered, processes, signals, sockets, terminal};
#[cfg(windows)]
pub(crate) use windows::{files, keyboard, numbered, processes, signals, sockets, terminal};

/// Whether this system has a speech of its own that every build can use.
pub(crate) const SPEAKS: bool = cfg!(any(windows, target_os = "macos"));
