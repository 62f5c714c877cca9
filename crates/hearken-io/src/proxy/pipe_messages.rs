//! The notes from the copier to the listener and the requests from the listener to the copier, as bytes in a pipe.
//!
//! Responsibilities: both forms, written, and read in pieces of any size. Pure. Not here: what they mean (`copier`,
//! `runtime`).
//!
//! Each message is a letter, a number of eight bytes and a length of four (both big-endian), and that many bytes. Lines
//! are included unchanged, without their line breaks.

/// The longest line passed to the listener, in bytes: as long as a frame of any other source may be.
pub const LONGEST_LINE: usize = 4 * 1024 * 1024;
/// The number of bytes before the content.
const HEAD: usize = 13;

/// The sender of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The editor.
    Editor,
    /// The agent.
    Agent,
}

/// The outcome of a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcome {
    /// The decision counts.
    Decides,
    /// The question was already over.
    TooLate,
    /// The editor owes too many answers.
    Full,
    /// It does not fit into one line.
    Unwritable,
}

/// A message to the listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenerNote {
    /// A line went on.
    Line(Side, Vec<u8>),
    /// The agent asks something that hearken may answer.
    Asked {
        /// The ticket of the question.
        ticket: u64,
        /// Its line.
        line: Vec<u8>,
    },
    /// The editor decided a question.
    Answered {
        /// Its ticket.
        ticket: u64,
        /// The answer.
        line: Vec<u8>,
    },
    /// The editor's late answer was withheld; the flag says whether it chose something, rather than only acknowledging.
    Withheld(u64, bool),
    /// A question is the editor's alone from now on.
    Left(u64),
    /// The agent took a question back.
    TakenBack(u64),
    /// The outcome of a decision, with the number of its request.
    Became(u64, DecisionOutcome),
    /// Lines of the editor and of the agent that could not be passed on.
    Missed {
        /// The number of the editor's.
        editor: u32,
        /// The number of the agent's.
        agent: u32,
    },
    /// The open questions, among all up to the ticket `last`.
    Standing {
        /// The last ticket assigned.
        last: u64,
        /// The open tickets.
        open: Vec<u64>,
    },
}

/// A request from the listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenerRequest {
    /// To give the agent the person's answer to a question.
    Decide {
        /// The question's ticket.
        ticket: u64,
        /// The number that [`ListenerNote::Became`] returns.
        request: u64,
        /// The answer.
        line: Vec<u8>,
    },
    /// To be left alone: it knows that all is over, and ends by itself after its last words.
    Leave,
}

fn put(letter: u8, number: u64, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(HEAD + content.len());
    bytes.push(letter);
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(content);
    bytes
}

fn numbers(content: &[u8]) -> impl Iterator<Item = u64> + '_ {
    content.chunks_exact(8).map(|eight| {
        eight
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    })
}

impl ListenerNote {
    /// Returns the note as bytes.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Line(Side::Editor, line) => put(b'e', 0, line),
            Self::Line(Side::Agent, line) => put(b'a', 0, line),
            Self::Asked { ticket, line } => put(b'q', *ticket, line),
            Self::Answered { ticket, line } => put(b'w', *ticket, line),
            Self::Withheld(ticket, false) => put(b'h', *ticket, &[]),
            Self::Withheld(ticket, true) => put(b'h', *ticket, b"c"),
            Self::Left(ticket) => put(b'l', *ticket, &[]),
            Self::TakenBack(ticket) => put(b't', *ticket, &[]),
            Self::Became(request, verdict) => {
                let verdict = match verdict {
                    DecisionOutcome::Decides => b'd',
                    DecisionOutcome::TooLate => b'l',
                    DecisionOutcome::Full => b'f',
                    DecisionOutcome::Unwritable => b'u',
                };
                put(b'b', *request, &[verdict])
            }
            Self::Missed { editor, agent } => {
                put(b'm', u64::from(*editor) << 32 | u64::from(*agent), &[])
            }
            Self::Standing { last, open } => {
                let open: Vec<u8> = open.iter().flat_map(|it| it.to_be_bytes()).collect();
                put(b's', *last, &open)
            }
        }
    }

    fn read(letter: u8, number: u64, content: &[u8]) -> Option<Self> {
        let line = || content.to_vec();
        Some(match letter {
            b'e' => Self::Line(Side::Editor, line()),
            b'a' => Self::Line(Side::Agent, line()),
            b'q' => Self::Asked {
                ticket: number,
                line: line(),
            },
            b'w' => Self::Answered {
                ticket: number,
                line: line(),
            },
            b'h' => Self::Withheld(number, content == b"c"),
            b'l' => Self::Left(number),
            b't' => Self::TakenBack(number),
            b'b' => Self::Became(
                number,
                match content {
                    b"d" => DecisionOutcome::Decides,
                    b"l" => DecisionOutcome::TooLate,
                    b"f" => DecisionOutcome::Full,
                    b"u" => DecisionOutcome::Unwritable,
                    _ => return None,
                },
            ),
            b'm' => Self::Missed {
                editor: u32::try_from(number >> 32).ok()?,
                agent: u32::try_from(number & u64::from(u32::MAX)).ok()?,
            },
            b's' => Self::Standing {
                last: number,
                open: numbers(content).collect(),
            },
            _ => return None,
        })
    }
}

impl ListenerRequest {
    /// Returns the request as bytes.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Decide {
                ticket,
                request,
                line,
            } => {
                let mut content = request.to_be_bytes().to_vec();
                content.extend_from_slice(line);
                put(b'd', *ticket, &content)
            }
            Self::Leave => put(b'v', 0, &[]),
        }
    }

    fn read(letter: u8, number: u64, content: &[u8]) -> Option<Self> {
        match letter {
            b'd' => {
                let (request, line) = content.split_at_checked(8)?;
                Some(Self::Decide {
                    ticket: number,
                    request: numbers(request).next().unwrap_or_default(),
                    line: line.to_vec(),
                })
            }
            b'v' => Some(Self::Leave),
            _ => None,
        }
    }
}

/// The error for bytes in none of these forms: the two ends are from different builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message is not one of hearken's own")]
pub struct UnknownMessage;

/// A parser of messages from bytes that arrive in pieces.
#[derive(Debug, Default)]
struct MessageBuffer(Vec<u8>);

impl MessageBuffer {
    fn next<T>(
        &mut self,
        read: fn(u8, u64, &[u8]) -> Option<T>,
    ) -> Result<Option<T>, UnknownMessage> {
        let Some((head, rest)) = self.0.split_at_checked(HEAD) else {
            return Ok(None);
        };
        let (letter, number) = (head[0], numbers(&head[1..9]).next().unwrap_or_default());
        let length = head[9..]
            .iter()
            .fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
        // Leaves space for a number before the line.
        if length > LONGEST_LINE + 8 {
            return Err(UnknownMessage);
        }
        let Some(content) = rest.get(..length) else {
            return Ok(None);
        };
        let message = read(letter, number, content).ok_or(UnknownMessage)?;
        self.0.drain(..HEAD + length);
        Ok(Some(message))
    }
}

/// A parser of notes.
#[derive(Debug, Default)]
pub struct ListenerNoteParser(MessageBuffer);

impl ListenerNoteParser {
    /// Adds bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.0.0.extend_from_slice(bytes);
    }

    /// Returns the next complete note.
    ///
    /// # Errors
    /// If the bytes are not a note.
    pub fn next_note(&mut self) -> Result<Option<ListenerNote>, UnknownMessage> {
        self.0.next(ListenerNote::read)
    }
}

/// A parser of requests.
#[derive(Debug, Default)]
pub struct ListenerRequestParser(MessageBuffer);

impl ListenerRequestParser {
    /// Adds bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.0.0.extend_from_slice(bytes);
    }

    /// Returns the next complete request.
    ///
    /// # Errors
    /// If the bytes are not a request.
    pub fn next_wish(&mut self) -> Result<Option<ListenerRequest>, UnknownMessage> {
        self.0.next(ListenerRequest::read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_in_any_pieces() {
        let line = b"{\"id\":1}".to_vec();
        let notes = [
            ListenerNote::Line(Side::Editor, line.clone()),
            ListenerNote::Line(Side::Agent, Vec::new()),
            ListenerNote::Asked {
                ticket: 7,
                line: line.clone(),
            },
            ListenerNote::Answered {
                ticket: u64::MAX,
                line: line.clone(),
            },
            ListenerNote::Withheld(1, false),
            ListenerNote::Withheld(1, true),
            ListenerNote::Left(2),
            ListenerNote::TakenBack(3),
            ListenerNote::Became(4, DecisionOutcome::Decides),
            ListenerNote::Became(5, DecisionOutcome::TooLate),
            ListenerNote::Became(6, DecisionOutcome::Full),
            ListenerNote::Became(7, DecisionOutcome::Unwritable),
            ListenerNote::Missed {
                editor: 3,
                agent: u32::MAX,
            },
            ListenerNote::Standing {
                last: 9,
                open: vec![1, 300, 9],
            },
        ];
        let bytes: Vec<u8> = notes.iter().flat_map(ListenerNote::write).collect();
        for size in [1, 7, 64, bytes.len()] {
            let (mut reader, mut read) = (ListenerNoteParser::default(), Vec::new());
            for piece in bytes.chunks(size) {
                reader.take(piece);
                while let Some(note) = reader.next_note().unwrap() {
                    read.push(note);
                }
            }
            assert_eq!(read, notes);
        }
        let decide = ListenerRequest::Decide {
            ticket: 3,
            request: 8,
            line,
        };
        let mut reader = ListenerRequestParser::default();
        for wish in [decide, ListenerRequest::Leave] {
            reader.take(&wish.write());
            assert_eq!(reader.next_wish(), Ok(Some(wish)));
            assert_eq!(reader.next_wish(), Ok(None));
        }
    }

    #[test]
    fn what_is_none_is_refused_before_it_is_gathered() {
        let mut reader = ListenerNoteParser::default();
        reader.take(&[b'e', 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(reader.next_note(), Err(UnknownMessage));
        let mut reader = ListenerRequestParser::default();
        reader.take(&put(b'd', 1, b"short"));
        assert_eq!(reader.next_wish(), Err(UnknownMessage));
    }
}
