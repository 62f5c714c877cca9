//! Owner-only files and folders, executable files, and where the person's own files are.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
    PermissionsExt as _,
};
use std::path::{Path, PathBuf};

/// Opens a file for reading.
///
/// # Errors
/// The system's error.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Returns the full path of an existing file, with all links resolved.
///
/// # Errors
/// The system's error.
pub fn in_full(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Creates a new file for writing, for its owner alone; follows no link, not even a dangling one.
///
/// # Errors
/// The system's error, also when the file already exists.
pub fn create_for_owner(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Sets a new file's permissions to those of the one that it replaces, or restricts it to its owner if there is none.
pub fn with_rights_of<'a>(options: &'a mut OpenOptions, before: &Path) -> &'a mut OpenOptions {
    let mode = std::fs::metadata(before).map_or(0o600, |about| about.permissions().mode());
    options.mode(mode & 0o777)
}

/// Creates a folder and all its missing parents, for their owner alone.
///
/// # Errors
/// The system's error.
pub fn folder_for_owner(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes everyone's rights but the owner's from a file or folder.
///
/// # Errors
/// The system's error.
pub fn keep_for_owner(path: &Path) -> io::Result<()> {
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// Flushes a folder's current entries to disk.
pub fn settle_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

/// Returns whether a file can be executed.
pub fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Returns the file that a call of `path` would run: only that file itself.
pub fn callable(path: &Path) -> Option<PathBuf> {
    is_program(path).then(|| path.to_owned())
}

/// Returns what to start a program by: its name as given, which the system looks up itself.
pub fn to_start(program: &OsStr) -> OsString {
    program.to_owned()
}

/// Returns whether a file is a socket.
pub fn is_socket(about: &Metadata) -> bool {
    about.file_type().is_socket()
}

/// Returns the phrase that explains why others can change a file's content, if they can. A pipe or a device is exempt:
/// its content comes from the program that opened it.
pub fn untrusted(about: &Metadata) -> Option<&'static str> {
    let own = rustix::process::geteuid().as_raw();
    if !about.is_file() {
        return None;
    }
    if about.uid() != own && about.uid() != 0 {
        return Some("call.file.owner");
    }
    let mode = about.permissions().mode();
    // A group with the user's own number has no other members.
    let by_group = mode & 0o020 != 0 && about.gid() != own;
    (by_group || mode & 0o002 != 0).then_some("call.file.writable")
}

/// Returns whether others could replace files in a folder with their own.
pub fn is_shared(folder: &Path) -> bool {
    let Ok(about) = folder.metadata() else {
        return false;
    };
    let own = rustix::process::geteuid().as_raw();
    let mode = about.permissions().mode();
    let is_sticky = mode & 0o1000 != 0;
    let by_group = mode & 0o020 != 0 && about.gid() != own;
    let of_another = about.uid() != own && about.uid() != 0;
    of_another || (!is_sticky && (by_group || mode & 0o002 != 0))
}

/// Returns the number of a file's hard links.
pub fn names(about: &Metadata) -> u64 {
    about.nlink()
}

/// Swaps the names of two files in one atomic step; `false` if the system or the folder can't do that.
///
/// # Errors
/// The system's error.
pub fn swap(one: &Path, other: &Path) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(
                rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP,
            ) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (one, other);
        Ok(false)
    }
}

/// Returns whether both metadata describe the same file.
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.dev() == other.dev() && one.ino() == other.ino()
}

/// Returns the folder of the person's own files.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from)
}

/// Returns the folder in which each program has a folder for its settings.
pub fn settings() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")))
}

/// Returns the folder in which each program has a folder for its own records.
pub fn state() -> Option<PathBuf> {
    absolute("XDG_STATE_HOME").or_else(|| home().map(|home| home.join(".local/state")))
}

fn absolute(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name)?);
    path.is_absolute().then_some(path)
}
