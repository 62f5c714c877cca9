//! The end of a turn, in AAEP's terms.
//!
//! Responsibilities: which event an end becomes, its contents, and what the agent left open. Not here: when a turn is
//! over (`turn`, `client`).

use crate::event_writer;
use crate::link::{Phrase, PhraseArg};
use crate::protocol::{Event, SessionCancelled, SessionCompleted, SessionErrored, Summary};
use crate::{Cx, DialectOutput};

use super::turn::{EventContext, Turn};

/// How many edited files are named at the end; the others are only counted.
const NAMED: usize = 3;

/// Returns the phrase that the agent was asked to stop, and that a waiting prompt comes next.
pub fn asked_to_stop(nothing_waits: bool) -> Phrase {
    Phrase::new(match nothing_waits {
        true => "stop_turn.asked_to_stop",
        false => "stop_turn.asked_to_stop.then",
    })
}

/// The end of a turn that did not stop when asked, so that the person goes on without it.
pub const ABANDONED: TurnEnd = TurnEnd::Left("stop_turn.left");

/// Announces that hearken no longer waits for a turn to answer a prompt.
pub fn gave_up_prompt(out: &mut Vec<DialectOutput>) {
    out.push(DialectOutput::Announce(Phrase::new("prompt.given_up")));
}

/// Announces that the prompts which waited for the end of a turn are sent now, if there are any.
pub fn sends_what_waits(nothing_waits: bool, out: &mut Vec<DialectOutput>) {
    if !nothing_waits {
        out.push(DialectOutput::Announce(Phrase::new("prompt.next")));
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// As it should.
    Done,
    /// Early, for a reason that has a phrase.
    Short(&'static str),
    /// Stopped, by the person or by the agent itself.
    Stopped {
        /// Whether the person wanted the stop.
        wanted: bool,
    },
    /// Failed, with an error in the agent's words.
    Failed(String),
    /// Refused by the agent, in its words.
    Refused(String),
    /// Broken off by the end of the agent.
    Gone,
    /// Left by the person, with a phrase for it: whether it goes on without them is unknown.
    Left(&'static str),
    /// Lost: nothing more of it can be heard, for a reason that has a phrase.
    Lost(&'static str),
}

impl TurnEnd {
    /// Parses an agent's reason for the end of a turn.
    pub fn by_reason(reason: &str, stopping: bool) -> Self {
        match reason {
            "end_turn" => Self::Done,
            "max_tokens" => Self::Short("acp.end.max_tokens"),
            "max_turn_requests" => Self::Short("acp.end.max_turn_requests"),
            "refusal" => Self::Short("acp.end.refusal"),
            "cancelled" => Self::Stopped { wanted: stopping },
            _ => Self::Short("acp.end.other"),
        }
    }
}

impl Turn {
    /// Announces the end; what the agent left open ends with it.
    pub fn finish(mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let end = self.end.take().unwrap_or(TurnEnd::Gone);
        self.permission = None;
        self.close_output(teller, cx);
        self.leave_calls(&end, teller, cx);
        self.change_state("thinking", teller, cx);
        if self.left_out > 0 {
            let n = PhraseArg::Own(self.left_out.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("acp.calls_left_out").with("n", n),
            ));
        }
        let took = cx.now.monotonic.saturating_sub(self.began).as_millis();
        let took = event_writer::duration(u64::try_from(took).ok());
        let ending = match self.ending(end, teller) {
            Event::SessionCompleted(completed) => Event::SessionCompleted(SessionCompleted {
                duration_ms: took,
                tool_invocations_count: Some(self.call_count),
                ..completed
            }),
            ending => ending,
        };
        self.worded(ending, teller, cx);
    }

    fn ending(&self, end: TurnEnd, teller: &EventContext) -> Event {
        let say = |key: &str, args: &[(&str, &str)]| teller.words.summary(key, args);
        let completed = |summary: Summary| {
            Event::SessionCompleted(SessionCompleted {
                summary,
                ..SessionCompleted::default()
            })
        };
        let cancelled = |summary: Summary, by: &str| {
            Event::SessionCancelled(SessionCancelled {
                summary,
                cancelled_by: Some(by.to_owned()),
                ..SessionCancelled::default()
            })
        };
        match end {
            TurnEnd::Done => {
                let number = |n: u64| if n == 0 { String::new() } else { n.to_string() };
                let edited = number(self.edited.len() as u64);
                let failed = number(self.failed);
                let named: Vec<&str> = self.edited.iter().take(NAMED).map(String::as_str).collect();
                let named = event_writer::short(&named.join(", "));
                let more = number(self.edited.len().saturating_sub(NAMED) as u64);
                let args = [
                    ("edited", edited.as_str()),
                    ("files", named.as_str()),
                    ("more", more.as_str()),
                    ("failed", failed.as_str()),
                ];
                completed(match edited.is_empty() && failed.is_empty() {
                    true => Summary::default(),
                    false => say("acp.end.done", &args),
                })
            }
            TurnEnd::Short(key) => completed(say(key, &[])),
            // If the person stopped it, that alone says everything.
            TurnEnd::Stopped { wanted: true } => cancelled(Summary::default(), "user"),
            TurnEnd::Stopped { wanted: false } => match self.rejected {
                true => cancelled(say("acp.end.rejected", &[]), "user"),
                false => cancelled(say("acp.end.cancelled", &[]), "producer"),
            },
            TurnEnd::Failed(words) => {
                let words = event_writer::short(&words);
                errored(say("acp.end.failed", &[("words", &words)]))
            }
            TurnEnd::Refused(words) => {
                let words = event_writer::short(&words);
                errored(say("acp.end.refused", &[("words", &words)]))
            }
            TurnEnd::Left(key) => cancelled(say(key, &[]), "user"),
            TurnEnd::Gone => errored(say("acp.end.gone", &[])),
            TurnEnd::Lost(key) => errored(say(key, &[])),
        }
    }
}

/// Returns an end by an error of unknown category.
pub(super) fn errored(summary: Summary) -> Event {
    Event::SessionErrored(SessionErrored {
        summary,
        ..SessionErrored::default()
    })
}

/// Ends a text with a full stop if it lacks one, so that another sentence can follow.
pub(crate) fn closed(text: &str) -> String {
    let ends = |text: &str| text.is_empty() || text.ends_with(['.', '!', '?', ':', '…', '。']);
    match text.trim_end() {
        text if ends(text) => text.to_owned(),
        text => format!("{text}."),
    }
}
