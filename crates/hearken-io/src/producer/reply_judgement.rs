//! What a question accepts, and how it ends.
//!
//! Responsibilities: reading the terms from a question's payload (chapters 4.4.1, 4.4.2), judging a
//! reply against them (chapters 6.3.4 step 6, 6.5.5), the outcome of a timeout (chapter 6.4). Not
//! here: the form of a reply (`posted_reply`) and which tokens are outstanding (`pending_questions`).

use serde_json::{Map, Value};

use super::event_kinds::EventKind;
use super::posted_reply::ReplyContent;

/// How much of an answer later events repeat, in characters: enough for a name or a sentence, but
/// no stranger can make the producer flood other people's screens.
const MAX_ECHO_CHARS: usize = 200;

/// The longest `timeout_seconds` that the schemas allow: a day.
const MAX_TIMEOUT_SECONDS: u64 = 86_400;

/// The terms of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionTerms {
    /// A decision.
    Confirmation {
        /// The decisions that are allowed.
        allowed: Vec<String>,
    },
    /// An answer.
    Clarification {
        /// The forms that it may take.
        kinds: Vec<ResponseKind>,
        /// The choices, if it may be one.
        choices: Vec<AskedChoice>,
        /// The answer that silence counts as.
        default: Option<String>,
    },
}

/// The form that an answer may take (chapter 6.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseKind {
    /// Any text.
    Freetext,
    /// Yes or no.
    YesNo,
    /// One of the choices.
    MultipleChoice,
    /// A number.
    Numeric,
}

/// A single choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedChoice {
    /// The value that is sent.
    pub value: String,
    /// Its words.
    pub label: String,
}

/// How a question ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// A confirmation was answered with one of its allowed replies.
    Decided(String),
    /// A clarification was answered.
    Answered {
        /// The value of the choice, if the answer was one.
        chose: Option<String>,
        /// The answer as it may be repeated to people.
        words: String,
    },
    /// No answer arrived in time; the words are those of the default response, if there is one.
    TimedOut {
        /// The words of the default response.
        words: Option<String>,
    },
}

/// Why a well-formed reply is not an answer to its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyRefusal {
    /// A decision on a clarification, or a response to a confirmation.
    WrongKind,
    /// A decision, a type or a choice that the question does not allow.
    NotAllowed,
}

impl ResponseKind {
    fn from_wire(name: &str) -> Option<Self> {
        match name {
            "freetext" => Some(Self::Freetext),
            "yes_no" => Some(Self::YesNo),
            "multiple_choice" => Some(Self::MultipleChoice),
            "numeric" => Some(Self::Numeric),
            _ => None,
        }
    }
}

impl QuestionTerms {
    /// Reads the terms and the time limit in seconds from a question's payload.
    ///
    /// # Errors
    /// What is wrong with the payload.
    pub fn read(kind: EventKind, fields: &Map<String, Value>) -> Result<(Self, u64), String> {
        let timeout = fields
            .get("timeout_seconds")
            .and_then(Value::as_u64)
            .filter(|seconds| (1..=MAX_TIMEOUT_SECONDS).contains(seconds))
            .ok_or("timeout_seconds must be a whole number from 1 to 86400")?;
        let asked = match kind {
            EventKind::AwaitingConfirmation => Self::read_confirmation(fields)?,
            EventKind::AwaitingClarification => Self::read_clarification(fields)?,
            EventKind::SessionStarted
            | EventKind::SessionCompleted
            | EventKind::SessionErrored
            | EventKind::SessionCancelled
            | EventKind::StateChanged
            | EventKind::ProgressUpdated
            | EventKind::ToolInvoked
            | EventKind::ToolCompleted
            | EventKind::OutputStreaming
            | EventKind::HandoffRequested => {
                return Err("only a confirmation or a clarification can be asked".to_owned());
            }
        };
        Ok((asked, timeout))
    }

    fn read_confirmation(fields: &Map<String, Value>) -> Result<Self, String> {
        let default = fields.get("default_decision").and_then(Value::as_str);
        let risky = matches!(
            fields.get("risk_level").and_then(Value::as_str),
            Some("medium" | "high")
        );
        let irreversible = fields.get("irreversible") == Some(&Value::Bool(true))
            || fields.get("reversibility").and_then(Value::as_str) == Some("irreversible");
        match default {
            Some("reject") => {}
            Some("accept") if risky && irreversible => {
                return Err("an irreversible action of medium or high risk must default to reject (chapter 6.4.1)".to_owned());
            }
            Some("accept") => {}
            Some(_) | None => return Err("default_decision must be accept or reject".to_owned()),
        }
        let allowed = match fields.get("allowed_replies") {
            None => vec!["accept".to_owned(), "reject".to_owned()],
            Some(list) => strings(list).ok_or("allowed_replies must be a list of texts")?,
        };
        Ok(Self::Confirmation { allowed })
    }

    fn read_clarification(fields: &Map<String, Value>) -> Result<Self, String> {
        let kinds = match fields.get("accepted_response_kinds") {
            None => vec![ResponseKind::Freetext],
            Some(list) => strings(list)
                .and_then(|names| {
                    names
                        .iter()
                        .map(|name| ResponseKind::from_wire(name))
                        .collect::<Option<Vec<_>>>()
                })
                .filter(|kinds| !kinds.is_empty())
                .ok_or("accepted_response_kinds must list freetext, yes_no, multiple_choice or numeric")?,
        };
        let choices = match fields.get("choices") {
            None => Vec::new(),
            Some(list) => choices(list).ok_or("choices must be a list of value and label")?,
        };
        if kinds.contains(&ResponseKind::MultipleChoice) && choices.len() < 2 {
            return Err("multiple_choice wants at least two choices".to_owned());
        }
        let default = fields
            .get("default_response")
            .and_then(Value::as_str)
            .map(str::to_owned);
        Ok(Self::Clarification {
            kinds,
            choices,
            default,
        })
    }

    /// Returns the type of the event that asks it.
    pub(super) fn kind(&self) -> EventKind {
        match self {
            Self::Confirmation { .. } => EventKind::AwaitingConfirmation,
            Self::Clarification { .. } => EventKind::AwaitingClarification,
        }
    }

    /// Judges the content of a well-formed reply.
    pub(super) fn judge(&self, said: &ReplyContent) -> Result<QuestionOutcome, ReplyRefusal> {
        match (self, said) {
            (Self::Confirmation { allowed }, ReplyContent::Decision { decision, modified }) => {
                if !allowed.contains(decision) {
                    return Err(ReplyRefusal::NotAllowed);
                }
                // Modified actions are not supported here, so the reply means reject (6.3.2).
                let decision = if *modified { "reject" } else { decision };
                Ok(QuestionOutcome::Decided(decision.to_owned()))
            }
            (Self::Clarification { kinds, choices, .. }, ReplyContent::Response(response)) => {
                judge_response(kinds, choices, response).ok_or(ReplyRefusal::NotAllowed)
            }
            (Self::Confirmation { .. }, ReplyContent::Response(_))
            | (Self::Clarification { .. }, ReplyContent::Decision { .. }) => {
                Err(ReplyRefusal::WrongKind)
            }
        }
    }

    /// Returns the outcome of a timeout.
    pub(super) fn timed_out(&self) -> QuestionOutcome {
        let words = match self {
            Self::Confirmation { .. } => None,
            Self::Clarification {
                choices, default, ..
            } => default.as_ref().map(|default| {
                choices
                    .iter()
                    .find(|choice| choice.value == *default)
                    .map_or_else(|| default.clone(), |choice| choice.label.clone())
            }),
        };
        QuestionOutcome::TimedOut { words }
    }
}

fn judge_response(
    kinds: &[ResponseKind],
    choices: &[AskedChoice],
    response: &Value,
) -> Option<QuestionOutcome> {
    let accepts = |kind| kinds.contains(&kind);
    let free = |words: String| QuestionOutcome::Answered { chose: None, words };
    match response {
        Value::Bool(yes) if accepts(ResponseKind::YesNo) => {
            Some(free(if *yes { "yes" } else { "no" }.to_owned()))
        }
        Value::Number(number) if accepts(ResponseKind::Numeric) => Some(free(number.to_string())),
        Value::String(text) => {
            let choice = choices
                .iter()
                .find(|choice| accepts(ResponseKind::MultipleChoice) && choice.value == *text);
            match choice {
                Some(choice) => Some(QuestionOutcome::Answered {
                    chose: Some(choice.value.clone()),
                    words: choice.label.clone(),
                }),
                None => accepts(ResponseKind::Freetext).then(|| free(echo(text))),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// Makes a stranger's text safe to repeat: one line, no control characters, not long.
fn echo(text: &str) -> String {
    let mut words: String = text
        .chars()
        .map(|sign| if sign.is_control() { ' ' } else { sign })
        .take(MAX_ECHO_CHARS)
        .collect();
    if text.chars().nth(MAX_ECHO_CHARS).is_some() {
        words.push('…');
    }
    words.trim().to_owned()
}

fn strings(list: &Value) -> Option<Vec<String>> {
    list.as_array()?
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn choices(list: &Value) -> Option<Vec<AskedChoice>> {
    list.as_array()?
        .iter()
        .map(|item| {
            Some(AskedChoice {
                value: item.get("value")?.as_str()?.to_owned(),
                label: item.get("label")?.as_str()?.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn clarification(fields: Value) -> QuestionTerms {
        let mut fields = fields.as_object().unwrap().clone();
        fields.insert("timeout_seconds".to_owned(), json!(60));
        QuestionTerms::read(EventKind::AwaitingClarification, &fields)
            .unwrap()
            .0
    }

    fn words(asked: &QuestionTerms, response: Value) -> Result<String, ReplyRefusal> {
        asked
            .judge(&ReplyContent::Response(response))
            .map(|outcome| match outcome {
                QuestionOutcome::Answered { words, .. } => words,
                QuestionOutcome::Decided(_) | QuestionOutcome::TimedOut { .. } => {
                    String::from("no answer")
                }
            })
    }

    #[test]
    fn the_type_of_an_answer_follows_the_accepted_kinds() {
        let yes_no = clarification(json!({"accepted_response_kinds": ["yes_no"]}));
        assert_eq!(words(&yes_no, json!(true)).unwrap(), "yes");
        assert_eq!(words(&yes_no, json!("yes")), Err(ReplyRefusal::NotAllowed));
        let numeric = clarification(json!({"accepted_response_kinds": ["numeric"]}));
        assert_eq!(words(&numeric, json!(6.5)).unwrap(), "6.5");
        assert_eq!(words(&numeric, json!("6.5")), Err(ReplyRefusal::NotAllowed));
        let free = clarification(json!({}));
        assert_eq!(words(&free, json!("at\u{1b}\nseven")).unwrap(), "at  seven");
        assert_eq!(words(&free, json!(7)), Err(ReplyRefusal::NotAllowed));
        assert_eq!(
            free.judge(&ReplyContent::Decision {
                decision: "accept".to_owned(),
                modified: false
            }),
            Err(ReplyRefusal::WrongKind)
        );
    }

    #[test]
    fn a_choice_is_one_of_the_listed_values_unless_free_text_is_taken_too() {
        let choices =
            json!([{"value": "fri", "label": "Friday"}, {"value": "sat", "label": "Saturday"}]);
        let strict = clarification(
            json!({"accepted_response_kinds": ["multiple_choice"], "choices": choices, "default_response": "sat"}),
        );
        assert_eq!(words(&strict, json!("fri")).unwrap(), "Friday");
        assert_eq!(
            words(&strict, json!("sunday")),
            Err(ReplyRefusal::NotAllowed)
        );
        assert_eq!(
            strict.timed_out(),
            QuestionOutcome::TimedOut {
                words: Some("Saturday".to_owned())
            }
        );
        let open = clarification(
            json!({"accepted_response_kinds": ["multiple_choice", "freetext"], "choices": choices}),
        );
        assert_eq!(words(&open, json!("sunday")).unwrap(), "sunday");
    }

    #[test]
    fn a_long_answer_is_cut_before_it_is_repeated() {
        let free = clarification(json!({}));
        let spoken = words(&free, json!("é".repeat(5000))).unwrap();
        assert_eq!(spoken.chars().count(), MAX_ECHO_CHARS + 1);
    }

    #[test]
    fn a_modified_action_means_reject() {
        let fields = json!({"timeout_seconds": 60, "default_decision": "reject"});
        let (asked, timeout) =
            QuestionTerms::read(EventKind::AwaitingConfirmation, fields.as_object().unwrap())
                .unwrap();
        assert_eq!(timeout, 60);
        let decide = |decision: &str, modified| {
            asked.judge(&ReplyContent::Decision {
                decision: decision.to_owned(),
                modified,
            })
        };
        assert_eq!(
            decide("accept", false),
            Ok(QuestionOutcome::Decided("accept".to_owned()))
        );
        assert_eq!(
            decide("accept", true),
            Ok(QuestionOutcome::Decided("reject".to_owned()))
        );
        assert_eq!(decide("maybe", false), Err(ReplyRefusal::NotAllowed));
        assert_eq!(
            asked.judge(&ReplyContent::Response(json!("accept"))),
            Err(ReplyRefusal::WrongKind)
        );
    }

    #[test]
    fn an_unsafe_default_is_refused() {
        let fields = json!({"timeout_seconds": 60, "default_decision": "accept",
                            "risk_level": "high", "reversibility": "irreversible"});
        let error =
            QuestionTerms::read(EventKind::AwaitingConfirmation, fields.as_object().unwrap())
                .unwrap_err();
        assert!(error.contains("6.4.1"), "{error}");
    }
}
