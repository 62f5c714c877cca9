//! The shape of a phrase: words, arguments, optional parts.
//!
//! Responsibilities: parsing a phrase's text when it is used. Not here: filling it in (`filled_phrase`).

/// One part of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemplatePart<'a> {
    /// Literal words.
    Literal(&'a str),
    /// The key of a command, by the command's name, with its usual name.
    Key { command: &'a str, key: &'a str },
    /// Text to type on a line.
    Typed(&'a str),
    /// An argument by its name.
    Arg(&'a str),
    /// One of two words, chosen by a number.
    Plural {
        arg: &'a str,
        one: &'a str,
        many: &'a str,
    },
    /// A phrase that is left out if an argument in it is empty.
    Optional(&'a str),
}

/// Returns a phrase's parts. Malformed text, which no built-in phrase has, stays unchanged.
pub(super) fn parts(text: &str) -> impl Iterator<Item = TemplatePart<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, behind) = first(rest).unwrap_or((TemplatePart::Literal(rest), ""));
        rest = behind;
        Some(part)
    })
}

/// Splits the first part of a non-empty phrase from the rest.
///
/// # Errors
/// Returns a message if it is malformed.
pub(super) fn first(text: &str) -> Result<(TemplatePart<'_>, &str), &'static str> {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'[') => {
            let inner = &text[1..];
            let end = closing(inner).ok_or("a [ is not closed")?;
            Ok((TemplatePart::Optional(&inner[..end]), &inner[end + 1..]))
        }
        Some(b'{') => {
            // The text in braces is nearly always short.
            let inner = &text[1..];
            let end = inner
                .bytes()
                .position(|byte| byte == b'}')
                .ok_or("a { is not closed")?;
            Ok((place(&inner[..end])?, &inner[end + 1..]))
        }
        Some(b']') => Err("a ] without a ["),
        Some(b'}') => Err("a } without a {"),
        Some(_) | None => {
            let is_sign = |byte: &u8| matches!(byte, b'[' | b']' | b'{' | b'}');
            let end = bytes.iter().position(is_sign).unwrap_or(bytes.len());
            Ok((TemplatePart::Literal(&text[..end]), &text[end..]))
        }
    }
}

/// Returns the bracket that closes an optional part; brackets inside braces do not count.
fn closing(inner: &str) -> Option<usize> {
    let (mut depth, mut in_braces) = (0_usize, false);
    inner.bytes().position(|byte| {
        match byte {
            b'}' => in_braces = false,
            b'{' => in_braces = true,
            b'[' if !in_braces => depth += 1,
            b']' if !in_braces && depth == 0 => return true,
            b']' if !in_braces => depth -= 1,
            _ => {}
        }
        false
    })
}

/// Parses the text in braces.
fn place(inner: &str) -> Result<TemplatePart<'_>, &'static str> {
    if let Some(named) = inner.strip_prefix("key:") {
        let key = named.split_once('=');
        let (command, key) = key.ok_or("a key is {key:command=its usual key}")?;
        return Ok(TemplatePart::Key { command, key });
    }
    if let Some(typed) = inner.strip_prefix("type:") {
        return Ok(TemplatePart::Typed(typed));
    }
    // Most contain just a name.
    if !inner.is_empty() && !inner.bytes().any(|byte| byte == b'#') {
        return Ok(TemplatePart::Arg(inner));
    }
    let mut pieces = inner.split('#');
    let arg = pieces.next().filter(|name| !name.is_empty());
    match (arg, pieces.next(), pieces.next(), pieces.next()) {
        (Some(arg), Some(one), Some(many), None) => Ok(TemplatePart::Plural { arg, one, many }),
        _ => Err("an argument is neither {name} nor {name#one#many}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_taken_apart() {
        let text = "{key:accept=y} to accept[: {a}[, {n#one#many}{type:[x]}]].";
        let found: Vec<TemplatePart<'_>> = parts(text).collect();
        let inner = ": {a}[, {n#one#many}{type:[x]}]";
        let (command, key) = ("accept", "y");
        let wanted = [
            TemplatePart::Key { command, key },
            TemplatePart::Literal(" to accept"),
            TemplatePart::Optional(inner),
            TemplatePart::Literal("."),
        ];
        assert_eq!(found, wanted);
        let found: Vec<TemplatePart<'_>> = parts(inner).collect();
        let nested = ", {n#one#many}{type:[x]}";
        let wanted = [
            TemplatePart::Literal(": "),
            TemplatePart::Arg("a"),
            TemplatePart::Optional(nested),
        ];
        assert_eq!(found, wanted);
        let found: Vec<TemplatePart<'_>> = parts(nested).collect();
        let (arg, one, many) = ("n", "one", "many");
        let wanted = [
            TemplatePart::Literal(", "),
            TemplatePart::Plural { arg, one, many },
            TemplatePart::Typed("[x]"),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_not_well_formed_is_lost_by_nobody() {
        let found: Vec<TemplatePart<'_>> = parts("a [b").collect();
        assert_eq!(
            found,
            [TemplatePart::Literal("a "), TemplatePart::Literal("[b")]
        );
    }
}
