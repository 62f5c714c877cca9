//! Changing how agents are announced during a run: verbosity, load, language.
//!
//! Responsibilities: the immediate effect of a change, the answer to it, and asking every producer with a handshake for
//! it (5.7). Not here: what a verbosity does to an announcement (`announce`), how a producer is asked (`agreement`).
//!
//! # Mental model
//! A key changes the value for all sources. A source whose settings contain a value of its own keeps that, and is named
//! in the answer, so that the person does not wait for a change that never comes. The language is a list, best first: a
//! change rotates it, so that the previous first language is still understood, as the last. Hearken's own words come
//! from the phrase file that suits the new list best, and the answer is the first text from it.
//!
//! # Worked example
//! `v` with a source that is terse by its settings: "Verbosity: detailed. planner keeps terse." `F2` with the languages
//! German and English: "Language: English. Then German."

use std::sync::Arc;

use crate::announce::normalise::Pronunciation;
use crate::announce::{Announcer, Arg, Phrases};
use crate::config::{Load, SourceAnnounce, Verbosity};
use crate::protocol::{Now, fit};

use crate::app::App;

/// How many languages the person's list may grow to by typed additions: more than anyone listens to.
const MOST_LANGUAGES: usize = 16;
/// The longest language tag that is accepted (RFC 5646, 4.4.1).
const LONGEST_TAG: usize = 35;

impl App {
    /// Changes to the next verbosity.
    pub(in crate::app) fn change_verbosity(&mut self, now: Now) {
        let next = match self.cx.announcer.verbosity() {
            Verbosity::Terse => Verbosity::Normal,
            Verbosity::Normal => Verbosity::Detailed,
            Verbosity::Detailed => Verbosity::Terse,
        };
        self.cx.announcer.set_verbosity(next);
        self.change_terms(now);
        let level = |announcer: &Announcer, level| {
            let key = match level {
                Verbosity::Terse => "verbosity.terse",
                Verbosity::Normal => "verbosity.normal",
                Verbosity::Detailed => "verbosity.detailed",
            };
            announcer.phrases().text(key, &[])
        };
        let kept = self.kept(|announcer, own| Some(level(announcer, own.verbosity?)));
        let args = [
            ("level", Arg::Own(level(&self.cx.announcer, next))),
            ("kept", Arg::Own(kept)),
        ];
        self.cx.respond("verbosity", &args, now);
    }

    /// Changes to a load, or to the next one. Streamed text that the old load held back is announced.
    pub(in crate::app) fn change_load(&mut self, to: Option<Load>, now: Now) {
        let next = to.unwrap_or(match self.cx.announcer.settings().load {
            Load::Low => Load::Medium,
            Load::Medium => Load::High,
            Load::High => Load::Low,
        });
        let freed = self.cx.announcer.set_load(next, now, &self.cx.sessions);
        self.change_terms(now);
        let key = match next {
            Load::Low => "load.to_low",
            Load::Medium => "load.to_medium",
            Load::High => "load.to_high",
        };
        let kept = self.kept(|announcer, own| {
            let key = match own.load? {
                Load::Low => "load.low",
                Load::Medium => "load.medium",
                Load::High => "load.high",
            };
            Some(announcer.phrases().text(key, &[]))
        });
        let args = [("kept", Arg::Own(kept)), self.left_out()];
        self.cx.respond(key, &args, now);
        for announcement in freed {
            self.cx.emit(announcement, now);
        }
    }

    /// Changes to a language, or to the person's next one.
    pub(in crate::app) fn change_language(&mut self, to: Option<&str>, now: Now) {
        let mut languages = self.cx.announcer.settings().languages.clone();
        match to.map(tag) {
            Some(None) => {
                let input = crate::announce::speakable::one_line(to.unwrap_or_default());
                let input: String = input.chars().take(LONGEST_TAG).collect();
                return self
                    .cx
                    .respond("language.unknown", &[("input", Arg::Own(input))], now);
            }
            Some(Some(tag)) => {
                languages.retain(|known| !known.eq_ignore_ascii_case(&tag));
                languages.insert(0, tag);
                languages.truncate(MOST_LANGUAGES);
            }
            None if languages.len() < 2 => {
                let key = self.cx.face.pick("language.alone", "language.alone_lines");
                let language = names(self.cx.announcer.phrases(), &languages);
                return self
                    .cx
                    .respond(key, &[("language", Arg::Own(language))], now);
            }
            None => languages.rotate_left(1),
        }
        // The files are built in, and tests ensure that they can be read.
        let phrases = match self.phrases_for(&languages) {
            Some(phrases) => Arc::new(phrases),
            None => Arc::clone(self.cx.announcer.phrases()),
        };
        self.cx.queue.set_phrases(Arc::clone(&phrases));
        self.cx
            .announcer
            .set_languages(languages.clone(), Arc::clone(&phrases));
        // The title contains words.
        self.questions.retitle();
        self.change_terms(now);
        let (first, rest) = languages.split_at(1);
        let own = phrases.language();
        let others = !first.iter().any(|first| fit(first, own).is_some());
        let words = if others {
            names(&phrases, &[own.to_owned()])
        } else {
            String::new()
        };
        let kept =
            self.kept(|announcer, own| Some(names(announcer.phrases(), own.languages.as_deref()?)));
        let args = [
            ("language", Arg::Own(names(&phrases, first))),
            ("rest", Arg::Own(names(&phrases, rest))),
            ("words", Arg::Own(words)),
            ("kept", Arg::Own(kept)),
        ];
        self.cx.respond("language.to", &args, now);
    }

    /// Reads hearken's own words again, with the person's dictionary and keys.
    fn phrases_for(&self, languages: &[String]) -> Option<Phrases> {
        let phrases = Phrases::for_languages(languages).ok()?;
        let phrases = phrases
            .pronouncing(Pronunciation::new(&self.cx.config.pronunciation))
            .keyed(&self.hands.keymap().names());
        // If the run began in another language, the engine's default may speak that one.
        let foreign = self.tuning.tongue().voice.is_some() && phrases.voice_language().is_none();
        let tag = languages
            .iter()
            .find(|tag| fit(tag, phrases.language()).is_some());
        Some(match tag {
            Some(tag) if foreign => phrases.voiced(tag),
            Some(_) | None => phrases,
        })
    }

    /// Returns the sources that keep a value of their own, each with the value; empty if there are none.
    fn kept(&self, own: impl Fn(&Announcer, &SourceAnnounce) -> Option<String>) -> String {
        let kept = self.links.iter().filter(|view| !view.phase.is_over());
        let words: Vec<String> = kept
            .filter_map(|view| {
                let value = own(&self.cx.announcer, self.cx.announcer.source(view.id)?)?;
                let args = [
                    ("source", Arg::Own(view.name.clone())),
                    ("value", Arg::Own(value)),
                ];
                Some(self.cx.announcer.phrases().text("own.keeps", &args))
            })
            .collect();
        words.join(" ")
    }
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

/// Returns languages by name, as far as they have one, with the rest of their tags.
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
    #![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

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
