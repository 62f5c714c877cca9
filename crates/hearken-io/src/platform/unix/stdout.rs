//! This process's standard output, as a separate file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;

use rustix::stdio::dup2_stdout;

/// Takes over standard output, so that its reader sees the end when the returned file is closed. Anything printed in
/// another way from then on is discarded.
///
/// # Errors
/// Standard output is closed, or there is no null device.
pub fn take_stdout() -> io::Result<File> {
    let taken = io::stdout().as_fd().try_clone_to_owned()?;
    let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
    dup2_stdout(&nowhere)?;
    Ok(File::from(taken))
}
