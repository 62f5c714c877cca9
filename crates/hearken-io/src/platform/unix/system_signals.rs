//! The system's signals to a program: leave, stop for a while, continue, the terminal was resized.

use std::io;
use std::time::Duration;

use rustix::process::{Signal as Name, getpid, kill_current_process_group, kill_process};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether the terminal's key can suspend a program here.
pub const STOPS: bool = true;

fn listen(name: Name) -> io::Result<Signal> {
    signal(SignalKind::from_raw(name.as_raw()))
}

/// How a program is asked to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// It should end, or its terminal is gone.
    End,
    /// The person pressed the interrupt key.
    Interrupt,
}

/// A listener for the signals that end a program.
#[derive(Debug)]
pub struct TerminationSignals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if the loss of the terminal keeps its default effect.
    hangup: Option<Signal>,
}

impl TerminationSignals {
    /// Starts listening.
    ///
    /// # Errors
    /// If signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        let hangup = Some(signal(SignalKind::hangup())?);
        Ok(Self {
            hangup,
            ..Self::listen_without_terminal()?
        })
    }

    /// Starts listening, but leaves the loss of the terminal its default effect.
    ///
    /// # Errors
    /// If signals can't be listened for.
    pub fn listen_without_terminal() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: None,
        })
    }

    /// Waits for the next signal.
    pub async fn received(&mut self) -> Termination {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Termination::End,
            _ = hangup => Termination::End,
            _ = self.interrupt.recv() => Termination::Interrupt,
        }
    }
}

/// A listener for a program's continuation after a stop.
#[derive(Debug)]
pub struct ContinueSignal(Signal);

impl ContinueSignal {
    /// Starts listening.
    ///
    /// # Errors
    /// If signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        listen(Name::CONT).map(Self)
    }

    /// Waits for the next continuation.
    pub async fn received(&mut self) {
        self.0.recv().await;
    }

    /// Suspends the program as the terminal's own key would, together with everything in its process group, until it is
    /// continued; waits at most `limit` for the stop itself.
    pub async fn stop(&mut self, limit: Duration) {
        // This fails only if the system forbids it; carrying on is right then, too.
        let _ = kill_current_process_group(Name::TSTP);
        let _ = tokio::time::timeout(limit, self.received()).await;
    }
}

/// A listener for the terminal's suspend key.
#[derive(Debug)]
pub struct SuspendSignal(Signal);

impl SuspendSignal {
    /// Starts listening.
    ///
    /// # Errors
    /// If signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        listen(Name::TSTP).map(Self)
    }

    /// Waits for the next press of the key.
    pub async fn received(&mut self) {
        self.0.recv().await;
    }

    /// Stops the program until another process continues it.
    pub fn stop(&self) {
        // This fails only if the system forbids it; carrying on is right then, too.
        let _ = kill_process(getpid(), Name::STOP);
    }
}

/// A listener for changes of the terminal's size.
#[derive(Debug)]
pub struct ResizeSignal(Signal);

impl ResizeSignal {
    /// Starts listening.
    ///
    /// # Errors
    /// If signals can't be listened for.
    pub fn listen() -> io::Result<Self> {
        signal(SignalKind::window_change()).map(Self)
    }

    /// Waits for the next change.
    pub async fn received(&mut self) {
        self.0.recv().await;
    }
}

/// Makes a write beyond the file-size limit return an error instead of ending the program.
///
/// # Errors
/// If signals can't be listened for.
pub fn survive_large_files() -> io::Result<()> {
    // Once listened for, the signal keeps having no effect. Child processes get the default back.
    let _listened = listen(Name::XFSZ)?;
    Ok(())
}
