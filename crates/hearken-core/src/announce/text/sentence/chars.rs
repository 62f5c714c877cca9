//! The roles of characters in finding sentence boundaries.
//!
//! Responsibilities: the sentence-ending characters of the world's scripts, pairs of brackets and
//! quotation marks, the bytes that may be skipped without examination. Not here: what follows from
//! them (`mark_rules`).

/// The marks that end a sentence with or without a space after them (Unicode's
/// `Sentence_Terminal` without the full stops and marks that Latin text uses inside words, and
/// without the Burmese comma).
const STRONG: &[(char, char)] = &[
    ('\u{0589}', '\u{0589}'), // Armenian
    ('\u{061D}', '\u{061F}'), // Arabic
    ('\u{06D4}', '\u{06D4}'), // Urdu
    ('\u{0700}', '\u{0702}'), // Syriac
    ('\u{07F9}', '\u{07F9}'), // N'Ko
    ('\u{0837}', '\u{0837}'), // Samaritan
    ('\u{0839}', '\u{0839}'),
    ('\u{083D}', '\u{083E}'),
    ('\u{0964}', '\u{0965}'), // Devanagari and its neighbours
    ('\u{0F0D}', '\u{0F0E}'), // Tibetan
    ('\u{104B}', '\u{104B}'), // Burmese
    ('\u{1362}', '\u{1362}'), // Ethiopic
    ('\u{1367}', '\u{1368}'),
    ('\u{166E}', '\u{166E}'), // Canadian syllabics
    ('\u{1735}', '\u{1736}'), // Philippine scripts
    ('\u{17D4}', '\u{17D5}'), // Khmer
    ('\u{1803}', '\u{1803}'), // Mongolian
    ('\u{1809}', '\u{1809}'),
    ('\u{1944}', '\u{1945}'), // Limbu
    ('\u{1AA8}', '\u{1AAB}'), // Tai Tham
    ('\u{1B5A}', '\u{1B5B}'), // Balinese
    ('\u{1B5E}', '\u{1B5F}'),
    ('\u{1C3B}', '\u{1C3C}'), // Lepcha
    ('\u{1C7E}', '\u{1C7F}'), // Ol Chiki
    ('\u{2CF9}', '\u{2CFB}'), // Coptic
    ('\u{3002}', '\u{3002}'), // Chinese and Japanese
    ('\u{A4FF}', '\u{A4FF}'), // Lisu
    ('\u{A60E}', '\u{A60F}'), // Vai
    ('\u{A6F3}', '\u{A6F3}'), // Bamum
    ('\u{A6F7}', '\u{A6F7}'),
    ('\u{A876}', '\u{A877}'), // Phags-pa
    ('\u{A8CE}', '\u{A8CF}'), // Saurashtra
    ('\u{A92F}', '\u{A92F}'), // Kayah Li
    ('\u{A9C8}', '\u{A9C9}'), // Javanese
    ('\u{AA5D}', '\u{AA5F}'), // Cham
    ('\u{AAF0}', '\u{AAF1}'), // Meetei Mayek
    ('\u{ABEB}', '\u{ABEB}'),
    ('\u{FE12}', '\u{FE12}'), // vertical and small forms
    ('\u{FE15}', '\u{FE16}'),
    ('\u{FE56}', '\u{FE57}'),
    ('\u{FF01}', '\u{FF01}'), // full width
    ('\u{FF1F}', '\u{FF1F}'),
    ('\u{FF61}', '\u{FF61}'), // half width
    ('\u{10A56}', '\u{10A57}'),
    ('\u{11047}', '\u{11048}'), // Brahmi and later Indic scripts
    ('\u{110BE}', '\u{110C1}'),
    ('\u{11141}', '\u{11143}'),
    ('\u{111C5}', '\u{111C6}'),
    ('\u{11238}', '\u{11239}'),
    ('\u{1144B}', '\u{1144C}'),
    ('\u{115C2}', '\u{115C3}'),
    ('\u{11641}', '\u{11642}'),
    ('\u{1173C}', '\u{1173E}'),
    ('\u{16A6E}', '\u{16A6F}'),
    ('\u{16B37}', '\u{16B38}'),
    ('\u{1DA88}', '\u{1DA88}'),
];

/// Returns whether a character ends a sentence on its own, whatever follows it.
pub(super) fn is_strong(c: char) -> bool {
    c >= '\u{0589}'
        && STRONG
            .binary_search_by(|&(first, last)| {
                if last < c {
                    std::cmp::Ordering::Less
                } else if first > c {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
}

/// Returns whether a character is a question or exclamation mark of Latin-like text.
pub(super) fn is_call(c: char) -> bool {
    matches!(
        c,
        '!' | '?' | '\u{203C}' | '\u{203D}' | '\u{2047}' | '\u{2048}' | '\u{2049}' | '\u{2E2E}'
    )
}

/// Returns whether a character is a full stop or stands for several.
pub(super) fn is_stop(c: char) -> bool {
    matches!(c, '.' | '…' | '\u{2024}' | '\u{FE52}' | '\u{FF0E}')
}

/// Returns whether a character is invisible and does not affect the words around it (direction
/// marks, joiners, soft hyphens).
pub(super) fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{61C}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}'
            | '\u{FEFF}'
    )
}

/// Returns whether a character belongs to a script that does not mark the ends of words: Han, Hiragana,
/// Katakana, Bopomofo.
pub(super) fn is_east_asian(c: char) -> bool {
    matches!(
        c,
        '\u{3005}'..='\u{3007}'
            | '\u{3041}'..='\u{30FF}'
            | '\u{3105}'..='\u{312F}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF66}'..='\u{FF9D}'
            | '\u{20000}'..='\u{323AF}'
    )
}

/// Returns whether a character is a Greek letter.
pub(super) fn is_greek(c: char) -> bool {
    matches!(c, '\u{0370}'..='\u{037D}' | '\u{037F}'..='\u{0386}' | '\u{0388}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}')
}

/// Returns whether a character is an Arabic letter.
pub(super) fn is_arabic(c: char) -> bool {
    matches!(c, '\u{0620}'..='\u{064A}' | '\u{066E}'..='\u{06D3}' | '\u{06FA}'..='\u{06FF}' | '\u{0750}'..='\u{077F}')
}

/// Returns whether a character means nothing to the finder: letters of scripts that [`PLAIN`] can't recognise
/// by a first byte (Arabic, Devanagari, Thai, kana), and the commas and colons of Chinese and Japanese.
pub(super) fn is_ordinary(c: char) -> bool {
    matches!(
        c,
        '\u{0620}'..='\u{064A}'
            | '\u{0904}'..='\u{0963}'
            | '\u{0E01}'..='\u{0E4E}'
            | '\u{3041}'..='\u{30FF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '、'
            | '，'
            | '：'
            | '；'
    )
}

/// Returns whether a character is an Armenian letter.
pub(super) fn is_armenian(c: char) -> bool {
    matches!(c, '\u{0531}'..='\u{0556}' | '\u{0561}'..='\u{0587}')
}

/// A pair of marks that encloses words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    Round,
    Square,
    Curly,
    Straight,
    Curved,
    Low,
    Single,
    Angle,
    AngleInward,
    SingleAngle,
    Corner,
    WhiteCorner,
    WideRound,
    Lenticular,
    DoubleTitle,
    SingleTitle,
    Tortoise,
}

/// Returns the pair that a bracket or an unambiguous mark opens.
pub(super) fn opens(c: char) -> Option<Pair> {
    Some(match c {
        '(' => Pair::Round,
        '[' => Pair::Square,
        '{' => Pair::Curly,
        '„' => Pair::Low,
        '「' => Pair::Corner,
        '『' => Pair::WhiteCorner,
        '（' => Pair::WideRound,
        '【' => Pair::Lenticular,
        '《' => Pair::DoubleTitle,
        '〈' => Pair::SingleTitle,
        '〔' => Pair::Tortoise,
        _ => return None,
    })
}

/// Returns the pair that a bracket or an unambiguous mark closes.
pub(super) fn closes(c: char) -> Option<Pair> {
    Some(match c {
        ')' => Pair::Round,
        ']' => Pair::Square,
        '}' => Pair::Curly,
        '」' => Pair::Corner,
        '』' => Pair::WhiteCorner,
        '）' => Pair::WideRound,
        '】' => Pair::Lenticular,
        '》' => Pair::DoubleTitle,
        '〉' => Pair::SingleTitle,
        '〕' => Pair::Tortoise,
        _ => return None,
    })
}

/// Returns whether a character may precede an opening quotation mark.
pub(super) fn goes_before_opening(c: char) -> bool {
    c.is_whitespace()
        || opens(c).is_some()
        || is_east_asian(c)
        || is_unseen(c)
        || matches!(
            c,
            '-' | '–'
                | '—'
                | '"'
                | '\''
                | '“'
                | '‘'
                | '«'
                | '‹'
                | '*'
                | '_'
                | '>'
                | '='
                | '/'
                | ','
                | '，'
                | '：'
                | '、'
                | '。'
                | '¿'
                | '¡'
        )
}

/// For each byte, whether the scanner may pass it without examination.
///
/// These include first bytes whose characters are all letters (Latin with marks, Greek, Cyrillic, Hebrew, Han,
/// Hangul), and all later bytes of a character: the scanner meets those only after
/// a first byte that it has passed.
pub(super) const PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'.' | b'!' | b'?' | b'\n' | b'"' | b'`' | b':' | b';' => false,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' => false,
            0..=0xBF => true,
            0xC3..=0xC8 | 0xCE..=0xD3 | 0xD7 | 0xE4..=0xE9 | 0xEB..=0xED => true,
            _ => false,
        };
        byte += 1;
    }
    table
};

/// Returns whether a word is a number in digits.
pub(super) fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches('-');
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::text::markdown::is_bullet;

    #[test]
    fn no_character_with_a_meaning_is_passed() {
        let passed = |c: &char| PLAIN[usize::from(c.to_string().as_bytes()[0])] || is_ordinary(*c);
        for c in ('\u{80}'..=char::MAX).filter(passed) {
            assert!(
                !is_strong(c) && !is_call(c) && !is_stop(c) && !is_bullet(c),
                "{c:?}"
            );
            assert!(opens(c).is_none() && closes(c).is_none(), "{c:?}");
            assert!(
                !matches!(c, '“' | '”' | '‘' | '’' | '«' | '»' | '‹' | '›' | '،'),
                "{c:?}"
            );
        }
    }

    #[test]
    fn the_strong_marks_are_sorted_and_found() {
        assert!(STRONG.windows(2).all(|pair| pair[0].1 < pair[1].0));
        for c in [
            '。', '！', '？', '।', '॥', '؟', '۔', '։', '።', '፧', '။', '។', '।',
        ] {
            assert!(is_strong(c), "{c}");
        }
        for c in ['.', '!', '?', 'a', '၊', '、', '，', '·'] {
            assert!(!is_strong(c), "{c}");
        }
    }
}
