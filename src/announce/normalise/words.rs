//! The words that the normaliser says.
//!
//! Responsibilities: every word as data, with English as the default; a person's own pronunciations.
//! Not here: when a word is said.
//!
//! A template has its arguments in braces: "code block, {language}, {lines}".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::emoji::NAMES;

/// Names a sign, alone and several times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// One of it: "dash".
    pub one: String,
    /// Several: "dashes".
    pub many: String,
}

/// Names an amount, one and several; `{count}` is the number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// One: "1 line".
    pub one: String,
    /// Several: "{count} lines".
    pub many: String,
}

impl Amount {
    /// Puts a number into words.
    pub fn of(&self, count: u64) -> String {
        let template = if count == 1 { &self.one } else { &self.many };
        fill(template, &[("count", &count.to_string())])
    }
}

/// Holds every word of the normaliser; a language file replaces any of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Words {
    /// A code block: `{language}`, `{lines}`.
    pub code: String,
    /// A code block without a language: `{lines}`.
    pub code_plain: String,
    /// A block of a single line: `{block}`, `{text}`.
    pub code_line: String,
    /// More of a code block that was begun in an earlier piece: `{lines}`.
    pub code_rest: String,
    /// Names of languages by the tag of a code block, in lower case.
    pub code_languages: BTreeMap<String, String>,
    /// Lines of code.
    pub lines: Amount,
    /// A heading: `{text}`.
    pub heading: String,
    /// A numbered item: `{number}`, `{text}`.
    pub item: String,
    /// An item without a number: `{text}`.
    pub bullet: String,
    /// A ticked item: `{text}`.
    pub done: String,
    /// An item to be ticked: `{text}`.
    pub open: String,
    /// A quotation: `{text}`.
    pub quote: String,
    /// A table: `{rows}`.
    pub table: String,
    /// Rows of a table.
    pub rows: Amount,
    /// A cell: `{header}`, `{value}`.
    pub cell: String,
    /// A link with a text of its own: `{text}`.
    pub link: String,
    /// An address: `{host}`.
    pub address: String,
    /// A picture: `{text}`.
    pub image: String,
    /// A long path: `{file}`, `{folder}`.
    pub path: String,
    /// The same sign many times: `{count}`, `{sign}`.
    pub repeat: String,
    /// An emoji that has no name here and stands alone.
    pub emoji: String,
    /// A symbol that has no name: `{code}`, its number in hexadecimal.
    pub symbol: String,
    /// A space that is not the usual one.
    pub odd_space: String,
    /// A line's end in a command.
    pub new_line: String,
    /// A capital letter in a flag: `{letter}`.
    pub capital: String,
    /// The sign at a command's end that lets it run on in the background.
    pub background: String,
    /// The months, January first.
    pub months: Vec<String>,
    /// A day: `{day}`, `{month}`, `{year}`.
    pub date: String,
    /// A day and a time: `{date}`, `{time}`.
    pub moment: String,
    /// A time in universal time: `{time}`.
    pub universal: String,
    /// The current day.
    pub today: String,
    /// The day before.
    pub yesterday: String,
    /// The day after.
    pub tomorrow: String,
    /// Less than half a minute away.
    pub just_now: String,
    /// Before now: `{span}`.
    pub ago: String,
    /// After now: `{span}`.
    pub ahead: String,
    /// Minutes.
    pub minutes: Amount,
    /// Hours.
    pub hours: Amount,
    /// Days.
    pub days: Amount,
    /// Signs of more than one character that have a meaning in a shell; the longest is tried first.
    pub shell: BTreeMap<String, String>,
    /// Signs that stand between spaces in prose and in code.
    pub operators: BTreeMap<String, String>,
    /// The names of single signs.
    pub signs: BTreeMap<char, Sign>,
    /// Short names of emoji, without variation selectors.
    pub emojis: BTreeMap<String, String>,
}

/// Puts arguments into a template.
pub fn fill(template: &str, arguments: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (text, tail) = rest.split_at(open);
        out.push_str(text);
        match tail.find('}') {
            Some(close) => {
                let name = &tail[1..close];
                match arguments.iter().find(|(argument, _)| *argument == name) {
                    Some((_, value)) => out.push_str(value),
                    None => out.push_str(&tail[..=close]),
                }
                rest = &tail[close + 1..];
            }
            None => {
                out.push_str(tail);
                rest = "";
            }
        }
    }
    out.push_str(rest);
    out
}

fn amount(one: &str, many: &str) -> Amount {
    Amount {
        one: one.to_owned(),
        many: many.to_owned(),
    }
}

impl Default for Words {
    fn default() -> Self {
        let text = str::to_owned;
        Self {
            code: text("code block, {language}, {lines}"),
            code_plain: text("code block, {lines}"),
            code_line: text("{block}: {text}"),
            code_rest: text("the code goes on, {lines}"),
            code_languages: table(CODE_LANGUAGES),
            lines: amount("1 line", "{count} lines"),
            heading: text("heading, {text}"),
            item: text("item {number}, {text}"),
            bullet: text("bullet, {text}"),
            done: text("done, {text}"),
            open: text("to do, {text}"),
            quote: text("quote, {text}"),
            table: text("table, {rows}"),
            rows: amount("1 row", "{count} rows"),
            cell: text("{header}: {value}"),
            link: text("{text}, link"),
            address: text("{host} link"),
            image: text("image, {text}"),
            path: text("{file} in {folder}"),
            repeat: text("{count} {sign}"),
            emoji: text("emoji"),
            symbol: text("symbol {code}"),
            odd_space: text("unusual space"),
            new_line: text("new line"),
            capital: text("capital {letter}"),
            background: text("in background"),
            months: [
                "January",
                "February",
                "March",
                "April",
                "May",
                "June",
                "July",
                "August",
                "September",
                "October",
                "November",
                "December",
            ]
            .map(text)
            .to_vec(),
            date: text("{day} {month} {year}"),
            moment: text("{date}, {time}"),
            universal: text("{time} UTC"),
            today: text("today"),
            yesterday: text("yesterday"),
            tomorrow: text("tomorrow"),
            just_now: text("just now"),
            ago: text("{span} ago"),
            ahead: text("in {span}"),
            minutes: amount("1 minute", "{count} minutes"),
            hours: amount("1 hour", "{count} hours"),
            days: amount("1 day", "{count} days"),
            shell: table(&[
                ("&&", "and then"),
                ("||", "or else"),
                ("|&", "pipe with errors"),
                (">>", "append to"),
                ("&>>", "append everything to"),
                ("&>", "redirect everything to"),
                (">&", "redirect to the same as"),
                (">|", "force redirect to"),
                (">", "redirect to"),
                ("<", "input from"),
                ("<<", "here document"),
                ("<<<", "here string"),
                ("<&", "input from the same as"),
                ("|", "pipe"),
                (";;", "semicolon semicolon"),
            ]),
            operators: table(&[
                ("->", "to"),
                ("-->", "to"),
                ("=>", "to"),
                ("==>", "to"),
                ("<-", "from"),
                ("→", "to"),
                ("⇒", "to"),
                ("←", "from"),
                ("==", "equals"),
                ("===", "strictly equals"),
                ("!=", "is not"),
                ("!==", "is strictly not"),
                ("<=", "at most"),
                (">=", "at least"),
                ("≤", "at most"),
                ("≥", "at least"),
                ("≠", "is not"),
                ("&&", "and"),
                ("||", "or"),
                ("|", "pipe"),
                (">", "greater than"),
                ("<", "less than"),
                (">>", "append to"),
                ("+=", "plus equals"),
                (":=", "becomes"),
            ]),
            signs: SIGNS
                .iter()
                .map(|&(sign, one, many)| {
                    let (one, many) = (text(one), text(many));
                    (sign, Sign { one, many })
                })
                .collect(),
            emojis: table(NAMES),
        }
    }
}

fn table(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|&(from, to)| (from.to_owned(), to.to_owned()))
        .collect()
}

/// Names of code block languages that differ from their tag with a capital.
const CODE_LANGUAGES: &[(&str, &str)] = &[
    ("js", "JavaScript"),
    ("javascript", "JavaScript"),
    ("ts", "TypeScript"),
    ("typescript", "TypeScript"),
    ("py", "Python"),
    ("rs", "Rust"),
    ("sh", "shell"),
    ("shell", "shell"),
    ("zsh", "shell"),
    ("console", "shell"),
    ("bash", "bash"),
    ("cpp", "C++"),
    ("c++", "C++"),
    ("cs", "C#"),
    ("csharp", "C#"),
    ("yml", "YAML"),
    ("yaml", "YAML"),
    ("json", "JSON"),
    ("toml", "TOML"),
    ("html", "HTML"),
    ("css", "CSS"),
    ("sql", "SQL"),
    ("xml", "XML"),
    ("md", "Markdown"),
    ("txt", "text"),
    ("text", "text"),
    ("diff", "diff"),
];

const SIGNS: &[(char, &str, &str)] = &[
    ('-', "dash", "dashes"),
    ('_', "underscore", "underscores"),
    ('.', "dot", "dots"),
    (',', "comma", "commas"),
    (':', "colon", "colons"),
    (';', "semicolon", "semicolons"),
    ('/', "slash", "slashes"),
    ('\\', "backslash", "backslashes"),
    ('|', "pipe", "pipes"),
    ('&', "ampersand", "ampersands"),
    ('=', "equals", "equals"),
    ('+', "plus", "pluses"),
    ('*', "star", "stars"),
    ('?', "question mark", "question marks"),
    ('!', "exclamation mark", "exclamation marks"),
    ('@', "at", "at signs"),
    ('#', "hash", "hashes"),
    ('$', "dollar", "dollars"),
    ('%', "percent", "percent signs"),
    ('^', "caret", "carets"),
    ('~', "tilde", "tildes"),
    ('`', "backtick", "backticks"),
    ('\'', "single quote", "single quotes"),
    ('"', "quote", "quotes"),
    ('(', "open paren", "open parens"),
    (')', "close paren", "close parens"),
    ('[', "open bracket", "open brackets"),
    (']', "close bracket", "close brackets"),
    ('{', "open brace", "open braces"),
    ('}', "close brace", "close braces"),
    ('<', "less than", "less than signs"),
    ('>', "greater than", "greater than signs"),
    ('–', "en dash", "en dashes"),
    ('—', "em dash", "em dashes"),
    ('…', "ellipsis", "ellipses"),
    ('‘', "curly single quote", "curly single quotes"),
    ('’', "curly single quote", "curly single quotes"),
    ('“', "curly quote", "curly quotes"),
    ('”', "curly quote", "curly quotes"),
    ('«', "angle quote", "angle quotes"),
    ('»', "angle quote", "angle quotes"),
    ('•', "bullet", "bullets"),
    ('→', "arrow right", "arrows right"),
    ('←', "arrow left", "arrows left"),
    ('↑', "arrow up", "arrows up"),
    ('↓', "arrow down", "arrows down"),
    ('°', "degrees", "degree signs"),
    ('§', "section", "section signs"),
    ('±', "plus or minus", "plus or minus signs"),
    ('×', "times", "times signs"),
    ('÷', "divided by", "division signs"),
    ('≠', "is not", "not equal signs"),
    ('≤', "at most", "at most signs"),
    ('≥', "at least", "at least signs"),
    ('€', "euro", "euro signs"),
    ('£', "pound", "pound signs"),
    ('¥', "yen", "yen signs"),
    ('─', "line", "line signs"),
    ('━', "line", "line signs"),
    ('═', "double line", "double line signs"),
    ('│', "vertical line", "vertical line signs"),
    ('█', "block", "blocks"),
    ('░', "light block", "light blocks"),
    ('▓', "dark block", "dark blocks"),
];

/// Holds a person's own pronunciations: whole words and what is said instead.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pronunciation {
    /// Single words and word groups, in lower case unless they hold a capital.
    entries: BTreeMap<String, String>,
    /// How many words the longest entry has.
    longest: usize,
}

/// How many words an entry may have; a longer one never matches.
const LONGEST: usize = 6;

impl Pronunciation {
    /// Makes a dictionary from pairs of a word and what is said instead.
    ///
    /// An entry with a capital matches only as written; others match any case. Entries without a
    /// visible character are left out.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut dictionary = Self::default();
        for (from, to) in pairs {
            let words: Vec<&str> = from.split_whitespace().collect();
            if words.is_empty() || words.len() > LONGEST {
                continue;
            }
            dictionary.longest = dictionary.longest.max(words.len());
            dictionary.entries.insert(words.join(" "), to);
        }
        dictionary
    }

    /// Says whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&self, words: &str) -> Option<&str> {
        self.entries
            .get(words)
            .or_else(|| self.entries.get(&words.to_lowercase()))
            .map(String::as_str)
    }

    /// Gives the entries that are written in a way which the profiles would take apart.
    pub(super) fn of_names(&self) -> Pronunciation {
        let entries = self
            .entries
            .iter()
            .filter(|(from, _)| !from.chars().all(|c| c.is_lowercase() || c == ' '))
            .map(|(from, to)| (from.clone(), to.clone()))
            .collect();
        Pronunciation {
            entries,
            longest: self.longest,
        }
    }

    /// Replaces whole words.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut changed = false;
        let mut rest = text;
        while !rest.is_empty() {
            let space = rest.len() - rest.trim_start().len();
            out.push_str(&rest[..space]);
            rest = &rest[space..];
            match self.at_start(rest) {
                Some((lead, upto, to)) => {
                    out.push_str(&rest[..lead]);
                    out.push_str(to);
                    rest = &rest[upto..];
                    changed = true;
                }
                None => {
                    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                    out.push_str(&rest[..end]);
                    rest = &rest[end..];
                }
            }
        }
        changed.then_some(out)
    }

    /// Finds the longest entry at the start of a text; gives where it begins and ends.
    fn at_start<'d>(&'d self, text: &str) -> Option<(usize, usize, &'d str)> {
        let mut ends = Vec::with_capacity(self.longest);
        let mut from = 0;
        while ends.len() < self.longest {
            let gap = text[from..].len() - text[from..].trim_start().len();
            let word = &text[from + gap..];
            if word.is_empty() {
                break;
            }
            let end = from + gap + word.find(char::is_whitespace).unwrap_or(word.len());
            ends.push(end);
            from = end;
        }
        ends.iter().rev().find_map(|&end| {
            let group = &text[..end];
            let words: Vec<&str> = group.split_whitespace().collect();
            let joined = words.join(" ");
            if let Some(to) = self.find(&joined) {
                return Some((0, end, to));
            }
            let bare = joined.trim_start_matches(is_around);
            let lead = group.len() - group.trim_start_matches(is_around).len();
            let inner = bare.trim_end_matches(is_around);
            let trail = bare.len() - inner.len();
            let possessive = inner
                .strip_suffix("'s")
                .or_else(|| inner.strip_suffix("’s"));
            if let Some(to) = self.find(inner) {
                return Some((lead, end - trail, to));
            }
            let owner = possessive?;
            let to = self.find(owner)?;
            Some((lead, end - trail - (inner.len() - owner.len()), to))
        })
    }
}

fn is_around(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '+' | '#' | '@' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        assert_eq!(
            fill("{a} and {b}", &[("a", "1"), ("b", "{a}")]),
            "1 and {a}"
        );
        assert_eq!(fill("{x} {", &[("a", "1")]), "{x} {");
        assert_eq!(Words::default().lines.of(1), "1 line");
        assert_eq!(Words::default().lines.of(24), "24 lines");
    }

    #[test]
    fn a_dictionary_replaces_whole_words() {
        let pairs = [
            ("kubectl", "kube control"),
            ("SQL", "sequel"),
            ("c++", "see plus plus"),
            ("new york", "the big apple"),
            ("", "nothing"),
        ];
        let dictionary =
            Pronunciation::new(pairs.map(|(from, to)| (from.to_owned(), to.to_owned())));
        for (text, wanted) in [
            ("Run kubectl.", Some("Run kube control.")),
            ("Kubectl's (SQL)", Some("kube control's (sequel)")),
            ("sql kubectls", None),
            ("C++, yes", Some("see plus plus, yes")),
            ("In New  York now", Some("In the big apple now")),
            ("", None),
        ] {
            assert_eq!(dictionary.apply(text).as_deref(), wanted, "{text:?}");
        }
        assert_eq!(Pronunciation::default().apply("x"), None);
    }
}
