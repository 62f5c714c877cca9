//! How a run ends: by itself, once its condition is met and everything is spoken, or by the person's wish.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::announce::Arg;
use crate::link::LinkId;
use crate::protocol::Now;

use super::{Ends, Scene};
use crate::app::{App, Effect, Exit};

/// How many unfinished agents are named; of a longer list, a listener forgets the first.
const MOST_NAMED: usize = 3;

impl App {
    /// Ends the run; what is being spoken may finish if there is time.
    pub(in crate::app) fn quit(&mut self, exit: Exit, now: Now) {
        // No source is left that could still speak: that is why it ended, even if the person closed the screen.
        let scene = self.scene();
        let exit = if exit == Exit::Clean && scene.over && scene.failed {
            Exit::NoSource
        } else {
            exit
        };
        // An answer that is left behind is always announced, whichever way the run ends.
        if !self.run.is_over() {
            self.questions.tell_undelivered(&mut self.cx, now);
        }
        if self.run.end() {
            // After leaving, the person can no longer answer what these call for.
            for about in self.questions.stop_calling() {
                self.cx.effects.push(Effect::Withdraw(about));
            }
            self.cx.release_all(now);
            self.cx.effects.push(Effect::Quit(exit));
        }
    }

    /// Returns whether nothing waits to be read, spoken or sent.
    fn is_silent(&self) -> bool {
        !self.is_reading() && self.cx.queue.is_idle() && self.questions.is_all_sent()
    }

    /// Returns when the run ends by itself, or stops waiting for the last answers.
    pub(in crate::app) fn end_due(&self) -> Option<Duration> {
        self.run.due(self.is_silent())
    }

    /// Ends the run by itself if its condition is met and everything is spoken.
    pub(in crate::app) fn check_end(&mut self, now: Now) {
        let sent = self.questions.is_all_sent();
        if let Some(exit) = self.run.parted(sent, now.monotonic) {
            if exit != Exit::Terminated {
                // On termination, `terminate` has already announced this.
                self.leave_defaults();
            }
            self.quit(exit, now);
        }
        if self.run.is_over() || !self.is_silent() {
            return;
        }
        match self.run.ends(self.scene(), now.monotonic) {
            Some(Ends::Idle) => {
                self.tell_left_open(now);
                self.quit(Exit::Clean, now);
            }
            Some(Ends::So(exit)) => self.quit(exit, now),
            None => {}
        }
    }

    /// Notes the sessions that had not ended when their source did, and returns a sentence that names their agents, or
    /// an empty text.
    pub(in crate::app) fn cut_short(&mut self, link: LinkId) -> String {
        let mut cut = 0_usize;
        let mut agents = BTreeSet::new();
        for session in self.cx.sessions.iter() {
            if session.key.link == link && !session.is_ended() {
                cut += 1;
                // Beyond the number that is named, the names are not needed.
                if agents.len() <= MOST_NAMED {
                    let name = (self.cx.announcer).agent_name(
                        &session.key,
                        &session.agent,
                        &self.cx.sessions,
                    );
                    agents.insert(self.cx.phrases().name_of(&name).into_owned());
                }
            }
        }
        if cut == 0 {
            return String::new();
        }
        self.run.note_failure();
        let (key, n) = if agents.len() > MOST_NAMED {
            ("link.cut_short.many", cut)
        } else {
            ("link.cut_short", agents.len())
        };
        let agents: Vec<String> = agents.into_iter().collect();
        let args = [("n", Arg::own(n)), ("agents", Arg::Own(agents.join(", ")))];
        self.cx.phrases().text(key, &args)
    }

    fn scene(&self) -> Scene {
        Scene {
            over: self.links.are_over(),
            failed: self.links.has_failed(),
            ended: !self.cx.sessions.is_holding() && !self.cx.sessions.any_goes_on(),
        }
    }
}
