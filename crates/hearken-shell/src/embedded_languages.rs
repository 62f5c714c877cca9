//! Small languages inside a command: sed and awk scripts, SQL, and code in other languages.
//!
//! Responsibilities: reading just enough of each to see whether it only computes; anything else is reported. Not here:
//! shell text (`syntax`).

use crate::act::Act;
use crate::program_lists::lists;

mod plain_sed;
mod printed_text;

use plain_sed::is_plain_sed;
pub(crate) use printed_text::{escapes, printf};

/// What a piece of code can do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct EmbeddedCode {
    /// Its acts, with the things that they affect.
    pub(crate) acts: Vec<(Act, String)>,
    /// The commands that it passes to a shell.
    pub(crate) commands: Vec<String>,
    /// Whether all of it was read.
    pub(crate) is_read: bool,
}

impl EmbeddedCode {
    fn unread() -> Self {
        Self::default()
    }
}

/// Reads a sed script; only the plainest scripts count as read.
pub(crate) fn sed(script: &str) -> EmbeddedCode {
    let mut code = read_sed(script);
    code.is_read &= script
        .split([';', '\n'])
        .all(|part| is_plain_sed(part.trim()));
    code
}

/// Reads an awk program; only a program without signs of unusual input or output counts as read.
pub(crate) fn awk(program: &str) -> EmbeddedCode {
    let mut code = read_awk(program);
    let words = ["system", "getline", "close", "fflush", "include", "load"];
    code.is_read &= !program.contains(['>', '|', '@', '`', '#'])
        && !words.iter().any(|word| program.contains(word));
    code
}

/// Reads SQL; only a single query without comments counts as read.
pub(crate) fn sql(text: &str) -> EmbeddedCode {
    let mut code = read_sql(text);
    let plain = text.trim().trim_end_matches(';').to_lowercase();
    let queries = [
        "select ",
        "explain ",
        "show ",
        "describe ",
        ".tables",
        ".schema",
        ".indexes",
    ];
    let words = [
        "into",
        "pragma",
        "analyze",
        "attach",
        "load_extension",
        "writefile",
        "edit(",
        "vacuum",
        "reindex",
        "call",
        "exec",
        "dblink",
        "lo_",
        "pg_",
        "copy",
        "setval",
        "nextval",
        "outfile",
        "dumpfile",
    ];
    code.is_read &= queries.iter().any(|query| plain.starts_with(query))
        && !plain.contains([';', '#', '\\'])
        && !plain.contains("--")
        && !plain.contains("/*")
        && !words.iter().any(|word| plain.contains(word));
    code
}

/// Finds the acts of a sed script.
fn read_sed(script: &str) -> EmbeddedCode {
    let mut code = EmbeddedCode {
        is_read: true,
        ..EmbeddedCode::default()
    };
    let mut chars = script.chars().peekable();
    loop {
        while chars
            .next_if(|c| c.is_whitespace() || ";{}".contains(*c))
            .is_some()
        {}
        if chars.peek().is_none() {
            return code;
        }
        if chars.peek() == Some(&'#') {
            while chars.next_if(|c| *c != '\n').is_some() {}
            continue;
        }
        if sed_address(&mut chars).is_none() {
            return EmbeddedCode::unread();
        }
        while chars.next_if(|c| c.is_whitespace() || *c == '!').is_some() {}
        let Some(command) = chars.next() else {
            return EmbeddedCode::unread();
        };
        let mut rest = |end: &str| -> String {
            let mut text = String::new();
            while let Some(c) = chars.next_if(|c| !end.contains(*c)) {
                text.push(c);
                if c == '\\' {
                    text.extend(chars.next());
                }
            }
            text.trim().to_owned()
        };
        match command {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
            | 'z' | 'F' => {}
            'l' | 'q' | 'Q' | 'b' | 't' | 'T' | ':' => {
                rest(";\n}");
            }
            'a' | 'i' | 'c' => {
                rest("\n");
            }
            'r' | 'R' => {
                let file = rest("\n");
                code.acts.push((Act::Outside, file));
            }
            'w' | 'W' => {
                let file = rest("\n");
                code.acts.push((Act::Replace, file));
            }
            'e' => {
                let command = rest("\n");
                if command.is_empty() {
                    code.acts.push((Act::Generated, String::new()));
                }
                code.commands.push(command);
            }
            's' | 'y' => {
                if sed_pair(&mut chars).is_none() {
                    return EmbeddedCode::unread();
                }
                while let Some(flag) = chars.next_if(|c| c.is_ascii_alphanumeric()) {
                    match flag {
                        'e' => code.acts.push((Act::Generated, String::new())),
                        'w' => {
                            let file: String =
                                std::iter::from_fn(|| chars.next_if(|c| *c != '\n')).collect();
                            code.acts.push((Act::Replace, file.trim().to_owned()));
                        }
                        'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                        _ => return EmbeddedCode::unread(),
                    }
                }
            }
            _ => return EmbeddedCode::unread(),
        }
    }
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Reads the addresses before a sed command; returns `None` if they can't be read.
fn sed_address(chars: &mut Chars<'_>) -> Option<()> {
    loop {
        match chars.peek() {
            Some('0'..='9' | '$' | '+' | '~') => {
                chars.next();
            }
            Some('/') => {
                chars.next();
                delimited(chars, '/')?;
                while chars.next_if(|c| *c == 'I' || *c == 'M').is_some() {}
            }
            Some('\\') => {
                chars.next();
                let delimiter = chars.next()?;
                delimited(chars, delimiter)?;
            }
            Some(',' | ' ') => {
                chars.next();
            }
            Some(_) | None => return Some(()),
        }
    }
}

fn sed_pair(chars: &mut Chars<'_>) -> Option<()> {
    let delimiter = chars.next().filter(|c| *c != '\n' && *c != '\\')?;
    delimited(chars, delimiter)?;
    delimited(chars, delimiter)
}

/// Skips text up to its delimiter, which is literal inside brackets.
fn delimited(chars: &mut Chars<'_>, delimiter: char) -> Option<()> {
    loop {
        match chars.next()? {
            '\\' => {
                chars.next()?;
            }
            '[' if delimiter != '[' => {
                let mut ahead = chars.clone();
                ahead.next_if_eq(&'^');
                ahead.next_if_eq(&']');
                // An unclosed bracket is literal.
                if ahead.any(|c| c == ']') {
                    *chars = ahead;
                }
            }
            c if c == delimiter => return Some(()),
            _ => {}
        }
    }
}

/// Reads an awk program.
fn read_awk(program: &str) -> EmbeddedCode {
    let mut code = EmbeddedCode {
        is_read: true,
        ..EmbeddedCode::default()
    };
    let mut plain = String::new();
    let mut texts: Vec<String> = Vec::new();
    let mut chars = program.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let mut text = String::new();
                loop {
                    match chars.next() {
                        Some('\\') => text.extend(chars.next()),
                        Some('"') => break,
                        Some(c) => text.push(c),
                        None => return EmbeddedCode::unread(),
                    }
                }
                // A placeholder marks its position.
                plain.push('\u{1}');
                texts.push(text);
            }
            '/' if begins_regex(&plain) => {
                if delimited(&mut chars, '/').is_none() {
                    return EmbeddedCode::unread();
                }
                plain.push('\u{2}');
            }
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            c => plain.push(c),
        }
    }
    let text_behind = |at: usize| {
        let before = plain.get(..at).unwrap_or_default().matches('\u{1}').count();
        let rest = plain.get(at..).unwrap_or_default();
        let rest = rest.trim_start_matches(['|', '>', '&', ' ', '\t', '(']);
        rest.starts_with('\u{1}')
            .then(|| texts.get(before).cloned())
            .flatten()
    };
    let mut at = 0;
    for part in plain.split_inclusive(['\n', ';', '{', '}']) {
        let prints = ["print", "printf"].iter().any(|word| has_word(part, word));
        let mut level = 0_i32;
        let bytes = part.as_bytes();
        for (index, byte) in part.bytes().enumerate() {
            let place = at + index;
            match byte {
                b'(' => level += 1,
                b')' => level -= 1,
                b'|' if bytes.get(index + 1) == Some(&b'|')
                    || (index > 0 && bytes.get(index - 1) == Some(&b'|')) => {}
                b'|' if prints => match text_behind(place) {
                    Some(command) => code.commands.push(command),
                    None => code.acts.push((Act::Generated, String::new())),
                },
                b'|' => code.acts.push((Act::Starts, String::new())),
                b'>' if prints
                    && level == 0
                    && (index == 0 || bytes.get(index - 1) != Some(&b'>')) =>
                {
                    let place = if bytes.get(index + 1) == Some(&b'>') {
                        place + 1
                    } else {
                        place
                    };
                    match text_behind(place) {
                        Some(file) => code.acts.push((Act::Replace, file)),
                        None => code.is_read = false,
                    }
                }
                _ => {}
            }
        }
        at += part.len();
    }
    // `getline` may read from a file; a command from which it reads was found by its pipe.
    for (found, _) in plain.match_indices("getline") {
        let rest = plain.get(found + "getline".len()..).unwrap_or_default();
        let Some((before, _)) = rest
            .split_once('<')
            .filter(|(before, _)| !before.contains([')', ';', '\n', '{', '}']))
        else {
            continue;
        };
        match text_behind(found + "getline".len() + before.len() + 1) {
            Some(file) => code.acts.push((Act::Outside, file)),
            None => code.is_read = false,
        }
    }
    if texts.iter().any(|text| text.starts_with("/inet")) {
        code.acts.push((Act::Contact, String::new()));
    }
    for (found, _) in plain.match_indices("system") {
        match text_behind(found + "system".len()) {
            Some(command) => code.commands.push(command),
            None => code.acts.push((Act::Generated, String::new())),
        }
    }
    if plain.contains('@') {
        code.is_read = false;
    }
    code
}

/// Returns whether a slash after this text begins a pattern; after a value, it divides.
fn begins_regex(before: &str) -> bool {
    let last = before.trim_end().chars().next_back();
    !last.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ')' || c == ']' || c == '\u{1}')
}

fn has_word(text: &str, wanted: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.into_iter().any(|word| word == wanted)
}

/// Reads SQL: a query counts as read, and a statement that changes data is reported.
fn read_sql(text: &str) -> EmbeddedCode {
    let mut code = EmbeddedCode {
        is_read: true,
        ..EmbeddedCode::default()
    };
    let mut plain = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' || c == '`' => quote = Some(c),
            None => plain.push(c),
        }
    }
    let upper = plain.to_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| has_word(&upper, word));
    if has(&["DROP", "TRUNCATE"]) {
        code.acts.push((Act::Drop, String::new()));
    } else if has(&[
        "DELETE", "UPDATE", "INSERT", "ALTER", "CREATE", "GRANT", "REVOKE", "MERGE", "REPLACE",
        "UPSERT", "RENAME", "REINDEX", "VACUUM", "LOCK", "SET",
    ]) {
        code.acts.push((Act::Data, String::new()));
    }
    if has(&[
        "COPY", "EXEC", "EXECUTE", "CALL", "DO", "LOAD", "ATTACH", "INTO", "OUTFILE", "DUMPFILE",
    ]) {
        code.acts.push((Act::Data, String::new()));
        code.is_read = false;
    }
    let meta = |line: &str| {
        line.trim_start().starts_with(['.', '\\']) || line.trim_start().starts_with("system ")
    };
    let calls = [
        "LOAD_EXTENSION",
        "WRITEFILE",
        "READFILE",
        "EDIT",
        "FTS3_TOKENIZER",
        "PG_READ_FILE",
        "LO_IMPORT",
        "LO_EXPORT",
        "XP_CMDSHELL",
        "DBLINK",
    ];
    if has(&calls) {
        code.acts.push((Act::Starts, String::new()));
        code.is_read = false;
    }
    for line in text.lines().filter(|line| meta(line)) {
        let word = line.split_whitespace().next().unwrap_or_default();
        let looks = [
            ".tables",
            ".schema",
            ".databases",
            ".indexes",
            ".headers",
            ".mode",
            ".show",
            ".dbinfo",
            ".help",
            "\\d",
            "\\dt",
            "\\l",
            "\\du",
            "\\dn",
            "\\df",
            "\\dv",
            "\\x",
            "\\timing",
            "\\conninfo",
            "\\q",
        ];
        let command = [".shell ", ".system ", "\\! ", "system "]
            .iter()
            .find_map(|begin| line.trim_start().strip_prefix(begin));
        match command {
            Some(command) => code.commands.push(command.to_owned()),
            None if looks.contains(&word) => {}
            None => code.acts.push((Act::Starts, String::new())),
        }
    }
    let asks = [
        "SELECT", "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "WITH", "VALUES", "PRAGMA", "ANALYZE",
        "TABLE",
    ];
    let begins_well = upper
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .all(|part| {
            let word = part
                .split(|c: char| !c.is_alphanumeric())
                .next()
                .unwrap_or_default();
            meta(part) || asks.contains(&word)
        });
    code.is_read &= begins_well || !code.acts.is_empty();
    code
}

/// Searches code in a program's language for the words that the table lists for each act. Code never counts as read.
pub(crate) fn code(program: &str, text: &str) -> EmbeddedCode {
    let mut code = EmbeddedCode::unread();
    let Some(language) = lists().languages.get(program) else {
        return code;
    };
    for (name, signs) in &language.shows {
        let Some(act) = Act::named(name) else {
            continue;
        };
        if signs.iter().any(|sign| text.contains(sign.as_str())) {
            code.acts.push((act, String::new()));
        }
        if act == Act::Starts {
            let begins = signs.iter().flat_map(|sign| {
                text.match_indices(sign.as_str())
                    .map(|(at, sign)| at + sign.len())
            });
            code.commands
                .extend(begins.filter_map(|at| quoted(text.get(at..)?)));
        }
    }
    if language.name == "make" {
        code.commands.extend(recipes(text));
    }
    code.commands.truncate(MOST_COMMANDS);
    code
}

/// The most commands that are taken from a piece of code.
const MOST_COMMANDS: usize = 16;
/// The most bytes between a function's name and its quoted argument.
const NEAR: usize = 12;

/// Returns the quoted text right after a function's name; for a list, all of its texts.
fn quoted(text: &str) -> Option<String> {
    let Some(begin) = text.find(['"', '\'', '`']) else {
        // A Vim command needs no quotes.
        return text.lines().next().map(str::to_owned);
    };
    let between = text.get(..begin)?;
    if between.len() > NEAR {
        return text
            .split('\n')
            .next()
            .filter(|_| !between.contains(['(', ')']))
            .map(str::to_owned);
    }
    let is_list = between.contains('[') || between.trim().is_empty() && !between.is_empty();
    let mut words = Vec::new();
    let mut rest = text.get(begin..)?;
    while let Some(quote) = rest
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\'' | '`'))
    {
        let inner = rest.get(1..)?;
        let end = inner.find(quote)?;
        words.push(inner.get(..end)?);
        let after = inner.get(end + 1..)?;
        let next = after.trim_start_matches([',', ' ']);
        if !is_list {
            break;
        }
        rest = next;
    }
    Some(words.join(" "))
}

/// Returns the commands of a makefile: the text after a rule's semicolon, and the lines that begin with a tab.
fn recipes(text: &str) -> Vec<String> {
    let mut recipes = Vec::new();
    for line in text.lines() {
        let recipe = match line.strip_prefix('\t') {
            Some(recipe) => Some(recipe),
            None => line
                .split_once(':')
                .and_then(|(_, rest)| rest.split_once(';'))
                .map(|(_, recipe)| recipe),
        };
        recipes.extend(
            recipe.map(|recipe| recipe.trim_start_matches(['@', '-', '+', ' ']).to_owned()),
        );
    }
    recipes
}

#[cfg(test)]
mod tests;
