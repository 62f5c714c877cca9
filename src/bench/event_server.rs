//! A server with one event stream, for the program under measurement.
//!
//! Responsibilities: one stream for each client that requests it; the arrival times of replies; no other path. Not
//! here: any handshake; the timing of events; the content of a reply.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The longest line of a request, and the longest body, in bytes: more than the program under measurement ever sends.
const LONGEST: u64 = 1 << 20;

const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const TAKEN: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";
const NOTHING: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

/// A server that runs until it is dropped.
pub(super) struct BenchServer {
    /// Its address.
    pub(super) url: String,
    began: Arc<OnceLock<Instant>>,
    over: Arc<AtomicBool>,
}

impl BenchServer {
    /// Serves the lines of a file, each as an event, as fast as they are accepted.
    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        let path = path.to_owned();
        let stream = move |out: &mut TcpStream| {
            let mut lines = BufReader::with_capacity(1 << 16, File::open(&path)?);
            let mut out = BufWriter::with_capacity(1 << 16, out);
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line)? > 0 {
                out.write_all(b"data: ")?;
                out.write_all(&line)?;
                out.write_all(b"\n")?;
                line.clear();
            }
            out.flush()
        };
        Self::start(stream, None)
    }

    /// Serves what `stream` writes to each connection, which ends with it. The time at which the first bytes of each
    /// reply arrive is sent to `replies`.
    pub(super) fn start(
        stream: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
        replies: Option<Sender<Instant>>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let began = Arc::new(OnceLock::new());
        let over = Arc::new(AtomicBool::new(false));
        let (first, is_over) = (Arc::clone(&began), Arc::clone(&over));
        let stream = Arc::new(stream);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                if is_over.load(Ordering::Acquire) {
                    return;
                }
                let Ok(connection) = connection else { continue };
                let (first, stream) = (Arc::clone(&first), Arc::clone(&stream));
                let replies = replies.clone();
                // A failed connection only means that the client has hung up.
                std::thread::spawn(move || serve(connection, &first, &*stream, replies.as_ref()));
            }
        });
        Ok(Self { url, began, over })
    }

    /// Returns when the stream began.
    ///
    /// # Errors
    /// When no client has requested it.
    pub(super) fn began(&self) -> io::Result<Instant> {
        let began = self.began.get().copied();
        began.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // This wakes the accepting thread; if it can't be reached, it waits forever, at no cost.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

/// Answers one connection, request after request.
fn serve(
    connection: TcpStream,
    began: &OnceLock<Instant>,
    stream: &(dyn Fn(&mut TcpStream) -> io::Result<()> + Send + Sync),
    replies: Option<&Sender<Instant>>,
) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut out = connection.try_clone()?;
    let mut requests = BufReader::new(connection);
    loop {
        requests.fill_buf()?;
        let arrived = Instant::now();
        let Some(first) = request(&mut requests)? else {
            return Ok(());
        };
        if first.starts_with("GET /events") {
            began.get_or_init(Instant::now);
            out.write_all(STREAM)?;
            return stream(&mut out);
        }
        let answer = match replies.filter(|_| first.starts_with("POST /messages")) {
            // The receiver is gone if the bench is ending.
            Some(replies) if replies.send(arrived).is_ok() => TAKEN,
            Some(_) | None => NOTHING,
        };
        out.write_all(answer)?;
    }
}

/// Reads a request, and returns its first line; `None` at the end.
fn request(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let (mut first, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if from.by_ref().take(LONGEST).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let lower = line.trim().to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        if lower.is_empty() {
            break;
        }
        first.get_or_insert(line);
    }
    io::copy(
        &mut from.by_ref().take(LONGEST.min(length)),
        &mut io::sink(),
    )?;
    Ok(first)
}
