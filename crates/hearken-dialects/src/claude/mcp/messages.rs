//! The messages of `hearken mcp`, the tool server that an agent starts, within bounds.
//!
//! Responsibilities: who speaks, what is announced, asked or relayed; whether a relayed call is one that a hook asks
//! about. Not here: what becomes of it (`session`), the Model Context Protocol itself (`mcp` of hearken-io).

use serde_json::{Map, Value};

use crate::event_writer::cut;
use crate::kit::members::text;
use crate::protocol::object;

use super::super::messages::ToolUse;

/// The longest name that is kept, in bytes.
const LONGEST_NAME: usize = 256;
/// The longest name of an agent, in characters.
const LONGEST_AGENT: usize = 64;
/// The longest text that is announced or asked, in characters.
const LONGEST_TEXT: usize = 4000;
/// The longest choice, in characters.
const LONGEST_CHOICE: usize = 350;
/// How many choices a question may have: AAEP allows 32, and two of them are ours.
const MOST_CHOICES: usize = 30;
/// The least that Claude Code shows of the input of a relayed call when it cuts it, in UTF-16 units: 200, or one less
/// to keep a character whole.
const CUT_BEHIND: usize = 199;
/// The names by which agents introduce themselves to a tool server, each with their name for people. Some add the
/// server's name behind a hyphen.
const KNOWN: [(&str, &str); 6] = [
    ("claude-code", "Claude Code"),
    ("codex-mcp-client", "Codex"),
    ("gemini-cli-mcp-client", "Gemini CLI"),
    ("qwen-cli-mcp-client", "Qwen Code"),
    ("copilot-cli", "Copilot CLI"),
    ("opencode", "opencode"),
];

/// The agent that a tool server speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServerClient {
    /// The name of the tool server's run.
    pub session: String,
    /// The agent's name for people; empty if it gave none.
    pub agent: String,
    /// The folder in which the tool server was started.
    pub folder: String,
}

/// What a tool server wants.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolServerRequest {
    /// Announce this, as the agent's own words.
    Announces(String),
    /// Ask this, as the agent's own question.
    Asks {
        /// The question.
        question: String,
        /// The answers to choose from; an open question has none.
        choices: Vec<String>,
    },
    /// Ask whether a call may run.
    Relays(RelayedCall),
    /// Wait for prompts, or only until the agent is gone.
    Listens {
        /// Whether the agent takes prompts.
        takes: bool,
        /// How many prompts have been passed on so far.
        taken: u64,
    },
    /// The agent is gone.
    Leaves,
}

/// A call that an agent asks about over its channel.
#[derive(Debug, Clone, PartialEq)]
pub struct RelayedCall {
    /// The tool.
    pub tool: String,
    /// What the agent says of the call.
    pub description: String,
    /// The arguments as the agent wrote them, which may be cut.
    pub preview: String,
}

/// Reads a message; `kind` is the rest of its path. `None` if it is none of these.
pub fn read(kind: &str, body: &str) -> Option<(ToolServerClient, ToolServerRequest)> {
    let map = object(body)?;
    let session = text(&map, "session").filter(|it| !it.is_empty() && it.len() <= LONGEST_NAME)?;
    let client = ToolServerClient {
        session: session.to_owned(),
        agent: named(
            text(&map, "agent").unwrap_or_default(),
            text(&map, "title").unwrap_or_default(),
        ),
        folder: cut(text(&map, "folder").unwrap_or_default(), LONGEST_TEXT),
    };
    Some((client, request(kind, &map)?))
}

fn request(kind: &str, map: &Map<String, Value>) -> Option<ToolServerRequest> {
    let words = |name: &str| {
        let said = text(map, name).map(str::trim).filter(|it| !it.is_empty());
        said.map(|it| cut(it, LONGEST_TEXT))
    };
    Some(match kind {
        "announce" => ToolServerRequest::Announces(words("text")?),
        "ask" => {
            let choices = map.get("choices").and_then(Value::as_array);
            let choices = choices.into_iter().flatten().filter_map(Value::as_str);
            let choices = choices.map(str::trim).filter(|it| !it.is_empty());
            ToolServerRequest::Asks {
                question: words("question")?,
                choices: choices
                    .take(MOST_CHOICES)
                    .map(|it| cut(it, LONGEST_CHOICE))
                    .collect(),
            }
        }
        "permission" => ToolServerRequest::Relays(RelayedCall {
            tool: text(map, "tool_name")
                .filter(|it| !it.is_empty() && it.len() <= LONGEST_NAME)?
                .to_owned(),
            description: words("description").unwrap_or_default(),
            preview: text(map, "input_preview").unwrap_or_default().to_owned(),
        }),
        "listen" => ToolServerRequest::Listens {
            takes: map.get("channel") == Some(&Value::Bool(true)),
            taken: map.get("taken").and_then(Value::as_u64).unwrap_or_default(),
        },
        "leave" => ToolServerRequest::Leaves,
        _ => return None,
    })
}

/// Returns an agent's name for people.
fn named(name: &str, title: &str) -> String {
    let is = |said: &str, own: &str| {
        let rest = said.strip_prefix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let mut known = KNOWN.iter();
    if let Some((_, known)) = known.find(|(own, _)| is(name, own) || is(title, own)) {
        return (*known).to_owned();
    }
    let said = [title, name];
    let said = said.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    let said = said.into_iter().find(|it| !it.is_empty());
    cut(&said.unwrap_or_default(), LONGEST_AGENT)
}

impl RelayedCall {
    /// Returns the call, if all of its input is known.
    pub fn complete_call(&self) -> Option<ToolUse> {
        Some(ToolUse {
            id: String::new(),
            tool: self.tool.clone(),
            input: object(&self.preview)?,
        })
    }

    /// Returns the call as far as it is known.
    pub fn known_call(&self) -> ToolUse {
        self.complete_call().unwrap_or_else(|| {
            let seen = [
                ("description", &self.description),
                ("input_preview", &self.preview),
            ];
            let seen = seen.into_iter().filter(|(_, it)| !it.is_empty());
            ToolUse {
                id: String::new(),
                tool: self.tool.clone(),
                input: seen
                    .map(|(name, it)| (name.to_owned(), Value::from(cut(it, LONGEST_TEXT))))
                    .collect(),
            }
        })
    }

    /// Returns whether a tool's input matches the part that is shown here.
    pub fn is_about(&self, tool: &str, input: &Map<String, Value>) -> bool {
        if self.tool != tool {
            return false;
        }
        if let Some(whole) = self.complete_call() {
            return whole.input == *input;
        }
        let Some(shown) = self.preview.strip_suffix('…') else {
            return false;
        };
        // The members keep their order, so what is shown is how the whole begins.
        let all = Value::Object(input.clone()).to_string();
        shown.encode_utf16().count() >= CUT_BEHIND && all.starts_with(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_agent_goes_by_its_usual_name_or_by_its_own_on_one_line() {
        assert_eq!(named("claude-code", "x"), "Claude Code");
        assert_eq!(named("qwen-cli-mcp-client-hearken", ""), "Qwen Code");
        assert_eq!(named("codex-mcp-clients", ""), "codex-mcp-clients");
        assert_eq!(named("zed", "Zed\n Editor"), "Zed Editor");
        assert_eq!(named("zed", " "), "zed");
        assert_eq!(named("", ""), "");
        assert!(named(&"x".repeat(900), "").chars().count() <= LONGEST_AGENT);
    }

    #[test]
    fn what_has_no_words_or_no_run_is_no_message() {
        let read = |kind, body: Value| read(kind, &body.to_string()).map(|(_, it)| it);
        let says = |text: &str| json!({"session": "r", "text": text});
        assert_eq!(
            read("announce", says(" hi ")),
            Some(ToolServerRequest::Announces("hi".to_owned()))
        );
        assert_eq!(read("announce", says("  ")), None);
        assert_eq!(read("announce", json!({"text": "hi"})), None);
        assert_eq!(read("other", says("hi")), None);
        let many: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let asks = read(
            "ask",
            json!({"session": "r", "question": "?", "choices": many}),
        );
        let Some(ToolServerRequest::Asks { choices, .. }) = asks else {
            panic!("{asks:?}");
        };
        assert_eq!(choices.len(), MOST_CHOICES);
    }

    #[test]
    fn a_relayed_call_is_known_by_its_tool_and_by_as_much_of_its_input_as_is_shown() {
        let input = json!({"command": "touch ü.txt", "description": "x".repeat(300)});
        let all = input.to_string();
        let input = input.as_object().unwrap();
        let shown = |preview: &str| RelayedCall {
            tool: "Bash".to_owned(),
            description: String::new(),
            preview: preview.to_owned(),
        };
        assert!(shown(&all).is_about("Bash", input));
        assert!(!shown(&all).is_about("Write", input));
        let cut: String = all.chars().take(CUT_BEHIND + 1).collect();
        assert!(shown(&format!("{cut}…")).is_about("Bash", input));
        assert!(!shown(&cut).is_about("Bash", input), "it is no whole input");
        assert!(!shown("…").is_about("Bash", input), "it shows nothing");
        let other = cut.replace("touch", "rm -r");
        assert!(!shown(&format!("{other}…")).is_about("Bash", input));
        assert!(shown(&format!("{cut}…")).complete_call().is_none());
    }
}
