//! The run of a program that writes lines: one turn, most of it written as to a terminal.
//!
//! Responsibilities: turning its lines into messages, and its tools in sequence. Not here: reading a line
//! (`program_lines`).

use crate::Cx;

use super::super::event_writer::LONGEST_TEXT;
use super::super::{DialectOutput, ForeignFormat, NoEvent};
use super::Sage;
use super::message::{
    CallReport, Completeness, ItemKind, MessageOrigin, MessageSubject, SageItem, SageMessage,
    SageStatus,
};
use super::message_context::SageContext;
use super::program_lines::LineContent;

/// The first words of a run of `--stream-json`.
pub(super) const STARTING: &str = "Sage Agent starting";

/// How many bytes of a tool's output are kept: enough for the most characters that an event carries.
const MOST_OUTPUT: usize = 4 * LONGEST_TEXT;

/// The run of a program that writes lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ProgramRun {
    number: u64,
    /// How many tools appeared in the text between the JSON lines.
    tools: u64,
    /// The last tool, until it is over.
    tool: Option<(String, CallReport)>,
}

impl Sage {
    /// Handles a line of a program.
    pub(super) fn line(&mut self, line: LineContent, cx: &mut Cx<'_>) {
        let says = |item: SageItem| SageMessage {
            place: MessageOrigin::default(),
            says: MessageSubject::Item(item),
        };
        let speaks = |stage: Completeness, words: String| {
            says(SageItem {
                stage,
                kind: ItemKind::Assistant(words),
            })
        };
        match line {
            LineContent::Message(message) => {
                self.end_tool(cx);
                let begins = matches!(
                    &message.says,
                    MessageSubject::Item(SageItem { kind: ItemKind::System(words), .. }) if words == STARTING
                );
                if begins {
                    self.run.number += 1;
                    let place = self.run_place(message.place.clone());
                    let started = SageMessage {
                        place: place.clone(),
                        says: MessageSubject::ThreadStarted { model: None },
                    };
                    self.message(started, cx);
                    let says = MessageSubject::TurnStarted;
                    self.message(SageMessage { place, says }, cx);
                } else {
                    let place = self.run_place(message.place);
                    let says = message.says;
                    self.message(SageMessage { place, says }, cx);
                }
            }
            LineContent::Speaks(words) => {
                self.end_tool(cx);
                // Each speech of a run is an output of its own.
                if let Some(turn) = self.turns.get_mut(&(String::new(), self.run.name())) {
                    let mut desk =
                        SageContext::new(&mut self.writer, &mut self.reported_steps, None, cx);
                    turn.hush(&mut desk);
                }
                self.in_run(speaks(Completeness::Updated, words), cx);
            }
            LineContent::GoesOn(words) => {
                self.in_run(speaks(Completeness::Updated, format!("\n{words}")), cx);
            }
            LineContent::Uses(tool, arguments) => {
                self.end_tool(cx);
                self.run.tools += 1;
                let name = format!("tool {}", self.run.tools);
                let call = CallReport {
                    tool,
                    status: SageStatus::Started,
                    arguments,
                    ..CallReport::default()
                };
                self.run.tool = Some((name.clone(), call.clone()));
                self.in_run(tool_item(&name, Completeness::Created, call), cx);
            }
            LineContent::Gave(output, status) => {
                if let Some((_, call)) = &mut self.run.tool {
                    call.status = status;
                    call.output = Some(output);
                }
            }
            LineContent::GaveMore(more) => {
                if let Some((_, call)) = &mut self.run.tool {
                    let output = call.output.get_or_insert_default();
                    // The event cuts longer output, and marks it as cut.
                    if output.len() <= MOST_OUTPUT {
                        output.push('\n');
                        output.push_str(&more);
                    }
                }
            }
            LineContent::Nothing => {}
            LineContent::Foreign => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Text),
                1,
            )),
        }
    }

    /// Ends the last tool: what follows is something else.
    pub(super) fn end_tool(&mut self, cx: &mut Cx<'_>) {
        let Some((name, mut call)) = self.run.tool.take() else {
            return;
        };
        match call.status {
            SageStatus::Failed
            | SageStatus::TimedOut
            | SageStatus::Denied
            | SageStatus::Interrupted => {
                call.error = call.output.take();
            }
            // Sage writes nothing for a tool without output.
            SageStatus::Started => call.status = SageStatus::Ended,
            SageStatus::Unsaid | SageStatus::Succeeded | SageStatus::Ended => {}
        }
        self.in_run(tool_item(&name, Completeness::Completed, call), cx);
    }

    pub(super) fn in_run(&mut self, message: SageMessage, cx: &mut Cx<'_>) {
        let place = self.run_place(message.place);
        let says = message.says;
        self.message(SageMessage { place, says }, cx);
    }

    pub(super) fn run_place(&self, place: MessageOrigin) -> MessageOrigin {
        MessageOrigin {
            turn: self.run.name(),
            ..place
        }
    }
}

impl ProgramRun {
    pub(super) fn name(&self) -> String {
        format!("run {}", self.number)
    }
}

fn tool_item(name: &str, stage: Completeness, call: CallReport) -> SageMessage {
    SageMessage {
        place: MessageOrigin {
            item: Some(name.to_owned()),
            ..MessageOrigin::default()
        },
        says: MessageSubject::Item(SageItem {
            stage,
            kind: ItemKind::Tool(Box::new(call)),
        }),
    }
}
