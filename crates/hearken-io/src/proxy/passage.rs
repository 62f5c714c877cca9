//! The two directions of the bytes: what goes on immediately, what is examined first, and what the listener learns.
//!
//! Responsibilities: which bytes of each piece go on now; finding the agent's questions and the editor's answers in
//! them. Pure. Not here: who is first (`arbiter`), writing (`sluice`).
//!
//! # Mental model
//! The agent's bytes all go on immediately; the arbiter knows a question before its end goes on, so no answer to it can
//! come earlier. Of the editor's bytes, only a line that begins while an answer matters is held, and only until it
//! shows what it is: a method, another id. A line that turns out to be a late answer is dropped completely. A line that
//! shows nothing for [`HELD`] bytes goes on; then it is unknown which question it answers, so the open ones are the
//! editor's alone.
//!
//! # Worked example
//! Question 5 was decided here. `{"jsonrpc":"2.0","id":5,` is held, because it may be the editor's answer; after
//! `"result":` it certainly is, and nothing of it goes on. If `"method":` had come instead, all of it would have gone
//! on immediately: the two sides number their requests independently.

use serde_json::Value;

use super::arbiter::{Arbiter, EditorAnswer, QuestionHandling};
use super::line_outline::{LineForm, Outline, RpcId};
use super::pipe_messages::{LONGEST_LINE, ListenerNote, Side};

/// The most bytes held of a line that shows nothing: far more than any answer has before its id.
const HELD: usize = 1024 * 1024;
/// The methods of questions from an agent that hearken may answer.
const QUESTIONS: [&str; 1] = ["session/request_permission"];
/// The method with which a side takes a request back.
pub const TAKES_BACK: &str = "$/cancel_request";

/// The result of processing a piece of bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PassedBytes {
    /// The bytes that go on.
    pub passes: Vec<u8>,
    /// The notes for the listener.
    pub notes: Vec<ListenerNote>,
    /// The number of lines too long for the listener.
    pub unheard: u32,
}

/// The current line.
#[derive(Debug, Default)]
struct CurrentLine {
    outline: Outline,
    text: Vec<u8>,
    /// Whether it exceeds the limit for the listener.
    is_long: bool,
    begun: bool,
}

impl CurrentLine {
    fn take(&mut self, byte: u8) -> bool {
        self.begun = true;
        if self.text.len() < LONGEST_LINE {
            self.text.push(byte);
        } else {
            self.is_long = true;
        }
        self.outline.take(byte)
    }

    /// Returns its text, if it is complete and not blank.
    fn end(self, taken: &mut PassedBytes) -> Option<Vec<u8>> {
        if self.is_long {
            taken.unheard += 1;
            return None;
        }
        Some(self.text).filter(|text| !text.iter().all(u8::is_ascii_whitespace))
    }
}

/// The passage from the agent to the editor.
#[derive(Debug, Default)]
pub struct EditorWriter {
    line: CurrentLine,
}

impl EditorWriter {
    /// Processes a piece of bytes, all of which goes on afterwards.
    pub fn take(&mut self, bytes: &[u8], arbiter: &mut Arbiter) -> PassedBytes {
        let mut taken = PassedBytes::default();
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                ended(line, arbiter, &mut taken);
            } else {
                self.line.take(*byte);
            }
        }
        taken
    }
}

/// Processes a complete line from the agent.
fn ended(line: CurrentLine, arbiter: &mut Arbiter, taken: &mut PassedBytes) {
    let outline = line.outline.clone();
    let Some(text) = line.end(taken) else {
        return;
    };
    let asks = outline.method().is_some_and(|it| QUESTIONS.contains(&it));
    match (outline.method(), outline.id()) {
        (Some(_), Some(id)) if asks => match arbiter.asks(id.clone(), outline.written()) {
            QuestionHandling::Open(ticket) => {
                return taken.notes.push(ListenerNote::Asked { ticket, line: text });
            }
            QuestionHandling::Twice(ticket) => taken.notes.push(ListenerNote::Left(ticket)),
            QuestionHandling::EditorAnswer => {}
        },
        (Some(TAKES_BACK), None) => {
            let gone = taken_back(&text).and_then(|id| arbiter.leave(&id));
            taken.notes.extend(gone.map(ListenerNote::TakenBack));
        }
        _ => {}
    }
    taken.notes.push(ListenerNote::Line(Side::Agent, text));
}

/// Returns whether an answer to a permission chooses something; the answer to a question that was taken back only
/// acknowledges that.
fn chooses(line: &[u8]) -> bool {
    let message: Option<Value> = serde_json::from_slice(line).ok();
    let outcome = message
        .as_ref()
        .and_then(|it| it.pointer("/result/outcome/outcome"));
    outcome.and_then(Value::as_str) == Some("selected")
}

/// Returns the id of the request that is taken back.
fn taken_back(line: &[u8]) -> Option<RpcId> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let id = message.get("params")?.get("requestId")?;
    RpcId::read(id.to_string().as_bytes())
}

/// The treatment of the editor's current line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LineHandling {
    /// It goes on as it arrives.
    #[default]
    On,
    /// It is held until it shows what it is.
    Held,
    /// It goes on, and decides this question.
    Decides(u64),
    /// It is the late answer to this question, and is dropped.
    Dropped(u64),
}

/// The passage from the editor to the agent.
#[derive(Debug, Default)]
pub struct EditorReader {
    line: CurrentLine,
    way: LineHandling,
}

impl EditorReader {
    /// Processes a piece of bytes.
    pub fn take(&mut self, bytes: &[u8], arbiter: &mut Arbiter) -> PassedBytes {
        let mut taken = PassedBytes::default();
        for byte in bytes {
            if !self.line.begun {
                self.way = match arbiter.watches() {
                    true => LineHandling::Held,
                    false => LineHandling::On,
                };
            }
            if *byte == b'\n' {
                self.judge(true, arbiter, &mut taken);
                match self.way {
                    LineHandling::On | LineHandling::Held | LineHandling::Decides(_) => {
                        taken.passes.push(b'\n')
                    }
                    LineHandling::Dropped(_) => {}
                }
                self.ended(&mut taken);
                continue;
            }
            let news = self.line.take(*byte);
            match self.way {
                LineHandling::On | LineHandling::Decides(_) => taken.passes.push(*byte),
                LineHandling::Held if news || self.line.text.len() > HELD => {
                    self.judge(false, arbiter, &mut taken);
                }
                LineHandling::Held | LineHandling::Dropped(_) => {}
            }
        }
        taken
    }

    /// Processes the end of the editor's bytes: a last line may lack its line break.
    pub fn end(&mut self, arbiter: &mut Arbiter) -> PassedBytes {
        let mut taken = PassedBytes::default();
        self.judge(true, arbiter, &mut taken);
        self.ended(&mut taken);
        taken
    }

    /// Judges the held line by what is known of it.
    fn judge(&mut self, whole: bool, arbiter: &mut Arbiter, taken: &mut PassedBytes) {
        if self.way != LineHandling::Held {
            return;
        }
        let outline = &self.line.outline;
        let full = self.line.text.len() > HELD;
        let way = match (outline.form(), outline.method(), outline.id()) {
            // An array may answer any of the questions.
            (LineForm::List, _, _) => {
                leave_all(arbiter, taken);
                Some(LineHandling::On)
            }
            (LineForm::Other, _, _) | (_, Some(_), _) => Some(LineHandling::On),
            (_, None, Some(id)) if !arbiter.is_watched(id) => Some(LineHandling::On),
            (_, None, Some(id)) if outline.answers() || whole => {
                Some(match arbiter.editor_answers(id) {
                    EditorAnswer::Passes => LineHandling::On,
                    EditorAnswer::Decides(ticket) => LineHandling::Decides(ticket),
                    EditorAnswer::Late(ticket) => LineHandling::Dropped(ticket),
                })
            }
            (_, None, Some(id)) if full => {
                taken
                    .notes
                    .extend(arbiter.leave(id).map(ListenerNote::Left));
                Some(LineHandling::On)
            }
            (_, None, None) if full => {
                leave_all(arbiter, taken);
                Some(LineHandling::On)
            }
            (_, None, _) if whole => Some(LineHandling::On),
            (LineForm::Open | LineForm::Object, None, _) => None,
        };
        let Some(way) = way else {
            return;
        };
        self.way = way;
        match way {
            LineHandling::On | LineHandling::Held | LineHandling::Decides(_) => {
                taken.passes.extend_from_slice(&self.line.text);
            }
            LineHandling::Dropped(_) => {}
        }
    }

    fn ended(&mut self, taken: &mut PassedBytes) {
        let line = std::mem::take(&mut self.line);
        let way = std::mem::take(&mut self.way);
        let text = match way {
            LineHandling::Dropped(ticket) => {
                let chose = chooses(&line.text);
                taken.notes.push(ListenerNote::Withheld(ticket, chose));
                return;
            }
            LineHandling::On | LineHandling::Held | LineHandling::Decides(_) => line.end(taken),
        };
        match (way, text) {
            (LineHandling::Decides(ticket), text) => taken.notes.push(ListenerNote::Answered {
                ticket,
                line: text.unwrap_or_default(),
            }),
            (_, Some(text)) => taken.notes.push(ListenerNote::Line(Side::Editor, text)),
            (_, None) => {}
        }
    }
}

fn leave_all(arbiter: &mut Arbiter, taken: &mut PassedBytes) {
    taken
        .notes
        .extend(arbiter.leave_all().into_iter().map(ListenerNote::Left));
}
