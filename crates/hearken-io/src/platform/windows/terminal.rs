//! The console: its size, its modes, its output.
//!
//! Text reaches a console as UTF-16, whatever its code page; a file or a pipe gets UTF-8.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::net::TcpStream;
use std::os::windows::io::AsHandle;
use std::time::Duration;

use crossterm_winapi::{Console, ConsoleMode, Handle};

/// The most bytes passed to a console in one write: older ones accept at most 64 KiB of UTF-16.
const AT_ONCE: usize = 8 * 1024;
/// The console collects input into lines itself (`ENABLE_LINE_INPUT`).
const LINES: u32 = 0x0002;
/// The console echoes input (`ENABLE_ECHO_INPUT`).
const ECHO: u32 = 0x0004;

/// Returns the columns and rows of the output console.
pub fn size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

/// Returns a handle to standard output that shares no lock with any other.
///
/// # Errors
/// If there is no standard output.
pub fn output() -> io::Result<impl Write + Send + 'static> {
    let out = io::stdout();
    if out.is_terminal() {
        // Asking makes the console interpret control sequences if it can.
        crossterm::ansi_support::supports_ansi();
        let console = Console::from(Handle::current_out_handle()?);
        return Ok(ConsoleOutput::Console(console));
    }
    Ok(ConsoleOutput::File(File::from(
        out.as_handle().try_clone_to_owned()?,
    )))
}

enum ConsoleOutput {
    Console(Console),
    File(File),
}

impl Write for ConsoleOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Console(console) => console.write_char_buffer(piece(bytes)?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Console(_) => Ok(()),
        }
    }
}

/// Returns the part of a text to pass on in one write: whole characters.
///
/// # Errors
/// If the bytes are not text.
fn piece(bytes: &[u8]) -> io::Result<&[u8]> {
    let most = &bytes[..bytes.len().min(AT_ONCE)];
    match std::str::from_utf8(most) {
        Ok(_) => Ok(most),
        // A character cut off at the end goes into the next piece.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            Ok(&most[..error.valid_up_to()])
        }
        Err(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Does nothing: the terminal has already been given the text.
pub fn copy(_text: &str) {}

/// Returns whether a failed write means that the console is gone (`ERROR_INVALID_HANDLE`).
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(6)
}

/// Does nothing: the keyboard thread reads input as soon as it is typed.
pub fn flush_input() {}

/// Returns `None`: a console reports by itself that it is closed.
pub fn watch_for_loss() -> Option<tokio::sync::mpsc::Receiver<()>> {
    None
}

/// The way that a console delivers keys.
#[derive(Debug, Clone)]
pub struct Modes(u32);

impl Modes {
    /// Returns the console's current modes.
    ///
    /// # Errors
    /// If there is no console.
    pub fn now() -> io::Result<Self> {
        input()?.mode().map(Self)
    }

    /// Returns whether the console echoes input and collects it into lines itself.
    pub fn edit_lines(&self) -> bool {
        self.0 & (LINES | ECHO) == LINES | ECHO
    }

    /// Makes the console deliver each key immediately, without echo. It keeps its keys for interrupting.
    pub fn take_keys(&self) {
        // The next key reveals a lost console.
        let _ = input().and_then(|input| input.set_mode(self.0 & !(LINES | ECHO)));
    }

    /// Restores these modes.
    pub fn restore(&self) {
        let _ = input().and_then(|input| input.set_mode(self.0));
    }
}

fn input() -> io::Result<ConsoleMode> {
    Ok(ConsoleMode::from(Handle::current_in_handle()?))
}

/// Always returns `None`: the terminal can't be asked for its cursor position here.
pub fn replies(_patience: Duration) -> Option<bool> {
    None
}

/// Waits up to `limit` for something to read. Whether the output still has a reader can't be seen here.
pub fn wait_to_read(stream: &TcpStream, _reader: &impl AsHandle, limit: Duration) -> Option<bool> {
    let before = stream.read_timeout().ok()?;
    stream.set_read_timeout(Some(limit)).ok()?;
    let looked = stream.peek(&mut [0]);
    stream.set_read_timeout(before).ok()?;
    Some(match looked {
        Ok(_) => true,
        // The read itself reports any other error.
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
        ),
    })
}

/// A stream that a program prints to.
pub use std::os::windows::io::AsHandle as Printed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_gets_whole_characters() {
        let text = "ä".repeat(AT_ONCE);
        let mut bytes = text.as_bytes();
        let mut whole = String::new();
        while !bytes.is_empty() {
            let next = piece(bytes).unwrap();
            assert!(next.len() <= AT_ONCE);
            whole.push_str(std::str::from_utf8(next).unwrap());
            bytes = &bytes[next.len()..];
        }
        assert_eq!(whole, text);
        assert!(piece(b"\xff").is_err());
        // "€" has three bytes, so the limit falls inside one.
        let odd = "€".repeat(AT_ONCE);
        assert_eq!(piece(odd.as_bytes()).unwrap().len(), AT_ONCE / 3 * 3);
    }
}
