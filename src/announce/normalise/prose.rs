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
    if starts_with_item(bytes) {
        return false;
    }
    let mut before = Kind::Space;
    let mut capitals = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let kind = KINDS[usize::from(byte)];
        match kind {
            Kind::Lower => {
                // "HTTPServer" is two words, "URLs" is one; both are looked at.
                if capitals && before == Kind::Upper {
                    return false;
                }
                at += 1;
                while bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
                    at += 1;
                }
                before = Kind::Lower;
                continue;
            }
            Kind::Space => {
                if before == Kind::Space {
                    return false;
                }
            }
            Kind::Upper => {
                if matches!(before, Kind::Lower | Kind::Digit) {
                    return false;
                }
                capitals = before == Kind::Upper;
            }
            Kind::Digit => {
                // It may be an id or a date.
                if before != Kind::Digit && is_long_word(bytes, at) {
                    return false;
                }
            }
            Kind::Mark => {
                if !is_plain_mark(bytes, at) {
                    return false;
                }
            }
            Kind::Dash => {
                if !is_plain_dash(bytes, at) {
                    return false;
                }
            }
            Kind::Wide => {
                let Some(c) = text[at..].chars().next().filter(|&c| is_plain_char(c)) else {
                    return false;
                };
                at += c.len_utf8();
                before = kind;
                continue;
            }
            Kind::Odd => return false,
        }
        before = kind;
        at += 1;
    }
    true
}

/// Says whether a text begins with a list item's number or letter.
fn starts_with_item(bytes: &[u8]) -> bool {
    let stop = bytes.iter().take(10).position(|b| matches!(b, b'.' | b')'));
    stop.is_some_and(|length| {
        let label = &bytes[..length];
        label.iter().all(u8::is_ascii_digit) || length == 1 && label[0].is_ascii_lowercase()
    })
}

/// Says whether a mark is neither part of an address or a call nor one of many.
fn is_plain_mark(bytes: &[u8], at: usize) -> bool {
    let byte = bytes[at];
    let next = bytes.get(at + 1);
    let special = match byte {
        b':' => matches!(next, Some(b'/' | b':')),
        b'(' => next == Some(&b')'),
        b'.' => bytes[..at].ends_with(b"www"),
        _ => false,
    };
    !special && !bytes[..at].ends_with(&[byte, byte])
}

/// Says whether a dash is inside a word or between two, and not a flag's, an arrow's or a date's.
fn is_plain_dash(bytes: &[u8], at: usize) -> bool {
    let before = at
        .checked_sub(1)
        .map(|before| KINDS[usize::from(bytes[before])]);
    let next = bytes.get(at + 1).map(|&b| KINDS[usize::from(b)]);
    match (before, next) {
        (Some(Kind::Lower | Kind::Upper), Some(Kind::Lower | Kind::Upper)) => true,
        (before, next) => before == Some(Kind::Space) && next == Some(Kind::Space),
    }
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
