//! Files and folders, executable files, and where the person's own files are.
//!
//! An owner-only file carries its own access list, so it does not matter which folder it is in.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::native;
use crate::platform::program_places;

/// The extensions of executable files, if the person's own settings name none.
const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// Opens a file for reading, and reports a folder as a folder, although the system reports it as forbidden. A name that
/// no file can have counts as not found.
///
/// # Errors
/// The system's error.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied if path.is_dir() => io::ErrorKind::IsADirectory.into(),
        io::ErrorKind::InvalidFilename => io::ErrorKind::NotFound.into(),
        _ => error,
    })
}

/// Returns the full path of an existing file in the form that programs accept: many do not understand the system's
/// canonical form (`\\?\`).
///
/// # Errors
/// The system's error.
pub fn in_full(path: &Path) -> io::Result<PathBuf> {
    path.metadata()?;
    std::path::absolute(path)
}

/// Creates a new file for writing, for its owner alone.
///
/// # Errors
/// The system's error, also when the file already exists.
pub fn create_for_owner(path: &Path) -> io::Result<File> {
    native::create_for_owner(path)
}

/// Leaves a new file the permissions of its folder, which the file that it replaces has, too.
pub fn with_rights_of<'a>(options: &'a mut OpenOptions, _before: &Path) -> &'a mut OpenOptions {
    options
}

/// Creates a folder and all its missing parents; a new folder is for its owner alone, and so is everything created in
/// it.
///
/// # Errors
/// The system's error.
pub fn folder_for_owner(path: &Path) -> io::Result<()> {
    let is_new = !path.exists();
    std::fs::create_dir_all(path)?;
    if is_new {
        keep_for_owner(path)?;
    }
    Ok(())
}

/// Removes everyone's rights but the owner's from a file or folder.
///
/// # Errors
/// The system's error.
pub fn keep_for_owner(path: &Path) -> io::Result<()> {
    native::keep_for_owner(path)
}

/// Does nothing: the system does this itself, and offers no such request for a folder.
pub fn settle_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether a file can be executed: it has the extension of a program.
pub fn is_program(path: &Path) -> bool {
    let ends = path.extension().is_some_and(|ending| {
        let ending = format!(".{}", ending.to_string_lossy());
        endings().any(|known| known.eq_ignore_ascii_case(&ending))
    });
    ends && path.is_file()
}

/// Returns the file that a call of `path` would run: the file itself, or the first that exists with a program's
/// extension added.
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

/// Returns what to start a program by: its file, because the system would look only for one that ends in `.exe`, and
/// npm installs files that end in `.cmd`. The arguments reach a script unchanged, or it is not started (`std`).
pub fn to_start(program: &OsStr) -> OsString {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        callable(path)
    } else {
        let folders = program_places::path().unwrap_or_default();
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

/// Returns whether a file is a socket: none is here.
pub fn is_socket(_about: &Metadata) -> bool {
    false
}

/// Returns the phrase that explains why others can change a file's content; here the user's own folder keeps others
/// out.
pub fn untrusted(_about: &Metadata) -> Option<&'static str> {
    None
}

/// Returns whether others could replace files in a folder with their own.
pub fn is_shared(_folder: &Path) -> bool {
    false
}

/// Returns the number of a file's hard links; it is not reported here.
pub fn names(_about: &Metadata) -> u64 {
    1
}

/// Never swaps two files: this system can't do that in one step.
///
/// # Errors
/// Never.
pub fn swap(_one: &Path, _other: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Returns whether both metadata describe the same file, judged by its creation time.
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

/// Returns the folder in which each program has a folder for its settings.
pub fn settings() -> Option<PathBuf> {
    folder("APPDATA")
}

/// Returns the folder in which each program has a folder for its own records.
pub fn state() -> Option<PathBuf> {
    folder("LOCALAPPDATA")
}

fn folder(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name)?);
    path.is_absolute().then_some(path)
}

#[cfg(test)]
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
