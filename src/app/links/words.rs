//! Faults of links and phrases of dialects, in words.

use crate::announce::Arg;
use crate::link::{Fault, LinkId, Phrase, Word};

use crate::app::App;

impl App {
    /// Fills in what a dialect tells: its own arguments, and the name of its source.
    pub(super) fn told_args(&self, id: LinkId, phrase: &Phrase) -> Vec<(&'static str, Arg)> {
        let mut args = vec![("source", Arg::Own(self.links.name(id)))];
        args.extend(self.args_of(phrase));
        args
    }

    fn args_of(&self, phrase: &Phrase) -> Vec<(&'static str, Arg)> {
        let arg = |(name, word): &(&'static str, Word)| (*name, self.arg(word));
        phrase.args.iter().map(arg).collect()
    }

    /// Words a phrase of a dialect.
    pub(super) fn phrase_words(&self, phrase: &Phrase) -> String {
        let args = self.args_of(phrase);
        self.announcer.phrases().text(phrase.key, &args)
    }

    /// Words several, one behind the other.
    pub(super) fn all_words(&self, phrases: &[Phrase]) -> String {
        let words: Vec<String> = phrases.iter().map(|one| self.phrase_words(one)).collect();
        words.join("; ")
    }

    fn arg(&self, word: &Word) -> Arg {
        match word {
            Word::Own(text) => Arg::own(text),
            Word::Name(name) => Arg::Name(name.clone()),
            Word::Names(names) => {
                let phrases = self.announcer.phrases();
                let names: Vec<String> = names.iter().map(|one| phrases.name_of(one)).collect();
                Arg::Own(names.join(", "))
            }
            Word::Agent(text) => Arg::Agent(text.clone(), None),
            Word::Phrase(phrase) => Arg::Own(self.phrase_words(phrase)),
            Word::Phrases(phrases) => Arg::Own(self.all_words(phrases)),
            Word::Fault(fault) => Arg::Own(self.fault_words(fault)),
        }
    }

    /// Words a number that has words of its own where it is a usual one.
    fn numbered(&self, key: &str, number: i64) -> String {
        let phrases = self.announcer.phrases();
        let exact = format!("{key}.{number}");
        let key = if phrases.has(&exact) { &exact } else { key };
        phrases.text(key, &[("number", Arg::own(number))])
    }

    /// Words a fault.
    pub(in crate::app) fn fault_words(&self, fault: &Fault) -> String {
        let phrases = self.announcer.phrases();
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
            Fault::ClosedWith { code, .. } => self.numbered("fault.close", i64::from(*code)),
            Fault::Exited { code } => self.numbered("fault.exit", i64::from(*code)),
            Fault::Killed { signal } => self.numbered("fault.signal", i64::from(*signal)),
            Fault::NotWebSocket(reason) => phrases.text(
                "fault.other",
                &[("reason", Arg::Own(phrases.reason(reason)))],
            ),
            Fault::NotEventStream { content_type } => phrases.text(
                "fault.not_event_stream",
                &[("content_type", Arg::Own(content_type.clone()))],
            ),
            Fault::Tls(reason) => {
                phrases.text("fault.tls", &[("reason", Arg::Own(phrases.reason(reason)))])
            }
            Fault::TooLarge { limit } => {
                phrases.text("fault.too_large", &[("limit", Arg::own(limit))])
            }
            Fault::OneWay => phrases.text("fault.one_way", &[]),
            Fault::Rejected { reason, .. } => {
                let reason = Arg::Own(self.phrase_words(reason));
                phrases.text("fault.rejected", &[("reason", reason)])
            }
            Fault::Unusable(reason) | Fault::Other(reason) => phrases.text(
                "fault.other",
                &[("reason", Arg::Own(phrases.reason(reason)))],
            ),
        }
    }
}
