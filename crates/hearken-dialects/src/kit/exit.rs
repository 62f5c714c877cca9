//! How the program of a call exited, as agents of several protocols state it.
//!
//! Responsibilities: finding it in a call that has ACP's shape, or in the members of other protocols. Not here: what
//! becomes of it ([`super::call`], [`super::turn`]), the words for it (`announce`).

use serde_json::{Map, Value};

use super::event_writer::cut;
use super::members::{object, text};
use crate::protocol::CallExit;

/// The longest name of a signal, in characters.
const LONGEST_SIGNAL: usize = 64;
/// How many parts of a raw output are looked at.
const MOST_PARTS: usize = 64;
/// What opencode writes into the output of a command that a person stopped.
const ABORTED: &str = "User aborted the command";
/// What it writes into the output of a command that took too long.
const TOO_LONG: &str = "shell tool terminated command after exceeding timeout";

/// Returns how the program of a call exited, if the message about the call says so.
pub fn of_call(update: &Map<String, Value>) -> Option<CallExit> {
    let meta = object(update, "_meta");
    let terminal = meta.and_then(|meta| object(meta, "terminal_exit"));
    let of_terminal = terminal.and_then(|exit| stated(exit.get("exit_code"), exit.get("signal")));
    let of_terminal = of_terminal.map(|exit| of_pi(meta).unwrap_or(exit));
    let of_raw = || object(update, "rawOutput").and_then(of_raw);
    of_terminal.or_else(of_raw)
}

/// Returns the code that follows a terminal's output: pi's adapter reports 1 for each command that failed.
fn of_pi(meta: Option<&Map<String, Value>>) -> Option<CallExit> {
    let written = object(meta?, "terminal_output").and_then(|it| text(it, "data"))?;
    let code = ended(written).1?.parse().ok()?;
    Some(CallExit::Code(code))
}

/// Returns the output of a command of pi, and the code that its adapter writes after it.
pub fn ended(written: &str) -> (&str, Option<&str>) {
    let (before, last) = written.rsplit_once('\n').unwrap_or(("", written));
    match last.strip_prefix("Command exited with code ") {
        Some(code) => (before.trim_end(), Some(code)),
        None if written == "(no output)" => ("", None),
        None => (written, None),
    }
}

/// Each agent has its own member for it.
fn of_raw(raw: &Map<String, Value>) -> Option<CallExit> {
    let signal = raw.get("signal");
    let own = ["exitCode", "exit_code"].map(|name| raw.get(name));
    let own = own.into_iter().flatten().next();
    let of_metadata = || {
        let metadata = object(raw, "metadata")?;
        of_metadata(metadata, text(raw, "output").unwrap_or_default())
    };
    stated(own, signal)
        .or_else(of_metadata)
        .or_else(|| of_parts(raw))
}

/// Returns the exit of a shell among the parts of a raw output.
fn of_parts(raw: &Map<String, Value>) -> Option<CallExit> {
    let parts = raw.get("contents").and_then(Value::as_array)?;
    let parts = parts.iter().take(MOST_PARTS).filter_map(Value::as_object);
    let mut exits = parts.filter(|part| text(part, "type") == Some("shell_exit"));
    exits.find_map(|part| stated(part.get("exitCode"), part.get("signal")))
}

/// Returns the exit in the metadata of a call of opencode that is over; there, no code means that the command did not
/// end by itself, and its output says why.
pub fn of_metadata(metadata: &Map<String, Value>, output: &str) -> Option<CallExit> {
    Some(match metadata.get("exit")? {
        Value::Null if output.contains(ABORTED) => CallExit::Stopped,
        Value::Null if output.contains(TOO_LONG) => CallExit::TimedOut,
        Value::Null => CallExit::NoCode,
        code => CallExit::Code(code.as_i64()?),
    })
}

/// Reads a code and a signal; a signal counts more, because the code is then only a number for it.
pub fn stated(code: Option<&Value>, signal: Option<&Value>) -> Option<CallExit> {
    let signal = match signal {
        Some(Value::String(name)) if !name.trim().is_empty() => {
            Some(cut(name.trim(), LONGEST_SIGNAL))
        }
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(_) | None => None,
    };
    let code = || code.and_then(Value::as_i64).map(CallExit::Code);
    signal.map(CallExit::Signal).or_else(code)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What the agents send, as they were heard.
    #[test]
    fn each_agent_has_a_place_of_its_own_for_the_code() {
        let code = |code| Some(CallExit::Code(code));
        for (update, wanted) in [
            // pi-acp 0.0
            (
                json!({"_meta": {"terminal_output": {"data": "\n\nCommand exited with code 3"},
                    "terminal_exit": {"exit_code": 1, "signal": null}}}),
                code(3),
            ),
            (
                json!({"_meta": {"terminal_output": {"data": "two\n"}, "terminal_exit": {"exit_code": 1}}}),
                code(1),
            ),
            // opencode 1.18
            (
                json!({"rawOutput": {"output": "one\n", "metadata": {"exit": 3}}}),
                code(3),
            ),
            (
                json!({"rawOutput": {"output": "\n<shell_metadata>\nUser aborted the command\n</shell_metadata>",
                    "metadata": {"exit": null}}}),
                Some(CallExit::Stopped),
            ),
            (
                json!({"rawOutput": {"output": "shell tool terminated command after exceeding timeout 2000 ms.",
                    "metadata": {"exit": null}}}),
                Some(CallExit::TimedOut),
            ),
            (
                json!({"rawOutput": {"output": "one", "metadata": {"exit": null}}}),
                Some(CallExit::NoCode),
            ),
            (
                json!({"rawOutput": {"output": "x", "metadata": {"exists": false}}}),
                None,
            ),
            // codex-acp 2.6
            (
                json!({"_meta": {"terminal_exit": {"exit_code": 3, "signal": null}}}),
                code(3),
            ),
            (
                json!({"_meta": {"terminal_exit": {"exit_code": null, "signal": "SIGKILL"}}}),
                Some(CallExit::Signal("SIGKILL".to_owned())),
            ),
            // codex-acp 0.16
            (
                json!({"rawOutput": {"exit_code": 128, "stderr": "x"}}),
                code(128),
            ),
            // Copilot 1.0
            (
                json!({"rawOutput": {"content": "x", "contents": [{"type": "text", "exitCode": 9},
                    {"type": "shell_exit", "shellId": "0", "exitCode": 3}]}}),
                code(3),
            ),
            // Qwen Code 0.24
            (
                json!({"rawOutput": {"type": "shell_result", "exitCode": 3, "signal": null}}),
                code(3),
            ),
            (
                json!({"rawOutput": {"exitCode": null, "signal": 9}}),
                Some(CallExit::Signal("9".to_owned())),
            ),
            // Gemini states none, and neither do these.
            (
                json!({"rawOutput": "3", "_meta": {"terminal_exit": 3}}),
                None,
            ),
            (json!({"rawOutput": {"exitCode": "3"}}), None),
            (json!({"rawOutput": {"metadata": {"exit": 1.5}}}), None),
            (json!({}), None),
        ] {
            assert_eq!(of_call(update.as_object().unwrap()), wanted, "{update}");
        }
    }
}
