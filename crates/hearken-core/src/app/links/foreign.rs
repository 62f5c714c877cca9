//! Sources that send something other than AAEP.
//!
//! Responsibilities: announcing such a source once, with what it seems to send; leaving a source that sends nothing
//! else. Not here: what is AAEP (`dialect`), broken messages (`reading`).

use crate::announce::{Arg, Class, Kind};
use crate::dialect::Foreign;
use crate::link::LinkId;
use crate::protocol::Now;

use super::speaks::Speaks;
use crate::app::{App, Effect};

/// The number of messages after which a source is left if none of them was AAEP: a program may greet with some lines,
/// and a server send some signs of life, before it begins.
const MOST_FOREIGN: u32 = 64;

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
        let what = self.announcer.phrases().text(what.phrase(), &[]);
        if let Some(key) = key {
            let args = [source.clone(), ("what", Arg::Own(what))];
            self.say(Class::Outcome, Kind::Connection, key, &args, now);
        } else if speaks == Speaks::Mixed {
            self.tell_more_unread(id, what, now);
        }
        if speaks == Speaks::Foreign(MOST_FOREIGN) {
            self.release(id, now);
            if let Some(view) = self.links.get_mut(id) {
                view.failed();
            }
            let args = [source];
            self.say(
                Class::Outcome,
                Kind::Connection,
                "link.foreign.left",
                &args,
                now,
            );
            self.unsure(id, now);
            self.effects.push(Effect::Close(id));
        }
    }
}
