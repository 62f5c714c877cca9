//! WebSocket (B.2): turning a request into a connection, and messages on it.
//!
//! Responsibilities: the answer that turns a request into a WebSocket with the subprotocol `aaep.v1`,
//! text frames, close codes. Not here: the other routes (`routes`), the meaning of a message
//! (`duplex_subscription`).

use std::io;

use futures_util::{SinkExt, StreamExt};
use http::header::{CONNECTION, HeaderName, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderMap, HeaderValue, Request};
use hyper::body::Incoming;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::duplex_subscription::{DialogueInput, Farewell, MessageConnection, MessageRole};

/// The subprotocol that must be agreed (B.2.1).
const SUBPROTOCOL: &str = "aaep.v1";
/// The largest message accepted, in bytes (3.7).
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// Accepts a request as a WebSocket: returns the headers of the answer and the future connection.
///
/// # Errors
/// What is missing, in words.
pub(super) fn invite(
    request: &mut Request<Incoming>,
) -> Result<(HeaderMap, OnUpgrade), &'static str> {
    let headers = request.headers();
    let says = |name: HeaderName, word: &str| {
        headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    if !says(UPGRADE, "websocket") || !says(CONNECTION, "upgrade") {
        return Err("this path needs a WebSocket");
    }
    if !says(http::header::SEC_WEBSOCKET_VERSION, "13") {
        return Err("only version 13 of WebSocket is spoken");
    }
    if !says(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL) {
        return Err("only the subprotocol aaep.v1 is spoken");
    }
    let accept = headers
        .get(http::header::SEC_WEBSOCKET_KEY)
        .map(|key| derive_accept_key(key.as_bytes()))
        .and_then(|key| HeaderValue::from_str(&key).ok())
        .ok_or("there is no key")?;
    let mut answer = HeaderMap::new();
    answer.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answer.insert(
        SEC_WEBSOCKET_PROTOCOL,
        HeaderValue::from_static(SUBPROTOCOL),
    );
    answer.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok((answer, hyper::upgrade::on(request)))
}

/// A message connection over a WebSocket.
pub(super) struct Socket {
    stream: WebSocketStream<TokioIo<Upgraded>>,
}

impl Socket {
    /// Creates it from a connection that began as a request.
    pub(super) async fn new(upgraded: Upgraded) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let io = TokioIo::new(upgraded);
        Self {
            stream: WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await,
        }
    }
}

impl MessageConnection for Socket {
    async fn hear(&mut self) -> DialogueInput {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => {
                    return match serde_json::from_str::<Value>(&text) {
                        Ok(message) => DialogueInput::Said {
                            message,
                            request: None,
                        },
                        Err(_) => DialogueInput::Noise,
                    };
                }
                // Messages are text (B.2.2).
                Some(Ok(Message::Binary(_))) => return DialogueInput::Noise,
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return DialogueInput::Over,
            }
        }
    }

    async fn say(&mut self, text: &str, _saying: MessageRole) -> io::Result<()> {
        let sent = self.stream.send(Message::text(text)).await;
        sent.map_err(io::Error::other)
    }

    async fn leave(&mut self, farewell: Farewell) {
        // The codes of B.2.6.
        let (code, reason) = match farewell {
            Farewell::Cleanly => (4000, "closed cleanly"),
            Farewell::Refused => (4001, "no subscription"),
            Farewell::Violation => (4004, "this is no message"),
        };
        let close = CloseFrame {
            code: CloseCode::from(code),
            reason: Utf8Bytes::from_static(reason),
        };
        // The other side may already be gone.
        let _ = self.stream.close(Some(close)).await;
    }
}
