//! Single words of prose that are not words: addresses, paths, ids, identifiers, flags.
//!
//! Responsibilities: what each is told by and how it is said. Not here: Markdown (`inline`, `blocks`),
//! commands (`command`).

use jiff::Timestamp;

use super::symbols;
use super::time;
use super::words::{Words, fill};

/// How many parts a path may have and still be said whole.
const PARTS: usize = 3;

/// How many hexadecimal digits make an id that is shortened.
const HEX: usize = 8;

/// How many of its characters are said.
const HEX_SAID: usize = 4;

/// Says one word of prose without the punctuation around it.
pub(super) fn said(words: &Words, token: &str, now: Option<Timestamp>, out: &mut String) {
    if token.is_empty() {
        return;
    }
    if token.bytes().all(|b| b.is_ascii_alphanumeric()) {
        if is_id(token) {
            out.push_str(&token[..HEX_SAID]);
        } else if token.as_bytes()[1..].iter().all(u8::is_ascii_lowercase) {
            out.push_str(token);
        } else {
            identifier(token, out);
        }
        return;
    }
    if token.starts_with(|c: char| !c.is_alphanumeric())
        && let Some(word) = words.operators.get(token)
    {
        out.push_str(word);
    } else if let Some(host) = host(token) {
        out.push_str(&fill(&words.address, &[("host", host)]));
    } else if is_mail(token) {
        out.push_str(token);
    } else if let Some(text) = time::said(words, token, now) {
        out.push_str(&text);
    } else if let Some(text) = short_id(token) {
        out.push_str(&text);
    } else if let Some(flag) = flag(words, token) {
        out.push_str(&flag);
    } else if is_path(token) {
        path(words, token, out);
    } else if symbols::has_symbols(token) {
        symbols::said(words, token, out);
    } else {
        identifier(token, out);
    }
}

/// Gives the host of an address.
pub(super) fn host(token: &str) -> Option<&str> {
    if !token.contains(':') && !token.starts_with(['w', 'W']) {
        return None;
    }
    let rest = match token.split_once("://") {
        Some((scheme, rest))
            if (2..=12).contains(&scheme.len())
                && scheme
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'+') =>
        {
            rest
        }
        Some(_) => return None,
        None if token.len() > 6 && token.as_bytes()[..4].eq_ignore_ascii_case(b"www.") => token,
        None => return None,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.strip_prefix("www.").unwrap_or(host);
    let port = host.rfind(':').filter(|_| !host.starts_with('['));
    let bare = port.map_or(host, |at| &host[..at]);
    let local = matches!(bare, "localhost" | "127.0.0.1" | "0.0.0.0");
    let host = if local { host } else { bare };
    (!host.is_empty()).then_some(host)
}

fn is_mail(token: &str) -> bool {
    match token.split_once('@') {
        Some((name, host)) => {
            !name.is_empty()
                && host.contains('.')
                && !token.contains(['/', ':'])
                && host
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-')
        }
        None => false,
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Says whether hexadecimal digits are an id, and neither a number nor a word.
fn is_id(text: &str) -> bool {
    text.len() >= HEX
        && is_hex(text)
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Shortens a long id: a hash, a UUID, "sess_2c91…", "sha256:9f86…".
fn short_id(token: &str) -> Option<String> {
    if is_id(token) {
        return Some(token[..HEX_SAID].to_owned());
    }
    let parts: Vec<&str> = token.split('-').take(6).collect();
    if parts.len() == 5
        && [8, 4, 4, 4, 12]
            .iter()
            .zip(&parts)
            .all(|(&length, part)| part.len() == length && is_hex(part))
    {
        return Some(token[..HEX_SAID].to_owned());
    }
    if let Some(digits) = token.strip_prefix("0x")
        && digits.len() >= HEX
        && is_hex(digits)
    {
        return Some(format!("0x {}", &digits[..HEX_SAID]));
    }
    let at = token.rfind(['_', ':', '@', '#'])?;
    let (name, id) = token.split_at(at);
    let (mark, id) = id.split_at(1);
    if !is_id(id) || name.is_empty() {
        return None;
    }
    let mut said = String::new();
    identifier(name, &mut said);
    if mark == ":" {
        said.push(':');
    }
    said.push(' ');
    said.push_str(&id[..HEX_SAID]);
    Some(said)
}

/// Says an option of a command.
pub(super) fn flag(words: &Words, token: &str) -> Option<String> {
    let body = token.trim_start_matches('-');
    let dashes = token.len() - body.len();
    if !(1..=2).contains(&dashes) || !body.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let dash = words.signs.get(&'-').map_or("-", |sign| sign.one.as_str());
    let mut said = [dash, dash][..dashes].join(" ");
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let short = dashes == 1 && name.len() <= 3 && name.bytes().all(|b| b.is_ascii_alphabetic());
    if short {
        for letter in name.chars() {
            said.push(' ');
            if letter.is_uppercase() {
                said.push_str(&fill(&words.capital, &[("letter", &letter.to_string())]));
            } else {
                said.push(letter);
            }
        }
    } else {
        for part in name.split('-').filter(|part| !part.is_empty()) {
            said.push(' ');
            identifier(part, &mut said);
        }
    }
    if let Some(value) = value {
        let equals = words.signs.get(&'=').map_or("=", |sign| sign.one.as_str());
        said.push(' ');
        said.push_str(equals);
        if !value.is_empty() {
            said.push(' ');
            identifier(value, &mut said);
        }
    }
    Some(said)
}

/// Says whether a word with slashes is a path, and not "and/or" or "24/7".
fn is_path(token: &str) -> bool {
    let slashes = token.bytes().filter(|&b| b == b'/').count();
    let back = token.bytes().filter(|&b| b == b'\\').count();
    if back >= 1 && token.get(1..3) == Some(":\\") {
        return true;
    }
    if slashes == 0 || !token.bytes().any(|b| b.is_ascii_alphabetic()) {
        return false;
    }
    let rooted = token.starts_with('/')
        || token.starts_with("./")
        || token.starts_with("../")
        || token.starts_with("~/")
        || token.ends_with('/');
    let extension = token
        .rsplit('/')
        .next()
        .and_then(|file| file.rsplit_once('.'))
        .is_some_and(|(name, extension)| {
            !name.is_empty()
                && (1..=6).contains(&extension.len())
                && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        });
    rooted || extension || slashes >= 2 || token.contains('_')
}

fn path(words: &Words, token: &str, out: &mut String) {
    let slash = if token.contains('/') { '/' } else { '\\' };
    let name = words
        .signs
        .get(&slash)
        .map_or("/", |sign| sign.one.as_str());
    let parts: Vec<&str> = token.split(slash).collect();
    let full: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    if full.len() > PARTS {
        let (mut file, mut folder) = (String::new(), String::new());
        if let [.., parent, last] = full[..] {
            part(words, last, &mut file);
            part(words, parent, &mut folder);
        }
        out.push_str(&fill(&words.path, &[("file", &file), ("folder", &folder)]));
        return;
    }
    let mut first = true;
    for piece in parts {
        if !first {
            symbols::set_off(out, name);
        }
        first = false;
        part(words, piece, out);
    }
    let trimmed = out.trim_end().len();
    out.truncate(trimmed);
}

/// Says one part of a path.
fn part(words: &Words, piece: &str, out: &mut String) {
    if piece == "~" {
        out.push_str(words.signs.get(&'~').map_or("~", |sign| sign.one.as_str()));
    } else if let Some(short) = short_id(piece) {
        out.push_str(&short);
    } else {
        identifier(piece, out);
    }
}

/// Says a name in program text: its parts apart, without underscores.
pub(super) fn identifier(token: &str, out: &mut String) {
    let token = token.strip_suffix("()").unwrap_or(token);
    let start = out.len();
    let mut before: Option<char> = None;
    let mut chars = token.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        if c == '_' || c == ':' && (next == Some(':') || before == Some(':')) {
            if out.len() > start && !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            if splits(before, c, next, chars.clone().nth(1)) {
                out.push(' ');
            }
            out.push(c);
        }
        before = Some(c);
    }
    let trimmed = out.trim_end().len().max(start);
    out.truncate(trimmed);
    if out.len() == start {
        // Nothing but underscores.
        out.push_str(token);
    }
}

/// Says whether a new word begins at a letter inside a name.
fn splits(before: Option<char>, c: char, next: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    if !c.is_uppercase() {
        return false;
    }
    if before.is_lowercase() || before.is_ascii_digit() && next.is_some_and(char::is_lowercase) {
        return true;
    }
    // "HTTPServer" is two words, "URLs" is one.
    before.is_uppercase()
        && next.is_some_and(char::is_lowercase)
        && (next != Some('s') || after.is_some_and(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_come_apart() {
        for (token, wanted) in [
            ("camelCase", "camel Case"),
            ("parseHTTPResponse", "parse HTTP Response"),
            ("snake_case_name", "snake case name"),
            ("MAX_SIZE", "MAX SIZE"),
            ("URLs", "URLs"),
            ("iPhone", "i Phone"),
            ("word", "word"),
            ("std::fmt::Display", "std fmt Display"),
            ("__init__", "init"),
            ("foo()", "foo"),
            ("sha256Sum", "sha256 Sum"),
            ("___", "___"),
            ("x86_64", "x86 64"),
        ] {
            let mut out = String::new();
            identifier(token, &mut out);
            assert_eq!(out, wanted, "{token}");
        }
    }

    #[test]
    fn hosts_are_found() {
        for (token, wanted) in [
            ("https://www.example.com/a/b?c=d", Some("example.com")),
            ("http://localhost:8080/x", Some("localhost:8080")),
            ("https://user:pw@host.net:443", Some("host.net")),
            ("www.rust-lang.org", Some("rust-lang.org")),
            ("file:///etc/hosts", None),
            ("a://b", None),
            ("std::fmt", None),
        ] {
            assert_eq!(host(token), wanted, "{token}");
        }
    }
}
