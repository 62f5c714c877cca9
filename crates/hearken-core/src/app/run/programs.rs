//! Sources that are programs started by hearken: their remarks for people, and leaving them.
//!
//! Responsibilities: the last lines of a program's standard error, read on request. Not here: starting and ending
//! programs (`transport`).

use crate::announce::Arg;
use crate::link::LinkId;
use crate::protocol::Now;

use super::remarks::Remarks;
use crate::app::App;

/// How many of these lines are read in one go.
const READ: usize = 10;

impl App {
    /// Stores a line that a program wrote to its standard error; it is not announced by itself.
    pub(in crate::app) fn remark(&mut self, id: LinkId, line: String) {
        if let Some(view) = self.links.get_mut(id) {
            view.remarks_mut().note(line);
        }
    }

    /// Reads the last lines that the started programs wrote to their standard error.
    pub(in crate::app) fn read_remarks(&mut self, now: Now) {
        let programs: Vec<(String, Remarks)> = self
            .links
            .iter()
            .filter(|view| view.program)
            .map(|view| (view.name.clone(), view.remarks().clone()))
            .collect();
        if programs.is_empty() {
            self.cx.respond("remarks.no_program", &[], now);
        }
        for (name, remarks) in programs {
            let source = ("source", Arg::Own(name));
            if remarks.is_empty() {
                self.cx.respond("remarks.none", &[source], now);
                continue;
            }
            let count = ("count", Arg::own(remarks.count()));
            let last: Vec<&str> = remarks.last(READ).collect();
            // The program's own words, inside a sentence of ours: none of its lines begins an output line.
            let lines = ("lines", Arg::Agent(last.join("\n"), None));
            let args = [source, count, lines];
            self.cx.respond("remarks.some", &args, now);
        }
    }

    /// Returns the sentence that leaving a source ends its program, or an empty text.
    pub(in crate::app) fn ends_program(&self, link: LinkId) -> String {
        match self.links.get(link) {
            Some(view) if view.program => {
                let source = ("source", Arg::Own(view.name.clone()));
                self.cx.phrases().text("leave.program", &[source])
            }
            Some(_) | None => String::new(),
        }
    }

    /// Returns the sentence that a failed program has left remarks, or an empty text.
    pub(in crate::app) fn has_remarked(&self, link: LinkId) -> String {
        match self.links.get(link) {
            Some(view) if view.remarks().count() > 0 => {
                let key = self.cx.face.pick("remarks.hint", "remarks.hint_lines");
                let count = ("count", Arg::own(view.remarks().count()));
                self.cx.phrases().text(key, &[count])
            }
            Some(_) | None => String::new(),
        }
    }
}
