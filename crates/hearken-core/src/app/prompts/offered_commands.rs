//! What an agent offers: commands instead of a prompt, and its settings.
//!
//! Responsibilities: reading out its commands, completing a typed one, pointing out one that it does not know,
//! choosing the agent that a setting is for. Not here: which commands exist, and how a setting is changed (its
//! dialect), the editor (`key_input`).

use crate::announce::Arg;
use crate::dialect::{OfferedCommand, PersonRequest};
use crate::link::LinkId;

use super::Prompts;
use crate::app::{Activity, AppCx, AppFact, AppFacts, Links};

/// Up to this number of commands, each is read with a description; beyond it, only the names.
const FEW: usize = 8;
/// The number of names read out when a command is completed.
const MOST_NAMES: usize = 8;

impl Prompts {
    /// Reads the commands of an agent; with a text, only those that begin with it.
    pub(in crate::app) fn read_commands(&self, text: Option<&str>, links: &Links, cx: &mut AppCx) {
        let Some(link) = self.prompted_link(false, links, cx) else {
            cx.respond("prompt.nobody", &[]);
            return;
        };
        let all = commands_of(link, links);
        let text = text.unwrap_or_default().trim_start_matches('/');
        let found: Vec<&OfferedCommand> =
            all.iter().filter(|it| it.name.starts_with(text)).collect();
        if all.is_empty() {
            cx.respond("commands.none", &[]);
        } else if found.is_empty() {
            let text = Arg::Name(format!("/{text}"));
            cx.respond("commands.no_such", &[("text", text)]);
        } else if found.len() > FEW {
            let names: Vec<String> = found.iter().map(|it| format!("/{}", it.name)).collect();
            let key = cx.face.pick("commands.names.keys", "commands.names");
            let args = [("n", Arg::own(found.len())), ("all", named(&names))];
            cx.respond(key, &args);
        } else {
            let each: Vec<String> = found.iter().map(|it| command_words(it, cx)).collect();
            let args = [
                ("n", Arg::own(found.len())),
                ("all", Arg::Own(each.join(" "))),
            ];
            cx.respond("commands.all", &args);
        }
    }

    /// Asks an agent to change a setting.
    pub(in crate::app) fn change_setting(
        &self,
        what: Option<String>,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        match self.prompted_link(false, links, cx) {
            Some(link) => vec![AppFact::Request(link, PersonRequest::Set(what))],
            None => {
                cx.respond("prompt.nobody", &[]);
                Vec::new()
            }
        }
    }

    /// Completes the typed command, and reads its description.
    pub(in crate::app) fn complete(&self, links: &Links, cx: &mut AppCx) {
        let Activity::Prompting {
            conversation: whom,
            line,
        } = &cx.doing
        else {
            return;
        };
        let (link, typed) = (whom.link, line.value().to_owned());
        let begun = typed.strip_prefix('/');
        let Some(begun) = begun.filter(|it| !it.contains(char::is_whitespace)) else {
            cx.respond("commands.complete", &[]);
            return;
        };
        let all = commands_of(link, links);
        let found: Vec<&OfferedCommand> =
            all.iter().filter(|it| it.name.starts_with(begun)).collect();
        match found.as_slice() {
            [] if all.is_empty() => cx.respond("commands.none", &[]),
            [] => {
                let text = Arg::Name(typed);
                cx.respond("commands.no_such", &[("text", text)]);
            }
            [one] => {
                write(format!("/{} ", one.name), cx);
                let words = Arg::Own(command_words(one, cx));
                cx.respond("fault.other", &[("reason", words)]);
            }
            several => {
                let common = common(several);
                if common.len() > begun.len() {
                    write(format!("/{common}"), cx);
                }
                let names = several.iter().take(MOST_NAMES);
                let mut names: Vec<String> = names.map(|it| format!("/{}", it.name)).collect();
                if several.len() > MOST_NAMES {
                    names.push("…".to_owned());
                }
                let args = [("n", Arg::own(several.len())), ("all", named(&names))];
                cx.respond("commands.all", &args);
            }
        }
    }

    /// Warns the person if a prompt is a command that its agent does not offer.
    pub(super) fn check_command(&self, link: LinkId, text: &str, links: &Links, cx: &mut AppCx) {
        let called = text.strip_prefix('/').map(|rest| {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default()
        });
        // A path also begins with a slash, but contains another one.
        let Some(called) = called.filter(|it| !it.is_empty() && !it.contains('/')) else {
            return;
        };
        let all = commands_of(link, links);
        if !all.is_empty() && !all.iter().any(|it| it.name == called) {
            let name = Arg::Name(called.to_owned());
            cx.respond("commands.unknown", &[("name", name)]);
        }
    }
}

/// Returns an agent's text without its final stop, for a sentence of ours, which adds one.
fn unclosed(text: &str) -> Arg {
    let text = crate::announce::speakable::one_line(text);
    Arg::Own(text.trim_end_matches('.').to_owned())
}

/// Returns names as a list, each cleaned for a single line.
fn named(names: &[String]) -> Arg {
    let names = names
        .iter()
        .map(|name| crate::announce::speakable::one_line(name));
    let names: Vec<String> = names.collect();
    Arg::Own(names.join(", "))
}

/// Returns the common beginning of several commands.
fn common(several: &[&OfferedCommand]) -> String {
    let Some((first, others)) = several.split_first() else {
        return String::new();
    };
    let begins = |end: usize| {
        let begin = first.name.get(..end);
        begin.is_some_and(|begin| others.iter().all(|it| it.name.starts_with(begin)))
    };
    let ends = first.name.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| begins(*end)).last().unwrap_or(0);
    first.name.get(..end).unwrap_or_default().to_owned()
}

fn commands_of(link: LinkId, links: &Links) -> Vec<OfferedCommand> {
    let view = links.get(link);
    view.map(|view| view.offers().to_vec()).unwrap_or_default()
}

fn command_words(command: &OfferedCommand, cx: &AppCx) -> String {
    let args = [
        ("name", Arg::Name(command.name.clone())),
        ("says", unclosed(&command.description)),
        ("takes", unclosed(&command.argument)),
    ];
    cx.phrases().text("commands.one", &args)
}

/// Replaces the typed text.
fn write(text: String, cx: &mut AppCx) {
    if let Some(line) = cx.doing.line_mut() {
        *line = tui_input::Input::new(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_commands_begin_with_is_found_by_whole_characters() {
        let offered = |name: &str| OfferedCommand {
            name: name.to_owned(),
            description: String::new(),
            argument: String::new(),
        };
        for (names, wanted) in [
            (vec!["help", "hello"], "hel"),
            (vec!["a", "b"], ""),
            (vec!["größe", "groß"], "gr"),
            (vec!["größe", "größer"], "größe"),
            (vec![], ""),
        ] {
            let all: Vec<OfferedCommand> = names.into_iter().map(offered).collect();
            let all: Vec<&OfferedCommand> = all.iter().collect();
            assert_eq!(common(&all), wanted);
        }
    }
}
