//! Every sentence that the program says in its own name, from a phrase file.
//!
//! Responsibilities: reading what the build made of the file, and picking a phrase and its level. Not here: inserting
//! arguments into it (`filled_phrase`), which phrase is used when (`announcer`).
//!
//! Mental model: a phrase stays the text that was built in, and is parsed only when it is used: of a thousand, few
//! are used in a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use jiff::Timestamp;

use memchr::memchr;

use crate::config::Verbosity;

pub use super::arg::{Arg, Args};
use super::filled_phrase::Filled;
use super::language;
use super::naming::{answer_of, name_of};
use super::segment::Segment;
use super::spoken_language::Tongue;
use crate::announce::text::normalise::{Pronunciation, Words};
use crate::announce::text::speakable::Lexicon;

// The phrase files, as found by the build: a new language only needs a file in `assets`.
include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// A phrase file as the build digested it (`digest`).
#[derive(Debug)]
pub struct BuiltIn {
    /// The language (BCP 47).
    pub tag: &'static str,
    phrases: &'static str,
    rest: &'static str,
}

impl BuiltIn {
    /// Returns the phrases by their keys.
    fn index(&self) -> PhraseIndex {
        let lines = self.phrases.lines();
        lines.filter_map(|line| line.split_once('\t')).collect()
    }
}

/// What follows the key of each phrase, by the key.
type PhraseIndex = HashMap<&'static str, &'static str, RandomState>;

/// Why a phrase file can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the phrase file can't be read: {}", .0.message())]
pub struct PhraseError(#[from] toml::de::Error);

/// The phrases of one language.
#[derive(Debug, Clone)]
pub struct Phrases {
    tongue: Arc<Tongue>,
    index: Arc<PhraseIndex>,
    /// The names of the person's keys, by their commands; a missing command has its usual key.
    keys: BTreeMap<String, String>,
    help: BTreeMap<String, String>,
    lexicon: Lexicon,
}

/// A phrase at every level.
#[derive(Debug, Clone, Copy)]
struct Leveled {
    normal: &'static str,
    /// The texts of other levels, each preceded by a tab and its letter.
    others: &'static str,
}

impl Leveled {
    /// Parses what follows the key of a phrase.
    fn of(texts: &'static str) -> Self {
        let end = memchr(b'\t', texts.as_bytes()).unwrap_or(texts.len());
        let (normal, others) = texts.split_at(end);
        Self { normal, others }
    }

    /// Returns the text of a level, or else the normal one.
    fn at(self, level: Verbosity) -> &'static str {
        // Most phrases have one text.
        if self.others.is_empty() {
            return self.normal;
        }
        let letter = match level {
            Verbosity::Terse => 't',
            Verbosity::Normal => return self.normal,
            Verbosity::Detailed => 'd',
        };
        let mut others = self.others.split('\t');
        let own = others.find_map(|text| text.strip_prefix(letter));
        own.unwrap_or(self.normal)
    }
}

/// What follows the phrases in a phrase file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rest {
    /// The help's words, by the English ones in the table of keys.
    #[serde(default)]
    help: BTreeMap<String, String>,
    /// The normaliser's words; a file without them has the English ones.
    #[serde(default)]
    words: Words,
}

impl Phrases {
    /// Returns the built-in English phrases.
    ///
    /// # Errors
    /// Never for the built-in file; a test ensures that.
    pub fn english() -> Result<Self, PhraseError> {
        Self::built_in(&BUILT_IN[0])
    }

    /// Returns the built-in phrases that suit the person's languages best (11.1.3); English if none
    /// does.
    ///
    /// # Errors
    /// Never for the built-in files; a test ensures that.
    pub fn for_languages(wanted: &[String]) -> Result<Self, PhraseError> {
        let offered = BUILT_IN.each_ref().map(|file| file.tag);
        let Some((at, tag)) = language::best(wanted, &offered) else {
            return Self::english();
        };
        let file = BUILT_IN.get(at).unwrap_or(&BUILT_IN[0]);
        let phrases = Self::built_in(file)?;
        // English is left to the engine's own default voice, which the person may have chosen with
        // care; any other language must be requested, or it is read with English sounds.
        Ok(if file.tag == "en" {
            phrases
        } else {
            phrases.voiced(tag)
        })
    }

    /// Sets the person's dictionary, which is applied to all spoken words.
    pub fn pronouncing(self, pronunciation: Pronunciation) -> Self {
        Self {
            lexicon: self.lexicon.pronouncing(pronunciation),
            ..self
        }
    }

    /// Sets names of keys that replace the usual ones, by the commands' names; an empty name means that the
    /// command has no key.
    pub fn keyed(self, keys: &BTreeMap<String, String>) -> Self {
        let none = self.text("key.none", &[]);
        let none = none.trim_end_matches('.');
        let called = |key: &String| if key.is_empty() { none } else { key }.to_owned();
        let keys = keys
            .iter()
            .map(|(command, key)| (command.clone(), called(key)));
        Self {
            keys: keys.collect(),
            ..self
        }
    }

    /// Reads a built-in phrase file.
    ///
    /// # Errors
    /// Never; a test ensures that.
    pub fn built_in(file: &'static BuiltIn) -> Result<Self, PhraseError> {
        // English has nothing here: its other words are in the code.
        let rest = match file.rest {
            "" => Rest::default(),
            rest => toml::from_str(rest)?,
        };
        Ok(Self {
            tongue: Arc::new(Tongue {
                language: file.tag.to_owned(),
                voice: None,
            }),
            index: Arc::new(file.index()),
            keys: BTreeMap::new(),
            help: rest.help,
            lexicon: Lexicon::new(rest.words, Pronunciation::default()),
        })
    }

    /// Returns the language of the phrases (BCP 47).
    pub fn language(&self) -> &str {
        &self.tongue.language
    }

    /// Returns the tag for a voice that speaks the program's own words; `None` leaves it to the
    /// engine's default.
    pub fn voice_language(&self) -> Option<&str> {
        self.tongue.voice.as_deref()
    }

    /// Returns the language of the phrases and that of their voice.
    pub fn tongue(&self) -> &Arc<Tongue> {
        &self.tongue
    }

    /// Sets the language of the voice that speaks the phrases.
    pub fn voiced(self, tag: &str) -> Self {
        let tongue = Tongue {
            language: self.tongue.language.clone(),
            voice: Some(tag.to_owned()),
        };
        Self {
            tongue: Arc::new(tongue),
            ..self
        }
    }

    /// Returns the help for a key in the language of the phrases; English help is returned unchanged.
    pub fn help<'a>(&'a self, does: &'a str) -> &'a str {
        self.help.get(does).map_or(does, String::as_str)
    }

    /// Returns a name from the wire in a form that is safe within the program's own words.
    pub fn name_of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        name_of(text, &self.lexicon.words().unnamed)
    }

    /// Returns an agent's name for an answer in a form that is safe within a phrase.
    pub fn answer_of(&self, text: &str) -> String {
        answer_of(text, &self.lexicon.words().unnamed)
    }

    /// Returns the lexicon that turns an agent's text into speech.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    fn find(&self, key: &str) -> Option<Leveled> {
        self.index.get(key).map(|texts| Leveled::of(texts))
    }

    /// Returns whether a key has a phrase.
    pub fn has(&self, key: &str) -> bool {
        self.index.contains_key(key)
    }

    /// Returns a filled-in phrase. A key that is not in the file yields the key itself, so that nothing is
    /// lost silently.
    pub fn say(&self, key: &str, level: Verbosity, args: &Args<'_>) -> Vec<Segment> {
        self.say_at(key, level, args, None)
    }

    /// Returns a phrase as [`Phrases::say`] does; with `now`, moments in an agent's prose are expressed by
    /// their distance from it.
    pub fn say_at(
        &self,
        key: &str,
        level: Verbosity,
        args: &Args<'_>,
        now: Option<Timestamp>,
    ) -> Vec<Segment> {
        match self.find(key) {
            Some(leveled) => self.filled(leveled.at(level), args, now).into_segments(),
            None => vec![Segment::own(key)],
        }
    }

    fn filled(&self, phrase: &str, args: &Args<'_>, now: Option<Timestamp>) -> Filled<'_> {
        let mut filled = Filled::new(&self.lexicon, &self.keys, now);
        filled.fill(phrase, args);
        filled
    }

    /// Returns a filled-in phrase that contains only the program's own words, as plain text.
    pub fn text(&self, key: &str, args: &Args<'_>) -> String {
        let Some(leveled) = self.find(key) else {
            return key.to_owned();
        };
        (self.filled(leveled.at(Verbosity::Normal), args, None)).into_text()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::digest::digest;
    use super::super::segment::{Mark, join, join_spoken};
    use super::super::template::{TemplatePart, parts};
    use super::*;
    use crate::announce::text::speakable::Profile;

    fn phrases(text: &str) -> Phrases {
        let file = digest(&format!("language = \"en\"\n[phrases]\n{text}")).unwrap();
        let file = BuiltIn {
            tag: "en",
            phrases: file.phrases.leak(),
            rest: "",
        };
        Phrases::built_in(Box::leak(Box::new(file))).unwrap()
    }

    #[test]
    fn every_file_that_is_built_in_can_be_read() {
        for file in &BUILT_IN {
            let phrases = Phrases::built_in(file).unwrap();
            assert!(phrases.has("session.started"));
            assert!(!phrases.has("session.startedX") && !phrases.has("") && !phrases.has("\u{a0}"));
        }
        assert_eq!(BUILT_IN[0].rest, "", "English has its words in the code");
    }

    /// Reassembles a phrase from its parts.
    fn again(text: &str) -> String {
        let part = |part| match part {
            TemplatePart::Literal(text) => text.to_owned(),
            TemplatePart::Key { command, key } => format!("{{key:{command}={key}}}"),
            TemplatePart::Typed(text) => format!("{{type:{text}}}"),
            TemplatePart::Arg(name) => format!("{{{name}}}"),
            TemplatePart::Plural { arg, one, many } => format!("{{{arg}#{one}#{many}}}"),
            TemplatePart::Optional(inner) => format!("[{}]", again(inner)),
        };
        parts(text).map(part).collect()
    }

    #[test]
    fn no_letter_of_a_phrase_is_lost() {
        for file in &BUILT_IN {
            let phrases = Phrases::built_in(file).unwrap();
            for line in file.phrases.lines() {
                let (key, texts) = line.split_once('\t').unwrap();
                let leveled = phrases.find(key).unwrap();
                assert_eq!([leveled.normal, leveled.others].concat(), texts, "{key}");
                let levels = [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed];
                for text in levels.map(|level| leveled.at(level)) {
                    assert_eq!(again(text), text, "{} {key}", file.tag);
                    // Malformed text would stay as it is.
                    let has_sign = |part| matches!(part, TemplatePart::Literal(text) if text.contains(['[', ']', '{', '}']));
                    assert!(!parts(text).any(has_sign), "{} {key}", file.tag);
                }
            }
        }
    }

    #[test]
    fn a_sentence_ends_with_a_stop_whatever_the_agents_last_sign_is() {
        let n = ("n", Arg::own(1));
        for file in &BUILT_IN {
            let phrases = Phrases::built_in(file).unwrap();
            for key in ["question.default.response", "quit.default.response"] {
                for (response, end) in [
                    ("Age 65 (standard)", "Age 65 (standard)."),
                    ("Rebate [10 %]", "Rebate [10 %]."),
                    ("20 %", "20 %."),
                    ("As agreed.", "As agreed."),
                    ("Who?", "Who?"),
                    ("Monday", "Monday."),
                ] {
                    let exact = Arg::Exact(response.to_owned(), None);
                    let text = phrases.text(key, &[n.clone(), ("response", exact)]);
                    assert!(text.ends_with(end), "{}: {text}", file.tag);
                }
            }
        }
    }

    #[test]
    fn an_agents_words_at_the_end_of_a_sentence_end_with_its_stop() {
        let n = ("n", Arg::own(1));
        for file in &BUILT_IN {
            let phrases = Phrases::built_in(file).unwrap();
            for (key, name) in [
                ("question.timeout.response", "response"),
                ("question.choice", "label"),
                ("question.default.response", "response"),
            ] {
                for (text, ended) in [
                    ("Age 65 (standard)", "Age 65 (standard)."),
                    ("As agreed.", "As agreed."),
                    ("Who?", "Who?"),
                ] {
                    let args = [n.clone(), (name, Arg::Exact(text.to_owned(), None))];
                    let segments = phrases.say(key, Verbosity::Normal, &args);
                    let last = segments.last().unwrap();
                    assert_eq!(last.text(), ended, "{}: {key}", file.tag);
                    assert_eq!(
                        join(&segments).matches('.').count(),
                        ended.matches('.').count()
                    );
                }
            }
            // What is on rows of its own may be a command, in which a stop means something.
            let args = [n.clone(), ("label", Arg::Command("rm -r build".to_owned()))];
            let segments = phrases.say("question.choice", Verbosity::Normal, &args);
            assert_eq!(segments.last().unwrap().text(), "rm -r build");
            for key in ["reply.answering", "reply.answering.short"] {
                let answer = ("answer", Arg::own("Age 65 (standard)"));
                let text = phrases.text(key, &[n.clone(), answer]);
                assert!(text.ends_with("Age 65 (standard)."), "{}: {text}", file.tag);
            }
        }
    }

    #[test]
    fn a_stop_that_is_there_is_not_said_twice() {
        let phrases = phrases("a = \"Not sent: {reason}. Again?\"");
        for (reason, said) in [
            ("No time.", "Not sent: No time. Again?"),
            ("No time", "Not sent: No time. Again?"),
            ("Really?", "Not sent: Really? Again?"),
        ] {
            assert_eq!(phrases.text("a", &[("reason", Arg::own(reason))]), said);
            let agents = [("reason", Arg::Agent(reason.to_owned(), None))];
            assert_eq!(phrases.text("a", &agents), said);
        }
    }

    #[test]
    fn the_persons_language_picks_the_file() {
        let of = |tags: &[&str]| {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            let phrases = Phrases::for_languages(&tags).unwrap();
            (
                phrases.language().to_owned(),
                phrases.voice_language().map(str::to_owned),
            )
        };
        assert_eq!(of(&["en-GB"]), ("en".into(), None));
        assert_eq!(of(&["de-AT", "en"]), ("de".into(), Some("de-AT".into())));
        assert_eq!(of(&["yo", "de"]), ("de".into(), Some("de".into())));
        assert_eq!(of(&["yo"]), ("en".into(), None), "English when none suits");
    }

    #[test]
    fn german_is_spoken_in_german_words() {
        let german = Phrases::for_languages(&["de".into()]).unwrap();
        let args = [
            ("tool", Arg::Tool("send_email".into())),
            ("summary", Arg::Agent("## Fertig -> `ls | wc`".into(), None)),
        ];
        let said = german.say("tool.success", Verbosity::Normal, &args);
        assert_eq!(
            join_spoken(&said),
            "send email erledigt: Überschrift: Fertig zu ls Leitung wc"
        );
        assert_eq!(
            german.lexicon().spell("Ä?", true),
            "groß Ärger, Fragezeichen"
        );
        assert_eq!(german.help("quit"), "beenden");
    }

    #[test]
    fn formulas_units_and_signs_have_words_in_every_language() {
        for (tag, written, wanted) in [
            (
                "de",
                "$\\frac{a+b}{2}$",
                "Bruch a plus b durch 2 Ende Bruch",
            ),
            (
                "de",
                "Es sind 3 kWh und `x > 0`.",
                "Es sind 3 Kilowattstunden und x größer als 0.",
            ),
            ("de", "- a\n  - b 🟥", "a. Ebene 2: b rotes Quadrat"),
            ("de", "10<sup>6</sup> und x²", "10 hoch 6 und x Quadrat"),
            ("es", "$\\sqrt{x}$", "raíz cuadrada de x"),
            (
                "es",
                "Usa 5 GB a 2 GHz.",
                "Usa 5 gigabytes a 2 gigahercios.",
            ),
            ("es", "- a\n  - b ▲", "a. nivel 2: b triángulo hacia arriba"),
            ("es", "🦩 aquí", "aquí, 1 símbolo omitido"),
        ] {
            let phrases = Phrases::for_languages(&[tag.into()]).unwrap();
            let spoken = phrases.lexicon().speak(written, Profile::Prose, None);
            assert_eq!(spoken, wanted, "{tag}: {written}");
        }
    }

    #[test]
    fn the_persons_dictionary_reaches_every_spoken_word_and_no_shown_one() {
        let dictionary = Pronunciation::new([("nginx", "engine x"), ("started", "begun")]);
        let phrases = Phrases::english().unwrap().pronouncing(dictionary);
        let args = [
            ("agent", Arg::Name("Ops".into())),
            ("summary", Arg::Agent("Restarting nginx".into(), None)),
        ];
        let said = phrases.say("session.started", Verbosity::Normal, &args);
        assert_eq!(join(&said), "Ops started: Restarting nginx");
        assert_eq!(join_spoken(&said), "Ops begun: Restarting engine x");
        let args = [("a", Arg::Exact("kill nginx".into(), None))];
        let exact = super::tests::phrases("q = \"{a}\"");
        let exact = exact.pronouncing(Pronunciation::new([("nginx", "engine x")]));
        assert_eq!(
            join_spoken(&exact.say("q", Verbosity::Normal, &args)),
            "kill engine x"
        );
    }

    #[test]
    fn levels_fall_back_to_normal() {
        let phrases = phrases("a = { terse = \"t\", normal = \"n\" }");
        let say = |level| join(&phrases.say("a", level, &[]));
        assert_eq!(
            (
                say(Verbosity::Terse),
                say(Verbosity::Normal),
                say(Verbosity::Detailed)
            ),
            ("t".into(), "n".into(), "n".into())
        );
    }

    #[test]
    fn the_agents_words_are_segments_of_their_own() {
        let phrases = phrases("a = \"Finished[: {summary}]\"");
        let args = [("summary", Arg::Agent("All {done}[!]".into(), None))];
        let said = phrases.say("a", Verbosity::Normal, &args);
        assert_eq!(
            said.iter().map(|s| (s.mark, s.text())).collect::<Vec<_>>(),
            [(Mark::Own, "Finished:"), (Mark::Agent, "All {done}[!]")]
        );
        assert_eq!(join(&phrases.say("a", Verbosity::Normal, &[])), "Finished");
    }

    #[test]
    fn what_was_just_said_is_not_said_again_by_the_agent() {
        let phrases = phrases(
            "a = \"{tool} done[: {summary}]\"\nb = \"Finished.[ The agent says: {summary}]\"\nc = \"{tool} done: {exact}\"\nd = \"{tool} done in 2 seconds: {summary}\"",
        );
        let say = |key: &str, text: &str| {
            let args = [
                ("tool", Arg::Tool("execute".into())),
                ("summary", Arg::Agent(text.into(), None)),
                ("exact", Arg::Exact(text.into(), None)),
            ];
            let said = phrases.say(key, Verbosity::Normal, &args);
            assert_eq!(join(&said), join_spoken(&said));
            join(&said)
        };
        for (key, text, wanted) in [
            ("a", "Done: npm test", "execute done: npm test"),
            ("a", "done:npm test", "execute done: npm test"),
            ("a", "Execute done: npm test", "execute done: npm test"),
            ("a", "Done.", "execute done"),
            ("a", "Done", "execute done"),
            ("a", "Done. All of it", "execute done: Done. All of it"),
            (
                "a",
                "Done well: npm test",
                "execute done: Done well: npm test",
            ),
            (
                "a",
                "Well done: npm test",
                "execute done: Well done: npm test",
            ),
            (
                "b",
                "The agent says: it is ready",
                "Finished. The agent says: it is ready",
            ),
            ("b", "It is ready", "Finished. The agent says: It is ready"),
            ("d", "Done: npm test", "execute done in 2 seconds: npm test"),
            ("c", "Done: npm test", "execute done: Done: npm test"),
        ] {
            assert_eq!(say(key, text), wanted, "{text}");
        }
    }

    #[test]
    fn numbers_pick_their_word() {
        let phrases = phrases("a = \"{n} {n#is#are}\"");
        assert_eq!(phrases.text("a", &[("n", Arg::own(1))]), "1 is");
        assert_eq!(phrases.text("a", &[("n", Arg::own(12))]), "12 are");
    }
}
