//! Spelling a word of the announcement under review, or all of it.
//!
//! Responsibilities: stepping from word to word, choosing one by its number or a part of it, spelling it or the
//! whole text, first by letters, then by the spelling alphabet. Not here: the names of letters and signs
//! (`announce::normalise`).
//!
//! A chosen word stays chosen as long as the same announcement is under review: reviewing another, or repeating
//! the whole, cancels the choice, and then the whole text is spelled.

use std::sync::Arc;

use crate::announce::speakable::{Lexicon, Profile, one_line};
use crate::announce::{Announcement, Arg, Mark, Segment};
use crate::config::Verbosity;

use super::Review;
use super::spelling_state::Alphabet;
use crate::app::AppCx;

/// The direction from word to word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum WordStep {
    /// To the previous one.
    Back,
    /// To the next one.
    Forward,
}

impl Review {
    /// Chooses the previous or the next word of the announcement under review, and reads it.
    pub(in crate::app) fn step_word(&mut self, way: WordStep, cx: &mut AppCx) {
        let Some(told) = self.reviewed_announcement(cx) else {
            cx.respond("history.empty", &[]);
            return;
        };
        let text = told.text();
        let words: Vec<&str> = Lexicon::spellable(&text).collect();
        let next = match (way, self.spelling().word_of(&told)) {
            (WordStep::Forward, None) => Some(0),
            (WordStep::Forward, Some(at)) => Some(at + 1),
            (WordStep::Back, None) => words.len().checked_sub(1),
            (WordStep::Back, Some(at)) => at.checked_sub(1),
        };
        match next.and_then(|at| Some((at, *words.get(at)?))) {
            Some((at, word)) => {
                self.choose_word(&told, at);
                let mut segments = vec![words_of_text(&told, word, cx)];
                if cx.announcer.verbosity() == Verbosity::Detailed {
                    let args = [("n", Arg::own(at + 1)), ("all", Arg::own(words.len()))];
                    let place = cx.phrases().text("spell.place", &args);
                    segments.push(Segment::own(place));
                }
                cx.answer_aside(segments);
            }
            None => {
                let key = match way {
                    _ if words.is_empty() => "spell.no_word",
                    WordStep::Back => "spell.first_word",
                    WordStep::Forward => "spell.last_word",
                };
                cx.respond(key, &[]);
            }
        }
    }

    /// Spells the chosen word, or the whole announcement under review; the second time with the spelling alphabet. A
    /// choice is a word's number, or else a part of it.
    pub(in crate::app) fn spell(&mut self, choice: Option<&str>, cx: &mut AppCx) {
        let Some(told) = self.reviewed_announcement(cx) else {
            cx.respond("history.empty", &[]);
            return;
        };
        let text = told.text();
        if let Some(choice) = choice {
            let Some(at) = find(&text, choice) else {
                let args = [("text", Arg::Name(one_line(choice)))];
                cx.respond("spell.not_there", &args);
                return;
            };
            self.choose_word(&told, at);
        }
        let word = self.spelling().word_of(&told);
        let meant = word
            .and_then(|at| Lexicon::spellable(&text).nth(at))
            .unwrap_or(&text);
        let phonetic = self.spelling_mut().turn(told.id, word) == Alphabet::Phonetic;
        let spoken = cx.phrases().lexicon().spell(meant, phonetic);
        let segment = Segment::own(spoken).language(told.language().map(Arc::from));
        cx.answer_aside(vec![segment]);
    }

    /// Chooses a word. Its announcement is under review from now on, so that incoming news doesn't replace it.
    fn choose_word(&mut self, told: &Announcement, at: usize) {
        self.look_at(told.id);
        self.spelling_mut().choose(Some((told.id, at)));
    }
}

/// Returns the index of a word by its number, counted from 1, or else of the first one that contains a text.
fn find(text: &str, choice: &str) -> Option<usize> {
    let numbered = choice
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1))
        .filter(|at| Lexicon::spellable(text).nth(*at).is_some());
    numbered.or_else(|| {
        let choice = choice.to_lowercase();
        Lexicon::spellable(text).position(|word| word.to_lowercase().contains(&choice))
    })
}

/// Returns a part of an announcement for speech: its every character is named, in its language.
fn words_of_text(told: &Announcement, word: &str, cx: &AppCx) -> Segment {
    let own = told
        .segments
        .iter()
        .all(|segment| segment.mark == Mark::Own);
    let spoken = cx.phrases().lexicon().speak(word, Profile::Exact, None);
    Segment::new(
        if own { Mark::Own } else { Mark::Agent },
        one_line(word),
        &spoken,
    )
    .language(told.language().map(Arc::from))
}
