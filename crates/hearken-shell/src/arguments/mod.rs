//! What the words of a command mean to its program, according to the program's row.
//!
//! Responsibilities: options, clusters, values, subcommands and operands. Not here: what follows from a path or an
//! address (`effects`), the table itself (`program_table`).

mod operands;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::act::Act;
use crate::program_table::{Operand, Opt, OptionEffect, OptionStyle, ProgramRow, WordKind};
use crate::word::Value;

/// What the words of a command mean to its program.
#[derive(Debug, Clone, Default)]
pub(crate) struct WordUses {
    /// The words of known kinds, with their kinds.
    pub(crate) words: Vec<(WordKind, Value)>,
    /// The acts that it performs, each with the words that it affects.
    pub(crate) acts: Vec<(Act, Vec<Value>)>,
    /// The words that form another command.
    pub(crate) rest: Option<Vec<Value>>,
    /// Commands given after options, up to `;` or `+`.
    pub(crate) commands: Vec<Vec<Value>>,
    /// Whether it names a repository other than that of its folder.
    pub(crate) reads_repository: bool,
    /// Whether it runs its input as a program.
    pub(crate) reads_program: bool,
    /// Whether it runs SQL from its input, because its words contain none.
    pub(crate) reads_sql: bool,
    /// Whether it contacts the URLs among its words.
    pub(crate) sends: bool,
    /// The subcommands that were found.
    pub(crate) path: Vec<String>,
    /// The words that the table does not list.
    pub(crate) unlisted: Vec<String>,
}

/// Reads the words after a program's name.
pub(crate) fn uses(row: &Arc<ProgramRow>, words: &[Value]) -> WordUses {
    let mut modes: Vec<Arc<ProgramRow>> = Vec::new();
    // An option may select a mode in which other options have other meanings; the words are then read again.
    for _ in 0..4 {
        let mut reader = ArgumentReader::new(row, modes.clone());
        reader.read_words(words);
        if reader.found.len() <= modes.len() {
            return reader.finish();
        }
        modes = reader.found;
    }
    let mut uses = WordUses::default();
    uses.unlisted.push("its options".to_owned());
    uses
}

struct ArgumentReader<'a> {
    /// The rows from the program to its innermost subcommand.
    chain: Vec<Arc<ProgramRow>>,
    /// The modes that options selected in the reading before.
    modes: Vec<Arc<ProgramRow>>,
    found: Vec<Arc<ProgramRow>>,
    operands: Vec<Value>,
    turned: Vec<WordKind>,
    is_dry: bool,
    /// Whether it prints its help or its version.
    shows_help: bool,
    uses: WordUses,
    program: &'a Arc<ProgramRow>,
}

impl<'a> ArgumentReader<'a> {
    fn new(program: &'a Arc<ProgramRow>, modes: Vec<Arc<ProgramRow>>) -> Self {
        Self {
            chain: vec![Arc::clone(program)],
            modes,
            found: Vec::new(),
            operands: Vec::new(),
            turned: Vec::new(),
            is_dry: false,
            shows_help: false,
            uses: WordUses::default(),
            program,
        }
    }

    /// Returns the rows that apply, innermost first.
    fn rows(&self) -> impl Iterator<Item = &Arc<ProgramRow>> {
        self.modes.iter().rev().chain(self.chain.iter().rev())
    }

    fn style(&self) -> OptionStyle {
        self.rows().find_map(|row| row.style).unwrap_or_default()
    }

    fn is_open(&self) -> bool {
        let by_mode = self.modes.iter().any(|mode| mode.open);
        let by_row = self
            .chain
            .last()
            .is_some_and(|last| last.open || self.is_left_open(last));
        by_mode || by_row
    }

    /// Returns whether a subcommand has no acts of its own, so that the act of its open program applies.
    fn is_left_open(&self, last: &ProgramRow) -> bool {
        last.act.is_none() && last.operands.is_none() && self.program.open
    }

    fn option(&self, name: &str) -> Option<Opt> {
        self.rows().find_map(|row| row.options.get(name).copied())
    }

    fn unlisted(&mut self, text: &str) {
        // Noted as unlisted for now: only the subcommand shows whether the row is open.
        if !self.uses.unlisted.iter().any(|it| it == text) {
            self.uses.unlisted.push(text.to_owned());
        }
    }

    fn note_mode(&mut self, name: &str) {
        let rows: Vec<Arc<ProgramRow>> = self.chain.clone();
        for (options, mode) in rows.iter().flat_map(|row| &row.modes) {
            let is_new = !self.found.iter().any(|it| Arc::ptr_eq(it, mode));
            if is_new && options.iter().any(|it| it == name) {
                self.found.push(Arc::clone(mode));
            }
        }
    }

    /// Returns whether a word has the form of an option.
    fn is_option(&self, text: &str) -> bool {
        match text.chars().next() {
            Some('-') => text.len() > 1,
            Some('+') => self.is_plus_option(text),
            Some('/') => self.program.ignores_case && self.is_switch(text),
            Some(_) | None => false,
        }
    }

    /// Returns whether a word with a plus is an option: `+x`, or `+FORMAT` if `+*` is listed.
    fn is_plus_option(&self, text: &str) -> bool {
        self.option(text).is_some() || self.option("+*").is_some()
    }

    /// Returns whether a word with a slash is an option of a Windows command: `/s`, or `/a:h`.
    fn is_switch(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let name = lower
            .split_once(':')
            .map_or(lower.as_str(), |(name, _)| name);
        self.option(name).is_some() || self.is_mode(name)
    }

    fn is_mode(&self, name: &str) -> bool {
        let modes = self.chain.iter().flat_map(|row| &row.modes);
        modes
            .into_iter()
            .any(|(options, _)| options.iter().any(|it| it == name))
    }

    fn read_words(&mut self, words: &[Value]) {
        let mut words = words.iter().cloned().collect::<VecDeque<_>>();
        let mut options_end = false;
        let mut is_first = true;
        while let Some(word) = words.pop_front() {
            let style = self.style();
            let first = std::mem::replace(&mut is_first, false);
            if options_end || style == OptionStyle::Plain {
                self.operand(word);
                continue;
            }
            if style == OptionStyle::Dd {
                self.setting(&word);
                continue;
            }
            if style == OptionStyle::Tar && first && !word.text.starts_with('-') && word.is_certain
            {
                self.cluster(&word, 0, &mut words);
                continue;
            }
            let text = word.text.as_str();
            if word.may_split && !word.begins_uncertain {
                self.unlisted(&word.text.clone());
            }
            if word.begins_uncertain {
                // An uncertain word may turn out to be an option.
                let shown = word.text.clone();
                if !self.takes_any() {
                    self.unlisted(&shown);
                }
            } else if word.is_pattern && text.starts_with(['*', '?', '[']) {
                let grave = self.rows().any(|row| row.has_grave_options());
                if grave {
                    let shown = word.text.clone();
                    self.unlisted(&shown);
                }
            } else if text == "--" {
                options_end = true;
                continue;
            } else if self.is_option(text) {
                self.option_word(&word, &mut words);
                continue;
            }
            if self.rest_begins() {
                let mut rest = vec![word];
                rest.extend(words.drain(..));
                self.operands.append(&mut rest);
                return;
            }
            self.operand(word);
            if self.stops() {
                options_end = true;
            }
        }
    }

    fn stops(&self) -> bool {
        self.rows().any(|row| row.stops)
            && self
                .operands
                .iter()
                .any(|word| !is_assignment(word) || !self.takes_assignments())
    }

    fn takes_assignments(&self) -> bool {
        self.kinds()
            .is_some_and(|kinds| kinds.first().is_some_and(|it| it.kind == WordKind::Assign))
    }

    /// Returns whether every word is only text to it.
    fn takes_any(&self) -> bool {
        self.style() == OptionStyle::Plain
    }

    /// Returns whether the next operand begins another command.
    fn rest_begins(&self) -> bool {
        let Some(kinds) = self.kinds() else {
            return false;
        };
        let mut at = self.operands.len();
        if self.takes_assignments() {
            at -= self
                .operands
                .iter()
                .take_while(|word| is_assignment(word))
                .count();
            at += 1;
        }
        kinds.get(at).is_some_and(|it| it.kind == WordKind::Rest)
    }

    fn kinds(&self) -> Option<&Vec<Operand>> {
        let modes = self
            .modes
            .iter()
            .rev()
            .find_map(|row| row.operands.as_ref());
        modes.or_else(|| self.chain.last().and_then(|row| row.operands.as_ref()))
    }

    fn operand(&mut self, word: Value) {
        let last = self.chain.last().cloned();
        let has_subcommands = last.as_ref().is_some_and(|row| !row.subcommands.is_empty());
        let is_replaced = |row: &Arc<ProgramRow>| {
            let own = row.modes.iter().filter(|(_, mode)| mode.operands.is_some());
            own.map(|(_, mode)| mode)
                .any(|mode| self.modes.iter().any(|it| Arc::ptr_eq(it, mode)))
        };
        let has_subcommands = has_subcommands && !last.as_ref().is_some_and(is_replaced);
        if has_subcommands && self.operands.is_empty() {
            let sub = last
                .as_ref()
                .and_then(|row| row.subcommands.get(&word.text));
            if let Some(sub) = sub.filter(|_| word.is_certain) {
                self.uses.path.push(word.text);
                self.chain.push(Arc::clone(sub));
                return;
            }
            let takes_operands = last.is_some_and(|row| row.operands.is_some());
            if !takes_operands {
                let shown = word.text.clone();
                self.unlisted(&shown);
            }
        }
        self.operands.push(word);
    }

    /// Reads a word of the form `name=value`.
    fn setting(&mut self, word: &Value) {
        let Some((name, _)) = word.text.split_once('=') else {
            return self.operand(word.clone());
        };
        match self.option(name) {
            Some(opt) => {
                let value = word.behind(name.len() + 1);
                self.apply(name, opt.effect, Some(value));
            }
            None => self.unlisted(&word.text.clone()),
        }
    }

    fn option_word(&mut self, word: &Value, words: &mut VecDeque<Value>) {
        let text = if self.program.ignores_case {
            word.text.to_lowercase()
        } else {
            word.text.clone()
        };
        // The whole word may be listed, and so may any number (`-#`).
        if self.option(&text).is_some() || self.is_mode(&text) {
            if !word.is_certain {
                self.unlisted(&text);
            }
            return self.option_by_name(&text, None, words);
        }
        if text.starts_with('+') && self.option("+*").is_some() {
            if !word.is_certain {
                self.unlisted(&text);
            }
            return;
        }
        let number = text
            .get(1..)
            .is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
        if number && self.option("-#").is_some() {
            return;
        }
        let is_long =
            text.starts_with("--") || text.starts_with('/') || self.style() == OptionStyle::Words;
        if is_long {
            let sign = if text.contains('=') { '=' } else { ':' };
            let (name, value) = match text.split_once(sign) {
                Some((name, _)) if sign == '=' || self.option(name).is_some() => {
                    (name.to_owned(), Some(word.behind(name.len() + 1)))
                }
                Some(_) | None => (text.clone(), None),
            };
            return self.option_by_name(&name, value, words);
        }
        self.cluster(word, 1, words);
    }

    /// Reads one option by its full name.
    fn option_by_name(&mut self, name: &str, value: Option<Value>, words: &mut VecDeque<Value>) {
        self.note_mode(name);
        let Some(opt) = self.option(name) else {
            if matches!(name, "--help" | "--version") {
                self.shows_help = true;
                return;
            }
            if self.is_mode(name) {
                return;
            }
            self.unlisted(name);
            self.apply_abbreviated(name, value, words);
            return;
        };
        let takes = matches!(opt.effect, OptionEffect::Value(_) | OptionEffect::DoesTo(_));
        if let OptionEffect::Value(WordKind::Exec) = opt.effect {
            let command = up_to_end(words);
            self.uses.commands.push(command);
            return;
        }
        let value = match value {
            Some(value) => Some(value),
            None if takes && !opt.attached => match words.pop_front() {
                Some(value) => {
                    if value.may_split {
                        self.unlisted(&value.text);
                    }
                    Some(value)
                }
                None => {
                    self.unlisted(name);
                    return;
                }
            },
            None => None,
        };
        if value.is_some() && !takes && !opt.attached {
            self.unlisted(name);
        }
        self.apply(name, opt.effect, value);
    }

    /// Applies the options that an unlisted one may abbreviate, so that their effects are reported; the option
    /// itself stays unlisted.
    fn apply_abbreviated(&mut self, name: &str, value: Option<Value>, words: &VecDeque<Value>) {
        if !name.starts_with("--") || name.len() < 3 || self.is_open() {
            return;
        }
        let of_row = |row: &Arc<ProgramRow>| {
            let long = row
                .options
                .iter()
                .filter(|(option, _)| option.starts_with(name));
            long.map(|(option, opt)| (option.clone(), *opt))
                .collect::<Vec<_>>()
        };
        let long: Vec<(String, Opt)> = self.rows().flat_map(of_row).collect();
        for (option, opt) in long {
            if matches!(
                opt.effect,
                OptionEffect::Flag | OptionEffect::Value(WordKind::Text | WordKind::Name)
            ) {
                continue;
            }
            let value = value.clone().or_else(|| words.front().cloned());
            self.apply(&option, opt.effect, value);
        }
    }

    /// Reads a cluster of one-letter options.
    fn cluster(&mut self, word: &Value, from: usize, words: &mut VecDeque<Value>) {
        let text = word.text.clone();
        let old_style = from == 0;
        if !word.is_certain && !self.may_end_uncertain(&text) {
            self.unlisted(&text);
        }
        for (at, letter) in text.char_indices().skip(from) {
            let name = format!("-{letter}");
            self.note_mode(&name);
            let behind = at + letter.len_utf8();
            let Some(opt) = self.option(&name) else {
                if self.is_mode(&name) {
                    continue;
                }
                return self.unlisted(if old_style { &name } else { &text });
            };
            let takes = matches!(opt.effect, OptionEffect::Value(_) | OptionEffect::DoesTo(_));
            if !takes && opt.attached && behind < text.len() {
                // The rest is its optional value.
                return self.apply(&name, opt.effect, Some(word.behind(behind)));
            }
            if !takes {
                self.apply(&name, opt.effect, None);
                continue;
            }
            if opt.effect == OptionEffect::Value(WordKind::Exec) {
                return self.unlisted(&text);
            }
            if old_style {
                match words.pop_front() {
                    Some(value) => self.apply(&name, opt.effect, Some(value)),
                    None => self.unlisted(&name),
                }
                continue;
            }
            if behind < text.len() || opt.attached {
                let value = (behind < text.len()).then(|| word.behind(behind));
                return self.apply(&name, opt.effect, value);
            }
            return match words.pop_front() {
                Some(value) => {
                    if value.may_split {
                        self.unlisted(&value.text);
                    }
                    self.apply(&name, opt.effect, Some(value));
                }
                None => self.unlisted(&text),
            };
        }
    }

    /// Returns whether the uncertain part of a cluster can only be the value of its first letter.
    fn may_end_uncertain(&self, text: &str) -> bool {
        let letter = text.chars().nth(1);
        let opt = letter.and_then(|letter| self.option(&format!("-{letter}")));
        opt.is_some_and(|opt| {
            matches!(opt.effect, OptionEffect::Value(_) | OptionEffect::DoesTo(_))
        })
    }

    fn apply(&mut self, name: &str, effect: OptionEffect, value: Option<Value>) {
        self.note_mode(name);
        match effect {
            OptionEffect::Flag => {}
            OptionEffect::Dry => {
                let off = value.is_some_and(|value| {
                    matches!(value.text.as_str(), "false" | "0" | "no" | "off" | "none")
                });
                self.is_dry |= !off;
            }
            OptionEffect::Turns(kind) => self.turned.push(kind),
            OptionEffect::Does(act) => self.uses.acts.push((act, Vec::new())),
            OptionEffect::DoesTo(act) => self.uses.acts.push((act, value.into_iter().collect())),
            OptionEffect::Value(kind) => {
                self.uses.reads_repository |= matches!(name, "-C" | "--git-dir" | "--work-tree");
                // The program adds words to that command; a shell does not.
                if kind == WordKind::Command && name != "-c" {
                    self.uses.acts.push((Act::Starts, Vec::new()));
                }
                self.uses.words.extend(value.map(|value| (kind, value)));
            }
        }
    }
}

/// Removes and returns the words of a command that ends at `;`, or at `+` after `{}`.
fn up_to_end(words: &mut VecDeque<Value>) -> Vec<Value> {
    let mut command: Vec<Value> = Vec::new();
    while let Some(word) = words.pop_front() {
        let follows_braces = command.last().is_some_and(|last| last.text == "{}");
        if word.text == ";" || (word.text == "+" && follows_braces) {
            break;
        }
        command.push(word);
    }
    command
}

/// Returns whether a word has the form `NAME=VALUE`.
pub(crate) fn is_assignment(word: &Value) -> bool {
    let Some((name, _)) = word.text.split_once('=') else {
        return false;
    };
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
