use std::fs;
use std::io::Write;

use super::super::tests::{Listener, connecting, frame, quick};
use super::*;
use crate::config::LinkConfig;
use crate::link::{Cause, Fault, LinkEvent};

fn following() -> LinkConfig {
    LinkConfig {
        follow: true,
        ..quick()
    }
}

fn lost(why: Cause) -> LinkEvent {
    LinkEvent::Lost {
        fault: Fault::Other(why),
        retry_in: POLL,
    }
}

/// Overwrites a file, which keeps its inode and never gets shorter.
fn rewrite(path: &std::path::Path, text: &str) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn append(path: &std::path::Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[tokio::test]
async fn a_file_is_read_on_as_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, "{\"n\":1}\n{\"n\":").unwrap();
    let mut listener = Listener::open(path.to_str().unwrap(), following());
    listener
        .expect(&[connecting(1), LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
    // The rest of an unfinished line, and one more line.
    append(&path, "2}\n{\"n\":3}\n");
    listener
        .expect(&[frame("{\"n\":2}"), frame("{\"n\":3}")])
        .await;
}

#[tokio::test]
async fn a_file_that_is_not_there_yet_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let mut listener = Listener::open(path.to_str().unwrap(), following());
    listener
        .expect(&[connecting(1), lost(Cause::FileNotYet)])
        .await;
    fs::write(&path, "{\"n\":1}\n").unwrap();
    listener
        .expect(&[LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
}

#[tokio::test]
async fn a_file_that_was_replaced_or_cut_is_read_from_its_start_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, "{\"n\":1}\nbegun").unwrap();
    let mut listener = Listener::open(path.to_str().unwrap(), following());
    listener
        .expect(&[connecting(1), LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
    let fresh = folder.path().join("b.jsonl");
    fs::write(&fresh, "{\"n\":2}\n").unwrap();
    fs::rename(&fresh, &path).unwrap();
    // The unfinished line of the old file is a line of its own, never joined with the new file's first.
    listener
        .expect(&[
            lost(Cause::FileReplaced),
            LinkEvent::Connected,
            frame("begun"),
            frame("{\"n\":2}"),
        ])
        .await;
    fs::write(&path, "{}\n").unwrap();
    listener
        .expect(&[lost(Cause::FileCut), LinkEvent::Connected, frame("{}")])
        .await;
}

#[tokio::test]
async fn a_folder_is_no_file_however_long_one_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::create_dir(&path).unwrap();
    let mut listener = Listener::open(path.to_str().unwrap(), following());
    listener.expect(&[connecting(1)]).await;
    match listener.next().await {
        LinkEvent::Failed { fault } => {
            assert!(matches!(fault, Fault::Unusable(Cause::Folder { .. })));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_that_is_rewritten_in_place_is_told_and_read_from_its_beginning() {
    for (new, what) in [
        ("{\"n\":7}\n{\"n\":8}\n", "as long"),
        ("{\"n\":7}\n{\"n\":8}\n{\"n\":9}\n", "longer"),
        (
            "{\"n\":1}\n{\"n\":8}\n{\"n\":9}\n",
            "with the same beginning",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "{\"n\":1}\n{\"n\":2}\n").unwrap();
        let mut listener = Listener::open(path.to_str().unwrap(), following());
        listener
            .expect(&[
                connecting(1),
                LinkEvent::Connected,
                frame("{\"n\":1}"),
                frame("{\"n\":2}"),
            ])
            .await;
        rewrite(&path, new);
        listener
            .expect(&[lost(Cause::FileRewritten), LinkEvent::Connected])
            .await;
        for line in new.lines() {
            assert_eq!(listener.next().await, frame(line), "{what}");
        }
    }
}

#[tokio::test]
async fn a_file_that_is_only_touched_is_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, "{\"n\":1}\n").unwrap();
    let mut listener = Listener::open(path.to_str().unwrap(), following());
    listener
        .expect(&[connecting(1), LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
    rewrite(&path, "{\"n\":1}\n");
    append(&path, "{\"n\":2}\n");
    listener.expect(&[frame("{\"n\":2}")]).await;
}
