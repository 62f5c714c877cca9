//! The text of a question: its words as they are, its commands audible.
//!
//! Responsibilities: telling which words are commands, flags, paths or addresses, and saying their
//! signs. Nothing is shortened, summarised or left out. Not here: how a command is said (`command`).

use super::command;
use super::inline::space;
use super::words::Words;

/// Says a question's text.
pub(super) fn said(words: &Words, text: &str, out: &mut String) {
    let shell = is_shell(text);
    let mut rest = text;
    let mut first = true;
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start().len();
        if gap > 0 {
            if rest[..gap].contains('\n') {
                if shell && !out.is_empty() && gap < rest.len() {
                    space(out);
                    out.push_str(&words.new_line);
                } else if out.ends_with(char::is_alphanumeric) {
                    out.push('.');
                }
            }
            first |= rest[..gap].contains('\n');
            space(out);
            rest = &rest[gap..];
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let last = rest[end..].trim().is_empty();
        if first && is_marker(&rest[..end]) && !last {
            out.push_str(&rest[..end]);
        } else {
            word(words, &rest[..end], shell, last, out);
        }
        first = false;
        rest = &rest[end..];
    }
    let end = out.trim_end().len();
    out.truncate(end);
}

/// Says whether a text has signs that only commands have.
fn is_shell(text: &str) -> bool {
    let words = text.lines().flat_map(|line| {
        let mut words = line.split_whitespace().peekable();
        words.next_if(|word| is_marker(word));
        words
    });
    words.into_iter().any(|word| {
        let bare = word
            .trim_matches(|c: char| matches!(c, '(' | ')' | '"' | '\'' | '“' | '”' | ',' | ':'));
        is_flag(bare)
            || bare.contains(['`', '|', '<', '>', '\\'])
            || bare.contains("$(")
            || bare.contains("${")
            || bare.contains("&&")
            || bare.starts_with('$') && !is_money(bare)
            || matches!(bare, "&" | "*" | "-" | "--" | ".")
    })
}

/// Says whether a line's first word is Markdown's mark of a heading or an item. Those that a shell
/// would obey at a line's start are not taken for Markdown.
fn is_marker(word: &str) -> bool {
    matches!(word, "-" | "+") || word.len() <= 6 && word.bytes().all(|b| b == b'#')
}

fn is_flag(word: &str) -> bool {
    let body = word.trim_start_matches('-');
    (1..=2).contains(&(word.len() - body.len()))
        && body.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_money(word: &str) -> bool {
    word.strip_prefix('$').is_some_and(|amount| {
        amount.starts_with(|c: char| c.is_ascii_digit())
            && amount.chars().all(|c| {
                c.is_ascii_digit()
                    || matches!(c, '.' | ',' | 'k' | 'K' | 'M' | 'B' | '!' | '?' | ')')
            })
    })
}

fn word(words: &Words, word: &str, shell: bool, last: bool, out: &mut String) {
    if word.bytes().all(|b| b.is_ascii_alphanumeric()) {
        out.push_str(word);
        return;
    }
    let (lead, core, trail) = around(word);
    if !(shell && has_quotes(lead, trail)) && is_plain(core, word, shell) {
        out.push_str(word);
        return;
    }
    // In a command the marks around a word are part of it; a sentence's own last mark is not.
    let (lead, core, trail) = if shell {
        let stop = word.trim_end_matches([',', ':', '!', '?']);
        let stop = if stop.len() > 1 && (last || !is_path_stop(stop)) {
            stop.strip_suffix('.').unwrap_or(stop)
        } else {
            stop
        };
        if stop.is_empty() {
            ("", word, "")
        } else {
            ("", stop, &word[stop.len()..])
        }
    } else {
        (lead, core, trail)
    };
    out.push_str(lead);
    let mut said = String::new();
    command::said(words, core, &mut said);
    out.push_str(&said);
    out.push_str(trail);
}

/// Says whether a full stop at a word's end is more than a sentence's: "..", "./.".
fn is_path_stop(word: &str) -> bool {
    word.ends_with("..") || word.ends_with("/.") || word == "."
}

fn has_quotes(lead: &str, trail: &str) -> bool {
    lead.contains(['"', '\'', '(', '[', '{', '*'])
        || trail.contains(['"', '\'', ')', ']', '}', '*', ';'])
}

/// Takes the punctuation off a word.
fn around(word: &str) -> (&str, &str, &str) {
    let core = word.trim_start_matches(|c: char| {
        matches!(
            c,
            '(' | '[' | '"' | '\'' | '“' | '‘' | '„' | '«' | '¿' | '¡'
        )
    });
    let lead = &word[..word.len() - core.len()];
    let bare = core.trim_end_matches(|c: char| {
        matches!(
            c,
            ')' | ']' | '"' | '\'' | '”' | '’' | '»' | '.' | ',' | ':' | ';' | '!' | '?' | '…'
        )
    });
    // "..", "./" and a lone mark are not punctuation.
    if bare.is_empty() {
        return ("", word, "");
    }
    (lead, bare, &core[bare.len()..])
}

/// Says whether a word is as audible as it is.
fn is_plain(core: &str, word: &str, shell: bool) -> bool {
    if core == word && core.chars().all(|c| !c.is_alphanumeric()) {
        // A mark on its own: a dash in a sentence is heard as a pause, others are said.
        return matches!(core, "–" | "—" | "…") || core == "-" && !shell;
    }
    if is_emphasised(core) || is_money(core) || is_mail(core) {
        return true;
    }
    if is_flag(core) || core.starts_with('-') {
        return false;
    }
    if core.contains('/') {
        // "and/or", "24/7" are words.
        let parts: Vec<&str> = core.split('/').collect();
        return !shell
            && parts.len() == 2
            && parts
                .iter()
                .all(|part| !part.is_empty() && part.chars().all(char::is_alphanumeric));
    }
    if shell {
        // Among commands only the marks of words and numbers go without a name.
        return !core.starts_with('.')
            && core.chars().all(|c| {
                c.is_alphanumeric() || matches!(c, '-' | '.' | ',' | ':' | '\'' | '’' | '%')
            });
    }
    !core.contains([
        '|', '<', '>', '&', ';', '$', '`', '*', '=', '~', '{', '}', '\\', '^', '_', '"', '→',
    ]) && !core.chars().any(symbols_only)
}

fn symbols_only(c: char) -> bool {
    super::symbols::only_draws(c) || c.is_whitespace()
}

/// Says whether stars or underscores around a word are Markdown's emphasis.
fn is_emphasised(core: &str) -> bool {
    let inner = core.trim_start_matches(['*', '_']);
    let marks = &core[..core.len() - inner.len()];
    (1..=3).contains(&marks.len())
        && inner.strip_suffix(marks).is_some_and(|text| {
            !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '-')
        })
}

fn is_mail(core: &str) -> bool {
    core.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && host.contains('.')
            && name
                .chars()
                .chain(host.chars())
                .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '+'))
    })
}
