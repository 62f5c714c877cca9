//! What the MIME type of an output says about how it is read.
//!
//! Responsibilities: which types are code, and in which language. Not here: reading code (`markdown`, `normalise`).
//!
//! Plain text and Markdown are read alike: producers declare `text/plain`, which is also the default, and send
//! Markdown.

/// The longest name of a language, in bytes.
const LONGEST: usize = 24;

/// Types whose last part is not the name of the language.
const NAMED: [(&str, &str); 9] = [
    ("application/javascript", "javascript"),
    ("text/javascript", "javascript"),
    ("application/json", "json"),
    ("application/sql", "sql"),
    ("application/toml", "toml"),
    ("application/yaml", "yaml"),
    ("text/yaml", "yaml"),
    ("text/css", "css"),
    ("application/x-sh", "sh"),
];

/// Other names for types of prose.
const PROSE: [&str; 6] = ["markdown", "web-markdown", "log", "plain", "rst", "org"];

/// Returns the language of the code that an output of this type consists of; `None` if it is not code.
pub fn code_language(content_type: &str) -> Option<String> {
    let kind = content_type.split(';').next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    if let Some((_, language)) = NAMED.iter().find(|(name, _)| *name == kind) {
        return Some((*language).to_owned());
    }
    if kind.ends_with("+json") {
        return Some("json".to_owned());
    }
    let language = kind.strip_prefix("text/x-")?;
    let language = language.trim_end_matches("-source").trim_end_matches("src");
    let is_name = |c: char| c.is_ascii_alphanumeric() || "+#-".contains(c);
    let fits = (1..=LONGEST).contains(&language.len()) && language.chars().all(is_name);
    (fits && !PROSE.contains(&language)).then(|| language.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_known_by_its_type_and_prose_is_not_taken_for_it() {
        for (kind, language) in [
            ("text/x-python", Some("python")),
            ("Text/X-Rust; charset=utf-8", Some("rust")),
            ("text/x-csrc", Some("c")),
            ("application/json", Some("json")),
            ("application/ld+json", Some("json")),
            ("text/javascript", Some("javascript")),
            ("text/plain", None),
            ("text/markdown", None),
            ("text/x-markdown", None),
            ("text/html", None),
            ("text/x-", None),
            ("text/x-a b\nc", None),
            ("", None),
        ] {
            assert_eq!(code_language(kind).as_deref(), language, "{kind}");
        }
    }
}
