//! Everything that an agent wrote in a turn: as a whole, and in parts for stepping through.
//!
//! Responsibilities: which history entries make up the turn; its headings, paragraphs and code blocks with
//! their lines; what can be copied. Not here: which part is read next (`app`), where a code block begins
//! (`markdown`).
//!
//! # Mental model
//! As part of the whole, a code block is only named and counted; in parts, it becomes one part that names it
//! and then one for each line, because code is read line by line. A line announces its indentation if that
//! differs from the line read before, whichever that was. Landmarks are what a person jumps to: headings, code
//! blocks, and the text that follows one.

use std::sync::Arc;

use super::Announcer;
use super::read_parts::{ClipboardText, TurnPart, TurnText, written};
use crate::announce::announcement::{Announcement, AnnouncementId, AnnouncementKind, Class, Topic};
use crate::announce::text::markdown::{Is, inline_code, items, outline};
use crate::announce::text::normalise::{clean, clean_lines};
use crate::announce::text::speakable;
use crate::announce::text::wrap::beginning;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::{Mark, Segment};

/// How many bytes of a turn's text are covered; earlier text stays in the history.
const LONGEST_TURN: usize = 128 * 1024;
/// How many bytes of it are spoken in one go; the rest is reached part by part.
const LONGEST_SAID: usize = 20_000;
/// The maximum number of characters in a part; a longer paragraph or line of code is split.
const LONGEST_PART: usize = 600;
/// How many inline codes of a paragraph, and how many code blocks of a whole turn, can be copied.
const MOST_COPIED: usize = 32;

impl Announcer {
    /// Returns everything that an agent wrote in the turn to which an entry belongs, or in the last turn: back to
    /// the session's start or the person's last answer, whichever is nearer.
    pub fn turn(&self, at: Option<AnnouncementId>) -> Option<TurnText> {
        let is_text = |told: &Announcement| {
            told.kind == AnnouncementKind::Output
                && told.is_agents_text()
                && told.class != Class::Response
        };
        let entries: Vec<&Arc<Announcement>> = self.history().iter().collect();
        let upto = at.map_or(entries.len(), |at| {
            entries.partition_point(|told| told.id <= at)
        });
        // The turn continues after the selected entry.
        let anchor = entries[..upto]
            .iter()
            .rposition(|told| is_text(told))
            .or_else(|| entries.iter().position(|told| is_text(told)))?;
        let key = entries[anchor].key.clone();
        let ends_turn = |told: &Announcement| {
            (told.kind == AnnouncementKind::SessionStarted && told.key == key)
                || (told.kind == AnnouncementKind::Reply && told.about.is_some())
        };
        let first = entries[..anchor]
            .iter()
            .rposition(|told| ends_turn(told))
            .map_or(0, |at| at + 1);
        let last = entries[anchor..]
            .iter()
            .position(|told| ends_turn(told))
            .map_or(entries.len(), |at| anchor + at);
        let of_it = entries[first..last].iter().copied();
        let of_it: Vec<&Arc<Announcement>> = of_it
            .filter(|told| told.key == key && is_text(told))
            .collect();
        let newest = of_it.last()?.id;
        let agent = entries[anchor].agent.clone().unwrap_or_default();
        Some(self.turn_of(agent, &texts(&of_it), newest))
    }

    fn turn_of(&self, agent: Arc<str>, texts: &TurnTexts, last: AnnouncementId) -> TurnText {
        let mut parts: Vec<TurnPart> = Vec::new();
        let (mut said, mut unsaid) = (Vec::new(), 0_u64);
        let (mut bytes, mut after_code) = (0, false);
        let (mut all, mut blocks) = (String::new(), Vec::new());
        for (text, language) in &texts.all {
            for section in outline(text) {
                bytes += section.written.len();
                let clean = clean_code(section.written);
                if !all.is_empty() {
                    all.push_str("\n\n");
                }
                all.push_str(&clean);
                let from = parts.len();
                match &section.is {
                    Is::Heading | Is::Paragraph => {
                        let is_landmark = after_code || section.is == Is::Heading;
                        self.prose(
                            section.written,
                            language.as_deref(),
                            is_landmark,
                            &mut parts,
                        );
                        after_code = false;
                    }
                    Is::Code { info, lines } => {
                        let block = self.code(info, lines, &mut parts);
                        blocks.extend(Some(block).filter(|_| blocks.len() < MOST_COPIED));
                        after_code = true;
                    }
                }
                if bytes > LONGEST_SAID {
                    unsaid += (parts.len() - from) as u64;
                } else {
                    let language = language.as_deref();
                    match section.is {
                        Is::Code { .. } => {
                            said.push(self.whole_section(section.written, language));
                        }
                        Is::Heading | Is::Paragraph => {
                            said.extend(self.by_items(section.written, language));
                        }
                    }
                }
            }
        }
        let count = match parts.len() {
            0 | 1 => Arg::own(""),
            n => Arg::own(n),
        };
        let name = ("agent", Arg::Name(agent.to_string()));
        let level = self.verbosity();
        let key = match self.manner {
            super::AnswerMethod::Keys => "turn",
            super::AnswerMethod::Lines | super::AnswerMethod::Program => "turn.lines",
        };
        let mut words = self.fill(key, level, &[name, ("n", count)]);
        if texts.left > 0 {
            words.extend(self.fill("turn.left", level, &[("n", Arg::own(texts.left))]));
        }
        words.append(&mut said);
        if unsaid > 0 {
            words.extend(self.fill("turn.more", level, &[("n", Arg::own(unsaid))]));
        }
        let n = Arg::own(all.lines().count());
        let whole = ClipboardText {
            text: all.into(),
            words: self.fill("copy.answer", level, &[("n", n)]),
        };
        let copied = std::iter::once(whole).chain(blocks).collect();
        TurnText {
            agent,
            words,
            parts,
            copied,
            last,
        }
    }

    /// Words a section as it is heard within the whole turn.
    fn whole_section(&self, written: &str, language: Option<&str>) -> Segment {
        let (spoken, shown) = self.phrases.lexicon().read_whole(written, self.wall);
        let text = speakable::one_line(written);
        Segment::new(Mark::Agent, text, &spoken)
            .shown_as(&shown)
            .language(language.map(Arc::from))
    }

    /// Words a paragraph in the same way, each item of a list separately.
    fn by_items(&self, written: &str, language: Option<&str>) -> Vec<Segment> {
        let pieces = items(written).into_iter();
        pieces
            .map(|piece| self.whole_section(piece, language))
            .collect()
    }

    /// Adds the parts of a heading or a paragraph.
    fn prose(
        &self,
        written: &str,
        language: Option<&str>,
        is_landmark: bool,
        parts: &mut Vec<TurnPart>,
    ) {
        let level = self.verbosity();
        let paragraph = ClipboardText {
            text: clean_lines(written).trim().into(),
            words: self.fill("copy.paragraph", level, &[]),
        };
        let inline = inline_code(written).into_iter().take(MOST_COPIED);
        let inline = inline.map(|code| self.copied_exactly(code));
        let copied: Arc<[ClipboardText]> = std::iter::once(paragraph).chain(inline).collect();
        let mut rest = written;
        let mut first = true;
        while !rest.trim().is_empty() {
            let piece = beginning(rest, LONGEST_PART);
            rest = rest.get(piece.len()..).unwrap_or_default();
            let words = self.by_items(piece, language);
            parts.push(TurnPart {
                words,
                is_landmark: is_landmark && first,
                indent: None,
                code_line: None,
                copied: copied.clone(),
            });
            first = false;
            if piece.is_empty() {
                break;
            }
        }
    }

    /// Returns a text that is copied unchanged and read sign by sign, such as a command or a question's action.
    pub fn copied_exactly(&self, text: &str) -> ClipboardText {
        let args = [("text", Arg::Exact(text.to_owned(), None))];
        ClipboardText {
            text: clean_code(text).into(),
            words: self.fill("copy.exactly", self.verbosity(), &args),
        }
    }

    /// Adds the parts of a code block, first what it is and then each line; returns what can be copied.
    fn code(&self, info: &str, lines: &[&str], parts: &mut Vec<TurnPart>) -> ClipboardText {
        let level = self.verbosity();
        let language = self.phrases.lexicon().code_language(info);
        let args = [
            ("language", Arg::Own(language.unwrap_or_default())),
            ("n", Arg::own(lines.len())),
        ];
        let text: Vec<String> = lines.iter().map(|line| clean_code(line)).collect();
        let block = ClipboardText {
            text: text.join("\n").into(),
            words: self.fill("copy.code", level, &args),
        };
        let copied: Arc<[ClipboardText]> = Arc::new([block.clone()]);
        parts.push(TurnPart {
            words: self.fill("turn.code", level, &args),
            is_landmark: true,
            indent: None,
            code_line: Some(0),
            copied: copied.clone(),
        });
        for (at, line) in lines.iter().enumerate() {
            let bare = line.trim_start_matches([' ', '\t']);
            let before = line.get(..line.len() - bare.len()).unwrap_or_default();
            let (words, indent) = if bare.trim().is_empty() {
                (self.fill("turn.code.empty", level, &[]), None)
            } else {
                let indent = (before.to_owned(), self.indent(before));
                (Vec::new(), Some(indent))
            };
            let mut part = TurnPart {
                words,
                is_landmark: false,
                indent,
                code_line: Some(at + 1),
                copied: copied.clone(),
            };
            if !part.words.is_empty() {
                parts.push(part);
                continue;
            }
            let mut rest = bare;
            while !rest.is_empty() {
                let piece = beginning(rest, LONGEST_PART);
                rest = rest.get(piece.len()..).unwrap_or_default();
                let text = ("text", Arg::Exact(piece.to_owned(), None));
                part.words = self.fill("reading.line", level, &[text]);
                parts.push(part.clone());
                if piece.is_empty() {
                    break;
                }
            }
        }
        block
    }

    /// Returns words for a line's indentation.
    pub(super) fn indent(&self, before: &str) -> Vec<Segment> {
        let tabs = before.matches('\t').count();
        let spaces = before.len() - tabs;
        let number = |n: usize| match n {
            0 => Arg::own(""),
            n => Arg::own(n),
        };
        let key = match before.is_empty() {
            true => "turn.code.flush",
            false => "turn.code.indent",
        };
        let args = [("tabs", number(tabs)), ("spaces", number(spaces))];
        self.fill(key, self.verbosity(), &args)
    }
}

/// The texts of a turn, one for each output, with their languages.
struct TurnTexts {
    all: Vec<(String, Option<String>)>,
    /// How many earlier pieces are left out.
    left: u64,
}

/// Joins the entries of a turn into the text that was written, each output separately, as several may interleave.
fn texts(entries: &[&Arc<Announcement>]) -> TurnTexts {
    // Newer text is worth more than older text.
    let mut bytes = 0;
    let kept = entries.iter().rev().take_while(|told| {
        bytes += told
            .facts()
            .written
            .as_ref()
            .map_or_else(|| told.text().len(), String::len);
        bytes <= LONGEST_TURN
    });
    let from = entries.len() - kept.count();
    let mut all: Vec<(Option<&Topic>, String, Option<String>)> = Vec::new();
    for told in entries.get(from..).unwrap_or_default() {
        match all
            .iter_mut()
            .find(|(topic, ..)| *topic == told.topic.as_ref())
        {
            Some((_, text, _)) => text.push_str(&written(told)),
            None => all.push((
                told.topic.as_ref(),
                written(told).into_owned(),
                told.language().map(str::to_owned),
            )),
        }
    }
    TurnTexts {
        all: all
            .into_iter()
            .map(|(_, text, language)| (text, language))
            .collect(),
        left: from as u64,
    }
}

/// Cleans lines of code, and keeps their indentation.
fn clean_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.lines().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let bare = line.trim_start_matches([' ', '\t']);
        out.push_str(line.get(..line.len() - bare.len()).unwrap_or_default());
        out.push_str(clean(bare).trim_end());
    }
    out
}
