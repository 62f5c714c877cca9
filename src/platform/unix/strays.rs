//! Processes that left the group of the program that started them: found by their environment or their parents.

pub(crate) use find::{One, below, marked};

#[cfg(target_os = "linux")]
mod find {
    use std::collections::BTreeMap;
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::super::processes::Tree;

    /// How many processes of one program are ended at once; the next look finds the others.
    const MOST: usize = 1024;

    /// Is one process, held so that its number can't become another's.
    #[derive(Debug)]
    pub(crate) struct One(OwnedFd);

    impl One {
        fn signal(&self, signal: Signal) {
            // It fails where the process has ended by itself, or is not ours to end.
            let _ = pidfd_send_signal(&self.0, signal);
        }

        /// Asks it to end.
        pub(crate) fn ask_to_end(&self) {
            self.signal(Signal::TERM);
        }

        /// Ends it.
        pub(crate) fn kill(&self) {
            self.signal(Signal::KILL);
        }
    }

    /// Finds the processes that have a mark in a variable of their environment.
    pub(crate) fn marked(variable: &str, mark: &str) -> Vec<One> {
        processes()
            .filter_map(|pid| hold(pid).filter(|_| has(pid, variable, mark)))
            .take(MOST)
            .collect()
    }

    /// Finds the processes below a program.
    pub(crate) fn below(program: &Tree) -> Vec<One> {
        let program = program.0.as_raw_pid();
        let parents: BTreeMap<i32, i32> = processes()
            .filter_map(|pid| Some((pid, parent(pid)?)))
            .collect();
        let is_below = |pid: i32| {
            let mut at = pid;
            // No chain is longer than there are processes.
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
        // What belongs to somebody else can't be read, and is none of ours.
        std::fs::read(format!("/proc/{pid}/{file}")).ok()
    }

    /// Takes hold of a process that may be ended.
    fn hold(pid: i32) -> Option<One> {
        let held = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        let name = read(pid, "comm")?;
        // Its name is cut to 15 characters; its modules begin with "sd_".
        let speaks = name.starts_with(b"speech-dispatch") || name.starts_with(b"sd_");
        (!speaks).then_some(One(held))
    }

    fn has(pid: i32, variable: &str, mark: &str) -> bool {
        let environment = read(pid, "environ").unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.strip_prefix(variable.as_bytes())?.strip_prefix(b"="))
            .flat_map(|marks| marks.split(|byte| *byte == b','))
            .any(|one| one == mark.as_bytes())
    }

    /// Reads a process's parent: the second field behind its name, which may hold anything.
    fn parent(pid: i32) -> Option<i32> {
        let line = String::from_utf8_lossy(&read(pid, "stat")?).into_owned();
        let (_, rest) = line.rsplit_once(')')?;
        rest.split_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod find {
    use super::super::processes::Tree;

    /// Has no values: no process is found here.
    #[derive(Debug)]
    pub(crate) enum One {}

    impl One {
        /// Asks it to end.
        pub(crate) fn ask_to_end(&self) {
            match *self {}
        }

        /// Ends it.
        pub(crate) fn kill(&self) {
            match *self {}
        }
    }

    /// Finds nothing.
    pub(crate) fn marked(_variable: &str, _mark: &str) -> Vec<One> {
        Vec::new()
    }

    /// Finds nothing.
    pub(crate) fn below(_program: &Tree) -> Vec<One> {
        Vec::new()
    }
}
