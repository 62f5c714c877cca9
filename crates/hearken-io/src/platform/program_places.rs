//! Where programs are looked for: along `PATH`, and then in the folders that people's own programs are installed in.
//!
//! Mental model: a program started from a terminal has the person's whole `PATH`, but one started from a desktop, a
//! dock or an editor often has only the system's own (on macOS `/usr/bin:/bin:/usr/sbin:/sbin`). So the folders that
//! installers put agents in are searched as well, after everything that `PATH` names: they never change which program a
//! name already means. Started programs get the same extended `PATH`, because an agent may be a script that calls
//! another program beside it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::files;

/// A system, by where programs are installed on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "each system is one of them")]
pub enum System {
    /// With Homebrew or MacPorts, whose folders are not in the system's default `PATH`.
    Mac,
    /// Installers extend `PATH` themselves, except those that install into a person's own folder.
    Windows,
    /// The system's `PATH` names the folders shared by all users.
    Other,
}

/// The system that hearken runs on.
const HERE: System = if cfg!(windows) {
    System::Windows
} else if cfg!(target_os = "macos") {
    System::Mac
} else {
    System::Other
};

/// The folders of macOS package managers: Homebrew on its two kinds of machines, and MacPorts.
const MAC: [&str; 3] = ["/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin"];

/// The folders below a person's home that programs are installed in: by agents' installers and pip, by npm as its
/// manual recommends, and by Bun, Volta and Cargo.
const OWN: [&[&str]; 6] = [
    &[".local", "bin"],
    &[".opencode", "bin"],
    &[".npm-global", "bin"],
    &[".bun", "bin"],
    &[".volta", "bin"],
    &[".cargo", "bin"],
];

/// Returns the folders to search for programs that `PATH` does not find.
fn behind(system: System, home: Option<&Path>) -> Vec<PathBuf> {
    let own = home.filter(|home| home.is_absolute()).into_iter();
    let own = own.flat_map(|home| {
        let below = |parts: &&[&str]| parts.iter().fold(home.to_owned(), |at, part| at.join(part));
        OWN.iter().map(below).collect::<Vec<_>>()
    });
    let of_all: &[&str] = match system {
        System::Mac => &MAC,
        System::Windows | System::Other => &[],
    };
    own.chain(of_all.iter().map(PathBuf::from)).collect()
}

/// Returns a `PATH` extended by these folders, without repeating those that it already names.
fn whole(path: &OsStr, system: System, home: Option<&Path>) -> OsString {
    let mut folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    for folder in behind(system, home) {
        // A folder whose name contains the separator can't be listed.
        if !folders.contains(&folder) && std::env::join_paths([&folder]).is_ok() {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).unwrap_or_else(|_| path.to_owned())
}

/// Returns the folders to search for programs here, as a `PATH`; `None` if `PATH` is not set and the system searches by
/// itself.
pub fn path() -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    Some(whole(&path, HERE, files::home().as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(home: &str) -> Vec<PathBuf> {
        behind(System::Other, Some(Path::new(home)))
    }

    const HOME: &str = if cfg!(windows) {
        r"C:\users\me"
    } else {
        "/Users/me"
    };

    #[test]
    fn what_installers_use_is_looked_through_on_each_system() {
        let mac = behind(System::Mac, Some(Path::new(HOME)));
        let own = own(HOME);
        assert_eq!(mac[..own.len()], own);
        assert_eq!(mac[own.len()..], MAC.map(PathBuf::from));
        assert_eq!(own[0], Path::new(HOME).join(".local").join("bin"));
        assert!(own.contains(&Path::new(HOME).join(".npm-global").join("bin")));
        assert_eq!(behind(System::Windows, Some(Path::new(HOME))), own);
        assert_eq!(behind(System::Mac, None), MAC.map(PathBuf::from));
    }

    #[test]
    fn nothing_of_it_is_below_a_folder_that_depends_on_where_one_is() {
        assert!(own("").is_empty() && own("me").is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_path_names_comes_first_and_once() {
        let short = OsStr::new("/usr/bin:/bin:/usr/sbin:/sbin");
        let text = whole(short, System::Mac, None).into_string().unwrap();
        assert_eq!(
            text,
            "/usr/bin:/bin:/usr/sbin:/sbin:/opt/homebrew/bin:/usr/local/bin:/opt/local/bin"
        );
        let own = OsStr::new("/usr/local/bin:/usr/bin:/opt/homebrew/bin");
        let text = whole(own, System::Mac, None).into_string().unwrap();
        assert_eq!(
            text,
            "/usr/local/bin:/usr/bin:/opt/homebrew/bin:/opt/local/bin"
        );
        // A home that can't be listed in a PATH does no harm.
        let odd = whole(short, System::Other, Some(Path::new("/Users/a:b")));
        assert_eq!(odd, short);
    }

    #[test]
    fn a_program_stays_the_one_that_path_finds() {
        let folder = tempfile::tempdir().unwrap();
        let all = whole(
            folder.path().as_os_str(),
            System::Other,
            Some(Path::new(HOME)),
        );
        assert_eq!(std::env::split_paths(&all).next().unwrap(), folder.path());
    }
}
