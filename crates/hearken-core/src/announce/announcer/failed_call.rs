//! The words for a failed call: how much is said and what first, instead of everything that the call wrote.
//!
//! Responsibilities: which of a failed call's words and output are spoken, which remain to be read on demand,
//! the error's message beside a summary, how the command of any call sounds. Not here: finding what failed in an
//! output (`failure`), reading it (`attached_material`).
//!
//! # Mental model
//! "Failed, exit 3: npm test. Last line: …": first how it ended, then what failed, then why, in the same words
//! for every agent. The reason is a sentence of the agent, or else the failures found in the program's output,
//! in a bounded number of words, or else its last line. The lines are counted, and `output` reads them.

use std::sync::Arc;

use crate::config::Verbosity;
use crate::protocol::{
    Attachments, CallExit, CallFacts, CallOutput, NO_END, STOPPED, ToolCompleted, ToolStatus,
};
use crate::session::Change;

use super::change_wording::{agents, tool};
use super::{Announcer, AnswerMethod, Draft};
use crate::announce::announcement::{AnnouncementKind, Class, EventFacts, Topic, Weight};
use crate::announce::text::failure::{Failure, FailureUnit, is_exit_code, last_line};
use crate::announce::text::speakable::{Profile, one_line};
use crate::announce::words::naming::is_name;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::{Mark, Segment};

/// The longest report that is spoken unchanged, in words and in bytes.
const MOST_WORDS: usize = 30;
const LONGEST: usize = 300;
/// The longest name for a call, in characters, and the most words of one that its translator gives.
const LONGEST_CALL: usize = 40;
const MOST_TITLE_WORDS: usize = 20;

/// The words for a failed call.
#[derive(Debug, Default)]
struct FailureWords {
    /// The words of the agent or of its program.
    words: String,
    /// Whether these are the last line of an output, and not all of it.
    last: Option<LastLine>,
    /// How much failed.
    count: String,
    /// How its program exited.
    exit: Option<CallExit>,
    /// How many lines are left unsaid.
    unread: u64,
}

/// Which last line is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastLine {
    Whole,
    Cut,
}

impl Announcer {
    /// Words a call that did not succeed.
    pub(super) fn failed_call(&self, change: &Change, event: &ToolCompleted) -> Draft {
        let key = match &event.status {
            ToolStatus::Timeout => "tool.timeout",
            ToolStatus::Other(status) if status == NO_END => "tool.no_end",
            ToolStatus::Other(status) if status == STOPPED => "tool.stopped",
            ToolStatus::Other(_) => "tool.other",
            ToolStatus::Error | ToolStatus::Success => "tool.error",
        };
        let level = self.level(change.key.link, AnnouncementKind::ToolCompleted);
        let summary = self.summary(change, &event.summary, AnnouncementKind::ToolCompleted);
        let (summary, language) = match summary.agents_text() {
            Some((text, language)) => (text.to_owned(), language.clone()),
            None => (String::new(), change.language.clone()),
        };
        let output = output_of(change, event);
        let said = match is_brief(&summary) {
            true => {
                let unread = output.as_ref().map_or(0, |output| unread(output, &summary));
                FailureWords {
                    words: summary,
                    unread,
                    ..FailureWords::default()
                }
            }
            false => self.said_of(output.as_ref(), change, event, level),
        };
        let exit = facts_of(change).and_then(|facts| facts.exit.clone());
        let words = Arg::Agent(said.words, language);
        let (words, line) = match (said.last, said.count.is_empty()) {
            (None, true) => (words, Arg::own("")),
            (Some(_), _) | (None, false) => (Arg::own(""), words),
        };
        let args = [
            ("tool", call_name(change, event, output.as_ref())),
            ("exit", Arg::Own(self.exit_words(exit.or(said.exit)))),
            ("words", words),
        ];
        let mut draft = self.phrase(
            change,
            Class::Outcome,
            AnnouncementKind::ToolCompleted,
            key,
            &args,
        );
        let more = match said.last {
            _ if !said.count.is_empty() => {
                let args = [("count", Arg::Own(said.count)), ("names", line)];
                self.fill("tool.failed.counted", level, &args)
            }
            Some(_) if line.is_empty() => Vec::new(),
            Some(LastLine::Whole) => self.fill("tool.failed.last", level, &[("line", line)]),
            Some(LastLine::Cut) => self.fill("tool.failed.last.cut", level, &[("line", line)]),
            None => Vec::new(),
        };
        draft.segments.extend(more);
        draft.segments.extend(self.unread_words(said.unread, level));
        draft
            .topic(Topic::call(&event.tool, event.tool_call_id.as_ref()))
            .weight(match key {
                "tool.stopped" => Weight::Stopped,
                _ => Weight::Failure,
            })
    }

    /// Reads the command of a call as a question does, where an agent's words end with it.
    pub(super) fn reading_command(
        &self,
        change: &Change,
        mut segments: Vec<Segment>,
    ) -> Vec<Segment> {
        let title = change
            .attached
            .call
            .as_ref()
            .map_or("", |it| it.title.trim());
        let deed = change.attached.action_details.as_ref();
        let mut commands = deed.iter().flat_map(|deed| &deed.commands);
        if title.is_empty() || !commands.any(|command| command.contains(title)) {
            return segments;
        }
        for segment in &mut segments {
            let names = [title, shortened(title)];
            let parts = names.iter().find_map(|name| {
                let before = before(segment.text(), name)?;
                Some((before.trim_end(), *name))
            });
            if let Some((before, command)) = parts.filter(|_| segment.mark == Mark::Agent) {
                let lexicon = self.phrases.lexicon();
                let before = lexicon.speak(before, Profile::Prose, None);
                let command = lexicon.speak(command, Profile::Command, None);
                let spoken = format!("{before} {command}");
                *segment = segment.clone().spoken_as(spoken.trim_start());
            }
        }
        segments
    }

    /// Words the number of lines left unsaid, and the key that reads them.
    fn unread_words(&self, lines: u64, level: Verbosity) -> Vec<Segment> {
        if lines == 0 || level == Verbosity::Terse {
            return Vec::new();
        }
        let key = match self.manner {
            AnswerMethod::Keys => "tool.unread.keys",
            AnswerMethod::Lines | AnswerMethod::Program => "tool.unread.lines",
        };
        self.fill(key, level, &[("n", Arg::own(lines))])
    }

    /// Words how a program exited; empty if the call's status already says it.
    fn exit_words(&self, exit: Option<CallExit>) -> String {
        match exit {
            Some(CallExit::Code(code)) if code != 0 => {
                self.phrases.text("tool.exit", &[("code", Arg::own(code))])
            }
            Some(CallExit::Signal(name)) => {
                let name = ("name", Arg::Name(name));
                self.phrases.text("tool.exit.signal", &[name])
            }
            Some(CallExit::NoCode) => self.phrases.text("tool.exit.none", &[]),
            Some(CallExit::Code(_) | CallExit::TimedOut | CallExit::Stopped) | None => {
                String::new()
            }
        }
    }

    /// Returns what is said about a failed call's output.
    fn said_of(
        &self,
        output: Option<&CallOutput>,
        change: &Change,
        event: &ToolCompleted,
        level: Verbosity,
    ) -> FailureWords {
        let Some(output) = output else {
            let words = event.error_message.clone().unwrap_or_default();
            return FailureWords {
                words,
                ..FailureWords::default()
            };
        };
        let failure = Failure::of(output.lines.iter().map(String::as_str));
        let (codes, rest): (Vec<&str>, Vec<&str>) = (output.lines.iter())
            .map(String::as_str)
            .filter(|line| !line.trim().is_empty())
            .partition(|line| is_exit_code(line));
        let exit = failure.exit_code.filter(|_| !codes.is_empty());
        let exit = exit.map(CallExit::Code);
        let is_command = exit.is_some() || facts_of(change).is_some() && runs_command(change);
        if is_command
            && (!failure.has_known_format || (failure.names.is_empty() && failure.failed.is_none()))
        {
            let last = last_line(rest.iter().copied());
            let (words, is_cut) = last.map_or_else(Default::default, |line| bounded(&line));
            return FailureWords {
                unread: unread(output, &words),
                last: Some(if is_cut {
                    LastLine::Cut
                } else {
                    LastLine::Whole
                }),
                exit,
                words,
                ..FailureWords::default()
            };
        }
        let whole = rest.join("\n");
        let fits = output.left_out() == 0 && (whole.is_empty() || is_brief(&whole));
        if fits && (!failure.has_known_format || rest.len() < 2) {
            return FailureWords {
                words: whole,
                exit,
                ..FailureWords::default()
            };
        }
        let (most, longest) = match level {
            Verbosity::Terse => (1, 12),
            Verbosity::Normal => (2, 16),
            Verbosity::Detailed => (5, 30),
        };
        let counted = failure.failed.is_some();
        let terse = level == Verbosity::Terse;
        // The last line says most, unless failures were counted.
        let left_out = match counted {
            true => 0,
            false => failure.names.len().saturating_sub(most),
        };
        let names = failure.names.iter().skip(left_out).take(most);
        let names: Vec<String> = names.map(|name| first_words(name, longest)).collect();
        let words = if terse && counted {
            String::new()
        } else {
            names.join("; ")
        };
        FailureWords {
            count: self.count_of(&failure),
            last: None,
            exit: failure.exit_code.map(CallExit::Code),
            unread: unread(output, &words),
            words,
        }
    }

    fn count_of(&self, failure: &Failure) -> String {
        let Some(failed) = failure.failed else {
            return String::new();
        };
        let n = ("n", Arg::own(failed));
        match (failure.total, failure.counted) {
            (Some(total), _) => {
                let args = [n, ("total", Arg::own(total))];
                self.phrases.text("tool.failed.of", &args)
            }
            (None, FailureUnit::Tests) => self.phrases.text("tool.failed.tests", &[n]),
            (None, FailureUnit::Errors) => self.phrases.text("tool.failed.errors", &[n]),
        }
    }

    /// Adds what a call's end reports beside its words: the message of an error that also has a summary, and
    /// the lines of a long report, to be read on demand.
    pub(super) fn completed_facts(
        &self,
        facts: &mut EventFacts,
        change: &Change,
        event: &ToolCompleted,
    ) {
        let level = self.level(change.key.link, AnnouncementKind::ToolCompleted);
        if let (Arg::Agent(summary, _), Some(message)) = (
            self.summary_at(change, &event.summary, level),
            &event.error_message,
        ) && !one_line(&summary).contains(&one_line(message))
        {
            let message = match is_brief(message) {
                true => message.clone(),
                false => {
                    let output = CallOutput::of(message);
                    let said = self.said_of(output.as_ref(), change, event, Verbosity::Detailed);
                    said.words
                }
            };
            let args = [("message", agents(change, Some(&message)))];
            if is_brief(&summary) && !args[0].1.is_empty() {
                let words = self.fill("fact.error", Verbosity::Detailed, &args);
                facts.words.extend(words);
            }
        }
        if event.status != ToolStatus::Success
            && change.attached.output.is_none()
            && let Some(output) = output_of(change, event)
            && is_report(&output)
        {
            facts.attached = Some(Arc::new(Attachments {
                output: Some(output),
                ..Attachments::clone(&change.attached)
            }));
        }
    }
}

/// Returns a failed call's output, or else its error text if that is as long as an output.
fn output_of(change: &Change, event: &ToolCompleted) -> Option<CallOutput> {
    // Without a stated end, nobody knows that the call failed.
    let stated = !matches!(event.status, ToolStatus::Other(_));
    if let Some(output) = change.attached.output.as_ref().filter(|_| stated) {
        return Some(output.clone());
    }
    let summary = &event.summary;
    let summaries = [&summary.normal, &summary.detailed, &summary.terse];
    let message = event.error_message.iter();
    let mut texts = message.chain(summaries.into_iter().flatten());
    let long = texts.find(|text| !is_brief(text));
    let text = long.or(event.error_message.as_ref())?;
    let of = event.tool.clone();
    CallOutput::of(text).map(|output| CallOutput { of, ..output })
}

/// Returns whether a report is short enough to be spoken unchanged.
fn is_brief(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len() <= LONGEST
        && text.split_whitespace().count() <= MOST_WORDS
        && text.lines().count() <= 4
}

/// Returns whether an output is more than a short line.
fn is_report(output: &CallOutput) -> bool {
    !matches!(output.lines.as_slice(), [line] if is_brief(line))
}

/// Returns how many lines of an output are left unsaid: none if every line with words was said.
fn unread(output: &CallOutput, said: &str) -> u64 {
    let said = one_line(said);
    let mut some = output.lines.iter().filter(|line| !is_exit_code(line));
    let all = some.all(|line| said.contains(one_line(line).trim()));
    if (all && output.left_out() == 0) || !is_report(output) {
        0
    } else {
        output.count
    }
}

/// Returns the known facts about the call that a change is about.
fn facts_of(change: &Change) -> Option<&CallFacts> {
    change.attached.call.as_ref()
}

/// Returns whether the call that a change is about runs a command.
fn runs_command(change: &Change) -> bool {
    let deed = change.attached.action_details.as_ref();
    deed.is_some_and(|deed| !deed.commands.is_empty())
}

/// Names a call as its translator does; else by its command or title if that fits into a sentence; else by its
/// tool.
fn call_name(change: &Change, event: &ToolCompleted, output: Option<&CallOutput>) -> Arg {
    let title = facts_of(change).map_or("", |facts| shortened(facts.title.trim()));
    if !title.is_empty() {
        let title = first_words(&one_line(title), MOST_TITLE_WORDS);
        return Arg::Agent(title, change.language.clone());
    }
    let of = output.map_or("", |output| output.of.trim());
    let of = shortened(of);
    match of != event.tool && of.chars().count() <= LONGEST_CALL && is_name(of) {
        true => Arg::Name(of.to_owned()),
        false => tool(&event.tool),
    }
}

/// Returns what comes before a command in words that end with it.
fn before<'t>(text: &'t str, command: &str) -> Option<&'t str> {
    let text = text.trim_end();
    let ended = || text.strip_suffix('.')?.strip_suffix(command);
    let before = text.strip_suffix(command).or_else(ended)?;
    (before.is_empty() || before.ends_with(char::is_whitespace)).then_some(before)
}

/// Returns a command without an initial change of folder, and without parts that only shorten its output.
fn shortened(command: &str) -> &str {
    let entered = (command.strip_prefix("cd ")).and_then(|rest| rest.split_once(" && "));
    let command = entered.map_or(command, |(_, command)| command);
    let cuts = [" | tail -", " | head -"];
    let cut = cuts.iter().find_map(|cut| {
        let (command, rest) = command.rsplit_once(cut)?;
        let plain = |c: char| c.is_ascii_digit() || c == 'n' || c == ' ';
        rest.chars().all(plain).then_some(command)
    });
    let command = cut.unwrap_or(command);
    command.strip_suffix(" 2>&1").unwrap_or(command).trim()
}

/// Returns a line, cut between words if it is too long, and whether it was cut.
fn bounded(line: &str) -> (String, bool) {
    let first = first_words(line, MOST_WORDS);
    let is_cut = first.ends_with('…') && !line.ends_with('…');
    (first, is_cut)
}

/// Returns the first words of a line, with a mark if there are more.
fn first_words(line: &str, most: usize) -> String {
    let mut words = line.split_whitespace();
    let mut first = String::new();
    for word in words.by_ref().take(most) {
        if first.len() + word.len() > LONGEST {
            first.push('…');
            return first;
        }
        if !first.is_empty() {
            first.push(' ');
        }
        first.push_str(word);
    }
    if words.next().is_some() {
        first.push('…');
    }
    first
}
