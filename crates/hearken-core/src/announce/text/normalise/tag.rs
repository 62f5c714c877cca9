//! HTML tags in a text.
//!
//! Responsibilities: recognising a tag, its kind and its attributes. Not here: how it is spoken (`markup`,
//! `html`).

/// The longest tag that is recognised, in bytes.
const LONGEST: usize = 600;

/// What a tag is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagKind {
    /// It changes how the text looks.
    Inline,
    Raised,
    Lowered,
    Code,
    Link,
    Image,
    Break,
    /// It begins or ends a block.
    Block,
    Heading,
    List,
    Item,
    Table,
    Row,
    Cell,
}

/// One tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) kind: TagKind,
    /// Whether it is a closing tag.
    pub(super) closes: bool,
    attributes: &'a str,
    pub(super) length: usize,
}

impl<'a> Tag<'a> {
    /// Parses the tag at the start of a text.
    pub(super) fn at(text: &'a str) -> Option<Self> {
        let inside = text.strip_prefix('<')?;
        let name = inside.strip_prefix('/').unwrap_or(inside);
        let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (name, attributes) = name.split_at(length);
        let kind = kind(name)?;
        // A tag never contains another one.
        let end = attributes
            .bytes()
            .take(LONGEST)
            .position(|b| matches!(b, b'>' | b'<'))?;
        let (attributes, rest) = attributes.split_at(end);
        let rest = rest.strip_prefix('>')?;
        let bare = attributes.trim_end_matches('/').trim();
        let has_values = bare.contains('=') && attributes.starts_with(char::is_whitespace);
        let is_tag =
            bare.is_empty() || has_values || matches!(bare, "open" | "disabled" | "checked");
        is_tag.then_some(Self {
            name,
            kind,
            closes: inside.starts_with('/'),
            attributes: bare,
            length: text.len() - rest.len(),
        })
    }

    /// Returns the value of an attribute.
    pub(super) fn value(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        loop {
            let at = rest.find(name)?;
            let begins = rest[..at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace);
            let behind = rest[at + name.len()..].trim_start();
            if let Some(value) = behind.strip_prefix('=').filter(|_| begins) {
                let value = value.trim_start();
                let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
                return match quote {
                    Some(quote) => value[1..].split(quote).next(),
                    None => value.split_whitespace().next(),
                };
            }
            rest = &rest[at + name.len()..];
        }
    }
}

fn kind(name: &str) -> Option<TagKind> {
    let lower = name.to_ascii_lowercase();
    Some(match lower.as_str() {
        "sup" => TagKind::Raised,
        "sub" => TagKind::Lowered,
        "code" | "tt" | "samp" => TagKind::Code,
        "a" => TagKind::Link,
        "img" => TagKind::Image,
        "br" | "hr" => TagKind::Break,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => TagKind::Heading,
        "ul" | "ol" => TagKind::List,
        "li" => TagKind::Item,
        "table" => TagKind::Table,
        "tr" => TagKind::Row,
        "td" | "th" => TagKind::Cell,
        "abbr" | "b" | "bdi" | "big" | "cite" | "del" | "dfn" | "em" | "font" | "i" | "ins"
        | "kbd" | "label" | "mark" | "q" | "s" | "small" | "span" | "strike" | "strong"
        | "time" | "u" | "var" | "wbr" | "thead" | "tbody" | "tfoot" | "colgroup" | "col"
        | "input" => TagKind::Inline,
        "address" | "article" | "aside" | "blockquote" | "caption" | "center" | "dd"
        | "details" | "div" | "dl" | "dt" | "figcaption" | "figure" | "footer" | "header"
        | "main" | "nav" | "p" | "picture" | "pre" | "section" | "summary" => TagKind::Block,
        _ => return None,
    })
}
