//! Which characters a person can neither see nor hear.
//!
//! Responsibilities: telling visible characters from invisible ones, and judging the two kinds that a text may
//! need, joiners and variation selectors, by their neighbours. Not here: removing anything from a text
//! (`clean`).

/// Returns whether a character is invisible in any context.
///
/// Joiners and variation selectors do not count: they are judged by their neighbours, see `joins` and
/// `selects`. White space does not count: a person hears it as a gap.
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\0'..='\u{9f}' => !c.is_whitespace(),
        '\u{ad}' => true,
        // Scripts in everyday use, so that most text never reaches the slow check below.
        '\u{a1}'..='\u{24f}' | '\u{3a3}'..='\u{52f}' => false,
        '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{6dc}' | '\u{900}'..='\u{97f}' => false,
        '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' => false,
        '\u{3001}'..='\u{3020}' | '\u{ff01}'..='\u{ff60}' => false,
        '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fe}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' => false,
        // Fillers and blanks that are letters or signs by name but invisible.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' => true,
        '\u{3164}' | '\u{ffa0}' | '\u{fffc}' | '\u{1d159}' => true,
        '\u{180b}'..='\u{180f}' => true,
        // Tags, and the variation selectors that `selects` has not accepted.
        '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => !c.is_whitespace() && !is_graphic(c),
    }
}

/// Returns whether the standard library's Unicode tables list a character as printable,
/// which excludes unassigned and private code points, format characters and controls.
///
/// The standard library reveals this only through its escapes. It also escapes a leading combining mark, so the
/// character is tested after a letter.
fn is_graphic(c: char) -> bool {
    let mut bytes = [b'a'; 5];
    let length = 1 + c.encode_utf8(&mut bytes[1..]).len();
    std::str::from_utf8(&bytes[..length])
        .is_ok_and(|text| text.escape_debug().nth(1) != Some('\\') || c == '\\')
}

/// Returns whether a joiner (U+200C, U+200D) has an effect between two characters.
pub(super) fn joins(joiner: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    if is_virama(before) {
        return true;
    }
    let Some(after) = after else { return false };
    (is_joining_script(before) && is_joining_script(after))
        || (joiner == '\u{200d}'
            && (is_pictograph(before) || before == '\u{fe0f}')
            && is_pictograph(after))
}

/// Returns whether a variation selector has an effect between two characters: at most one, on a
/// picture, a keycap, a Han or a Mongolian character. Chains of selectors can carry a hidden message.
pub(super) fn selects(selector: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(before)
                || (matches!(before, '0'..='9' | '#' | '*') && after == Some('\u{20e3}'))
        }
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => is_han(before),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

/// Returns whether a character is a variation selector.
pub(super) fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}')
}

/// Returns whether a character is drawn as a picture, alone or after U+FE0F.
pub(super) fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2300}'..='\u{23ff}'
        | '\u{25aa}'..='\u{25fe}' | '\u{2b00}'..='\u{2b55}' | '\u{2194}'..='\u{21aa}'
        | '\u{2934}' | '\u{2935}' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}'
        | '\u{2139}' | '\u{24c2}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}')
}

fn is_virama(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{d7f}') && u32::from(c) & 0x7f == 0x4d || c == '\u{dca}'
}

/// Returns whether a character is Arabic or of a related script, Indic, Tibetan, Burmese, Khmer or Mongolian.
fn is_joining_script(c: char) -> bool {
    matches!(c,
        '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{a840}'..='\u{a8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10a00}'..='\u{10cff}' | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_hidden_and_letters_are_not() {
        for c in [
            '\0',
            '\u{7}',
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{200e}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{2800}',
            '\u{3164}',
            '\u{115f}',
            '\u{1160}',
            '\u{feff}',
            '\u{e0041}',
            '\u{e000}',
            '\u{378}',
            '\u{10ffff}',
            '\u{fffe}',
            '\u{f0000}',
        ] {
            assert!(is_hidden(c), "U+{:04X}", u32::from(c));
        }
        for c in [
            'a', '\\', '\'', '"', 'é', 'ß', 'ж', 'あ', '中', '한', 'ن', 'अ', '\u{94d}', '\u{301}',
            '→', '│', '🎉', '\u{a0}', '\n', '\u{3000}', '€', '\u{fffd}', 'ẞ', 'ꙮ', '😀', '𝒳',
        ] {
            assert!(!is_hidden(c), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn the_short_way_for_everyday_scripts_gives_what_the_tables_give() {
        let scripts = [
            '\u{370}'..='\u{52f}',
            '\u{5d0}'..='\u{6ff}',
            '\u{900}'..='\u{97f}',
            '\u{2010}'..='\u{2027}',
            '\u{2190}'..='\u{23ff}',
            '\u{2600}'..='\u{27bf}',
        ];
        for c in scripts.into_iter().flatten() {
            assert_eq!(is_hidden(c), !is_graphic(c), "U+{:04X}", u32::from(c));
        }
    }
}
