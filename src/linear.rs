//! The linear face: one announcement, one line; the JSON face is in `json`.
//!
//! Responsibilities: turning announcements into labelled, append-only lines of plain text. Not here: how a message is
//! cut into rows (`rows`), where the lines go (`runtime`), what is announced (`app`).
//!
//! # Mental model
//! A line is `LABEL: MESSAGE (TIME)`: a label in words, then the message, and the time last; beside an agent's words
//! the time is in the label, because no time among the words is hearken's. A label appears when the speaker changes.
//! **A row at the edge begins with its label; an indented row continues the row above.** So an agent can't forge a row
//! at the edge. While a question is open, it can't write an indented one either: then each row with its words has a
//! label, and only hearken's are indented.
//!
//! - Sentences of one agent's text follow each other without its label. The label returns after another speaker or the
//!   person's typing, after a pause, while a question is open, and when a listener who reviews single rows could take a
//!   text for hearken's: if it contains a colon, a key as hearken types it, or a word that hearken uses around
//!   questions.
//! - Further lines of one of hearken's messages (the help) have no label.
//! - An agent's words that an answer quotes are on rows of their own, under the agent's name
//!   (`speaker_rows`).
//!
//! A question has a line for each of its parts, with hearken's words and the agent's apart. If a label with a name
//! would take up much of a narrow line, further rows omit the name. A time that would need a narrow line to itself is
//! left out.
//!
//! A terminal that itself reorders right-to-left text would drag hearken's label, the time and the punctuation along
//! with an agent's Arabic or Hebrew. For sighted reading, the agent's words are isolated; for a screen reader, a
//! braille display or a program, nothing is inserted: they read in the order of the letters, and some would spell the
//! sign.

mod json;
mod line_cache;
mod rows;
mod speaker_rows;

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::announce::{Announcement, AnnouncementKind, Arg, Class, Mark, Presentation};
use crate::app::App;
use crate::config::TimesChoice;
use crate::session::SessionKey;

pub use json::json;

use line_cache::{ClockWords, HearkenWords, Labels};
use rows::{Continuation, Label, RowOpening, TimePlace, isolated, place_of, put};

/// How long after an agent's words its next ones need no label: later, a person may have forgotten whose turn it was,
/// or may return to the newest row from elsewhere.
const SAME_BREATH: Duration = Duration::from_secs(30);

/// The page that lines are written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The width in columns; 0 leaves lines whole.
    pub width: u16,
    /// The handling of right-to-left words.
    pub order: VisualOrder,
}

impl Page {
    /// Returns a page on which nothing is inserted, such as a pipe.
    pub fn plain(width: u16) -> Self {
        Self {
            width,
            order: VisualOrder::AsWritten,
        }
    }
}

/// How right-to-left words are put into visual order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisualOrder {
    /// Not at all, or by a reader that goes letter by letter: nothing is inserted.
    AsWritten,
    /// By a terminal whose rows are read by eye: such words are isolated from hearken's own.
    Isolated,
}

/// Writes announcements as lines, and remembers the line before.
#[derive(Debug)]
pub struct LineWriter {
    page: Page,
    clock: ClockWords,
    labels: Labels,
    before: Option<PreviousLine>,
    /// The last minute written.
    minute: Option<Arc<str>>,
    ours: HearkenWords,
    /// Whether nothing was written yet.
    is_new: bool,
}

/// Who spoke in the previous line, and when.
#[derive(Debug)]
struct PreviousLine {
    speaker: Speaker,
    at: Duration,
}

/// The speaker of an announcement, if further ones may follow without a label.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Speaker {
    /// Hearken, in a reply that contains nobody else's words.
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
    /// Anything that must not be followed without a label.
    Other,
}

impl LineWriter {
    /// Starts on an empty page.
    pub fn new(page: Page, zone: TimeZone) -> Self {
        Self {
            page,
            clock: ClockWords::new(zone),
            labels: Labels::default(),
            before: None,
            minute: None,
            ours: HearkenWords::default(),
            is_new: true,
        }
    }

    /// Changes the width in columns; 0 leaves lines whole.
    pub fn set_width(&mut self, columns: u16) {
        self.page.width = columns;
    }

    /// Notes that other text appeared among the lines: the person typed.
    pub fn interrupted(&mut self) {
        self.before = None;
    }

    /// Writes one announcement as plain text, each line ended by a line feed.
    ///
    /// Writes nothing for announcements that are omitted in chronological reading ([`Presentation::Seen`]) or repeated
    /// by other lines ([`Presentation::Echo`]).
    pub fn write(&mut self, app: &App, told: &Announcement) -> String {
        if matches!(told.aloud, Presentation::Seen | Presentation::Echo) {
            return String::new();
        }
        let mut out = String::new();
        let is_new = std::mem::take(&mut self.is_new);
        let time = self.time(app.config().screen.times, told);
        let label = Label {
            first: self.labels.of(app, told),
            further: &|| app.label_without_name(told),
        };
        let asks = told.about.and_then(|about| app.question(about.question()));
        let timed = match asks {
            Some(question) => {
                self.before = None;
                let asks = |name: Arg| app.phrases().text("label.asks", &[("agent", name)]);
                let asker = Label {
                    first: asks(Arg::Name(app.agent_of(question))).into(),
                    further: &|| asks(Arg::own("")),
                };
                self.about_question(&mut out, told, (&label, &asker), time.as_deref())
            }
            None if !told.quotes.is_empty() => {
                self.before = None;
                self.quoting(&mut out, app, told, &label, time.as_deref())
            }
            None => {
                let shown = told.shown();
                // Pure structure, such as the line under a table's headers, contains nothing to read.
                if shown.is_empty() {
                    return out;
                }
                let speaker = speaker(told, &label);
                let could_be_ours = self.ours.could_be(app.phrases(), &told.segments);
                // While a decision is pending, nobody should have to wonder whose words a row is.
                let asked = app.sessions().open_questions().next().is_some();
                let is_unclear = could_be_ours || asked;
                let last = told.segments.iter().rfind(|it| !it.shown().is_empty());
                let last = last.map_or(Mark::Own, |it| it.mark);
                let time = place_of(time.as_deref(), last, &label, self.page);
                let goes_on = self.goes_on(told, &speaker, is_unclear);
                let beginning = match (is_new, goes_on, time) {
                    // The first line of a run is hearken's greeting, which begins with its name.
                    (true, ..) if told.kind == AnnouncementKind::Hint && is_ours(told) => {
                        RowOpening::Greeting
                    }
                    (_, true, TimePlace::None | TimePlace::End(_)) => RowOpening::GoesOn,
                    (..) => RowOpening::Labelled,
                };
                let onward = onward(told, is_unclear);
                self.before = Some(PreviousLine {
                    speaker,
                    at: told.at.monotonic,
                });
                let shown = isolated(&shown, &told.segments, told.direction, self.page.order);
                let label = (&label, beginning);
                put(&mut out, label, onward, &shown, time, self.page)
            }
        };
        if timed && time.is_some() {
            self.minute = Some(Arc::clone(&self.clock.of(told.at.wall).minute));
        }
        out
    }

    /// Returns whether an announcement continues the previous one without a label of its own.
    fn goes_on(&self, told: &Announcement, speaker: &Speaker, is_unclear: bool) -> bool {
        let Some(before) = &self.before else {
            return false;
        };
        let soon = told.at.monotonic.saturating_sub(before.at) < SAME_BREATH;
        let alone = match speaker {
            Speaker::Hearken { .. } => true,
            Speaker::Agent { .. } => !is_unclear,
            Speaker::Other => false,
        };
        soon && alone && before.speaker == *speaker
    }

    /// Returns the time to write with an announcement, if any.
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
    if told.kind == AnnouncementKind::Output && told.is_agents_text() {
        let key = told.key.clone();
        Speaker::Agent { key, label }
    } else if told.kind == AnnouncementKind::Reply && is_ours(told) {
        Speaker::Hearken { label }
    } else {
        Speaker::Other
    }
}

/// Returns whether all of its words are hearken's.
fn is_ours(told: &Announcement) -> bool {
    told.segments.iter().all(|part| part.mark == Mark::Own)
}

/// Returns how continuation rows of an announcement begin.
fn onward(told: &Announcement, is_unclear: bool) -> Continuation {
    match is_unclear || told.class == Class::Alert {
        true if !is_ours(told) => Continuation::Labelled,
        true | false => Continuation::SetIn,
    }
}
