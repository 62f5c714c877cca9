//! A private speech-dispatcher for the program under measurement.
//!
//! Responsibilities: the SSIP replies and events that a voice needs, for speech that continues until stopped; reporting
//! when speech begins, and when it is silenced. Not here: any sound.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use crate::platform::sockets::{BlockingListener, BlockingStream};

/// An event of the voice.
#[derive(Debug, Clone, Copy)]
pub(super) enum VoiceEntry {
    /// Speech began.
    Begun,
    /// The voice was told to be silent, at this time.
    Silenced(Instant),
}

/// A server that lives as long as the bench.
pub(super) struct Daemon {
    /// The value for the environment variable `SPEECHD_ADDRESS`.
    pub(super) address: OsString,
    pub(super) heard: Receiver<VoiceEntry>,
}

impl Daemon {
    pub(super) fn start(socket: &Path) -> io::Result<Self> {
        let listener = BlockingListener::bind(socket)?;
        let mut address = OsString::from("unix_socket:");
        address.push(socket);
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let tell = tell.clone();
                // A failed connection only means that the client has hung up.
                std::thread::spawn(move || serve(stream, &tell));
            }
        });
        Ok(Self { address, heard })
    }
}

/// The speech state of a client.
#[derive(Debug, Default)]
struct SpeechClient {
    /// How many messages it has sent.
    messages: u64,
    /// Whether the last one is being spoken.
    speaks: bool,
    /// The text being received, until its last line.
    text: Option<String>,
}

impl SpeechClient {
    fn event(&self, code: u16, name: &str) -> String {
        let number = self.messages;
        format!("{code}-{number}\r\n{code}-1\r\n{code} {name}\r\n")
    }

    /// Returns the reply to a line.
    fn reply(&mut self, line: &str, at: Instant, tell: &Sender<VoiceEntry>) -> String {
        if let Some(text) = &mut self.text {
            if line != "." {
                text.push_str(line);
                return String::new();
            }
            let is_blank = text.trim().is_empty();
            self.text = None;
            self.messages += 1;
            let mut reply = format!("225-{}\r\n225 OK MESSAGE QUEUED\r\n", self.messages);
            reply.push_str(&self.event(701, "BEGIN"));
            if is_blank {
                reply.push_str(&self.event(702, "END"));
            } else {
                self.speaks = true;
                // The receiver is gone if the bench is ending.
                let _ = tell.send(VoiceEntry::Begun);
            }
            return reply;
        }
        match line {
            "SPEAK" => {
                self.text = Some(String::new());
                "230 OK RECEIVING DATA\r\n".to_owned()
            }
            "CANCEL SELF" => {
                let _ = tell.send(VoiceEntry::Silenced(at));
                let mut reply = "213 OK CANCELED\r\n".to_owned();
                if std::mem::take(&mut self.speaks) {
                    reply.push_str(&self.event(703, "CANCELED"));
                }
                reply
            }
            "LIST OUTPUT_MODULES" => "250-espeak-ng\r\n250 OK MODULE LIST SENT\r\n".to_owned(),
            "LIST SYNTHESIS_VOICES" => {
                "249-English\ten\tnone\r\n249 OK VOICE LIST SENT\r\n".to_owned()
            }
            "GET OUTPUT_MODULE" => "251-espeak-ng\r\n251 OK GET RETURNED\r\n".to_owned(),
            "GET LANGUAGE" => "251-en\r\n251 OK GET RETURNED\r\n".to_owned(),
            "GET VOICE_TYPE" => "251-FEMALE1\r\n251 OK GET RETURNED\r\n".to_owned(),
            "GET PUNCTUATION" => "251-none\r\n251 OK GET RETURNED\r\n".to_owned(),
            "QUIT" => "231 HAPPY HACKING\r\n".to_owned(),
            line if line.starts_with("GET ") => "251-0\r\n251 OK GET RETURNED\r\n".to_owned(),
            line if line.starts_with("SET SELF ") => "208 OK SET\r\n".to_owned(),
            _ => "500 ERR INVALID COMMAND\r\n".to_owned(),
        }
    }
}

/// Serves one client.
fn serve(stream: BlockingStream, tell: &Sender<VoiceEntry>) -> io::Result<()> {
    let mut out = stream.try_clone()?;
    let (mut client, mut lines, mut line) =
        (SpeechClient::default(), BufReader::new(stream), Vec::new());
    while lines.read_until(b'\n', &mut line)? > 0 {
        let at = Instant::now();
        let text = String::from_utf8_lossy(&line);
        let reply = client.reply(text.trim_end(), at, tell);
        out.write_all(reply.as_bytes())?;
        line.clear();
    }
    Ok(())
}
