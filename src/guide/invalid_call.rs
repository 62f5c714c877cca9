//! Why a call is invalid, in one sentence of the person's language.
//!
//! Responsibilities: naming the mistake and what would be correct. Not here: finding it, which clap does;
//! failures after a call was understood (`runtime`).

use std::error::Error as _;
use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::announce::normalise::clean;
use crate::announce::{Arg as Word, Phrases};
use crate::cli::{BadValue, Cli};
use crate::config::{NoVoice, VoiceArgument};

/// Returns why a call is invalid. `arguments` are those of the call, the program's name first.
pub fn fault(error: &Error, arguments: &[OsString], words: &Phrases) -> String {
    let call = CommandCall {
        error,
        more: ("more", Word::Own(more(arguments, words))),
        words,
    };
    call.told()
}

/// Returns where the person finds more help.
fn more(arguments: &[OsString], words: &Phrases) -> String {
    let command = Cli::command();
    let given = arguments.iter().skip(1).find_map(|word| {
        let known = command.find_subcommand(word)?;
        (!known.is_hide_set()).then(|| format!("hearken {}", known.get_name()))
    });
    let command = given.unwrap_or_else(|| "hearken".to_owned());
    words.text("call.more", &[("command", Word::Own(command))])
}

struct CommandCall<'a> {
    error: &'a Error,
    more: (&'static str, Word),
    words: &'a Phrases,
}

impl CommandCall<'_> {
    fn told(&self) -> String {
        let given = self.first(ContextKind::InvalidArg);
        let value = self.first(ContextKind::InvalidValue);
        match self.error.kind() {
            ErrorKind::InvalidSubcommand => {
                let given = self.first(ContextKind::InvalidSubcommand);
                let close = self.first(ContextKind::SuggestedSubcommand);
                self.say("call.command", &[("given", given), ("close", close)])
            }
            ErrorKind::UnknownArgument if given.starts_with('-') => {
                let close = self.first(ContextKind::SuggestedArg);
                self.say("call.option", &[("given", given), ("close", close)])
            }
            ErrorKind::UnknownArgument => self.say("call.word", &[("given", given)]),
            ErrorKind::InvalidValue if value.is_empty() => {
                let allowed = self.allowed();
                self.say("call.value.none", &[("name", given), ("allowed", allowed)])
            }
            // Only the hooks' agents are a list.
            ErrorKind::InvalidValue if given == "AGENT" => {
                let allowed = self.words.all_of(&self.valid());
                self.say("call.value.agent", &[("allowed", allowed)])
            }
            ErrorKind::InvalidValue => {
                let allowed = self.allowed();
                let close = self.first(ContextKind::SuggestedValue);
                let args = [("name", given), ("given", value), ("allowed", allowed)];
                self.say("call.value", &[&args[..], &[("close", close)]].concat())
            }
            ErrorKind::ValueValidation => {
                let why = self
                    .error
                    .source()
                    .map_or_else(String::new, |why| self.why(why));
                let args = [("name", given), ("given", value), ("why", why)];
                self.say("call.value.wrong", &args)
            }
            ErrorKind::TooManyValues => {
                self.say("call.value.needless", &[("name", given), ("given", value)])
            }
            ErrorKind::MissingRequiredArgument => {
                let names = self.all(ContextKind::InvalidArg);
                let n = names.len().to_string();
                self.say("call.missing", &[("names", names.join(", ")), ("n", n)])
            }
            ErrorKind::ArgumentConflict => {
                let other = self.first(ContextKind::PriorArg);
                if other == given {
                    return self.say("call.twice", &[("name", given)]);
                }
                self.say("call.conflict", &[("name", given), ("other", other)])
            }
            ErrorKind::InvalidUtf8 => self.say("call.encoding", &[]),
            // No current argument can fail in another way; clap may learn new ones.
            _ => self.say("call.unusable", &[]),
        }
    }

    /// Returns why a value is invalid; an error without a phrase of ours is quoted as is.
    fn why(&self, why: &(dyn std::error::Error + 'static)) -> String {
        let key = match (
            why.downcast_ref::<BadValue>(),
            why.downcast_ref::<NoVoice>(),
        ) {
            (Some(BadValue::Until), _) => "call.misfit.until",
            (Some(BadValue::Idle), _) => "call.misfit.idle",
            (Some(BadValue::Width), _) => "call.misfit.width",
            (Some(BadValue::Retries), _) => "call.misfit.retries",
            (Some(BadValue::Speed), _) => "call.misfit.speed",
            (Some(BadValue::Count(most)), _) => {
                let most = Word::Own(most.to_string());
                return self.words.text("call.misfit.count", &[("most", most)]);
            }
            (None, Some(NoVoice::Incomplete(argument))) => return self.incomplete(*argument, why),
            (None, Some(NoVoice::Unknown) | None) => return why.to_string(),
        };
        self.words.text(key, &[])
    }

    /// Returns why a voice is incomplete.
    fn incomplete(
        &self,
        argument: VoiceArgument,
        why: &(dyn std::error::Error + 'static),
    ) -> String {
        let (key, example) = match argument {
            VoiceArgument::Program { example } => ("call.misfit.voice.program", example),
            VoiceArgument::Library { example } => ("call.misfit.voice.library", example),
            VoiceArgument::Nothing => return why.to_string(),
        };
        self.words.text(key, &[("example", Word::own(example))])
    }

    fn say(&self, key: &str, args: &[(&'static str, String)]) -> String {
        let args = args
            .iter()
            .map(|(place, text)| (*place, Word::Own(clean(text).into_owned())));
        let args: Vec<_> = args.chain([self.more.clone()]).collect();
        self.words.text(key, &args)
    }

    /// Returns the values that would be valid, as alternatives.
    fn allowed(&self) -> String {
        self.words.either(&self.valid())
    }

    /// Returns the values that would be valid.
    fn valid(&self) -> Vec<&str> {
        match self.error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(values)) => values.iter().map(String::as_str).collect(),
            Some(_) | None => Vec::new(),
        }
    }

    fn first(&self, kind: ContextKind) -> String {
        self.all(kind).into_iter().next().unwrap_or_default()
    }

    /// Returns clap's entries of one kind, as a person writes them: `--face`, `FILE`.
    fn all(&self, kind: ContextKind) -> Vec<String> {
        let texts = match self.error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            Some(_) | None => Vec::new(),
        };
        let named = matches!(
            kind,
            ContextKind::InvalidArg | ContextKind::PriorArg | ContextKind::SuggestedArg
        );
        let texts = texts.into_iter();
        if named {
            texts.map(|text| written(&text)).collect()
        } else {
            texts.collect()
        }
    }
}

/// Returns an option without the name of its value, and an argument without its brackets.
fn written(text: &str) -> String {
    if text.starts_with('-') {
        let end = text.find([' ', '=']).unwrap_or(text.len());
        return text.get(..end).unwrap_or(text).to_owned();
    }
    let name = text.trim_end_matches("...");
    let bare = |pair: [char; 2]| name.strip_prefix(pair[0])?.strip_suffix(pair[1]);
    let bare = bare(['<', '>']).or_else(|| bare(['[', ']']));
    bare.unwrap_or(text).to_owned()
}
