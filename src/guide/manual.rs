//! The manual pages, in roff.
//!
//! Responsibilities: a page for the program and one for each command, built from the command line, the tables
//! of keys and lines, and the exit codes. Not here: where a page is written (`runtime`).

use clap::{Arg, ArgAction, Command, CommandFactory};
use roff::{Roff, bold, italic, roman};

use super::help_texts::{remarks, values, words_of};
use crate::announce::{Arg as Word, Phrases};
use crate::app::Exit;
use crate::cli::Cli;
use crate::config::FaceChoice;
use crate::keys::{Keymap, LINES};

/// One manual page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// The file name that `man` looks for.
    pub file: String,
    /// The text in roff.
    pub text: String,
}

/// Returns every page: the program's first, then one for each command.
pub fn sheets(words: &Phrases) -> Vec<Sheet> {
    let command = built();
    let mut all = vec![of_program(&command, words)];
    all.extend(commands(&command).map(|command| of_command(command, words)));
    all
}

/// Returns the page of a command, or that of the program; `None` if there is no such command.
pub fn sheet(name: Option<&str>, words: &Phrases) -> Option<Sheet> {
    let command = built();
    match name {
        None => Some(of_program(&command, words)),
        Some(name) => commands(&command)
            .find(|command| command.get_name() == name)
            .map(|command| of_command(command, words)),
    }
}

fn built() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Returns the commands that have a page: all that a person may call, except `help`.
fn commands(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn of_program(command: &Command, words: &Phrases) -> Sheet {
    let mut page = ManualPage::new(command, words);
    page.section("man.commands");
    for command in commands(command) {
        let about = command.get_about().map(|about| words_of(about, words));
        page.entry(&page_of(command), &about.unwrap_or_default());
    }
    page.arguments(command);
    page.section("man.faces");
    page.paragraph("man.faces.which");
    for (name, key) in [FaceChoice::Full, FaceChoice::Linear, FaceChoice::Json]
        .into_iter()
        .filter_map(face)
    {
        page.entry(name, &words.text(key, &[]));
    }
    page.section("man.keys");
    page.paragraph("man.keys.how");
    for (head, keys) in Keymap::default().help_in_groups() {
        page.part(words.help(head));
        for (key, does) in keys {
            page.entry(&key, words.help(does));
        }
    }
    page.section("man.lines");
    page.paragraph("man.lines.how");
    for group in LINES.chunk_by(|one, next| one.group == next.group) {
        if let Some(head) = group.first() {
            page.part(words.help(head.group));
        }
        for line in group {
            page.entry(line.line, words.help(line.does));
        }
    }
    page.section("man.files");
    for (file, key) in FILES {
        page.entry(file, &words.text(key, &[]));
    }
    page.section("man.environment");
    for arg in command.get_subcommands().flat_map(Command::get_arguments) {
        page.variable(arg);
    }
    for (name, key) in VARIABLES {
        page.entry(name, &words.text(key, &[]));
    }
    page.exit_codes();
    page.section("man.see");
    let pages: Vec<String> = commands(command).map(page_of).collect();
    page.text(&pages.join(", "));
    page.end("hearken")
}

fn of_command(command: &Command, words: &Phrases) -> Sheet {
    let mut page = ManualPage::new(command, words);
    page.arguments(command);
    page.exit_codes();
    page.section("man.see");
    page.text("hearken(1)");
    let name = format!("hearken-{}", command.get_name());
    page.end(&name)
}

/// Returns a command's page name as manual pages refer to each other.
fn page_of(command: &Command) -> String {
    format!("hearken-{}(1)", command.get_name())
}

/// Returns a face's name and the key of its description; `None` for the automatic choice.
fn face(choice: FaceChoice) -> Option<(&'static str, &'static str)> {
    match choice {
        FaceChoice::Auto => None,
        FaceChoice::Full => Some(("full", "man.face.full")),
        FaceChoice::Linear => Some(("linear", "man.face.linear")),
        FaceChoice::Json => Some(("json", "man.face.json")),
    }
}

/// The files that hearken reads or writes on its own, each with the key of its description.
const FILES: [(&str, &str); 8] = [
    ("$XDG_CONFIG_HOME/hearken/config.toml", "man.file.settings"),
    ("~/.config/hearken/config.toml", "man.file.settings.else"),
    ("$XDG_STATE_HOME/hearken/voice.toml", "man.file.voice"),
    ("$XDG_STATE_HOME/hearken/no-voice", "man.file.no_voice"),
    ("$XDG_STATE_HOME/hearken/claude.json", "man.file.door"),
    ("FILE.meta.jsonl", "man.file.recording"),
    ("$XDG_RUNTIME_DIR/aaep", "man.file.sockets"),
    (
        "$CODEX_HOME/app-server-control/app-server-control.sock",
        "man.file.codex",
    ),
];

/// The variables that no option names, each with the key of its description.
const VARIABLES: [(&str, &str); 4] = [
    ("NO_COLOR", "man.variable.no_color"),
    ("TERM", "man.variable.term"),
    ("SPEECHD_ADDRESS", "man.variable.speechd"),
    ("CODEX_HOME", "man.variable.codex"),
];

/// Returns the exit codes in order, each with the key of its description.
fn exits() -> Vec<(u8, &'static str)> {
    let of = |exit: Exit| match exit {
        Exit::Clean => "man.exit.clean",
        Exit::NoSource => "man.exit.no_source",
        Exit::Failed => "man.exit.failed",
        Exit::Interrupted => "man.exit.interrupted",
        Exit::Terminated => "man.exit.terminated",
    };
    let mut all: Vec<_> = Exit::ALL.map(|exit| (exit.code(), of(exit))).into();
    all.push((Exit::UNUSABLE, "man.exit.unusable"));
    all.sort_unstable();
    all
}

/// A page under construction.
struct ManualPage<'w> {
    roff: Roff,
    words: &'w Phrases,
    /// The variables already listed, because several commands share them.
    told: Vec<String>,
}

impl<'w> ManualPage<'w> {
    /// Starts a page with the parts common to all pages.
    fn new(command: &Command, words: &'w Phrases) -> Self {
        let mut page = Self {
            roff: Roff::new(),
            words,
            told: Vec::new(),
        };
        let name = match command.get_bin_name() {
            Some(name) => name.replace(' ', "-"),
            None => command.get_name().to_owned(),
        };
        let source = format!("hearken {}", env!("CARGO_PKG_VERSION"));
        let manual = words.text("man.manual", &[]);
        page.roff
            .control("TH", [&name.to_uppercase(), "1", "", &source, &manual]);
        let text = |text: &clap::builder::StyledStr| words_of(text, words);
        let about = command.get_about().map(text).unwrap_or_default();
        let long = command.get_long_about().map(text);
        page.section("man.name");
        page.text(&format!("{name} - {about}"));
        page.section("man.synopsis");
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage: ").to_owned();
        page.roff.text([bold(usage)]);
        page.section("man.description");
        for (at, paragraph) in long.unwrap_or(about).split("\n\n").enumerate() {
            if at > 0 {
                page.roff.control("PP", []);
            }
            page.text(&stopped(paragraph));
        }
        page
    }

    fn section(&mut self, key: &str) {
        let head = self.words.text(key, &[]).to_uppercase();
        self.roff.control("SH", [head.as_str()]);
    }

    fn part(&mut self, head: &str) {
        self.roff.control("SS", [head]);
    }

    fn text(&mut self, text: &str) {
        self.roff.text([roman(text)]);
    }

    fn paragraph(&mut self, key: &str) {
        let text = self.words.text(key, &[]);
        self.text(&text);
    }

    fn entry(&mut self, name: &str, text: &str) {
        self.roff.control("TP", []);
        self.roff.text([bold(name)]);
        self.text(&stopped(text));
    }

    /// Adds a command's arguments, first the positional ones, then the options.
    fn arguments(&mut self, command: &Command) {
        let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set());
        for (key, by_place) in [("man.arguments", true), ("man.options", false)] {
            let mut args = shown()
                .filter(|arg| arg.is_positional() == by_place)
                .peekable();
            if args.peek().is_some() {
                self.section(key);
            }
            args.for_each(|arg| self.argument(arg));
        }
    }

    fn argument(&mut self, arg: &Arg) {
        self.roff.control("TP", []);
        let short = arg.get_short().map(|short| format!("-{short}"));
        let long = arg.get_long().map(|long| format!("--{long}"));
        let names: Vec<String> = short.into_iter().chain(long).collect();
        let mut head = vec![bold(names.join(", "))];
        if let Some(names) = arg
            .get_value_names()
            .filter(|_| arg.get_action().takes_values())
        {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            let gap = if arg.is_positional() { "" } else { " " };
            head.extend([roman(gap), italic(names.join(" "))]);
        }
        self.roff.text(head);
        let text = arg.get_long_help().or_else(|| arg.get_help());
        let text = match arg.get_action() {
            // A page has no summary to refer to.
            ArgAction::Help => Some(self.words.help("Print help").to_owned()),
            _ => text.map(|text| words_of(text, self.words)),
        };
        for (at, paragraph) in text.unwrap_or_default().split("\n\n").enumerate() {
            if at > 0 {
                self.roff.control("IP", []);
            }
            self.text(&stopped(paragraph));
        }
        for remark in remarks(arg, self.words) {
            self.text(&stopped(&first_large(&remark)));
        }
        let values = values(arg);
        if values.is_empty() {
            return;
        }
        self.roff.control("RS", []);
        for value in values {
            let help = value.get_help().map(|help| words_of(help, self.words));
            self.entry(value.get_name(), &help.unwrap_or_default());
        }
        self.roff.control("RE", []);
    }

    /// Adds the variable that sets an option, unless it is already listed.
    fn variable(&mut self, arg: &Arg) {
        let (Some(name), Some(long)) = (arg.get_env(), arg.get_long()) else {
            return;
        };
        let name = name.to_string_lossy().into_owned();
        if self.told.contains(&name) {
            return;
        }
        let option = Word::Own(format!("--{long}"));
        let text = self
            .words
            .text("man.variable.option", &[("option", option)]);
        self.entry(&name, &text);
        self.told.push(name);
    }

    fn exit_codes(&mut self) {
        self.section("man.exit");
        for (code, key) in exits() {
            let text = self.words.text(key, &[]);
            self.entry(&code.to_string(), &text);
        }
    }

    fn end(self, name: &str) -> Sheet {
        Sheet {
            file: format!("{name}.1"),
            text: self.roff.render(),
        }
    }
}

/// Ends a text with a full stop, unless it is empty.
fn stopped(text: &str) -> String {
    if text.is_empty() || text.ends_with(['.', '!', '?']) {
        return text.to_owned();
    }
    format!("{text}.")
}

fn first_large(text: &str) -> String {
    let mut signs = text.chars();
    let first = signs.next().into_iter().flat_map(char::to_uppercase);
    first.collect::<String>() + signs.as_str()
}
