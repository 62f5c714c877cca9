//! Messages in a stream of bytes, for a Unix socket (B.4.4) and a pair of pipes (B.6).
//!
//! Responsibilities: both framings of a socket, distinguished by the first byte that the subscriber sends, the
//! documents of a Windows pipe (B.3.4), and JSON-RPC 2.0 around lines, if the subscriber speaks it. Not here: what a
//! message means (`duplex_subscription`), listening (`endpoints`).
//!
//! A producer answers as it is spoken to: lengths to lengths, lines to lines, JSON-RPC to JSON-RPC.

use std::io;

use bytes::{Buf, BytesMut};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::duplex_subscription::{DialogueInput, Farewell, MessageConnection, MessageRole};

/// The largest message accepted, in bytes (3.7).
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// The number of bytes in a length.
const LENGTH_BYTES: usize = 4;
/// JSON-RPC's code for an unknown method.
const NO_SUCH_METHOD: i64 = -32601;

/// How the subscriber frames its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageFraming {
    Unknown,
    Lengths,
    Lines,
    Rpc,
    /// One document per message, with nothing between them (B.3.4).
    Documents,
}

/// A message connection over a reader and a writer of bytes.
pub(super) struct Framed<R, W> {
    reader: R,
    writer: W,
    kept: BytesMut,
    speech: MessageFraming,
}

/// The error that a message exceeds the size limit.
struct TooLarge;

impl<R, W> Framed<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        Self {
            reader,
            writer,
            kept: BytesMut::new(),
            speech: MessageFraming::Unknown,
        }
    }

    /// Creates a connection for documents, over a transport that keeps each write together.
    pub(super) fn of_documents(reader: R, writer: W) -> Self {
        Self {
            speech: MessageFraming::Documents,
            ..Self::new(reader, writer)
        }
    }

    /// Removes the next whole message from the bytes read.
    fn take(&mut self) -> Result<Option<BytesMut>, TooLarge> {
        loop {
            let Some(&first) = self.kept.first() else {
                return Ok(None);
            };
            match self.speech {
                MessageFraming::Unknown => {
                    // A length below 16 MiB begins with a zero byte, which no JSON text does.
                    self.speech = if first == 0 {
                        MessageFraming::Lengths
                    } else {
                        MessageFraming::Lines
                    };
                }
                MessageFraming::Lengths => {
                    let Some(length) = self.kept.first_chunk::<LENGTH_BYTES>() else {
                        return Ok(None);
                    };
                    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
                    if length > MAX_MESSAGE_BYTES {
                        return Err(TooLarge);
                    }
                    if self.kept.len() - LENGTH_BYTES < length {
                        return Ok(None);
                    }
                    self.kept.advance(LENGTH_BYTES);
                    return Ok(Some(self.kept.split_to(length)));
                }
                MessageFraming::Documents => {
                    let mut found = serde_json::Deserializer::from_slice(&self.kept)
                        .into_iter::<serde::de::IgnoredAny>();
                    let end = match found.next() {
                        // Text that is not JSON counts as a message, too: it will be reported as noise.
                        Some(Err(error)) if !error.is_eof() => self.kept.len(),
                        Some(Ok(_)) => found.byte_offset(),
                        Some(Err(_)) | None if self.kept.len() > MAX_MESSAGE_BYTES => {
                            return Err(TooLarge);
                        }
                        Some(Err(_)) | None => return Ok(None),
                    };
                    return Ok(Some(self.kept.split_to(end)));
                }
                MessageFraming::Lines | MessageFraming::Rpc => {
                    let Some(end) = self.kept.iter().position(|byte| *byte == b'\n') else {
                        return if self.kept.len() > MAX_MESSAGE_BYTES {
                            Err(TooLarge)
                        } else {
                            Ok(None)
                        };
                    };
                    let mut line = self.kept.split_to(end + 1);
                    line.truncate(end);
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        return Ok(Some(line));
                    }
                }
            }
        }
    }

    /// Parses a message; returns `None` if it needs no reaction.
    fn read(&mut self, bytes: &[u8]) -> Option<DialogueInput> {
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
            return Some(DialogueInput::Noise);
        };
        if matches!(
            self.speech,
            MessageFraming::Lengths | MessageFraming::Documents
        ) || value.get("jsonrpc").is_none()
        {
            return Some(DialogueInput::Said {
                message: value,
                request: None,
            });
        }
        self.speech = MessageFraming::Rpc;
        let request = value.get("id").cloned();
        match (value.get("method").and_then(Value::as_str), request) {
            (
                Some("aaep.subscribe" | "aaep.renegotiate" | "aaep.reply" | "aaep.close"),
                request,
            ) => Some(DialogueInput::Said {
                message: value.get("params").cloned().unwrap_or(Value::Null),
                request,
            }),
            (Some("aaep.ping"), Some(id)) => Some(DialogueInput::Wants(json!({
                "jsonrpc": "2.0", "id": id, "result": {},
            }))),
            (Some(_), Some(id)) => Some(DialogueInput::Wants(json!({
                "jsonrpc": "2.0", "id": id,
                "error": {"code": NO_SUCH_METHOD, "message": "this producer does not know this method"},
            }))),
            // Notifications of other methods, and answers to requests never made.
            (Some(_), None) | (None, _) => None,
        }
    }

    /// Returns a message as the bytes that carry it.
    fn wrap(&self, text: &str, saying: MessageRole) -> Vec<u8> {
        let line = |text: String| {
            let mut bytes = text.replace(['\n', '\r'], " ").into_bytes();
            bytes.push(b'\n');
            bytes
        };
        match (self.speech, saying) {
            (MessageFraming::Documents, _) => text.as_bytes().to_vec(),
            (MessageFraming::Lengths, _) => {
                let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                let mut bytes = length.to_be_bytes().to_vec();
                bytes.extend_from_slice(text.as_bytes());
                bytes
            }
            (MessageFraming::Unknown | MessageFraming::Lines, _)
            | (MessageFraming::Rpc, MessageRole::Bare | MessageRole::Answer(None)) => {
                line(text.to_owned())
            }
            (MessageFraming::Rpc, MessageRole::Answer(Some(id))) => line(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{text}}}"
            )),
            (MessageFraming::Rpc, MessageRole::Event) => line(format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"aaep.event\",\"params\":{text}}}"
            )),
            (MessageFraming::Rpc, MessageRole::Close) => line(format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"aaep.close\",\"params\":{text}}}"
            )),
        }
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> MessageConnection for Framed<R, W> {
    async fn hear(&mut self) -> DialogueInput {
        loop {
            match self.take() {
                Ok(Some(bytes)) => {
                    if let Some(heard) = self.read(&bytes) {
                        return heard;
                    }
                }
                Ok(None) => match self.reader.read_buf(&mut self.kept).await {
                    Ok(1..) => {}
                    Ok(0) | Err(_) => return DialogueInput::Over,
                },
                Err(TooLarge) => return DialogueInput::Noise,
            }
        }
    }

    async fn say(&mut self, text: &str, saying: MessageRole) -> io::Result<()> {
        let bytes = self.wrap(text, saying);
        self.writer.write_all(&bytes).await?;
        self.writer.flush().await
    }

    async fn leave(&mut self, _farewell: Farewell) {
        // The other side may already be gone.
        let _ = self.writer.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn heard(bytes: &[u8]) -> (Vec<DialogueInput>, Vec<u8>) {
        let mut wire = Framed::new(bytes, Vec::new());
        let mut all = Vec::new();
        loop {
            let heard = wire.hear().await;
            let over = matches!(heard, DialogueInput::Over | DialogueInput::Noise);
            all.push(heard);
            if over {
                break;
            }
        }
        wire.say("{\"n\":1}", MessageRole::Event).await.unwrap();
        (all, wire.writer)
    }

    #[tokio::test]
    async fn each_way_to_speak_is_answered_in_kind() {
        let said = |request| DialogueInput::Said {
            message: json!({"type": "x"}),
            request,
        };
        let text = br#"{"type":"x"}"#;
        let mut lengths = vec![0, 0, 0, 12];
        lengths.extend_from_slice(text);
        let (all, out) = heard(&lengths).await;
        assert_eq!(all, [said(None), DialogueInput::Over]);
        assert_eq!(out, b"\0\0\0\x07{\"n\":1}");
        let (all, out) = heard(b"{\"type\":\"x\"}\r\n\n").await;
        assert_eq!(all, [said(None), DialogueInput::Over]);
        assert_eq!(out, b"{\"n\":1}\n");
        let rpc = br#"{"jsonrpc":"2.0","id":4,"method":"aaep.subscribe","params":{"type":"x"}}
{"jsonrpc":"2.0","id":"p","method":"aaep.ping"}
"#;
        let (all, out) = heard(rpc).await;
        let pong = DialogueInput::Wants(json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
        assert_eq!(all, [said(Some(json!(4))), pong, DialogueInput::Over]);
        let line: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(line["method"], "aaep.event");
        assert_eq!(line["params"], json!({"n": 1}));
    }

    #[tokio::test]
    async fn what_is_too_large_or_no_json_is_noise() {
        for bytes in [
            vec![0, 1, 0, 1, b'{'],
            vec![b' '; MAX_MESSAGE_BYTES + 1],
            b"GET / HTTP/1.1\r\n".to_vec(),
        ] {
            assert_eq!(heard(&bytes).await.0, [DialogueInput::Noise]);
        }
    }
}
