//! A file that was opened for reading, or in words why not.
//!
//! Responsibilities: those words, for whoever reads a file once (`file`) or as it grows (`follow`). Not here:
//! reading it.

use std::fs::File;
use std::io;
use std::path::Path;

use super::clean::clean;
use crate::link::Fault;

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

/// Opens a file for reading, or says in words why not.
pub(super) fn open_file(path: &Path) -> Result<File, Fault> {
    let name = clean(&path.to_string_lossy(), NAME_CHARACTERS);
    let unusable = |why: String| Err(Fault::Unusable(why));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound => unusable(format!("there is no file {name}")),
                io::ErrorKind::PermissionDenied => unusable(format!("{name} may not be read")),
                kind => unusable(format!("{name} can't be opened: {kind}")),
            };
        }
    };
    match file.metadata() {
        Ok(about) if about.is_dir() => unusable(format!("{name} is a folder")),
        Ok(_) | Err(_) => Ok(file),
    }
}
