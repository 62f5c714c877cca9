//! Operands: the kind of each, and which of them the act affects.

use std::sync::Arc;

use super::{ArgumentReader, WordUses, is_assignment};
use crate::program_table::{Operand, OptionEffect, ProgramRow, WordKind};
use crate::word::Value;

impl ArgumentReader<'_> {
    pub(super) fn finish(mut self) -> WordUses {
        let kinds = self.kinds().cloned();
        let operands = std::mem::take(&mut self.operands);
        let has_operands = !operands.is_empty();
        let named = self.assign(kinds.as_deref(), operands);
        let act = self.modes.iter().rev().find_map(|row| row.act);
        // A subcommand without an act changes nothing, unless the act of its open program applies.
        let act = act.or_else(|| {
            let last = self.chain.last()?;
            last.act
                .or(self.program.act.filter(|_| self.is_left_open(last)))
        });
        // A program that has subcommands prints its help if it gets none.
        let only_help = self.chain.len() == 1
            && !self.program.subcommands.is_empty()
            && self.program.operands.is_none()
            && !has_operands
            && !self.program.open;
        if let Some(act) = act.filter(|_| !only_help) {
            self.uses.acts.push((act, named));
        }
        if self.is_open() {
            self.uses.unlisted.clear();
        }
        let sends = self.rows().any(|row| row.sends);
        self.uses.sends = sends;
        let takes_sql = |row: &Arc<ProgramRow>| {
            row.options
                .values()
                .any(|opt| opt.effect == OptionEffect::Value(WordKind::Sql))
        };
        self.uses.reads_sql = self.rows().any(takes_sql)
            && !self
                .uses
                .words
                .iter()
                .any(|(kind, _)| *kind == WordKind::Sql);
        if self.is_dry {
            self.uses.acts.clear();
            for (kind, _) in &mut self.uses.words {
                if kind.writes() {
                    *kind = WordKind::Read;
                } else if *kind == WordKind::To {
                    *kind = WordKind::From;
                }
            }
        }
        self.uses
    }

    /// Assigns a kind to each operand, and returns the operands that the act affects.
    fn assign(&mut self, kinds: Option<&[Operand]>, mut operands: Vec<Value>) -> Vec<Value> {
        let Some(kinds) = kinds else {
            if let Some(word) = operands.first() {
                self.unlisted(&word.text.clone());
            }
            return Vec::new();
        };
        if kinds.iter().any(|it| it.kind == WordKind::Input) {
            // It runs its input as a program, and the words are that program's arguments.
            self.uses.reads_program = true;
            return Vec::new();
        }
        let takes_program = kinds.iter().any(|it| it.kind == WordKind::Script);
        let has_program = |uses: &WordUses| {
            let of_program = |kind: WordKind| {
                matches!(
                    kind,
                    WordKind::Command | WordKind::Code | WordKind::Script | WordKind::Module
                )
            };
            uses.words.iter().any(|(kind, _)| of_program(*kind))
        };
        if takes_program && has_program(&self.uses) {
            // Words after the program are its arguments.
            if self
                .uses
                .words
                .iter()
                .any(|(kind, _)| *kind == WordKind::Module)
            {
                self.uses.rest = Some(operands);
            }
            return Vec::new();
        }
        if takes_program && operands.is_empty() && self.uses.path.is_empty() && !self.shows_help {
            self.uses.reads_program = true;
        }
        let mut named = Vec::new();
        let mut kinds = kinds.to_vec();
        if kinds.first().is_some_and(|it| it.kind == WordKind::Assign) {
            let count = operands
                .iter()
                .take_while(|word| is_assignment(word))
                .count();
            let assigned = operands.drain(..count).map(|word| (WordKind::Assign, word));
            self.uses.words.extend(assigned);
            kinds.remove(0);
        }
        let star = kinds.iter().position(|it| it.many);
        let behind = star.map_or(0, |at| kinds.len() - at - 1);
        let count = operands.len();
        let mut operands = operands.into_iter().enumerate();
        while let Some((at, word)) = operands.next() {
            let kind = match star {
                Some(star) if at >= star && at + behind >= count && count > star => {
                    kinds.get(kinds.len() - (count - at)).map(|it| it.kind)
                }
                Some(star) if at >= star => kinds.get(star).map(|it| it.kind),
                Some(_) | None => kinds.get(at).map(|it| it.kind),
            };
            let Some(mut kind) = kind else {
                self.unlisted(&word.text.clone());
                continue;
            };
            let mut word = word;
            if kind == WordKind::Rest {
                let rest = std::iter::once(word).chain(operands.by_ref().map(|(_, word)| word));
                self.uses.rest = Some(rest.collect());
                break;
            }
            if let Some(turned) = self.turned.last()
                && matches!(
                    kind,
                    WordKind::Read
                        | WordKind::Delete
                        | WordKind::Edit
                        | WordKind::Replace
                        | WordKind::Make
                )
            {
                kind = *turned;
            }
            if kind == WordKind::Command {
                // Several words are one command line (`ssh host ls -l`); after `:::` come the arguments that
                // parallel adds to it.
                let line = operands
                    .by_ref()
                    .filter(|(_, word)| !word.text.starts_with(":::"))
                    .fold(word, |line, (_, word)| line.joined(&word));
                self.uses.words.push((kind, line));
                break;
            }
            if kind == WordKind::Read && word.text.starts_with(['@', '|']) {
                // Many programs read further arguments from `@FILE`, and some run the text after `|`.
                self.unlisted(&word.text.clone());
            }
            if matches!(
                kind,
                WordKind::Name
                    | WordKind::Package
                    | WordKind::Host
                    | WordKind::Url
                    | WordKind::Source
            ) {
                named.push(word.clone());
            }
            if kind.writes() && word.text == "-" {
                // Only a file to be read may be the standard input; a target is a file of that name.
                word.text = "./-".to_owned();
            }
            let is_script = kind == WordKind::Script;
            self.uses.words.push((kind, word));
            if is_script {
                // The rest is the script's own arguments.
                break;
            }
        }
        named
    }
}
