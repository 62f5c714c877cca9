//! Agents on this machine behind a Windows named pipe (AAEP B.3).
//!
//! Responsibilities: a pipe's name, who may own it, its framing. Not here: the system calls (`platform::pipes`), the
//! halves of a connection (`unix_socket`), reconnecting (`duplex`).
//!
//! The other end must be a program of this person or of the system: any program can take a name before the agent does.

use std::fmt;
use std::io;

use tokio::io::{ReadHalf, WriteHalf};

use super::duplex::Dial;
use super::framing::{Framer, Framing};
use super::outside_text::clean;
use super::unix_socket::{SocketReader, SocketWriter, halves, is_id};
use crate::link::{Cause, Fault};
use crate::platform::{Owner, pipes};

/// The folder of the system's pipes.
const ROOM: &str = r"\\.\pipe";

/// The folder in there that the protocol gives to agents (B.3.1).
const FOLDER: &str = "aaep";

/// The separator between a folder and its content.
const SEPARATOR: char = '\\';

/// The longest name that the system accepts, in characters.
const LONGEST: usize = 256;

/// How much of a name a fault shows, in characters.
const NAME_CHARACTERS: usize = 120;

/// The full name of a pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipeName(String);

impl PipeName {
    /// Parses the text after `pipe:`: an agent's id, or the full name of a pipe.
    pub fn parse(text: &str) -> Option<Self> {
        let whole = match below(ROOM, text) {
            Some(name) if !name.is_empty() && !name.contains(char::is_control) => text.to_owned(),
            Some(_) => return None,
            None if is_id(text) => format!("{ROOM}{SEPARATOR}{FOLDER}{SEPARATOR}{text}"),
            None => return None,
        };
        (whole.chars().count() <= LONGEST).then_some(Self(whole))
    }

    /// Returns the full name.
    pub fn whole(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PipeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = below(ROOM, &self.0).and_then(|name| below(FOLDER, name));
        let name = name.unwrap_or(&self.0);
        f.write_str(&clean(name, NAME_CHARACTERS))
    }
}

/// Returns the part of a name below a folder.
fn below<'a>(folder: &str, name: &'a str) -> Option<&'a str> {
    name.strip_prefix(folder)?.strip_prefix(SEPARATOR)
}

/// The way to connect to a pipe.
#[derive(Debug)]
pub(super) struct PipeDial {
    name: PipeName,
    limit: usize,
}

impl PipeDial {
    /// Creates the dialer; `limit` is the largest message, in bytes.
    pub(super) fn new(name: PipeName, limit: usize) -> Self {
        Self { name, limit }
    }
}

impl Dial for PipeDial {
    type Inward = SocketReader<ReadHalf<pipes::Pipe>>;
    type Outward = SocketWriter<WriteHalf<pipes::Pipe>>;

    async fn dial(&mut self) -> Result<(Self::Inward, Self::Outward), Fault> {
        let piped = pipes::connect(self.name.whole()).await;
        let piped = piped.map_err(|error| fault(&error, &self.name))?;
        match piped.owner {
            Owner::Own | Owner::System => {}
            Owner::Another => return Err(Fault::Unusable(Cause::PipeOfAnother)),
        }
        let (framer, first) = if piped.of_messages {
            (Framer::documents(self.limit), Framing::Documents)
        } else {
            (Framer::either(self.limit), Framing::Lengths)
        };
        let ends = tokio::io::split(piped.pipe);
        Ok(halves(ends, framer, first, self.limit))
    }
}

fn fault(error: &io::Error, name: &PipeName) -> Fault {
    let name = name.to_string();
    match error.kind() {
        // The agent may start any moment, so this is no reason to give up.
        io::ErrorKind::NotFound => Fault::Other(Cause::NoPipe { name }),
        io::ErrorKind::PermissionDenied => Fault::Unusable(Cause::PipeForbidden { name }),
        why => Fault::Other(Cause::PipeUnreachable { name, why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_named_by_its_agent_or_whole() {
        let by_id = PipeName::parse("retirement-planner").unwrap();
        assert_eq!(by_id.whole(), r"\\.\pipe\aaep\retirement-planner");
        assert_eq!(by_id.to_string(), "retirement-planner");
        let whole = PipeName::parse(r"\\.\pipe\other\one").unwrap();
        assert_eq!(whole.whole(), r"\\.\pipe\other\one");
        assert_eq!(whole.to_string(), whole.whole());
        for bad in ["", "a/b", r"a\b", r"\\server\pipe\x", "..", "a\u{7}"] {
            assert_eq!(PipeName::parse(bad), None, "{bad:?}");
        }
        for name in [String::new(), "x".repeat(300)] {
            assert_eq!(PipeName::parse(&format!("{ROOM}{SEPARATOR}{name}")), None);
        }
    }
}
