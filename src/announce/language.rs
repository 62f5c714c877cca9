//! Which of several languages suits the person (11.1.3, 11.5.1).
//!
//! Responsibilities: comparing BCP 47 tags, picking a summary's text, picking among the program's own
//! phrase files. Not here: which voice speaks a language (`voice`).
//!
//! # Mental model
//! The person's languages are tried one after the other, best first; for each, the closest offer wins
//! by [`Fit`]. Then the producer's own fallback chain is tried the same way, and at last the text
//! comes as it is.
//!
//! # Worked example
//! The person knows `zh-Hant-TW` and `en`. An event in `fr` with variants in `zh` and `en-GB` is heard
//! in `zh` (script fallback); without that variant in `en-GB`; with neither in `fr`.

use crate::protocol::{Level, Summary};

/// Says how close an offered language is to a wanted one, closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// It is the same tag.
    Exact,
    /// It is the wanted one without its region: `en` for `en-US`.
    Region,
    /// It is the wanted one without its script: `zh` for `zh-Hant`.
    Script,
    /// It narrows the wanted one: `en-US` for `en` (11.1.2).
    Narrower,
    /// It is the same language and script of another region: `en-US` for `en-GB`.
    Sibling,
}

/// Holds the parts of a tag that decide, in lower case; variants and extensions are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    language: String,
    script: Option<String>,
    region: Option<String>,
}

impl Parts {
    fn of(tag: &str) -> Self {
        let mut pieces = tag.split(['-', '_']).map(str::to_ascii_lowercase);
        let language = pieces.next().unwrap_or_default();
        let mut parts = Self {
            language,
            script: None,
            region: None,
        };
        for piece in pieces {
            let letters = piece.bytes().all(|b| b.is_ascii_alphabetic());
            let digits = piece.bytes().all(|b| b.is_ascii_digit());
            match piece.len() {
                // A single letter begins an extension, and nothing behind it names a place.
                1 => break,
                4 if letters && parts.script.is_none() => parts.script = Some(piece),
                2 if letters && parts.region.is_none() => parts.region = Some(piece),
                3 if digits && parts.region.is_none() => parts.region = Some(piece),
                _ => {}
            }
        }
        parts
    }

    /// Gives the script that the text is surely in: the stated one, or the one that a region implies
    /// where a language is written in two.
    fn script(&self) -> Option<&str> {
        let implied = match (self.language.as_str(), self.region.as_deref()) {
            ("zh", Some("tw" | "hk" | "mo")) => Some("hant"),
            ("zh", Some("cn" | "sg")) => Some("hans"),
            _ => None,
        };
        self.script.as_deref().or(implied)
    }
}

/// Tells how well an offered tag suits a wanted one, if at all.
pub fn fit(wanted: &str, offered: &str) -> Option<Fit> {
    if wanted.eq_ignore_ascii_case(offered) {
        return Some(Fit::Exact);
    }
    let (want, offer) = (Parts::of(wanted), Parts::of(offered));
    if want.language != offer.language || want.language.is_empty() {
        return None;
    }
    let same_script = match (want.script(), offer.script()) {
        (Some(one), Some(other)) => one == other,
        (Some(_) | None, None) | (None, Some(_)) => true,
    };
    if !same_script {
        return None;
    }
    Some(match (&offer.region, &want.region) {
        (None, _) if offer.script == want.script => Fit::Region,
        (None, _) if offer.script.is_none() => Fit::Script,
        (None, _) | (Some(_), None) => Fit::Narrower,
        (Some(one), Some(other)) if one == other => Fit::Exact,
        (Some(_), Some(_)) => Fit::Sibling,
    })
}

/// Finds the best offer for the person's languages, best first; gives its place and the wanted tag.
pub fn best<'w>(wanted: &'w [String], offered: &[&str]) -> Option<(usize, &'w str)> {
    wanted.iter().find_map(|wanted| {
        let fits = offered
            .iter()
            .enumerate()
            .filter_map(|(at, offered)| Some((fit(wanted, offered)?, at)));
        fits.min().map(|(_, at)| (at, wanted.as_str()))
    })
}

/// Picks the text of a summary and its language.
///
/// A variant at another level beats a text in a language that the person does not know, and of equal
/// fit the wanted level wins.
pub(super) fn pick<'a>(
    summary: &'a Summary,
    level: Level,
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
    fn each_rule_of_the_protocol_in_its_order() {
        for (wanted, offered, how) in [
            ("en-US", "en-US", Some(Fit::Exact)),
            ("en-us", "EN-US", Some(Fit::Exact)),
            ("en_US", "en-US", Some(Fit::Exact)),
            ("en-US", "en", Some(Fit::Region)),
            ("zh-Hant-TW", "zh-Hant", Some(Fit::Region)),
            ("zh-Hant", "zh", Some(Fit::Script)),
            ("zh-Hant-TW", "zh", Some(Fit::Script)),
            ("en", "en-US", Some(Fit::Narrower)),
            ("sr", "sr-Latn", Some(Fit::Narrower)),
            ("en-GB", "en-US", Some(Fit::Sibling)),
            ("es-MX", "es-419", Some(Fit::Sibling)),
            ("zh-Hant", "zh-Hans", None),
            ("zh-TW", "zh-Hans", None),
            ("zh-TW", "zh-CN", None),
            ("zh-TW", "zh-Hant-HK", Some(Fit::Sibling)),
            ("sr-Cyrl", "sr-Latn-RS", None),
            ("de", "en", None),
            ("", "", Some(Fit::Exact)),
            ("", "en", None),
            ("en-US-x-twain", "en-US", Some(Fit::Exact)),
        ] {
            assert_eq!(fit(wanted, offered), how, "{wanted} {offered}");
        }
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
                (Level::Normal, "yo".into(), "Bawo".into()),
                (Level::Terse, "de".into(), "Hallo".into()),
                (Level::Normal, "zh".into(), "你好".into()),
                (Level::Terse, "zh-TW".into(), "短".into()),
            ],
            ..Summary::default()
        };
        let pick = |wanted: &[&str], chain: &[&str]| {
            let own = Some("en-US");
            super::pick(&summary, Level::Normal, own, &tags(wanted), &tags(chain))
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
            variants: vec![(Level::Normal, "yo".into(), "Bawo".into())],
            ..Summary::default()
        };
        let pick = |summary: &Summary, wanted: &str| {
            super::pick(summary, Level::Normal, None, &tags(&[wanted]), &[])
                .map(|(text, _)| text.to_owned())
        };
        assert_eq!(pick(&summary, "en").as_deref(), Some("Hello"));
        assert_eq!(pick(&summary, "yo").as_deref(), Some("Bawo"));
        summary.normal = None;
        assert_eq!(pick(&summary, "en").as_deref(), Some("Bawo"));
    }
}
