//! A line of prose with its inline Markdown.
//!
//! Responsibilities: links, images, code spans, emphasis, simple HTML tags; punctuation around words.
//! Not here: what kind of line it is (`blocks`), single words (`token`).

use jiff::Timestamp;

use super::symbols::{self, run_in};
use super::token;
use super::words::{Words, fill};

/// How many bytes a link's text or address may be long; beyond, the brackets are plain brackets.
const LINK: usize = 2048;

/// How deep links and images are followed inside each other.
const DEPTH: usize = 4;

/// How many bytes a comment of HTML may be long.
const COMMENT: usize = 4096;

/// How many bytes a tag of HTML may be long.
const TAG: usize = 256;

/// Says a line.
pub(super) fn said(words: &Words, text: &str, now: Option<Timestamp>, out: &mut String) {
    Inline { words, now }.line(text, DEPTH, out);
}

struct Inline<'w> {
    words: &'w Words,
    now: Option<Timestamp>,
}

impl Inline<'_> {
    fn line(&self, text: &str, depth: usize, out: &mut String) {
        let mut rest = text;
        // Whether no closing backtick is left, so that none is looked for again.
        let mut no_tick = false;
        while let Some(c) = rest.chars().next() {
            if c.is_whitespace() {
                space(out);
                rest = rest.trim_start();
                continue;
            }
            if c == '`' && !no_tick {
                match self.span(rest, out) {
                    Some(length) => {
                        rest = &rest[length..];
                        continue;
                    }
                    None => no_tick = true,
                }
            }
            if (c == '[' || c == '!' && rest.starts_with("!["))
                && depth > 0
                && let Some(length) = self.link(rest, depth, out)
            {
                rest = &rest[length..];
                continue;
            }
            if c == '<'
                && let Some(length) = self.tag(rest, out)
            {
                rest = &rest[length..];
                continue;
            }
            if c == '&'
                && let Some((length, character)) = entity(rest)
            {
                out.push(character);
                rest = &rest[length..];
                continue;
            }
            let length = word_end(rest);
            self.word(&rest[..length], out);
            rest = &rest[length..];
        }
    }

    /// Says a code span; gives its length.
    fn span(&self, text: &str, out: &mut String) -> Option<usize> {
        let run = text.bytes().take_while(|&b| b == b'`').count();
        let body = &text[run..];
        let mut from = 0;
        let end = loop {
            let at = from + body[from..].find('`')?;
            let marks = body[at..].bytes().take_while(|&b| b == b'`').count();
            if marks == run {
                break at;
            }
            from = at + marks;
        };
        for word in body[..end].split_whitespace() {
            space_between(out);
            self.code_word(word, out);
        }
        Some(run + end + run)
    }

    /// Says a word of code: its signs matter more than its punctuation.
    fn code_word(&self, word: &str, out: &mut String) {
        let bare = word.trim_end_matches([',', ';', ':']);
        if bare.is_empty() {
            out.push_str(word);
            return;
        }
        match bare.strip_suffix("()") {
            Some(name) if !name.is_empty() => token::said(self.words, name, self.now, out),
            Some(_) | None => token::said(self.words, bare, self.now, out),
        }
        out.push_str(&word[bare.len()..]);
    }

    /// Says a link or an image; gives its length.
    fn link(&self, text: &str, depth: usize, out: &mut String) -> Option<usize> {
        let image = text.starts_with('!');
        let open = usize::from(image);
        let body = &text[open + 1..];
        let close = matching(body, b'[', b']')?;
        let label = &body[..close];
        let after = &body[close + 1..];
        let mut length = open + 1 + close + 1;
        if !image && label.starts_with('^') && !after.starts_with(['(', '[']) {
            // A footnote's number says nothing.
            return Some(length);
        }
        let mut target = "";
        if let Some(inside) = after.strip_prefix('(') {
            let end = matching(inside, b'(', b')')?;
            target = inside[..end].trim().trim_start_matches('<');
            length += 1 + end + 1;
        } else if let Some(inside) = after.strip_prefix('[') {
            length += 1 + matching(inside, b'[', b']')? + 1;
        } else {
            return None;
        }
        let mut label_said = String::new();
        self.line(label, depth - 1, &mut label_said);
        let label_said = label_said.trim();
        space_between(out);
        let text = if image {
            fill(&self.words.image, &[("text", label_said)])
        } else if label_said.is_empty() || token::host(label).is_some() {
            let host = token::host(label)
                .or_else(|| token::host(target))
                .unwrap_or(target);
            fill(&self.words.address, &[("host", host)])
        } else {
            fill(&self.words.link, &[("text", label_said)])
        };
        out.push_str(&text);
        Some(length)
    }

    /// Says an address in angle brackets, or passes over a tag of HTML; gives its length.
    fn tag(&self, text: &str, out: &mut String) -> Option<usize> {
        let end = text.bytes().take(TAG).position(|b| b == b'>')?;
        let body = &text[1..end];
        if let Some(host) = token::host(body) {
            space_between(out);
            out.push_str(&fill(&self.words.address, &[("host", host)]));
            return Some(end + 1);
        }
        if body.starts_with("!--") {
            let near = text.as_bytes().windows(3).take(COMMENT);
            return near.into_iter().position(|w| w == b"-->").map(|at| at + 3);
        }
        let name = body.trim_start_matches('/');
        let name = name.split([' ', '/', '\t', '\n']).next().unwrap_or(name);
        let known = [
            "a",
            "abbr",
            "b",
            "blockquote",
            "br",
            "code",
            "dd",
            "del",
            "details",
            "div",
            "dl",
            "dt",
            "em",
            "font",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "i",
            "img",
            "ins",
            "kbd",
            "li",
            "ol",
            "p",
            "pre",
            "s",
            "small",
            "span",
            "strong",
            "sub",
            "summary",
            "sup",
            "table",
            "tbody",
            "td",
            "th",
            "thead",
            "tr",
            "u",
            "ul",
        ];
        if !known.iter().any(|tag| tag.eq_ignore_ascii_case(name)) {
            return None;
        }
        if matches!(name, "br" | "li" | "p" | "td" | "tr") {
            space(out);
        }
        Some(end + 1)
    }

    /// Says one word with the punctuation around it.
    fn word(&self, word: &str, out: &mut String) {
        if word.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return token::said(self.words, word, self.now, out);
        }
        if let Some((start, length, count, sign)) = run_in(word) {
            return self.repeated(word, start, length, count, sign, out);
        }
        if word.starts_with(|c: char| !c.is_alphanumeric())
            && self.words.operators.contains_key(word)
        {
            return token::said(self.words, word, self.now, out);
        }
        let bare = strip_escapes(word);
        if bare.len() < word.len() {
            return symbols::said(self.words, &bare, out);
        }
        let (lead, core, trail) = around(word);
        if core.is_empty() {
            return symbols::said(self.words, word, out);
        }
        for c in lead.chars().filter(|c| !is_emphasis(*c)) {
            out.push(c);
        }
        token::said(self.words, core, self.now, out);
        let mut trail = trail;
        while let Some(c) = trail.chars().next() {
            if c == '(' && trail.starts_with("()") {
                trail = &trail[2..];
                continue;
            }
            // "src/*" is a pattern of file names.
            if !is_emphasis(c) || c == '*' && core.ends_with('/') {
                if out.ends_with(' ') {
                    out.pop();
                }
                out.push(c);
            }
            trail = &trail[c.len_utf8()..];
        }
    }

    fn repeated(
        &self,
        word: &str,
        start: usize,
        length: usize,
        count: usize,
        sign: char,
        out: &mut String,
    ) {
        let (before, after) = (&word[..start], &word[start + length..]);
        if !before.is_empty() {
            self.word(before, out);
        }
        if !symbols::only_draws(sign) {
            symbols::set_off(out, &symbols::repeated(self.words, sign, count));
        }
        if !after.is_empty() {
            space(out);
            self.word(after, out);
        }
    }
}

/// Takes the punctuation off a word.
fn around(word: &str) -> (&str, &str, &str) {
    let core = word.trim_start_matches(|c: char| {
        matches!(
            c,
            '(' | '[' | '{' | '"' | '\'' | '“' | '‘' | '„' | '«' | '¿' | '¡' | '*'
        )
    });
    // "_private" and "~~struck~~" lose their marks, "~/path" and "~5" don't.
    let core = core
        .strip_prefix("~~")
        .unwrap_or(core)
        .trim_start_matches('_');
    let lead = &word[..word.len() - core.len()];
    // A star before a full stop is a pattern of file names.
    let (lead, core) = if lead.ends_with('*') && core.starts_with(['.', '/']) {
        (&lead[..lead.len() - 1], &word[lead.len() - 1..])
    } else {
        (lead, core)
    };
    let bare = core.trim_end_matches(|c: char| {
        matches!(
            c,
            ')' | ']'
                | '}'
                | '"'
                | '\''
                | '”'
                | '’'
                | '»'
                | '.'
                | ','
                | ';'
                | ':'
                | '!'
                | '?'
                | '…'
                | '*'
                | '_'
                | '~'
                | '('
                | '。'
                | '，'
                | '！'
                | '？'
        )
    });
    (lead, bare, &core[bare.len()..])
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_' | '~')
}

/// Takes the backslashes off escaped punctuation.
fn strip_escapes(word: &str) -> std::borrow::Cow<'_, str> {
    if !word.contains('\\') {
        return word.into();
    }
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\'
            && chars.peek().is_some_and(|next| {
                matches!(
                    next,
                    '*' | '_' | '`' | '[' | ']' | '#' | '>' | '~' | '|' | '!'
                )
            });
        if !escapes {
            out.push(c);
        }
    }
    out.into()
}

/// Gives the place of the bracket that closes, in text after the one that opens.
fn matching(text: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().take(LINK).enumerate() {
        if byte == open {
            depth += 1;
        } else if byte == close {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at),
            }
        }
    }
    None
}

fn entity(text: &str) -> Option<(usize, char)> {
    const ENTITIES: &[(&str, char)] = &[
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&#39;", '\''),
        ("&apos;", '\''),
        ("&nbsp;", ' '),
    ];
    ENTITIES
        .iter()
        .find(|(name, _)| text.starts_with(name))
        .map(|&(name, c)| (name.len(), c))
}

/// Gives the end of a word: white space, a code span, a link, a tag.
fn word_end(text: &str) -> usize {
    let mut before = None;
    for (at, c) in text.char_indices() {
        let ends = c.is_whitespace()
            || at > 0
                && match c {
                    '`' => true,
                    '[' => {
                        text[at + 1..].starts_with('^')
                            || matches!(before, Some('(' | '"' | '*' | '!' | ',' | ':' | '|'))
                    }
                    '<' => {
                        text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
                    }
                    '&' => entity(&text[at..]).is_some(),
                    _ => false,
                };
        if ends {
            return at;
        }
        before = Some(c);
    }
    text.len()
}

/// Pushes a space unless there is one.
pub(super) fn space(out: &mut String) {
    if !out.is_empty() && !out.ends_with([' ', '\n']) {
        out.push(' ');
    }
}

/// Pushes a space unless the text before opens something.
fn space_between(out: &mut String) {
    if !out.ends_with(['(', '[', '"', '\'', '“', '‘', '/', '-']) {
        space(out);
    }
}
