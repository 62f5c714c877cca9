//! The standard output of this process, as a file of its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;

use rustix::stdio::dup2_stdout;

/// Takes the standard output: whoever reads it sees its end when the file is closed. What is printed otherwise from then on
/// goes nowhere.
///
/// # Errors
/// It is closed, or there is no null device.
pub fn take_stdout() -> io::Result<File> {
    let taken = io::stdout().as_fd().try_clone_to_owned()?;
    let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
    dup2_stdout(&nowhere)?;
    Ok(File::from(taken))
}
