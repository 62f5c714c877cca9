//! A phrase file in the form that the program reads: one line per phrase.
//!
//! Responsibilities: turning the TOML that people write into those lines, as the build does (`build.rs`), and
//! rejecting what is malformed. Not here: reading the lines (`phrase`).
//!
//! # Mental model
//! Parsing a thousand phrases of TOML would take most of the start-up time, and few of them are used in a run. A line
//! is a key and its text, separated by a tab; the texts of other levels follow, each preceded by the letter of its
//! level. None of them contains a control character.

use toml::de::{DeTable, DeValue};

use super::template::{TemplatePart, first};

/// The letters before the texts of levels other than the normal one.
const LEVELS: [(&str, char); 2] = [("terse", 't'), ("detailed", 'd')];

/// A phrase file in its built-in form.
pub struct Digest {
    /// The language that the file names (BCP 47).
    pub language: String,
    /// The phrases, one per line.
    pub phrases: String,
    /// The text after the phrases, as written: the help and the words for signs.
    pub rest: String,
}

/// Digests a phrase file.
///
/// # Errors
/// Returns a message if it is not TOML of the right shape, or if a phrase is malformed.
pub fn digest(file: &str) -> Result<Digest, String> {
    let table = DeTable::parse(file).map_err(|error| error.to_string())?;
    let table = table.get_ref();
    let part = |name: &str| table.get(name).map(|value| value.get_ref());
    let Some(DeValue::String(language)) = part("language") else {
        return Err("no language is named".to_owned());
    };
    let Some(DeValue::Table(phrases)) = part("phrases") else {
        return Err("there is no table of phrases".to_owned());
    };
    let mut lines = String::new();
    for (key, value) in phrases {
        let key = key.get_ref();
        line(&mut lines, key, value.get_ref()).map_err(|problem| format!("{key:?}: {problem}"))?;
    }
    let begins = |is_it: fn(&str) -> bool| {
        let keys = table.keys().filter(|key| is_it(key.get_ref()));
        keys.map(|key| key.span().start).min()
    };
    let rest = begins(|key| !["language", "phrases"].contains(&key));
    if rest.is_some() && rest < begins(|key| key == "phrases") {
        return Err("something stands before the phrases that belongs behind them".to_owned());
    }
    let from = rest.map(|from| file[..from].rfind('\n').map_or(0, |end| end + 1));
    Ok(Digest {
        language: language.to_string(),
        phrases: lines,
        rest: from.map_or_else(String::new, |from| file[from..].to_owned()),
    })
}

fn line(lines: &mut String, key: &str, value: &DeValue<'_>) -> Result<(), &'static str> {
    if key.contains(char::is_control) {
        return Err("its key has a control character");
    }
    let text = |value: &DeValue<'_>| match value {
        DeValue::String(text) => {
            check(text)?;
            match text.contains(char::is_control) {
                true => Err("it has a control character"),
                false => Ok(text.to_string()),
            }
        }
        _ => Err("it is not text"),
    };
    let DeValue::Table(levels) = value else {
        *lines += &format!("{key}\t{}\n", text(value)?);
        return Ok(());
    };
    let level = |name: &str| {
        levels
            .get(name)
            .map(|value| text(value.get_ref()))
            .transpose()
    };
    let mut known = 1;
    let normal = level("normal")?.ok_or("it has no text for the normal level")?;
    *lines += &format!("{key}\t{normal}");
    for (name, letter) in LEVELS {
        if let Some(text) = level(name)? {
            *lines += &format!("\t{letter}{text}");
            known += 1;
        }
    }
    lines.push('\n');
    match levels.len() == known {
        true => Ok(()),
        false => Err("it has a level that is none"),
    }
}

/// Checks that a phrase is well formed.
fn check(text: &str) -> Result<(), &'static str> {
    let mut rest = text;
    while !rest.is_empty() {
        let (part, behind) = first(rest)?;
        if let TemplatePart::Optional(inner) = part {
            check(inner)?;
        }
        rest = behind;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::digest;

    fn of(phrase: &str) -> Result<String, String> {
        digest(&format!("language = \"en\"\n[phrases]\n{phrase}")).map(|digest| digest.phrases)
    }

    #[test]
    fn a_phrase_is_a_line() {
        assert_eq!(
            of("a.b = 1").unwrap_err(),
            "\"a\": it has no text for the normal level"
        );
        assert_eq!(of(r#""a.b" = "x [{y}]""#).unwrap(), "a.b\tx [{y}]\n");
        let levels = r#"a = { terse = "", normal = "n", detailed = "d" }"#;
        assert_eq!(of(levels).unwrap(), "a\tn\tt\tdd\n");
        assert_eq!(of(r#"a = { normal = "n" }"#).unwrap(), "a\tn\n");
    }

    #[test]
    fn faults_of_a_file_are_told() {
        for bad in [
            r#"a = "[x""#,
            r#"a = "x]""#,
            r#"a = "{x""#,
            r#"a = "x}""#,
            r#"a = "{x#y}""#,
            r#"a = "{}""#,
            r#"a = "[x{]""#,
            r#"a = "[x[{}]]""#,
            r#"a = "{key:accept}""#,
            r#"a = "x\ty""#,
            "a = 1",
            r#""a\tb" = "x""#,
            r#"a = { terse = "x" }"#,
            r#"a = { normal = "x", loud = "x" }"#,
            r#"a = "#,
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
        assert!(digest("language = \"en\"").is_err());
        assert!(digest("[phrases]\na = \"x\"").is_err());
        assert!(digest("language = \"en\"\nother = 1\n[phrases]\na = \"x\"").is_err());
    }

    #[test]
    fn what_stands_behind_the_phrases_is_kept_as_it_is() {
        let behind = "# Keys\n[help]\nquit = \"beenden\" # so\n\n[[words.signs]]\nsign = \"|\"\n";
        let file = format!("language = \"de\"\n[phrases]\na = \"x\"\n{behind}");
        let digest = digest(&file).unwrap();
        assert_eq!((&*digest.language, &*digest.phrases), ("de", "a\tx\n"));
        assert_eq!(digest.rest, behind.trim_start_matches("# Keys\n"));
    }
}
