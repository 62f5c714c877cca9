//! The life of a started program: waiting for it, ending it in steps, leaving nothing of it behind.
//!
//! Responsibilities: one task that owns the child (so that there is never a zombie), the steps from an interrupt to a
//! kill, the list of all groups for a quick end. Not here: the program's messages.
//!
//! Signals go to the whole group, so that programs that it started end with it; processes that left the group are found
//! by the program's mark (`regrouped_processes`). A program that is still running when its link is dropped without a
//! farewell is ended by the same steps.

use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::regrouped_processes::{DescendantProcesses, ProcessMark};
use crate::platform::processes::{ASKING, Tree, signal_of};

/// How long a program may take to end after an interrupt, and again after a request to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// The trees of all programs that may still be running, for an end that can't wait for tasks.
static GROUPS: Mutex<Vec<(Tree, ProcessMark)>> = Mutex::new(Vec::new());

/// Kills every started program immediately, for when hearken itself must end quickly.
pub fn end_all_now() {
    let groups = std::mem::take(&mut *GROUPS.lock().unwrap_or_else(PoisonError::into_inner));
    for (group, mark) in groups {
        group.kill();
        mark.kill_now();
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Death {
    /// By itself, with an exit code.
    Exited(i32),
    /// By a signal.
    Killed(i32),
    /// The system did not say.
    Unknown,
}

impl Death {
    fn of(status: std::io::Result<ExitStatus>) -> Self {
        let Ok(status) = status else {
            return Self::Unknown;
        };
        match (status.code(), signal_of(status)) {
            (Some(code), _) => Self::Exited(code),
            (None, Some(signal)) => Self::Killed(signal),
            (None, None) => Self::Unknown,
        }
    }
}

/// The control of a running program; dropping the last clone ends the program.
#[derive(Debug, Clone)]
pub(super) struct Process {
    wishes: mpsc::Sender<()>,
    death: watch::Receiver<Option<Death>>,
}

impl Process {
    /// Takes over a child that has its own group; `None` if it is already gone.
    pub(super) fn attend(child: Child, mark: ProcessMark) -> Option<Self> {
        let group = ProcessGroup::new(Tree::of(&child)?, mark);
        let (wishes, wished) = mpsc::channel(1);
        let (tell, death) = watch::channel(None);
        tokio::spawn(live(child, group, wished, tell));
        Some(Self { wishes, death })
    }

    /// Waits for the program's end.
    pub(super) async fn death(&mut self) -> Death {
        match self.death.wait_for(Option::is_some).await {
            Ok(death) => death.unwrap_or(Death::Unknown),
            Err(_) => Death::Unknown,
        }
    }

    /// Interrupts the program, then asks it to end, then kills it; returns when it has ended.
    pub(super) async fn end(&mut self) {
        // A full channel already holds the same request, and a closed one means that the program has ended.
        let _ = self.wishes.try_send(());
        self.death().await;
    }
}

/// Waits for a child, and ends it on request or when all handles to it are gone.
async fn live(
    mut child: Child,
    group: ProcessGroup,
    mut wished: mpsc::Receiver<()>,
    tell: watch::Sender<Option<Death>>,
) {
    let status = tokio::select! {
        status = child.wait() => {
            // Processes that it left behind in its group belong to it.
            group.tree.ask_to_end();
            status
        }
        _ = wished.recv() => end(&mut child, &group).await,
    };
    group.mark.end().await;
    group.over();
    tell.send_replace(Some(Death::of(status)));
}

async fn end(child: &mut Child, group: &ProcessGroup) -> std::io::Result<ExitStatus> {
    let mut ended = None;
    let below = DescendantProcesses::of(&group.tree);
    for ask in ASKING {
        ask(&group.tree);
        if let Ok(status) = timeout(PATIENCE, child.wait()).await {
            ended = Some(status);
            break;
        }
    }
    // The whole group, even if the program itself has ended: nothing of it may remain.
    group.tree.kill();
    below.kill();
    match ended {
        Some(status) => status,
        None => child.wait().await,
    }
}

/// A listed process group; dropping it before it is over kills it.
#[derive(Debug)]
struct ProcessGroup {
    tree: Tree,
    mark: ProcessMark,
    alive: bool,
}

impl ProcessGroup {
    fn new(tree: Tree, mark: ProcessMark) -> Self {
        GROUPS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((tree.clone(), mark.clone()));
        Self {
            tree,
            mark,
            alive: true,
        }
    }

    /// Records that the program has been waited for: from now on its number may come to mean another process.
    fn over(mut self) {
        self.alive = false;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if self.alive {
            self.tree.kill();
            self.mark.kill_now();
        }
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|(group, _)| *group != self.tree);
    }
}
