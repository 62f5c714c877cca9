//! The words with which signs and structure are spoken.
//!
//! Responsibilities: one value that contains every word, with English as its default; looking up
//! a sign. Not here: when a word is spoken (`prose`, `signs`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};

/// A word or a template; borrowed if it is one of the program's own.
pub type WordOrTemplate = Cow<'static, str>;

/// The names of one sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignWords {
    /// The sign, one or more characters.
    pub sign: WordOrTemplate,
    /// Its name in the singular.
    pub one: WordOrTemplate,
    /// Its name after a number, as in "10 equals".
    pub many: WordOrTemplate,
}

/// Every word that the normaliser adds to a text.
///
/// Placeholders of a template are in braces; all are filled in one pass, so that braces in inserted text mean
/// nothing. A file may give some of the fields: the others stay English.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Words {
    /// The start of a fenced block.
    pub code_block: WordOrTemplate,
    /// The end of a fenced block.
    pub end_of_code: WordOrTemplate,
    /// The length of a block of one line.
    pub one_line: WordOrTemplate,
    /// The length of a block of `{n}` lines.
    pub many_lines: WordOrTemplate,
    /// A heading: its text in `{text}`.
    pub heading: WordOrTemplate,
    /// An item of a numbered list: `{n}`, `{text}`.
    pub item: WordOrTemplate,
    /// A task that is not done: `{text}`.
    pub task_open: WordOrTemplate,
    /// A task that is done: `{text}`.
    pub task_done: WordOrTemplate,
    /// A quoted paragraph: `{text}`.
    pub quote: WordOrTemplate,
    /// A table's header row: `{text}`.
    pub table: WordOrTemplate,
    /// What follows a link's text or host.
    pub link: WordOrTemplate,
    /// What comes before an image's text.
    pub image: WordOrTemplate,
    /// A shortened id: its start in `{start}`.
    pub id: WordOrTemplate,
    /// A port after a host: `{n}`.
    pub port: WordOrTemplate,
    /// A run of one sign: `{n}`, and the sign's name in `{sign}`.
    pub run: WordOrTemplate,
    /// A day: `{day}`, `{month}`, `{year}`.
    pub date: WordOrTemplate,
    /// A day with a time: `{date}`, `{time}`.
    pub moment: WordOrTemplate,
    /// Universal time.
    pub utc: WordOrTemplate,
    /// A moment less than a minute ago.
    pub just_now: WordOrTemplate,
    /// A moment less than a minute away.
    pub soon: WordOrTemplate,
    /// A past moment: its distance in `{time}`.
    pub past: WordOrTemplate,
    /// A future moment: its distance in `{time}`.
    pub future: WordOrTemplate,
    /// A distance in minutes: one, and `{n}` of them.
    pub minutes: SignWords,
    /// A distance in hours.
    pub hours: SignWords,
    /// A distance in days.
    pub days: SignWords,
    /// The months, January first.
    pub months: [WordOrTemplate; 12],
    /// A reference such as "#12" in prose: `{n}`.
    pub number: WordOrTemplate,
    /// The end of a line inside a question or command.
    pub new_line: WordOrTemplate,
    /// The substitute for a name that contains nothing to speak.
    pub unnamed: WordOrTemplate,
    /// A symbol without a name, where nothing may be left out.
    pub symbol: WordOrTemplate,
    /// A flag: its country's letters in `{letters}`.
    pub flag: WordOrTemplate,
    /// Line-drawing, block and braille characters, where nothing may be left out.
    pub drawing: SignWords,
    /// A letter as the spoken name of a key: the letter in `{letter}`.
    pub letter: WordOrTemplate,
    /// The key `>`, which is no redirection.
    pub greater: WordOrTemplate,
    /// The key `<`.
    pub less: WordOrTemplate,
    /// A capital in a spelled text: the letter in `{letter}`.
    pub capital: WordOrTemplate,
    /// A space in a spelled text, or in a command where none is expected.
    pub space: WordOrTemplate,
    /// Several spaces in a command: `{n}`.
    pub spaces: WordOrTemplate,
    /// A tab in a command, and `{n}` of them.
    pub tab: SignWords,
    /// The lack of a space that is expected in a command.
    pub joined: WordOrTemplate,
    /// What precedes a literal word of a command that is also the name of a sign.
    pub literal: WordOrTemplate,
    /// A dash inside a word of a command.
    pub inner_dash: WordOrTemplate,
    /// A slash that begins a word of a command.
    pub root: WordOrTemplate,
    /// What precedes a word of a command that begins with a capital, one in capitals, and the same inside a word.
    pub capitals: [WordOrTemplate; 4],
    /// A character that looks like another: `{letter}`, `{code}`.
    pub lookalike: WordOrTemplate,
    /// A blank other than a space: `{code}`.
    pub blank: WordOrTemplate,
    /// A hidden character: `{code}`.
    pub hidden: WordOrTemplate,
    /// A mark on the character before it: `{code}`.
    pub mark: WordOrTemplate,
    /// A sign without a name in a command: `{code}`.
    pub other_sign: WordOrTemplate,
    /// Frequent combinations in commands, such as `2>&1`.
    pub composites: Vec<SignWords>,
    /// The part of a long text that was not spelled: `{n}` signs.
    pub unspelled: SignWords,
    /// The code words of a spelling alphabet.
    pub phonetic: Vec<SignWords>,
    /// Words after which a moment is expressed by its date, because "at 11 hours ago" makes no sense.
    pub before_times: Vec<WordOrTemplate>,
    /// Abbreviations with stops inside that are not file names.
    pub abbreviations: Vec<WordOrTemplate>,
    /// Programming languages: the tag after a fence, and the spoken name.
    pub languages: Vec<SignWords>,
    /// The signs as spoken in questions and commands.
    pub signs: Vec<SignWords>,
    /// The signs that are spoken differently in prose, where they are not commands.
    pub prose: Vec<SignWords>,
    /// The short names of picture characters.
    pub pictures: Vec<SignWords>,
    /// How many symbols without a name were left out: one, and `{n}` of them.
    pub left_out: SignWords,
    /// An item of a nested list or of a tree, where the level changes: `{n}`, `{text}`.
    pub level: WordOrTemplate,
    /// A raised number after a word: `{n}`.
    pub note: WordOrTemplate,
    /// The word between a type and its arguments, as in `List<T>`.
    pub type_argument: WordOrTemplate,
    /// A unit per another: `{one}`, `{other}`.
    pub per: WordOrTemplate,
    /// What comes before struck-out text.
    pub struck: WordOrTemplate,
    /// A second power, after its base.
    pub squared: WordOrTemplate,
    /// A third power, after its base.
    pub cubed: WordOrTemplate,
    /// A short exponent, after its base: `{n}`.
    pub power: WordOrTemplate,
    /// An exponent of several parts, after its base: `{n}`.
    pub long_power: WordOrTemplate,
    /// A short index, after its base: `{n}`.
    pub sub: WordOrTemplate,
    /// An index of several parts, after its base: `{n}`.
    pub long_sub: WordOrTemplate,
    /// A logarithm with its base: `{log}`, `{n}`.
    pub base: WordOrTemplate,
    /// A function of something: `{text}`.
    pub apply: WordOrTemplate,
    /// A fraction of two short parts: `{above}`, `{below}`.
    pub fraction: WordOrTemplate,
    /// Any other fraction.
    pub long_fraction: WordOrTemplate,
    /// A square root of something short: `{text}`.
    pub square_root: WordOrTemplate,
    /// A cube root.
    pub cube_root: WordOrTemplate,
    /// Another root: `{n}`, `{text}`.
    pub nth_root: WordOrTemplate,
    /// What follows the content of a root that has several parts: `{text}`.
    pub long_root: WordOrTemplate,
    /// A binomial coefficient: `{above}`, `{below}`.
    pub choose: WordOrTemplate,
    /// An operator with both limits: `{sign}`, `{below}`, `{above}`.
    pub from_to: WordOrTemplate,
    /// An operator over a range: `{sign}`, `{below}`.
    pub over: WordOrTemplate,
    /// A limit: `{sign}`, `{below}`.
    pub limit: WordOrTemplate,
    /// The arrow of a limit.
    pub goes_to: WordOrTemplate,
    /// An absolute value: `{text}`.
    pub absolute: WordOrTemplate,
    /// What follows an absolute value that has several parts.
    pub end_absolute: WordOrTemplate,
    /// The start of a matrix, and its end.
    pub matrix: SignWords,
    /// The start of a distinction of cases, and its end.
    pub cases: SignWords,
    /// The names of the marks above a letter in a formula.
    pub accents: Vec<SignWords>,
    /// The signs that are spoken differently in code that is not a shell command.
    pub code: Vec<SignWords>,
    /// The signs, letters and functions of formulas.
    pub math: Vec<SignWords>,
    /// The prefixes of units, such as "kilo".
    pub prefixes: Vec<SignWords>,
    /// The units.
    pub units: Vec<SignWords>,
    /// The places of the signs; computed at the first lookup, after which the tables must not change.
    #[serde(skip)]
    pub(super) index: OnceLock<SignIndex>,
}

/// The places of the signs in each table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignIndex {
    signs: SignPlaces,
    prose: SignPlaces,
    code: SignPlaces,
    math: SignPlaces,
    pictures: SignPlaces,
    names: SignNames,
    units: Units,
}

/// The places of a table's signs by their first character.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SignPlaces {
    /// Which ASCII characters begin a sign: almost every lookup ends here.
    ascii: [bool; 128],
    /// First characters with places, in that order.
    sorted: Vec<(char, usize)>,
}

impl SignPlaces {
    fn of(signs: &[SignWords]) -> Self {
        let mut ascii = [false; 128];
        let mut sorted = Vec::with_capacity(signs.len());
        for (place, sign) in signs.iter().enumerate() {
            if let Some(first) = sign.sign.chars().next() {
                if let Some(begins) = ascii.get_mut(first as usize) {
                    *begins = true;
                }
                sorted.push((first, place));
            }
        }
        sorted.sort_unstable();
        Self { ascii, sorted }
    }

    /// Returns the signs that share a text's first character, in the table's order.
    fn like<'a>(
        &'a self,
        signs: &'a [SignWords],
        text: &str,
    ) -> impl Iterator<Item = &'a SignWords> {
        let first = text
            .chars()
            .next()
            .filter(|c| *self.ascii.get(*c as usize).unwrap_or(&true));
        let sorted = first.map_or(&[][..], |first| {
            let from = self.sorted.partition_point(|(c, _)| *c < first);
            let rest = &self.sorted[from..];
            &rest[..rest.iter().take_while(|(c, _)| *c == first).count()]
        });
        sorted.iter().filter_map(|(_, place)| signs.get(*place))
    }

    /// Returns the longest sign that a text begins with.
    fn longest<'a>(&'a self, signs: &'a [SignWords], text: &str) -> Option<&'a SignWords> {
        self.like(signs, text)
            .filter(|sign| text.starts_with(sign.sign.as_ref()))
            .max_by_key(|sign| sign.sign.len())
    }

    /// Returns the sign that equals a text.
    fn exactly<'a>(&'a self, signs: &'a [SignWords], text: &str) -> Option<&'a SignWords> {
        self.like(signs, text).find(|sign| sign.sign == text)
    }
}

impl Words {
    fn index(&self) -> &SignIndex {
        self.index.get_or_init(|| SignIndex {
            signs: SignPlaces::of(&self.signs),
            prose: SignPlaces::of(&self.prose),
            code: SignPlaces::of(&self.code),
            math: SignPlaces::of(&self.math),
            pictures: SignPlaces::of(&self.pictures),
            names: SignNames::of(self),
            units: Units::of(self),
        })
    }

    /// Returns the units, with and without a prefix.
    pub(super) fn units_by_sign(&self) -> &Units {
        &self.index().units
    }

    /// Returns the names of signs in a command.
    pub(super) fn names(&self) -> &SignNames {
        &self.index().names
    }

    /// Returns the longest sign of a question or command that a text begins with.
    pub(super) fn sign_at(&self, text: &str) -> Option<&SignWords> {
        self.index().signs.longest(&self.signs, text)
    }

    /// Returns the longest sign of prose, of two bytes or more, that a text begins with.
    pub(super) fn prose_sign_at(&self, text: &str) -> Option<&SignWords> {
        let longest = self.index().prose.longest(&self.prose, text);
        longest.filter(|sign| sign.sign.len() > 1)
    }

    /// Returns the spoken name of a fence's language.
    pub(super) fn language(&self, tag: &str) -> Option<&str> {
        let is_it = |sign: &&SignWords| sign.sign.eq_ignore_ascii_case(tag);
        self.languages
            .iter()
            .find(is_it)
            .map(|sign| sign.one.as_ref())
    }

    /// Returns the longest sign that a text begins with, in code that is not a shell command.
    pub(super) fn code_sign_at(&self, text: &str) -> Option<&SignWords> {
        let of_shell = self.sign_at(text);
        let own = self.index().code.longest(&self.code, text);
        let length = |sign: &SignWords| sign.sign.len();
        own.filter(|own| of_shell.is_none_or(|other| length(own) >= length(other)))
            .or(of_shell)
    }

    /// Returns the name of a sign, letter or function in a formula.
    pub(super) fn math_sign(&self, token: &str) -> Option<&str> {
        let index = self.index();
        let found = index.math.exactly(&self.math, token);
        let found = found.or_else(|| index.prose.exactly(&self.prose, token));
        let found = found.or_else(|| index.signs.exactly(&self.signs, token));
        found.map(|sign| sign.one.as_ref())
    }

    /// Returns the name of a whole token in prose.
    pub(super) fn prose_sign(&self, token: &str) -> Option<&SignWords> {
        self.index().prose.exactly(&self.prose, token)
    }

    /// Returns the name of a single-character sign.
    pub(in crate::announce) fn sign(&self, c: char) -> Option<&SignWords> {
        let mut bytes = [0; 4];
        let text = c.encode_utf8(&mut bytes);
        self.index().signs.exactly(&self.signs, text)
    }

    /// Returns a picture's name.
    pub(super) fn picture(&self, c: char) -> Option<&str> {
        let mut bytes = [0; 4];
        let text = c.encode_utf8(&mut bytes);
        let found = self.index().pictures.exactly(&self.pictures, text);
        found.map(|sign| sign.one.as_ref())
    }
}

/// The names of signs, word by word, for noticing a literal that could be mistaken for one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SignNames {
    /// The words of each singular name, by the first word in lower case.
    one: BTreeMap<String, Vec<Vec<String>>>,
    /// The words of each name that follows a number.
    many: BTreeMap<String, Vec<Vec<String>>>,
}

impl SignNames {
    pub(super) fn of(words: &Words) -> Self {
        let split = |name: &str| -> Vec<String> {
            name.split_whitespace().map(str::to_lowercase).collect()
        };
        let mut names = Self::default();
        let mut add = |name: &str| {
            let name = split(name);
            if let Some(first) = name.first().cloned() {
                names.one.entry(first).or_default().push(name);
            }
        };
        for sign in words.signs.iter().chain(&words.composites) {
            add(&sign.one);
        }
        let own = [
            &words.new_line,
            &words.space,
            &words.tab.one,
            &words.joined,
            &words.literal,
            &words.inner_dash,
            &words.root,
        ];
        own.into_iter()
            .chain(&words.capitals)
            .for_each(|name| add(name));
        // The name of a single character is a template, represented here by its first word.
        let templates = [
            &words.lookalike,
            &words.blank,
            &words.hidden,
            &words.mark,
            &words.other_sign,
        ];
        for name in templates {
            add(name.split_whitespace().next().unwrap_or_default());
        }
        let counted = [&words.spaces, &words.tab.many].map(|name| name.replace("{n}", ""));
        let runs = words.signs.iter().map(|sign| sign.many.to_string());
        for name in runs.chain(counted) {
            let name = split(&name);
            if let Some(first) = name.first().cloned() {
                names.many.entry(first).or_default().push(name);
            }
        }
        names
    }

    /// Returns how many of these words form the longest name at their start; 0 if they begin with none.
    pub(super) fn longest(&self, ahead: &[String]) -> usize {
        let Some((first, rest)) = ahead.split_first() else {
            return 0;
        };
        let fits = |names: Option<&Vec<Vec<String>>>, ahead: &[String]| {
            let names = names.into_iter().flatten();
            names
                .filter(|name| ahead.starts_with(name))
                .map(Vec::len)
                .max()
                .unwrap_or(0)
        };
        let counted = match first.bytes().all(|byte| byte.is_ascii_digit()) {
            true => fits(rest.first().and_then(|word| self.many.get(word)), rest),
            false => 0,
        };
        let counted = if counted > 0 { counted + 1 } else { 0 };
        fits(self.one.get(first), ahead).max(counted)
    }
}

/// The names of the units, with and without a prefix, by how they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Units(HashMap<String, UnitNames>);

/// The names of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnitNames {
    pub(super) one: String,
    pub(super) many: String,
}

impl Units {
    fn of(words: &Words) -> Self {
        let plain = words.units.iter().map(|unit| {
            let named = UnitNames {
                one: unit.one.to_string(),
                many: unit.many.to_string(),
            };
            (unit.sign.to_string(), named)
        });
        let with_prefix = words.prefixes.iter().flat_map(|prefix| {
            let units = words.units.iter().filter(|unit| takes(prefix, unit));
            units.map(|unit| (format!("{}{}", prefix.sign, unit.sign), named(prefix, unit)))
        });
        let mut units = HashMap::new();
        for (written, named) in plain.chain(with_prefix) {
            units.entry(written).or_insert(named);
        }
        Self(units)
    }

    /// Returns the names of a unit, given its sign.
    pub(super) fn get(&self, written: &str) -> Option<&UnitNames> {
        self.0.get(written)
    }

    /// Returns whether, at a quick look, the text after a number may begin with a unit.
    pub(super) fn may_follow(&self, behind: &str) -> bool {
        let bare = behind.strip_prefix(' ').unwrap_or(behind);
        let is_letter = |b: &u8| b.is_ascii_alphabetic();
        let letters = bare.bytes().take_while(is_letter).count();
        // A character beyond ASCII may be a unit, a power, or another kind of space.
        let is_foreign = bare.as_bytes().get(letters).is_some_and(|b| !b.is_ascii());
        is_foreign || self.0.contains_key(&bare[..letters])
    }
}

/// Returns whether a unit can have a prefix.
fn takes(prefix: &SignWords, unit: &SignWords) -> bool {
    let prefix = prefix.sign.as_ref();
    let is_binary = prefix.ends_with('i');
    match unit.sign.as_ref() {
        "B" | "b" | "bit" | "bps" => {
            is_binary || matches!(prefix, "k" | "K" | "M" | "G" | "T" | "P" | "E")
        }
        "m" | "g" | "s" | "l" | "L" | "mol" => {
            matches!(prefix, "n" | "µ" | "μ" | "m" | "c" | "k")
        }
        "Hz" | "A" | "Ah" | "V" | "W" | "Wh" | "Ω" | "\u{2126}" | "F" | "J" | "N" | "Pa" | "eV"
        | "cal" | "T" | "N·m" | "N⋅m" | "Pa·s" | "A·h" | "W·h" => {
            !is_binary && !matches!(prefix, "c" | "K" | "E")
        }
        _ => false,
    }
}

/// Returns the names of a unit with a prefix.
fn named(prefix: &SignWords, unit: &SignWords) -> UnitNames {
    let name = |unit: &WordOrTemplate| {
        // A word in the middle of another has no capital.
        let (first, rest) = unit.split_at(unit.find(' ').unwrap_or(unit.len()));
        format!("{}{}{rest}", prefix.one, first.to_lowercase())
    };
    UnitNames {
        one: name(&unit.one),
        many: name(&unit.many),
    }
}

/// Returns a template with its placeholders filled.
pub(super) fn fill(template: &str, places: &[(&str, &str)]) -> String {
    let room = places.iter().map(|(_, text)| text.len()).sum::<usize>();
    let mut out = String::with_capacity(template.len() + room);
    let mut rest = template;
    while let Some(open) = rest.bytes().position(|b| b == b'{') {
        let (before, place) = rest.split_at(open);
        out.push_str(before);
        let close = place.bytes().position(|b| b == b'}');
        let found = close.and_then(|close| {
            let name = &place[1..close];
            let known = places.iter().find(|(known, _)| *known == name);
            known.map(|(_, text)| (*text, close + 1))
        });
        let (text, used) = found.unwrap_or(("{", 1));
        out.push_str(text);
        rest = &place[used..];
    }
    out.push_str(rest);
    out
}
