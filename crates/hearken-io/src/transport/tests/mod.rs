//! A scripted server and a listening end, for the tests of all links.
//!
//! Nothing here waits for time to pass: the test accepts each connection and writes each answer itself, and waits are
//! limited only so that a bug ends the test.

mod ordered_streams;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

use super::halves::{Link, Poster, SourceReader};
use super::link_handle::{drive, launch};
use super::{LinkHandle, LinkNews, LinkSettings, LinkSink, Secret, Source, open};
use crate::config::LinkConfig;
use crate::link::{DeliveryFailure, Frame, LinkEvent, Receipt};
use hearken_dialects::{Addresses, TransportKind, WEBSOCKET};

/// The limit for a wait that would never end.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The head of a stream without a length: it lasts until the connection is closed.
pub(super) const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n";

/// Waits, but not forever.
pub(super) async fn soon<F: Future>(what: F) -> F::Output {
    timeout(PATIENCE, what).await.expect("it took too long")
}

/// Returns settings with waits too short to slow a test down.
pub(super) fn quick() -> LinkConfig {
    LinkConfig {
        backoff_first_ms: 1,
        backoff_cap_ms: 2,
        // What follows a handshake is tested together with the handshake.
        plain_pair: true,
        // In a test with paused time, minutes of silence would pass instantly.
        silent_after_seconds: 0,
        ..LinkConfig::default()
    }
}

/// A server on loopback that leaves each connection to the test.
pub(super) struct LoopbackServer {
    pub(super) listener: TcpListener,
}

impl LoopbackServer {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self { listener }
    }

    pub(super) fn base(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap())
    }

    /// Stops listening but keeps the address, so that no other program can take it.
    pub(super) fn leave(self) -> TcpSocket {
        let address = self.listener.local_addr().unwrap();
        drop(self.listener);
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(address).unwrap();
        socket
    }

    /// Waits for the next connection, reads this many bytes of its request and hangs up.
    pub(super) async fn hang_up_after(&self, bytes: usize) {
        let (mut stream, _) = soon(self.listener.accept()).await.unwrap();
        let mut some = vec![0; bytes];
        soon(stream.read_exact(&mut some)).await.unwrap();
    }

    /// Waits for the next request and reads it completely.
    pub(super) async fn request(&self) -> TestExchange {
        soon(async {
            let (mut stream, _) = self.listener.accept().await.unwrap();
            let mut got = Vec::new();
            let head_end = loop {
                assert_ne!(stream.read_buf(&mut got).await.unwrap(), 0, "no request");
                if let Some(end) = got.windows(4).position(|four| four == b"\r\n\r\n") {
                    break end + 4;
                }
            };
            let head = String::from_utf8(got[..head_end].to_vec()).unwrap();
            let mut exchange = TestExchange {
                head,
                body: String::new(),
                stream,
            };
            let length = exchange
                .header("content-length")
                .map_or(0, |value| value.parse().unwrap());
            while got.len() < head_end + length {
                assert_ne!(exchange.stream.read_buf(&mut got).await.unwrap(), 0);
            }
            exchange.body = String::from_utf8(got[head_end..].to_vec()).unwrap();
            exchange
        })
        .await
    }
}

/// A request for the test to answer.
pub(super) struct TestExchange {
    pub(super) head: String,
    pub(super) body: String,
    stream: TcpStream,
}

impl TestExchange {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(super) fn first_line(&self) -> &str {
        self.head.lines().next().unwrap()
    }

    /// Writes bytes; a client that is gone is not an error of the test.
    pub(super) async fn write(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let _ = soon(self.stream.write_all(bytes.as_ref())).await;
        self
    }

    /// Writes an answer without a body and closes.
    pub(super) async fn answer(mut self, status: &str, headers: &str) {
        self.write(format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
        ))
        .await;
    }

    /// Writes a whole stream and closes.
    pub(super) async fn play(mut self, events: &str) {
        self.write(STREAM).await.write(events).await;
    }

    /// Writes the same bytes again and again until the client is gone.
    pub(super) async fn flood(mut self, bytes: &str) {
        while self.stream.write_all(bytes.as_bytes()).await.is_ok() {}
    }

    /// Waits until the client has closed its end.
    pub(super) async fn gone(mut self) {
        let mut rest = Vec::new();
        let _ = soon(self.stream.read_to_end(&mut rest)).await;
    }
}

/// The number of attempts for which a test sets in advance what they follow: more than any test makes.
const ATTEMPTS: usize = 32;

/// An open link and its news.
pub(super) struct Listener {
    pub(super) handle: LinkHandle,
    pub(super) news: LinkNews,
}

impl Listener {
    pub(super) fn open(source: &str, config: LinkConfig) -> Self {
        Self::open_with(source, config, None, 64)
    }

    pub(super) fn open_with(
        source: &str,
        config: LinkConfig,
        token: Option<&str>,
        room: usize,
    ) -> Self {
        let source = Source::parse(source, &config).unwrap();
        Self::open_source(source, config, token, room)
    }

    pub(super) fn open_source(
        source: Source,
        config: LinkConfig,
        token: Option<&str>,
        room: usize,
    ) -> Self {
        let tls = super::Tls::load(&config).unwrap();
        let path = source.path().map(|(path, _)| path).unwrap_or_default();
        let plain = Addresses::given(TransportKind::EventStream, path).plain();
        let follows = config.plain_pair;
        let mut settings = LinkSettings::new(config, token.map(Secret::new), tls, 42);
        // Most tests are about the plain pair and AAEP's WebSocket.
        settings.websocket = WEBSOCKET;
        let listener = Self::with(source, settings, room);
        for _ in 0..if follows { ATTEMPTS } else { 0 } {
            listener.handle.follow(plain.clone());
        }
        listener
    }

    pub(super) fn with(source: Source, settings: LinkSettings, room: usize) -> Self {
        let (sink, news) = LinkSink::channel(3, room);
        let handle = open(source, settings, sink);
        Self { handle, news }
    }

    /// Runs a link that was assembled by hand.
    pub(super) fn over<R: SourceReader, P: Poster>(
        link: Link<R, P>,
        sink: LinkSink,
        news: LinkNews,
    ) -> Self {
        let handle = launch(|orders, closing| drive(link, sink, orders, closing));
        Self { handle, news }
    }

    /// Waits for the next item of news.
    pub(super) async fn next(&mut self) -> LinkEvent {
        let (index, event) = soon(self.news.recv()).await.expect("the link has gone");
        assert_eq!(index, 3);
        event
    }

    /// Returns whether no news is waiting.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        !matches!(
            self.news.poll_recv(&mut context),
            std::task::Poll::Ready(Some(_))
        )
    }

    /// Checks that the next items of news are exactly these.
    pub(super) async fn expect(&mut self, wanted: &[LinkEvent]) {
        for event in wanted {
            assert_eq!(&self.next().await, event);
        }
    }

    /// Waits for the next item of news that is a frame.
    pub(super) async fn frame(&mut self) -> String {
        loop {
            if let LinkEvent::Frame(Frame { text, .. }) = self.next().await {
                return text;
            }
        }
    }
}

pub(super) fn connecting(attempt: u32) -> LinkEvent {
    LinkEvent::Connecting { attempt }
}

/// Polls for a condition that nothing announces.
#[cfg(unix)]
pub(super) async fn until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

pub(super) fn replied(request: u64, outcome: Result<Receipt, DeliveryFailure>) -> LinkEvent {
    LinkEvent::Replied { request, outcome }
}

pub(super) fn frame(text: &str) -> LinkEvent {
    LinkEvent::Frame(Frame::of(text.to_owned()))
}
