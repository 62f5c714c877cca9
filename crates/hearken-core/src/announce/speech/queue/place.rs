//! Places among the words of an announcement, and the words between one and the next.
//!
//! Responsibilities: making an utterance of one segment, or of one sentence of a long segment, so that silenced
//! speech can continue at its sentence. Not here: when it continues (`silenced_speech`, `trail`).

use crate::announce::announcement::Announcement;
use crate::announce::text::sentence::Segmenter;

/// The longest text spoken in one utterance, in bytes: some ten seconds. Silenced speech continues at the start
/// of its utterance.
const LONGEST_WHOLE: usize = 160;
/// How far to look for the end of a sentence, in bytes.
const REACH: usize = 4 * 1024;

/// A place among the words of an announcement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WordPlace {
    /// The segment.
    pub(super) segment: usize,
    /// How many bytes of its spoken words come before the place.
    pub(super) offset: usize,
}

/// The words of one utterance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UtteranceWords {
    /// Where they begin.
    pub(super) at: WordPlace,
    /// The words.
    pub(super) text: String,
    /// Where the next ones begin; past the last segment if there are none.
    pub(super) next: WordPlace,
}

impl WordPlace {
    /// Returns the beginning of a segment.
    pub(super) fn of_segment(segment: usize) -> Self {
        Self { segment, offset: 0 }
    }

    /// Returns whether all words come before it.
    pub(super) fn is_end_of(self, announcement: &Announcement) -> bool {
        self.segment >= announcement.segments.len()
    }
}

/// Returns the next words to be spoken; `None` if none are left. What is urgent is spoken segment by segment.
pub(super) fn words_from(
    announcement: &Announcement,
    from: WordPlace,
    urgent: bool,
) -> Option<UtteranceWords> {
    let segments = &announcement.segments;
    let has_words = |at: &usize| !rest_of(announcement, WordPlace::of_segment(*at)).is_empty();
    let first = match rest_of(announcement, from) {
        "" => WordPlace::of_segment((from.segment + 1..segments.len()).find(has_words)?),
        _ => from,
    };
    let rest = rest_of(announcement, first);
    let language = segments.get(first.segment)?.language.as_deref();
    let language = language.unwrap_or(&announcement.tongue.language);
    let whole = segments.get(first.segment)?.spoken();
    let length = match urgent || whole.len() <= LONGEST_WHOLE {
        true => rest.len(),
        false => sentence_in(rest, language),
    };
    let (text, left) = rest.split_at(length);
    let next = match left.trim().is_empty() {
        false => WordPlace {
            segment: first.segment,
            offset: first.offset + length,
        },
        // Trailing segments without words must not keep an announcement from finishing.
        true => WordPlace::of_segment(
            (first.segment + 1..segments.len())
                .find(has_words)
                .unwrap_or(segments.len()),
        ),
    };
    Some(UtteranceWords {
        at: first,
        text: text.trim_end().to_owned(),
        next,
    })
}

/// Returns whether an announcement takes so long to speak that it is spoken in several utterances.
pub(super) fn is_long(announcement: &Announcement) -> bool {
    let spoken = announcement.segments.iter().map(|it| it.spoken().len());
    spoken.sum::<usize>() > LONGEST_WHOLE
}

/// Returns the words of a segment from a place on; empty if they are blank.
fn rest_of(announcement: &Announcement, place: WordPlace) -> &str {
    let segment = announcement.segments.get(place.segment);
    let rest = segment.and_then(|it| it.spoken().get(place.offset..));
    rest.filter(|rest| !rest.trim().is_empty()).unwrap_or("")
}

/// Returns the length of the first sentence of a text.
fn sentence_in(text: &str, language: &str) -> usize {
    let reach = text.floor_char_boundary(REACH);
    let mut segmenter = Segmenter::new(Some(language));
    let mut found = segmenter.push(text.get(..reach).unwrap_or(text));
    if reach == text.len() {
        found.extend(segmenter.finish());
    }
    let ends = found.iter().map(|sentence| sentence.range().end);
    let mut ends = ends.filter_map(|end| usize::try_from(end).ok());
    let first = ends.find(|end| text.get(..*end).is_some_and(|said| !said.trim().is_empty()));
    first.unwrap_or(text.len())
}
