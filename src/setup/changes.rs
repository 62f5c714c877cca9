//! Changes of settings, and putting them into the text of a person's own file.
//!
//! Responsibilities: changing single values and leaving everything else as it is, comments and order included. Not
//! here: reading and writing the file (`runtime`).

use toml_edit::{DocumentMut, Item, Table, value};

/// One setting and its new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The section that it is in.
    pub table: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its new value; `None` takes the setting out.
    pub value: Option<Value>,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A word.
    Text(String),
    /// A whole number.
    Number(i64),
}

/// Why a text can't be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// It is not valid TOML.
    #[error("not valid TOML")]
    Syntax,
    /// What should be a section is something else.
    #[error("{0} is not a section")]
    NoSection(&'static str),
}

/// Returns the text of a settings file with changes made in it.
///
/// # Errors
/// When the text does not have the form of settings.
pub fn merge(text: &str, changes: &[Change]) -> Result<String, MergeError> {
    let mut document: DocumentMut = text.parse().map_err(|_| MergeError::Syntax)?;
    for change in changes {
        let section = match (&change.value, document.get_mut(change.table)) {
            (None, None) => continue,
            (Some(_), None) => document
                .entry(change.table)
                .or_insert(Item::Table(Table::new())),
            (_, Some(section)) => section,
        };
        let section = section.as_table_like_mut();
        let section = section.ok_or(MergeError::NoSection(change.table))?;
        let new = match &change.value {
            Some(Value::Text(text)) => value(text),
            Some(Value::Number(number)) => value(*number),
            None => {
                section.remove(change.name);
                continue;
            }
        };
        match section.get_mut(change.name).and_then(Item::as_value_mut) {
            Some(old) => {
                // A comment after the old value stays.
                let decor = old.decor().clone();
                if let Item::Value(mut new) = new {
                    *new.decor_mut() = decor;
                    *old = new;
                }
            }
            None => {
                section.insert(change.name, new);
            }
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(table: &'static str, name: &'static str, value: Option<Value>) -> Change {
        Change { table, name, value }
    }

    #[test]
    fn only_the_changed_values_differ() {
        let text = "# mine\n[announce]\nverbosity = \"terse\" # short\nlanguages = [\"de\"]\n\n\
            [voice]\n# fast\nrate = 60\nengine = \"auto\"\n\n# a source\n[[source]]\nname = \"a\"\nurl = \"http://x\"\n";
        let changes = [
            change(
                "announce",
                "verbosity",
                Some(Value::Text("detailed".into())),
            ),
            change("voice", "rate", None),
            change("screen", "theme", Some(Value::Text("plain".into()))),
            change("scanning", "auto_ms", Some(Value::Number(2000))),
            change("links", "retries", None),
        ];
        let merged = merge(text, &changes).unwrap();
        assert_eq!(
            merged,
            "# mine\n[announce]\nverbosity = \"detailed\" # short\nlanguages = [\"de\"]\n\n\
             [voice]\nengine = \"auto\"\n\n# a source\n[[source]]\nname = \"a\"\nurl = \"http://x\"\n\n\
             [screen]\ntheme = \"plain\"\n\n[scanning]\nauto_ms = 2000\n"
        );
        // Merging the same changes again changes nothing.
        assert_eq!(merge(&merged, &changes).unwrap(), merged);
        assert_eq!(merge(text, &[]).unwrap(), text);
    }

    #[test]
    fn sections_of_every_form_are_changed_and_what_is_none_is_refused() {
        let terse = [change(
            "announce",
            "verbosity",
            Some(Value::Text("terse".into())),
        )];
        for (text, merged) in [
            ("", "[announce]\nverbosity = \"terse\"\n"),
            (
                "announce.load = \"low\"\n",
                "announce.load = \"low\"\nannounce.verbosity = \"terse\"\n",
            ),
            (
                "announce = { load = \"low\" }\n",
                "announce = { load = \"low\" , verbosity = \"terse\" }\n",
            ),
        ] {
            let told = merge(text, &terse).unwrap();
            let read: toml::Table = told.parse().unwrap();
            assert_eq!(read, merged.parse::<toml::Table>().unwrap(), "{told}");
        }
        assert_eq!(
            merge("announce = 1\n", &terse),
            Err(MergeError::NoSection("announce"))
        );
        assert_eq!(merge("announce = \n", &terse), Err(MergeError::Syntax));
    }
}
