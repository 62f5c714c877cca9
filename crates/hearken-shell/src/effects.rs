//! The effects of a program on its words: paths, addresses, and commands that it runs.

use crate::act::{Act, ActRank};
use crate::arguments::{WordUses, is_assignment, uses};
use crate::embedded_languages::{self, EmbeddedCode};
use crate::path_place::{Reach, host, is_like, is_loopback, remote};
use crate::pipe_data::{insert_input, output_of};
use crate::program_lists::lists;
use crate::program_table::{Family, WordKind, find};
use crate::shell_state::{PipeData, ShellState};
use crate::walk::Walk;
use crate::windows_commands;
use crate::word::Value;

impl Walk<'_> {
    /// Judges a program that is run by its name or its path.
    pub(crate) fn program(
        &mut self,
        first: &Value,
        rest: &[Value],
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        let Some(name) = first.literal() else {
            // The command does not show which program is meant.
            self.collector.add(Act::Generated, &[]);
            if state.downloaded.contains(&first.text) {
                self.collector.add(Act::Downloaded, &[]);
            }
            self.collector.unknown(&first.text);
            self.unlisted_words(rest, state);
            return PipeData::Data;
        };
        let name = match name.rsplit_once('/') {
            Some((folder, name)) if is_system(folder) => name,
            Some(_) => {
                self.run_file(first, state);
                return PipeData::Data;
            }
            None => name,
        };
        let of_windows = || windows_commands::shell(name).and_then(|_| find(Family::Cmd, name));
        let Some(row) = find(Family::Unix, name).or_else(of_windows) else {
            self.collector.unknown(name);
            self.unlisted_words(rest, state);
            self.embedded(rest, state);
            return output_of(name, rest, input);
        };
        let uses = uses(&row, rest);
        self.apply(name, &uses, state, input.clone());
        self.embedded_in(&uses, rest, state);
        let downloads = uses.words.iter().any(|(kind, _)| *kind == WordKind::Url);
        let output = output_of(name, rest, input);
        match downloads {
            true => {
                let saved: Vec<_> = uses
                    .words
                    .iter()
                    .filter(|(kind, _)| *kind == WordKind::Replace)
                    .collect();
                if saved.is_empty() {
                    let urls = uses.words.iter().filter(|(kind, _)| *kind == WordKind::Url);
                    for (_, url) in urls {
                        let file = url.text.rsplit('/').next().unwrap_or_default();
                        state.note_written(file, &PipeData::Downloaded, false);
                    }
                }
                for (_, word) in saved {
                    state.note_written(&word.text, &PipeData::Downloaded, false);
                }
                PipeData::Downloaded
            }
            false => output,
        }
    }

    /// Judges each word of a program by its kind, and the acts of the program.
    pub(crate) fn apply(
        &mut self,
        name: &str,
        uses: &WordUses,
        state: &mut ShellState,
        input: PipeData,
    ) {
        for text in &uses.unlisted {
            let path = [
                &[name.to_owned()],
                uses.path.as_slice(),
                std::slice::from_ref(text),
            ]
            .concat();
            self.collector.unknown(&path.join(" "));
        }
        if name == "git" && uses.reads_repository {
            // A repository's configuration names programs that its commands run.
            self.collector.add(Act::Project, &[]);
        }
        let folders = state.folders.clone();
        let sends_input =
            input != PipeData::Nothing && lists().flows.sends.iter().any(|it| it == name);
        let is_local = {
            let hosts = uses
                .words
                .iter()
                .filter(|(kind, _)| matches!(kind, WordKind::Host | WordKind::Url));
            let mut hosts = hosts
                .map(|(_, word)| is_loopback(&host(&word.text)))
                .peekable();
            hosts.peek().is_some() && hosts.all(|is_local| is_local)
        };
        let is_upload = sends_input
            || uses.words.iter().any(|(kind, _)| *kind == WordKind::Upload)
            || uses.acts.iter().any(|(act, _)| *act == Act::Send);
        let mut code = Vec::new();
        for (kind, word) in &uses.words {
            match kind {
                WordKind::Text | WordKind::Name | WordKind::Package => {
                    let speaks = uses.sends || leaves(uses);
                    if speaks && !is_local && word.text.contains("://") {
                        self.contact(Act::Contact, &host(&word.text));
                    } else if speaks && !word.is_certain {
                        self.collector.unknown(&word.text);
                    }
                }
                WordKind::Read
                | WordKind::Make
                | WordKind::Append
                | WordKind::Edit
                | WordKind::Replace
                | WordKind::Move
                | WordKind::Delete
                | WordKind::Tree
                | WordKind::Permit
                | WordKind::Unpack => self.collector.path(*kind, word, &folders),
                WordKind::Host | WordKind::Url => {
                    if !word.is_certain {
                        self.collector.unknown(&word.text);
                    }
                    let act = match (is_upload, kind) {
                        (true, _) => Act::Send,
                        (false, WordKind::Url) => Act::Download,
                        (false, _) => Act::Contact,
                    };
                    self.contact(act, &host(&word.text));
                }
                WordKind::Upload => {
                    if !is_local {
                        self.collector.add(Act::Send, &[]);
                    }
                    // A form names a file after its field: `file=@a.png;type=image/png`.
                    let of_form = ["=@", "=<"]
                        .iter()
                        .find_map(|sign| word.text.split_once(sign));
                    let file = match of_form {
                        Some((_, file)) => file.split(';').next().unwrap_or_default(),
                        None => word.text.trim_start_matches('@'),
                    };
                    let named = of_form.is_some() || file.len() < word.text.len();
                    let is_file = named || !word.text.contains([' ', '{', '=', '&']);
                    if is_file {
                        let value = Value {
                            text: file.to_owned(),
                            ..word.clone()
                        };
                        self.collector.path(WordKind::Read, &value, &folders);
                    }
                }
                WordKind::From | WordKind::To | WordKind::Source => {
                    match (remote(&word.text), kind) {
                        (Some(host), WordKind::To) => self.contact(Act::Send, &host),
                        (Some(host), _) => self.contact(Act::Download, &host),
                        (None, WordKind::To) => {
                            self.collector.path(WordKind::Replace, word, &folders)
                        }
                        (None, _) => self.collector.path(WordKind::Read, word, &folders),
                    }
                }
                WordKind::Assign => {
                    let variable = word.text.split('=').next().unwrap_or_default();
                    let value = word.behind(variable.len() + 1);
                    self.variable(variable, Some(&[value]), state);
                }
                // `tar --checkpoint-action=exec=COMMAND`
                WordKind::Command if word.text.starts_with("exec=") => {
                    self.text(&word.behind("exec=".len()), state, input.clone());
                }
                WordKind::Command => match windows_commands::shell(name) {
                    Some(family) => {
                        if !word.is_certain {
                            self.collector.add(Act::Generated, &[]);
                        }
                        windows_commands::text(&word.text, family, self, state);
                    }
                    None => {
                        // The input of a command comes from the program that runs it, unless that is a shell.
                        let input = if is_shell(name) {
                            input.clone()
                        } else {
                            PipeData::Data
                        };
                        self.of_program(uses, |walk| {
                            walk.text(word, state, input);
                        });
                    }
                },
                WordKind::Config => self.setting(&word.text, state),
                WordKind::Refspec => {
                    if word.text.starts_with('+') {
                        self.collector
                            .add(Act::History, &[word.text.trim_start_matches('+')]);
                    } else if let Some(deleted) =
                        word.text.strip_prefix(':').filter(|it| !it.is_empty())
                    {
                        self.collector.add(Act::DeleteRemote, &[deleted]);
                    } else if !word.is_certain {
                        self.collector.unknown(&word.text);
                    }
                }
                WordKind::Rev => {
                    if is_rev(&word.text) {
                        self.collector.add(Act::History, &[&word.text]);
                    } else if !word.is_certain {
                        self.collector.unknown(&word.text);
                    }
                }
                WordKind::Branch => {
                    // It is a branch, or a file whose changes are discarded; a dot suggests a file.
                    let others = uses
                        .words
                        .iter()
                        .any(|(kind, _)| *kind == WordKind::Discards);
                    if word.text.contains('.') && !others {
                        self.collector.add(Act::Discard, &[&word.text]);
                    } else if !others {
                        self.collector.unknown(&word.text);
                    }
                }
                WordKind::Discards => self.collector.add(Act::Discard, &[&word.text]),
                WordKind::Module => self.module(name, word, uses, state, input.clone()),
                WordKind::Input => {}
                WordKind::Script if word.text == "-" => self.piped(name, state, &input),
                WordKind::Script => self.run_file(word, state),
                WordKind::Code => {
                    code.push(embedded_languages::code(name, &word.text));
                    self.collector.add(Act::Code, &[language_of(name)]);
                    self.collector.unknown(name);
                }
                WordKind::Sed => code.push(embedded_languages::sed(&word.text)),
                WordKind::Awk => code.push(embedded_languages::awk(&word.text)),
                WordKind::Sql => code.push(embedded_languages::sql(&word.text)),
                WordKind::Variable => {
                    if !state.forget(&word.text) || !word.is_certain {
                        self.collector.unknown(&format!("{}=", word.text));
                    }
                }
                WordKind::Rest | WordKind::Exec => {}
            }
            let is_code = matches!(kind, WordKind::Sed | WordKind::Awk | WordKind::Sql);
            if is_code && !word.is_certain {
                self.collector.unknown(&word.text);
            }
        }
        let runs_own = uses
            .words
            .iter()
            .any(|(kind, _)| matches!(kind, WordKind::Code | WordKind::Script));
        if !runs_own && lists().flows.commands.iter().any(|it| it == name) {
            match &input {
                PipeData::Nothing => {}
                PipeData::Text(text) => {
                    code.push(embedded_languages::code(name, text));
                    self.collector.unknown(name);
                }
                PipeData::Data | PipeData::Downloaded | PipeData::Decoded => {
                    self.collector.add(Act::Piped, &[]);
                    self.collector.unknown(name);
                }
            }
        }
        if uses.reads_sql {
            match &input {
                PipeData::Nothing => {}
                PipeData::Text(text) => code.push(embedded_languages::sql(text)),
                PipeData::Data | PipeData::Downloaded | PipeData::Decoded => {
                    self.collector.add(Act::Piped, &[]);
                    self.collector.unknown(name);
                }
            }
        }
        if lists().flows.names.iter().any(|it| it == name) {
            self.names(name, &input, &folders);
        }
        for code in code {
            self.code(name, &code, state);
        }
        self.acts(uses, is_local);
        let is_module = uses.words.iter().any(|(kind, _)| *kind == WordKind::Module);
        if let Some(rest) = uses.rest.as_ref().filter(|_| !is_module) {
            let mut words = rest.clone();
            let hands_on = lists().flows.hands_on.iter().any(|it| it == name);
            if hands_on {
                insert_input(&mut words, &input);
            }
            let input = if hands_on {
                PipeData::Nothing
            } else {
                input.clone()
            };
            let assigned = words.iter().take_while(|word| is_assignment(word)).count();
            let inner = words.get(assigned..).unwrap_or_default();
            self.of_program(uses, |walk| {
                walk.command(inner, &mut state.clone(), input);
            });
        }
        for command in &uses.commands {
            let mut words = command.clone();
            for word in &mut words {
                // `{}` stands for each path that is found.
                word.stands_for_many |= word.text.contains('{');
            }
            let placed = words.iter().any(|word| word.stands_for_many);
            if !placed && lists().flows.finds.iter().any(|it| it == name) {
                words.push(Value::many());
            }
            self.command(&words, &mut state.clone(), PipeData::Nothing);
        }
        if uses.reads_program {
            self.piped(name, state, &input);
        }
    }

    fn acts(&mut self, uses: &WordUses, is_local: bool) {
        let runs_given = uses.words.iter().any(|(kind, _)| {
            matches!(
                kind,
                WordKind::Command | WordKind::Script | WordKind::Code | WordKind::Sql
            )
        });
        for (act, words) in &uses.acts {
            if *act == Act::Opens && runs_given {
                // It runs its arguments, and does not wait for a person.
                continue;
            }
            let shown: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            if *act == Act::Send && shown.iter().any(|it| it.eq_ignore_ascii_case("delete")) {
                // `DELETE` as the method of a request.
                self.collector.add(Act::DeleteRemote, &[]);
            }
            match act.rank() {
                ActRank::Leaves => {
                    let hosts: Vec<String> = words
                        .iter()
                        .map(|word| word.text.as_str())
                        .filter(|it| it.contains("://") || it.contains('@'))
                        .map(host)
                        .collect();
                    let local = words.iter().any(|word| is_loopback(&host(&word.text)));
                    if (local || is_local)
                        && matches!(act, Act::Contact | Act::Download | Act::Send)
                    {
                        continue;
                    }
                    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
                    // These acts name hosts only.
                    let shown = if matches!(act, Act::Contact | Act::Download | Act::Send) {
                        hosts
                    } else {
                        shown
                    };
                    self.collector.add(*act, &shown);
                }
                _ => self.collector.add(*act, &shown),
            }
        }
    }

    fn contact(&mut self, act: Act, host: &str) {
        if is_loopback(host) {
            // Nothing leaves this machine, but the effect of the local service is not known.
            return self.collector.unknown(host);
        }
        self.collector.add(act, &[host]);
    }

    fn code(&mut self, name: &str, code: &EmbeddedCode, state: &mut ShellState) {
        let folders = state.folders.clone();
        for (act, what) in &code.acts {
            match act {
                Act::Replace if !what.is_empty() => {
                    self.collector
                        .path(WordKind::Replace, &Value::certain(what), &folders)
                }
                Act::Outside => {
                    self.collector
                        .path(WordKind::Read, &Value::certain(what), &folders)
                }
                _ => self.collector.add(*act, &[what]),
            }
        }
        for command in &code.commands {
            self.collector.add(Act::Starts, &[]);
            self.text(&Value::certain(command), state, PipeData::Data);
        }
        if !code.is_read {
            self.collector.unknown(name);
        }
    }

    /// Judges the files whose names are piped into a program.
    fn names(&mut self, name: &str, input: &PipeData, folders: &[String]) {
        match input {
            PipeData::Nothing => {}
            PipeData::Text(text) => {
                for file in text.lines() {
                    self.collector
                        .path(WordKind::Read, &Value::certain(file), folders);
                }
            }
            PipeData::Data | PipeData::Downloaded | PipeData::Decoded => {
                self.collector.unknown(name)
            }
        }
    }

    /// Judges a setting of the form `name=value`.
    fn setting(&mut self, setting: &str, state: &mut ShellState) {
        let (name, value) = setting.split_once(['=', ' ']).unwrap_or((setting, ""));
        let name = name.trim().to_lowercase();
        let settings = &lists().settings;
        let is = |list: &[String]| list.iter().any(|entry| is_like(&name, entry));
        if is(&settings.harmless) {
            return;
        }
        self.collector.unknown(setting);
        if is(&settings.commands) {
            let command = value.trim().trim_start_matches('!');
            // A bare name (`core.pager=cat`) is only judged as a program.
            if command.contains([' ', '/', ';', '|', '&', '$', '`']) {
                self.collector.add(Act::Starts, &[]);
            }
            self.text(&Value::certain(command), state, PipeData::Data);
        }
    }

    /// Judges a module that is run, which may be listed as a program (`python -m pytest`).
    fn module(
        &mut self,
        name: &str,
        module: &Value,
        uses: &WordUses,
        state: &mut ShellState,
        input: PipeData,
    ) {
        let rest = uses.rest.as_deref().unwrap_or_default();
        let listed = module
            .literal()
            .and_then(|module| find(Family::Unix, module));
        match listed {
            Some(_) => {
                // A file with the module's name in the folder, or with the name of a module that it imports,
                // takes precedence.
                self.collector.add(Act::Project, &[&module.text]);
                self.program(module, rest, state, input);
            }
            None => {
                self.collector.add(Act::Project, &[&module.text]);
                self.collector.unknown(&format!("{name} {}", module.text));
            }
        }
    }

    /// Judges a program that runs piped text, or text that a person types.
    fn piped(&mut self, name: &str, state: &mut ShellState, input: &PipeData) {
        let is_shell = is_shell(name) && !lists().languages.contains_key(name);
        match input {
            PipeData::Text(text) if is_shell => {
                self.text(&Value::certain(text), state, PipeData::Nothing);
            }
            PipeData::Text(text) => {
                let code = embedded_languages::code(name, text);
                self.collector.add(Act::Code, &[language_of(name)]);
                self.collector.unknown(name);
                self.code(name, &code, state);
            }
            PipeData::Downloaded => self.collector.add(Act::Downloaded, &[]),
            PipeData::Decoded => self.collector.add(Act::Decoded, &[]),
            PipeData::Data => self.collector.add(Act::Piped, &[]),
            PipeData::Nothing => self.collector.add(Act::Opens, &[name]),
        }
        self.collector.unknown(name);
    }

    /// Judges a file that is run.
    pub(crate) fn run_file(&mut self, file: &Value, state: &mut ShellState) {
        let path = file.text.as_str();
        let process =
            path.starts_with("<(") || path.starts_with("/dev/fd/") || path == "/dev/stdin";
        if !file.is_certain || process {
            self.collector.add(Act::Generated, &[]);
            return self.collector.unknown(path);
        }
        let plain = path.strip_prefix("./").unwrap_or(path);
        if state.downloaded.iter().any(|it| it == plain) {
            self.collector.add(Act::Downloaded, &[path]);
        }
        match state.written.get(plain).cloned() {
            Some(Some(text)) => {
                self.text(&Value::certain(&text), state, PipeData::Nothing);
            }
            Some(None) => self.collector.add(Act::Generated, &[]),
            None => {}
        }
        if path.contains("://") {
            self.contact(Act::Download, &host(path));
            self.collector.add(Act::Downloaded, &[]);
            return;
        }
        let folders = state.folders.clone();
        self.collector.path(WordKind::Read, file, &folders);
        let base = self.collector.base().clone();
        let inside = |folder: &String| base.reach(path, folder) == Reach::Inside;
        match !folders.is_empty() && folders.iter().all(inside) {
            true => self.collector.add(Act::Project, &[path]),
            false => self.collector.unknown(path),
        }
    }

    /// Judges the words of a program that is not listed, if they are plainly paths or addresses.
    fn unlisted_words(&mut self, words: &[Value], state: &ShellState) {
        for word in words {
            let text = match word.text.split_once('=') {
                Some((name, value)) if name.starts_with('-') => value,
                _ => word.text.as_str(),
            };
            if let Some((scheme, _)) = text.split_once("://") {
                if scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '+')
                {
                    self.contact(Act::Contact, &host(text));
                }
                continue;
            }
            let is_path = text.starts_with("~/")
                || text == "~"
                || text.starts_with("../")
                || text == ".."
                || (text.starts_with('/')
                    && lists()
                        .files
                        .system
                        .iter()
                        .any(|it| text.starts_with(it.as_str())));
            if is_path && word.is_certain && !text.contains(char::is_whitespace) {
                self.collector
                    .path(WordKind::Read, &Value::certain(text), &state.folders);
            }
        }
    }
}

/// Returns whether a word names an earlier or a remote state of a repository.
fn is_rev(word: &str) -> bool {
    let is_hash = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_remote = ["origin/", "upstream/", "refs/"]
        .iter()
        .any(|begin| word.starts_with(begin));
    word.contains(['~', '^']) || word.contains("@{") || is_hash || is_remote
}

/// Returns whether a program takes a script as an operand, as shells do.
fn is_shell(name: &str) -> bool {
    let row = find(Family::Unix, name);
    let operands = row.as_ref().and_then(|row| row.operands.as_ref());
    operands
        .into_iter()
        .flatten()
        .any(|operand| matches!(operand.kind, WordKind::Script | WordKind::Input))
}

fn leaves(uses: &WordUses) -> bool {
    uses.acts
        .iter()
        .any(|(act, _)| act.rank() == ActRank::Leaves)
}

fn language_of(program: &str) -> &str {
    lists()
        .languages
        .get(program)
        .map_or(program, |language| language.name.as_str())
}

fn is_system(folder: &str) -> bool {
    lists()
        .files
        .programs
        .iter()
        .any(|it| it.trim_end_matches('/') == folder)
}
