//! The pieces of an announcement, each with one speaker and one language, and how they form a line.

use std::sync::Arc;

use serde::Serialize;

/// Whose words an utterance contains, so that an agent can never speak in the program's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The program's own words; an engine gives them a pitch that an agent's text never has.
    Own,
    /// Text that an agent wrote.
    Agent,
}

/// A piece of an announcement that has one speaker and one language.
///
/// Thousands are kept for hours, and most are spoken and shown as they were written: forms that differ are
/// stored after the text, in the same allocation.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Whose words they are.
    pub mark: Mark,
    /// Whether they only say how to answer a question, which counts as heard once everything before them was spoken.
    pub ways: bool,
    /// The language, if it is known and not the program's own.
    pub language: Option<Arc<str>>,
    /// Whether it is shown on separate rows, with no stop added after it.
    on_rows: bool,
    /// Whether it names what follows, such as a numbered choice.
    names_next: bool,
    words: Box<str>,
    text: SegmentRange,
    shown: SegmentRange,
    spoken: SegmentRange,
}

/// A range of bytes in a segment's words.
#[derive(Debug, Clone, Copy)]
struct SegmentRange {
    from: u32,
    to: u32,
}

impl SegmentRange {
    /// Creates the range between two places. An event is limited to a few megabytes, so both fit.
    fn between(from: usize, to: usize) -> Self {
        let place = |place| u32::try_from(place).unwrap_or(u32::MAX);
        Self {
            from: place(from),
            to: place(to),
        }
    }

    /// Returns the range of the wanted words: the beginning of `text` if it starts with them, or else newly
    /// appended bytes.
    fn of(wanted: &str, text: Self, words: &mut String) -> Self {
        let begin = text.of_words(words).get(..wanted.len());
        match begin == Some(wanted) {
            true => Self::between(0, wanted.len()),
            false => {
                let from = words.len();
                words.push_str(wanted);
                Self::between(from, words.len())
            }
        }
    }

    fn of_words(self, words: &str) -> &str {
        let place = |place| usize::try_from(place).unwrap_or(usize::MAX);
        (words.get(place(self.from)..place(self.to))).unwrap_or_default()
    }
}

impl PartialEq for Segment {
    fn eq(&self, other: &Self) -> bool {
        // Segments with the same words are equal, wherever the words are stored.
        (self.mark, self.ways) == (other.mark, other.ways)
            && self.language == other.language
            && self.text() == other.text()
            && self.shown() == other.shown()
            && self.spoken() == other.spoken()
    }
}

impl Eq for Segment {}

impl Segment {
    /// Creates a segment from the words of the source, cleaned of hostile characters, and from their spoken form,
    /// which is empty if there is nothing to say. The words are shown as written, in the program's own language.
    pub fn new(mark: Mark, text: impl Into<String>, spoken: &str) -> Self {
        let mut words = text.into();
        let text = SegmentRange::between(0, words.len());
        let spoken = SegmentRange::of(spoken, text, &mut words);
        Self {
            mark,
            ways: false,
            language: None,
            on_rows: false,
            names_next: false,
            words: words.into_boxed_str(),
            text,
            shown: text,
            spoken,
        }
    }

    /// Creates a segment of the program's own words, which are spoken as written.
    pub fn own(text: impl Into<String>) -> Self {
        let text = text.into();
        let part = SegmentRange::between(0, text.len());
        Self {
            mark: Mark::Own,
            ways: false,
            language: None,
            on_rows: false,
            names_next: false,
            words: text.into_boxed_str(),
            text: part,
            shown: part,
            spoken: part,
        }
    }

    /// Ends the words with a full stop if they sound like a sentence without one. Words on separate rows stay
    /// unchanged: there a stop could be taken for part of them.
    pub(super) fn end(&mut self) {
        let mut text = self.text().to_owned();
        stop(&mut text);
        if self.on_rows || self.shown() != self.text() || text == self.text() {
            return;
        }
        let mut spoken = self.spoken().to_owned();
        stop(&mut spoken);
        let (ways, language) = (self.ways, self.language.take());
        *self = Self::new(self.mark, text, &spoken).language(language);
        self.ways = ways;
    }

    /// Creates a segment of the program's own words that are heard but not seen.
    pub fn heard(spoken: impl Into<String>) -> Self {
        let none = SegmentRange::between(0, 0);
        let heard = Self::own(spoken);
        Self {
            text: none,
            shown: none,
            ..heard
        }
    }

    /// Sets the shown form, which differs from the source: it has no Markdown marks.
    #[must_use]
    pub fn shown_as(self, shown: &str) -> Self {
        if shown == self.shown() {
            return self;
        }
        let mut words = String::from(self.words);
        let shown = SegmentRange::of(shown, self.text, &mut words);
        Self {
            words: words.into_boxed_str(),
            shown,
            ..self
        }
    }

    /// Sets the spoken form.
    #[must_use]
    pub fn spoken_as(self, spoken: &str) -> Self {
        let mut words = String::from(self.words);
        let spoken = SegmentRange::of(spoken, self.text, &mut words);
        Self {
            words: words.into_boxed_str(),
            spoken,
            ..self
        }
    }

    /// Marks it to be shown on separate rows, exactly as written.
    #[must_use]
    pub fn on_rows(self) -> Self {
        Self {
            on_rows: true,
            ..self
        }
    }

    /// Marks it to name what follows: in lines, it becomes the label.
    #[must_use]
    pub fn naming_next(self) -> Self {
        Self {
            names_next: true,
            ..self
        }
    }

    /// Returns whether it names what follows.
    pub fn names_next(&self) -> bool {
        self.names_next
    }

    /// Returns whether it is shown on separate rows.
    pub fn is_on_rows(&self) -> bool {
        self.on_rows
    }

    /// Sets its language.
    #[must_use]
    pub fn language(self, language: Option<Arc<str>>) -> Self {
        Self { language, ..self }
    }

    /// Returns the words of the source, cleaned of hostile characters.
    pub fn text(&self) -> &str {
        self.text.of_words(&self.words)
    }

    /// Returns the words as shown.
    pub fn shown(&self) -> &str {
        self.shown.of_words(&self.words)
    }

    /// Returns the words as spoken; empty if there is nothing to say.
    pub fn spoken(&self) -> &str {
        self.spoken.of_words(&self.words)
    }

    /// Estimates the memory use, in bytes.
    pub(in crate::announce) fn size(&self) -> usize {
        std::mem::size_of::<Self>() + self.words.len()
    }
}

/// Marks words that name the agent's words after them: "Choice 1:", "Step 2, done:".
pub(in crate::announce) fn naming(words: Vec<Segment>) -> Vec<Segment> {
    let next: Vec<Option<Mark>> = words.iter().skip(1).map(|next| Some(next.mark)).collect();
    let pairs = words.into_iter().zip(next.into_iter().chain([None]));
    let named = |(words, next): (Segment, _)| match (words.mark, next) {
        (Mark::Own, Some(Mark::Agent)) => words.naming_next(),
        (Mark::Own | Mark::Agent, _) => words,
    };
    pairs.map(named).collect()
}

/// Joins segments into one line of text; a segment that does not end in a stop gets one, and one shown on
/// separate rows keeps them.
pub fn join(segments: &[Segment]) -> String {
    join_by(segments, Segment::text, true)
}

/// Joins the shown words of segments in the same way.
pub fn join_shown(segments: &[Segment]) -> String {
    join_by(segments, Segment::shown, true)
}

/// Joins the spoken words of segments in the same way.
pub fn join_spoken(segments: &[Segment]) -> String {
    join_by(segments, Segment::spoken, false)
}

fn join_by(segments: &[Segment], words: fn(&Segment) -> &str, rows: bool) -> String {
    let mut line = String::new();
    let mut before_on_rows = false;
    for segment in segments {
        let text = words(segment).trim();
        if text.is_empty() {
            continue;
        }
        let on_rows = rows && segment.on_rows;
        if line.is_empty() {
            // The line begins with this segment.
        } else if on_rows || before_on_rows {
            line.push('\n');
        } else {
            stop(&mut line);
            line.push(' ');
        }
        line.push_str(text);
        before_on_rows = on_rows;
    }
    line
}

/// Ends a line of text with a full stop if it sounds like a sentence without one.
pub(super) fn stop(line: &mut String) {
    let closes = |c| {
        matches!(
            c,
            ')' | ']' | '"' | '\'' | '”' | '’' | '»' | '%' | '€' | '$' | '£'
        )
    };
    if line.ends_with(|c: char| c.is_alphanumeric() || closes(c)) {
        line.push('.');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_is_given_back_as_it_was_put_in() {
        let texts = ["", "a", "ab", "**a** b", "é"];
        for text in texts {
            for spoken in texts {
                for shown in texts {
                    let segment = Segment::new(Mark::Agent, text, spoken).shown_as(shown);
                    let found = (segment.text(), segment.shown(), segment.spoken());
                    assert_eq!(found, (text, shown, spoken));
                    let again = segment.clone().shown_as(text);
                    assert_eq!(again, Segment::new(Mark::Agent, text, spoken));
                }
            }
        }
    }

    #[test]
    fn words_that_are_the_same_in_every_reading_are_kept_once() {
        let own = Segment::own("Accepted.");
        assert_eq!(own, Segment::new(Mark::Own, "Accepted.", "Accepted."));
        assert_eq!(&*own.words, "Accepted.");
        let stop = Segment::new(Mark::Own, "Accepted.", "Accepted").shown_as("");
        assert_eq!(&*stop.words, "Accepted.");
    }
}
