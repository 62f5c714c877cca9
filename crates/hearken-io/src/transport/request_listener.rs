//! A source that waits for requests on this machine: incoming requests are news, and are answered when a decision is
//! made.
//!
//! Responsibilities: listening on loopback only, admitting clients that know the secret, reading one whole and bounded
//! request, holding it until it is answered or lapses. Not here: what a request means and what the answer is (a
//! dialect).
//!
//! # Who gets in
//! Any program and any web page on this machine can reach the port, so reaching it proves nothing. The first part of
//! the path is a secret, known only to the programs that were given it; a client with a wrong secret gets the answer
//! that nothing is there. A web page that got here under a host name of its own (DNS rebinding) sends that name as the
//! host, and is refused because of it.
//!
//! Until then, a connection counts as a stranger. It is admitted by its first bytes, which must arrive within
//! [`KNOCK_TIME`] and contain the secret, so that a client that merely holds connections open keeps no other client
//! out. Strangers are counted and reported.
//!
//! # The life of a request
//! ```text
//! read completely -> LinkEvent::Request{id} -> LinkHandle::respond(id) -> answered
//!       |                     '- the other side went away, or ANSWER_TIME passed -> LinkEvent::Lapsed{id}
//!       '- too large, too slow: refused, without any news
//! ```

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::halves::{Link, Poster, SourceReader};
use super::link_handle::{LinkHandle, drive, launch};
use super::link_sink::{LinkSink, SinkGone};
use super::secret::Secret;
use super::transport_settings::LinkSettings;
use crate::link::{Cause, DeliveryFailure, Fault, IncomingRequest, LinkEvent, Method, Receipt};

/// How many admitted connections are served at the same time; more wait. Each may hold a request that waits for a
/// person, and nobody has this many agents.
const MOST_CONNECTIONS: usize = 64;

/// How many strangers may be waiting at the same time; a further one replaces the oldest.
const MOST_STRANGERS: usize = 256;

/// How long a stranger may take to send the secret: a client that knows it sends it immediately.
const KNOCK_TIME: Duration = Duration::from_millis(200);

/// How often to check whether more of the first bytes have arrived.
const KNOCK_LOOK: Duration = Duration::from_millis(5);

/// The longest method of a request, in bytes, including the space and slash after it.
const LONGEST_METHOD: usize = 10;

/// How long the other side may take to send the head of a request, and again its body: it is on this machine.
const SENDING_TIME: Duration = Duration::from_secs(10);

/// How long a request waits for its answer: longer than the requesting programs wait by themselves, and an end for
/// those that never hang up.
const ANSWER_TIME: Duration = Duration::from_secs(65 * 60);

/// The size limit of a request's head, in bytes.
const HEAD_BYTES: usize = 16 * 1024;

/// How long to pause after an error in accepting, so that a shortage of descriptors causes no busy loop.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// The permitted length of a secret, in characters: unguessable, but still fit for a path.
const SECRET_CHARACTERS: std::ops::RangeInclusive<usize> = 16..=128;

/// The port that a source listens on, and the secret that admits clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    port: u16,
    secret: Secret,
}

impl Listening {
    /// Sets up a port on loopback, 0 for any free one; a request's path begins with `/` and the secret.
    ///
    /// Returns `None` for a secret that is too short or too long, or can't be part of a path unchanged.
    pub fn new(port: u16, secret: Secret) -> Option<Self> {
        let text = secret.expose();
        let fits = SECRET_CHARACTERS.contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        fits.then_some(Self { port, secret })
    }

    /// Reveals the secret, for the one place that records it where only the person can read it.
    pub fn secret(&self) -> &str {
        self.secret.expose()
    }
}

/// Opens a listening source in its own task; its port arrives as [`LinkEvent::Listening`].
///
/// This never fails: errors are reported as [`LinkEvent::Failed`]. Must be called inside a tokio runtime.
pub fn listen(listening: Listening, settings: &LinkSettings, sink: LinkSink) -> LinkHandle {
    let held = WaitingRequests::default();
    let link = Link {
        reader: Gate {
            listening,
            most: settings.config.max_frame_bytes,
            held: held.clone(),
        },
        poster: held,
    };
    launch(|orders, closing| drive(link, sink, orders, closing))
}

/// The status and body of an answer.
type StatusAndBody = (u16, String);

/// The requests that are waiting for an answer.
#[derive(Debug, Clone, Default)]
struct WaitingRequests(Arc<Mutex<HashMap<u64, oneshot::Sender<StatusAndBody>>>>);

impl WaitingRequests {
    /// Runs a function on the waiting requests; a poisoned lock still contains plain, complete values.
    fn with<T>(
        &self,
        run: impl FnOnce(&mut HashMap<u64, oneshot::Sender<StatusAndBody>>) -> T,
    ) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Poster for WaitingRequests {
    fn post(
        &self,
        _body: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static {
        std::future::ready(Err(DeliveryFailure::Kept(Fault::OneWay)))
    }

    fn respond(&self, id: u64, status: u16, body: String) -> bool {
        let waits = self.with(|held| held.remove(&id));
        // A requester that leaves after this is reported as lapsed.
        waits.is_some_and(|answer| answer.send((status, body)).is_ok())
    }
}

/// The reader that accepts requests.
#[derive(Debug)]
struct Gate {
    listening: Listening,
    /// The largest body, in bytes.
    most: usize,
    held: WaitingRequests,
}

/// The state that all connections share.
#[derive(Debug)]
struct Guard {
    secret: Secret,
    most: usize,
    /// How long a request waits for its answer.
    patience: Duration,
    held: WaitingRequests,
    sink: LinkSink,
    next: AtomicU64,
    /// The permits for connections served at the same time.
    places: Arc<Semaphore>,
    /// The requests that lapsed. The queue needs no bound: each request was announced first, and announcements are
    /// bounded.
    lapsed: mpsc::UnboundedSender<u64>,
}

impl SourceReader for Gate {
    async fn read(self, sink: LinkSink) {
        // An error only means that the receiver is gone.
        let _ = self.follow(sink).await;
    }
}

impl Gate {
    async fn follow(self, sink: LinkSink) -> Result<(), SinkGone> {
        sink.put(LinkEvent::Connecting { attempt: 1 }).await?;
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, self.listening.port));
        let bound = async {
            let listener = TcpListener::bind(wanted).await?;
            let port = listener.local_addr()?.port();
            Ok::<_, std::io::Error>((listener, port))
        };
        let (listener, port) = match bound.await {
            Ok(bound) => bound,
            Err(error) => {
                let (name, why) = (wanted.to_string(), error.kind());
                let fault = Fault::Unusable(Cause::NoListening { name, why });
                return sink.put(LinkEvent::Failed { fault }).await;
            }
        };
        sink.put(LinkEvent::Listening { port }).await?;
        sink.put(LinkEvent::Connected).await?;
        let (lapsed, mut told) = mpsc::unbounded_channel();
        let guard = Arc::new(Guard {
            secret: self.listening.secret,
            most: self.most,
            patience: ANSWER_TIME,
            held: self.held,
            sink: sink.clone(),
            next: AtomicU64::new(1),
            places: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            lapsed,
        });
        let mut served = JoinSet::new();
        let mut knocking: JoinSet<Option<TcpStream>> = JoinSet::new();
        let mut first: VecDeque<AbortHandle> = VecDeque::new();
        let mut strangers = StrangerCount::default();
        loop {
            tokio::select! {
                Some(id) = told.recv() => sink.put(LinkEvent::Lapsed { id }).await?,
                Some(_) = served.join_next(), if !served.is_empty() => {}
                Some(knocked) = knocking.join_next(), if !knocking.is_empty() => {
                    first.retain(|stranger| !stranger.is_finished());
                    match knocked {
                        Ok(Some(stream)) => drop(served.spawn(serve(stream, Arc::clone(&guard)))),
                        Ok(None) | Err(_) => if let Some(count) = strangers.one_more() {
                            sink.put(LinkEvent::Strangers { count }).await?;
                        },
                    }
                }
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) if peer.ip().is_loopback() => {
                        if first.len() >= MOST_STRANGERS && let Some(oldest) = first.pop_front() {
                            oldest.abort();
                        }
                        first.push_back(knocking.spawn(admit(stream, Arc::clone(&guard))));
                    }
                    // Only this machine can reach loopback; if that ever changes, other machines are still refused.
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(ACCEPT_REST).await,
                },
            }
        }
    }
}

/// A count of strangers, and whether it is worth reporting: at the first, the tenth, the hundredth and so on.
#[derive(Debug, Default)]
struct StrangerCount {
    count: u64,
}

impl StrangerCount {
    fn one_more(&mut self) -> Option<u64> {
        self.count += 1;
        let mut rest = self.count;
        while rest > 1 && rest.is_multiple_of(10) {
            rest /= 10;
        }
        (rest == 1).then_some(self.count)
    }
}

/// Returns a connection whose first bytes name the secret; `None` for a stranger's, which is closed.
async fn admit(mut stream: TcpStream, guard: Arc<Guard>) -> Option<TcpStream> {
    let knows = timeout(KNOCK_TIME, knows_secret(&stream, &guard)).await;
    if knows == Ok(true) {
        return Some(stream);
    }
    if knows == Ok(false) {
        // A client that sends something without the secret gets the answer that nothing is there.
        let nothing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        // The rest of its input is read, or the system would discard the answer; it gets no extra time for that.
        let leave = async {
            stream.write_all(nothing).await?;
            stream.shutdown().await?;
            let mut rest = stream.take(HEAD_BYTES as u64);
            tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
        };
        let _ = timeout(KNOCK_TIME, leave).await;
    }
    None
}

/// Returns whether a connection's first bytes are a method and the secret, without consuming them.
async fn knows_secret(stream: &TcpStream, guard: &Guard) -> bool {
    let secret = guard.secret.expose().as_bytes();
    let mut bytes = vec![0; LONGEST_METHOD + secret.len() + 1];
    loop {
        let Ok(count) = stream.peek(&mut bytes).await else {
            return false;
        };
        let head = bytes.get(..count).unwrap_or_default();
        let method = head
            .iter()
            .take(LONGEST_METHOD)
            .position(|byte| *byte == b' ');
        match method {
            Some(method) => {
                let path = head.get(method + 1..).unwrap_or_default();
                if let Some(given) = path.get(1..=secret.len()) {
                    let ends = path
                        .get(secret.len() + 1)
                        .is_none_or(|byte| b"/? ".contains(byte));
                    return path.first() == Some(&b'/') && ends && is_same(given, secret);
                }
            }
            None if count >= LONGEST_METHOD => return false,
            None => {}
        }
        if count == 0 {
            return false;
        }
        tokio::time::sleep(KNOCK_LOOK).await;
    }
}

/// Serves one connection until it ends, however it ends.
async fn serve(stream: TcpStream, guard: Arc<Guard>) {
    let Ok(_place) = Arc::clone(&guard.places).acquire_owned().await else {
        return;
    };
    let service = service_fn(move |request| {
        let guard = Arc::clone(&guard);
        async move { Ok::<_, Infallible>(guard.answer(request).await) }
    });
    // A peer that breaks off, or sends something other than HTTP, is not worth reporting.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SENDING_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// A waiting request; dropped without an answer, it has lapsed.
struct WaitingRequest<'a> {
    guard: &'a Guard,
    id: u64,
    told: bool,
    answered: bool,
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.guard.held.with(|held| held.remove(&self.id));
        if self.told && !self.answered {
            // This fails only if the link is over.
            let _ = self.guard.lapsed.send(self.id);
        }
    }
}

impl Guard {
    /// Reads one request and waits for its answer. Dropped at any point if the peer goes away.
    async fn answer(&self, request: hyper::Request<Incoming>) -> Response<Full<Bytes>> {
        if !is_from_here(request.headers()) {
            return empty(StatusCode::FORBIDDEN);
        }
        let target = request.uri().path_and_query();
        let Some(path) = target.and_then(|target| self.behind_secret(target.as_str())) else {
            return empty(StatusCode::NOT_FOUND);
        };
        let named = Method::ALL
            .into_iter()
            .find(|method| method.name() == request.method().as_str());
        let Some(method) = named else {
            return empty(StatusCode::METHOD_NOT_ALLOWED);
        };
        let body = Limited::new(request.into_body(), self.most).collect();
        let body = match timeout(SENDING_TIME, body).await {
            Ok(Ok(body)) => String::from_utf8_lossy(&body.to_bytes()).into_owned(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                return empty(StatusCode::PAYLOAD_TOO_LARGE);
            }
            Ok(Err(_)) => return empty(StatusCode::BAD_REQUEST),
            Err(_elapsed) => return empty(StatusCode::REQUEST_TIMEOUT),
        };
        self.wait(IncomingRequest { method, path, body }).await
    }

    /// Announces a request and waits for its answer.
    async fn wait(&self, request: IncomingRequest) -> Response<Full<Bytes>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, decided) = oneshot::channel();
        self.held.with(|held| held.insert(id, answer));
        let mut waiting = WaitingRequest {
            guard: self,
            id,
            told: false,
            answered: false,
        };
        if self
            .sink
            .put(LinkEvent::Request { id, request })
            .await
            .is_err()
        {
            return empty(StatusCode::SERVICE_UNAVAILABLE);
        }
        waiting.told = true;
        match timeout(self.patience, decided).await {
            Ok(Ok((status, body))) => {
                waiting.answered = true;
                let status =
                    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let mut response = Response::new(Full::new(Bytes::from(body)));
                *response.status_mut() = status;
                let json = hyper::header::HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                response
            }
            Ok(Err(_)) | Err(_) => empty(StatusCode::GATEWAY_TIMEOUT),
        }
    }

    /// Returns the part of a path after the secret; `None` for a wrong secret.
    fn behind_secret(&self, target: &str) -> Option<String> {
        let rest = target.strip_prefix('/')?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (given, path) = rest.split_at(end);
        if !is_same(given.as_bytes(), self.secret.expose().as_bytes()) {
            return None;
        }
        Some(match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("/{path}"),
        })
    }
}

/// Compares two secrets in a time that does not reveal where they differ; their length is not hidden.
fn is_same(given: &[u8], secret: &[u8]) -> bool {
    let differs = given
        .iter()
        .zip(secret)
        .fold(0, |differs, (a, b)| std::hint::black_box(differs | (a ^ b)));
    given.len() == secret.len() && differs == 0
}

/// Returns whether a request names this machine as its host, by a name that no other machine can have.
fn is_from_here(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let Ok(host) = host.to_str() else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
#[path = "tests/request_listener.rs"]
mod tests;
