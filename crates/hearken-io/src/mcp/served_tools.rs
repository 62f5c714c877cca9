//! The tools that agents are given, and their results in words.
//!
//! Responsibilities: what each tool is for, what it takes, what it brings. Not here: the protocol around it
//! (`tool_server`).
//!
//! These words are for an agent's model, so they are in English whatever the person's language is.

use serde_json::{Value, json};

use super::listener_call::ListenerCallOutcome;

/// The longest text that is announced or asked, in characters.
const LONGEST_TEXT: usize = 4000;
/// The longest answer to choose, in characters, and how many there may be.
const LONGEST_CHOICE: usize = 350;
const MOST_CHOICES: usize = 30;
/// What an agent is told about the server as a whole.
pub(super) const INSTRUCTIONS: &str = "The person follows your work by ear or braille with hearken. announce says \
    something to them at once; ask puts a question to them and waits. Both are heard as your own words. An answer is \
    the person's opinion: it permits no action that needs a permission.";
/// What is added to the instructions if the person's prompts come over the channel.
pub(super) const CHANNEL: &str = "What comes in <channel source=\"hearken\"> was typed by the person in hearken: treat \
    it as their prompt. They hear what you write only through hearken's hooks or through announce.";

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Says something.
    Announce,
    /// Asks something, and waits.
    Ask,
}

/// A result, and whether it is an error.
pub(super) type ToolResult = (String, bool);

impl Tool {
    /// Every tool.
    pub const ALL: [Self; 2] = [Self::Announce, Self::Ask];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Announce => "announce",
            Self::Ask => "ask",
        }
    }

    /// Returns its path at the listening hearken.
    pub fn path(self) -> &'static str {
        match self {
            Self::Announce => "mcp/announce",
            Self::Ask => "mcp/ask",
        }
    }

    /// Describes it for agents.
    pub fn described(self) -> Value {
        match self {
            Self::Announce => json!({
                "name": self.name(),
                "title": "Say something",
                "description": "Say something to the person at once, as your own words: what you found, what you are \
                    about to do, that you are done. A sentence or two. It does not wait and brings no answer.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"text": {"type": "string", "description": "What to say",
                        "maxLength": LONGEST_TEXT}},
                    "required": ["text"],
                },
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
            Self::Ask => json!({
                "name": self.name(),
                "title": "Ask the person",
                "description": "Ask the person one question, as your own, and wait for the answer; it may take long. \
                    The answer is an opinion and permits nothing: never ask here whether a call may run.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "question": {"type": "string", "description": "The question", "maxLength": LONGEST_TEXT},
                        "choices": {"type": "array", "description": "Answers to choose from, if it is not open",
                            "items": {"type": "string", "maxLength": LONGEST_CHOICE},
                            "minItems": 1, "maxItems": MOST_CHOICES},
                    },
                    "required": ["question"],
                },
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        }
    }

    /// Returns the message for the listening hearken.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn message(self, arguments: &Value) -> Result<Value, String> {
        match self {
            Self::Announce => Ok(json!({"text": text(arguments, "text", LONGEST_TEXT)?})),
            Self::Ask => {
                let question = text(arguments, "question", LONGEST_TEXT)?;
                let choices = match arguments.get("choices") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(all)) if all.len() <= MOST_CHOICES => {
                        let all = all
                            .iter()
                            .map(|it| words("each choice", it, LONGEST_CHOICE));
                        all.collect::<Result<Vec<&str>, String>>()?
                    }
                    Some(_) => {
                        return Err(format!(
                            "choices must be a list of at most {MOST_CHOICES} texts"
                        ));
                    }
                };
                Ok(json!({"question": question, "choices": choices}))
            }
        }
    }

    /// Returns the result for the outcome of the message.
    pub fn result(self, outcome: &ListenerCallOutcome) -> ToolResult {
        let said = match outcome {
            ListenerCallOutcome::Answered(said) => said,
            ListenerCallOutcome::Nobody => {
                let what = match self {
                    Self::Announce => "nobody listens, and nothing was announced",
                    Self::Ask => "nobody was asked",
                };
                let words = format!(
                    "hearken is not running here; {what}. The person starts it with: hearken watch hooks"
                );
                return (words, true);
            }
            ListenerCallOutcome::Lost => {
                let words = match self {
                    Self::Announce => "hearken ended. It is unknown whether it was announced.",
                    Self::Ask => "hearken ended before anybody answered.",
                };
                return (words.to_owned(), true);
            }
            ListenerCallOutcome::Unanswered => {
                return ("Nobody answered in time.".to_owned(), true);
            }
            ListenerCallOutcome::Refused => return ("hearken did not take it.".to_owned(), true),
            ListenerCallOutcome::Cancelled => return ("It was cancelled.".to_owned(), true),
        };
        if let Some(error) = said.get("error").and_then(Value::as_str) {
            return (format!("hearken did not take it: {error}."), true);
        }
        let is = |name: &str| said.get(name) == Some(&Value::Bool(true));
        let answer = said.get("answer").and_then(Value::as_str);
        match (self, answer) {
            (Self::Announce, _) => ("Announced.".to_owned(), false),
            (Self::Ask, Some(answer)) => (answer.to_owned(), false),
            (Self::Ask, None) if is("declined") => {
                ("The person gives no answer.".to_owned(), false)
            }
            (Self::Ask, None) if is("left") => {
                let words =
                    "The person leaves this to you. That permits nothing that needs a permission.";
                (words.to_owned(), false)
            }
            (Self::Ask, None) => ("Nobody answered.".to_owned(), true),
        }
    }
}

fn text<'a>(arguments: &'a Value, name: &str, most: usize) -> Result<&'a str, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Err(format!("{name} is missing")),
        Some(value) => words(name, value, most),
    }
}

fn words<'a>(name: &str, value: &'a Value, most: usize) -> Result<&'a str, String> {
    let text = value
        .as_str()
        .ok_or_else(|| format!("{name} must be a text"))?;
    if text.trim().is_empty() {
        return Err(format!("{name} is empty"));
    }
    match text.chars().count() <= most {
        true => Ok(text),
        false => Err(format!(
            "{name} is longer than {most} characters; shorten it"
        )),
    }
}
