//! Files and folders, programs among the files, and where the person's own files are.
//!
//! What is for the owner alone says so itself, in its own list of rights; it does not matter then in which folder it lies.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::native;
use crate::platform::places;

/// The endings of what can be called, where the person's own settings name none.
const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// Opens a file to read it, and says of a folder what it is: the system says that it is forbidden. A name that no file can have
/// is one that is not there.
///
/// # Errors
/// What the system says.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied if path.is_dir() => io::ErrorKind::IsADirectory.into(),
        io::ErrorKind::InvalidFilename => io::ErrorKind::NotFound.into(),
        _ => error,
    })
}

/// Returns the whole path of what is there, as programs take it: what the system calls a canonical path (`\\?\`) is more than
/// many of them understand.
///
/// # Errors
/// What the system says.
pub fn in_full(path: &Path) -> io::Result<PathBuf> {
    path.metadata()?;
    std::path::absolute(path)
}

/// Makes a file to be written that was not there, for its owner alone.
///
/// # Errors
/// What the system says; that it is there already.
pub fn create_for_owner(path: &Path) -> io::Result<File> {
    native::create_for_owner(path)
}

/// Leaves a new file the rights of its folder, as what it takes the place of has them.
pub fn with_rights_of<'a>(options: &'a mut OpenOptions, _before: &Path) -> &'a mut OpenOptions {
    options
}

/// Makes a folder with all above it; a new one is for its owner alone, and so is what is made in it.
///
/// # Errors
/// What the system says.
pub fn folder_for_owner(path: &Path) -> io::Result<()> {
    let is_new = !path.exists();
    std::fs::create_dir_all(path)?;
    if is_new {
        keep_for_owner(path)?;
    }
    Ok(())
}

/// Takes everybody's rights but the owner's from what is there.
///
/// # Errors
/// What the system says.
pub fn keep_for_owner(path: &Path) -> io::Result<()> {
    native::keep_for_owner(path)
}

/// Is done by the system: a folder can't be asked for it here.
pub fn settle_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether a file can be called: one with an ending of a program.
pub fn is_program(path: &Path) -> bool {
    let ends = path.extension().is_some_and(|ending| {
        let ending = format!(".{}", ending.to_string_lossy());
        endings().any(|known| known.eq_ignore_ascii_case(&ending))
    });
    ends && path.is_file()
}

/// Returns the file that a call of `path` means: itself, or with the first ending of a program with which it is there.
pub fn callable(path: &Path) -> Option<PathBuf> {
    if is_program(path) {
        return Some(path.to_owned());
    }
    endings()
        .map(|ending| {
            let mut whole = path.as_os_str().to_owned();
            whole.push(ending);
            PathBuf::from(whole)
        })
        .find(|path| path.is_file())
}

/// Returns what a program is started by: its file, because the system would look for one that ends in `.exe` only, and
/// what npm installs ends in `.cmd`. The words behind it reach a script as they are, or it is not started (`std`).
pub fn to_start(program: &OsStr) -> OsString {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        callable(path)
    } else {
        let folders = places::path().unwrap_or_default();
        std::env::split_paths(&folders)
            .filter(|folder| folder.is_absolute())
            .find_map(|folder| callable(&folder.join(path)))
    };
    found.map_or_else(|| program.to_owned(), PathBuf::into_os_string)
}

fn endings() -> impl Iterator<Item = String> {
    let own = std::env::var("PATHEXT").ok().filter(|all| !all.is_empty());
    let all = own.unwrap_or_else(|| ENDINGS.to_owned());
    let all: Vec<String> = all.split(';').map(|one| one.trim().to_owned()).collect();
    all.into_iter().filter(|ending| ending.starts_with('.'))
}

/// Returns whether something is a socket: none is a file here.
pub fn is_socket(_about: &Metadata) -> bool {
    false
}

/// Returns the phrase that says why others can decide what a file holds; here the folder of a user's own files keeps others
/// out.
pub fn untrusted(_about: &Metadata) -> Option<&'static str> {
    None
}

/// Returns whether others could put something of their own into a folder in the place of what is there.
pub fn is_shared(_folder: &Path) -> bool {
    false
}

/// Returns how many names a file has; here it does not say.
pub fn names(_about: &Metadata) -> u64 {
    1
}

/// Swaps two files; this system can't do that at once.
///
/// # Errors
/// Never.
pub fn swap(_one: &Path, _other: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Returns whether two looks were at the same file, by its time of birth.
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    match (one.created(), other.created()) {
        (Ok(one), Ok(other)) => one == other,
        _ => true,
    }
}

/// Returns the folder of the person's own files.
pub fn home() -> Option<PathBuf> {
    folder("USERPROFILE")
}

/// Returns the folder in which programs have their settings, a folder each.
pub fn settings() -> Option<PathBuf> {
    folder("APPDATA")
}

/// Returns the folder in which programs write down what they know by themselves, a folder each.
pub fn state() -> Option<PathBuf> {
    folder("LOCALAPPDATA")
}

fn folder(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name)?);
    path.is_absolute().then_some(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_name_that_no_file_has_are_told_as_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let kind = |path: &Path| open_to_read(path).unwrap_err().kind();
        assert_eq!(kind(folder.path()), io::ErrorKind::IsADirectory);
        let odd = folder.path().join("no\u{1b}<>.jsonl");
        assert_eq!(kind(&odd), io::ErrorKind::NotFound);
        assert!(in_full(&odd).is_err());
        let whole = in_full(&folder.path().join(".")).unwrap();
        assert!(whole.is_dir() && !whole.to_string_lossy().contains('?'));
    }

    #[test]
    fn a_program_is_found_by_its_name_without_an_ending() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("agent.cmd");
        std::fs::write(&script, "@echo off\r\n").unwrap();
        std::fs::write(folder.path().join("agent"), "#!/bin/sh\n").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "").unwrap();
        let found = callable(&folder.path().join("agent")).unwrap();
        assert!(found.as_os_str().eq_ignore_ascii_case(&script), "{found:?}");
        assert!(is_program(&script));
        assert!(callable(&folder.path().join("notes.txt")).is_none());
        assert!(callable(&folder.path().join("nobody")).is_none());
    }
}
