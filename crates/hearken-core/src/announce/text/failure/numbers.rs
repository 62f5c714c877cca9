//! The numbers in a summary line, by the words beside them.

/// The longest number that is accepted, in digits.
const MOST_DIGITS: usize = 9;

/// Returns the number before one of these words, as in "2 failed, 78 passed".
pub(super) fn before(line: &str, words: &[&str]) -> Option<u64> {
    let mut last = None;
    for token in tokens(line) {
        if let Some(number) = last
            && words.contains(&token)
        {
            return Some(number);
        }
        last = number(token);
    }
    None
}

/// Returns the number after a name and a colon or an equals sign, as in "Failures: 2" or "failures=2".
pub(super) fn after(line: &str, name: &str) -> Option<u64> {
    let mut from = 0;
    while let Some(at) = line.get(from..)?.find(name) {
        let end = from + at + name.len();
        let alone = !line[..from + at].ends_with(|c: char| c.is_alphanumeric());
        let rest = line[end..].trim_start();
        if let Some(rest) = rest.strip_prefix([':', '=']).filter(|_| alone) {
            return leading(rest.trim_start());
        }
        from = end;
    }
    None
}

/// Returns the number at the beginning of a text.
pub(super) fn leading(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    number(&text[..end.unwrap_or(text.len())])
}

/// Parses a text that is nothing but a number.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits =
        (1..=MOST_DIGITS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Returns a text without a number and a sign before it, as in "3) name" or "12. name".
pub(super) fn unnumbered<'a>(text: &'a str, sign: &str) -> Option<&'a str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    let rest = rest.strip_prefix(sign)?;
    (1..=MOST_DIGITS).contains(&digits).then_some(rest)
}

fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || ",;|()=.:".contains(c);
    line.split(between).filter(|token| !token.is_empty())
}
