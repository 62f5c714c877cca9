//! The output of `printf` and `echo`.

/// Returns the output of `printf`, before escapes are resolved.
pub(crate) fn printf(format: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let mut text = String::new();
    loop {
        let before = values.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            match chars.find(|c| c.is_alphabetic() || *c == '%') {
                Some('%') => text.push('%'),
                Some(_) => text.push_str(values.next().copied().unwrap_or_default()),
                None => {}
            }
        }
        // The format is reused for the remaining values.
        if values.len() == 0 || values.len() == before {
            return text;
        }
    }
}

/// Resolves the escapes of `printf` and `echo -e`.
pub(crate) fn escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        let digits: String = std::iter::from_fn(|| chars.next_if(|c| c.is_digit(8)))
            .take(4)
            .collect();
        if let Ok(value) = u32::from_str_radix(&digits, 8) {
            plain.extend(char::from_u32(value));
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('x') => {
                let digits: String = std::iter::from_fn(|| chars.next_if(char::is_ascii_hexdigit))
                    .take(2)
                    .collect();
                plain.extend(
                    u32::from_str_radix(&digits, 16)
                        .ok()
                        .and_then(char::from_u32),
                );
            }
            Some('\\') => plain.push('\\'),
            Some(other) => {
                plain.push('\\');
                plain.push(other);
            }
            None => plain.push('\\'),
        }
    }
    plain
}
