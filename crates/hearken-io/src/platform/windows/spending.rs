//! What a program that was started has taken of the machine so far.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::process::Child;

use super::native;
use crate::platform::Spent;

/// Returns whether a child has ended; what it took can be asked for as long as it is held.
///
/// # Errors
/// What the system says.
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Returns how often a child's threads were woken so far, which this system does not tell.
pub fn wakings(_child: &Child) -> Option<u64> {
    None
}

/// Returns what a child has taken so far.
pub fn spent(child: &Child) -> Spent {
    let process = child.as_raw_handle();
    Spent {
        processor: native::processor_time(process).ok(),
        peak: native::peak_memory(process).ok(),
    }
}
