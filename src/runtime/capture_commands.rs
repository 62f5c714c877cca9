//! The commands that read a capture: lines in from a file or standard input, a report out.
//!
//! Responsibilities: bounded reading with true line numbers, writing as results arrive. Not here: what is
//! checked (`inspect`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::Path;

use jiff::Timestamp;
use memchr::memchr;

use crate::announce::Reason;
use crate::announce::normalise::clean;
use crate::dialect::{ConnectionChange, ForeignFormat};
use crate::inspect::{
    Checker, Format, LinkHistory, RecordedExtra, RepeatedFindings, ReportItem, StreamRule, Summary,
    Tracer, Verdict, Wording,
};
use crate::platform::files::open_to_read;
use crate::protocol::Answer;
use crate::transport::{RecordedNews, links_beside, readable};

use super::request_failure::RequestFailure;

/// The longest line read, in bytes: the default size of the largest frame.
const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// How many bytes of a file are read in one go.
const READ: usize = 64 * 1024;

/// Checks a file, or standard input for `-`, and writes the report. A file's findings are written at its end,
/// each once with its count; those of standard input, which may never end, as they are made, with the counts at
/// the end.
///
/// # Errors
/// When the file can't be opened or read.
pub(super) fn check(
    file: &Path,
    json: bool,
    strict: bool,
    wording: &dyn Wording,
) -> anyhow::Result<Verdict> {
    let mut checker = Checker::of_recording(answers(file));
    let mut report = FindingWriter {
        live: file == Path::new("-"),
        ..FindingWriter::live(json, wording)
    };
    let result = each_line(file, |line| {
        let items = match line {
            LookedAtLine::Text { text, whole } => {
                let mut items = if whole {
                    Vec::new()
                } else {
                    checker.replaced()
                };
                items.append(&mut checker.line(text));
                items
            }
            LookedAtLine::TooLong => checker.unreadable(StreamRule::TooLong),
        };
        report.put(items).map_err(ReplayFailure::Write)
    });
    let listens = listens(result)?;
    let (items, summary) = checker.finish();
    if listens {
        self::listens(report.put(items).map_err(ReplayFailure::Write))?;
        report.close(&summary, strict)?;
    }
    let verdict = summary.verdict(strict);
    if let (Verdict::Unusable, Some(kept)) = (verdict, summary.kept) {
        anyhow::bail!(no_recording(file, kept, wording));
    }
    Ok(verdict)
}

/// Writes findings, each kind once.
pub(super) struct FindingWriter<'a> {
    json: bool,
    /// Whether each finding is written immediately.
    live: bool,
    repeats: RepeatedFindings,
    wording: &'a dyn Wording,
}

impl<'a> FindingWriter<'a> {
    /// Creates the report of a stream that may never end.
    pub(super) fn live(json: bool, wording: &'a dyn Wording) -> Self {
        Self {
            json,
            live: true,
            repeats: RepeatedFindings::default(),
            wording,
        }
    }

    /// Writes the findings that are due immediately.
    fn put(&mut self, items: Vec<ReportItem>) -> io::Result<()> {
        let text = self.take(items);
        if text.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    }

    /// Writes findings, and returns whether the output still has a reader.
    ///
    /// # Errors
    /// When the output can't be written.
    pub(super) fn write(&mut self, items: Vec<ReportItem>) -> anyhow::Result<bool> {
        listens(self.put(items).map_err(ReplayFailure::Write))
    }

    /// Writes the findings held back until the end, and the summary.
    ///
    /// # Errors
    /// When the output can't be written.
    pub(super) fn close(&mut self, summary: &Summary, strict: bool) -> anyhow::Result<()> {
        let mut text = self.end();
        text.push_str(&if self.json {
            summary.to_json(strict)
        } else {
            summary.to_text(strict, self.wording)
        });
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        listens(written.map_err(ReplayFailure::Write))?;
        Ok(())
    }

    /// Adds findings, and returns the lines to write immediately.
    fn take(&mut self, items: Vec<ReportItem>) -> String {
        let mut text = String::new();
        let mut push = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        for item in items {
            if self.json {
                push(item.to_json(self.wording));
                continue;
            }
            let line = self.live.then(|| item.to_text(self.wording));
            match (self.repeats.take(item), line) {
                (Ok(true), Some(line)) => push(line),
                (Ok(_), _) => {}
                // What can no longer be counted is written one by one.
                (Err(item), _) => push(item.to_text(self.wording)),
            }
        }
        text
    }

    /// Returns the lines held back for their counts.
    fn end(&mut self) -> String {
        let live = self.live;
        std::mem::take(&mut self.repeats)
            .into_list()
            .iter()
            .filter(|repeated| !live || repeated.times > 1)
            .map(|repeated| repeated.to_text(self.wording) + "\n")
            .collect()
    }
}

/// Traces a file, or standard input for `-`.
///
/// # Errors
/// When the file can't be opened or read, or contains no event.
pub fn trace(file: &Path, format: Format, wording: &dyn Wording) -> anyhow::Result<()> {
    super::source_links::only_captures(file, "trace")?;
    let mut tracer = Tracer::of_recording(answers(file)).with_links(links(file));
    listens(each_line(file, |line| {
        match line {
            LookedAtLine::Text { text, .. } => tracer.line(text),
            LookedAtLine::TooLong => tracer.unreadable(),
        }
        Ok(())
    }))?;
    let kept = tracer.kept();
    let text = tracer.finish(format, wording).ok_or_else(|| match kept {
        Some(kept) => no_recording(file, kept, wording),
        None => RequestFailure::new("call.no_event").with("name", shown(file)),
    })?;
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    listens(written.map_err(ReplayFailure::Write))?;
    Ok(())
}

/// Returns the failure that a file is an agent's own record of its conversations, with the way to hear that agent.
fn no_recording(file: &Path, kept: ForeignFormat, wording: &dyn Wording) -> RequestFailure {
    let key = kept.kept().map_or("call.no_event", |kept| kept.call);
    let what = wording.text(kept.phrase(), &[]);
    RequestFailure::new(key)
        .with("name", shown(file))
        .with("what", what)
}

/// Returns the answers stored next to one of our recordings.
fn answers(file: &Path) -> BTreeMap<u64, (Answer, Timestamp)> {
    if file == Path::new("-") {
        return BTreeMap::new();
    }
    super::run_plan::recording(file).answers
}

/// Returns what happened to the links of one of our recordings.
fn links(file: &Path) -> Vec<RecordedExtra> {
    if file == Path::new("-") {
        return Vec::new();
    }
    let told = links_beside(file).into_iter();
    let news = |news: RecordedNews| match news {
        RecordedNews::Connecting => LinkHistory::Changed(ConnectionChange::Connecting),
        RecordedNews::Connected => LinkHistory::Changed(ConnectionChange::Connected),
        RecordedNews::Lost => LinkHistory::Changed(ConnectionChange::Lost),
        RecordedNews::Failed => LinkHistory::Changed(ConnectionChange::Failed),
        RecordedNews::Ended => LinkHistory::Changed(ConnectionChange::Ended),
        RecordedNews::Arrived(text) => LinkHistory::Arrived(text),
    };
    told.map(|link| RecordedExtra {
        after: link.after,
        at: link.at,
        link: link.link,
        history: news(link.news),
    })
    .collect()
}

/// Returns a file name as shown in errors.
pub fn shown(file: &Path) -> String {
    if file == Path::new("-") {
        "standard input".to_owned()
    } else {
        clean(&file.to_string_lossy()).into_owned()
    }
}

/// Why reading stopped before the end.
enum ReplayFailure {
    /// The source failed.
    Read(io::Error, String),
    /// The output can't be written.
    Write(io::Error),
}

/// Returns whether the output still has a reader; a reader that has gone is not an error.
fn listens(result: Result<(), ReplayFailure>) -> anyhow::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(ReplayFailure::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(ReplayFailure::Write(error)) => Err(super::OutputError(error).into()),
        Err(ReplayFailure::Read(error, name)) => {
            let failure = RequestFailure::new("call.unreadable").with("name", name);
            Err(failure.because(Reason::of_reading(&error)).into())
        }
    }
}

/// One line, without its end.
enum LookedAtLine<'a> {
    /// A line; `whole` is false if invalid UTF-8 was replaced.
    Text { text: &'a str, whole: bool },
    /// A line over the limit, skipped to its end.
    TooLong,
}

fn each_line(
    file: &Path,
    take: impl FnMut(LookedAtLine<'_>) -> Result<(), ReplayFailure>,
) -> Result<(), ReplayFailure> {
    let failed = |error| ReplayFailure::Read(error, shown(file));
    if file == Path::new("-") {
        return lines(io::stdin().lock(), failed, take);
    }
    let opened = open_to_read(file).map_err(failed)?;
    lines(BufReader::with_capacity(READ, opened), failed, take)
}

fn lines(
    mut source: impl BufRead,
    failed: impl Fn(io::Error) -> ReplayFailure,
    mut take: impl FnMut(LookedAtLine<'_>) -> Result<(), ReplayFailure>,
) -> Result<(), ReplayFailure> {
    // The beginning of a line whose end has not arrived yet.
    let mut begun = Vec::new();
    let mut too_long = false;
    loop {
        let piece = match source.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        let at_end = piece.is_empty();
        let end = memchr(b'\n', piece);
        let part = &piece[..end.unwrap_or(piece.len())];
        too_long |= begun.len() + part.len() > LONGEST_LINE;
        let is_whole = end.is_some() || (at_end && (too_long || !begun.is_empty()));
        if too_long {
            begun.clear();
        } else if !is_whole || !begun.is_empty() {
            begun.extend_from_slice(part);
        }
        if is_whole {
            let line = if begun.is_empty() { part } else { &begun };
            let text = readable(line.strip_suffix(b"\r").unwrap_or(line));
            let whole = matches!(text, Cow::Borrowed(_));
            take(match too_long {
                true => LookedAtLine::TooLong,
                false => LookedAtLine::Text { text: &text, whole },
            })?;
            begun.clear();
            too_long = false;
        }
        let used = end.map_or(piece.len(), |end| end + 1);
        source.consume(used);
        if at_end {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], buffer: usize) -> Vec<String> {
        let mut all = Vec::new();
        let source = BufReader::with_capacity(buffer, bytes);
        let failed = |error| ReplayFailure::Read(error, String::new());
        let result = lines(source, failed, |line| {
            all.push(match line {
                LookedAtLine::Text { text, whole } => {
                    format!("{text}{}", if whole { "" } else { "?" })
                }
                LookedAtLine::TooLong => "too long".to_owned(),
            });
            Ok(())
        });
        assert!(result.is_ok());
        all
    }

    #[test]
    fn every_line_is_numbered_whatever_the_pieces() {
        for buffer in [1, 2, 3, 64] {
            assert_eq!(
                read(b"a\r\n\nb\xff\nc", buffer),
                ["a", "", "b\u{fffd}?", "c"]
            );
            assert_eq!(read(b"a\n", buffer), ["a"]);
            assert!(read(b"", buffer).is_empty());
        }
    }

    #[test]
    fn a_line_beyond_the_bound_is_one_line_and_the_next_is_read() {
        let mut bytes = vec![b'x'; LONGEST_LINE + 1];
        bytes.extend_from_slice(b"\nb\n");
        assert_eq!(read(&bytes, 8192), ["too long", "b"]);
        bytes.truncate(LONGEST_LINE + 1);
        assert_eq!(read(&bytes, 8192), ["too long"]);
    }
}
