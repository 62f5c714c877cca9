//! The console: its size, its modes, what is written to it.
//!
//! Text reaches a console as UTF-16, whatever its code page; a file or a pipe gets UTF-8.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::net::TcpStream;
use std::os::windows::io::AsHandle;
use std::time::Duration;

use crossterm_winapi::{Console, ConsoleMode, Handle};

/// How much is handed to a console at once, in bytes: older ones take no more than 64 KiB of UTF-16.
const AT_ONCE: usize = 8 * 1024;
/// The console collects lines by itself (`ENABLE_LINE_INPUT`).
const LINES: u32 = 0x0002;
/// The console shows what is typed (`ENABLE_ECHO_INPUT`).
const ECHO: u32 = 0x0004;

/// Returns the columns and rows of the console that is written to.
pub fn size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

/// Returns a way to standard output that shares no lock with any other.
///
/// # Errors
/// When there is none.
pub fn output() -> io::Result<impl Write + Send + 'static> {
    let out = io::stdout();
    if out.is_terminal() {
        // Asking has the console read control sequences, where it can.
        crossterm::ansi_support::supports_ansi();
        let console = Console::from(Handle::current_out_handle()?);
        return Ok(Out::Console(console));
    }
    Ok(Out::File(File::from(out.as_handle().try_clone_to_owned()?)))
}

enum Out {
    Console(Console),
    File(File),
}

impl Write for Out {
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

/// Returns the beginning of a text that is handed over at once: whole characters.
///
/// # Errors
/// When it is no text.
fn piece(bytes: &[u8]) -> io::Result<&[u8]> {
    let most = &bytes[..bytes.len().min(AT_ONCE)];
    match std::str::from_utf8(most) {
        Ok(_) => Ok(most),
        // What is cut off at the end comes with the next piece.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            Ok(&most[..error.valid_up_to()])
        }
        Err(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Leaves a text to the terminal, which was given it already.
pub fn copy(_text: &str) {}

/// Returns whether a failed write means that the console is gone (`ERROR_INVALID_HANDLE`).
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(6)
}

/// Is done already: what is typed is read at once, by the keyboard.
pub fn flush_input() {}

/// Watches for nothing: a console says by itself that it is closed.
pub fn watch_for_loss() -> Option<tokio::sync::mpsc::Receiver<()>> {
    None
}

/// How a console hands keys over.
#[derive(Debug, Clone)]
pub struct Modes(u32);

impl Modes {
    /// Returns those that the console has now.
    ///
    /// # Errors
    /// When there is no console.
    pub fn now() -> io::Result<Self> {
        input()?.mode().map(Self)
    }

    /// Returns whether the console shows what is typed and collects lines by itself.
    pub fn edit_lines(&self) -> bool {
        self.0 & (LINES | ECHO) == LINES | ECHO
    }

    /// Has the console hand over each key at once, and show none. The keys for interrupt stay its own.
    pub fn take_keys(&self) {
        // A console that is gone is noticed by the next key.
        let _ = input().and_then(|input| input.set_mode(self.0 & !(LINES | ECHO)));
    }

    /// Gives them back to the console.
    pub fn restore(&self) {
        let _ = input().and_then(|input| input.set_mode(self.0));
    }
}

fn input() -> io::Result<ConsoleMode> {
    Ok(ConsoleMode::from(Handle::current_in_handle()?))
}

/// Waits a moment for something to read. Whether somebody reads what is printed can't be seen here.
/// Asks the terminal where its cursor is; that can't be asked here.
pub fn replies(_patience: Duration) -> Option<bool> {
    None
}

pub fn wait_to_read(stream: &TcpStream, _reader: &impl AsHandle, limit: Duration) -> Option<bool> {
    let before = stream.read_timeout().ok()?;
    stream.set_read_timeout(Some(limit)).ok()?;
    let looked = stream.peek(&mut [0]);
    stream.set_read_timeout(before).ok()?;
    Some(match looked {
        Ok(_) => true,
        // Of any other fault the read itself tells.
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
        ),
    })
}

/// Is what a program prints to.
pub use std::os::windows::io::AsHandle as Printed;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
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
        // "€" has three bytes, so the limit falls into one.
        let odd = "€".repeat(AT_ONCE);
        assert_eq!(piece(odd.as_bytes()).unwrap().len(), AT_ONCE / 3 * 3);
    }
}
