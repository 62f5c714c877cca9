//! opencode's questions as AAEP questions, and the answers in its form.
//!
//! Responsibilities: a permission with its three answers; questions in words, one after another, and their combined
//! answer. Not here: asking one after another (`kit::turn`), sending (`client`).
//!
//! Mental model: a permission accepts `once`, `always` and `reject`. What `always` would allow is announced before it
//! is chosen. Several questions arrive as one request and go back as one answer: each is asked after the previous one
//! is answered, and nothing is sent before the last. A question with choices can be declined, which declines them all,
//! as opencode defines it.

use serde_json::{Map, Value, json};

use crate::SharedWording;
use crate::event_writer::cut;
use crate::kit::call::{self, first};
use crate::kit::options::{self, OptionChoice};
use crate::kit::permission::Permission;
use crate::kit::turn_updates::CallNews;
use crate::link::{Body, HttpCall};
use crate::protocol::{self, AwaitingClarification, ResponseKind};
use crate::rpc::Id;

use super::question_messages::{self, FormQuestion, PermissionQuery, WordsRequest};

/// The longest list of permanent permissions, in characters: more could not be announced in full.
const LONGEST_PATTERNS: usize = 350;
/// How much of a request too long to announce can be read on demand, in characters.
const LONGEST_WHOLE: usize = 64 * 1024;
/// The longest label of an answer, in characters.
const LONGEST_LABEL: usize = 900;
/// The choice that answers none of the questions.
const DECLINE: &str = "decline";

/// The questions of one request, and the answers so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionForm {
    questions: Vec<FormQuestion>,
    answers: Vec<Vec<String>>,
}

/// The effect of an answer of the person.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEffect {
    /// It is sent.
    Sent(HttpCall),
    /// It is kept until the last one is given, and the next question is asked.
    Kept,
    /// It is not an accepted answer.
    Unfit,
}

/// Builds the question for a permission, and what is known of its call. The third value counts the answers that cannot
/// be offered: a request that was shortened can only be rejected, because the person did not hear what would be
/// allowed.
pub fn permission(
    wants: PermissionQuery,
    given: Option<&Map<String, Value>>,
    words: &SharedWording,
) -> (Permission, CallNews, usize) {
    let mut news = wants.call;
    let mut inputs = match given.filter(|_| wants.is_for_call) {
        Some(given) => given.clone(),
        None => Map::new(),
    };
    inputs.extend(wants.inputs);
    let mut is_whole = wants.is_whole;
    // A request without details leaves the call as it was known.
    if !inputs.is_empty() || !wants.is_for_call {
        let kept = question_messages::given(&inputs, &mut news);
        let edits = news.edits.as_ref().is_some_and(|it| !it.is_empty());
        // A command is quoted in full, and edits by their lines.
        is_whole = news.command().is_some() || is_whole && (kept || edits);
    }
    let always = wants.always.map(|always| always.join(", "));
    let lasts = always.as_ref().is_none_or(|it| !it.trim().is_empty());
    let always = always.filter(|it| is_whole && it.chars().count() <= LONGEST_PATTERNS);
    let always = always.filter(|_| lasts);
    let mut offered = vec![json!({"optionId": "reject", "kind": "reject_once"})];
    if is_whole {
        offered.insert(0, json!({"optionId": "once", "kind": "allow_once"}));
    }
    let left_out = usize::from(!is_whole) + usize::from(lasts && always.is_none());
    if let Some(always) = always {
        offered.push(json!({"optionId": "always", "name": always, "kind": "allow_always"}));
    }
    let mut context = Vec::new();
    if !is_whole {
        let whole = format!("{} {}", wants.title, Value::Object(inputs));
        context.push(("whole".to_owned(), cut(&whole, LONGEST_WHOLE)));
    }
    let mut params = Map::new();
    params.insert("options".to_owned(), Value::Array(offered));
    params.insert("toolCall".to_owned(), json!({"kind": wants.call_kind}));
    let choices = options::read(&params, words).choices;
    let permission = Permission::consent(
        Id::of_name(&wants.id),
        &call::key(&news.id),
        choices,
        context,
    );
    (permission, news, left_out)
}

/// Returns the request that answers a permission.
pub fn decided(request: &str, choice: &OptionChoice, reason: Option<&str>) -> HttpCall {
    let mut body = json!({"reply": choice.option});
    if let Some(reason) = reason.filter(|reason| !choice.allows && !reason.trim().is_empty()) {
        body["message"] = reason.into();
    }
    let path = format!("/permission/{}/reply", segment(request));
    HttpCall::post(path, Body::json(body.to_string()))
}

impl QuestionForm {
    /// Collects the questions of a request.
    pub fn new(wonders: WordsRequest) -> Self {
        Self {
            questions: wonders.questions,
            answers: Vec::new(),
        }
    }

    /// Builds the next question.
    pub fn next(&self, request: &str, words: &SharedWording) -> Option<Permission> {
        let question = self.questions.get(self.answers.len())?;
        let number = |n: usize| match self.questions.len() {
            1 => String::new(),
            _ => n.to_string(),
        };
        let (at, all) = (number(self.answers.len() + 1), number(self.questions.len()));
        let key = match question.several && !question.options.is_empty() {
            true => "opencode.question.several",
            false => "opencode.question",
        };
        let asked = cut(&question.words, LONGEST_LABEL * 4);
        let args = [
            ("at", at.as_str()),
            ("all", all.as_str()),
            ("words", asked.as_str()),
        ];
        let asked = first(words, key, &args);
        let mut choices: Vec<protocol::Choice> = question
            .options
            .iter()
            .enumerate()
            .map(|(at, (label, said))| {
                let label = match said.trim().is_empty() {
                    true => label.clone(),
                    false => format!("{label}: {said}"),
                };
                protocol::Choice::new((at + 1).to_string(), cut(&label, LONGEST_LABEL))
            })
            .collect();
        let mut kinds = Vec::new();
        if !choices.is_empty() {
            let decline = first(words, "opencode.decline", &[]);
            choices.push(protocol::Choice::new(DECLINE, decline));
            kinds.push(ResponseKind::MultipleChoice);
        }
        if question.free || question.several || choices.is_empty() {
            kinds.push(ResponseKind::Freetext);
        }
        let question = AwaitingClarification {
            question: asked,
            accepted_response_kinds: kinds,
            choices,
            ..AwaitingClarification::default()
        };
        Some(Permission::words(Id::of_name(request), question))
    }

    /// Applies an answer to the current question.
    pub fn answer(&mut self, request: &str, text: &str) -> AnswerEffect {
        let Some(question) = self.questions.get(self.answers.len()) else {
            return AnswerEffect::Unfit;
        };
        if text.trim() == DECLINE && !question.options.is_empty() {
            let path = format!("/question/{}/reject", segment(request));
            return AnswerEffect::Sent(HttpCall::post(path, Body::json("{}")));
        }
        let Some(answer) = question.takes(text) else {
            return AnswerEffect::Unfit;
        };
        let mut answers = self.answers.clone();
        answers.push(answer);
        if answers.len() == self.questions.len() {
            // The last answer is not kept: if it cannot be sent, it is given again.
            let path = format!("/question/{}/reply", segment(request));
            let body = json!({"answers": answers}).to_string();
            return AnswerEffect::Sent(HttpCall::post(path, Body::json(body)));
        }
        self.answers = answers;
        AnswerEffect::Kept
    }
}

impl FormQuestion {
    /// Reads an answer: the labels that it names, or other words if allowed.
    fn takes(&self, text: &str) -> Option<Vec<String>> {
        let text = text.trim();
        let named = |word: &str| {
            let word = word.trim();
            let by_number = word
                .parse::<usize>()
                .ok()
                .and_then(|n| self.options.get(n.checked_sub(1)?));
            let by_label = || {
                self.options
                    .iter()
                    .find(|(label, _)| label.eq_ignore_ascii_case(word))
            };
            by_number.or_else(by_label).map(|(label, _)| label.clone())
        };
        if let Some(label) = named(text) {
            return Some(vec![label]);
        }
        let several = self.several.then(|| {
            let words = text
                .split([',', ' ', ';'])
                .filter(|word| !word.trim().is_empty());
            words.map(named).collect::<Option<Vec<String>>>()
        });
        if let Some(Some(mut labels)) = several
            && !labels.is_empty()
        {
            let all = labels.clone();
            let mut at = 0;
            labels.retain(|label| {
                at += 1;
                !all.iter().take(at - 1).any(|before| before == label)
            });
            return Some(labels);
        }
        (self.free && !text.is_empty()).then(|| vec![text.to_owned()])
    }
}

/// Encodes a name as exactly one segment of a path.
pub fn segment(name: &str) -> String {
    name.bytes().fold(String::new(), |mut path, byte| {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(several: bool, free: bool) -> FormQuestion {
        FormQuestion {
            words: "Which?".to_owned(),
            options: ["a.txt", "b.txt", "3"]
                .map(|label| (label.to_owned(), String::new()))
                .into(),
            several,
            free,
        }
    }

    #[test]
    fn an_answer_is_a_label_or_several_or_other_words_where_they_are_taken() {
        let labels =
            |list: &[&str]| Some(list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        for (several, free, text, wanted) in [
            (false, true, "1", labels(&["a.txt"])),
            (false, true, " B.TXT ", labels(&["b.txt"])),
            (false, true, "3", labels(&["3"])),
            (false, true, "1, 2", labels(&["1, 2"])),
            (false, false, "1, 2", None),
            (true, false, "1, 2 1", labels(&["a.txt", "b.txt"])),
            (true, false, "9", None),
            (true, true, "neither of them", labels(&["neither of them"])),
            (true, true, " ", None),
        ] {
            assert_eq!(question(several, free).takes(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_name_leads_to_no_other_path() {
        assert_eq!(segment("per_1aZ-"), "per_1aZ-");
        assert_eq!(segment("../x?a b/ä"), "%2E%2E%2Fx%3Fa%20b%2F%C3%A4");
    }
}
