//! One line of an output, cleaned for parsing.

/// The longest part of a line that is looked at, in bytes.
const LONGEST: usize = 1000;

/// Returns a line as a terminal would finally show it: without colours, and only what was written after the
/// last carriage return.
pub(super) fn clean(line: &str) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    let shown = line.rsplit('\r').find(|part| !part.trim().is_empty());
    let shown = shown.unwrap_or_default();
    let shown = &shown[..shown.floor_char_boundary(4 * LONGEST)];
    let mut clean = String::with_capacity(shown.len().min(LONGEST));
    let mut chars = shown.chars();
    while let Some(c) = chars.next() {
        if clean.len() >= LONGEST {
            break;
        }
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\t' => clean.push('\t'),
            c if c.is_control() => {}
            c => clean.push(c),
        }
    }
    clean.truncate(clean.trim_end().len());
    clean
}

/// Skips what follows an escape character: a colour, a movement of the cursor, a title or a link.
fn skip_sequence(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        Some('[') => {
            chars.find(|c| ('@'..='~').contains(c));
        }
        Some(']') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' {
                    return;
                }
                if c == '\u{1b}' {
                    chars.next();
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

/// Returns the number of white-space characters at the beginning of a line.
pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count()
}

/// Returns a name without the time in brackets at its end, such as " (0.5ms)" or " [5 ms]".
pub(super) fn untimed(name: &str) -> &str {
    let name = name.trim();
    let (open, close) = match name.chars().last() {
        Some(')') => ('(', ')'),
        Some(']') => ('[', ']'),
        _ => return name,
    };
    let Some(at) = name.rfind(open) else {
        return name;
    };
    let within = name[at..].trim_matches([open, close]);
    let is_time = within.starts_with(|c: char| c.is_ascii_digit())
        && within.ends_with('s')
        && within.len() < 16;
    if is_time { name[..at].trim_end() } else { name }
}
