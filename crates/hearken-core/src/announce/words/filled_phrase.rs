//! A phrase with its arguments filled in.
//!
//! Responsibilities: combining the words of a phrase and its arguments, and keeping the program's words and an
//! agent's words apart as [`Segment`]s. Not here: finding the phrase (`phrase`), parsing it (`template`).
//!
//! Mental model: a phrase is a sequence of literals, arguments and optional parts. Literals and the program's
//! own arguments become segments with [`Mark::Own`], an agent's text becomes a separate segment with
//! [`Mark::Agent`], so that a voice can make the speaker audible. Arguments are inserted once: braces inside an
//! agent's text mean nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::arg::{Arg, Args};
use super::naming::{name_of, words_of};
use super::segment::{Mark, Segment, join, stop};
use super::template::{TemplatePart, parts};
use crate::announce::text::speakable::{self, Lexicon, Profile};

/// How many segments most phrases consist of.
const USUAL_SEGMENTS: usize = 2;
/// The longest run of the program's own words in most phrases, in bytes.
const USUAL_WORDS: usize = 64;

/// The most words of a short sentence.
const MOST_SHORT: usize = 8;

/// The arguments after which a sentence may add its stop. Others may be commands, in which a stop means
/// something.
const ENDED: [&str; 2] = ["label", "response"];

/// The filled-in part of a phrase.
pub(super) struct Filled<'a> {
    lexicon: &'a Lexicon,
    keys: &'a BTreeMap<String, String>,
    now: Option<Timestamp>,
    segments: Vec<Segment>,
    own: String,
    /// The spoken form of `own`; `None` while both are the same.
    own_spoken: Option<String>,
    /// Whether the phrase's own stop was left out at the current end.
    stops: bool,
    /// Whether the last argument may be ended with a stop.
    ends: bool,
}

impl<'a> Filled<'a> {
    pub(super) fn new(
        lexicon: &'a Lexicon,
        keys: &'a BTreeMap<String, String>,
        now: Option<Timestamp>,
    ) -> Self {
        Self {
            lexicon,
            keys,
            now,
            segments: Vec::new(),
            own: String::new(),
            own_spoken: None,
            stops: false,
            ends: false,
        }
    }

    fn unnamed(&self) -> &'a str {
        &self.lexicon.words().unnamed
    }

    /// Adds a phrase.
    pub(super) fn fill(&mut self, phrase: &str, args: &Args<'_>) {
        let find = |name: &str| {
            args.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, arg)| arg)
        };
        for part in parts(phrase) {
            match part {
                TemplatePart::Literal(text) => self.literal(text),
                TemplatePart::Key { command, key } => {
                    self.key(self.keys.get(command).map_or(key, String::as_str));
                }
                TemplatePart::Typed(text) => self.key(text),
                TemplatePart::Arg(name) => {
                    self.ends = ENDED.contains(&name);
                    match find(name) {
                        Some(Arg::Own(text)) => self.put(text),
                        Some(Arg::Sounding { text, spoken }) => {
                            self.put_sounding(text, spoken);
                        }
                        Some(Arg::Name(text)) => {
                            self.put(&name_of(text, self.unnamed()));
                        }
                        Some(Arg::Tool(text)) => {
                            self.put(&words_of(text, self.unnamed()));
                        }
                        Some(Arg::Agent(text, language)) => {
                            self.foreign(text, language.clone(), Profile::Prose)
                        }
                        Some(Arg::Exact(text, language)) => {
                            self.foreign(text, language.clone(), Profile::Exact)
                        }
                        Some(Arg::Command(text)) => self.foreign(text, None, Profile::Command),
                        Some(Arg::Inline(text)) => {
                            let shown = self.lexicon.inline(text);
                            let spoken = self.lexicon.speak(text, Profile::Command, None);
                            self.put_sounding(&shown, &spoken);
                        }
                        None => {}
                    }
                }
                TemplatePart::Plural { arg, one, many } => {
                    let is_one = matches!(find(arg), Some(Arg::Own(text)) if text == "1");
                    self.put(if is_one { one } else { many });
                }
                TemplatePart::Optional(inner) => {
                    let whole = |part: TemplatePart<'_>| match part {
                        TemplatePart::Arg(name) => find(name).is_some_and(|arg| !arg.is_empty()),
                        TemplatePart::Literal(_)
                        | TemplatePart::Key { .. }
                        | TemplatePart::Typed(_)
                        | TemplatePart::Plural { .. }
                        | TemplatePart::Optional(_) => true,
                    };
                    if parts(inner).all(whole) {
                        self.fill(inner, args);
                    }
                }
            }
        }
    }

    /// Adds words of the phrase; a stop that the preceding text already has is not repeated.
    fn literal(&mut self, text: &str) {
        let stopped = match (self.own.is_empty(), self.segments.last()) {
            (false, _) => self.own.ends_with(['.', '!', '?', '…', '。', '؟', '।']),
            // Joining adds a stop to a segment without one.
            (true, before) => before.is_some(),
        };
        let rest = text.strip_prefix('.').filter(|_| stopped);
        self.stops = rest.is_some();
        let ends = self.stops && self.ends && self.own.is_empty();
        if let (true, Some(before)) = (ends, self.segments.last_mut()) {
            before.end();
        }
        self.put(rest.unwrap_or(text));
    }

    fn put(&mut self, text: &str) {
        if self.own.capacity() == 0 {
            self.own.reserve(USUAL_WORDS);
        }
        self.own.push_str(text);
        if let Some(spoken) = &mut self.own_spoken {
            spoken.push_str(text);
        }
    }

    fn put_sounding(&mut self, text: &str, spoken: &str) {
        let own = &self.own;
        (self.own_spoken.get_or_insert_with(|| own.clone())).push_str(spoken);
        self.own.push_str(text);
    }

    /// Adds a key, which has its own spoken name.
    fn key(&mut self, key: &str) {
        self.put_sounding(key, &self.lexicon.key(key));
    }

    /// Returns the program's own words since the last segment; empty if optional parts left only stops between two
    /// agents' texts.
    fn own_words(&self) -> &str {
        let text = self.own.trim();
        match text.chars().any(char::is_alphanumeric) {
            true => text,
            false => "",
        }
    }

    fn push(&mut self, segment: Segment) {
        self.stops = false;
        if self.segments.capacity() == 0 {
            self.segments.reserve_exact(USUAL_SEGMENTS);
        }
        self.segments.push(segment);
    }

    fn flush_own(&mut self) {
        let text = self.own_words();
        if !text.is_empty() {
            let spoken = self.own_spoken.as_deref().unwrap_or(&self.own);
            let spoken = self.lexicon.pronounce(spoken.trim());
            let segment = Segment::new(Mark::Own, text, &spoken);
            self.push(segment);
        }
        self.own.clear();
        self.own_spoken = None;
    }

    fn foreign(&mut self, text: &str, language: Option<Arc<str>>, profile: Profile) {
        // A question's text is not shortened.
        let text = match profile {
            Profile::Prose => self.undoubled(text),
            Profile::Exact | Profile::Command => text,
        };
        self.flush_own();
        let shown = match profile {
            Profile::Prose => speakable::one_line(text),
            Profile::Exact => self
                .lexicon
                .name_directions(&self.lexicon.question_text(text))
                .into_owned(),
            Profile::Command => self.lexicon.literal(text),
        };
        if !shown.trim().is_empty() {
            let spoken = self.lexicon.speak(text, profile, self.now);
            let on_rows = profile == Profile::Command || shown.contains('\n');
            let segment = Segment::new(Mark::Agent, shown, &spoken).language(language);
            self.push(if on_rows { segment.on_rows() } else { segment });
        }
    }

    /// Returns an agent's text without the words at its beginning that the program has just said: "execute done:" is
    /// not followed by "Done: npm test".
    fn undoubled<'t>(&mut self, text: &'t str) -> &'t str {
        let Some(said) = self.own.trim_end().strip_suffix(':') else {
            return text;
        };
        let text = text.trim_start();
        let end = text.find([':', '.', '!', '\n']).unwrap_or(text.len());
        let (begin, rest) = text.split_at(end);
        let sign = rest.chars().next();
        if begin.len() > USUAL_WORDS || begin.trim().is_empty() {
            return text;
        }
        let low = |text: &str| -> Vec<String> {
            let words = text.split_whitespace();
            words.map(str::to_lowercase).collect()
        };
        let (said_words, words) = (low(said), low(begin));
        // In a short sentence, these words may also come before a time.
        let doubled = said_words.ends_with(&words)
            || (said_words.len() <= MOST_SHORT
                && said_words.windows(words.len()).any(|it| it == words));
        let rest = rest.trim_start_matches([':', '.', '!']).trim_start();
        if !doubled || (sign != Some(':') && !rest.is_empty()) {
            return text;
        }
        if rest.is_empty() {
            // Nothing is left for the colon to introduce.
            let said = said.len();
            self.own.truncate(said);
            if let Some(spoken) = &mut self.own_spoken {
                spoken.truncate(spoken.trim_end().trim_end_matches(':').len());
            }
        }
        rest
    }

    /// Returns the words, separated by speaker.
    pub(super) fn into_segments(mut self) -> Vec<Segment> {
        self.flush_own();
        self.segments
    }

    /// Returns the words as plain text, regardless of how they sound.
    pub(super) fn into_text(self) -> String {
        match self.segments.is_empty() {
            true => self.own_words().to_owned(),
            false => {
                // After an agent's words at the end, the phrase's own stop was left to joining.
                let stops = self.stops && self.own_words().is_empty();
                let mut line = join(&self.into_segments());
                if stops {
                    stop(&mut line);
                }
                line
            }
        }
    }
}
