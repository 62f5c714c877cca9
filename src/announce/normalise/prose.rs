//! Whether prose needs any work at all.
//!
//! Responsibilities: the quick look that lets most sentences pass untouched. Not here: the work
//! (`blocks`, `inline`).

/// Says what a byte is to the quick look.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    Space,
    /// A mark that is said by a pause or not at all.
    Mark,
    /// A dash, which is plain only inside a word.
    Dash,
    /// Not ASCII.
    Wide,
    /// Anything that needs a closer look.
    Odd,
}

const KINDS: [Kind; 256] = {
    let mut table = [Kind::Odd; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => Kind::Lower,
            b'A'..=b'Z' => Kind::Upper,
            b'0'..=b'9' => Kind::Digit,
            b' ' => Kind::Space,
            b'.' | b',' | b';' | b'!' | b'?' | b'\'' | b'"' | b'(' | b')' | b':' | b'%' => {
                Kind::Mark
            }
            b'-' => Kind::Dash,
            128.. => Kind::Wide,
            _ => Kind::Odd,
        };
        byte += 1;
    }
    table
};

/// Says whether a trimmed text is prose that is said as it is written.
pub(super) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut before = Kind::Space;
    let mut at = 0;
    let mut marks = 0;
    // An item's number or letter at the start.
    if let Some(first) = bytes.iter().take(10).position(|b| matches!(b, b'.' | b')'))
        && (bytes[..first].iter().all(u8::is_ascii_digit)
            || first == 1 && bytes[0].is_ascii_lowercase())
    {
        return false;
    }
    let mut capitals = 0;
    while let Some(&byte) = bytes.get(at) {
        let kind = KINDS[usize::from(byte)];
        match kind {
            Kind::Odd => return false,
            Kind::Wide => {
                let Some(c) = text[at..].chars().next() else {
                    return false;
                };
                if !is_plain_char(c) {
                    return false;
                }
                at += c.len_utf8();
                (before, marks, capitals) = (Kind::Wide, 0, 0);
                continue;
            }
            Kind::Space => {
                if before == Kind::Space {
                    return false;
                }
            }
            Kind::Upper => {
                if before == Kind::Lower || before == Kind::Digit {
                    return false;
                }
                capitals += 1;
            }
            Kind::Lower => {
                // "HTTPServer" is two words, "URLs" is one.
                if capitals > 1 && before == Kind::Upper {
                    return false;
                }
            }
            Kind::Digit => {
                if before == Kind::Lower || before == Kind::Upper {
                    // It may be an id.
                    if is_long_word(bytes, at) {
                        return false;
                    }
                } else if before == Kind::Space && is_long_word(bytes, at) {
                    return false;
                }
            }
            Kind::Dash => {
                // A flag, an arrow, a date, a rule.
                let next = bytes.get(at + 1).map(|&b| KINDS[usize::from(b)]);
                let inside = matches!(before, Kind::Lower | Kind::Upper)
                    && matches!(next, Some(Kind::Lower | Kind::Upper));
                let alone = before == Kind::Space && at > 0 && next == Some(Kind::Space);
                if !(inside || alone) {
                    return false;
                }
            }
            Kind::Mark => {
                if byte == b':' && bytes.get(at + 1).is_some_and(|b| matches!(b, b'/' | b':')) {
                    return false;
                }
                if byte == b'.' && bytes[..at].ends_with(b"www") {
                    return false;
                }
                if byte == b'(' && bytes.get(at + 1) == Some(&b')') {
                    return false;
                }
                if at > 0 && bytes[at - 1] == byte {
                    marks += 1;
                    if marks >= 2 {
                        return false;
                    }
                } else {
                    marks = 0;
                }
            }
        }
        if kind != Kind::Mark {
            marks = 0;
        }
        if kind != Kind::Upper {
            capitals = 0;
        }
        before = kind;
        at += 1;
    }
    true
}

/// Says whether the word around a digit is long enough for an id or a date.
fn is_long_word(bytes: &[u8], at: usize) -> bool {
    let after = bytes[at..]
        .iter()
        .take(12)
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'-')
        .count();
    let before = bytes[..at]
        .iter()
        .rev()
        .take(12)
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    before + after >= 8
}

/// Says whether a character beyond ASCII is said as it is: a letter, a quotation mark, a dash.
fn is_plain_char(c: char) -> bool {
    matches!(
        c,
        '‘' | '’'
            | '“'
            | '”'
            | '„'
            | '«'
            | '»'
            | '–'
            | '—'
            | '…'
            | '¿'
            | '¡'
            | '。'
            | '，'
            | '、'
            | '？'
            | '！'
            | '：'
            | '；'
            | '「'
            | '」'
            | '°'
    ) || c.is_alphabetic() && (c as u32) < 0x1_F000
}
