//! Lines, files and standard input.

use std::io::{self, Cursor, Read, Write};
use std::path::PathBuf;

use proptest::prelude::*;
use tokio::sync::{mpsc, watch};

use super::{FileReader, NoReplyPoster, SourceLine, SourceLines, lines};
use crate::link::{Cause, DeliveryFailure, Fault, LinkEvent};
use crate::transport::halves::Link;
use crate::transport::link_handle::drive;
use crate::transport::link_sink::LinkSink;
use crate::transport::tests::{Listener, connecting, frame, quick, soon};

/// A folder that is removed after the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hearken-{}-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(line: &str) -> SourceLine {
    SourceLine::Text(line.to_owned())
}

/// A reader that returns at most this many bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let most = room.len().min(self.1);
        self.0.read(&mut room[..most])
    }
}

fn read(bytes: &[u8], limit: usize, most: usize) -> Vec<SourceLine> {
    let source = Pieces(bytes, most);
    SourceLines::new(source, limit)
        .map(Result::unwrap)
        .collect()
}

#[test]
fn lines_are_what_a_person_would_call_lines() {
    for (bytes, wanted) in [
        (&b""[..], vec![]),
        (b"\n\r\n  \n", vec![]),
        (b"a\nb\r\n\nc", vec![text("a"), text("b"), text("c")]),
        (
            b"\xEF\xBB\xBFa\n\xEF\xBB\xBFb\n",
            vec![text("a"), text("b")],
        ),
        (b"\xEF\xBB\xBF", vec![]),
        (b"a\xFFb\n", vec![text("a\u{FFFD}b")]),
        (b" a \n", vec![text(" a ")]),
    ] {
        for buffer in [1, 2, 3, 64] {
            assert_eq!(read(bytes, 100, buffer), wanted, "{bytes:?}");
        }
    }
}

#[test]
fn a_line_of_exactly_the_bound_passes() {
    let long = |n: usize| "x".repeat(n);
    for end in ["\n", "\r\n", ""] {
        for mark in ["", "\u{FEFF}"] {
            let bytes = format!("{mark}{}{end}", long(10));
            assert_eq!(
                read(bytes.as_bytes(), 10, 3),
                [text(&long(10))],
                "{bytes:?}"
            );
            let bytes = format!("{mark}{}{end}", long(11));
            assert_eq!(
                read(bytes.as_bytes(), 10, 3),
                [SourceLine::TooLong],
                "{bytes:?}"
            );
        }
    }
    let bytes = format!("a\n{}\nb\n{}", long(1000), long(5000));
    assert_eq!(
        read(bytes.as_bytes(), 10, 7),
        [
            text("a"),
            SourceLine::TooLong,
            text("b"),
            SourceLine::TooLong
        ]
    );
}

#[test]
fn a_read_error_is_told_once() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let mut lines = SourceLines::new(Cursor::new("a\nb").chain(Broken), 100);
    assert_eq!(lines.next().unwrap().unwrap(), text("a"));
    assert!(lines.next().unwrap().is_err());
    assert!(lines.next().is_none());
}

proptest! {
    #[test]
    fn the_size_of_the_pieces_changes_nothing(
        bytes in prop::collection::vec(prop_oneof![
            Just(b'\n'), Just(b'\r'), Just(b' '), Just(0xEF), Just(0xBB), Just(0xBF), any::<u8>()
        ], 0..200),
        limit in 0_usize..30,
    ) {
        let whole = read(&bytes, limit, 1000);
        for buffer in [1, 2, 5] {
            prop_assert_eq!(&read(&bytes, limit, buffer), &whole);
        }
    }
}

#[test]
fn a_file_that_can_not_be_read_is_told_in_words() {
    let folder = Folder::new("unusable");
    let missing = lines(&folder.0.join("no\u{1b}.jsonl"), 10).unwrap_err();
    assert!(matches!(
        &missing,
        Fault::Unusable(Cause::NoFile { name }) if !name.contains('\u{1b}')
    ));
    let is_folder = lines(&folder.0, 10).unwrap_err();
    assert!(matches!(&is_folder, Fault::Unusable(Cause::Folder { .. })));
    assert!(missing.is_final() && is_folder.is_final());
}

#[tokio::test]
async fn a_file_is_followed_to_its_end_and_takes_no_answers() {
    let folder = Folder::new("file");
    let path = folder.0.join("capture.jsonl");
    std::fs::write(&path, "\u{FEFF}{\"a\":1}\n\n{\"b\":2}\r\n{\"c\":3}").unwrap();
    let mut link = Listener::open(path.to_str().unwrap(), quick());
    link.expect(&[
        connecting(1),
        LinkEvent::Connected,
        frame("{\"a\":1}"),
        frame("{\"b\":2}"),
        frame("{\"c\":3}"),
        LinkEvent::Ended,
    ])
    .await;
    link.handle.send(4, "{}".to_owned());
    link.expect(&[LinkEvent::Replied {
        request: 4,
        outcome: Err(DeliveryFailure::Kept(Fault::OneWay)),
    }])
    .await;
    let Listener { handle, mut news } = link;
    handle.close();
    assert_eq!(soon(news.recv()).await, None);
}

#[tokio::test]
async fn a_missing_file_fails_in_words() {
    let mut link = Listener::open("/no/such/capture.jsonl", quick());
    link.expect(&[
        connecting(1),
        LinkEvent::Failed {
            fault: Fault::Unusable(Cause::NoFile {
                name: "/no/such/capture.jsonl".to_owned(),
            }),
        },
    ])
    .await;
}

#[tokio::test]
async fn lines_beyond_the_bound_are_dropped_and_told() {
    let folder = Folder::new("bound");
    let path = folder.0.join("capture.jsonl");
    let config = crate::config::LinkConfig {
        max_frame_bytes: 64 * 1024,
        ..quick()
    };
    std::fs::write(&path, format!("{}\nok\n", "x".repeat(100_000))).unwrap();
    let mut link = Listener::open(path.to_str().unwrap(), config);
    link.expect(&[
        connecting(1),
        LinkEvent::Connected,
        LinkEvent::Dropped {
            fault: Fault::TooLarge { limit: 64 * 1024 },
            count: 1,
        },
        frame("ok"),
        LinkEvent::Ended,
    ])
    .await;
}

#[tokio::test]
async fn a_pipe_is_read_as_it_comes_and_closing_does_not_wait_for_it() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut writer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (input, _) = listener.accept().unwrap();
    let link = Link {
        reader: FileReader::given(input, 1000),
        poster: NoReplyPoster,
    };
    let (sink, mut news) = LinkSink::channel(0, 8);
    let (orders, taken) = mpsc::unbounded_channel();
    let (open, closing) = watch::channel(());
    let task = tokio::spawn(drive(link, sink, taken, closing));
    for event in [connecting(1), LinkEvent::Connected] {
        assert_eq!(soon(news.recv()).await.unwrap().1, event);
    }
    writer.write_all(b"one\ntw").unwrap();
    assert_eq!(soon(news.recv()).await.unwrap().1, frame("one"));
    writer.write_all(b"o\n").unwrap();
    assert_eq!(soon(news.recv()).await.unwrap().1, frame("two"));
    // The thread is now stuck in a read; the link ends all the same.
    drop((orders, open));
    soon(task).await.unwrap();
    assert_eq!(news.recv().await, None);
    drop(writer);
}
