//! Unix sockets: both framings, discovery, ownership of the socket.

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use super::{Socket, UnixDial, agents, is_trusted};
use crate::link::{Cause, Fault, LinkEvent, Receipt};
use crate::transport::Source;
use crate::transport::file::tests::Folder;
use crate::transport::link_sink::LinkSink;
use crate::transport::tests::{Listener, connecting, frame, quick, replied, soon};
use crate::transport::transport_settings::LinkSettings;

fn listen(folder: &Folder) -> (UnixListener, PathBuf) {
    let path = folder.0.join("agent.sock");
    (UnixListener::bind(&path).unwrap(), path)
}

fn open(path: PathBuf) -> Listener {
    Listener::open_source(Source::Unix(Socket::Path(path)), quick(), None, 64)
}

async fn accept(listener: &UnixListener) -> UnixStream {
    soon(listener.accept()).await.unwrap().0
}

async fn read_exactly(stream: &mut UnixStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    soon(stream.read_exact(&mut bytes)).await.unwrap();
    bytes
}

#[tokio::test]
async fn who_speaks_in_lines_is_answered_in_lines() {
    let folder = Folder::new("unix-lines");
    let (listener, path) = listen(&folder);
    let mut link = open(path);
    let mut server = accept(&listener).await;
    server.write_all(b"{\"n\":1}\n{\"n\"").await.unwrap();
    link.expect(&[connecting(1), LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
    link.handle.send(1, "{\"a\":1}".to_owned());
    link.expect(&[replied(1, Ok(Receipt::Written))]).await;
    assert_eq!(read_exactly(&mut server, 8).await, b"{\"a\":1}\n");
    server.write_all(b":2}\n").await.unwrap();
    link.expect(&[frame("{\"n\":2}")]).await;
}

#[tokio::test]
async fn who_speaks_in_lengths_is_answered_in_lengths() {
    let folder = Folder::new("unix-lengths");
    let (listener, path) = listen(&folder);
    let mut link = open(path);
    let mut server = accept(&listener).await;
    server.write_all(b"\0\0\0\x07{\"n\":1}").await.unwrap();
    link.expect(&[connecting(1), LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
    link.handle.send(1, "{\"a\":1}".to_owned());
    link.expect(&[replied(1, Ok(Receipt::Written))]).await;
    assert_eq!(
        read_exactly(&mut server, 12).await,
        b"\0\0\0\x08{\"a\":1}\n"
    );
}

#[tokio::test]
async fn a_server_of_lines_that_hangs_up_on_a_length_is_spoken_to_in_lines() {
    let folder = Folder::new("unix-other");
    let (listener, path) = listen(&folder);
    let mut link = open(path);
    let mut server = accept(&listener).await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    link.handle.send(1, "{}".to_owned());
    link.expect(&[replied(1, Ok(Receipt::Written))]).await;
    assert_eq!(read_exactly(&mut server, 4).await[0], 0);
    drop(server);
    // Nothing was lost: it only reads the other framing.
    let mut server = accept(&listener).await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    link.handle.send(2, "{}".to_owned());
    link.expect(&[replied(2, Ok(Receipt::Written))]).await;
    assert_eq!(read_exactly(&mut server, 3).await, b"{}\n");
    // A second end without an answer is a loss.
    drop(server);
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::Closed,
            ..
        }
    ));
}

#[tokio::test]
async fn a_server_that_stays_silent_is_tried_in_the_other_framing() {
    let folder = Folder::new("unix-silent");
    let (listener, path) = listen(&folder);
    let mut dial = UnixDial::new(Socket::Path(path), 1000);
    dial.patience = Duration::from_millis(10);
    let settings = LinkSettings::new(quick(), None, crate::transport::Tls::default(), 1);
    let link = crate::transport::duplex::link(dial, settings);
    let (sink, news) = LinkSink::channel(3, 64);
    let mut link = Listener::over(link, sink, news);
    let _silent = accept(&listener).await;
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    link.handle.send(1, "{}".to_owned());
    link.expect(&[replied(1, Ok(Receipt::Written))]).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::TimedOut,
            ..
        }
    ));
    let mut server = accept(&listener).await;
    link.expect(&[connecting(2), LinkEvent::Connected]).await;
    link.handle.send(2, "{}".to_owned());
    assert_eq!(read_exactly(&mut server, 3).await, b"{}\n");
    // The peer stays silent here, too: from then on it has unlimited time.
    link.expect(&[replied(2, Ok(Receipt::Written))]).await;
    assert!(matches!(link.next().await, LinkEvent::Lost { .. }));
    let mut server = accept(&listener).await;
    link.expect(&[connecting(3), LinkEvent::Connected]).await;
    link.handle.send(3, "{}".to_owned());
    link.expect(&[replied(3, Ok(Receipt::Written))]).await;
    let waited = tokio::time::timeout(Duration::from_millis(200), link.next());
    assert!(waited.await.is_err(), "it is cut off again");
    server.write_all(b"{\"n\":1}\n").await.unwrap();
    link.expect(&[frame("{\"n\":1}")]).await;
}

#[tokio::test]
async fn what_is_neither_framing_is_refused_and_a_cut_message_is_never_told() {
    let folder = Folder::new("unix-neither");
    let (listener, path) = listen(&folder);
    let mut link = open(path);
    let mut server = accept(&listener).await;
    server.write_all(b"{\"n\":1}\n{\"cut\":").await.unwrap();
    link.expect(&[connecting(1), LinkEvent::Connected, frame("{\"n\":1}")])
        .await;
    drop(server);
    assert!(matches!(link.next().await, LinkEvent::Lost { .. }));
    let mut server = accept(&listener).await;
    server.write_all(b"SSH-2.0-x\r\n").await.unwrap();
    link.expect(&[connecting(1), LinkEvent::Connected]).await;
    match link.next().await {
        LinkEvent::Failed { fault } => assert_eq!(fault, Fault::Unusable(Cause::NeitherFraming)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_message_that_is_too_large_is_told_and_the_next_one_is_read() {
    let folder = Folder::new("unix-large");
    let (listener, path) = listen(&folder);
    let config = crate::config::LinkConfig {
        max_frame_bytes: 10,
        ..quick()
    };
    let mut link = Listener::open_source(Source::Unix(Socket::Path(path)), config, None, 64);
    let mut server = accept(&listener).await;
    let mut bytes = 20_u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[b'x'; 20]);
    bytes.extend_from_slice(b"\0\0\0\x02{}");
    server.write_all(&bytes).await.unwrap();
    link.expect(&[
        connecting(1),
        LinkEvent::Connected,
        LinkEvent::Dropped {
            fault: Fault::TooLarge { limit: 10 },
            count: 1,
        },
        frame("{}"),
    ])
    .await;
}

#[tokio::test]
async fn leaving_closes_the_socket() {
    let folder = Folder::new("unix-leave");
    let (listener, path) = listen(&folder);
    let link = open(path);
    let mut server = accept(&listener).await;
    soon(link.handle.close()).await.unwrap();
    let mut rest = Vec::new();
    soon(server.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn an_agent_is_found_by_its_id_and_others_are_named() {
    let folder = Folder::new("unix-found");
    let (_listener, _) = listen(&folder);
    std::fs::write(folder.0.join("notes.txt"), "").unwrap();
    let folders = vec![folder.0.join("not-there"), folder.0.clone()];
    assert_eq!(agents(&folders), ["agent"]);
    let found = Socket::Agent {
        id: "agent".to_owned(),
        folders: folders.clone(),
    };
    assert_eq!(found.find(), Ok(folder.0.join("agent.sock")));
    let missing = Socket::Agent {
        id: "other".to_owned(),
        folders,
    };
    let fault = missing.find().unwrap_err();
    let (id, there) = ("other".to_owned(), "agent".to_owned());
    assert_eq!(fault, Fault::Other(Cause::OtherAgents { id, there }));
    // The agent may start later.
    assert!(!fault.is_final());
}

#[tokio::test]
async fn a_file_that_is_no_socket_and_one_that_nobody_listens_on_are_told() {
    let folder = Folder::new("unix-dead");
    let (listener, path) = listen(&folder);
    drop(listener);
    let mut link = open(path);
    link.expect(&[connecting(1)]).await;
    assert!(matches!(
        link.next().await,
        LinkEvent::Lost {
            fault: Fault::Refused,
            ..
        }
    ));
}

#[test]
fn only_this_user_and_root_are_trusted() {
    assert!(is_trusted(1000, 1000) && is_trusted(0, 1000) && is_trusted(0, 0));
    assert!(!is_trusted(1001, 1000) && !is_trusted(1000, 0));
}

/// The user that no person is; no program of these tests runs as it.
const NOBODY: u32 = 65_534;

/// Creates a socket that belongs to another user, if this is root, which may become any user; one thread does so, for
/// itself alone: a socket belongs to the user that listened on it, not to the owner of its file.
#[cfg(target_os = "linux")]
fn strangers_socket(path: &std::path::Path) -> Option<std::os::unix::net::UnixListener> {
    use rustix::thread::set_thread_uid;
    use std::os::unix::fs::PermissionsExt;

    if !rustix::process::getuid().is_root() {
        return None;
    }
    let folder = path.parent().unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let path = path.to_owned();
    let listening = std::thread::spawn(move || {
        set_thread_uid(rustix::process::Uid::from_raw(NOBODY)).unwrap();
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        // Any user may connect, as to the socket of a program that wants to be taken for an agent.
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(&path, open).unwrap();
        listener
    });
    Some(listening.join().unwrap())
}

#[cfg(not(target_os = "linux"))]
fn strangers_socket(_: &std::path::Path) -> Option<std::os::unix::net::UnixListener> {
    None
}

/// Tests a socket of another user on every machine. Root, as in the container that checks each change, becomes another
/// user for one call. Without root the user stays the same, and the link is given another user number as its own: the
/// same real socket, the same query to the kernel, the same refusal. Only a root peer is trusted by both.
#[tokio::test]
async fn another_users_socket_is_refused_in_words_before_a_byte_is_read() {
    use std::io::{Read, Write};

    let folder = Folder::new("unix-stranger");
    let path = folder.0.join("agent.sock");
    let mut dial = UnixDial::new(Socket::Path(path.clone()), 1000);
    let (listener, owner) = match strangers_socket(&path) {
        Some(listener) => (listener, NOBODY),
        None => {
            let own = rustix::process::getuid().as_raw();
            assert_ne!(own, 0, "root can become anybody");
            dial.own = own + 1;
            (std::os::unix::net::UnixListener::bind(&path).unwrap(), own)
        }
    };
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The client may be gone before this is written.
        let _ = stream.write_all(b"{\"n\":1}\n");
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        heard
    });
    let settings = LinkSettings::new(quick(), None, crate::transport::Tls::default(), 1);
    let link = crate::transport::duplex::link(dial, settings);
    let (sink, news) = LinkSink::channel(3, 64);
    let mut link = Listener::over(link, sink, news);
    link.handle.send(1, "{\"secret\":1}".to_owned());
    let fault = loop {
        match link.next().await {
            LinkEvent::Connecting { attempt } => assert_eq!(attempt, 1),
            // The unsent message is reported as unsent.
            LinkEvent::Replied { outcome, .. } => assert!(outcome.is_err()),
            LinkEvent::Failed { fault } => break fault,
            other => panic!("{other:?}"),
        }
    };
    let another = Cause::SocketOfAnother { user: owner };
    assert_eq!(fault, Fault::Unusable(another));
    assert!(fault.is_final(), "it is not tried again");
    assert_eq!(
        serving.join().unwrap(),
        b"",
        "nothing is told to a stranger"
    );
}

/// Without a socket, or with one that nobody listens on, the person hears that the program must be started, and the
/// link waits for it.
#[tokio::test]
async fn a_program_that_does_not_run_is_named_with_the_place_of_its_socket() {
    let folder = Folder::new("unix-program");
    let (listener, path) = listen(&folder);
    drop(listener);
    let mut links = Vec::new();
    for path in [path, folder.0.join("none.sock")] {
        let address = crate::transport::LocalWebSocket::of("codex", path.clone(), None);
        let source = Source::LocalWebSocket(address);
        assert_eq!(source.to_string(), "codex");
        let settings = LinkSettings::new(quick(), None, crate::transport::Tls::default(), 42);
        let mut link = Listener::with(source, settings, 64);
        link.expect(&[connecting(1)]).await;
        let LinkEvent::Lost { fault, .. } = link.next().await else {
            panic!("not lost");
        };
        let cause = Cause::NoProgramAtSocket {
            program: "codex".to_owned(),
            name: path.to_string_lossy().into_owned(),
        };
        assert_eq!(fault, Fault::Other(cause));
        links.push(link);
    }
}
