//! Which of an event's texts is in a language that the person knows (11.1.3, 11.5.1).

use crate::protocol::{Level, Summary};

/// Picks the text of a summary and its language.
///
/// The order: the person's languages, best first, each exactly, then by its base language, among the
/// event's own language and its variants; where none fits, the event's own text as it is. A variant
/// at another level beats a text in a language that the person does not know.
pub(super) fn pick<'a>(
    summary: &'a Summary,
    level: Level,
    own: Option<&'a str>,
    wanted: &[String],
) -> Option<(&'a str, Option<&'a str>)> {
    for language in wanted {
        if own.is_some_and(|own| matches(own, language)) {
            break;
        }
        let fitting = |(_, tag, _): &&(Level, String, String)| matches(tag, language);
        let at_level = summary
            .variants
            .iter()
            .filter(fitting)
            .find(|(at, _, _)| *at == level);
        if let Some((_, tag, text)) = at_level.or_else(|| summary.variants.iter().find(fitting)) {
            return Some((text, Some(tag)));
        }
    }
    summary.pick(level).map(|text| (text, own))
}

/// Tells whether two tags name the same language, exactly or by their base language.
pub(super) fn matches(a: &str, b: &str) -> bool {
    let base = |tag: &str| {
        tag.split(['-', '_'])
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    a.eq_ignore_ascii_case(b) || base(a) == base(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_language_is_found_among_the_variants() {
        let summary = Summary {
            normal: Some("Hello".into()),
            variants: vec![
                (Level::Normal, "yo".into(), "Bawo".into()),
                (Level::Terse, "de".into(), "Hallo".into()),
            ],
            ..Summary::default()
        };
        let pick = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|tag| (*tag).to_owned()).collect();
            super::pick(&summary, Level::Normal, Some("en-US"), &wanted).map(|(text, _)| text)
        };
        assert_eq!(pick(&["en-GB"]), Some("Hello"));
        assert_eq!(pick(&["yo-NG", "en"]), Some("Bawo"));
        assert_eq!(
            pick(&["de-AT"]),
            Some("Hallo"),
            "another level is better than another language"
        );
        assert_eq!(pick(&["fr"]), Some("Hello"));
    }
}
