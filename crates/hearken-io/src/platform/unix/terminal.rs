//! The terminal: its size, its modes, what is written to it, its end, and whether somebody reads what is printed.

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

/// Returns the columns and rows of the terminal that is written to.
pub fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Some((size.ws_col, size.ws_row))
}

/// Returns a way to standard output that shares no lock with any other.
///
/// # Errors
/// When there is none.
pub fn output() -> io::Result<impl Write + Send + 'static> {
    Ok(File::from(rustix::io::dup(io::stdout())?))
}

/// Returns whether a failed write means that the terminal is gone.
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

/// Leaves a text to the terminal, which was given it already.
#[cfg(not(target_os = "macos"))]
pub fn copy(_text: &str) {}

/// Puts a text into the system's clipboard, because Apple's terminal knows no sequence for that. Over SSH that clipboard would
/// be the wrong machine's, and the terminal is all there is.
#[cfg(target_os = "macos")]
pub fn copy(text: &str) {
    use std::process::{Command, Stdio};
    if std::env::var_os("SSH_CONNECTION").is_some() {
        return;
    }
    let text = text.to_owned();
    std::thread::spawn(move || {
        let started = Command::new("/usr/bin/pbcopy")
            // Without it, it takes what it reads for another encoding.
            .env("LC_CTYPE", "UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut copier) = started else {
            return;
        };
        if let Some(mut input) = copier.stdin.take() {
            // One that does not read has the terminal's way beside it.
            let _ = input.write_all(text.as_bytes());
        }
        let _ = copier.wait();
    });
}

/// Throws away what was typed ahead and not read yet.
pub fn flush_input() {
    // A failure means that there is no terminal to flush.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Watches for the end of the terminal. Without a hang-up signal nothing else would tell: a terminal
/// that is gone reads as one without keys.
pub fn watch_for_loss() -> Option<tokio::sync::mpsc::Receiver<()>> {
    let (lost, told) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        let out = io::stdout();
        loop {
            // No event is asked for: only an error or a hang-up ends the wait.
            let mut watched = [PollFd::from_borrowed_fd(out.as_fd(), PollFlags::empty())];
            match poll(&mut watched, None) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        // The loop that would take it is over then.
        let _ = lost.blocking_send(());
    });
    Some(told)
}

/// How a terminal hands keys over.
#[derive(Debug, Clone)]
pub struct Modes(Termios);

impl Modes {
    /// Returns those that the terminal has now.
    ///
    /// # Errors
    /// When there is no terminal.
    pub fn now() -> io::Result<Self> {
        Ok(Self(tcgetattr(io::stdin())?))
    }

    /// Returns whether the terminal shows what is typed and collects lines by itself.
    pub fn edit_lines(&self) -> bool {
        let own = LocalModes::ECHO | LocalModes::ICANON;
        self.0.local_modes.contains(own)
    }

    /// Has the terminal hand over each key at once, and show none. The keys for interrupt, stop and quit stay its own.
    pub fn take_keys(&self) {
        let mut modes = self.0.clone();
        modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // A terminal that is gone is noticed by the next key.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
    }

    /// Gives them back to the terminal.
    pub fn restore(&self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Asks the terminal where its cursor is, and tells whether it replies in time; `None` where that can't be asked.
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

/// Waits a moment for something to read; nothing where nobody reads what would be printed to `reader`.
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

/// Is what a program prints to, as far as it can be seen whether somebody reads there.
pub use std::os::fd::AsFd as Printed;
