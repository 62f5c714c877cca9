//! Started programs: their output, their end, and that nothing of them remains.

use std::path::Path;

use crate::link::{Cause, DeliveryFailure, Fault, LinkEvent, Receipt};
use crate::transport::Source;
use crate::transport::file::tests::Folder;
use crate::transport::tests::{Listener, connecting, frame, quick, replied, soon, until};

/// Starts a shell script; only the tests use a shell.
fn start(script: &str, arguments: &[&str]) -> Listener {
    let mut command = vec!["/bin/sh", "-c", script, "agent"];
    command.extend(arguments);
    run(&command)
}

fn run(command: &[&str]) -> Listener {
    let source = Source::Program(command.iter().map(Into::into).collect());
    Listener::open_source(source, quick(), None, 64)
}

fn exists(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

/// Waits for a file that a script writes, and reads it.
async fn written(path: &Path) -> String {
    until(|| std::fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))).await;
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn lines_come_in_and_answers_go_out_until_it_ends_well() {
    let mut link = start(
        "echo '{\"n\":1}'; read -r line; echo \"$line\"; printf '{\"n\":2}'",
        &[],
    );
    link.expect(&[connecting(1), LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
    link.handle
        .send(7, "{\"type\":\"confirmation.reply\",\n\"x\":1}".to_owned());
    let mut news = vec![link.next().await, link.next().await];
    news.sort_by_key(|event| matches!(event, LinkEvent::Frame(_)));
    // A message arrives unchanged, on one line.
    assert_eq!(
        news,
        [
            replied(7, Ok(Receipt::Written)),
            frame("{\"type\":\"confirmation.reply\", \"x\":1}")
        ]
    );
    link.expect(&[frame("{\"n\":2}"), LinkEvent::Ended]).await;
    link.handle.send(8, "{}".to_owned());
    link.expect(&[replied(8, Err(DeliveryFailure::Kept(Fault::Closed)))])
        .await;
}

#[tokio::test]
async fn how_it_ended_is_told_and_it_is_not_started_again() {
    for (script, fault) in [
        ("exit 3", Fault::Exited { code: 3 }),
        ("kill -9 $$", Fault::Killed { signal: 9 }),
    ] {
        let mut link = start(script, &[]);
        link.expect(&[
            connecting(1),
            LinkEvent::Connected,
            LinkEvent::Failed { fault },
        ])
        .await;
        soon(link.handle.close()).await.unwrap();
    }
    let mut link = run(&["/no/such/program", "s3cret"]);
    link.expect(&[connecting(1)]).await;
    match link.next().await {
        LinkEvent::Failed { fault } => {
            let name = "program".to_owned();
            assert_eq!(fault, Fault::Unusable(Cause::ProgramMissing { name }));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn standard_error_is_for_people_cleaned_and_bounded() {
    let mut link = start(
        "printf 'a\\033[2Jb\\n%0500d\\nlast' 0 >&2; head -c 100000 /dev/zero >&2; exit 0",
        &[],
    );
    let mut remarks = Vec::new();
    loop {
        match link.next().await {
            LinkEvent::Remark { line } => remarks.push(line),
            LinkEvent::Connecting { .. } | LinkEvent::Connected => {}
            LinkEvent::Ended => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(remarks[0], "a\u{FFFD}[2Jb");
    assert_eq!(remarks[1].len(), 400);
    assert!(remarks[2].contains("left out"), "{remarks:?}");
}

/// Makes started programs hear the interrupt even if these tests run in the background: there a shell ignores the
/// interrupt, programs inherit that, and a shell script can't undo it. A signal that was once listened for is not
/// inherited as ignored, and hearken always listens for it.
fn hear_interrupts() {
    /// The bit of the interrupt (signal 2) in the mask of ignored signals.
    const INTERRUPT: u64 = 1 << 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Only in that case: otherwise an interrupt is meant to stop the tests.
    if ignored.is_some_and(|ignored| ignored & INTERRUPT != 0) {
        let interrupt = tokio::signal::unix::SignalKind::interrupt();
        drop(tokio::signal::unix::signal(interrupt).unwrap());
    }
}

#[tokio::test]
async fn leaving_interrupts_it_first() {
    hear_interrupts();
    let folder = Folder::new("interrupt");
    let pid = folder.0.join("pid");
    let mark = folder.0.join("mark");
    let script =
        "trap 'echo int > \"$2\"; exit 0' INT; echo $$ > \"$1\"; while :; do sleep 0.05; done";
    let link = start(script, &[pid.to_str().unwrap(), mark.to_str().unwrap()]);
    let pid = written(&pid).await;
    soon(link.handle.close()).await.unwrap();
    assert_eq!(written(&mark).await, "int\n");
    assert!(!exists(&pid), "no zombie is left");
}

#[tokio::test]
async fn a_program_that_does_not_listen_is_killed_with_what_it_started() {
    let folder = Folder::new("kill");
    let pids = folder.0.join("pids");
    let script = "trap '' INT TERM; (trap '' INT TERM; while :; do sleep 0.05; done) & \
                  echo $$ $! > \"$1\"; while :; do sleep 0.05; done";
    let link = start(script, &[pids.to_str().unwrap()]);
    let pids = written(&pids).await;
    soon(link.handle.close()).await.unwrap();
    for pid in pids.split_whitespace() {
        until(|| !exists(pid) || is_zombie_of_another(pid)).await;
    }
}

/// Returns whether a process has ended but its adoptive parent has not reaped it, as can happen on a test machine.
fn is_zombie_of_another(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[tokio::test]
async fn a_link_whose_news_nobody_takes_still_ends_its_program() {
    let folder = Folder::new("unread");
    let pid = folder.0.join("pid");
    let script = "echo $$ > \"$1\"; while :; do echo '{}'; done";
    let link = start(script, &[pid.to_str().unwrap()]);
    let pid = written(&pid).await;
    let Listener { handle, news } = link;
    drop(news);
    until(|| !exists(&pid)).await;
    drop(handle);
}

#[tokio::test]
async fn a_pipe_that_a_grandchild_holds_open_delays_the_end_only_a_moment() {
    let mut link = start("(trap '' TERM; exec sleep 30) & echo '{}'; exit 4", &[]);
    link.expect(&[
        connecting(1),
        LinkEvent::Connected,
        frame("{}"),
        LinkEvent::Failed {
            fault: Fault::Exited { code: 4 },
        },
    ])
    .await;
}

/// Returns whether a process is gone, or only waits for its adoptive parent to reap it.
fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"));
    stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_left_the_group_ends_with_the_program_whoever_its_parent_is() {
    let folder = Folder::new("strays");
    let file = |name: &str| folder.0.join(name);
    let (orphan, deaf, bare) = (file("orphan"), file("deaf"), file("bare"));
    // A leader of its own group whose parent has ended, one that responds only to a kill, and one that removed the mark
    // from its environment.
    let script = "\
        (setsid sh -c 'echo $$ > \"$1\"; exec sleep 1000' x \"$1\" &) \n\
        (setsid sh -c 'trap \"\" TERM INT HUP; echo $$ > \"$1\"; while :; do sleep 1; done' x \"$2\" &) \n\
        setsid env -i sh -c 'echo $$ > \"$1\"; exec sleep 1000' x \"$3\" & \n\
        exec sleep 1000";
    let places: Vec<&str> = [&orphan, &deaf, &bare]
        .into_iter()
        .map(|path| path.to_str().unwrap())
        .collect();
    let mut link = start(script, &places);
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    let mut pids = Vec::new();
    for path in [&orphan, &deaf, &bare] {
        pids.push(written(path).await);
    }
    assert!(pids.iter().all(|pid| !is_gone(pid)), "{pids:?}");
    soon(link.handle.close()).await.unwrap();
    for pid in &pids {
        until(|| is_gone(pid)).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_leaves_behind_that_ends_by_itself_ends_too() {
    let folder = Folder::new("strays-left");
    let path = folder.0.join("orphan");
    let script = "(setsid sh -c 'echo $$ > \"$1\"; exec sleep 1000 >/dev/null 2>&1' x \"$1\" &); \
                  while ! [ -s \"$1\" ]; do :; done";
    let mut link = start(script, &[path.to_str().unwrap()]);
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    let pid = written(&path).await;
    until(|| is_gone(&pid)).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nobody_ends_a_speech_dispatcher() {
    let folder = Folder::new("strays-speech");
    let (daemon, path) = (folder.0.join("speech-dispatcher"), folder.0.join("pid"));
    std::fs::copy("/bin/sleep", &daemon).unwrap();
    let script = "(setsid sh -c 'echo $$ > \"$1\"; exec \"$2\" 1000 >/dev/null 2>&1' x \"$1\" \"$2\" &); \
                  while ! [ -s \"$1\" ]; do :; done; exec sleep 1000";
    let places = [path.to_str().unwrap(), daemon.to_str().unwrap()];
    let mut link = start(script, &places);
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    let pid = written(&path).await;
    until(|| {
        let name = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("comm"));
        name.is_ok_and(|name| name.starts_with("speech-dispatch"))
    })
    .await;
    soon(link.handle.close()).await.unwrap();
    let lives = !is_gone(&pid);
    let id = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    assert!(lives);
}
