//! Files that others may write to are refused in words, with the remedy; and output that can't be written is
//! no success.

#![cfg(unix)]

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use hearken_wording::phrase;

use crate::support::child::command;

/// Runs hearken, and returns its exit code and its standard error.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = command(arguments).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), said)
}

fn written(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn what_can_not_be_written_whole_ends_with_code_1() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["run", "--list"],
        &["demo", "--list"],
        &["completions", "bash"],
        &["man"],
    ] {
        let full = File::options().write(true).open("/dev/full");
        // If the system has none, a pipe without a reader accepts nothing either.
        let out = match full {
            Ok(full) => Stdio::from(full),
            Err(_) => {
                let (reads, writes) = std::io::pipe().unwrap();
                drop(reads);
                Stdio::from(writes)
            }
        };
        let output = command(arguments)
            .stdout(out)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn settings_answers_and_keys_that_others_may_write_are_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let rule = "[[answer]]\nname = \"tidy\"\nkind = \"confirmation\"\ntext = \"move\"\nanswer = \"accept\"\n";
    let keys = folder.path().join("keys");
    std::fs::create_dir(&keys).unwrap();
    let key = "-----BEGIN PUBLIC KEY-----\n";
    for mode in [0o666, 0o602] {
        let settings = written(folder.path(), "config.toml", "", mode);
        let answers = written(folder.path(), "answers.toml", rule, mode);
        let trusted = written(&keys, "agent.pem", key, mode);
        let by_keys = format!("[handshake]\nkeys = {:?}\n", keys.display().to_string());
        let by_keys = written(folder.path(), "keys.toml", &by_keys, 0o600);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        for (option, file, culprit) in [
            ("--config", &settings, &settings),
            ("--answers", &answers, &answers),
            ("--config", &by_keys, &trusted),
        ] {
            let (code, said) = refused(&["demo", "--voice", "none", option, &text(file)]);
            assert_eq!(code, 2, "{option} {mode:o}: {said}");
            let remedy = format!("run: chmod go-w {}", culprit.display());
            assert!(said.contains(&remedy), "{option} {mode:o}: {said}");
        }
    }
}

#[test]
fn a_file_of_another_user_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "config.toml", "", 0o644);
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away. Files of root are trusted, because root could change hearken
        // itself.
        let (code, said) = refused(&["demo", "--list", "--config", "/etc/passwd"]);
        assert!(!said.contains("chown"), "{code} {said}");
        return;
    }
    let other = rustix::fs::Uid::from_raw(65534);
    rustix::fs::chown(&path, Some(other), None).unwrap();
    let (code, said) = refused(&[
        "demo",
        "--voice",
        "none",
        "--config",
        path.to_str().unwrap(),
    ]);
    assert_eq!(code, 2, "{said}");
    assert!(phrase!("call.file.owner").is_in(&said), "{said}");
}

#[test]
fn no_socket_and_no_door_is_put_where_others_may_write() {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, Permissions::from_mode(0o777)).unwrap();
    let place = format!("unix:{}/s.sock", shared.display());
    let remedy = format!("run: chmod 700 {}", shared.display());
    let (code, said) = refused(&["demo", "--serve", &place]);
    assert_eq!((code, said.contains(&remedy)), (2, true), "{said}");
    assert!(!shared.join("s.sock").exists());
    // The door for hooks is in the state folder.
    let state = folder.path().join("state");
    std::fs::create_dir_all(state.join("hearken")).unwrap();
    std::fs::set_permissions(state.join("hearken"), Permissions::from_mode(0o777)).unwrap();
    let output = command(&["watch", "claude", "--voice", "none", "--face", "linear"])
        .env("XDG_STATE_HOME", &state)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(phrase!("call.folder.shared").is_in(&said), "{said}");
    assert_eq!(output.status.code(), Some(2), "{said}");
}
