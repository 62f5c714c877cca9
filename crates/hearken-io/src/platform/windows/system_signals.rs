//! The system's signals to a program: leave, and the console was resized. Programs are never suspended here.

use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close,
    ctrl_logoff, ctrl_shutdown,
};
use tokio::sync::Notify;

/// Whether the terminal's key can suspend a program here.
pub const STOPS: bool = false;

/// How a program is asked to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// It should end, or its console is closed.
    End,
    /// The person pressed the interrupt key.
    Interrupt,
}

/// A listener for the signals that end a program. After its console closes, a program gets a few seconds to finish.
#[derive(Debug)]
pub struct TerminationSignals {
    interrupt: CtrlC,
    breaks: CtrlBreak,
    close: CtrlClose,
    logoff: CtrlLogoff,
    shutdown: CtrlShutdown,
}

impl TerminationSignals {
    /// Starts listening.
    ///
    /// # Errors
    /// If the console's signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            breaks: ctrl_break()?,
            close: ctrl_close()?,
            logoff: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Starts listening for all of them: a closed console always ends a program here.
    ///
    /// # Errors
    /// If the console's signals can't be listened for.
    pub fn listen_without_terminal() -> io::Result<Self> {
        Self::listen()
    }

    /// Waits for the next signal.
    pub async fn received(&mut self) -> Termination {
        tokio::select! {
            biased;
            _ = self.close.recv() => Termination::End,
            _ = self.logoff.recv() => Termination::End,
            _ = self.shutdown.recv() => Termination::End,
            _ = self.breaks.recv() => Termination::End,
            _ = self.interrupt.recv() => Termination::Interrupt,
        }
    }
}

/// A listener for a program's continuation after a stop, which never happens here.
#[derive(Debug)]
pub struct ContinueSignal;

impl ContinueSignal {
    /// Always succeeds.
    ///
    /// # Errors
    /// Never.
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits forever.
    pub async fn received(&mut self) {
        pending().await
    }

    /// Does nothing: no code calls it while [`STOPS`] is false.
    pub async fn stop(&mut self, _limit: Duration) {}
}

/// A listener for the terminal's suspend key, which does not exist here.
#[derive(Debug)]
pub struct SuspendSignal;

impl SuspendSignal {
    /// Always succeeds.
    ///
    /// # Errors
    /// Never.
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits forever.
    pub async fn received(&mut self) {
        pending().await
    }

    /// Does nothing: the key never arrives.
    pub fn stop(&self) {}
}

/// Notified by the keyboard thread when the console was resized.
pub(super) static RESIZED: Notify = Notify::const_new();

/// A listener for changes of the console's size.
#[derive(Debug)]
pub struct ResizeSignal;

impl ResizeSignal {
    /// Always succeeds.
    ///
    /// # Errors
    /// Never.
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next change.
    pub async fn received(&mut self) {
        RESIZED.notified().await;
    }
}

/// Does nothing: no file size ends a program here.
///
/// # Errors
/// Never.
pub fn survive_large_files() -> io::Result<()> {
    Ok(())
}
