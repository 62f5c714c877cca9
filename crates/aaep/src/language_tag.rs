//! Language tags and how close two of them are (BCP 47, 11.1.2 and 11.1.3), a text in one language, and direction
//! marks.
//!
//! Responsibilities: comparing tags by the chapter's rules; recognising direction marks. Not here: whose
//! languages are compared (`announce`, `manifest`).

/// Returns whether a character only sets the direction of its neighbours: the marks and isolates that right-to-left
/// prose needs (UAX #9). Embeddings and overrides do not count: no honest text needs them.
pub fn is_direction_sign(c: char) -> bool {
    matches!(
        c,
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2066}'..='\u{2069}'
    )
}

/// One text in another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its language (BCP 47).
    pub language: String,
    /// The text.
    pub text: String,
}

/// The direction in which a text runs (11.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextDirection {
    /// Left to right.
    Ltr,
    /// Right to left.
    Rtl,
    /// As the text itself determines.
    Auto,
}

/// How close an offered language is to a wanted one, closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LanguageMatch {
    /// It is the same tag.
    Exact,
    /// It is the wanted one without its region: `en` for `en-US`.
    Region,
    /// It is the wanted one without its script: `zh` for `zh-Hant`.
    Script,
    /// It narrows the wanted one: `en-US` for `en` (11.1.2).
    Narrower,
    /// It has the same language and script in another region: `en-US` for `en-GB`.
    Sibling,
}

/// The parts of a tag that matter, in lower case; variants and extensions are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TagParts {
    language: String,
    script: Option<String>,
    region: Option<String>,
}

impl TagParts {
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
                // A single letter begins an extension, and nothing after it names a region.
                1 => break,
                4 if letters && parts.script.is_none() => parts.script = Some(piece),
                2 if letters && parts.region.is_none() => parts.region = Some(piece),
                3 if digits && parts.region.is_none() => parts.region = Some(piece),
                _ => {}
            }
        }
        parts
    }

    /// Returns the script, if it is certain: the stated one or, for a language with two scripts, the one
    /// implied by the region.
    fn script(&self) -> Option<&str> {
        let implied = match (self.language.as_str(), self.region.as_deref()) {
            ("zh", Some("tw" | "hk" | "mo")) => Some("hant"),
            ("zh", Some("cn" | "sg")) => Some("hans"),
            _ => None,
        };
        self.script.as_deref().or(implied)
    }
}

/// Returns how well an offered tag suits a wanted one, if at all.
pub fn fit(wanted: &str, offered: &str) -> Option<LanguageMatch> {
    if wanted.eq_ignore_ascii_case(offered) {
        return Some(LanguageMatch::Exact);
    }
    let (want, offer) = (TagParts::of(wanted), TagParts::of(offered));
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
        (None, _) if offer.script == want.script => LanguageMatch::Region,
        (None, _) if offer.script.is_none() => LanguageMatch::Script,
        (None, _) | (Some(_), None) => LanguageMatch::Narrower,
        (Some(one), Some(other)) if one == other => LanguageMatch::Exact,
        (Some(_), Some(_)) => LanguageMatch::Sibling,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_of_the_protocol_in_its_order() {
        for (wanted, offered, how) in [
            ("en-US", "en-US", Some(LanguageMatch::Exact)),
            ("en-us", "EN-US", Some(LanguageMatch::Exact)),
            ("en_US", "en-US", Some(LanguageMatch::Exact)),
            ("en-US", "en", Some(LanguageMatch::Region)),
            ("zh-Hant-TW", "zh-Hant", Some(LanguageMatch::Region)),
            ("zh-Hant", "zh", Some(LanguageMatch::Script)),
            ("zh-Hant-TW", "zh", Some(LanguageMatch::Script)),
            ("en", "en-US", Some(LanguageMatch::Narrower)),
            ("sr", "sr-Latn", Some(LanguageMatch::Narrower)),
            ("en-GB", "en-US", Some(LanguageMatch::Sibling)),
            ("es-MX", "es-419", Some(LanguageMatch::Sibling)),
            ("zh-Hant", "zh-Hans", None),
            ("zh-TW", "zh-Hans", None),
            ("zh-TW", "zh-CN", None),
            ("zh-TW", "zh-Hant-HK", Some(LanguageMatch::Sibling)),
            ("sr-Cyrl", "sr-Latn-RS", None),
            ("de", "en", None),
            ("", "", Some(LanguageMatch::Exact)),
            ("", "en", None),
            ("en-US-x-twain", "en-US", Some(LanguageMatch::Exact)),
        ] {
            assert_eq!(fit(wanted, offered), how, "{wanted} {offered}");
        }
    }
}
