//! A file that was opened for reading, or why not.
//!
//! Responsibilities: that reason, for whoever reads a file once (`file`) or as it grows (`follow`). Not here:
//! reading it.

use std::fs::File;
use std::io;
use std::path::Path;

use super::clean::clean;
use crate::link::{Cause, Fault};

/// The longest file name in a fault, in characters.
const NAME_CHARACTERS: usize = 120;

/// Says in words why a file can't be read, where there are words for it.
pub fn unreadable(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::NotFound => Some("there is no such file"),
        io::ErrorKind::IsADirectory => Some("it is a folder"),
        io::ErrorKind::NotADirectory => Some("it is no folder"),
        io::ErrorKind::PermissionDenied => Some("you may not read it"),
        io::ErrorKind::InvalidData => Some("it is no text"),
        _ => None,
    }
}

/// Opens a file for reading, or says why not.
pub(super) fn open_file(path: &Path) -> Result<File, Fault> {
    let name = clean(&path.to_string_lossy(), NAME_CHARACTERS);
    let unusable = |why: Cause| Err(Fault::Unusable(why));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound => unusable(Cause::NoFile { name }),
                io::ErrorKind::PermissionDenied => unusable(Cause::FileForbidden { name }),
                kind => unusable(Cause::FileNotOpened { name, why: kind }),
            };
        }
    };
    match file.metadata() {
        Ok(about) if about.is_dir() => unusable(Cause::Folder { name }),
        Ok(_) | Err(_) => Ok(file),
    }
}
