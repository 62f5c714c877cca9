//! Setting hearken up by five questions: what each asks, what an answer tries, and what it changes in the settings.
//!
//! Responsibilities: the questions in order, what a typed line or a pressed switch means, the changes of the settings,
//! and putting these into the person's own file. Not here: the terminal, the voice and the file (`runtime`), what a
//! setting does (`config`).
//!
//! # Mental model
//! One question is open at a time, with numbered choices, one of which is chosen. A number chooses and tries; Enter
//! goes on with what is chosen, `b` goes back; `q` and the end of the input leave. Nothing is changed before the last answer. A
//! question can be tried as often as the person likes, so nobody has to guess what a choice will be like.

mod changes;
mod dialog;
mod setup_questions;

pub use changes::{Change, MergeError, Value, merge};
pub use dialog::{Dialog, SetupEffect, SetupInput};
