//! Names from the wire as a report may show them.

/// The most characters of a name that are shown: more than any real one has.
const LONGEST: usize = 80;

/// Returns a name that is safe for a terminal: short, on one line, and without characters that are
/// invisible or change the direction of what follows. An omitted character is shown by its number.
pub(super) fn name(text: &str) -> String {
    // Nearly every name passes this quick check.
    if text.len() <= LONGEST && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(LONGEST));
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        if is_unseen(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns whether a character is a control, a format character or an invisible filler.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_unseen_is_left() {
        assert_eq!(name("send_email"), "send_email");
        assert_eq!(name("a\u{7f}b\u{1f}"), "a\\u{7f}b\\u{1f}");
        assert_eq!(name("Ẹ kú àárọ̀ 助手"), "Ẹ kú àárọ̀ 助手");
        assert_eq!(
            name("a\u{1b}[2J\n\u{9b}\u{202e}"),
            "a\\u{1b}[2J\\u{a}\\u{9b}\\u{202e}"
        );
        assert_eq!(name(&"x".repeat(LONGEST)), "x".repeat(LONGEST));
        assert_eq!(name(&"x".repeat(500)).chars().count(), LONGEST + 1);
    }
}
