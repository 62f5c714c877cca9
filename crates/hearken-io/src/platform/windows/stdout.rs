//! The standard output of this process, as a file of its own.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;

/// Takes the standard output. The system keeps its own handle of it, so whoever reads it sees its end only when the process
/// ends.
///
/// # Errors
/// It is closed.
pub fn take_stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}
