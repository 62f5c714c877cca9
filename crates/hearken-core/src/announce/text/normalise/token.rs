//! One token of prose that is more than a plain word.
//!
//! Responsibilities: addresses, paths, flags, identifiers, operators, pictures. Not here: marks
//! that extend over several tokens (`inline`).

use super::hidden::is_pictograph;
use super::identifier::{is_uuid, say_id, say_name};
use super::moment::time;
use super::picture::{Picture, picture_at};
use super::signs::{is_run, run};
use super::spoken::SpokenText;
use super::words::{Words, fill};

/// Speaks the middle of a token, without the marks around it. `angled` means that its angle brackets were in
/// pairs.
pub(super) fn say(token: &str, angled: bool, words: &Words, spoken: &mut SpokenText) {
    if token.is_empty() {
        return;
    }
    let token = token.strip_prefix("mailto:").unwrap_or(token);
    if let Some(sign) = words.prose_sign(token) {
        spoken.word(&sign.one);
    } else if let Some(at) = address(token) {
        signs(&token[..at], token, angled, words, spoken);
        host(&token[at..], words, spoken);
    } else if let Some((address, port)) = network_and_port(token) {
        network(address, words, spoken);
        if !port.is_empty() {
            spoken.word(&fill(&words.port, &[("n", port)]));
        }
    } else if let Some(said) = time(token, words, || {
        let now = spoken.now();
        now.filter(|_| !spoken.ends_with(&words.before_times))
    }) {
        spoken.word(&said);
    } else if is_uuid(token) {
        say_id(token, words, spoken);
    } else {
        signs(token, token, angled, words, spoken);
    }
}

/// Returns whether a token is a network or device address: IPv6 or MAC.
fn is_network(token: &str) -> bool {
    let address = token.split(['/', '%']).next().unwrap_or(token);
    if address.len() > 45 || address.bytes().filter(|b| *b == b':').count() < 2 {
        return false;
    }
    let is_hex = |group: &str| group.len() <= 4 && group.bytes().all(|b| b.is_ascii_hexdigit());
    let groups = address.split(':').count();
    let is_device = groups == 6 && address.split(':').all(|group| group.len() == 2);
    let is_short =
        address.contains("::") && groups <= 9 && address.bytes().any(|b| b.is_ascii_digit());
    let is_whole = groups == 8 && !address.split(':').any(str::is_empty);
    address.split(':').all(is_hex) && (is_device || is_short || is_whole)
}

/// Returns an address and the port after it, as in `[::1]:80`, whose first bracket is gone.
fn network_and_port(token: &str) -> Option<(&str, &str)> {
    // Almost no token has a colon inside.
    token.contains(':').then_some(())?;
    let (address, port) = match token.split_once("]:") {
        Some((address, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (address, port),
        Some(_) | None => (token, ""),
    };
    is_network(address).then_some((address, port))
}

/// Speaks such an address group by group, with its colons.
fn network(token: &str, words: &Words, spoken: &mut SpokenText) {
    let mut group = String::new();
    for c in token.chars() {
        if c.is_ascii_alphanumeric() {
            group.push(c);
            continue;
        }
        spoken.word(&std::mem::take(&mut group));
        if let Some(sign) = words.sign(c) {
            spoken.word(&sign.one);
        }
    }
    spoken.word(&group);
}

/// Returns whether code is just a name, which can be spoken as a word because nothing in it acts.
pub(super) fn is_name(code: &str) -> bool {
    let digits = |c: Option<&u8>| c.is_some_and(u8::is_ascii_digit);
    let bytes = code.as_bytes();
    let counts = (1..bytes.len().max(1))
        .any(|at| bytes[at] == b'-' && digits(bytes.get(at - 1)) && digits(bytes.get(at + 1)));
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            && part.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
            && part.chars().any(char::is_alphanumeric)
    };
    !counts && code.split("::").all(is_part)
}

/// Returns where a web address begins in a token.
pub(super) fn address(token: &str) -> Option<usize> {
    let bytes = token.as_bytes();
    let colon =
        |(at, b): (usize, &u8)| (*b == b':' && bytes[at..].starts_with(b"://")).then_some(at);
    if let Some(colon) = bytes.iter().enumerate().find_map(colon) {
        let scheme =
            token[..colon].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '+');
        return (scheme.len() < colon).then_some(scheme.len());
    }
    let is_bare = token
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("www."));
    is_bare.then_some(0)
}

/// Speaks an address by its host.
///
/// The part before an @ is not the host, however much it may look like one.
fn host(address: &str, words: &Words, spoken: &mut SpokenText) {
    let after = address
        .split_once("://")
        .map_or(address, |(_, after)| after);
    let authority = after.split(['/', '?', '#', '\\']).next().unwrap_or(after);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            (name, Some(port))
        }
        Some(_) | None => (host, None),
    };
    let name = name.trim_matches(['[', ']']);
    let name = name.strip_prefix("www.").unwrap_or(name);
    if name.is_empty() {
        signs(after, after, true, words, spoken);
        return;
    }
    spoken.gap();
    if is_network(name) {
        network(name, words, spoken);
    }
    let letters = if is_network(name) { "" } else { name };
    for c in letters.chars() {
        match c {
            '.' | '-' | ':' => spoken.letter(c),
            c if c.is_alphanumeric() => spoken.letter(c),
            c => match words.sign(c) {
                Some(sign) => spoken.word(&sign.one),
                None => spoken.gap(),
            },
        }
    }
    if let Some(port) = port {
        spoken.word(&fill(&words.port, &[("n", port)]));
    }
    spoken.word(&words.link);
}

/// Returns whether a token is an e-mail address.
fn is_mail(token: &str) -> bool {
    token.split_once('@').is_some_and(|(name, host)| {
        let fits = |part: &str| {
            part.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._%+-".contains(&b))
        };
        !name.is_empty() && fits(name) && fits(host) && host.contains('.') && !host.starts_with('.')
    })
}

/// Speaks part of a token, sign by sign.
fn signs(part: &str, token: &str, angled: bool, words: &Words, spoken: &mut SpokenText) {
    let mail = token.as_bytes().contains(&b'@') && is_mail(token);
    let is_flag = part.starts_with('-')
        && part
            .trim_start_matches('-')
            .starts_with(char::is_alphanumeric)
        && !part[1..].starts_with(|c: char| c.is_ascii_digit());
    let mut before: Option<char> = None;
    // The last picture, which is not repeated directly after itself.
    let mut picture = None;
    let mut at = 0;
    while let Some(c) = part[at..].chars().next() {
        let rest = &part[at..];
        let length = if c.is_ascii_alphanumeric() {
            let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            say_name(&rest[..length], words, spoken);
            length
        } else if c.is_ascii() {
            let next = rest[1..].chars().next();
            SignContext {
                words,
                angled,
                mail,
                is_flag,
                before,
                next,
                at,
            }
            .ascii(rest, c, spoken)
        } else {
            foreign(rest, c, words, &mut picture, spoken)
        };
        at += length;
        before = part[..at].chars().next_back();
    }
}

/// Speaks a character outside ASCII, or a whole picture; returns its length.
fn foreign(
    rest: &str,
    c: char,
    words: &Words,
    last: &mut Option<String>,
    spoken: &mut SpokenText,
) -> usize {
    if c.is_alphanumeric() && !(is_pictograph(c) && words.picture(c).is_some()) {
        *last = None;
        spoken.letter(c);
        return c.len_utf8();
    }
    let plain = &rest[..c.len_utf8()];
    let is_mathematical =
        matches!(c, '¬' | '°' | '‰' | '′' | '″') || ('\u{2200}'..='\u{22ff}').contains(&c);
    if let Some(name) = words.math_sign(plain).filter(|_| is_mathematical) {
        spoken.word(name);
        return c.len_utf8();
    }
    let is_pictorial = rest[c.len_utf8()..].starts_with('\u{fe0f}') && words.picture(c).is_some();
    if let Some(sign) = words.prose_sign(plain).filter(|_| !is_pictorial) {
        spoken.word(&sign.one);
        return c.len_utf8();
    }
    match picture_at(rest, words) {
        Some((found, length)) => {
            spoken.gap();
            if let Picture::Nameless = found {
                match words.math_sign(plain) {
                    Some(name) => spoken.word(name),
                    None => spoken.leave_out(1),
                }
            } else if let Picture::Named(name) = found {
                if last.as_ref() != Some(&name) {
                    spoken.word(&name);
                }
                *last = Some(name);
            }
            length
        }
        // A bullet is a mark, not a word.
        None if matches!(c, '•' | '·' | '‣') => {
            spoken.gap();
            c.len_utf8()
        }
        None => {
            spoken.letter(c);
            c.len_utf8()
        }
    }
}

/// The context of an ASCII sign.
struct SignContext<'a> {
    words: &'a Words,
    /// Whether angle brackets are in pairs.
    angled: bool,
    mail: bool,
    is_flag: bool,
    before: Option<char>,
    next: Option<char>,
    at: usize,
}

impl SignContext<'_> {
    /// Speaks the sign at the start of a text; returns its length in bytes.
    fn ascii(&self, rest: &str, c: char, spoken: &mut SpokenText) -> usize {
        if is_run(rest, c)
            && let Some(sign) = self.words.sign(c)
        {
            let length = rest.len() - rest.trim_start_matches(c).len();
            spoken.word(&run(self.words, length, &sign.many));
            return length;
        }
        let is_own = matches!(c, '*' | '~') || c == '-' && self.is_flag && self.at == 0;
        if !is_own
            && let Some(sign) = self
                .words
                .prose_sign_at(rest)
                .filter(|sign| sign.sign.is_ascii())
        {
            spoken.word(&sign.one);
            return sign.sign.len();
        }
        if let Some(sign) = self
            .words
            .sign_at(rest)
            .filter(|sign| is_operator(&sign.sign))
        {
            spoken.word(&sign.one);
            return sign.sign.len();
        }
        self.one(rest, c, spoken)
    }

    fn one(&self, rest: &str, c: char, spoken: &mut SpokenText) -> usize {
        let digits = is_digit(self.before) && is_digit(self.next);
        let inside = is_word(self.before) && is_word(self.next);
        match c {
            '.' | '-' | '@' if self.mail && c != '-' => self.name(c, spoken),
            '-' if self.is_flag && (self.at == 0 || self.before == Some('-')) => {
                self.name(c, spoken)
            }
            '-' if self.is_flag && inside => spoken.gap(),
            '-' if rest.starts_with("--") => {
                spoken.stop(',');
                return 2;
            }
            '-' if self.next.is_some() => spoken.letter(c),
            '-' => spoken.gap(),
            '.' if self.at == 0 || !is_word(self.before) => self.name(c, spoken),
            '.' | '+' | '"' | '\'' => spoken.letter(c),
            ':' if rest.starts_with("::") => {
                spoken.gap();
                return 2;
            }
            ',' | ':' | ';' | '!' | '?'
                if digits || (c == ',' && inside && is_digit(self.before)) =>
            {
                spoken.letter(c)
            }
            '!' if self.next == Some('(') => {}
            ',' | ':' | ';' | '!' | '?' => spoken.stop(c),
            '/' if digits => spoken.letter(c),
            '/' | '\\' | '^' | '@' => self.name(c, spoken),
            '=' if self.before != Some('=') => self.name(c, spoken),
            '$' if is_digit(self.next) || self.next.is_none() => spoken.letter(c),
            '$' => self.name(c, spoken),
            '%' if is_digit(self.before) => spoken.letter(c),
            '%' => self.name(c, spoken),
            '#' if self.at == 0 && is_digit(self.next) => return self.reference(rest, spoken),
            '#' if is_word(self.before) => spoken.letter(c),
            '#' => self.name(c, spoken),
            '*' if digits => self.prose_name(rest, spoken),
            '*' if self.at == 0 && self.next == Some('.') => self.name(c, spoken),
            '&' => self.prose_name(rest, spoken),
            '<' | '>' if self.angled => spoken.gap(),
            '<' | '>' if self.redirects(c) => self.name(c, spoken),
            '<' | '>' => self.prose_name(rest, spoken),
            '~' if is_digit(self.next) => self.prose_name(rest, spoken),
            '~' if self.next == Some('~') || self.before == Some('~') => {}
            '~' => self.name(c, spoken),
            '|' => self.name(c, spoken),
            '(' => {
                if rest.starts_with("()") {
                    return 2;
                }
                spoken.open("(");
            }
            ')' => spoken.letter(c),
            // Brackets, braces, emphasis and any other markup.
            _ => spoken.gap(),
        }
        1
    }

    /// Returns whether an angle bracket is placed as in a shell, and not between two amounts.
    fn redirects(&self, c: char) -> bool {
        let to_file = matches!(self.next, Some('/' | '.' | '~' | '$'));
        let begins = self.at == 0 && self.next.is_some_and(char::is_alphabetic);
        to_file || c == '>' && (begins || is_digit(self.before) && !is_digit(self.next))
    }

    fn name(&self, c: char, spoken: &mut SpokenText) {
        match self.words.sign(c) {
            Some(sign) => spoken.word(&sign.one),
            None => spoken.letter(c),
        }
    }

    fn prose_name(&self, rest: &str, spoken: &mut SpokenText) {
        match self.words.prose_sign(&rest[..1]) {
            Some(sign) => spoken.word(&sign.one),
            None => spoken.gap(),
        }
    }

    fn reference(&self, rest: &str, spoken: &mut SpokenText) -> usize {
        let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        spoken.word(&fill(&self.words.number, &[("n", &rest[1..=digits])]));
        digits + 1
    }
}

/// Returns whether a sign of several characters is a shell operator: only these consist of such characters.
fn is_operator(sign: &str) -> bool {
    sign.len() > 1 && sign.bytes().all(|b| b"&|<>".contains(&b))
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_digit())
}
