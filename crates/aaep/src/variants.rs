//! The texts of a question in several languages, and the choice between them (11.5.1).
//!
//! Responsibilities: reading a field's variants, picking the person's language for a question, finding the direction of
//! a language. Not here: which languages a person has (`config`), how a language is named (`announce`).
//!
//! # Mental model
//! A question is put into the person's language once, when it arrives, so that the same text is shown, judged
//! and answered. The main text decides on the language: the action, or the question itself. A secondary text
//! that is not available in it keeps its own language and is marked with that.

use serde_json::{Map, Value};

use super::event::{AwaitingClarification, AwaitingConfirmation, SummaryLevel};
use super::language_tag::{TextDirection, Variant, fit};

/// The most variants of one field that are kept: more languages than any person lists.
const MOST_VARIANTS: usize = 32;
/// The tag of an undetermined language.
pub const UNDETERMINED: &str = "und";

/// A text of a question that can have variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionText {
    /// `action`.
    Action,
    /// `consequence`.
    Consequence,
    /// `question`.
    Question,
    /// `context`.
    Context,
}

impl QuestionText {
    /// Returns the name of the text's field.
    pub fn field(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Consequence => "consequence",
            Self::Question => "question",
            Self::Context => "context",
        }
    }
}

/// Returns the language tag that follows the field in a variant's name: `yo`, `en_US`, `zh-Hant`.
pub(super) fn tag_of(name: &str, field: &str) -> Option<String> {
    let tag = name
        .strip_prefix(field)?
        .strip_prefix('_')?
        .replace('_', "-");
    let mut pieces = tag.split('-');
    let language = pieces.next()?;
    let is_tag = (2..=3).contains(&language.len())
        && language.bytes().all(|b| b.is_ascii_alphabetic())
        && pieces
            .all(|it| (2..=8).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_alphanumeric()));
    is_tag.then_some(tag)
}

/// Reads the variants of a field.
pub(super) fn variants(map: &Map<String, Value>, field: &str) -> Vec<Variant> {
    map.iter()
        .filter_map(|(name, value)| {
            let text = value.as_str().filter(|text| !text.is_empty())?.to_owned();
            let language = tag_of(name, field)?;
            Some(Variant { language, text })
        })
        .take(MOST_VARIANTS)
        .collect()
}

/// The scripts that run from right to left.
const SCRIPTS_TO_LEFT: &[&str] = &[
    "arab", "hebr", "thaa", "syrc", "nkoo", "adlm", "rohg", "aran",
];
/// The languages that are written in one of these scripts.
const LANGUAGES_TO_LEFT: &[&str] = &[
    "ar", "he", "iw", "fa", "ur", "ps", "sd", "ug", "yi", "dv", "ckb",
];

/// Returns the direction in which a language is written: by its script if the tag names one.
pub fn direction_of(tag: &str) -> TextDirection {
    let mut pieces = tag.split(['-', '_']);
    let language = pieces.next().unwrap_or_default();
    let is_of = |piece: &str, those: &[&str]| {
        let mut those = those.iter();
        those.any(|known| known.eq_ignore_ascii_case(piece))
    };
    let runs_left = match pieces.find(|piece| piece.len() == 4) {
        Some(script) => is_of(script, SCRIPTS_TO_LEFT),
        None => is_of(language, LANGUAGES_TO_LEFT),
    };
    if runs_left {
        TextDirection::Rtl
    } else {
        TextDirection::Ltr
    }
}

/// The languages that a person reads, best first, and the producer's fallbacks.
#[derive(Debug, Clone, Copy)]
pub struct WantedLanguages<'a> {
    /// The languages of the person.
    pub languages: &'a [String],
    /// The producer's own fallback chain.
    pub fallbacks: &'a [String],
}

impl WantedLanguages<'_> {
    /// Replaces a text by its variant in the best language; returns its language.
    fn put(self, text: &mut String, own: Option<&str>, variants: &[Variant]) -> Option<String> {
        let found = self.languages.iter().chain(self.fallbacks).find_map(|tag| {
            let base = own.filter(|_| !text.is_empty());
            let base = base.and_then(|own| Some((fit(tag, own)?, 0)));
            let others = variants.iter().enumerate();
            let others = others.filter_map(|(at, it)| Some((fit(tag, &it.language)?, at + 1)));
            base.into_iter().chain(others).min().map(|(_, at)| at)
        });
        // A text in any language is better than none.
        let found = found.unwrap_or(usize::from(text.is_empty()));
        match found.checked_sub(1).and_then(|at| variants.get(at)) {
            Some(variant) => {
                text.clone_from(&variant.text);
                Some(variant.language.clone())
            }
            None => own.map(str::to_owned),
        }
    }

    /// Does the same for a secondary text; returns its language if it differs from the main one's.
    fn put_beside(
        self,
        text: &mut Option<String>,
        own: Option<&str>,
        variants: &[Variant],
        main: Option<&str>,
    ) -> Option<String> {
        let mut words = text.take().unwrap_or_default();
        let language = self.put(&mut words, own, variants);
        *text = Some(words).filter(|words| !words.is_empty());
        text.as_ref()?;
        other(language, main)
    }
}

/// Returns a language if it differs from the main text's.
fn other(language: Option<String>, main: Option<&str>) -> Option<String> {
    match (language, main) {
        (None, None) => None,
        (Some(one), Some(main)) if fit(main, &one).is_some() => None,
        (Some(one), _) => Some(one),
        (None, Some(_)) => Some(UNDETERMINED.to_owned()),
    }
}

impl AwaitingConfirmation {
    /// Puts the question into the person's language where the producer sent that; returns the language of the
    /// action.
    pub fn put_into(&mut self, own: Option<&str>, wanted: WantedLanguages<'_>) -> Option<String> {
        let main = wanted.put(&mut self.action, own, &std::mem::take(&mut self.actions));
        let consequences = std::mem::take(&mut self.consequences);
        self.consequence_in =
            wanted.put_beside(&mut self.consequence, own, &consequences, main.as_deref());
        let details = std::mem::take(&mut self.summary.variants)
            .into_iter()
            .filter(|(level, ..)| *level == SummaryLevel::Detailed)
            .map(|(_, language, text)| Variant { language, text });
        let details: Vec<Variant> = details.collect();
        self.why_in = wanted.put_beside(&mut self.summary.detailed, own, &details, main.as_deref());
        self.more_in = other(own.map(str::to_owned), main.as_deref());
        main
    }
}

impl AwaitingClarification {
    /// Puts the question into the person's language where the producer sent that; returns the language of the
    /// question text.
    pub fn put_into(&mut self, own: Option<&str>, wanted: WantedLanguages<'_>) -> Option<String> {
        let main = wanted.put(
            &mut self.question,
            own,
            &std::mem::take(&mut self.questions),
        );
        let contexts = std::mem::take(&mut self.contexts);
        self.why_in = wanted.put_beside(&mut self.context, own, &contexts, main.as_deref());
        for choice in &mut self.choices {
            let labels = std::mem::take(&mut choice.labels);
            let language = wanted.put(&mut choice.label, own, &labels);
            choice.label_in = other(language, main.as_deref());
        }
        self.summary.variants.clear();
        main
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_known_by_a_tag_behind_its_field() {
        for (name, tag) in [
            ("action_de", Some("de")),
            ("action_zh_Hant_TW", Some("zh-Hant-TW")),
            ("action_en-US", Some("en-US")),
            ("action_type", None),
            ("action_", None),
            ("action", None),
            ("actions_de", None),
            ("action_de_x", None),
        ] {
            assert_eq!(tag_of(name, "action").as_deref(), tag, "{name}");
        }
    }

    #[test]
    fn a_language_has_a_direction_and_its_script_goes_before() {
        for (tag, direction) in [
            ("ar-EG", TextDirection::Rtl),
            ("he", TextDirection::Rtl),
            ("en", TextDirection::Ltr),
            ("az-Arab", TextDirection::Rtl),
            ("ur-Latn", TextDirection::Ltr),
        ] {
            assert_eq!(direction_of(tag), direction, "{tag}");
        }
    }
}
