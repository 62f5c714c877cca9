//! The commands of LaTeX that have arguments.
//!
//! Responsibilities: fractions, roots, marks above letters, text, matrices. Not here: commands that stand for a sign
//! (`command_signs`), exponents and indices (`math`).

use super::super::words::fill;
use super::command_signs::{is_function, sign_of};
use super::length::number;
use super::{DEEPEST, Formula, SpokenFormula, Terminator, named};

impl Formula<'_> {
    pub(super) fn root(&mut self, degree: &str, alone: bool) {
        let words = self.words;
        self.rest = self.rest.trim_start();
        let said = if self.rest.starts_with('(') && self.depth < DEEPEST {
            self.pass(1);
            self.inner(Terminator::Parenthesis)
        } else {
            // A number is a single argument.
            let digits = number(self.rest);
            match digits {
                0 => self.argument().1,
                _ => SpokenFormula {
                    text: self.pass(digits).to_owned(),
                    parts: 1,
                    ..SpokenFormula::default()
                },
            }
        };
        let text = match degree {
            "" | "2" => fill(&words.square_root, &[("text", &said.text)]),
            "3" => fill(&words.cube_root, &[("text", &said.text)]),
            _ => fill(&words.nth_root, &[("n", degree), ("text", &said.text)]),
        };
        let is_short = said.is_short(1);
        let text = if is_short {
            text
        } else {
            fill(&words.long_root, &[("text", &text)])
        };
        self.joined |= !is_short;
        self.part(&text, false, alone);
    }

    pub(super) fn command(&mut self, alone: bool) {
        self.pass(1);
        let letters = self
            .rest
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .count();
        let length = match letters {
            0 => self.rest.chars().next().map_or(0, char::len_utf8),
            _ => letters,
        };
        let name = self.pass(length);
        let words = self.words;
        match name {
            "frac" | "dfrac" | "tfrac" | "cfrac" | "binom" | "dbinom" => {
                let (_, above) = self.argument();
                let (_, below) = self.argument();
                let is_short = above.is_short(1) && below.is_short(1);
                let template = match (name.ends_with("binom"), is_short) {
                    (true, _) => &words.choose,
                    (false, true) => &words.fraction,
                    (false, false) => &words.long_fraction,
                };
                let parts = [
                    ("above", above.text.as_str()),
                    ("below", below.text.as_str()),
                ];
                let text = fill(template, &parts);
                self.joined = true;
                self.part(&text, false, alone);
            }
            "sqrt" => {
                let mut degree = String::new();
                if self.rest.starts_with('[') && self.depth < DEEPEST {
                    self.pass(1);
                    degree = self.inner(Terminator::Bracket).text;
                }
                self.root(&degree, alone);
            }
            "text" | "textrm" | "textbf" | "textit" | "texttt" | "mbox" | "operatorname"
            | "mathrm" | "tag" => {
                self.rest = self
                    .rest
                    .strip_prefix('*')
                    .unwrap_or(self.rest)
                    .trim_start();
                let inside = self.rest.strip_prefix('{');
                let text = inside.and_then(|inside| inside.split_once('}'));
                if let Some((text, rest)) = text.filter(|(text, _)| !text.contains(['{', '\\'])) {
                    self.rest = rest;
                    let text = text.trim();
                    if is_function(text) {
                        self.function(text);
                    } else {
                        self.part(text, true, alone);
                    }
                }
            }
            "mathbf" | "mathit" | "mathsf" | "mathcal" | "mathscr" | "mathfrak" | "boldsymbol"
            | "bm" | "displaystyle" | "textstyle" | "left" | "right" | "middle" | "big" | "Big"
            | "bigg" | "Bigg" | "bigl" | "bigr" | "Bigl" | "Bigr" | "limits" | "nolimits"
            | "hline" | "underbrace" | "overbrace" | "boxed" | "nonumber" | "notag" => {
                if matches!(name, "left" | "right") {
                    self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
                }
            }
            "mathbb" => {
                let (written, said) = self.argument();
                let sign = match written {
                    "R" => "ℝ",
                    "N" => "ℕ",
                    "Z" => "ℤ",
                    "Q" => "ℚ",
                    "C" => "ℂ",
                    _ => "",
                };
                let text = if sign.is_empty() {
                    said.text.as_str()
                } else {
                    named(sign, words)
                };
                self.part(text, true, alone);
            }
            "hat" | "bar" | "vec" | "dot" | "ddot" | "tilde" | "overline" | "underline"
            | "widehat" | "widetilde" => {
                let (_, said) = self.argument();
                let accent = match name {
                    "widehat" => "hat",
                    "widetilde" => "tilde",
                    "overline" | "underline" => "bar",
                    _ => name,
                };
                let mark = words.accents.iter().find(|mark| mark.sign == accent);
                let mark = mark.map_or(accent, |mark| mark.one.as_ref());
                self.joined |= said.joined;
                let text = format!("{} {mark}", said.text);
                self.part(text.trim(), true, alone);
            }
            "begin" | "end" => self.environment(name == "begin"),
            "label" => {
                self.argument();
            }
            "not" => {
                let next = self.rest.trim_start();
                if let Some(after) = next.strip_prefix('=') {
                    self.rest = after;
                    self.sign("≠", alone);
                } else {
                    self.sign("¬", alone);
                }
            }
            "\\" | "cr" => self.comma(';'),
            "quad" | "qquad" | "," | ";" | ":" | "!" | " " | ">" | "/" | "-" => {
                self.applies = false
            }
            "(" | ")" | "[" | "]" | "" => {}
            _ => match sign_of(name) {
                Some(sign) => self.sign(sign, alone),
                None => self.part(name, true, alone),
            },
        }
    }

    /// Speaks the beginning or the end of a matrix or of a distinction of cases.
    fn environment(&mut self, begins: bool) {
        let inside = self.rest.strip_prefix('{');
        let Some((name, rest)) = inside.and_then(|inside| inside.split_once('}')) else {
            return;
        };
        self.rest = rest;
        let sign = match name {
            "matrix" | "pmatrix" | "bmatrix" | "vmatrix" | "Bmatrix" | "array" | "smallmatrix" => {
                &self.words.matrix
            }
            "cases" => &self.words.cases,
            _ => {
                self.cells = false;
                return;
            }
        };
        self.cells = begins;
        self.joined = true;
        self.here = 0;
        if begins {
            if name == "array" {
                self.argument();
            }
            self.out.word(&sign.one);
            self.out.stop(':');
        } else {
            self.out.stop(',');
            self.out.word(&sign.many);
        }
    }
}
