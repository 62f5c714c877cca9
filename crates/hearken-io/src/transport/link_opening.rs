//! From a source to a running link.
//!
//! Responsibilities: choosing the reader and the poster for each kind of source. Not here: what they do (`sse`,
//! `http_server`, `duplex`, `websocket`, `unix_socket`, `program`, `file`, `request_listener`), running them
//! (`link_handle`).

use super::duplex;
use super::file::{FileReader, NoReplyPoster};
use super::halves::Link;
use super::http_server::{Handler, HttpServer};
use super::link_handle::{LinkHandle, drive_with, launch};
use super::link_sink::LinkSink;
use super::nats;
use super::pipe::PipeDial;
use super::program::ProgramDial;
use super::request_listener::listen;
use super::source::Source;
use super::sse::SseReader;
use super::transport_settings::LinkSettings;
use super::unix_socket::UnixDial;
use super::websocket::WebSocketDial;
use crate::config::LinkConfig;

/// The longest wait between two looks for a program's socket, in milliseconds: they cost next to nothing, and what the
/// program asks after its start should be heard soon.
const LONGEST_WAIT_MS: u64 = 3000;

/// Shortens the waits between attempts, for a socket of this machine.
fn look_often(config: &mut LinkConfig) {
    let longest = LONGEST_WAIT_MS.max(config.backoff_first_ms);
    config.backoff_cap_ms = config.backoff_cap_ms.min(longest);
}

/// Opens a source and follows it in its own task; news goes to `sink`, replies to the handle.
///
/// This never fails: errors are reported as [`LinkEvent::Failed`](crate::link::LinkEvent::Failed). Must be called
/// inside a tokio runtime. Opening a file or standard input also starts one detached thread, which can't delay the end
/// of the program.
pub fn open(source: Source, settings: LinkSettings, sink: LinkSink) -> LinkHandle {
    let limit = settings.config.max_frame_bytes;
    let handler = Handler::new(&settings);
    match source {
        Source::Http(address) => {
            let (server, courses) = HttpServer::new(&address, &settings);
            let link = Link {
                reader: SseReader::new(server.clone(), courses, settings),
                poster: server,
            };
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::WebSocket(address) => {
            let link = duplex::link(WebSocketDial::new(&address, &settings), settings);
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::LocalWebSocket(address) => {
            let mut settings = settings;
            look_often(&mut settings.config);
            let link = duplex::link(WebSocketDial::local(&address, &settings), settings);
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::Unix(socket) => {
            let link = duplex::link(UnixDial::new(socket, limit), settings);
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::Pipe(name) => {
            let link = duplex::link(PipeDial::new(name, limit), settings);
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::Program(command) => {
            let link = duplex::link(
                ProgramDial::new(command, settings.folder.clone(), limit),
                settings,
            );
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::File(path) => {
            let link = Link {
                reader: if settings.config.follow {
                    FileReader::growing(path, limit)
                } else {
                    FileReader::file(path, limit)
                },
                poster: NoReplyPoster,
            };
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::Nats(address) => {
            let link = nats::link(&address, settings);
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
        Source::Requests(listening) => listen(listening, &settings, sink),
        Source::Stdin => {
            let link = Link {
                reader: FileReader::stdin(limit),
                poster: NoReplyPoster,
            };
            launch(|orders, closing| drive_with(link, handler, sink, orders, closing))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_shortened_and_never_below_what_the_person_set() {
        for (first, cap, wanted) in [(500, 30_000, 3000), (500, 1000, 1000), (9000, 30_000, 9000)] {
            let mut config = LinkConfig {
                backoff_first_ms: first,
                backoff_cap_ms: cap,
                ..LinkConfig::default()
            };
            look_often(&mut config);
            assert_eq!(
                (config.backoff_first_ms, config.backoff_cap_ms),
                (first, wanted)
            );
        }
    }
}
