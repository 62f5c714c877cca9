//! A useless daemon of our own is ended, and no other one.

use std::path::Path;
use std::process::{Child, Command};

use rustix::process::Signal;

use crate::voice::useless_daemon::{NOTE, end};

/// Starts a process that looks like the daemon of a socket in a folder, does this, and never ends by itself.
fn daemon(folder: &Path, does: &str, socket: &Path) -> Child {
    std::fs::create_dir_all(folder.join("pid")).unwrap();
    let script = format!("{does} echo up; read -r forever");
    let mut child = Command::new("sh")
        .args([
            "-c",
            &script,
            "speech-dispatcher",
            "--spawn",
            "--socket-path",
        ])
        .arg(socket)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // By now its signal handling is set up.
    let mut up = [0; 3];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut up).unwrap();
    std::fs::write(folder.join(NOTE), format!("{}\n", child.id())).unwrap();
    child
}

#[tokio::test]
async fn a_daemon_of_ours_is_ended_even_where_it_hangs_and_nobody_elses() {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("speechd.sock");
    for (does, signal) in [("", Signal::TERM), ("trap '' TERM;", Signal::KILL)] {
        let mut child = daemon(folder.path(), does, &socket);
        end(&socket).await;
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{does}");
    }
    // The recorded process serves another socket.
    let mut child = daemon(folder.path(), "", Path::new("/elsewhere.sock"));
    end(&socket).await;
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    // Nothing is recorded, or that process no longer exists.
    end(&socket).await;
    end(Path::new("/nowhere/speechd.sock")).await;
}
