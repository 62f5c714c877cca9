//! What the bounds of the session room made us forget, told once for each ten times as much.

use crate::announce::{Arg, Class, Kind};
use crate::protocol::Now;
use crate::session::Dropped;

use super::App;

impl App {
    /// Tells of running sessions and tools that were forgotten: nobody sees or hears of them any
    /// more. Sessions that ended, outputs and closed questions leave in silence; status counts them.
    pub(super) fn tell_forgotten(&mut self, now: Now) {
        let dropped = self.sessions.dropped();
        let (sessions, tools) = (dropped.running_sessions, dropped.tools);
        let due = |count: u64, told: u64| count > 0 && count >= told.saturating_mul(10).max(1);
        let before = self.forgotten;
        if due(sessions, before.running_sessions) {
            self.forgotten.running_sessions = sessions;
            let args = [("count", Arg::own(sessions))];
            self.say(Class::Outcome, Kind::Hint, "forgotten.sessions", &args, now);
        }
        if due(dropped.unasked, before.unasked) {
            self.forgotten.unasked = dropped.unasked;
            let args = [("count", Arg::own(dropped.unasked))];
            self.say(Class::Alert, Kind::Hint, "forgotten.questions", &args, now);
        }
        if due(tools, before.tools) {
            self.forgotten.tools = tools;
            let args = [("count", Arg::own(tools))];
            self.say(Class::Outcome, Kind::Hint, "forgotten.tools", &args, now);
        }
    }

    /// Words the counters for the status; `None` when nothing was forgotten.
    pub(super) fn forgotten_words(&self) -> Option<String> {
        let dropped = self.sessions.dropped();
        let count = |count: u64| {
            if count == 0 {
                Arg::own("")
            } else {
                Arg::own(count)
            }
        };
        let Dropped {
            sessions,
            running_sessions,
            duplicates,
            tools,
            outputs,
            questions,
            unasked,
        } = dropped;
        (dropped != Dropped::default()).then(|| {
            let args = [
                ("sessions", count(sessions)),
                ("running", count(running_sessions)),
                ("tools", count(tools)),
                ("outputs", count(outputs)),
                ("questions", count(questions)),
                ("unasked", count(unasked)),
                ("duplicates", count(duplicates)),
            ];
            self.phrases().text("status.forgotten", &args)
        })
    }
}
