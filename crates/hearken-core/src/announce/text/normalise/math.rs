//! Formulas in words.
//!
//! Responsibilities: LaTeX and the signs of mathematics, with their grouping: fractions, roots, exponents,
//! indices, operators with their ranges, matrices. Not here: where a formula begins and ends (`markup`), the
//! sign of each command (`command_signs`).
//!
//! Mental model: a formula is read once from left to right. The content of a group is read first, to know
//! whether it is short; the end of a longer group is spoken, so that no two groupings have the same words.
//! Groups may be nested up to a bound; beyond it, their content is read as if the braces were absent.

mod command_arguments;
mod command_signs;
mod length;
mod raised;

use super::spoken::SpokenText;
use super::words::{Words, fill};
use command_signs::{is_big, is_function};
use length::{cluster, number};
pub(super) use raised::script;

/// How deeply groups may be nested.
const DEEPEST: usize = 12;

/// The fewest letters that are a word rather than a product of letters.
const WORD: usize = 4;

/// What ends the text that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terminator {
    End,
    Brace,
    Bracket,
    Parenthesis,
    Bar,
    /// One part has been read.
    Part,
}

/// The words of a part of a formula.
#[derive(Debug, Default)]
struct SpokenFormula {
    text: String,
    /// How many letters and numbers are next to each other.
    parts: usize,
    /// Whether it has operators or groups.
    joined: bool,
    /// Whether its closing sign was found.
    closed: bool,
}

impl SpokenFormula {
    /// Returns whether it needs no words for its end: it has no operators, and at most `parts` parts.
    fn is_short(&self, parts: usize) -> bool {
        !self.joined && self.parts <= parts
    }
}

/// Returns a formula in words.
pub(super) fn formula(text: &str, words: &Words) -> String {
    Formula::new(text, words, 0).read(Terminator::End).0.text
}

/// Returns a line of a formula in words, and whether the next line is inside a matrix; `cells` says whether
/// this one is.
pub(super) fn line(text: &str, cells: bool, words: &Words) -> (String, bool) {
    let mut formula = Formula::new(text, words, 0);
    formula.cells = cells;
    while let Some(c) = formula.rest.chars().next() {
        formula.step(c, false);
    }
    (formula.out.finish(), formula.cells)
}

/// Returns an exponent in words, without its base.
pub(super) fn exponent(text: &str, words: &Words) -> String {
    let said = Formula::new(text, words, 1).read(Terminator::End).0;
    power(text.trim(), &said, words)
}

/// Returns an index in words, without its base.
pub(super) fn index(text: &str, words: &Words) -> String {
    let said = Formula::new(text, words, 1).read(Terminator::End).0;
    sub(&said, words)
}

/// Returns whether a name is that of a function.
pub(super) fn names_function(name: &str) -> bool {
    is_function(name)
}

fn power(written: &str, said: &SpokenFormula, words: &Words) -> String {
    match written {
        "2" => words.squared.clone().into_owned(),
        "3" => words.cubed.clone().into_owned(),
        "\\circ" | "∘" | "°" => named("°", words).to_owned(),
        "*" | "\\ast" | "\\star" => named("∗", words).to_owned(),
        "'" | "\\prime" | "′" => named("′", words).to_owned(),
        "\\top" | "⊤" | "\\intercal" => named("⊤", words).to_owned(),
        "+" | "-" | "−" => said.text.clone(),
        _ if said.is_short(2) => fill(&words.power, &[("n", &said.text)]),
        _ => fill(&words.long_power, &[("n", &said.text)]),
    }
}

fn sub(said: &SpokenFormula, words: &Words) -> String {
    let template = if said.is_short(2) {
        &words.sub
    } else {
        &words.long_sub
    };
    fill(template, &[("n", &said.text)])
}

fn named<'a>(sign: &'a str, words: &'a Words) -> &'a str {
    words.math_sign(sign).unwrap_or(sign)
}

/// One pass through a formula or a group of it.
struct Formula<'a> {
    rest: &'a str,
    words: &'a Words,
    depth: usize,
    out: SpokenText,
    /// The number of adjacent parts here, and the most so far.
    here: usize,
    most: usize,
    joined: bool,
    /// Whether the last part can be a function applied to the parentheses that follow.
    applies: bool,
    /// Whether this is divided into cells, as in a matrix.
    cells: bool,
    /// Whether an arrow is that of a limit.
    limit: bool,
}

impl<'a> Formula<'a> {
    fn new(rest: &'a str, words: &'a Words, depth: usize) -> Self {
        Self {
            rest,
            words,
            depth,
            out: SpokenText::default(),
            here: 0,
            most: 0,
            joined: false,
            applies: false,
            cells: false,
            limit: false,
        }
    }

    /// Reads up to the given end; returns the words and the rest of the text.
    fn read(mut self, until: Terminator) -> (SpokenFormula, &'a str) {
        let mut closed = false;
        while let Some(c) = self.rest.chars().next() {
            let ends = match until {
                Terminator::Brace => c == '}',
                Terminator::Bracket => c == ']',
                Terminator::Parenthesis => c == ')',
                Terminator::Bar => c == '|',
                Terminator::Part => self.most > 0 || self.joined,
                Terminator::End => false,
            };
            if ends {
                closed = true;
                if until != Terminator::Part {
                    self.rest = &self.rest[c.len_utf8()..];
                }
                break;
            }
            let outer = match until {
                Terminator::Parenthesis => c == '}' || self.rest.starts_with("\\right"),
                Terminator::Bar => matches!(c, '}' | ')' | ']') || self.rest.starts_with("\\}"),
                Terminator::Bracket => c == '}',
                Terminator::End | Terminator::Brace | Terminator::Part => false,
            };
            if outer {
                break;
            }
            self.step(c, until == Terminator::Part);
        }
        let said = SpokenFormula {
            text: self.out.finish(),
            parts: self.most,
            joined: self.joined,
            closed,
        };
        (said, self.rest)
    }

    fn inner(&mut self, until: Terminator) -> SpokenFormula {
        let mut inner = Formula::new(self.rest, self.words, self.depth + 1);
        inner.limit = self.limit;
        let (said, rest) = inner.read(until);
        self.rest = rest;
        said
    }

    /// Reads the argument of a command, an exponent or an index: a group in braces, or else one part.
    fn argument(&mut self) -> (&'a str, SpokenFormula) {
        self.rest = self.rest.trim_start();
        let before = self.rest;
        let until = match before.strip_prefix('{') {
            _ if self.depth >= DEEPEST => return ("", SpokenFormula::default()),
            Some(inside) => {
                self.rest = inside;
                Terminator::Brace
            }
            None => Terminator::Part,
        };
        let said = self.inner(until);
        let written = &before[..before.len() - self.rest.len()];
        (
            written.trim_start_matches('{').trim_end_matches('}').trim(),
            said,
        )
    }

    /// Reads what begins with a character; `alone` if nothing that follows belongs to it.
    fn step(&mut self, c: char, alone: bool) {
        if c.is_ascii_digit() {
            let number = if alone { 1 } else { number(self.rest) };
            let text = self.pass(number);
            self.part(text, false, alone);
        } else if c.is_ascii_alphabetic() {
            self.letters(alone);
        } else {
            match c {
                '\\' => self.command(alone),
                '{' if self.depth < DEEPEST => {
                    self.pass(1);
                    let said = self.inner(Terminator::Brace);
                    self.joined |= said.joined;
                    self.here += said.parts.max(1) - 1;
                    let applies = said.is_short(1);
                    self.part(&said.text, applies, alone);
                }
                '(' if self.depth < DEEPEST => self.parenthesis(alone),
                '|' if self.depth < DEEPEST => {
                    self.pass(1);
                    self.bars();
                    self.scripts(alone);
                }
                '^' | '_' => self.scripts(false),
                '&' if self.cells => {
                    self.pass(1);
                    self.comma(',');
                }
                ',' | ';' | ':' | '.' | '?' => {
                    self.pass(1);
                    self.comma(c);
                }
                '&' | '{' | '}' | '~' | '"' | '$' => {
                    self.pass(1);
                }
                '√' | '∛' | '∜' => {
                    self.pass(c.len_utf8());
                    let degree = match c {
                        '∛' => "3",
                        '∜' => "4",
                        _ => "",
                    };
                    self.root(degree, alone);
                }
                c if c.is_whitespace() => {
                    self.pass(c.len_utf8());
                    self.applies = false;
                }
                c if script(c).is_some() => self.scripts(false),
                c => {
                    let sign = self.pass(cluster(self.rest, c.len_utf8()));
                    self.sign(sign, alone);
                }
            }
        }
    }

    fn pass(&mut self, length: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(length);
        self.rest = rest;
        passed
    }

    /// Speaks a letter, a number or a group, with its exponents and indices.
    fn part(&mut self, text: &str, applies: bool, alone: bool) {
        if !text.is_empty() {
            self.out.word(text);
        }
        self.here += 1;
        self.most = self.most.max(self.here);
        self.applies = applies;
        self.scripts(alone);
    }

    fn comma(&mut self, stop: char) {
        self.out.stop(stop);
        self.here = 0;
        self.applies = false;
    }

    /// Reads the exponents, indices and primes that follow.
    fn scripts(&mut self, alone: bool) {
        if alone {
            return;
        }
        loop {
            let ahead = self.rest.trim_start();
            let Some(c) = ahead.chars().next() else {
                return;
            };
            match c {
                '^' | '_' => {
                    self.rest = &ahead[1..];
                    let (written, said) = self.argument();
                    let text = if c == '^' {
                        power(written, &said, self.words)
                    } else {
                        sub(&said, self.words)
                    };
                    self.out.word(&text);
                }
                '\'' | '!' => {
                    let run = ahead.len() - ahead.trim_start_matches(c).len();
                    self.rest = &ahead[if c == '!' { 1 } else { run }..];
                    let sign = match (c, run) {
                        ('!', _) => "!",
                        (_, 2) => "″",
                        _ => "′",
                    };
                    self.out.word(named(sign, self.words));
                }
                _ => match script(c) {
                    Some((_, raised)) => {
                        self.rest = ahead;
                        let written = self.run_of_scripts(raised);
                        let text = if raised {
                            exponent(&written, self.words)
                        } else {
                            index(&written, self.words)
                        };
                        self.out.word(&text);
                    }
                    None => return,
                },
            }
        }
    }

    fn run_of_scripts(&mut self, raised: bool) -> String {
        let mut written = String::new();
        while let Some(c) = self.rest.chars().next() {
            match script(c).filter(|(_, up)| *up == raised) {
                Some((shown, _)) => written.push(shown),
                None => break,
            }
            self.pass(c.len_utf8());
        }
        written
    }

    fn letters(&mut self, alone: bool) {
        let run = self
            .rest
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .count();
        let name = &self.rest[..run];
        if alone {
            let letter = self.pass(cluster(self.rest, 1));
            self.part(letter, true, alone);
        } else if is_function(name) || name == "mod" {
            self.pass(run);
            self.function(name);
        } else if run >= WORD {
            self.pass(run);
            self.part(name, true, alone);
        } else {
            let letter = self.pass(cluster(self.rest, 1));
            self.part(letter, true, alone);
        }
    }

    /// Speaks a sign of a formula.
    fn sign(&mut self, sign: &str, alone: bool) {
        let Some(c) = sign.chars().next() else { return };
        if is_function(sign) || sign == "mod" {
            return self.function(sign);
        }
        if is_big(sign) {
            return self.range(sign);
        }
        if c.is_alphabetic() {
            let lower: String = c.to_lowercase().collect();
            let name = match self.words.math_sign(sign) {
                Some(name) => name.to_owned(),
                None => match self.words.math_sign(&lower) {
                    Some(name) => fill(&self.words.capital, &[("letter", name)]),
                    None => sign.to_owned(),
                },
            };
            return self.part(&name, true, alone);
        }
        match sign {
            // None of these joins two parts.
            "∞" | "∅" | "…" | "°" | "ℏ" | "%" | "∂" | "∇" | "⊤" => {
                return self.part(named(sign, self.words), false, alone);
            }
            "→" if self.limit => self.out.word(&self.words.goes_to),
            // A sign before the first part belongs to it.
            "-" | "−" | "+" | "±" if self.here == 0 && !self.joined => {
                self.out.word(named(sign, self.words));
                self.applies = false;
                return;
            }
            _ => self.out.word(named(sign, self.words)),
        }
        self.joined |= !matches!(sign, "|" | "\"");
        self.here = 0;
        self.applies = false;
    }

    /// Speaks a function, with its exponent or its base, and "of" if something follows.
    fn function(&mut self, name: &str) {
        let words = self.words;
        // Together with its argument, it is one part.
        self.here += 1;
        self.most = self.most.max(self.here + 1);
        let said = named(name, words).to_owned();
        let is_limit = matches!(
            name,
            "lim" | "max" | "min" | "sup" | "inf" | "argmax" | "argmin"
        );
        let ahead = self.rest.trim_start();
        let ahead = ahead.strip_prefix("\\limits").unwrap_or(ahead);
        if let Some(below) = ahead.strip_prefix('_') {
            self.rest = below;
            self.limit = name == "lim";
            let (_, below) = self.argument();
            self.limit = false;
            let text = match name {
                "lim" => fill(&words.limit, &[("sign", &said), ("below", &below.text)]),
                _ if is_limit => fill(&words.over, &[("sign", &said), ("below", &below.text)]),
                _ => fill(&words.base, &[("log", &said), ("n", &below.text)]),
            };
            self.out.word(&text);
            if is_limit {
                return;
            }
        } else {
            self.out.word(&said);
        }
        self.scripts(false);
        let next = self.rest.trim_start().chars().next();
        let follows = next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '\\' | '{' | '('));
        if follows && name != "mod" {
            self.out.word(fill(&words.apply, &[("text", "")]).trim());
            if next == Some('(') && self.depth < DEEPEST {
                self.rest = self.rest.trim_start();
                self.applies = false;
                self.grouped(true);
            }
        }
    }

    /// Speaks an operator over a range.
    fn range(&mut self, sign: &str) {
        let words = self.words;
        self.joined = true;
        self.here = 0;
        let name = match sign {
            "⋃" => named("∪", words),
            "⋂" => named("∩", words),
            _ => named(sign, words),
        }
        .to_owned();
        let (mut below, mut above) = (None, None);
        loop {
            let ahead = self.rest.trim_start();
            let ahead = ahead.strip_prefix("\\limits").unwrap_or(ahead).trim_start();
            let Some(c) = ahead.chars().next() else { break };
            match (c, script(c)) {
                ('_', _) if below.is_none() => {
                    self.rest = &ahead[1..];
                    below = Some(self.argument().1.text);
                }
                ('^', _) if above.is_none() => {
                    self.rest = &ahead[1..];
                    above = Some(self.argument().1.text);
                }
                (_, Some((_, raised))) if below.is_none() || raised && above.is_none() => {
                    self.rest = ahead;
                    let written = self.run_of_scripts(raised);
                    let said = formula(&written, words);
                    *(if raised { &mut above } else { &mut below }) = Some(said);
                }
                _ => break,
            }
        }
        let text = match (below, above) {
            (Some(below), Some(above)) => fill(
                &words.from_to,
                &[("sign", &name), ("below", &below), ("above", &above)],
            ),
            (Some(range), None) | (None, Some(range)) => {
                fill(&words.over, &[("sign", &name), ("below", &range)])
            }
            (None, None) => format!("{name} {}", fill(&words.apply, &[("text", "")]).trim()),
        };
        self.out.word(&text);
        self.applies = false;
    }

    fn parenthesis(&mut self, alone: bool) {
        let applies = self.applies && !alone;
        self.grouped(applies);
        self.scripts(alone);
    }

    /// Speaks the content of parentheses; `applies` if a function precedes them.
    fn grouped(&mut self, applies: bool) {
        let words = self.words;
        let of_word = self
            .out
            .ends_with_text(fill(&words.apply, &[("text", "")]).trim());
        self.pass(1);
        let said = self.inner(Terminator::Parenthesis);
        let is_plain = applies && said.closed && !said.joined;
        if is_plain {
            let text = if of_word {
                said.text
            } else {
                fill(&words.apply, &[("text", &said.text)])
            };
            self.out.word(&text);
        } else {
            self.out.word(named("(", words));
            self.out.word(&said.text);
            if said.closed {
                self.out.word(named(")", words));
            }
        }
        self.joined |= said.joined;
        self.here += 1;
        self.most = self.most.max(self.here);
        self.applies = false;
    }

    /// Speaks text between bars as an absolute value; a bar without a partner states a condition.
    fn bars(&mut self) {
        let words = self.words;
        let said = self.inner(Terminator::Bar);
        if said.closed {
            self.out
                .word(&fill(&words.absolute, &[("text", &said.text)]));
            if !said.is_short(1) {
                self.out.word(&words.end_absolute);
            }
            self.here += 1;
            self.most = self.most.max(self.here);
        } else {
            self.out.word(named("|", words));
            self.out.word(&said.text);
            self.joined |= said.joined;
        }
        self.applies = false;
    }
}

#[cfg(test)]
mod tests;
