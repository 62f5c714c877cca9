//! The resources that a started program has used so far.

use std::io;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions};

use crate::platform::ResourceUse;

/// Returns whether a child has ended, without reaping it: its resource use can still be read.
///
/// # Errors
/// The system's error.
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = rustix::process::waitid(WaitId::Pid(Pid::from_child(child)), options)?;
    Ok(status.is_some())
}

/// Returns what a child has used so far. Without `/proc`, `ps` is asked, which reports no time once the child has
/// ended, and only the current memory use.
pub fn spent(child: &Child) -> ResourceUse {
    let id = child.id();
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
        return asked_of_ps(id);
    };
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    ResourceUse {
        processor: ticks(&stat).map(|ticks| {
            let second = rustix::param::clock_ticks_per_second().max(1);
            Duration::from_nanos(ticks * (1_000_000_000 / second))
        }),
        peak: peak(&status),
    }
}

/// Returns how often a child's threads have been woken so far, if the system reports it.
pub fn wakings(child: &Child) -> Option<u64> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).ok()?;
    let mut sum = 0;
    for thread in threads {
        let status = std::fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        sum += waits(&status)?;
    }
    Some(sum)
}

/// Reads how often a thread started to wait: it was woken as often.
fn waits(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Reads a program's user and system time in ticks. Its name, in brackets, may contain anything.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let own: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(own + system)
}

/// Reads a program's peak memory use in bytes. An ended program uses none and has no such line.
fn peak(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn asked_of_ps(id: u32) -> ResourceUse {
    let asked = Command::new("ps")
        .args(["-o", "time=", "-o", "rss=", "-p", &id.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    asked.map_or_else(
        |_| ResourceUse::default(),
        |said| told_by_ps(&String::from_utf8_lossy(&said.stdout)),
    )
}

/// Parses the time and memory that `ps` printed; both are absent if it knows no such program.
fn told_by_ps(told: &str) -> ResourceUse {
    let mut words = told.split_whitespace();
    ResourceUse {
        processor: words.next().and_then(time),
        peak: words
            .next()
            .and_then(|word| word.parse::<u64>().ok())
            .map(|kibibytes| kibibytes * 1024),
    }
}

/// Parses hours, minutes and seconds, with or without hundredths, as in `1:02:03` or `0:01.23`.
fn time(word: &str) -> Option<Duration> {
    let seconds = word.split(':').try_fold(0.0, |sum, part| {
        let part: f64 = part.parse().ok()?;
        Some(sum * 60.0 + part)
    });
    Duration::try_from_secs_f64(seconds?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_writes_is_read() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 120 30 0 0 20 0 1";
        assert_eq!(ticks(stat), Some(150));
        assert_eq!(ticks("7 (a"), None);
        let status = "Name:\tx\nVmHWM:\t   48120 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(peak(status), Some(48120 * 1024));
        assert_eq!(peak("Name:\tx\n"), None);
        let status = "nonvoluntary_ctxt_switches:\t3\nvoluntary_ctxt_switches:\t12\n";
        assert_eq!(waits(status), Some(12));
        assert_eq!(time("0:01.25"), Some(Duration::from_millis(1250)));
        assert_eq!(time("01:02:03"), Some(Duration::from_secs(3723)));
        assert_eq!(time("-"), None);
    }

    #[test]
    fn a_child_is_asked_while_it_runs_and_after_its_end() {
        let mut child = Command::new("sh")
            .args([
                "-c",
                "read line; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done",
            ])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(!has_ended(&mut child).unwrap());
        // A program that has just started uses almost no memory.
        let patience = std::time::Instant::now() + Duration::from_secs(20);
        while spent(&child).peak.unwrap() < 100_000 {
            assert!(std::time::Instant::now() < patience);
            std::thread::yield_now();
        }
        drop(child.stdin.take());
        while !has_ended(&mut child).unwrap() {
            std::thread::yield_now();
        }
        assert!(spent(&child).processor.unwrap() > Duration::ZERO);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn what_ps_writes_is_read() {
        let spent = |told| {
            let ResourceUse { processor, peak } = told_by_ps(told);
            (processor, peak)
        };
        let both = (Some(Duration::from_millis(1250)), Some(48120 * 1024));
        assert_eq!(spent("  0:01.25  48120\n"), both);
        assert_eq!(
            spent("00:00:00  7\n"),
            (Some(Duration::ZERO), Some(7 * 1024))
        );
        assert_eq!(spent(""), (None, None));
    }
}
