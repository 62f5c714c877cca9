//! This process's standard output, as a separate file.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;

/// Takes over standard output. The system keeps its own handle to it, so its reader sees the end only when the process
/// ends.
///
/// # Errors
/// Standard output is closed.
pub fn take_stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}
