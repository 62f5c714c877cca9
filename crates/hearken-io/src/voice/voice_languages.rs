//! Which language tags an engine can speak.
//!
//! Responsibilities: comparing BCP 47 tags with each other and with an engine's list of voices. Not
//! here: requesting that list (`dialogue`), choosing the language of a text (`announce`).

use std::collections::BTreeSet;

use crate::config::LONGEST_VOICE;

/// The most tags kept of an engine's list; espeak-ng, the richest here, has 130.
const TAGS_KEPT: usize = 1024;

/// The most voice names kept of an engine's list; espeak-ng, the richest here, has 13,363.
const NAMES_KEPT: usize = 20_000;

/// Pairs of names for the same language, in a tag and in an engine's list.
///
/// ISO 639-3 gives Chinese and Norwegian one tag for the whole and one for each spoken language.
const SAME: [(&str, &str); 4] = [("zh", "cmn"), ("zh", "yue"), ("no", "nb"), ("no", "nn")];

/// The languages that an engine has a voice for.
#[derive(Debug, Default)]
pub(super) struct Languages {
    tags: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Languages {
    /// Adds a voice's name and tag from the engine's list; beyond [`TAGS_KEPT`], further tags are left out.
    pub(super) fn add(&mut self, name: &str, tag: &str) {
        if self.names.len() < NAMES_KEPT && name.len() <= LONGEST_VOICE {
            self.names.insert(name.to_owned());
        }
        if self.tags.len() < TAGS_KEPT {
            self.tags.insert(tag.to_ascii_lowercase());
        }
    }

    /// Returns whether a voice of that name exists; always `true` for an empty list, which says nothing, and for one
    /// that was cut.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.len() == NAMES_KEPT || self.names.contains(name)
    }

    /// Returns whether a voice for the tag's language exists; always `true` for an empty list, which says nothing.
    pub(super) fn speaks(&self, tag: &str) -> bool {
        let wanted = primary(tag).to_ascii_lowercase();
        self.tags.is_empty()
            || self.tags.iter().any(|had| {
                let had = primary(had);
                had == wanted
                    || SAME.contains(&(wanted.as_str(), had))
                    || SAME.contains(&(had, wanted.as_str()))
            })
    }
}

/// Returns whether one tag equals or refines the other: en and en-US, but not en-GB and en-US.
pub(super) fn covers(one: &str, other: &str) -> bool {
    let mut ones = one.split('-');
    let mut others = other.split('-');
    loop {
        match (ones.next(), others.next()) {
            (Some(one), Some(other)) if one.eq_ignore_ascii_case(other) => {}
            (Some(_), Some(_)) => return false,
            (None, _) | (_, None) => return true,
        }
    }
}

/// Returns a tag's first part, the language itself.
fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_covers_its_own_narrowing_and_nothing_else() {
        for (one, other, covered) in [
            ("en", "en-US", true),
            ("en-us", "EN-US", true),
            ("en-GB", "en-US", false),
            ("zh-CN", "zh-HK", false),
            ("pt", "pt-BR", true),
            ("e", "en", false),
        ] {
            assert_eq!(covers(one, other), covered, "{one} {other}");
            assert_eq!(covers(other, one), covered, "{other} {one}");
        }
    }

    #[test]
    fn a_list_of_voices_tells_what_can_be_spoken() {
        let mut languages = Languages::default();
        assert!(languages.speaks("xx"), "without a list nothing is known");
        for tag in ["en-GB", "de", "cmn", "nb"] {
            languages.add(&format!("voice of {tag}"), tag);
        }
        for tag in ["en", "EN-us", "de-AT", "zh-Hant-TW", "no", "nb-NO"] {
            assert!(languages.speaks(tag), "{tag}");
        }
        assert!(languages.has("voice of de") && !languages.has("voice of fr"));
        for tag in ["fr", "xx-YY", "d", "deu"] {
            assert!(!languages.speaks(tag), "{tag}");
        }
    }

    #[test]
    fn an_endless_list_is_cut() {
        let mut languages = Languages::default();
        for number in 0..TAGS_KEPT * 2 {
            languages.add(&format!("voice {number}"), &format!("x{number}"));
        }
        assert_eq!(languages.tags.len(), TAGS_KEPT);
    }
}
