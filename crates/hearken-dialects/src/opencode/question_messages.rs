//! opencode's questions, read leniently: requests for a permission, and for answers in words.
//!
//! Responsibilities: both kinds, within bounds, and whether anything was shortened, which rules out allowing it. Not
//! here: the events that carry them (`messages`), the questions that they become (`questions`).

use serde_json::{Map, Value, json};

use crate::edit_changes;
use crate::event_writer::cut;
use crate::kit::acp_shape;
use crate::kit::members::text;
use crate::kit::turn_updates::CallNews;

use super::messages::{LONGEST_WORDS, edits, member, name, places};

/// How many patterns of a permission, and how many questions of one request, are read.
const MOST: usize = 64;
/// How many answers to a question are offered: AAEP allows 32, and one of them declines.
const MOST_OPTIONS: usize = 31;

/// A request for a permission.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionQuery {
    /// Its name.
    pub id: String,
    /// The conversation.
    pub conversation: String,
    /// The call that it concerns, as far as known.
    pub call: CallNews,
    /// Whether it is for the call itself, not for something that the call needs.
    pub is_for_call: bool,
    /// Its details, by name.
    pub inputs: Map<String, Value>,
    /// Its subject, in full.
    pub title: String,
    /// Whether the call's details cover all of that subject.
    pub is_whole: bool,
    /// What it wants to do, by ACP's name for such calls.
    pub call_kind: &'static str,
    /// What `always` would allow; `None` if it cannot be read in full.
    pub always: Option<Vec<String>>,
}

/// A request for answers in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordsRequest {
    /// Its name.
    pub id: String,
    /// The conversation.
    pub conversation: String,
    /// The questions, in order.
    pub questions: Vec<FormQuestion>,
    /// How many further questions and answers were left out.
    pub left_out: usize,
}

/// One of the questions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormQuestion {
    /// The text of the question.
    pub words: String,
    /// The offered answers: label and description.
    pub options: Vec<(String, String)>,
    /// Whether several answers may be chosen.
    pub several: bool,
    /// Whether it may be answered in other words.
    pub free: bool,
}

/// Reads a request for a permission; `None` if it has no name.
pub fn wants(what: &Map<String, Value>) -> Option<PermissionQuery> {
    let id = name(what, "id")?;
    let kind = text(what, "permission").unwrap_or_default();
    let empty = Map::new();
    let metadata = member(what, "metadata").unwrap_or(&empty);
    let call = member(what, "tool").and_then(|tool| name(tool, "callID"));
    let patterns = list(what, "patterns");
    let title = match (&patterns, what.get("patterns")) {
        (Some(patterns), _) if patterns.is_empty() => kind.to_owned(),
        (Some(patterns), _) => format!("{kind}: {}", patterns.join(", ")),
        (None, written) => format!("{kind}: {}", written.unwrap_or(&Value::Null)),
    };
    let mut form = json!({"toolCallId": call.as_deref().unwrap_or(&id), "title": title});
    if call.is_none() {
        form["kind"] = kind.into();
    }
    let mut inputs = metadata.clone();
    inputs.remove("diff");
    form["locations"] = places(&inputs);
    let mut news = acp_shape::call(form.as_object()?)?;
    news.edits = edits(metadata, None);
    let is_whole = match &news.edits {
        Some(edits) => edits.len() < edit_changes::MOST_FILES,
        None => {
            let place = form["locations"].pointer("/0/path").and_then(Value::as_str);
            let said = news.places.iter().flatten().next().map(String::as_str);
            patterns.is_some() && news.title.as_ref() == Some(&title) && said == place
        }
    };
    if news.edits.is_some() {
        // The files are announced with their changes.
        news.places = Some(Vec::new());
    }
    let is_for_call = call.is_some() && !matches!(kind, "external_directory" | "doom_loop");
    if !is_for_call {
        // The other effects of its call are not part of the question.
        news.edits.get_or_insert_default();
        news.places.get_or_insert_default();
    }
    let call_kind = match kind {
        "edit" => "edit",
        "bash" => "execute",
        "read" => "read",
        "webfetch" => "fetch",
        _ => "other",
    };
    Some(PermissionQuery {
        is_for_call,
        call_kind,
        id,
        title,
        is_whole,
        conversation: name(what, "sessionID")?,
        call: news,
        inputs,
        always: list(what, "always"),
    })
}

/// Reads the arguments of a call as a whole: the command in them, and each by its name. Returns whether nothing was
/// shortened.
pub fn given(inputs: &Map<String, Value>, news: &mut CallNews) -> bool {
    let form = json!({"toolCallId": news.id, "rawInput": inputs});
    if let Some(read) = form.as_object().and_then(acp_shape::call) {
        news.inputs = read.inputs;
    }
    let kept = news.inputs.as_ref().map(|inputs| inputs.all.as_slice());
    let kept = kept.unwrap_or_default();
    kept.len() == inputs.len() && kept.iter().all(|input| !input.is_cut)
}

/// Returns a list of exact texts; `None` if there are too many or anything else is in it.
fn list(what: &Map<String, Value>, key: &str) -> Option<Vec<String>> {
    match what.get(key) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(all)) if all.len() <= MOST => {
            let texts = all.iter().map(|it| it.as_str().map(str::to_owned));
            texts.collect()
        }
        Some(_) => None,
    }
}

/// Reads a request for answers in words; `None` if it asks nothing.
pub fn wonders(what: &Map<String, Value>) -> Option<WordsRequest> {
    let all = what.get("questions")?.as_array()?;
    let mut unsaid = 0;
    let questions = all.iter().filter_map(Value::as_object).map(|it| {
        let written = it.get("options").and_then(Value::as_array);
        let options = written.into_iter().flatten().filter_map(Value::as_object);
        let option = |option: &Map<String, Value>| {
            let said = text(option, "description").unwrap_or_default();
            Some((text(option, "label")?.to_owned(), said.to_owned()))
        };
        let options: Vec<_> = options.filter_map(option).take(MOST_OPTIONS).collect();
        unsaid += written.map_or(0, Vec::len) - options.len();
        FormQuestion {
            words: cut(text(it, "question").unwrap_or_default(), LONGEST_WORDS),
            options,
            several: it.get("multiple") == Some(&Value::Bool(true)),
            free: it.get("custom") != Some(&Value::Bool(false)),
        }
    });
    let questions: Vec<FormQuestion> = questions.take(MOST).collect();
    Some(WordsRequest {
        id: name(what, "id")?,
        conversation: name(what, "sessionID")?,
        left_out: all.len() - questions.len() + unsaid,
        questions,
    })
    .filter(|it| !it.questions.is_empty())
}

/// Reads a list of requests of one kind; the second value counts the unreadable ones.
pub fn each<T>(
    answer: &str,
    read: fn(&Map<String, Value>) -> Option<T>,
) -> Option<(Vec<T>, usize)> {
    let all: Vec<Value> = serde_json::from_str(answer).ok()?;
    let known: Vec<T> = all.iter().filter_map(|it| read(it.as_object()?)).collect();
    let unread = all.len() - known.len();
    Some((known, unread))
}
