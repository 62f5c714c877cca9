//! The line commands for how agents are announced.

use crate::config::Load;

use super::Command;

/// Reads a line about load or language, which selects the given value or else the next one.
pub(super) fn line(word: &str, rest: &str) -> Option<Command> {
    match word {
        "j" | "load" => match rest.to_ascii_lowercase().as_str() {
            "" => Some(Command::Load(None)),
            "low" => Some(Command::Load(Some(Load::Low))),
            "medium" => Some(Command::Load(Some(Load::Medium))),
            "high" => Some(Command::Load(Some(Load::High))),
            _ => None,
        },
        "language" => Some(Command::Language(
            Some(rest.to_owned()).filter(|tag| !tag.is_empty()),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::line;
    use super::*;

    #[test]
    fn lines_about_load_and_language_are_read() {
        let load = |load| Some(Command::Load(load));
        let language = |tag: Option<&str>| Some(Command::Language(tag.map(str::to_owned)));
        for (text, wanted) in [
            ("j", load(None)),
            ("load", load(None)),
            ("Load HIGH", load(Some(Load::High))),
            ("j low", load(Some(Load::Low))),
            ("load medium", load(Some(Load::Medium))),
            (
                "load much",
                Some(Command::NotUnderstood("load much".into())),
            ),
            ("language", language(None)),
            ("language  pt-BR ", language(Some("pt-BR"))),
        ] {
            assert_eq!(line(text), wanted, "{text}");
        }
    }
}
