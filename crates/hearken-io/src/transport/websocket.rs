//! Agents behind a WebSocket, on the network or behind a Unix socket of this machine.
//!
//! Responsibilities: the connection, its TLS and its upgrade with the offered subprotocols, one message per text frame,
//! pings, close codes. Not here: reconnecting (`duplex`), which subprotocols those are and what a close code means (the
//! dialect, by its [`WebSocketTerms`]).
//!
//! A silent connection is sent a ping after `links.silent_after_seconds`, and after [`HEARTBEAT`] at the latest; one
//! that answers no ping until the next one is dead. A message beyond the bound ends the connection, because the rest of
//! it can't be skipped; the bound is reported.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::duplex::{Delivered, Dial, Inward, Outward};
use super::http_client::{
    SharedClient, USER_AGENT, bearer, fault_in_chain, fault_of_io, status_fault,
};
use super::local_websocket::LocalWebSocket;
use super::network_address::NetworkAddress;
use super::outside_text::clean;
use super::secret::Secret;
use super::transport_settings::LinkSettings;
use super::unix_socket::Socket;
use crate::link::{
    Cause, DeliveryFailure, Fault, NoWebSocket, Reason, Subprotocol, WebSocketTerms,
};
use crate::platform::sockets;

/// The address that a server behind a Unix socket is asked for: it has no other name.
const ON_THIS_MACHINE: &str = "ws://localhost/";

/// The longest interval between pings on a silent connection: devices between two machines often drop a connection
/// after a minute of silence.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// The close code of an orderly end, which every WebSocket has.
const GOOD_ORDER: u16 = 1000;

/// The longest close reason that is kept, in characters: all that fits into a close frame.
const REASON_CHARACTERS: usize = 123;

/// The way to connect to a WebSocket.
#[derive(Debug)]
pub(super) struct WebSocketDial {
    to: Destination,
    token: Option<Secret>,
    client: SharedClient,
    limit: usize,
    heartbeat: Option<Duration>,
    terms: WebSocketTerms,
}

/// The place of the server.
#[derive(Debug)]
enum Destination {
    /// An address on the network.
    Network(Url),
    /// A Unix socket of this user, whose number is the second value.
    Local(Socket, u32),
}

impl Destination {
    /// Returns the address for which the connection is upgraded.
    fn requested(&self) -> &str {
        match self {
            Self::Network(url) => url.as_str(),
            Self::Local(..) => ON_THIS_MACHINE,
        }
    }
}

impl WebSocketDial {
    /// Creates the dialer of a WebSocket on the network.
    pub(super) fn new(address: &NetworkAddress, settings: &LinkSettings) -> Self {
        let mut url = address.url().clone();
        if matches!(url.path(), "" | "/") {
            url.set_path(settings.websocket.path);
        }
        Self::to(Destination::Network(url), settings)
    }

    /// Creates the dialer of a WebSocket behind a Unix socket.
    pub(super) fn local(address: &LocalWebSocket, settings: &LinkSettings) -> Self {
        let to = Destination::Local(address.0.clone(), sockets::user());
        Self::to(to, settings)
    }

    fn to(to: Destination, settings: &LinkSettings) -> Self {
        let terms = settings.websocket;
        Self {
            to,
            token: settings.token.clone(),
            client: settings.client.clone(),
            limit: settings.config.max_frame_bytes,
            heartbeat: match settings.config.silent_after_seconds {
                0 => None,
                seconds => Some(Duration::from_secs(seconds).min(HEARTBEAT)),
            },
            terms,
        }
    }

    /// Opens the connection that carries the WebSocket, with TLS for `wss`.
    async fn carrier(&self) -> Result<Box<dyn ByteStream>, Fault> {
        let bad = || Fault::Unusable(Cause::NoConnection);
        let url = match &self.to {
            Destination::Network(url) => url,
            Destination::Local(socket, own) => return Ok(Box::new(socket.connect(*own).await?)),
        };
        let host = url.host_str().ok_or_else(bad)?;
        let port = url.port_or_known_default().ok_or_else(bad)?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<_> = lookup_host((bare, port))
            .await
            .map_err(|_| Fault::UnknownHost)?
            .collect();
        let stream = TcpStream::connect(&addresses[..])
            .await
            .map_err(|error| fault_of_io(&error).unwrap_or(Fault::Closed))?;
        // Answers are small and should be sent immediately; without the option they are only sent later.
        let _ = stream.set_nodelay(true);
        if url.scheme() != "wss" {
            return Ok(Box::new(stream));
        }
        let name = rustls::pki_types::ServerName::try_from(bare.to_owned()).map_err(|_| bad())?;
        let config = self.client.tls(&[b"http/1.1"])?;
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
            .map_err(|error| fault_of_io(&error).unwrap_or(Fault::Closed))?;
        Ok(Box::new(stream))
    }
}

/// A carrier that counts its incoming and outgoing bytes.
#[derive(Debug)]
pub(super) struct CountingStream {
    carrier: Box<dyn ByteStream>,
    read: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
}

impl AsyncRead for CountingStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.carrier).poll_read(context, buffer);
        let count = buffer.filled().len().saturating_sub(before);
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        read
    }
}

impl AsyncWrite for CountingStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.carrier).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &wrote {
            self.written.fetch_add(*count as u64, Ordering::Relaxed);
        }
        wrote
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.carrier).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.carrier).poll_shutdown(context)
    }
}

/// The byte stream below a WebSocket.
pub(super) trait ByteStream:
    AsyncRead + AsyncWrite + std::fmt::Debug + Send + Unpin
{
}
impl<T: AsyncRead + AsyncWrite + std::fmt::Debug + Send + Unpin> ByteStream for T {}

type Upgraded = WebSocketStream<CountingStream>;

impl Dial for WebSocketDial {
    type Inward = MessageReader;
    type Outward = MessageWriter;

    async fn dial(&mut self) -> Result<(MessageReader, MessageWriter), Fault> {
        let halves = self.upgrade().await;
        halves.map_err(|refusal| refusal.fault(&self.terms))
    }

    fn heartbeat(&self) -> Option<Duration> {
        self.heartbeat
    }
}

/// Why an upgrade failed.
enum UpgradeRefusal {
    /// The server does not speak any of the subprotocols.
    Subprotocol,
    Fault(Fault),
}

impl From<Fault> for UpgradeRefusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl UpgradeRefusal {
    fn fault(self, terms: &WebSocketTerms) -> Fault {
        match self {
            Self::Fault(fault) => fault,
            Self::Subprotocol => Fault::NotWebSocket(match terms.subprotocol {
                Subprotocol::Required(protocol) => NoWebSocket::Without { protocol },
                Subprotocol::None => NoWebSocket::NotOffered,
            }),
        }
    }
}

impl WebSocketDial {
    /// Returns the offered subprotocols, in the form of the header.
    fn offer(&self) -> Option<String> {
        match self.terms.subprotocol {
            Subprotocol::None => None,
            Subprotocol::Required(names) => Some(names.join(", ")),
        }
    }

    /// Opens one connection and upgrades it.
    async fn upgrade(&self) -> Result<(MessageReader, MessageWriter), UpgradeRefusal> {
        let read = Arc::new(AtomicU64::new(0));
        let written = Arc::new(AtomicU64::new(0));
        let carrier = CountingStream {
            carrier: self.carrier().await?,
            read: Arc::clone(&read),
            written: Arc::clone(&written),
        };
        let unusable = |_| Fault::Unusable(Cause::NoRequest);
        let requested = self.to.requested();
        let mut request = requested.into_client_request().map_err(unusable)?;
        let headers = request.headers_mut();
        if let Some(offer) = self.offer() {
            let offer = http::HeaderValue::from_str(&offer)
                .map_err(|_| Fault::Unusable(Cause::Subprotocol))?;
            headers.insert("sec-websocket-protocol", offer);
        }
        headers.insert("user-agent", http::HeaderValue::from_static(USER_AGENT));
        if let Some(token) = bearer(self.token.as_ref())? {
            headers.insert("authorization", token);
        }
        let config = WebSocketConfig::default()
            .max_message_size(Some(self.limit))
            .max_frame_size(Some(self.limit))
            .read_buffer_size(16 * 1024);
        let (socket, _) = client_async_with_config(request, carrier, Some(config))
            .await
            .map_err(|error| match &error {
                Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(_)) => {
                    UpgradeRefusal::Subprotocol
                }
                Error::Http(response) if response.status().is_redirection() => {
                    let why = match &self.to {
                        Destination::Network(url) => redirect(url, response.headers()),
                        Destination::Local(..) => NoWebSocket::Redirects,
                    };
                    UpgradeRefusal::Fault(Fault::NotWebSocket(why))
                }
                _ => UpgradeRefusal::Fault(fault_of(&error, self.limit)),
            })?;
        let (writing, reading) = socket.split();
        Ok((
            MessageReader {
                reading,
                limit: self.limit,
                terms: self.terms,
            },
            MessageWriter {
                writing,
                read,
                written,
                limit: self.limit,
                leaving: self.terms.leaving,
            },
        ))
    }
}

/// The longest path of a redirect that is announced.
const LONGEST_PATH: usize = 100;

/// Returns where a server redirects its WebSocket: a place is named only if it is on the same server and safe to read
/// aloud and to type in a shell. What follows a question mark may be secret, and is left out.
fn redirect(from: &Url, headers: &http::HeaderMap) -> NoWebSocket {
    place(from, headers).unwrap_or(NoWebSocket::Redirects)
}

fn place(from: &Url, headers: &http::HeaderMap) -> Option<NoWebSocket> {
    let location = headers.get(http::header::LOCATION)?.to_str().ok()?;
    // A place without a scheme is one for HTTP, as the request was.
    let mut base = from.clone();
    let plain = if from.scheme() == "wss" {
        "https"
    } else {
        "http"
    };
    base.set_scheme(plain).ok()?;
    let mut to = base.join(location).ok()?;
    let is_secure = |url: &Url| matches!(url.scheme(), "https" | "wss");
    let is_same = to.host() == base.host()
        && to.port_or_known_default() == base.port_or_known_default()
        && is_secure(&to) == is_secure(&base)
        && matches!(to.scheme(), "http" | "https" | "ws" | "wss")
        && to.username().is_empty()
        && to.password().is_none();
    let plain_sign = |c: char| c.is_ascii_alphanumeric() || "/-._~%+@:=,".contains(c);
    if !is_same || to.path().len() > LONGEST_PATH || !to.path().chars().all(plain_sign) {
        return None;
    }
    to.set_query(None);
    to.set_fragment(None);
    Some(NoWebSocket::RedirectsTo {
        path: to.path().to_owned(),
        instead: to.to_string(),
    })
}

/// Classifies an error, without any words of the other side.
fn fault_of(error: &Error, limit: usize) -> Fault {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => Fault::Closed,
        Error::Io(io) => fault_of_io(io).unwrap_or(Fault::Closed),
        Error::Capacity(CapacityError::MessageTooLong { .. }) => Fault::TooLarge { limit },
        Error::Protocol(
            ProtocolError::ResetWithoutClosingHandshake | ProtocolError::HandshakeIncomplete,
        ) => Fault::Closed,
        // Another kind of server, or something in between that lets no WebSocket through.
        Error::Protocol(
            ProtocolError::WrongHttpVersion
            | ProtocolError::MissingUpgradeWebSocketHeader
            | ProtocolError::MissingConnectionUpgradeHeader,
        ) => Fault::NotWebSocket(NoWebSocket::SomethingElse),
        Error::Http(response) => match response.status().as_u16() {
            300..=399 => Fault::NotWebSocket(NoWebSocket::Redirects),
            200..=299 => Fault::NotWebSocket(NoWebSocket::SomethingElse),
            status => status_fault(status, response.headers()),
        },
        Error::Protocol(_) | Error::Utf8(_) | Error::Capacity(_) => {
            Fault::Other(Cause::BrokenWebSocket)
        }
        other => fault_in_chain(other).unwrap_or(Fault::Closed),
    }
}

/// Returns the meaning of a close frame.
fn end_of(close: Option<&CloseFrame>, terms: &WebSocketTerms) -> Result<(), Fault> {
    let Some(close) = close else {
        return Err(Fault::Closed);
    };
    let code = u16::from(close.code);
    // Closed in good order: by the agent, or at the request of this side.
    if code == GOOD_ORDER || code == terms.leaving || terms.over.contains(&code) {
        return Ok(());
    }
    Err(Fault::ClosedWith {
        code,
        reason: Reason(clean(&close.reason, REASON_CHARACTERS)),
        turned_away: terms.turned_away.contains(&code),
    })
}

/// The reading half of a WebSocket.
#[derive(Debug)]
pub(super) struct MessageReader {
    reading: SplitStream<Upgraded>,
    limit: usize,
    terms: WebSocketTerms,
}

impl Inward for MessageReader {
    async fn next(&mut self) -> Delivered {
        match self.reading.next().await {
            Some(Ok(Message::Text(text))) => Delivered::Frame(text.as_str().to_owned()),
            Some(Ok(Message::Binary(_))) => Delivered::Dropped(Fault::Other(Cause::Bytes)),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Delivered::Alive,
            Some(Ok(Message::Close(close))) => Delivered::End(end_of(close.as_ref(), &self.terms)),
            Some(Err(error)) => Delivered::End(Err(fault_of(&error, self.limit))),
            None => Delivered::End(Err(Fault::Closed)),
        }
    }
}

/// The writing half of a WebSocket.
#[derive(Debug)]
pub(super) struct MessageWriter {
    writing: SplitSink<Upgraded, Message>,
    /// The number of bytes received over the same connection, and sent.
    read: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
    limit: usize,
    leaving: u16,
}

impl MessageWriter {
    async fn write(&mut self, message: Message) -> Result<(), Fault> {
        let limit = self.limit;
        self.writing
            .send(message)
            .await
            .map_err(|error| fault_of(&error, limit))
    }
}

impl Outward for MessageWriter {
    async fn send(&mut self, message: String) -> Result<(), DeliveryFailure> {
        let before = self.written.load(Ordering::Relaxed);
        let message = Message::Text(Utf8Bytes::from(message));
        self.write(message).await.map_err(|fault| {
            // The bytes of an earlier ping count, too: that only makes us say "perhaps" more often.
            match self.written.load(Ordering::Relaxed) == before {
                true => DeliveryFailure::Kept(fault),
                false => DeliveryFailure::Unknown(fault),
            }
        })
    }

    fn read_so_far(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.write(Message::Ping(Bytes::new())).await
    }

    async fn leave(&mut self) {
        let goodbye = CloseFrame {
            code: CloseCode::from(self.leaving),
            reason: Utf8Bytes::from_static("the subscriber leaves"),
        };
        // The other side may already be gone.
        let _ = self.write(Message::Close(Some(goodbye))).await;
    }
}

#[cfg(test)]
#[path = "tests/websocket.rs"]
mod tests;
