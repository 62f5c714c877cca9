//! Listening, and the lifetime of everything that runs.
//!
//! Responsibilities: accepting, a task for each connection, stopping all of them in good order or abruptly. Not here:
//! the meaning of a request (`routes`).

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::byte_framing::Framed;
use super::duplex_subscription;
use super::endpoints::{AcceptedConnection, BoundListener, ListenAddress};
use super::producer_handle::Producer;
use super::producer_settings::ProducerSettings;
use super::routes;
use super::state_lock::ProducerShared;
use super::websocket_upgrade::Socket;
use crate::platform::sockets::{OwnedReadHalf, OwnedWriteHalf, UnixStream};

/// The maximum number of connections: one per subscriber, and as many for requests. More wait in the
/// system's own queue.
const MAX_CONNECTIONS: usize = 2 * super::hub::MAX_SUBSCRIBERS;
/// How long a client may take to send a request's head.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How much a connection may buffer for a client that reads slowly; the rest waits in its queue.
const BUFFER_BYTES: usize = 64 * 1024;
/// How long connections may take to send what they have when the server stops.
const STOP_TIME: Duration = Duration::from_secs(2);
/// How long accepting pauses after an error, so that a shortage of descriptors causes no busy loop.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// A running server. Dropping it kills everything immediately, as a crash would; [`RunningServer::stop`]
/// ends it in good order.
pub struct RunningServer {
    places: Vec<ListenAddress>,
    producer: Producer,
    stopping: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Starts a producer that can be reached at several places (B.7.3).
///
/// # Errors
/// When a place is not available; places opened before it are closed again.
pub async fn serve(
    places: &[ListenAddress],
    settings: ProducerSettings,
) -> io::Result<RunningServer> {
    let mut doors = Vec::new();
    let mut bound = Vec::new();
    for place in places {
        let (door, place) = BoundListener::open(place).await?;
        doors.extend(door);
        bound.push(place);
    }
    let shared = Arc::new(ProducerShared::new(settings, &bound));
    let producer = Producer::new(Arc::clone(&shared));
    let (stopping, stop) = watch::channel(false);
    let pipes = bound.contains(&ListenAddress::Pipes);
    let task = tokio::spawn(attend(doors, pipes, shared, producer.clone(), stop));
    Ok(RunningServer {
        places: bound,
        producer,
        stopping,
        task,
    })
}

impl RunningServer {
    /// Returns the places as resolved, in the order requested.
    pub fn places(&self) -> &[ListenAddress] {
        &self.places
    }

    /// Returns the first address listened on; the unspecified address with port 0 if there is none.
    pub fn addr(&self) -> SocketAddr {
        self.places
            .iter()
            .find_map(|place| match place {
                ListenAddress::Address(address) => address.parse().ok(),
                ListenAddress::Socket(_) | ListenAddress::Pipe(_) | ListenAddress::Pipes => None,
            })
            .unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// Returns the address as a source for `hearken watch`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr())
    }

    /// Waits until the server ends by itself: when it is served over pipes and they end.
    pub async fn over(&mut self) {
        // An error would be the task's panic or abort; either way it has ended.
        let _ = (&mut self.task).await;
    }

    /// Returns the handle of the agents.
    pub fn producer(&self) -> &Producer {
        &self.producer
    }

    /// Stops in good order: when this returns, every open session is cancelled, every stream ended,
    /// every task finished; this takes at most two seconds for slow clients.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        if !self.task.is_finished() {
            self.over().await;
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Accepts connections until told to stop. It owns all other tasks: when it is
/// dropped, so are they.
async fn attend(
    doors: Vec<BoundListener>,
    pipes: bool,
    shared: Arc<ProducerShared>,
    producer: Producer,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let producer = || producer.clone();
    let mut pipes_open = pipes;
    let mut over_pipes = std::pin::pin!(async {
        if pipes {
            let wire = Framed::new(tokio::io::stdin(), tokio::io::stdout());
            duplex_subscription::converse(producer(), wire).await;
        } else {
            std::future::pending().await
        }
    });
    loop {
        tokio::select! {
            () = told_to_stop(&mut stop) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            () = over_pipes.as_mut() => {
                pipes_open = false;
                break;
            }
            accepted = accept(&doors), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok(AcceptedConnection::Tcp(stream)) => {
                    connections.spawn(connection(stream, producer(), stop.clone()));
                }
                Ok(AcceptedConnection::Unix(stream)) => {
                    connections.spawn(local(stream, producer()));
                }
                Ok(AcceptedConnection::Pipe(pipe)) => {
                    let (reader, writer) = tokio::io::split(pipe);
                    let wire = Framed::of_documents(reader, writer);
                    connections.spawn(duplex_subscription::converse(producer(), wire));
                }
                Err(_) => tokio::time::sleep(ACCEPT_REST).await,
            },
        }
    }
    drop(doors);
    shared.change(|state, now| state.close(&shared.settings.host.farewell, now));
    let pipes_end = async {
        if pipes_open {
            over_pipes.await;
        }
    };
    let all = async {
        tokio::join!(pipes_end, async {
            while connections.join_next().await.is_some() {}
        });
    };
    let _ = tokio::time::timeout(STOP_TIME, all).await;
    connections.shutdown().await;
}

/// Serves one connection to its end, whatever that is: a client that disconnects is not a fault here.
async fn connection(stream: TcpStream, producer: Producer, mut stop: watch::Receiver<bool>) {
    // Events are small and each should leave immediately; without the option they only leave later.
    let _ = stream.set_nodelay(true);
    let turned = routes::UpgradeSlot::default();
    let service = {
        let (producer, turned) = (producer.clone(), Arc::clone(&turned));
        service_fn(move |request| routes::answer(producer.clone(), request, Arc::clone(&turned)))
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    {
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => {}
            () = told_to_stop(&mut stop) => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
    let becomes = turned.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(becomes) = becomes
        && let Ok(upgraded) = becomes.await
    {
        duplex_subscription::converse(producer, Socket::new(upgraded).await).await;
    }
}

/// Serves one connection on a Unix socket to its end.
async fn local(stream: UnixStream, producer: Producer) {
    duplex_subscription::converse(producer, framed(stream)).await;
}

fn framed(stream: UnixStream) -> Framed<OwnedReadHalf, OwnedWriteHalf> {
    let (reader, writer) = stream.into_split();
    Framed::new(reader, writer)
}

/// Accepts the next caller at any door.
async fn accept(doors: &[BoundListener]) -> io::Result<AcceptedConnection> {
    std::future::poll_fn(|context| {
        for door in doors {
            if let Poll::Ready(caller) = door.poll_accept(context) {
                return Poll::Ready(caller);
            }
        }
        Poll::Pending
    })
    .await
}

/// Waits for the order to stop; a dropped sender counts as one.
async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
