//! What the system tells a program: to leave, and that its console has another size. There is no stopping for a while.

use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close,
    ctrl_logoff, ctrl_shutdown,
};
use tokio::sync::Notify;

/// Whether a program can be stopped here for a while by its terminal's key.
pub const STOPS: bool = false;

/// How a program is told to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// It is to end, or its console is closed.
    End,
    /// The interrupt key.
    Interrupt,
}

/// Listens for what ends a program. The system waits some seconds for what is done at a closing console.
#[derive(Debug)]
pub struct Leaving {
    interrupt: CtrlC,
    breaks: CtrlBreak,
    close: CtrlClose,
    logoff: CtrlLogoff,
    shutdown: CtrlShutdown,
}

impl Leaving {
    /// # Errors
    /// When the console's signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            breaks: ctrl_break()?,
            close: ctrl_close()?,
            logoff: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Listens for all of it: a console's end is an end.
    ///
    /// # Errors
    /// When the console's signals can't be listened for.
    pub fn listen_without_terminal() -> io::Result<Self> {
        Self::listen()
    }

    /// Waits for the next one.
    pub async fn told(&mut self) -> Leave {
        tokio::select! {
            biased;
            _ = self.close.recv() => Leave::End,
            _ = self.logoff.recv() => Leave::End,
            _ = self.shutdown.recv() => Leave::End,
            _ = self.breaks.recv() => Leave::End,
            _ = self.interrupt.recv() => Leave::Interrupt,
        }
    }
}

/// What never comes here: a program's going on after a stop.
#[derive(Debug)]
pub struct GoingOn;

impl GoingOn {
    /// # Errors
    /// None.
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for ever.
    pub async fn told(&mut self) {
        pending().await
    }

    /// Does nothing: nobody asks for it where [`STOPS`] says no.
    pub async fn stop(&mut self, _limit: Duration) {}
}

/// What never comes here: the terminal's key that stops a program.
#[derive(Debug)]
pub struct Stopping;

impl Stopping {
    /// # Errors
    /// None.
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for ever.
    pub async fn told(&mut self) {
        pending().await
    }

    /// Does nothing: it is never told.
    pub fn stop(&self) {}
}

/// Says that the console has another size; the keyboard hears of it.
pub(super) static RESIZED: Notify = Notify::const_new();

/// Listens for another size of the console.
#[derive(Debug)]
pub struct Resizing;

impl Resizing {
    /// # Errors
    /// None.
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next one.
    pub async fn told(&mut self) {
        RESIZED.notified().await;
    }
}

/// Is so by itself: no size of a file ends a program here.
///
/// # Errors
/// None.
pub fn survive_large_files() -> io::Result<()> {
    Ok(())
}
