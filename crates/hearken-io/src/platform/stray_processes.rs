//! Processes that left the group of the program that started them, found by their environment or their parents if the
//! system shows both.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

#[cfg(target_os = "linux")]
pub use linux::{StrayProcess, below, marked};
#[cfg(not(target_os = "linux"))]
pub use none::{StrayProcess, below, marked};
