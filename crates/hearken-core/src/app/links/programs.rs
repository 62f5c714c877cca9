//! Sources that are programs started by hearken: their remarks for people, leaving them, and the agents that
//! end with them.
//!
//! Responsibilities: the last lines of a program's standard error, read on request. Not here: starting and ending
//! programs (`transport`).

use std::collections::BTreeSet;

use crate::announce::Arg;
use crate::link::LinkId;

use super::Links;
use super::remarks::Remarks;
use crate::app::AppCx;

/// How many unfinished agents are named; in a longer list, a listener forgets the first.
const MOST_NAMED: usize = 3;

/// How many of a program's lines are read in one go.
const READ: usize = 10;

impl Links {
    /// Stores a line that a program wrote to its standard error; it is not announced unasked.
    pub(in crate::app) fn remark(&mut self, id: LinkId, line: String) {
        if let Some(view) = self.get_mut(id) {
            view.remarks_mut().note(line);
        }
    }

    /// Reads the last lines that the started programs wrote to their standard error.
    pub(in crate::app) fn read_remarks(&self, cx: &mut AppCx) {
        let programs: Vec<(String, Remarks)> = self
            .iter()
            .filter(|view| view.program)
            .map(|view| (view.name.clone(), view.remarks().clone()))
            .collect();
        if programs.is_empty() {
            cx.respond("remarks.no_program", &[]);
        }
        for (name, remarks) in programs {
            let source = ("source", Arg::Own(name));
            if remarks.is_empty() {
                cx.respond("remarks.none", &[source]);
                continue;
            }
            let count = ("count", Arg::own(remarks.count()));
            let last: Vec<&str> = remarks.last(READ).collect();
            // The program's words are inside a sentence of ours, so none of its lines begins an output line.
            let lines = ("lines", Arg::Agent(last.join("\n"), None));
            let args = [source, count, lines];
            cx.respond("remarks.some", &args);
        }
    }

    /// Returns the sentence saying that leaving a source ends its program, or an empty text.
    pub(in crate::app) fn ends_program(&self, link: LinkId, cx: &AppCx) -> String {
        match self.get(link) {
            Some(view) if view.program => {
                let source = ("source", Arg::Own(view.name.clone()));
                cx.phrases().text("leave.program", &[source])
            }
            Some(_) | None => String::new(),
        }
    }

    /// Returns what is lost with the programs that end with hearken: work under way, and conversations that
    /// can't be continued; empty if nothing is.
    pub(in crate::app) fn lost_at_end(&self, cx: &AppCx) -> String {
        let started = self.iter().filter(|view| view.program && !view.is_over());
        let lost = started.filter_map(|view| {
            let connection = view.connection();
            let key = match (connection.in_turn, connection.loses_conversation) {
                (true, _) => "quit.ends.working",
                (false, true) => "quit.ends.conversation",
                (false, false) => return None,
            };
            let source = ("source", Arg::Own(view.name.clone()));
            Some(cx.phrases().text(key, &[source]))
        });
        lost.collect::<Vec<_>>().join(" ")
    }

    /// Returns the sentence saying that a failed program has left remarks, or an empty text.
    pub(super) fn has_remarked(&self, link: LinkId, cx: &AppCx) -> String {
        match self.get(link) {
            Some(view) if view.remarks().count() > 0 => {
                let key = cx.face.pick("remarks.hint", "remarks.hint_lines");
                let count = ("count", Arg::own(view.remarks().count()));
                cx.phrases().text(key, &[count])
            }
            Some(_) | None => String::new(),
        }
    }

    /// Returns a sentence that names the agents of the sessions that had not ended when their source did; `None` if
    /// there are none.
    pub(super) fn cut_short(&self, link: LinkId, cx: &AppCx) -> Option<String> {
        let mut cut = 0_usize;
        let mut agents = BTreeSet::new();
        for session in cx.sessions.iter() {
            if session.key.link == link && !session.is_ended() {
                cut += 1;
                // Names beyond this number are not needed.
                if agents.len() <= MOST_NAMED {
                    let name =
                        (cx.announcer).agent_name(&session.key, &session.agent, &cx.sessions);
                    agents.insert(cx.phrases().name_of(&name).into_owned());
                }
            }
        }
        if cut == 0 {
            return None;
        }
        let (key, n) = if agents.len() > MOST_NAMED {
            ("link.cut_short.many", cut)
        } else {
            ("link.cut_short", agents.len())
        };
        let agents: Vec<String> = agents.into_iter().collect();
        let args = [("n", Arg::own(n)), ("agents", Arg::Own(agents.join(", ")))];
        Some(cx.phrases().text(key, &args))
    }
}
