//! Local sockets, and the user at the other end.

pub use std::os::unix::net::{UnixListener as BlockingListener, UnixStream as BlockingStream};

pub use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
pub use tokio::net::{UnixListener, UnixStream};

/// Whether this system supports these sockets.
pub const THERE: bool = true;

/// Returns the number of the user that this program runs as.
pub fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Returns the number of the user at the other end.
///
/// # Errors
/// If the system does not say.
pub fn peer(stream: &UnixStream) -> std::io::Result<u32> {
    stream.peer_cred().map(|peer| peer.uid())
}

/// Connects to a socket that has a name but no file.
///
/// # Errors
/// The system's error, also if it has no such sockets.
pub fn connect_abstract(name: &str) -> std::io::Result<BlockingStream> {
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::net::SocketAddrExt as _;
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes())?;
        BlockingStream::connect_addr(&address)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
