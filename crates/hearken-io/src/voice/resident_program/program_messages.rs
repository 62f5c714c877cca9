//! The messages between hearken and a speech program that stays: one JSON object per line.
//!
//! Responsibilities: writing orders, reading reports, the bounds of both. Not here: the process (`speech_process`),
//! what follows from a report (the module above).

use serde::{Deserialize, Serialize};

/// The longest line of a program, in bytes: a report has a few words.
const LONGEST_LINE: usize = 16 * 1024;

/// The longest text of a program that is repeated to the person, in characters.
const LONGEST_TOLD: usize = 120;

/// An order to speak.
#[derive(Debug, Serialize)]
pub(super) struct SayOrder<'a> {
    /// The number of the utterance.
    pub say: u64,
    /// What to say, on one line.
    pub text: &'a str,
    /// Whose words they are: `own` or `agent`.
    pub mark: &'static str,
    /// -100 to 100, with the mark.
    pub pitch: i32,
    /// -100 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<i32>,
    /// -100 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<i32>,
    /// The name of a voice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice: Option<String>,
    /// The language of the words (BCP 47).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'a str>,
    /// `none`, `some`, `most` or `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub punctuation: Option<&'static str>,
}

/// An order to fall silent.
#[derive(Debug, Serialize)]
pub(super) struct StopOrder {
    /// The number of the utterance.
    pub stop: u64,
}

/// A report of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProgramReport {
    /// The first sound of an utterance.
    Begin(u64),
    /// An utterance is over: spoken to its end, or stopped.
    End(u64),
    /// An utterance was not spoken, for this reason.
    Failed(u64, String),
    /// A line that means nothing, cleaned and shortened.
    Unknown(String),
}

#[derive(Debug, Default, Deserialize)]
struct ReportLine {
    begin: Option<u64>,
    end: Option<u64>,
    failed: Option<u64>,
    #[serde(default)]
    why: String,
}

/// Writes an order as a line.
pub(super) fn line(order: &impl Serialize) -> Vec<u8> {
    // Numbers and text are always valid JSON.
    let mut line = serde_json::to_vec(order).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Collects a program's output into lines.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    unread: Vec<u8>,
    /// Whether the current line is too long, and its rest is discarded.
    overlong: bool,
}

impl LineReader {
    /// Takes output and returns the reports in it.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<ProgramReport> {
        let mut reports = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = part.ends_with(b"\n");
            let room = LONGEST_LINE.saturating_sub(self.unread.len());
            self.overlong |= part.len() > room;
            self.unread.extend_from_slice(&part[..part.len().min(room)]);
            if ends {
                let line = std::mem::take(&mut self.unread);
                let overlong = std::mem::take(&mut self.overlong);
                reports.extend(read(&line, overlong));
            }
        }
        reports
    }
}

fn read(line: &[u8], overlong: bool) -> Option<ProgramReport> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let report = match overlong {
        true => ReportLine::default(),
        false => serde_json::from_str(text).unwrap_or_default(),
    };
    Some(match (report.begin, report.end, report.failed) {
        (Some(id), None, None) => ProgramReport::Begin(id),
        (None, Some(id), None) => ProgramReport::End(id),
        (None, None, Some(id)) => ProgramReport::Failed(id, told(&report.why)),
        _ => ProgramReport::Unknown(told(text)),
    })
}

/// Cleans and shortens a program's words for the person.
pub(super) fn told(text: &str) -> String {
    let clean = crate::announce::speakable::one_line(text);
    let mut short: String = clean.chars().take(LONGEST_TOLD).collect();
    if short.len() < clean.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_however_they_are_cut() {
        let wire = b"{\"begin\": 1}\n\n{\"end\":1}\r\n{\"failed\": 2, \"why\": \"no\\u0007 device\"}\nhello\n{\"begin\":1,\"end\":2}\n{}\n";
        let wanted = [
            ProgramReport::Begin(1),
            ProgramReport::End(1),
            ProgramReport::Failed(2, "no device".into()),
            ProgramReport::Unknown("hello".into()),
            ProgramReport::Unknown("{\"begin\":1,\"end\":2}".into()),
            ProgramReport::Unknown("{}".into()),
        ];
        for size in [1, 2, 7, wire.len()] {
            let mut reader = LineReader::default();
            let reports: Vec<_> = wire.chunks(size).flat_map(|cut| reader.take(cut)).collect();
            assert_eq!(reports, wanted, "{size}");
        }
    }

    #[test]
    fn a_line_without_end_is_bounded_and_means_nothing() {
        let mut reader = LineReader::default();
        for _ in 0..100 {
            assert!(reader.take(&[b' '; 1024]).is_empty());
            assert!(reader.unread.len() <= LONGEST_LINE);
        }
        assert_eq!(
            reader.take(b"{\"end\":1}\n{\"end\":2}\n"),
            [ProgramReport::End(2)]
        );
    }

    #[test]
    fn an_order_is_one_line_and_says_only_what_is_set() {
        let order = SayOrder {
            say: 7,
            text: "a \"b\"",
            mark: "own",
            pitch: 20,
            rate: None,
            volume: None,
            voice: None,
            language: Some("de"),
            punctuation: None,
        };
        let written = String::from_utf8(line(&order)).unwrap();
        assert_eq!(
            written,
            "{\"say\":7,\"text\":\"a \\\"b\\\"\",\"mark\":\"own\",\"pitch\":20,\"language\":\"de\"}\n"
        );
    }
}
