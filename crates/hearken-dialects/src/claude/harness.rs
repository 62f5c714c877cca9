//! The programs that are heard by their hooks: one row each, and how each one's messages become Claude Code's.
//!
//! Responsibilities: what differs between them: the names of events, members and tools, whether their own terminal asks
//! while a hook waits, and the form of a decision. Not here: what a message means (`messages`), writing hooks into
//! their settings (`hooks`).
//!
//! # Mental model
//! Claude Code's hooks came first, and others took over their form, with names of their own. So a message is first put
//! into Claude Code's form, and everything else is the same for all. What has no place in that form is left as it is,
//! and a message that can't be read decides nothing.

use serde_json::{Map, Value, json};

use crate::config::HookedAgent;
use crate::kit::members::text;

/// A program that is heard by its hooks.
#[derive(Debug, PartialEq, Eq)]
pub struct Harness {
    /// The program.
    pub agent: HookedAgent,
    /// How a decision is written.
    pub decision: DecisionForm,
    /// Its names of events, each with Claude Code's.
    events: &'static [(&'static str, &'static str)],
    /// Its names of tools, each with Claude Code's.
    tools: &'static [(&'static str, &'static str)],
    /// Its names of members, each with Claude Code's.
    members: &'static [(&'static str, &'static str)],
}

/// How a harness wants a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionForm {
    /// Within the output of a permission's hook.
    HookOutput,
    /// By itself.
    Bare,
    /// Only a refusal, before the call: its hooks can't allow anything.
    Refusal,
}

/// Qwen Code's and Gemini CLI's names of tools, which have one origin.
const GEMINI_TOOLS: &[(&str, &str)] = &[
    ("run_shell_command", "Bash"),
    ("write_file", "Write"),
    ("edit", "Edit"),
    ("replace", "Edit"),
    ("read_file", "Read"),
    ("todo_write", "TodoWrite"),
];

/// Gemini CLI's own tools that change nothing outside of itself.
const GEMINI_HARMLESS: &[&str] = &[
    "Read",
    "TodoWrite",
    "activate_skill",
    "ask_user",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "glob",
    "google_web_search",
    "grep_search",
    "list_directory",
    "list_mcp_resources",
    "read_many_files",
    "read_mcp_resource",
    "search_file_content",
    "tracker_add_dependency",
    "tracker_create_task",
    "tracker_get_task",
    "tracker_list_tasks",
    "tracker_update_task",
    "tracker_visualize",
    "update_topic",
    "write_todos",
];

/// The exit of a command that worked.
const WORKED: &str = "Exit code 0";

/// The common name of the end of a call that is not said to have worked. No program sends it.
pub const OVER: &str = "PostToolUse, outcome unknown";

/// The harnesses. The first is the one whose messages name none.
pub const HARNESSES: &[Harness] = &[
    Harness {
        agent: HookedAgent::Claude,
        decision: DecisionForm::HookOutput,
        events: &[],
        tools: &[],
        members: &[],
    },
    Harness {
        agent: HookedAgent::Codex,
        decision: DecisionForm::HookOutput,
        events: &[],
        tools: &[],
        members: &[],
    },
    Harness {
        agent: HookedAgent::Copilot,
        decision: DecisionForm::Bare,
        events: &[
            ("sessionStart", "SessionStart"),
            ("sessionEnd", "SessionEnd"),
            ("userPromptSubmitted", "UserPromptSubmit"),
            ("preToolUse", "PreToolUse"),
            ("permissionRequest", "PermissionRequest"),
            ("postToolUse", "PostToolUse"),
            ("postToolUseFailure", "PostToolUseFailure"),
            ("agentStop", "Stop"),
            ("subagentStart", "SubagentStart"),
            ("subagentStop", "SubagentStop"),
            ("errorOccurred", "StopFailure"),
            ("notification", "Notification"),
            ("preCompact", "PreCompact"),
        ],
        tools: &[("bash", "Bash")],
        members: &[
            ("sessionId", "session_id"),
            ("toolName", "tool_name"),
            ("toolArgs", "tool_input"),
            ("toolInput", "tool_input"),
            ("toolResult", "tool_response"),
            ("transcriptPath", "transcript_path"),
        ],
    },
    Harness {
        agent: HookedAgent::Qwen,
        decision: DecisionForm::HookOutput,
        events: &[],
        tools: GEMINI_TOOLS,
        members: &[],
    },
    Harness {
        agent: HookedAgent::Gemini,
        decision: DecisionForm::Refusal,
        events: &[
            ("BeforeAgent", "UserPromptSubmit"),
            ("AfterAgent", "Stop"),
            ("BeforeTool", "PreToolUse"),
            ("AfterTool", "PostToolUse"),
            ("PreCompress", "PreCompact"),
        ],
        tools: GEMINI_TOOLS,
        members: &[("prompt_response", "last_assistant_message")],
    },
];

impl Harness {
    /// Returns the harness with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        HARNESSES
            .iter()
            .find(|harness| harness.agent.name() == name)
    }

    /// Returns the harness whose messages name none.
    pub fn first() -> &'static Self {
        const FIRST: &Harness = &HARNESSES[0];
        FIRST
    }

    /// Returns a message in Claude Code's form; `event` is what happened, if the message itself does not say it.
    pub fn in_common_form(
        &self,
        event: Option<&str>,
        mut map: Map<String, Value>,
    ) -> Map<String, Value> {
        if let Some(event) = event {
            map.entry("hook_event_name").or_insert_with(|| event.into());
        }
        for (own, common) in self.members {
            if let Some(value) = map.remove(*own) {
                map.insert((*common).to_owned(), value);
            }
        }
        for (member, names) in [("hook_event_name", self.events), ("tool_name", self.tools)] {
            let own = text(&map, member).unwrap_or_default();
            if let Some((_, common)) = names.iter().find(|(name, _)| *name == own) {
                map.insert(member.to_owned(), (*common).into());
            }
        }
        if self.agent == HookedAgent::Qwen && goes_on(&map) {
            map.insert("hook_event_name".to_owned(), "PreModelRequest".into());
        }
        self.put_result(&mut map);
        map
    }

    /// Puts the outcome of a call into Claude Code's form: a result that reports an error is a failure.
    fn put_result(&self, map: &mut Map<String, Value>) {
        if text(map, "hook_event_name") == Some("StopFailure")
            && let Some(error) = map.get("error").and_then(Value::as_object)
        {
            let words = text(error, "message").unwrap_or_default().to_owned();
            if map.get("recoverable") == Some(&Value::Bool(true)) {
                // Its turn goes on.
                map.insert("hook_event_name".to_owned(), "Notification".into());
                map.insert("message".to_owned(), words.clone().into());
            }
            map.insert("error".to_owned(), words.into());
        }
        if text(map, "hook_event_name") != Some("PostToolUse") {
            return;
        }
        if self.agent == HookedAgent::Codex && text(map, "tool_name") == Some("Bash") {
            // It reports the output of a command, but not the command's exit code.
            map.insert("hook_event_name".to_owned(), OVER.into());
            return;
        }
        let Some(result) = map.get("tool_response").and_then(Value::as_object) else {
            return;
        };
        // Copilot's and Gemini's forms.
        let said = text(result, "textResultForLlm").or_else(|| text(result, "llmContent"));
        let error = match (text(result, "resultType"), result.get("error")) {
            (Some("denied" | "rejected"), _) => Some("PermissionDenied"),
            (Some(kind), _) if kind != "success" => Some("PostToolUseFailure"),
            (_, Some(error)) if !error.is_null() => Some("PostToolUseFailure"),
            _ => None,
        };
        let said = said.map(str::to_owned);
        let exited = said.as_deref().filter(|_| error.is_none());
        let exited = exited.and_then(match self.agent {
            HookedAgent::Gemini => geminis_exit,
            HookedAgent::Claude | HookedAgent::Codex | HookedAgent::Copilot | HookedAgent::Qwen => {
                copilots_exit
            }
        });
        if let Some((output, how)) = exited {
            let event = if how == WORKED {
                "PostToolUse"
            } else {
                "PostToolUseFailure"
            };
            map.insert("hook_event_name".to_owned(), event.into());
            map.insert("error".to_owned(), format!("{how}\n{output}").into());
            map.insert("tool_response".to_owned(), output.into());
        } else if let Some(event) = error {
            let words = result
                .get("error")
                .map(words_of)
                .filter(|it| !it.is_empty());
            let words = said.or(words).unwrap_or_default();
            map.insert("hook_event_name".to_owned(), event.into());
            map.insert("error".to_owned(), words.clone().into());
            map.insert("reason".to_owned(), words.into());
        } else if let Some(said) = said {
            map.insert("tool_response".to_owned(), said.into());
        }
    }

    /// Returns the answer to a waiting hook: a decision in this harness's form.
    pub fn decide(&self, decision: &Value) -> String {
        match self.decision {
            DecisionForm::HookOutput => json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest", "decision": decision}})
            .to_string(),
            DecisionForm::Bare => decision.to_string(),
            DecisionForm::Refusal => {
                let reason = decision.get("message").cloned().unwrap_or_default();
                json!({"decision": "deny", "reason": reason}).to_string()
            }
        }
    }

    /// Returns whether a call can only be rejected from here.
    pub fn only_rejects(&self) -> bool {
        self.decision == DecisionForm::Refusal
    }

    /// Returns whether a call may change something, so that a person may want to reject it before it begins.
    pub fn may_change(&self, tool: &str) -> bool {
        self.only_rejects() && !GEMINI_HARMLESS.contains(&tool)
    }

    /// Returns whether a permission can be granted for longer than one call.
    pub fn takes_suggestions(&self) -> bool {
        self.agent == HookedAgent::Claude
    }
}

/// Returns the output of a command, and how it exited: Copilot calls every command that ended a success, and writes the
/// code after its output ("<shellId: 0 completed with exit code 3>").
fn copilots_exit(said: &str) -> Option<(&str, String)> {
    let (output, last) = said.trim_end().rsplit_once("<shellId: ")?;
    let (_, code) = last
        .strip_suffix('>')?
        .split_once(" completed with exit code ")?;
    code.parse::<i32>()
        .is_ok()
        .then(|| (output.trim_end(), format!("Exit code {code}")))
}

/// Returns the output of a Gemini CLI command, and how it exited, which follows the output if the command failed.
fn geminis_exit(said: &str) -> Option<(&str, String)> {
    const BEHIND: [&str; 4] = [
        "Exit Code: ",
        "Signal: ",
        "Background PIDs: ",
        "Process Group PGID: ",
    ];
    let said = said.strip_prefix("<untrusted_context>")?.trim_end();
    let said = said.strip_suffix("</untrusted_context>")?.trim();
    let mut output = said.strip_prefix("Output: ")?;
    let mut how = WORKED.to_owned();
    while let Some((before, last)) = output.trim_end().rsplit_once('\n')
        && let Some(name) = BEHIND.iter().find(|name| last.starts_with(**name))
    {
        match (*name, last.strip_prefix(*name).unwrap_or_default().trim()) {
            ("Exit Code: ", code) if how == WORKED => how = format!("Exit code {code}"),
            ("Signal: ", _) => how = last.to_owned(),
            _ => {}
        }
        output = before;
    }
    Some((if output == "(empty)" { "" } else { output }, how))
}

/// Returns whether a prompt message contains no prompt: after each call, Qwen Code reports its model's input as one.
fn goes_on(map: &Map<String, Value>) -> bool {
    text(map, "hook_event_name") == Some("UserPromptSubmit") && text(map, "prompt") == Some("")
}

fn words_of(error: &Value) -> String {
    match error {
        Value::String(words) => words.clone(),
        Value::Object(map) => text(map, "message").unwrap_or_default().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(name: &str, event: Option<&str>, body: Value) -> Value {
        let map = body.as_object().unwrap().clone();
        Value::Object(Harness::named(name).unwrap().in_common_form(event, map))
    }

    #[test]
    fn every_agent_with_hooks_has_a_row() {
        let rows: Vec<HookedAgent> = HARNESSES.iter().map(|it| it.agent).collect();
        assert_eq!(rows, HookedAgent::ALL);
    }

    #[test]
    fn copilots_names_become_claudes_and_a_failed_result_a_failure() {
        let body = json!({"sessionId": "s", "cwd": "/w", "toolName": "bash", "toolArgs": {"command": "ls"},
            "toolResult": {"resultType": "failure", "textResultForLlm": "no such file"}});
        let read = common("copilot", Some("postToolUse"), body);
        assert_eq!(read["hook_event_name"], "PostToolUseFailure");
        assert_eq!(
            (&read["tool_name"], &read["session_id"]),
            (&json!("Bash"), &json!("s"))
        );
        assert_eq!(read["error"], "no such file");
        let body = json!({"toolResult": {"resultType": "success", "textResultForLlm": "a.txt"}});
        let read = common("copilot", Some("postToolUse"), body);
        assert_eq!(
            (&read["hook_event_name"], &read["tool_response"]),
            (&json!("PostToolUse"), &json!("a.txt"))
        );
    }

    #[test]
    fn a_command_of_copilots_that_exits_with_a_code_has_failed() {
        let read = |said: &str| {
            let body = json!({"toolName": "bash", "toolArgs": {"command": "npm test"},
                "toolResult": {"resultType": "success", "textResultForLlm": said}});
            common("copilot", Some("postToolUse"), body)
        };
        let failed = read("one\ntwo\n<shellId: 0 completed with exit code 3>");
        assert_eq!(failed["hook_event_name"], "PostToolUseFailure");
        assert_eq!(failed["error"], "Exit code 3\none\ntwo");
        let worked = read("one\n<shellId: 0 completed with exit code 0>");
        assert_eq!(
            (&worked["hook_event_name"], &worked["tool_response"]),
            (&json!("PostToolUse"), &json!("one"))
        );
        for other in [
            "one",
            "<shellId: 0 completed with exit code x>",
            "<shellId: 0 completed with exit code 3> it says",
        ] {
            let read = read(other);
            assert_eq!(
                (&read["hook_event_name"], &read["tool_response"]),
                (&json!("PostToolUse"), &json!(other))
            );
        }
    }

    #[test]
    fn geminis_names_become_claudes() {
        let body =
            json!({"hook_event_name": "AfterAgent", "session_id": "s", "prompt_response": "Done."});
        let read = common("gemini", None, body);
        assert_eq!(
            (&read["hook_event_name"], &read["last_assistant_message"]),
            (&json!("Stop"), &json!("Done."))
        );
        let body = json!({"hook_event_name": "AfterTool", "tool_name": "run_shell_command",
            "tool_response": {"llmContent": "Exit 1", "error": {"message": "it failed"}}});
        let read = common("gemini", None, body);
        assert_eq!(
            (&read["hook_event_name"], &read["tool_name"]),
            (&json!("PostToolUseFailure"), &json!("Bash"))
        );
        assert_eq!(read["error"], "Exit 1");
    }

    #[test]
    fn geminis_commands_say_their_code_behind_their_output() {
        let read = |said: &str| {
            let body = json!({"hook_event_name": "AfterTool", "tool_name": "run_shell_command",
                "tool_response": {"llmContent": said}});
            let read = common("gemini", None, body);
            let words = match read["hook_event_name"].as_str().unwrap() {
                "PostToolUse" => &read["tool_response"],
                _ => &read["error"],
            };
            words.as_str().unwrap().to_owned()
        };
        let framed = |said: &str| format!("<untrusted_context>\n{said}\n</untrusted_context>");
        for (said, words) in [
            (
                "Output: one\ntwo\nExit Code: 3\nProcess Group PGID: 7",
                "Exit code 3\none\ntwo",
            ),
            (
                "Output: one\nExit Code: 143\nSignal: 15\nProcess Group PGID: 7",
                "Signal: 15\none",
            ),
            ("Output: (empty)\nProcess Group PGID: 7", ""),
        ] {
            assert_eq!(read(&framed(said)), words);
        }
        let other = "Output: one\nExit Code: 3";
        assert_eq!(read(other), other);
    }

    #[test]
    fn what_qwen_code_tells_its_model_after_a_call_is_no_prompt() {
        let body = |prompt: &str| json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt});
        let event = |name, prompt| common(name, None, body(prompt))["hook_event_name"].clone();
        assert_eq!(event("qwen", ""), "PreModelRequest");
        assert_eq!(event("qwen", "make it"), "UserPromptSubmit");
        assert_eq!(event("claude", ""), "UserPromptSubmit");
    }

    #[test]
    fn a_decision_has_the_form_of_its_harness() {
        let allow = json!({"behavior": "allow"});
        let decide = |name: &str| Harness::named(name).unwrap().decide(&allow);
        assert_eq!(decide("copilot"), r#"{"behavior":"allow"}"#);
        let deny = json!({"behavior": "deny", "message": "not there"});
        assert_eq!(
            Harness::named("gemini").unwrap().decide(&deny),
            r#"{"decision":"deny","reason":"not there"}"#
        );
        for name in ["claude", "codex", "qwen"] {
            assert_eq!(
                decide(name),
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#
            );
        }
    }

    #[test]
    fn what_a_message_says_itself_counts_more_than_its_path() {
        let body = json!({"hook_event_name": "Stop"});
        assert_eq!(
            common("codex", Some("PreToolUse"), body)["hook_event_name"],
            "Stop"
        );
    }
}
