//! Announcements in which hearken and agents take turns: questions, and answers that quote an agent.
//!
//! Responsibilities: separate rows for each speaker, the label of each, where the time stands. Not here: announcements
//! with one speaker (`linear`), how a row is cut (`rows`).

use std::sync::Arc;

use crate::announce::{Announcement, Mark, Quote, Segment, join_shown};
use crate::app::App;

use super::rows::{Continuation, Label, RowOpening, isolated, place_of, put};
use super::{LineWriter, Page};

/// What follows the words that a row begins with, if these become its label.
const ENDS: [char; 2] = [':', ' '];

/// The words of one speaker between those of others.
struct SpeakerPart<'a> {
    segments: &'a [&'a Segment],
    mark: Mark,
    /// The words of hearken's that name it, such as "Choice 1".
    name: Option<&'a str>,
}

impl LineWriter {
    /// Writes an announcement about a question: each speaker has separate lines, so that no action can claim a risk or
    /// a key in hearken's name. Returns whether the time is included.
    pub(super) fn about_question(
        &self,
        out: &mut String,
        announcement: &Announcement,
        (ours, asker): (&Label<'_>, &Label<'_>),
        time: Option<&str>,
    ) -> bool {
        let shown = shown(announcement);
        let parts = parts(&shown);
        let timed = timed(&parts);
        let mut is_timed = false;
        let mut is_known = false;
        for (at, part) in parts.iter().enumerate() {
            let on_rows = part.segments.iter().any(|segment| segment.is_on_rows());
            let onward = match (part.mark, on_rows) {
                (Mark::Agent, true) => Continuation::Exact,
                (Mark::Agent, false) => Continuation::Labelled,
                (Mark::Own, _) => Continuation::SetIn,
            };
            let words: Vec<&str> = part
                .segments
                .iter()
                .map(|segment| match segment.mark {
                    Mark::Own => segment.shown(),
                    // An agent's question is shown verbatim.
                    Mark::Agent => segment.text(),
                })
                .collect();
            let text = text_of(&words.join(" "), part, announcement, self.page);
            let of_part = label_of(part, ours, asker);
            let beginning = match part.mark {
                Mark::Agent if is_known && part.name.is_none() => RowOpening::Known,
                Mark::Agent | Mark::Own => RowOpening::Labelled,
            };
            is_known |= part.mark == Mark::Agent && part.name.is_none();
            let time = time.filter(|_| Some(at) == timed);
            let time = place_of(time, part.mark, &of_part, self.page);
            is_timed |= put(out, (&of_part, beginning), onward, &text, time, self.page);
        }
        is_timed
    }

    /// Writes an answer that quotes agents: their words are on rows of their own, under their names. Returns whether
    /// the time is included.
    pub(super) fn quoting(
        &mut self,
        out: &mut String,
        app: &App,
        announcement: &Announcement,
        ours: &Label<'_>,
        time: Option<&str>,
    ) -> bool {
        let shown = shown(announcement);
        let asked = app.sessions().open_questions().next().is_some();
        let timed = timed(&parts(&shown));
        let mut is_timed = false;
        let mut quotes = announcement.quotes.iter();
        let mut quote: Option<&Quote> = None;
        let mut before: Option<&Quote> = None;
        for (at, part) in parts(&shown).iter().enumerate() {
            let words: Vec<Segment> = part.segments.iter().map(|&it| it.clone()).collect();
            let text = text_of(&join_shown(&words), part, announcement, self.page);
            if text.is_empty() {
                continue;
            }
            let time = time.filter(|_| Some(at) == timed);
            if part.mark == Mark::Agent {
                quote = quotes.next().or(quote);
            }
            let (Mark::Agent, Some(of)) = (part.mark, quote) else {
                before = None;
                let time = place_of(time, Mark::Own, ours, self.page);
                let label = (ours, RowOpening::Labelled);
                is_timed |= put(out, label, Continuation::SetIn, &text, time, self.page);
                continue;
            };
            let is_unclear = asked || self.ours.could_be(app.phrases(), part.segments);
            let onward = match is_unclear {
                true => Continuation::Labelled,
                false => Continuation::SetIn,
            };
            let label = Label {
                first: app.label_of_quote(of, true).into(),
                further: &|| app.label_of_quote(of, false),
            };
            let of_part = label_of(part, ours, &label);
            let beginning = match before == Some(of) && part.name.is_none() {
                true if is_unclear => RowOpening::Known,
                true => RowOpening::GoesOn,
                false => RowOpening::Labelled,
            };
            before = Some(of);
            let time = place_of(time, part.mark, &of_part, self.page);
            is_timed |= put(out, (&of_part, beginning), onward, &text, time, self.page);
        }
        is_timed
    }
}

/// Returns the segments with anything to show.
fn shown(told: &Announcement) -> Vec<&Segment> {
    let all = told.segments.iter();
    all.filter(|segment| !segment.text().is_empty()).collect()
}

/// Returns the parts: consecutive words of hearken's need one line; each text of an agent's has its own. Words that
/// only name an agent's are no part of their own.
fn parts<'a>(shown: &'a [&'a Segment]) -> Vec<SpeakerPart<'a>> {
    let chunks = shown.chunk_by(|one, next| one.mark == Mark::Own && next.mark == Mark::Own);
    let mut parts: Vec<SpeakerPart<'a>> = Vec::new();
    let mut name = None;
    for chunk in chunks {
        let Some((last, before)) = chunk.split_last() else {
            continue;
        };
        let segments = match last.names_next() {
            true => before,
            false => chunk,
        };
        if !segments.is_empty() {
            parts.push(SpeakerPart {
                segments,
                mark: last.mark,
                name: name.take(),
            });
        }
        if last.names_next() {
            name = Some(last.shown().trim_end_matches(ENDS));
        }
    }
    parts
}

/// Returns the part that has the time: the last one of hearken's, else the first.
fn timed(parts: &[SpeakerPart<'_>]) -> Option<usize> {
    let ours = parts.iter().rposition(|part| part.mark == Mark::Own);
    ours.or_else(|| (!parts.is_empty()).then_some(0))
}

fn text_of(words: &str, part: &SpeakerPart<'_>, told: &Announcement, page: Page) -> String {
    let of_it: Vec<Segment> = part.segments.iter().map(|&it| it.clone()).collect();
    isolated(words, &of_it, told.direction, page.order).into_owned()
}

/// Returns the label of a part: its speaker's, or the words that name it.
fn label_of<'l>(part: &SpeakerPart<'_>, ours: &Label<'l>, theirs: &Label<'l>) -> Label<'l> {
    match (part.mark, part.name) {
        (Mark::Own, _) => ours.clone(),
        (Mark::Agent, None) => theirs.clone(),
        (Mark::Agent, Some(name)) => Label {
            first: Arc::from(name),
            further: theirs.further,
        },
    }
}
