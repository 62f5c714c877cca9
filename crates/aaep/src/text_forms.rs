//! The forms that a text may be required to have: ids, tags, codes.
//!
//! Responsibilities: naming each form, and checking a text against it. Not here: which field has which form (`schema`).

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// `rpl_` and 1 to 64 letters or digits (6.2.1).
    ReplyToken,
    /// `call_` and 1 to 64 letters or digits.
    CallId,
    /// `out_` and 1 to 64 letters or digits.
    OutputId,
    /// A tool's name.
    Tool,
    /// A BCP 47 tag.
    Language,
    /// An ISO 15924 code.
    Script,
    /// A MIME type.
    ContentType,
    /// An error's code.
    ErrorCode,
    /// A cancellation's code.
    ReasonCode,
    /// A semantic version.
    Version,
}

impl TextForm {
    /// Every form.
    pub const ALL: [Self; 10] = [
        Self::ReplyToken,
        Self::CallId,
        Self::OutputId,
        Self::Tool,
        Self::Language,
        Self::Script,
        Self::ContentType,
        Self::ErrorCode,
        Self::ReasonCode,
        Self::Version,
    ];

    /// Returns the form's name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReplyToken => "reply_token",
            Self::CallId => "call_id",
            Self::OutputId => "output_id",
            Self::Tool => "tool",
            Self::Language => "language",
            Self::Script => "script",
            Self::ContentType => "content_type",
            Self::ErrorCode => "error_code",
            Self::ReasonCode => "reason_code",
            Self::Version => "version",
        }
    }

    /// Returns whether a text has the form.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::ReplyToken => is_id(text, "rpl_"),
            Self::CallId => is_id(text, "call_"),
            Self::OutputId => is_id(text, "out_"),
            Self::Tool => {
                text.len() <= 256
                    && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && text
                        .bytes()
                        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
            }
            Self::Language => {
                let mut parts = text.split('-');
                let first = parts.next().unwrap_or_default();
                let short = |part: &str| (1..=8).contains(&part.len());
                short(first)
                    && first.bytes().all(|b| b.is_ascii_alphabetic())
                    && parts
                        .all(|part| short(part) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
            }
            Self::Script => {
                text.len() == 4
                    && text.starts_with(|c: char| c.is_ascii_uppercase())
                    && text[1..].bytes().all(|b| b.is_ascii_lowercase())
            }
            Self::ContentType => {
                let part = |part: &str| {
                    part.starts_with(|c: char| c.is_ascii_alphabetic())
                        && part
                            .chars()
                            .all(|c| c.is_ascii_alphanumeric() || ".+_-".contains(c))
                };
                text.split_once('/')
                    .is_some_and(|(kind, of)| part(kind) && part(of))
            }
            Self::ErrorCode => is_code(text, |c| c.is_ascii_uppercase()),
            Self::ReasonCode => is_code(text, |c| c.is_ascii_lowercase()),
            Self::Version => is_version(text),
        }
    }
}

pub(super) fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        // Checks all bytes, several at a time: they nearly always fit.
        (1..=64).contains(&rest.len())
            && (rest.bytes()).fold(true, |fits, b| fits & b.is_ascii_alphanumeric())
    })
}

fn is_code(text: &str, letter: fn(char) -> bool) -> bool {
    (2..=64).contains(&text.len())
        && text.starts_with(letter)
        && text
            .chars()
            .all(|c| letter(c) || c.is_ascii_digit() || c == '_')
}

fn is_version(text: &str) -> bool {
    let (numbers, rest) = text
        .split_once('-')
        .map_or((text, None), |(n, r)| (n, Some(r)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    numbers.split('.').count() == 3
        && numbers.split('.').all(digits)
        && rest.is_none_or(|rest| {
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
        })
}
