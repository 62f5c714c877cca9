//! Sources that send something other than AAEP.
//!
//! Responsibilities: announcing such a source once, with what it seems to send; leaving a source that sends nothing
//! else. Not here: what is AAEP (`dialect`), broken messages (`reading`).

use crate::announce::{Arg, Class, Kind};
use crate::dialect::{Foreign, NoEvent};
use crate::link::LinkId;
use crate::protocol::Now;

use super::beginning::Beginning;
use super::speaks::Speaks;
use super::view::LinkView;
use crate::app::{App, Effect};

/// The number of messages after which a source is left if none of them was AAEP: a program may greet with some lines,
/// and a server send some signs of life, before it begins.
const MOST_FOREIGN: u32 = 64;

/// How many lines are held: what agents save shows itself in the first few.
const MOST_LINES: usize = 24;

/// How many bytes of them are held.
const MOST_BYTES: usize = 4096;

impl App {
    /// Handles a message that is not AAEP: no agent sent it.
    pub(super) fn foreign(&mut self, id: LinkId, what: Foreign, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        view.garbage += 1;
        let (speaks, key) = match view.speaks() {
            Speaks::Unheard => (Speaks::Foreign(1), Some("link.foreign")),
            Speaks::Foreign(times) => (Speaks::Foreign(times + 1), None),
            Speaks::Aaep => (Speaks::Mixed, Some("link.foreign.some")),
            Speaks::Mixed => (Speaks::Mixed, None),
        };
        view.note_speaks(speaks);
        let key = match (speaks, what.kept()) {
            // Some of their lines look like nothing in particular.
            (Speaks::Foreign(_), Some(kept)) => view.first_kept().then_some(kept.source),
            (_, _) => key,
        };
        let source = ("source", Arg::Own(view.name.clone()));
        let what = self.cx.phrases().text(what.phrase(), &[]);
        if let Some(key) = key {
            let args = [source.clone(), ("what", Arg::Own(what))];
            self.cx
                .say(Class::Outcome, Kind::Connection, key, &args, now);
        } else if speaks == Speaks::Mixed {
            self.tell_more_unread(id, what, now);
        }
        if speaks == Speaks::Foreign(MOST_FOREIGN) {
            self.release(id, now);
            if let Some(view) = self.links.get_mut(id) {
                view.failed();
            }
            let args = [source];
            self.cx.say(
                Class::Outcome,
                Kind::Connection,
                "link.foreign.left",
                &args,
                now,
            );
            self.unsure(id, now);
            self.cx.effects.push(Effect::Close(id));
        }
    }

    /// Handles a line of a recording that is no event by itself, if it may be a part of an object over many lines;
    /// otherwise returns what it is by itself.
    pub(super) fn begins(
        &mut self,
        id: LinkId,
        text: &str,
        error: NoEvent,
        now: Now,
    ) -> Option<NoEvent> {
        let Some(beginning) = self.links.get_mut(id)?.beginning() else {
            return Some(error);
        };
        let line = text.trim();
        match beginning {
            Beginning::Awaited if matches!(line, "{" | "[" | "[{") => {
                *beginning = Beginning::Held {
                    text: line.to_owned(),
                    alone: vec![error],
                };
                None
            }
            Beginning::Awaited => {
                *beginning = Beginning::Over;
                Some(error)
            }
            Beginning::Held { text, alone } => {
                text.push_str(line);
                alone.push(error);
                let lines = alone.len();
                let is_long = lines >= MOST_LINES || text.len() > MOST_BYTES;
                if let Some(what) = Foreign::of_beginning(text) {
                    *beginning = Beginning::Known(what);
                    for _ in 0..lines {
                        self.judge_alone(id, &NoEvent::Foreign(what), now);
                    }
                } else if is_long {
                    self.end_beginning(id, now);
                }
                None
            }
            Beginning::Known(what) => {
                let what = NoEvent::Foreign(*what);
                self.judge_alone(id, &what, now);
                None
            }
            Beginning::Over => Some(error),
        }
    }

    /// Judges the held lines each by itself: they are no object that is known, or nothing more comes.
    pub(super) fn end_beginning(&mut self, id: LinkId, now: Now) {
        let Some(beginning) = self.links.get_mut(id).and_then(LinkView::beginning) else {
            return;
        };
        if let Beginning::Held { alone, .. } = beginning {
            let alone = std::mem::take(alone);
            *beginning = Beginning::Over;
            for error in alone {
                self.judge_alone(id, &error, now);
            }
        }
    }
}
