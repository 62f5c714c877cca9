//! What an agent offers: commands in the place of a prompt, and what can be set of it.
//!
//! Responsibilities: reading its commands, completing one that is typed, telling one that it does not know, whom a setting
//! is asked of. Not here: which there are, and how one is changed (its dialect), the editor (`hands`).

use crate::announce::Arg;
use crate::dialect::{Offered, Wish};
use crate::link::LinkId;
use crate::protocol::Now;

use super::App;
use super::doing::Doing;

/// Of so many commands each is told with what it does; of more only the names.
const FEW: usize = 8;
/// So many names are told at once where a command is completed.
const MOST_NAMES: usize = 8;

impl App {
    /// Reads the commands of an agent, of those that begin with a text where there is one.
    pub(super) fn read_commands(&mut self, text: Option<&str>, now: Now) {
        let Some(link) = self.prompted_link(false) else {
            self.respond("prompt.nobody", &[], now);
            return;
        };
        let all = self.commands_of(link);
        let text = text.unwrap_or_default().trim_start_matches('/');
        let found: Vec<&Offered> = all.iter().filter(|it| it.name.starts_with(text)).collect();
        if all.is_empty() {
            self.respond("commands.none", &[], now);
        } else if found.is_empty() {
            let text = Arg::Name(format!("/{text}"));
            self.respond("commands.no_such", &[("text", text)], now);
        } else if found.len() > FEW {
            let names: Vec<String> = found.iter().map(|it| format!("/{}", it.name)).collect();
            let key = self.face.pick("commands.names.keys", "commands.names");
            let args = [("n", Arg::own(found.len())), ("all", named(&names))];
            self.respond(key, &args, now);
        } else {
            let each: Vec<String> = found.iter().map(|it| self.command_words(it)).collect();
            let args = [
                ("n", Arg::own(found.len())),
                ("all", Arg::Own(each.join(" "))),
            ];
            self.respond("commands.all", &args, now);
        }
    }

    /// Asks an agent to have something set otherwise.
    pub(super) fn change_setting(&mut self, what: Option<String>, now: Now) {
        match self.prompted_link(false) {
            Some(link) => self.want(link, &Wish::Set(what), now),
            None => self.respond("prompt.nobody", &[], now),
        }
    }

    /// Completes the command that is typed, and says what it does.
    pub(super) fn complete(&mut self, now: Now) {
        let Doing::Prompting { whom, line } = &self.doing else {
            return;
        };
        let (link, typed) = (whom.link, line.value().to_owned());
        let begun = typed.strip_prefix('/');
        let Some(begun) = begun.filter(|it| !it.contains(char::is_whitespace)) else {
            self.respond("commands.complete", &[], now);
            return;
        };
        let all = self.commands_of(link);
        let found: Vec<&Offered> = all.iter().filter(|it| it.name.starts_with(begun)).collect();
        match found.as_slice() {
            [] if all.is_empty() => self.respond("commands.none", &[], now),
            [] => {
                let text = Arg::Name(typed);
                self.respond("commands.no_such", &[("text", text)], now);
            }
            [one] => {
                self.write(format!("/{} ", one.name));
                let words = Arg::Own(self.command_words(one));
                self.respond("fault.other", &[("reason", words)], now);
            }
            several => {
                let common = common(several);
                if common.len() > begun.len() {
                    self.write(format!("/{common}"));
                }
                let names = several.iter().take(MOST_NAMES);
                let mut names: Vec<String> = names.map(|it| format!("/{}", it.name)).collect();
                if several.len() > MOST_NAMES {
                    names.push("…".to_owned());
                }
                let args = [("n", Arg::own(several.len())), ("all", named(&names))];
                self.respond("commands.all", &args, now);
            }
        }
    }

    /// Tells where a prompt is a command that its agent does not offer.
    pub(super) fn check_command(&mut self, link: LinkId, text: &str, now: Now) {
        let called = text.strip_prefix('/').map(|rest| {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default()
        });
        // A path begins with a slash, too, and has another one.
        let Some(called) = called.filter(|it| !it.is_empty() && !it.contains('/')) else {
            return;
        };
        let all = self.commands_of(link);
        if !all.is_empty() && !all.iter().any(|it| it.name == called) {
            let name = Arg::Name(called.to_owned());
            self.respond("commands.unknown", &[("name", name)], now);
        }
    }

    fn commands_of(&self, link: LinkId) -> Vec<Offered> {
        let view = self.links.get(link);
        view.map(|view| view.offers().to_vec()).unwrap_or_default()
    }

    fn command_words(&self, command: &Offered) -> String {
        let args = [
            ("name", Arg::Name(command.name.clone())),
            ("says", unclosed(&command.says)),
            ("takes", unclosed(&command.takes)),
        ];
        self.phrases().text("commands.one", &args)
    }

    /// Puts a text in the place of what is typed.
    fn write(&mut self, text: String) {
        if let Some(line) = self.doing.line_mut() {
            *line = tui_input::Input::new(text);
        }
    }
}

/// Says an agent's text as a part of a sentence of ours, which closes it.
fn unclosed(text: &str) -> Arg {
    let text = crate::announce::speakable::one_line(text);
    Arg::Own(text.trim_end_matches('.').to_owned())
}

/// Says names one after the other, each as one harmless word group.
fn named(names: &[String]) -> Arg {
    let names = names
        .iter()
        .map(|name| crate::announce::speakable::one_line(name));
    let names: Vec<String> = names.collect();
    Arg::Own(names.join(", "))
}

/// Returns how all of them begin.
fn common(several: &[&Offered]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_commands_begin_with_is_found_by_whole_characters() {
        let offered = |name: &str| Offered {
            name: name.to_owned(),
            says: String::new(),
            takes: String::new(),
        };
        for (names, wanted) in [
            (vec!["help", "hello"], "hel"),
            (vec!["a", "b"], ""),
            (vec!["größe", "groß"], "gr"),
            (vec!["größe", "größer"], "größe"),
            (vec![], ""),
        ] {
            let all: Vec<Offered> = names.into_iter().map(offered).collect();
            let all: Vec<&Offered> = all.iter().collect();
            assert_eq!(common(&all), wanted);
        }
    }
}
