//! The linear face: one announcement, one line; the JSON face is in `json`.
//!
//! Responsibilities: turning announcements into labelled, append-only lines of plain text. Not here: how a message is
//! cut into rows (`rows`), where the lines go (`runtime`), what is announced (`app`).
//!
//! # Mental model
//! A line is `LABEL: MESSAGE (TIME)`: the message comes first after a label in words and the time last. The label
//! stands where the speaker changes. What goes on is told apart by where it begins, row by row: **what begins at the
//! edge without a label is hearken's alone, what is set in is not**. So an agent can't write a row of hearken's.
//!
//! - Sentences of one agent's text follow each other without its label, set in. The label is back after anybody else
//!   has spoken or typed, after a pause, while a question is open, and where a text could be taken for hearken's by an
//!   ear that reviews single rows: with a colon in it, or a word of hearken's around questions.
//! - What hearken says in several lines (the help) follows without a label, at the edge.
//! - A row that goes on because a line was too narrow is like what it belongs to. But around a question, and where
//!   something urgent has an agent's words in it, each row with such words in it begins with a label.
//!
//! A question has a line for each of its parts, hearken's and the agent's apart. Where a label with a name in it would
//! take much of a narrow line, it goes on without the name. A time that would have a narrow line to itself is left out.
//!
//! A terminal that orders words from right to left itself would drag hearken's label, the time and the
//! punctuation along with an agent's Arabic or Hebrew. Where eyes read such a line, the agent's words are
//! isolated; where a screen reader, a braille display or a program reads it, nothing is put in: they read
//! in the order of the letters, and some would spell the sign.

mod again;
mod json;
mod rows;

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::announce::{Aloud, Announcement, Arg, Class, Kind, Mark, Segment};
use crate::app::App;
use crate::config::TimesChoice;
use crate::session::SessionKey;

pub use json::json;

use again::{Clock, Labels, Ours};
use rows::{Label, Onward, isolated, put};

/// How long after an agent's words its next ones need no label: later a person may have forgotten whose turn it was,
/// or come back to the newest row from elsewhere.
const SAME_BREATH: Duration = Duration::from_secs(30);

/// What lines are written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The width in columns; 0 leaves wrapping to whoever shows it.
    pub width: u16,
    /// Whose order of words it is.
    pub order: Order,
}

impl Page {
    /// Returns a page on which nothing is put in, such as a pipe.
    pub fn plain(width: u16) -> Self {
        Self {
            width,
            order: Order::AsWritten,
        }
    }
}

/// Who brings words from right to left into their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nobody, or somebody who reads letter by letter: nothing is put in.
    AsWritten,
    /// A terminal whose rows are read by eye: such words are isolated from hearken's own.
    Isolated,
}

/// Writes announcements as lines, and knows what the line before was.
#[derive(Debug)]
pub struct Lines {
    page: Page,
    clock: Clock,
    labels: Labels,
    before: Option<Before>,
    /// The minute that was written last.
    minute: Option<Arc<str>>,
    ours: Ours,
}

/// Who spoke in the line before, and when.
#[derive(Debug)]
struct Before {
    speaker: Speaker,
    at: Duration,
}

/// Whose words an announcement is, where others may follow it without a label.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Speaker {
    /// Hearken, in an answer with nothing of anybody else's in it.
    Hearken {
        /// The label that it began with.
        label: Arc<str>,
    },
    /// An agent's text.
    Agent {
        /// Its session.
        key: Option<SessionKey>,
        /// The label that it began with.
        label: Arc<str>,
    },
    /// Anything that is not followed without a label.
    Other,
}

impl Lines {
    /// Begins on an empty page.
    pub fn new(page: Page, zone: TimeZone) -> Self {
        Self {
            page,
            clock: Clock::new(zone),
            labels: Labels::default(),
            before: None,
            minute: None,
            ours: Ours::default(),
        }
    }

    /// Takes note that somebody else wrote where the lines are: the person typed.
    pub fn interrupted(&mut self) {
        self.before = None;
    }

    /// Writes one announcement as plain text, each line ended by a line feed.
    ///
    /// Nothing is written of what is left out of what is read in the order of time ([`Aloud::Seen`]), nor of what
    /// other lines say ([`Aloud::Echo`]).
    pub fn write(&mut self, app: &App, told: &Announcement) -> String {
        if matches!(told.aloud, Aloud::Seen | Aloud::Echo) {
            return String::new();
        }
        let mut out = String::new();
        let time = self.time(app.config().screen.times, told);
        let label = Label {
            first: self.labels.of(app, told),
            further: &|| app.label_without_name(told),
        };
        let asks = told.about.and_then(|about| app.prompt(about.prompt()));
        let timed = match asks {
            Some(prompt) => {
                self.before = None;
                let asks = |name: Arg| app.phrases().text("label.asks", &[("agent", name)]);
                let asker = Label {
                    first: asks(Arg::Name(app.agent_of(prompt))).into(),
                    further: &|| asks(Arg::own("")),
                };
                self.about_question(&mut out, told, (&label, &asker), time.as_deref())
            }
            None => {
                let shown = told.shown();
                // What is structure only, such as the line under a table's headers, has nothing to read.
                if shown.is_empty() {
                    return out;
                }
                let speaker = speaker(told, &label);
                let could_be_ours = self.ours.could_be(app.phrases(), told);
                let goes_on = self.goes_on(app, told, &speaker, could_be_ours);
                let onward = onward(told, &speaker, could_be_ours);
                self.before = Some(Before {
                    speaker,
                    at: told.at.monotonic,
                });
                let shown = isolated(&shown, &told.segments, told.direction, self.page.order);
                let label = (&label, goes_on);
                put(&mut out, label, onward, &shown, time.as_deref(), self.page)
            }
        };
        if timed && time.is_some() {
            self.minute = Some(Arc::clone(&self.clock.of(told.at.wall).minute));
        }
        out
    }

    /// Writes what is told of a question: each speaker has lines of their own, so that no action can claim a risk or a
    /// key in hearken's name. Tells whether the time is in it.
    fn about_question(
        &self,
        out: &mut String,
        told: &Announcement,
        (ours, asker): (&Label<'_>, &Label<'_>),
        time: Option<&str>,
    ) -> bool {
        let shown: Vec<&Segment> = told
            .segments
            .iter()
            .filter(|segment| !segment.text().is_empty())
            .collect();
        // What hearken says in one go needs one line; each part of the agent's has its own.
        let parts: Vec<&[&Segment]> = shown
            .chunk_by(|one, next| one.mark == Mark::Own && next.mark == Mark::Own)
            .collect();
        let last = parts.len().saturating_sub(1);
        let mut timed = false;
        for (at, part) in parts.into_iter().enumerate() {
            let of_agent = part.iter().any(|segment| segment.mark == Mark::Agent);
            let on_rows = part.iter().any(|segment| segment.is_on_rows());
            let (label, onward) = match (of_agent, on_rows) {
                (true, true) => (asker, Onward::Exact),
                (true, false) => (asker, Onward::Labelled),
                (false, _) => (ours, Onward::AtEdge),
            };
            let words: Vec<&str> = part
                .iter()
                .map(|segment| match segment.mark {
                    Mark::Own => segment.shown(),
                    // What an agent asks is shown to the letter.
                    Mark::Agent => segment.text(),
                })
                .collect();
            let of_it: Vec<Segment> = part.iter().map(|segment| (*segment).clone()).collect();
            let words = words.join(" ");
            let text = isolated(&words, &of_it, told.direction, self.page.order);
            // Nothing stands behind what is shown to the letter.
            let end = time.filter(|_| at == last && !on_rows);
            timed = put(out, (label, false), onward, &text, end, self.page);
        }
        timed
    }

    /// Returns whether an announcement follows what was written before without a label of its own.
    fn goes_on(
        &self,
        app: &App,
        told: &Announcement,
        speaker: &Speaker,
        could_be_ours: bool,
    ) -> bool {
        let Some(before) = &self.before else {
            return false;
        };
        let soon = told.at.monotonic.saturating_sub(before.at) < SAME_BREATH;
        let alone = match speaker {
            Speaker::Hearken { .. } => true,
            // Where something is to be decided, nobody is to wonder whose words a row is.
            Speaker::Agent { .. } => {
                !could_be_ours && app.sessions().open_prompts().next().is_none()
            }
            Speaker::Other => false,
        };
        soon && alone && before.speaker == *speaker
    }

    /// Returns the time as it is to be written behind an announcement, if it is.
    fn time(&mut self, times: TimesChoice, told: &Announcement) -> Option<String> {
        let time = match times {
            TimesChoice::Always => &self.clock.of(told.at.wall).second,
            TimesChoice::Minute => {
                let minute = &self.clock.of(told.at.wall).minute;
                if self.minute.as_ref() == Some(minute) {
                    return None;
                }
                minute
            }
            TimesChoice::Never => return None,
        };
        Some(["(", time, ")"].concat())
    }
}

fn speaker(told: &Announcement, label: &Label<'_>) -> Speaker {
    let label = label.first.clone();
    if told.kind == Kind::Output && told.is_agents_text() {
        let key = told.key.clone();
        Speaker::Agent { key, label }
    } else if told.kind == Kind::Reply && is_ours(told) {
        Speaker::Hearken { label }
    } else {
        Speaker::Other
    }
}

/// Returns whether nothing in it is anybody else's.
fn is_ours(told: &Announcement) -> bool {
    told.segments.iter().all(|part| part.mark == Mark::Own)
}

/// Returns how rows begin that go on in an announcement.
fn onward(told: &Announcement, speaker: &Speaker, could_be_ours: bool) -> Onward {
    match speaker {
        Speaker::Hearken { .. } => Onward::AtEdge,
        Speaker::Other if is_ours(told) => Onward::AtEdge,
        Speaker::Agent { .. } | Speaker::Other if told.class == Class::Alert || could_be_ours => {
            Onward::Labelled
        }
        Speaker::Agent { .. } | Speaker::Other => Onward::SetIn,
    }
}
