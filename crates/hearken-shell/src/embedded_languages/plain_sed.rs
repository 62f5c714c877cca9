//! The unambiguous sed commands.

/// Returns whether a sed command only prints, deletes lines of its output, or substitutes, without any ambiguity.
pub(super) fn is_plain_sed(part: &str) -> bool {
    let mut rest = part;
    // At most two addresses: numbers, the last line, or simple patterns.
    for _ in 0..2 {
        rest = match rest.strip_prefix('/') {
            Some(after) => match after.split_once('/') {
                Some((pattern, after)) if !pattern.contains(['\\', '[']) => after,
                Some(_) | None => return false,
            },
            None => rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '$'),
        };
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    let rest = rest.trim_start().trim_start_matches('!');
    if matches!(
        rest,
        "" | "p" | "d" | "q" | "=" | "n" | "P" | "D" | "N" | "G"
    ) {
        return true;
    }
    let Some(rest) = rest.strip_prefix('s') else {
        return false;
    };
    let Some(delimiter) = rest
        .chars()
        .next()
        .filter(|c| c.is_ascii_punctuation() && *c != '\\')
    else {
        return false;
    };
    let parts: Vec<&str> = rest.split(delimiter).collect();
    matches!(parts.as_slice(), ["", _, _, flags] if flags.chars().all(|c| c.is_ascii_digit() || "gpIi".contains(c)))
}
