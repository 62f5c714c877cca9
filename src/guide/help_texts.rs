//! The command line with its texts in the person's language, for `--help`.
//!
//! Responsibilities: every text, heading and note of the help. Not here: the layout, which is clap's.

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory};

use crate::announce::{Arg as Word, Phrases};
use crate::cli::Cli;

/// Returns the command line in the person's language; it parses by the same rules as the original.
pub fn worded(words: &Phrases) -> Command {
    let mut command = Cli::command();
    // clap must have added its own entries before they can be worded.
    command.build();
    of_command(command, words)
}

fn of_command(command: Command, words: &Phrases) -> Command {
    let usage = command.get_styles().get_usage();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{}{}:{} {{usage}}\n\n{{all-args}}{{after-help}}",
        usage.render(),
        words.text("help.usage", &[]),
        usage.render_reset()
    );
    let about = command.get_about().map(|text| words_of(text, words));
    let long = command.get_long_about().map(|text| words_of(text, words));
    let mut command = command
        .help_template(template)
        .subcommand_help_heading(words.text("help.commands", &[]))
        .mut_args(|arg| of_arg(arg, words));
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long) = long {
        command = command.long_about(long);
    }
    command.mut_subcommands(|command| of_command(command, words))
}

/// Returns a text in the language of the phrases, paragraph by paragraph.
pub(super) fn words_of(text: &impl ToString, words: &Phrases) -> String {
    let text = text.to_string();
    let paragraphs: Vec<&str> = text.split("\n\n").map(|text| words.help(text)).collect();
    paragraphs.join("\n\n")
}

fn of_arg(arg: Arg, words: &Phrases) -> Arg {
    let heading = if arg.is_positional() {
        "help.arguments"
    } else {
        "help.options"
    };
    let short = arg.get_help().map(|text| words_of(text, words));
    let long = arg.get_long_help().map(|text| words_of(text, words));
    let values = values(&arg);
    let remarks = remarks(&arg, words);
    let listed = !values.is_empty() && values.iter().any(|value| value.get_help().is_some());
    // With a heading of its own, a positional argument would be sorted by name.
    let place = arg.get_index().filter(|_| arg.is_positional());
    let arg = match place {
        Some(place) => arg.display_order(place),
        None => arg,
    };
    let mut arg = arg
        .help_heading(words.text(heading, &[]))
        .hide_possible_values(true)
        .hide_default_value(true)
        .hide_env(true);
    let plain = with_remarks(short.clone(), &remarks, &values, words);
    if long.is_some() || listed {
        let text = long.or(short);
        let full = if listed {
            let text = with_remarks(text, &remarks, &[], words);
            format!("{text}\n\n{}", list(&values, words))
        } else {
            with_remarks(text, &remarks, &values, words)
        };
        arg = arg.long_help(full);
    }
    arg.help(plain)
}

/// Returns the possible values, without the hidden ones.
pub(super) fn values(arg: &Arg) -> Vec<PossibleValue> {
    let all = arg.get_possible_values().into_iter();
    all.filter(|value| !value.is_hide_set()).collect()
}

/// Returns the notes after an option's text: the variable that sets it, and its default.
pub(super) fn remarks(arg: &Arg, words: &Phrases) -> Vec<String> {
    let env = arg.get_env().map(|name| {
        let name = Word::Own(name.to_string_lossy().into_owned());
        words.text("help.env", &[("name", name)])
    });
    // A switch is off by default, which goes without saying.
    let values = arg.get_default_values().iter();
    let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
    let default = (arg.get_action().takes_values() && !values.is_empty()).then(|| {
        let value = Word::Own(values.join(", "));
        words.text("help.default", &[("value", value)])
    });
    env.into_iter().chain(default).collect()
}

fn with_remarks(
    text: Option<String>,
    remarks: &[String],
    values: &[PossibleValue],
    words: &Phrases,
) -> String {
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let values = (!names.is_empty()).then(|| {
        let values = Word::Own(names.join(", "));
        words.text("help.values", &[("values", values)])
    });
    let behind = remarks.iter().chain(&values);
    let behind = behind.map(|remark| format!("[{remark}]"));
    let all: Vec<String> = text.into_iter().chain(behind).collect();
    all.join(" ")
}

fn list(values: &[PossibleValue], words: &Phrases) -> String {
    let head = words.text("help.values.head", &[]);
    let lines = values.iter().map(|value| {
        let name = value.get_name();
        match value.get_help() {
            Some(help) => format!("- {name}: {}", words_of(help, words)),
            None => format!("- {name}"),
        }
    });
    let lines: Vec<String> = lines.collect();
    format!("{head}:\n{}", lines.join("\n"))
}
