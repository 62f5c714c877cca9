//! The resources that a started program has used so far.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::process::Child;

use super::native;
use crate::platform::ResourceUse;

/// Returns whether a child has ended; its resource use can be read for as long as its handle is
/// open.
///
/// # Errors
/// The system's error.
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Returns how often a child's threads have been woken so far; this system does not report it.
pub fn wakings(_child: &Child) -> Option<u64> {
    None
}

/// Returns what a child has used so far.
pub fn spent(child: &Child) -> ResourceUse {
    let process = child.as_raw_handle();
    ResourceUse {
        processor: native::processor_time(process).ok(),
        peak: native::peak_memory(process).ok(),
    }
}
