//! Strays, found through `/proc` on Linux.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::super::processes::Tree;

/// The most processes of one program that are ended in one pass; the next pass finds the others.
const MOST: usize = 1024;

/// The most times to reread a process that turns into another program during each read.
const MOST_READS: usize = 8;

/// One process, held by a handle so that its number can't come to mean another process.
#[derive(Debug)]
pub struct StrayProcess(OwnedFd);

impl StrayProcess {
    fn signal(&self, signal: Signal) {
        // This fails if the process has already ended or is not ours to end.
        let _ = pidfd_send_signal(&self.0, signal);
    }

    /// Asks the process to end.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills the process.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }
}

/// The result of a pass over all processes.
#[derive(Debug, Default)]
pub struct StrayProcesses {
    pub found: Vec<StrayProcess>,
    /// Whether a process was just turning into another program and so had no environment at that moment.
    pub is_unsure: bool,
}

/// Finds the processes whose environment holds a mark in a given variable.
pub fn marked(variable: &str, mark: &str) -> StrayProcesses {
    let mut looked = StrayProcesses::default();
    for pid in processes() {
        let Some(one) = hold(pid) else { continue };
        match is_marked(pid, variable, mark) {
            // It may have become a spared one since.
            Some(true) if is_spared(pid) => {}
            Some(true) => looked.found.push(one),
            Some(false) => {}
            None => looked.is_unsure = true,
        }
        if looked.found.len() == MOST {
            break;
        }
    }
    looked
}

/// Finds the descendants of a program.
pub fn below(program: &Tree) -> Vec<StrayProcess> {
    let program = program.0.as_raw_pid();
    let parents: BTreeMap<i32, i32> = processes()
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let is_below = |pid: i32| {
        let mut at = pid;
        // No chain of parents is longer than the number of processes.
        for _ in 0..parents.len() {
            match parents.get(&at) {
                Some(parent) if *parent == program => return true,
                Some(parent) => at = *parent,
                None => return false,
            }
        }
        false
    };
    parents
        .keys()
        .filter(|pid| is_below(**pid))
        .filter_map(|pid| hold(*pid))
        .take(MOST)
        .collect()
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = i32::try_from(std::process::id()).unwrap_or(0);
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(move |pid| *pid != ours)
}

fn read(pid: i32, file: &str) -> Option<Vec<u8>> {
    // Another user's process can't be read, and is not one of ours.
    std::fs::read(format!("/proc/{pid}/{file}")).ok()
}

/// Opens a handle to a process, unless the process is spared.
fn hold(pid: i32) -> Option<StrayProcess> {
    let held = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    (!is_spared(pid)).then_some(StrayProcess(held))
}

/// Returns whether a process must never be ended: speech-dispatcher, its modules, and a process
/// whose name can't be read.
fn is_spared(pid: i32) -> bool {
    // Linux cuts the name to 15 characters; the modules' names begin with "sd_".
    read(pid, "comm")
        .is_none_or(|name| name.starts_with(b"speech-dispatch") || name.starts_with(b"sd_"))
}

fn has(environment: &[u8], variable: &str, mark: &str) -> bool {
    environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| entry.strip_prefix(variable.as_bytes())?.strip_prefix(b"="))
        .flat_map(|marks| marks.split(|byte| *byte == b','))
        .any(|one| one == mark.as_bytes())
}

/// Returns whether a process has a mark in its environment; `None` while it turns into another program, when its
/// environment is missing or was read only in part.
fn is_marked(pid: i32, variable: &str, mark: &str) -> Option<bool> {
    // Some systems have these files, but do not show in them where a program begins.
    static SHOWN: LazyLock<bool> =
        LazyLock::new(|| i32::try_from(std::process::id()).is_ok_and(|pid| program(pid).is_some()));
    for _ in 0..MOST_READS {
        let before = program(pid);
        if has(&read(pid, "environ").unwrap_or_default(), variable, mark) {
            return Some(true);
        }
        if !*SHOWN {
            return Some(false);
        }
        if before.is_some() && before == program(pid) {
            return Some(false);
        }
        // An ended process or a kernel thread has no program; another user's process does not show it.
        if std::fs::read_link(format!("/proc/{pid}/exe")).is_err() {
            return Some(false);
        }
    }
    None
}

/// Reads where a process's data and stack begin (fields 45 and 28): both are set once it has turned into another
/// program, and the second differs for each program.
fn program(pid: i32) -> Option<(u64, u64)> {
    let fields = fields(pid)?;
    let place = |field: usize| {
        fields
            .get(field - FIRST_FIELD)?
            .parse()
            .ok()
            .filter(|at| *at > 0)
    };
    Some((place(45)?, place(28)?))
}

/// Reads a process's parent (field 4).
fn parent(pid: i32) -> Option<i32> {
    fields(pid)?.get(4 - FIRST_FIELD)?.parse().ok()
}

/// The number of the first field that is read.
const FIRST_FIELD: usize = 3;

/// Reads a process's `stat` line from field 3 on: field 2 is its name, which may contain anything.
fn fields(pid: i32) -> Option<Vec<String>> {
    let line = String::from_utf8_lossy(&read(pid, "stat")?).into_owned();
    let (_, rest) = line.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::marked;

    #[test]
    fn a_process_that_becomes_another_all_the_time_is_never_overlooked() {
        let again = "exec /bin/sh -c \"$0\" \"$0\"";
        let mark = format!("becoming-{}", std::process::id());
        let mut one = Command::new("/bin/sh")
            .args(["-c", again, again])
            .env("HEARKEN_TEST_MARK", &mark)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(2);
        let (mut found, mut overlooked) = (0, 0);
        while Instant::now() < until {
            let looked = marked("HEARKEN_TEST_MARK", &mark);
            found += looked.found.len();
            overlooked += usize::from(looked.found.is_empty() && !looked.is_unsure);
        }
        one.kill().unwrap();
        one.wait().unwrap();
        assert!(found > 0, "to be unsure is not to find");
        assert_eq!(overlooked, 0);
        let looked = marked("HEARKEN_TEST_MARK", &mark);
        assert!(looked.found.is_empty() && !looked.is_unsure);
    }
}
