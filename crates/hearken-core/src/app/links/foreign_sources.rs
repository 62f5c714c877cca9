//! Sources that send something other than AAEP.
//!
//! Responsibilities: announcing such a source once, with what it seems to send; leaving a source that sends nothing
//! else. Not here: what is AAEP (`dialect`), broken messages (`text_reading`).

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::dialect::{ForeignFormat, NoEvent};
use crate::link::LinkId;

use super::Links;
use super::heard_protocol::HeardProtocol;
use super::recording_start::RecordingStart;
use super::source_view::LinkView;
use crate::app::{AppCx, AppFact, AppFacts, LinkOrder, LinkStep};

/// The number of messages after which a source is left if none of them was AAEP: a program may print a
/// greeting, and a server send some signs of life, before it begins.
const MOST_FOREIGN: u32 = 64;

/// How many lines are held: files that agents save are recognisable by the first few.
const MOST_LINES: usize = 24;

/// How many bytes of them are held.
const MOST_BYTES: usize = 4096;

impl Links {
    /// Handles a message that is not AAEP: no agent sent it.
    pub(super) fn foreign(&mut self, id: LinkId, what: ForeignFormat, cx: &mut AppCx) -> AppFacts {
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        view.garbage += 1;
        let (speaks, key) = match view.speaks() {
            HeardProtocol::Unheard => (HeardProtocol::Foreign(1), Some("link.foreign")),
            HeardProtocol::Foreign(times) => (HeardProtocol::Foreign(times + 1), None),
            HeardProtocol::Aaep => (HeardProtocol::Mixed, Some("link.foreign.some")),
            HeardProtocol::Mixed => (HeardProtocol::Mixed, None),
        };
        view.note_speaks(speaks);
        let key = match (speaks, what.kept()) {
            // Some lines of saved files look like nothing in particular.
            (HeardProtocol::Foreign(_), Some(kept)) => view.first_kept().then_some(kept.source),
            (_, _) => key,
        };
        let source = ("source", Arg::Own(view.name.clone()));
        let what = cx.phrases().text(what.phrase(), &[]);
        if let Some(key) = key {
            let args = [source.clone(), ("what", Arg::Own(what))];
            cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
        } else if speaks == HeardProtocol::Mixed {
            self.tell_more_unread(id, what, cx);
        }
        if speaks == HeardProtocol::Foreign(MOST_FOREIGN) {
            return vec![
                AppFact::Release(id),
                AppFact::Link(id, LinkStep::ForeignLeft),
            ];
        }
        Vec::new()
    }

    /// Leaves a source that sends nothing in AAEP.
    pub(super) fn leave_foreign(&mut self, id: LinkId, cx: &mut AppCx) -> AppFacts {
        if let Some(view) = self.get_mut(id) {
            view.failed();
        }
        let args = [("source", Arg::Own(self.name(id)))];
        let (class, kind) = (Class::Outcome, AnnouncementKind::Connection);
        cx.say(class, kind, "link.foreign.left", &args);
        let facts = self.unsure(id, cx);
        cx.order(id, LinkOrder::Close);
        facts
    }

    /// Handles a line of a recording that is not an event, if it may belong to an object over many lines;
    /// otherwise returns the finding about the line.
    pub(super) fn begins(
        &mut self,
        id: LinkId,
        text: &str,
        error: NoEvent,
    ) -> Result<AppFacts, NoEvent> {
        let Some(beginning) = self.get_mut(id).and_then(LinkView::beginning) else {
            return Err(error);
        };
        let line = text.trim();
        match beginning {
            RecordingStart::Awaited if matches!(line, "{" | "[" | "[{") => {
                *beginning = RecordingStart::Held {
                    text: line.to_owned(),
                    alone: vec![error],
                };
                Ok(Vec::new())
            }
            RecordingStart::Awaited => {
                *beginning = RecordingStart::Over;
                Err(error)
            }
            RecordingStart::Held { text, alone } => {
                text.push_str(line);
                alone.push(error);
                let lines = alone.len();
                let is_long = lines >= MOST_LINES || text.len() > MOST_BYTES;
                if let Some(what) = ForeignFormat::of_beginning(text) {
                    *beginning = RecordingStart::Known(what);
                    let lines = std::iter::repeat_n(NoEvent::Foreign(what), lines);
                    return Ok(judged_alone(id, lines));
                }
                Ok(if is_long {
                    self.end_beginning(id)
                } else {
                    Vec::new()
                })
            }
            RecordingStart::Known(what) => Ok(judged_alone(id, [NoEvent::Foreign(*what)])),
            RecordingStart::Over => Err(error),
        }
    }

    /// Judges each held line separately, because they form no known object or nothing more comes.
    pub(super) fn end_beginning(&mut self, id: LinkId) -> AppFacts {
        match self.get_mut(id).and_then(LinkView::beginning) {
            Some(beginning @ RecordingStart::Held { .. }) => {
                match std::mem::replace(beginning, RecordingStart::Over) {
                    RecordingStart::Held { alone, .. } => judged_alone(id, alone),
                    RecordingStart::Awaited | RecordingStart::Known(_) | RecordingStart::Over => {
                        Vec::new()
                    }
                }
            }
            Some(RecordingStart::Awaited | RecordingStart::Known(_) | RecordingStart::Over)
            | None => Vec::new(),
        }
    }
}

/// Returns the facts that judge each of these texts separately.
fn judged_alone(id: LinkId, all: impl IntoIterator<Item = NoEvent>) -> AppFacts {
    let judge = |why| AppFact::Link(id, LinkStep::Judge(why));
    all.into_iter().map(judge).collect()
}
