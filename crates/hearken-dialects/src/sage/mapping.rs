//! What each of Sage's messages becomes, as a table for the documentation.
//!
//! Responsibilities: the rows. Not here: the translation itself (`turn_events`, `turn_calls`, `questions`).

/// A row of the mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping {
    /// Sage's message.
    pub says: &'static str,
    /// The form that it comes in.
    pub form: &'static str,
    /// What it becomes.
    pub becomes: &'static str,
}

const fn row(says: &'static str, form: &'static str, becomes: &'static str) -> Mapping {
    Mapping {
        says,
        form,
        becomes,
    }
}

/// The whole mapping.
pub const MAPPING: &[Mapping] = &[
    row(
        "`thread.started`, `thread.ended`",
        "envelope",
        "nothing by itself; a turn that runs is cancelled by the end, or failed if the end is an error or a timeout",
    ),
    row(
        "`turn.started` after `thread.ended`",
        "envelope",
        "a turn like any other; told as after the end, and reported as `sage.after_end`",
    ),
    row(
        "`turn.start`",
        "envelope",
        "`request_text` of the turn that it starts",
    ),
    row(
        "`turn.started`",
        "envelope",
        "`session.started`, `state.changed` to thinking",
    ),
    row("`system` \"Sage Agent starting\"", "line", "the same"),
    row("`system` \"Task: …\"", "line", "`request_text` of the run"),
    row(
        "`item` of the person",
        "both",
        "`request_text`, where the turn has none yet",
    ),
    row(
        "`item` of the assistant, `assistant`, text after ⏺",
        "both",
        "`output.streaming`, each character once",
    ),
    row(
        "`item` of the system, `system`",
        "both",
        "told in detail only",
    ),
    row(
        "`item` with a request's id",
        "envelope",
        "`awaiting.clarification`, answered by `input.respond`",
    ),
    row(
        "`item` `tool_call` started, `tool_call_start`, ⏺ and a name",
        "both",
        "`tool.invoked`, held until it surely runs",
    ),
    row(
        "`item` `tool_call` completed or failed, `tool_call_result`",
        "both",
        "`tool.completed` with success, error or timeout; a denial is told as denied",
    ),
    row(
        "text after ⎿",
        "line",
        "`tool.completed`, how it ended not stated unless a colour or its words say so",
    ),
    row(
        "`permission.requested`",
        "envelope",
        "`awaiting.confirmation`, answered by `permission.respond`",
    ),
    row(
        "`input.respond`, `permission.respond` of another client",
        "envelope",
        "the answer to the question, as a capture shows it",
    ),
    row(
        "`permission.resolved` allow",
        "envelope",
        "`state.changed`, `tool.invoked`",
    ),
    row(
        "`permission.resolved` deny",
        "envelope",
        "`state.changed`; told as not allowed unless the person said so",
    ),
    row(
        "`error.reported`, `error.…`, `error`",
        "both",
        "`session.errored`, where the turn ends by it; else told",
    ),
    row(
        "`turn.completed` completed, `result`",
        "both",
        "`session.completed`; a long result that was never said is output",
    ),
    row(
        "`turn.completed` failed, `result` \"Error: …\", \"Task reached maximum steps\"",
        "both",
        "`session.errored`",
    ),
    row(
        "`turn.interrupted`, `result` \"Task interrupted by user\", \"Task cancelled by user\"",
        "both",
        "`session.cancelled`",
    ),
    row(
        "`turn.completed` needs_user_input, `result` \"Waiting for input: …\"",
        "both",
        "`handoff.requested`, `session.cancelled`",
    ),
    row(
        "the spinner, colours, what is rubbed out",
        "line",
        "nothing",
    ),
];
