//! Which of several languages suits the person best (11.1.3, 11.5.1).
//!
//! Responsibilities: picking a summary's text, picking among the program's own phrase files. Not here: how close
//! two tags are (`protocol`), which voice speaks a language (`voice`).
//!
//! # Mental model
//! The person's languages are tried in turn, best first; for each, the closest offer wins by
//! [`LanguageMatch`](crate::protocol::LanguageMatch). Then the producer's own fallback chain is tried the same way, and
//! finally the text itself is used.
//!
//! # Worked example
//! The person knows `zh-Hant-TW` and `en`. An event in `fr` with variants in `zh` and `en-GB` is heard
//! in `zh` (script fallback); without that variant, in `en-GB`; with neither, in `fr`.

use crate::protocol::{Summary, SummaryLevel, fit};

/// Returns the place of the best offer for the person's languages, best first, and the tag that it satisfies.
pub fn best<'w>(wanted: &'w [String], offered: &[&str]) -> Option<(usize, &'w str)> {
    wanted.iter().find_map(|wanted| {
        let fits = offered
            .iter()
            .enumerate()
            .filter_map(|(at, offered)| Some((fit(wanted, offered)?, at)));
        fits.min().map(|(_, at)| (at, wanted.as_str()))
    })
}

/// Returns the text of a summary that suits the person best, and its language.
///
/// A variant at another level beats a text in a language that the person does not know, and among equal
/// fits the wanted level wins.
pub fn pick<'a>(
    summary: &'a Summary,
    level: SummaryLevel,
    own: Option<&'a str>,
    wanted: &[String],
    fallbacks: &[String],
) -> Option<(&'a str, Option<&'a str>)> {
    let base = summary.pick(level);
    let of = |wanted: &String| {
        let own_fit = own
            .zip(base)
            .and_then(|(own, text)| Some((fit(wanted, own)?, false, text, own)));
        let variants = summary.variants.iter().filter_map(|(at, tag, text)| {
            Some((fit(wanted, tag)?, *at != level, text.as_str(), tag.as_str()))
        });
        own_fit
            .into_iter()
            .chain(variants)
            .min_by_key(|(fit, other_level, ..)| (*fit, *other_level))
            .map(|(_, _, text, tag)| (text, Some(tag)))
    };
    wanted
        .iter()
        .chain(fallbacks)
        .find_map(of)
        .or_else(|| base.map(|text| (text, own)))
        .or_else(|| {
            let (_, tag, text) = summary.variants.first()?;
            Some((text, Some(tag)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(list: &[&str]) -> Vec<String> {
        list.iter().map(|tag| (*tag).to_owned()).collect()
    }

    #[test]
    fn the_persons_chain_goes_before_a_closer_fit_of_a_later_language() {
        let offered = ["fr-FR", "en", "yo", "en-GB"];
        assert_eq!(
            best(&tags(&["yo-NG", "en-GB"]), &offered),
            Some((2, "yo-NG"))
        );
        assert_eq!(best(&tags(&["ha", "en-GB"]), &offered), Some((3, "en-GB")));
        assert_eq!(best(&tags(&["en-US"]), &offered), Some((1, "en-US")));
        assert_eq!(best(&tags(&["ig"]), &offered), None);
    }

    #[test]
    fn the_persons_language_is_found_among_the_variants() {
        let summary = Summary {
            normal: Some("Hello".into()),
            variants: vec![
                (SummaryLevel::Normal, "yo".into(), "Bawo".into()),
                (SummaryLevel::Terse, "de".into(), "Hallo".into()),
                (SummaryLevel::Normal, "zh".into(), "你好".into()),
                (SummaryLevel::Terse, "zh-TW".into(), "短".into()),
            ],
            ..Summary::default()
        };
        let pick = |wanted: &[&str], chain: &[&str]| {
            let own = Some("en-US");
            super::pick(
                &summary,
                SummaryLevel::Normal,
                own,
                &tags(wanted),
                &tags(chain),
            )
        };
        assert_eq!(pick(&["en-GB"], &[]), Some(("Hello", Some("en-US"))));
        assert_eq!(pick(&["yo-NG", "en"], &[]), Some(("Bawo", Some("yo"))));
        assert_eq!(
            pick(&["de-AT"], &[]),
            Some(("Hallo", Some("de"))),
            "another level is better than another language"
        );
        assert_eq!(pick(&["zh-Hant", "en"], &[]), Some(("你好", Some("zh"))));
        assert_eq!(pick(&["zh-TW"], &[]), Some(("短", Some("zh-TW"))));
        assert_eq!(pick(&["fr"], &["de", "yo"]), Some(("Hallo", Some("de"))));
        assert_eq!(pick(&["fr"], &["pt"]), Some(("Hello", Some("en-US"))));
    }

    #[test]
    fn a_text_without_a_language_is_used_when_nothing_better_is_known() {
        let mut summary = Summary {
            normal: Some("Hello".into()),
            variants: vec![(SummaryLevel::Normal, "yo".into(), "Bawo".into())],
            ..Summary::default()
        };
        let pick = |summary: &Summary, wanted: &str| {
            super::pick(summary, SummaryLevel::Normal, None, &tags(&[wanted]), &[])
                .map(|(text, _)| text.to_owned())
        };
        assert_eq!(pick(&summary, "en").as_deref(), Some("Hello"));
        assert_eq!(pick(&summary, "yo").as_deref(), Some("Bawo"));
        summary.normal = None;
        assert_eq!(pick(&summary, "en").as_deref(), Some("Bawo"));
    }
}
