//! The places of Codex on this machine.
//!
//! Responsibilities: its folder, and the socket that it listens at while it runs in a terminal. Not here: following it
//! (`source_links`), whether it runs (`nearby_agents`).

use std::path::PathBuf;

use crate::platform::files;

/// The program, as it is typed.
pub(crate) const PROGRAM: &str = "codex";

/// The socket, in Codex's folder. The first `codex` makes it, and it stays for those that follow.
const SOCKET: &str = "app-server-control/app-server-control.sock";

/// Returns the path of the socket, whether it exists or not; `None` if the person has no home folder.
pub(crate) fn socket() -> Option<PathBuf> {
    let own = std::env::var_os("CODEX_HOME").filter(|folder| !folder.is_empty());
    let home = || files::home().filter(|home| !home.as_os_str().is_empty());
    let folder = own
        .map(PathBuf::from)
        .or_else(|| Some(home()?.join(".codex")))?;
    Some(folder.join(SOCKET))
}
