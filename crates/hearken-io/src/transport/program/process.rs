//! The life of a started program: it is waited for, it is ended in steps, and nothing of it stays.
//!
//! Responsibilities: one task that owns the child (so that there is never a zombie), the steps from an
//! interrupt to a kill, the list of all groups for an end in a hurry. Not here: what the program says.
//!
//! Signals go to the whole group, so that what the program started ends with it; what left the group is found by
//! its mark (`strays`). A program that is still
//! there when its link is dropped without a farewell is ended by the same steps.

use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::strays::{Below, Mark};
use crate::platform::processes::{ASKING, Tree, signal_of};

/// How long a program may take to end after an interrupt, and again after being told to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// The trees of all programs that may still run, for an end that can't wait for tasks.
static GROUPS: Mutex<Vec<(Tree, Mark)>> = Mutex::new(Vec::new());

/// Kills every started program at once, for a program that is about to end in a hurry.
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

/// The way to a running program; when the last clone is dropped the program is ended.
#[derive(Debug, Clone)]
pub(super) struct Process {
    wishes: mpsc::Sender<()>,
    death: watch::Receiver<Option<Death>>,
}

impl Process {
    /// Takes a child over, whose group is its own; `None` when it is gone already.
    pub(super) fn attend(child: Child, mark: Mark) -> Option<Self> {
        let group = Group::new(Tree::of(&child)?, mark);
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

    /// Interrupts the program, then tells it to end, then kills it; over when it has ended.
    pub(super) async fn end(&mut self) {
        // A full channel holds the same wish already, and a closed one means that it has ended.
        let _ = self.wishes.try_send(());
        self.death().await;
    }
}

/// Waits for a child, and ends it when that is wished or when nobody is interested any more.
async fn live(
    mut child: Child,
    group: Group,
    mut wished: mpsc::Receiver<()>,
    tell: watch::Sender<Option<Death>>,
) {
    let status = tokio::select! {
        status = child.wait() => {
            // What it left behind in its group belongs to it.
            group.tree.ask_to_end();
            status
        }
        _ = wished.recv() => end(&mut child, &group).await,
    };
    group.mark.end().await;
    group.over();
    tell.send_replace(Some(Death::of(status)));
}

async fn end(child: &mut Child, group: &Group) -> std::io::Result<ExitStatus> {
    let mut ended = None;
    let below = Below::of(&group.tree);
    for ask in ASKING {
        ask(&group.tree);
        if let Ok(status) = timeout(PATIENCE, child.wait()).await {
            ended = Some(status);
            break;
        }
    }
    // The whole group, also when the program itself has ended: nothing of it stays.
    group.tree.kill();
    below.kill();
    match ended {
        Some(status) => status,
        None => child.wait().await,
    }
}

/// A group of processes that is on the list; dropping it before it is over kills it.
#[derive(Debug)]
struct Group {
    tree: Tree,
    mark: Mark,
    alive: bool,
}

impl Group {
    fn new(tree: Tree, mark: Mark) -> Self {
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

    /// Notes that the program was waited for: from now on its number may become another's.
    fn over(mut self) {
        self.alive = false;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.alive {
            self.tree.kill();
            self.mark.kill_now();
        }
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|(group, _)| *group != self.tree);
    }
}
