//! Commands among the words of a program that the table does not explain, such as `mise exec -- rm -rf build`.
//!
//! Responsibilities: recognising such a command, so that its effects are also reported. This never clears
//! anything: the program around it stays unknown. Not here: programs whose row says where a command begins
//! (`arguments`).

use crate::act::Act;
use crate::arguments::WordUses;
use crate::program_lists::lists;
use crate::program_table::{Family, WordKind, find};
use crate::shell_state::{PipeData, ShellState};
use crate::walk::Walk;
use crate::word::Value;

impl Walk<'_> {
    /// Judges the commands among the words of a program that starts others, unless its table shows where they begin.
    pub(crate) fn embedded_in(&mut self, uses: &WordUses, words: &[Value], state: &ShellState) {
        let is_followed = uses.rest.is_some() || !uses.commands.is_empty();
        if !is_followed && uses.acts.iter().any(|(act, _)| may_start_others(*act)) {
            self.of_program(uses, |walk| walk.embedded(words, state));
        }
    }

    /// Walks through a command that a program runs, possibly in a container or on another machine.
    pub(crate) fn of_program(&mut self, uses: &WordUses, walk: impl FnOnce(&mut Self)) {
        let is_of_host = uses.words.iter().any(|(kind, _)| *kind == WordKind::Host);
        let mut acts = uses.acts.iter().map(|(act, _)| *act);
        let is_contained = acts.any(|act| matches!(act, Act::Container | Act::Deploy));
        let outer = self.collector.is_elsewhere;
        self.collector.is_elsewhere |= is_of_host || is_contained;
        walk(self);
        self.collector.is_elsewhere = outer;
    }

    /// Judges the commands among these words: after `--`, in quotes, or recognised by the name of a program
    /// that changes something and its first option or path.
    pub(crate) fn embedded(&mut self, words: &[Value], state: &ShellState) {
        for word in words {
            if begins_command(word.text.split_whitespace()) {
                self.text(word, &mut state.clone(), PipeData::Data);
            }
        }
        let behind_dashes = words.iter().position(|word| word.text == "--");
        let behind_dashes = behind_dashes.map(|at| words.get(at + 1..).unwrap_or_default());
        let is_program = |words: &&[Value]| {
            let first = words.first().and_then(Value::literal);
            first.is_some_and(|name| find(Family::Unix, name).is_some())
        };
        let by_name = || {
            let tails = (0..words.len()).filter_map(|at| words.get(at..));
            let mut tails =
                tails.filter(|tail| begins_command(tail.iter().map(|word| word.text.as_str())));
            tails.next()
        };
        let command = behind_dashes.filter(is_program).or_else(by_name);
        if let Some(command) = command {
            self.command(command, &mut state.clone(), PipeData::Data);
        }
    }
}

/// Returns whether an act is that of a program that starts others, or runs something elsewhere.
fn may_start_others(act: Act) -> bool {
    matches!(
        act,
        Act::Generated
            | Act::Opens
            | Act::Container
            | Act::Packages
            | Act::Deploy
            | Act::Login
            | Act::Hardware
            | Act::Starts
    )
}

/// Returns whether words begin with a program that changes something and an option or a path.
fn begins_command<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    let (Some(name), Some(next)) = (words.next(), words.next()) else {
        return false;
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    let flows = &lists().flows;
    let is_one = |list: &[String]| list.iter().any(|it| it == name);
    (is_one(&flows.changes) && next.starts_with(['-', '/', '~', '.', '*']))
        || (is_one(&flows.runs) && next.starts_with('-') && next.ends_with(['c', 'e']))
}
