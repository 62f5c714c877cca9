//! Sage as a dialect: its runs, calls and permissions as AAEP events.
//!
//! Responsibilities: matching messages to turns, the machines of the conversation and the connection, answers and their
//! outcome. Not here: reading a message (`message`, `program_lines`), a single turn (`turn_events`, `turn_calls`,
//! `questions`), the tables (`state_tables`).
//!
//! Mental model: Sage reports in one of two forms, and both are read into the same messages. Each message steps Sage's
//! own machines, for the trace, and is translated into AAEP, for the person. An illegal step is noted and translated
//! all the same: what Sage reports matters more than whether its machine allows it.

mod answers;
mod mapping;
mod message;
mod message_context;
mod program_lines;
mod questions;
mod route;
mod runs;
mod state_tables;
mod turn_calls;
mod turn_events;

#[cfg(test)]
mod tests;

use crate::{ConnectionLoss, Cx};
use std::collections::BTreeMap;
use std::time::Duration;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use serde_json::{Map, Value};

use crate::link::{self, DeliveryFailure, Fault, Frame, Receipt};
use crate::protocol::{Machine, Reply};

use super::event_writer::{EventAgent, EventWriter};
use super::{
    Connection, Dialect, DialectOutput, DialectSetup, ForeignFormat, NoEvent, Recognition,
    TransportKind,
};
pub use mapping::{MAPPING, Mapping};
use message_context::{ReportedSteps, SageContext};
use program_lines::LineReader;
use questions::SageQuestions;
use route::Thread;
use runs::ProgramRun;
pub use state_tables::{
    Agent as AgentRun, AgentEvent, GAPS, Gap, Session, SessionEvent, Stream, StreamEvent, Tool,
    ToolEvent,
};
use turn_events::SageTurn;

/// How long to wait for Sage's acknowledgement of a written answer; without one, all that is known is that it was
/// written.
const WORD_WAITS: Duration = Duration::from_secs(2);

/// The machine of one link.
#[derive(Debug)]
pub(super) struct Sage {
    carrier: TransportKind,
    /// The stream that is followed on a server.
    followed: link::Stream,
    writer: EventWriter,
    reported_steps: ReportedSteps,
    stream: Stream,
    threads: BTreeMap<String, Thread>,
    turns: BTreeMap<(String, String), SageTurn>,
    questions: SageQuestions,
    lines: LineReader,
    run: ProgramRun,
}

impl Sage {
    pub(super) fn new(start: DialectSetup) -> Self {
        let agent = EventAgent {
            id: "sage".to_owned(),
            name: "Sage".to_owned(),
            model: None,
        };
        Self {
            carrier: start.carrier,
            followed: start.stream,
            writer: EventWriter::new("sage", agent, start.seed),
            reported_steps: ReportedSteps::new(),
            stream: Stream::INITIAL,
            threads: BTreeMap::new(),
            turns: BTreeMap::new(),
            questions: SageQuestions::default(),
            lines: LineReader::default(),
            run: ProgramRun::default(),
        }
    }

    /// Handles one frame.
    fn frame(&mut self, text: &str, cx: &mut Cx<'_>) {
        self.connected(cx);
        let event = match self.stream {
            Stream::Connected => StreamEvent::StartStreaming,
            Stream::Disconnected
            | Stream::Connecting
            | Stream::Streaming
            | Stream::Completed
            | Stream::Failed => StreamEvent::DataReceived,
        };
        self.step_stream(event, cx);
        if let Some(map) = object(text).filter(message::is_envelope) {
            match message::envelope(&map) {
                Some(message) => self.message(message, cx),
                None => cx.out.push(DialectOutput::Unread(
                    NoEvent::Foreign(ForeignFormat::Typed),
                    1,
                )),
            }
            return;
        }
        let line = self.lines.read(text);
        self.line(line, cx);
    }

    /// Steps the connection's machine to connected: if Sage was recognised only now, connecting was not observed.
    fn connected(&mut self, cx: &mut Cx<'_>) {
        if self.stream == Stream::Disconnected {
            self.step_stream(StreamEvent::Connect, cx);
        }
        if self.stream == Stream::Connecting {
            self.step_stream(StreamEvent::Connected, cx);
        }
    }

    fn step_stream(&mut self, event: StreamEvent, cx: &mut Cx<'_>) {
        let mut desk = SageContext::new(&mut self.writer, &mut self.reported_steps, None, cx);
        self.stream = desk.step("", "", self.stream, event);
    }

    /// Handles the end of the connection.
    fn cut_off(&mut self, event: StreamEvent, cx: &mut Cx<'_>) {
        self.end_tool(cx);
        self.step_stream(event, cx);
        let mut desk = SageContext::new(&mut self.writer, &mut self.reported_steps, None, cx);
        for turn in self.turns.values_mut().filter(|turn| !turn.ended) {
            turn.cut_off(&mut desk);
            if turn.ended {
                self.questions.close_turn(&turn.thread, &turn.name);
            }
        }
        // A written answer may not have been read, and no acknowledgement can come over this connection any more.
        let written = |_: &u64, (_, due): &mut (String, Option<Duration>)| due.is_some();
        for (request, _) in self.questions.sent.extract_if(.., written) {
            let outcome = Err(DeliveryFailure::Unknown(Fault::Closed));
            cx.out.push(DialectOutput::Settled { request, outcome });
        }
    }
}

impl Dialect for Sage {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        // The stream is at the address that the person gave, or where it was found first.
        cx.out.push(DialectOutput::Follow(self.followed.clone()));
        let event = match self.stream {
            Stream::Failed => StreamEvent::Reconnect,
            Stream::Disconnected
            | Stream::Connecting
            | Stream::Connected
            | Stream::Streaming
            | Stream::Completed => StreamEvent::Connect,
        };
        self.step_stream(event, cx);
    }

    fn on_up(&mut self, cx: &mut Cx<'_>) {
        self.connected(cx);
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(&frame.text, cx);
    }

    fn on_sent(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        match outcome {
            Ok(_) => {
                if let Some((_, due)) = self.questions.sent.get_mut(&request) {
                    *due = Some(cx.now.monotonic + WORD_WAITS);
                }
            }
            Err(undelivered) => {
                if self.questions.sent.remove(&request).is_some() {
                    let outcome = Err(undelivered.clone());
                    cx.out.push(DialectOutput::Settled { request, outcome });
                }
            }
        }
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        let event = match down {
            ConnectionLoss::Lost(_) | ConnectionLoss::Failed(_) => StreamEvent::Error,
            ConnectionLoss::Ended if self.stream == Stream::Streaming => StreamEvent::Complete,
            // Nothing was streamed that could be complete.
            ConnectionLoss::Ended => StreamEvent::Disconnect,
        };
        self.cut_off(event, cx);
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let token = reply.token.reveal();
        let frame = self.questions.of(token).and_then(|question| {
            let frame = question.answer(reply)?;
            question.allowed = match &reply.answer {
                crate::protocol::Answer::Decision { decision, .. } => {
                    Some(*decision == crate::protocol::Decision::Accept)
                }
                crate::protocol::Answer::Response(_) => None,
            };
            Some(frame)
        });
        match frame {
            Some(frame) if self.carrier != TransportKind::OneWay => {
                self.questions
                    .sent
                    .insert(request, (token.to_owned(), None));
                cx.out.push(DialectOutput::Send { request, frame });
            }
            Some(_) | None => cx.out.push(DialectOutput::Settled {
                request,
                outcome: Err(DeliveryFailure::Kept(Fault::OneWay)),
            }),
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        let mut desk = SageContext::new(&mut self.writer, &mut self.reported_steps, None, cx);
        for turn in self.turns.values_mut() {
            turn.tick(&mut desk);
        }
        let over =
            |(_, due): &(String, Option<Duration>)| due.is_some_and(|due| due <= cx.now.monotonic);
        let sent = &mut self.questions.sent;
        let due: Vec<u64> = sent
            .iter()
            .filter(|(_, sent)| over(sent))
            .map(|(request, _)| *request)
            .collect();
        for request in due {
            sent.remove(&request);
            let outcome = Ok(Receipt::Written);
            cx.out.push(DialectOutput::Settled { request, outcome });
        }
    }

    fn deadline(&self) -> Option<Duration> {
        let turns = self.turns.values().filter_map(SageTurn::deadline);
        let sent = self.questions.sent.values().filter_map(|(_, due)| *due);
        turns.chain(sent).min()
    }

    fn connection(&self) -> Connection {
        Connection::default()
    }
}

/// Returns whether a text is Sage's: an envelope or a first line surely is; text that other programs may write too
/// perhaps is.
pub(super) fn recognise(text: &str) -> Recognition {
    let Some(map) = object(&program_lines::seen(text)) else {
        return if program_lines::is_sign(text) {
            Recognition::Perhaps
        } else {
            Recognition::No
        };
    };
    let own_line = || {
        let begins = message::text(&map, "message").is_some_and(|words| words == runs::STARTING);
        begins || message::text(&map, "tool_name").is_some()
    };
    match (message::is_envelope(&map), program_lines::is_line(&map)) {
        (true, _) => Recognition::Surely,
        (false, true) if own_line() => Recognition::Surely,
        (false, true) => Recognition::Perhaps,
        (false, false) => Recognition::No,
    }
}

/// Returns a sentence that explains a departure from Sage's own machines, by its phrase key.
pub(super) fn about(key: &str) -> Option<&'static str> {
    match key {
        message_context::ILLEGAL => {
            Some("a machine does not allow that event in its state; it is translated anyway")
        }
        route::AFTER_END => Some("a conversation goes on after its end"),
        _ => None,
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    let text = text.trim_start_matches('\u{feff}').trim();
    // Only objects are parsed as a whole.
    serde_json::from_str(text).ok()
}
