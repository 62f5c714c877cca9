//! Changing how agents are announced during a run: verbosity, load, language.
//!
//! Responsibilities: the immediate effect of a change, the response to it, and requesting it from every
//! producer with a handshake (5.7). Not here: what a verbosity does to an announcement (`announce`), how a
//! producer is asked (`agreement`).
//!
//! # Mental model
//! A key changes the value for all sources. A source whose settings have their own value keeps it, and is named
//! in the response, so that the person does not wait for a change that never comes. The languages are a list,
//! best first: a change rotates it, so that the previous first language stays on it, as the last. Hearken's own
//! words come from the phrase file that suits the new list best; the response is the first text from it.
//!
//! # Worked example
//! `v` with a source that is terse by its settings: "Verbosity: detailed. planner keeps terse." `F2` with the languages
//! German and English: "Language: English. Then German."

use std::sync::Arc;

use crate::announce::normalise::Pronunciation;
use crate::announce::{Announcement, Announcer, Arg, Phrases};
use crate::config::{Load, SourceAnnounce, Verbosity};
use crate::keys::Keymap;
use crate::protocol::fit;

use super::Tuning;
use crate::app::{AppCx, Links};

/// How many languages the person's list may grow to by typed additions: more than anyone listens to.
const MOST_LANGUAGES: usize = 16;
/// The longest language tag that is accepted (RFC 5646, 4.4.1).
const LONGEST_TAG: usize = 35;

impl Tuning {
    /// Changes to the next verbosity.
    pub(in crate::app) fn next_verbosity(&self, cx: &mut AppCx) {
        let next = match cx.announcer.verbosity() {
            Verbosity::Terse => Verbosity::Normal,
            Verbosity::Normal => Verbosity::Detailed,
            Verbosity::Detailed => Verbosity::Terse,
        };
        cx.announcer.set_verbosity(next);
    }

    /// Announces the verbosity, and which sources keep their own.
    pub(in crate::app) fn tell_verbosity(&self, links: &Links, cx: &mut AppCx) {
        let level = |announcer: &Announcer, level| {
            let key = match level {
                Verbosity::Terse => "verbosity.terse",
                Verbosity::Normal => "verbosity.normal",
                Verbosity::Detailed => "verbosity.detailed",
            };
            announcer.phrases().text(key, &[])
        };
        let kept = kept_in(
            links,
            |announcer, own| Some(level(announcer, own.verbosity?)),
            cx,
        );
        let args = [
            (
                "level",
                Arg::Own(level(&cx.announcer, cx.announcer.verbosity())),
            ),
            ("kept", Arg::Own(kept)),
        ];
        cx.respond("verbosity", &args);
    }

    /// Changes to a load, or to the next one, and returns the streamed text that the old load held back.
    pub(in crate::app) fn set_load(
        &self,
        to: Option<Load>,
        cx: &mut AppCx,
    ) -> Vec<Arc<Announcement>> {
        let next = to.unwrap_or(match cx.announcer.settings().load {
            Load::Low => Load::Medium,
            Load::Medium => Load::High,
            Load::High => Load::Low,
        });
        let sessions = &cx.sessions;
        cx.announcer.set_load(next, cx.now, sessions).into_vec()
    }

    /// Announces the load, which sources keep their own, and what the old load held back.
    pub(in crate::app) fn tell_load(
        &self,
        freed: Vec<Arc<Announcement>>,
        links: &Links,
        cx: &mut AppCx,
    ) {
        let key = match cx.announcer.settings().load {
            Load::Low => "load.to_low",
            Load::Medium => "load.to_medium",
            Load::High => "load.to_high",
        };
        let kept = kept_in(
            links,
            |announcer, own| {
                let key = match own.load? {
                    Load::Low => "load.low",
                    Load::Medium => "load.medium",
                    Load::High => "load.high",
                };
                Some(announcer.phrases().text(key, &[]))
            },
            cx,
        );
        let args = [("kept", Arg::Own(kept)), self.left_out(cx)];
        cx.respond(key, &args);
        for announcement in freed {
            cx.emit(announcement);
        }
    }

    /// Changes to a language, or to the person's next one; returns whether there is one.
    pub(in crate::app) fn set_language(
        &self,
        to: Option<&str>,
        keymap: &Keymap,
        cx: &mut AppCx,
    ) -> bool {
        let mut languages = cx.announcer.settings().languages.clone();
        match to.map(tag) {
            Some(None) => {
                let input = crate::announce::speakable::one_line(to.unwrap_or_default());
                let input: String = input.chars().take(LONGEST_TAG).collect();
                cx.respond("language.unknown", &[("input", Arg::Own(input))]);
                return false;
            }
            Some(Some(tag)) => {
                languages.retain(|known| !known.eq_ignore_ascii_case(&tag));
                languages.insert(0, tag);
                languages.truncate(MOST_LANGUAGES);
            }
            None if languages.len() < 2 => {
                let key = cx.face.pick("language.alone", "language.alone_lines");
                let language = names(cx.phrases(), &languages);
                cx.respond(key, &[("language", Arg::Own(language))]);
                return false;
            }
            None => languages.rotate_left(1),
        }
        // The files are built in, and tests ensure that they can be read.
        let phrases = match self.phrases_for(&languages, keymap, cx) {
            Some(phrases) => Arc::new(phrases),
            None => Arc::clone(cx.phrases()),
        };
        cx.queue.set_phrases(Arc::clone(&phrases));
        cx.announcer
            .set_languages(languages.clone(), Arc::clone(&phrases));
        true
    }

    /// Announces the languages, and which sources keep their own.
    pub(in crate::app) fn tell_language(&self, links: &Links, cx: &mut AppCx) {
        let languages = &cx.announcer.settings().languages;
        let phrases = cx.phrases();
        let (first, rest) = languages.split_at(1);
        let own = phrases.language();
        let others = !first.iter().any(|first| fit(first, own).is_some());
        let words = if others {
            names(phrases, &[own.to_owned()])
        } else {
            String::new()
        };
        let kept = kept_in(
            links,
            |announcer, own| Some(names(announcer.phrases(), own.languages.as_deref()?)),
            cx,
        );
        let args = [
            ("language", Arg::Own(names(phrases, first))),
            ("rest", Arg::Own(names(phrases, rest))),
            ("words", Arg::Own(words)),
            ("kept", Arg::Own(kept)),
        ];
        cx.respond("language.to", &args);
    }

    /// Reads hearken's own words again, with the person's dictionary and keys.
    fn phrases_for(&self, languages: &[String], keymap: &Keymap, cx: &AppCx) -> Option<Phrases> {
        let phrases = Phrases::for_languages(languages).ok()?;
        let phrases = phrases
            .pronouncing(Pronunciation::new(&cx.config.pronunciation))
            .keyed(&keymap.names());
        let phrases = match cx.phrases().is_scanned() {
            true => phrases.scanned(),
            false => phrases,
        };
        // If the run began in another language, the engine's default may speak that one.
        let foreign = self.tongue().voice.is_some() && phrases.voice_language().is_none();
        let tag = languages
            .iter()
            .find(|tag| fit(tag, phrases.language()).is_some());
        Some(match tag {
            Some(tag) if foreign => phrases.voiced(tag),
            Some(_) | None => phrases,
        })
    }
}

/// Returns the sources that keep their own value, each with the value; empty if there are none.
fn kept_in(
    links: &Links,
    own: impl Fn(&Announcer, &SourceAnnounce) -> Option<String>,
    cx: &AppCx,
) -> String {
    let kept = links.iter().filter(|view| !view.phase.is_over());
    let words: Vec<String> = kept
        .filter_map(|view| {
            let value = own(&cx.announcer, cx.announcer.source(view.id)?)?;
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("value", Arg::Own(value)),
            ];
            Some(cx.phrases().text("own.keeps", &args))
        })
        .collect();
    words.join(" ")
}

/// Parses a language tag (RFC 5646): a language of two or three letters, then parts of up to eight letters or digits.
fn tag(text: &str) -> Option<String> {
    let text = text.replace('_', "-");
    let mut parts = text.split('-');
    let language = parts.next()?;
    let letters = language.chars().all(|c| c.is_ascii_alphabetic());
    let fits = letters
        && (2..=3).contains(&language.len())
        && text.len() <= LONGEST_TAG
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric())
        });
    fits.then_some(text)
}

/// Returns languages by their names, if they have any, with the rest of their tags.
fn names(phrases: &Phrases, tags: &[String]) -> String {
    let name = |tag: &String| {
        let (language, rest) = tag.split_once(['-', '_']).unwrap_or((tag, ""));
        let key = match language.to_ascii_lowercase().as_str() {
            "ar" => "language.name.ar",
            "de" => "language.name.de",
            "en" => "language.name.en",
            "es" => "language.name.es",
            "fr" => "language.name.fr",
            "he" => "language.name.he",
            "it" => "language.name.it",
            "ja" => "language.name.ja",
            "nl" => "language.name.nl",
            "pl" => "language.name.pl",
            "pt" => "language.name.pt",
            "ru" => "language.name.ru",
            "tr" => "language.name.tr",
            "uk" => "language.name.uk",
            "zh" => "language.name.zh",
            _ => return tag.clone(),
        };
        let name = phrases.text(key, &[]);
        if rest.is_empty() {
            name
        } else {
            format!("{name} {rest}")
        }
    };
    tags.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_told_from_other_words() {
        for (text, read) in [
            ("de", Some("de")),
            ("en_GB", Some("en-GB")),
            ("zh-Hant-TW", Some("zh-Hant-TW")),
            ("es-419", Some("es-419")),
            ("yue", Some("yue")),
            ("d", None),
            ("German", None),
            ("12", None),
            ("de-", None),
            ("de en", None),
            ("de-toolongpart", None),
            ("de\u{1b}[2J", None),
            ("de-aaaaaaaa-bbbbbbbb-cccccccc-dddddddd", None),
        ] {
            assert_eq!(tag(text).as_deref(), read, "{text:?}");
        }
    }

    #[test]
    fn languages_have_names_in_each_language() {
        let tags: Vec<String> = ["de", "en-US", "EO"].map(str::to_owned).to_vec();
        let english = Phrases::english().unwrap();
        assert_eq!(names(&english, &tags), "German, English US, EO");
        let german = Phrases::for_languages(&["de".into()]).unwrap();
        assert_eq!(names(&german, &tags), "Deutsch, Englisch US, EO");
    }
}
