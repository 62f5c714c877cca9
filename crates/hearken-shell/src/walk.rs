//! Walks through a command as a shell would, including the programs that other programs start.
//!
//! Responsibilities: the order of steps, the folder, the variables and functions, and the data in a pipe. Not here:
//! what a program does with its words (`effects`), the structure of the text (`syntax`).

use crate::act::Act;
use crate::command_report::{Collector, CommandReport, Folders};
use crate::path_place::{is_like, normal};
use crate::program_lists::lists;
use crate::program_table::WordKind;
use crate::shell_state::{MOST_VALUES, PipeData, ShellState, is_own};
use crate::syntax::{
    Assignment, CommandStep, Direction, ListOperator, ProgramCall, Redirect, Script, parse,
};
use crate::windows_commands;
use crate::word::{ShellWord, Value};
use crate::word_expansion::possible_values;

/// How deeply commands may start each other.
const DEEPEST: usize = 24;
/// The most steps of a command that are walked.
const MOST_STEPS: usize = 2000;

/// Reads a command and returns what it can do.
pub fn read(command: &str, place: &Folders) -> CommandReport {
    let mut collector = Collector::new(place);
    match windows_commands::family(command) {
        Some(family) => {
            windows_commands::read(command, family, &mut collector);
            // It may nevertheless be meant for a Unix shell, so its effects there are also reported.
            let unix_only = ["$(", "`", "<(", "; then", ";then", "; do", ";do"];
            if unix_only.iter().any(|sign| command.contains(sign)) {
                collector.without_unknown(|collector| read_as_unix(command, collector));
            }
            collector.never_cleared("a command for Windows");
        }
        None => read_as_unix(command, &mut collector),
    }
    collector.finish()
}

fn read_as_unix(command: &str, collector: &mut Collector) {
    let mut state = ShellState::begin(collector);
    let script = parse(command);
    Walk {
        collector,
        steps: 0,
        depth: 0,
    }
    .script(&script, &mut state, PipeData::Nothing);
}

/// Walks through steps.
pub(crate) struct Walk<'a> {
    pub(crate) collector: &'a mut Collector,
    pub(crate) steps: usize,
    pub(crate) depth: usize,
}

impl Walk<'_> {
    pub(crate) fn script(
        &mut self,
        script: &Script,
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        for text in &script.unread {
            self.collector.unknown(text);
        }
        self.walk_all(&script.steps, state, input)
    }

    fn walk_all(
        &mut self,
        steps: &[CommandStep],
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        let mut output = PipeData::Nothing;
        for step in steps {
            let before = state.clone();
            let flow = self.step(step, state, input.clone());
            if may_stay(step) {
                // The next step runs whether or not the folder was entered.
                state.join(&before);
            }
            output = match output {
                PipeData::Nothing => flow,
                // The joined output of several steps is not followed.
                _ => PipeData::Data,
            };
        }
        output
    }

    pub(crate) fn step(
        &mut self,
        step: &CommandStep,
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.depth > DEEPEST {
            self.collector.unknown("the rest of the command");
            return PipeData::Data;
        }
        self.depth += 1;
        let output = self.walk_step(step, state, input);
        self.depth -= 1;
        output
    }

    fn walk_step(
        &mut self,
        step: &CommandStep,
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        match step {
            CommandStep::Simple(simple) => self.simple(simple, state, input),
            CommandStep::Pipeline(steps) => {
                let mut flow = input;
                for step in steps {
                    // Each command of a pipe runs in a subshell.
                    flow = self.step(step, &mut state.clone(), flow);
                }
                flow
            }
            CommandStep::List(first, rest) => {
                let mut output = self.step(first, state, input.clone());
                for (operator, step) in rest {
                    let before = state.clone();
                    let flow = self.step(step, state, input.clone());
                    if *operator == ListOperator::Or {
                        state.join(&before);
                    }
                    output = if output == PipeData::Nothing {
                        flow
                    } else {
                        PipeData::Data
                    };
                }
                output
            }
            CommandStep::Group {
                body,
                redirects,
                subshell,
            } => {
                let input = self.redirects(redirects, state, input);
                if *subshell {
                    return self.walk_all(body, &mut state.clone(), input);
                }
                self.walk_all(body, state, input)
            }
            CommandStep::For {
                variable,
                words,
                body,
            } => {
                self.inner(words, state);
                let values: Option<Vec<Value>> = words
                    .iter()
                    .map(|word| possible_values(word, state))
                    .collect::<Option<Vec<_>>>()
                    .map(|values| values.concat())
                    .filter(|values| !values.is_empty() && values.len() <= MOST_VALUES);
                match values {
                    Some(values) => state.variables.insert(variable.clone(), values),
                    None => state.variables.remove(variable),
                };
                self.branches(std::slice::from_ref(body), state, input);
                state.variables.remove(variable);
                PipeData::Data
            }
            CommandStep::Branches(branches) => {
                self.branches(branches, state, input);
                PipeData::Data
            }
            CommandStep::Function { name, body } => {
                state.functions.insert(name.clone(), body.clone());
                PipeData::Nothing
            }
            CommandStep::Test {
                words,
                computes,
                text,
            } => {
                self.inner(words, state);
                if *computes {
                    self.collector.unknown(text);
                }
                PipeData::Nothing
            }
            CommandStep::Declare {
                assignments,
                options,
                text,
                ..
            } => {
                let outer = self.collector.begin_part();
                self.inner(options, state);
                let plain = |word: &ShellWord| {
                    matches!(word.source.as_str(), "-x" | "-r" | "-a" | "-A" | "-g")
                };
                if !options.iter().all(plain) {
                    self.collector.unknown(text);
                }
                self.assign(assignments, state);
                self.collector.end_part(text, outer);
                PipeData::Nothing
            }
            CommandStep::Unread(_) => PipeData::Data,
        }
    }

    fn branches(&mut self, branches: &[Vec<CommandStep>], state: &mut ShellState, input: PipeData) {
        for branch in branches {
            let mut inside = state.clone();
            self.walk_all(branch, &mut inside, input.clone());
            state.join(&inside);
        }
    }

    /// Walks through the commands inside words, and returns the output of the last.
    fn inner(&mut self, words: &[ShellWord], state: &ShellState) -> PipeData {
        let mut inner_output = PipeData::Nothing;
        for script in words.iter().flat_map(ShellWord::scripts) {
            inner_output = self.script(script, &mut state.clone(), PipeData::Nothing);
        }
        inner_output
    }

    fn assign(&mut self, assignments: &[Assignment], state: &mut ShellState) {
        for assignment in assignments {
            self.inner(&assignment.words, state);
            let value = assignment
                .value
                .as_ref()
                .and_then(|word| possible_values(word, state));
            self.variable(&assignment.name, value.as_deref(), state);
            match value.filter(|values| values.iter().all(|value| value.is_certain)) {
                Some(values) => state.variables.insert(assignment.name.clone(), values),
                None => state.variables.remove(&assignment.name),
            };
        }
    }

    /// Judges the setting of a variable.
    pub(crate) fn variable(&mut self, name: &str, values: Option<&[Value]>, state: &ShellState) {
        let variables = &lists().variables;
        let is = |list: &[String]| list.iter().any(|entry| is_like(name, entry));
        if is_own(name) || is(&variables.harmless) {
            return;
        }
        self.collector.unknown(&format!("{name}="));
        if is(&variables.code) {
            self.collector.add(Act::Generated, &[]);
        }
        if is(&variables.commands) {
            for value in values.unwrap_or_default() {
                self.text(value, &mut state.clone(), PipeData::Data);
            }
        }
    }

    fn redirects(
        &mut self,
        redirects: &[Redirect],
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        let mut input = input;
        for redirect in redirects {
            let inner_output = self.inner(std::slice::from_ref(&redirect.target), state);
            let values = possible_values(&redirect.target, state);
            let mut values =
                values.unwrap_or_else(|| vec![Value::uncertain(&redirect.target.source)]);
            let kind = match redirect.direction {
                Direction::Stream => continue,
                Direction::Here => {
                    input = match values.as_mut_slice() {
                        [value] if value.is_certain => {
                            PipeData::Text(std::mem::take(&mut value.text))
                        }
                        _ if matches!(inner_output, PipeData::Downloaded | PipeData::Decoded) => {
                            inner_output
                        }
                        _ => PipeData::Data,
                    };
                    continue;
                }
                Direction::Read => {
                    input = PipeData::Data;
                    WordKind::Read
                }
                Direction::Write => WordKind::Replace,
                Direction::Append => WordKind::Append,
            };
            let folders = state.folders.clone();
            for mut value in values {
                if value.text == "-" {
                    // After a redirection, `-` is the name of a file.
                    value.text = "./-".to_owned();
                }
                self.collector.path(kind, &value, &folders);
            }
        }
        input
    }

    fn simple(
        &mut self,
        simple: &ProgramCall,
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        let outer = self.collector.begin_part();
        let inner_output = self.inner(&simple.words, state);
        let input = self.redirects(&simple.redirects, state, input);
        let output = if simple.words.is_empty() {
            self.assign(&simple.assignments, state);
            PipeData::Nothing
        } else {
            let mut inside = state.clone();
            let is_read = simple
                .words
                .first()
                .is_some_and(|word| word.source == "read");
            // `IFS` affects only how `read` splits a line.
            let assignments = simple
                .assignments
                .iter()
                .filter(|it| !(is_read && it.name == "IFS"));
            self.assign(&assignments.cloned().collect::<Vec<_>>(), &mut inside);
            let mut words = Vec::new();
            for word in &simple.words {
                match possible_values(word, state) {
                    Some(values) => words.extend(values),
                    None => words.push(Value::uncertain(&word.source)),
                }
            }
            self.command(&words, state, input)
        };
        if self.collector.part_does(Act::Generated) {
            match inner_output {
                PipeData::Downloaded => self.collector.add(Act::Downloaded, &[]),
                PipeData::Decoded => self.collector.add(Act::Decoded, &[]),
                PipeData::Nothing | PipeData::Text(_) | PipeData::Data => {}
            }
        }
        self.collector.end_part(&simple.text, outer);
        for redirect in &simple.redirects {
            let appends = redirect.direction == Direction::Append;
            if appends || redirect.direction == Direction::Write {
                let file = redirect.target.source.trim_matches(['"', '\'']);
                state.note_written(file, &output, appends);
            }
        }
        output
    }

    /// Walks through text that a shell would run.
    pub(crate) fn text(
        &mut self,
        text: &Value,
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        if !text.is_certain {
            self.collector.add(Act::Generated, &[]);
            self.collector.unknown(&text.text);
        }
        if self.depth > DEEPEST {
            self.collector.unknown(&text.text);
            return PipeData::Data;
        }
        let script = parse(&text.text);
        self.depth += 1;
        let output = self.script(&script, &mut state.clone(), input);
        self.depth -= 1;
        output
    }

    /// Walks through a command: a function, a builtin or a program.
    pub(crate) fn command(
        &mut self,
        words: &[Value],
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        let Some((first, rest)) = words.split_first() else {
            return PipeData::Nothing;
        };
        self.steps += 1;
        if self.depth > DEEPEST || self.steps > MOST_STEPS {
            self.collector.unknown(&first.text);
            return PipeData::Data;
        }
        self.depth += 1;
        let output = self.function_or_program(first, rest, state, input);
        self.depth -= 1;
        output
    }

    fn function_or_program(
        &mut self,
        first: &Value,
        rest: &[Value],
        state: &mut ShellState,
        input: PipeData,
    ) -> PipeData {
        if let Some(body) = first
            .literal()
            .and_then(|name| state.functions.get(name))
            .cloned()
        {
            let mut inside = state.clone();
            // A function that calls itself is walked once.
            inside.functions.remove(&first.text);
            inside.set_arguments(rest);
            let output = self.walk_all(&body, &mut inside, input);
            state.join(&inside);
            return output;
        }
        match first.literal() {
            Some("cd" | "pushd" | "chdir") => {
                self.change_folder(rest, state);
                PipeData::Nothing
            }
            Some("popd") => {
                state.folders.clear();
                PipeData::Nothing
            }
            Some("eval") => {
                let text: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
                let whole = Value {
                    is_certain: rest.iter().all(|word| word.is_certain),
                    ..Value::certain(&text.join(" "))
                };
                let output = self.text(&whole, state, input);
                // The command may have set any variable.
                state.variables.clear();
                output
            }
            Some("." | "source") => {
                match rest.first() {
                    Some(file) => self.run_file(file, state),
                    None => self.collector.unknown("source"),
                }
                state.variables.clear();
                PipeData::Data
            }
            // `exec -a NAME COMMAND` gives the program another name.
            Some("exec") if rest.first().is_some_and(|word| word.text == "-a") => {
                self.collector.unknown("-a");
                self.command(rest.get(2..).unwrap_or_default(), state, input)
            }
            Some("builtin" | "exec" | "noglob" | "nocorrect" | "-") => match rest.first() {
                Some(option) if option.text.starts_with('-') => {
                    self.collector.unknown(&option.text);
                    self.command(rest.get(1..).unwrap_or_default(), state, input)
                }
                Some(_) => self.command(rest, state, input),
                None => PipeData::Nothing,
            },
            Some("coproc") => {
                // A coprocess's name may come before a group.
                let groups = ["{", "(", "while", "until", "if", "for", "case"];
                let is_named = rest
                    .get(1)
                    .is_some_and(|word| groups.contains(&word.text.as_str()));
                let command = rest.get(usize::from(is_named)..).unwrap_or_default();
                let text: Vec<&str> = command.iter().map(|word| word.text.as_str()).collect();
                self.text(&Value::certain(&text.join(" ")), state, input)
            }
            Some("command") => match rest.first().map(|word| word.text.as_str()) {
                Some("-v" | "-V") => PipeData::Data,
                Some("-p") => self.command(rest.get(1..).unwrap_or_default(), state, input),
                Some(_) => self.command(rest, state, input),
                None => PipeData::Nothing,
            },
            Some("trap") => {
                match rest.first() {
                    Some(text) if !matches!(text.text.as_str(), "-" | "" | "-l" | "-p") => {
                        self.text(text, state, PipeData::Nothing);
                    }
                    Some(_) | None => {}
                }
                PipeData::Nothing
            }
            Some("set") if rest.first().is_some_and(|word| word.text == "--") => {
                state.set_arguments(rest.get(1..).unwrap_or_default());
                PipeData::Nothing
            }
            Some("set") => {
                let plain = |word: &Value| {
                    let text = word.text.as_str();
                    let options = [
                        "-e", "-u", "-x", "-v", "-o", "+e", "+x", "+o", "pipefail", "errexit",
                        "nounset", "xtrace",
                    ];
                    let cluster =
                        text.starts_with('-') && text[1..].chars().all(|c| "euxvo".contains(c));
                    word.is_certain && (options.contains(&text) || cluster)
                };
                if let Some(odd) = rest.iter().find(|word| !plain(word)) {
                    self.collector.unknown(&odd.text);
                }
                PipeData::Nothing
            }
            Some("unset") => {
                for word in rest {
                    state.variables.remove(&word.text);
                }
                PipeData::Nothing
            }
            Some(":" | "true" | "false") => PipeData::Nothing,
            Some("alias" | "unalias") => {
                self.collector.unknown(&first.text);
                for word in rest {
                    if let Some((name, _)) = word.text.split_once('=') {
                        self.text(&word.behind(name.len() + 1), state, PipeData::Data);
                    }
                }
                PipeData::Nothing
            }
            Some(_) | None => self.program(first, rest, state, input),
        }
    }

    fn change_folder(&mut self, words: &[Value], state: &mut ShellState) {
        let words: Vec<&Value> = words
            .iter()
            .filter(|word| !matches!(word.text.as_str(), "-P" | "-L" | "--"))
            .collect();
        let target = match words.as_slice() {
            [] => Value::certain("~"),
            [one] => (*one).clone(),
            _ => Value::uncertain("cd"),
        };
        let folders = state.folders.clone();
        let text = target.text.as_str();
        if text == "-" || !target.is_certain || target.is_pattern {
            self.collector.unknown(text);
            state.folders.clear();
            return;
        }
        self.collector.path(WordKind::Read, &target, &folders);
        state.folders = match text.starts_with('~') {
            true => Vec::new(),
            false => folders.iter().map(|folder| normal(text, folder)).collect(),
        };
        state.folders.dedup();
    }
}

/// Returns whether a step changes the folder only if it succeeds.
fn may_stay(step: &CommandStep) -> bool {
    let changes = |simple: &ProgramCall| {
        let first = simple.words.first().map(|word| word.source.as_str());
        matches!(first, Some("cd" | "pushd" | "popd"))
    };
    match step {
        CommandStep::Simple(simple) => changes(simple),
        CommandStep::List(..) | CommandStep::Group { .. } => true,
        CommandStep::Pipeline(_)
        | CommandStep::For { .. }
        | CommandStep::Branches(_)
        | CommandStep::Function { .. }
        | CommandStep::Test { .. }
        | CommandStep::Declare { .. }
        | CommandStep::Unread(_) => false,
    }
}
