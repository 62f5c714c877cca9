//! The terminal: its size, its modes, its output, its loss, and whether printed output still has a reader.

use std::fs::File;
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetwinsize, tcsetattr,
};

/// Returns the columns and rows of the output terminal.
pub fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Some((size.ws_col, size.ws_row))
}

/// Returns a handle to standard output that shares no lock with any other.
///
/// # Errors
/// If there is no standard output.
pub fn output() -> io::Result<impl Write + Send + 'static> {
    Ok(File::from(rustix::io::dup(io::stdout())?))
}

/// Returns whether a failed write means that the terminal is gone.
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

/// Does nothing: the terminal has already been given the text.
#[cfg(not(target_os = "macos"))]
pub fn copy(_text: &str) {}

/// Copies a text to the system's clipboard, because Apple's terminal has no escape sequence for that. Over SSH, that
/// clipboard would be the wrong machine's, so only the terminal is used.
#[cfg(target_os = "macos")]
pub fn copy(text: &str) {
    use std::process::{Command, Stdio};
    if std::env::var_os("SSH_CONNECTION").is_some() {
        return;
    }
    let text = text.to_owned();
    std::thread::spawn(move || {
        let started = Command::new("/usr/bin/pbcopy")
            // Without this, pbcopy assumes another encoding.
            .env("LC_CTYPE", "UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut copier) = started else {
            return;
        };
        if let Some(mut input) = copier.stdin.take() {
            // If pbcopy does not read, the terminal's own way remains.
            let _ = input.write_all(text.as_bytes());
        }
        let _ = copier.wait();
    });
}

/// Discards input that was typed ahead and not read yet.
pub fn flush_input() {
    // A failure means that there is no terminal to flush.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Watches for the loss of the terminal. Without a hang-up signal nothing else reports it: reads from a lost terminal
/// look as if no key were pressed.
pub fn watch_for_loss() -> Option<tokio::sync::mpsc::Receiver<()>> {
    let (lost, told) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        let out = io::stdout();
        loop {
            // No events are requested: only an error or a hang-up ends the wait.
            let mut watched = [PollFd::from_borrowed_fd(out.as_fd(), PollFlags::empty())];
            match poll(&mut watched, None) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        // If the send fails, the receiving loop is already over.
        let _ = lost.blocking_send(());
    });
    Some(told)
}

/// The way that a terminal delivers keys.
#[derive(Debug, Clone)]
pub struct Modes(Termios);

impl Modes {
    /// Returns the terminal's current modes.
    ///
    /// # Errors
    /// If there is no terminal.
    pub fn now() -> io::Result<Self> {
        Ok(Self(tcgetattr(io::stdin())?))
    }

    /// Returns whether the terminal echoes input and collects it into lines itself.
    pub fn edit_lines(&self) -> bool {
        let own = LocalModes::ECHO | LocalModes::ICANON;
        self.0.local_modes.contains(own)
    }

    /// Makes the terminal deliver each key immediately, without echo. It keeps its keys for interrupt, stop and quit.
    pub fn take_keys(&self) {
        let mut modes = self.0.clone();
        modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // The next key reveals a lost terminal.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
    }

    /// Restores these modes.
    pub fn restore(&self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Asks the terminal for its cursor position and returns whether it replies in time; `None` if it can't be asked.
pub fn replies(patience: Duration) -> Option<bool> {
    let before = Modes::now().ok()?;
    before.take_keys();
    let asked = io::stdout()
        .write_all(b"\x1b[6n")
        .and_then(|()| io::stdout().flush());
    let until = Instant::now() + patience;
    let mut read = Vec::new();
    let mut replied = false;
    while asked.is_ok() && !replied {
        let left = until.saturating_duration_since(Instant::now());
        let stdin = rustix::stdio::stdin();
        let mut watched = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
        let left = Timespec::try_from(left).unwrap_or_default();
        if poll(&mut watched, Some(&left)).is_ok_and(|ready| ready > 0) {
            let mut buffer = [0; 64];
            match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
                Ok(count) if count > 0 => {
                    read.extend_from_slice(buffer.get(..count).unwrap_or_default())
                }
                Ok(_) | Err(_) => break,
            }
            replied = read.contains(&b'R');
        } else {
            break;
        }
    }
    before.restore();
    Some(replied)
}

/// Waits up to `limit` for something to read; `None` if the output to `reader` no longer has a reader.
pub fn wait_to_read(stream: &TcpStream, reader: &impl AsFd, limit: Duration) -> Option<bool> {
    let mut both = [
        PollFd::new(stream, PollFlags::IN),
        PollFd::new(reader, PollFlags::empty()),
    ];
    let time = Timespec::try_from(limit).ok()?;
    match poll(&mut both, Some(&time)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Some(false),
        Err(_) => return None,
    }
    let [stream, reader] = both;
    let gone = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
    if reader.revents().intersects(gone) {
        return None;
    }
    Some(!stream.revents().is_empty())
}

/// A stream that a program prints to, which can be checked for a reader where the system allows it.
pub use std::os::fd::AsFd as Printed;
