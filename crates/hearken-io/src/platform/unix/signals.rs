//! What the system tells a program: to leave, to stop for a while, that it goes on, that its terminal has another size.

use std::io;
use std::time::Duration;

use rustix::process::{Signal as Name, getpid, kill_current_process_group, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether a program can be stopped here for a while by its terminal's key.
pub const STOPS: bool = true;

fn listen(name: Name) -> io::Result<Signal> {
    signal(SignalKind::from_raw(name.as_raw()))
}

/// How a program is told to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// It is to end, or its terminal is gone.
    End,
    /// The interrupt key.
    Interrupt,
}

/// Listens for what ends a program.
#[derive(Debug)]
pub struct Leaving {
    interrupt: Signal,
    terminate: Signal,
    /// None where the end of the terminal stays what it is.
    hangup: Option<Signal>,
}

impl Leaving {
    /// # Errors
    /// When signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        let hangup = Some(signal(SignalKind::hangup())?);
        Ok(Self {
            hangup,
            ..Self::listen_without_terminal()?
        })
    }

    /// Leaves the end of the terminal as it is.
    ///
    /// # Errors
    /// When signals can't be listened for.
    pub fn listen_without_terminal() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: None,
        })
    }

    /// Waits for the next one.
    pub async fn told(&mut self) -> Leave {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Leave::End,
            _ = hangup => Leave::End,
            _ = self.interrupt.recv() => Leave::Interrupt,
        }
    }
}

/// Listens for a program's going on after a stop.
#[derive(Debug)]
pub struct GoingOn(Signal);

impl GoingOn {
    /// # Errors
    /// When signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        listen(Name::CONT).map(Self)
    }

    /// Waits for the next one.
    pub async fn told(&mut self) {
        self.0.recv().await;
    }

    /// Stops the program as the terminal's own key would, with everything that was started together with it, until it goes
    /// on; waits no longer than `limit` for the stop itself.
    pub async fn stop(&mut self, limit: Duration) {
        // It fails only where the system forbids it; going on is right then, too.
        let _ = kill_current_process_group(Name::TSTP);
        let _ = tokio::time::timeout(limit, self.told()).await;
    }
}

/// Listens for the terminal's key that stops a program for a while.
#[derive(Debug)]
pub struct Stopping(Signal);

impl Stopping {
    /// # Errors
    /// When signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        listen(Name::TSTP).map(Self)
    }

    /// Waits for the next one.
    pub async fn told(&mut self) {
        self.0.recv().await;
    }

    /// Stops the program until somebody lets it go on.
    pub fn stop(&self) {
        // It fails only where the system forbids it; going on is right then, too.
        let _ = kill_process(getpid(), Name::STOP);
    }
}

/// Listens for another size of the terminal.
#[derive(Debug)]
pub struct Resizing(Signal);

impl Resizing {
    /// # Errors
    /// When signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        signal(SignalKind::window_change()).map(Self)
    }

    /// Waits for the next one.
    pub async fn told(&mut self) {
        self.0.recv().await;
    }
}

/// Makes a write beyond the largest size of a file fail, where the system would end the program.
///
/// # Errors
/// When signals can't be listened for.
pub fn survive_large_files() -> io::Result<()> {
    // Once it was listened for, the signal stays without any other effect. A child gets it back.
    let _listened = listen(Name::XFSZ)?;
    Ok(())
}
