//! A file opened for reading, or the reason why it can't be.
//!
//! Responsibilities: that reason, for reading a file once (`file`) or as it grows (`growing_file`). Not here: reading
//! it.

use std::fs::File;
use std::io;
use std::path::Path;

use super::outside_text::clean;
use crate::link::{Cause, Fault};
use crate::platform::files::open_to_read;

/// The longest file name in a fault, in characters.
const NAME_CHARACTERS: usize = 120;

/// Opens a file for reading, or returns the reason why it can't be opened.
pub(super) fn open_file(path: &Path) -> Result<File, Fault> {
    let name = clean(&path.to_string_lossy(), NAME_CHARACTERS);
    let unusable = |why: Cause| Err(Fault::Unusable(why));
    let file = match open_to_read(path) {
        Ok(file) => file,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound => unusable(Cause::NoFile { name }),
                io::ErrorKind::IsADirectory => unusable(Cause::Folder { name }),
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
