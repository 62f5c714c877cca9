//! What is wrong with a message or with an agent, in words, for speech and for reports alike.
//!
//! Responsibilities: the words of findings, of violations of the message order, of dangers and of unreadable text.
//! Not here: what is announced and when (`announcer`), how a report is built (`inspect`).

use crate::protocol::{Datum, DecodeError, Finding, Problem};
use crate::session::{AnomalyKind, Danger, Gravity};

use super::phrase::{Arg, Phrases};

impl Phrases {
    /// Words what is wrong with a field of a message, without the section of the protocol.
    pub fn finding(&self, finding: &Finding) -> String {
        self.problem(&finding.field, &finding.problem)
    }

    /// Words what is wrong with a field, or with the message as a whole if the name is empty.
    pub fn problem(&self, field: &str, problem: &Problem) -> String {
        let field = if field.is_empty() {
            self.text("finding.event", &[])
        } else {
            field.to_owned()
        };
        let mut args = vec![("field", Arg::Own(field))];
        args.extend(problem.about().into_iter().map(|(place, datum)| {
            let words = match datum {
                Datum::Plain(text) => text,
                Datum::Kind(kind) => self.text(&format!("finding.kind.{}", kind.name()), &[]),
                Datum::Form(form) => self.text(&format!("finding.form.{}", form.name()), &[]),
                Datum::OneOf(words) => self.either(words),
            };
            (place, Arg::Own(words))
        }));
        self.text(&format!("finding.{}", problem.name()), &args)
    }

    /// Words a finding with the section of the protocol on which it is based.
    pub fn finding_in_full(&self, finding: &Finding) -> String {
        let args = [
            ("what", Arg::Own(self.finding(finding))),
            ("section", Arg::own(finding.section)),
        ];
        self.text("finding", &args)
    }

    /// Words a violation of the order of an agent's messages.
    pub fn departure(&self, kind: AnomalyKind, detail: String) -> String {
        let key = format!("anomaly.{}", kind.name());
        self.text(&key, &[("detail", Arg::Own(detail))])
    }

    /// Words why a text can't be read.
    pub fn unread(&self, error: &DecodeError) -> String {
        let args = match error {
            DecodeError::Json { line, column, .. } => {
                vec![("line", Arg::own(line)), ("column", Arg::own(column))]
            }
            DecodeError::NotAnObject(kind) => {
                let kind = self.text(&format!("finding.kind.{}", kind.name()), &[]);
                vec![("kind", Arg::Own(kind))]
            }
            DecodeError::TooDeep | DecodeError::NoType => Vec::new(),
        };
        self.text(&format!("unread.{}", error.name()), &args)
    }

    /// Returns words as a list of alternatives.
    pub fn either(&self, words: &[&str]) -> String {
        self.listed(words, "finding.or")
    }

    /// Returns words as a list joined by "and".
    pub fn all_of(&self, words: &[&str]) -> String {
        self.listed(words, "call.value.and")
    }

    fn listed(&self, words: &[&str], between: &str) -> String {
        match words {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [most @ .., last] => {
                let between = self.text(between, &[]);
                format!("{} {between} {last}", most.join(", "))
            }
        }
    }
}

/// Returns the key of a danger's words.
pub fn key_of(danger: &Danger) -> &'static str {
    match danger {
        Danger::Unasked { done: false, .. } => "danger.unasked",
        Danger::Unasked { done: true, .. } => "danger.unasked.done",
        Danger::PerhapsUnasked { done: false, .. } => "danger.perhaps_unasked",
        Danger::PerhapsUnasked { done: true, .. } => "danger.perhaps_unasked.done",
        Danger::PerhapsUnaskedLost { .. } => "danger.perhaps_unasked.lost",
        Danger::DoneAfterRejection { suspicion, .. } => {
            match (suspicion.is_sure, suspicion.by_silence) {
                (true, false) => "danger.rejected",
                (false, false) => "danger.perhaps_rejected",
                (true, true) => "danger.lapsed",
                (false, true) => "danger.perhaps_lapsed",
            }
        }
        Danger::RanOtherwise { .. } => "danger.ran_otherwise",
        Danger::AcceptsBySilence { .. } => "danger.silence",
        Danger::AnsweredAfterEnd { .. } => "danger.after_end",
        Danger::ActsAfterEnd { .. } => "danger.acts_after_end",
    }
}

/// Returns the key of the words for why the person should have been asked; `None` for other dangers.
fn gravity_of(danger: &Danger) -> Option<&'static str> {
    match danger {
        Danger::Unasked { gravity, .. }
        | Danger::PerhapsUnasked { gravity, .. }
        | Danger::PerhapsUnaskedLost { gravity, .. } => Some(match gravity {
            Gravity::Irreversible => "danger.irreversible",
            Gravity::HighRisk => "danger.high_risk",
        }),
        Danger::DoneAfterRejection { .. }
        | Danger::RanOtherwise { .. }
        | Danger::AcceptsBySilence { .. }
        | Danger::AnsweredAfterEnd { .. }
        | Danger::ActsAfterEnd { .. } => None,
    }
}

/// Returns the arguments of a danger's words.
pub fn args_of(
    phrases: &Phrases,
    danger: &Danger,
    tool: Arg,
    remedy: String,
) -> [(&'static str, Arg); 5] {
    let ran = match danger {
        Danger::RanOtherwise { ran, .. } => ran.clone(),
        Danger::Unasked { .. }
        | Danger::PerhapsUnasked { .. }
        | Danger::PerhapsUnaskedLost { .. }
        | Danger::DoneAfterRejection { .. }
        | Danger::AcceptsBySilence { .. }
        | Danger::AnsweredAfterEnd { .. }
        | Danger::ActsAfterEnd { .. } => String::new(),
    };
    let question = danger.question().map(|id| id.0.to_string());
    let gravity = gravity_of(danger).map(|key| phrases.text(key, &[]));
    [
        ("tool", tool),
        ("n", Arg::own(question.unwrap_or_default())),
        ("remedy", Arg::Own(remedy)),
        ("ran", Arg::Exact(ran, None)),
        ("gravity", Arg::Own(gravity.unwrap_or_default())),
    ]
}
