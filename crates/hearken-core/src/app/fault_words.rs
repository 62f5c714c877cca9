//! Phrases of other modules and faults of links, in the person's language.
//!
//! Responsibilities: wording what a module without words wants announced, with all its arguments. Not here:
//! announcing it (`links`, `doctor`).

use crate::announce::{Arg, Phrases, Reason};
use crate::link::{CauseValue, Fault, Phrase, PhraseArg};

/// Returns a phrase in words.
pub fn phrase_text(phrases: &Phrases, phrase: &Phrase) -> String {
    phrases.text(phrase.key, &args_of(phrases, phrase))
}

/// Returns several phrases in words, separated by semicolons.
pub(super) fn all_told(phrases: &Phrases, all: &[Phrase]) -> String {
    let words: Vec<String> = all.iter().map(|one| phrase_text(phrases, one)).collect();
    words.join("; ")
}

/// Returns the arguments of a phrase in words.
pub(super) fn args_of(phrases: &Phrases, phrase: &Phrase) -> Vec<(&'static str, Arg)> {
    let arg = |(name, word): &(&'static str, PhraseArg)| (*name, arg_of(phrases, word));
    phrase.args.iter().map(arg).collect()
}

fn arg_of(phrases: &Phrases, word: &PhraseArg) -> Arg {
    match word {
        PhraseArg::Own(text) => Arg::own(text),
        PhraseArg::Name(name) => Arg::Name(name.clone()),
        PhraseArg::Names(names) => {
            let names: Vec<_> = names.iter().map(|one| phrases.name_of(one)).collect();
            Arg::Own(names.join(", "))
        }
        PhraseArg::Agent(text) => Arg::Agent(text.clone(), None),
        PhraseArg::Phrase(phrase) => Arg::Own(phrase_text(phrases, phrase)),
        PhraseArg::Phrases(all) => Arg::Own(all_told(phrases, all)),
        PhraseArg::Fault(fault) => Arg::Own(fault_told(phrases, fault)),
    }
}

/// Returns a reason in words.
fn caused(phrases: &Phrases, key: &str, details: Vec<(&'static str, CauseValue)>) -> String {
    let args: Vec<(&str, Arg)> = details
        .into_iter()
        .map(|(name, detail)| match detail {
            CauseValue::Own(text) => (name, Arg::Own(text)),
            CauseValue::Kind(kind) => {
                let said = Reason::of_kind(kind).unwrap_or_else(|| Reason::said(kind));
                (name, Arg::Own(phrases.because(&said)))
            }
            CauseValue::Agent(words) => (name, Arg::Agent(words, None)),
        })
        .collect();
    phrases.text(key, &args)
}

/// Returns a number in words, with a separate phrase for each well-known number.
fn numbered(phrases: &Phrases, key: &str, number: i64) -> String {
    let exact = format!("{key}.{number}");
    let key = if phrases.has(&exact) { &exact } else { key };
    phrases.text(key, &[("number", Arg::own(number))])
}

/// Returns a fault in words.
pub(super) fn fault_told(phrases: &Phrases, fault: &Fault) -> String {
    match fault {
        Fault::Refused => phrases.text("fault.refused", &[]),
        Fault::UnknownHost => phrases.text("fault.unknown_host", &[]),
        Fault::TimedOut => phrases.text("fault.timed_out", &[]),
        Fault::Closed => phrases.text("fault.closed", &[]),
        Fault::Status { status, .. } => {
            let exact = format!("fault.status.{status}");
            let key = match status {
                _ if phrases.has(&exact) => exact.as_str(),
                500..=599 => "fault.status.5",
                _ => "fault.status",
            };
            phrases.text(key, &[("status", Arg::own(status))])
        }
        Fault::ClosedWith { code, .. } => numbered(phrases, "fault.close", i64::from(*code)),
        Fault::Exited { code } => numbered(phrases, "fault.exit", i64::from(*code)),
        Fault::Killed { signal } => numbered(phrases, "fault.signal", i64::from(*signal)),
        Fault::NotWebSocket(why) => caused(phrases, why.key(), why.details()),
        Fault::NotEventStream { content_type } => phrases.text(
            "fault.not_event_stream",
            &[("content_type", Arg::Own(content_type.clone()))],
        ),
        Fault::Tls(why) => {
            let reason = caused(phrases, why.key(), why.details());
            phrases.text("fault.tls", &[("reason", Arg::Own(reason))])
        }
        Fault::TooManyValues { limit } => {
            phrases.text("fault.too_many_values", &[("limit", Arg::own(limit))])
        }
        Fault::TooLarge { limit } => phrases.text("fault.too_large", &[("limit", Arg::own(limit))]),
        Fault::OneWay => phrases.text("fault.one_way", &[]),
        Fault::Rejected { reason, .. } => {
            let reason = Arg::Own(phrase_text(phrases, reason));
            phrases.text("fault.rejected", &[("reason", reason)])
        }
        Fault::Declined(reason) => phrase_text(phrases, reason),
        Fault::Unusable(why) | Fault::Other(why) => caused(phrases, why.key(), why.details()),
    }
}
