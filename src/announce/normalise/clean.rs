//! What must never reach a terminal, an engine, a notification or a log.
//!
//! Responsibilities: removing controls, escape sequences, direction overrides, tags and invisible
//! characters, and telling that some were there. Not here: wording.

use std::borrow::Cow;

/// How many marks may stand on one letter; no script needs more, and stacks of them hide the lines
/// around them.
const MARKS: usize = 8;

/// How many bytes an escape sequence with text in it may be long. A longer one, or one without an
/// end, loses only its introducer, so that nobody hides a page behind it.
const SEQUENCE: usize = 512;

/// How many bytes are looked at together.
const BLOCK: usize = 16;

/// Says what becomes of line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lines {
    /// They stay.
    #[default]
    Keep,
    /// Each becomes a space.
    Space,
}

/// Holds text that is safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Whether characters that can deceive were removed.
    pub hidden: bool,
}

/// Removes every character that is not what it seems or that a terminal obeys.
///
/// Line feeds stay or become spaces; a return before one goes; tabs become spaces. Joiners stay
/// inside a cluster of a script or emoji that uses them, variation selectors on a character that has
/// variants. Text that needs nothing is borrowed.
pub fn clean(text: &str, lines: Lines) -> Cleaned<'_> {
    let Some(first) = first_suspect(text, lines) else {
        return Cleaned {
            text: Cow::Borrowed(text),
            hidden: false,
        };
    };
    let mut cleaner = Cleaner {
        out: String::with_capacity(text.len()),
        lines,
        hidden: false,
        marks: 0,
    };
    cleaner.out.push_str(&text[..first]);
    cleaner.run(&text[first..]);
    Cleaned {
        text: Cow::Owned(cleaner.out),
        hidden: cleaner.hidden,
    }
}

/// Finds the first byte that may need care.
fn first_suspect(text: &str, lines: Lines) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // Most text is letters and spaces; those go by in blocks.
        if let Some(block) = bytes.get(at..at + BLOCK)
            && block
                .iter()
                .fold(true, |plain, b| plain & (0x20..=0x7E).contains(b))
        {
            at += BLOCK;
            continue;
        }
        match byte {
            b'\n' if lines == Lines::Keep => at += 1,
            0x20..=0x7E => at += 1,
            0x80.. => {
                let c = text[at..].chars().next()?;
                if needs_care(c) {
                    return Some(at);
                }
                at += c.len_utf8();
            }
            _ => return Some(at),
        }
    }
    None
}

fn needs_care(c: char) -> bool {
    // The common letters and quotation marks first.
    if matches!(c, '\u{A1}'..='\u{AC}' | '\u{AE}'..='\u{2FF}' | '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3163}' | '\u{4E00}'..='\u{9FFF}')
    {
        return false;
    }
    is_mark(c) || is_line(c) || is_invisible(c) || is_joiner(c) || is_selector(c) || c.is_control()
}

struct Cleaner {
    out: String,
    lines: Lines,
    hidden: bool,
    marks: usize,
}

impl Cleaner {
    fn run(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            if !is_mark(c) {
                self.marks = 0;
            }
            rest = after;
            match c {
                '\n' => self.line(),
                '\r' => {
                    if !after.starts_with('\n') {
                        // A lone return lets later text overwrite earlier text.
                        self.hidden = true;
                        self.line();
                    }
                }
                '\t' => self.out.push(' '),
                '\u{1B}' | '\u{90}' | '\u{98}' | '\u{9B}' | '\u{9D}'..='\u{9F}' => {
                    self.hidden = true;
                    rest = &after[sequence(c, after)..];
                }
                c if is_line(c) => self.line(),
                c if is_mark(c) => {
                    self.marks += 1;
                    if self.marks <= MARKS {
                        self.out.push(c);
                    } else {
                        self.hidden = true;
                    }
                }
                c if is_joiner(c) => {
                    let before = self.out.chars().next_back();
                    if joins(c, before, after.chars().next()) {
                        self.out.push(c);
                    } else {
                        self.hidden = true;
                    }
                }
                c if is_selector(c) => {
                    let before = self.out.chars().next_back();
                    if selects(c, before) {
                        self.out.push(c);
                    } else {
                        self.hidden = true;
                    }
                }
                c if c.is_control() || is_invisible(c) => self.hidden = true,
                c => self.out.push(c),
            }
        }
    }

    fn line(&mut self) {
        self.out.push(match self.lines {
            Lines::Keep => '\n',
            Lines::Space => ' ',
        });
    }
}

/// Gives the length of an escape sequence after its first character (ECMA-48).
fn sequence(first: char, after: &str) -> usize {
    let (kind, skip) = match first {
        '\u{1B}' => match after.as_bytes().first() {
            Some(&kind @ (b'[' | b']' | b'P' | b'X' | b'^' | b'_')) => (kind, 1),
            Some(b' '..=b'/') => {
                let middle = after
                    .bytes()
                    .take_while(|b| (b' '..=b'/').contains(b))
                    .count();
                let last = after.as_bytes().get(middle);
                return middle + usize::from(last.is_some_and(|b| (b'0'..=b'~').contains(b)));
            }
            Some(b'0'..=b'~') => return 1,
            Some(_) | None => return 0,
        },
        '\u{9B}' => (b'[', 0),
        '\u{9D}' => (b']', 0),
        _ => (b'P', 0),
    };
    let body = &after[skip..];
    if kind == b'[' {
        let middle = body
            .bytes()
            .take(SEQUENCE)
            .take_while(|b| (b' '..=b'?').contains(b))
            .count();
        let last = body.as_bytes().get(middle);
        return skip + middle + usize::from(last.is_some_and(|b| (b'@'..=b'~').contains(b)));
    }
    // A string up to its terminator: BEL, ESC \ or the 8-bit form.
    for (at, c) in body.char_indices() {
        match c {
            '\u{7}' | '\u{9C}' => return skip + at + c.len_utf8(),
            '\u{1B}' if body[at + 1..].starts_with('\\') => return skip + at + 2,
            '\u{1B}' | '\n' => break,
            _ if at > SEQUENCE => break,
            _ => {}
        }
    }
    skip
}

fn is_line(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' | '\u{180B}'..='\u{180D}' | '\u{180F}')
}

/// Says whether a character shows nothing, or only changes how others show: Unicode's
/// `Default_Ignorable_Code_Point`, the deprecated format characters, noncharacters.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180E}'
            | '\u{200B}'
            | '\u{200E}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FDD0}'..='\u{FDEF}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{FFFE}'..='\u{FFFF}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E00FF}'
            | '\u{E01F0}'..='\u{E0FFF}'
    )
}

/// Says whether a character is a mark that stacks on the one before it.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{34E}'
            | '\u{350}'..='\u{36F}'
            | '\u{483}'..='\u{489}'
            | '\u{591}'..='\u{5BD}'
            | '\u{64B}'..='\u{65F}'
            | '\u{1AB0}'..='\u{1AFF}'
            | '\u{1DC0}'..='\u{1DFF}'
            | '\u{20D0}'..='\u{20FF}'
            | '\u{FE20}'..='\u{FE2F}'
    )
}

/// Says whether a joiner has a meaning between its neighbours.
fn joins(joiner: char, before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return false;
    };
    if joiner == '\u{200D}' && is_emoji(after) {
        return is_emoji(before) || is_selector(before) || is_skin_tone(before);
    }
    uses_joiners(before) && uses_joiners(after)
}

/// Says whether a character belongs to a script that needs joiners: Arabic and its relatives, the
/// Indic scripts, Khmer, Burmese, Mongolian and others.
fn uses_joiners(c: char) -> bool {
    matches!(
        c,
        '\u{600}'..='\u{8FF}'
            | '\u{900}'..='\u{DFF}'
            | '\u{F00}'..='\u{FFF}'
            | '\u{1000}'..='\u{109F}'
            | '\u{1780}'..='\u{18AF}'
            | '\u{1900}'..='\u{1C7F}'
            | '\u{A800}'..='\u{ABFF}'
            | '\u{FB50}'..='\u{FDCF}'
            | '\u{FDF0}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFC}'
            | '\u{10A00}'..='\u{11FFF}'
            | '\u{1E900}'..='\u{1E95F}'
    )
}

/// Says whether a variation selector has a variant to select.
fn selects(selector: char, before: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match selector {
        '\u{FE0E}' | '\u{FE0F}' => is_emoji(before) || matches!(before, '0'..='9' | '#' | '*'),
        '\u{180B}'..='\u{180F}' => matches!(before, '\u{1820}'..='\u{18AA}'),
        _ => {
            matches!(before, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
        }
    }
}

/// Says whether a character may be shown as an emoji.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{A9}'
            | '\u{AE}'
            | '\u{203C}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2194}'..='\u{21AA}'
            | '\u{231A}'..='\u{231B}'
            | '\u{2328}'
            | '\u{23CF}'
            | '\u{23E9}'..='\u{23FA}'
            | '\u{24C2}'
            | '\u{25AA}'..='\u{25AB}'
            | '\u{25B6}'
            | '\u{25C0}'
            | '\u{25FB}'..='\u{25FE}'
            | '\u{2600}'..='\u{27BF}'
            | '\u{2934}'..='\u{2935}'
            | '\u{2B05}'..='\u{2B07}'
            | '\u{2B1B}'..='\u{2B1C}'
            | '\u{2B50}'
            | '\u{2B55}'
            | '\u{3030}'
            | '\u{303D}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1F000}'..='\u{1FAFF}'
    )
}

fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn safe_text_is_borrowed() {
        for text in [
            "Hello, world.\nYes.",
            "Grüße „dir“ – 你好",
            "नमस्ते",
            "👍🏽",
            "👨‍👩‍👧 ❤️ 1️⃣",
            "می‌خواهم",
            "क्‍ष",
        ] {
            let cleaned = clean(text, Lines::Keep);
            assert_eq!(cleaned.text, text);
            assert!(!cleaned.hidden, "{text:?}");
        }
        assert!(matches!(
            clean("Plain – text", Lines::Keep).text,
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn what_deceives_is_removed_and_told() {
        for (text, wanted) in [
            ("a\u{0}b", "ab"),
            ("a\u{1B}[31mred\u{1B}[0m", "ared"),
            ("a\u{1B}]0;title\u{7}b", "ab"),
            ("a\u{1B}]8;;http://x\u{1B}\\b", "ab"),
            ("a\u{9B}2Jb", "ab"),
            ("a\u{1B}cb", "ab"),
            ("a\u{1B}(Bb", "ab"),
            ("a\u{1B}]never ends", "anever ends"),
            ("safe\u{202E}live", "safelive"),
            ("a\u{2066}b\u{2069}", "ab"),
            ("a\u{200B}b\u{2060}c\u{FEFF}", "abc"),
            ("a\u{200D}b", "ab"),
            ("a\u{200C}b", "ab"),
            ("a\u{E0041}\u{E007F}b", "ab"),
            ("a\u{FE0F}b", "ab"),
            ("a\u{AD}b", "ab"),
            ("a\u{8}b\u{7F}", "ab"),
            ("ok\rno", "ok\nno"),
            ("\u{3164}", ""),
        ] {
            let cleaned = clean(text, Lines::Keep);
            assert_eq!(cleaned.text, wanted, "{text:?}");
            assert!(cleaned.hidden, "{text:?}");
        }
        let stacked = "e".to_owned() + &"\u{301}".repeat(50);
        let cleaned = clean(&stacked, Lines::Keep);
        assert!(cleaned.hidden && cleaned.text.chars().count() == 1 + MARKS);
    }

    #[test]
    fn line_ends_and_tabs_are_no_deceit() {
        for (text, lines, wanted) in [
            ("a\r\nb", Lines::Keep, "a\nb"),
            ("a\nb", Lines::Space, "a b"),
            ("a\tb", Lines::Keep, "a b"),
            ("a\u{2028}b", Lines::Space, "a b"),
        ] {
            let cleaned = clean(text, lines);
            assert_eq!(cleaned.text, wanted, "{text:?}");
            assert!(!cleaned.hidden, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in any::<String>(), more in "[\u{0}-\u{ff}\u{200b}-\u{206f}\u{e0000}-\u{e01ff}👨👩a]{0,40}") {
            for text in [&text, &more] {
                let cleaned = clean(text, Lines::Keep);
                for c in cleaned.text.chars() {
                    prop_assert!(c == '\n' || !c.is_control() && !is_invisible(c) && !is_line(c), "{c:?}");
                }
                // Cleaning once is enough.
                let again = clean(&cleaned.text, Lines::Keep);
                prop_assert_eq!(&again.text, &cleaned.text);
                let spaced = clean(text, Lines::Space);
                prop_assert!(!spaced.text.contains('\n'));
            }
        }
    }
}
