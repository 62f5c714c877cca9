//! HTML in a line that is shown.
//!
//! Responsibilities: removing tags and decoding references. Not here: how HTML is spoken (`markup`, `html`),
//! Markdown's marks (`readable`).

use std::borrow::Cow;

use super::entity::entity;
use super::markup::{counts_atoms, is_ordinal};
use super::tag::{Tag, TagKind};
use crate::announce::text::markdown::spans;

/// Returns a line without HTML: a power is shown as `10^6`, a link as its words followed by the address, cells
/// and items with commas between them. Inline code is unchanged.
pub(super) fn without_html(line: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'<', b'&', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut spans = spans(line).into_iter().peekable();
    let mut out = String::with_capacity(line.len());
    let mut addresses: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        if let Some(span) = spans.next_if(|span| span.start <= at) {
            out.push_str(&line[at..span.end.max(at)]);
            at = span.end.max(at);
        } else if let Some(tag) = Tag::at(rest) {
            match (tag.kind, tag.closes) {
                (TagKind::Raised | TagKind::Lowered, false) => {
                    let inside = &rest[tag.length..];
                    let written = inside.split('<').next().unwrap_or_default();
                    let joins = match tag.kind {
                        TagKind::Raised => is_ordinal(&out, written),
                        _ => counts_atoms(&out, written),
                    };
                    if !joins && !out.is_empty() {
                        out.push(if tag.kind == TagKind::Raised {
                            '^'
                        } else {
                            '_'
                        });
                    }
                }
                (TagKind::Link, false) => addresses.push(tag.value("href").unwrap_or_default()),
                (TagKind::Link, true) => {
                    if let Some(address) = addresses.pop().filter(|address| !address.is_empty()) {
                        out.push_str(" (");
                        out.push_str(address);
                        out.push(')');
                    }
                }
                (TagKind::Image, _) => out.push_str(tag.value("alt").unwrap_or_default()),
                (TagKind::Inline | TagKind::Code | TagKind::Raised | TagKind::Lowered, _) => {}
                _ => part(&mut out),
            }
            at += tag.length;
        } else if let Some((shown, length)) = Some(rest).filter(|_| c == '&').and_then(entity) {
            out.extend(shown);
            at += length;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    let length = out.trim_end_matches([',', ' ']).len();
    if line[..].trim_end().ends_with('>') {
        out.truncate(length);
    }
    Cow::Owned(out)
}

/// Separates the text so far from what follows.
fn part(out: &mut String) {
    let bare = out.trim_end();
    if bare.is_empty() {
        out.clear();
    } else if bare.ends_with([',', '.', ':', ';', '!', '?']) {
        if bare.len() == out.len() {
            out.push(' ');
        }
    } else {
        out.truncate(bare.len());
        out.push_str(", ");
    }
}
