//! The words that a dead child leaves sounding if another process produces the sound, as on Linux.
//!
//! Responsibilities: finding the number that speech-dispatcher gave the child's connection, and cancelling the words
//! under that number. Not here: the child (`child_link`), when it is given up (the module above).
//!
//! Mental model: the daemon lets a client's words continue to their end when the client is killed, and accepts a
//! cancel for any client by its number. It numbers clients consecutively, and tells each its own number: so one
//! connection is made before the child's engine opens and one after it. If exactly one number lies between theirs, it
//! is the child's. If there are more, another client connected, and nothing is cancelled: another program's words are
//! never touched.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::platform::sockets::UnixStream;

/// The daemon's time for each query; it answers within a millisecond, or it is stuck.
const LIMIT: Duration = Duration::from_millis(200);

/// The most lines in an answer; the longest that is requested has two.
const LINES: usize = 8;

/// A daemon, and the numbers that it assigned before a child's engine opened and to that engine.
#[derive(Debug, Clone)]
pub(super) struct Orphan {
    socket: PathBuf,
    /// The last number before the child's; 0 if no daemon was running yet.
    before: u32,
    /// The child's own number, once it is known.
    own: Arc<OnceLock<u32>>,
}

impl Orphan {
    /// Requests the daemon's current number before the child's engine opens.
    pub(super) async fn expected(socket: &Path) -> Option<Self> {
        let before = match UnixStream::connect(socket).await {
            Ok(stream) => asked(stream, None).await?,
            // The child starts it, or there is none.
            Err(_) => 0,
        };
        Some(Self {
            socket: socket.to_owned(),
            before,
            own: Arc::default(),
        })
    }

    /// Determines the child's number now that its engine is open; does not wait for the result.
    pub(super) fn opened(&self) {
        let Self {
            socket,
            before,
            own,
        } = self.clone();
        tokio::spawn(async move {
            let Ok(stream) = UnixStream::connect(&socket).await else {
                return;
            };
            if asked(stream, None).await == before.checked_add(2) {
                let _ = own.set(before + 1);
            }
        });
    }

    /// Cancels the child's remaining words; bounded in time.
    pub(super) async fn silence(&self) {
        let Some(own) = self.own.get().copied() else {
            return;
        };
        if let Ok(stream) = UnixStream::connect(&self.socket).await {
            asked(stream, Some(own)).await;
        }
    }
}

/// Requests a connection's own number, and cancels another's words if that number is lower than its own: otherwise the
/// daemon has been restarted since, and the number belongs to another client or to none.
async fn asked(stream: UnixStream, cancel: Option<u32>) -> Option<u32> {
    let talk = async {
        let mut stream = BufReader::new(stream);
        exchange(&mut stream, "SET SELF CLIENT_NAME hearken:hearken:watch").await?;
        let number = exchange(&mut stream, "HISTORY GET CLIENT_ID").await?;
        let number = number.parse::<u32>().ok()?;
        if let Some(own) = cancel.filter(|own| *own < number) {
            exchange(&mut stream, &format!("CANCEL {own}")).await?;
        }
        Some(number)
    };
    tokio::time::timeout(LIMIT, talk).await.ok().flatten()
}

/// Sends a command; returns the first line of a successful answer without its code.
async fn exchange(stream: &mut BufReader<UnixStream>, command: &str) -> Option<String> {
    stream
        .write_all(format!("{command}\r\n").as_bytes())
        .await
        .ok()?;
    let mut first = None;
    for _ in 0..LINES {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let (code, rest) = (line.get(..3)?, line.get(3..)?);
        let text = rest.trim_end().get(1..)?.to_owned();
        if !code.starts_with('2') {
            return None;
        }
        let told = first.get_or_insert(text);
        if rest.starts_with(' ') {
            return Some(told.clone());
        }
    }
    None
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::{BufRead as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc;

    use super::*;
    use crate::voice::tests::{Folder, PATIENCE};

    /// Creates a daemon that gives its connections these numbers, and reports which cancels it received.
    fn daemon(numbers: Vec<u32>) -> (Folder, PathBuf, mpsc::Receiver<String>) {
        let folder = Folder::new();
        let socket = folder.path("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            for number in numbers {
                let (stream, _) = listener.accept().unwrap();
                let mut output = stream.try_clone().unwrap();
                for line in std::io::BufReader::new(stream).lines() {
                    let Ok(line) = line else { break };
                    let answer = if line.starts_with("HISTORY") {
                        format!("245-{number}\r\n245 OK CLIENT ID SENT\r\n")
                    } else {
                        "208 OK\r\n".to_owned()
                    };
                    if line.starts_with("CANCEL") {
                        tell.send(line).unwrap();
                    }
                    output.write_all(answer.as_bytes()).unwrap();
                }
                if tell.send(format!("closed {number}")).is_err() {
                    break;
                }
            }
        });
        (folder, socket, told)
    }

    /// Has a child connect and die, and returns the cancels that the daemon received.
    async fn died(numbers: [u32; 3]) -> Vec<String> {
        let (_folder, socket, told) = daemon(numbers.to_vec());
        let orphan = Orphan::expected(&socket).await.unwrap();
        assert_eq!(orphan.before, numbers[0]);
        orphan.opened();
        let mut seen = Vec::new();
        while !seen.contains(&format!("closed {}", numbers[1])) {
            match told.try_recv() {
                Ok(line) => seen.push(line),
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
        orphan.silence().await;
        if orphan.own.get().is_some() {
            while !seen.contains(&format!("closed {}", numbers[2])) {
                seen.push(told.recv_timeout(PATIENCE).unwrap());
            }
        }
        seen.retain(|line| line.starts_with("CANCEL"));
        seen
    }

    #[tokio::test]
    async fn the_words_of_a_dead_child_are_cancelled_by_its_number() {
        assert_eq!(died([4, 6, 9]).await, ["CANCEL 5"]);
    }

    #[tokio::test]
    async fn where_somebody_else_came_between_or_the_daemon_is_another_nothing_is() {
        assert!(died([4, 7, 9]).await.is_empty(), "two came between");
        assert!(died([4, 5, 9]).await.is_empty(), "none did");
        assert!(
            died([4, 6, 1]).await.is_empty(),
            "the daemon was started anew"
        );
        let (folder, socket, _told) = daemon(vec![]);
        drop(folder);
        let orphan = Orphan::expected(&socket).await.unwrap();
        assert_eq!(orphan.before, 0, "no daemon yet");
        orphan.silence().await;
    }
}
